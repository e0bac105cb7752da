//! From a chat's lines, which are a tree by `uuid` and `parentUuid`, to entries.

use std::collections::{HashMap, HashSet};

use hookhost_sdk::lines::LineReader;
use hookhost_sdk::prompt::unwrapped;
use hookhost_sdk::shell::exit_code;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileEffect, FileOp, Item, Json, Object, SessionFacts, ToolResult, Usage,
    UsageScope, UserPrompt, Wanted,
};

use crate::hooks::HOOK_CONTEXT;

const TOOLS: &[Rule] = &[
    Rule::new(&["write_file"], Effect::File(FileOp::Write, &["file_path"])),
    Rule::new(&["edit", "replace"], Effect::File(FileOp::Modify, &["file_path"])),
    Rule::new(
        &["notebook_edit"],
        Effect::File(FileOp::Modify, &["notebook_path", "file_path", "path"]),
    ),
    Rule::new(
        &["read_file"],
        Effect::File(FileOp::Read, &["file_path", "absolute_path", "path"]),
    ),
    Rule::new(
        &["run_shell_command"],
        Effect::Shell {
            command: &["command"],
            cwd: &["directory"],
        },
    ),
    Rule::new(
        &["agent", "task"],
        Effect::Subagent {
            kind: &["subagent_type"],
            description: &["description"],
            prompt: &["prompt"],
        },
    ),
];

/// The frame around the files that a prompt names with `@`, each mark a part of its own.
const FILES_BEGIN: &str = "--- Content from referenced files ---";
const FILES_END: &str = "--- End of content ---";

/// One pass over a chat.
pub(crate) struct Chat {
    want: Wanted,
    /// The file is a subagent's own: what is marked as its is what the file is about.
    own_agent: Option<String>,
    begun: bool,
    cwd: Option<String>,
    /// The session of the first record.
    session: Option<String>,
    /// Records of another one: some builds use a uuid again there.
    others: HashSet<String>,
    /// Calls of which no result was seen yet.
    calls: HashMap<String, Call>,
}

struct Call {
    file: Option<String>,
    is_shell: bool,
}

impl Chat {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            want,
            own_agent: None,
            begun: false,
            cwd: None,
            session: None,
            others: HashSet::new(),
            calls: HashMap::new(),
        }
    }
}

impl LineReader for Chat {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        let agent = record
            .flag("isSidechain")
            .then(|| record.id(&["agentId"]).unwrap_or_default());
        if !self.begun {
            self.own_agent.clone_from(&agent);
        }
        let subagent = agent.filter(|agent| self.own_agent.as_ref() != Some(agent));
        let id = self.record_id(record);
        let mut items = self.facts(record, subagent.is_some());
        match record.text("type").as_deref() {
            Some("user") => items.extend(self.user(record)),
            Some("assistant") => items.extend(self.assistant(record, id.as_deref())),
            Some("tool_result") => items.extend(self.results(record)),
            Some("system") => items.extend(system(record)),
            _ => {}
        }
        if items.is_empty() {
            // Others name it as their parent.
            items.push(Item::Note);
        }
        let time = record.text("timestamp").map(String::from);
        let (id, parent) = match subagent {
            None => (id, self.parent_id(record)),
            Some(_) => (None, None),
        };
        // A branch of a session is a file of its own that begins with a copy. The copy's facts are those of the branch,
        // its times are not.
        let copied = record.get("forkedFrom").is_some();
        out.extend(items.into_iter().map(|item| {
            let is_fact = matches!(item, Item::Session(_));
            Entry {
                time: time.clone().filter(|_| !copied || !is_fact),
                record_id: id.clone(),
                parent_id: parent.clone(),
                subagent: subagent.clone(),
                inherited: copied && !is_fact,
                ..Entry::new(offset, item)
            }
        }));
    }
}

impl Chat {
    /// Every line repeats the facts; they are told when they change.
    fn facts(&mut self, record: &Object<'_>, of_subagent: bool) -> Vec<Item> {
        if of_subagent {
            return vec![];
        }
        let first = !std::mem::replace(&mut self.begun, true);
        let cwd = record.text("cwd").map(String::from);
        if !first && (cwd.is_none() || cwd == self.cwd) {
            return vec![];
        }
        self.cwd.clone_from(&cwd);
        let once = |value: Option<String>| value.filter(|_| first);
        let fork = record.object("forkedFrom").and_then(|fork| fork.id(&["sessionId"]));
        vec![Item::Session(SessionFacts {
            session_id: once(record.id(&["sessionId"])),
            parent_session_id: once(fork),
            cwd,
            started_at: None,
            model: None,
            agent_version: once(record.text("version").map(Into::into)),
            title: None,
        })]
    }

