//! One pass over JSON text.

use std::borrow::Cow;
use std::fmt;

use super::Json;
use super::bytes::{BITS, BLOCK, is_special, special};

/// A place in JSON text that only moves forward: each value is read, entered or passed over once.
///
/// For readers of large transcripts. What is asked for and is of another type is passed over, so that a field of the
/// wrong type is as good as absent.
///
/// ```
/// use hookhost_sdk::json::Cursor;
///
/// let mut cursor = Cursor::new(r#"{"type":"user","message":{"id":"m","content":["a",1]}}"#);
/// let (mut id, mut texts) = (None, 0);
/// cursor.object(|key, cursor| match &*key {
///     "message" => cursor.object(|key, cursor| match &*key {
///         "id" => Ok(id = cursor.text()?),
///         "content" => cursor.list(|cursor| Ok(texts += usize::from(cursor.text()?.is_some()))),
///         _ => Ok(()),
///     }),
///     _ => Ok(()),
/// })?;
/// cursor.end()?;
/// assert_eq!((id.as_deref(), texts), (Some("m"), 1));
/// # Ok::<(), hookhost_sdk::json::Broken>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// What is wrong with a text, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    what: &'static str,
    at: usize,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.what)?;
        formatter.write_str(" at byte ")?;
        fmt::Display::fmt(&self.at, formatter)
    }
}

impl std::error::Error for Broken {}

impl From<Broken> for String {
    fn from(broken: Broken) -> Self {
        broken.to_string()
    }
}

