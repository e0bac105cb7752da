//! Whether a component is an adapter that hookhost can work with: what it claims is asked for, once each.

use std::path::Path;
use std::time::{Duration, Instant};

use hookhost::adapter::{Adapter, Answer, FailureKind, ReadingStart, registry, wasm};
use hookhost::config::Config;
use hookhost::error::{Error, Result};
use hookhost::model::{Base, Context, ContextFile, Description, FileState, Invocation, Place, Platform, Scope};
use serde::Serialize;

use crate::component::Component;
use crate::shelf::{self, Shelved};

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) display_name: String,
    pub(crate) contract: &'static str,
    pub(crate) digest: String,
    pub(crate) imports: Vec<Import>,
    pub(crate) component_bytes: usize,
    pub(crate) compiled_bytes: u64,
    pub(crate) compile_microseconds: u64,
    pub(crate) operations: Vec<Operation>,
    pub(crate) log: Vec<String>,
    /// What does not keep it from being used.
    pub(crate) notes: Vec<String>,
    pub(crate) problems: Vec<String>,
}

/// A name that the component imports.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Import {
    pub(crate) name: String,
    /// Nothing stands behind it: using it is a crash.
    pub(crate) trapped: bool,
}

/// What became of one call.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    pub(crate) microseconds: u64,
    pub(crate) message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    Answered,
    /// The agent has no such thing, and the adapter does not claim it.
    Unsupported,
    Failed,
}

/// Checks the component in a file, and leaves its compiled code where `--adapter FILE` finds it.
pub(crate) fn check_file(file: &Path) -> Result<Report> {
    let component = Component::read(file)?;
    let begun = Instant::now();
    let shelved = shelf::compile_file(file, &component)?;
    Ok(check(&file.display().to_string(), &component, shelved, begun.elapsed()))
}

/// Compiles the component in a file and does no more.
pub(crate) fn precompile(file: &Path) -> Result<()> {
    shelf::compile_file(file, &Component::read(file)?).map(drop)
}

/// What was done about one installed adapter.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InstalledReport {
    pub(crate) name: String,
    /// Its code was made anew, for this reason.
    pub(crate) compiled_again: Option<String>,
    /// Why it cannot be used.
    pub(crate) problem: Option<String>,
}

/// Looks at every installed adapter and compiles anew what this hookhost cannot load.
pub(crate) fn check_installed() -> Vec<InstalledReport> {
    registry::installed().into_iter().map(check_one_installed).collect()
}

pub(crate) fn check_one_installed(name: String) -> InstalledReport {
    let (mut compiled_again, mut problem) = (None, None);
    if let Err(stale) = shelf::verify_installed(&name) {
        compiled_again = Some(stale.to_string());
        let again = shelf::installed_component(&name).and_then(|component| shelf::install(&component, &name));
        problem = again.err().map(|error| error.to_string());
    }
    if problem.is_none() {
        let described = registry::find(&name, &Config::default())
            .and_then(|found| found.load(&name, hookhost::adapter::Limits::default()))
            .and_then(|mut adapter| adapter.describe());
        problem = described.err().map(|error| error.message);
    }
    InstalledReport {
        name,
        compiled_again: compiled_again.filter(|_| problem.is_none()),
        problem,
    }
}

/// The name that a component gives itself, when it passes the check.
pub(crate) fn accepted_name(report: &Report) -> Result<&str> {
    if report.problems.is_empty() {
        return Ok(&report.name);
    }
    Err(Error::input(format!("{}: {}", report.file, report.problems.join("; ")))
        .hint(format!("hookhost adapter check {}", report.file)))
}

