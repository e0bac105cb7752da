//! Google's Gemini CLI.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{Either, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Object, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, shell,
};

/// The adapter.
#[derive(Default)]
pub struct GeminiCli;

impl Adapter for GeminiCli {
    const MANIFEST: Manifest = Manifest {
        name: "gemini-cli",
        aliases: &["gemini"],
        display_name: "Gemini CLI",
        description: "Google's Gemini in the terminal",
        protected_dirs: &[".gemini"],
        hooks: &[
            Hook::registered("SessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("SessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::registered("BeforeAgent", "before-agent").gives(&[EventKind::TurnStart]),
            Hook::registered("AfterAgent", "after-agent").gives(&[EventKind::TurnEnd]),
            Hook::registered("PreCompress", "pre-compress").gives(&[EventKind::Compaction]),
            Hook::registered("BeforeTool", "before-tool").gives(&[EventKind::SubagentStart]),
            Hook::registered("AfterTool", "after-tool").gives(&[EventKind::SubagentEnd]),
            Hook::known("BeforeModel", "before-model"),
            Hook::known("AfterModel", "after-model"),
            Hook::known("BeforeToolSelection", "before-tool-selection"),
            Hook::known("Notification", "notification"),
        ],
        env: &[sessions::HOME],
        wanted_files: &[
            Sign::Env(sessions::HOME, sessions::REGISTRY),
            Sign::Home(sessions::REGISTRY),
            Sign::Repo(registration::FILE),
            Sign::Env(sessions::HOME, registration::FILE),
            Sign::Home(registration::FILE),
        ],
        presence: &[
            Sign::Repo(".gemini"),
            Sign::Env(sessions::HOME, ".gemini"),
            Sign::Home(".gemini"),
            Sign::Program("gemini"),
        ],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::TEXT_GENERATOR)
            .union(Capabilities::HOOK_RESPONSE_WRITER)
            .union(Capabilities::SUBAGENT_AWARE_EXTRACTOR),
        caller_env_vars: &["GEMINI_CLI"],
        // The prompt comes on stdin; what `-p` gives is put behind it.
        text_command: &["gemini", "-p", " ", "--output-format", "text", "--model", "{model}"],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn reply(&self, hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
        hooks::reply(hook, message)
    }

    fn session_id(&self, input: &Object<'_>) -> Result<Option<String>, Fault> {
        Ok(sessions::id(input))
    }

    fn session_dir(&self, repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(repo_path, context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::files(dir, id))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("gemini --resume {}", shell::word(id)))
    }

    fn subagent_transcripts(
        &self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        _context: &Context,
    ) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::subagents(session_ref, subagents_dir))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        let reader = || transcripts::Reader::new(start.want);
        let (lines, document) = (reader(), reader());
        Ok(Either::boxed(start, lines, document, transcripts::is_document))
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

hookhost_sdk::export_adapter!(GeminiCli);
