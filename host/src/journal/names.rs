//! Names of folders and files from words that come from outside.

use std::borrow::Cow;

use uuid::Uuid;

/// Longer ones are encoded: with `.jsonl` behind it a name must stay below what file systems take.
const PLAIN_LIMIT: usize = 128;

/// What an encoded name may have before its rest is replaced by a digest.
const ENCODED_LIMIT: usize = 200;

/// How a file system name begins that is not the word itself. No plain word contains it.
const MARK: char = '%';

/// What stands before the digest of a word that was too long.
const DIGEST: &str = "%~";

/// Names that Windows keeps for devices, whatever follows behind a dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The name that stands for `word` in the file system: the word itself where it is harmless, else `%` and the word
/// with every byte outside of `[A-Za-z0-9_-]` as `%XX`. The empty word is `%`. Very long words end in a digest; the
/// word itself then stands in the records only.
#[must_use]
pub fn encode(word: &str) -> Cow<'_, str> {
    if is_plain(word) {
        return Cow::Borrowed(word);
    }
    let mut name = String::from(MARK);
    for byte in word.bytes() {
        // The first byte of a device's name is what makes it a harmless one.
        let is_first = name.len() == MARK.len_utf8();
        if is_unreserved(byte) && !(is_first && is_device(word)) {
            name.push(char::from(byte));
        } else {
            name.push(MARK);
            name.push_str(&format!("{byte:02X}"));
        }
    }
    if name.len() > ENCODED_LIMIT {
        let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, word.as_bytes());
        name.truncate(PLAIN_LIMIT);
        name.push_str(DIGEST);
        name.push_str(&digest.simple().to_string());
    }
    Cow::Owned(name)
}

/// The word that a name stands for. `None`: it was too long, or this is no name of ours.
#[must_use]
pub fn decode(name: &str) -> Option<String> {
    let Some(encoded) = name.strip_prefix(MARK) else {
        return is_plain(name).then(|| name.to_owned());
    };
    if encoded.contains(DIGEST) {
        return None;
    }
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte == MARK as u8 {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let word = String::from_utf8(bytes).ok()?;
    (encode(&word) == name).then_some(word)
}

fn is_plain(word: &str) -> bool {
    (1..=PLAIN_LIMIT).contains(&word.len())
        && !word.starts_with('.')
        && word.bytes().all(|byte| is_unreserved(byte) || byte == b'.')
        && !is_device(word)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether Windows takes the word for a device: then a file of that name cannot be made there.
fn is_device(word: &str) -> bool {
    let stem = word.split('.').next().unwrap_or_default().to_ascii_lowercase();
    if DEVICES.contains(&stem.as_str()) {
        return true;
    }
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    port.is_some_and(|number| number.len() == 1 && number.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_ids_are_file_names_as_they_are() {
        for id in [
            "a",
            "0193f2c4-7d1e-7a30-9c1b-2f64a8d01c11",
            "ses_01ABC",
            "a.b-c_d",
            "trailing.",
        ] {
            assert_eq!(encode(id), id);
            assert_eq!(decode(id).as_deref(), Some(id));
        }
        let longest = "x".repeat(128);
        assert_eq!(encode(&longest), longest);
    }

    #[test]
    fn other_ids_are_encoded_and_come_back() {
        for (id, name) in [
            ("", "%"),
            (".", "%%2E"),
            ("..", "%%2E%2E"),
            ("../../etc/passwd", "%%2E%2E%2F%2E%2E%2Fetc%2Fpasswd"),
            ("a/b", "%a%2Fb"),
            ("a\\b", "%a%5Cb"),
            ("a b", "%a%20b"),
            ("50%", "%50%25"),
            ("é", "%%C3%A9"),
            ("a\0b", "%a%00b"),
            ("NUL", "%%4EUL"),
            ("com1.x", "%%63om1%2Ex"),
        ] {
            assert_eq!(encode(id), name);
            assert_eq!(decode(name).as_deref(), Some(id));
        }
    }

    #[test]
    fn two_ids_never_share_a_name() {
        let (long, longer) = ("y".repeat(129), "y".repeat(130));
        let names = ["a/b", "a%2Fb", "%a%2Fb", "a.b", ".ab", "", "%", &long, &longer].map(encode);
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name} stands for two ids");
        }
    }

    #[test]
    fn very_long_ids_become_names_that_file_systems_take() {
        let (first, second) = ("/".repeat(5000), format!("{}x", "/".repeat(4999)));
        let (one, other) = (encode(&first), encode(&second));
        assert_ne!(one, other);
        assert!(one.len() <= ENCODED_LIMIT && other.len() <= ENCODED_LIMIT);
        assert_eq!(decode(&one), None);
    }

    #[test]
    fn a_word_between_the_two_limits_comes_back() {
        let word = "z".repeat(150);
        assert_eq!(decode(&encode(&word)), Some(word));
    }

    #[test]
    fn a_name_that_is_none_of_ours_stands_for_nothing() {
        for name in ["%4", "%%zz", ".hidden", "a b", "%%FF"] {
            assert_eq!(decode(name), None, "{name}");
        }
    }
}
