//! Looking for the bytes that mean something in a JSON string, many at a time: quotes, backslashes and control
//! characters.

pub(super) use block::{BITS, BLOCK, special};

/// Whether a byte does not stand for itself in a JSON string.
pub(super) const fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | ..0x20)
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod block {
    /// How many bytes are judged together.
    pub(in crate::json) const BLOCK: usize = 8;
    /// How many bits of the judgement belong to a byte.
    pub(in crate::json) const BITS: usize = 8;

    const ONES: u64 = u64::from_ne_bytes([1; 8]);

    /// Sets the highest bit of each byte that is special; the first byte's bits are the lowest.
    pub(in crate::json) const fn special(block: &[u8; BLOCK]) -> u64 {
        let word = u64::from_le_bytes(*block);
        zero_bytes(word ^ (ONES * b'"' as u64))
            | zero_bytes(word ^ (ONES * b'\\' as u64))
            | zero_bytes(word & (ONES * 0xe0))
    }

    /// The highest bit of each byte that is zero.
    const fn zero_bytes(word: u64) -> u64 {
        let low_bits = ONES * 0x7f;
        !(((word & low_bits) + low_bits) | word | low_bits)
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod block {
    use core::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128_or};

    pub(in crate::json) const BLOCK: usize = 16;
    pub(in crate::json) const BITS: usize = 1;

    /// Sets the bit of each byte that is special; the first byte's is the lowest.
    #[inline]
    pub(in crate::json) fn special(block: &[u8; BLOCK]) -> u64 {
        let both = u128::from_le_bytes(*block);
        let bytes = u64x2(both as u64, (both >> 64) as u64);
        let quotes = u8x16_eq(bytes, u8x16_splat(b'"'));
        let backslashes = u8x16_eq(bytes, u8x16_splat(b'\\'));
        let controls = u8x16_lt(bytes, u8x16_splat(0x20));
        u8x16_bitmask(v128_or(v128_or(quotes, backslashes), controls)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_judged_alike_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for at in 0..BLOCK {
                for around in [b'a', b'"', 0, 0x7f, 0x80, 0xff] {
                    let mut block = [around; BLOCK];
                    block[at] = byte;
                    let marks = special(&block);
                    for (place, &byte) in block.iter().enumerate() {
                        let is_marked = marks >> (place * BITS + BITS - 1) & 1 == 1;
                        assert_eq!(is_marked, is_special(byte), "{byte:#x} at {place} in {block:?}");
                    }
                }
            }
        }
    }
}
