//! Tolerant reading of JSON: missing, null and wrongly typed fields are all just absent.
//!
//! [`Json`] is a view of JSON text that reads only what is asked for. It keeps the text as it came (`raw`), takes lone
//! surrogates as U+FFFD and is not bothered by depth. [`Cursor`] is for readers of much text.
//!
//! Our own scanner, not serde_json: an adapter is loaded for each hook, and half the size of a component was the parts
//! of that crate that no adapter needs (numbers as floats, messages for people, a visitor for each type).

pub(crate) mod bytes;
mod cursor;

use std::borrow::Cow;

pub use cursor::{Broken, Cursor};

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
        let mut cursor = Cursor::new(text);
        let value = cursor.value()?;
        cursor.end()?;
        Ok(value)
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
        Cursor::new(self.0).text().ok().flatten()
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
        let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (digits, 0_i32),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        // Enough to saturate.
        let length = i64::try_from(whole.len())
            .ok()?
            .saturating_add(exponent.into())
            .clamp(0, 400);
        let digits = whole.bytes().chain(fraction.bytes()).chain(std::iter::repeat(b'0'));
        let number = digits.take(usize::try_from(length).ok()?).fold(0_u64, |number, digit| {
            number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        });
        Some(number)
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
        let mut items = vec![];
        if self.0.starts_with('[') {
            let read = Cursor::new(self.0).list(|cursor| {
                items.push(cursor.value()?);
                Ok(())
            });
            debug_assert_eq!(read, Ok(()), "a value is well formed");
        }
        items
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
        let mut cursor = Cursor::new(text);
        if cursor.peek() != Some(b'{') {
            return Err(match cursor.value() {
                Ok(_) => "not an object".to_owned(),
                Err(broken) => broken.into(),
            });
        }
        let mut fields = Vec::with_capacity(16);
        cursor.object(|key, cursor| {
            fields.push((key, cursor.value()?));
            Ok(())
        })?;
        cursor.end()?;
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

