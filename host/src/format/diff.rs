//! What would change in a file, line by line. The one door to the `similar` package.

use similar::{ChangeTag, TextDiff};

use super::style::{Look, Style};
use crate::install::Change;

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

/// The changes of one file as a unified diff.
#[must_use]
pub fn diff(change: &Change, look: Look) -> String {
    let path = change.file.display().to_string();
    let side = |text: &Option<String>| text.as_ref().map_or("/dev/null", |_| path.as_str()).to_owned();
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let mut text = String::new();
    for (sign, side) in [("---", side(&change.before)), ("+++", side(&change.after))] {
        text.push_str(&look.paint(&format!("{sign} {side}"), Style::Bold));
        text.push('\n');
    }
    let lines = TextDiff::from_lines(before, after);
    for hunk in lines.unified_diff().context_radius(CONTEXT).iter_hunks() {
        text.push_str(&look.paint(&hunk.header().to_string(), Style::Cyan));
        text.push('\n');
        for line in hunk.iter_changes() {
            let (sign, style) = match line.tag() {
                ChangeTag::Equal => (' ', Style::Plain),
                ChangeTag::Delete => ('-', Style::Red),
                ChangeTag::Insert => ('+', Style::Green),
            };
            let shown = line.value().trim_end_matches(['\n', '\r']);
            // A file can hold what a terminal takes for a command.
            let shown = shown.replace(
                |character: char| character.is_control() && character != '\t',
                "\u{fffd}",
            );
            text.push_str(&look.paint(&format!("{sign}{shown}"), style));
            text.push('\n');
            if !line.value().ends_with('\n') {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Look = Look {
        color: false,
        width: 80,
    };

    fn change(before: Option<&str>, after: Option<&str>) -> Change {
        Change {
            file: "/a/settings.json".into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

    #[test]
    fn lines_that_come_and_go_are_marked() {
        assert_eq!(
            diff(
                &change(Some("{\n  \"a\": 1\n}\n"), Some("{\n  \"a\": 1,\n  \"b\": 2\n}\n")),
                PLAIN
            ),
            "--- /a/settings.json\n+++ /a/settings.json\n@@ -1,3 +1,4 @@\n {\n-  \"a\": 1\n+  \"a\": 1,\n+  \"b\": 2\n }\n"
        );
    }

    #[test]
    fn a_file_that_comes_or_goes_has_no_other_side() {
        assert_eq!(
            diff(&change(None, Some("x")), PLAIN),
            "--- /dev/null\n+++ /a/settings.json\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
        );
        assert!(diff(&change(Some("x\n"), None), PLAIN).contains("+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"));
    }

    #[test]
    fn on_a_terminal_there_are_colours_and_no_commands() {
        let shown = diff(
            &change(Some("\u{1b}[2J\n"), Some("y\n")),
            Look { color: true, width: 80 },
        );
        assert!(
            shown.contains("\u{1b}[31m-\u{fffd}[2J\u{1b}[0m\n\u{1b}[32m+y\u{1b}[0m\n"),
            "{shown:?}"
        );
    }
}
