//! What `goose session export --format json` says: one document with the whole conversation. Versions before 1.10 wrote
//! the same messages in lines, behind one about the session.

use hookhost_sdk::lines::{DocumentReader, LineReader};
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileOp, Item, Json, Object, SessionFacts, ToolCall, ToolResult, Usage,
    UsageScope, UserPrompt, Wanted, time,
};

/// Tools without their extension's prefix (`developer__write`).
const TOOLS: &[Rule] = &[
    Rule::new(&["write"], Effect::File(FileOp::Write, &["path"])),
    Rule::new(&["edit"], Effect::File(FileOp::Modify, &["path"])),
    Rule::new(
        &["shell"],
        Effect::Shell {
            command: &["command"],
            cwd: &["working_dir", "cwd"],
        },
    ),
    Rule::new(&["read", "read_image", "view"], Effect::File(FileOp::Read, &["path"])),
    Rule::new(
        &["delegate", "subagent", "dynamic_task__create_task"],
        Effect::Subagent {
            kind: &["agent", "recipe"],
            description: &["description"],
            prompt: &["instructions", "prompt"],
        },
    ),
];

/// The older tool that does several things.
const TEXT_EDITOR: &str = "text_editor";

/// What stands in the place of a result when a tool was not run: the user declined it, or goose only talks. Older versions
/// call that a success.
const NOT_RUN: &[&str] = &[
    "The user has declined to run this tool",
    "Let the user know the tool call was skipped",
];

/// An export on one line, and no older session's first one.
pub(crate) fn is_export(record: &Object<'_>) -> bool {
    record.has("conversation") || !(record.has("role") || record.has("message_count"))
}

/// Reads an export.
pub(crate) struct Export {
    want: Wanted,
}

impl Export {
    pub(crate) fn new(want: Wanted) -> Self {
        Self { want }
    }
}

impl DocumentReader for Export {
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
        let Some(session) = document.object() else { return 0 };
        let messages = session.items("conversation");
        let model = session
            .at("model_config.model_name")
            .and_then(Json::text)
            .map(Into::into);
        out.push(Entry::new(0, Item::Session(facts(&session, model.clone()))));
        let mut replies = 0;
        for (index, message) in (0_u64..).zip(&messages) {
            let Some(message) = message.object() else { continue };
            replies += u64::from(self.message(index, &message, model.as_ref(), out));
        }
        // The totals of the session stand beside the messages, so they belong to none of them: to the last one.
        let last = (messages.len() as u64).saturating_sub(1);
        if replies > 0 {
            self.tokens(last, totals(&session), out);
        }
        messages.len() as u64
    }
}

/// Reads an older session's lines.
pub(crate) struct Lines {
    export: Export,
    totals: Option<Usage>,
    /// Where the last message stands, once there was a reply.
    last: Option<u64>,
}

impl Lines {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            export: Export::new(want),
            totals: None,
            last: None,
        }
    }
}

impl LineReader for Lines {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        if !record.has("role") {
            self.totals = Some(totals(record));
            out.push(Entry::new(offset, Item::Session(facts(record, None))));
        } else if self.export.message(offset, record, None, out) || self.last.is_some() {
            self.last = Some(offset);
        }
    }

    fn end(&mut self, out: &mut Vec<Entry>) {
        if let (Some(last), Some(totals)) = (self.last, self.totals.take()) {
            self.export.tokens(last, totals, out);
        }
    }
}

fn totals(session: &Object<'_>) -> Usage {
    let total = |key: &str, fallback: &str| session.get(key).or(session.get(fallback)).and_then(Json::count);
    let input = total("accumulated_input_tokens", "input_tokens").unwrap_or_default();
    let output = total("accumulated_output_tokens", "output_tokens").unwrap_or_default();
    usage(UsageScope::RunningTotal("session".to_owned()), input, output, 0)
}

fn facts(session: &Object<'_>, model: Option<String>) -> SessionFacts {
    let text = |key| session.text(key).map(Into::into);
    SessionFacts {
        session_id: session.id(&["id"]),
        parent_session_id: None,
        cwd: text("working_dir"),
        started_at: session.get("created_at").and_then(time::of),
        model,
        agent_version: None,
        title: text("name").or_else(|| text("description")),
    }
}

