//! The arguments of `hook`, taken as they come: there is nobody who could be told that they are wrong.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::Words;
use crate::error::Error;
use crate::input::Payload;

/// What the arguments should be.
pub(super) const USAGE: &str = "the command is: hookhost hook <agent> <hook> [payload]";

/// What was said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    /// The agent; empty when it is not said.
    pub(super) agent: String,
    /// The hook; empty when it is not said.
    pub(super) hook: String,
    /// A file with an adapter.
    pub(super) adapter: Option<PathBuf>,
    payload: Option<OsString>,
}

/// Whether nothing but help is asked for. Agents never do.
pub(super) fn ask_for_help(rest: &[OsString]) -> bool {
    matches!(rest, [word] if word == "--help" || word == "-h")
}

impl Arguments {
    /// Options that are not known are stepped over: a later version may have registered them.
    pub(super) fn of(words: &Words<'_>) -> Self {
        let mut arguments = Self {
            adapter: words.selection.adapter.clone(),
            ..Self::default()
        };
        let mut agent = words.selection.agent.clone();
        let mut plain = vec![];
        let mut rest = words.rest.iter();
        while let Some(word) = rest.next() {
            match word.to_str() {
                // A payload may begin with anything, and is the third word.
                _ if plain.len() == 2 => plain.push(word),
                Some("--") => {
                    plain.extend(rest);
                    break;
                }
                Some("--agent") => agent = rest.next().map(|name| name.to_string_lossy().into_owned()),
                Some("--adapter") => arguments.adapter = rest.next().map(PathBuf::from),
                Some(option) if option.starts_with('-') => {}
                _ => plain.push(word),
            }
        }
        let mut plain = plain.into_iter();
        let mut next = || plain.next().map(|word| word.to_string_lossy().into_owned());
        (arguments.agent, arguments.hook) = match (next(), next(), agent) {
            (Some(hook), None, Some(agent)) => (agent, hook),
            (first, second, _) => (first.unwrap_or_default(), second.unwrap_or_default()),
        };
        arguments.payload = plain.next().cloned();
        arguments
    }

    /// Whether something is missing.
    pub(super) fn is_wrong(&self) -> bool {
        self.agent.is_empty() || self.hook.is_empty()
    }

    /// What the agent sent: the argument, else what stdin holds.
    pub(super) fn payload(&self) -> Result<Payload, Error> {
        match &self.payload {
            Some(payload) => Ok(Payload::from_bytes(payload.clone().into_encoded_bytes())),
            None => Payload::from_stdin(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Selection;

    fn arguments(agent: Option<&str>, rest: &[&str]) -> Arguments {
        let rest: Vec<OsString> = rest.iter().map(OsString::from).collect();
        let words = Words {
            selection: Selection {
                agent: agent.map(str::to_owned),
                ..Selection::default()
            },
            rest: &rest,
            ..Words::default()
        };
        Arguments::of(&words)
    }

    fn said(agent: Option<&str>, rest: &[&str]) -> (String, String, Option<String>) {
        let arguments = arguments(agent, rest);
        let payload = arguments.payload.map(|payload| payload.to_str().unwrap().to_owned());
        (arguments.agent, arguments.hook, payload)
    }

    fn plain(agent: &str, hook: &str, payload: Option<&str>) -> (String, String, Option<String>) {
        (agent.to_owned(), hook.to_owned(), payload.map(str::to_owned))
    }

    #[test]
    fn the_words_are_agent_hook_and_payload() {
        assert_eq!(said(None, &["a", "Stop"]), plain("a", "Stop", None));
        assert_eq!(said(None, &["a", "Stop", "{}"]), plain("a", "Stop", Some("{}")));
        assert_eq!(said(None, &["a", "Stop", "--x"]), plain("a", "Stop", Some("--x")));
    }

    #[test]
    fn options_of_later_versions_are_stepped_over() {
        assert_eq!(said(None, &["--new", "a", "-n", "Stop"]), plain("a", "Stop", None));
        assert_eq!(said(None, &["a", "--", "-Stop"]), plain("a", "-Stop", None));
    }

    #[test]
    fn the_agent_may_be_named_by_an_option() {
        assert_eq!(said(Some("a"), &["Stop"]), plain("a", "Stop", None));
        assert_eq!(said(None, &["--agent", "a", "Stop"]), plain("a", "Stop", None));
        assert_eq!(said(Some("a"), &["b", "Stop"]), plain("b", "Stop", None));
    }

    #[test]
    fn what_is_missing_is_wrong() {
        for rest in [&[][..], &["a"], &["--x"], &["", "Stop"], &["--agent"]] {
            assert!(arguments(None, rest).is_wrong(), "{rest:?}");
        }
    }
}
