//! What a transcript says: a log of messages, in which a message is appended again when it grows, or (before 0.39) one
//! document with a list of the same messages.

use std::borrow::Cow;
use std::collections::HashSet;

use hookhost_sdk::lines::{DocumentReader, LineReader};
use hookhost_sdk::prompt::{Wrapper, unwrapped};
use hookhost_sdk::shell::exit_code;
use hookhost_sdk::tools::{self, Effect, Rule};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileEffect, FileOp, Item, Json, Object, Rewind, SessionFacts, SubagentCall,
    ToolCall, ToolResult, Usage, UsageScope, UserPrompt, Wanted, time,
};

use crate::hooks::AGENT_TOOL;

const PATH: &[&str] = &["file_path", "absolute_path", "path"];

const TOOLS: &[Rule] = &[
    Rule::new(&["read_file"], Effect::File(FileOp::Read, PATH)),
    Rule::new(&["write_file"], Effect::File(FileOp::Write, PATH)),
    Rule::new(&["replace"], Effect::File(FileOp::Modify, PATH)),
    Rule::new(
        &["run_shell_command"],
        Effect::Shell {
            command: &["command"],
            cwd: &["dir_path", "directory"],
        },
    ),
    Rule::new(
        &[AGENT_TOOL],
        Effect::Subagent {
            kind: &["agent_name"],
            description: &[],
            prompt: &["prompt"],
        },
    ),
];

/// What the command line and its hooks put around a prompt.
const ADDED: &[Wrapper] = &[Wrapper::Injected("hook_context"), Wrapper::Injected("session_context")];

/// Behind this stand the files that the prompt mentions.
const MENTIONED_FILES: &str = "--- Content from referenced files ---";

/// Tells the document from the header line of a log.
pub(crate) fn is_document(record: &Object<'_>) -> bool {
    record.get("messages").is_some()
}

/// Reads either form.
pub(crate) struct Reader {
    want: Wanted,
    /// The file is a subagent's own: its prompts are its parent's words.
    is_subagents: bool,
    /// Ids of messages that stood in the log.
    known: HashSet<String>,
    /// Ids of messages that only a compression made.
    made_up: HashSet<String>,
    /// Tool calls that were told, and those whose end was told.
    called: HashSet<String>,
    ended: HashSet<String>,
}

impl Reader {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            want,
            is_subagents: false,
            known: HashSet::new(),
            made_up: HashSet::new(),
            called: HashSet::new(),
            ended: HashSet::new(),
        }
    }
}

impl LineReader for Reader {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        if let Some(record_id) = record.id(&["$rewindTo"]) {
            out.push(Entry::new(
                offset,
                Item::Rewind(Rewind {
                    record_id,
                    inclusive: true,
                    restores_files: true,
                }),
            ));
        } else if record.id(&["id"]).is_some() {
            self.message(offset, record, out);
        } else if let Some(update) = record.object("$set") {
            self.update(offset, &update, out);
        } else if record.get("sessionId").is_some() {
            self.is_subagents = is_subagents(record);
            out.push(Entry::new(offset, Item::Session(header(record))));
        }
    }
}

impl DocumentReader for Reader {
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
        let document = document.object().unwrap_or_default();
        self.is_subagents = is_subagents(&document);
        out.push(Entry::new(0, Item::Session(header(&document))));
        let messages = document.items("messages");
        let count = messages.len() as u64;
        for (index, message) in (0..).zip(messages) {
            if let Some(message) = message.object() {
                self.message(index, &message, out);
            }
        }
        count
    }
}

fn is_subagents(header: &Object<'_>) -> bool {
    header.text("kind").as_deref() == Some("subagent")
}

/// The facts at the head of either form; a log tells the summary later.
fn header(record: &Object<'_>) -> SessionFacts {
    SessionFacts {
        session_id: record.id(&["sessionId"]),
        started_at: record.get("startTime").and_then(time::of),
        title: record.text("summary").map(Cow::into_owned),
        parent_session_id: None,
        cwd: None,
        model: None,
        agent_version: None,
    }
}

impl Reader {
    fn message(&mut self, offset: u64, message: &Object<'_>, out: &mut Vec<Entry>) {
        let first = out.len();
        let id = message.id(&["id"]);
        let is_made_up = id.as_ref().is_some_and(|id| self.made_up.contains(id));
        match message.text("type").as_deref() {
            Some("user") if !is_made_up && !self.is_subagents && self.want.contains(Wanted::PROMPTS) => {
                out.extend(prompt(message).map(|prompt| Entry::new(offset, Item::UserPrompt(prompt))));
            }
            Some("gemini") if !is_made_up => self.answer(offset, id.as_deref(), message, out),
            _ => {}
        }
        if out.len() == first {
            // A rewind may name it.
            out.push(Entry::new(offset, Item::Note));
        }
        let time = message.get("timestamp").and_then(time::of);
        for entry in out.iter_mut().skip(first) {
            entry.record_id.clone_from(&id);
            if entry.time.is_none() {
                entry.time.clone_from(&time);
            }
        }
        self.known.extend(id);
    }

