//! HAST task events, version 2: an envelope a line.

use std::collections::HashMap;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{Session, fields, input, names};
use crate::model::ToolCall;
use crate::moment;
use crate::session::TokenTotals;
use crate::session::story::What;

/// The version of the envelope.
const VERSION: u32 = 2;

/// The envelopes.
#[must_use]
pub fn lines(session: &Session) -> Vec<Value> {
    let mut stream = Stream {
        session,
        calls: session.calls(),
        engine: session.name_in("hast", &names()).unwrap_or(&session.agent).to_owned(),
        runs: 0,
        is_open: false,
        used: TokenTotals::default(),
        between: TokenTotals::default(),
        answer: None,
        lines: vec![],
    };
    stream.line(session.started, "runtime.status", json!({ "status": "ready" }));
    let last_turn = session.moments.iter().rposition(|(_, what)| *what == What::TurnEnd);
    for (at, (time, what)) in session.moments.iter().enumerate() {
        if last_turn == Some(at) {
            stream.files(*time);
        }
        stream.moment(*time, what);
    }
    if last_turn.is_none() {
        stream.files(session.last());
    }
    if let Some(ended) = session.ended {
        stream.line(ended, "runtime.status", json!({ "status": "released" }));
    }
    stream.lines
}

struct Stream<'s> {
    session: &'s Session,
    calls: HashMap<&'s str, &'s ToolCall>,
    engine: String,
    /// How many runs there have been: a turn is one.
    runs: u64,
    is_open: bool,
    /// What the run has used.
    used: TokenTotals,
    /// What was used between runs.
    between: TokenTotals,
    /// The id of the run's last message.
    answer: Option<String>,
    lines: Vec<Value>,
}

impl Stream<'_> {
    fn line(&mut self, time: i64, kind: &str, data: Value) {
        let sequence = self.lines.len() + 1;
        let name = format!("{}/{}/{sequence}/{kind}", self.session.agent, self.session.id);
        let mut line = fields(json!({
            "schema_version": VERSION,
            "event_id": Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()).to_string(),
            "source": "runtime",
            "engine": self.engine,
            "task_id": self.session.id,
            "session_id": self.session.id,
            "sequence": sequence,
            "replayable": true,
            "created_at": moment::written(time),
            "type": kind,
            "data": data,
        }));
        if self.is_open {
            line.insert("run_id".to_owned(), self.run().into());
        }
        self.lines.push(line.into());
    }

    fn run(&self) -> String {
        format!("{}-{}", self.session.id, self.runs)
    }

    /// An id for something in the stream.
    fn next_id(&self, kind: &str) -> String {
        format!("{kind}-{}", self.lines.len() + 1)
    }

    fn moment(&mut self, time: i64, what: &What) {
        match what {
            What::Prompt(text) => {
                self.begin(time);
                let id = self.next_id("message");
                self.line(
                    time,
                    "message.completed",
                    json!({ "message_id": id, "role": "user", "text": text }),
                );
            }
            What::Text(text) => {
                let id = self.next_id("message");
                self.answer = Some(id.clone());
                self.line(
                    time,
                    "message.completed",
                    json!({ "message_id": id, "role": "assistant", "text": text }),
                );
            }
            What::Thinking(text) => {
                let id = self.next_id("reasoning");
                self.line(time, "reasoning.completed", json!({ "reasoning_id": id, "text": text }));
            }
            What::Call(call) => {
                // Some agents' calls have no ids.
                let id = Some(&call.id).filter(|id| !id.is_empty()).cloned();
                let id = id.unwrap_or_else(|| self.next_id("call"));
                let data = json!({
                    "tool_call_id": id, "kind": kind(call), "name": call.name, "input": input(call),
                });
                self.line(time, "tool.started", data);
            }
            What::Result(result) => {
                let called = self.calls.get(result.id.as_str()).copied();
                let data = json!({
                    "tool_call_id": result.id,
                    "kind": called.map_or("tool", kind),
                    "name": called.map(|call| call.name.as_str()).unwrap_or_default(),
                    "status": if result.is_error { "failed" } else { "succeeded" },
                    "is_error": result.is_error,
                    "output": result.output,
                });
                self.line(time, "tool.completed", data);
            }
            What::Usage { model, tokens } => self.usage(time, model.as_deref(), *tokens),
            What::Compaction(mark) => {
                let reason = mark.trigger.as_deref().unwrap_or("auto");
                self.line(time, "context.compacted", json!({ "reason": reason }));
            }
            What::TurnEnd => self.end(time),
            // All in all at the end.
            What::File(_) => {}
        }
    }

    fn begin(&mut self, time: i64) {
        self.runs += 1;
        self.is_open = true;
        self.used = TokenTotals::default();
        self.answer = None;
        let request = format!("{}-request", self.run());
        self.line(
            time,
            "run.started",
            json!({ "request_id": request, "turn_type": "user" }),
        );
    }

    fn end(&mut self, time: i64) {
        if !self.is_open {
            return;
        }
        match self.answer.take() {
            Some(answer) => {
                let data = json!({ "final_message_id": answer, "finish_reason": "stop", "attempts": 1 });
                self.line(time, "run.completed", data);
            }
            None => self.line(
                time,
                "run.interrupted",
                json!({ "reason": "it ended without an answer" }),
            ),
        }
        self.is_open = false;
    }

    /// Created and changed files are not told apart.
    fn files(&mut self, time: i64) {
        let files = &self.session.files;
        let updated = files.created.iter().chain(&files.modified).map(|path| (path, "update"));
        let deleted = files.deleted.iter().map(|path| (path, "delete"));
        for (path, operation) in updated.chain(deleted) {
            self.line(time, "file.changed", json!({ "path": path, "operation": operation }));
        }
    }

    /// The total of the run so far; what belongs to none is the session's.
    fn usage(&mut self, time: i64, model: Option<&str>, tokens: TokenTotals) {
        let used = if self.is_open {
            &mut self.used
        } else {
            &mut self.between
        };
        *used = used.plus(tokens);
        let total = numbers(*used);
        let data = json!({
            "model": model.or(self.session.model.as_deref()).unwrap_or_default(),
            // Nobody told.
            "context_window": 0,
            "last": numbers(tokens),
            "total": total,
        });
        self.line(time, "usage.updated", data);
    }
}

fn kind(call: &ToolCall) -> &'static str {
    match (&call.subagent, &call.shell) {
        (Some(_), _) => "subagent",
        (_, Some(_)) => "command",
        _ => "tool",
    }
}

fn numbers(tokens: TokenTotals) -> Value {
    let parts = [tokens.input, tokens.cache_read, tokens.cache_creation, tokens.output];
    json!({
        "input_tokens": tokens.input,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_creation,
        "output_tokens": tokens.output,
        // Part of the output.
        "reasoning_tokens": 0,
        "total_tokens": parts.into_iter().fold(0, u64::saturating_add),
    })
}
