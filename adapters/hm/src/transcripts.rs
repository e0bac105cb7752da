//! A saved stream as a transcript.

use std::collections::HashMap;

use hookhost_sdk::lines::LineReader;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileEffect, FileOp, Item, Json, Object, SessionFacts, ToolResult, Usage,
    UsageScope, UserPrompt, Wanted,
};

use crate::hooks::check_format;

const PATH: &[&str] = &["path", "file_path", "file", "paths"];

/// The stream names tools freely; these are the usual words. What a call asked approval for is told by its category.
const TOOLS: &[Rule] = &[
    Rule::new(
        &["edit", "edit_file", "str_replace", "multi_edit"],
        Effect::File(FileOp::Modify, PATH),
    ),
    Rule::new(&["write", "write_file"], Effect::File(FileOp::Write, PATH)),
    Rule::new(&["create", "create_file"], Effect::File(FileOp::Create, PATH)),
    Rule::new(
        &["delete", "delete_file", "remove_file"],
        Effect::File(FileOp::Delete, PATH),
    ),
    Rule::new(&["read", "read_file"], Effect::File(FileOp::Read, PATH)),
    Rule::new(&["apply_patch", "patch"], Effect::Patch(&["patch", "input"])),
    Rule::new(
        &["shell", "bash", "command", "run"],
        Effect::Shell {
            command: &["command", "cmd"],
            cwd: &["cwd", "dir"],
        },
    ),
];

/// Reads the lines.
pub(crate) struct Lines {
    want: Wanted,
    started: Option<String>,
    first_prompt: Option<String>,
    /// Effects that the approval of a call told of, for calls whose tool is not known.
    approved: HashMap<String, Vec<FileEffect>>,
    last_text: String,
}

impl Lines {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            want,
            started: None,
            first_prompt: None,
            approved: HashMap::new(),
            last_text: String::new(),
        }
    }
}

impl LineReader for Lines {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        if let Err(hookhost_sdk::Fault::Malformed(reason)) = check_format(record) {
            out.push(Entry::new(offset, Item::Unreadable(reason)));
            return;
        }
        let session = record.id(&["session"]);
        let kind = record.text("type").unwrap_or_default();
        let mut place = Entry::new(offset, Item::Note);
        place.time = record.text("time").map(Into::into);
        let is_start = kind == "session_start";
        place.subagent = session.filter(|session| !is_start && self.started.as_ref().is_some_and(|own| own != session));
        let is_main = place.subagent.is_none();
        let mut items = vec![];
        match &*kind {
            "session_start" => self.start(record, &mut items),
            "message_end" => self.message(record, is_main, &mut items),
            "tool_call" => self.tool_call(record, &mut items),
            "approval_needed" => self.approval_needed(record),
            // Refused: the result that follows says so too, but a stream can be cut off before it.
            "approval" if record.get("allow").and_then(Json::flag) == Some(false) => {
                items.extend(self.result(record, true, "note"));
            }
            "tool_result" => items.extend(self.result(record, record.flag("is_error"), "text")),
            "usage" => items.extend(self.usage(offset, record)),
            "compaction_end" => {
                let mark = |summary: String| {
                    Item::Compaction(CompactionMark {
                        trigger: None,
                        summary: Some(summary),
                    })
                };
                items.extend(record.text("text").map(String::from).map(mark));
            }
            "turn_end" => items.push(Item::TurnEnd),
            "session_end" => self.answer(record, &mut items),
            _ => {}
        }
        out.extend(items.into_iter().map(|item| Entry { item, ..place.clone() }));
    }
}

impl Lines {
    fn start(&mut self, record: &Object<'_>, items: &mut Vec<Item>) {
        let text = |key| record.text(key).map(String::from);
        let session_id = record.id(&["session"]);
        self.started.clone_from(&session_id);
        let resumed = record.flag("resumed");
        items.push(Item::Session(SessionFacts {
            session_id,
            cwd: text("root"),
            started_at: text("time").filter(|_| !resumed),
            model: text("model"),
            ..SessionFacts::default()
        }));
        self.first_prompt = text("prompt");
        items.extend(self.first_prompt.clone().and_then(|prompt| self.prompt(prompt, 0)));
    }

    fn prompt(&self, text: String, images: u32) -> Option<Item> {
        self.want
            .contains(Wanted::PROMPTS)
            .then_some(Item::UserPrompt(UserPrompt { text, images }))
    }

