//! Words that look random: long, of many different letters, and changing between small letters, capitals and digits as no
//! name does.

use super::Secret;

const KIND: &str = "random";

/// Shorter ones are too often something else.
const LEAST: usize = 24;

/// Bits a letter. Random letters and digits have 4.3 at the least length; words of a language have less.
const ENTROPY: f64 = 4.0;

/// Of neighbours in a random word more than a half are of different classes; in `camelCase` it is one in five.
const CHANGES: f64 = 0.42;

/// The words in a text that look random.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut secrets = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| !is_word_byte(byte)).unwrap_or(rest.len());
        if length >= LEAST && is_random(rest.get(..length).unwrap_or_default()) {
            secrets.push(Secret {
                start: at,
                end: at + length,
                kind: KIND,
            });
        }
        at += length.max(1);
    }
    secrets
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-' | b'=')
}

fn class(byte: u8) -> Option<usize> {
    match byte {
        b'a'..=b'z' => Some(0),
        b'A'..=b'Z' => Some(1),
        b'0'..=b'9' => Some(2),
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of letters in a word")]
fn is_random(word: &[u8]) -> bool {
    let mut counts = [0_u32; 256];
    let mut classes = [0_u32; 3];
    let mut changes = 0_u32;
    let mut before = None;
    for &byte in word {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
        let class = class(byte);
        if let Some(count) = class.and_then(|class| classes.get_mut(class)) {
            *count += 1;
        }
        if let (Some(class), Some(before)) = (class, before)
            && class != before
        {
            changes += 1;
        }
        before = class.or(before);
    }
    if classes.contains(&0) {
        return false;
    }
    let length = word.len() as f64;
    let entropy: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|&count| f64::from(count) / length)
        .map(|share| -share * share.log2())
        .sum();
    entropy >= ENTROPY && f64::from(changes) / (length - 1.0) >= CHANGES
}
