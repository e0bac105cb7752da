//! Reading: line by line, in bounded memory, over anything that does not belong there.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::record::Record;
use crate::error::Result;
use crate::regular;

/// Longer lines are stepped over: no record is as long.
const LINE_LIMIT: usize = 256 << 20;

/// What is read at a time.
const BUFFER: usize = 256 << 10;

/// The lines of a file of records, in order.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    line: Vec<u8>,
    /// Behind the last line that ended.
    position: u64,
    limit: usize,
}

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it begins.
    pub offset: u64,
    /// Its bytes, without the newline. Empty for a line that was too long.
    pub bytes: &'a [u8],
    /// The newline is there. Without it the line may still be being written.
    pub is_whole: bool,
}

impl Lines<BufReader<File>> {
    /// The lines of the file behind `offset`, which is what [`Lines::position`] gave before.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let mut file = regular::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self::new(BufReader::with_capacity(BUFFER, file), offset))
    }
}

impl<R: BufRead> Lines<R> {
    /// The lines of `source`, whose first byte stands at `offset`.
    pub fn new(source: R, offset: u64) -> Self {
        Self {
            source,
            line: vec![],
            position: offset,
            limit: LINE_LIMIT,
        }
    }

    /// Where the next reading may begin.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next line that is not empty.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            let offset = self.position;
            let (length, is_whole) = self.fill()?;
            if is_whole {
                self.position += length;
            }
            if length == 0 {
                return Ok(None);
            }
            if !self.line.is_empty() || length > 1 {
                let bytes = &self.line;
                return Ok(Some(Line {
                    offset,
                    bytes,
                    is_whole,
                }));
            }
        }
    }

    /// Takes one line from the source; its length with the newline, and whether there was one.
    fn fill(&mut self) -> io::Result<(u64, bool)> {
        self.line.clear();
        let mut length = 0;
        loop {
            let buffer = match self.source.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            if buffer.is_empty() {
                return Ok((length, false));
            }
            let newline = buffer.iter().position(|&byte| byte == b'\n');
            let piece = buffer.get(..newline.unwrap_or(buffer.len())).unwrap_or_default();
            if self.line.len() + piece.len() <= self.limit && length == self.line.len() as u64 {
                self.line.extend_from_slice(piece);
            } else {
                self.line.clear();
            }
            let taken = piece.len() + usize::from(newline.is_some());
            length += taken as u64;
            self.source.consume(taken);
            if newline.is_some() {
                return Ok((length, true));
            }
        }
    }

    /// The next record, or why a line is none. A last line without its newline counts when it is a whole record.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn next_record(&mut self) -> io::Result<Option<(u64, Result<Record<'static>>)>> {
        let line = self.next_line()?;
        Ok(line.map(|line| (line.offset, Record::read(line.bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], limit: usize) -> (Vec<(u64, Vec<u8>, bool)>, u64) {
        let mut lines = Lines::new(BufReader::with_capacity(3, bytes), 100);
        lines.limit = limit;
        let mut found = vec![];
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.offset, line.bytes.to_vec(), line.is_whole));
        }
        let position = lines.position();
        (found, position)
    }

    #[test]
    fn lines_come_with_their_offsets_and_the_last_one_may_be_unfinished() {
        let (lines, position) = all(b"one\n\n\nthree\nfo", 100);
        let expected: [(u64, &[u8], bool); 3] = [(100, b"one", true), (106, b"three", true), (112, b"fo", false)];
        let expected = expected.map(|(offset, bytes, is_whole)| (offset, bytes.to_vec(), is_whole));
        assert_eq!(lines, expected);
        assert_eq!(position, 112);
    }

    #[test]
    fn a_line_above_the_limit_is_stepped_over() {
        let (lines, position) = all(b"1234567890\nab\n", 6);
        assert_eq!(lines, [(100, vec![], true), (111, b"ab".to_vec(), true)]);
        assert_eq!(position, 114);
    }

    /// A small generator: the same files every time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 % limit as u64).unwrap()
        }
    }

    /// Files as power losses and kills leave them: records cut anywhere, runs of zero bytes, garbage, each closed by
    /// the next writer's newline. Every whole record is found, in order, and nothing else.
    #[test]
    fn torn_files_give_every_whole_record_and_nothing_else() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut torn = 0;
        for _ in 0..400 {
            let mut file = vec![];
            let mut whole = vec![];
            for number in 0..random.below(30) {
                let payload = format!("{{\"text\":\"{}\"}}", "é\\n".repeat(random.below(40)));
                let record = Record {
                    id: format!("{number}"),
                    agent: "agent".to_owned(),
                    payload: super::super::record::Payload::of(payload.as_bytes()),
                    ..Record::default()
                };
                let line = record.line().concat();
                match random.below(5) {
                    0 => {
                        file.extend(&line[..random.below(line.len())]);
                        torn += 1;
                    }
                    1 => {
                        file.extend(vec![0; random.below(5000)]);
                        torn += 1;
                    }
                    2 => {
                        file.extend((0..random.below(300)).map(|_| u8::try_from(random.below(256)).unwrap()));
                        torn += 1;
                    }
                    _ => {
                        file.extend(&line);
                        whole.push(record.id);
                    }
                }
                file.push(b'\n');
            }
            if random.below(2) == 0 {
                file.pop();
            }
            let mut lines = Lines::new(BufReader::with_capacity(1 + random.below(5000), file.as_slice()), 0);
            let mut found = vec![];
            while let Some((_, record)) = lines.next_record().unwrap() {
                found.extend(record.map(|record| record.id));
            }
            assert_eq!(found, whole);
        }
        assert!(torn > 1000, "{torn}");
    }
}
