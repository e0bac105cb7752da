//! Reading transcripts: JSON lines by byte offset over pushed pieces, and single JSON documents.

use std::borrow::Cow;

use crate::{Entry, Fault, Item, Json, Object, Start};

/// One pass over a transcript; see the contract's `reading`.
pub trait Reading {
    /// The next bytes.
    ///
    /// # Errors
    /// For a transcript that is not of this format at all; a record that cannot be read is an entry.
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Entry>, Fault>;

    /// No more bytes for now.
    ///
    /// # Errors
    /// As [`Reading::push`].
    fn finish(&mut self) -> Result<Vec<Entry>, Fault>;

    /// Where the next reading may begin.
    fn position(&self) -> u64;
}

/// What an adapter does with the lines of a JSONL transcript.
pub trait LineReader {
    /// One record. `offset` is where its line begins.
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>);

    /// The transcript has ended: what waited for a later line.
    fn end(&mut self, _out: &mut Vec<Entry>) {}
}

/// What an adapter does with a transcript that is one JSON document.
pub trait DocumentReader {
    /// The whole document; gives back the number of messages. Entries' offsets are the messages' indices.
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64;
}

impl Entry {
    /// An entry with nothing but its place and its fact.
    #[must_use]
    pub fn new(offset: u64, item: Item) -> Self {
        Self {
            offset,
            time: None,
            record_id: None,
            parent_id: None,
            subagent: None,
            inherited: false,
            item,
        }
    }
}

/// A [`Reading`] of JSON lines.
///
/// Takes byte order marks, CRLF, empty lines and bytes that are not UTF-8 as they come. A line that is no JSON object
/// gives an `unreadable` entry. A last line without its newline counts only when it is a complete object.
pub struct JsonLines<R> {
    reader: R,
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    /// Where `partial` begins.
    offset: u64,
    /// The first line was clipped by the place where reading began.
    clipped: bool,
}

impl<R: LineReader + 'static> JsonLines<R> {
    /// Begins where `start` says; `reader` is told of every line from there on.
    pub fn new(start: &Start, reader: R) -> Self {
        // The byte before `from` is not known: whether the first line is whole is judged by its first byte.
        Self {
            reader,
            partial: vec![],
            offset: start.from,
            clipped: start.from > 0,
        }
    }

    /// The same, as the adapter's answer.
    pub fn boxed(start: &Start, reader: R) -> Box<dyn Reading> {
        Box::new(Self::new(start, reader))
    }

    fn take_line(&mut self, line: &[u8], out: &mut Vec<Entry>) {
        let offset = self.offset;
        let clipped = std::mem::take(&mut self.clipped);
        let text = lossy(trimmed(line));
        if text.is_empty() {
            return;
        }
        match Object::parse(&text) {
            Ok(record) => self.reader.line(offset, &record, out),
            Err(_) if clipped => {}
            Err(reason) => out.push(Entry::new(offset, Item::Unreadable(reason))),
        }
    }
}

impl<R: LineReader + 'static> Reading for JsonLines<R> {
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Entry>, Fault> {
        let mut out = vec![];
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (head, tail) = rest.split_at(end + 1);
            rest = tail;
            if self.partial.is_empty() {
                self.take_line(head, &mut out);
                self.offset += head.len() as u64;
            } else {
                let mut line = std::mem::take(&mut self.partial);
                line.extend_from_slice(head);
                self.take_line(&line, &mut out);
                self.offset += line.len() as u64;
            }
        }
        self.partial.extend_from_slice(rest);
        Ok(out)
    }

    fn finish(&mut self) -> Result<Vec<Entry>, Fault> {
        let mut out = vec![];
        let line = std::mem::take(&mut self.partial);
        if Object::parse(&lossy(trimmed(&line))).is_ok() {
            self.take_line(&line, &mut out);
            self.offset += line.len() as u64;
        }
        self.reader.end(&mut out);
        Ok(out)
    }

    fn position(&self) -> u64 {
        self.offset
    }
}

