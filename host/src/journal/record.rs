//! What one hook call leaves: a line of JSON.
//!
//! ```json
//! {"v":1,"id":"0193…","time":"2026-01-02T03:04:05.678Z","agent":"…","hook":"Stop","session_id":"…","cwd":"/home/dev/project",
//!  "adapter":{"name":"…","version":"0.1.0","digest":"sha256:…"},"duration_us":412,"events":[{"type":3,…}],"payload":{…}}
//! ```
//!
//! The payload stands last, so that the head of a line says everything but the payload, and byte for byte: as JSON when
//! it is JSON without line ends (`payload`, with `payload_before` and `payload_after` for byte order marks and white
//! space around it), else in base64 (`payload_base64`). Absent fields are left out. The format only grows; readers ignore
//! what they don't know, and `v` rises when that is not enough.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::model::Event;
use crate::wire::{self, EventJson};

/// The version of the record format.
pub const FORMAT_VERSION: u32 = 1;

/// One hook call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// Unique; ids sort by time.
    pub id: String,
    /// When the hook was called: RFC 3339 with milliseconds, UTC.
    pub time: String,
    /// The agent, by its adapter's name; as it was called when there is no such adapter.
    pub agent: String,
    /// The agent's version, where a payload tells.
    pub agent_version: Option<String>,
    /// The hook, as it was called.
    pub hook: String,
    /// The session, from the events or, when there are none, from the payload.
    pub session_id: Option<String>,
    /// The working directory of the call.
    pub cwd: Option<String>,
    /// The repository's work tree.
    pub repo_root: Option<String>,
    /// The adapter that read the payload.
    pub adapter: Option<AdapterStamp>,
    /// From the start of the program to the writing of the record, in microseconds.
    pub duration_us: u64,
    /// Why there is no event.
    pub failure: Option<Failure>,
    /// What was done to the records before this one, which is of no hook call then.
    pub audit: Option<Audit>,
    /// What the payload means.
    pub events: Vec<Event>,
    /// What it would mean had it not been recorded before.
    pub repeats: Vec<Event>,
    /// The bytes that the agent sent.
    pub payload: Payload<'a>,
}

/// Which adapter it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterStamp {
    /// Its name.
    pub name: String,
    /// Its version, when it says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The digest of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Why a hook call gave no event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// A word for programs.
    pub code: Cow<'static, str>,
    /// A sentence for people.
    #[serde(default)]
    pub message: String,
}

impl Failure {
    /// A failure.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code: Cow::Borrowed(code),
            message: message.into(),
        }
    }
}

/// What was done to a file of the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// `redact`.
    pub action: String,
    /// Who did it.
    pub by: String,
    /// How many records changed.
    pub records: u64,
    /// How many secrets were replaced, by kind.
    #[serde(default)]
    pub secrets: BTreeMap<String, u64>,
}

/// The bytes that an agent sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Nothing came, or it is not to be kept.
    #[default]
    Absent,
    /// A JSON value without line ends.
    Json {
        /// Byte order marks and white space.
        before: Cow<'a, str>,
        /// The value.
        value: Cow<'a, str>,
        /// White space.
        after: Cow<'a, str>,
    },
    /// Anything else.
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Payload<'a> {
    /// The bytes as they came, kept as JSON where that is possible.
    #[must_use]
    pub fn of(raw: &'a [u8]) -> Self {
        Self::judged(raw, |value| serde_json::from_str::<&RawValue>(value).is_ok())
    }

    /// As [`Self::of`], for bytes of which somebody else knows whether the value in them is JSON.
    pub(crate) fn judged(raw: &'a [u8], is_json: impl FnOnce(&str) -> bool) -> Self {
        if raw.is_empty() {
            return Self::Absent;
        }
        as_json(raw, is_json).unwrap_or(Self::Bytes(Cow::Borrowed(raw)))
    }

    /// The bytes as they came.
    #[must_use]
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Absent => Cow::Borrowed(&[]),
            Self::Json { before, value, after } if before.is_empty() && after.is_empty() => {
                Cow::Borrowed(value.as_bytes())
            }
            Self::Json { before, value, after } => {
                Cow::Owned([before.as_bytes(), value.as_bytes(), after.as_bytes()].concat())
            }
            Self::Bytes(bytes) => Cow::Borrowed(bytes),
        }
    }

    fn into_owned(self) -> Payload<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Absent => Payload::Absent,
            Self::Json { before, value, after } => Payload::Json {
                before: own(before),
                value: own(value),
                after: own(after),
            },
            Self::Bytes(bytes) => Payload::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }
}

fn as_json(raw: &[u8], is_json: impl FnOnce(&str) -> bool) -> Option<Payload<'_>> {
    let text = std::str::from_utf8(raw).ok()?;
    let is_space = |letter: char| matches!(letter, ' ' | '\t' | '\r' | '\n');
    let value = text.trim_start_matches(|letter| letter == '\u{feff}' || is_space(letter));
    let (before, _) = text.split_at_checked(text.len() - value.len())?;
    let trimmed = value.trim_end_matches(is_space);
    let (value, after) = value.split_at_checked(trimmed.len())?;
    if value.bytes().any(|byte| byte == b'\n' || byte == b'\r') {
        return None;
    }
    is_json(value).then_some(())?;
    Some(Payload::Json {
        before: Cow::Borrowed(before),
        value: Cow::Borrowed(value),
        after: Cow::Borrowed(after),
    })
}

