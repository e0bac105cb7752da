//! What the journal says of each session, summed up.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read::Lines;
use super::record::Failure;
use crate::model::EventKind;
use crate::moment;

/// A session that has not ended and is silent for longer than this (in milliseconds) is no longer taken for an open
/// one: many agents do not say when a session ends, and all of them can be killed.
pub const SILENCE: i64 = 24 * 60 * 60 * 1000;

/// Where a title is cut.
const TITLE_LIMIT: usize = 200;

/// How a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Started, and no prompt yet.
    Started,
    /// The agent is at work on a prompt.
    Working,
    /// The agent waits for a prompt.
    Waiting,
    /// The agent said that the session is over.
    Ended,
    /// No end was recorded, and nothing else for a day.
    Silent,
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Ended => "ended",
            Self::Silent => "silent",
        }
    }
}

/// A session as its records tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summary {
    /// The agent.
    pub agent: String,
    /// The session. Empty: the records that belong to none.
    pub session_id: String,
    /// The time of the first record.
    pub started: String,
    /// The time of the last record.
    pub last: String,
    /// The working directory of the first record that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The repository's work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_root: Option<String>,
    /// The transcript, as the last event that names one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_ref: Option<String>,
    /// The model that was named last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The beginning of the first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session that this one goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_session_id: Option<String>,
    /// Records of hook calls.
    pub records: u64,
    /// Events.
    pub events: u64,
    /// Events that had been recorded before.
    pub repeats: u64,
    /// Prompts.
    pub prompts: u64,
    /// Turns that have begun.
    pub turns: u64,
    /// Turns that have ended.
    pub turns_ended: u64,
    /// Subagents that were started.
    pub subagents: u64,
    /// How often the context was compressed.
    pub compactions: u64,
    /// Hook calls that failed.
    pub failures: u64,
    /// The last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<LastFailure>,
    /// Lines that are no records: torn by a crash, as a rule.
    pub unreadable: u64,
    /// The agent said that the session is over, and nothing began after that.
    pub has_ended: bool,
    /// A turn has begun that has not ended.
    pub is_working: bool,
}

/// The last hook call that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastFailure {
    /// When.
    pub time: String,
    /// Which hook.
    pub hook: String,
    /// Why.
    #[serde(flatten)]
    pub failure: Failure,
}

impl Summary {
    /// What a file's lines say, from `offset` on, added to what is known of those before it. Gives the offset behind
    /// the last whole line.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read_on(&mut self, path: &Path, offset: u64) -> io::Result<u64> {
        let mut lines = Lines::open(path, offset)?;
        while let Some(line) = lines.next_line()? {
            if !line.is_whole {
                break;
            }
            self.add(line.bytes);
        }
        Ok(lines.position())
    }

    /// Takes the next line.
    pub fn add(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Head<'_>>(line) {
            Ok(record) => self.add_record(record),
            Err(_) => self.unreadable += 1,
        }
    }

    /// How the session stands at a time, in milliseconds since 1970.
    #[must_use]
    pub fn state(&self, now: i64) -> State {
        if self.has_ended {
            State::Ended
        } else if now.saturating_sub(moment::milliseconds(&self.last)) > SILENCE {
            State::Silent
        } else if self.is_working {
            State::Working
        } else if self.turns > 0 {
            State::Waiting
        } else {
            State::Started
        }
    }

    /// Whether more may come: not ended, and heard of within a day.
    #[must_use]
    pub fn is_open(&self, now: i64) -> bool {
        !matches!(self.state(now), State::Ended | State::Silent)
    }

    fn add_record(&mut self, record: Head<'_>) {
        // Of no hook call.
        if record.audit.is_some() {
            return;
        }
        self.records += 1;
        if self.records == 1 {
            self.agent = record.agent.to_string();
            self.session_id = record.session_id.unwrap_or_default();
        }
        // A damaged time says nothing of when the session was, and would be taken for one of long ago.
        if (self.started.is_empty() || *record.time > *self.last) && moment::known(&record.time).is_some() {
            if self.started.is_empty() {
                self.started = record.time.to_string();
            }
            self.last = record.time.to_string();
        }
        self.cwd = self.cwd.take().or(record.cwd);
        self.repo_root = self.repo_root.take().or(record.repo_root);
        self.agent_version = record.agent_version.or(self.agent_version.take());
        if let Some(failure) = record.failure {
            self.failures += 1;
            self.last_failure = Some(LastFailure {
                time: record.time.to_string(),
                hook: record.hook.to_string(),
                failure,
            });
        }
        self.repeats += record.repeats.len() as u64;
        for event in record.events {
            self.add_event(event);
        }
    }

    fn add_event(&mut self, event: HeadEvent<'_>) {
        let Some(kind) = EventKind::from_number(event.number) else {
            return;
        };
        self.events += 1;
        self.session_ref = event.session_ref.or(self.session_ref.take());
        self.model = event.model.or(self.model.take());
        self.previous_session_id = self.previous_session_id.take().or(event.previous_session_id);
        match kind {
            EventKind::SessionStart => {
                self.has_ended = false;
                self.is_working = false;
            }
            EventKind::TurnStart => {
                self.turns += 1;
                self.has_ended = false;
                self.is_working = true;
                if let Some(prompt) = event.prompt.filter(|prompt| !prompt.trim().is_empty()) {
                    self.prompts += 1;
                    self.title.get_or_insert_with(|| title_of(&prompt));
                }
            }
            EventKind::TurnEnd => {
                self.turns_ended += 1;
                // Agents whose prompts cannot be seen have turns all the same.
                self.turns = self.turns.max(self.turns_ended);
                self.is_working = false;
            }
            EventKind::Compaction => self.compactions += 1,
            EventKind::SessionEnd => {
                self.has_ended = true;
                self.is_working = false;
            }
            EventKind::SubagentStart => self.subagents += 1,
            EventKind::SubagentEnd => {}
        }
    }
}

