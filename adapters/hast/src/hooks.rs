//! What the events mean.

use std::collections::HashMap;

use hookhost_sdk::{Event, EventKind, Fault, Json, Object};

use crate::envelope::{Envelope, Frame, Frames, Seen, members};

/// What has been seen of a stream. An event by itself is read as if nothing had been.
#[derive(Default)]
pub(crate) struct Stream {
    seen: Seen,
    sessions: HashMap<String, Session>,
}

#[derive(Default)]
struct Session {
    model: Option<String>,
    turn: Turn,
    /// Tool calls that are subagents, by their id.
    subagents: Vec<String>,
}

#[derive(Default)]
enum Turn {
    #[default]
    None,
    /// A run has started and its prompt is still to come: the event that opens the turn, but for the prompt.
    Waiting(Box<Event>),
    Open {
        prompt: Option<String>,
    },
}

impl Stream {
    pub(crate) fn payload(&mut self, payload: &Object<'_>) -> Result<Vec<Event>, Fault> {
        let json = Json::parse(payload.raw()).map_err(Fault::Malformed)?;
        let mut events = vec![];
        for object in members(json) {
            if let Some(envelope) = Envelope::read(&object)?.filter(|envelope| self.seen.is_new(envelope)) {
                self.sessions
                    .entry(envelope.session.clone())
                    .or_default()
                    .event(&envelope, &mut events);
            }
        }
        Ok(events)
    }

    /// Lists, and server-sent events.
    pub(crate) fn text(&mut self, text: &str) -> Result<Vec<Event>, Fault> {
        if let Ok(list) = Json::parse(text) {
            let mut events = vec![];
            for object in members(list) {
                events.extend(self.payload(&object)?);
            }
            return Ok(events);
        }
        let mut events = vec![];
        let mut frames = Frames::default();
        for line in text.lines() {
            match frames.line(line) {
                Frame::Going => {}
                Frame::Data(data) => {
                    if let Ok(object) = Object::parse(&data) {
                        events.extend(self.payload(&object)?);
                    }
                }
                Frame::Other => {
                    return Err(Fault::Malformed(
                        "neither JSON nor a line of a server-sent event".to_owned(),
                    ));
                }
            }
        }
        Ok(events)
    }

    /// Runs that were started and never told their prompt.
    pub(crate) fn finish(&mut self) -> Vec<Event> {
        let mut waiting: Vec<_> = std::mem::take(&mut self.sessions)
            .into_values()
            .filter_map(|session| match session.turn {
                Turn::Waiting(event) => Some(*event),
                _ => None,
            })
            .collect();
        waiting.sort_by(|one, other| one.timestamp.cmp(&other.timestamp));
        waiting
    }
}

impl Session {
    fn event(&mut self, envelope: &Envelope<'_>, events: &mut Vec<Event>) {
        if let Some(model) = envelope.model() {
            self.model = Some(model);
        }
        let event = |kind| {
            let mut event = Event::new(kind, envelope.session.clone());
            event.timestamp.clone_from(&envelope.time);
            event.model.clone_from(&self.model);
            event
        };
        match envelope.kind.as_str() {
            "runtime.status" => match envelope.text("status").as_deref() {
                Some("ready") => events.push(event(EventKind::SessionStart)),
                Some(status @ ("released" | "failed")) => {
                    events.push(event(EventKind::SessionEnd).with("status", Some(status)));
                }
                _ => {}
            },
            "run.started" => {
                let start = event(EventKind::TurnStart);
                self.run_started(envelope, start, events);
            }
            "message.completed" if envelope.text("role").as_deref() == Some("user") => {
                let start = event(EventKind::TurnStart);
                self.user_message(envelope.text("text"), start, events);
            }
            "run.completed" | "run.failed" | "run.interrupted" => {
                if let Turn::Waiting(start) = std::mem::take(&mut self.turn) {
                    events.push(*start);
                }
                let outcome = envelope.kind.strip_prefix("run.");
                let end = event(EventKind::TurnEnd)
                    .with("outcome", outcome)
                    .with("code", envelope.text("code"));
                events.push(end.with("reason", envelope.text("reason")));
            }
            "context.compacted" => {
                events.push(event(EventKind::Compaction).with("reason", envelope.text("reason")));
            }
            "tool.started" => {
                let start = event(EventKind::SubagentStart);
                self.tool_started(envelope, start, events);
            }
            "tool.completed" => {
                let end = event(EventKind::SubagentEnd);
                self.tool_completed(envelope, end, events);
            }
            _ => {}
        }
    }

    fn run_started(&mut self, envelope: &Envelope<'_>, start: Event, events: &mut Vec<Event>) {
        if matches!(self.turn, Turn::Open { .. }) {
            return;
        }
        match envelope.text("text").or_else(|| envelope.text("prompt")) {
            Some(prompt) => {
                self.turn = Turn::Open {
                    prompt: Some(prompt.clone()),
                };
                events.push(Event {
                    prompt: Some(prompt),
                    ..start
                });
            }
            None => self.turn = Turn::Waiting(Box::new(start)),
        }
    }

