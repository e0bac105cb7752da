//! What a notation of settings files can do. Texts go in and come out; nothing here knows what the values mean.

use std::ops::Range;

use super::node::{Node, Step};
use super::splice::line_start;
use super::{json, toml};
use crate::model::ConfigFormat;

/// Why a text cannot be changed as wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It is not what its notation allows.
    Syntax {
        line: usize,
        column: usize,
        message: String,
    },
    /// Something of another kind stands where an object or a list has to be.
    Kind {
        path: Vec<String>,
        wanted: &'static str,
        found: &'static str,
    },
    /// A key stands twice in its object, so that readers differ in what they take.
    Twice { path: Vec<String> },
}

impl Trouble {
    /// A syntax error at a place of the text.
    pub(super) fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        Self::Syntax {
            line: before.matches('\n').count() + 1,
            column: before
                .get(line_start(text, before.len())..)
                .unwrap_or_default()
                .chars()
                .count()
                + 1,
            message: message.into(),
        }
    }
}

pub(super) type Edited<T = String> = Result<T, Trouble>;

/// The range inside the brackets of a list or an object, and whether there is anything but white space and comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inside {
    pub(super) range: Range<usize>,
    pub(super) is_empty: bool,
}

/// Reading and changing texts of one notation. All bytes outside of what a function names stay as they are.
pub(super) trait Notation {
    /// The whole text as a value; `None` when it holds none.
    fn read(&self, text: &str) -> Edited<Option<Node>>;
    /// Puts an element at the end of the list at `path`, and makes the list and what leads to it where missing.
    fn append(&self, text: &str, path: &[String], element: &Node) -> Edited;
    /// Puts a value at `path`, where nothing stands, and makes the objects that lead to it.
    fn set(&self, text: &str, path: &[String], value: &Node) -> Edited;
    /// Puts another value in the place of one.
    fn replace(&self, text: &str, steps: &[Step], value: &Node) -> Edited;
    /// Takes out an element, or a key with its value.
    fn remove(&self, text: &str, steps: &[Step]) -> Edited;
    /// Where the inside of the list or object at `path` stands, when it is written in brackets.
    fn inside(&self, text: &str, path: &[String]) -> Edited<Option<Inside>>;
    /// The notation has comments that strict readers of its format refuse, and the text holds some.
    fn strays(&self, text: &str) -> bool;
}

/// The notation of a format. JSON and JSON with comments are edited alike: what the user wrote stays either way.
pub(super) fn of(format: ConfigFormat) -> &'static dyn Notation {
    match format {
        ConfigFormat::Json | ConfigFormat::Jsonc => &json::Json,
        ConfigFormat::Toml => &toml::Toml,
    }
}