    fn message(&mut self, record: &Object<'_>, is_main: bool, items: &mut Vec<Item>) {
        let text = record.text("text").map(String::from).unwrap_or_default();
        let images = u32::try_from(record.items("images").len()).unwrap_or(u32::MAX);
        match record.text("role").as_deref() {
            Some("user") if is_main && self.first_prompt.take().is_some_and(|prompt| prompt == text) => {}
            Some("user") => items.extend(self.prompt(text, images)),
            Some("assistant") if !text.is_empty() && self.want.contains(Wanted::TEXTS) => {
                if is_main {
                    self.last_text.clone_from(&text);
                }
                items.push(Item::AssistantText(said(text)));
            }
            _ => {}
        }
    }

    /// The answer is the last message once more, unless the run was asked for something else at its end.
    fn answer(&mut self, record: &Object<'_>, items: &mut Vec<Item>) {
        let answer = record.text("answer").filter(|answer| **answer != self.last_text);
        if let Some(answer) = answer.filter(|_| self.want.contains(Wanted::TEXTS)) {
            items.push(Item::AssistantText(said(answer.into_owned())));
        }
    }

    fn tool_call(&mut self, record: &Object<'_>, items: &mut Vec<Item>) {
        if self.want.contains(Wanted::FILES) {
            let id = record.id(&["call_id"]).unwrap_or_default();
            let name = record.text("tool").unwrap_or_default();
            items.push(Item::ToolCall(call(TOOLS, id, &name, record.get("input"), self.want)));
        }
    }

    fn approval_needed(&mut self, record: &Object<'_>) {
        let op = match record.text("category").as_deref() {
            Some("edit") => FileOp::Modify,
            Some("delete") => FileOp::Delete,
            _ => return,
        };
        let name = record.text("tool").unwrap_or_default();
        let is_known = TOOLS
            .iter()
            .any(|rule| rule.names.iter().any(|known| known.eq_ignore_ascii_case(&name)));
        if let Some(id) = record.id(&["call_id"]).filter(|_| !is_known) {
            let paths = record.items("paths").into_iter().filter_map(Json::text);
            self.approved.insert(
                id,
                paths
                    .map(|path| FileEffect {
                        path: path.into_owned(),
                        op,
                    })
                    .collect(),
            );
        }
    }

    fn result(&mut self, record: &Object<'_>, is_error: bool, output: &str) -> Option<Item> {
        let id = record.id(&["call_id"])?;
        let files = self.approved.remove(&id).unwrap_or_default();
        let output = record.text(output).filter(|_| self.want.contains(Wanted::TOOL_BODIES));
        self.want.contains(Wanted::FILES).then(|| {
            let output = output.map(String::from).unwrap_or_default();
            Item::ToolResult(ToolResult {
                id,
                output,
                is_error,
                files,
                subagent_id: None,
            })
        })
    }

    fn usage(&self, offset: u64, record: &Object<'_>) -> Option<Item> {
        self.want.contains(Wanted::TOKENS).then(|| {
            Item::Usage(Usage {
                scope: UsageScope::Call(format!("line-{offset}")),
                model: None,
                input: record.count("input"),
                cache_creation: record.count("cache_write"),
                cache_read: record.count("cache_read"),
                output: record.count("output"),
                calls: 1,
            })
        })
    }
}

fn said(text: String) -> AssistantText {
    AssistantText {
        text,
        model: None,
        message_id: None,
        replaces: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hm;
    use hookhost_sdk::testing::read;

    const STREAM: &[u8] = include_bytes!("../../../tests/fixtures/hm/transcripts/session/transcript.jsonl");

    #[test]
    fn a_saved_stream_tells_prompts_refusals_and_tokens() {
        let (entries, position) = read::<Hm>(STREAM, vec![]).unwrap();
        assert_eq!(position, STREAM.len() as u64);
        let mut prompts = vec![];
        let mut failed = vec![];
        let mut input = [0, 0];
        for entry in &entries {
            match &entry.item {
                Item::UserPrompt(prompt) if entry.subagent.is_none() => prompts.push(prompt.text.as_str()),
                Item::ToolResult(result) if result.is_error => failed.push(result.id.as_str()),
                Item::Usage(usage) => input[usize::from(entry.subagent.is_some())] += usage.input,
                _ => {}
            }
        }
        assert_eq!(
            prompts,
            ["Add a greet module.", "Delete the notes and rename greet to welcome."]
        );
        assert_eq!(failed, ["c2", "c5", "c5"]);
        assert_eq!(input, [2300, 150]);
    }
}
