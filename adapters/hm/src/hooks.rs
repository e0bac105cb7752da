//! What the lines of the stream mean.

use std::collections::HashSet;

use hookhost_sdk::{Event, EventKind, Fault, Object};

use crate::FORMAT;

/// What has been seen of a stream. A line by itself is read as if nothing had been.
#[derive(Default)]
pub(crate) struct Stream {
    /// The session that the run began with; others are its subagents.
    started: Option<String>,
    /// The prompt that came with the start and comes again as the first message.
    first_prompt: Option<String>,
    subagents: HashSet<String>,
    /// Subagents that have ended.
    ended: HashSet<String>,
}

/// Lines that begin nothing.
const LATE: &[&str] = &["turn_end", "usage", "warning", "error", "session_end", "subagent_end"];

impl Stream {
    pub(crate) fn line(&mut self, line: &Object<'_>) -> Result<Vec<Event>, Fault> {
        check_format(line)?;
        let (Some(session), Some(kind)) = (line.id(&["session"]), line.text("type")) else {
            return Ok(vec![]);
        };
        if kind == "session_start" {
            return Ok(self.start(line, session));
        }
        let time = line.text("time").map(String::from);
        let event = |kind, of: &str| Event {
            timestamp: time.clone(),
            ..Event::new(kind, of)
        };
        let parent = self.started.clone().filter(|started| *started != session);
        if let Some(parent) = parent {
            let of_subagent = |kind| Event {
                subagent_id: Some(session.clone()),
                ..event(kind, &parent)
            };
            let mut events = vec![];
            if self.ended.contains(&session) {
                // A subagent that is asked again begins again. What only says how it was can come late.
                if LATE.contains(&&*kind) {
                    return Ok(events);
                }
                self.ended.remove(&session);
            }
            if self.subagents.insert(session.clone()) {
                events.push(of_subagent(EventKind::SubagentStart));
            }
            if kind == "subagent_end" {
                self.subagents.remove(&session);
                self.ended.insert(session.clone());
                events.push(of_subagent(EventKind::SubagentEnd).with("error", line.shown("error")));
            }
            return Ok(events);
        }
        Ok(match &*kind {
            "message_end" => self.message(line, event(EventKind::TurnStart, &session)),
            "turn_end" => vec![event(EventKind::TurnEnd, &session).with("error", line.shown("error"))],
            "compaction_start" => vec![event(EventKind::Compaction, &session)],
            // By itself, without the parent's lines, a subagent's end names no parent.
            "session_end" => {
                *self = Self::default();
                vec![event(EventKind::SessionEnd, &session).with("exit_code", line.shown("exit_code"))]
            }
            _ => vec![],
        })
    }

    fn start(&mut self, line: &Object<'_>, session: String) -> Vec<Event> {
        let time = line.text("time").map(String::from);
        let mut start = Event::new(EventKind::SessionStart, session.clone())
            .with("root", line.shown("root"))
            .with("resumed", line.shown("resumed"));
        start.timestamp.clone_from(&time);
        start.model = line.text("model").map(Into::into);
        let prompt = line.text("prompt").map(String::from);
        *self = Self {
            started: Some(session.clone()),
            first_prompt: prompt.clone(),
            ..Self::default()
        };
        let turn = prompt.map(|prompt| Event {
            prompt: Some(prompt),
            timestamp: time,
            ..Event::new(EventKind::TurnStart, session)
        });
        [start].into_iter().chain(turn).collect()
    }

    fn message(&mut self, line: &Object<'_>, turn: Event) -> Vec<Event> {
        if line.text("role").as_deref() != Some("user") {
            return vec![];
        }
        let text = line.text("text").map(String::from);
        // The first message is the prompt of the start; the same words later are typed again.
        if self
            .first_prompt
            .take()
            .is_some_and(|prompt| Some(&prompt) == text.as_ref())
        {
            return vec![];
        }
        vec![Event { prompt: text, ..turn }]
    }
}

