//! From a rollout to entries: one `{timestamp, type, payload}` a line.

mod replay;
#[cfg(test)]
mod tests;
mod tokens;
mod tools;
mod turns;

use std::collections::HashMap;

use hookhost_sdk::lines::LineReader;
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileEffect, Item, Json, Object, Rewind, SessionFacts, ToolResult, UserPrompt,
    Wanted, paths,
};

use crate::prompts;
use replay::Replay;
use tokens::Totals;
use turns::Turns;

/// One pass over a rollout.
pub(crate) struct Rollout {
    want: Wanted,
    replay: Replay,
    totals: Totals,
    /// A total of the copied part, or of this session, was seen.
    has_total: bool,
    /// The session's header was read.
    has_facts: bool,
    /// A subagent's rollout: its prompts are its parent's words.
    is_subagent: bool,
    model: Option<String>,
    turns: Turns,
    /// Calls of which no result was seen yet.
    calls: HashMap<String, Vec<FileEffect>>,
    /// What other records told of a call that is still open.
    told: HashMap<String, Told>,
    /// Results of calls that start subagents, to which a later record may add the subagent's id.
    spawned: HashMap<String, Option<ToolResult>>,
    /// The record before the compaction's event has told of it already.
    compacted: bool,
}

/// What is known of a call before its result.
#[derive(Clone, Default)]
struct Told {
    files: Vec<FileEffect>,
    is_error: bool,
    subagent: Option<String>,
}

/// A record and where it stands.
struct Line<'a> {
    offset: u64,
    time: Option<String>,
    copied: bool,
    payload: Object<'a>,
}

impl Line<'_> {
    fn entry(&self, item: Item) -> Entry {
        let mut entry = Entry::new(self.offset, item);
        entry.time.clone_from(&self.time);
        entry.inherited = self.copied;
        entry
    }
}

impl Rollout {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            want,
            replay: Replay::default(),
            totals: Totals::default(),
            has_total: false,
            has_facts: false,
            is_subagent: false,
            model: None,
            turns: Turns::default(),
            calls: HashMap::new(),
            told: HashMap::new(),
            spawned: HashMap::new(),
            compacted: false,
        }
    }
}

impl LineReader for Rollout {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        let kind = record.text("type").unwrap_or_default();
        let payload = record.object("payload").unwrap_or_default();
        let copied = self.replay.is_copy(&kind, record, &payload);
        let line = Line {
            offset,
            time: record.text("timestamp").map(Into::into),
            copied,
            payload,
        };
        let mut entries = vec![];
        match kind.as_ref() {
            "session_meta" => self.session_meta(&line, &mut entries),
            "turn_context" => self.turn_context(&line, &mut entries),
            "response_item" => self.response_item(&line, &mut entries),
            "event_msg" => self.event(&line, &mut entries),
            "compacted" => self.compaction(&line, &mut entries),
            _ => {}
        }
        self.turns.pass_on(entries, record.raw().len(), out);
    }

    fn end(&mut self, out: &mut Vec<Entry>) {
        self.turns.release(out);
    }
}

impl Rollout {
    /// The first header is the session's; a copied one belongs to the session that was copied from.
    fn session_meta(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        if self.has_facts || line.copied {
            return;
        }
        self.has_facts = true;
        let meta = &line.payload;
        let spawn = meta
            .object("source")
            .and_then(|source| source.get("subagent"))
            .or_else(|| {
                meta.get("source")
                    .filter(|source| source.text().as_deref() == Some("subagent"))
            });
        self.is_subagent = spawn.is_some() || meta.text("thread_source").as_deref() == Some("subagent");
        let spawned_by = spawn
            .and_then(|spawn| spawn.get("thread_spawn"))
            .and_then(|spawn| spawn.get("parent_thread_id"))
            .and_then(Json::id);
        let parent = meta.id(&["parent_thread_id"]).or(spawned_by);
        out.push(line.entry(Item::Session(SessionFacts {
            session_id: meta.id(&["id", "session_id"]),
            parent_session_id: parent.or_else(|| meta.id(&["forked_from_id"])),
            cwd: directory(meta),
            started_at: meta.text("timestamp").map(Into::into).or_else(|| line.time.clone()),
            agent_version: meta.text("cli_version").map(Into::into),
            ..no_facts()
        })));
    }

    fn turn_context(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        let model = line.payload.text("model").map(String::from);
        let facts = SessionFacts {
            cwd: directory(&line.payload),
            model: model.clone(),
            ..no_facts()
        };
        self.model = model.or(self.model.take());
        out.push(line.entry(Item::Session(facts)));
    }

