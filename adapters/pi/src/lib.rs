//! The hookhost adapter for pi.
//!
//! pi has no hook commands: an extension of ours, loaded into its process, forwards its events. A transcript is a tree
//! in a file of lines.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{JsonLines, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, Fault, Invocation, Manifest, Object, Pattern, Payload, RegistrationPlan,
    Scope, Sign, Start, export_adapter, json, shell,
};

/// The adapter.
#[derive(Default)]
pub struct Pi;

impl Adapter for Pi {
    const MANIFEST: Manifest = Manifest {
        name: "pi",
        display_name: "pi",
        description: "The pi coding agent",
        protected_dirs: &[".pi"],
        hooks: hooks::HOOKS,
        env: &["PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"],
        wanted_files: sessions::SETTINGS,
        presence: &[
            Sign::Repo(".pi"),
            Sign::Home(".pi/agent"),
            Sign::Env("PI_CODING_AGENT_DIR", ""),
            Sign::Program("pi"),
        ],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::HOOK_RESPONSE_WRITER)
            .union(Capabilities::SUBAGENT_AWARE_EXTRACTOR),
        caller_env_vars: &["PI_CODING_AGENT"],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::event(hook, payload, context).into_iter().collect())
    }

    fn reply(&self, _hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
        Ok(match message {
            None => vec![],
            Some(message) => format!("{{\"message\":{}}}\n", json::quoted(message)).into_bytes(),
        })
    }

    fn session_id(&self, input: &Object<'_>) -> Result<Option<String>, Fault> {
        Ok(sessions::id_of_input(input))
    }

    fn session_dir(&self, repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(repo_path, context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::files(dir, id))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("pi --session {}", shell::word(id)))
    }

    fn subagent_transcripts(
        &self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        _context: &Context,
    ) -> Result<Vec<Pattern>, Fault> {
        Ok(vec![sessions::subagents(session_ref, subagents_dir)])
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        let reader = transcripts::Tree::new(start.want);
        Ok(JsonLines::boxed(&start, reader))
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

export_adapter!(Pi);
