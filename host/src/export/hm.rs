//! The event stream of the agent hm, format version 1.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Session, fields, input};
use crate::model::{FileEffect, FileOp, ToolCall, ToolResult};
use crate::moment;
use crate::session::TokenTotals;
use crate::session::story::What;

/// What readers of the stream take for tools that work on files or run commands.
const TOOLS: &[&str] = &[
    "read",
    "read_file",
    "edit",
    "edit_file",
    "str_replace",
    "multi_edit",
    "write",
    "write_file",
    "create",
    "create_file",
    "delete",
    "delete_file",
    "remove_file",
    "apply_patch",
    "patch",
    "shell",
    "bash",
    "command",
    "run",
];

/// A tool of one of these names that did nothing of the kind: it was stopped, or only has the name.
const OTHER: &str = "other";

/// The lines. One that a session without an end does not have is `session_end`: readers take such a stream for cut off.
#[must_use]
pub fn lines(session: &Session) -> Vec<Value> {
    let mut stream = Stream {
        session,
        calls: session.calls(),
        subagents: session.subagents(),
        effects: effects(session),
        lines: vec![],
        results: 0,
        saying: None,
    };
    stream.start();
    for (time, what) in &session.moments {
        stream.moment(*time, what);
    }
    stream.end();
    stream.lines
}

struct Stream<'s> {
    session: &'s Session,
    calls: HashMap<&'s str, &'s ToolCall>,
    subagents: HashMap<&'s str, &'s str>,
    /// What became of each call's files.
    effects: HashMap<&'s str, &'s [FileEffect]>,
    lines: Vec<Value>,
    /// How many results have come since the last message.
    results: usize,
    /// What the agent is saying: the tokens come before the message ends.
    saying: Option<&'s str>,
}

/// The results know better than the calls.
fn effects(session: &Session) -> HashMap<&str, &[FileEffect]> {
    let mut effects: HashMap<&str, &[FileEffect]> = HashMap::new();
    for (_, what) in &session.moments {
        match what {
            What::Call(call) if !call.id.is_empty() => {
                effects.entry(&call.id).or_insert(&call.files);
            }
            What::Result(result) if !result.files.is_empty() => {
                effects.insert(&result.id, &result.files);
            }
            _ => {}
        }
    }
    effects
}

impl<'s> Stream<'s> {
    fn line(&mut self, time: i64, of: &str, kind: &str, more: Value) {
        let mut line = fields(json!({ "v": 1, "type": kind, "session": of, "time": moment::written(time) }));
        line.extend(fields(more));
        self.lines.push(line.into());
    }

    fn own(&mut self, time: i64, kind: &str, more: Value) {
        let id = self.session.id.clone();
        self.line(time, &id, kind, more);
    }

    fn start(&mut self) {
        let prompt = self.session.moments.iter().find_map(|(_, what)| match what {
            What::Prompt(text) => Some(text),
            _ => None,
        });
        let mut start = fields(json!({
            "root": self.session.root,
            "mode": "act",
            "provider": "",
            "model": self.session.model.as_deref().unwrap_or_default(),
            "resumed": self.session.resumed,
        }));
        // A session that was opened and left has none.
        start.extend(prompt.map(|prompt| ("prompt".to_owned(), prompt.as_str().into())));
        self.own(self.session.started, "session_start", start.into());
    }

    fn moment(&mut self, time: i64, what: &'s What) {
        if !matches!(what, What::Usage { .. }) {
            self.end_of_words(time);
        }
        if !matches!(what, What::Result(_)) {
            self.end_of_results(time);
        }
        match what {
            What::Prompt(text) => self.own(time, "message_end", json!({ "role": "user", "text": text })),
            What::Text(text) => {
                self.own(time, "message_start", json!({ "role": "assistant" }));
                self.own(time, "text_delta", json!({ "text": text }));
                self.saying = Some(text);
            }
            What::Thinking(text) => self.own(time, "thinking_delta", json!({ "text": text })),
            What::Call(call) => self.call(time, call),
            What::Result(result) => self.result(time, result),
            What::File(effect) => {
                let id = format!("change-{}", self.lines.len());
                self.effect(time, &id, "", effect, json!({}));
                let done = json!({ "tool": tool_of(effect.op), "call_id": id, "text": "", "is_error": false });
                self.own(time, "tool_result", done);
            }
            What::Usage { tokens, .. } => {
                self.own(time, "usage", usage(*tokens));
                self.end_of_words(time);
            }
            What::Compaction(mark) => {
                self.own(time, "compaction_start", json!({}));
                // An empty text would say that it failed.
                if let Some(summary) = mark.summary.as_ref().filter(|summary| !summary.is_empty()) {
                    self.own(time, "compaction_end", json!({ "text": summary }));
                }
            }
            What::TurnEnd => self.own(time, "turn_end", json!({})),
        }
    }

