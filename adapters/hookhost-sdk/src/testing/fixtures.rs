//! Payload fixtures: a payload beside the events that it means.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::{Adapter, Event};

const PAYLOAD: &str = ".json";
const EXPECTED: &str = ".expected.json";

/// Holds every payload in `tests/fixtures/<adapter>/payloads` against the events that stand beside it.
///
/// `<Hook>[--case].json` is what the agent sends, `<Hook>[--case].expected.json` is
/// `{"hook"?: "...", "env"?: {...}, "events": [...]}` with the events in the protocol's form; `hook` is the part of
/// the file's name before `--` unless it is given. A payload without an expectation fails, an expectation without a
/// payload as well, and so does a folder that is missing or empty. With `HOOKHOST_UPDATE=1` the events are written
/// instead of compared: read the difference before you commit it.
///
/// # Panics
/// When the check fails, with all that differs.
#[track_caller]
pub fn check_payload_fixtures<A: Adapter>() {
    let update = env::var_os("HOOKHOST_UPDATE").is_some_and(|value| value == "1");
    let failures = match fixture_folder(&format!("{}/payloads", A::MANIFEST.name)) {
        Err(reason) => vec![reason],
        Ok(folder) => check_folder::<A>(&folder, update),
    };
    #[allow(clippy::panic, reason = "a test helper: a failed check is a failed test")]
    if !failures.is_empty() {
        panic!("{}", failures.join("\n\n"));
    }
}

/// `tests/fixtures/<path>` in the package under test or in a folder above it.
///
/// # Errors
/// When there is no such folder.
pub fn fixture_folder(path: &str) -> Result<PathBuf, String> {
    let package = env::var("CARGO_MANIFEST_DIR").map_err(|_| "CARGO_MANIFEST_DIR is not set: run cargo test")?;
    let wanted = Path::new("tests/fixtures").join(path);
    Path::new(&package)
        .ancestors()
        .map(|folder| folder.join(&wanted))
        .find(|folder| folder.is_dir())
        .ok_or_else(|| format!("no folder {} in {package} or above it", wanted.display()))
}

/// An event in the protocol's form.
#[must_use]
pub fn wire(event: &Event) -> Value {
    serde_json::to_value(Wire(event)).unwrap_or_default()
}

fn check_folder<A: Adapter>(folder: &Path, update: bool) -> Vec<String> {
    let (payloads, expectations) = match cases(folder) {
        Ok(found) => found,
        Err(reason) => return vec![reason],
    };
    let mut failures: Vec<String> = expectations
        .difference(&payloads)
        .map(|case| format!("{case}{EXPECTED}: no payload {case}{PAYLOAD} beside it"))
        .collect();
    if payloads.is_empty() {
        failures.push(format!("no payloads in {}", folder.display()));
    }
    failures.extend(
        payloads
            .iter()
            .filter_map(|case| check_case::<A>(folder, case, update).err()),
    );
    failures
}

/// The names of the payloads and of the expectations.
fn cases(folder: &Path) -> Result<(BTreeSet<String>, BTreeSet<String>), String> {
    let mut payloads = BTreeSet::new();
    let mut expectations = BTreeSet::new();
    let unreadable = |error| format!("{}: {error}", folder.display());
    for file in fs::read_dir(folder).map_err(unreadable)? {
        let name = file.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
        if let Some(case) = name.strip_suffix(EXPECTED) {
            expectations.insert(case.to_owned());
        } else if let Some(case) = name.strip_suffix(PAYLOAD) {
            payloads.insert(case.to_owned());
        }
    }
    Ok((payloads, expectations))
}