fn check(file: &str, component: &Component, shelved: Shelved, compiling: Duration) -> Report {
    let Shelved {
        adapter,
        description,
        code_bytes,
    } = shelved;
    let mut checker = Checker {
        adapter,
        context: context(&description),
        operations: Vec::new(),
        notes: Vec::new(),
        problems: facts(&description),
    };
    checker.run(&description);
    let foreign = component.foreign_imports();
    Report {
        file: file.to_owned(),
        contract: wasm::contract_line(component.exports.iter().map(String::as_str)).unwrap_or_default(),
        digest: component.digest(),
        imports: component
            .imports
            .iter()
            .map(|name| Import {
                name: name.clone(),
                trapped: foreign.contains(&name.as_str()),
            })
            .collect(),
        component_bytes: component.bytes.len(),
        compiled_bytes: code_bytes,
        compile_microseconds: microseconds(compiling),
        operations: checker.operations,
        log: checker.adapter.take_log(),
        notes: checker.notes,
        problems: checker.problems,
        name: description.name,
        display_name: description.display_name,
    }
}

/// What is wrong with the constant facts.
fn facts(description: &Description) -> Vec<String> {
    let mut problems = Vec::new();
    for name in std::iter::once(&description.name).chain(&description.aliases) {
        if !registry::is_name(name) {
            problems.push(format!("{name:?} is no name: lower case letters, digits and hyphens"));
        }
    }
    if description.display_name.is_empty() {
        problems.push("it has no display name".to_owned());
    }
    if description.capabilities.hooks == description.hook_names.is_empty() {
        problems.push("the capability `hooks` and the hook names contradict each other".to_owned());
    }
    for hook in &description.hook_names {
        if !registry::is_name(&hook.alias) {
            problems.push(format!("the hook alias {:?} is not kebab-case", hook.alias));
        }
    }
    if description.capabilities.text_generator && description.text_command.is_empty() {
        problems.push("it claims `text-generator` and names no command".to_owned());
    }
    problems
}

struct Checker {
    adapter: Box<dyn Adapter>,
    context: Context,
    operations: Vec<Operation>,
    notes: Vec<String>,
    problems: Vec<String>,
}

