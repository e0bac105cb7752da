//! Session refs: what names a transcript, and what may not.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A session ref that keeps the protocol's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionRef {
    /// An absolute path without `.` and `..`.
    Path(PathBuf),
    /// The agent's own key, cleaned: relative, and inside of its base.
    Key(String),
}

impl SessionRef {
    /// Tells paths from keys.
    ///
    /// # Errors
    /// It is empty, a path with `.` or `..` in it, or a key that is rooted or leaves its base.
    pub fn parse(text: &str) -> Result<Self> {
        let refused = |why: &str| Err(Error::input(format!("the session ref {text:?} {why}")));
        if text.is_empty() {
            return refused("is empty");
        }
        if text.contains('\0') {
            return refused("has a NUL in it");
        }
        if Path::new(text).is_absolute() {
            return if parts(text).any(|part| part == "." || part == "..") {
                refused("is a path with `.` or `..` in it")
            } else {
                Ok(Self::Path(PathBuf::from(text)))
            };
        }
        if is_rooted(text) {
            return refused("is rooted and not an absolute path of this system");
        }
        match cleaned(text) {
            Some(key) if key.is_empty() => refused("names its base"),
            Some(key) => Ok(Self::Key(key)),
            None => refused("leaves its base"),
        }
    }
}

/// A session ref without what stands for something else: `~` for the home directory, `file://` for a path.
#[must_use]
pub fn spelled_out<'a>(text: &'a str, home: Option<&str>) -> Cow<'a, str> {
    if let Some(path) = text.strip_prefix("file://") {
        // The name of this machine may stand before the path.
        let path = path.strip_prefix("localhost").unwrap_or(path);
        let has_drive = matches!(path.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
        let path = if has_drive {
            path.get(1..)
        } else {
            path.starts_with('/').then_some(path)
        };
        return path.and_then(decoded).map_or(Cow::Borrowed(text), Cow::Owned);
    }
    match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            Cow::Owned(format!("{}{rest}", home.trim_end_matches(['/', '\\'])))
        }
        _ => Cow::Borrowed(text),
    }
}

/// A URL's path with the characters that `%` and two digits stand for. `None`: it is no text.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut parts = path.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Whether an id can stand in a file's name as it is.
///
/// # Errors
/// It is blank, has a path part, or holds what patterns take for a wildcard.
pub fn check_id(id: &str) -> Result<()> {
    let is_bad = id.trim().is_empty() || id == "." || id == ".." || id.contains(['/', '\\', '\0', '*']);
    if is_bad {
        return Err(Error::input(format!("the session id {id:?} cannot name a file")));
    }
    Ok(())
}

/// The path with its links resolved, when it lies inside of `directory`, resolved as well. What does not exist yet
/// resolves to where it would be made.
///
/// # Errors
/// It lies outside, or the links go round in circles.
pub fn inside(path: &Path, directory: &Path) -> Result<PathBuf> {
    let real = resolved(path)?;
    let base = resolved(directory)?;
    if real == base || !real.starts_with(&base) {
        return Err(Error::input(format!(
            "{} is not inside of the directory of this repository's sessions, {}",
            path.display(),
            directory.display()
        )));
    }
    Ok(real)
}

/// The path with its links resolved, also the links of a file that does not exist.
///
/// # Errors
/// The links go round in circles, or cannot be read.
pub fn resolved(path: &Path) -> Result<PathBuf> {
    let cannot = |error| Error::system(format!("cannot resolve {}", path.display()), error);
    let mut missing: Vec<std::ffi::OsString> = vec![];
    let mut existing = path.to_owned();
    // As many links as Linux follows.
    let mut links = 0;
    loop {
        let error = match std::fs::canonicalize(&existing) {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Ok(real);
            }
            Err(error) => error,
        };
        if error.kind() != std::io::ErrorKind::NotFound || links > 40 {
            return Err(cannot(error));
        }
        let parent = existing.parent().map(Path::to_owned);
        match (std::fs::read_link(&existing), parent) {
            // A link to nothing: what is written through it is made where it points to.
            (Ok(target), Some(parent)) => {
                existing = parent.join(target);
                links += 1;
            }
            (Err(_), Some(parent)) if existing.file_name().is_some() => {
                missing.extend(existing.file_name().map(ToOwned::to_owned));
                existing = parent;
            }
            _ => return Err(cannot(error)),
        }
    }
}

