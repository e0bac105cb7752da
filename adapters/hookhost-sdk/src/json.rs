//! Tolerant reading of JSON: missing, null and wrongly typed fields are all just absent.
//!
//! [`Json`] is a view of JSON text that reads only what is asked for. It keeps the text as it came (`raw`), takes lone
//! surrogates as U+FFFD and is not bothered by depth.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::Fault;

/// A JSON value, as text that is known to be well formed.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(&'a str);

/// A JSON object, its keys read and its values not.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    raw: &'a str,
    fields: Vec<(Cow<'a, str>, Json<'a>)>,
}

impl<'a> Json<'a> {
    /// Checks that `text` is one JSON value.
    ///
    /// # Errors
    /// What is wrong with the text and where, for a person.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        serde_json::from_str::<&RawValue>(text)
            .map(|value| Self(value.get()))
            .map_err(|error| error.to_string())
    }

    /// The text as it came.
    #[must_use]
    pub const fn raw(self) -> &'a str {
        self.0
    }

    /// `null` is absent everywhere.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// The object, if it is one.
    #[must_use]
    pub fn object(self) -> Option<Object<'a>> {
        Object::parse(self.0).ok()
    }

    /// A field of an object. For more than one field, [`Json::object`] reads the text only once.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        self.object()?.get(key)
    }

    /// The text of a string.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, str>> {
        if !self.0.starts_with('"') {
            return None;
        }
        serde_json::Deserializer::from_str(self.0)
            .deserialize_bytes(TextVisitor)
            .ok()
    }

    /// The text of a string, or the digits of a number: ids come as both.
    #[must_use]
    pub fn id(self) -> Option<String> {
        let id = match self.0.as_bytes().first()? {
            b'"' => self.text()?.into_owned(),
            b'0'..=b'9' | b'-' => self.0.to_owned(),
            _ => return None,
        };
        (!id.is_empty()).then_some(id)
    }

    /// A number that is not negative; fractions are cut off. A string that holds one counts as well.
    #[must_use]
    pub fn count(self) -> Option<u64> {
        let digits = match self.0.strip_prefix('"') {
            Some(rest) => rest.strip_suffix('"')?,
            None => self.0,
        };
        if let Ok(number) = digits.parse() {
            return Some(number);
        }
        let number: f64 = digits.parse().ok()?;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and negative numbers are filtered out"
        )]
        (number >= 0.0).then_some(number as u64)
    }

    /// `true` or `false`.
    #[must_use]
    pub fn flag(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The elements of a list; none for anything else.
    #[must_use]
    pub fn items(self) -> Vec<Self> {
        if !self.0.starts_with('[') {
            return vec![];
        }
        serde_json::Deserializer::from_str(self.0)
            .deserialize_seq(ItemsVisitor)
            .unwrap_or_default()
    }

    /// The JSON inside a string that holds JSON text, else the value itself.
    #[must_use]
    pub fn embedded(self) -> Cow<'a, str> {
        match self.text() {
            Some(text) if Json::parse(&text).is_ok() => text,
            _ => Cow::Borrowed(self.0),
        }
    }
}