/// Another format may mean other things by the same fields.
pub(crate) fn check_format(line: &Object<'_>) -> Result<(), Fault> {
    match line.get("v").map(hookhost_sdk::Json::raw) {
        None | Some("1") => Ok(()),
        Some(other) => Err(Fault::Malformed(format!(
            "field v: the stream has format {other}, this adapter knows format {FORMAT}; a newer hookhost may know more"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing;

    #[test]
    fn payloads_give_the_expected_events() {
        testing::check_payload_fixtures::<crate::Hm>();
    }

    fn events(lines: &[&str]) -> Vec<(EventKind, String, Option<String>, Option<String>)> {
        let mut stream = Stream::default();
        let mut events = vec![];
        for line in lines {
            events.extend(stream.line(&Object::parse(line).unwrap()).unwrap());
        }
        events
            .into_iter()
            .map(|event| (event.kind, event.session_id, event.prompt, event.subagent_id))
            .collect()
    }

    fn plain(kind: EventKind) -> (EventKind, String, Option<String>, Option<String>) {
        (kind, "s".to_owned(), None, None)
    }

    fn prompted(text: &str) -> (EventKind, String, Option<String>, Option<String>) {
        (EventKind::TurnStart, "s".to_owned(), Some(text.to_owned()), None)
    }

    fn side(kind: EventKind, id: &str) -> (EventKind, String, Option<String>, Option<String>) {
        (kind, "s".to_owned(), None, Some(id.to_owned()))
    }

    #[test]
    fn a_run_with_two_turns_and_interleaved_subagents_gives_each_event_once() {
        let lines = [
            r#"{"v":1,"type":"session_start","session":"s","prompt":"go","model":""}"#,
            r#"{"v":1,"type":"message_end","session":"s","role":"user","text":"go"}"#,
            r#"{"v":1,"type":"message_start","session":"a","role":"assistant"}"#,
            r#"{"v":1,"type":"tool_call","session":"b","tool":"read"}"#,
            r#"{"v":1,"type":"message_end","session":"a","role":"user","text":"task of a"}"#,
            r#"{"v":1,"type":"subagent_end","session":"b"}"#,
            r#"{"v":1,"type":"turn_end","session":"a"}"#,
            r#"{"v":1,"type":"subagent_end","session":"a","error":"stopped"}"#,
            r#"{"v":1,"type":"usage","session":"a","input":1}"#,
            r#"{"v":1,"type":"turn_end","session":"b"}"#,
            r#"{"v":1,"type":"message_start","session":"b","role":"assistant"}"#,
            r#"{"v":1,"type":"subagent_end","session":"b"}"#,
            r#"{"v":1,"type":"turn_end","session":"s"}"#,
            r#"{"v":1,"type":"message_end","session":"s","role":"user","text":"go"}"#,
            r#"{"v":1,"type":"compaction_start","session":"s"}"#,
            r#"{"v":1,"type":"something_new","session":"s"}"#,
            r#"{"v":1,"type":"turn_end","session":"s"}"#,
            r#"{"v":1,"type":"session_end","session":"s","exit_code":0}"#,
        ];
        assert_eq!(
            events(&lines),
            [
                plain(EventKind::SessionStart),
                prompted("go"),
                side(EventKind::SubagentStart, "a"),
                side(EventKind::SubagentStart, "b"),
                side(EventKind::SubagentEnd, "b"),
                side(EventKind::SubagentEnd, "a"),
                side(EventKind::SubagentStart, "b"),
                side(EventKind::SubagentEnd, "b"),
                plain(EventKind::TurnEnd),
                prompted("go"),
                plain(EventKind::Compaction),
                plain(EventKind::TurnEnd),
                plain(EventKind::SessionEnd),
            ]
        );
    }

    #[test]
    fn another_format_is_named_and_not_guessed() {
        let line = Object::parse(r#"{"v":2,"type":"session_start","session":"s"}"#).unwrap();
        let Err(Fault::Malformed(reason)) = Stream::default().line(&line) else {
            panic!("a fault was expected")
        };
        assert!(reason.contains("format 2"), "{reason}");
    }
}
