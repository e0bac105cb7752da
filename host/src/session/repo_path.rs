//! File paths as a repository sees them.

use std::collections::HashMap;
use std::path::Path;

/// Makes paths relative to the repository, with `/`; what lies outside keeps its absolute path.
#[derive(Clone, Debug, Default)]
pub struct RepoPaths {
    root: Option<String>,
    home: Option<String>,
    /// The root with symbolic links resolved, and what directories resolve to.
    real_root: Option<String>,
    real_dirs: std::cell::RefCell<HashMap<String, Option<String>>>,
}

impl RepoPaths {
    /// Paths relative to `root`; `~` stands for `home`.
    #[must_use]
    pub fn new(root: Option<&str>, home: Option<&str>) -> Self {
        let real_root = root
            .and_then(|root| std::fs::canonicalize(root).ok())
            .map(|path| tidy(&path.to_string_lossy()));
        Self {
            root: root.map(tidy),
            home: home.map(str::to_owned),
            real_root,
            real_dirs: std::cell::RefCell::default(),
        }
    }

    /// How a path that an agent wrote is shown. A relative one begins at `cwd`, without that at the root.
    #[must_use]
    pub fn shown(&self, path: &str, cwd: Option<&str>) -> String {
        let absolute = self.absolute(path.trim(), cwd);
        let Some(root) = &self.root else { return absolute };
        if let Some(inside) = below(root, &absolute) {
            return inside.to_owned();
        }
        if let Some(inside) = self.real_root.as_deref().and_then(|real| below(real, &absolute)) {
            return inside.to_owned();
        }
        if let (Some(real_root), Some(real)) = (&self.real_root, self.resolved(&absolute))
            && let Some(inside) = below(real_root, &real)
        {
            return inside.to_owned();
        }
        absolute
    }

    fn absolute(&self, path: &str, cwd: Option<&str>) -> String {
        let plain = |path: &str| path.strip_prefix("file://").map_or_else(|| path.to_owned(), from_uri);
        let path = plain(path);
        if let (Some(rest), Some(home)) = (path.strip_prefix("~/").or(path.strip_prefix("~\\")), &self.home) {
            return tidy(&format!("{home}/{rest}"));
        }
        if is_absolute(&path) {
            return tidy(&path);
        }
        match cwd.or(self.root.as_deref()) {
            Some(base) => tidy(&format!("{}/{path}", plain(base))),
            None => tidy(&path),
        }
    }

    /// The path with the links of its nearest directory that exists resolved.
    fn resolved(&self, absolute: &str) -> Option<String> {
        let (dir, name) = absolute.rsplit_once('/')?;
        let mut dirs = self.real_dirs.borrow_mut();
        let real = dirs
            .entry(dir.to_owned())
            .or_insert_with(|| real_dir(Path::new(dir)))
            .clone()?;
        Some(format!("{real}/{name}"))
    }
}

fn real_dir(dir: &Path) -> Option<String> {
    let mut missing: Vec<&std::ffi::OsStr> = vec![];
    let mut existing = dir;
    loop {
        if let Ok(mut real) = std::fs::canonicalize(existing) {
            real.extend(missing.iter().rev());
            return Some(tidy(&real.to_string_lossy()));
        }
        missing.push(existing.file_name()?);
        existing = existing.parent()?;
    }
}

/// The part of `path` below `root`. Windows paths are compared without regard to case.
fn below<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    let root = root.trim_end_matches('/');
    let head = path.get(..root.len())?;
    let same = if has_drive(root) {
        head.eq_ignore_ascii_case(root)
    } else {
        head == root
    };
    let rest = path.get(root.len()..)?.strip_prefix('/')?;
    (same && !rest.is_empty()).then_some(rest)
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\'])
        || matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// `/` as the separator of Windows paths, their long-path prefix and a leading slash before the drive taken off, the
/// drive's letter in lower case, no `.` and `..`.
fn tidy(path: &str) -> String {
    let path = path.strip_prefix(r"\\?\").unwrap_or(path);
    let path = match path.as_bytes() {
        [b'/', letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => path.get(1..).unwrap_or(path),
        _ => path,
    };
    let is_windows = has_drive(path) || path.starts_with(r"\\");
    let mut text = if is_windows {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    if is_windows && let Some(drive) = text.get_mut(..1) {
        drive.make_ascii_lowercase();
    }
    let rooted = text.starts_with('/');
    let mut parts: Vec<&str> = vec![];
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && !last.ends_with(':')) => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

/// The path of a `file://` URI without its scheme: host left out, escapes decoded.
fn from_uri(rest: &str) -> String {
    let path = rest.find('/').and_then(|start| rest.get(start..)).unwrap_or(rest);
    let mut bytes = vec![];
    let mut remaining = path.as_bytes();
    while let Some((&byte, rest)) = remaining.split_first() {
        remaining = rest;
        let code = rest
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                remaining = rest.get(2..).unwrap_or_default();
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn shown(root: &str, path: &str, cwd: Option<&str>) -> String {
        RepoPaths::new(Some(root), Some("/home/dev")).shown(path, cwd)
    }

    #[test]
    fn paths_inside_are_relative_and_others_keep_their_place() {
        let root = "/home/dev/project";
        for (path, cwd, expected) in [
            ("/home/dev/project/src/a.rs", None, "src/a.rs"),
            ("src/./x/../a.rs", Some("/home/dev/project"), "src/a.rs"),
            ("a.rs", Some("/home/dev/project/src"), "src/a.rs"),
            ("a.rs", None, "a.rs"),
            ("../other/a.rs", Some("/home/dev/project"), "/home/dev/other/a.rs"),
            ("~/.claude/plan.md", None, "/home/dev/.claude/plan.md"),
            ("/home/dev/project-2/a.rs", None, "/home/dev/project-2/a.rs"),
            ("file:///home/dev/project/a%20b.rs", None, "a b.rs"),
            ("a.rs", Some("file:///home/dev/project/a%20b"), "a b/a.rs"),
            ("dir\\name", None, "dir\\name"),
        ] {
            assert_eq!(shown(root, path, cwd), expected, "{path}");
        }
    }

    #[test]
    fn windows_paths_are_compared_as_windows_does() {
        let root = r"C:\Users\dev\Project";
        for path in [
            r"c:\users\dev\project\src\a.rs",
            "C:/Users/dev/Project/src/a.rs",
            r"\\?\C:\Users\dev\Project\src\a.rs",
            "/c:/Users/dev/Project/src/a.rs",
            "file:///c:/Users/dev/Project/src/a.rs",
        ] {
            assert_eq!(shown(root, path, None), "src/a.rs", "{path}");
        }
        assert_eq!(shown(root, r"src\a.rs", Some(root)), "src/a.rs");
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        std::fs::create_dir_all(real.join("src")).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let through = |root: &Path, path: PathBuf| shown(root.to_str().unwrap(), path.to_str().unwrap(), None);
        assert_eq!(through(&link, real.join("src/new/a.rs")), "src/new/a.rs");
        assert_eq!(through(&real, link.join("src/a.rs")), "src/a.rs");
        assert_eq!(through(&real, link.join("gone/b.rs")), "gone/b.rs");
    }
}
