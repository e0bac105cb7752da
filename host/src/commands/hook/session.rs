//! The session of a payload that gave no event.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The names that session ids go by, what is asked for first in front.
const NAMES: [&str; 8] = [
    "session_id",
    "sessionId",
    "sessionID",
    "conversation_id",
    "conversationId",
    "thread_id",
    "threadId",
    "thread-id",
];

/// The session id in the top level of a payload, so that what an adapter has nothing to say of, or fails at, is found
/// with the rest of its session.
pub(super) fn of_payload(value: &[u8]) -> Option<String> {
    let mut found = Found::default();
    // A payload that breaks off has been read up to there.
    let _ = serde_json::Deserializer::from_slice(value).deserialize_map(&mut found);
    found.id
}

#[derive(Default)]
struct Found {
    id: Option<String>,
    rank: usize,
}

impl<'de> Visitor<'de> for &mut Found {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let rank = NAMES.iter().position(|known| *known == name);
            match rank.filter(|rank| self.id.is_none() || *rank < self.rank) {
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
                Some(rank) => {
                    let value = map.next_value::<&RawValue>()?;
                    let text = serde_json::from_str::<String>(value.get()).ok();
                    if let Some(id) = text.filter(|id| !id.is_empty()) {
                        *self = Found { id: Some(id), rank };
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(payload: &str) -> Option<String> {
        of_payload(payload.as_bytes())
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
    fn a_payload_that_breaks_off_later_has_its_id() {
        assert_eq!(id(r#"{"session_id":"s","prompt":"abc"#).as_deref(), Some("s"));
    }
}
