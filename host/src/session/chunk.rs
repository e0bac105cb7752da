//! Cutting a transcript into pieces, behind complete lines where one fits.

use std::io::{self, Read};

/// The pieces of what `source` holds, none longer than `max` bytes. Their bytes in order are those of the source.
pub struct Chunks<R> {
    source: R,
    max: usize,
    waiting: Vec<u8>,
    is_at_end: bool,
}

impl<R: Read> Chunks<R> {
    /// Cuts what `source` holds; a `max` of 0 is taken as 1.
    pub fn new(source: R, max: usize) -> Self {
        Self {
            source,
            max: max.max(1),
            waiting: vec![],
            is_at_end: false,
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        // One byte more than fits tells whether the piece is the last one.
        let wanted = self.max.saturating_add(1).saturating_sub(self.waiting.len());
        let came = self
            .source
            .by_ref()
            .take(wanted as u64)
            .read_to_end(&mut self.waiting)?;
        self.is_at_end = came < wanted;
        Ok(())
    }
}

impl<R: Read> Iterator for Chunks<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.is_at_end
            && let Err(error) = self.fill()
        {
            self.is_at_end = true;
            self.waiting.clear();
            return Some(Err(error));
        }
        if self.waiting.is_empty() {
            return None;
        }
        let rest = self.waiting.split_off(cut(&self.waiting, self.max));
        Some(Ok(std::mem::replace(&mut self.waiting, rest)))
    }
}

/// Where to cut: behind the last line that is whole within `max` bytes, else before the character that would be cut,
/// else at `max`.
fn cut(bytes: &[u8], max: usize) -> usize {
    let Some(head) = bytes.get(..max).filter(|head| head.len() < bytes.len()) else {
        return bytes.len();
    };
    if let Some(at) = head.iter().rposition(|&byte| byte == b'\n') {
        return at + 1;
    }
    let is_inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    // A character has at most four bytes: more continuation bytes in a row are no text.
    match (max.saturating_sub(3)..=max).rev().find(|&at| !is_inside(at)) {
        Some(at) if at > 0 => at,
        _ => max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(bytes: &[u8], max: usize) -> Vec<Vec<u8>> {
        Chunks::new(bytes, max).map(Result::unwrap).collect()
    }

    #[test]
    fn pieces_end_behind_lines() {
        assert_eq!(chunks(b"ab\ncd\nef", 6), [b"ab\ncd\n".to_vec(), b"ef".to_vec()]);
        assert_eq!(chunks(b"ab\ncd\nef", 5), [&b"ab\n"[..], b"cd\nef"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        assert_eq!(chunks("aäöü".as_bytes(), 4), ["aä".as_bytes(), "öü".as_bytes()]);
        assert_eq!(chunks("😀😀".as_bytes(), 6), ["😀".as_bytes(), "😀".as_bytes()]);
        assert_eq!(chunks("😀".as_bytes(), 3), [&b"\xf0\x9f\x98"[..], b"\x80"]);
    }

    #[test]
    fn nothing_gives_no_piece_and_a_small_source_one() {
        assert!(chunks(b"", 5).is_empty());
        assert_eq!(chunks(b"abc", 3), [b"abc"]);
        assert_eq!(chunks(b"abc", usize::MAX), [b"abc"]);
    }

    proptest::proptest! {
        #[test]
        fn the_pieces_are_the_whole_and_none_is_too_long(
            bytes in proptest::collection::vec(proptest::prop_oneof![
                proptest::prelude::any::<u8>(), proptest::prelude::Just(b'\n'), 0x80_u8..0xc0,
            ], 0..200),
            max in 1_usize..50,
        ) {
            let pieces = chunks(&bytes, max);
            proptest::prop_assert!(pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= max));
            proptest::prop_assert_eq!(pieces.concat(), bytes);
        }

        #[test]
        fn text_is_cut_between_characters(text in "(\\PC|\n){0,60}", max in 4_usize..30) {
            let pieces = chunks(text.as_bytes(), max);
            proptest::prop_assert!(pieces.iter().all(|piece| std::str::from_utf8(piece).is_ok()));
            proptest::prop_assert_eq!(pieces.concat(), text.as_bytes());
        }
    }
}
