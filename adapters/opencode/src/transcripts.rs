//! What `opencode export` prints: one document, `{info, messages: [{info, parts}]}`.

use std::collections::HashSet;

use hookhost_sdk::lines::DocumentReader;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileEffect, FileOp, Item, Json, Object, Rewind, SessionFacts, ToolResult,
    Usage, UsageScope, UserPrompt, Wanted, time,
};

use crate::hooks::is_typed_text;

const PATH: &[&str] = &["filePath", "path"];

const TOOLS: &[Rule] = &[
    Rule::new(&["read"], Effect::File(FileOp::Read, PATH)),
    Rule::new(&["write"], Effect::File(FileOp::Write, PATH)),
    Rule::new(&["edit", "multiedit"], Effect::File(FileOp::Modify, PATH)),
    Rule::new(&["apply_patch", "patch"], Effect::Patch(&["patchText", "patch"])),
    Rule::new(
        &["bash"],
        Effect::Shell {
            command: &["command"],
            cwd: &["workdir"],
        },
    ),
    Rule::new(
        &["task"],
        Effect::Subagent {
            kind: &["subagent_type"],
            description: &["description"],
            prompt: &["prompt"],
        },
    ),
];

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
        // The plugin client's list of messages is the same without its frame.
        let frame = document.object().unwrap_or_default();
        let list = match frame.get("messages") {
            Some(messages) => messages.items(),
            None => document.items(),
        };
        let info = frame.object("info").unwrap_or_default();
        if frame.get("messages").is_none() && !document.raw().starts_with('[') {
            out.push(Entry::new(
                0,
                Item::Unreadable("no `messages`: not an export".to_owned()),
            ));
            return 0;
        }
        out.push(session(&info));
        let begun = created(&info);
        let messages: Vec<_> = list.into_iter().map(Message::of).collect();
        let revert = info.object("revert").unwrap_or_default();
        let (reverted, reverted_part) = (revert.id(&["messageID"]), revert.id(&["partID"]));
        let mut taken_back: Option<String> = None;
        let mut calls = HashSet::new();
        for (index, message) in messages.iter().enumerate() {
            let mut reading = Reading::new(index as u64, message, self.want);
            // A fork begins with copies of the messages of the session that it was made from.
            reading.inherited = begun.zip(created(&message.info)).is_some_and(|(begun, at)| at < begun);
            if message.id.is_some() && message.id == reverted {
                reading.cut_at = reverted_part.clone();
                taken_back = match reverted_part {
                    None => message.id.clone(),
                    // The message stays up to that part: what follows it goes as a whole.
                    Some(_) => messages.get(index + 1).and_then(|next| next.id.clone()),
                };
            }
            reading.read(&messages, &mut calls);
            out.append(&mut reading.out);
        }
        if let Some(record_id) = taken_back {
            let last = messages.len().saturating_sub(1) as u64;
            out.push(Entry::new(
                last,
                Item::Rewind(Rewind {
                    record_id,
                    inclusive: true,
                    restores_files: true,
                }),
            ));
        }
        messages.len() as u64
    }
}

/// When a session or a message was made, in milliseconds.
fn created(info: &Object<'_>) -> Option<u64> {
    info.object("time")?.get("created")?.count()
}

fn session(info: &Object<'_>) -> Entry {
    let started_at = info.object("time").and_then(|times| time::of(times.get("created")?));
    let mut entry = Entry::new(
        0,
        Item::Session(SessionFacts {
            session_id: info.id(&["id"]),
            parent_session_id: info.id(&["parentID"]),
            cwd: info.text("directory").map(Into::into),
            started_at: started_at.clone(),
            model: None,
            agent_version: info.text("version").map(Into::into),
            title: info.text("title").map(Into::into),
        }),
    );
    entry.time = started_at;
    entry
}

struct Message<'a> {
    id: Option<String>,
    info: Object<'a>,
    parts: Vec<Object<'a>>,
}