fn usage(scope: UsageScope, input: u64, output: u64, calls: u32) -> Usage {
    Usage {
        scope,
        model: None,
        input,
        cache_creation: 0,
        cache_read: 0,
        output,
        calls,
    }
}

impl Export {
    fn tokens(&self, index: u64, usage: Usage, out: &mut Vec<Entry>) {
        if self.want.contains(Wanted::TOKENS) {
            out.push(Entry::new(index, Item::Usage(usage)));
        }
    }

    /// Whether it is a reply of the model's, so a call of it.
    fn message(&self, index: u64, message: &Object<'_>, model: Option<&String>, out: &mut Vec<Entry>) -> bool {
        let is_reply = message.text("role").as_deref() == Some("assistant");
        if is_reply {
            let none = usage(UsageScope::Call(format!("message-{index}")), 0, 0, 1);
            self.tokens(index, none, out);
        }
        let mut place = Entry::new(index, Item::Note);
        place.time = message.get("created").and_then(time::of);
        place.record_id = message.id(&["id"]);
        let add = |item, out: &mut Vec<Entry>| out.push(Entry { item, ..place.clone() });
        let is_user = message.text("role").as_deref() == Some("user");
        let visible = message.at("metadata.userVisible").and_then(Json::flag) != Some(false);
        let blocks: Vec<_> = message.items("content").into_iter().filter_map(Json::object).collect();
        let kind = |block: &Object<'_>| block.text("type").unwrap_or_default().into_owned();
        let has_results = blocks.iter().any(|block| kind(block) == "toolResponse");
        // Hidden messages are what a compaction put in the place of older ones. What tools did, they did.
        if !visible && is_user && !has_results {
            let summary = Some(texts(&blocks)).filter(|text| !text.is_empty());
            add(Item::Compaction(CompactionMark { trigger: None, summary }), out);
        }
        if visible && is_user && !has_results && self.want.contains(Wanted::PROMPTS) {
            let images = blocks.iter().filter(|block| kind(block) == "image").count();
            let prompt = UserPrompt {
                text: texts(&blocks),
                images: u32::try_from(images).unwrap_or(u32::MAX),
            };
            if !prompt.text.is_empty() || prompt.images > 0 {
                add(Item::UserPrompt(prompt), out);
            }
        }
        if visible && !is_user && self.want.contains(Wanted::TEXTS) {
            let text = texts(&blocks);
            if !text.is_empty() {
                let said = AssistantText {
                    text,
                    model: model.cloned(),
                    message_id: place.record_id.clone(),
                    replaces: false,
                };
                add(Item::AssistantText(said), out);
            }
        }
        for block in &blocks {
            match kind(block).as_str() {
                "thinking" if visible && self.want.contains(Wanted::THINKING) => {
                    add(
                        Item::Thinking(block.text("thinking").unwrap_or_default().into_owned()),
                        out,
                    );
                }
                "toolRequest" if self.want.contains(Wanted::FILES) => {
                    out.extend(self.tool_call(block).map(|item| Entry { item, ..place.clone() }));
                }
                "toolResponse" if self.want.contains(Wanted::FILES) => add(self.tool_result(block), out),
                _ => {}
            }
        }
        is_reply
    }

    fn tool_call(&self, block: &Object<'_>) -> Option<Item> {
        let id = block.id(&["id"]).unwrap_or_default();
        let value = block.at("toolCall.value").or(block.get("toolCall"))?.object()?;
        let full_name = value.text("name")?;
        let name = full_name.rsplit("__").next().unwrap_or(&full_name);
        let input = value.get("arguments");
        let mut made: ToolCall = call(TOOLS, id, name, input, self.want);
        if name == TEXT_EDITOR
            && let Some(input) = input
        {
            let op = match input.get("command").and_then(Json::text).as_deref() {
                Some("write") => FileOp::Write,
                Some("view") => FileOp::Read,
                _ => FileOp::Modify,
            };
            let rule = [Rule::new(&[TEXT_EDITOR], Effect::File(op, &["path"]))];
            made.files = call(&rule, String::new(), name, Some(input), self.want).files;
        }
        made.name = full_name.into_owned();
        Some(Item::ToolCall(made))
    }

