//! `prune`

use schemars::JsonSchema;
use serde::Serialize;

use super::Output;
use super::recorded::{self, Filter};
use crate::cli::Selection;
use crate::error::{Error, Result};
use crate::format::number;
use crate::journal::index::Session;
use crate::journal::rewrite::{self, Rewriter};
use crate::moment;

/// Remove old recorded sessions
///
/// A session that is still open is never removed: one that has not ended and of which something was heard within a day.
/// With several limits each of them holds. What adapters, agents and transcripts keep elsewhere stays.
#[derive(Debug, clap::Args)]
#[group(id = "limits", multiple = true, required = true)]
pub(crate) struct PruneArgs {
    /// Sessions of which nothing was heard for as long: 12h, 30d, 8w
    #[arg(long, value_name = "AGE", group = "limits")]
    older_than: Option<String>,
    /// The oldest sessions, until the others take no more than this: 500M, 2G
    #[arg(long, value_name = "SIZE", group = "limits")]
    max_size: Option<String>,
    /// All but the newest sessions
    #[arg(long, value_name = "N", group = "limits")]
    keep: Option<usize>,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    filter: Filter,
}

/// What was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PruneJson {
    /// The version of this object; fields are only added under it.
    v: u32,
    /// Nothing was removed.
    dry_run: bool,
    /// The sessions.
    sessions: Vec<PrunedJson>,
    /// How many bytes they took.
    bytes: u64,
    /// How many records without a session were removed, because they are older.
    records: u64,
}

/// A session that was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PrunedJson {
    /// The agent.
    agent: String,
    /// The session.
    session_id: String,
    /// The time of its last record.
    last: String,
    /// How many bytes it took.
    bytes: u64,
}

/// What is to go.
struct Limits {
    /// In milliseconds since 1970.
    older_than: Option<i64>,
    max_size: Option<u64>,
    keep: Option<usize>,
}

pub(super) fn run(args: &PruneArgs, selection: &Selection) -> Result<Output> {
    let now = moment::now();
    let limits = limits(args, now)?;
    let chosen = args.filter.chosen(selection, now)?;
    let journal = recorded::journal()?;
    let all = recorded::index(&journal)?.sessions();
    let (mut sessions, outside): (Vec<Session>, Vec<Session>) = all
        .into_iter()
        .filter(|session| chosen.takes(&session.summary))
        .partition(|session| !session.summary.session_id.is_empty());
    sessions.sort_by(|one, other| other.summary.last.cmp(&one.summary.last));
    let mut pruned = PruneJson {
        v: 1,
        dry_run: args.dry_run,
        sessions: vec![],
        bytes: 0,
        records: 0,
    };
    for session in superfluous(&sessions, &limits, now) {
        // One that has grown since it was looked at is open again.
        if !args.dry_run && !rewrite::remove(&session.path, session.size)? {
            continue;
        }
        pruned.bytes += session.size;
        pruned.sessions.push(PrunedJson {
            agent: session.summary.agent.clone(),
            session_id: session.summary.session_id.clone(),
            last: session.summary.last.clone(),
            bytes: session.size,
        });
    }
    if let Some(before) = limits.older_than {
        for file in &outside {
            pruned.records += prune_records(file, before, args.dry_run)?;
        }
    }
    if args.json {
        return Output::json(&pruned);
    }
    Ok(Output::bytes(text(&pruned).into_bytes()))
}

fn limits(args: &PruneArgs, now: i64) -> Result<Limits> {
    let age = |text: &String| {
        moment::duration(text)
            .map(|age| now - age)
            .ok_or_else(|| Error::usage(format!("{text} is no age")).hint("for example 12h, 30d or 8w"))
    };
    let size = |text: &String| {
        number::parse_bytes(text)
            .ok_or_else(|| Error::usage(format!("{text} is no size")).hint("for example 500M or 2G"))
    };
    Ok(Limits {
        older_than: args.older_than.as_ref().map(age).transpose()?,
        max_size: args.max_size.as_ref().map(size).transpose()?,
        keep: args.keep,
    })
}

/// The sessions that go, of those that come with the newest first.
fn superfluous<'s>(sessions: &'s [Session], limits: &Limits, now: i64) -> Vec<&'s Session> {
    let (mut count, mut size) = (0_usize, 0_u64);
    let mut gone = vec![];
    for session in sessions {
        count += 1;
        size += session.size;
        let is_old = limits
            .older_than
            .is_some_and(|before| is_before(&session.summary.last, before));
        let is_too_many = limits.keep.is_some_and(|keep| count > keep);
        let is_too_much = limits.max_size.is_some_and(|max| size > max);
        if !session.summary.is_open(now) && (is_old || is_too_many || is_too_much) {
            gone.push(session);
        }
    }
    gone
}

