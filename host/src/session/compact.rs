//! A session as a short conversation: what was asked, what was said, which tools were used.
//!
//! Plain data; the protocol's JSON form is made where the answer is written.

use std::collections::HashMap;

use crate::model::{AssistantText, Entry, Item, ToolCall, ToolResult};

use super::branches::{Branches, Seq, hash};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// RFC 3339.
    pub time: Option<String>,
    /// The record's own id.
    pub id: Option<String>,
    /// Who said what.
    pub content: Content,
}

/// Who said what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The user's texts.
    User(Vec<String>),
    /// The agent's parts.
    Assistant(Vec<Part>),
}

/// A part of the agent's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A tool call.
    Tool {
        /// Its id; `None` when the format has none.
        id: Option<String>,
        /// The tool.
        name: String,
        /// JSON text.
        input: String,
        /// Its result, once there is one.
        result: Option<ToolOutcome>,
    },
}

/// A tool call's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutcome {
    /// What the model was shown.
    pub output: String,
    /// Failed, refused or cancelled.
    pub is_error: bool,
}

/// Makes messages of entries. Only the main agent's; nothing that the user took back.
#[derive(Default)]
pub struct Conversation {
    branches: Branches,
    messages: Vec<(Seq, Message)>,
    /// The user's message of each record that has an id.
    prompts: HashMap<u64, usize>,
    /// The last call with each id: its message, and its place in that.
    calls: HashMap<u64, (usize, usize)>,
    /// What keeps the last message open: entries of the same message join it.
    open: Option<String>,
}

impl Conversation {
    /// Takes the next entry.
    pub fn add(&mut self, entry: Entry) {
        let seq = self.branches.record(&entry);
        if entry.inherited || entry.subagent.is_some() {
            return;
        }
        let Entry {
            offset,
            time,
            record_id,
            item,
            ..
        } = entry;
        let place = |content| Message {
            time: time.clone(),
            id: record_id.clone(),
            content,
        };
        match item {
            Item::Rewind(rewind) => self.branches.rewind(&rewind),
            Item::UserPrompt(prompt) if !prompt.text.trim().is_empty() => self.user(seq, prompt.text, place),
            Item::AssistantText(text) if !text.text.trim().is_empty() => self.text(seq, offset, text, place),
            Item::ToolCall(call) => self.tool(seq, offset, call, place),
            Item::ToolResult(result) => self.result(&result),
            _ => {}
        }
    }

    /// The messages that still stand.
    #[must_use]
    pub fn finish(self) -> Vec<Message> {
        let standing = self.branches.standing();
        self.messages
            .into_iter()
            .filter(|(seq, _)| standing.holds(*seq))
            .map(|(_, message)| message)
            .collect()
    }

    fn user(&mut self, seq: Seq, text: String, place: impl Fn(Content) -> Message) {
        self.open = None;
        let message = place(Content::User(vec![text]));
        let record = message.id.as_deref().map(hash);
        let known = record.and_then(|record| self.prompts.get(&record)).copied();
        if let Some((_, known)) = known.and_then(|at| self.messages.get_mut(at)) {
            known.content = message.content;
            return;
        }
        if let Some(record) = record {
            self.prompts.insert(record, self.messages.len());
        }
        self.messages.push((seq, message));
    }

    fn text(&mut self, seq: Seq, offset: u64, text: AssistantText, place: impl Fn(Content) -> Message) {
        let key = text.message_id.unwrap_or_else(|| format!("@{offset}"));
        let at = self.message(seq, key, place);
        let Some(parts) = parts(&mut self.messages, at) else {
            return;
        };
        if text.replaces && parts.iter().any(is_text) {
            parts.retain(|part| !is_text(part));
            for (place, part) in parts.iter().enumerate() {
                if let Part::Tool { id: Some(id), .. } = part {
                    self.calls.insert(hash(id), (at, place));
                }
            }
        }
        parts.push(Part::Text(text.text));
    }

