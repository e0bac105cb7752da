//! Colours, where a terminal shows them.

use std::env;

use crate::output;

/// How wide lines are when nobody says.
const WIDTH: usize = 160;

/// How something looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    #[default]
    Plain,
    /// Of less weight.
    Dim,
    /// Of more weight.
    Bold,
    /// Well.
    Green,
    /// Under way, or to be looked at.
    Yellow,
    /// Wrong.
    Red,
    /// A name.
    Cyan,
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Dim => Some("2"),
            Self::Bold => Some("1"),
            Self::Green => Some("32"),
            Self::Yellow => Some("33"),
            Self::Red => Some("31"),
            Self::Cyan => Some("36"),
        }
    }
}

/// What the place can show that text goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether there are colours.
    pub color: bool,
    /// How many characters a line has.
    pub width: usize,
}

impl Look {
    /// Stdout's. Colours are for terminals, unless NO_COLOR or CLICOLOR_FORCE say otherwise.
    #[must_use]
    pub fn of_stdout() -> Self {
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        let is_terminal = output::is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb");
        let said = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        Self {
            color: !is_set("NO_COLOR") && (is_terminal || is_set("CLICOLOR_FORCE")),
            width: said.or_else(output::terminal_width).unwrap_or(WIDTH).max(40),
        }
    }

    /// A text in a style.
    #[must_use]
    pub fn paint(self, text: &str, style: Style) -> String {
        match style.code().filter(|_| self.color && !text.is_empty()) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_left_out_where_there_are_none() {
        let look = |color| Look { color, width: 80 };
        assert_eq!(look(true).paint("a", Style::Red), "\u{1b}[31ma\u{1b}[0m");
        assert_eq!(look(false).paint("a", Style::Red), "a");
        assert_eq!(look(true).paint("a", Style::Plain), "a");
        assert_eq!(look(true).paint("", Style::Red), "");
    }
}
