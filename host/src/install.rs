//! Registering our command with an agent: applying the adapter's plan to the agent's files, checking it, taking it
//! back.
//!
//! What is not ours survives byte for byte, and taking back gives the bytes that were there before. A file that is not
//! what it should be is left alone.

mod change;
mod file;
mod invocation;
mod json;
mod node;
mod notation;
mod own;
mod record;
mod settings;
mod splice;
mod state;
mod toml;
mod words;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use change::{Goal, Outcome};
use record::Records;

pub use invocation::{Program, of_entire, of_hookhost};
pub use own::Owner;
pub use state::{Entry, EntryKind, State, check};

use crate::error::{Error, Result};
use crate::model::{Edit, Plan};

/// The folder in our data directory that keeps what files were like before.
pub const RECORDS: &str = "installed";

/// How often a file that others change at the same moment is tried.
const ATTEMPTS: usize = 20;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Hooks that were newly written.
    pub newly_written: u32,
    /// Hooks that were there.
    pub already: u32,
    /// Hooks that were taken out.
    pub removed: u32,
    /// Files that are not as they were.
    pub files: Vec<PathBuf>,
    /// What the user has to know or to do.
    pub notes: Vec<String>,
}

/// What would become of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which.
    pub file: PathBuf,
    /// As it is; `None`: there is no such file.
    pub before: Option<String>,
    /// As it would be.
    pub after: Option<String>,
}

/// Registers. `records`: where notes are kept of how the files were before.
///
/// # Errors
/// A file is not what it should be, or cannot be written. If that shows before the first file is written, none is.
pub fn apply(plan: &Plan, owner: &Owner, records: Option<&Path>, force: bool) -> Result<Report> {
    let goal = Goal::Install { force };
    let owner = &owner.with_scripts(plan);
    preview_goal(plan, owner, records, goal)?;
    let records = Records::new(records);
    let mut report = Report::default();
    let mut tally = Tally::default();
    for edit in &plan.edits {
        let outcome = carry_out(edit, goal, owner, &records, &mut Vec::new())?;
        tally.add(edit, &outcome);
        report.take(outcome);
    }
    (report.newly_written, report.already) = tally.hooks(plan.hooks);
    if report.newly_written > 0 || plan.hooks == 0 {
        report.notes.extend(plan.notes.iter().cloned());
    }
    Ok(report)
}

