//! Paths as text. An adapter works with paths of another machine, so `std::path` is of no use: separators are judged
//! by the path itself.

use std::borrow::Cow;

use crate::{Context, FileState, Pattern, Platform};

/// A path without `*`.
#[must_use]
pub fn literal(path: impl Into<String>) -> Pattern {
    Pattern {
        path: path.into(),
        linked: false,
    }
}

/// `rest`, one or more components with `/` between them, below `dir`, with the separator that `dir` uses.
#[must_use]
pub fn join(dir: &str, rest: &str) -> String {
    let trimmed = without_end(dir);
    if dir.contains('\\') && !dir.contains('/') {
        format!("{trimmed}\\{}", rest.replace('/', "\\"))
    } else {
        format!("{trimmed}/{rest}")
    }
}

/// The path without separators at its end.
#[must_use]
pub fn without_end(path: &str) -> &str {
    path.trim_end_matches(is_separator)
}

fn is_separator(letter: char) -> bool {
    matches!(letter, '/' | '\\')
}

/// The last component.
#[must_use]
pub fn file_name(path: &str) -> &str {
    without_end(path).rsplit(['/', '\\']).next().unwrap_or_default()
}

/// The last component without its last ending.
#[must_use]
pub fn file_stem(path: &str) -> &str {
    let name = file_name(path);
    match name.rfind('.') {
        Some(dot) if dot > 0 => name.get(..dot).unwrap_or(name),
        _ => name,
    }
}

/// Everything before the last component; empty when there is none.
#[must_use]
pub fn parent(path: &str) -> &str {
    let path = without_end(path);
    path.rfind(['/', '\\'])
        .and_then(|end| path.get(..end))
        .unwrap_or_default()
}

/// Whether the path begins at a root, in either family of systems.
#[must_use]
pub fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    matches!(bytes, [b'/' | b'\\', ..])
        || matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// A session ref as the agent gave it: `~` expanded, a `file://` URI turned into its path, made absolute against `cwd`;
/// empty means absent.
#[must_use]
pub fn session_ref(given: Option<&str>, cwd: Option<&str>, context: &Context) -> Option<String> {
    let given = given.filter(|path| !path.trim().is_empty())?;
    let expanded = expand_home(&of_uri(given), context);
    if is_absolute(&expanded) {
        return Some(expanded);
    }
    Some(match cwd.or(context.cwd.as_deref()) {
        Some(cwd) => below(&of_uri(cwd), &expanded),
        None => expanded,
    })
}

/// `rest` below `dir`, or beside or above it: no `.` and `..` is left at the beginning, which session refs may not hold.
fn below(dir: &str, rest: &str) -> String {
    let (mut dir, mut rest) = (dir, rest);
    loop {
        let step = |name| rest.strip_prefix(name)?.strip_prefix(['/', '\\']);
        if let Some(after) = step("..") {
            (dir, rest) = (parent(dir), after);
        } else if let Some(after) = step(".") {
            rest = after;
        } else {
            return join(dir, rest);
        }
    }
}

/// Whether an id may be used as a file's name: 1 to 128 characters of `[A-Za-z0-9._-]`, no dot in front.
#[must_use]
pub fn is_plain_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=128).contains(&id.len()) && !id.starts_with('.') && id.bytes().all(plain)
}

/// The directory for the snapshots of an adapter; see the contract's `context.snapshots`.
#[must_use]
pub fn snapshot_dir<A: crate::Adapter>(context: &Context) -> Option<String> {
    let all = context.snapshots.as_deref()?;
    Some(join(all, A::MANIFEST.name))
}

/// A leading `~` replaced by the home directory.
#[must_use]
pub fn expand_home(path: &str, context: &Context) -> String {
    match (path.strip_prefix('~'), context.home.as_deref()) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with(['/', '\\']) => {
            format!("{}{rest}", without_end(home))
        }
        _ => path.to_owned(),
    }
}

/// The directory named by the variable, else `below_home` in the user's home directory.
#[must_use]
pub fn configured_dir(context: &Context, variable: &str, below_home: &str) -> Option<String> {
    match crate::env(context, variable) {
        Some(dir) => Some(expand_home(dir, context)),
        None => context.home.as_deref().map(|home| join(home, below_home)),
    }
}

/// The path in a `file://` URI, percent signs decoded and without the slash before a drive; any other text as it is.
#[must_use]
pub fn of_uri(text: &str) -> Cow<'_, str> {
    let Some(rest) = text.strip_prefix("file://") else {
        return Cow::Borrowed(text);
    };
    let path = match rest.find('/') {
        None => return Cow::Borrowed(text),
        Some(0) => rest.to_owned(),
        Some(slash) if rest.starts_with("localhost/") => rest.get(slash..).unwrap_or_default().to_owned(),
        // Another host's name is that of a Windows share.
        Some(_) => format!("//{rest}"),
    };
    let decoded = percent_decoded(&path);
    Cow::Owned(match decoded.as_bytes() {
        [b'/', letter, b':', ..] if letter.is_ascii_alphabetic() => decoded.get(1..).unwrap_or_default().to_owned(),
        _ => decoded,
    })
}