impl<'a> Message<'a> {
    fn of(message: Json<'a>) -> Self {
        let message = message.object().unwrap_or_default();
        let info = message.object("info").unwrap_or_default();
        let parts = message.items("parts").into_iter().filter_map(Json::object).collect();
        Self {
            id: info.id(&["id"]),
            info,
            parts,
        }
    }

    /// The model's answer to a compaction: its text is no answer to the user.
    fn is_summary(&self) -> bool {
        self.info.flag("summary")
    }

    fn parts_of<'m>(&'m self, kind: &'m str) -> impl Iterator<Item = &'m Object<'a>> {
        self.parts
            .iter()
            .filter(move |part| part.text("type").as_deref() == Some(kind))
    }

    fn text(&self) -> String {
        let texts: Vec<_> = self.parts_of("text").filter_map(|part| part.text("text")).collect();
        texts.join("\n")
    }
}

/// One message on its way to entries.
struct Reading<'m, 'a> {
    index: u64,
    message: &'m Message<'a>,
    want: Wanted,
    model: Option<String>,
    time: Option<String>,
    /// From this part on only what was billed counts.
    cut_at: Option<String>,
    /// The message was copied from another session.
    inherited: bool,
    out: Vec<Entry>,
}

impl<'m, 'a> Reading<'m, 'a> {
    fn new(index: u64, message: &'m Message<'a>, want: Wanted) -> Self {
        let times = message.info.object("time").unwrap_or_default();
        Self {
            index,
            message,
            want,
            model: message.info.id(&["modelID"]),
            time: times.get("created").and_then(time::of),
            cut_at: None,
            inherited: false,
            out: vec![],
        }
    }

    fn add(&mut self, item: Item) {
        self.add_at(self.time.clone(), item);
    }

    fn add_at(&mut self, time: Option<String>, item: Item) {
        let mut entry = Entry::new(self.index, item);
        entry.record_id.clone_from(&self.message.id);
        entry.time = time;
        entry.inherited = self.inherited;
        self.out.push(entry);
    }

