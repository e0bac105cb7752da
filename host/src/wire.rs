//! The protocol's JSON, in both directions. The only place that knows how its objects are spelled.
//!
//! Tolerant in reading: fields that are missing, null or of another type are absent, unknown ones are ignored. Strict
//! in writing: what is absent is left out, lists are always there.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::model::{Capabilities, Description, Event, EventKind};
use crate::session::compact::{Content, Message, Part};

/// The version of the protocol.
pub const PROTOCOL_VERSION: u32 = 1;

/// The answer of `info`.
#[derive(Debug, Serialize)]
pub struct Info<'a> {
    protocol_version: u32,
    name: &'a str,
    r#type: &'a str,
    description: &'a str,
    is_preview: bool,
    protected_dirs: &'a [String],
    protected_files: &'a [String],
    hook_names: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    caller_env_vars: &'a [String],
    capabilities: CapabilitiesJson,
}

impl<'a> Info<'a> {
    /// What a description says of the agent that was called by `name`.
    #[must_use]
    pub fn new(name: &'a str, description: &'a Description) -> Self {
        let has_hooks = description.capabilities.hooks;
        let hook_names = description.hook_names.iter().filter(|_| has_hooks);
        Self {
            protocol_version: PROTOCOL_VERSION,
            name,
            r#type: &description.display_name,
            description: &description.description,
            is_preview: description.is_preview,
            protected_dirs: &description.protected_dirs,
            protected_files: &description.protected_files,
            hook_names: hook_names.map(|hook| hook.alias.as_str()).collect(),
            caller_env_vars: &description.caller_env_vars,
            capabilities: CapabilitiesJson::of(description.capabilities),
        }
    }
}

#[derive(Debug, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "the protocol's own list")]
struct CapabilitiesJson {
    hooks: bool,
    transcript_analyzer: bool,
    transcript_preparer: bool,
    token_calculator: bool,
    compact_transcript: bool,
    text_generator: bool,
    hook_response_writer: bool,
    subagent_aware_extractor: bool,
    uses_terminal: bool,
    streaming_text_generator: bool,
}

impl CapabilitiesJson {
    fn of(claimed: Capabilities) -> Self {
        Self {
            hooks: claimed.hooks,
            transcript_analyzer: claimed.transcript_analyzer,
            transcript_preparer: claimed.transcript_preparer,
            token_calculator: claimed.token_calculator,
            compact_transcript: claimed.compact_transcript,
            text_generator: claimed.text_generator,
            hook_response_writer: claimed.hook_response_writer,
            subagent_aware_extractor: claimed.subagent_aware_extractor,
            uses_terminal: claimed.uses_terminal,
            streaming_text_generator: claimed.streaming_text_generator,
        }
    }
}

/// An event as the protocol writes it.
pub struct EventJson<'a>(pub &'a Event);

impl Serialize for EventJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &event.kind.number())?;
        map.serialize_entry("session_id", &event.session_id)?;
        let mut text = |key: &str, value: &Option<String>| match value.as_deref() {
            None | Some("") => Ok(()),
            Some(value) => map.serialize_entry(key, value),
        };
        text("previous_session_id", &event.previous_session_id)?;
        text("session_ref", &event.session_ref)?;
        text("prompt", &event.prompt)?;
        text("model", &event.model)?;
        text("timestamp", &event.timestamp)?;
        text("tool_use_id", &event.tool_use_id)?;
        text("subagent_id", &event.subagent_id)?;
        text("subagent_type", &event.subagent_type)?;
        text("task_description", &event.task_description)?;
        text("response_message", &event.response_message)?;
        if let Some(input) = event.tool_input.as_deref().filter(|input| !input.is_empty()) {
            map.serialize_entry("tool_input", &RawOrText(input))?;
        }
        if !event.metadata.is_empty() {
            map.serialize_entry("metadata", &Metadata(&event.metadata))?;
        }
        map.end()
    }
}

struct Metadata<'a>(&'a [(String, String)]);

impl Serialize for Metadata<'_> {
    /// Of equal keys the last one counts: an object with a key twice is read differently by different readers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_last = |at: usize, key: &str| !self.0.iter().skip(at + 1).any(|(later, _)| later == key);
        let entries = self.0.iter().enumerate().filter(|(at, (key, _))| is_last(*at, key));
        serializer.collect_map(entries.map(|(_, (key, value))| (key, value)))
    }
}

