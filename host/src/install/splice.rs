//! Changing a text at known places, and reading what stands between two of them.
//!
//! The editing trees of jsonc-parser and toml_edit do not keep every byte: the first drops blank lines at the edges of
//! a container that it inserts into, the second writes every line end as LF and drops a byte order mark. So both
//! libraries read the file and say where each value begins and ends, and the bytes between are spliced here.

use std::ops::Range;

/// A piece of text to stand in the place of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Splice {
    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self {
            range: at..at,
            text: text.into(),
        }
    }

    pub(super) fn delete(range: Range<usize>) -> Self {
        Self {
            range,
            text: String::new(),
        }
    }
}

/// The text with all splices made. Splices do not overlap; those at one place come out in the order given.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut out = String::with_capacity(text.len() + splices.iter().map(|splice| splice.text.len()).sum::<usize>());
    let mut position = 0;
    for splice in splices {
        out.push_str(cut(text, position..splice.range.start));
        out.push_str(&splice.text);
        position = splice.range.end.max(position);
    }
    out.push_str(cut(text, position..text.len()));
    out
}

/// A part of the text; empty when the range is none of it.
pub(super) fn cut(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// Where the line that holds `at` begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    cut(text, 0..at).rfind('\n').map_or(0, |newline| newline + 1)
}

/// Just behind the line that holds `at`, its line end included.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    cut(text, at..text.len())
        .find('\n')
        .map_or(text.len(), |newline| at + newline + 1)
}

/// The white space that the line which holds `at` begins with.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let line = cut(text, line_start(text, at)..at);
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    cut(line, 0..line.len() - line.trim_start_matches([' ', '\t']).len())
}

/// The line end that the text uses, LF where it has none.
pub(super) fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if cut(text, 0..at).ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// How comments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comments {
    /// `// to the end of the line` and `/* between */`
    Slashes,
    /// `# to the end of the line`
    Hash,
}

/// A part of what stands between two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Between {
    Space(Range<usize>),
    /// A comment, and whether only a line end ends it.
    Comment(Range<usize>, bool),
    Comma(usize),
}

/// The white space, comments and commas in a range that holds nothing else.
pub(super) fn between(text: &str, range: Range<usize>, comments: Comments) -> Vec<Between> {
    let mut parts = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let rest = cut(text, at..range.end);
        let space = rest.len() - rest.trim_start().len();
        let length = if space > 0 {
            parts.push(Between::Space(at..at + space));
            space
        } else if rest.starts_with(',') {
            parts.push(Between::Comma(at));
            1
        } else if comments == Comments::Slashes && rest.starts_with("/*") {
            let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
            parts.push(Between::Comment(at..at + length, false));
            length
        } else {
            let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
            parts.push(Between::Comment(at..at + line, true));
            line
        };
        at += length.max(1);
    }
    parts
}

/// A list or an object in brackets, values or members separated by commas.
#[derive(Clone, Debug)]
pub(super) struct Bracketed {
    /// Between the brackets.
    pub(super) inner: Range<usize>,
    pub(super) items: Vec<Range<usize>>,
    pub(super) comments: Comments,
}

impl Bracketed {
    /// What stands before the item (behind the last one: before the closing bracket).
    fn gap(&self, text: &str, index: usize) -> Vec<Between> {
        let start = match index.checked_sub(1) {
            None => self.inner.start,
            Some(before) => self.items.get(before).map_or(self.inner.end, |item| item.end),
        };
        let end = self.items.get(index).map_or(self.inner.end, |item| item.start);
        between(text, start..end, self.comments)
    }

    /// The comma behind an item.
    fn comma_behind(&self, text: &str, index: usize) -> Option<usize> {
        self.gap(text, index + 1).iter().find_map(|part| match part {
            Between::Comma(at) => Some(*at),
            _ => None,
        })
    }

