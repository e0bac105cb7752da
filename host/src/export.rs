//! Recorded sessions in the formats of other programs, one file a format.
//!
//! What a session's transcript tells is given out; of one without a transcript, what its hooks told.

mod hast;
mod hh;
mod hm;

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::journal::sessions::Summary;
use crate::model::{CompactionMark, Event, EventKind, SubagentCall, ToolCall, ToolResult};
use crate::moment;
use crate::session::facts::Facts;
use crate::session::story::{self, Moment, What};
use crate::session::{Files, RepoPaths, TokenTotals};

pub use hast::lines as hast;
pub use hh::{events as hh_events, export as hh_export, session as hh_session, step as hh_step};
pub use hm::lines as hm;

/// What the formats call agents that they know, by the format and the agent's name.
const NAMES: &str = include_str!("../names.json");

/// A session, ready to be written in any format.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The agent.
    pub agent: String,
    /// The agent's id of the session.
    pub id: String,
    /// What file paths are relative to.
    pub root: String,
    /// The model that answered last.
    pub model: Option<String>,
    /// In milliseconds since 1970, like all times here.
    pub started: i64,
    /// Absent while the session goes on, or when nobody knows.
    pub ended: Option<i64>,
    /// The agent's exit code, where it is known.
    pub exit_code: Option<i64>,
    /// The session goes on from an earlier one.
    pub resumed: bool,
    /// The moments are those of a transcript, not of hooks alone.
    pub has_transcript: bool,
    /// In order; turns are closed, but for one that goes on.
    pub moments: Vec<(i64, What)>,
    /// Net effects on files.
    pub files: Files,
}

impl Session {
    /// Puts together what the journal and the transcript know.
    #[must_use]
    pub fn new(summary: &Summary, events: &[Event], story: Option<(Facts, Vec<Moment>)>) -> Self {
        let time = |event: &Event| event.timestamp.as_deref().map(moment::milliseconds);
        let first = |kind| events.iter().find(|event| event.kind == kind);
        let end = events.iter().rev().find(|event| event.kind == EventKind::SessionEnd);
        let end = end.filter(|_| summary.has_ended);
        let said = |end: &Event, key: &str| {
            let value = end.metadata.iter().find(|(name, _)| name == key);
            value.and_then(|(_, value)| value.parse().ok())
        };
        let root = summary
            .repo_root
            .clone()
            .or_else(|| summary.cwd.clone())
            .unwrap_or_default();
        let has_transcript = story.is_some();
        let (facts, moments) = story.unwrap_or_else(|| (Facts::default(), events.iter().flat_map(of_event).collect()));
        let told = facts.session.started_at.as_deref().map(moment::milliseconds);
        let heard = first(EventKind::SessionStart).and_then(time);
        let started = [told, heard].into_iter().flatten().min();
        let started = started.unwrap_or_else(|| moment::milliseconds(&summary.started));
        let moments = in_time(
            story::with_turn_ends(moments, summary.is_working),
            started,
            &RepoPaths::new(Some(&root), None),
        );
        let last = moments.last().map_or(started, |(time, _)| *time);
        Self {
            agent: summary.agent.clone(),
            id: summary.session_id.clone(),
            root,
            model: facts.model.or_else(|| summary.model.clone()),
            started,
            ended: end.map(|end| time(end).unwrap_or(last).max(last)),
            exit_code: end.and_then(|end| said(end, "exit_code")),
            resumed: summary.previous_session_id.is_some() || facts.session.parent_session_id.is_some(),
            has_transcript,
            moments,
            files: facts.files,
        }
    }

    /// When the last thing happened.
    fn last(&self) -> i64 {
        let last = self.moments.last().map_or(self.started, |(time, _)| *time);
        self.ended.unwrap_or(last)
    }

