//! What a transcript says: one event a line, those of subagents among those of the main agent, marked with an
//! `agentId`.

mod tokens;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use hookhost_sdk::lines::LineReader;
use hookhost_sdk::prompt::{Wrapper, unwrapped};
use hookhost_sdk::shell::exit_code;
use hookhost_sdk::tools::{self, Effect, Rule};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileEffect, FileOp, Item, Json, Object, Rewind, SessionFacts, ToolCall,
    ToolResult, UserPrompt, Wanted, time,
};

const PATH: &[&str] = &["path", "file_path"];

/// With hooks in the style of Claude Code, tools have Claude Code's names.
const TOOLS: &[Rule] = &[
    Rule::new(&["view", "Read"], Effect::File(FileOp::Read, PATH)),
    Rule::new(&["create"], Effect::File(FileOp::Create, PATH)),
    Rule::new(&["Write"], Effect::File(FileOp::Write, PATH)),
    Rule::new(
        &["edit", "str_replace", "insert", "MultiEdit"],
        Effect::File(FileOp::Modify, PATH),
    ),
    Rule::new(
        &["apply_patch", "git_apply_patch"],
        Effect::Patch(&["patch", "input", "diff"]),
    ),
    Rule::new(
        &["bash", "powershell"],
        Effect::Shell {
            command: &["command"],
            cwd: &[],
        },
    ),
    Rule::new(
        &["task"],
        Effect::Subagent {
            kind: &["agent_type"],
            description: &["description"],
            prompt: &["prompt"],
        },
    ),
];

/// What the command line puts around a prompt for the model.
const ADDED: &[Wrapper] = &[
    Wrapper::Injected("current_datetime"),
    Wrapper::Injected("reminder"),
    Wrapper::Injected("system_reminder"),
    Wrapper::Injected("tagged_files"),
];

/// Reads the lines.
pub(crate) struct Reader {
    want: Wanted,
    /// Calls whose effects on files are known from their input.
    understood: HashSet<String>,
    /// Calls that run a command.
    commands: HashSet<String>,
    /// The main agent's model, as its last message names it.
    model: Option<String>,
    /// From the call to the subagent that it started.
    subagents: HashMap<String, String>,
}

impl Reader {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            want,
            understood: HashSet::new(),
            commands: HashSet::new(),
            model: None,
            subagents: HashMap::new(),
        }
    }
}

impl LineReader for Reader {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        let data = record.object("data").unwrap_or_default();
        let kind = record.text("type").unwrap_or_default();
        let subagent = record.id(&["agentId"]);
        let id = record.id(&["id"]);
        let first = out.len();
        let mut push = |item| out.push(Entry::new(offset, item));
        match kind.as_ref() {
            "session.start" | "session.resume" | "session.model_change" | "session.context_changed" => {
                push(Item::Session(session_facts(&data)));
            }
            "user.message" if self.want.contains(Wanted::PROMPTS) && is_typed(&data) => {
                if let Some(prompt) = prompt(&data) {
                    push(Item::UserPrompt(prompt));
                }
            }
            "assistant.message" => {
                if subagent.is_none()
                    && let Some(model) = text(&data, "model").filter(|model| self.model.as_ref() != Some(model))
                {
                    self.model = Some(model.clone());
                    push(Item::Session(SessionFacts {
                        model: Some(model),
                        ..SessionFacts::default()
                    }));
                }
                self.message(&data, &mut push);
            }
            "assistant.turn_end" => push(Item::TurnEnd),
            "tool.execution_start" if self.want.contains(Wanted::FILES) => push(Item::ToolCall(self.call(&data))),
            "tool.execution_complete" if self.want.contains(Wanted::FILES) => {
                push(Item::ToolResult(self.result(&data)));
            }
            "subagent.started" => {
                if let (Some(call), Some(agent)) = (data.id(&["toolCallId"]), &subagent) {
                    self.subagents.insert(call, agent.clone());
                }
            }
            "session.compaction_complete" => {
                if self.want.contains(Wanted::TOKENS) {
                    tokens::of_compaction(&data, id.as_deref(), &mut push);
                }
                if data.get("success").and_then(Json::flag) != Some(false) {
                    push(Item::Compaction(CompactionMark {
                        trigger: text(&data, "trigger"),
                        summary: text(&data, "summaryContent"),
                    }));
                }
            }
            "session.snapshot_rewind" => {
                if let Some(record_id) = data.id(&["upToEventId"]) {
                    push(Item::Rewind(Rewind {
                        record_id,
                        inclusive: true,
                        // Each prompt has its snapshot of the files.
                        restores_files: true,
                    }));
                }
            }
            "session.shutdown" if self.want.contains(Wanted::TOKENS) => tokens::of_shutdown(&data, &mut push),
            _ => {}
        }
        if out.len() == first {
            // A rewind may name any record.
            out.push(Entry::new(offset, Item::Note));
        }
        let time = record.get("timestamp").and_then(time::of);
        for entry in out.iter_mut().skip(first) {
            entry.time.clone_from(&time);
            entry.record_id.clone_from(&id);
            // Token numbers are the session's: a shutdown's totals do not tell whose they are.
            if !matches!(entry.item, Item::Usage(_)) {
                entry.subagent.clone_from(&subagent);
            }
        }
    }
}