/// A line in two parts: what was made, and the payload's bytes as they lie in memory. Together they are the record.
#[derive(Debug)]
pub struct Line<'a> {
    head: Vec<u8>,
    value: &'a [u8],
    end: &'static [u8],
}

impl Line<'_> {
    /// The parts, in order.
    #[must_use]
    pub fn parts(&self) -> [&[u8]; 3] {
        [&self.head, self.value, self.end]
    }

    /// The whole line, without a newline.
    #[must_use]
    pub fn concat(&self) -> Vec<u8> {
        self.parts().concat()
    }
}

impl Record<'_> {
    /// A new id.
    #[must_use]
    pub fn new_id() -> String {
        Uuid::now_v7().to_string()
    }

    /// The record as a line of the journal.
    #[must_use]
    pub fn line(&self) -> Line<'_> {
        let mut head = Vec::with_capacity(1024);
        // Neither a failing writer nor a map with odd keys is in there: nothing can fail.
        let _ = serde_json::to_writer(&mut head, &Head::of(self));
        // The JSON of a tool's input may have line ends between its values.
        for byte in &mut head {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        head.pop();
        match &self.payload {
            Payload::Absent => Line {
                head,
                value: b"",
                end: b"}",
            },
            Payload::Json { value, .. } => {
                head.extend_from_slice(b",\"payload\":");
                Line {
                    head,
                    value: value.as_bytes(),
                    end: b"}",
                }
            }
            Payload::Bytes(bytes) => {
                head.extend_from_slice(b",\"payload_base64\":\"");
                head.extend_from_slice(STANDARD.encode(bytes).as_bytes());
                Line {
                    head,
                    value: b"",
                    end: b"\"}",
                }
            }
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// It is no record, or one of a later format.
    pub fn read(line: &[u8]) -> Result<Record<'static>> {
        let text = std::str::from_utf8(line).map_err(|error| Error::input("the record is not UTF-8").because(error))?;
        let found: Found<'_> =
            serde_json::from_str(text).map_err(|error| Error::input("not a record of the journal").because(error))?;
        if found.v > FORMAT_VERSION {
            return Err(Error::input(format!(
                "the record has format {}; this hookhost reads up to {FORMAT_VERSION}",
                found.v
            ))
            .hint("update hookhost"));
        }
        let events = |found: Vec<&RawValue>| -> Result<Vec<Event>> {
            found.into_iter().map(|raw| wire::read_event(raw.get())).collect()
        };
        let payload = match (found.payload, found.payload_base64) {
            (Some(value), _) => Payload::Json {
                before: Cow::Borrowed(found.payload_before.as_str()),
                value: Cow::Borrowed(value.get()),
                after: Cow::Borrowed(found.payload_after.as_str()),
            }
            .into_owned(),
            (None, Some(encoded)) => {
                Payload::Bytes(Cow::Owned(STANDARD.decode(encoded.as_bytes()).map_err(|error| {
                    Error::input("the record's payload is not base64").because(error)
                })?))
            }
            (None, None) => Payload::Absent,
        };
        Ok(Record {
            id: found.id,
            time: found.time,
            agent: found.agent,
            agent_version: found.agent_version,
            hook: found.hook,
            session_id: found.session_id,
            cwd: found.cwd,
            repo_root: found.repo_root,
            adapter: found.adapter,
            duration_us: found.duration_us,
            failure: found.failure,
            audit: found.audit,
            events: events(found.events)?,
            repeats: events(found.repeats)?,
            payload,
        })
    }
}

/// Everything but the payload, as it is written.
#[derive(Serialize)]
struct Head<'a> {
    v: u32,
    id: &'a str,
    time: &'a str,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_version: Option<&'a str>,
    hook: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repo_root: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    adapter: Option<&'a AdapterStamp>,
    duration_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<&'a Audit>,
    events: Events<'a>,
    #[serde(skip_serializing_if = "Events::is_empty")]
    repeats: Events<'a>,
    #[serde(skip_serializing_if = "str::is_empty")]
    payload_before: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    payload_after: &'a str,
}

impl<'a> Head<'a> {
    fn of(record: &'a Record<'_>) -> Self {
        let (payload_before, payload_after) = match &record.payload {
            Payload::Json { before, after, .. } => (before.as_ref(), after.as_ref()),
            _ => ("", ""),
        };
        Self {
            v: FORMAT_VERSION,
            id: &record.id,
            time: &record.time,
            agent: &record.agent,
            agent_version: record.agent_version.as_deref(),
            hook: &record.hook,
            session_id: record.session_id.as_deref(),
            cwd: record.cwd.as_deref(),
            repo_root: record.repo_root.as_deref(),
            adapter: record.adapter.as_ref(),
            duration_us: record.duration_us,
            failure: record.failure.as_ref(),
            audit: record.audit.as_ref(),
            events: Events(&record.events),
            repeats: Events(&record.repeats),
            payload_before,
            payload_after,
        }
    }
}

