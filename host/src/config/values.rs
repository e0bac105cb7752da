//! What settings can be.

use std::fmt;

use serde::Serialize;
use toml_edit::Item;

/// The kind of a setting's value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Yes or no.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number, from and to.
    Number(u64, u64),
    /// A list of texts; commas between them in a variable.
    Texts,
    /// A list of paths; in a variable as in PATH.
    Paths,
}

/// A setting's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A word.
    Text(String),
    /// A number.
    Number(u64),
    /// A list.
    Texts(Vec<String>),
}

/// What a setting is when nobody says.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// Yes or no.
    Flag(bool),
    /// A word.
    Text(&'static str),
    /// A number.
    Number(u64),
    /// An empty list.
    Texts,
}

impl Default {
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Flag(flag) => Value::Flag(flag),
            Self::Text(text) => Value::Text(text.to_owned()),
            Self::Number(number) => Value::Number(number),
            Self::Texts => Value::Texts(vec![]),
        }
    }
}

impl Kind {
    /// The value in a file.
    pub(crate) fn of_item(self, item: &Item) -> Option<Value> {
        match self {
            Self::Flag => item.as_bool().map(Value::Flag),
            Self::Choice(words) => item.as_str().and_then(|text| choice(words, text)),
            Self::Number(from, to) => u64::try_from(item.as_integer()?)
                .ok()
                .and_then(|number| within(from, to, number)),
            Self::Texts | Self::Paths => {
                let texts = item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().map(Value::Texts)
            }
        }
    }

    /// The value in a variable.
    pub(crate) fn of_text(self, text: &str) -> Option<Value> {
        match self {
            Self::Flag => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => Some(Value::Flag(true)),
                "0" | "false" | "no" | "off" => Some(Value::Flag(false)),
                _ => None,
            },
            Self::Choice(words) => choice(words, text),
            Self::Number(from, to) => text.parse().ok().and_then(|number| within(from, to, number)),
            Self::Texts => {
                let texts = text.split(',').map(|part| part.trim().to_owned());
                Some(Value::Texts(texts.filter(|part| !part.is_empty()).collect()))
            }
            Self::Paths => {
                let paths = std::env::split_paths(text).map(|path| path.to_string_lossy().into_owned());
                Some(Value::Texts(paths.filter(|path| !path.is_empty()).collect()))
            }
        }
    }

    /// What it can be, for a person.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Choice(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                match quoted.split_last() {
                    Some((last, [])) => last.clone(),
                    Some((last, others)) => format!("{} or {last}", others.join(", ")),
                    None => String::new(),
                }
            }
            Self::Number(from, to) => format!("a whole number from {from} to {to}"),
            Self::Texts => "a list of texts".to_owned(),
            Self::Paths => "a list of paths".to_owned(),
        }
    }
}

fn choice(words: &[&str], text: &str) -> Option<Value> {
    words.contains(&text).then(|| Value::Text(text.to_owned()))
}

fn within(from: u64, to: u64, number: u64) -> Option<Value> {
    (from..=to).contains(&number).then_some(Value::Number(number))
}

/// As it is written in a file.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(formatter, "{flag}"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => write!(formatter, "{}", toml_edit::Value::from(text.as_str())),
            Self::Texts(texts) => write!(
                formatter,
                "{}",
                toml_edit::Value::from_iter(texts.iter().map(String::as_str))
            ),
        }
    }
}