impl Reader {
    fn message(&self, data: &Object<'_>, push: &mut impl FnMut(Item)) {
        let message_id = data.id(&["messageId"]);
        if let (true, Some(thought)) = (self.want.contains(Wanted::THINKING), data.text("reasoningText")) {
            push(Item::Thinking(thought.into_owned()));
        }
        if let (true, Some(said)) = (self.want.contains(Wanted::TEXTS), data.text("content")) {
            push(Item::AssistantText(AssistantText {
                text: said.into_owned(),
                model: text(data, "model"),
                message_id: message_id.clone(),
                replaces: true,
            }));
        }
        if self.want.contains(Wanted::TOKENS) {
            tokens::of_message(data, message_id, push);
        }
    }

    fn call(&mut self, data: &Object<'_>) -> ToolCall {
        let id = data.id(&["toolCallId"]).unwrap_or_default();
        let name = data.text("toolName").unwrap_or_default();
        let arguments = data.get("arguments");
        // One tool for all edits, whose first argument is what the others have for a name.
        let edits = name.eq_ignore_ascii_case("str_replace_editor");
        let command = arguments.filter(|_| edits).and_then(|arguments| {
            Object::parse(&arguments.embedded())
                .ok()?
                .text("command")
                .map(Cow::into_owned)
        });
        let known_as = command.as_deref().unwrap_or(if edits { "edit" } else { &name });
        let mut call = tools::call(TOOLS, id.clone(), known_as, arguments, self.want);
        call.name = name.into_owned();
        if call.shell.is_some() {
            self.commands.insert(id.clone());
        }
        if !call.files.is_empty() || call.shell.is_some() || call.subagent.is_some() {
            self.understood.insert(id);
        }
        call
    }

    fn result(&mut self, data: &Object<'_>) -> ToolResult {
        let id = data.id(&["toolCallId"]).unwrap_or_default();
        let result = data.object("result").unwrap_or_default();
        let output = || {
            let said = result.text_any(&["content", "detailedContent", "textResultForLlm", "text_result_for_llm"]);
            let error = || {
                data.object("error")
                    .and_then(|error| error.text("message").map(Cow::into_owned))
            };
            said.map(Cow::into_owned).or_else(error)
        };
        let understood = self.understood.remove(&id);
        // A command that failed is a successful call.
        let has_failed = has_failed(data, &result)
            || self.commands.remove(&id)
                && output().is_some_and(|output| {
                    exit_code(&output, "<exited with exit code ", ">").is_some_and(|code| code != 0)
                });
        ToolResult {
            output: if self.want.contains(Wanted::TOOL_BODIES) {
                output().unwrap_or_default()
            } else {
                String::new()
            },
            is_error: has_failed,
            files: if understood { vec![] } else { files_told(data) },
            subagent_id: self.subagents.remove(&id),
            id,
        }
    }
}

/// `success`, or in older versions the kind of the result.
fn has_failed(data: &Object<'_>, result: &Object<'_>) -> bool {
    match data.get("success").and_then(Json::flag) {
        Some(success) => !success,
        None => result
            .text_any(&["resultType", "result_type"])
            .is_some_and(|kind| kind != "success"),
    }
}

/// The files that a tool without a rule says it has changed: a list in a text. It does not say how.
fn files_told(data: &Object<'_>) -> Vec<FileEffect> {
    let told = data.at("toolTelemetry.properties.filePaths");
    let list = told.map(Json::embedded).unwrap_or_default();
    let paths = Json::parse(&list).map(Json::items).unwrap_or_default();
    paths
        .into_iter()
        .filter_map(Json::text)
        .filter(|path| !path.is_empty())
        .map(|path| FileEffect {
            path: path.into_owned(),
            op: FileOp::Modify,
        })
        .collect()
}

fn session_facts(data: &Object<'_>) -> SessionFacts {
    let cwd = data.at("context.cwd").or_else(|| data.get("cwd"));
    SessionFacts {
        session_id: data.id(&["sessionId"]),
        parent_session_id: None,
        cwd: cwd
            .and_then(Json::text)
            .map(Cow::into_owned)
            .filter(|cwd| !cwd.is_empty()),
        started_at: data.get("startTime").and_then(time::of),
        model: data.text_any(&["newModel", "selectedModel"]).map(Cow::into_owned),
        agent_version: text(data, "copilotVersion"),
        title: None,
    }
}

/// Not injected by a skill, another agent or the autopilot.
fn is_typed(data: &Object<'_>) -> bool {
    let injected = data.text("source").is_some_and(|source| source != "user");
    !injected && !data.flag("isAutopilotContinuation") && data.id(&["agentId"]).is_none()
}

/// `content` is what was typed. Some sessions leave it empty and have only what the model was sent.
fn prompt(data: &Object<'_>) -> Option<UserPrompt> {
    let text = match data.text("content") {
        Some(typed) => typed.into_owned(),
        None => unwrapped(&data.text("transformedContent").unwrap_or_default(), ADDED).into_owned(),
    };
    let is_picture = |attachment: &Object<'_>| {
        let kind = attachment
            .text_any(&["mimeType", "mediaType", "type"])
            .unwrap_or_default();
        kind.starts_with("image")
    };
    let attachments = data.items("attachments").into_iter().filter_map(Json::object);
    let images = u32::try_from(attachments.filter(is_picture).count()).unwrap_or(u32::MAX);
    let is_none = (text.trim().is_empty() && images == 0) || text.starts_with("<skill-context");
    (!is_none).then_some(UserPrompt { text, images })
}

fn text(data: &Object<'_>, key: &str) -> Option<String> {
    data.text(key).map(Cow::into_owned)
}

#[cfg(test)]
mod tests;
