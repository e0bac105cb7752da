//! What a transcript says, summed up: prompts, net file effects, tokens, the last words.
//!
//! Written once for all agents. A [`Collector`] takes entries in the order of the transcript; its memory grows with
//! what it has to remember (prompts, touched files, model calls), not with the transcript.

use std::collections::HashMap;

use crate::model::{AssistantText, Entry, Item, SessionFacts, SubagentCall};

use super::branches::{Branches, Piece, Pieces, Seq, hash};
use super::files::{FileLog, Files};
use super::repo_path::RepoPaths;
use super::tokens::{TokenCount, TokenTotals};

/// How many bytes of the agent's latest texts are kept for the case that the user took back the last ones.
const KEPT_TEXT: usize = 8 << 20;

/// What a transcript says.
#[derive(Debug, Default)]
pub struct Facts {
    /// What a person typed, oldest first.
    pub prompts: Vec<String>,
    /// Net effects on files.
    pub files: Files,
    /// The last message of the main agent that has text.
    pub summary: Option<String>,
    /// The model that said it, else the last one that a text, the session or a model call names.
    pub model: Option<String>,
    /// Tokens of the main agent.
    pub tokens: TokenTotals,
    /// Tokens of subagents whose records stand in the same transcript.
    pub subagent_tokens: Option<TokenTotals>,
    /// The last word on each fact about the session; `started_at` is the first record's time when nothing else says.
    pub session: SessionFacts,
    /// Subagents that the main agent started, in order.
    pub subagents: Vec<SubagentLink>,
    /// How often the context was compressed.
    pub compactions: usize,
    /// The last record of a turn says that the turn has ended, and nothing followed it.
    pub turn_ended: bool,
    /// Records that could not be read: offset and reason, the first hundred.
    pub unreadable: Vec<(u64, String)>,
}

/// A subagent that a tool call started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentLink {
    /// Where the call stands.
    pub offset: u64,
    /// The call.
    pub tool_use_id: String,
    /// The subagent's own id, once the result has told.
    pub subagent_id: Option<String>,
    /// What the call said.
    pub call: SubagentCall,
}

/// Sums up entries.
pub struct Collector {
    from: u64,
    branches: Branches,
    prompts: Vec<Prompt>,
    /// The last prompt of each record that has an id.
    prompt_of: HashMap<u64, usize>,
    texts: Texts,
    files: FileLog,
    tokens: TokenCount,
    subagent_tokens: TokenCount,
    session: SessionFacts,
    first_time: Option<String>,
    /// The model of the last text, and that of the last model call.
    said_by: Option<String>,
    called: Option<String>,
    subagents: Vec<SubagentLink>,
    /// The last subagent of each tool call.
    subagent_of: HashMap<u64, usize>,
    compactions: usize,
    turn_ended: bool,
    unreadable: Vec<(u64, String)>,
}

struct Prompt {
    seq: Seq,
    offset: u64,
    record: u64,
    text: String,
}

impl Collector {
    /// Counts what stands at `from` or behind it; what stands before must be given as well, since later rows are read
    /// in its light. `paths` says what file paths are made relative to.
    #[must_use]
    pub fn new(from: u64, paths: RepoPaths) -> Self {
        Self {
            from,
            branches: Branches::default(),
            prompts: vec![],
            prompt_of: HashMap::new(),
            texts: Texts::default(),
            files: FileLog::new(from, paths),
            tokens: TokenCount::new(from),
            subagent_tokens: TokenCount::new(from),
            session: SessionFacts::default(),
            first_time: None,
            said_by: None,
            called: None,
            subagents: vec![],
            subagent_of: HashMap::new(),
            compactions: 0,
            turn_ended: false,
            unreadable: vec![],
        }
    }

