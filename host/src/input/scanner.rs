//! Finds where a JSON value ends, without reading what it says.

use std::ops::Range;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// How far a value has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// White space and byte order marks only.
    #[default]
    Before,
    /// Begun and not ended.
    Inside,
    /// Ended.
    Done,
    /// Begun with a byte that no JSON value begins with.
    NotJson,
}

/// Looks at each byte once; bytes are appended between the calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanner {
    stage: Stage,
    start: usize,
    at: usize,
    depth: usize,
    in_string: bool,
}

impl Scanner {
    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// Where the value stands; its end is known when it is done.
    pub(crate) fn value(&self) -> Range<usize> {
        self.start..self.at.max(self.start)
    }

    /// Goes on over what has been appended to `bytes`.
    pub(crate) fn scan(&mut self, bytes: &[u8]) {
        if self.stage == Stage::Before {
            self.begin(bytes);
        }
        while self.stage == Stage::Inside && self.at < bytes.len() {
            if self.in_string {
                self.string(bytes);
                if self.in_string {
                    return;
                }
            } else if self.depth == 0 && self.at > self.start {
                self.scalar(bytes);
            } else {
                self.structure(bytes);
            }
        }
    }

    /// There are no more bytes: a number or a word is over.
    pub(crate) fn end(&mut self, bytes: &[u8]) {
        let is_open = self.in_string || self.depth > 0;
        if self.stage == Stage::Inside && !is_open && self.at == bytes.len() {
            self.stage = Stage::Done;
        }
    }

    fn begin(&mut self, bytes: &[u8]) {
        while let Some(&byte) = bytes.get(self.at) {
            let rest = bytes.get(self.at..).unwrap_or_default();
            if rest.starts_with(MARK) {
                self.at += MARK.len();
            } else if MARK.starts_with(rest) {
                return;
            } else if is_space(byte) {
                self.at += 1;
            } else {
                self.start = self.at;
                self.stage = match byte {
                    b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Stage::Inside,
                    _ => Stage::NotJson,
                };
                return;
            }
        }
        self.start = self.at;
    }

    /// Over one byte outside of strings.
    fn structure(&mut self, bytes: &[u8]) {
        match bytes.get(self.at) {
            Some(b'"') => self.in_string = true,
            Some(b'{' | b'[') => self.depth += 1,
            Some(b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.stage = Stage::Done;
                }
            }
            _ => {}
        }
        self.at += 1;
    }

    /// To behind the closing quote, or to where more bytes are needed.
    fn string(&mut self, bytes: &[u8]) {
        loop {
            self.at += plain_prefix(bytes.get(self.at..).unwrap_or_default());
            match bytes.get(self.at) {
                None => return,
                Some(b'"') => {
                    self.at += 1;
                    self.in_string = false;
                    if self.depth == 0 {
                        self.stage = Stage::Done;
                    }
                    return;
                }
                // A backslash and what it escapes are taken together, or not yet.
                Some(_) if self.at + 1 < bytes.len() => self.at += 2,
                Some(_) => return,
            }
        }
    }

    /// Over the rest of a number or word.
    fn scalar(&mut self, bytes: &[u8]) {
        match bytes.get(self.at) {
            Some(byte) if is_space(*byte) || matches!(byte, b'{' | b'[' | b'"' | b',' | b'}' | b']') => {
                self.stage = Stage::Done;
            }
            _ => self.at += 1,
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// How many bytes there are before the first quote or backslash. Blocks, because compilers make fast code of them.
fn plain_prefix(bytes: &[u8]) -> usize {
    let ends = |byte: u8| (byte == b'"') | (byte == b'\\');
    let plain_blocks = bytes
        .chunks_exact(32)
        .take_while(|block| !block.iter().fold(false, |found, &byte| found | ends(byte)))
        .count();
    let at = plain_blocks * 32;
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| ends(byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str) -> Option<usize> {
        let mut scanner = Scanner::default();
        scanner.scan(text.as_bytes());
        (scanner.stage() == Stage::Done).then(|| scanner.value().end)
    }

    #[test]
    fn a_value_ends_with_its_last_bracket() {
        assert_eq!(end_of("{}"), Some(2));
        assert_eq!(end_of("[[],{\"a\":\"]\"}]x"), Some(14));
        assert_eq!(end_of("{\"a\":\"}"), None);
    }

    #[test]
    fn an_escaped_quote_does_not_end_a_string() {
        assert_eq!(end_of(r#""a\"b" "#), Some(6));
        assert_eq!(end_of(r#""a\\" "#), Some(5));
        assert_eq!(end_of(r#""a\"#), None);
    }

    #[test]
    fn it_does_not_matter_where_the_pieces_end() {
        let text =
            "\u{feff} {\"k\\\\\":[\"a\\\"}\",{\"b\":\"0123456789012345678901234567890123456789\"}],\"n\":-1.5e3}";
        let whole = end_of(text);
        assert_eq!(whole, Some(text.len()));
        for cut in 0..=text.len() {
            let mut scanner = Scanner::default();
            scanner.scan(&text.as_bytes()[..cut]);
            scanner.scan(text.as_bytes());
            assert_eq!(scanner.stage(), Stage::Done);
            assert_eq!(scanner.value(), 4..text.len(), "cut at {cut}");
        }
    }
}