    fn read(&mut self, all: &[Message<'a>], calls: &mut HashSet<String>) {
        match self.message.info.text("role").as_deref() {
            Some("user") => self.user(all),
            Some("assistant") => self.assistant(all, calls),
            _ if self.message.parts.is_empty() => {
                self.add(Item::Unreadable(
                    "a message without a role and without parts".to_owned(),
                ));
            }
            _ => {}
        }
        if self.out.is_empty() {
            // What the user takes back is named by its first message, whatever the caller wants of it.
            self.add(Item::Note);
        }
    }

    fn user(&mut self, all: &[Message<'a>]) {
        for part in self.message.parts_of("compaction") {
            let summary = all
                .iter()
                .find(|answer| answer.is_summary() && answer.info.id(&["parentID"]) == self.message.id);
            self.add(Item::Compaction(CompactionMark {
                trigger: part
                    .has("auto")
                    .then(|| if part.flag("auto") { "auto" } else { "manual" }.to_owned()),
                summary: summary.map(Message::text).filter(|text| !text.is_empty()),
            }));
        }
        if !self.want.contains(Wanted::PROMPTS) {
            return;
        }
        let parts = self.message.parts.iter().take_while(|part| !self.is_cut(part));
        let mut texts = vec![];
        let mut images = 0;
        for part in parts {
            if is_typed_text(part) {
                texts.extend(part.text("text"));
            } else if part.text("mime").is_some_and(|mime| mime.starts_with("image/")) {
                images += 1;
            }
        }
        if !texts.is_empty() || images > 0 {
            let text = texts.join("\n");
            self.add(Item::UserPrompt(UserPrompt { text, images }));
        }
    }

    fn is_cut(&self, part: &Object<'_>) -> bool {
        self.cut_at.is_some() && part.id(&["id"]) == self.cut_at
    }

    fn assistant(&mut self, all: &[Message<'a>], calls: &mut HashSet<String>) {
        let message = self.message;
        let is_summary = message.is_summary();
        if is_summary && !self.is_answer_to_compaction(all) {
            // Older builds have no compaction part.
            let summary = Some(message.text()).filter(|text| !text.is_empty());
            self.add(Item::Compaction(CompactionMark { trigger: None, summary }));
        }
        let mut counts = true;
        for part in &message.parts {
            counts &= !self.is_cut(part);
            match part.text("type").as_deref() {
                Some("step-finish") => self.usage(part, part.id(&["id"])),
                _ if !counts => {}
                Some("text") if !is_summary => self.assistant_text(part),
                Some("reasoning") if self.want.contains(Wanted::THINKING) => {
                    if let Some(text) = part.text("text") {
                        self.add(Item::Thinking(text.into_owned()));
                    }
                }
                Some("tool") => self.tool(part, calls),
                _ => {}
            }
        }
        if message.parts_of("step-finish").next().is_none() {
            // Builds before the step parts: what the message says. It is zero while the model has not answered.
            let tokens = message.info.object("tokens").unwrap_or_default();
            if tokens.count("input") + tokens.count("output") > 0 {
                self.usage(&message.info, message.id.clone());
            }
        }
        if counts && message.parts_of("tool").next().is_none() {
            self.snapshot_changes();
        }
        if !is_summary && self.ends_the_turn() {
            let times = message.info.object("time").unwrap_or_default();
            self.add_at(times.get("completed").and_then(time::of), Item::TurnEnd);
        }
    }

    fn is_answer_to_compaction(&self, all: &[Message<'a>]) -> bool {
        let asked = self.message.info.id(&["parentID"]);
        all.iter()
            .any(|message| message.id == asked && message.parts_of("compaction").next().is_some())
    }

    /// `finish` is the reason of the last step. After an error or an abort there may be none.
    fn ends_the_turn(&self) -> bool {
        match self.message.info.text("finish").as_deref() {
            Some("tool-calls" | "unknown") => false,
            Some(_) => true,
            None => self.message.info.get("error").is_some(),
        }
    }

    fn assistant_text(&mut self, part: &Object<'_>) {
        if !self.want.contains(Wanted::TEXTS) || !is_typed_text(part) {
            return;
        }
        if let Some(text) = part.text("text") {
            self.add(Item::AssistantText(AssistantText {
                text: text.into_owned(),
                model: self.model.clone(),
                message_id: self.message.id.clone(),
                replaces: false,
            }));
        }
    }

    /// The tokens of one model call. `cache` is outside `input`.
    fn usage(&mut self, owner: &Object<'_>, id: Option<String>) {
        if !self.want.contains(Wanted::TOKENS) {
            return;
        }
        let tokens = owner.object("tokens").unwrap_or_default();
        let cache = tokens.object("cache").unwrap_or_default();
        let (input, output) = (tokens.count("input"), tokens.count("output"));
        let (read, write) = (cache.count("read"), cache.count("write"));
        let reasoning = tokens.count("reasoning");
        // Builds differ in whether `output` holds the reasoning; `total`, where there is one, tells.
        let sum = [input, output, read, write].into_iter().fold(0, u64::saturating_add);
        let is_inside = tokens.get("total").and_then(Json::count) == Some(sum);
        let id = id.unwrap_or_else(|| format!("{}-{}", self.index, self.out.len()));
        self.add(Item::Usage(Usage {
            scope: UsageScope::Call(id),
            model: self.model.clone(),
            input,
            cache_creation: write,
            cache_read: read,
            output: if is_inside {
                output
            } else {
                output.saturating_add(reasoning)
            },
            calls: 1,
        }));
    }

    fn tool(&mut self, part: &Object<'_>, calls: &mut HashSet<String>) {
        if !self.want.contains(Wanted::FILES) && !self.want.contains(Wanted::TOOL_BODIES) {
            return;
        }
        let state = part.object("state").unwrap_or_default();
        let metadata = state.object("metadata").unwrap_or_default();
        let name = part.text("tool").unwrap_or_default();
        // Some providers begin to count anew with each of their answers: then the part's own id tells the calls apart.
        let own = || part.id(&["id"]).unwrap_or_default();
        let id = part.id(&["callID"]).unwrap_or_else(own);
        let id = if calls.insert(id.clone()) { id } else { own() };
        let mut call = call(TOOLS, id.clone(), &name, state.get("input"), self.want);
        if let Some(known) = known_effects(&name, &state, &metadata) {
            call.files = known;
        }
        let times = state.object("time").unwrap_or_default();
        let started = times.get("start").and_then(time::of).or_else(|| self.time.clone());
        let is_subagent = call.subagent.is_some();
        self.add_at(started, Item::ToolCall(call));
        let is_error = match state.text("status").as_deref() {
            // A command that was cut off has no exit code, and says so with a null.
            Some("completed") => metadata
                .fields()
                .any(|(key, exit)| key == "exit" && exit.count() != Some(0)),
            Some("error") => true,
            _ => return,
        };
        let with_bodies = self.want.contains(Wanted::TOOL_BODIES);
        let output = state.text_any(&["output", "error"]).filter(|_| with_bodies);
        self.add_at(
            times.get("end").and_then(time::of).or_else(|| self.time.clone()),
            Item::ToolResult(ToolResult {
                id,
                output: output.unwrap_or_default().into_owned(),
                is_error,
                files: vec![],
                subagent_id: metadata.id(&["sessionId"]).filter(|_| is_subagent),
            }),
        );
    }

    /// What the snapshots before and after the message differ in. It has no kinds and counts edits by the shell too,
    /// so it is taken only where no tool calls were kept.
    fn snapshot_changes(&mut self) {
        for part in self.message.parts_of("patch") {
            for path in part.items("files").into_iter().filter_map(Json::text) {
                let path = path.into_owned();
                let op = FileOp::Modify;
                self.add(Item::FileChange(FileEffect { path, op }));
            }
        }
    }
}

/// What the result, or a peculiar input, tells of a call's effects beyond the names of its files.
fn known_effects(tool: &str, state: &Object<'_>, metadata: &Object<'_>) -> Option<Vec<FileEffect>> {
    let input = state.object("input").unwrap_or_default();
    let whole_file = |op| {
        let path = input.text_any(PATH)?.into_owned();
        Some(vec![FileEffect { path, op }])
    };
    match tool {
        "write" => match metadata.get("exists")?.flag()? {
            true => whole_file(FileOp::Modify),
            false => whole_file(FileOp::Create),
        },
        // With nothing to replace, `edit` writes the whole file.
        "edit" if input.get("oldString")?.text()?.is_empty() => whole_file(FileOp::Write),
        "apply_patch" | "patch" => Some(patched(metadata)).filter(|effects| !effects.is_empty()),
        _ => None,
    }
}

/// The files of a patch as its result names them.
fn patched(metadata: &Object<'_>) -> Vec<FileEffect> {
    let mut effects = vec![];
    for file in metadata.items("files").into_iter().filter_map(Json::object) {
        let Some(path) = file.text_any(&["filePath", "relativePath"]) else {
            continue;
        };
        let mut add = |path: &str, op| {
            let path = path.to_owned();
            effects.push(FileEffect { path, op });
        };
        match (file.text("type").as_deref(), file.text("movePath")) {
            (Some("add"), _) => add(&path, FileOp::Create),
            (Some("delete"), _) => add(&path, FileOp::Delete),
            (_, Some(moved)) => {
                add(&path, FileOp::Delete);
                add(&moved, FileOp::Create);
            }
            _ => add(&path, FileOp::Modify),
        }
    }
    effects
}