/// Whether `text` is one complete JSON value.
#[must_use]
pub fn is_complete(text: &str) -> bool {
    Json::parse(text).is_ok()
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

/// JSON with comments and commas behind the last element, as settings files are written, made plain JSON: both become
/// white space, and a byte order mark is taken off. Only to look into a file; the host edits with a real parser.
#[must_use]
pub fn without_comments(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // The place of a comma that only white space has followed.
    let mut comma = None;
    while let Some(first) = rest.chars().next() {
        let taken = if first == '"' {
            string_length(rest)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(taken);
        rest = behind;
        match first {
            '/' if taken > 1 => {
                out.push(' ');
                continue;
            }
            ',' => comma = Some(out.len()),
            ']' | '}' => {
                if let Some(at) = comma.take() {
                    out.replace_range(at..=at, " ");
                }
            }
            _ if first.is_whitespace() => {}
            _ => comma = None,
        }
        out.push_str(token);
    }
    out
}

/// How many bytes of `text` the string takes that it begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// `text` as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut rest = text;
    loop {
        let (plain, special) = rest
            .split_at_checked(bytes::plain_length(rest.as_bytes()))
            .unwrap_or((rest, ""));
        quoted.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            None => break,
            Some('\n') => quoted.push_str("\\n"),
            Some('\r') => quoted.push_str("\\r"),
            Some('\t') => quoted.push_str("\\t"),
            Some(control) if control.is_ascii_control() => {
                quoted.push_str("\\u00");
                quoted.extend(char::from_digit(u32::from(control) >> 4, 16));
                quoted.extend(char::from_digit(u32::from(control) & 15, 16));
            }
            Some(other) => {
                quoted.push('\\');
                quoted.push(other);
            }
        }
        rest = characters.as_str();
    }
    quoted.push('"');
    quoted
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
        let mixed = format!("{}1{}", "[{\"a\":[".repeat(150), "]}]".repeat(150));
        assert!(is_complete(&mixed));
        assert!(!is_complete(&mixed.replacen("]}]", "]]]", 1)));
        assert!(!is_complete(&mixed[..mixed.len() - 1]));
    }

    #[test]
    fn comments_and_last_commas_become_white_space() {
        let text = "\u{feff}{ // one, \n \"a\": [1, /* two */ 2, ], /* , */ \"b\": \"// \\\" , ]\", \"\u{e4}\": 1, \n}";
        let plain = without_comments(text);
        let object = Object::parse(&plain).unwrap();
        assert_eq!(object.items("a").len(), 2);
        assert_eq!(object.text("b").as_deref(), Some("// \" , ]"));
        assert_eq!(object.count("\u{e4}"), 1);
        assert_eq!(without_comments("{\"a\": \"open"), "{\"a\": \"open");
        assert_eq!(without_comments("/* open"), " ");
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
        assert_eq!(json("1.25e2"), Some(125));
        assert_eq!(json("12e-1"), Some(1));
        assert_eq!(json("5e-9999"), Some(0));
        assert_eq!(json("1e99"), Some(u64::MAX));
        assert_eq!(json("18446744073709551616"), Some(u64::MAX));
        assert_eq!(json("\"1.\""), Some(1));
        assert_eq!(json("\"inf\""), None);
        assert_eq!(json("{}"), None);
    }

    #[test]
    fn quoting_is_undone_by_reading() {
        let text: String = (0..0x300)
            .filter_map(char::from_u32)
            .chain("\u{1f600}\u{2028}".chars())
            .collect();
        assert_eq!(quoted("a\"\\\n\u{1}"), r#""a\"\\\n\u0001""#);
        assert_eq!(serde_json::from_str::<String>(&quoted(&text)).unwrap(), text);
        assert_eq!(Json::parse(&quoted(&text)).unwrap().text().unwrap(), text);
    }

    /// Whether serde_json reads the text, and what it reads. Lone surrogates it can only pass over.
    fn reference(text: &str) -> Option<serde_json::Value> {
        serde_json::from_str(text).ok()
    }

    /// The same by our means.
    fn value(json: Json<'_>) -> serde_json::Value {
        match json.raw().as_bytes()[0] {
            b'{' => json
                .object()
                .unwrap()
                .fields()
                .map(|(key, field)| (key.to_owned(), value(field)))
                .collect(),
            b'[' => json.items().into_iter().map(value).collect(),
            b'"' => json.text().unwrap().into(),
            _ => reference(json.raw()).unwrap(),
        }
    }

    #[test]
    fn the_same_texts_are_json_as_for_serde_json() {
        const SEEDS: &[&str] = &[
            r#"{"a":[1,-2.50e+3,0,true,false,null,"x\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00"],"b":{"":{}},"c":[[],{}] }"#,
            r#" [ {"k" : "v"} , [ "a","b" ] , 1e9 , "" ] "#,
            r#""just text""#,
            "-0.0",
        ];
        const PIECES: &[&str] = &[
            "", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", "+", "t", "null", " ", "\n",
            "\u{1}", "u", "ä", "\\u12",
        ];
        // A linear congruential generator: the same changes in every run.
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut good = 0;
        for _ in 0..60_000 {
            let mut text = SEEDS[random(SEEDS.len())].to_owned();
            for _ in 0..random(3) {
                let (mut from, mut to) = (random(text.len() + 1), random(4));
                while !text.is_char_boundary(from) {
                    from -= 1;
                }
                to = (from + to).min(text.len());
                while !text.is_char_boundary(to) {
                    to += 1;
                }
                text.replace_range(from..to, PIECES[random(PIECES.len())]);
            }
            let ours = Json::parse(&text);
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{text}");
            if let (Ok(ours), Some(theirs)) = (ours, reference(&text)) {
                assert_eq!(value(ours), theirs, "{text}");
                good += 1;
            }
        }
        assert!(good > 10_000, "{good}");
    }
}
