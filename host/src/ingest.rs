//! Cutting an event stream into payloads, in bounded memory.
//!
//! A stream is lines of JSON, server-sent events, or JSON values that stand on several lines. What a line or a value
//! means is the adapter's business; here is only told where one ends.

use crate::input::{Scanner, Stage};

/// The most that one value may take.
pub const PIECE_LIMIT: usize = 32 << 20;

/// A part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A whole value, a server-sent event, or a line of text.
    Payload(Vec<u8>),
    /// The beginning of a value whose end did not come.
    Broken(Vec<u8>),
    /// A value of more than the limit, which was passed over: its size.
    TooLong(u64),
}

/// Takes bytes as they come and gives pieces as they are whole.
#[derive(Debug, Default)]
pub struct Pieces {
    line: Vec<u8>,
    /// A server-sent event whose end has not come yet.
    frame: Vec<u8>,
    /// A value whose end has not come yet.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    bytes: Vec<u8>,
    scanner: Scanner,
    /// Begun by a bracket alone or a list: the lines that follow are parts of it, whatever they look like.
    is_document: bool,
    /// Bytes passed over since the limit was reached.
    dropped: u64,
}

impl Pieces {
    /// The next bytes.
    pub fn push(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Piece)) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let (head, rest) = bytes.split_at(end + 1);
            self.line.extend_from_slice(head);
            bytes = rest;
            let line = std::mem::take(&mut self.line);
            self.whole_line(line, each);
        }
        self.line.extend_from_slice(bytes);
        if self.line.len() > PIECE_LIMIT && self.open.is_none() {
            self.open = Some(Open::of(&[], false));
        }
        if let Some(open) = self.open.as_mut().filter(|_| self.line.len() > PIECE_LIMIT) {
            open.dropped += self.line.len() as u64;
            self.line.clear();
        }
    }

    /// There is no more. `true`: the stream ended inside of a value.
    pub fn finish(&mut self, each: &mut dyn FnMut(Piece)) -> bool {
        let line = std::mem::take(&mut self.line);
        self.whole_line(line, each);
        self.end_frame(each);
        match self.open.take() {
            Some(open) => {
                each(open.given_up());
                true
            }
            None => false,
        }
    }

    fn whole_line(&mut self, line: Vec<u8>, each: &mut dyn FnMut(Piece)) {
        if let Some(mut open) = self.open.take() {
            // A broken line is followed by whole ones; the lines of a document are none.
            if !open.is_document && open.dropped == 0 && is_whole(&line) {
                each(open.given_up());
            } else {
                open.take(&line);
                self.go_on(open, each);
                return;
            }
        }
        match line.trim_ascii() {
            [] => self.end_frame(each),
            [b'{' | b'[', rest @ ..] => {
                let is_document = rest.is_empty() || line.trim_ascii().starts_with(b"[");
                self.go_on(Open::of(&line, is_document), each);
            }
            _ if is_of_frame(&line) && self.frame.len() < PIECE_LIMIT => self.frame.extend_from_slice(&line),
            _ => each(Piece::Payload(line)),
        }
    }

    /// A blank line ends a server-sent event. One without data (a comment that keeps the connection open) says nothing.
    fn end_frame(&mut self, each: &mut dyn FnMut(Piece)) {
        let frame = std::mem::take(&mut self.frame);
        if frame.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"data")) {
            each(Piece::Payload(frame));
        }
    }

    fn go_on(&mut self, open: Open, each: &mut dyn FnMut(Piece)) {
        if open.is_whole() {
            each(if open.dropped > 0 {
                open.given_up()
            } else {
                Piece::Payload(open.bytes)
            });
        } else {
            self.open = Some(open);
        }
    }
}

impl Open {
    fn of(bytes: &[u8], is_document: bool) -> Self {
        let mut open = Self {
            bytes: vec![],
            scanner: Scanner::default(),
            is_document,
            dropped: 0,
        };
        open.take(bytes);
        open
    }

