//! `schema`: JSON Schemas of what the journal holds and `--json` gives.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, schema_for};
use serde_json::Value;

use super::Output;
use super::{config, doctor, install, list, prune, redact, show, status};
use crate::error::{Error, Result};
use crate::journal::record::{AdapterStamp, Audit};
use crate::journal::{Failure, Fallback};

/// Print a JSON Schema of what the journal holds or a command gives with --json
///
/// Without a name: all of them, by name.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// `record` (a line of the journal), `event`, or a command
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

type Make = fn() -> Schema;

/// Every object that programs get to see.
const SCHEMAS: &[(&str, Make)] = &[
    ("config", || schema_for!(config::ConfigJson)),
    ("doctor", || schema_for!(doctor::DoctorJson)),
    ("event", || schema_for!(EventShape)),
    ("install", || schema_for!(install::InstallJson)),
    ("list", || schema_for!(list::ListJson)),
    ("lost", || schema_for!(Fallback)),
    ("prune", || schema_for!(prune::PruneJson)),
    ("record", || schema_for!(RecordShape)),
    ("redact", || schema_for!(redact::RedactJson)),
    ("show", || schema_for!(show::ShowJson)),
    ("status", || schema_for!(status::StatusJson)),
];

pub(super) fn run(args: &SchemaArgs) -> Result<Output> {
    let Some(name) = &args.name else {
        let all: BTreeMap<&str, Schema> = SCHEMAS.iter().map(|(name, make)| (*name, make())).collect();
        return pretty(&all);
    };
    match SCHEMAS.iter().find(|(known, _)| known == name) {
        Some((_, make)) => pretty(&make()),
        None => {
            let names: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
            Err(Error::usage(format!("there is no schema {name}")).hint(names.join(", ")))
        }
    }
}

fn pretty(value: &impl serde::Serialize) -> Result<Output> {
    let text =
        serde_json::to_string_pretty(value).map_err(|error| Error::input("cannot write the schema").because(error))?;
    Ok(Output::bytes((text + "\n").into_bytes()))
}

/// A hook call, as the journal keeps it: one line of a file. Unknown fields are to be ignored.
#[derive(JsonSchema)]
#[schemars(rename = "Record")]
#[cfg_attr(test, derive(serde::Deserialize), serde(deny_unknown_fields))]
#[allow(dead_code, reason = "only the shape counts")]
pub(crate) struct RecordShape {
    /// The version of the record format: 1.
    v: u32,
    /// A UUIDv7; ids sort by time.
    id: String,
    /// When the hook was called: RFC 3339 with milliseconds, UTC.
    time: String,
    /// The agent, by its adapter's name; as it was called when there is no such adapter.
    agent: String,
    /// The agent's version, where a payload tells.
    #[serde(default)]
    agent_version: Option<String>,
    /// The hook, as it was called.
    hook: String,
    /// The session, from the events or, when there are none, from the payload.
    #[serde(default)]
    session_id: Option<String>,
    /// The working directory of the call.
    #[serde(default)]
    cwd: Option<String>,
    /// The repository's work tree.
    #[serde(default)]
    repo_root: Option<String>,
    /// The adapter that read the payload.
    #[serde(default)]
    adapter: Option<AdapterStamp>,
    /// From the start of the program to the writing of the record, in microseconds.
    duration_us: u64,
    /// Why there is no event.
    #[serde(default)]
    failure: Option<Failure>,
    /// What was done to the records before this one, which is of no hook call then.
    #[serde(default)]
    audit: Option<Audit>,
    /// What the payload means.
    events: Vec<EventShape>,
    /// What it would mean had it not been recorded before.
    #[serde(default)]
    repeats: Vec<EventShape>,
    /// What stood before the payload: byte order marks and white space.
    #[serde(default)]
    payload_before: Option<String>,
    /// What stood behind the payload: white space.
    #[serde(default)]
    payload_after: Option<String>,
    /// The payload as the agent sent it.
    #[serde(default)]
    payload: Option<Value>,
    /// A payload that is no JSON, or JSON with line ends.
    #[serde(default)]
    payload_base64: Option<String>,
}