/// An event on one line. JSON text has line ends between its values only, so they can be taken for spaces.
#[must_use]
pub fn event_line(event: &Event) -> String {
    let mut line = serde_json::to_string(&EventJson(event)).unwrap_or_default();
    if line.contains(['\n', '\r']) {
        line = line.replace(['\n', '\r'], " ");
    }
    line
}

/// Reads an event as the protocol writes it.
///
/// # Errors
/// It is no object, or has no type or no session.
pub fn read_event(text: &str) -> Result<Event> {
    let fields = Fields::read(text, "an event")?;
    let kind = fields
        .get::<u64>("type")
        .and_then(EventKind::from_number)
        .ok_or_else(|| Error::input("an event has a type from 1 to 7"))?;
    Ok(Event {
        kind,
        session_id: fields
            .text("session_id")
            .ok_or_else(|| Error::input("an event has a session_id"))?,
        previous_session_id: fields.text("previous_session_id"),
        session_ref: fields.text("session_ref"),
        prompt: fields.text("prompt"),
        model: fields.text("model"),
        timestamp: fields.text("timestamp"),
        tool_use_id: fields.text("tool_use_id"),
        subagent_id: fields.text("subagent_id"),
        tool_input: fields.raw("tool_input").map(str::to_owned),
        subagent_type: fields.text("subagent_type"),
        task_description: fields.text("task_description"),
        response_message: fields.text("response_message"),
        metadata: fields
            .get::<InOrder>("metadata")
            .map(|pairs| pairs.0)
            .unwrap_or_default(),
    })
}