    fn take(&mut self, line: &[u8]) {
        if self.dropped > 0 || self.bytes.len() + line.len() > PIECE_LIMIT {
            self.dropped += (self.bytes.len() + line.len()) as u64;
            self.bytes.clear();
        } else {
            self.bytes.extend_from_slice(line);
            self.scanner.scan(&self.bytes);
        }
    }

    /// What is too long ends with its line.
    fn is_whole(&self) -> bool {
        self.scanner.stage() == Stage::Done || (self.dropped > 0 && !self.is_document)
    }

    fn given_up(self) -> Piece {
        if self.dropped > 0 {
            Piece::TooLong(self.dropped)
        } else {
            Piece::Broken(self.bytes)
        }
    }
}

/// A field of a server-sent event, or a comment in one.
fn is_of_frame(line: &[u8]) -> bool {
    let field = line.split(|&byte| byte == b':').next().unwrap_or_default();
    line.contains(&b':') && matches!(field, b"" | b"id" | b"event" | b"data" | b"retry")
}

fn is_whole(line: &[u8]) -> bool {
    let mut scanner = Scanner::default();
    scanner.scan(line);
    line.trim_ascii_start().starts_with(b"{") && scanner.stage() == Stage::Done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, size: usize) -> (Vec<String>, bool) {
        let mut pieces = Pieces::default();
        let mut shown = vec![];
        let mut each = |piece: Piece| {
            shown.push(match piece {
                Piece::Payload(bytes) => String::from_utf8(bytes).unwrap().trim().to_owned(),
                Piece::Broken(bytes) => format!("broken {}", String::from_utf8(bytes).unwrap().trim()),
                Piece::TooLong(size) => format!("too long {size}"),
            });
        };
        for chunk in text.as_bytes().chunks(size) {
            pieces.push(chunk, &mut each);
        }
        let is_cut = pieces.finish(&mut each);
        (shown, is_cut)
    }

    #[test]
    fn lines_documents_and_events_are_cut_wherever_the_reads_end() {
        for size in [1, 2, 7, 1000] {
            assert_eq!(
                cut("{\"a\":1}\r\n\n{\"b\":\"}\"}\n", size),
                (vec!["{\"a\":1}".into(), "{\"b\":\"}\"}".into()], false)
            );
            assert_eq!(
                cut("[\n{\"a\":1},\n{\"b\":2}\n]\n", size).0,
                ["[\n{\"a\":1},\n{\"b\":2}\n]"]
            );
            assert_eq!(
                cut("{\n\"events\": [\n{}\n]}\n{\"b\":2}", size).0,
                ["{\n\"events\": [\n{}\n]}", "{\"b\":2}"]
            );
            assert_eq!(
                cut("id: 1\nevent: x\ndata: {\"a\":1}\n\n: hello\n\ndata: 2", size).0,
                ["id: 1\nevent: x\ndata: {\"a\":1}", "data: 2"]
            );
        }
    }

    #[test]
    fn a_broken_line_does_not_swallow_the_next() {
        assert_eq!(
            cut("{\"a\":\n{\"b\":2}\n", 1000),
            (vec!["broken {\"a\":".into(), "{\"b\":2}".into()], false)
        );
    }

    #[test]
    fn a_stream_that_was_cut_off_says_so() {
        assert_eq!(
            cut("{\"a\":1}\n{\"b\":\"ha", 1000),
            (vec!["{\"a\":1}".into(), "broken {\"b\":\"ha".into()], true)
        );
    }

    #[test]
    fn what_is_too_long_is_passed_over() {
        let long = format!("{{\"a\":\"{}\"}}\n{{\"b\":2}}\n", "x".repeat(PIECE_LIMIT));
        assert_eq!(
            cut(&long, 1 << 20),
            (vec![format!("too long {}", PIECE_LIMIT + 9), "{\"b\":2}".into()], false)
        );
    }
}
