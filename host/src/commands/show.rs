//! `show`

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::list::SessionJson;
use super::recorded::{self, Foreign, Transcripts, all_tokens};
use super::{Output, list};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::export;
use crate::format::number;
use crate::format::style::{Look, Style};
use crate::format::table::{Cell, styled};
use crate::journal::Record;
use crate::journal::index::Session;
use crate::journal::read::Lines;
use crate::journal::record::Payload;
use crate::model::{Event, EventKind};
use crate::moment;
use crate::session::facts::Facts;
use crate::session::turns;
use crate::wire::{self, TokenUsage};

/// How many files of a kind stand in the head.
const FILES_SHOWN: usize = 8;

/// Show what happened in a session
///
/// The events with their times and how long turns, subagents and the session took. Files, tokens and the agent's last
/// words are what the session's transcript says.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The session's id, or the beginning of it
    #[arg(value_name = "SESSION")]
    session: String,
    /// All hook calls, those without an event among them
    #[arg(long)]
    all: bool,
    /// JSON for programs: always all hook calls
    #[arg(long)]
    json: bool,
    /// With --json: the payloads as well
    #[arg(long, requires = "json")]
    payloads: bool,
    /// The format of another program
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Foreign>,
    /// With --format: only this step
    #[arg(long, value_name = "N", requires = "format")]
    step: Option<u64>,
}

/// A session and its records.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShowJson {
    /// The version of this object; fields are only added under it.
    v: u32,
    session: SessionJson,
    /// What the transcript says. Null when it cannot be read.
    transcript: Option<TranscriptJson>,
    /// Why the transcript cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript_error: Option<String>,
    /// The records of the journal, oldest first, without their payloads unless these were asked for.
    #[schemars(with = "Vec<super::schema::RecordShape>")]
    records: Vec<Box<RawValue>>,
    /// The turns of a session that has ended, made of its transcript, when no hook told of any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<super::schema::EventShape>", default)]
    untold_turns: Vec<Box<RawValue>>,
}

/// What a transcript says.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TranscriptJson {
    /// What a person typed, oldest first.
    prompts: Vec<String>,
    /// Files that were made, relative to the repository.
    new_files: Vec<String>,
    /// Files that were changed.
    modified_files: Vec<String>,
    /// Files that were removed.
    deleted_files: Vec<String>,
    /// Tokens.
    #[schemars(with = "super::schema::TokenUsageShape")]
    tokens: TokenUsage,
    /// The model that answered last.
    model: Option<String>,
    /// The agent's version.
    agent_version: Option<String>,
    /// The agent's last words.
    summary: Option<String>,
    /// Subagents that were started.
    subagents: Vec<SubagentJson>,
}

/// A subagent of the transcript.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SubagentJson {
    /// The call that started it.
    tool_use_id: String,
    /// Its own id.
    subagent_id: Option<String>,
    /// What kind.
    subagent_type: Option<String>,
    /// What it is to do.
    description: Option<String>,
}

impl TranscriptJson {
    fn new(facts: Facts) -> Self {
        let subagents = facts.subagents.into_iter().map(|link| SubagentJson {
            tool_use_id: link.tool_use_id,
            subagent_id: link.subagent_id,
            subagent_type: link.call.subagent_type,
            description: link.call.description,
        });
        let usage = |totals: crate::session::TokenTotals| TokenUsage {
            input_tokens: totals.input,
            cache_creation_tokens: totals.cache_creation,
            cache_read_tokens: totals.cache_read,
            output_tokens: totals.output,
            api_call_count: totals.calls,
            subagent_tokens: None,
        };
        Self {
            tokens: TokenUsage {
                subagent_tokens: facts.subagent_tokens.map(|totals| Box::new(usage(totals))),
                ..usage(facts.tokens)
            },
            prompts: facts.prompts,
            new_files: facts.files.created,
            modified_files: facts.files.modified,
            deleted_files: facts.files.deleted,
            model: facts.model,
            agent_version: facts.session.agent_version,
            summary: facts.summary,
            subagents: subagents.collect(),
        }
    }
}

