//! pi's session files: a header, then the records of a tree, one a line.

use hookhost_sdk::content::{Block, blocks, joined_text};
use hookhost_sdk::lines::LineReader;
use hookhost_sdk::paths::file_stem;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileOp, Item, Json, Object, SessionFacts, ToolCall, ToolResult, Usage,
    UsageScope, UserPrompt, Wanted, time,
};

use crate::sessions::id_in;

const PATH: &[&str] = &["path"];

const TOOLS: &[Rule] = &[
    Rule::new(&["read"], Effect::File(FileOp::Read, PATH)),
    Rule::new(&["write"], Effect::File(FileOp::Write, PATH)),
    Rule::new(&["edit"], Effect::File(FileOp::Modify, PATH)),
    Rule::new(
        &["bash", "powershell"],
        Effect::Shell {
            command: &["command"],
            cwd: &[],
        },
    ),
];

/// What Entire's extension puts before every command of the agent's.
const ENTIRE_PREFIX: &str = "export GIT_TERMINAL_PROMPT=0\n";

/// Reads a session file.
pub(crate) struct Tree {
    want: Wanted,
    /// The session was forked at this time: records from before are its parent's.
    forked_at: Option<u64>,
}

impl Tree {
    pub(crate) fn new(want: Wanted) -> Self {
        Self { want, forked_at: None }
    }

    fn header(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        let started_at = record.get("timestamp").and_then(time::of);
        let parent = record.text("parentSession");
        if parent.is_some() {
            self.forked_at = started_at.as_deref().and_then(time::millis);
        }
        let mut entry = Entry::new(
            offset,
            Item::Session(SessionFacts {
                session_id: record.id(&["id"]),
                parent_session_id: parent.and_then(|file| id_in(file_stem(&file))),
                cwd: record.text("cwd").map(Into::into),
                started_at: started_at.clone(),
                model: None,
                agent_version: None,
                title: None,
            }),
        );
        entry.time = started_at;
        out.push(entry);
    }
}

impl LineReader for Tree {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        let kind = record.text("type").unwrap_or_default();
        if kind == "session" {
            return self.header(offset, record, out);
        }
        let time = record.get("timestamp").and_then(time::of);
        let written = time.as_deref().and_then(time::millis);
        let node = Node {
            want: self.want,
            offset,
            id: record.id(&["id"]),
            record,
        };
        let mut items = match kind.as_ref() {
            "message" => node.message(),
            "compaction" => {
                let summary = record.text("summary").map(Into::into);
                let mark = Item::Compaction(CompactionMark { trigger: None, summary });
                std::iter::once(mark).chain(node.usage(record, None)).collect()
            }
            "session_info" => {
                let title = record.text("name").map(Into::into);
                vec![Item::Session(SessionFacts { title, ..no_facts() })]
            }
            // Model calls beside the conversation: summaries of branches and what extensions ask.
            _ => node.usage(record, None).into_iter().collect(),
        };
        if items.is_empty() {
            items.push(Item::Note);
        }
        out.extend(items.into_iter().map(|item| Entry {
            offset,
            time: time.clone(),
            record_id: node.id.clone(),
            parent_id: record.id(&["parentId"]),
            subagent: None,
            inherited: self.forked_at.zip(written).is_some_and(|(forked, at)| at < forked),
            item,
        }));
    }
}

fn no_facts() -> SessionFacts {
    SessionFacts {
        session_id: None,
        parent_session_id: None,
        cwd: None,
        started_at: None,
        model: None,
        agent_version: None,
        title: None,
    }
}

/// One record of the tree.
struct Node<'a, 'r> {
    want: Wanted,
    offset: u64,
    /// The first version has none.
    id: Option<String>,
    record: &'r Object<'a>,
}

impl Node<'_, '_> {
    fn message(&self) -> Vec<Item> {
        let message = self.record.object("message").unwrap_or_default();
        match message.text("role").as_deref() {
            Some("user") => self.prompt(&message).into_iter().collect(),
            Some("assistant") => self.answer(&message),
            Some("toolResult") => {
                let result = Item::ToolResult(ToolResult {
                    id: message.id(&["toolCallId"]).unwrap_or_default(),
                    output: if self.want.contains(Wanted::TOOL_BODIES) {
                        joined_text(message.get("content"))
                    } else {
                        String::new()
                    },
                    is_error: message.flag("isError"),
                    files: vec![],
                    subagent_id: None,
                });
                std::iter::once(result).chain(self.usage(&message, None)).collect()
            }
            _ => vec![],
        }
    }

    fn prompt(&self, message: &Object<'_>) -> Option<Item> {
        if !self.want.contains(Wanted::PROMPTS) {
            return None;
        }
        let mut texts = vec![];
        let mut images = 0;
        for block in blocks(message.get("content")) {
            match block {
                Block::Text(text) => texts.push(text),
                Block::Image => images += 1,
                _ => {}
            }
        }
        let text = texts.join("\n");
        (!text.is_empty() || images > 0).then_some(Item::UserPrompt(UserPrompt { text, images }))
    }

    fn answer(&self, message: &Object<'_>) -> Vec<Item> {
        let model = message.id(&["model"]);
        let mut items = vec![];
        let mut texts = vec![];
        for block in blocks(message.get("content")) {
            match block {
                Block::Text(text) if !text.is_empty() => texts.push(text),
                Block::Thinking(text) if self.want.contains(Wanted::THINKING) && !text.is_empty() => {
                    items.push(Item::Thinking(text.into_owned()));
                }
                Block::Other(object) if object.text("type").as_deref() == Some("toolCall") => {
                    items.push(Item::ToolCall(self.call(&object)));
                }
                _ => {}
            }
        }
        if self.want.contains(Wanted::TEXTS) && !texts.is_empty() {
            // In front of the calls, where the model says it.
            let at = items
                .iter()
                .position(|item| matches!(item, Item::ToolCall(_)))
                .unwrap_or(items.len());
            let text = Item::AssistantText(AssistantText {
                text: texts.join("\n"),
                model: model.clone(),
                message_id: self.id.clone(),
                replaces: false,
            });
            items.insert(at, text);
        }
        items.extend(self.usage(message, model));
        if message.text("stopReason").is_some_and(|reason| reason != "toolUse") {
            items.push(Item::TurnEnd);
        }
        items
    }

    fn call(&self, block: &Object<'_>) -> ToolCall {
        let id = block.id(&["id"]).unwrap_or_default();
        let name = block.text("name").unwrap_or_default();
        let mut call = call(TOOLS, id, &name, block.get("arguments"), self.want);
        if let Some(shell) = &mut call.shell
            && let Some(typed) = shell.command.strip_prefix(ENTIRE_PREFIX)
        {
            shell.command = typed.to_owned();
        }
        call
    }

    /// The tokens of one model call, if it used any. `reasoning` is inside `output`, `cacheWrite1h` inside `cacheWrite`.
    fn usage(&self, owner: &Object<'_>, model: Option<String>) -> Option<Item> {
        let usage = owner.object("usage")?;
        let read = |key| usage.get(key).and_then(Json::count).unwrap_or_default();
        let usage = Usage {
            scope: UsageScope::Call(self.id.clone().unwrap_or_else(|| self.offset.to_string())),
            model,
            input: read("input"),
            cache_creation: read("cacheWrite"),
            cache_read: read("cacheRead"),
            output: read("output"),
            calls: 1,
        };
        let used = usage.input > 0 || usage.output > 0 || usage.cache_creation > 0 || usage.cache_read > 0;
        (used && self.want.contains(Wanted::TOKENS)).then_some(Item::Usage(usage))
    }
}