/// Texts by key, in the order in which they stand: what was read is written again as it was.
struct InOrder(Vec<(String, String)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = InOrder;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<InOrder, A::Error> {
                let mut pairs = vec![];
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(InOrder(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// What callers tell `get-session-id` and `read-session`.
#[derive(Debug, Default)]
pub struct HookInput {
    /// The session's id; callers may send none.
    pub session_id: Option<String>,
    /// Usually the transcript's path; callers may send none.
    pub session_ref: Option<String>,
    /// RFC 3339.
    pub timestamp: Option<String>,
}

impl HookInput {
    /// Reads a HookInput.
    ///
    /// # Errors
    /// It is no JSON object.
    pub fn read(text: &str) -> Result<Self> {
        let fields = Fields::read(text, "the hook input")?;
        Ok(Self {
            session_id: fields.text("session_id"),
            session_ref: fields.text("session_ref"),
            timestamp: fields.text("timestamp"),
        })
    }
}

/// What `write-session` is given.
#[derive(Debug)]
pub struct StoredSession {
    /// The session's id.
    pub session_id: Option<String>,
    /// The agent's name.
    pub agent_name: Option<String>,
    /// The repository's work tree.
    pub repo_path: Option<String>,
    /// Where to store it.
    pub session_ref: Option<String>,
    /// The transcript in the agent's own format.
    pub native_data: Vec<u8>,
}

impl StoredSession {
    /// Reads an AgentSession that is to be stored.
    ///
    /// # Errors
    /// It is no JSON object, or its `native_data` is missing, null or not base64.
    pub fn read(text: &str) -> Result<Self> {
        let fields = Fields::read(text, "the session")?;
        let Some(native_data) = fields.get::<std::borrow::Cow<'_, str>>("native_data") else {
            return Err(Error::input(
                "the session has no native_data, so there is nothing to write",
            ));
        };
        Ok(Self {
            session_id: fields.text("session_id"),
            agent_name: fields.text("agent_name"),
            repo_path: fields.text("repo_path"),
            session_ref: fields.text("session_ref"),
            native_data: from_base64(&native_data, "native_data")?,
        })
    }
}

/// What `read-session` answers, but for the transcript.
#[derive(Debug, Default)]
pub struct Session {
    /// The session's id.
    pub session_id: String,
    /// The agent's name, as it was called.
    pub agent_name: String,
    /// The repository's work tree.
    pub repo_path: String,
    /// As the caller gave it.
    pub session_ref: String,
    /// RFC 3339.
    pub start_time: String,
    /// Files that the session changed.
    pub modified_files: Vec<String>,
    /// Files that it made.
    pub new_files: Vec<String>,
    /// Files that it removed.
    pub deleted_files: Vec<String>,
}

impl Session {
    /// Writes the AgentSession object with the bytes of `native` in it. They go through; they are never all in memory.
    ///
    /// # Errors
    /// `native` cannot be read, or nobody reads the answer.
    pub fn write(&self, native: &mut dyn Read, out: &mut dyn Write) -> io::Result<()> {
        let fields = [
            ("session_id", &self.session_id),
            ("agent_name", &self.agent_name),
            ("repo_path", &self.repo_path),
            ("session_ref", &self.session_ref),
            ("start_time", &self.start_time),
        ];
        out.write_all(b"{")?;
        for (key, value) in fields {
            write!(out, "\"{key}\":{},", serde_json::to_string(value)?)?;
        }
        out.write_all(b"\"native_data\":\"")?;
        let mut encoder = base64::write::EncoderWriter::new(&mut *out, &STANDARD);
        io::copy(native, &mut encoder)?;
        encoder.finish()?;
        drop(encoder);
        out.write_all(b"\"")?;
        let lists = [
            ("modified_files", &self.modified_files),
            ("new_files", &self.new_files),
            ("deleted_files", &self.deleted_files),
        ];
        for (key, value) in lists {
            write!(out, ",\"{key}\":{}", serde_json::to_string(value)?)?;
        }
        out.write_all(b"}\n")
    }
}

/// Token numbers of one agent and its subagents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TokenUsage {
    /// Neither read from nor written to a cache.
    pub input_tokens: u64,
    /// Written to a cache.
    pub cache_creation_tokens: u64,
    /// Read from a cache.
    pub cache_read_tokens: u64,
    /// With reasoning.
    pub output_tokens: u64,
    /// Calls of a model.
    pub api_call_count: u64,
    /// What the subagents used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_tokens: Option<Box<TokenUsage>>,
}

/// Reads the pieces of a transcript that `chunk-transcript` cut.
///
/// # Errors
/// It is no JSON object, `chunks` is missing, or a chunk is not base64.
pub fn read_chunks(text: &str) -> Result<Vec<u8>> {
    let fields = Fields::read(text, "the chunks")?;
    let chunks = match fields.raw("chunks") {
        None if fields.has("chunks") => vec![],
        None => return Err(Error::input("the chunks are missing")),
        Some(raw) => serde_json::from_str::<Vec<Option<String>>>(raw)
            .map_err(|error| Error::input("the chunks are not a list of texts").because(error))?,
    };
    let mut whole = vec![];
    for chunk in chunks.into_iter().flatten() {
        whole.extend(from_base64(&chunk, "a chunk")?);
    }
    Ok(whole)
}

/// Bytes as the protocol writes them.
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// A compact transcript: a message a line.
///
/// # Errors
/// A message cannot be written as JSON.
pub fn compact_lines(agent: &str, cli_version: &str, messages: &[Message]) -> Result<String> {
    let mut lines = String::new();
    for message in messages {
        let line = serde_json::to_string(&MessageJson::of(agent, cli_version, message))
            .map_err(|error| Error::input("a message cannot be written as JSON").because(error))?;
        // Inputs of tools are written as they came, and can have line ends between their values.
        lines.push_str(&line.replace(['\n', '\r'], " "));
        lines.push('\n');
    }
    Ok(lines)
}

#[derive(Serialize)]
struct MessageJson<'a> {
    v: u32,
    agent: &'a str,
    cli_version: &'a str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    content: Vec<PartJson<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PartJson<'a> {
    User {
        text: &'a str,
    },
    Text {
        r#type: &'static str,
        text: &'a str,
    },
    Tool {
        r#type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        name: &'a str,
        input: RawOrText<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ResultJson<'a>>,
    },
}

#[derive(Serialize)]
struct ResultJson<'a> {
    output: &'a str,
    status: &'static str,
}

/// JSON text as it came; what is no JSON becomes a text.
struct RawOrText<'a>(&'a str);

impl Serialize for RawOrText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<&RawValue>(self.0) {
            Ok(raw) => raw.serialize(serializer),
            Err(_) => serializer.serialize_str(self.0),
        }
    }
}

impl<'a> MessageJson<'a> {
    fn of(agent: &'a str, cli_version: &'a str, message: &'a Message) -> Self {
        let (r#type, content) = match &message.content {
            Content::User(texts) => ("user", texts.iter().map(|text| PartJson::User { text }).collect()),
            Content::Assistant(parts) => ("assistant", parts.iter().map(PartJson::of).collect()),
        };
        Self {
            v: 1,
            agent,
            cli_version,
            r#type,
            ts: message.time.as_deref(),
            id: message.id.as_deref(),
            content,
        }
    }
}