/// What has no time that can be read may be of today.
fn is_before(time: &str, before: i64) -> bool {
    moment::known(time).is_some_and(|time| time < before)
}

/// Removes the old records of a file that belongs to no session. How many there are.
fn prune_records(file: &Session, before: i64, dry_run: bool) -> Result<u64> {
    let mut old = OldRecords { before, gone: 0 };
    rewrite::look(&file.path, |line| {
        old.line(line);
    })?;
    if dry_run || old.gone == 0 {
        return Ok(old.gone);
    }
    let mut old = OldRecords { before, gone: 0 };
    rewrite::rewrite(&file.path, &mut old)?;
    Ok(old.gone)
}

struct OldRecords {
    before: i64,
    gone: u64,
}

impl Rewriter for OldRecords {
    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        #[derive(serde::Deserialize)]
        struct Time {
            time: String,
        }
        let record = serde_json::from_slice::<Time>(line);
        // What has no time is a line that was torn.
        let is_old = record.is_ok_and(|record| is_before(&record.time, self.before));
        self.gone += u64::from(is_old);
        (!is_old).then(|| line.to_vec())
    }

    fn last(&mut self) -> Option<Vec<u8>> {
        None
    }
}

fn text(pruned: &PruneJson) -> String {
    let verb = if pruned.dry_run { "would be removed" } else { "removed" };
    let mut text: String = pruned
        .sessions
        .iter()
        .map(|session| {
            let last = moment::clock(moment::milliseconds(&session.last));
            format!(
                "{} {} ({}, last heard of {last})\n",
                session.agent,
                session.session_id,
                number::bytes(session.bytes)
            )
        })
        .collect();
    let sessions = number::counted(pruned.sessions.len() as u64, "session", "sessions");
    text.push_str(&format!("{verb}: {sessions}, {}", number::bytes(pruned.bytes)));
    if pruned.records > 0 {
        let records = number::counted(pruned.records, "record", "records");
        text.push_str(&format!(", and {records} without a session"));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::journal::sessions::Summary;

    const NOW: i64 = 1_767_323_045_678;
    const DAY: i64 = 24 * 60 * 60 * 1000;

    fn session(id: &str, days: i64, size: u64, has_ended: bool) -> Session {
        Session {
            path: PathBuf::new(),
            summary: Summary {
                session_id: id.to_owned(),
                last: jiff::Timestamp::from_millisecond(NOW - days * DAY).unwrap().to_string(),
                has_ended,
                turns: 1,
                ..Summary::default()
            },
            size,
            transcript: None,
        }
    }

    fn gone(limits: &Limits) -> Vec<String> {
        let sessions = [
            session("open", 0, 10, false),
            session("ended", 0, 10, true),
            session("silent", 3, 10, false),
            session("old", 40, 10, true),
        ];
        superfluous(&sessions, limits, NOW)
            .into_iter()
            .map(|session| session.summary.session_id.clone())
            .collect()
    }

    #[test]
    fn sessions_go_by_age_number_and_size_but_never_an_open_one() {
        let none = Limits {
            older_than: None,
            max_size: None,
            keep: None,
        };
        assert_eq!(gone(&none), [""; 0]);
        assert_eq!(
            gone(&Limits {
                older_than: Some(NOW - 30 * DAY),
                ..none
            }),
            ["old"]
        );
        assert_eq!(
            gone(&Limits {
                older_than: Some(NOW + DAY),
                ..none
            }),
            ["ended", "silent", "old"]
        );
        assert_eq!(gone(&Limits { keep: Some(2), ..none }), ["silent", "old"]);
        assert_eq!(gone(&Limits { keep: Some(0), ..none }), ["ended", "silent", "old"]);
        assert_eq!(
            gone(&Limits {
                max_size: Some(25),
                ..none
            }),
            ["silent", "old"]
        );
        assert_eq!(
            gone(&Limits {
                max_size: Some(0),
                ..none
            }),
            ["ended", "silent", "old"]
        );
    }

    #[test]
    fn what_has_no_time_that_can_be_read_is_not_old() {
        let mut damaged = session("damaged", 0, 10, true);
        damaged.summary.last = String::new();
        let limits = Limits {
            older_than: Some(NOW),
            max_size: None,
            keep: None,
        };
        assert!(superfluous(&[damaged], &limits, NOW).is_empty());
        let mut records = OldRecords { before: NOW, gone: 0 };
        for (line, is_kept) in [
            (r#"{"time":"2020-01-01T00:00:00Z"}"#, false),
            (r#"{"time":"x"}"#, true),
            (r#"{"time":""}"#, true),
            (r#"{"time":5}"#, true),
        ] {
            assert_eq!(records.line(line.as_bytes()).is_some(), is_kept, "{line}");
        }
        assert_eq!(records.gone, 1);
    }
}