    /// Tools have the names that the stream's readers know: what a call does to files, and which. Its own name is part
    /// of the summary. A call that touches several files is one for each.
    fn call(&mut self, time: i64, call: &ToolCall) {
        let effects = self.effects.get(call.id.as_str()).copied().unwrap_or(&call.files);
        if let Some(shell) = &call.shell {
            let mut input = fields(json!({ "command": shell.command }));
            input.extend(shell.cwd.as_ref().map(|cwd| ("cwd".to_owned(), cwd.as_str().into())));
            let what = json!({
                "tool": "shell", "call_id": call.id, "summary": format!("{} {}", call.name, shell.command), "input": input,
            });
            self.own(time, "tool_call", what);
        } else if effects.is_empty() {
            let what = json!({
                "tool": idle(&call.name), "call_id": call.id, "summary": call.name, "input": input(call),
            });
            self.own(time, "tool_call", what);
        }
        for (number, effect) in effects.iter().enumerate() {
            self.effect(time, &numbered(&call.id, number), &call.name, effect, input(call));
        }
        if let Some(subagent) = &call.subagent {
            // Some agents' calls have no ids.
            let unnamed = format!("{}-{}", self.session.id, self.lines.len());
            let known = self.subagents.get(call.id.as_str()).copied();
            let id = known.map_or(unnamed, str::to_owned);
            let task = subagent.prompt.as_ref().or(subagent.description.as_ref());
            let text = task.map(String::as_str).unwrap_or_default();
            self.line(time, &id, "message_end", json!({ "role": "user", "text": text }));
        }
    }

    fn effect(&mut self, time: i64, id: &str, name: &str, effect: &FileEffect, input: Value) {
        let mut input = fields(input);
        for other in ["file_path", "file", "paths"] {
            input.remove(other);
        }
        input.insert("path".to_owned(), effect.path.as_str().into());
        let tool = tool_of(effect.op);
        let summary = if name.is_empty() { tool } else { name };
        let what = json!({
            "tool": tool, "call_id": id, "summary": format!("{summary} {}", effect.path), "input": input,
        });
        self.own(time, "tool_call", what);
    }

    fn result(&mut self, time: i64, result: &ToolResult) {
        let called = self.calls.get(result.id.as_str()).copied();
        if let Some(id) = self.subagents.get(result.id.as_str()).copied().map(str::to_owned) {
            let mut end = fields(json!({}));
            if result.is_error {
                end.insert("error".to_owned(), result.output.as_str().into());
            }
            self.line(time, &id, "subagent_end", end.into());
        }
        let effects = self.effects.get(result.id.as_str()).copied().unwrap_or_default();
        let is_shell = called.is_some_and(|call| call.shell.is_some());
        let whole = (is_shell || effects.is_empty()).then(|| {
            let name = called.map(|call| call.name.as_str()).unwrap_or_default();
            (result.id.clone(), if is_shell { "shell" } else { idle(name) })
        });
        let parts = effects.iter().enumerate();
        let parts = parts.map(|(number, effect)| (numbered(&result.id, number), tool_of(effect.op)));
        for (id, tool) in whole.into_iter().chain(parts) {
            let done = json!({ "tool": tool, "call_id": id, "text": result.output, "is_error": result.is_error });
            self.own(time, "tool_result", done);
        }
        self.results += 1;
    }

    fn end_of_words(&mut self, time: i64) {
        if let Some(text) = self.saying.take() {
            self.own(time, "message_end", json!({ "role": "assistant", "text": text }));
        }
    }

    /// The results of one message are one message.
    fn end_of_results(&mut self, time: i64) {
        if std::mem::take(&mut self.results) > 0 {
            self.own(time, "message_end", json!({ "role": "tool", "text": "" }));
        }
    }

    fn end(&mut self) {
        let last = self.session.last();
        self.end_of_words(last);
        self.end_of_results(last);
        let Some(ended) = self.session.ended else { return };
        let what = json!({
            "answer": self.session.answer().unwrap_or_default(),
            "exit_code": self.session.exit_code.unwrap_or(0),
            "refused": [],
            "usage": usage(self.session.tokens()),
        });
        self.own(ended, "session_end", what);
    }
}

/// What a tool is called that did nothing to files.
fn idle(name: &str) -> &str {
    let is_known = TOOLS.iter().any(|known| known.eq_ignore_ascii_case(name));
    if is_known { OTHER } else { name }
}

fn numbered(id: &str, number: usize) -> String {
    match number {
        0 => id.to_owned(),
        more => format!("{id}-{more}"),
    }
}

fn tool_of(op: FileOp) -> &'static str {
    match op {
        FileOp::Create => "create",
        FileOp::Modify => "edit",
        FileOp::Delete => "delete",
        FileOp::Write => "write",
        FileOp::Read => "read",
    }
}

/// What it cost is not known.
fn usage(tokens: TokenTotals) -> Value {
    json!({
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_creation,
        "cost": 0,
    })
}
