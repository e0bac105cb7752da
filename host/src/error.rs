//! What a command says when it fails: a kind, a message, a source and a hint.

use std::fmt;
use std::io;

use crate::adapter::{AdapterError, FailureKind};

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line is wrong.
    Usage,
    /// What was given to read is wrong: stdin, a file, a reference.
    Input,
    /// This agent has no such thing.
    Unsupported,
    /// The adapter failed.
    Adapter,
    /// The system refused: files, programs, pipes.
    System,
}

/// A command's failure.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    hint: Option<String>,
}

/// What a command gives back.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with nothing but its kind and its message.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
            hint: None,
        }
    }

    /// The command line is wrong.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// What was given to read is wrong.
    #[must_use]
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// This agent has no such thing.
    #[must_use]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The system refused; `doing` says what was tried: `cannot read /a/b`.
    #[must_use]
    pub fn system(doing: impl Into<String>, source: io::Error) -> Self {
        Self::new(ErrorKind::System, doing).because(source)
    }

    /// With what lies behind it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// With what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The exit code. Never 2: several agents take a hook's 2 for a veto, and any command can end up in a hook.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::Usage => 64,
            ErrorKind::Input | ErrorKind::Unsupported | ErrorKind::Adapter | ErrorKind::System => 1,
        }
    }
}

impl fmt::Display for Error {
    /// The message, then what lies behind it, on one line; the hint on a second one.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        if let Some(source) = &self.source {
            write!(formatter, ": {source}")?;
        }
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}

impl From<AdapterError> for Error {
    fn from(error: AdapterError) -> Self {
        let kind = match error.kind {
            FailureKind::Unsupported => ErrorKind::Unsupported,
            FailureKind::Malformed => ErrorKind::Input,
            _ => ErrorKind::Adapter,
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kind_ends_with_the_code_that_agents_take_for_a_veto() {
        for kind in [
            ErrorKind::Usage,
            ErrorKind::Input,
            ErrorKind::Unsupported,
            ErrorKind::Adapter,
            ErrorKind::System,
        ] {
            let code = Error::new(kind, "x").exit_code();
            assert!(code != 0 && code != 2, "{kind:?} ends with {code}");
        }
    }

    #[test]
    fn message_source_and_hint_are_shown_in_this_order() {
        let error = Error::system("cannot read /a", io::Error::other("disk on fire")).hint("buy another one");
        assert_eq!(error.to_string(), "cannot read /a: disk on fire\nhint: buy another one");
    }
}
