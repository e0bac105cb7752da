//! JSON as the cases compare it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// JSON with comments and trailing commas.
pub(super) fn parse_jsonc(text: &str) -> Result<Value, String> {
    serde_json::from_str(&without_extras(text)).map_err(|error| error.to_string())
}

/// Comments and commas before a closing bracket become spaces.
pub(super) fn without_extras(text: &str) -> String {
    let mut bytes: Vec<u8> = text.bytes().collect();
    let mut at = 0;
    let mut comma = None;
    while at < bytes.len() {
        let end = match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                end_of_string(&bytes, at)
            }
            (b'/', Some(b'/')) => blank(&mut bytes, at, b"\n"),
            (b'/', Some(b'*')) => blank(&mut bytes, at, b"*/"),
            (b',', _) => {
                comma = Some(at);
                at + 1
            }
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
                at + 1
            }
            (byte, _) => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at + 1
            }
        };
        at = end;
    }
    String::from_utf8(bytes).unwrap()
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn blank(bytes: &mut [u8], start: usize, end: &[u8]) -> usize {
    let found = bytes[start + 1..].windows(end.len()).position(|window| window == end);
    let stop = found.map_or(bytes.len(), |found| start + 1 + found + end.len());
    bytes[start..stop]
        .iter_mut()
        .filter(|byte| **byte != b'\n')
        .for_each(|byte| *byte = b' ');
    stop
}

/// The keys of an object in the order of the text.
pub(super) fn keys_in_order(text: &str) -> Vec<String> {
    serde_json::from_str::<Keys>(text)
        .map(|keys| keys.0)
        .unwrap_or_default()
}

/// The JSON text of a field of an object.
pub(super) fn raw_field(text: &str, key: &str) -> Option<String> {
    let fields: BTreeMap<String, Box<serde_json::value::RawValue>> = serde_json::from_str(text).ok()?;
    Some(fields.get(key)?.get().to_owned())
}

struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Keys;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = vec![];
                while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(KeyVisitor)
    }
}

/// Where something of `want` is missing. Objects may have more keys than wanted, and lists more elements in between;
/// when `exact`, lists may not, and a key that is not there counts as null.
pub(super) fn lacks(want: &Value, came: &Value, at: &str, exact: bool) -> Vec<String> {
    match (want, came) {
        (Value::Object(want), Value::Object(came)) => want
            .iter()
            .flat_map(|(key, value)| {
                let at = format!("{at}.{key}");
                match came.get(key) {
                    Some(came) => lacks(value, came, &at, exact),
                    None if exact => lacks(value, &Value::Null, &at, exact),
                    None => vec![format!("{at}: expected {value}, came nothing")],
                }
            })
            .collect(),
        (Value::Array(want), Value::Array(came)) if !exact => {
            let mut rest = came.iter();
            let lost = want
                .iter()
                .find(|want| !rest.any(|came| lacks(want, came, "", false).is_empty()));
            lost.map(|lost| format!("{at}: expected {lost} in this order"))
                .into_iter()
                .collect()
        }
        _ if want == came => vec![],
        _ => vec![format!("{at}: expected {}, came {}", shown(want), shown(came))],
    }
}

/// A value, cut to what a person reads.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[test]
fn comments_and_trailing_commas_are_taken_off_outside_of_texts() {
    let text = "{ // one\n \"a\": \",} // no\\\" comment\", /* two\n */ \"b\": [1, 2,\n], }";
    assert_eq!(
        parse_jsonc(text).unwrap(),
        serde_json::json!({ "a": ",} // no\" comment", "b": [1, 2] })
    );
}
