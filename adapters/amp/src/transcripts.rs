//! What `amp threads export` prints: one document, `{id, created, messages, env, ...}`.

use std::collections::HashSet;

use hookhost_sdk::content::joined_text;
use hookhost_sdk::lines::DocumentReader;
use hookhost_sdk::paths::of_uri;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, Entry, FileEffect, FileOp, Item, Json, Object, SessionFacts, ToolCall, ToolResult, Usage,
    UsageScope, UserPrompt, Wanted, time,
};

const PATHS: &[&str] = &["path", "filePath", "paths"];

const TOOLS: &[Rule] = &[
    Rule::new(&["Read"], Effect::File(FileOp::Read, PATHS)),
    Rule::new(&["create_file"], Effect::File(FileOp::Write, PATHS)),
    Rule::new(&["edit_file", "undo_edit"], Effect::File(FileOp::Modify, PATHS)),
    Rule::new(&[PATCH], Effect::Patch(&["patch", "patchText", "input"])),
    Rule::new(
        &["Bash"],
        Effect::Shell {
            command: &["cmd", "command"],
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

const PATCH: &str = "apply_patch";

/// The tag that names the model of a thread.
const MODEL_TAG: &str = "model:";

/// Reads a thread.
pub(crate) struct Thread {
    want: Wanted,
    /// Calls of `apply_patch` from whose input no file could be read.
    unread_patches: HashSet<String>,
}

impl Thread {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            want,
            unread_patches: HashSet::new(),
        }
    }
}

impl DocumentReader for Thread {
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
        let thread = document.object().unwrap_or_default();
        if !thread.has("messages") && !thread.has("id") {
            out.push(Entry::new(
                0,
                Item::Unreadable("no `messages`: not a thread".to_owned()),
            ));
            return 0;
        }
        out.push(session(&thread));
        let messages = thread.items("messages");
        for (index, message) in messages.iter().enumerate() {
            let message = message.object().unwrap_or_default();
            let id = message.id(&["messageId"]);
            let usage = message.object("usage").unwrap_or_default();
            let sent = message.object("meta").and_then(|meta| time::of(meta.get("sentAt")?));
            let time = sent.or_else(|| usage.get("timestamp").and_then(time::of));
            let mut items = match message.text("role").as_deref() {
                Some("user") => self.user(&message),
                Some("assistant") => self.assistant(index, &message, &usage),
                _ => vec![],
            };
            if items.is_empty() {
                items.push(Item::Note);
            }
            out.extend(items.into_iter().map(|item| {
                let mut entry = Entry::new(index as u64, item);
                entry.time.clone_from(&time);
                entry.record_id.clone_from(&id);
                entry
            }));
        }
        messages.len() as u64
    }
}

fn session(thread: &Object<'_>) -> Entry {
    let started_at = thread.get("created").and_then(time::of);
    let env = thread
        .object("env")
        .and_then(|env| env.object("initial"))
        .unwrap_or_default();
    let tree = env
        .items("trees")
        .into_iter()
        .find_map(Json::object)
        .unwrap_or_default();
    let platform = env.object("platform").unwrap_or_default();
    let model = env.items("tags").into_iter().find_map(|tag| {
        let tag = tag.text()?;
        tag.strip_prefix(MODEL_TAG).map(str::to_owned)
    });
    let mut entry = Entry::new(
        0,
        Item::Session(SessionFacts {
            session_id: thread.id(&["id"]),
            parent_session_id: None,
            cwd: tree.text("uri").map(|uri| of_uri(&uri).into_owned()),
            started_at: started_at.clone(),
            model,
            agent_version: platform.text("clientVersion").map(Into::into),
            title: thread.text("title").map(Into::into),
        }),
    );
    entry.time = started_at;
    entry
}

impl Thread {
    /// What a person typed, or what tools gave; both in one message after an interruption.
    fn user(&mut self, message: &Object<'_>) -> Vec<Item> {
        let mut items = vec![];
        let mut texts = vec![];
        let mut images = 0;
        for block in message.items("content").into_iter().filter_map(Json::object) {
            match block.text("type").as_deref() {
                Some("text") => texts.extend(block.text("text")),
                Some("image") => images += 1,
                Some("tool_result") => items.push(Item::ToolResult(self.result(&block))),
                _ => {}
            }
        }
        if self.want.contains(Wanted::PROMPTS) && (!texts.is_empty() || images > 0) {
            let text = texts.join("\n");
            items.push(Item::UserPrompt(UserPrompt { text, images }));
        }
        items
    }

