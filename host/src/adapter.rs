//! The host's view of an adapter, free of contract versions.

mod contract;
mod limits;
pub mod native;
pub mod registry;
pub mod tool;
pub mod wasm;

use std::fmt;

use crate::model::{
    Companion, Context, Description, Entry, Event, Invocation, Pattern, Plan, Scope, TranscriptLocation, Wanted,
};

pub use contract::CONTRACT_LINES;
pub use limits::{CallLimits, Limits};

/// Why an adapter gave no answer. Every kind names the adapter in its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// This agent has no such thing.
    Unsupported,
    /// The input cannot be read.
    Malformed,
    /// The adapter's own reason.
    Other,
    /// The adapter's code stopped with a trap.
    Trap,
    /// The time limit.
    Deadline,
    /// The memory limit.
    Memory,
    /// The answer was larger than the limit.
    OutputSize,
    /// Not a component of a contract line that this host knows.
    Contract,
    /// The adapter could not be loaded.
    Load,
}

impl FailureKind {
    /// The reason code that stands in journal records.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::Malformed => "malformed-payload",
            Self::Other => "adapter-error",
            Self::Trap => "adapter-trap",
            Self::Deadline => "adapter-deadline",
            Self::Memory => "adapter-memory",
            Self::OutputSize => "adapter-output-size",
            Self::Contract => "adapter-contract",
            Self::Load => "adapter-load",
        }
    }
}

/// An adapter's failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterError {
    /// The adapter's name.
    pub adapter: String,
    /// What kind.
    pub kind: FailureKind,
    /// For a person: what happened and what to do.
    pub message: String,
}

impl fmt::Display for AdapterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "adapter {}: {}", self.adapter, self.message)
    }
}

impl std::error::Error for AdapterError {}

/// What every function of an adapter gives back.
pub type Answer<T> = Result<T, AdapterError>;

/// What a reading begins with.
#[derive(Clone, Debug, Default)]
pub struct ReadingStart {
    /// The session ref, when the caller has one.
    pub session_ref: Option<String>,
    /// Files beside the transcript.
    pub companions: Vec<Companion>,
    /// Where the first pushed byte stands in the transcript.
    pub from: u64,
    /// What the caller needs.
    pub want: Wanted,
}

/// An adapter, ready to be called. Each call has its own deadline, memory and output limit.
///
/// The contract documents what the functions mean. One value is one instance: it keeps state between `parse` calls
/// only for agents whose event stream is the hook.
pub trait Adapter {
    /// The name it was found by.
    fn name(&self) -> &str;
    /// The constant facts.
    fn describe(&mut self) -> Answer<Description>;
    /// What a payload means. `payload` is text; the caller has replaced bytes that are not UTF-8.
    fn parse(&mut self, hook: &str, payload: &str, context: &Context) -> Answer<Vec<Event>>;
    /// The events that waited for more of a stream.
    fn finish(&mut self, context: &Context) -> Answer<Vec<Event>>;
    /// What the agent wants to read on stdout.
    fn reply(&mut self, hook: &str, message: Option<&str>) -> Answer<Vec<u8>>;
    /// The session id in a HookInput (JSON text).
    fn session_id(&mut self, input: &str) -> Answer<Option<String>>;
    /// The directory with a repository's sessions.
    fn session_dir(&mut self, repo_path: &str, context: &Context) -> Answer<String>;
    /// Where a session's transcript can be.
    fn session_file(&mut self, dir: &str, id: &str, context: &Context) -> Answer<Vec<Pattern>>;
    /// The command with which a person goes on with a session.
    fn resume_command(&mut self, id: &str) -> Answer<String>;
    /// The transcripts of a session's subagents.
    fn subagent_transcripts(
        &mut self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        context: &Context,
    ) -> Answer<Vec<Pattern>>;
    /// How to get at a transcript.
    fn transcript_location(&mut self, session_ref: &str, context: &Context) -> Answer<TranscriptLocation>;
    /// A pass over a transcript; `push` its bytes in pieces of about 1 MiB.
    fn reading<'a>(&'a mut self, start: ReadingStart) -> Answer<Box<dyn Reading + 'a>>;
    /// How the agent is told to run our command.
    fn plan(&mut self, invocation: &Invocation, scope: Scope, context: &Context) -> Answer<Plan>;
    /// What the adapter wrote to its log since the last call, newest last.
    fn take_log(&mut self) -> Vec<String>;
}

/// One pass over a transcript.
pub trait Reading {
    /// The next bytes.
    fn push(&mut self, chunk: &[u8]) -> Answer<Vec<Entry>>;
    /// No more bytes.
    fn finish(&mut self) -> Answer<Vec<Entry>>;
    /// Where the next reading may begin.
    fn position(&mut self) -> Answer<u64>;
}
