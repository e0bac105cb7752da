//! Rows in columns.

/// The most characters of a cell that is not the last of its row.
const CELL_LIMIT: usize = 48;

/// Rows as lines, each column as wide as its widest cell, and none wider than `width` characters.
#[must_use]
pub fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]], width: usize) -> String {
    let cells = |row: &[String; N]| -> Vec<String> { row.iter().map(|cell| on_one_line(cell)).collect() };
    let mut lines = vec![heads.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(cells));
    let widths: Vec<usize> = (0..N)
        .map(|column| {
            let widest = lines
                .iter()
                .filter_map(|line| line.get(column))
                .map(|cell| length(cell));
            widest.max().unwrap_or_default().min(CELL_LIMIT)
        })
        .collect();
    let mut text = String::new();
    for line in &lines {
        let mut shown = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            if column + 1 == N {
                shown.push_str(cell);
            } else {
                let cell = shortened(cell, *width);
                shown.push_str(&cell);
                shown.extend(std::iter::repeat_n(' ', width - length(&cell) + 2));
            }
        }
        text.push_str(shortened(&shown, width).trim_end());
        text.push('\n');
    }
    text
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
fn on_one_line(text: &str) -> String {
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
    fn lines_are_cut_to_the_width() {
        let rows = [["x".to_owned(), "0123456789".to_owned()]];
        assert_eq!(table(["A", "B"], &rows, 8), "A  B\nx  0123…\n");
    }
}
