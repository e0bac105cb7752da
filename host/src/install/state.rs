//! What is registered, without changing anything.

use std::path::{Path, PathBuf};

use super::change::{explain, is_marked, text, without_mark};
use super::own::{Command, Owner};
use super::settings::{self, Standpoint};
use super::{file, target, words};
use crate::error::Result;
use crate::model::{Edit, Plan};
use crate::paths;

/// What is there of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Hooks that a complete installation has.
    pub wanted: u32,
    /// How many of them are there, in whatever spelling.
    pub present: u32,
    /// All entries on the lists that the plan is about, and files of ours.
    pub entries: Vec<Entry>,
}

/// An entry in a settings file, or a file of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file.
    pub file: PathBuf,
    /// Where in it: `hooks.Stop`. Empty for a whole file.
    pub place: String,
    /// How it relates to the plan.
    pub kind: EntryKind,
    /// The command, as it is written. Empty for a whole file.
    pub command: String,
    /// The program, script or package that the command is about.
    pub program: String,
    /// Whether that is there. `None`: it cannot be told from here.
    pub exists: Option<bool>,
}

/// How an entry relates to the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// As the plan wants it.
    Current,
    /// Ours, but spelled otherwise: installing again replaces it.
    OtherSpelling,
    /// Ours, one too many: installing again removes it.
    Double,
    /// Ours, for a hook that is not wanted any more.
    Unwanted,
    /// Another tool's.
    Foreign,
}

impl State {
    /// At least one entry of ours is there.
    #[must_use]
    pub fn is_installed(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind != EntryKind::Foreign)
    }

    /// Every wanted hook has an entry.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.wanted > 0 && self.present >= self.wanted
    }

    /// The entries of one kind.
    pub fn of_kind(&self, kind: EntryKind) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.kind == kind)
    }

    /// Entries of ours whose program is gone.
    pub fn dead(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|entry| entry.kind != EntryKind::Foreign && entry.exists == Some(false))
    }

    /// What other tools have on the same lists.
    pub fn neighbours(&self) -> impl Iterator<Item = &Entry> {
        self.of_kind(EntryKind::Foreign)
    }
}

/// Looks at the plan's files.
///
/// # Errors
/// A file cannot be read, or cannot be understood: then nobody knows what is registered.
pub fn check(plan: &Plan, owner: &Owner) -> Result<State> {
    let owner = &owner.with_scripts(plan);
    let mut state = State {
        wanted: plan.hooks,
        ..State::default()
    };
    let (mut entries, mut files, mut files_there) = (0, 0, 0);
    for edit in &plan.edits {
        let path = file::real(target(edit)?)?;
        let Some(bytes) = file::read(&path)? else {
            files += u32::from(matches!(edit, Edit::File(_)));
            continue;
        };
        match edit {
            Edit::Config(config) => {
                let (_, text) = without_mark(text(&path, &bytes)?);
                let (present, standing) =
                    settings::inspect(text, config, owner).map_err(|trouble| explain(trouble, &path, config.format))?;
                entries += present;
                state.entries.extend(standing.into_iter().map(|standing| {
                    let program = match standing.how {
                        Standpoint::Foreign => subject(&standing.command),
                        _ => owner.program_of(&standing.command).unwrap_or_default(),
                    };
                    Entry {
                        file: path.clone(),
                        place: standing.path.join("."),
                        kind: kind(standing.how),
                        command: standing.command.line(),
                        exists: exists(&program),
                        program,
                    }
                }));
            }
            Edit::File(own) => {
                files += 1;
                if is_marked(&bytes, own) {
                    files_there += 1;
                    let is_current = bytes == own.content.as_bytes();
                    state.entries.push(Entry {
                        file: path,
                        place: String::new(),
                        kind: if is_current {
                            EntryKind::Current
                        } else {
                            EntryKind::OtherSpelling
                        },
                        command: String::new(),
                        program: String::new(),
                        exists: None,
                    });
                }
            }
        }
    }
    state.present = if files == 0 || entries == plan.hooks {
        entries
    } else if files == plan.hooks {
        files_there
    } else if files_there == files {
        plan.hooks
    } else {
        entries
    };
    Ok(state)
}

fn kind(how: Standpoint) -> EntryKind {
    match how {
        Standpoint::Current => EntryKind::Current,
        Standpoint::Other => EntryKind::OtherSpelling,
        Standpoint::Double => EntryKind::Double,
        Standpoint::Unwanted => EntryKind::Unwanted,
        Standpoint::Foreign => EntryKind::Foreign,
    }
}

fn subject(command: &Command) -> String {
    let subject = match command {
        Command::Line(line) => words::subject(line),
        Command::Words(_) => words::subject(&command.line()),
    };
    subject.unwrap_or_default()
}

/// Whether a program is there. What a shell would have to expand first, and what is relative to a directory that only
/// the agent knows, cannot be told.
fn exists(program: &str) -> Option<bool> {
    const BUILTINS: &[&str] = &["echo", "printf", "true", "false", "test", "cd", "kill", "read"];
    if program.is_empty() || program.contains(['$', '%', '~', '*']) {
        return None;
    }
    let path = Path::new(program);
    if path.is_absolute() {
        return Some(path.is_file());
    }
    if program.contains(['/', '\\']) {
        return None;
    }
    // A bare name with an ending is as likely a script in the working directory.
    match paths::program(program) {
        Some(_) => Some(true),
        None if BUILTINS.contains(&program) => Some(true),
        None if program.contains('.') || program.contains('@') => None,
        None => Some(false),
    }
}