/// A [`Reading`] of one JSON document.
pub struct Document<R> {
    reader: R,
    from: u64,
    bytes: Vec<u8>,
    messages: u64,
}

impl<R: DocumentReader + 'static> Document<R> {
    /// Collects the document for `reader`.
    pub fn new(start: &Start, reader: R) -> Self {
        Self {
            reader,
            from: start.from,
            bytes: vec![],
            messages: 0,
        }
    }

    /// The same, as the adapter's answer.
    pub fn boxed(start: &Start, reader: R) -> Box<dyn Reading> {
        Box::new(Self::new(start, reader))
    }
}

impl<R: DocumentReader + 'static> Reading for Document<R> {
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Entry>, Fault> {
        self.bytes.extend_from_slice(chunk);
        Ok(vec![])
    }

    fn finish(&mut self) -> Result<Vec<Entry>, Fault> {
        let bytes = std::mem::take(&mut self.bytes);
        let text = lossy(trimmed(&bytes));
        if text.is_empty() {
            return Ok(vec![]);
        }
        let document = Json::parse(&text)
            .map_err(|reason| Fault::Malformed(format!("the transcript is not one JSON document: {reason}")))?;
        let mut out = vec![];
        self.messages = self.reader.document(document, &mut out);
        out.retain(|entry| entry.offset >= self.from);
        Ok(out)
    }

    fn position(&self) -> u64 {
        self.messages
    }
}

/// Without white space at the ends and byte order marks at the beginning.
fn trimmed(line: &[u8]) -> &[u8] {
    let mut line = line.trim_ascii();
    while let Some(rest) = line.strip_prefix("\u{feff}".as_bytes()) {
        line = rest.trim_ascii_start();
    }
    line
}

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wanted;

    struct Ids;

    impl LineReader for Ids {
        fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
            let mut entry = Entry::new(offset, Item::Note);
            entry.record_id = record.id(&["id"]);
            out.push(entry);
        }
    }

    fn read(bytes: &[u8], from: u64, piece: usize) -> (Vec<(u64, String)>, u64) {
        let start = Start {
            session_ref: None,
            companions: vec![],
            from,
            want: Wanted::all(),
        };
        let mut lines = JsonLines::new(&start, Ids);
        let mut entries = vec![];
        for chunk in bytes[from as usize..].chunks(piece) {
            entries.extend(lines.push(chunk).unwrap());
        }
        entries.extend(lines.finish().unwrap());
        let shown = entries.into_iter().map(|entry| match entry.item {
            Item::Note => (entry.offset, entry.record_id.unwrap()),
            _ => (entry.offset, "unreadable".to_owned()),
        });
        (shown.collect(), lines.position())
    }

    #[test]
    fn pieces_do_not_change_what_is_read() {
        let text = "\u{feff}\u{feff}{\"id\":\"a\"}\r\n\n{broken\n{\"id\":\"\u{e4}\"}\n{\"id\":\"ha".as_bytes();
        let whole = read(text, 0, usize::MAX);
        assert_eq!(
            whole.0,
            [
                (0, "a".to_owned()),
                (19, "unreadable".to_owned()),
                (27, "\u{e4}".to_owned())
            ]
        );
        assert_eq!(whole.1, 39, "the half-written line is not counted");
        for piece in 1..12 {
            assert_eq!(read(text, 0, piece), whole);
        }
    }

    #[test]
    fn a_complete_last_line_counts_without_its_newline() {
        assert_eq!(
            read(b"{\"id\":1}\n{\"id\":2}", 0, 4),
            (vec![(0, "1".into()), (9, "2".into())], 17)
        );
    }

    #[test]
    fn a_clipped_first_line_is_passed_over() {
        assert_eq!(read(b"{\"id\":1}\n{\"id\":2}\n", 3, 100), (vec![(9, "2".into())], 18));
    }
}
