//! Kiro CLI (formerly Amazon Q Developer CLI) and Kiro IDE. `README.md` has the facts and their sources.

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
pub struct Kiro;

impl Adapter for Kiro {
    const MANIFEST: Manifest = Manifest {
        name: "kiro",
        display_name: "Kiro",
        description: "Kiro, on the command line and as an IDE",
        protected_dirs: &[".kiro", ".amazonq"],
        // Newer surfaces spell the same hooks with a capital; `hooks.rs` takes both.
        hooks: &[
            Hook::registered("agentSpawn", "agent-spawn").gives(&[EventKind::SessionStart]),
            Hook::registered("SessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("userPromptSubmit", "user-prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::registered("stop", "stop").gives(&[EventKind::TurnEnd]),
            Hook::known("preToolUse", "pre-tool-use"),
            Hook::known("postToolUse", "post-tool-use"),
            Hook::known("promptSubmit", "prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::known("agentStop", "agent-stop").gives(&[EventKind::TurnEnd]),
        ],
        env: &["KIRO_HOME", "USER_PROMPT", "XDG_DATA_HOME", "LOCALAPPDATA"],
        presence: &[
            Sign::Repo(".kiro"),
            Sign::Repo(".amazonq"),
            Sign::Home(".kiro"),
            Sign::Program("kiro-cli"),
        ],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::COMPACT_TRANSCRIPT),
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn parse_other(&mut self, hook: &str, payload: &str, _context: &Context) -> Result<Vec<Event>, Fault> {
        // The IDE before 1.0 pipes nothing at all, so no session can be named.
        if payload.trim().is_empty() {
            return Ok(vec![]);
        }
        Err(Fault::Malformed(format!("the payload of {hook} is not a JSON object")))
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(context)
    }

    fn session_file(&self, dir: &str, id: &str, context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::files(dir, id, context))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("kiro-cli chat --resume-id {}", shell::word(id)))
    }

    fn transcript_source(&self, session_ref: &str, context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(sessions::source(session_ref, context))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        let rows = transcripts::Rows::new(&start);
        let conversation = transcripts::Conversation::new(start.want);
        Ok(Either::boxed(start, rows, conversation, |document| {
            document.has("history")
        }))
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

export_adapter!(Kiro);
