//! Looking for bytes, eight at a time: a sandbox has no wider registers to count on.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Where `wanted` first stands.
pub(crate) fn find(bytes: &[u8], wanted: u8) -> Option<usize> {
    let at = first(
        bytes,
        |word| zero_bytes(word ^ (ONES * u64::from(wanted))),
        |byte| byte == wanted,
    );
    (at < bytes.len()).then_some(at)
}

/// How many bytes from the beginning on stand for themselves in a JSON string: up to a quote, a backslash or a control
/// character.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    first(
        bytes,
        |word| {
            let quotes = zero_bytes(word ^ (ONES * u64::from(b'"')));
            let backslashes = zero_bytes(word ^ (ONES * u64::from(b'\\')));
            let controls = word.wrapping_sub(ONES * 0x20) & !word;
            quotes | backslashes | controls
        },
        |byte| matches!(byte, b'"' | b'\\' | ..0x20),
    )
}

/// Where the first byte stands that `is_wanted` accepts, or the length. `wanted_bytes` sets the high bit of such bytes
/// of a word; in bytes above the first one it may be wrong.
fn first(bytes: &[u8], wanted_bytes: impl Fn(u64) -> u64, is_wanted: impl Fn(u8) -> bool) -> usize {
    let (words, rest) = bytes.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let wanted = wanted_bytes(u64::from_le_bytes(*word)) & HIGH_BITS;
        if wanted != 0 {
            return index * 8 + wanted.trailing_zeros() as usize / 8;
        }
    }
    let before = words.len() * 8;
    before + rest.iter().position(|&byte| is_wanted(byte)).unwrap_or(rest.len())
}

/// The high bit of each byte that is zero; the borrow can set more of them above the first one.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_judged_alike_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            let special = byte < 0x20 || byte == b'"' || byte == b'\\';
            for at in 0..20 {
                let mut bytes = [b'a'; 20];
                bytes[at] = byte;
                // What stands behind must not be taken for what stands before.
                for behind in [b'a', 0, 0xff] {
                    bytes[at + 1..].fill(behind);
                    let plain = plain_length(&bytes);
                    if special {
                        assert_eq!(plain, at, "{byte:#x} at {at}");
                    } else {
                        assert!(plain > at, "{byte:#x} at {at}");
                    }
                    if byte != b'a' {
                        assert_eq!(find(&bytes, byte), Some(at));
                    }
                }
            }
        }
        assert_eq!(find(b"", b'x'), None);
        assert_eq!(find(b"abcdefghij", b'x'), None);
        assert_eq!(plain_length("äöü€𝄞".as_bytes()), "äöü€𝄞".len());
    }
}