fn check_case<A: Adapter>(folder: &Path, case: &str, update: bool) -> Result<(), String> {
    let payload_file = folder.join(format!("{case}{PAYLOAD}"));
    let expected_file = folder.join(format!("{case}{EXPECTED}"));
    let payload = fs::read(&payload_file).map_err(|error| format!("{case}{PAYLOAD}: {error}"))?;
    let expected = match fs::read_to_string(&expected_file) {
        Ok(text) => Expectation::parse(&text).map_err(|reason| format!("{case}{EXPECTED}: {reason}"))?,
        Err(_) if update => Expectation::default(),
        Err(error) => return Err(format!("{case}{EXPECTED}: {error}; HOOKHOST_UPDATE=1 writes it")),
    };
    let hook = match &expected.hook {
        Some(hook) => hook,
        None => case.split_once("--").map_or(case, |(hook, _)| hook),
    };
    let mut context = super::context();
    context.env.clone_from(&expected.env);
    let events = super::parse_in::<A>(hook, &as_the_host_gives_it(&payload), &context)
        .map_err(|fault| format!("{case}{PAYLOAD}: {fault:?}"))?;
    let came: Vec<Value> = events.iter().map(wire).collect();
    if came == expected.events && expected_file.is_file() {
        return Ok(());
    }
    if update {
        return fs::write(&expected_file, expected.rewritten(&events))
            .map_err(|error| format!("{case}{EXPECTED}: {error}"));
    }
    Err(format!(
        "{case}{PAYLOAD}: the events differ\n  expected: {}\n  came:     {}",
        Value::from(expected.events),
        Value::from(came)
    ))
}

/// The host takes byte order marks off and replaces what is not UTF-8.
fn as_the_host_gives_it(payload: &[u8]) -> String {
    String::from_utf8_lossy(payload)
        .trim_start_matches('\u{feff}')
        .to_owned()
}

#[derive(Default)]
struct Expectation {
    hook: Option<String>,
    env: Vec<(String, String)>,
    events: Vec<Value>,
}

impl Expectation {
    fn parse(text: &str) -> Result<Self, String> {
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return Err("not a JSON object".to_owned());
        };
        let mut expectation = Self::default();
        let mut has_events = false;
        for (key, value) in fields {
            match (key.as_str(), value) {
                ("hook", Value::String(hook)) => expectation.hook = Some(hook),
                ("events", Value::Array(events)) => {
                    has_events = true;
                    expectation.events = events;
                }
                ("env", Value::Object(variables)) => {
                    for (name, value) in variables {
                        let Value::String(value) = value else {
                            return Err(format!("env.{name} is not a text"));
                        };
                        expectation.env.push((name, value));
                    }
                }
                _ => {
                    return Err(format!(
                        "`{key}` is not a key of an expectation, or its value is of another type"
                    ));
                }
            }
        }
        if has_events {
            Ok(expectation)
        } else {
            Err("`events` is missing".to_owned())
        }
    }

    /// The same expectation with these events.
    fn rewritten(&self, events: &[Event]) -> String {
        struct File<'a>(&'a Expectation, &'a [Event]);
        impl Serialize for File<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let Self(expectation, events) = self;
                let mut map = serializer.serialize_map(None)?;
                if let Some(hook) = &expectation.hook {
                    map.serialize_entry("hook", hook)?;
                }
                if !expectation.env.is_empty() {
                    map.serialize_entry("env", &Pairs(&expectation.env))?;
                }
                map.serialize_entry("events", &events.iter().map(Wire).collect::<Vec<_>>())?;
                map.end()
            }
        }
        let text = serde_json::to_string_pretty(&File(self, events)).unwrap_or_default();
        text + "\n"
    }
}

/// The protocol's form of an event: absent and empty fields are left out.
struct Wire<'a>(&'a Event);

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &(event.kind as u8 + 1))?;
        map.serialize_entry("session_id", &event.session_id)?;
        for (key, value) in [
            ("previous_session_id", &event.previous_session_id),
            ("session_ref", &event.session_ref),
            ("prompt", &event.prompt),
            ("model", &event.model),
            ("timestamp", &event.timestamp),
            ("tool_use_id", &event.tool_use_id),
            ("subagent_id", &event.subagent_id),
        ] {
            optional(&mut map, key, value.as_ref())?;
        }
        if let Some(input) = &event.tool_input {
            match serde_json::from_str::<Value>(input) {
                Ok(value) => map.serialize_entry("tool_input", &value)?,
                Err(_) => map.serialize_entry("tool_input", input)?,
            }
        }
        for (key, value) in [
            ("subagent_type", &event.subagent_type),
            ("task_description", &event.task_description),
            ("response_message", &event.response_message),
        ] {
            optional(&mut map, key, value.as_ref())?;
        }
        if !event.metadata.is_empty() {
            map.serialize_entry("metadata", &Pairs(&event.metadata))?;
        }
        map.end()
    }
}

