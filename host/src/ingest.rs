//! Cutting an event stream into payloads, in bounded memory.
//!
//! A stream is JSON values, one a line or on several lines or several on a line, a list of them, or server-sent events
//! that carry them. What a value means is the adapter's business; here is only told where one ends.

/// What the adapter knows a part of a stream by.
pub const HOOK: &str = "event";

/// What the end of a stream is recorded as, when it means something.
pub const END: &str = "end-of-stream";

/// The most that one value may take.
pub const PIECE_LIMIT: usize = 32 << 20;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// A part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A whole value, or a line that is none.
    Payload(Vec<u8>),
    /// The beginning of a value whose end did not come.
    Broken(Vec<u8>),
    /// A value of more than the limit, which was passed over: its size.
    TooLong(u64),
}

/// Takes bytes as they come and gives pieces as they are whole.
#[derive(Debug, Default)]
pub struct Pieces {
    place: Place,
    /// What has come of the value, or of the line, that the next byte belongs to.
    held: Held,
    /// The data of a server-sent event whose end has not come yet.
    frame: Option<Held>,
    /// These bytes are such data themselves.
    is_of_frame: bool,
    is_in_list: bool,
    /// Something stands on this line.
    is_line_begun: bool,
    /// How much of a byte order mark has come.
    mark: usize,
}

/// Where the next byte stands.
#[derive(Debug, Default)]
enum Place {
    /// Before a value or a line.
    #[default]
    Between,
    /// Behind a bracket that is the beginning of a list if an object follows.
    Bracket,
    Value(Nesting),
    /// In a line that does not begin as a value does.
    Line,
}

