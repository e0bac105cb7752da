//! `list`

use std::path::Path;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::Output;
use super::recorded::{self, Chosen, Filter, Foreign, Transcripts};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::export;
use crate::format::number;
use crate::format::style::{Look, Style};
use crate::format::table::{Cell, styled};
use crate::journal::index::{Index, Session, TranscriptNote, modified};
use crate::journal::sessions::{LastFailure, State, Summary};
use crate::journal::{Fallback, read_fallback};
use crate::moment;

/// How long transcripts are read for a list. What is not known by then is left open, and read for the next list.
const BUDGET: Duration = Duration::from_millis(300);

/// List the recorded sessions, newest first
///
/// Files and tokens are what the sessions' transcripts say; a dash stands for a transcript that is gone.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: Filter,
    /// How many sessions
    #[arg(long, value_name = "N", default_value_t = 30)]
    limit: usize,
    /// All sessions, and those of which nothing but hook calls without a meaning is recorded
    #[arg(long)]
    all: bool,
    /// JSON for programs: all sessions, unless --limit is given
    #[arg(long)]
    json: bool,
    /// The format of another program, for as many sessions as --limit says
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Foreign>,
}

/// The sessions of the journal.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListJson {
    /// The version of this object; fields are only added under it.
    v: u32,
    /// Newest first.
    sessions: Vec<SessionJson>,
    /// Hook calls that failed and belong to no session, by agent.
    failures: Vec<FailuresJson>,
    /// Hook calls of which the journal does not know, since it could not be written.
    lost: Vec<Fallback>,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionJson {
    #[serde(flatten)]
    summary: Summary,
    /// How it stands.
    state: State,
    /// How many files it changed, by its transcript.
    files: Option<u64>,
    /// How many tokens it used, by its transcript.
    tokens: Option<u64>,
    /// The file with its records.
    path: String,
}

/// Failures outside of sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FailuresJson {
    /// The agent.
    agent: String,
    /// How many.
    failures: u64,
    /// The last one.
    last_failure: Option<LastFailure>,
}

impl SessionJson {
    pub(crate) fn new(session: Session, now: i64) -> Self {
        Self {
            state: session.summary.state(now),
            files: session.transcript.as_ref().map(|note| note.files),
            tokens: session.transcript.as_ref().map(|note| note.tokens),
            path: session.path.display().to_string(),
            summary: session.summary,
        }
    }
}

pub(super) fn run(args: &ListArgs, selection: &Selection) -> Result<Output> {
    let now = moment::now();
    let chosen = args.filter.chosen(selection, now)?;
    let journal = recorded::journal()?;
    let mut index = recorded::index(&journal)?;
    let everything = index.sessions();
    let outside = outside(&everything, &chosen);
    let mut sessions = chosen_sessions(everything, &chosen, args.all);
    let total = sessions.len();
    let limit = if args.all || args.json { usize::MAX } else { args.limit };
    sessions.truncate(limit);
    if let Some(Foreign::Hh) = args.format {
        return in_format_of_hh(&sessions);
    }
    read_transcripts(&mut sessions, &mut index)?;
    index.save();
    for session in &mut sessions {
        if let Some(note) = &session.transcript {
            recorded::count_untold(&mut session.summary, note);
        }
    }

    let lost = read_fallback();
    if args.json {
        return Output::json(&ListJson {
            v: 1,
            sessions: sessions
                .into_iter()
                .map(|session| SessionJson::new(session, now))
                .collect(),
            failures: outside,
            lost,
        });
    }
    let text = table(&sessions, now, Look::of_stdout());
    Ok(Output::bytes(text.into_bytes()).with_note(notes(sessions.len(), total, &outside, &lost)))
}

fn in_format_of_hh(sessions: &[Session]) -> Result<Output> {
    let mut transcripts = Transcripts::new(Config::load()?);
    let mut listed = vec![];
    for session in sessions {
        let cannot = |error| Error::system(format!("cannot read {}", session.path.display()), error);
        listed.push(export::hh_session(&transcripts.exported(session).map_err(cannot)?));
    }
    Output::json(&listed)
}

/// Newest first.
fn chosen_sessions(everything: Vec<Session>, chosen: &Chosen, all: bool) -> Vec<Session> {
    let says_something = |summary: &Summary| all || summary.events > 0 || summary.failures > 0;
    let mut sessions: Vec<Session> = everything
        .into_iter()
        .filter(|session| !session.summary.session_id.is_empty())
        .filter(|session| says_something(&session.summary) && chosen.takes(&session.summary))
        .collect();
    sessions.sort_by(|one, other| other.summary.started.cmp(&one.summary.started));
    sessions
}

