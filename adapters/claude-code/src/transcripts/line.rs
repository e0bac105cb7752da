//! What a line says.

use std::borrow::Cow;

use hookhost_sdk::content::joined_text;
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileEffect, FileOp, Item, Json, Rewind, SessionFacts, ToolResult, Usage,
    UsageScope, UserPrompt, Wanted, tools,
};

use super::record::{Block, Content, Message, Outcome, Record, Title};
use super::{Prompt, Reader, TOOLS};
use crate::prompts::{self, Typed};

/// What a subagent's line is marked with that does not say whose it is.
const SOME_SUBAGENT: &str = "sidechain";

/// One line on its way to entries.
pub(super) struct Line<'r, 'a> {
    reader: &'r mut Reader,
    offset: u64,
    record: &'r Record<'a>,
    subagent: Option<String>,
    /// The line's summary went to the compaction that it belongs to.
    summary_is_told: bool,
    out: &'r mut Vec<Entry>,
}

impl<'r, 'a> Line<'r, 'a> {
    pub(super) fn new(reader: &'r mut Reader, offset: u64, record: &'r Record<'a>, out: &'r mut Vec<Entry>) -> Self {
        let subagent = (record.is_sidechain && !reader.is_subagents)
            .then(|| record.agent_id.as_deref().unwrap_or(SOME_SUBAGENT).to_owned());
        Self {
            reader,
            offset,
            record,
            subagent,
            summary_is_told: false,
            out,
        }
    }

    pub(super) fn read(mut self) {
        self.release();
        self.session();
        match self.record.kind.as_deref() {
            Some("user") => self.user(),
            Some("assistant") => self.assistant(),
            Some("system") => self.system(),
            Some("attachment") => self.queued(),
            _ => {}
        }
    }

    fn entry(&self, item: Item) -> Entry {
        Entry {
            offset: self.offset,
            time: owned(&self.record.time),
            record_id: owned(&self.record.id),
            parent_id: None,
            subagent: self.subagent.clone(),
            inherited: self.record.forked_from.is_some(),
            item,
        }
    }

    fn push(&mut self, item: Item) {
        let entry = self.entry(item);
        self.out.push(entry);
    }

    /// Decides about the entry that waited for this line.
    fn release(&mut self) {
        let record = self.record;
        if self.reader.held.is_none() || !(record.is("user") || record.is("assistant") || record.is("system")) {
            return;
        }
        let Some(mut held) = self.reader.held.take() else {
            return;
        };
        match &mut held.item {
            Item::Compaction(mark) if record.is_compact_summary => {
                mark.summary = joined(&record.message.content);
                self.summary_is_told = true;
            }
            // Claude Code carried the command out itself and put this out: it was nothing for the agent.
            Item::UserPrompt(_) if is_command_output(record) => return,
            _ => {}
        }
        self.out.push(held);
    }

    /// Tells what is new about the session.
    fn session(&mut self) {
        let record = self.record;
        if self.subagent.is_some() {
            return;
        }
        let mut facts = SessionFacts::default();
        let known = &mut self.reader.session;
        let (session_id, parent) = if self.reader.is_subagents && record.agent_id.is_some() {
            (&record.agent_id, &record.session_id)
        } else {
            (&record.session_id, &record.forked_from)
        };
        let mut is_new = learn(&mut known.session_id, &mut facts.session_id, session_id);
        is_new |= learn(&mut known.parent_session_id, &mut facts.parent_session_id, parent);
        is_new |= learn(&mut known.cwd, &mut facts.cwd, &record.cwd);
        is_new |= learn(&mut known.agent_version, &mut facts.agent_version, &record.version);
        let (rank, title) = match &record.title {
            Title::None => (0, None),
            Title::Summary(title) => (1, Some(title)),
            Title::Agent(title) => (2, Some(title)),
            Title::User(title) => (3, Some(title)),
        };
        if let Some(title) = title.filter(|title| !title.is_empty() && rank >= self.reader.title_rank) {
            self.reader.title_rank = rank;
            facts.title = Some(title.clone().into_owned());
            is_new = true;
        }
        if is_new {
            let mut entry = self.entry(Item::Session(facts));
            if std::mem::take(&mut entry.inherited) {
                // What was copied is older than the session.
                entry.time = None;
            }
            self.out.push(entry);
        }
    }

    fn system(&mut self) {
        match self.record.subtype.as_deref() {
            Some("compact_boundary") => {
                let mark = CompactionMark {
                    trigger: owned(&self.record.trigger),
                    summary: None,
                };
                self.reader.held = Some(self.entry(Item::Compaction(mark)));
            }
            Some("turn_duration" | "stop_hook_summary") => self.push(Item::TurnEnd),
            _ => {}
        }
    }