pub(super) fn run(args: &ShowArgs) -> Result<Output> {
    let now = moment::now();
    let journal = recorded::journal()?;
    let mut index = recorded::index(&journal)?;
    let sessions = index.sessions();
    let mut session = recorded::session(&sessions, &args.session)?.clone();
    if let Some(Foreign::Hh) = args.format {
        return in_format_of_hh(&session, args.step);
    }
    let mut transcripts = Transcripts::new(Config::load()?);
    let (facts, untold) = if turns::are_untold(&session.summary) {
        match transcripts.story(&session.summary) {
            Ok((facts, moments)) => (Ok(facts), turns::of(&session.summary, moments)),
            Err(error) => (Err(error), vec![]),
        }
    } else {
        (transcripts.facts(&session.summary), vec![])
    };
    let file = session
        .summary
        .session_ref
        .as_ref()
        .and_then(|file| std::fs::metadata(file).ok());
    if let (Ok(facts), Some(metadata)) = (&facts, file) {
        let note = recorded::note_of(facts, &metadata);
        index.note_transcript(&session.path, note.clone());
        recorded::count_untold(&mut session.summary, &note);
        session.transcript = Some(note);
    }
    index.save();
    let records = read(&session)?;
    if args.json {
        return json(session, facts, records, &untold, args.payloads, now);
    }
    let look = Look::of_stdout();
    let mut text = head(&session, &facts, now, look);
    text.push('\n');
    text.push_str(&events(&with_untold(records, untold), &facts, args.all, look));
    Ok(Output::bytes(text.into_bytes()))
}

fn in_format_of_hh(session: &Session, step: Option<u64>) -> Result<Output> {
    let cannot = |error| Error::system(format!("cannot read {}", session.path.display()), error);
    let exported = Transcripts::new(Config::load()?).exported(session).map_err(cannot)?;
    if let Some(number) = step {
        let step = export::hh_step(&exported, number);
        return Output::json(&step.ok_or_else(|| Error::input(format!("the session has no step {number}")))?);
    }
    Ok(Output::stream(move |out| {
        for event in export::hh_events(&exported) {
            serde_json::to_writer(&mut *out, &event)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }))
}

fn read(session: &Session) -> Result<Vec<Record<'static>>> {
    let cannot = |error| Error::system(format!("cannot read {}", session.path.display()), error);
    let mut lines = Lines::open(&session.path, 0).map_err(cannot)?;
    let mut records = vec![];
    while let Some((_, record)) = lines.next_record().map_err(cannot)? {
        records.extend(record);
    }
    Ok(records)
}