fn outside(everything: &[Session], chosen: &Chosen) -> Vec<FailuresJson> {
    let outside = everything
        .iter()
        .map(|session| &session.summary)
        .filter(|summary| summary.session_id.is_empty() && summary.failures > 0 && chosen.takes(summary));
    let failures = outside.map(|summary| FailuresJson {
        agent: summary.agent.clone(),
        failures: summary.failures,
        last_failure: summary.last_failure.clone(),
    });
    failures.collect()
}

/// Fills in what the transcripts say, as far as the time goes.
fn read_transcripts(sessions: &mut [Session], index: &mut Index) -> Result<()> {
    let began = Instant::now();
    let mut transcripts = None;
    for session in sessions {
        let Some(file) = session.summary.session_ref.as_deref().map(Path::new) else {
            continue;
        };
        let Some(metadata) = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file) else {
            continue;
        };
        let is_known = |note: &TranscriptNote| note.size == metadata.len() && note.modified == modified(&metadata);
        if session.transcript.as_ref().is_some_and(is_known) || began.elapsed() > BUDGET {
            continue;
        }
        let transcripts = match &mut transcripts {
            Some(transcripts) => transcripts,
            None => transcripts.insert(Transcripts::new(Config::load()?)),
        };
        if let Ok(facts) = transcripts.facts(&session.summary) {
            let note = recorded::note_of(&facts, &metadata);
            index.note_transcript(&session.path, note.clone());
            session.transcript = Some(note);
        }
    }
    Ok(())
}

fn table(sessions: &[Session], now: i64, look: Look) -> String {
    if sessions.is_empty() {
        return String::new();
    }
    let ids = recorded::short_ids(sessions.iter().map(|session| session.summary.session_id.as_str()));
    let rows: Vec<[Cell; 10]> = sessions
        .iter()
        .map(|session| {
            let summary = &session.summary;
            let id = ids.get(&summary.session_id).cloned().unwrap_or_default();
            let state = summary.state(now);
            [
                Cell::new(moment::ago(moment::milliseconds(&summary.started), now), Style::Dim),
                Cell::new(&summary.agent, Style::Plain),
                Cell::new(id, Style::Cyan),
                match summary.events {
                    0 => Cell::new("-", Style::Dim),
                    _ => Cell::new(state.name(), style_of(state)),
                },
                Cell::right(summary.turns.to_string()),
                Cell::right(summary.prompts.to_string()),
                Cell::right(
                    session
                        .transcript
                        .as_ref()
                        .map_or("-".to_owned(), |note| note.files.to_string()),
                ),
                Cell::right(
                    session
                        .transcript
                        .as_ref()
                        .map_or("-".to_owned(), |note| number::short(note.tokens)),
                ),
                failed(summary),
                Cell::new(summary.title.clone().unwrap_or_default(), Style::Plain),
            ]
        })
        .collect();
    let heads = [
        "STARTED",
        "AGENT",
        "SESSION",
        "STATE",
        "TURNS",
        "PROMPTS",
        "FILES",
        "TOKENS",
        "FAILED",
        "FIRST PROMPT",
    ];
    styled(heads, &rows, look)
}

fn failed(summary: &Summary) -> Cell {
    match summary.failures {
        0 => Cell::right("-"),
        count => Cell::right(count.to_string()).in_style(Style::Red),
    }
}

pub(super) fn style_of(state: State) -> Style {
    match state {
        State::Started | State::Waiting => Style::Plain,
        State::Working => Style::Green,
        State::Ended | State::Silent => Style::Dim,
    }
}

fn notes(shown: usize, total: usize, outside: &[FailuresJson], lost: &[Fallback]) -> String {
    let mut notes = vec![];
    match total {
        0 => notes.push("nothing is recorded here yet; `hookhost install <agent>` begins".to_owned()),
        _ if shown < total => notes.push(format!("{shown} of {total} sessions; --all shows all")),
        _ => {}
    }
    for failures in outside {
        let last = failures.last_failure.as_ref();
        let last = last.map(|last| format!("; the last one: {} ({})", last.failure.message, last.failure.code));
        let agent = if failures.agent.is_empty() {
            "no agent"
        } else {
            &failures.agent
        };
        notes.push(format!(
            "{agent}: {} outside of any session{}",
            number::counted(failures.failures, "failed hook call", "failed hook calls"),
            last.unwrap_or_default()
        ));
    }
    if let Some(last) = lost.last() {
        notes.push(format!(
            "{} could not be recorded; the last one: {}",
            number::counted(lost.len() as u64, "hook call", "hook calls"),
            last.failure.message
        ));
    }
    notes.join("\n")
}
