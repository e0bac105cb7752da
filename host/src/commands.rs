//! The commands: one file each, those of the protocol one file a group. They give back what is to be written.

mod adapter;
mod agents;
mod completions;
mod config;
mod doctor;
mod export;
mod hook;
mod ingest;
mod install;
mod list;
mod man;
pub mod protocol;
mod prune;
mod recorded;
mod redact;
mod replay;
mod schema;
mod show;
mod status;
mod tail;

use std::io::{self, Write};

use clap::Subcommand;
use serde::Serialize;

use crate::cli::{Selection, Words};
use crate::error::{Error, ErrorKind, Result};

/// What a command answers.
pub struct Output {
    /// What goes to stdout.
    pub body: Body,
    /// What goes to stderr, for a person.
    pub note: Option<String>,
    /// The answer was found, and it is a bad one: the exit code is 1.
    pub failed: bool,
}

/// What goes to stdout.
pub enum Body {
    /// Nothing.
    Nothing,
    /// These bytes.
    Bytes(Vec<u8>),
    /// More than should be in memory at once.
    Stream(Writing),
}

/// Writes an answer.
pub type Writing = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()>>;

impl Output {
    /// No answer is the answer.
    #[must_use]
    pub fn nothing() -> Self {
        Self::of(Body::Nothing)
    }

    /// Bytes as they are.
    #[must_use]
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self::of(Body::Bytes(bytes))
    }

    /// One JSON value and a line end.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn json(value: &impl Serialize) -> Result<Self> {
        let mut bytes = serde_json::to_vec(value)
            .map_err(|error| Error::new(ErrorKind::System, "cannot write the answer as JSON").because(error))?;
        bytes.push(b'\n');
        Ok(Self::bytes(bytes))
    }

    /// What `write` writes.
    #[must_use]
    pub fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()> + 'static) -> Self {
        Self::of(Body::Stream(Box::new(write)))
    }

    fn of(body: Body) -> Self {
        Self {
            body,
            note: None,
            failed: false,
        }
    }

    /// With something for a person beside the answer, unless there is nothing to say.
    #[must_use]
    pub fn with_note(mut self, note: String) -> Self {
        self.note = Some(note).filter(|note| !note.is_empty());
        self
    }
}

/// All commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Hook(hook::HookArgs),
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
    Status(status::StatusArgs),
    List(list::ListArgs),
    #[command(visible_alias = "inspect")]
    Show(show::ShowArgs),
    Tail(tail::TailArgs),
    Export(export::ExportArgs),
    Adapter(adapter::AdapterArgs),
    Replay(replay::ReplayArgs),
    Ingest(ingest::IngestArgs),
    Redact(redact::RedactArgs),
    Prune(prune::PruneArgs),
    Doctor(doctor::DoctorArgs),
    Config(config::ConfigArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    #[command(flatten)]
    Protocol(protocol::Request),
}

impl Command {
    pub(crate) fn run(self, selection: &Selection) -> Result<Output> {
        match self {
            // Run before the arguments are looked at; only help comes here.
            Self::Hook(_) => Ok(Output::nothing()),
            Self::Install(args) => install::install(&args, selection),
            Self::Uninstall(args) => install::uninstall(&args, selection),
            Self::Status(args) => status::run(&args, selection),
            Self::List(args) => list::run(&args, selection),
            Self::Show(args) => show::run(&args),
            Self::Tail(args) => tail::run(&args, selection),
            Self::Export(args) => export::run(&args, selection),
            Self::Adapter(args) => adapter::run(&args),
            Self::Replay(args) => replay::run(&args, selection),
            Self::Ingest(args) => ingest::run(&args, selection),
            Self::Redact(args) => redact::run(&args, selection),
            Self::Prune(args) => prune::run(&args, selection),
            Self::Doctor(args) => doctor::run(&args, selection),
            Self::Config(args) => config::run(&args),
            Self::Schema(args) => schema::run(&args),
            Self::Completions(args) => Ok(completions::run(&args)),
            Self::Man(args) => man::run(&args),
            Self::Protocol(command) => command.run(selection),
        }
    }
}

/// Runs a command that agents wait for, when the arguments say so plainly, and gives back the exit code.
pub(crate) fn run_early(words: &Words<'_>) -> Option<u8> {
    let command = words.command?.to_str()?;
    if words.is_unclear && command != "hook" {
        return None;
    }
    match command {
        "hook" => hook::run_early(words),
        "adapter" => adapter::run_early(words),
        "parse-hook" => protocol::hooks::run_early(words),
        _ => None,
    }
}