    fn user(&mut self) {
        let record = self.record;
        if record.is_compact_summary {
            if !self.summary_is_told {
                let summary = joined(&record.message.content);
                self.push(Item::Compaction(CompactionMark { trigger: None, summary }));
            }
            return;
        }
        let content = &record.message.content;
        if content.has_tool_results() {
            self.results();
        } else if !record.is_meta
            && !record.result.is_there
            && self.subagent.is_none()
            && !self.reader.is_subagents
            && is_human(record.origin.as_deref())
        {
            self.prompt(content);
        }
    }

    /// What was typed while the agent worked.
    fn queued(&mut self) {
        let queued = &self.record.queued;
        if queued.kind.as_deref() == Some("queued_command")
            && queued.mode.as_deref().is_none_or(|mode| mode == "prompt")
            && !queued.is_meta
            && !self.record.is_meta
            && is_human(queued.origin.as_deref())
            && self.subagent.is_none()
            && !self.reader.is_subagents
        {
            self.prompt(&queued.prompt);
        }
    }

    fn prompt(&mut self, content: &Content<'_>) {
        let pictures = content.pictures();
        let mut texts = vec![];
        let mut is_command = false;
        for text in content.texts() {
            let text = if pictures > 0 {
                Cow::Borrowed(prompts::without_picture_marks(&text))
            } else {
                Cow::Borrowed(&*text)
            };
            match prompts::typed(&text) {
                Typed::Prompt(text) => texts.push(text),
                Typed::Command(text) => {
                    is_command = true;
                    texts.push(text);
                }
                Typed::Nothing => {}
            }
        }
        if texts.is_empty() && pictures == 0 {
            return;
        }
        self.rewound();
        if !self.reader.want.contains(Wanted::PROMPTS) {
            // Another line may say that the user went back to before this one.
            self.push(Item::Note);
            return;
        }
        let prompt = self.entry(Item::UserPrompt(UserPrompt {
            text: texts.join("\n"),
            images: u32::try_from(pictures).unwrap_or(u32::MAX),
        }));
        if is_command {
            self.reader.held = Some(prompt);
        } else {
            self.out.push(prompt);
        }
    }

    /// A prompt that follows the same line as an earlier one stands in its place: the user went back to before that.
    fn rewound(&mut self) {
        let record = self.record;
        let (Some(id), Some(parent_id)) = (owned(&record.id), owned(&record.parent_id)) else {
            return;
        };
        if !record.is("user") || record.forked_from.is_some() {
            return;
        }
        let prompts = &mut self.reader.prompts;
        if let Some(at) = prompts
            .iter()
            .position(|prompt| prompt.parent_id == parent_id && prompt.id != id)
        {
            let replaced = prompts.drain(at..).next();
            if let Some(replaced) = replaced {
                let mut entry = self.entry(Item::Rewind(Rewind {
                    record_id: replaced.id,
                    inclusive: true,
                    // What became of the files is the user's choice, which no line tells.
                    restores_files: false,
                }));
                // It goes back to before this line, which stands.
                entry.record_id = None;
                self.out.push(entry);
            }
        }
        self.reader.prompts.push(Prompt { id, parent_id });
    }

    fn results(&mut self) {
        if !self.reader.wants_tools() {
            return;
        }
        let record = self.record;
        let results = || {
            record
                .message
                .content
                .blocks
                .iter()
                .filter(|block| block.is("tool_result"))
        };
        // What the tool gave back belongs to the line's only result.
        let outcome = Some(&record.result).filter(|_| results().nth(1).is_none());
        for block in results() {
            let id = block.tool_use_id.as_deref().unwrap_or_default();
            let refused = outcome.is_some_and(|outcome| {
                outcome
                    .text
                    .is_some_and(|text| text.raw().starts_with("\"Error:") || text.raw().starts_with("\"User rejected"))
            });
            let result = ToolResult {
                id: id.to_owned(),
                output: if self.reader.want.contains(Wanted::TOOL_BODIES) {
                    joined_text(block.content)
                } else {
                    String::new()
                },
                is_error: block.is_error || refused || is_tool_error(block.content),
                files: outcome.and_then(file_effect).into_iter().collect(),
                subagent_id: self.linked_subagent(id, block.content),
            };
            self.push(Item::ToolResult(result));
        }
    }

    /// The id of the subagent that the call with this id has started.
    fn linked_subagent(&mut self, id: &str, content: Option<Json<'_>>) -> Option<String> {
        let calls = &mut self.reader.agent_calls;
        let at = calls.iter().position(|call| call == id)?;
        calls.swap_remove(at);
        owned(&self.record.result.agent_id).or_else(|| agent_id_in(&joined_text(content)))
    }

