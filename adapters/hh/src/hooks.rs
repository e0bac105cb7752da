//! What the records mean.

use std::collections::HashMap;

use hookhost_sdk::{Event, EventKind, Fault, Json, Object, time};

use crate::record::{Recorded, check_schema, content_text, is_export, is_session, members};

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
    /// Its object was seen. Lines alone do not tell whether they are all of a session.
    is_described: bool,
    has_begun: bool,
    /// How it ended, as its object tells.
    ending: Option<Ending>,
    has_ended: bool,
    /// The end of the turn as far as it is known: the last words of the agent, until someone else has the word.
    turn_end: Option<Event>,
    subagents: Vec<(String, Option<String>, Option<String>)>,
}

/// The end of a recording. The recorder leaves the time out of one that goes on, and of one that was killed.
#[derive(Clone)]
struct Ending {
    at: u64,
    status: Option<String>,
    exit_code: Option<String>,
}

impl Stream {
    pub(crate) fn payload(&mut self, payload: &Object<'_>) -> Result<Vec<Event>, Fault> {
        check_schema(payload)?;
        let json = Json::parse(payload.raw()).map_err(Fault::Malformed)?;
        let mut events = self.all(members(json))?;
        // An export is all of its session.
        if let (true, Some(id)) = (is_export(payload), payload.at("session.id").and_then(Json::id)) {
            events.extend(
                self.sessions
                    .get_mut(&id)
                    .into_iter()
                    .flat_map(|session| session.end(&id)),
            );
        }
        Ok(events)
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
        let Some(id) = object.id(&["id"]) else { return };
        let session = self.session(&id);
        session.is_described = true;
        session.started_at = object.get("started_at").and_then(Json::count);
        session.ending = object.get("ended_at").and_then(Json::count).map(|at| Ending {
            at,
            status: object.text("status").map(Into::into),
            exit_code: object.get("exit_code").map(|code| code.raw().to_owned()),
        });
        self.current = Some(id);
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

    /// The turns, and the sessions that are known to be over, whose end was the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<Event> {
        let order = std::mem::take(&mut self.order);
        let mut events = vec![];
        for id in &order {
            if let Some(session) = self.sessions.get_mut(id) {
                events.extend(session.end(id));
                events.extend(session.turn_end.take());
            }
        }
        events
    }
}

impl Session {
    /// The end that the session's object tells of, after all that was recorded.
    fn end(&mut self, id: &str) -> Vec<Event> {
        let Some(ending) = self.ending.take().filter(|_| self.has_begun && !self.has_ended) else {
            return vec![];
        };
        self.has_ended = true;
        let mut end = Event::new(EventKind::SessionEnd, id);
        end.timestamp = time::from_millis(ending.at);
        let end = end.with("status", ending.status).with("exit_code", ending.exit_code);
        self.turn_end.take().into_iter().chain([end]).collect()
    }

    fn record(&mut self, id: &str, recorded: &Recorded<'_>, events: &mut Vec<Event>) {
        let event = |kind| {
            let mut event = Event::new(kind, id);
            event.timestamp = recorded.time(self.started_at);
            event
        };
        let lifecycle = recorded.lifecycle();
        if !std::mem::replace(&mut self.has_begun, true) && self.is_described && lifecycle.as_deref() != Some("start") {
            let mut start = Event::new(EventKind::SessionStart, id);
            start.timestamp = self.started_at.and_then(time::from_millis);
            events.push(start);
        }
        match (recorded.kind.as_str(), lifecycle.as_deref()) {
            (_, Some("start")) => events.push(event(EventKind::SessionStart)),
            (_, Some("exit")) => {
                self.has_ended = true;
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

    const RECORDED: &str = include_str!("../../../tests/fixtures/hh/transcripts/recorded-1.0.0/transcript.jsonl");
    const RECORDED_EXPORT: &str =
        include_str!("../../../tests/fixtures/hh/transcripts/recorded-export-1.0.0/transcript.json");
    const RECORDED_LIST: &str = include_str!("../../../tests/fixtures/hh/payloads/event--recorded-list.json");

    const RECORDED_EVENTS: [&str; 8] = [
        "EventKind::SessionStart",
        "EventKind::TurnStart Add a greet module.",
        "EventKind::TurnEnd I wrote src/greet.ts.",
        "EventKind::TurnStart Delete the notes, and tell me what mentions greet.",
        "EventKind::SubagentStart 19",
        "EventKind::SubagentEnd 19",
        "EventKind::TurnEnd The notes are deleted; only src/greet.ts mentions greet.",
        "EventKind::SessionEnd ok",
    ];

    #[test]
    fn a_recording_without_lifecycle_begins_and_ends_as_its_object_tells() {
        let events = Stream::default()
            .payload(&Object::parse(RECORDED_EXPORT).unwrap())
            .unwrap();
        assert_eq!(events[0].timestamp.as_deref(), Some("2026-11-30T20:43:56.032Z"));
        assert_eq!(events[7].timestamp.as_deref(), Some("2026-11-30T20:44:06.141Z"));
        assert_eq!(events[7].metadata[1], ("exit_code".to_owned(), "0".to_owned()));
        assert_eq!(shown(events), RECORDED_EVENTS);
    }

    #[test]
    fn lines_alone_tell_turns_and_with_the_list_before_them_the_session_too() {
        for with_list in [false, true] {
            let mut stream = Stream::default();
            let mut events = vec![];
            if with_list {
                assert_eq!(stream.list(RECORDED_LIST).unwrap(), []);
            }
            for line in RECORDED.lines() {
                events.extend(stream.payload(&Object::parse(line).unwrap()).unwrap());
            }
            events.extend(stream.finish());
            let expected = if with_list {
                &RECORDED_EVENTS[..]
            } else {
                &RECORDED_EVENTS[1..7]
            };
            assert_eq!(shown(events), expected);
        }
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