/// Takes the registration back.
///
/// # Errors
/// A file cannot be read or written. All others are done all the same.
pub fn remove(plan: &Plan, owner: &Owner, records: Option<&Path>) -> Result<Report> {
    let owner = &owner.with_scripts(plan);
    let records = Records::new(records);
    let mut report = Report::default();
    let (mut entries, mut files) = (0, 0);
    let mut directories = Vec::new();
    let mut failure = None;
    for edit in plan.edits.iter().rev() {
        match carry_out(edit, Goal::Remove, owner, &records, &mut directories) {
            Ok(outcome) => {
                match edit {
                    Edit::Config(_) => entries += outcome.removed,
                    Edit::File(_) => files += outcome.removed,
                }
                report.take(outcome);
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    // Scripts that the entries start are no hooks of their own.
    report.removed = entries + files.min(plan.hooks.saturating_sub(entries));
    directories.sort_by_key(|directory| std::cmp::Reverse(directory.components().count()));
    file::remove_empty(&directories);
    match failure {
        Some(error) => Err(error),
        None => Ok(report),
    }
}

/// What [`apply`] would do to the files.
///
/// # Errors
/// As [`apply`].
pub fn preview(plan: &Plan, owner: &Owner, records: Option<&Path>, force: bool) -> Result<Vec<Change>> {
    preview_goal(plan, owner, records, Goal::Install { force })
}

/// What [`remove`] would do to the files.
///
/// # Errors
/// As [`remove`].
pub fn preview_removal(plan: &Plan, owner: &Owner, records: Option<&Path>) -> Result<Vec<Change>> {
    preview_goal(plan, owner, records, Goal::Remove)
}

fn preview_goal(plan: &Plan, owner: &Owner, records: Option<&Path>, goal: Goal) -> Result<Vec<Change>> {
    let owner = &owner.with_scripts(plan);
    let records = Records::new(records);
    // Two edits may be about one file.
    let mut after: HashMap<PathBuf, Option<Vec<u8>>> = HashMap::new();
    let mut changes: Vec<Change> = Vec::new();
    for edit in &plan.edits {
        let path = file::real(target(edit)?)?;
        let before = match after.get(&path) {
            Some(bytes) => bytes.clone(),
            None => file::read(&path)?,
        };
        let outcome = change::outcome(edit, &path, before.as_deref(), goal, owner, records.load(&path))?;
        if outcome.after != before {
            file::check_writable(&path)?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            match changes.iter_mut().find(|change| change.file == path) {
                Some(change) => change.after = outcome.after.as_deref().map(text),
                None => changes.push(Change {
                    file: path.clone(),
                    before: before.as_deref().map(text),
                    after: outcome.after.as_deref().map(text),
                }),
            }
        }
        after.insert(path, outcome.after);
    }
    Ok(changes)
}

/// Reads, changes and writes one file, alone among all installers. `directories`: those to take away when all is done.
fn carry_out(
    edit: &Edit,
    goal: Goal,
    owner: &Owner,
    records: &Records,
    directories: &mut Vec<PathBuf>,
) -> Result<Outcome> {
    let target = target(edit)?;
    for _ in 0..ATTEMPTS {
        let path = file::real(target)?;
        let made = match goal {
            Goal::Install { .. } => file::make_parents(&path)?,
            Goal::Remove if path.parent().is_some_and(Path::is_dir) => Vec::new(),
            Goal::Remove => return Ok(Outcome::default()),
        };
        let done = attempt(edit, &path, goal, owner, records, &made, directories);
        if !matches!(done, Ok(Some(Outcome { is_change: true, .. }))) {
            file::remove_empty(made.iter().rev());
        }
        if let Some(outcome) = done? {
            return Ok(outcome);
        }
    }
    Err(Error::input(format!("{} changes again and again", target.display()))
        .hint("close the program that writes it, and try again"))
}

/// `None`: somebody else was faster, try again.
fn attempt(
    edit: &Edit,
    path: &Path,
    goal: Goal,
    owner: &Owner,
    records: &Records,
    made: &[PathBuf],
    directories: &mut Vec<PathBuf>,
) -> Result<Option<Outcome>> {
    let Some(_lock) = file::lock(path)? else {
        return Ok(None);
    };
    let before = file::read(path)?;
    let mut outcome = change::outcome(edit, path, before.as_deref(), goal, owner, records.load(path))?;
    let is_executable = matches!(edit, Edit::File(own) if own.executable);
    let wants_mode = is_executable && matches!(goal, Goal::Install { .. });
    outcome.is_change = outcome.after != before || wants_mode && !file::is_executable(path);
    outcome.file = path.to_owned();
    if !outcome.is_change {
        if goal == Goal::Remove && !outcome.is_needed {
            records.forget(path);
        }
        return Ok(Some(outcome));
    }
    file::check_writable(path)?;
    if let Some(after) = &outcome.after {
        outcome.record.digest = record::digest(after);
    }
    if matches!(goal, Goal::Install { .. }) {
        outcome.record.made_dirs.extend(made.iter().cloned());
        if let Some(backup) = &outcome.record.backup {
            file::set_aside(path, backup)?;
        }
        records.save(path, &outcome.record);
    }
    let is_done = match (&outcome.after, &before) {
        (Some(after), _) => file::replace(path, before.as_deref(), after, is_executable)?,
        (None, Some(before)) => file::delete(path, before)?,
        (None, None) => true,
    };
    if !is_done {
        if let (Goal::Install { .. }, Some(backup)) = (goal, &outcome.record.backup) {
            let _ = std::fs::remove_file(backup);
        }
        return Ok(None);
    }
    if goal == Goal::Remove {
        if outcome.is_needed {
            records.save(path, &outcome.record);
        } else {
            records.forget(path);
        }
        if outcome.after.is_none() {
            match &outcome.record.backup {
                Some(backup) => file::put_back(backup, path)?,
                None => directories.extend(outcome.record.made_dirs.iter().cloned()),
            }
            if outcome.record.made_dirs.is_empty() && matches!(edit, Edit::File(_)) {
                // Nobody noted whose the folder is; one that held nothing but a file of ours is ours.
                directories.extend(path.parent().map(Path::to_owned));
            }
        }
    }
    Ok(Some(outcome))
}

/// The file that an edit is about.
fn target(edit: &Edit) -> Result<&Path> {
    let path = match edit {
        Edit::Config(config) => Path::new(&config.file),
        Edit::File(own) => Path::new(&own.path),
    };
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(Error::input(format!(
            "the adapter wants to change {}, which is no absolute path",
            path.display()
        )))
    }
}

impl Report {
    fn take(&mut self, outcome: Outcome) {
        if outcome.is_change && !self.files.contains(&outcome.file) {
            self.files.push(outcome.file);
        }
        for note in outcome.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

/// Counting hooks: an entry in a list is one; a file of ours is one, or stands for all of them.
#[derive(Debug, Default)]
struct Tally {
    entries: u32,
    new_entries: u32,
    files: u32,
    new_files: u32,
}

impl Tally {
    fn add(&mut self, edit: &Edit, outcome: &Outcome) {
        match edit {
            Edit::Config(_) => {
                self.entries += outcome.newly_written + outcome.already;
                self.new_entries += outcome.newly_written;
            }
            Edit::File(_) => {
                self.files += 1;
                self.new_files += outcome.newly_written;
            }
        }
    }

    /// Newly written, and there before.
    fn hooks(&self, hooks: u32) -> (u32, u32) {
        let new = if self.new_entries + self.new_files == 0 {
            0
        } else if self.entries == hooks {
            // Scripts that the entries start are no hooks of their own.
            self.new_entries.max(self.new_files.min(hooks))
        } else if self.files == hooks {
            self.new_files.max(1)
        } else if self.new_entries + self.new_files == self.entries + self.files {
            hooks
        } else {
            (self.new_entries + self.new_files).min(hooks)
        };
        (new, hooks.saturating_sub(new))
    }
}

#[cfg(test)]
mod tests;