impl Pieces {
    /// The next bytes.
    pub fn push(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Piece)) {
        while let Some(&byte) = bytes.first() {
            let taken = match self.place {
                Place::Between => self.between(byte, each),
                Place::Bracket => self.behind_bracket(byte),
                Place::Value(_) => self.value(bytes, each),
                Place::Line => self.line(bytes, each),
            };
            bytes = bytes.get(taken..).unwrap_or_default();
        }
    }

    /// There is no more. `true`: the stream ended inside of a value or a list.
    pub fn finish(&mut self, each: &mut dyn FnMut(Piece)) -> bool {
        let place = std::mem::take(&mut self.place);
        if matches!(place, Place::Line) {
            self.end_line(each);
        }
        let is_value_open = !self.held.is_empty();
        if is_value_open {
            each(self.held.given_up());
        }
        let is_frame_cut = self.end_frame(each);
        let is_cut = is_value_open || is_frame_cut || self.is_in_list;
        *self = Self::default();
        is_cut
    }

    /// Each of these gives how many bytes it has taken.
    fn between(&mut self, byte: u8, each: &mut dyn FnMut(Piece)) -> usize {
        if MARK.get(self.mark) == Some(&byte) {
            self.mark = (self.mark + 1) % MARK.len();
            return 1;
        }
        let mark = MARK.get(..std::mem::take(&mut self.mark)).unwrap_or_default();
        if !mark.is_empty() {
            self.held.take(mark);
            self.begin(Place::Line);
            return 0;
        }
        match byte {
            b'\n' => {
                if !std::mem::take(&mut self.is_line_begun) {
                    self.end_frame(each);
                }
            }
            // A file that was emptied under its writer begins with zeros.
            b' ' | b'\t' | b'\r' | 0 => {}
            b',' if self.is_in_list => {}
            b']' if self.is_in_list => self.is_in_list = false,
            b'[' if !self.is_in_list => {
                self.held.take(b"[");
                self.begin(Place::Bracket);
            }
            b'{' | b'[' => {
                self.begin(Place::Value(Nesting::default()));
                return 0;
            }
            _ => {
                self.begin(Place::Line);
                return 0;
            }
        }
        1
    }

    fn begin(&mut self, place: Place) {
        self.place = place;
        self.is_line_begun = true;
    }

    fn behind_bracket(&mut self, byte: u8) -> usize {
        match byte {
            b' ' | b'\t' | b'\r' => {
                self.held.take(&[byte]);
                return 1;
            }
            b'{' | b'\n' | b']' => {
                self.held = Held::default();
                self.place = Place::Between;
                self.is_in_list = true;
            }
            _ => self.place = Place::Line,
        }
        0
    }

    fn value(&mut self, bytes: &[u8], each: &mut dyn FnMut(Piece)) -> usize {
        let Place::Value(nesting) = &mut self.place else {
            return 0;
        };
        let (taken, stage) = nesting.scan(bytes);
        self.held.take(bytes.get(..taken).unwrap_or_default());
        match stage {
            Stage::Inside => return taken,
            Stage::Done => each(self.held.whole()),
            Stage::Broken => each(self.held.given_up()),
            Stage::BrokenBeforeBrace => {
                self.held.bytes.pop();
                each(self.held.given_up());
                self.held.take(b"{");
                self.place = Place::Value(Nesting::of_object());
                return taken;
            }
        }
        self.place = Place::Between;
        taken
    }

    fn line(&mut self, bytes: &[u8], each: &mut dyn FnMut(Piece)) -> usize {
        let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
            self.held.take(bytes);
            return bytes.len();
        };
        self.held.take(bytes.get(..end).unwrap_or_default());
        self.end_line(each);
        self.place = Place::Between;
        self.is_line_begun = false;
        end + 1
    }

    fn end_line(&mut self, each: &mut dyn FnMut(Piece)) {
        let field = if self.is_of_frame {
            None
        } else {
            field(&self.held.bytes)
        };
        match field {
            Some((b"data", value)) => {
                // Several lines of data are one text.
                let frame = self.frame.get_or_insert_default();
                if !frame.is_empty() {
                    frame.take(b"\n");
                }
                frame.take(value);
                self.held = Held::default();
            }
            // The other fields say again what the data says, and comments keep a connection open.
            Some(_) => self.held = Held::default(),
            None => each(self.held.whole()),
        }
    }

    /// A blank line ends a server-sent event. One without data says nothing.
    fn end_frame(&mut self, each: &mut dyn FnMut(Piece)) -> bool {
        let Some(mut data) = self.frame.take().filter(|data| !data.is_empty()) else {
            return false;
        };
        if data.dropped > 0 {
            each(data.whole());
            return false;
        }
        let mut pieces = Self {
            is_of_frame: true,
            ..Self::default()
        };
        pieces.push(&data.bytes, each);
        pieces.finish(each)
    }
}

/// Bytes up to the limit; above it only their number.
#[derive(Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    dropped: u64,
}

impl Held {
    fn take(&mut self, bytes: &[u8]) {
        let length = self.bytes.len() + bytes.len();
        if self.dropped > 0 || length > PIECE_LIMIT {
            self.dropped += length as u64;
            self.bytes = vec![];
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.dropped == 0
    }

    fn whole(&mut self) -> Piece {
        self.piece(Piece::Payload)
    }

    fn given_up(&mut self) -> Piece {
        self.piece(Piece::Broken)
    }

    fn piece(&mut self, of_bytes: impl FnOnce(Vec<u8>) -> Piece) -> Piece {
        let Self { bytes, dropped } = std::mem::take(self);
        if dropped > 0 {
            Piece::TooLong(dropped)
        } else {
            of_bytes(bytes)
        }
    }
}

/// How far a value has come.
enum Stage {
    Inside,
    Done,
    /// It does not go on, so it was cut off: the next line is another one's.
    Broken,
    /// The same, and a brace of the next value was taken already.
    BrokenBeforeBrace,
}

/// What is open in a value, and whether a line that follows can belong to it.
///
/// Whoever writes lines and is stopped in the middle of one leaves half a value, which must not swallow the lines behind
/// it; but a value may also stand on several lines.
#[derive(Debug, Default)]
struct Nesting {
    /// What is open: `true` for a list.
    lists: Vec<bool>,
    in_text: bool,
    is_escaped: bool,
    /// The last byte that is no white space.
    last: u8,
    is_behind_line_end: bool,
    /// A brace on a line of its own, or with the rest of an object behind it?
    is_brace_in_doubt: bool,
}

impl Nesting {
    /// Behind the brace of an object.
    fn of_object() -> Self {
        Self {
            lists: vec![false],
            last: b'{',
            ..Self::default()
        }
    }

