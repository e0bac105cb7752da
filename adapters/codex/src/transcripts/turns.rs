//! The user's turns: prompts that are written twice, not at all, or once more.

use hookhost_sdk::{Entry, Item};

/// How much of a rollout may be held back while it is not known yet how it writes its prompts.
const HELD_BYTES: usize = 8 << 20;

/// What a rollout says of the user's words.
///
/// Newer rollouts have a `user_message` event for each prompt. Older ones only have the conversation that is sent to
/// the model, in which Codex itself speaks in the user's name as well. The first event tells the newer kind; until it
/// comes, all entries are held back.
#[derive(Default)]
pub(super) struct Turns {
    held: Vec<Entry>,
    held_bytes: usize,
    decided: bool,
    pub(super) has_events: bool,
    /// Record ids of the prompts that were not taken back.
    pub(super) prompts: Vec<String>,
    /// The last prompt, while the agent has done nothing for it.
    pub(super) unanswered: Option<String>,
    /// The turn of the unanswered prompt was aborted.
    pub(super) aborted: bool,
}

impl Turns {
    /// Gives a record's entries out, or holds them back.
    pub(super) fn pass_on(&mut self, entries: Vec<Entry>, bytes: usize, out: &mut Vec<Entry>) {
        if self.decided {
            out.extend(entries);
            return;
        }
        self.held.extend(entries);
        self.held_bytes += bytes;
        if self.held_bytes > HELD_BYTES {
            self.release(out);
        }
    }

    /// What was held back is given out as it is.
    pub(super) fn release(&mut self, out: &mut Vec<Entry>) {
        self.decided = true;
        out.append(&mut self.held);
    }

    /// There are events: what was taken for a prompt in the conversation is one of them, or Codex's own.
    pub(super) fn events_begin(&mut self, out: &mut Vec<Entry>) {
        if std::mem::replace(&mut self.has_events, true) {
            return;
        }
        self.held.retain(|entry| !matches!(entry.item, Item::UserPrompt(_)));
        self.prompts.clear();
        self.unanswered = None;
        self.aborted = false;
        self.release(out);
    }

    pub(super) fn answered(&mut self) {
        self.unanswered = None;
        self.aborted = false;
    }

    /// After a turn that was aborted before the agent did anything, its prompt can stand in the rollout once more.
    pub(super) fn is_written_again(&mut self, text: &str) -> bool {
        std::mem::take(&mut self.aborted) && self.unanswered.as_deref() == Some(text)
    }
}