    fn answer(&mut self, offset: u64, id: Option<&str>, message: &Object<'_>, out: &mut Vec<Entry>) {
        let model = || message.text("model").map(Cow::into_owned);
        if self.want.contains(Wanted::THINKING) {
            let thoughts = message.items("thoughts").into_iter().filter_map(thought);
            out.extend(thoughts.map(|thought| Entry::new(offset, Item::Thinking(thought))));
        }
        if self.want.contains(Wanted::TEXTS) {
            let text = texts(message.get("content")).concat();
            if !text.is_empty() {
                out.push(Entry::new(
                    offset,
                    Item::AssistantText(AssistantText {
                        text,
                        model: model(),
                        message_id: id.map(str::to_owned),
                        replaces: true,
                    }),
                ));
            }
        }
        if self.want.contains(Wanted::FILES) {
            for (index, call) in message.items("toolCalls").into_iter().enumerate() {
                if let Some(call) = call.object() {
                    let unnamed = || format!("{}#{index}", id.unwrap_or_default());
                    self.tool(offset, call.id(&["id"]).unwrap_or_else(unnamed), &call, out);
                }
            }
        }
        if self.want.contains(Wanted::TOKENS) {
            out.extend(usage(offset, message).map(|usage| Entry::new(offset, Item::Usage(usage))));
        }
    }

    /// A call when it is first seen, and its end when it first has one.
    fn tool(&mut self, offset: u64, id: String, call: &Object<'_>, out: &mut Vec<Entry>) {
        let name = call.text("name").unwrap_or_default();
        let told = tools::call(TOOLS, id.clone(), &name, call.get("args"), self.want);
        let failed = match call.text("status").as_deref() {
            // A command that failed is a successful call.
            Some("success") => {
                Some(told.shell.is_some() && exit_code(&response(call), "Exit Code:", "").is_some_and(|code| code != 0))
            }
            Some("error" | "cancelled") => Some(true),
            _ => None,
        };
        let end = failed
            .filter(|_| self.ended.insert(id.clone()))
            .map(|is_error| ToolResult {
                output: if self.want.contains(Wanted::TOOL_BODIES) {
                    output(call)
                } else {
                    String::new()
                },
                is_error,
                files: if is_error { vec![] } else { shown_effect(call, &told) },
                subagent_id: call.id(&["agentId"]),
                id: id.clone(),
            });
        if self.called.insert(id) {
            let subagent = told.subagent.clone().or_else(|| older_subagent(&name, call));
            out.push(Entry::new(offset, Item::ToolCall(ToolCall { subagent, ..told })));
        }
        out.extend(end.map(|end| Entry {
            time: call.get("timestamp").and_then(time::of),
            ..Entry::new(offset, Item::ToolResult(end))
        }));
    }

    /// A change of the header. With messages it is what the model is shown from now on: after a compression, with
    /// messages that nobody wrote; after old outputs were hidden, with none that are new.
    fn update(&mut self, offset: u64, update: &Object<'_>, out: &mut Vec<Entry>) {
        if let Some(title) = update.text("summary") {
            out.push(Entry::new(
                offset,
                Item::Session(SessionFacts {
                    title: Some(title.into_owned()),
                    ..header(&Object::default())
                }),
            ));
        }
        let mut compressed = None;
        for message in update.items("messages").into_iter().filter_map(Json::object) {
            if self.want.contains(Wanted::TOKENS) {
                out.extend(usage(offset, &message).map(|usage| Entry::new(offset, Item::Usage(usage))));
            }
            let Some(id) = message.id(&["id"]).filter(|id| !self.known.contains(id)) else {
                continue;
            };
            compressed.get_or_insert_with(|| texts(message.get("content")).concat());
            out.push(Entry {
                record_id: Some(id.clone()),
                ..Entry::new(offset, Item::Note)
            });
            self.made_up.insert(id);
        }
        out.extend(compressed.map(|summary| Entry {
            time: update.get("lastUpdated").and_then(time::of),
            ..Entry::new(
                offset,
                Item::Compaction(CompactionMark {
                    trigger: None,
                    summary: Some(summary).filter(|summary| !summary.is_empty()),
                }),
            )
        }));
    }
}