/// Both separators count on every system: refs come from other systems as well.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(['/', '\\'])
}

fn is_rooted(text: &str) -> bool {
    let has_drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    has_drive || text.starts_with(['/', '\\'])
}

/// The key without `.`, `..` and empty parts. `None`: it leaves its base.
fn cleaned(text: &str) -> Option<String> {
    let mut kept: Vec<&str> = vec![];
    for part in parts(text) {
        match part {
            "" | "." => {}
            ".." => {
                kept.pop()?;
            }
            part => kept.push(part),
        }
    }
    Some(kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn absolute_paths_stay_as_they_are_unless_they_have_dots() {
        assert_eq!(
            SessionRef::parse("/a/b..c/.d").unwrap(),
            SessionRef::Path(PathBuf::from("/a/b..c/.d"))
        );
        for refused in ["/a/../b", "/a/./b", "/..", "/a/..", "/a\0b"] {
            assert!(SessionRef::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn keys_are_cleaned_and_may_not_leave_their_base() {
        for (text, key) in [("ses_1", "ses_1"), ("a/../b", "b"), ("./a//b", "a/b"), ("a..b", "a..b")] {
            assert_eq!(SessionRef::parse(text).unwrap(), SessionRef::Key(key.to_owned()));
        }
        for refused in [
            "",
            "..",
            ".",
            "a/..",
            "../a",
            "a/../../b",
            r"..\a",
            r"C:\a",
            "c:a",
            r"\a",
        ] {
            assert!(SessionRef::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn tildes_and_file_urls_are_spelled_out() {
        for (text, path) in [
            ("~/a/b.jsonl", "/home/dev/a/b.jsonl"),
            ("~", "/home/dev"),
            ("~other/a", "~other/a"),
            ("a~/b", "a~/b"),
            ("file:///a/b%20c%C3%A4.jsonl", "/a/b cä.jsonl"),
            ("file://localhost/a", "/a"),
            ("file:///C:/a/b", "C:/a/b"),
            ("file://elsewhere/a", "file://elsewhere/a"),
            ("file:///a%2", "file:///a%2"),
            ("file:///a%ff", "file:///a%ff"),
            ("/a/%20", "/a/%20"),
        ] {
            assert_eq!(spelled_out(text, Some("/home/dev/")), path, "{text}");
        }
        assert_eq!(spelled_out("~/a", None), "~/a");
        // The rules hold for what is meant.
        assert!(SessionRef::parse(&spelled_out("file:///a/%2e%2e/b", None)).is_err());
    }

    #[test]
    fn ids_with_a_path_part_name_no_file() {
        for id in ["", " ", ".", "..", "a/b", r"a\b", "../../x", "a*", "a\0"] {
            assert!(check_id(id).is_err(), "{id:?}");
        }
        for id in ["0193f2c4-7d1e", "ses_1", "a.b", "T-1", "with space"] {
            assert!(check_id(id).is_ok(), "{id:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_decide_by_where_they_lead() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("base")).unwrap();
        std::fs::create_dir(at("other")).unwrap();
        symlink(at("base"), at("link")).unwrap();
        symlink(at("other"), at("base/out")).unwrap();
        symlink(at("other/new"), at("base/dangling")).unwrap();
        symlink("real", at("base/inner")).unwrap();
        symlink("round", at("base/round")).unwrap();

        let real = at("base").canonicalize().unwrap();
        assert_eq!(inside(&at("link/x/y"), &at("base")).unwrap(), real.join("x/y"));
        assert_eq!(inside(&at("base/inner"), &at("link")).unwrap(), real.join("real"));
        for outside in [
            "base/out/x",
            "base/dangling",
            "base/round",
            "other/x",
            "base",
            "base-2/x",
        ] {
            assert!(inside(&at(outside), &at("base")).is_err(), "{outside}");
        }
    }
}