    fn user(&mut self, record: &Object<'_>) -> Vec<Item> {
        let results = self.results(record);
        let typed = match record.text("provenance").as_deref() {
            Some(provenance) => provenance == "real_user",
            // Versions before there was one.
            None => matches!(record.text("subtype").as_deref(), None | Some("mid_turn_user_message")),
        };
        // A subagent's prompt is its parent's words, in its own file as well.
        if !results.is_empty() || !typed || record.flag("isSidechain") {
            return results;
        }
        prompt(record).into_iter().collect()
    }

    /// The uuid, and the session's id with it when that is not the first one.
    fn record_id(&mut self, record: &Object<'_>) -> Option<String> {
        let id = record.id(&["uuid"])?;
        let session = record.id(&["sessionId"]);
        if self.session.is_none() {
            self.session.clone_from(&session);
        }
        let Some(other) = session.filter(|session| self.session.as_ref() != Some(session)) else {
            return Some(id);
        };
        let id = format!("{other}/{id}");
        self.others.insert(id.clone());
        Some(id)
    }

    /// A record can follow one of the session before.
    fn parent_id(&self, record: &Object<'_>) -> Option<String> {
        let parent = record.id(&["parentUuid"])?;
        let of_this_session = format!("{}/{parent}", record.id(&["sessionId"]).unwrap_or_default());
        Some(self.others.get(&of_this_session).cloned().unwrap_or(parent))
    }

    fn assistant(&mut self, record: &Object<'_>, id: Option<&str>) -> Vec<Item> {
        let model = record.text("model").map(String::from);
        let mut items = vec![];
        for part in parts(record) {
            if let Some(function) = part.object("functionCall") {
                items.extend(self.call(&function));
                continue;
            }
            let Some(text) = part.text("text") else { continue };
            if part.flag("thought") {
                if self.want.contains(Wanted::THINKING) {
                    items.push(Item::Thinking(text.into_owned()));
                }
            } else if self.want.contains(Wanted::TEXTS) {
                items.push(Item::AssistantText(AssistantText {
                    text: text.into_owned(),
                    model: model.clone(),
                    message_id: id.map(str::to_owned),
                    replaces: false,
                }));
            }
        }
        if self.want.contains(Wanted::TOKENS) {
            items.extend(usage(record, model).map(Item::Usage));
        }
        items
    }

    fn call(&mut self, function: &Object<'_>) -> Option<Item> {
        if !self.want.contains(Wanted::FILES) {
            return None;
        }
        let name = function.text("name")?;
        let id = function.id(&["id"]).unwrap_or_default();
        let call = call(TOOLS, id, &name, function.get("args"), self.want);
        self.calls.insert(
            call.id.clone(),
            Call {
                file: call
                    .files
                    .first()
                    .filter(|file| file.op != FileOp::Read)
                    .map(|file| file.path.clone()),
                is_shell: call.shell.is_some(),
            },
        );
        Some(Item::ToolCall(call))
    }

    /// The answers of tools: of a newer line the one that `toolCallResult` describes, of an older one all in its parts.
    fn results(&mut self, record: &Object<'_>) -> Vec<Item> {
        if !self.want.contains(Wanted::FILES) && record.text("type").as_deref() == Some("tool_result") {
            return vec![];
        }
        let described = record.object("toolCallResult");
        let mut items = vec![];
        for part in parts(record) {
            let Some(response) = part.object("functionResponse") else {
                continue;
            };
            let id = response.id(&["id"]).unwrap_or_default();
            let of_this = described
                .as_ref()
                .filter(|result| result.id(&["callId"]).is_none_or(|call| call == id));
            items.push(self.result(id, response.object("response"), of_this));
        }
        if let (true, Some(result)) = (items.is_empty(), &described) {
            let id = result.id(&["callId"]).unwrap_or_default();
            items.push(self.result(id, None, Some(result)));
        }
        items
    }

