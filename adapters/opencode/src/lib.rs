//! The hookhost adapter for OpenCode.
//!
//! OpenCode has no hook commands: a plugin of ours, running inside its process, forwards its events. A transcript is
//! what `opencode export` prints.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{Document, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, Fault, Invocation, Manifest, Pattern, Payload, RegistrationPlan, Scope,
    Sign, Start, TranscriptLocation, export_adapter, shell,
};

/// The adapter.
#[derive(Default)]
pub struct OpenCode;

impl Adapter for OpenCode {
    const MANIFEST: Manifest = Manifest {
        name: "opencode",
        display_name: "OpenCode",
        description: "OpenCode, in the terminal and as `opencode run`",
        protected_dirs: &[".opencode"],
        hooks: hooks::HOOKS,
        env: &["XDG_CONFIG_HOME"],
        presence: &[
            Sign::Repo(".opencode"),
            Sign::Repo("opencode.json"),
            Sign::Repo("opencode.jsonc"),
        ],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::SUBAGENT_AWARE_EXTRACTOR),
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::event(hook, payload, context).into_iter().collect())
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(vec![sessions::file(dir, id)])
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("opencode -s {}", shell::word(id)))
    }

    fn subagent_transcripts(
        &self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        _context: &Context,
    ) -> Result<Vec<Pattern>, Fault> {
        Ok(vec![sessions::children(session_ref, subagents_dir)])
    }

    fn transcript_source(&self, session_ref: &str, context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(sessions::source(session_ref, context))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        Ok(Document::boxed(&start, transcripts::Export::new(start.want)))
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

export_adapter!(OpenCode);
