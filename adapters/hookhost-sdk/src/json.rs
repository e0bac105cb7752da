//! Tolerant reading of JSON: missing, null and wrongly typed fields are all just absent.
//!
//! [`Json`] is a view of JSON text that reads only what is asked for. It keeps the text as it came (`raw`), takes lone
//! surrogates as U+FFFD and is not bothered by depth. [`Cursor`] is for readers of much text.
//!
//! Our own scanner, not serde_json: an adapter is loaded for each hook, and half the size of a component was the parts
//! of that crate that no adapter needs (numbers as floats, messages for people, a visitor for each type).

mod bytes;
mod cursor;
#[cfg(test)]
mod tests;

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

    /// The text of a string, or the digits of a number: ids come as both. A blank text is no id.
    #[must_use]
    pub fn id(self) -> Option<String> {
        let id = match self.0.as_bytes().first()? {
            b'"' => self.text()?.into_owned(),
            b'0'..=b'9' | b'-' => self.0.to_owned(),
            _ => return None,
        };
        (!id.trim().is_empty()).then_some(id)
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
            // `saturating_mul` is a function of its own in WebAssembly, which has no multiplication that tells.
            if number > u64::MAX / 10 {
                return u64::MAX;
            }
            (number * 10).saturating_add(u64::from(digit - b'0'))
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
        let end = rest.bytes().position(bytes::is_special).unwrap_or(rest.len());
        let (plain, special) = rest.split_at_checked(end).unwrap_or((rest, ""));
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