    /// Takes the next entry.
    pub fn add(&mut self, entry: Entry) {
        let seq = self.branches.record(&entry);
        if self.first_time.is_none() && !entry.inherited {
            self.first_time.clone_from(&entry.time);
        }
        let is_main = entry.subagent.is_none();
        let counts = is_main && !entry.inherited;
        if counts && !matches!(entry.item, Item::Note | Item::Session(_) | Item::Usage(_)) {
            self.turn_ended = matches!(entry.item, Item::TurnEnd);
        }
        match entry.item {
            Item::Usage(usage) => {
                if let (true, Some(model)) = (is_main, &usage.model) {
                    self.called = Some(model.clone());
                }
                let count = if is_main {
                    &mut self.tokens
                } else {
                    &mut self.subagent_tokens
                };
                let record = entry.record_id.as_deref().map_or(0, hash);
                count.add(entry.offset, record, entry.inherited, &usage);
            }
            Item::Unreadable(reason) if self.unreadable.len() < 100 => self.unreadable.push((entry.offset, reason)),
            Item::Rewind(rewind) if counts => self.branches.rewind(&rewind),
            Item::Session(facts) if counts => self.session_facts(facts),
            Item::UserPrompt(prompt) if counts => {
                let record = entry.record_id.as_deref().map_or(0, hash);
                self.prompt(Prompt {
                    seq,
                    offset: entry.offset,
                    record,
                    text: prompt.text,
                });
            }
            Item::AssistantText(text) if counts => {
                if let Some(model) = &text.model {
                    self.said_by = Some(model.clone());
                }
                let record = entry.record_id.as_deref().map_or(0, hash);
                self.texts.add(seq, record, text);
            }
            Item::ToolCall(call) if counts => {
                if let Some(started) = &call.subagent {
                    self.subagent_started(entry.offset, &call.id, started.clone());
                }
                self.files.call(seq, entry.offset, call);
            }
            Item::ToolResult(result) if counts => {
                if let Some(id) = &result.subagent_id {
                    self.subagent_named(&result.id, id);
                }
                self.files.result(seq, entry.offset, result);
            }
            Item::FileChange(effect) if counts => self.files.change(seq, entry.offset, effect),
            Item::Compaction(_) if counts => self.compactions += 1,
            _ => {}
        }
    }

    /// The sum.
    #[must_use]
    pub fn finish(self) -> Facts {
        let standing = self.branches.standing();
        let prompts = self
            .prompts
            .into_iter()
            .filter(|prompt| prompt.offset >= self.from && standing.holds(prompt.seq))
            .map(|prompt| prompt.text)
            .collect();
        let last = self.texts.last(&standing);
        let mut session = self.session;
        session.started_at = session.started_at.or(self.first_time);
        let named = last.as_ref().and_then(|text| text.model.clone());
        // Calls come last: where all agents of a session share its numbers, they can be another agent's.
        let model = named.or(self.said_by).or_else(|| session.model.clone()).or(self.called);
        Facts {
            prompts,
            files: self.files.finish(&standing),
            summary: last.map(|text| text.text),
            model,
            tokens: self.tokens.finish(),
            subagent_tokens: Some(self.subagent_tokens.finish()).filter(|totals| *totals != TokenTotals::default()),
            session,
            subagents: self.subagents,
            compactions: self.compactions,
            turn_ended: self.turn_ended,
            unreadable: self.unreadable,
        }
    }

    fn session_facts(&mut self, facts: SessionFacts) {
        let known = &mut self.session;
        let replace = |known: &mut Option<String>, said: Option<String>| {
            if said.is_some() {
                *known = said;
            }
        };
        self.files.set_cwd(facts.cwd.as_deref());
        replace(&mut known.session_id, facts.session_id);
        replace(&mut known.parent_session_id, facts.parent_session_id);
        replace(&mut known.cwd, facts.cwd);
        replace(&mut known.started_at, facts.started_at);
        replace(&mut known.model, facts.model);
        replace(&mut known.agent_version, facts.agent_version);
        replace(&mut known.title, facts.title);
    }

    /// A record that was written again under its id is one prompt, in its first place and its last wording.
    fn prompt(&mut self, prompt: Prompt) {
        if prompt.text.trim().is_empty() {
            return;
        }
        let known = self.prompt_of.get(&prompt.record).filter(|_| prompt.record != 0);
        match known.and_then(|at| self.prompts.get_mut(*at)) {
            Some(known) if known.offset != prompt.offset => known.text = prompt.text,
            _ => {
                self.prompt_of.insert(prompt.record, self.prompts.len());
                self.prompts.push(prompt);
            }
        }
    }

