//! Every fixture through the adapters as they ship: payloads give the events beside them, transcripts the facts.
//!
//! A folder is a case, and a new one needs no list edited. `HOOKHOST_UPDATE=1` writes the expectations anew.

pub(crate) mod facts;
mod faults;
mod payloads;

use std::path::{Path, PathBuf};

use hookhost::adapter::registry;
use hookhost::adapter::{Adapter, Limits};
use hookhost::config::Config;
use hookhost::model::{Context, Platform};
use hookhost_bundle::BUILTINS;

/// The repository and the home of all fixtures.
pub(crate) const REPO: &str = "/home/dev/project";
pub(crate) const HOME: &str = "/home/dev";

#[test]
fn payloads_mean_the_events_beside_them() {
    report(each_adapter(payloads::check));
}

#[test]
fn transcripts_say_the_facts_beside_them() {
    report(each_adapter(facts::check));
}

#[test]
fn every_adapter_has_fixtures_and_every_fixture_an_adapter() {
    let mut failures = vec![];
    for adapter in BUILTINS {
        let folder = folder(adapter.name);
        let has_files = |name: &str| std::fs::read_dir(folder.join(name)).is_ok_and(|mut files| files.next().is_some());
        if !has_files("payloads") {
            failures.push(format!("{} has no payloads in tests/fixtures", adapter.name));
        }
        let claimed = open(adapter.name).describe().unwrap().capabilities;
        if !claimed.hooks {
            // Their part for hooks is not asked whether there are any.
            failures.push(format!("{} claims no hooks", adapter.name));
        }
        if claimed.transcript_analyzer && !has_files("transcripts") {
            failures.push(format!("{} has no transcripts in tests/fixtures", adapter.name));
        }
    }
    for name in names(&folder("")) {
        if !BUILTINS.iter().any(|adapter| adapter.name == name) {
            failures.push(format!("tests/fixtures/{name} is no adapter's"));
        }
    }
    report(failures);
}

/// What the adapters are told: the circumstances of all fixtures.
pub(crate) fn context() -> Context {
    Context {
        repo_root: Some(REPO.to_owned()),
        cwd: Some(REPO.to_owned()),
        home: Some(HOME.to_owned()),
        platform: Platform::Linux,
        received_at: "2026-01-02T03:04:05.678Z".to_owned(),
        env: vec![],
        files: vec![],
        snapshots: Some(format!("{HOME}/.local/share/hookhost/snapshots")),
    }
}

fn each_adapter(check: impl Fn(&str, &Path, bool) -> Vec<String>) -> Vec<String> {
    let update = std::env::var_os("HOOKHOST_UPDATE").is_some_and(|value| value == "1");
    BUILTINS
        .iter()
        .flat_map(|adapter| {
            let failures = check(adapter.name, &folder(adapter.name), update).into_iter();
            failures.map(|failure| format!("{}: {failure}", adapter.name))
        })
        .collect()
}

#[track_caller]
fn report(failures: Vec<String>) {
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

fn open(name: &str) -> Box<dyn Adapter> {
    registry::find(name, &Config::default())
        .unwrap()
        .load(name, Limits::default())
        .unwrap()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures")
        .join(name)
        .canonicalize()
        .unwrap_or_default()
}

/// The names in a folder, sorted; none when there is no folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
