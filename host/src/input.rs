//! Stdin: one JSON value, or a stream of bytes. Bounded in size and in waiting.
//!
//! Some agents never close the pipe, so the end of a value is found by looking at it, not by waiting for the end of the
//! file.

mod scanner;
mod stdin;

use std::borrow::Cow;
use std::io::{self, Read};
use std::time::Duration;

pub(crate) use scanner::{Scanner, Stage};
pub use stdin::Stdin;

use crate::error::{Error, Result};

/// What a hook may send.
pub const PAYLOAD_LIMIT: usize = 32 << 20;

/// What a caller may send that holds a whole transcript.
pub const SESSION_LIMIT: usize = 512 << 20;

/// How long stdin may be silent before a value is given up.
pub const PAYLOAD_SILENCE: Duration = Duration::from_secs(3);

/// How long stdin may be silent before a stream is given up: less than callers wait for an answer.
pub const STREAM_SILENCE: Duration = Duration::from_secs(15);

/// The first read: a hook's payload comes in one go as a rule.
const FIRST_READ: usize = 64 << 10;

/// How much behind the value is read and thrown away. Some agents take a broken pipe for a hook that failed.
const DRAIN_LIMIT: usize = 4 << 20;

/// Something that bytes can be read from with a limit on waiting.
pub(crate) trait Source {
    /// Appends what is there to `buffer`, whose spare capacity is the most that is read.
    fn read_within(&mut self, buffer: &mut Vec<u8>, silence: Duration) -> io::Result<Arrival>;
}

/// What came of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    Bytes,
    End,
    Silence,
}

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// Nothing, or white space only.
    Nothing,
    /// One complete JSON value, or what looks like one from outside.
    Value,
    /// The beginning of a JSON value.
    Cut,
    /// Something that is no JSON.
    Other,
    /// More than the limit.
    TooMuch,
}

/// What stdin held.
#[derive(Clone, Debug)]
pub struct Payload {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    arrived: Arrived,
    limit: usize,
}

impl Payload {
    /// Reads a hook's payload from stdin.
    ///
    /// # Errors
    /// Stdin cannot be read.
    pub fn from_stdin() -> Result<Self> {
        Self::within(PAYLOAD_LIMIT)
    }

    /// Reads one JSON value of at most `limit` bytes from stdin.
    ///
    /// # Errors
    /// Stdin cannot be read.
    pub fn within(limit: usize) -> Result<Self> {
        Self::read(&mut Stdin::default(), limit).map_err(|error| Error::system("cannot read stdin", error))
    }

    /// A payload that came by another way: an argument, a file.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        let mut scanner = Scanner::default();
        scanner.scan(&bytes);
        scanner.end(&bytes);
        Self::of(bytes, &scanner, PAYLOAD_LIMIT)
    }

    fn read(source: &mut dyn Source, limit: usize) -> io::Result<Self> {
        let mut bytes = Vec::with_capacity(FIRST_READ);
        let mut scanner = Scanner::default();
        loop {
            if bytes.len() == bytes.capacity() {
                bytes.reserve(bytes.len().min(1 << 20));
            }
            if source.read_within(&mut bytes, PAYLOAD_SILENCE)? != Arrival::Bytes {
                scanner.end(&bytes);
                break;
            }
            scanner.scan(&bytes);
            if bytes.len() > limit || matches!(scanner.stage(), Stage::Done | Stage::NotJson) {
                drain(source)?;
                break;
            }
        }
        Ok(Self::of(bytes, &scanner, limit))
    }

    fn of(bytes: Vec<u8>, scanner: &Scanner, limit: usize) -> Self {
        let value = scanner.value();
        let arrived = match scanner.stage() {
            Stage::Before => Arrived::Nothing,
            _ if value.end.saturating_sub(value.start) > limit => Arrived::TooMuch,
            Stage::Inside if bytes.len() > limit => Arrived::TooMuch,
            Stage::Inside => Arrived::Cut,
            Stage::Done => Arrived::Value,
            Stage::NotJson => Arrived::Other,
        };
        let end = if arrived == Arrived::Value {
            value.end
        } else {
            bytes.len()
        };
        Self {
            start: value.start,
            end,
            bytes,
            arrived,
            limit,
        }
    }

    /// What arrived.
    #[must_use]
    pub fn arrived(&self) -> Arrived {
        self.arrived
    }

    /// Whether there was nothing but white space and byte order marks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arrived == Arrived::Nothing
    }

    /// All bytes as they came, with byte order marks and what stood behind the value.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of the value as they came, without byte order marks and the white space around it.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The value as text; bytes that are not UTF-8 have become U+FFFD.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        // The check alone goes over plain text in words; the replacing looks at every byte.
        let value = self.value();
        std::str::from_utf8(value).map_or_else(|_| String::from_utf8_lossy(value), Cow::Borrowed)
    }

    /// The value as text, or why there is none.
    ///
    /// # Errors
    /// What arrived is not one complete value, or was nothing.
    pub fn complete(&self) -> Result<Cow<'_, str>> {
        match self.arrived {
            Arrived::Value => Ok(self.text()),
            Arrived::Nothing => Err(Error::input("stdin is empty; a JSON value was expected")),
            Arrived::Cut => Err(Error::input(format!(
                "the JSON value on stdin is cut off after {} bytes",
                self.value().len()
            ))),
            Arrived::Other => Err(Error::input("what came on stdin is not JSON")),
            Arrived::TooMuch => Err(Error::input(format!(
                "the JSON value on stdin is larger than the limit of {} MiB",
                self.limit >> 20
            ))),
        }
    }
}