/// `%20` and its like replaced by the byte that they stand for; what is no such escape stays.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        match rest {
            [] => break,
            [b'%', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default();
                bytes.push(u8::try_from(digit(*high) * 16 + digit(*low)).unwrap_or_default());
                rest = after;
            }
            [byte, after @ ..] => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Without the `\\?\` that Windows programs put before a path to have it taken literally: it names the same file.
#[must_use]
pub fn plain(path: &str) -> Cow<'_, str> {
    match path.strip_prefix(r"\\?\") {
        Some(rest) => match rest.strip_prefix(r"UNC\") {
            Some(share) => Cow::Owned(format!(r"\\{share}")),
            None => Cow::Borrowed(rest),
        },
        None => Cow::Borrowed(path),
    }
}

/// Every character outside `[A-Za-z0-9]` replaced by `-`, none squeezed; a separator at the end is no part of the
/// name. Characters are counted as JavaScript does, in
/// which the agents that name directories so are written: one beyond U+FFFF counts twice.
#[must_use]
pub fn dashed(path: &str) -> String {
    let mut name = String::with_capacity(path.len());
    let path = match without_end(path) {
        "" => path,
        trimmed => trimmed,
    };
    for character in path.chars() {
        if character.is_ascii_alphanumeric() {
            name.push(character);
        } else {
            name.push_str(if character.len_utf16() == 2 { "--" } else { "-" });
        }
    }
    name
}

/// A file that the manifest asked for, by its absolute path.
///
/// The way to look for one means first computing where the agent keeps it ([`configured_dir`]): that way the places
/// that do not apply, such as the usual one while a variable names another, are passed over.
#[must_use]
pub fn wanted_file<'a>(context: &'a Context, path: &str) -> Option<&'a FileState> {
    context
        .files
        .iter()
        .find(|file| file.path == path)
        .map(|file| &file.state)
}

/// The text of a file that the manifest asked for, by its absolute path; bytes that are not UTF-8 are replaced.
#[must_use]
pub fn wanted_text<'a>(context: &'a Context, path: &str) -> Option<Cow<'a, str>> {
    match wanted_file(context, path)? {
        FileState::Content(bytes) => Some(String::from_utf8_lossy(bytes)),
        FileState::Missing | FileState::Directory | FileState::Unreadable(_) => None,
    }
}

/// Whether the host runs on Windows.
#[must_use]
pub fn is_windows(context: &Context) -> bool {
    context.platform == Platform::Windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_windows_path_is_the_same_as_the_plain_one() {
        assert_eq!(plain(r"\\?\C:\Users\x"), r"C:\Users\x");
        assert_eq!(plain(r"\\?\UNC\server\share\x"), r"\\server\share\x");
        assert_eq!(plain(r"\\server\share"), r"\\server\share");
        assert_eq!(plain("/home/dev"), "/home/dev");
    }

    #[test]
    fn file_uris_become_paths() {
        assert_eq!(
            of_uri("file:///home/dev/a%20b/caf%C3%A9.rs"),
            "/home/dev/a b/caf\u{e9}.rs"
        );
        assert_eq!(of_uri("file:///c%3A/Users/dev/x.ts"), "c:/Users/dev/x.ts");
        assert_eq!(of_uri("file://localhost/etc/hosts"), "/etc/hosts");
        assert_eq!(of_uri("file://server/share/100%.txt"), "//server/share/100%.txt");
        assert_eq!(of_uri("/plain/a%20b"), "/plain/a%20b");
    }

    #[test]
    fn a_session_ref_is_an_absolute_path_however_it_is_written() {
        let context = crate::testing::context();
        let found = |given, cwd| session_ref(Some(given), cwd, &context);
        for (given, cwd, expected) in [
            ("file:///s/a%20b.jsonl", None, "/s/a b.jsonl"),
            ("file:///c%3A/Users/dev/t.jsonl", Some("/w"), "c:/Users/dev/t.jsonl"),
            ("~/t.jsonl", None, "/home/dev/t.jsonl"),
            ("t.jsonl", Some("file:///w%20w"), "/w w/t.jsonl"),
            ("./t.jsonl", Some("/w"), "/w/t.jsonl"),
            ("../.././t/..t.jsonl", Some("/a/b/c"), "/a/t/..t.jsonl"),
            (r"..\t.jsonl", Some(r"C:\a\b"), r"C:\a\t.jsonl"),
            (r"C:\t.jsonl", Some("/w"), r"C:\t.jsonl"),
        ] {
            assert_eq!(found(given, cwd).as_deref(), Some(expected), "{given}");
        }
        assert_eq!(found("", None), None);
        assert_eq!(found(" ", Some("/w")), None);
    }

    #[test]
    fn paths_of_both_families_are_understood() {
        assert_eq!(file_stem(r"C:\Users\x\a.b.jsonl"), "a.b");
        assert_eq!(file_stem("/home/dev/.hidden"), ".hidden");
        assert_eq!(parent("/a/b/"), "/a");
        assert_eq!(join(r"C:\Users", "x/y"), r"C:\Users\x\y");
        assert_eq!(join("/a/", "x/y"), "/a/x/y");
        assert!(is_absolute(r"C:\x") && is_absolute("/x") && !is_absolute("x/y") && !is_absolute("C:x"));
        assert!(is_plain_id("ses_5f-2.a") && !is_plain_id("") && !is_plain_id(".a") && !is_plain_id("a/b"));
        assert!(is_plain_id(&"a".repeat(128)) && !is_plain_id(&"a".repeat(129)));
        assert_eq!(dashed("/home/dev/My App/caf\u{e9}_v1.2"), "-home-dev-My-App-caf--v1-2");
        assert_eq!(dashed("a\u{1f600}"), "a--");
        assert_eq!(dashed("/home/dev/x/"), "-home-dev-x");
        assert_eq!(dashed("/"), "-");
    }
}
