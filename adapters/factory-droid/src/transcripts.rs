//! From a session's lines, and the settings file beside them, to entries.

use std::collections::HashSet;

use hookhost_sdk::content::{Block, blocks};
use hookhost_sdk::lines::LineReader;
use hookhost_sdk::prompt::unwrapped;
use hookhost_sdk::shell::exit_code;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileOp, Item, Json, Object, SessionFacts, Start, ToolResult, Usage,
    UsageScope, UserPrompt, Wanted,
};

use crate::hooks;

const TOOLS: &[Rule] = &[
    Rule::new(&["Create", "Write"], Effect::File(FileOp::Write, &["file_path"])),
    Rule::new(&["Edit", "MultiEdit"], Effect::File(FileOp::Modify, &["file_path"])),
    Rule::new(
        &["NotebookEdit"],
        Effect::File(FileOp::Modify, &["notebook_path", "file_path"]),
    ),
    Rule::new(&["Read"], Effect::File(FileOp::Read, &["file_path"])),
    Rule::new(&["ApplyPatch"], Effect::Patch(&["input", "patch"])),
    Rule::new(
        &["Execute"],
        Effect::Shell {
            command: &["command"],
            cwd: &["cwd"],
        },
    ),
    Rule::new(
        &["Task"],
        Effect::Subagent {
            kind: &["subagent_type"],
            description: &["description"],
            prompt: &["prompt"],
        },
    ),
];

/// How a block begins that holds a file named in the prompt.
const FILE: &str = "Contents of ";

/// The run of the session's only token total.
const RUN: &str = "session";

/// One pass over a session.
pub(crate) struct Session {
    want: Wanted,
    /// The user's own label, for models of the user's own.
    model: Option<String>,
    /// The session's total, until it has been given out.
    total: Option<Usage>,
    /// The numbers of single messages are of no account beside the total.
    has_total: bool,
    /// A worker's prompts are its parent's words.
    is_worker: bool,
    /// Calls that start workers.
    tasks: HashSet<String>,
}

impl Session {
    pub(crate) fn new(start: &Start) -> Self {
        let text = start
            .companions
            .iter()
            .find(|companion| companion.path.ends_with(".settings.json"))
            .map(|companion| String::from_utf8_lossy(&companion.data).into_owned())
            .unwrap_or_default();
        let settings = Object::parse(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let model = settings
            .text("model")
            .map(|model| model.strip_prefix("custom:").unwrap_or(&model).to_owned());
        let total = settings.object("tokenUsage").map(|usage| Usage {
            scope: UsageScope::RunningTotal(RUN.to_owned()),
            model: model.clone(),
            input: usage.count("inputTokens"),
            cache_creation: usage.count("cacheCreationTokens"),
            cache_read: usage.count("cacheReadTokens"),
            // Thinking is part of it.
            output: usage.count("outputTokens"),
            calls: 0,
        });
        Self {
            want: start.want,
            model,
            has_total: total.is_some(),
            // Of a session that is read from its middle on, nothing tells what the total gained since.
            total: total.filter(|_| start.from == 0),
            is_worker: false,
            tasks: HashSet::new(),
        }
    }
}

impl LineReader for Session {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        // The total belongs to the session as a whole: it counts for a reading of the whole only.
        if let Some(total) = self.total.take() {
            out.push(Entry::new(0, Item::Usage(total)));
        }
        let items = match record.text("type").as_deref() {
            Some("session_start") => vec![self.session_start(record)],
            Some("compaction_state") => vec![Item::Compaction(CompactionMark {
                trigger: record.text("trigger").map(Into::into),
                summary: record.text_any(&["summaryText", "summary"]).map(Into::into),
            })],
            Some("message") => match record.object("message") {
                Some(message) => self.message(record, &message),
                None => vec![],
            },
            _ => vec![],
        };
        let time = record.text("timestamp").map(String::from);
        let id = record.id(&["id"]);
        out.extend(items.into_iter().map(|item| {
            let mut entry = Entry::new(offset, item);
            entry.time.clone_from(&time);
            entry.record_id.clone_from(&id);
            entry
        }));
    }
}

impl Session {
    fn session_start(&mut self, record: &Object<'_>) -> Item {
        let parent = record.id(&["callingSessionId"]);
        self.is_worker = parent.is_some();
        Item::Session(SessionFacts {
            session_id: record.id(&["id"]),
            parent_session_id: parent,
            cwd: record.text("cwd").map(Into::into),
            started_at: record.text("timestamp").map(Into::into),
            model: self.model.clone(),
            agent_version: None,
            title: record.text_any(&["sessionTitle", "title"]).map(Into::into),
        })
    }

