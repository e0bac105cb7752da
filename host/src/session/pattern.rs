//! Finding the files that a pattern means.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::model::Pattern;

/// The most files that one pattern gives: far more than sessions have subagents, far fewer than a home has files.
const LIMIT: usize = 10_000;

/// The files that exist, sorted by name. Of too many the last ones, which are the newest where names begin with dates.
#[must_use]
pub fn files(pattern: &Pattern) -> Vec<PathBuf> {
    within(pattern, LIMIT)
}

fn within(pattern: &Pattern, limit: usize) -> Vec<PathBuf> {
    let path = Path::new(&pattern.path);
    if !path.is_absolute() {
        return vec![];
    }
    let mut found = vec![PathBuf::new()];
    for component in path.components() {
        found = match component {
            Component::Normal(name) => {
                let name = name.to_string_lossy();
                let newest_first = found.iter().rev();
                let mut next: Vec<PathBuf> = newest_first
                    .flat_map(|base| matching(base, &name, limit).into_iter().rev())
                    .take(limit)
                    .collect();
                next.reverse();
                next
            }
            other => found.into_iter().map(|base| base.join(other)).collect(),
        };
    }
    found.retain(|path| path.is_file());
    found
}

/// The file that the patterns name: the first that exists, else the last, which holds no `*`.
#[must_use]
pub fn first(patterns: &[Pattern]) -> Option<PathBuf> {
    patterns
        .iter()
        .find_map(|pattern| files(pattern).into_iter().next_back())
        .or_else(|| patterns.last().map(|pattern| PathBuf::from(&pattern.path)))
}

/// What `name`, in which `*` stands for any text, means in the directory `base`, sorted.
fn matching(base: &Path, name: &str, limit: usize) -> Vec<PathBuf> {
    let literal = base.join(name);
    // A name with a star of its own is taken as it is, where it exists.
    if !name.contains('*') || literal.exists() {
        return vec![literal];
    }
    let Ok(entries) = std::fs::read_dir(base) else {
        return vec![];
    };
    let mut found = BTreeSet::new();
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    for entry in names.filter(|entry| fits(name, &entry.to_string_lossy())) {
        found.insert(entry);
        if found.len() > limit {
            found.pop_first();
        }
    }
    found.into_iter().map(|entry| base.join(entry)).collect()
}

/// Whether `name` is the pattern with its stars filled in. As in shells, a leading dot is not meant by a star.
fn fits(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part).and_then(|at| rest.get(at + part.len()..)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name, expected) in [
            ("a*b", "ab", true),
            ("a*b", "axxb", true),
            ("a*b", "axxbc", false),
            ("*", "anything", true),
            ("*", ".hidden", false),
            ("*-x-*.jsonl", "1-x-2.jsonl", true),
            ("*-x-*.jsonl", "1-y-2.jsonl", false),
            ("a*a", "a", false),
            ("ab", "ab", true),
            ("*é*", "café", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn of_too_many_files_the_last_by_name_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "2026/10/s-30",
            "2026/10/s-31",
            "2026/11/s-01",
            "2026/11/s-02",
            "2026/11/s-03",
        ] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let kept = |limit| {
            let pattern = Pattern {
                path: dir.path().join("*/*/s-*").to_string_lossy().into_owned(),
                linked: false,
            };
            let names = within(&pattern, limit).into_iter();
            names
                .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(2), ["s-02", "s-03"]);
        assert_eq!(kept(4), ["s-31", "s-01", "s-02", "s-03"]);
        assert_eq!(kept(9).len(), 5);
    }

    #[test]
    fn the_first_pattern_with_a_file_wins_and_the_last_names_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("2026/11")).unwrap();
        std::fs::write(dir.path().join("2026/11/s-1.jsonl"), "").unwrap();
        let pattern = |path: &str| Pattern {
            path: dir.path().join(path).to_string_lossy().into_owned(),
            linked: false,
        };
        let found = |patterns: &[&str]| {
            let patterns: Vec<_> = patterns.iter().map(|path| pattern(path)).collect();
            first(&patterns)
        };
        assert_eq!(
            found(&["none/*", "*/*/*-1.jsonl", "new.jsonl"]),
            Some(dir.path().join("2026/11/s-1.jsonl"))
        );
        assert_eq!(
            found(&["*/*/*-2.jsonl", "new.jsonl"]),
            Some(dir.path().join("new.jsonl"))
        );
        assert_eq!(found(&[]), None);
        assert!(files(&pattern("*/none/*")).is_empty());
    }
}
