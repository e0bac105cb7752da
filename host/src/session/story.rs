//! What happened in a session, moment by moment, of what the user did not take back.

use std::collections::HashMap;

use crate::model::{CompactionMark, Entry, FileEffect, Item, ToolCall, ToolResult};

use super::branches::{Branches, Piece, Pieces, Seq, hash};
use super::tokens::{Calls, TokenTotals};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// RFC 3339.
    pub time: Option<String>,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A person typed this.
    Prompt(String),
    /// The agent said this, in one message.
    Text(String),
    /// The agent thought this.
    Thinking(String),
    /// The agent used a tool.
    Call(ToolCall),
    /// What came of it.
    Result(ToolResult),
    /// A file changed, and no call tells why.
    File(FileEffect),
    /// The model was called.
    Usage {
        /// The model.
        model: Option<String>,
        /// What the call used.
        tokens: TokenTotals,
    },
    /// The context was compressed.
    Compaction(CompactionMark),
    /// The turn was over.
    TurnEnd,
}

/// Tells a story from entries. Only the main agent's; its memory grows with the session.
#[derive(Default)]
pub struct Telling {
    branches: Branches,
    told: Vec<Told>,
    tokens: Calls,
    /// Where calls stand, by their ids.
    calls: HashMap<u64, usize>,
    /// Where messages and prompts stand, by their ids.
    records: HashMap<u64, usize>,
    /// The records of each message, by its id.
    pieces: HashMap<u64, Pieces>,
}

struct Told {
    seq: Seq,
    /// The model call that a moment of usage stands for.
    model_call: Option<usize>,
    moment: Moment,
}

impl Telling {
    /// Takes the next entry.
    pub fn add(&mut self, entry: Entry) {
        let seq = self.branches.record(&entry);
        if let (Item::Usage(usage), None) = (&entry.item, &entry.subagent) {
            let record = entry.record_id.as_deref().map_or(0, hash);
            let model_call = self.tokens.add(record, entry.inherited, usage);
            let what = What::Usage {
                model: usage.model.clone(),
                tokens: TokenTotals::default(),
            };
            if model_call.is_some() {
                self.push(seq, entry.time, what, model_call);
            }
            return;
        }
        if entry.inherited || entry.subagent.is_some() {
            return;
        }
        let Entry {
            time, record_id, item, ..
        } = entry;
        let record = record_id.as_deref().map_or(0, hash);
        match item {
            Item::Rewind(rewind) => self.branches.rewind(&rewind),
            Item::UserPrompt(prompt) if !prompt.text.trim().is_empty() => {
                let id = record_id.map(|id| hash(&format!("prompt {id}")));
                self.words(seq, time, What::Prompt(prompt.text), id, true);
            }
            Item::AssistantText(text) if !text.text.trim().is_empty() => {
                // Without an id a message is what stands in one record.
                let id = text
                    .message_id
                    .map_or_else(|| format!("record {seq}"), |id| format!("message {id}"));
                let id = hash(&id);
                let piece = match self.pieces.get_mut(&id) {
                    Some(pieces) => pieces.add(record, seq),
                    None => {
                        self.pieces.insert(id, Pieces::of(record, seq));
                        Piece::More
                    }
                };
                let replaces = text.replaces || matches!(piece, Piece::Instead);
                if replaces || !matches!(piece, Piece::Known) {
                    self.words(seq, time, What::Text(text.text), Some(id), replaces);
                }
            }
            Item::Thinking(text) if !text.trim().is_empty() => self.push(seq, time, What::Thinking(text), None),
            Item::ToolCall(call) => self.call(seq, time, call),
            Item::ToolResult(result) => self.push(seq, time, What::Result(result), None),
            Item::FileChange(effect) => self.push(seq, time, What::File(effect), None),
            Item::Compaction(mark) => self.push(seq, time, What::Compaction(mark), None),
            _ => {}
        }
    }

    /// The moments that still stand, and the model calls, which were billed in any case.
    #[must_use]
    pub fn finish(self) -> Vec<Moment> {
        let standing = self.branches.standing();
        let tokens = self.tokens.finish();
        let moment = |mut told: Told| {
            if let What::Usage { tokens: used, .. } = &mut told.moment.what {
                *used = told.model_call.and_then(|at| tokens.get(at).copied())?;
            } else if !standing.holds(told.seq) {
                return None;
            }
            Some(told.moment)
        };
        self.told.into_iter().filter_map(moment).collect()
    }