    fn user_message(&mut self, prompt: Option<String>, start: Event, events: &mut Vec<Event>) {
        let start = match std::mem::take(&mut self.turn) {
            // The run's start has told it already.
            Turn::Open { prompt: told } if told.is_some() && told == prompt => {
                self.turn = Turn::Open { prompt: None };
                return;
            }
            Turn::Waiting(waiting) => *waiting,
            _ => start,
        };
        self.turn = Turn::Open { prompt: None };
        events.push(Event { prompt, ..start });
    }

    /// A call that others name as their parent is a subagent, whatever its kind is called.
    fn tool_started(&mut self, envelope: &Envelope<'_>, start: Event, events: &mut Vec<Event>) {
        let own = envelope.data.id(&["tool_call_id"]);
        let is_subagent = envelope.text("kind").as_deref() == Some("subagent");
        let parent = envelope.data.id(&["parent_tool_call_id"]);
        for id in parent.into_iter().chain(own.clone().filter(|_| is_subagent)) {
            if self.subagents.contains(&id) {
                continue;
            }
            let is_own = own.as_ref() == Some(&id);
            events.push(Event {
                tool_use_id: Some(id.clone()),
                tool_input: envelope
                    .data
                    .get("input")
                    .filter(|_| is_own)
                    .map(|input| input.raw().to_owned()),
                subagent_type: envelope.text("name").filter(|_| is_own),
                ..start.clone()
            });
            self.subagents.push(id);
        }
    }

    fn tool_completed(&mut self, envelope: &Envelope<'_>, end: Event, events: &mut Vec<Event>) {
        let Some(id) = envelope.data.id(&["tool_call_id"]) else {
            return;
        };
        let known = self.subagents.iter().position(|known| *known == id);
        if known.is_none() && envelope.text("kind").as_deref() != Some("subagent") {
            return;
        }
        if let Some(at) = known {
            self.subagents.remove(at);
        }
        let output = envelope
            .data
            .get("output")
            .map(|output| output.text().map_or_else(|| output.raw().to_owned(), String::from));
        let end = Event {
            tool_use_id: Some(id),
            subagent_type: envelope.text("name"),
            ..end
        };
        events.push(end.with_last_message(output).with("status", envelope.text("status")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_give_the_expected_events() {
        hookhost_sdk::testing::check_payload_fixtures::<crate::Hast>();
    }

    const STREAM: &str = include_str!("../../../tests/fixtures/hast/transcripts/session/transcript.jsonl");

    fn shown(events: Vec<Event>) -> Vec<String> {
        let shown = |event: Event| {
            let what = event.prompt.or(event.tool_use_id).unwrap_or_default();
            format!("{:?} {what}", event.kind).trim_end().to_owned()
        };
        events.into_iter().map(shown).collect()
    }

    const EXPECTED: [&str; 11] = [
        "EventKind::SessionStart",
        "EventKind::TurnStart Add a greet module.",
        "EventKind::SubagentStart t3",
        "EventKind::SubagentEnd t3",
        "EventKind::TurnEnd",
        "EventKind::TurnStart Delete the notes.",
        "EventKind::Compaction",
        "EventKind::TurnEnd",
        "EventKind::TurnStart",
        "EventKind::TurnEnd",
        "EventKind::SessionEnd",
    ];

    #[test]
    fn a_stream_gives_each_event_once_also_when_a_reader_reconnects() {
        let mut stream = Stream::default();
        let mut events = vec![];
        for line in STREAM.lines().chain(STREAM.lines().take(9)) {
            events.extend(stream.payload(&Object::parse(line).unwrap()).unwrap());
        }
        events.extend(stream.finish());
        assert_eq!(shown(events), EXPECTED);
    }

    #[test]
    fn server_sent_events_pages_and_lists_say_the_same() {
        let sse: String = STREAM
            .lines()
            .map(|line| format!("id: 1\nevent: x\ndata: {line}\n\n: keep-alive\n\n"))
            .collect();
        let mut stream = Stream::default();
        let torn = "data: {\"torn";
        let events = stream.text(&format!("{torn}\n{torn}\n\n{sse}")).unwrap();
        assert_eq!(shown(events), EXPECTED);
        let list = STREAM.lines().collect::<Vec<_>>().join(",");
        let page = format!("{{\"events\":[{list}],\"next_after\":9,\"has_more\":false}}");
        assert_eq!(
            shown(Stream::default().payload(&Object::parse(&page).unwrap()).unwrap()),
            EXPECTED
        );
        assert_eq!(shown(Stream::default().text(&format!("[{list}]")).unwrap()), EXPECTED);
    }

    #[test]
    fn another_version_is_named_and_not_guessed() {
        let line = Object::parse(r#"{"schema_version":3,"type":"run.completed","task_id":"t"}"#).unwrap();
        let Err(Fault::Malformed(reason)) = Stream::default().payload(&line) else {
            panic!("a fault was expected")
        };
        assert!(reason.contains("version 3"), "{reason}");
    }
}
