//! Cline: the VS Code extension, and the command line and SDK. `README.md` has the facts and their sources.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{Document, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Object, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, TranscriptLocation, export_adapter, shell,
};

/// The adapter.
#[derive(Default)]
pub struct Cline;

impl Adapter for Cline {
    const MANIFEST: Manifest = Manifest {
        name: "cline",
        display_name: "Cline",
        description: "Cline, as an extension of VS Code and on the command line",
        protected_dirs: &[".cline", ".clinerules"],
        hooks: &[
            Hook::registered("TaskStart", "task-start").gives(&[EventKind::SessionStart]),
            Hook::registered("TaskResume", "task-resume").gives(&[EventKind::SessionStart]),
            Hook::registered("UserPromptSubmit", "user-prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::registered("TaskComplete", "task-complete").gives(&[EventKind::TurnEnd]),
            Hook::registered("TaskCancel", "task-cancel").gives(&[EventKind::TurnEnd]),
            Hook::registered("TaskError", "task-error").gives(&[EventKind::TurnEnd]),
            Hook::registered("SessionShutdown", "session-shutdown"),
            Hook::registered("PreCompact", "pre-compact").gives(&[EventKind::Compaction]),
            Hook::known("PreToolUse", "pre-tool-use").gives(&[EventKind::SubagentStart]),
            Hook::known("PostToolUse", "post-tool-use").gives(&[EventKind::SubagentEnd]),
            Hook::known("Notification", "notification"),
        ],
        env: &["CLINE_DIR", "CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR"],
        wanted_files: registration::WANTED_FILES,
        presence: &[Sign::Repo(".clinerules"), Sign::Repo(".cline"), Sign::Home(".cline")],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT),
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn session_id(&self, input: &Object<'_>) -> Result<Option<String>, Fault> {
        Ok(sessions::id(input))
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::files(dir, id))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("cline --id {}", shell::word(id)))
    }

    fn transcript_source(&self, session_ref: &str, _context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(sessions::source(session_ref))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        let reader = transcripts::Messages::new(&start);
        Ok(Document::boxed(&start, reader))
    }

    fn registration(
        &self,
        invocation: &Invocation,
        scope: Scope,
        context: &Context,
    ) -> Result<RegistrationPlan, Fault> {
        registration::plan(invocation, scope, context)
    }
}

export_adapter!(Cline);