impl Checker {
    fn run(&mut self, description: &Description) {
        let claimed = description.capabilities;
        let context = self.context.clone();
        self.operation("describe", true, |adapter| match adapter.describe()? {
            again if again == *description => Ok(()),
            _ => Err(failure("it says something else the second time")),
        });
        for hook in &description.hook_names {
            self.operation(&format!("parse {}", hook.native), claimed.hooks, |adapter| {
                adapter.parse(&hook.native, "{}", &context).map(drop)
            });
        }
        self.operation(
            "parse of a hook that it does not know",
            claimed.hooks,
            |adapter| match adapter.parse("NoSuchHook", "{}", &context)?.is_empty() {
                true => Ok(()),
                false => Err(failure("it makes events of it")),
            },
        );
        self.operation("finish", false, |adapter| adapter.finish(&context).map(drop));
        for scope in [Scope::Repo, Scope::User] {
            let name = format!(
                "plan for {}",
                if scope == Scope::Repo { "a repository" } else { "a user" }
            );
            self.operation(&name, false, |adapter| {
                adapter.plan(&invocation(), scope, &context).map(drop)
            });
        }
        let plans = self.operations.iter().rev().take(2);
        if claimed.hooks && plans.filter(|plan| plan.outcome == Outcome::Unsupported).count() == 2 {
            let note = "it has no registration plan: `hookhost install` cannot register its hooks";
            self.notes.push(note.to_owned());
        }
        for hook in &description.hook_names {
            self.operation(&format!("reply to {}", hook.native), claimed.hooks, |adapter| {
                adapter.reply(&hook.native, None).map(drop)
            });
        }
        if claimed.hook_response_writer {
            let shows = |adapter: &mut dyn Adapter| {
                let mut last = Err(failure("it has no hooks"));
                for hook in &description.hook_names {
                    last = adapter.reply(&hook.native, Some("a message")).map(drop);
                    if last.is_ok() {
                        break;
                    }
                }
                last
            };
            self.operation("reply with a message", true, shows);
        }
        self.operation("session-id", true, |adapter| {
            adapter
                .session_id(r#"{"hook_type":"stop","session_id":"some-id"}"#)
                .map(drop)
        });
        self.operation("session-dir", false, |adapter| {
            adapter.session_dir("/home/dev/project", &context).map(drop)
        });
        self.operation("session-file", false, |adapter| {
            adapter
                .session_file("/home/dev/sessions", "some-id", &context)
                .map(drop)
        });
        self.operation("resume-command", false, |adapter| {
            adapter.resume_command("some-id").map(drop)
        });
        self.operation("transcript-source", false, |adapter| {
            adapter
                .transcript_location("/home/dev/sessions/some-id.jsonl", &context)
                .map(drop)
        });
        self.operation("subagent-transcripts", claimed.subagent_aware_extractor, |adapter| {
            adapter
                .subagent_transcripts("/home/dev/sessions/some-id.jsonl", None, &context)
                .map(drop)
        });
        let reads = claimed.transcript_analyzer || claimed.token_calculator || claimed.compact_transcript;
        self.operation("reading", reads, |adapter| {
            let mut reading = adapter.reading(ReadingStart::default())?;
            reading.push(b"")?;
            reading.finish()?;
            reading.position().map(drop)
        });
    }

    fn operation(&mut self, name: &str, claimed: bool, call: impl FnOnce(&mut dyn Adapter) -> Answer<()>) {
        let begun = Instant::now();
        let answer = call(self.adapter.as_mut());
        let microseconds = microseconds(begun.elapsed());
        let (outcome, message) = match answer {
            Ok(()) => (Outcome::Answered, None),
            Err(error) if error.kind == FailureKind::Unsupported && !claimed => (Outcome::Unsupported, None),
            // A fault is an answer as well: the input here is nobody's.
            Err(error) if matches!(error.kind, FailureKind::Malformed | FailureKind::Other) && name != "describe" => {
                (Outcome::Answered, Some(error.message))
            }
            Err(error) => (Outcome::Failed, Some(error.message)),
        };
        if outcome == Outcome::Failed {
            let reason = message.as_deref().unwrap_or_default();
            self.problems.push(format!("{name}: {reason}"));
        }
        self.operations.push(Operation {
            name: name.to_owned(),
            outcome,
            microseconds,
            message,
        });
    }
}

fn failure(message: &str) -> hookhost::adapter::AdapterError {
    hookhost::adapter::AdapterError {
        adapter: String::new(),
        kind: FailureKind::Contract,
        message: message.to_owned(),
    }
}

/// Surroundings in which nothing is set up yet.
fn context(description: &Description) -> Context {
    Context {
        repo_root: Some("/home/dev/project".to_owned()),
        cwd: Some("/home/dev/project".to_owned()),
        home: Some("/home/dev".to_owned()),
        platform: match std::env::consts::OS {
            "macos" => Platform::Macos,
            "windows" => Platform::Windows,
            _ => Platform::Linux,
        },
        received_at: "2026-01-02T03:04:05.678Z".to_owned(),
        env: Vec::new(),
        files: description.wanted_files.iter().filter_map(missing_file).collect(),
        snapshots: Some("/home/dev/.local/share/hookhost/snapshots".to_owned()),
    }
}

fn missing_file(wanted: &Place) -> Option<ContextFile> {
    let base = match wanted.base {
        Base::Repo => "/home/dev/project/",
        Base::Home => "/home/dev/",
        Base::Root => "",
        Base::Program | Base::Env(_) => return None,
    };
    Some(ContextFile {
        wanted: wanted.clone(),
        path: format!("{base}{}", wanted.path),
        state: FileState::Missing,
    })
}

fn invocation() -> Invocation {
    let words = ["hookhost", "hook", "agent", "{hook}"];
    Invocation {
        posix: words.join(" "),
        cmd: words.join(" "),
        powershell: words.join(" "),
        argv: words.map(str::to_owned).to_vec(),
        kebab: false,
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