    fn response_item(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        let item = &line.payload;
        match item.text("type").as_deref() {
            Some("message") => match item.text("role").as_deref() {
                Some("assistant") => self.assistant(line, out),
                Some("user") if !self.turns.has_events => {
                    if let Some((text, images)) = prompts::in_conversation(item) {
                        self.prompt(line, text, images, out);
                    }
                }
                _ => {}
            },
            Some("reasoning") if self.want.contains(Wanted::THINKING) => {
                let summary = item.items("summary").into_iter().filter_map(Json::object);
                let texts: Vec<_> = summary.filter_map(|part| part.text("text").map(String::from)).collect();
                if !texts.is_empty() {
                    out.push(line.entry(Item::Thinking(texts.join("\n"))));
                }
            }
            Some("function_call" | "custom_tool_call" | "local_shell_call") => self.call(line, out),
            Some("function_call_output" | "custom_tool_call_output") => self.output(line, out),
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        let parts = line.payload.items("content").into_iter().filter_map(Json::object);
        let texts: Vec<_> = parts
            .filter(|part| matches!(part.text("type").as_deref(), Some("output_text" | "text")))
            .filter_map(|part| part.text("text").map(String::from))
            .collect();
        if texts.is_empty() {
            return;
        }
        self.turns.answered();
        if self.want.contains(Wanted::TEXTS) {
            out.push(line.entry(Item::AssistantText(AssistantText {
                text: texts.join("\n"),
                model: self.model.clone(),
                message_id: None,
                replaces: false,
            })));
        }
    }

    fn call(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        self.turns.answered();
        if !self.want.contains(Wanted::FILES) {
            return;
        }
        let Some(call) = tools::called(&line.payload, self.want) else {
            return;
        };
        if call.subagent.is_some() {
            self.spawned.insert(call.id.clone(), None);
        }
        self.calls.insert(call.id.clone(), call.files.clone());
        out.push(line.entry(Item::ToolCall(call)));
    }

    fn output(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        if !self.want.contains(Wanted::FILES) {
            return;
        }
        let id = line.payload.id(&["call_id"]).unwrap_or_default();
        let ended = tools::ended(line.payload.get("output"));
        let told = self.told.remove(&id).unwrap_or_default();
        self.calls.remove(&id);
        let is_spawn = self.spawned.contains_key(&id);
        let result = ToolResult {
            output: if self.want.contains(Wanted::TOOL_BODIES) {
                ended.text
            } else {
                String::new()
            },
            is_error: ended.is_error || told.is_error,
            files: told.files,
            subagent_id: ended.subagent.filter(|_| is_spawn).or(told.subagent),
            id,
        };
        if is_spawn {
            self.spawned.insert(result.id.clone(), Some(result.clone()));
        }
        out.push(line.entry(Item::ToolResult(result)));
    }

    fn event(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        let event = &line.payload;
        let kind = event.text("type").unwrap_or_default();
        match kind.as_ref() {
            "user_message" => self.user_message(line, out),
            "token_count" => self.tokens(line, out),
            "patch_apply_end" => {
                let failed = event.get("success").and_then(Json::flag) == Some(false);
                self.patched(line, event, failed, out);
            }
            "item_completed" => {
                let item = event.object("item").unwrap_or_default();
                let kind = item.text("type").unwrap_or_default();
                if matches!(kind.as_ref(), "FileChange" | "fileChange" | "file_change") {
                    let status = item.text("status").unwrap_or_default();
                    let failed = ["failed", "declined", "in_progress", "inProgress"].contains(&status.as_ref());
                    self.patched(line, &item, failed, out);
                }
            }
            "exec_command_end" => {
                let code = event.get("exit_code");
                if let Some(id) = event.id(&["call_id"]).filter(|id| self.calls.contains_key(id)) {
                    self.told.entry(id).or_default().is_error |= code.is_some_and(tools::is_failure);
                }
            }
            "sub_agent_activity" if event.text("kind").as_deref() == Some("started") => {
                self.spawned(line, &["event_id", "call_id"], &["agent_thread_id"], out);
            }
            "collab_agent_spawn_end" => self.spawned(line, &["call_id"], &["new_thread_id"], out),
            "task_complete" | "turn_complete" => out.push(line.entry(Item::TurnEnd)),
            "turn_aborted" => {
                self.turns.aborted = self.turns.unanswered.is_some();
                out.push(line.entry(Item::TurnEnd));
            }
            "context_compacted" if !std::mem::take(&mut self.compacted) => {
                out.push(line.entry(Item::Compaction(CompactionMark {
                    trigger: None,
                    summary: None,
                })));
            }
            "thread_rolled_back" => self.rolled_back(line, out),
            "thread_name_updated" => {
                let title = event.text("thread_name").map(Into::into);
                out.push(line.entry(Item::Session(SessionFacts { title, ..no_facts() })));
            }
            _ => {}
        }
    }

    fn user_message(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        let event = &line.payload;
        self.turns.events_begin(out);
        // Versions that wrote what they inject as an event as well named its kind.
        if event.text("kind").is_some_and(|kind| kind != "plain") {
            return;
        }
        let text = event.text("message").unwrap_or_default();
        let images = event.items("images").len() + event.items("local_images").len();
        let text = prompts::typed(&text).to_owned();
        if !text.is_empty() || images > 0 {
            self.prompt(line, text, u32::try_from(images).unwrap_or(u32::MAX), out);
        }
    }

    fn prompt(&mut self, line: &Line<'_>, text: String, images: u32, out: &mut Vec<Entry>) {
        if self.is_subagent || self.turns.is_written_again(&text) {
            return;
        }
        let mut entry = line.entry(Item::UserPrompt(UserPrompt {
            text: text.clone(),
            images,
        }));
        let id = line.offset.to_string();
        entry.record_id = Some(id.clone());
        self.turns.prompts.push(id);
        self.turns.unanswered = Some(text);
        out.push(entry);
    }

    fn tokens(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        let follows_copy = self.replay.follows_copy() && !line.copied && !self.has_total;
        let Some(counted) = self.totals.count(&line.payload, self.model.as_deref(), follows_copy) else {
            return;
        };
        self.has_total = true;
        if !self.want.contains(Wanted::TOKENS) {
            return;
        }
        if let Some(base) = counted.base {
            let mut entry = line.entry(Item::Usage(base));
            entry.inherited = true;
            out.push(entry);
        }
        out.push(line.entry(Item::Usage(counted.total)));
    }

    /// Files were changed. Of a call that has no result yet, this is told again with the result, which counts; a
    /// change without a call (by a program that the model wrote) stands for itself.
    fn patched(&mut self, line: &Line<'_>, event: &Object<'_>, failed: bool, out: &mut Vec<Entry>) {
        if !self.want.contains(Wanted::FILES) {
            return;
        }
        let files = event.get("changes").map(tools::changes).unwrap_or_default();
        let id = event.id(&["call_id", "id"]).unwrap_or_default();
        let Some(announced) = self.calls.get(&id).filter(|announced| !announced.is_empty()) else {
            if !failed {
                out.extend(files.into_iter().map(|file| line.entry(Item::FileChange(file))));
            }
            return;
        };
        let files = tools::in_order_of(announced, files);
        let told = self.told.entry(id.clone()).or_default();
        told.is_error |= failed;
        told.files = files;
        out.push(
            line.entry(Item::ToolResult(ToolResult {
                id,
                output: event
                    .text_any(&["stdout", "stderr"])
                    .map(Into::into)
                    .unwrap_or_default(),
                is_error: told.is_error,
                files: told.files.clone(),
                subagent_id: None,
            })),
        );
    }

    /// A subagent was started; the record comes before or behind the call's result.
    fn spawned(&mut self, line: &Line<'_>, call: &[&str], subagent: &[&str], out: &mut Vec<Entry>) {
        let (Some(id), Some(subagent)) = (line.payload.id(call), line.payload.id(subagent)) else {
            return;
        };
        match self.spawned.get(&id) {
            Some(Some(result)) if result.subagent_id.is_some() => {}
            Some(Some(result)) => out.push(line.entry(Item::ToolResult(ToolResult {
                subagent_id: Some(subagent),
                ..result.clone()
            }))),
            Some(None) => self.told.entry(id).or_default().subagent = Some(subagent),
            None => {}
        }
    }

    fn compaction(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        self.compacted = true;
        out.push(line.entry(Item::Compaction(CompactionMark {
            trigger: None,
            summary: line.payload.text("message").map(Into::into),
        })));
    }

    /// The user went back before the last prompts. Codex leaves the files as they are.
    fn rolled_back(&mut self, line: &Line<'_>, out: &mut Vec<Entry>) {
        let prompts = &mut self.turns.prompts;
        let taken = usize::try_from(line.payload.count("num_turns")).unwrap_or(usize::MAX);
        let kept = prompts.len().saturating_sub(taken);
        let Some(first) = prompts.get(kept).cloned() else {
            return;
        };
        prompts.truncate(kept);
        out.push(line.entry(Item::Rewind(Rewind {
            record_id: first,
            inclusive: true,
            restores_files: false,
        })));
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

fn directory(payload: &Object<'_>) -> Option<String> {
    payload.text("cwd").map(|cwd| paths::plain(&cwd).into_owned())
}