impl<'a> Object<'a> {
    /// Reads an object's keys.
    ///
    /// # Errors
    /// What is wrong with the text and where, for a person.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let fields = deserializer
            .deserialize_map(FieldsVisitor)
            .map_err(|error| error.to_string())?;
        deserializer.end().map_err(|error| error.to_string())?;
        Ok(Self {
            raw: text.trim(),
            fields,
        })
    }

    /// The text as it came.
    #[must_use]
    pub const fn raw(&self) -> &'a str {
        self.raw
    }

    /// A field; absent when missing or null. Of equal keys the last one counts.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        self.fields
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
            .filter(|value| !value.is_null())
    }

    /// The first of several spellings that is there.
    #[must_use]
    pub fn any(&self, keys: &[&str]) -> Option<Json<'a>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// The value at a path of keys, `tool_input.description`. A key that is not there is looked for in its other
    /// spelling as well: `_`, `-` and capitals make no difference.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<Json<'a>> {
        let (key, rest) = match path.split_once('.') {
            Some((key, rest)) => (key, Some(rest)),
            None => (path, None),
        };
        let value = self.get(key).or_else(|| self.spelled_otherwise(key))?;
        match rest {
            Some(rest) => value.object()?.at(rest),
            None => Some(value),
        }
    }

    fn spelled_otherwise(&self, key: &str) -> Option<Json<'a>> {
        fn letters(name: &str) -> impl Iterator<Item = u8> {
            name.bytes()
                .filter(|byte| !matches!(byte, b'_' | b'-'))
                .map(|byte| byte.to_ascii_lowercase())
        }
        self.fields
            .iter()
            .rev()
            .find(|(name, value)| letters(name).eq(letters(key)) && !value.is_null())
            .map(|(_, value)| *value)
    }

    /// Whether the key is there, null or not.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.fields.iter().any(|(name, _)| name == key)
    }

    /// A text field that is not empty.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.text().filter(|text| !text.is_empty())
    }

    /// The first of several spellings that is a text and not empty.
    #[must_use]
    pub fn text_any(&self, keys: &[&str]) -> Option<Cow<'a, str>> {
        keys.iter().find_map(|key| self.text(key))
    }

    /// The first of several spellings that is an id ([`Json::id`]).
    #[must_use]
    pub fn id(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.get(key)?.id())
    }

    /// An object field.
    #[must_use]
    pub fn object(&self, key: &str) -> Option<Self> {
        self.get(key)?.object()
    }

    /// The elements of a list field.
    #[must_use]
    pub fn items(&self, key: &str) -> Vec<Json<'a>> {
        self.get(key).map(Json::items).unwrap_or_default()
    }

    /// A count field, 0 when absent.
    #[must_use]
    pub fn count(&self, key: &str) -> u64 {
        self.get(key).and_then(Json::count).unwrap_or_default()
    }

    /// Whether a field is `true`.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(Json::flag).unwrap_or_default()
    }

    /// A field's value as text for metadata: a string's text, anything else as JSON.
    #[must_use]
    pub fn shown(&self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        Some(value.text().map_or_else(|| value.raw().to_owned(), Cow::into_owned))
    }

    /// All fields in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, Json<'a>)> {
        self.fields.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    // Bytes, not str: serde_json then lets lone surrogates through, as bytes that are not UTF-8.
    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(std::str::from_utf8(bytes).map_or_else(|_| Cow::Owned(without_surrogates(bytes)), Cow::Borrowed))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(without_surrogates(bytes)))
    }
}

/// Text in which each lone surrogate, three bytes from ED A0 80 on, has become U+FFFD, three bytes as well.
fn without_surrogates(bytes: &[u8]) -> String {
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(three) = bytes.get_mut(at..at + 3) {
        if let [0xed, 0xa0..=0xbf, _] = three {
            three.copy_from_slice("\u{fffd}".as_bytes());
        }
        at += 1;
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

struct Key<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor).map(Self)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Vec<(Cow<'de, str>, Json<'de>)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(16);
        while let Some((key, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            fields.push((key.0, Json(value.get())));
        }
        Ok(fields)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = Vec<Json<'de>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = vec![];
        while let Some(value) = seq.next_element::<&'de RawValue>()? {
            items.push(Json(value.get()));
        }
        Ok(items)
    }
}

