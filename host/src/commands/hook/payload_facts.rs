//! What can be told from a payload without knowing the agent: its session, when no event names it, and the agent's
//! version, when the payload tells.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The names that session ids go by, what is asked for first in front.
const SESSION_NAMES: [&str; 8] = [
    "session_id",
    "sessionId",
    "sessionID",
    "conversation_id",
    "conversationId",
    "thread_id",
    "threadId",
    "thread-id",
];

/// How the name of a version ends.
const VERSION: &str = "_version";

/// Versions of something else than a program.
const OTHER_VERSIONS: [&str; 7] = ["schema", "protocol", "api", "format", "hook", "payload", "model"];

/// What stands in the top level of a payload.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PayloadFacts {
    /// So that what an adapter has nothing to say of, or fails at, is found with the rest of its session.
    pub(super) session_id: Option<String>,
    pub(super) agent_version: Option<String>,
    /// The value is a whole JSON object, as far as it is UTF-8.
    pub(super) is_object: bool,
    rank: usize,
}

impl PayloadFacts {
    /// What is in a payload. One that breaks off is read up to there.
    pub(super) fn of(value: &[u8]) -> Self {
        let mut facts = Self::default();
        let mut json = serde_json::Deserializer::from_slice(value);
        let read = json.deserialize_map(&mut facts);
        facts.is_object = read.and_then(|()| json.end()).is_ok();
        facts
    }

    fn take(&mut self, name: &str, value: &RawValue) {
        let text = || {
            serde_json::from_str::<String>(value.get())
                .ok()
                .filter(|text| !text.is_empty())
        };
        match SESSION_NAMES.iter().position(|known| *known == name) {
            Some(rank) if self.session_id.is_none() || rank < self.rank => {
                if let Some(id) = text() {
                    self.session_id = Some(id);
                    self.rank = rank;
                }
            }
            Some(_) => {}
            None => {
                let version = text().filter(|text| is_version(text));
                self.agent_version = self.agent_version.take().or(version);
            }
        }
    }
}

fn is_wanted(name: &str) -> bool {
    let program = name.strip_suffix(VERSION);
    program.is_some_and(|program| !OTHER_VERSIONS.contains(&program)) || SESSION_NAMES.contains(&name)
}

/// `2.1.7`, `v3.0`
fn is_version(text: &str) -> bool {
    let number = text.trim_start_matches('v');
    number.len() < 40 && number.contains('.') && number.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}

impl<'de> Visitor<'de> for &mut PayloadFacts {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if is_wanted(&name) {
                self.take(&name, map.next_value::<&RawValue>()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(payload: &str) -> Option<String> {
        PayloadFacts::of(payload.as_bytes()).session_id
    }

    fn version(payload: &str) -> Option<String> {
        PayloadFacts::of(payload.as_bytes()).agent_version
    }

    #[test]
    fn the_id_is_found_by_its_usual_names() {
        assert_eq!(
            id(r#"{"a":{"session_id":"no"},"session_id":"s"}"#).as_deref(),
            Some("s")
        );
        assert_eq!(id(r#"{"conversation_id":"c"}"#).as_deref(), Some("c"));
        assert_eq!(
            id(r#"{"threadId":"t","sessionId":"s","conversation_id":"c"}"#).as_deref(),
            Some("s")
        );
    }

    #[test]
    fn what_is_no_id_is_none() {
        for payload in [
            r#"{"session_id":""}"#,
            r#"{"session_id":7}"#,
            "{}",
            "[]",
            "null",
            "",
            "{\"session_id\":",
        ] {
            assert_eq!(id(payload), None, "{payload}");
        }
    }

    #[test]
    fn only_a_whole_object_is_one() {
        let is_object = |payload: &str| PayloadFacts::of(payload.as_bytes()).is_object;
        assert!(is_object(r#"{"a":[1,{}],"session_id":"s"} "#));
        for payload in [
            "[]",
            r#"{"a":"#,
            r#"{"a":1}{"#,
            r#"{"a":1,}"#,
            r#"{"a":"\x"}"#,
            "{\"a\":\"\u{1}\"}",
            "",
        ] {
            assert!(!is_object(payload), "{payload}");
        }
    }

    #[test]
    fn a_payload_that_breaks_off_later_has_its_id() {
        assert_eq!(id(r#"{"session_id":"s","prompt":"abc"#).as_deref(), Some("s"));
    }

    #[test]
    fn the_version_of_the_program_is_told_from_other_versions() {
        assert_eq!(version(r#"{"some_version":"1.7.2"}"#).as_deref(), Some("1.7.2"));
        assert_eq!(
            version(r#"{"cli_version":"v2.0.1-beta"}"#).as_deref(),
            Some("v2.0.1-beta")
        );
        for payload in [
            r#"{"schema_version":"1.0"}"#,
            r#"{"some_version":1.7}"#,
            r#"{"some_version":"latest"}"#,
            r#"{"x":{"some_version":"1.7.2"}}"#,
        ] {
            assert_eq!(version(payload), None, "{payload}");
        }
    }
}