    fn assistant(&mut self, index: usize, message: &Object<'_>, usage: &Object<'_>) -> Vec<Item> {
        let model = usage.id(&["model"]);
        let id = message.id(&["messageId"]).unwrap_or_else(|| index.to_string());
        let mut items = vec![];
        for block in message.items("content").into_iter().filter_map(Json::object) {
            match block.text("type").as_deref() {
                Some("text") if self.want.contains(Wanted::TEXTS) => {
                    items.extend(block.text("text").map(|text| {
                        Item::AssistantText(AssistantText {
                            text: text.into_owned(),
                            model: model.clone(),
                            message_id: Some(id.clone()),
                            replaces: false,
                        })
                    }));
                }
                Some("thinking") if self.want.contains(Wanted::THINKING) => {
                    items.extend(block.text("thinking").map(|text| Item::Thinking(text.into_owned())));
                }
                Some("tool_use") => items.push(Item::ToolCall(self.call(&block))),
                _ => {}
            }
        }
        if !usage.raw().is_empty() && self.want.contains(Wanted::TOKENS) {
            // `totalInputTokens` is the sum of the other three.
            items.push(Item::Usage(Usage {
                scope: UsageScope::Call(id),
                model,
                input: usage.count("inputTokens"),
                cache_creation: usage.count("cacheCreationInputTokens"),
                cache_read: usage.count("cacheReadInputTokens"),
                output: usage.count("outputTokens"),
                calls: 1,
            }));
        }
        let state = message.object("state").unwrap_or_default();
        if state.text("stopReason").as_deref() == Some("end_turn") {
            items.push(Item::TurnEnd);
        }
        items
    }

    fn call(&mut self, block: &Object<'_>) -> ToolCall {
        let id = block.id(&["id"]).unwrap_or_default();
        let name = block.text("name").unwrap_or_default();
        let mut call = call(TOOLS, id, &name, block.get("input"), self.want);
        if block.get("complete").and_then(Json::flag) == Some(false) {
            // Its input was cut off: it was never run.
            call.files.clear();
            call.shell = None;
            call.subagent = None;
        } else if name.eq_ignore_ascii_case(PATCH) && call.files.is_empty() {
            self.unread_patches.insert(call.id.clone());
        }
        call
    }

    fn result(&mut self, block: &Object<'_>) -> ToolResult {
        let id = block.id(&["toolUseID", "tool_use_id"]).unwrap_or_default();
        let run = block.object("run").unwrap_or_default();
        let result = run.object("result").unwrap_or_default();
        let exit = result.shown("exitCode");
        let is_done = run.text("status").as_deref() == Some("done");
        // Lists files that were only read as well, so it is asked only where a tool is known to change files.
        let files = if self.unread_patches.remove(&id) {
            run.items("trackFiles").into_iter().filter_map(tracked).collect()
        } else {
            vec![]
        };
        ToolResult {
            output: if self.want.contains(Wanted::TOOL_BODIES) {
                output(&run, &result)
            } else {
                String::new()
            },
            id,
            is_error: !is_done || exit.is_some_and(|code| code != "0"),
            files,
            subagent_id: None,
        }
    }
}

fn tracked(file: Json<'_>) -> Option<FileEffect> {
    let path = of_uri(&file.text()?).into_owned();
    let op = FileOp::Modify;
    Some(FileEffect { path, op })
}

/// What a tool gave back, as text. Each tool has a shape of its own.
fn output(run: &Object<'_>, result: &Object<'_>) -> String {
    if let Some(error) = run.object("error") {
        return error.text("message").unwrap_or_default().into_owned();
    }
    if let Some(text) = result.text_any(&["output", "content", "diff"]) {
        return text.into_owned();
    }
    let texts = joined_text(result.get("content"));
    if !texts.is_empty() || result.has("output") {
        return texts;
    }
    run.shown("result").unwrap_or_default()
}
