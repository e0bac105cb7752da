//! The journal: what every hook call of every agent was, one file a session.
//!
//! `<data>/journal/<agent>/<session>.jsonl`, readable by the user only. The files are appended to and never rewritten
//! but by `redact` and `prune`. A file is a *capture* as well (`replay` runs its payloads again) and a golden test
//! (`replay --check`).

mod append;
mod fallback;
pub mod index;
mod names;
pub mod read;
pub mod record;
mod repeats;
pub mod rewrite;
pub mod sessions;
mod starts;

use std::io;
use std::path::{Path, PathBuf};

use append::Locked;
pub use fallback::{Fallback, fallback_file, read_fallback};
pub use names::{decode as word_of, encode as name_of};
pub use record::{Failure, Record};
use starts::LastStart;

use crate::model::EventKind;
use crate::paths;

/// Replaces the journal's folder.
pub const FOLDER_VARIABLE: &str = "HOOKHOST_JOURNAL";

/// How a session's file ends.
const ENDING: &str = ".jsonl";

/// The reason code of a record that could not be written where it belongs.
const LOCKED: &str = "journal-locked";

/// The folder with the journal.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
}

impl Journal {
    /// The one in this folder, which need not exist.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The user's. `None`: there is no home to keep it in.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        match std::env::var_os(FOLDER_VARIABLE) {
            Some(folder) if !folder.is_empty() => Some(Self::at(folder)),
            _ => Some(Self::at(paths::data_dir()?.join("journal"))),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder with an agent's sessions.
    #[must_use]
    pub fn agent_folder(&self, agent: &str) -> PathBuf {
        self.folder.join(names::encode(agent).as_ref())
    }

    /// The file with a session's records, or the one for records without a session.
    #[must_use]
    pub fn session_file(&self, agent: &str, session_id: Option<&str>) -> PathBuf {
        let name = names::encode(session_id.unwrap_or_default());
        self.agent_folder(agent).join(format!("{name}{ENDING}"))
    }

    /// Appends a record to its session's file. Events that were recorded before become the record's repeats first.
    ///
    /// # Errors
    /// The record could not be written; nothing of it is in the journal.
    pub fn append(&self, record: &mut Record<'_>) -> io::Result<()> {
        let path = self.session_file(&record.agent, record.session_id.as_deref());
        let starts = record.events.iter().any(|event| event.kind == EventKind::SessionStart);
        let last_start = match starts::caller() {
            Some(caller) if starts => LastStart::open(&self.agent_folder(&record.agent))
                .ok()
                .map(|last| (last, caller)),
            _ => None,
        };
        let Some(mut file) = self.open_or_aside(&path, record)? else {
            return Ok(());
        };
        if !record.events.is_empty() {
            repeats::separate(record, &mut file)?;
        }
        if let Some((last_start, caller)) = last_start {
            let agent = record.agent.clone();
            let is_untouched = |session: &str| starts::is_untouched(&self.session_file(&agent, Some(session)));
            // The note is lost, the record is not.
            let _ = last_start.separate(record, caller, is_untouched);
        }
        file.append(&record.line().parts())
    }

    /// Appends a record with all its events. A stream delivers nothing twice, and what happened hours apart is read from
    /// it within moments, so nothing can be told of repeats.
    ///
    /// # Errors
    /// The record could not be written; nothing of it is in the journal.
    pub fn append_all(&self, record: &mut Record<'_>) -> io::Result<()> {
        let path = self.session_file(&record.agent, record.session_id.as_deref());
        match self.open_or_aside(&path, record)? {
            Some(mut file) => file.append(&record.line().parts()),
            None => Ok(()),
        }
    }

    /// Opens the session's file. One that stays locked must not lose the record, which is `None`: it is written already.
    fn open_or_aside(&self, path: &Path, record: &mut Record<'_>) -> io::Result<Option<Locked>> {
        match Locked::open(path) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && record.session_id.is_some() => {
                self.append_aside(record, &error).map(|()| None)
            }
            opened => opened.map(Some),
        }
    }

    fn append_aside(&self, record: &mut Record<'_>, error: &io::Error) -> io::Result<()> {
        let mut file = Locked::open(&self.session_file(&record.agent, None))?;
        record
            .failure
            .get_or_insert_with(|| Failure::new(LOCKED, format!("the session's file: {error}")));
        file.append(&record.line().parts())
    }
}

#[cfg(test)]
mod tests;