    /// The agent's last words.
    fn answer(&self) -> Option<&str> {
        let texts = self.moments.iter().rev().filter_map(|(_, what)| match what {
            What::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.into_iter().next()
    }

    /// From the calls that started subagents to the subagents' ids; the call's own where none is known.
    fn subagents(&self) -> HashMap<&str, &str> {
        let calls = self.moments.iter().filter_map(|(_, what)| match what {
            What::Call(call) if call.subagent.is_some() && !call.id.is_empty() => {
                Some((call.id.as_str(), call.id.as_str()))
            }
            _ => None,
        });
        let mut subagents: HashMap<&str, &str> = calls.collect();
        for (_, what) in &self.moments {
            if let What::Result(result) = what
                && let Some(known) = subagents.get_mut(result.id.as_str())
                && let Some(id) = result.subagent_id.as_deref()
            {
                *known = id;
            }
        }
        subagents
    }

    /// The calls by their ids.
    fn calls(&self) -> HashMap<&str, &ToolCall> {
        let calls = self.moments.iter().filter_map(|(_, what)| match what {
            What::Call(call) => Some((call.id.as_str(), call)),
            _ => None,
        });
        calls.collect()
    }

    /// All that the model calls used.
    fn tokens(&self) -> TokenTotals {
        let used = self.moments.iter().filter_map(|(_, what)| match what {
            What::Usage { tokens, .. } => Some(*tokens),
            _ => None,
        });
        used.fold(TokenTotals::default(), TokenTotals::plus)
    }

    /// What a format calls the session's agent.
    fn name_in<'n>(&self, format: &str, names: &'n Value) -> Option<&'n str> {
        names.get(format)?.get(&self.agent)?.as_str()
    }
}

/// What an event tells of a session without a transcript.
fn of_event(event: &Event) -> Vec<Moment> {
    let last_words = || event.metadata.iter().find(|(key, _)| key == "last_assistant_message");
    let call_id = event
        .tool_use_id
        .clone()
        .or_else(|| event.subagent_id.clone())
        .unwrap_or_default();
    let what = match event.kind {
        EventKind::TurnStart => vec![What::Prompt(event.prompt.clone().unwrap_or_default())],
        EventKind::TurnEnd => {
            let said = last_words().map(|(_, text)| What::Text(text.clone()));
            said.into_iter().chain([What::TurnEnd]).collect()
        }
        EventKind::Compaction => vec![What::Compaction(CompactionMark {
            trigger: event
                .metadata
                .iter()
                .find(|(key, _)| key == "trigger")
                .map(|(_, value)| value.clone()),
            summary: None,
        })],
        EventKind::SubagentStart => vec![What::Call(ToolCall {
            id: call_id,
            name: event.subagent_type.clone().unwrap_or_else(|| "subagent".to_owned()),
            input: event.tool_input.clone().unwrap_or_else(|| "{}".to_owned()),
            files: vec![],
            shell: None,
            subagent: Some(SubagentCall {
                subagent_type: event.subagent_type.clone(),
                description: event.task_description.clone(),
                prompt: None,
            }),
        })],
        EventKind::SubagentEnd => vec![What::Result(ToolResult {
            id: call_id,
            output: last_words().map(|(_, text)| text.clone()).unwrap_or_default(),
            is_error: false,
            files: vec![],
            subagent_id: event.subagent_id.clone(),
        })],
        EventKind::SessionStart | EventKind::SessionEnd => vec![],
    };
    let time = event.timestamp.clone();
    let moment = |what| Moment {
        time: time.clone(),
        what,
    };
    what.into_iter().map(moment).collect()
}

/// With times that never go back, and with paths below the root.
fn in_time(moments: Vec<Moment>, started: i64, paths: &RepoPaths) -> Vec<(i64, What)> {
    let mut now = started;
    let timed = |mut moment: Moment| {
        let own = moment.time.as_deref().map(moment::milliseconds);
        now = own.unwrap_or(now).max(now);
        let effects = match &mut moment.what {
            What::Call(call) => call.files.as_mut_slice(),
            What::Result(result) => result.files.as_mut_slice(),
            What::File(effect) => std::slice::from_mut(effect),
            _ => &mut [],
        };
        for effect in effects {
            effect.path = paths.shown(&effect.path, None);
        }
        (now, moment.what)
    };
    moments.into_iter().map(timed).collect()
}

/// What the formats call agents.
fn names() -> Value {
    serde_json::from_str(NAMES).unwrap_or_default()
}

/// A tool's input: JSON, or the text that it is when it is none.
fn input(call: &ToolCall) -> Value {
    serde_json::from_str(&call.input).unwrap_or_else(|_| Value::from(call.input.as_str()))
}

/// The fields of a JSON object.
fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