/// A lifecycle event, as the external-agent protocol writes it.
#[derive(JsonSchema)]
#[schemars(rename = "Event")]
#[cfg_attr(test, derive(serde::Deserialize), serde(deny_unknown_fields))]
#[allow(dead_code, reason = "only the shape counts")]
pub(crate) struct EventShape {
    /// 1 SessionStart, 2 TurnStart, 3 TurnEnd, 4 Compaction, 5 SessionEnd, 6 SubagentStart, 7 SubagentEnd.
    #[schemars(range(min = 1, max = 7))]
    r#type: u8,
    /// The agent's id of the session.
    session_id: String,
    /// The session that this one goes on from.
    #[serde(default)]
    previous_session_id: Option<String>,
    /// The transcript.
    #[serde(default)]
    session_ref: Option<String>,
    /// What a person typed.
    #[serde(default)]
    prompt: Option<String>,
    /// The model's name.
    #[serde(default)]
    model: Option<String>,
    /// RFC 3339.
    #[serde(default)]
    timestamp: Option<String>,
    /// The tool call that started the subagent.
    #[serde(default)]
    tool_use_id: Option<String>,
    /// The subagent's own id.
    #[serde(default)]
    subagent_id: Option<String>,
    /// The input of the tool, as it came.
    #[serde(default)]
    tool_input: Option<Value>,
    /// The kind of subagent.
    #[serde(default)]
    subagent_type: Option<String>,
    /// What the subagent is to do.
    #[serde(default)]
    task_description: Option<String>,
    /// A notice for the user.
    #[serde(default)]
    response_message: Option<String>,
    /// Further facts.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

/// Token numbers in classes that do not overlap.
#[derive(JsonSchema)]
#[schemars(rename = "TokenUsage")]
#[allow(dead_code, reason = "only the shape counts")]
pub(crate) struct TokenUsageShape {
    /// Neither read from nor written to a cache.
    input_tokens: u64,
    /// Written to a cache.
    cache_creation_tokens: u64,
    /// Read from a cache.
    cache_read_tokens: u64,
    /// With reasoning.
    output_tokens: u64,
    /// Calls of a model.
    api_call_count: u64,
    /// What the subagents used.
    #[serde(default)]
    subagent_tokens: Option<Box<TokenUsageShape>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Record;
    use crate::journal::record::Payload;
    use crate::model::{Event, EventKind};

    fn full_record() -> Record<'static> {
        let some = || Some("x".to_owned());
        let event = Event {
            kind: EventKind::SubagentEnd,
            session_id: "x".to_owned(),
            previous_session_id: some(),
            session_ref: some(),
            prompt: some(),
            model: some(),
            timestamp: some(),
            tool_use_id: some(),
            subagent_id: some(),
            tool_input: Some("{}".to_owned()),
            subagent_type: some(),
            task_description: some(),
            response_message: some(),
            metadata: vec![("k".to_owned(), "v".to_owned())],
        };
        Record {
            id: "x".to_owned(),
            time: "x".to_owned(),
            agent: "x".to_owned(),
            agent_version: some(),
            hook: "x".to_owned(),
            session_id: some(),
            cwd: some(),
            repo_root: some(),
            adapter: Some(AdapterStamp {
                name: "x".to_owned(),
                version: some(),
                digest: some(),
            }),
            duration_us: 1,
            failure: Some(Failure::new("x", "x")),
            audit: Some(Audit::default()),
            events: vec![event.clone()],
            repeats: vec![event],
            payload: Payload::of(b"\xef\xbb\xbf{}\n"),
        }
    }

    /// What is written has no field that the schema does not know, and the schema none that is never written.
    #[test]
    fn the_record_schema_is_what_is_written() {
        let mut written = std::collections::BTreeSet::new();
        for payload in [&b"\xef\xbb\xbf{}\n"[..], b"\xff"] {
            let record = Record {
                payload: Payload::of(payload),
                ..full_record()
            };
            let line = record.line().concat();
            serde_json::from_slice::<RecordShape>(&line).unwrap();
            let Value::Object(fields) = serde_json::from_slice(&line).unwrap() else {
                panic!("not an object");
            };
            written.extend(fields.keys().cloned());
        }
        assert_eq!(written, properties(&schema_for!(RecordShape)));
        let line = full_record().line().concat();
        let record: Value = serde_json::from_slice(&line).unwrap();
        let event = record["events"][0].as_object().unwrap();
        assert_eq!(
            event.keys().cloned().collect::<std::collections::BTreeSet<_>>(),
            properties(&schema_for!(EventShape))
        );
    }

    fn properties(schema: &Schema) -> std::collections::BTreeSet<String> {
        schema.as_value()["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    }

    #[test]
    fn a_bare_record_has_what_the_schema_requires() {
        let line = Record::default().line().concat();
        let record: Value = serde_json::from_slice(&line).unwrap();
        let schema = schema_for!(RecordShape);
        for required in schema.as_value()["required"].as_array().unwrap() {
            assert!(record.get(required.as_str().unwrap()).is_some(), "{required}");
        }
    }

    #[test]
    fn every_schema_says_what_it_is() {
        for (name, make) in SCHEMAS {
            let schema = make();
            assert!(schema.get("description").is_some(), "{name}");
        }
    }
}
