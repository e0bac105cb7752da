//! Rows in columns.

use super::style::{Look, Style};

/// The most characters of a cell that is not the last of its row.
const CELL_LIMIT: usize = 48;

/// What stands in a row of a table.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    style: Style,
    is_right: bool,
}

impl Cell {
    /// A text, on one line.
    #[must_use]
    pub fn new(text: impl AsRef<str>, style: Style) -> Self {
        Self {
            text: on_one_line(text.as_ref()),
            style,
            is_right: false,
        }
    }

    /// A number: it stands at the right of its column.
    #[must_use]
    pub fn right(text: impl AsRef<str>) -> Self {
        Self {
            is_right: true,
            ..Self::new(text, Style::Plain)
        }
    }

    /// In another style.
    #[must_use]
    pub fn in_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Rows as lines, each column as wide as its widest cell, and none wider than `width` characters.
#[must_use]
pub fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]], width: usize) -> String {
    let cells = |row: &[String; N]| row.each_ref().map(|cell| Cell::new(cell, Style::Plain));
    let rows: Vec<[Cell; N]> = rows.iter().map(cells).collect();
    styled(heads, &rows, Look { color: false, width })
}

/// As [`table`], with colours where they can be shown.
#[must_use]
pub fn styled<const N: usize>(heads: [&str; N], rows: &[[Cell; N]], look: Look) -> String {
    let is_right: [bool; N] =
        std::array::from_fn(|column| rows.iter().filter_map(|row| row.get(column)).any(|cell| cell.is_right));
    let mut lines = vec![heads.map(|head| Cell::new(head, Style::Dim))];
    lines.extend(rows.iter().cloned());
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells
            .map(|cell| length(&cell.text))
            .max()
            .unwrap_or_default()
            .min(CELL_LIMIT)
    });
    lines.iter().map(|line| row(line, &widths, &is_right, look)).collect()
}

fn row<const N: usize>(cells: &[Cell; N], widths: &[usize; N], is_right: &[bool; N], look: Look) -> String {
    let mut line = String::new();
    // Spaces are put in when something follows them.
    let mut spaces = 0;
    let mut room = look.width;
    for (column, ((cell, width), is_right)) in cells.iter().zip(widths).zip(is_right).enumerate() {
        let is_last = column + 1 == N;
        let text = shortened(&cell.text, if is_last { room } else { (*width).min(room) });
        let padding = if is_last {
            0
        } else {
            width.saturating_sub(length(&text))
        };
        let before = if *is_right { padding } else { 0 };
        spaces += before;
        if !text.is_empty() && room > spaces.saturating_sub(before) {
            line.extend(std::iter::repeat_n(' ', spaces));
            line.push_str(&look.paint(&text, cell.style));
            spaces = 0;
        }
        spaces += padding - before + 2;
        room = room.saturating_sub(if is_last { length(&text) } else { width + 2 });
    }
    line.push('\n');
    line
}

/// At most `limit` characters; the last one is `…` when something was cut.
#[must_use]
pub fn shortened(text: &str, limit: usize) -> String {
    if length(text) <= limit {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

/// White space as single spaces, and nothing that a terminal could take for a command.
pub(crate) fn on_one_line(text: &str) -> String {
    let words = text.split(char::is_whitespace).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    line.replace(char::is_control, "\u{fffd}")
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "long\ncell"], ["bbb", "\u{1b}[31mred"]].map(|row| row.map(str::to_owned));
        assert_eq!(
            table(["ONE", "TWO"], &rows, 80),
            "ONE  TWO\na    long cell\nbbb  \u{fffd}[31mred\n"
        );
    }

    #[test]
    fn numbers_stand_at_the_right_and_colours_take_no_room() {
        let rows = [
            [Cell::right("5"), Cell::new("a", Style::Red), Cell::new("", Style::Red)],
            [
                Cell::right("100"),
                Cell::new("bcd", Style::Plain),
                Cell::new("e", Style::Plain),
            ],
        ];
        let look = |color| Look { color, width: 80 };
        assert_eq!(
            styled(["N", "X", "Y"], &rows, look(false)),
            "  N  X    Y\n  5  a\n100  bcd  e\n"
        );
        let colored = styled(["N", "X", "Y"], &rows, look(true));
        assert_eq!(colored.lines().nth(1), Some("  5  \u{1b}[31ma\u{1b}[0m"));
    }

    #[test]
    fn lines_are_cut_to_the_width() {
        let rows = [["x".to_owned(), "0123456789".to_owned()]];
        assert_eq!(table(["A", "B"], &rows, 8), "A  B\nx  0123…\n");
    }
}