impl<'a> Cursor<'a> {
    /// At the beginning of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Reads an object: `field` is given each key with the cursor at its value, and may leave the value where it is.
    /// Anything but an object is passed over.
    ///
    /// # Errors
    /// When the text is not JSON, or what `field` gives back.
    pub fn object(
        &mut self,
        mut field: impl FnMut(Cow<'a, str>, &mut Self) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        if self.peek() != Some(b'{') {
            return self.skip();
        }
        self.at += 1;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.key()?;
            let before = self.at;
            field(key, self)?;
            if self.at == before {
                self.skip()?;
            }
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.broken("`,` or `}` is missing")),
            }
        }
    }

    /// Reads a list: `item` is called with the cursor at each element, and may leave it where it is. Anything but a
    /// list is passed over.
    ///
    /// # Errors
    /// When the text is not JSON, or what `item` gives back.
    pub fn list(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), Broken>) -> Result<(), Broken> {
        if self.peek() != Some(b'[') {
            return self.skip();
        }
        self.at += 1;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.peek();
            let before = self.at;
            item(self)?;
            if self.at == before {
                self.skip()?;
            }
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.broken("`,` or `]` is missing")),
            }
        }
    }

    /// The text of a string; anything else is passed over.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn text(&mut self) -> Result<Option<Cow<'a, str>>, Broken> {
        if self.peek() != Some(b'"') {
            self.skip()?;
            return Ok(None);
        }
        self.string().map(Some)
    }

    /// A number that is not negative, as [`Json::count`].
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn count(&mut self) -> Result<Option<u64>, Broken> {
        Ok(self.value()?.count())
    }

    /// `true` or not; anything but `true` is `false`.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn flag(&mut self) -> Result<bool, Broken> {
        Ok(self.value()?.flag() == Some(true))
    }

    /// A value, whatever it is.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn value(&mut self) -> Result<Json<'a>, Broken> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(Json(self.text.get(start..self.at).unwrap_or_default()))
    }

    /// The next byte that is not white space; the cursor is at it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        // Programs write JSON without any.
        match self.byte() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.peek_far(),
        }
    }

    #[cold]
    fn peek_far(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// Makes sure that nothing follows.
    ///
    /// # Errors
    /// When something does.
    pub fn end(&mut self) -> Result<(), Broken> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.broken("something follows the value")),
        }
    }

    /// Passes a value over. Does not call itself: depth is no obstacle.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn skip(&mut self) -> Result<(), Broken> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    self.string_end()?;
                }
                Some(b'{') => {
                    self.at += 1;
                    if self.peek() != Some(b'}') {
                        self.key_end()?;
                        open.push(true);
                        continue;
                    }
                    self.at += 1;
                }
                Some(b'[') => {
                    self.at += 1;
                    if self.peek() != Some(b']') {
                        open.push(false);
                        continue;
                    }
                    self.at += 1;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                _ => return Err(self.broken("a value is missing")),
            }
            // Behind a value: out of all that ends here, to the next one.
            loop {
                let Some(is_object) = open.last() else { return Ok(()) };
                match (self.peek(), is_object) {
                    (Some(b','), _) => {
                        self.at += 1;
                        if is_object {
                            self.key_end()?;
                        }
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return Err(self.broken("`,` or a closing bracket is missing")),
                }
            }
        }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn broken(&self, what: &'static str) -> Broken {
        let what = if self.at < self.text.len() {
            what
        } else {
            "the text ends in the middle"
        };
        Broken { what, at: self.at }
    }

    /// A key and its colon; the cursor is at the value.
    fn key(&mut self) -> Result<Cow<'a, str>, Broken> {
        if self.peek() != Some(b'"') {
            return Err(self.broken("a key is missing"));
        }
        let key = self.string()?;
        self.colon()?;
        Ok(key)
    }

    fn key_end(&mut self) -> Result<(), Broken> {
        if self.peek() != Some(b'"') {
            return Err(self.broken("a key is missing"));
        }
        self.at += 1;
        self.string_end()?;
        self.colon()
    }

    #[inline]
    fn colon(&mut self) -> Result<(), Broken> {
        if self.peek() != Some(b':') {
            return Err(self.broken("`:` is missing"));
        }
        self.at += 1;
        self.peek();
        Ok(())
    }

    /// The string that begins here.
    fn string(&mut self) -> Result<Cow<'a, str>, Broken> {
        self.at += 1;
        let start = self.at;
        if let Some(length) = self.short_string() {
            self.at += length + 1;
            return Ok(Cow::Borrowed(self.text.get(start..start + length).unwrap_or_default()));
        }
        self.far_string()
    }

    #[inline(never)]
    fn far_string(&mut self) -> Result<Cow<'a, str>, Broken> {
        let start = self.at;
        let escaped = self.far_string_end()?;
        let inner = self.text.get(start..self.at - 1).unwrap_or_default();
        Ok(if escaped {
            Cow::Owned(unescaped(inner))
        } else {
            Cow::Borrowed(inner)
        })
    }

    /// The length of a string whose first byte is here, if it ends in the first block and has no escapes: as most keys
    /// and many values do.
    #[inline(always)]
    fn short_string(&self) -> Option<usize> {
        let block = self.text.as_bytes().get(self.at..)?.first_chunk::<BLOCK>()?;
        let place = special(block).trailing_zeros() as usize / BITS;
        (block.get(place) == Some(&b'"')).then_some(place)
    }

    /// From behind the opening quote to behind the closing one.
    fn string_end(&mut self) -> Result<(), Broken> {
        match self.short_string() {
            Some(length) => self.at += length + 1,
            None => {
                self.far_string_end()?;
            }
        }
        Ok(())
    }

    /// The same, of any string. Whether there are escapes in between.
    #[inline(never)]
    fn far_string_end(&mut self) -> Result<bool, Broken> {
        // Most of a transcript is read by this loop: it keeps its place in a register, and judges a byte once.
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        let mut escaped = false;
        while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
            let mut marks = special(block);
            let mut next = at + BLOCK;
            while marks != 0 {
                let place = marks.trailing_zeros() as usize / BITS;
                if block.get(place) == Some(&b'"') {
                    self.at = at + place + 1;
                    return Ok(escaped);
                }
                let Some(length) = escape_length(bytes.get(at + place..).unwrap_or_default()) else {
                    return Err(self.broken_escape(at + place));
                };
                escaped = true;
                let behind = place + length;
                if behind >= BLOCK {
                    next = at + behind;
                    break;
                }
                marks &= u64::MAX << (behind * BITS);
            }
            at = next;
        }
        while let Some(&byte) = bytes.get(at) {
            if byte == b'"' {
                self.at = at + 1;
                return Ok(escaped);
            }
            if is_special(byte) {
                let Some(length) = escape_length(bytes.get(at..).unwrap_or_default()) else {
                    return Err(self.broken_escape(at));
                };
                at += length;
                escaped = true;
            } else {
                at += 1;
            }
        }
        self.at = at;
        Err(self.broken("a string does not end"))
    }

    /// What is wrong where an escape should stand.
    #[cold]
    fn broken_escape(&mut self, at: usize) -> Broken {
        let bytes = self.text.as_bytes();
        self.at = at;
        if bytes.get(at) != Some(&b'\\') {
            return self.broken("a control character in a string");
        }
        self.at += 1;
        if bytes.get(at + 1) != Some(&b'u') {
            return self.broken("there is no such escape");
        }
        let digits = bytes.get(at + 2..).unwrap_or_default().iter().take(4);
        self.at += 1 + digits.take_while(|byte| byte.is_ascii_hexdigit()).count();
        self.broken("an escape is not whole")
    }

    fn number(&mut self) -> Result<(), Broken> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Broken> {
        let before = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == before {
            return Err(self.broken("a digit is missing"));
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Broken> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.broken("a value is missing"));
        }
        self.at += word.len();
        Ok(())
    }
}

