//! Building events.

use crate::bindings::hookhost::adapter::types::HookContext;
use crate::{Context, Event, EventKind};

/// The metadata key for the agent's own last text.
pub const LAST_MESSAGE: &str = "last_assistant_message";

/// How many characters of the agent's last text go into an event.
pub(crate) const LAST_MESSAGE_CHARS: usize = 4096;

/// Adapters see one kind of context; a hook's has no files.
impl From<HookContext> for Context {
    fn from(from: HookContext) -> Self {
        Self {
            repo_root: from.repo_root,
            cwd: from.cwd,
            home: from.home,
            platform: from.platform,
            received_at: from.received_at,
            env: from.env,
            files: vec![],
            snapshots: from.snapshots,
        }
    }
}

impl Event {
    /// An event with nothing but its kind and its session.
    #[must_use]
    pub fn new(kind: EventKind, session_id: impl Into<String>) -> Self {
        Self {
            kind,
            session_id: session_id.into(),
            previous_session_id: None,
            session_ref: None,
            prompt: None,
            model: None,
            timestamp: None,
            tool_use_id: None,
            subagent_id: None,
            tool_input: None,
            subagent_type: None,
            task_description: None,
            response_message: None,
            metadata: vec![],
        }
    }

    /// Adds a metadata entry, if there is a value.
    #[must_use]
    pub fn with(mut self, key: &str, value: Option<impl Into<String>>) -> Self {
        if let Some(value) = value.map(Into::into).filter(|value: &String| !value.is_empty()) {
            self.metadata.push((key.to_owned(), value));
        }
        self
    }

    /// Adds the agent's own last text, cut to the length that the contract allows.
    #[must_use]
    pub fn with_last_message(self, text: Option<impl AsRef<str>>) -> Self {
        let cut = text.map(|text| shortened(text.as_ref(), LAST_MESSAGE_CHARS));
        self.with(LAST_MESSAGE, cut)
    }
}

/// At most `limit` characters of `text`; when something was cut, the last of them is `…`.
#[must_use]
pub fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some(_) => {
            let kept = text.char_indices().nth(limit.saturating_sub(1)).map_or(0, |(at, _)| at);
            let mut cut = text.get(..kept).unwrap_or_default().to_owned();
            cut.push('…');
            cut
        }
    }
}

/// An environment variable of the context; an empty one counts as not set.
#[must_use]
pub fn env<'a>(context: &'a Context, name: &str) -> Option<&'a str> {
    context
        .env
        .iter()
        .find(|(key, value)| key == name && !value.is_empty())
        .map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_ends_in_an_ellipsis_and_keeps_the_limit() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "ab…");
        assert_eq!(shortened("äöüß", 3), "äö…");
    }
}