    fn message(&mut self, record: &Object<'_>, message: &Object<'_>) -> Vec<Item> {
        let content = blocks(message.get("content"));
        match message.text("role").as_deref() {
            Some("user") => {
                let mut items = self.results(&content);
                if items.is_empty() && !self.is_worker {
                    items.extend(prompt(content));
                }
                items
            }
            Some("assistant") => self.assistant(record, message, content),
            _ => vec![],
        }
    }

    /// The answers of tools. A message that holds one is not the user's.
    fn results(&self, content: &[Block<'_>]) -> Vec<Item> {
        let mut items = vec![];
        for block in content {
            let Block::ToolResult { id, output, is_error } = block else {
                continue;
            };
            let is_task = self.tasks.contains(id);
            items.push(Item::ToolResult(ToolResult {
                id: id.clone(),
                is_error: *is_error || failed(output),
                files: vec![],
                subagent_id: is_task.then(|| hooks::in_text(output).worker).flatten(),
                output: if self.want.contains(Wanted::TOOL_BODIES) {
                    output.clone()
                } else {
                    String::new()
                },
            }));
        }
        items
    }

    fn assistant(&mut self, record: &Object<'_>, message: &Object<'_>, content: Vec<Block<'_>>) -> Vec<Item> {
        let id = record.id(&["id"]);
        let mut items = vec![];
        for block in content {
            match block {
                Block::Text(text) if self.want.contains(Wanted::TEXTS) && !text.is_empty() => {
                    items.push(Item::AssistantText(AssistantText {
                        text: text.into_owned(),
                        model: self.model.clone(),
                        message_id: id.clone(),
                        replaces: false,
                    }));
                }
                Block::Thinking(text) if self.want.contains(Wanted::THINKING) => {
                    items.push(Item::Thinking(text.into_owned()));
                }
                Block::ToolUse { id, name, input } if self.want.contains(Wanted::FILES) => {
                    let call = call(TOOLS, id, &name, input, self.want);
                    if call.subagent.is_some() {
                        self.tasks.insert(call.id.clone());
                    }
                    items.push(Item::ToolCall(call));
                }
                _ => {}
            }
        }
        if self.want.contains(Wanted::TOKENS) {
            items.push(Item::Usage(self.usage(id, message)));
        }
        items
    }

    /// One model call. Its numbers stand in the message in no file that was seen; if they do, they count when there is
    /// no total.
    fn usage(&self, id: Option<String>, message: &Object<'_>) -> Usage {
        let usage = message.object("usage").filter(|_| !self.has_total).unwrap_or_default();
        Usage {
            scope: UsageScope::Call(id.unwrap_or_default()),
            model: self.model.clone(),
            input: usage.count("input_tokens"),
            cache_creation: usage.count("cache_creation_input_tokens"),
            cache_read: usage.count("cache_read_input_tokens"),
            output: usage.count("output_tokens"),
            calls: 1,
        }
    }
}

/// What a person typed: the texts of a message without reminders and without the files that the prompt named.
fn prompt(content: Vec<Block<'_>>) -> Option<Item> {
    let mut images = 0;
    let mut texts = vec![];
    for block in content {
        match block {
            Block::Image => images += 1,
            Block::Text(text) => texts.push(text),
            _ => {}
        }
    }
    let own: Vec<String> = texts
        .iter()
        .map(|text| unwrapped(text, hooks::REMINDERS).into_owned())
        .collect();
    let is_words = |text: &&String| !text.trim().is_empty() && !text.trim_start().starts_with("<system-reminder>");
    let mut words: Vec<&String> = own
        .iter()
        .enumerate()
        .filter(|(index, text)| *index == 0 || !text.starts_with(FILE))
        .map(|(_, text)| text)
        .filter(is_words)
        .collect();
    if words.is_empty() {
        // A prompt can begin like that.
        words = own.iter().filter(is_words).take(1).collect();
    }
    let text = words.into_iter().map(String::as_str).collect::<Vec<_>>().join("\n");
    (!text.is_empty() || images > 0).then_some(Item::UserPrompt(UserPrompt { text, images }))
}

/// Failures that only the text tells of: `{"success":false}`, the end of a command, or an error's text.
fn failed(output: &str) -> bool {
    if let Ok(object) = Object::parse(output) {
        return object.get("success").and_then(Json::flag) == Some(false);
    }
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    match exit_code(last, "[Process exited with code ", "]") {
        Some(code) => code != 0,
        None => ["Error:", "Error "]
            .iter()
            .any(|beginning| output.starts_with(beginning)),
    }
}

#[cfg(test)]
mod tests;