/// The length of the escape that the text begins with. `None`: it begins with none.
#[inline]
fn escape_length(text: &[u8]) -> Option<usize> {
    // A table: a branch for each letter is one that processors guess wrong.
    #[allow(
        clippy::indexing_slicing,
        reason = "evaluated when the adapter is compiled; a wrong index stops the build"
    )]
    const LENGTHS: [u8; 256] = {
        let mut lengths = [0; 256];
        let letters = br#""\/bfnrt"#;
        let mut at = 0;
        while at < letters.len() {
            lengths[letters[at] as usize] = 2;
            at += 1;
        }
        lengths
    };
    let [b'\\', letter, rest @ ..] = text else {
        return None;
    };
    match LENGTHS.get(usize::from(*letter)) {
        Some(&length) if length > 0 => Some(length.into()),
        _ if *letter == b'u' => {
            let is_whole = rest.get(..4)?.iter().all(u8::is_ascii_hexdigit);
            is_whole.then_some(6)
        }
        _ => None,
    }
}

/// The objects and lists that are open, a bit each; the innermost is the lowest bit of `inner`.
#[derive(Default)]
struct Open {
    inner: u64,
    depth: u32,
    outer: Vec<u64>,
}

impl Open {
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(u64::BITS) {
            self.outer.push(self.inner);
        }
        self.inner = self.inner << 1 | u64::from(is_object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.inner >>= 1;
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 && self.depth.is_multiple_of(u64::BITS) {
            self.inner = self.outer.pop().unwrap_or_default();
        }
    }

    /// Whether the innermost is an object.
    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.inner & 1 == 1)
    }
}

/// The text that a string stands for whose form has been checked. Lone surrogates become U+FFFD.
fn unescaped(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        text.push_str(plain);
        let mut characters = escaped.chars();
        let (character, length) = match characters.next() {
            Some('u') => unicode(escaped),
            Some('b') => ('\u{8}', 1),
            Some('f') => ('\u{c}', 1),
            Some('n') => ('\n', 1),
            Some('r') => ('\r', 1),
            Some('t') => ('\t', 1),
            Some(other) => (other, other.len_utf8()),
            None => break,
        };
        text.push(character);
        rest = escaped.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// The character of `uXXXX` or `uXXXX\uXXXX`, and the length of that.
fn unicode(escaped: &str) -> (char, usize) {
    let unit = |text: Option<&str>| text.and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let first = unit(escaped.get(1..5)).unwrap_or(0xfffd);
    if let 0xd800..0xdc00 = first
        && escaped.get(5..7) == Some("\\u")
        && let Some(second @ 0xdc00..0xe000) = unit(escaped.get(7..11))
    {
        let both = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER), 11);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 5)
}