/// What a person typed. Commands, context and the results of tools stand under `user` as well.
fn prompt(message: &Object<'_>) -> Option<UserPrompt> {
    let content = message.any(&["displayContent", "content"]);
    let mut typed = String::new();
    for text in texts(content) {
        if text.trim_start().starts_with(MENTIONED_FILES) {
            break;
        }
        typed.push_str(&text);
    }
    let text = unwrapped(&typed, ADDED);
    let is_added = ["<session_context>", "<hook_context>"]
        .iter()
        .any(|tag| text.trim_start().starts_with(tag));
    // The pictures that a tool gave back stand beside its response.
    let responds = parts(message.get("content"))
        .iter()
        .any(|part| part.get("functionResponse").is_some());
    let images = if responds { 0 } else { pictures(message.get("content")) };
    if is_added || text.starts_with(['/', '?']) || (text.trim().is_empty() && images == 0) {
        return None;
    }
    Some(UserPrompt {
        text: text.into_owned(),
        images,
    })
}

/// A content is a text, a part or a list of both.
fn parts(content: Option<Json<'_>>) -> Vec<Json<'_>> {
    match content {
        None => vec![],
        Some(content) => match content.items() {
            parts if parts.is_empty() => vec![content],
            parts => parts,
        },
    }
}

fn texts(content: Option<Json<'_>>) -> Vec<Cow<'_, str>> {
    parts(content)
        .into_iter()
        .filter_map(|part| match part.text() {
            Some(text) => Some(text),
            None => part.object().filter(|part| !part.flag("thought"))?.text("text"),
        })
        .collect()
}

fn pictures(content: Option<Json<'_>>) -> u32 {
    let is_picture = |part: &Json<'_>| {
        let part = part.object().unwrap_or_default();
        let kind = part.at("inlineData.mimeType").or_else(|| part.at("fileData.mimeType"));
        kind.and_then(Json::text).is_some_and(|kind| kind.starts_with("image/"))
    };
    u32::try_from(parts(content).iter().filter(|part| is_picture(part)).count()).unwrap_or(u32::MAX)
}

fn thought(thought: Json<'_>) -> Option<String> {
    let thought = thought.object()?;
    let said: Vec<_> = ["subject", "description"]
        .iter()
        .filter_map(|key| thought.text(key))
        .collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// One count a message, the last one given. Input includes what was read from the cache.
fn usage(offset: u64, message: &Object<'_>) -> Option<Usage> {
    let tokens = message.object("tokens")?;
    let cached = tokens.count("cached");
    let fresh = tokens.count("input").saturating_sub(cached);
    let id = message.id(&["id"]).unwrap_or_else(|| format!("@{offset}"));
    Some(Usage {
        scope: UsageScope::Call(id),
        model: message.text("model").map(Cow::into_owned),
        input: fresh.saturating_add(tokens.count("tool")),
        cache_creation: 0,
        cache_read: cached,
        output: tokens.count("output").saturating_add(tokens.count("thoughts")),
        calls: 1,
    })
}

/// Whether the file was there before, which the result of an edit tells.
fn shown_effect(call: &Object<'_>, told: &ToolCall) -> Vec<FileEffect> {
    let shown = call.object("resultDisplay").unwrap_or_default();
    let is_new = match shown.get("isNewFile").and_then(Json::flag) {
        Some(is_new) => Some(is_new),
        None if shown.has("originalContent") => Some(shown.get("originalContent").is_none()),
        None => None,
    };
    let changes = |op| matches!(op, FileOp::Write | FileOp::Modify);
    match (is_new, told.files.as_slice()) {
        (Some(is_new), [effect]) if changes(effect.op) => vec![FileEffect {
            path: effect.path.clone(),
            op: if is_new { FileOp::Create } else { FileOp::Modify },
        }],
        _ => vec![],
    }
}

/// What the user is shown, else what the model got.
fn output(call: &Object<'_>) -> String {
    if let Some(shown) = call.text("resultDisplay") {
        return shown.into_owned();
    }
    response(call)
}

/// What the model got.
fn response(call: &Object<'_>) -> String {
    let responses = call.items("result").into_iter().filter_map(|part| {
        let response = part.object()?.object("functionResponse")?.object("response")?;
        response.text_any(&["output", "error"])
    });
    responses.collect::<Vec<_>>().join("\n")
}

/// Before `invoke_agent` each subagent was a tool of its own.
fn older_subagent(tool: &str, call: &Object<'_>) -> Option<SubagentCall> {
    call.id(&["agentId"])?;
    let args = call.object("args").unwrap_or_default();
    Some(SubagentCall {
        subagent_type: Some(tool.to_owned()),
        description: None,
        prompt: args.text_any(&["prompt", "objective", "query"]).map(Cow::into_owned),
    })
}

#[cfg(test)]
mod tests;
