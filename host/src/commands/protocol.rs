//! The external-agent protocol: one process a call, one answer.

mod call;
pub(crate) mod hooks;
mod identity;
mod install;
mod sessions;
mod subagents;
mod text;
mod transcripts;

use clap::Subcommand;

pub(crate) use call::Call;

use super::Output;
use crate::cli::Selection;
use crate::error::Result;

/// The commands that callers of the protocol use.
#[derive(Debug, Subcommand)]
pub(crate) enum Request {
    /// Say who the agent is and what its adapter claims
    Info,
    /// Say whether the agent is set up in this repository or on this machine
    Detect,
    /// Read a HookInput from stdin and give the session's id
    GetSessionId,
    /// Name the directory of a repository's sessions
    GetSessionDir(sessions::DirArgs),
    /// Name the file of a session's transcript
    ResolveSessionFile(sessions::FileArgs),
    /// Read a HookInput from stdin and give the session with its transcript
    ReadSession,
    /// Store the session that comes on stdin
    WriteSession,
    /// Give a session's transcript as it is
    ReadTranscript(sessions::RefArgs),
    /// Cut the transcript on stdin into pieces
    ChunkTranscript(sessions::ChunkArgs),
    /// Put the pieces on stdin together
    ReassembleTranscript,
    /// Give the command that goes on with a session
    FormatResumeCommand(sessions::ResumeArgs),
    /// Say what the hook payload on stdin means: an event, or null
    ParseHook(hooks::ParseArgs),
    /// Register the agent's hooks in this repository
    InstallHooks(install::InstallArgs),
    /// Take the registration back
    UninstallHooks,
    /// Say whether hooks are registered
    AreHooksInstalled,
    /// Say where a transcript ends
    GetTranscriptPosition(transcripts::PathArgs),
    /// List the files that a session changed
    ExtractModifiedFiles(transcripts::PathOffsetArgs),
    /// List what the user typed
    ExtractPrompts(transcripts::RefOffsetArgs),
    /// Give the agent's last words
    ExtractSummary(sessions::RefArgs),
    /// Wait for, or make, a complete transcript
    PrepareTranscript(sessions::RefArgs),
    /// Count the tokens of the transcript on stdin
    CalculateTokens(transcripts::OffsetArgs),
    /// Give a transcript as a short conversation
    CompactTranscript(sessions::RefArgs),
    /// Have the agent answer the prompt on stdin
    GenerateText(text::GenerateArgs),
    /// Give the bytes that make the agent show a message
    WriteHookResponse(hooks::ResponseArgs),
    /// List the files that the session of the transcript on stdin and its subagents changed
    ExtractAllModifiedFiles(subagents::SubagentArgs),
    /// Count the tokens of the transcript on stdin and of its subagents
    CalculateTotalTokens(subagents::SubagentArgs),
}

impl Request {
    pub(crate) fn run(self, selection: &Selection) -> Result<Output> {
        let mut call = match self {
            Self::ParseHook(_) => Call::open_for_hooks(selection)?,
            _ => Call::open(selection)?,
        };
        let answer = self.answer(&mut call);
        // The process ends with this call; taking the adapter down would only take time.
        std::mem::forget(call);
        answer
    }

    fn answer(self, call: &mut Call) -> Result<Output> {
        match self {
            Self::Info => identity::info(call),
            Self::Detect => identity::detect(call),
            Self::GetSessionId => sessions::id(call),
            Self::GetSessionDir(args) => sessions::dir(call, &args),
            Self::ResolveSessionFile(args) => sessions::file(call, &args),
            Self::ReadSession => sessions::read(call),
            Self::WriteSession => sessions::write(call),
            Self::ReadTranscript(args) => sessions::transcript(call, &args),
            Self::ChunkTranscript(args) => sessions::chunk(&args),
            Self::ReassembleTranscript => sessions::reassemble(),
            Self::FormatResumeCommand(args) => sessions::resume(call, &args),
            Self::ParseHook(args) => hooks::parse(call, &args),
            Self::InstallHooks(args) => install::install(call, &args),
            Self::UninstallHooks => install::uninstall(call),
            Self::AreHooksInstalled => install::state(call),
            Self::GetTranscriptPosition(args) => transcripts::position(call, &args),
            Self::ExtractModifiedFiles(args) => transcripts::files(call, &args),
            Self::ExtractPrompts(args) => transcripts::prompts(call, &args),
            Self::ExtractSummary(args) => transcripts::summary(call, &args),
            Self::PrepareTranscript(args) => transcripts::prepare(call, &args),
            Self::CalculateTokens(args) => transcripts::tokens(call, &args),
            Self::CompactTranscript(args) => text::compact(call, &args),
            Self::GenerateText(args) => text::generate(call, &args),
            Self::WriteHookResponse(args) => hooks::response(call, &args),
            Self::ExtractAllModifiedFiles(args) => subagents::files(call, &args),
            Self::CalculateTotalTokens(args) => subagents::tokens(call, &args),
        }
    }
}
