//! The cases of `tests/cases`: inputs made from faults that people reported. Their README says what the fields mean.
//!
//! One harness for all adapters. A case whose adapter is not there is reported as waiting, not as passed.

mod checks;
mod json;
mod settings;
mod world;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use world::World;

/// How many cases run at a time.
const WORKERS: usize = 2;

/// Adapters that cases know by another name as well.
const OTHER_NAMES: &[(&str, &str)] = &[("factoryai-droid", "factory-droid"), ("gemini-cli", "gemini")];

/// What came of a case.
enum Verdict {
    Passed,
    Failed(Vec<String>),
    Waiting(String),
}

/// What a program can be asked as: the name that it answers to, and its hook names.
type Agents = BTreeMap<String, Option<(String, Vec<String>)>>;

#[test]
fn every_case_passes_or_waits_for_its_adapter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    let mut agents = Agents::new();
    for case in &cases {
        let agent = text(&read(&case.join("cmd.json")), "agent");
        agents.entry(agent.clone()).or_insert_with(|| learn(&agent));
    }

    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = run(case, &agents);
                    verdicts.lock().unwrap().insert(case.clone(), verdict);
                }
            });
        }
    });

    let mut failed = 0;
    let mut report = String::from("\n");
    for (case, verdict) in verdicts.into_inner().unwrap() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        match verdict {
            Verdict::Passed => report.push_str(&format!("passed  {name}\n")),
            Verdict::Waiting(why) => report.push_str(&format!("waiting {name}: {why}\n")),
            Verdict::Failed(why) => {
                failed += 1;
                report.push_str(&format!("FAILED  {name}\n    {}\n", why.join("\n    ")));
            }
        }
    }
    // Not by `println`, which the test runner keeps to itself: whoever looks sees which cases ran.
    let _ = std::io::stderr().write_all(report.as_bytes());
    assert_eq!(failed, 0, "cases that failed{report}");
}

fn run(case: &Path, agents: &Agents) -> Verdict {
    let command = read(&case.join("cmd.json"));
    let expected = read(&case.join("expected.json"));
    let unknown = checks::unknown_names(&command, &expected);
    if !unknown.is_empty() {
        return Verdict::Failed(unknown);
    }
    let agent = text(&command, "agent");
    let Some(Some((name, hook_names))) = agents.get(&agent) else {
        return Verdict::Waiting(format!("there is no adapter for {agent}"));
    };
    if command["skip_if_root"] == true && world::is_root() {
        return Verdict::Waiting("permissions mean nothing to root".to_owned());
    }
    if command["gen"].is_string() && !world::has_python() {
        return Verdict::Waiting("its input is made by a Python program, and there is no Python".to_owned());
    }
    let mut world = World::new(case, command, expected, name, hook_names);
    let failures = match world.run() {
        Ok(()) => world.judge(),
        Err(error) => vec![error],
    };
    world.tear_down();
    if failures.is_empty() {
        Verdict::Passed
    } else {
        Verdict::Failed(failures)
    }
}

/// Asks for `info` once.
fn learn(agent: &str) -> Option<(String, Vec<String>)> {
    let other = OTHER_NAMES
        .iter()
        .find(|(name, _)| *name == agent)
        .map(|(_, other)| *other);
    [Some(agent), other].into_iter().flatten().find_map(|name| {
        let answer = world::ask_info(name);
        let info = answer.object().ok().filter(|_| answer.code == Some(0))?;
        let hook_names = info.get("hook_names")?.as_array()?.iter();
        let hook_names = hook_names.filter_map(|hook| hook.as_str().map(str::to_owned)).collect();
        (info.get("name")?.as_str()? == name).then(|| (name.to_owned(), hook_names))
    })
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
