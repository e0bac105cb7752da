//! Deletions by a plain shell command.

/// The paths that a command line deletes: a single `rm`, `git rm`, `unlink`, `del` or `Remove-Item` with literal paths.
/// Anything else (pipes, lists, globs, variables, substitutions, directories as a whole) gives none: what it did is for
/// the repository's status to tell.
pub(crate) fn deletions(command: &str) -> Vec<String> {
    let Some(words) = words(command) else { return vec![] };
    let mut words = words.into_iter();
    let Some(program) = words.next() else { return vec![] };
    let name = program
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match name.as_str() {
        "rm" | "unlink" => paths(words, |flag| !is_recursive(flag)),
        "git" if words.next().as_deref() == Some("rm") => {
            paths(words, |flag| flag != "--cached" && !is_recursive(flag))
        }
        "del" | "erase" => paths(words.filter(|word| !is_switch(word)), |_| true),
        "remove-item" | "ri" => {
            // -Path and -LiteralPath stand before a path that is then taken as any other.
            paths(words, |flag| {
                !flag.eq_ignore_ascii_case("-recurse") && !flag.contains(':')
            })
        }
        _ => vec![],
    }
}

fn is_recursive(flag: &str) -> bool {
    flag == "--recursive" || (!flag.starts_with("--") && flag.contains(['r', 'R']))
}

/// `/q`, `/f`: a switch of cmd.exe, not a path.
fn is_switch(word: &str) -> bool {
    matches!(word.as_bytes(), [b'/', letter] if letter.is_ascii_alphabetic())
}

fn paths(words: impl Iterator<Item = String>, allows: impl Fn(&str) -> bool) -> Vec<String> {
    let mut paths = vec![];
    let mut flags_ended = false;
    for word in words {
        if !flags_ended && word == "--" {
            flags_ended = true;
        } else if !flags_ended && word.starts_with('-') && word.len() > 1 {
            if !allows(&word) {
                return vec![];
            }
        } else {
            paths.push(word);
        }
    }
    paths
}

/// The words of a command line without anything that a shell would act on; `None` when there is such a thing.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    // A backslash escapes only in front of these; in a Windows path it is a separator.
    let mut characters = command.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some('"'), '$' | '`') => return None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, '\\') => match characters.peek() {
                Some(' ' | '\'' | '"' | '(' | ')' | '[' | ']' | '&' | '$' | '\\') => {
                    word.get_or_insert_default().extend(characters.next());
                }
                _ => word.get_or_insert_default().push('\\'),
            },
            (
                None,
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' | '{' | '#' | '!' | '\n' | '\r',
            ) => {
                return None;
            }
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return None;
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_deletions_are_read() {
        for (command, expected) in [
            ("rm docs/notes.md", vec!["docs/notes.md"]),
            ("rm -f -- a 'b c' \"d e\" -f", vec!["a", "b c", "d e", "-f"]),
            ("/bin/rm a\\ b", vec!["a b"]),
            ("git rm -q src/x.rs", vec!["src/x.rs"]),
            ("unlink x", vec!["x"]),
            (r"del /q C:\repo\a.txt", vec![r"C:\repo\a.txt"]),
            ("Remove-Item -LiteralPath a.txt -Force", vec!["a.txt"]),
        ] {
            assert_eq!(deletions(command), expected, "{command}");
        }
    }

    #[test]
    fn anything_that_needs_a_shell_gives_none() {
        for command in [
            "rm a && echo done",
            "rm *.md",
            "rm $FILE",
            "rm \"$FILE\"",
            "ls | xargs rm",
            "rm -rf build",
            "rm `cat list`",
            "git rm --cached a",
            "git status",
            "echo rm a",
            "sudo rm a",
            "rm 'a",
            "rm a\nrm b",
            "Remove-Item -Recurse dir",
            "",
        ] {
            assert_eq!(deletions(command), Vec::<String>::new(), "{command}");
        }
    }
}
