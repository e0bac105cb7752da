//! goose (block/goose, now aaif-goose/goose). `README.md` has the facts and their sources.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{Either, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, TranscriptLocation, export_adapter, shell,
};

/// The adapter.
#[derive(Default)]
pub struct Goose;

impl Adapter for Goose {
    const MANIFEST: Manifest = Manifest {
        name: "goose",
        display_name: "goose",
        description: "goose, the open agent of Block and the Agentic AI Foundation",
        protected_dirs: &[".goose", ".agents/plugins/hookhost"],
        hooks: &[
            Hook::registered("SessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("UserPromptSubmit", "user-prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::registered("Stop", "stop").gives(&[EventKind::TurnEnd]),
            Hook::registered("SessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::known("PreToolUse", "pre-tool-use"),
            Hook::known("PreToolUseResult", "pre-tool-use-result"),
            Hook::known("PostToolUse", "post-tool-use"),
            Hook::known("PostToolUseFailure", "post-tool-use-failure"),
            Hook::known("BeforeReadFile", "before-read-file"),
            Hook::known("AfterFileEdit", "after-file-edit"),
            Hook::known("BeforeShellExecution", "before-shell-execution"),
            Hook::known("AfterShellExecution", "after-shell-execution"),
        ],
        env: &["GOOSE_PATH_ROOT", "XDG_DATA_HOME", "APPDATA"],
        presence: &[
            Sign::Repo(".agents/plugins/hookhost/plugin.json"),
            Sign::Repo(".goosehints"),
            Sign::Repo(".goose"),
            Sign::Repo(".config/goose"),
            Sign::Home(".config/goose"),
            Sign::Program("goose"),
        ],
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

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(context)
    }

    fn session_file(&self, dir: &str, id: &str, context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::files(dir, id, context))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("goose session --resume --session-id {}", shell::word(id)))
    }

    fn transcript_source(&self, session_ref: &str, _context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(sessions::source(session_ref))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        let lines = transcripts::Lines::new(start.want);
        let export = transcripts::Export::new(start.want);
        Ok(Either::boxed(start, lines, export, transcripts::is_export))
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

export_adapter!(Goose);