    /// The white space of the line that the last item begins, if it begins one.
    pub(super) fn item_indent<'a>(&self, text: &'a str) -> Option<&'a str> {
        let last = self.items.last()?;
        let line = line_start(text, last.start);
        let indent = cut(text, line..last.start);
        (line > self.inner.start && indent.trim().is_empty()).then_some(indent)
    }

    /// Puts an item behind the last one, in the same style: on a line of its own if the last one has that, with a comma
    /// behind it if the last one has one. There is an item already.
    pub(super) fn append(&self, text: &str, item: &str, separator: &str) -> Vec<Splice> {
        let Some(last) = self.items.last() else {
            return Vec::new();
        };
        let index = self.items.len() - 1;
        let comma = self.comma_behind(text, index);
        let behind = comma.map_or(last.end, |comma| comma + 1);
        let (behind, open_comment) = self.behind_comments_of_line(text, behind);
        let lead = match self.item_indent(text) {
            Some(indent) => format!("{}{indent}", newline_of(text)),
            // Nothing can follow a comment that only the line end ends.
            None if open_comment => format!("{}{}", newline_of(text), line_indent(text, last.start)),
            None => separator.to_owned(),
        };
        match comma {
            Some(_) => vec![Splice::insert(behind, format!("{lead}{item},"))],
            None => vec![
                Splice::insert(last.end, ","),
                Splice::insert(behind, format!("{lead}{item}")),
            ],
        }
    }

    /// The end of the comments that stand on the same line behind `at`, and whether the last one goes to the line's end.
    fn behind_comments_of_line(&self, text: &str, at: usize) -> (usize, bool) {
        let mut end = (at, false);
        for part in between(text, at..self.inner.end, self.comments) {
            match part {
                Between::Comment(range, open) => end = (range.end, open),
                Between::Space(range) if !cut(text, range.clone()).contains('\n') => {}
                Between::Space(_) | Between::Comma(_) => break,
            }
        }
        end
    }

    /// Takes an item out with its comma and the white space before it. Comments stay.
    pub(super) fn remove(&self, text: &str, index: usize) -> Vec<Splice> {
        let Some(item) = self.items.get(index) else {
            return Vec::new();
        };
        let before = self.gap(text, index);
        let space = match before.last() {
            Some(Between::Space(range)) => range.clone(),
            _ => item.start..item.start,
        };
        let begins_line = cut(text, space.clone()).contains('\n');
        let comma_behind = self.comma_behind(text, index);
        let is_last = index + 1 == self.items.len();
        let mut splices = Vec::new();
        if index == 0 && !is_last && !begins_line {
            // `[ours, theirs]`: the space behind the comma goes, not the one before the item.
            let behind = comma_behind.map_or(item.end, |comma| comma + 1);
            let rest = cut(text, behind..self.inner.end);
            let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            splices.push(Splice::delete(item.start..item.end));
            splices.push(Splice::delete(comma_behind.unwrap_or(item.end)..behind + blank));
            return splices;
        }
        let kept_line_end = if self.needs_line_end(text, &before, item.end) {
            newline_of(text)
        } else {
            ""
        };
        splices.push(Splice {
            range: space.start..item.end,
            text: kept_line_end.to_owned(),
        });
        let comma = comma_behind.or_else(|| index.checked_sub(1).and_then(|before| self.comma_behind(text, before)));
        splices.extend(comma.map(|comma| Splice::delete(comma..comma + 1)));
        splices
    }

    /// The item stands behind a comment that only a line end ends, and what follows the item brings none.
    fn needs_line_end(&self, text: &str, before: &[Between], item_end: usize) -> bool {
        let comment = before.iter().rev().find(|part| !matches!(part, Between::Space(_)));
        if !matches!(comment, Some(Between::Comment(_, true))) {
            return false;
        }
        let rest = cut(text, item_end..text.len()).trim_start_matches([' ', '\t', ',']);
        !rest.starts_with(['\n', '\r'])
    }
}
