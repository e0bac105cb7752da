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

/// The exit code that the output of a command tells of, between `before` and `after`, in the last line that has it. An
/// agent that calls a command's call successful whatever the command did says so there only.
#[must_use]
pub fn exit_code(output: &str, before: &str, after: &str) -> Option<i64> {
    let code = |line: &str| {
        let (_, rest) = line.rsplit_once(before)?;
        rest.trim_end().strip_suffix(after)?.trim().parse().ok()
    };
    output.lines().rev().find_map(code)
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

    #[test]
    fn the_last_line_with_an_exit_code_counts() {
        let code = |output| exit_code(output, "<exited with exit code ", ">");
        assert_eq!(code("rm: no such file\n<exited with exit code 1>\n"), Some(1));
        assert_eq!(
            code("<exited with exit code 1>\r\n<exited with exit code 0>\r\n"),
            Some(0)
        );
        assert_eq!(code("<exited with exit code -15>"), Some(-15));
        assert_eq!(code("all is well"), None);
        assert_eq!(
            exit_code("Output: x\nExit Code: 2\nSignal: (none)", "Exit Code:", ""),
            Some(2)
        );
        assert_eq!(exit_code("Exit Code: (none)", "Exit Code:", ""), None);
    }
}