    fn tool(&mut self, seq: Seq, offset: u64, call: ToolCall, place: impl Fn(Content) -> Message) {
        // A tool call stands in the message that is open: formats put a message's blocks on rows of their own.
        let key = self.open.clone().unwrap_or_else(|| format!("@{offset}"));
        let at = self.message(seq, key, place);
        let Some(parts) = parts(&mut self.messages, at) else {
            return;
        };
        let id = Some(call.id).filter(|id| !id.is_empty());
        let record = id.as_deref().map(hash);
        let part = Part::Tool {
            id,
            name: call.name,
            input: call.input,
            result: None,
        };
        let known = record.and_then(|record| self.calls.get(&record));
        match known
            .filter(|(message, _)| *message == at)
            .and_then(|(_, place)| parts.get_mut(*place))
        {
            Some(known) => *known = part,
            None => {
                if let Some(record) = record {
                    self.calls.insert(record, (at, parts.len()));
                }
                parts.push(part);
            }
        }
    }

    /// The place of the agent's message with this key: the open one, else a new one.
    fn message(&mut self, seq: Seq, key: String, place: impl Fn(Content) -> Message) -> usize {
        let is_open = self.open.as_ref() == Some(&key);
        let at = self.messages.len();
        if let Some(last) = at.checked_sub(1).filter(|_| is_open)
            && parts(&mut self.messages, last).is_some()
        {
            return last;
        }
        self.messages.push((seq, place(Content::Assistant(vec![]))));
        self.open = Some(key);
        at
    }

    fn result(&mut self, found: &ToolResult) {
        let call = self.calls.get(&hash(&found.id)).copied();
        let part = call.and_then(|(at, place)| parts(&mut self.messages, at)?.get_mut(place));
        if let Some(Part::Tool { result, .. }) = part {
            *result = Some(ToolOutcome {
                output: found.output.clone(),
                is_error: found.is_error,
            });
        }
    }
}

/// The parts of a message of the agent's.
fn parts(messages: &mut [(Seq, Message)], at: usize) -> Option<&mut Vec<Part>> {
    match &mut messages.get_mut(at)?.1.content {
        Content::Assistant(parts) => Some(parts),
        Content::User(_) => None,
    }
}

fn is_text(part: &Part) -> bool {
    matches!(part, Part::Text(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UserPrompt;

    fn add(conversation: &mut Conversation, offset: u64, item: Item) {
        conversation.add(Entry {
            offset,
            time: Some("2026-01-01T00:00:00Z".to_owned()),
            record_id: Some(format!("r{offset}")),
            parent_id: None,
            subagent: None,
            inherited: false,
            item,
        });
    }

    fn text(text: &str, message: &str) -> Item {
        Item::AssistantText(AssistantText {
            text: text.to_owned(),
            model: None,
            message_id: Some(message.to_owned()),
            replaces: false,
        })
    }

    fn call(id: &str) -> Item {
        Item::ToolCall(ToolCall {
            id: id.to_owned(),
            name: "Edit".to_owned(),
            input: "{}".to_owned(),
            files: vec![],
            shell: None,
            subagent: None,
        })
    }

    #[test]
    fn rows_of_one_message_are_one_line_and_results_find_their_calls() {
        let mut conversation = Conversation::default();
        add(
            &mut conversation,
            0,
            Item::UserPrompt(UserPrompt {
                text: "do it".to_owned(),
                images: 0,
            }),
        );
        add(&mut conversation, 1, text("first", "m1"));
        add(&mut conversation, 2, call("t1"));
        let failed = ToolResult {
            id: "t1".to_owned(),
            output: "no".to_owned(),
            is_error: true,
            files: vec![],
            subagent_id: None,
        };
        add(&mut conversation, 3, Item::ToolResult(failed));
        add(&mut conversation, 4, text("second", "m2"));
        let contents: Vec<_> = conversation
            .finish()
            .into_iter()
            .map(|message| message.content)
            .collect();
        assert_eq!(
            contents,
            [
                Content::User(vec!["do it".to_owned()]),
                Content::Assistant(vec![
                    Part::Text("first".to_owned()),
                    Part::Tool {
                        id: Some("t1".to_owned()),
                        name: "Edit".to_owned(),
                        input: "{}".to_owned(),
                        result: Some(ToolOutcome {
                            output: "no".to_owned(),
                            is_error: true
                        }),
                    },
                ]),
                Content::Assistant(vec![Part::Text("second".to_owned())]),
            ]
        );
    }
}
