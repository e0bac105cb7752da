//! Reading command lines that somebody else will run: only well enough to see which programs they start.

/// A part of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// What separates one command from the next: `;`, `&&`, `|`, a line end, a bracket.
    Break,
}

/// How deep a script in a script in a script is followed.
const DEPTH: usize = 4;

/// The command line, and every quoted script in it, each as a row of tokens.
pub(super) fn scripts(command: &str) -> Vec<Vec<Token>> {
    let mut found = Vec::new();
    collect(command, DEPTH, &mut found);
    found
}

fn collect(command: &str, depth: usize, found: &mut Vec<Vec<Token>>) {
    let tokens = tokens(command);
    if depth > 0 {
        for token in &tokens {
            if let Token::Word(word) = token
                && word.contains(char::is_whitespace)
                && word != command
            {
                collect(word, depth - 1, found);
            }
        }
    }
    found.push(tokens);
}

/// Splits a command line as sh, cmd.exe and PowerShell would agree on: at white space outside of quotes, and at what
/// separates commands. A backslash escapes only a quote or a space, since it separates the parts of Windows paths.
pub(super) fn tokens(command: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = command.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            // Within single quotes sh knows no escapes.
            (None | Some('"'), '\\') => match characters.peek() {
                Some('"' | '\'' | '$' | '`') => word.get_or_insert_default().extend(characters.next()),
                Some(' ') if quote.is_none() => word.get_or_insert_default().extend(characters.next()),
                Some('\\') if quote == Some('"') => {
                    characters.next();
                    word.get_or_insert_default().push('\\');
                }
                _ => word.get_or_insert_default().push('\\'),
            },
            (Some(_), _) => word.get_or_insert_default().push(character),
            // A brace inside of a word belongs to it: `${HOME}/bin`.
            (None, '{' | '}') if word.is_some() => word.get_or_insert_default().push(character),
            // `2>&1`
            (None, '&') if word.as_ref().is_some_and(|word| word.ends_with('>')) => {
                word.get_or_insert_default().push('&');
            }
            (None, '\n' | ';' | '&' | '|' | '(' | ')' | '{' | '}' | '`') => {
                tokens.extend(word.take().map(Token::Word));
                if tokens.last() != Some(&Token::Break) {
                    tokens.push(Token::Break);
                }
            }
            (None, _) if character.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    tokens.extend(word.take().map(Token::Word));
    tokens
}

/// The last part of a path, with either separator, without `.exe` and the like.
pub(super) fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    match name.rsplit_once('.') {
        Some((stem, ending)) if is_program_ending(ending) => stem,
        _ => name,
    }
}

fn is_program_ending(ending: &str) -> bool {
    ["exe", "cmd", "bat", "ps1"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

/// The program that a command line is about: the first one that does more than to prepare or to test.
///
/// Behind an interpreter it is the script, behind a package runner the package.
pub(super) fn subject(command: &str) -> Option<String> {
    let mut rows = scripts(command);
    // Scripts inside come first: `sh -c '...'` is about what stands in the quotes.
    let outer = rows.pop().unwrap_or_default();
    let outer_subject = subject_of(&outer);
    let is_shell = outer_subject
        .as_deref()
        .is_some_and(|word| SHELLS.contains(&program_name(word)));
    if is_shell && let Some(inner) = rows.iter().find_map(|row| subject_of(row)) {
        return Some(inner);
    }
    outer_subject
}

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "fish", "cmd", "powershell", "pwsh"];
const PREPARING: &[&str] = &[
    "command",
    "type",
    "which",
    "where",
    "test",
    "[",
    "[[",
    "if",
    "then",
    "else",
    "fi",
    "exit",
    "true",
    "false",
    ":",
    "export",
    "set",
    "cd",
    "while",
    "do",
    "done",
    "return",
    "Get-Command",
    "Test-Path",
];
const PREFIXES: &[&str] = &["exec", "env", "nohup", "nice", "time", "sudo", "@", "!"];
const INTERPRETERS: &[&str] = &[
    "node",
    "python",
    "python3",
    "py",
    "ruby",
    "perl",
    "php",
    "bun",
    "deno",
    "tsx",
    "sh",
    "bash",
    "zsh",
    "dash",
    "pwsh",
    "powershell",
];
const RUNNERS: &[&str] = &["npx", "uvx", "pnpx", "bunx", "pipx"];

fn subject_of(tokens: &[Token]) -> Option<String> {
    tokens.split(|token| *token == Token::Break).find_map(|command| {
        let words: Vec<_> = command
            .iter()
            .filter_map(|token| match token {
                Token::Word(word) => Some(word.as_str()),
                Token::Break => None,
            })
            .collect();
        let words = match words.as_slice() {
            // cmd.exe's test and the command behind it are one row.
            ["if", "exist", _, rest @ ..] => rest,
            words => words,
        };
        let mut words = words
            .iter()
            .copied()
            .skip_while(|word| PREFIXES.contains(word) || is_assignment(word));
        let program = words.next()?;
        let name = program_name(program);
        if PREPARING.contains(&name) {
            return None;
        }
        let argument = words.find(|word| !word.starts_with('-') && !word.starts_with('/') || is_path(word));
        match argument {
            Some(script) if INTERPRETERS.contains(&name) && !script.contains(char::is_whitespace) => {
                Some(script.to_owned())
            }
            Some(package) if RUNNERS.contains(&name) => Some(package.to_owned()),
            _ => Some(program.to_owned()),
        }
    })
}

/// `/home/dev/x` and not a switch of cmd.exe.
fn is_path(word: &str) -> bool {
    word.len() > 2 && word.starts_with('/')
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || character == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        tokens(command)
            .into_iter()
            .map(|token| match token {
                Token::Word(word) => word,
                Token::Break => "<break>".to_owned(),
            })
            .collect()
    }

    #[test]
    fn words_end_at_white_space_outside_of_quotes() {
        assert_eq!(
            words(r#"a 'b c' "d \"e\"" f\ g ''"#),
            ["a", "b c", "d \"e\"", "f g", ""]
        );
        assert_eq!(words(r#""C:\My Tools\x.exe" hook"#), [r"C:\My Tools\x.exe", "hook"]);
        assert_eq!(words("a || b; c"), ["a", "<break>", "b", "<break>", "c"]);
        assert_eq!(words(r"'it'\''s'"), ["it's"]);
    }

    #[test]
    fn scripts_in_quotes_are_read_as_well() {
        let rows = scripts("sh -c 'exec \"/My Tools/x\" hook a'");
        let exec: Vec<_> = ["exec", "/My Tools/x", "hook", "a"]
            .map(|word| Token::Word(word.to_owned()))
            .to_vec();
        assert!(rows.contains(&exec), "{rows:?}");
    }

    #[test]
    fn the_subject_is_the_program_that_does_the_work() {
        for (command, expected) in [
            ("notify-send done", "notify-send"),
            ("FOO=1 exec /opt/x/guard --all", "/opt/x/guard"),
            ("sh guard.sh", "guard.sh"),
            ("python3 -u /home/dev/check.py", "/home/dev/check.py"),
            ("npx -y cavemem hook", "cavemem"),
            (
                "sh -c 'command -v entire >/dev/null 2>&1 || exit 0; exec entire hooks x y'",
                "entire",
            ),
            ("if exist \"C:\\a b\\x.exe\" \"C:\\a b\\x.exe\" hook", "C:\\a b\\x.exe"),
            ("cmd /d /c foo", "cmd"),
        ] {
            assert_eq!(subject(command).as_deref(), Some(expected), "{command}");
        }
    }
}
