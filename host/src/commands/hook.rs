//! `hook`: what agents run. Records what a hook call means, and never hurts the agent.
//!
//! The exit code is 0 whatever happens, and nothing is printed but the reply that the adapter has for this agent. A
//! failure is a record with a reason code; when even the journal cannot be written, it is a line in the temp folder.

mod arguments;
mod last_words;
mod payload_facts;

use std::time::Instant;

use arguments::Arguments;
use payload_facts::PayloadFacts;

use crate::adapter::registry::{self, Found};
use crate::adapter::{Adapter, AdapterError};
use crate::cli::Words;
use crate::config::{Capture, Config};
use crate::error::Error;
use crate::input::{Arrived, Payload};
use crate::journal::record::{self, AdapterStamp};
use crate::journal::{Failure, Fallback, Journal, Record};
use crate::model::Event;
use crate::output;
use crate::paths;
use crate::redact::Redactor;
use crate::surroundings::Surroundings;

/// Record a hook call; agents run this
///
/// Reads one JSON value from stdin, or takes PAYLOAD. Exits with 0 whatever happens and prints nothing but what the
/// agent wants to read. HOOKHOST_DISABLE=1 switches it off.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The agent, by its adapter's name
    #[arg(value_name = "AGENT")]
    agent: Option<String>,
    /// The hook, in the agent's spelling or in kebab-case
    #[arg(value_name = "HOOK")]
    hook: Option<String>,
    /// The payload, for agents that give it as an argument
    #[arg(value_name = "PAYLOAD")]
    payload: Option<std::ffi::OsString>,
}

/// What a hook call came to.
#[derive(Default)]
struct Outcome {
    events: Vec<Event>,
    failure: Option<Failure>,
    reply: Vec<u8>,
}

/// Records the hook call that the arguments describe. `None`: somebody asks for help.
pub(crate) fn run_early(words: &Words<'_>) -> Option<u8> {
    if arguments::ask_for_help(words.rest) {
        return None;
    }
    run(&Arguments::of(words));
    Some(0)
}

fn run(arguments: &Arguments) {
    let began = Instant::now();
    let config = Config::load();
    let is_disabled = config
        .as_ref()
        .map_or_else(|_| Config::is_disabled_by_variable(), Config::is_disabled);
    if is_disabled {
        // Some agents take a pipe that nobody reads for a hook that failed.
        let _ = arguments.payload();
        return;
    }
    let surroundings = Surroundings::of_process();
    let journal = Journal::of_user();
    let blank = begin(arguments, &surroundings);
    last_words::prepare(blank.clone(), journal.as_ref());

    let payload = arguments.payload();
    let mut record = blank;
    let reply = match &config {
        Err(error) => {
            record.failure = Some(Failure::new("config-invalid", error.to_string()));
            vec![]
        }
        Ok(config) => match fill(&mut record, config, arguments, &payload, &surroundings) {
            Some(reply) => reply,
            None => return last_words::unnecessary(),
        },
    };
    record.duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    keep(record, journal.as_ref());
    last_words::unnecessary();
    // That the agent has gone is no failure of ours.
    let _ = output::answer(&reply);
}

fn begin(arguments: &Arguments, surroundings: &Surroundings) -> Record<'static> {
    let shown = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
    Record {
        id: Record::new_id(),
        time: surroundings.received_at.clone(),
        agent: arguments.agent.clone(),
        hook: arguments.hook.clone(),
        cwd: shown(&surroundings.cwd),
        repo_root: shown(&surroundings.repo_root),
        ..Record::default()
    }
}

/// Fills in what came of the call, and gives the reply. `None`: nothing of this is to be recorded.
fn fill<'p>(
    record: &mut Record<'p>,
    config: &Config,
    arguments: &Arguments,
    payload: &'p Result<Payload, Error>,
    surroundings: &Surroundings,
) -> Option<Vec<u8>> {
    let found = find(arguments, config);
    if let Ok(found) = &found {
        record.agent.clone_from(&found.name);
        record.adapter = Some(AdapterStamp {
            name: found.name.clone(),
            version: None,
            digest: Some(found.digest.clone()),
        });
    }
    if is_excluded(config, arguments, &record.agent, surroundings) {
        return None;
    }
    let outcome = match (payload, found) {
        _ if arguments.is_wrong() => Outcome::failed(Failure::new("usage", arguments::USAGE)),
        (Err(error), _) => Outcome::failed(Failure::new("stdin-unreadable", error.to_string())),
        (_, Err(error)) => Outcome::failed(because(&error)),
        (Ok(payload), Ok(found)) => ask(&found, config, arguments, payload, surroundings),
    };
    record.events = outcome.events;
    record.failure = outcome.failure;
    if let Ok(payload) = payload {
        let facts = PayloadFacts::of(payload.value());
        record.agent_version = facts.agent_version.clone();
        let named = record.events.first().map(|event| event.session_id.clone());
        record.session_id = named.or(facts.session_id.clone());
        if payload.arrived() != Arrived::TooMuch {
            // Of what is an object that much is known; what stands around it may be more than white space.
            let is_json = |value: &str| facts.is_object && value.len() == payload.value().len();
            record.payload = match facts.is_object {
                true => record::Payload::judged(payload.raw(), is_json),
                false => record::Payload::of(payload.raw()),
            };
        }
    }
    hide(record, config);
    Some(outcome.reply)
}