    fn tool_result(&self, block: &Object<'_>) -> Item {
        let result = block.object("toolResult").unwrap_or_default();
        let value = result.object("value").unwrap_or_default();
        // Older versions give the list of contents as the value itself.
        let content = value.get("content").or(result.get("value"));
        let said = hookhost_sdk::content::joined_text(content);
        let failed = result.text("status").as_deref() == Some("error")
            || value.flag("isError")
            || NOT_RUN.iter().any(|begin| said.starts_with(begin));
        let output = match result.text("error") {
            _ if !self.want.contains(Wanted::TOOL_BODIES) => String::new(),
            Some(error) => error.into_owned(),
            None => said,
        };
        Item::ToolResult(ToolResult {
            id: block.id(&["id"]).unwrap_or_default(),
            output,
            is_error: failed,
            files: vec![],
            subagent_id: None,
        })
    }
}

fn texts(blocks: &[Object<'_>]) -> String {
    let texts: Vec<_> = blocks
        .iter()
        .filter(|block| block.text("type").as_deref() == Some("text"))
        .filter_map(|block| block.text("text"))
        .collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Goose;
    use hookhost_sdk::testing::read;

    const TRANSCRIPT: &[u8] = include_bytes!("../../../tests/fixtures/goose/transcripts/session/transcript.json");

    #[test]
    fn the_sample_gives_prompts_calls_and_totals() {
        let (entries, position) = read::<Goose>(TRANSCRIPT, vec![]).unwrap();
        assert_eq!(position, 17);
        let prompts: Vec<_> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::UserPrompt(prompt) => Some(prompt.text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(
            prompts,
            [
                "Add a greet module and use it from the entry point.",
                "Check which docs mention greet, then delete docs/notes.md.",
                "Rename the greet function to welcome.",
            ]
        );
        let usages: Vec<_> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::Usage(usage) => Some((usage.input, usage.output, usage.calls)),
                _ => None,
            })
            .collect();
        assert_eq!(usages.iter().map(|usage| usage.2).sum::<u32>(), 8);
        assert_eq!(usages.last(), Some(&(40200, 1000, 0)));
        assert_eq!(
            entries
                .iter()
                .filter(|entry| matches!(entry.item, Item::Compaction(_)))
                .count(),
            1
        );
    }

    #[test]
    fn an_older_editor_tool_is_understood_by_its_command() {
        let tool = |command: &str| {
            let text = format!(
                r#"{{"conversation":[{{"role":"assistant","content":[{{"type":"toolRequest","id":"1","toolCall":{{"value":
                {{"name":"developer__text_editor","arguments":{{"command":"{command}","path":"a"}}}}}}}}]}}]}}"#
            );
            let (entries, _) = read::<Goose>(text.as_bytes(), vec![]).unwrap();
            entries
                .into_iter()
                .find_map(|entry| match entry.item {
                    Item::ToolCall(call) => call.files.first().map(|effect| effect.op),
                    _ => None,
                })
                .unwrap()
        };
        assert_eq!(tool("write"), FileOp::Write);
        assert_eq!(tool("str_replace"), FileOp::Modify);
        assert_eq!(tool("view"), FileOp::Read);
    }

    fn results(text: &str) -> Vec<(String, bool)> {
        let (entries, _) = read::<Goose>(text.as_bytes(), vec![]).unwrap();
        let results = entries.into_iter().filter_map(|entry| match entry.item {
            Item::ToolResult(result) => Some((result.id, result.is_error)),
            _ => None,
        });
        results.collect()
    }

    #[test]
    fn a_tool_that_was_declined_did_nothing() {
        let declined = r#"{"type":"text","text":"The user has declined to run this tool. DO NOT attempt to call"}"#;
        let text = format!(
            r#"{{"conversation":[{{"role":"user","content":[
            {{"type":"toolResponse","id":"old","toolResult":{{"status":"success","value":[{declined}]}}}},
            {{"type":"toolResponse","id":"new","toolResult":{{"status":"success","value":{{"content":[{declined}]}}}}}},
            {{"type":"toolResponse","id":"done","toolResult":{{"status":"success","value":[{{"type":"text","text":"ok"}}]}}}}]}}]}}"#
        );
        let told = [("old", true), ("new", true), ("done", false)].map(|(id, failed)| (id.to_owned(), failed));
        assert_eq!(results(&text), told);
    }

    #[test]
    fn where_there_is_no_message_yet_the_position_is_nought() {
        for text in ["", " \n", "{}\n"] {
            assert_eq!(read::<Goose>(text.as_bytes(), vec![]).unwrap().1, 0, "{text}");
        }
    }
}
