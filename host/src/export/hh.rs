//! The JSON of the session recorder hh, schema 2, in the forms that its version 1.0.0 gives.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};
use uuid::Uuid;

use super::{Session, fields, input, names};
use crate::format::table::shortened;
use crate::session::story::What;

/// The schema of every object.
const SCHEMA: u32 = 2;

/// The longest summary, in characters.
const SUMMARY_LIMIT: usize = 120;

/// What stands for the recorder's version in an export.
const VERSION: &str = concat!("1.0.0 (hookhost ", env!("CARGO_PKG_VERSION"), ")");

/// What `hh list --json` has for the session.
#[must_use]
pub fn session(session: &Session) -> Value {
    let events = events(session);
    let steps: BTreeSet<u64> = events.iter().filter_map(|event| event.get("step")?.as_u64()).collect();
    let status = match (session.ended, session.exit_code) {
        (None, _) => "recording",
        (Some(_), None | Some(0)) => "ok",
        (Some(_), Some(130)) => "interrupted",
        (Some(_), Some(_)) => "error",
    };
    let mut object = fields(reference(session));
    object.extend(fields(json!({
        "schema": SCHEMA,
        "status": status,
        "agent_kind": session.name_in("hh", &names()).unwrap_or("generic"),
        "started_at": session.started,
        "ended_at": session.ended,
        "exit_code": session.exit_code,
        "duration_ms": session.ended.map(|ended| (ended - session.started).max(0)),
        "steps": steps.len(),
        "files_changed": session.files.touched.len(),
        "command": [session.agent],
        "cwd": session.root,
        "imported_from": null,
    })));
    object.into()
}

/// What `hh export` gives.
#[must_use]
pub fn export(of: &Session) -> Value {
    json!({
        "schema": SCHEMA,
        "kind": "hh-export",
        "hh_version": VERSION,
        "session": session(of),
        "events": events(of),
    })
}

/// What `hh inspect --json --step` gives. `None`: there is no such step.
#[must_use]
pub fn step(session: &Session, number: u64) -> Option<Value> {
    let of_step = |event: &Value| event.get("step").and_then(Value::as_u64) == Some(number);
    let events: Vec<Value> = events(session).into_iter().filter(of_step).collect();
    let first = events.first()?;
    Some(json!({
        "schema": SCHEMA,
        "session": { "id": uuid(session).to_string(), "short_id": short(&uuid(session)) },
        "step": number,
        "kind": first.get("kind"),
        "summary": first.get("summary"),
        "ts_ms": first.get("ts_ms"),
        "events": events,
    }))
}

/// What `hh inspect --json` gives, and before and behind it the start and the end, of which the recorder's own events do
/// not tell.
#[must_use]
pub fn events(session: &Session) -> Vec<Value> {
    let mut events = Events {
        session,
        reference: reference(session),
        calls: HashMap::new(),
        steps: 0,
        events: vec![],
    };
    events.lifecycle(session.started, "start", "session started".to_owned());
    for (time, what) in &session.moments {
        events.moment(*time, what);
    }
    let files = &session.files;
    for (kind, paths) in [
        ("created", &files.created),
        ("modified", &files.modified),
        ("deleted", &files.deleted),
    ] {
        for path in paths {
            events.file(path, kind);
        }
    }
    if let Some(ended) = session.ended {
        let code = session.exit_code.map_or_else(String::new, |code| format!(" {code}"));
        events.lifecycle(ended, "exit", format!("exit{code}"));
    }
    events.events
}

struct Events<'s> {
    session: &'s Session,
    reference: Value,
    /// From calls' ids to their events and steps.
    calls: HashMap<&'s str, (usize, u64)>,
    steps: u64,
    events: Vec<Value>,
}

impl<'s> Events<'s> {
    fn moment(&mut self, time: i64, what: &'s What) {
        match what {
            What::Prompt(text) => self.words(time, "user_message", text),
            What::Text(text) => self.words(time, "agent_message", text),
            What::Thinking(text) => self.words(time, "thinking", text),
            What::Call(call) => {
                let step = self.next_step();
                self.calls.insert(&call.id, (self.events.len() + 1, step));
                let body = json!({ "name": call.name, "input": input(call) });
                self.event(
                    time,
                    "tool_call",
                    Some(step),
                    None,
                    &format!("tool_call: {}", call.name),
                    body,
                );
            }
            What::Result(result) => {
                let call = self.calls.get(result.id.as_str()).copied();
                let step = call.map_or_else(|| self.next_step(), |(_, step)| step);
                let failed = if result.is_error { " (error)" } else { "" };
                let body = json!({
                    "content": result.output, "is_error": result.is_error, "tool_use_id": result.id,
                });
                let summary = format!("tool_result{failed}: {}", result.output);
                self.event(time, "tool_result", Some(step), call.map(|(id, _)| id), &summary, body);
            }
            // Files are told all in all; the rest has no word here.
            What::File(_) | What::Usage { .. } | What::Compaction(_) | What::TurnEnd => {}
        }
    }

    fn words(&mut self, time: i64, kind: &str, text: &str) {
        let step = self.next_step();
        self.event(time, kind, Some(step), None, text, json!({ "text": text }));
    }

    fn file(&mut self, path: &str, kind: &str) {
        let step = self.next_step();
        let body = json!({ "path": path, "change_kind": kind });
        self.event(
            self.session.last(),
            "file_change",
            Some(step),
            None,
            &format!("{path} {kind}"),
            body,
        );
        if let Some(event) = self.events.last_mut() {
            event["file_change"] = json!({
                "path": path, "change_kind": kind, "before_hash": null, "after_hash": null, "is_binary": false,
            });
        }
    }

    fn lifecycle(&mut self, time: i64, event: &str, summary: String) {
        self.event(time, "lifecycle", None, None, &summary, json!({ "event": event }));
    }

    fn next_step(&mut self) -> u64 {
        self.steps += 1;
        self.steps
    }

    fn event(
        &mut self,
        time: i64,
        kind: &str,
        step: Option<u64>,
        correlates: Option<usize>,
        summary: &str,
        body: Value,
    ) {
        self.events.push(json!({
            "schema": SCHEMA,
            "session": self.reference,
            "id": self.events.len() + 1,
            "ts_ms": (time - self.session.started).max(0),
            "kind": kind,
            "step": step,
            "correlates": correlates,
            "summary": on_a_line(summary),
            "body": body,
            "file_change": null,
        }));
    }
}

/// What every event says of its session.
fn reference(session: &Session) -> Value {
    let id = uuid(session);
    json!({
        "id": id.to_string(),
        "short_id": short(&id),
        "adapter_status": if session.has_transcript { "active" } else { "none" },
        "adapter_degrade_reason": null,
    })
}

/// An agent's own id where it is one, else one that is always the same.
fn uuid(session: &Session) -> Uuid {
    session.id.parse().unwrap_or_else(|_| {
        let name = format!("{}/{}", session.agent, session.id);
        Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes())
    })
}

fn short(id: &Uuid) -> String {
    let digits = id.simple().to_string();
    digits
        .get(digits.len().saturating_sub(6)..)
        .unwrap_or_default()
        .to_owned()
}

/// The first line, cut.
fn on_a_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    shortened(line, SUMMARY_LIMIT)
}
