//! `~/.augment/sessions/<id>.json`: one document, rewritten after each exchange.

use hookhost_sdk::content::joined_text;
use hookhost_sdk::lines::DocumentReader;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, Entry, FileOp, Item, Json, Object, SessionFacts, ToolResult, Usage, UsageScope, UserPrompt, Wanted,
    time,
};

const TOOLS: &[Rule] = &[
    Rule::new(&["save-file"], Effect::File(FileOp::Write, &["path", "file_path"])),
    Rule::new(
        &["str-replace-editor"],
        Effect::File(FileOp::Modify, &["path", "file_path"]),
    ),
    Rule::new(
        &["remove-files"],
        Effect::File(FileOp::Delete, &["file_paths", "paths"]),
    ),
    Rule::new(&["apply_patch", "apply-patch"], Effect::Patch(&["patch", "input"])),
    Rule::new(
        &["launch-process"],
        Effect::Shell {
            command: &["command"],
            cwd: &["cwd"],
        },
    ),
    Rule::new(&["view"], Effect::File(FileOp::Read, &["path"])),
];

/// Reads a session file.
pub(crate) struct Session {
    want: Wanted,
}

impl Session {
    pub(crate) fn new(want: Wanted) -> Self {
        Self { want }
    }
}

impl DocumentReader for Session {
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
        let Some(session) = document.object() else { return 0 };
        let history = session.items("chatHistory");
        let model = session.at("agentState.modelId").and_then(Json::text).map(String::from);
        let cwd = history.iter().find_map(|entry| repository(*entry));
        out.push(Entry::new(
            0,
            Item::Session(SessionFacts {
                session_id: session.id(&["sessionId"]),
                parent_session_id: None,
                cwd,
                started_at: session.get("created").and_then(time::of),
                model: model.clone(),
                agent_version: None,
                title: session.text("customTitle").map(Into::into),
            }),
        ));
        for (index, entry) in (0_u64..).zip(&history) {
            let Some(entry) = entry.object() else { continue };
            self.exchange(index, &entry, model.as_ref(), out);
        }
        history.len() as u64
    }
}

fn repository(entry: Json<'_>) -> Option<String> {
    let nodes = entry.get("exchange")?.get("request_nodes")?.items();
    let folders = nodes
        .into_iter()
        .find_map(|node| node.get("ide_state_node")?.get("workspace_folders"))?;
    folders.items().first()?.get("repository_root")?.text().map(Into::into)
}

impl Session {
    fn exchange(&self, index: u64, entry: &Object<'_>, model: Option<&String>, out: &mut Vec<Entry>) {
        let Some(exchange) = entry.object("exchange") else {
            return;
        };
        let mut place = Entry::new(index, Item::Note);
        place.time = entry.get("finishedAt").and_then(time::of);
        place.record_id = exchange.id(&["request_id"]);
        let mut add = |item| out.push(Entry { item, ..place.clone() });
        let nodes = |key| exchange.items(key).into_iter().filter_map(Json::object);
        if self.want.contains(Wanted::FILES) {
            let results = nodes("request_nodes").filter_map(|node| node.object("tool_result_node"));
            results.for_each(|result| add(self.tool_result(&result)));
        }
        // Exchanges that go on from tool results have an empty message.
        if let Some(prompt) = exchange
            .text("request_message")
            .filter(|_| self.want.contains(Wanted::PROMPTS))
        {
            let images = nodes("request_nodes")
                .filter(|node| node.get("image_node").is_some())
                .count();
            let images = u32::try_from(images).unwrap_or(u32::MAX);
            add(Item::UserPrompt(UserPrompt {
                text: prompt.into_owned(),
                images,
            }));
        }
        if let Some(text) = exchange
            .text("response_text")
            .filter(|_| self.want.contains(Wanted::TEXTS))
        {
            let model = exchange
                .text_any(&["model_id", "modelId", "model"])
                .map(Into::into)
                .or(model.cloned());
            let message_id = place.record_id.clone();
            add(Item::AssistantText(AssistantText {
                text: text.into_owned(),
                model,
                message_id,
                replaces: false,
            }));
        }
        for (number, node) in nodes("response_nodes").enumerate() {
            if let Some(used) = node.object("tool_use").filter(|_| self.want.contains(Wanted::FILES)) {
                let id = used.id(&["tool_use_id"]).unwrap_or_default();
                let name = used.text("tool_name").unwrap_or_default();
                let input = used.any(&["input_json", "input"]);
                add(Item::ToolCall(call(TOOLS, id, &name, input, self.want)));
            }
            if let Some(tokens) = node
                .object("token_usage")
                .filter(|_| self.want.contains(Wanted::TOKENS))
            {
                add(Item::Usage(Usage {
                    scope: UsageScope::Call(format!("{index}/{number}")),
                    model: model.cloned(),
                    input: tokens.count("input_tokens"),
                    cache_creation: tokens.count("cache_creation_input_tokens"),
                    cache_read: tokens.count("cache_read_input_tokens"),
                    output: tokens.count("output_tokens"),
                    calls: 1,
                }));
            }
        }
    }

