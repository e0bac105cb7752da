//! Secrets in JSON: only the strings that hold one are written anew.

use std::borrow::Cow;

use super::Redactor;

/// Where the walk is: what kind of brackets are open, and the name in front of the value.
struct Walk<'t> {
    text: &'t str,
    at: usize,
    redacted: String,
    /// Up to here the text is in `redacted`.
    copied: usize,
    /// For every open bracket whether it is an object's.
    open: Vec<bool>,
    /// The last name in an object.
    name: Cow<'t, str>,
}

/// The text with its secrets replaced.
pub(super) fn redact<'t>(text: &'t str, redactor: &mut Redactor) -> Cow<'t, str> {
    let looks_like_json = text
        .trim_start_matches(|letter: char| letter == '\u{feff}' || letter.is_ascii_whitespace())
        .starts_with(['{', '[', '"']);
    if !looks_like_json {
        return redactor.text(text);
    }
    let mut walk = Walk {
        text,
        at: 0,
        redacted: String::new(),
        copied: 0,
        open: vec![],
        name: Cow::Borrowed(""),
    };
    walk.run(redactor);
    if walk.copied == 0 {
        return Cow::Borrowed(text);
    }
    walk.redacted.push_str(text.get(walk.copied..).unwrap_or_default());
    Cow::Owned(walk.redacted)
}

impl<'t> Walk<'t> {
    fn run(&mut self, redactor: &mut Redactor) {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'{' | b'[' => self.open.push(byte == b'{'),
                b'}' | b']' => {
                    self.open.pop();
                }
                b'"' => {
                    self.string(redactor);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn string(&mut self, redactor: &mut Redactor) {
        let start = self.at;
        let end = end_of_string(self.text.as_bytes(), start);
        self.at = end;
        let literal = self.text.get(start..end).unwrap_or_default();
        // A string that is cut off or broken is looked at as it stands; the quotes stay outside.
        let (said, is_whole) = match serde_json::from_str::<Cow<'t, str>>(literal) {
            Ok(said) => (said, true),
            Err(_) => (Cow::Borrowed(literal.trim_start_matches('"')), false),
        };
        let is_in_object = self.open.last() == Some(&true);
        let is_name = is_in_object && next_is_colon(self.text.as_bytes(), end);
        let redacted = if is_name {
            redactor.text_of(&said, false).into_owned()
        } else {
            redactor.value(&self.name, &said).into_owned()
        };
        if redacted != said {
            let written = if is_whole {
                serde_json::to_string(&redacted).unwrap_or_default()
            } else {
                format!("\"{redacted}")
            };
            self.redacted
                .push_str(self.text.get(self.copied..start).unwrap_or_default());
            self.redacted.push_str(&written);
            self.copied = end;
        }
        if is_name {
            self.name = said;
        }
    }
}

/// Behind the closing quote, or the end of the text.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn next_is_colon(bytes: &[u8], from: usize) -> bool {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}
