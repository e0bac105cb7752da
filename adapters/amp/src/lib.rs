//! The hookhost adapter for Amp.
//!
//! Amp runs no commands: a plugin of ours, loaded into its process, forwards its events. Threads are on Amp's servers;
//! a transcript is what `amp threads export` prints.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{Document, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, Fault, Invocation, Manifest, Pattern, Payload, RegistrationPlan, Scope,
    Sign, Start, TranscriptLocation, export_adapter, json, shell,
};

/// The adapter.
#[derive(Default)]
pub struct Amp;

impl Adapter for Amp {
    const MANIFEST: Manifest = Manifest {
        name: "amp",
        display_name: "Amp",
        description: "Amp, the coding agent of Sourcegraph and Amp Inc.",
        protected_dirs: &[".amp"],
        hooks: hooks::HOOKS,
        env: &["XDG_DATA_HOME", "LOCALAPPDATA"],
        presence: &[Sign::Repo(".amp"), Sign::Home(".config/amp")],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::HOOK_RESPONSE_WRITER),
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

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(vec![sessions::file(dir, id)])
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("amp threads continue {}", shell::word(id)))
    }

    fn transcript_source(&self, session_ref: &str, context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(sessions::source(session_ref, context))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        Ok(Document::boxed(&start, transcripts::Thread::new(start.want)))
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

export_adapter!(Amp);