/// Takes what is waiting behind the value.
fn drain(source: &mut dyn Source) -> io::Result<()> {
    let mut waste = Vec::with_capacity(FIRST_READ);
    let mut drained = 0;
    while drained < DRAIN_LIMIT && source.read_within(&mut waste, Duration::ZERO)? == Arrival::Bytes {
        drained += waste.len();
        waste.clear();
    }
    Ok(())
}

/// All of stdin up to its end, at most `limit` bytes.
///
/// # Errors
/// Stdin cannot be read, is silent for too long, or holds more.
pub fn text_to_end(limit: usize) -> Result<String> {
    let mut bytes = vec![];
    Stdin::default()
        .take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::system("cannot read stdin", error))?;
    if bytes.len() > limit {
        return Err(Error::input(format!("stdin holds more than {} MiB", limit >> 20)));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Gives each piece to one read, then ends or falls silent.
    struct Pieces {
        pieces: VecDeque<Vec<u8>>,
        closes: bool,
    }

    impl Source for Pieces {
        fn read_within(&mut self, buffer: &mut Vec<u8>, _: Duration) -> io::Result<Arrival> {
            match self.pieces.pop_front() {
                Some(mut piece) => {
                    let spare = buffer.capacity() - buffer.len();
                    if piece.len() > spare {
                        self.pieces.push_front(piece.split_off(spare));
                    }
                    buffer.extend(piece);
                    Ok(Arrival::Bytes)
                }
                None if self.closes => Ok(Arrival::End),
                None => Ok(Arrival::Silence),
            }
        }
    }

    fn read(pieces: &[&[u8]], closes: bool) -> Payload {
        let pieces = pieces.iter().map(|piece| piece.to_vec()).collect();
        Payload::read(&mut Pieces { pieces, closes }, 1000).unwrap()
    }

    #[test]
    fn a_value_is_complete_while_the_pipe_stays_open() {
        let payload = read(&[b"{\"a\":", b"\"}\\\"\"", b"}\n"], false);
        assert_eq!(payload.arrived(), Arrived::Value);
        assert_eq!(payload.text(), r#"{"a":"}\""}"#);
    }

    #[test]
    fn byte_order_marks_are_removed_however_many_and_wherever_the_pieces_end() {
        let payload = read(&[b"\xef\xbb", b"\xbf\xef\xbb\xbf", b" \r\n{}"], true);
        assert_eq!(payload.complete().unwrap(), "{}");
        assert_eq!(payload.raw(), b"\xef\xbb\xbf\xef\xbb\xbf \r\n{}");
    }

    #[test]
    fn nothing_and_white_space_and_marks_alone_are_nothing() {
        for pieces in [&[][..], &[b" \r\n".as_slice()], &[b"\xef\xbb\xbf".as_slice()]] {
            assert_eq!(read(pieces, true).arrived(), Arrived::Nothing);
            assert_eq!(read(pieces, false).arrived(), Arrived::Nothing);
        }
    }

    #[test]
    fn a_value_without_its_end_is_cut() {
        for closes in [true, false] {
            let payload = read(&[b"{\"a\":[1,"], closes);
            assert_eq!(payload.arrived(), Arrived::Cut);
            assert!(payload.complete().is_err());
        }
    }

    #[test]
    fn what_follows_the_value_is_not_part_of_it() {
        assert_eq!(read(&[b"{\"a\":1} {\"b\":2}"], true).text(), r#"{"a":1}"#);
    }

    #[test]
    fn scalars_end_at_white_space_at_the_end_and_in_silence() {
        assert_eq!(read(&[b"nul", b"l\n"], false).text(), "null");
        assert_eq!(read(&[b"12"], true).text(), "12");
        assert_eq!(read(&[b"\"a b\""], false).text(), "\"a b\"");
    }

    #[test]
    fn what_is_not_json_is_known_at_once() {
        assert_eq!(read(&[b"hello"], false).arrived(), Arrived::Other);
        assert_eq!(read(&[b"}"], false).arrived(), Arrived::Other);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced_in_the_text_and_kept_in_the_value() {
        let payload = read(&[b"{\"a\":\"caf\xe9\"}"], true);
        assert_eq!(payload.text(), "{\"a\":\"caf\u{fffd}\"}");
        assert_eq!(payload.value(), b"{\"a\":\"caf\xe9\"}");
    }

    #[test]
    fn a_value_above_the_limit_is_refused_and_not_cut() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(2000));
        let payload = read(&[long.as_bytes()], true);
        assert_eq!(payload.arrived(), Arrived::TooMuch);
    }
}