impl<'a> PartJson<'a> {
    fn of(part: &'a Part) -> Self {
        match part {
            Part::Text(text) => Self::Text { r#type: "text", text },
            Part::Tool {
                id,
                name,
                input,
                result,
            } => Self::Tool {
                r#type: "tool_use",
                id: id.as_deref(),
                name,
                input: RawOrText(input),
                result: result.as_ref().map(|outcome| ResultJson {
                    output: &outcome.output,
                    status: if outcome.is_error { "error" } else { "success" },
                }),
            },
        }
    }
}

/// Base64 with or without padding: writers differ, and nothing is lost by taking both.
fn from_base64(text: &str, what: &str) -> Result<Vec<u8>> {
    use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    LENIENT
        .decode(text.trim())
        .map_err(|error| Error::input(format!("{what} is not base64")).because(error))
}

/// The fields of a JSON object, of which each is read when it is asked for.
struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    fn read(text: &'a str, what: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| Error::input(format!("{what} is not a JSON object")).because(error))
    }

    fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// The JSON text of a field that is not null.
    fn raw(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).map(|raw| raw.get()).filter(|raw| *raw != "null")
    }

    fn get<T: Deserialize<'a>>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.raw(key)?).ok()
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get::<String>(key).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event {
        Event {
            kind: EventKind::SubagentStart,
            session_id: "s".to_owned(),
            previous_session_id: None,
            session_ref: Some(String::new()),
            prompt: None,
            model: None,
            timestamp: None,
            tool_use_id: Some("t".to_owned()),
            subagent_id: None,
            tool_input: Some("{\n \"n\": 1.50}".to_owned()),
            subagent_type: None,
            task_description: None,
            response_message: None,
            metadata: [("k", "old"), ("k", "new"), ("a", "b")]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
        }
    }

    #[test]
    fn absent_fields_are_left_out_and_tool_input_stays_as_it_came() {
        assert_eq!(
            serde_json::to_string(&EventJson(&event())).unwrap(),
            "{\"type\":6,\"session_id\":\"s\",\"tool_use_id\":\"t\",\"tool_input\":{\n \"n\": 1.50},\"metadata\":{\"k\":\"new\",\"a\":\"b\"}}"
        );
        assert!(!event_line(&event()).contains('\n'));
    }

    #[test]
    fn an_event_comes_back_as_it_was_written() {
        let read = read_event(&event_line(&event())).unwrap();
        assert_eq!(event_line(&read), event_line(&event()));
    }

    #[test]
    fn null_missing_and_retyped_fields_of_a_hook_input_are_absent() {
        let input = HookInput::read(r#"{"session_id":"a","session_ref":null,"timestamp":3,"x":{}}"#).unwrap();
        assert_eq!(input.session_id.as_deref(), Some("a"));
        assert_eq!(input.session_ref, None);
        assert_eq!(input.timestamp, None);
        assert!(HookInput::read("[]").is_err());
        assert!(HookInput::read("null").is_err());
    }

    #[test]
    fn a_session_without_data_cannot_be_written_and_an_empty_one_can() {
        assert!(StoredSession::read(r#"{"session_id":"a","native_data":null}"#).is_err());
        assert!(StoredSession::read(r#"{"native_data":"a*"}"#).is_err());
        let session = StoredSession::read(r#"{"native_data":""}"#).unwrap();
        assert_eq!(session.native_data, b"");
    }

    #[test]
    fn a_session_is_written_with_its_bytes_and_all_lists() {
        let session = Session {
            session_id: "a\"b".to_owned(),
            new_files: vec!["x".to_owned()],
            ..Session::default()
        };
        let mut out = vec![];
        session.write(&mut &b"\xff\x00a"[..], &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            concat!(
                r#"{"session_id":"a\"b","agent_name":"","repo_path":"","session_ref":"","start_time":"","#,
                r#""native_data":"/wBh","modified_files":[],"new_files":["x"],"deleted_files":[]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn chunks_may_be_null_and_must_be_base64() {
        assert_eq!(read_chunks(r#"{"chunks":["YQ==",null,"YmM"]}"#).unwrap(), b"abc");
        assert_eq!(read_chunks(r#"{"chunks":null}"#).unwrap(), b"");
        for broken in [
            r#"{"chunks":"#,
            r#"{}"#,
            r#"{"chunks":[1]}"#,
            r#"{"chunks":["*"]}"#,
            "[]",
        ] {
            assert!(read_chunks(broken).is_err(), "{broken}");
        }
    }
}