fn optional<M: SerializeMap>(map: &mut M, key: &str, value: Option<&String>) -> Result<(), M::Error> {
    match value.filter(|value| !value.is_empty()) {
        Some(value) => map.serialize_entry(key, value),
        None => Ok(()),
    }
}

struct Pairs<'a>(&'a [(String, String)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, EventKind, Fault, Hook, Manifest, Payload};

    #[derive(Default)]
    struct Example;

    impl Adapter for Example {
        const MANIFEST: Manifest = Manifest {
            name: "example",
            hooks: &[Hook::registered("Stop", "stop")],
            ..Manifest::EMPTY
        };

        fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
            let Some(session) = payload.id(&["session_id"]) else {
                return Ok(vec![]);
            };
            let mut event = Event::new(EventKind::TurnEnd, session).with("hook", Some(hook));
            event.model = crate::env(context, "MODEL").map(str::to_owned);
            event.tool_input = payload.get("input").map(|input| input.raw().to_owned());
            Ok(vec![event])
        }
    }

    fn folder(files: &[(&str, &str)]) -> PathBuf {
        let unique = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_nanos();
        let folder = env::temp_dir().join(format!("hookhost-fixtures-{}-{unique}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn payloads_are_held_against_what_stands_beside_them() {
        let folder = folder(&[
            (
                "Stop--input.json",
                "\u{feff}{\"session_id\":\"s\",\"input\":{ \"b\":1,\"a\":2 }}",
            ),
            (
                "Stop--input.expected.json",
                r#"{"hook":"stop","env":{"MODEL":"m"},"events":[{"type":3,"session_id":"s","model":"m",
                   "tool_input":{"a":2,"b":1},"metadata":{"hook":"Stop"}}]}"#,
            ),
            ("Stop.json", "{}"),
            ("Stop.expected.json", r#"{"events":[]}"#),
        ]);
        assert_eq!(check_folder::<Example>(&folder, false), Vec::<String>::new());
    }

    #[test]
    fn orphans_differences_and_malformed_payloads_fail() {
        let folder = folder(&[
            ("A.json", "{}"),
            ("B.expected.json", r#"{"events":[]}"#),
            ("C.json", "nothing"),
            ("C.expected.json", r#"{"events":[]}"#),
            ("D.json", r#"{"session_id":"s"}"#),
            ("D.expected.json", r#"{"events":[]}"#),
        ]);
        let failures = check_folder::<Example>(&folder, false);
        assert_eq!(failures.len(), 4, "{failures:#?}");
        assert!(failures[0].starts_with("B.expected.json: no payload"));
        assert!(failures[1].starts_with("A.expected.json: "));
        assert!(failures[2].starts_with("C.json: Fault::Malformed"));
        assert!(failures[3].starts_with("D.json: the events differ"));
    }

    #[test]
    fn updating_writes_the_events_and_keeps_the_rest() {
        let folder = folder(&[
            ("Stop.json", r#"{"session_id":"s"}"#),
            ("Stop.expected.json", r#"{"env":{"MODEL":"m"},"events":[]}"#),
        ]);
        assert_eq!(check_folder::<Example>(&folder, true), Vec::<String>::new());
        let written = fs::read_to_string(folder.join("Stop.expected.json")).unwrap();
        assert!(
            written.starts_with("{\n  \"env\": {\n    \"MODEL\": \"m\"\n  },\n  \"events\""),
            "{written}"
        );
        assert_eq!(check_folder::<Example>(&folder, false), Vec::<String>::new());
    }
}
