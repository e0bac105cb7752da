//! Command lines that a person or a shell reads.

use std::borrow::Cow;

/// `word` as one word of a POSIX shell's command line; quoted only when it has to be.
#[must_use]
pub fn word(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+=,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_read_differently_is_quoted() {
        assert_eq!(word("ses_5f2a91c07ffe"), "ses_5f2a91c07ffe");
        assert_eq!(word(""), "''");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word("x; rm -rf $HOME"), "'x; rm -rf $HOME'");
        assert_eq!(word("it's"), r"'it'\''s'");
    }
}
