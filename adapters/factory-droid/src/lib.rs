//! Factory Droid, the CLI agent of Factory.
//!
//! What the agent does, since when and by which source stands in the README beside this crate.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{JsonLines, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, TranscriptLocation, shell,
};

/// The adapter.
#[derive(Default)]
pub struct FactoryDroid;

impl Adapter for FactoryDroid {
    const MANIFEST: Manifest = Manifest {
        name: "factory-droid",
        // The name that the Entire CLI uses.
        aliases: &["factoryai-droid"],
        display_name: "Factory Droid",
        description: "Factory's coding agent for the terminal",
        protected_dirs: &[".factory"],
        hooks: &[
            Hook::registered("SessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("UserPromptSubmit", "user-prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::registered("Stop", "stop").gives(&[EventKind::TurnEnd]),
            Hook::registered("PreCompact", "pre-compact").gives(&[EventKind::Compaction]),
            Hook::registered("SessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::registered("PreToolUse", "pre-tool-use").gives(&[EventKind::SubagentStart]),
            Hook::registered("PostToolUse", "post-tool-use").gives(&[EventKind::SubagentEnd]),
            Hook::known("SubagentStop", "subagent-stop"),
            Hook::known("Notification", "notification"),
        ],
        wanted_files: &[
            Sign::Repo(".factory/hooks.json"),
            Sign::Repo(".factory/settings.json"),
            Sign::Home(".factory/hooks.json"),
            Sign::Home(".factory/settings.json"),
        ],
        presence: &[Sign::Repo(".factory"), Sign::Home(".factory"), Sign::Program("droid")],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::TEXT_GENERATOR)
            .union(Capabilities::HOOK_RESPONSE_WRITER)
            .union(Capabilities::SUBAGENT_AWARE_EXTRACTOR)
            .union(Capabilities::USES_TERMINAL),
        text_command: &["droid", "exec", "--model", "{model}"],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn reply(&self, _hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
        Ok(message.map(hooks::notice).unwrap_or_default())
    }

    fn session_dir(&self, repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(repo_path, context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::file(dir, id))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("droid --resume {}", shell::word(id)))
    }

    fn subagent_transcripts(
        &self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        _context: &Context,
    ) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::workers(session_ref, subagents_dir))
    }

    fn transcript_source(&self, session_ref: &str, _context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(sessions::source(session_ref))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        Ok(JsonLines::boxed(&start, transcripts::Session::new(&start)))
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

hookhost_sdk::export_adapter!(FactoryDroid);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_payload_means_the_events_beside_it() {
        hookhost_sdk::testing::check_payload_fixtures::<FactoryDroid>();
    }
}