    fn tool_result(&self, result: &Object<'_>) -> Item {
        let bodies = self.want.contains(Wanted::TOOL_BODIES);
        Item::ToolResult(ToolResult {
            id: result.id(&["tool_use_id"]).unwrap_or_default(),
            output: if bodies {
                joined_text(result.get("content"))
            } else {
                String::new()
            },
            is_error: result.flag("is_error"),
            files: vec![],
            subagent_id: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Augment;
    use hookhost_sdk::testing::read;

    const TRANSCRIPT: &[u8] = include_bytes!("../../../tests/fixtures/augment/transcripts/session/transcript.json");

    #[test]
    fn the_sample_gives_prompts_effects_and_tokens() {
        let (entries, position) = read::<Augment>(TRANSCRIPT, vec![]).unwrap();
        assert_eq!(position, 8);
        let mut prompts = 0;
        let mut failed = vec![];
        let mut tokens = [0; 5];
        for entry in &entries {
            match &entry.item {
                Item::UserPrompt(_) => prompts += 1,
                Item::ToolResult(result) if result.is_error => failed.push(result.id.as_str()),
                Item::Usage(usage) => {
                    let row = [
                        usage.input,
                        usage.cache_creation,
                        usage.cache_read,
                        usage.output,
                        u64::from(usage.calls),
                    ];
                    tokens.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                _ => {}
            }
        }
        assert_eq!((prompts, failed), (3, vec!["tu3"]));
        assert_eq!(tokens, [2545, 10380, 84830, 765, 8]);
    }

    #[test]
    fn broken_parts_of_a_document_are_passed_over() {
        let text = r#"{"sessionId":7,"chatHistory":[null,{"exchange":null},{"exchange":{"request_message":"p",
            "request_nodes":null,"response_nodes":[3,{"tool_use":{"tool_name":"remove-files","input_json":"{broken"}}]}}]}"#;
        let (entries, position) = read::<Augment>(text.as_bytes(), vec![]).unwrap();
        assert_eq!(position, 3);
        assert!(
            entries
                .iter()
                .any(|entry| matches!(&entry.item, Item::UserPrompt(prompt) if prompt.text == "p"))
        );
    }

    #[test]
    fn a_node_without_an_image_is_none() {
        let session = br#"{"sessionId":"s","chatHistory":[{"exchange":{"request_message":"look","request_nodes":[
            {"id":1,"type":0,"image_node":null},{"id":2,"type":2,"image_node":{"image_data":"eA==","format":1}}]}}]}"#;
        let (entries, _) = read::<Augment>(session, vec![]).unwrap();
        let images = entries.iter().find_map(|entry| match &entry.item {
            Item::UserPrompt(prompt) => Some(prompt.images),
            _ => None,
        });
        assert_eq!(images, Some(1));
    }
}