    fn subagent_started(&mut self, offset: u64, tool_use_id: &str, call: SubagentCall) {
        let link = SubagentLink {
            offset,
            tool_use_id: tool_use_id.to_owned(),
            subagent_id: None,
            call,
        };
        let id = hash(tool_use_id);
        let known = self.subagent_of.get(&id).filter(|_| !tool_use_id.is_empty());
        match known.and_then(|at| self.subagents.get_mut(*at)) {
            Some(known) => known.call = link.call,
            None => {
                self.subagent_of.insert(id, self.subagents.len());
                self.subagents.push(link);
            }
        }
    }

    fn subagent_named(&mut self, tool_use_id: &str, subagent_id: &str) {
        let known = self.subagent_of.get(&hash(tool_use_id)).copied();
        if let Some(known) = known.and_then(|at| self.subagents.get_mut(at)) {
            known.subagent_id = Some(subagent_id.to_owned());
        }
    }
}

/// The latest texts of the main agent.
#[derive(Default)]
struct Texts {
    kept: std::collections::VecDeque<Message>,
    bytes: usize,
}

/// One message.
struct Message {
    /// Where it begins.
    seq: Seq,
    text: AssistantText,
    pieces: Pieces,
}

impl Texts {
    fn add(&mut self, seq: Seq, record: u64, text: AssistantText) {
        if text.text.trim().is_empty() {
            return;
        }
        // Without an id a message is what stands in one record.
        let id = text.message_id.as_ref();
        let is_same = |known: &Message| known.text.message_id.as_ref() == id && (id.is_some() || known.seq == seq);
        match self.kept.iter_mut().rev().take(64).find(|known| is_same(known)) {
            Some(known) => match known.pieces.add(record, seq) {
                Piece::Known if !text.replaces => {}
                Piece::More if !text.replaces => {
                    self.bytes += text.text.len() + 1;
                    known.text.text.push('\n');
                    known.text.text.push_str(&text.text);
                    if text.model.is_some() {
                        known.text.model = text.model;
                    }
                }
                piece => {
                    // What was written again behind a rewind stands where it is now.
                    if matches!(piece, Piece::Instead) {
                        known.seq = seq;
                    }
                    self.bytes = self.bytes + text.text.len() - known.text.text.len();
                    known.text = text;
                }
            },
            None => {
                self.bytes += text.text.len();
                self.kept.push_back(Message {
                    seq,
                    text,
                    pieces: Pieces::of(record, seq),
                });
            }
        }
        while self.bytes > KEPT_TEXT && self.kept.len() > 1 {
            if let Some(oldest) = self.kept.pop_front() {
                self.bytes -= oldest.text.text.len();
            }
        }
    }