    /// Goes on over more bytes, and gives how many of them belong to the value.
    fn scan(&mut self, bytes: &[u8]) -> (usize, Stage) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.in_text {
                let rest = bytes.get(at..).unwrap_or_default();
                match self.text(rest) {
                    Some(length) => at += length,
                    None => return (at + line_end(rest), Stage::Broken),
                }
                continue;
            }
            if std::mem::take(&mut self.is_brace_in_doubt) && !matches!(byte, b'\r' | b'\n') {
                return (at, Stage::BrokenBeforeBrace);
            }
            match byte {
                b'\n' => self.is_behind_line_end = true,
                b' ' | b'\t' | b'\r' => {}
                _ => {
                    if std::mem::take(&mut self.is_behind_line_end) && !self.goes_on_with(byte) {
                        return (at, Stage::Broken);
                    }
                    self.structure(byte);
                    if self.lists.is_empty() {
                        return (at + 1, Stage::Done);
                    }
                }
            }
            at += 1;
        }
        (at, Stage::Inside)
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.lists.push(byte == b'['),
            b'}' | b']' => {
                self.lists.pop();
            }
            _ => {}
        }
        self.last = byte;
    }

    /// Over a text, to behind its quote or to the end of the bytes. `None`: a line ends in it, which JSON does not allow.
    fn text(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            if !self.is_escaped {
                let rest = bytes.get(at..).unwrap_or_default();
                let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n');
                at += rest.iter().position(is_end).unwrap_or(rest.len());
            }
            let Some(&byte) = bytes.get(at) else {
                return Some(at);
            };
            at += 1;
            match byte {
                b'\n' => return None,
                _ if self.is_escaped => self.is_escaped = false,
                b'"' => {
                    self.in_text = false;
                    return Some(at);
                }
                _ => self.is_escaped = true,
            }
        }
    }

    /// Whether a line that begins with this byte can belong to the value.
    fn goes_on_with(&mut self, byte: u8) -> bool {
        let is_value = matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
        match self.last {
            b'{' => matches!(byte, b'"' | b'}'),
            b'[' => is_value || byte == b']',
            b',' if self.lists.last() == Some(&true) => is_value,
            b',' => byte == b'"',
            b':' => {
                self.is_brace_in_doubt = byte == b'{';
                is_value
            }
            _ => matches!(byte, b',' | b':' | b'}' | b']'),
        }
    }
}

fn line_end(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len())
}

