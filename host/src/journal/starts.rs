//! One start of an agent that comes as two sessions: some agents announce a session that is taken up again first under
//! a new id, which nobody will hear of again, then under its own.
//!
//! Both announcements come from one process, in one directory, within moments, and before anything happens. The last
//! start of each agent is noted in a small file of its own, so that the second is known for what it is without looking
//! at all sessions. The note can be lost without harm.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::append;
use super::record::Record;
use super::repeats;
use crate::model::EventKind;
use crate::moment::milliseconds;
use crate::session::store;

/// The note's name. No session's file begins with a dot.
const NOTE: &str = ".last-start";

/// The two announcements come within this time, in milliseconds.
const SAME_START: u64 = 10_000;

/// More than the longest note.
const NOTE_LIMIT: u64 = 64 << 10;

/// The process that called the hook, so the agent as a rule.
pub(crate) fn caller() -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    None
}

/// Who started last. Locked while it lives.
#[derive(Debug)]
pub(crate) struct LastStart {
    file: File,
    note: Option<Note>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    session_id: String,
    cwd: Option<String>,
    caller: u32,
    time: String,
}

impl LastStart {
    /// Opens and locks the note in an agent's folder. A lock that is not to be had is done without.
    ///
    /// # Errors
    /// The note cannot be opened or read.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        store::make_directory(folder)?;
        let mut file = append::open(&folder.join(NOTE))?;
        let _ = append::lock(&file);
        let mut text = vec![];
        file.rewind()?;
        (&file).take(NOTE_LIMIT).read_to_end(&mut text)?;
        Ok(Self {
            file,
            note: serde_json::from_slice(&text).ok(),
        })
    }

    /// The other session that the record's start is a second announcement of.
    fn other_session(&self, record: &Record<'_>, caller: u32) -> Option<&str> {
        let note = self.note.as_ref()?;
        let gap = milliseconds(&record.time).abs_diff(milliseconds(&note.time));
        let is_same_start = note.caller == caller && note.cwd == record.cwd && gap <= SAME_START;
        (is_same_start && record.session_id.as_ref() != Some(&note.session_id)).then_some(note.session_id.as_str())
    }

    /// Moves the record's start to its repeats when it only says again, with another id, what the last one said; else
    /// notes it as the last one. `is_untouched` tells whether nothing but a start is recorded of a session.
    ///
    /// # Errors
    /// The note cannot be written.
    pub(crate) fn separate(
        mut self,
        record: &mut Record<'_>,
        caller: u32,
        is_untouched: impl FnOnce(&str) -> bool,
    ) -> io::Result<()> {
        let is_start = |kind: EventKind| kind == EventKind::SessionStart;
        let Some(at) = record.events.iter().position(|event| is_start(event.kind)) else {
            return Ok(());
        };
        // A session that says which one it goes on from is a new one.
        let says_more = record
            .events
            .get(at)
            .is_some_and(|event| event.previous_session_id.is_some());
        if !says_more && self.other_session(record, caller).is_some_and(is_untouched) {
            record.repeats.push(record.events.remove(at));
            return Ok(());
        }
        let note = Note {
            session_id: record.session_id.clone().unwrap_or_default(),
            cwd: record.cwd.clone(),
            caller,
            time: record.time.clone(),
        };
        self.file.set_len(0)?;
        self.file.write_all(&serde_json::to_vec(&note)?)
    }
}

/// Whether nothing but a start is recorded of a session.
pub(crate) fn is_untouched(path: &Path) -> bool {
    let mut verdict = None;
    let looked = append::look_back(path, |line| {
        verdict = repeats::kinds(line).into_iter().rev().find_map(repeats::session_start);
        match verdict {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    looked.is_ok() && verdict == Some(true)
}