struct Events<'a>(&'a [Event]);

impl Events<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(EventJson))
    }
}

/// A record as it is found in a file.
#[derive(Deserialize)]
struct Found<'a> {
    v: u32,
    #[serde(default)]
    id: String,
    #[serde(default)]
    time: String,
    agent: String,
    #[serde(default)]
    agent_version: Option<String>,
    #[serde(default)]
    hook: String,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    repo_root: Option<String>,
    #[serde(default)]
    adapter: Option<AdapterStamp>,
    #[serde(default)]
    duration_us: u64,
    #[serde(default)]
    failure: Option<Failure>,
    #[serde(default)]
    audit: Option<Audit>,
    #[serde(default, borrow)]
    events: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    repeats: Vec<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    payload: Option<&'a RawValue>,
    #[serde(default, borrow)]
    payload_base64: Option<Cow<'a, str>>,
    #[serde(default)]
    payload_before: String,
    #[serde(default)]
    payload_after: String,
}

/// A payload that is `null` is one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EventKind;

    fn record(payload: &[u8]) -> Record<'_> {
        let event = Event {
            kind: EventKind::SubagentStart,
            session_id: "s1".to_owned(),
            previous_session_id: None,
            session_ref: None,
            prompt: None,
            model: None,
            timestamp: Some("2026-01-02T03:04:05.678Z".to_owned()),
            tool_use_id: Some("t".to_owned()),
            subagent_id: None,
            tool_input: Some("{\"n\":\n1.50}".to_owned()),
            subagent_type: None,
            task_description: None,
            response_message: None,
            metadata: vec![],
        };
        Record {
            id: "0193f2c4-7d1e-7a30-9c1b-2f64a8d01c11".to_owned(),
            time: "2026-01-02T03:04:05.678Z".to_owned(),
            agent: "some-agent".to_owned(),
            hook: "PreToolUse".to_owned(),
            session_id: Some("s1".to_owned()),
            duration_us: 412,
            events: vec![event],
            payload: Payload::of(payload),
            ..Record::default()
        }
    }

    #[test]
    fn a_record_is_one_line_with_the_payload_last() {
        let line = record(b"{ \"a\":1.0 ,\"b\":\"\\ud800\"}\n").line().concat();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            concat!(
                r#"{"v":1,"id":"0193f2c4-7d1e-7a30-9c1b-2f64a8d01c11","time":"2026-01-02T03:04:05.678Z","#,
                r#""agent":"some-agent","hook":"PreToolUse","session_id":"s1","duration_us":412,"#,
                r#""events":[{"type":6,"session_id":"s1","timestamp":"2026-01-02T03:04:05.678Z","tool_use_id":"t","#,
                r#""tool_input":{"n": 1.50}}],"payload_after":"\n","payload":{ "a":1.0 ,"b":"\ud800"}}"#
            )
        );
    }

    #[test]
    fn payloads_come_back_byte_for_byte() {
        let deep = "[".repeat(3000) + &"]".repeat(3000);
        let payloads: [&[u8]; 15] = [
            b"",
            b"null",
            b"{}",
            b"{\"a\":1}\r\n",
            b"\xef\xbb\xbf\xef\xbb\xbf {\"a\":1}",
            b"{\n  \"pretty\": true\n}",
            b"{\"a\":1}{\"b\":2}",
            b"{\"a\":",
            b"{\"a\":\"caf\xe9\"}",
            b"\x00\xff\n",
            b"hello\n",
            b"  \n",
            b"\"text\"",
            "{\"u\":\"\u{2028}\u{85}\"}".as_bytes(),
            deep.as_bytes(),
        ];
        for payload in payloads {
            let written = record(payload);
            let line = written.line().concat();
            assert!(!line.contains(&b'\n'), "{payload:?}");
            let read = Record::read(&line).unwrap();
            assert_eq!(read.payload.bytes(), payload);
            assert_eq!(read.line().concat(), line);
        }
    }

    #[test]
    fn a_record_of_a_later_format_says_so_and_new_fields_do_no_harm() {
        let later = Record::read(br#"{"v":2,"agent":"x"}"#).unwrap_err();
        assert!(later.to_string().contains("format 2"), "{later}");
        let grown = Record::read(br#"{"v":1,"agent":"x","hook":"y","events":[],"new":{"a":[]}}"#).unwrap();
        assert_eq!(grown.hook, "y");
    }

    #[test]
    fn torn_and_foreign_lines_are_no_records() {
        let whole = record(b"{\"a\":1}").line().concat();
        for end in 0..whole.len() {
            assert!(Record::read(&whole[..end]).is_err(), "cut at {end}");
        }
        for line in [&b"null"[..], b"{}", b"[]", b"\0\0\0", b"{\"v\":1}"] {
            assert!(Record::read(line).is_err());
        }
    }
}