/// A field of a server-sent event, with its value. A comment is one without a name.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
    let (name, value) = line.split_at_checked(colon)?;
    let value = value.strip_prefix(b":").unwrap_or_default();
    matches!(name, b"" | b"id" | b"event" | b"data" | b"retry")
        .then(|| (name, value.strip_prefix(b" ").unwrap_or(value)))
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

    /// However the reads end.
    fn check(text: &str, expected: &[&str], is_cut: bool) {
        for size in [1, 2, 7, 1000] {
            let (pieces, cut_off) = cut(text, size);
            assert_eq!(
                (pieces.iter().map(String::as_str).collect::<Vec<_>>(), cut_off),
                (expected.to_vec(), is_cut),
                "{text} in parts of {size}"
            );
        }
    }

    #[test]
    fn values_are_cut_wherever_they_stand() {
        check("{\"a\":1}\r\n\n{\"b\":\"}\"}\n", &["{\"a\":1}", "{\"b\":\"}\"}"], false);
        check(
            "{\"a\":1}{\"b\":\"\\\"{\"} {\"c\":3}",
            &["{\"a\":1}", "{\"b\":\"\\\"{\"}", "{\"c\":3}"],
            false,
        );
        let pretty = "{\n\"events\": [\n{},\n{\n}\n]}";
        check(&format!("{pretty}\n{{\"b\":2}}"), &[pretty, "{\"b\":2}"], false);
        let page = "{\"events\":[\n{\"a\":1},\n{\"b\":2}\n],\"more\":false}";
        check(page, &[page], false);
        let braces_apart = "{\n\"session\" : \n{\n\"id\" : 1\n}\n}";
        check(braces_apart, &[braces_apart], false);
        check(
            "\u{feff}{\"a\":1}\n\u{feff}\u{feff}{\"b\":2}\n",
            &["{\"a\":1}", "{\"b\":2}"],
            false,
        );
        check("\0\0{\"a\":1}\n", &["{\"a\":1}"], false);
    }

    #[test]
    fn a_list_is_cut_into_what_stands_in_it() {
        check("[{\"a\":1},{\"b\":[2]}]", &["{\"a\":1}", "{\"b\":[2]}"], false);
        check(
            "\u{feff}[\n  {\"a\":1}\n,\n  {\"b\":2}\n]\n",
            &["{\"a\":1}", "{\"b\":2}"],
            false,
        );
        check("[ ]\n[{\"a\":1}][{\"b\":2}]", &["{\"a\":1}", "{\"b\":2}"], false);
        check("[{\"a\":1},{\"b\":", &["{\"a\":1}", "broken {\"b\":"], true);
        check("[{\"a\":1},", &["{\"a\":1}"], true);
        check("[INFO] begins\n{\"a\":1}", &["[INFO] begins", "{\"a\":1}"], false);
    }

    #[test]
    fn of_a_server_sent_event_its_data_counts() {
        check(
            "\u{feff}: hello\n\nid: 1\nevent: x\ndata: {\"a\":1}\n\n: hello\n\nretry: 5\n\ndata:2",
            &["{\"a\":1}", "2"],
            false,
        );
        check("data: {\r\ndata: \"a\":1}\r\n\r\ndata\r\n\r\n", &["{\n\"a\":1}"], false);
        check(
            "data: {\"a\n\ndata: {\"b\":2}\n\n",
            &["broken {\"a", "{\"b\":2}"],
            false,
        );
        check("data: {\"a\":1}\n\ndata: {\"b\"", &["{\"a\":1}", "broken {\"b\""], true);
    }

    #[test]
    fn a_broken_value_does_not_swallow_the_next() {
        for broken in [
            "{\"a\":",
            "{\"a\":1,",
            "{\"a\":1",
            "{\"a\":{\"b\":\"c",
            "{\"a\":[1",
            "{",
            "{\"a",
        ] {
            let expected = [&format!("broken {broken}"), "{\"b\":2}", "{\"c\":3}"];
            check(&format!("{broken}\n{{\"b\":2}}\n{{\"c\":3}}\n"), &expected, false);
        }
        check(
            "{\"a\":1\ndata: {\"b\":2}\n\n",
            &["broken {\"a\":1", "{\"b\":2}"],
            false,
        );
        check("ail\":1}\n{\"b\":2}\n", &["ail\":1}", "{\"b\":2}"], false);
    }

    #[test]
    fn a_stream_that_was_cut_off_says_so() {
        check("{\"a\":1}\n{\"b\":\"ha", &["{\"a\":1}", "broken {\"b\":\"ha"], true);
    }

    #[test]
    fn what_is_too_long_is_passed_over() {
        let long = format!("{{\"a\":\"{}\"}}\n{{\"b\":2}}\n", "x".repeat(PIECE_LIMIT));
        assert_eq!(
            cut(&long, 1 << 20),
            (vec![format!("too long {}", PIECE_LIMIT + 8), "{\"b\":2}".into()], false)
        );
    }
}