/// Turns that no hook told, before the end of the session, as if they had been.
fn with_untold(mut records: Vec<Record<'static>>, untold: Vec<Event>) -> Vec<Record<'static>> {
    let is_end = |record: &Record<'_>| record.events.iter().any(|event| event.kind == EventKind::SessionEnd);
    let at = records.iter().rposition(is_end).unwrap_or(records.len());
    let time = records.get(at).map(|end| end.time.clone()).unwrap_or_default();
    let record = |event: Event| Record {
        time: event.timestamp.clone().unwrap_or_else(|| time.clone()),
        hook: "(transcript)".to_owned(),
        events: vec![event],
        ..Record::default()
    };
    let untold: Vec<Record<'static>> = untold.into_iter().map(record).collect();
    records.splice(at..at, untold);
    records
}

fn json(
    session: Session,
    facts: Result<Facts>,
    records: Vec<Record<'static>>,
    untold: &[Event],
    payloads: bool,
    now: i64,
) -> Result<Output> {
    let raw = |mut record: Record<'static>| {
        if !payloads {
            record.payload = Payload::Absent;
        }
        let line = String::from_utf8(record.line().concat()).unwrap_or_default();
        RawValue::from_string(line).ok()
    };
    let records = records.into_iter().filter_map(raw).collect();
    let event = |event: &Event| RawValue::from_string(wire::event_line(event)).ok();
    let (transcript, transcript_error) = match facts {
        Ok(facts) => (Some(TranscriptJson::new(facts)), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Output::json(&ShowJson {
        v: 1,
        session: SessionJson::new(session, now),
        transcript,
        transcript_error,
        records,
        untold_turns: untold.iter().filter_map(event).collect(),
    })
}

fn head(session: &Session, facts: &Result<Facts>, now: i64, look: Look) -> String {
    let summary = &session.summary;
    let mut lines: Vec<(&str, String)> = vec![];
    let mut line = |name, text: Option<String>| lines.extend(text.map(|text| (name, text)));
    let state = summary.state(now);
    line("session", Some(look.paint(&summary.session_id, Style::Cyan)));
    line("agent", Some(summary.agent.clone()));
    line("state", Some(look.paint(state.name(), list::style_of(state))));
    let (started, last) = (
        moment::milliseconds(&summary.started),
        moment::milliseconds(&summary.last),
    );
    let times = format!(
        "{}, {}, for {}",
        moment::clock(started),
        moment::ago(started, now),
        moment::took(last - started)
    );
    line("started", Some(times));
    line("goes on from", summary.previous_session_id.clone());
    line("directory", summary.cwd.clone());
    line("transcript", summary.session_ref.clone());
    let model = facts.as_ref().ok().and_then(|facts| facts.model.clone());
    line("model", model.or_else(|| summary.model.clone()));
    line(
        "turns",
        Some(format!(
            "{}, {}, {}",
            summary.turns,
            number::counted(summary.prompts, "prompt", "prompts"),
            number::counted(summary.subagents, "subagent", "subagents")
        )),
    );
    match facts {
        Ok(facts) => {
            line("tokens", Some(tokens(facts)));
            line("made", files(&facts.files.created));
            line("changed", files(&facts.files.modified));
            line("removed", files(&facts.files.deleted));
            let words = facts
                .summary
                .as_deref()
                .and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
            line(
                "last words",
                words.map(|words| crate::format::table::shortened(words.trim(), look.width.saturating_sub(14))),
            );
        }
        Err(error) => {
            let reason = error.to_string();
            line(
                "no facts",
                Some(look.paint(reason.lines().next().unwrap_or_default(), Style::Yellow)),
            );
        }
    }
    let failure = summary.last_failure.as_ref().map(|last| {
        let text = format!("{} ({}): {}", summary.failures, last.failure.code, last.failure.message);
        look.paint(&text, Style::Red)
    });
    line("failures", failure);
    lines
        .into_iter()
        .map(|(name, text)| format!("{}{text}\n", look.paint(&format!("{name:<14}"), Style::Dim)))
        .collect()
}

fn tokens(facts: &Facts) -> String {
    let totals = all_tokens(facts);
    format!(
        "{} in, {} out, {} read from cache, {} written to cache, {}",
        number::short(totals.input),
        number::short(totals.output),
        number::short(totals.cache_read),
        number::short(totals.cache_creation),
        number::counted(totals.calls, "call", "calls")
    )
}

fn files(files: &[String]) -> Option<String> {
    let more = files.len().saturating_sub(FILES_SHOWN);
    let mut text = files.iter().take(FILES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    (!files.is_empty()).then_some(text)
}

fn events(records: &[Record<'_>], facts: &Result<Facts>, all: bool, look: Look) -> String {
    let mut begun = Begun::default();
    let mut rows: Vec<[Cell; 5]> = vec![];
    for record in records {
        let time = Cell::new(moment::time_of_day(moment::milliseconds(&record.time)), Style::Dim);
        let hook = Cell::new(&record.hook, Style::Dim);
        let mut row = |event: Cell, took: Cell, what: Cell| rows.push([time.clone(), event, took, hook.clone(), what]);
        for event in &record.events {
            let took = begun.took(event, &record.time).map(moment::took).unwrap_or_default();
            row(
                Cell::new(event.kind.name(), kind_style(event.kind)),
                Cell::right(took),
                Cell::new(detail(event, facts.as_ref().ok()), Style::Plain),
            );
        }
        if let Some(failure) = &record.failure {
            let what = format!("{}: {}", failure.code, failure.message);
            row(
                Cell::new("failed", Style::Red),
                Cell::right(String::new()),
                Cell::new(what, Style::Red),
            );
        } else if all && record.events.is_empty() {
            let again = record
                .repeats
                .iter()
                .map(|event| event.kind.name())
                .collect::<Vec<_>>()
                .join(" ");
            let what = if again.is_empty() {
                String::new()
            } else {
                format!("again: {again}")
            };
            row(
                Cell::new("-", Style::Dim),
                Cell::right(String::new()),
                Cell::new(what, Style::Dim),
            );
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    styled(["TIME", "EVENT", "TOOK", "HOOK", "WHAT"], &rows, look)
}

/// When what is to end has begun.
#[derive(Default)]
struct Begun {
    session: Option<i64>,
    turn: Option<i64>,
    subagents: HashMap<String, i64>,
}

impl Begun {
    /// How long what the event ends has taken.
    fn took(&mut self, event: &Event, time: &str) -> Option<i64> {
        let at = moment::milliseconds(event.timestamp.as_deref().unwrap_or(time));
        let ids = || [&event.tool_use_id, &event.subagent_id].into_iter().flatten();
        let since = match event.kind {
            EventKind::SessionStart => {
                self.session = Some(at);
                return None;
            }
            EventKind::TurnStart => {
                self.session.get_or_insert(at);
                self.turn = Some(at);
                return None;
            }
            EventKind::SubagentStart => {
                self.subagents.extend(ids().map(|id| (id.clone(), at)));
                return None;
            }
            EventKind::Compaction => return None,
            EventKind::TurnEnd => self.turn.take(),
            EventKind::SessionEnd => self.session.take(),
            EventKind::SubagentEnd => ids().find_map(|id| self.subagents.remove(id)),
        };
        since.map(|since| at - since)
    }
}

pub(super) fn kind_style(kind: EventKind) -> Style {
    match kind {
        EventKind::SessionStart | EventKind::SessionEnd => Style::Bold,
        EventKind::TurnStart => Style::Green,
        EventKind::TurnEnd => Style::Cyan,
        EventKind::Compaction => Style::Yellow,
        EventKind::SubagentStart | EventKind::SubagentEnd => Style::Plain,
    }
}

/// What an event says in a few words. A subagent whose start named no kind or task has them in the transcript.
pub(super) fn detail(event: &Event, facts: Option<&Facts>) -> String {
    let metadata = |key: &str| {
        event
            .metadata
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    };
    let link = facts.and_then(|facts| {
        let same = |ours: &Option<String>, theirs: &str| {
            ours.as_deref().is_some_and(|ours| !ours.is_empty() && ours == theirs)
        };
        facts.subagents.iter().find(|link| {
            same(&event.tool_use_id, &link.tool_use_id)
                || same(&event.subagent_id, link.subagent_id.as_deref().unwrap_or_default())
        })
    });
    match event.kind {
        EventKind::TurnStart => event.prompt.clone().unwrap_or_default(),
        EventKind::TurnEnd => metadata("last_assistant_message")
            .or_else(|| metadata("error"))
            .unwrap_or_default()
            .to_owned(),
        EventKind::SubagentStart | EventKind::SubagentEnd => {
            let kind = event.subagent_type.clone().or_else(|| link?.call.subagent_type.clone());
            let task = event
                .task_description
                .clone()
                .or_else(|| link?.call.description.clone());
            let id = event.subagent_id.clone().or_else(|| link?.subagent_id.clone());
            [kind, task, id].into_iter().flatten().collect::<Vec<_>>().join(" · ")
        }
        EventKind::SessionStart | EventKind::SessionEnd | EventKind::Compaction => {
            let model = event.model.as_deref();
            let facts = ["source", "reason", "trigger"].into_iter().filter_map(metadata);
            model.into_iter().chain(facts).collect::<Vec<_>>().join(" · ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind, time: &str, call: Option<&str>, id: Option<&str>) -> Event {
        Event {
            kind,
            session_id: "s".to_owned(),
            previous_session_id: None,
            session_ref: None,
            prompt: None,
            model: None,
            timestamp: Some(format!("2026-01-02T{time}Z")),
            tool_use_id: call.map(str::to_owned),
            subagent_id: id.map(str::to_owned),
            tool_input: None,
            subagent_type: None,
            task_description: None,
            response_message: None,
            metadata: vec![],
        }
    }

    #[test]
    fn ends_tell_how_long_it_took() {
        let mut begun = Begun::default();
        let mut took = |event: &Event| begun.took(event, "");
        assert_eq!(took(&event(EventKind::SessionStart, "03:00:00.000", None, None)), None);
        assert_eq!(took(&event(EventKind::TurnStart, "03:00:01.000", None, None)), None);
        assert_eq!(
            took(&event(EventKind::SubagentStart, "03:00:02.000", Some("t"), None)),
            None
        );
        assert_eq!(
            took(&event(EventKind::SubagentEnd, "03:00:04.500", Some("t"), Some("a"))),
            Some(2500)
        );
        assert_eq!(
            took(&event(EventKind::TurnEnd, "03:00:31.000", None, None)),
            Some(30_000)
        );
        assert_eq!(took(&event(EventKind::TurnEnd, "03:00:32.000", None, None)), None);
        assert_eq!(
            took(&event(EventKind::SessionEnd, "03:01:00.000", None, None)),
            Some(60_000)
        );
    }
}
