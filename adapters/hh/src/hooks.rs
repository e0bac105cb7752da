//! What the records mean.

use std::collections::HashMap;

use hookhost_sdk::{Event, EventKind, Fault, Json, Object};

use crate::record::{Recorded, check_schema, content_text, is_session, members};

/// What has been seen of a stream. A record by itself is read as if nothing had been.
#[derive(Default)]
pub(crate) struct Stream {
    /// The session of records that name none: the last one whose object was seen.
    current: Option<String>,
    sessions: HashMap<String, Session>,
    /// Sessions in the order in which they were first seen.
    order: Vec<String>,
}

#[derive(Default)]
struct Session {
    started_at: Option<u64>,
    /// The end of the turn as far as it is known: the last words of the agent, until someone else has the word.
    turn_end: Option<Event>,
    subagents: Vec<(String, Option<String>, Option<String>)>,
}

impl Stream {
    pub(crate) fn payload(&mut self, payload: &Object<'_>) -> Result<Vec<Event>, Fault> {
        check_schema(payload)?;
        let json = Json::parse(payload.raw()).map_err(Fault::Malformed)?;
        self.all(members(json))
    }

    /// `hh list --json` is a list of sessions.
    pub(crate) fn list(&mut self, text: &str) -> Result<Vec<Event>, Fault> {
        let json =
            Json::parse(text).map_err(|reason| Fault::Malformed(format!("the payload is not JSON: {reason}")))?;
        self.all(members(json))
    }

    fn all(&mut self, objects: Vec<Object<'_>>) -> Result<Vec<Event>, Fault> {
        let mut events = vec![];
        for object in objects {
            check_schema(&object)?;
            if is_session(&object) {
                self.session_object(&object);
            } else if let Some(recorded) = Recorded::read(&object) {
                self.record(&recorded, &mut events);
            }
        }
        Ok(events)
    }

    fn session_object(&mut self, object: &Object<'_>) {
        if let Some(id) = object.id(&["id"]) {
            self.session(&id).started_at = object.get("started_at").and_then(Json::count);
            self.current = Some(id);
        }
    }

    fn session(&mut self, id: &str) -> &mut Session {
        if !self.sessions.contains_key(id) {
            self.order.push(id.to_owned());
        }
        self.sessions.entry(id.to_owned()).or_default()
    }

    fn record(&mut self, recorded: &Recorded<'_>, events: &mut Vec<Event>) {
        let Some(id) = recorded.session.clone().or_else(|| self.current.clone()) else {
            return;
        };
        self.session(&id).record(&id, recorded, events);
    }

    /// The turns whose end was the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<Event> {
        let order = std::mem::take(&mut self.order);
        let ended = |id: &String| self.sessions.get_mut(id)?.turn_end.take();
        order.iter().filter_map(ended).collect()
    }
}

impl Session {
    fn record(&mut self, id: &str, recorded: &Recorded<'_>, events: &mut Vec<Event>) {
        let event = |kind| {
            let mut event = Event::new(kind, id);
            event.timestamp = recorded.time(self.started_at);
            event
        };
        match (recorded.kind.as_str(), recorded.lifecycle().as_deref()) {
            (_, Some("start")) => events.push(event(EventKind::SessionStart)),
            (_, Some("exit")) => {
                let end = event(EventKind::SessionEnd);
                events.extend(self.turn_end.take());
                events.push(end);
            }
            ("user_message", _) => {
                let start = Event {
                    prompt: recorded.text(),
                    ..event(EventKind::TurnStart)
                };
                events.extend(self.turn_end.take());
                events.push(start);
            }
            ("agent_message", _) => {
                self.turn_end = Some(event(EventKind::TurnEnd).with_last_message(recorded.text()));
            }
            ("tool_call", _) if recorded.is_subagent_call() => {
                let text = |path| recorded.body.at(path).and_then(Json::text).map(String::from);
                let (kind, description) = (text("input.subagent_type"), text("input.description"));
                if let Some(call) = recorded.id.clone() {
                    events.push(Event {
                        tool_use_id: Some(call.clone()),
                        tool_input: recorded.body.get("input").map(|input| input.raw().to_owned()),
                        subagent_type: kind.clone(),
                        task_description: description.clone(),
                        ..event(EventKind::SubagentStart)
                    });
                    self.subagents.push((call, kind, description));
                }
            }
            ("tool_result", _) => {
                let known = self
                    .subagents
                    .iter()
                    .position(|(call, ..)| Some(call) == recorded.correlates.as_ref());
                if let Some(at) = known {
                    let end = event(EventKind::SubagentEnd);
                    let (call, kind, description) = self.subagents.remove(at);
                    let end = Event {
                        tool_use_id: Some(call),
                        subagent_type: kind,
                        task_description: description,
                        ..end
                    };
                    events.push(end.with_last_message(content_text(&recorded.body)));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_give_the_expected_events() {
        hookhost_sdk::testing::check_payload_fixtures::<crate::Hh>();
    }

    const STREAM: &str = include_str!("../../../tests/fixtures/hh/transcripts/session/transcript.jsonl");
    const EXPORT: &str = include_str!("../../../tests/fixtures/hh/transcripts/export/transcript.json");

    fn shown(events: Vec<Event>) -> Vec<String> {
        let shown = |event: Event| {
            let said = event.metadata.into_iter().next().map(|(_, value)| value);
            let what = event.prompt.or(event.tool_use_id).or(said).unwrap_or_default();
            format!("{:?} {what}", event.kind).trim_end().to_owned()
        };
        events.into_iter().map(shown).collect()
    }

    const EXPECTED: [&str; 8] = [
        "EventKind::SessionStart",
        "EventKind::TurnStart Add a greet module.",
        "EventKind::TurnEnd Added src/greet.ts.",
        "EventKind::TurnStart Delete the notes.",
        "EventKind::SubagentStart 11",
        "EventKind::SubagentEnd 11",
        "EventKind::TurnEnd Deleted docs/notes.md.",
        "EventKind::SessionEnd",
    ];

    #[test]
    fn a_turn_ends_with_the_last_words_before_the_next_prompt_or_the_exit() {
        let mut stream = Stream::default();
        let mut events = vec![];
        for line in STREAM.lines() {
            events.extend(stream.payload(&Object::parse(line).unwrap()).unwrap());
        }
        assert_eq!(stream.finish(), []);
        assert_eq!(shown(events), EXPECTED);
    }

    #[test]
    fn a_stream_that_is_cut_off_still_ends_its_turn() {
        let mut stream = Stream::default();
        let mut events = vec![];
        for line in STREAM.lines().take(10) {
            events.extend(stream.payload(&Object::parse(line).unwrap()).unwrap());
        }
        assert_eq!(shown(events), EXPECTED[..2]);
        assert_eq!(shown(stream.finish()), EXPECTED[2..3]);
    }

    #[test]
    fn an_export_says_the_same_and_knows_the_times() {
        let mut stream = Stream::default();
        let events = stream.payload(&Object::parse(EXPORT).unwrap()).unwrap();
        assert_eq!(events[1].timestamp.as_deref(), Some("2026-08-20T09:15:00.120Z"));
        assert_eq!(shown(events), EXPECTED);
    }

    #[test]
    fn another_schema_is_named_and_not_guessed() {
        let line = Object::parse(r#"{"schema":3,"kind":"lifecycle","session":{"id":"s"}}"#).unwrap();
        let Err(Fault::Malformed(reason)) = Stream::default().payload(&line) else {
            panic!("a fault was expected")
        };
        assert!(reason.contains("schema 3"), "{reason}");
    }
}