fn find(arguments: &Arguments, config: &Config) -> Result<Found, AdapterError> {
    match &arguments.adapter {
        Some(file) => registry::of_file(file),
        None => registry::find(&arguments.agent, config),
    }
}

fn is_excluded(config: &Config, arguments: &Arguments, agent: &str, surroundings: &Surroundings) -> bool {
    let places = [&surroundings.cwd, &surroundings.repo_root];
    config.excludes_agent(agent)
        || config.excludes_agent(&arguments.agent)
        || places.into_iter().flatten().any(|place| config.excludes_place(place))
}

/// Asks the adapter what the payload means and what the agent is to be told.
fn ask(
    found: &Found,
    config: &Config,
    arguments: &Arguments,
    payload: &Payload,
    surroundings: &Surroundings,
) -> Outcome {
    let mut adapter = match found.load_hooks(&found.name, config.limits()) {
        Ok(adapter) => adapter,
        Err(error) => return Outcome::failed(because(&error)),
    };
    let mut outcome = parse(adapter.as_mut(), found, &arguments.hook, payload, surroundings);
    let message = outcome
        .events
        .iter()
        .find_map(|event| event.response_message.as_deref());
    match adapter.reply(&arguments.hook, message) {
        Ok(reply) => outcome.reply = reply,
        Err(error) if outcome.failure.is_none() => outcome.failure = Some(because(&error)),
        Err(_) => {}
    }
    // The process ends with this call; taking the adapter down would only take time.
    std::mem::forget(adapter);
    outcome
}

fn parse(
    adapter: &mut dyn Adapter,
    found: &Found,
    hook: &str,
    payload: &Payload,
    surroundings: &Surroundings,
) -> Outcome {
    let context = surroundings.context(&found.env);
    let parsed = match payload.arrived() {
        Arrived::Cut | Arrived::TooMuch => Ok(vec![]),
        // Some agents have hooks without a payload.
        Arrived::Nothing => adapter.parse(hook, "", &context).or_else(|_| Ok(vec![])),
        Arrived::Value | Arrived::Other => adapter.parse(hook, &payload.text(), &context),
    };
    match parsed {
        Err(error) => Outcome::failed(because(&error)),
        Ok(mut events) => {
            for event in &mut events {
                event.timestamp.get_or_insert_with(|| context.received_at.clone());
            }
            let failure = events.is_empty().then(|| incomplete(payload)).flatten();
            Outcome {
                events,
                failure,
                reply: vec![],
            }
        }
    }
}

/// Why there can be no event in what came.
fn incomplete(payload: &Payload) -> Option<Failure> {
    let code = match payload.arrived() {
        Arrived::Nothing => "payload-empty",
        Arrived::Cut => "payload-cut",
        Arrived::TooMuch => "payload-too-large",
        Arrived::Other => "payload-not-json",
        Arrived::Value => return None,
    };
    let reason = payload.complete().err().map(|error| error.to_string());
    Some(Failure::new(code, reason.unwrap_or_default()))
}

/// Leaves out what is not to be kept.
pub(super) fn hide(record: &mut Record<'_>, config: &Config) {
    match config.capture() {
        Capture::Raw => {}
        Capture::Off => record.payload = record::Payload::Absent,
        Capture::Redacted => match Redactor::new(config, paths::data_dir().as_deref()) {
            Ok(mut redactor) => redactor.record(record),
            Err(error) => {
                record.payload = record::Payload::Absent;
                record.events.clear();
                record.failure = Some(Failure::new("config-invalid", error.to_string()));
            }
        },
    }
}

/// Appends the record to the journal, or notes in the temp folder that it couldn't.
fn keep(mut record: Record<'_>, journal: Option<&Journal>) {
    let no_home = || std::io::Error::new(std::io::ErrorKind::NotFound, "there is no home directory");
    let kept = match journal {
        Some(journal) => journal.append(&mut record),
        None => Err(no_home()),
    };
    if let Err(error) = kept {
        let _ = Fallback::of(&record, &error).write();
    }
}

fn because(error: &AdapterError) -> Failure {
    Failure::new(error.kind.code(), error.message.clone())
}

impl Outcome {
    fn failed(failure: Failure) -> Self {
        Self {
            failure: Some(failure),
            ..Self::default()
        }
    }
}