    fn push(&mut self, seq: Seq, time: Option<String>, what: What, model_call: Option<usize>) {
        self.told.push(Told {
            seq,
            model_call,
            moment: Moment { time, what },
        });
    }

    /// A message that comes in parts, or again, is one.
    fn words(&mut self, seq: Seq, time: Option<String>, what: What, id: Option<u64>, replaces: bool) {
        let known = id.and_then(|id| self.records.get(&id)).copied();
        if let Some(known) = known.and_then(|at| self.told.get_mut(at)) {
            match (&mut known.moment.what, what) {
                (What::Prompt(text), What::Prompt(again)) => *text = again,
                (What::Text(text), What::Text(again)) if replaces => *text = again,
                (What::Text(text), What::Text(more)) => {
                    text.push('\n');
                    text.push_str(&more);
                }
                _ => {}
            }
            return;
        }
        if let Some(id) = id {
            self.records.insert(id, self.told.len());
        }
        self.push(seq, time, what, None);
    }

    fn call(&mut self, seq: Seq, time: Option<String>, call: ToolCall) {
        let id = hash(&call.id);
        if !call.id.is_empty() {
            let known = self.calls.get(&id).and_then(|at| self.told.get_mut(*at));
            if let Some(known) = known {
                known.moment.what = What::Call(call);
                return;
            }
            self.calls.insert(id, self.told.len());
        }
        self.push(seq, time, What::Call(call), None);
    }
}

/// Turns end where the next one begins, and with the session unless the agent is at work.
#[must_use]
pub fn with_turn_ends(moments: Vec<Moment>, is_working: bool) -> Vec<Moment> {
    let mut closed: Vec<Moment> = vec![];
    let mut is_open = false;
    for moment in moments {
        let begins = matches!(moment.what, What::Prompt(_));
        if begins && is_open {
            close(&mut closed);
        }
        is_open = begins || (is_open && moment.what != What::TurnEnd);
        closed.push(moment);
    }
    if is_open && !is_working {
        close(&mut closed);
    }
    closed
}

/// Ends the turn behind the last thing that the agent did: a context that was compressed after that was so between turns.
fn close(moments: &mut Vec<Moment>) {
    let is_deed = |moment: &Moment| !matches!(moment.what, What::Compaction(_) | What::Usage { .. });
    let deed = moments.iter().rposition(is_deed).map_or(0, |at| at + 1);
    let behind = moments.iter().skip(deed);
    let at = deed
        + behind
            .take_while(|moment| matches!(moment.what, What::Usage { .. }))
            .count();
    let time = at.checked_sub(1).and_then(|last| moments.get(last)?.time.clone());
    let end = Moment {
        time,
        what: What::TurnEnd,
    };
    moments.insert(at, end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AssistantText;

    fn said(offset: u64, record: &str, message: Option<&str>, text: &str) -> Entry {
        Entry {
            offset,
            time: None,
            record_id: Some(record.to_owned()),
            parent_id: None,
            subagent: None,
            inherited: false,
            item: Item::AssistantText(AssistantText {
                text: text.to_owned(),
                model: None,
                message_id: message.map(str::to_owned),
                replaces: false,
            }),
        }
    }

    fn told(entries: Vec<Entry>) -> Vec<String> {
        let mut telling = Telling::default();
        entries.into_iter().for_each(|entry| telling.add(entry));
        let texts = telling.finish().into_iter().filter_map(|moment| match moment.what {
            What::Text(text) => Some(text),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn a_message_is_told_once_whether_it_comes_in_parts_or_again() {
        let parts = vec![said(0, "r1", Some("m"), "a"), said(1, "r2", Some("m"), "b")];
        assert_eq!(told(parts), ["a\nb"]);
        let again = vec![
            said(0, "r1", Some("r1"), "a"),
            said(1, "r1", Some("r1"), "ab"),
            said(1, "r1", Some("r1"), "c"),
        ];
        assert_eq!(told(again), ["ab\nc"]);
        let both_again = [("r1", "a"), ("r2", "b"), ("r1", "a"), ("r2", "b")];
        let both_again = (0..)
            .zip(both_again)
            .map(|(at, (record, text))| said(at, record, Some("m"), text));
        assert_eq!(told(both_again.collect()), ["a\nb"]);
        let without_ids = vec![said(0, "", None, "a"), said(0, "", None, "b"), said(1, "", None, "c")];
        assert_eq!(told(without_ids), ["a\nb", "c"]);
    }
}