    fn assistant(&mut self) {
        let message = &self.record.message;
        // Claude Code's own words in the agent's place, an error as a rule.
        if self.record.is_api_error || message.model.as_deref() == Some("<synthetic>") {
            return;
        }
        if let Some(text) = message.content.text {
            self.said(text, message);
        }
        for block in &message.content.blocks {
            match (block.kind.as_deref(), block.text) {
                (Some("text"), Some(text)) => self.said(text, message),
                (Some("thinking"), Some(text)) if self.reader.want.contains(Wanted::THINKING) => {
                    if let Some(text) = text.text().filter(|text| !text.is_empty()) {
                        self.push(Item::Thinking(text.into_owned()));
                    }
                }
                (Some("tool_use"), _) => self.call(block),
                _ => {}
            }
        }
        self.usage(message);
        if message.stop_reason.as_deref() == Some("end_turn") {
            self.push(Item::TurnEnd);
        }
    }

    fn said(&mut self, text: Json<'_>, message: &Message<'_>) {
        if !self.reader.want.contains(Wanted::TEXTS) {
            return;
        }
        let Some(text) = text.text().filter(|text| !text.is_empty()) else {
            return;
        };
        self.push(Item::AssistantText(AssistantText {
            text: text.into_owned(),
            model: owned(&message.model),
            message_id: owned(&message.id),
            replaces: false,
        }));
    }

    fn call(&mut self, block: &Block<'_>) {
        if !self.reader.wants_tools() {
            return;
        }
        let id = block.id.as_deref().unwrap_or_default().to_owned();
        let name = block.name.as_deref().unwrap_or_default();
        let mut call = tools::call(TOOLS, id, name, block.input, self.reader.want);
        // An edit of nothing makes the file.
        if let [effect] = &mut call.files[..]
            && effect.op == FileOp::Modify
            && block
                .input
                .and_then(|input| input.get("old_string"))
                .is_some_and(|old| old.raw() == "\"\"")
        {
            effect.op = FileOp::Write;
        }
        if call.subagent.is_some() {
            self.reader.agent_calls.push(call.id.clone());
        }
        self.push(Item::ToolCall(call));
    }

    /// One model call is several lines, one for each block, which repeat the same numbers; early ones have too few.
    fn usage(&mut self, message: &Message<'_>) {
        let Some(numbers) = message.usage else { return };
        if !self.reader.want.contains(Wanted::TOKENS) {
            return;
        }
        let Some(id) = owned(&message.id).or_else(|| owned(&self.record.id)) else {
            return;
        };
        if matches!(&self.reader.last_usage, Some((last, known)) if *last == id && *known == numbers) {
            return;
        }
        self.reader.last_usage = Some((id.clone(), numbers));
        self.push(Item::Usage(Usage {
            scope: UsageScope::Call(id),
            model: owned(&message.model),
            input: numbers.input,
            cache_creation: numbers.cache_creation,
            cache_read: numbers.cache_read,
            output: numbers.output,
            calls: 1,
        }));
    }
}

/// Notes what was `said` when it is not `known`, and whether it was not.
fn learn(known: &mut Option<String>, new: &mut Option<String>, said: &Option<Cow<'_, str>>) -> bool {
    let Some(said) = said.as_deref().filter(|said| !said.is_empty()) else {
        return false;
    };
    if known.as_deref() == Some(said) {
        return false;
    }
    *known = Some(said.to_owned());
    new.clone_from(known);
    true
}

fn owned(text: &Option<Cow<'_, str>>) -> Option<String> {
    text.as_deref().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn joined(content: &Content<'_>) -> Option<String> {
    let text = content.texts().collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then_some(text)
}

/// Lines say who the user is since the time when it need not be a person.
fn is_human(origin: Option<&str>) -> bool {
    origin.is_none_or(|origin| origin == "human")
}

fn is_command_output(record: &Record<'_>) -> bool {
    if record.is("system") {
        return record.subtype.as_deref() == Some("local_command");
    }
    record.is("user")
        && record
            .message
            .content
            .texts()
            .next()
            .is_some_and(|text| prompts::is_command_output(&text))
}

/// The output is a text, or a list whose first block is one.
fn is_tool_error(content: Option<Json<'_>>) -> bool {
    const MARK: &str = "<tool_use_error>";
    let is_marked = |text: Json<'_>| text.text().is_some_and(|text| text.starts_with(MARK));
    content.is_some_and(|content| {
        // Outputs are long, and few hold the mark.
        let beginning = content.raw().get(..100).unwrap_or(content.raw());
        beginning.contains(MARK)
            && (is_marked(content)
                || content
                    .items()
                    .first()
                    .and_then(|block| block.get("text"))
                    .is_some_and(is_marked))
    })
}

/// What the tool says it did to a file.
fn file_effect(outcome: &Outcome<'_>) -> Option<FileEffect> {
    let op = match outcome.kind.as_deref()? {
        "create" => FileOp::Create,
        "update" => FileOp::Modify,
        _ => return None,
    };
    Some(FileEffect {
        path: owned(&outcome.file_path)?,
        op,
    })
}

/// `agentId: <id>` in the text that the model gets: the only place in older versions.
fn agent_id_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("agentId: ")?;
    let end = rest
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    rest.get(..end).filter(|id| !id.is_empty()).map(str::to_owned)
}