    fn last(self, standing: &super::branches::Standing) -> Option<AssistantText> {
        self.kept
            .into_iter()
            .rev()
            .find(|message| standing.holds(message.seq))
            .map(|message| message.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FileEffect, FileOp, Rewind, UserPrompt};

    fn entry(offset: u64, record: &str, item: Item) -> Entry {
        Entry {
            offset,
            time: Some(format!("2026-01-01T00:00:{offset:02}Z")),
            record_id: Some(record.to_owned()),
            parent_id: None,
            subagent: None,
            inherited: false,
            item,
        }
    }

    fn prompt(text: &str) -> Item {
        Item::UserPrompt(UserPrompt {
            text: text.to_owned(),
            images: 0,
        })
    }

    fn said(text: &str, id: &str, replaces: bool) -> Item {
        Item::AssistantText(AssistantText {
            text: text.to_owned(),
            model: Some("m".to_owned()),
            message_id: Some(id.to_owned()),
            replaces,
        })
    }

    fn facts(from: u64, entries: Vec<Entry>) -> Facts {
        let mut collector = Collector::new(from, RepoPaths::default());
        entries.into_iter().for_each(|entry| collector.add(entry));
        collector.finish()
    }

    #[test]
    fn the_same_words_twice_are_two_prompts_and_a_rewritten_record_is_one() {
        let entries = || {
            vec![
                entry(0, "a", prompt("continue")),
                entry(1, "b", prompt("continue")),
                entry(2, "c", prompt("dra")),
                entry(3, "c", prompt("draft")),
            ]
        };
        assert_eq!(facts(0, entries()).prompts, ["continue", "continue", "draft"]);
        assert_eq!(facts(1, entries()).prompts, ["continue", "draft"]);
    }

    #[test]
    fn files_come_back_only_when_the_agent_put_them_back() {
        let made = Item::FileChange(FileEffect {
            path: "a".to_owned(),
            op: FileOp::Create,
        });
        for (restores_files, expected) in [(true, vec![]), (false, vec!["a".to_owned()])] {
            let back = Item::Rewind(Rewind {
                record_id: "r".to_owned(),
                inclusive: true,
                restores_files,
            });
            assert_eq!(
                facts(0, vec![entry(0, "r", made.clone()), entry(1, "s", back)])
                    .files
                    .created,
                expected
            );
        }
    }

    #[test]
    fn what_the_user_took_back_does_not_count() {
        let back = Item::Rewind(Rewind {
            record_id: "c".to_owned(),
            inclusive: true,
            restores_files: true,
        });
        let sum = facts(
            0,
            vec![
                entry(0, "a", prompt("one")),
                entry(1, "b", said("answer one", "b", false)),
                entry(2, "c", prompt("two")),
                entry(3, "d", said("answer two", "d", false)),
                entry(4, "e", back),
                entry(5, "f", prompt("three")),
            ],
        );
        assert_eq!(sum.prompts, ["one", "three"]);
        assert_eq!(sum.summary.as_deref(), Some("answer one"));
        assert_eq!(sum.session.started_at.as_deref(), Some("2026-01-01T00:00:00Z"));
    }

    #[test]
    fn pieces_of_one_message_are_joined_and_newer_versions_replace() {
        let sum = |replaces| {
            facts(
                0,
                vec![
                    entry(0, "a", said("first", "m1", false)),
                    entry(1, "b", said("second", "m1", replaces)),
                ],
            )
        };
        assert_eq!(sum(false).summary.as_deref(), Some("first\nsecond"));
        assert_eq!(sum(true).summary.as_deref(), Some("second"));
    }

    #[test]
    fn texts_of_one_record_are_one_message_also_without_an_id() {
        let said = |offset, text: &str| {
            let item = Item::AssistantText(AssistantText {
                text: text.to_owned(),
                model: None,
                message_id: None,
                replaces: false,
            });
            let mut entry = entry(offset, "", item);
            entry.record_id = None;
            entry
        };
        let sum = facts(0, vec![said(0, "before"), said(5, "first"), said(5, "second")]);
        assert_eq!(sum.summary.as_deref(), Some("first\nsecond"));
    }

    #[test]
    fn a_record_that_stands_twice_is_said_once() {
        let rows = || {
            vec![
                entry(0, "a", said("one", "m1", false)),
                entry(1, "b", said("two", "m1", false)),
            ]
        };
        let again = rows().into_iter().map(|row| Entry {
            offset: row.offset + 2,
            ..row
        });
        assert_eq!(
            facts(0, rows().into_iter().chain(again).collect()).summary.as_deref(),
            Some("one\ntwo")
        );
    }

    #[test]
    fn a_message_that_was_written_again_is_said_once() {
        let sum = facts(
            0,
            vec![
                entry(0, "m1", said("dra", "m1", false)),
                entry(3, "m1", said("draft", "m1", false)),
                entry(3, "m1", said("and more", "m1", false)),
            ],
        );
        assert_eq!(sum.summary.as_deref(), Some("draft\nand more"));
    }

    #[test]
    fn inherited_records_and_subagents_give_no_prompts() {
        let mut copied = entry(0, "a", prompt("of the parent"));
        copied.inherited = true;
        let mut side = entry(1, "b", prompt("of the agent"));
        side.subagent = Some("x".to_owned());
        assert_eq!(
            facts(0, vec![copied, side, entry(2, "c", prompt("mine"))]).prompts,
            ["mine"]
        );
    }
}