    fn result(&mut self, id: String, response: Option<Object<'_>>, described: Option<&Object<'_>>) -> Item {
        let call = self.calls.remove(&id);
        let display = described.and_then(|result| result.get("resultDisplay"));
        let shown = display.and_then(|display| display.object());
        let error = response.as_ref().and_then(|response| response.shown("error"));
        let output = error
            .clone()
            .or_else(|| response.as_ref()?.text("output").map(String::from))
            .or_else(|| display?.text().map(String::from))
            .unwrap_or_default();
        let refused = described
            .and_then(|result| result.text("status"))
            .is_some_and(|status| matches!(status.as_ref(), "error" | "cancelled"));
        let is_shell = call.as_ref().is_some_and(|call| call.is_shell);
        // A file that had no content before was made.
        let made = shown
            .as_ref()
            .filter(|shown| shown.has("originalContent"))
            .map(|shown| shown.get("originalContent").is_none());
        let file = call.and_then(|call| call.file).zip(made);
        Item::ToolResult(ToolResult {
            id,
            is_error: refused
                || error.is_some()
                || is_shell && exit_code(&output, "Exit Code:", "").is_some_and(|code| code != 0),
            files: file
                .map(|(path, made)| FileEffect {
                    path,
                    op: if made { FileOp::Create } else { FileOp::Modify },
                })
                .into_iter()
                .collect(),
            subagent_id: shown.and_then(|shown| shown.id(&["agentId", "agent_id"])),
            output: if self.want.contains(Wanted::TOOL_BODIES) {
                output
            } else {
                String::new()
            },
        })
    }
}

fn parts<'a>(record: &Object<'a>) -> Vec<Object<'a>> {
    record
        .object("message")
        .map(|message| message.items("parts").into_iter().filter_map(Json::object).collect())
        .unwrap_or_default()
}

/// What a person typed.
fn prompt(record: &Object<'_>) -> Option<Item> {
    let parts = parts(record);
    let images = parts
        .iter()
        .filter(|part| part.object("inlineData").or_else(|| part.object("fileData")).is_some())
        .count();
    let payload = record.object("systemPayload").unwrap_or_default();
    let displayed = payload
        .get("hookContext")
        .filter(|context| context.text().is_some())
        .and_then(|_| payload.text("displayText"))
        .map(String::from);
    let text = displayed.unwrap_or_else(|| words(&parts));
    (!text.is_empty() || images > 0).then(|| {
        Item::UserPrompt(UserPrompt {
            text,
            images: u32::try_from(images).unwrap_or(u32::MAX),
        })
    })
}

/// The texts of a prompt without what hooks and `@` put behind them.
fn words(parts: &[Object<'_>]) -> String {
    let mut texts = vec![];
    let mut in_files = false;
    for text in parts.iter().filter_map(|part| part.text("text")) {
        match text.trim() {
            FILES_BEGIN => in_files = true,
            FILES_END => in_files = false,
            _ if in_files => {}
            _ => {
                let own = unwrapped(&text, HOOK_CONTEXT).into_owned();
                texts.extend(Some(own).filter(|own| !own.trim().is_empty()));
            }
        }
    }
    texts.join("\n")
}

fn system(record: &Object<'_>) -> Option<Item> {
    let payload = record.object("systemPayload").unwrap_or_default();
    let facts = |parent: Option<String>, title: Option<String>| {
        Some(Item::Session(SessionFacts {
            session_id: None,
            parent_session_id: parent,
            cwd: None,
            started_at: None,
            model: None,
            agent_version: None,
            title,
        }))
    };
    match record.text("subtype").as_deref() {
        Some("chat_compression") => {
            let history = payload.items("compressedHistory");
            let first = history.first().and_then(|content| content.object()).map(|content| {
                let parts = content.items("parts").into_iter().filter_map(Json::object);
                let texts: Vec<_> = parts.filter_map(|part| part.text("text").map(String::from)).collect();
                texts.join("\n")
            });
            Some(Item::Compaction(CompactionMark {
                trigger: payload.text("trigger").map(Into::into),
                summary: first.filter(|text| !text.is_empty()),
            }))
        }
        Some("custom_title") => facts(None, payload.text("customTitle").map(Into::into)),
        Some("parent_session") => facts(payload.id(&["parentSessionId"]), None),
        Some("turn_result") => Some(Item::TurnEnd),
        _ => None,
    }
}

/// One line with numbers is one model call. The total tells the output whether or not a backend counts its thoughts in
/// `candidatesTokenCount`.
fn usage(record: &Object<'_>, model: Option<String>) -> Option<Usage> {
    let numbers = record.object("usageMetadata")?;
    let prompt = numbers.count("promptTokenCount");
    let cached = numbers.count("cachedContentTokenCount");
    let by_total = numbers
        .get("totalTokenCount")
        .and_then(Json::count)
        .and_then(|total| total.checked_sub(prompt));
    let session = record.id(&["sessionId"]).unwrap_or_default();
    let id = record.id(&["uuid"]).unwrap_or_default();
    Some(Usage {
        // Some builds use a uuid again in another session.
        scope: UsageScope::Call(format!("{session}/{id}")),
        model,
        input: prompt.saturating_sub(cached),
        cache_creation: 0,
        cache_read: cached.min(prompt),
        output: by_total.unwrap_or_else(|| numbers.count("candidatesTokenCount")),
        calls: 1,
    })
}

#[cfg(test)]
mod tests;