/// Whether `text` is one complete JSON value.
#[must_use]
pub fn is_complete(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// What to answer to a payload that is no JSON object.
#[must_use]
pub fn not_an_object(payload: &str) -> Fault {
    Fault::Malformed(match Json::parse(payload) {
        Ok(_) => "the payload is not a JSON object".to_owned(),
        Err(reason) => format!("the payload is not JSON: {reason}"),
    })
}

/// `text` with raw control characters inside strings, which some programs write and JSON forbids, written as escapes.
#[must_use]
pub fn with_escaped_controls(text: &str) -> Cow<'_, str> {
    let mut repaired = String::new();
    let mut copied = 0;
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => in_string = !in_string,
            0..0x20 if in_string => {
                // Behind a backslash the character itself was meant: the backslash is the one of the escape.
                let from = if escaped { at - 1 } else { at };
                repaired.push_str(text.get(copied..from).unwrap_or_default());
                repaired.push_str(&format!("\\u{byte:04x}"));
                copied = at + 1;
            }
            _ => {}
        }
        escaped = in_string && byte == b'\\' && !escaped;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    repaired.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(repaired)
}

/// `text` as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_null_and_wrongly_typed_fields_are_all_absent() {
        let object = Object::parse(r#"{"a":null,"b":3,"c":"","d":"x","d":"y"}"#).unwrap();
        assert_eq!(object.text("a"), None);
        assert_eq!(object.text("b"), None);
        assert_eq!(object.text("c"), None);
        assert_eq!(object.text("missing"), None);
        assert_eq!(object.text("d").as_deref(), Some("y"));
        assert_eq!(object.id(&["a", "b"]).as_deref(), Some("3"));
    }

    #[test]
    fn paths_find_either_spelling_of_a_key() {
        let object = Object::parse(r#"{"toolInput":{"filePath":"f","file_path":"exact"},"tool_name":null}"#).unwrap();
        let text = |path| object.at(path).and_then(Json::text).map(Cow::into_owned);
        assert_eq!(text("tool_input.file_path").as_deref(), Some("exact"));
        assert_eq!(text("tool-input.filepath").as_deref(), Some("exact"));
        assert_eq!(text("tool_name"), None);
        assert_eq!(text("tool_input.file_path.further"), None);
        assert_eq!(text("tool_input."), None);
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let object = Object::parse(r#"{"p":"x\ud83dy"}"#).unwrap();
        assert_eq!(object.text("p").as_deref(), Some("x\u{fffd}y"));
    }

    #[test]
    fn depth_is_no_obstacle_and_the_text_stays_as_it_came() {
        let deep = format!(
            "{{\"a\":{}1.50{},\"z\":\"end\"}}",
            "[".repeat(50_000),
            "]".repeat(50_000)
        );
        let object = Object::parse(&deep).unwrap();
        assert_eq!(object.text("z").as_deref(), Some("end"));
        assert!(object.get("a").unwrap().raw().contains("1.50"));
    }

    #[test]
    fn a_second_value_behind_the_first_is_an_error() {
        assert!(Object::parse("{} {}").is_err());
        assert!(Object::parse("{\"a\":1").is_err());
    }

    #[test]
    fn control_characters_in_strings_are_escaped_and_nothing_else_changes() {
        let clean = "{\n\t\"a\": \"b\\n\\\"c\"\n}";
        assert!(matches!(with_escaped_controls(clean), Cow::Borrowed(text) if text == clean));
        let raw = "{\r\n\"a\":\"x\ty\\\\\nz\\\u{7}\"}";
        let repaired = with_escaped_controls(raw);
        assert_eq!(repaired, "{\r\n\"a\":\"x\\u0009y\\\\\\u000az\\u0007\"}");
        let object = Object::parse(&repaired).unwrap();
        assert_eq!(object.text("a").as_deref(), Some("x\ty\\\nz\u{7}"));
    }

    #[test]
    fn counts_are_read_from_numbers_and_digits_only() {
        let json = |text| Json::parse(text).unwrap().count();
        assert_eq!(json("12"), Some(12));
        assert_eq!(json("12.9"), Some(12));
        assert_eq!(json("\"7\""), Some(7));
        assert_eq!(json("-1"), None);
        assert_eq!(json("\"x\""), None);
        assert_eq!(json("{}"), None);
    }
}