/// The first line of a prompt that says something.
pub(crate) fn title_of(prompt: &str) -> String {
    let line = prompt
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    match line.char_indices().nth(TITLE_LIMIT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// What of a record matters here.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(borrow)]
    agent: Cow<'a, str>,
    agent_version: Option<String>,
    #[serde(borrow, default)]
    hook: Cow<'a, str>,
    session_id: Option<String>,
    cwd: Option<String>,
    repo_root: Option<String>,
    failure: Option<Failure>,
    audit: Option<serde::de::IgnoredAny>,
    #[serde(borrow)]
    events: Vec<HeadEvent<'a>>,
    #[serde(default)]
    repeats: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct HeadEvent<'a> {
    #[serde(rename = "type")]
    number: u64,
    session_ref: Option<String>,
    model: Option<String>,
    previous_session_id: Option<String>,
    #[serde(borrow)]
    prompt: Option<Prompt<'a>>,
}

/// A prompt, without a copy where the JSON holds it as it is.
#[derive(Deserialize)]
struct Prompt<'a>(#[serde(borrow)] Cow<'a, str>);

impl std::ops::Deref for Prompt<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(lines: &[&str]) -> Summary {
        let mut summary = Summary::default();
        for line in lines {
            summary.add(line.as_bytes());
        }
        summary
    }

    const START: &str = r#"{"v":1,"time":"2026-01-02T03:00:00.000Z","agent":"a","hook":"H","session_id":"s","cwd":"/p","events":[{"type":1,"session_id":"s","session_ref":"/t","model":"m1"}],"payload":{}}"#;
    const PROMPT: &str = r#"{"v":1,"time":"2026-01-02T03:01:00.000Z","agent":"a","hook":"H","session_id":"s","events":[{"type":2,"session_id":"s","prompt":"\n  Fix \"it\"\nplease"}],"payload":{}}"#;
    const END: &str = r#"{"v":1,"time":"2026-01-02T03:02:00.000Z","agent":"a","hook":"H","session_id":"s","events":[{"type":3,"session_id":"s","model":"m2"}],"payload":{}}"#;
    const OVER: &str = r#"{"v":1,"time":"2026-01-02T03:03:00.000Z","agent":"a","hook":"H","session_id":"s","events":[{"type":5,"session_id":"s"}]}"#;
    const FAILED: &str = r#"{"v":1,"time":"2026-01-02T03:04:00.000Z","agent":"a","hook":"Stop","session_id":"s","failure":{"code":"adapter-trap","message":"m"},"events":[],"repeats":[{}]}"#;

    /// 2026-01-02T03:05:00Z.
    const NOW: i64 = 1_767_323_100_000;

    #[test]
    fn a_session_is_what_its_records_say() {
        let sum = summary(&[START, PROMPT, END, "torn", FAILED]);
        assert_eq!((sum.agent.as_str(), sum.session_id.as_str()), ("a", "s"));
        assert_eq!(sum.started, "2026-01-02T03:00:00.000Z");
        assert_eq!(sum.last, "2026-01-02T03:04:00.000Z");
        assert_eq!(sum.title.as_deref(), Some("Fix \"it\""));
        assert_eq!(sum.model.as_deref(), Some("m2"));
        assert_eq!(sum.session_ref.as_deref(), Some("/t"));
        assert_eq!((sum.records, sum.events, sum.repeats, sum.unreadable), (4, 3, 1, 1));
        assert_eq!((sum.prompts, sum.turns, sum.failures), (1, 1, 1));
        assert_eq!(sum.last_failure.unwrap().failure.code, "adapter-trap");
    }

    #[test]
    fn a_damaged_time_is_no_time_of_the_session() {
        let damaged = START.replace("2026-01-02T03:00:00.000Z", "x");
        let sum = summary(&[&damaged, PROMPT, &damaged, END, &damaged]);
        assert_eq!((sum.agent.as_str(), sum.session_id.as_str()), ("a", "s"));
        assert_eq!(sum.started, "2026-01-02T03:01:00.000Z");
        assert_eq!(sum.last, "2026-01-02T03:02:00.000Z");
        assert_eq!(sum.records, 5);
    }

    #[test]
    fn states_follow_from_what_came_last() {
        let day = SILENCE;
        assert_eq!(summary(&[START]).state(NOW), State::Started);
        assert_eq!(summary(&[START, PROMPT]).state(NOW), State::Working);
        assert_eq!(summary(&[START, PROMPT, END]).state(NOW), State::Waiting);
        assert_eq!(summary(&[START, PROMPT, END, OVER]).state(NOW), State::Ended);
        assert_eq!(summary(&[START, PROMPT]).state(NOW + day), State::Silent);
        assert_eq!(summary(&[START, PROMPT, END, OVER]).state(NOW + day), State::Ended);
        assert_eq!(summary(&[OVER, START]).state(NOW), State::Started);
    }

    #[test]
    fn turns_without_prompts_are_turns() {
        let sum = summary(&[START, END]);
        assert_eq!((sum.prompts, sum.turns), (0, 1));
    }

    #[test]
    fn a_long_title_is_cut_between_characters() {
        let title = title_of(&"é".repeat(300));
        assert_eq!(title, format!("{}…", "é".repeat(200)));
    }
}
