//! Reading transcripts: JSON lines by byte offset over pushed pieces, and single JSON documents.

use std::borrow::Cow;

use memchr::memchr;

use crate::{Entry, Fault, Item, Json, Object, SessionFacts, Start};

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

/// What an adapter does with the lines of a JSONL transcript: one of `line` and `text`.
pub trait LineReader {
    /// One record. `offset` is where its line begins.
    fn line(&mut self, _offset: u64, _record: &Object<'_>, _out: &mut Vec<Entry>) {}

    /// One line that is not empty. The default reads its keys for [`LineReader::line`]; a reader of large transcripts
    /// reads it in one pass ([`crate::json::Cursor`]).
    ///
    /// # Errors
    /// What is wrong with a line that is not one JSON object. Entries given before that are taken back.
    fn text(&mut self, offset: u64, line: &str, out: &mut Vec<Entry>) -> Result<(), String> {
        self.line(offset, &Object::parse(line)?, out);
        Ok(())
    }

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

/// Nothing said yet.
impl Default for SessionFacts {
    fn default() -> Self {
        Self {
            session_id: None,
            parent_session_id: None,
            cwd: None,
            started_at: None,
            model: None,
            agent_version: None,
            title: None,
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
        let before = out.len();
        if let Err(reason) = self.reader.text(offset, &text, out) {
            out.truncate(before);
            if !clipped {
                out.push(Entry::new(offset, Item::Unreadable(reason)));
            }
        }
    }
}

impl<R: LineReader + 'static> Reading for JsonLines<R> {
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Entry>, Fault> {
        let mut out = vec![];
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
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

/// A [`Reading`] of a transcript that is JSON lines in some versions and one JSON document in others. The content
/// decides, not the file's name.
pub struct Either<L, D> {
    start: Start,
    readers: Option<(L, D)>,
    is_document: fn(&Object<'_>) -> bool,
    /// What was pushed before it was clear.
    waiting: Vec<u8>,
    reading: Option<Box<dyn Reading>>,
}

impl<L: LineReader + 'static, D: DocumentReader + 'static> Either<L, D> {
    /// `is_document` tells the whole document from a record, should it stand on one line.
    pub fn boxed(start: Start, lines: L, document: D, is_document: fn(&Object<'_>) -> bool) -> Box<dyn Reading> {
        Box::new(Self {
            start,
            readers: Some((lines, document)),
            is_document,
            waiting: vec![],
            reading: None,
        })
    }

    /// The reading, once the first line is whole or, at the end, in any case.
    fn decide(&mut self, at_end: bool) -> Option<&mut Box<dyn Reading>> {
        if self.reading.is_none() {
            // Whole lines with anything on them; what stands behind the last newline is whole only at the end.
            let mut begun: Vec<_> = self.waiting.split(|&byte| byte == b'\n').collect();
            if !at_end {
                begun.pop();
            }
            let mut begun = begun
                .into_iter()
                .map(|line| lossy(trimmed(line)))
                .filter(|line| !line.is_empty());
            let is_document = match (begun.next(), begun.next()) {
                (None, _) if !at_end => return None,
                // Nothing yet: no message and no byte of a line.
                (None, _) => true,
                (Some(first), second) => match (Object::parse(&first), second) {
                    (Ok(record), _) => (self.is_document)(&record),
                    (Err(_), None) if !at_end => return None,
                    (Err(_), None) => first.starts_with('['),
                    // The first lines of a document are no records; a broken record is followed by a whole one.
                    (Err(_), Some(second)) => {
                        first.starts_with('[') || (first.starts_with('{') && Object::parse(&second).is_err())
                    }
                },
            };
            let (lines, document) = self.readers.take()?;
            self.reading = Some(if is_document {
                Document::boxed(&self.start, document)
            } else {
                JsonLines::boxed(&self.start, lines)
            });
        }
        self.reading.as_mut()
    }
}

impl<L: LineReader + 'static, D: DocumentReader + 'static> Reading for Either<L, D> {
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Entry>, Fault> {
        if let Some(reading) = &mut self.reading {
            return reading.push(chunk);
        }
        self.waiting.extend_from_slice(chunk);
        if self.decide(false).is_none() {
            return Ok(vec![]);
        }
        let waiting = std::mem::take(&mut self.waiting);
        self.reading
            .as_mut()
            .map_or(Ok(vec![]), |reading| reading.push(&waiting))
    }

    fn finish(&mut self) -> Result<Vec<Entry>, Fault> {
        let waiting = if self.reading.is_none() {
            self.waiting.clone()
        } else {
            vec![]
        };
        let Some(reading) = self.decide(true) else {
            return Ok(vec![]);
        };
        let mut entries = reading.push(&waiting)?;
        entries.extend(reading.finish()?);
        self.waiting.clear();
        Ok(entries)
    }

    fn position(&self) -> u64 {
        self.reading.as_ref().map_or(0, |reading| reading.position())
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
    // Checking alone is much faster than looking for pieces to replace.
    simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
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

    struct Count;

    impl DocumentReader for Count {
        fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
            let messages = document.get("messages").map(Json::items).unwrap_or_default().len() as u64;
            out.extend((0..messages).map(|index| Entry::new(index, Item::TurnEnd)));
            messages
        }
    }

    #[test]
    fn lines_and_documents_are_told_apart_by_their_content() {
        let read = |text: &str, piece: usize| {
            let start = Start {
                session_ref: None,
                companions: vec![],
                from: 0,
                want: Wanted::all(),
            };
            let mut reading = Either::boxed(start, Ids, Count, |record| record.has("messages"));
            let mut entries = vec![];
            for chunk in text.as_bytes().chunks(piece) {
                entries.extend(reading.push(chunk).unwrap());
            }
            entries.extend(reading.finish().unwrap());
            (entries.len(), reading.position())
        };
        for piece in [1, 3, 1000] {
            assert_eq!(read("\n{\"id\":1}\n{\"id\":2}\n", piece), (2, 19));
            assert_eq!(read("{\"id\":1}", piece), (1, 8));
            assert_eq!(read("{\"messages\":[1,2]}\n", piece), (2, 2));
            assert_eq!(read("{\n  \"messages\": [1,\n2,3]\n}\n", piece), (3, 3));
            assert_eq!(read("{broken\n{\"id\":2}\n", piece), (2, 17));
            assert_eq!(read("{\"messages\":[\n{\"id\":1},\n{\"id\":2}]}", piece), (2, 2));
            assert_eq!(read("{\"id\":\"ha", piece), (0, 0));
            assert_eq!(read("", piece), (0, 0));
        }
    }

    #[test]
    fn a_clipped_first_line_is_passed_over() {
        assert_eq!(read(b"{\"id\":1}\n{\"id\":2}\n", 3, 100), (vec![(9, "2".into())], 18));
    }
}
