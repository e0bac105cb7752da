//! Codex: OpenAI's CLI, its desktop app and its IDE extension.
//!
//! What the agent does, since when and by which source stands in the README beside this crate.

mod hooks;
mod prompts;
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
pub struct Codex;

impl Adapter for Codex {
    const MANIFEST: Manifest = Manifest {
        name: "codex",
        display_name: "Codex",
        description: "OpenAI's coding agent: Codex CLI, desktop app and IDE extension",
        protected_dirs: &[".codex"],
        hooks: &[
            Hook::registered("SessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("UserPromptSubmit", "user-prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::registered("Stop", "stop").gives(&[EventKind::TurnEnd]),
            Hook::registered("Interrupt", "interrupt").gives(&[EventKind::TurnEnd]),
            Hook::registered("PreCompact", "pre-compact").gives(&[EventKind::Compaction]),
            Hook::registered("SessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::registered("SubagentStart", "subagent-start").gives(&[EventKind::SubagentStart]),
            Hook::registered("SubagentStop", "subagent-stop").gives(&[EventKind::SubagentEnd]),
            Hook::known("PreToolUse", "pre-tool-use"),
            Hook::known("PermissionRequest", "permission-request"),
            Hook::known("PostToolUse", "post-tool-use"),
            Hook::known("PostCompact", "post-compact"),
            Hook::known("StopFailure", "stop-failure").gives(&[EventKind::TurnEnd]),
            Hook::known("notify", "notify").gives(&[EventKind::TurnEnd]),
        ],
        env: &["CODEX_HOME"],
        wanted_files: &[
            Sign::Repo(".codex/hooks.json"),
            Sign::Repo(".codex/config.toml"),
            Sign::Env("CODEX_HOME", "hooks.json"),
            Sign::Env("CODEX_HOME", "config.toml"),
            Sign::Home(".codex/hooks.json"),
            Sign::Home(".codex/config.toml"),
        ],
        presence: &[
            Sign::Repo(".codex"),
            Sign::Env("CODEX_HOME", "config.toml"),
            Sign::Home(".codex"),
            Sign::Program("codex"),
        ],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::TEXT_GENERATOR)
            .union(Capabilities::HOOK_RESPONSE_WRITER)
            .union(Capabilities::SUBAGENT_AWARE_EXTRACTOR)
            .union(Capabilities::USES_TERMINAL),
        caller_env_vars: &["CODEX_THREAD_ID"],
        text_command: &[
            "codex",
            "exec",
            "--skip-git-repo-check",
            "--ignore-user-config",
            "--sandbox",
            "read-only",
            "--model",
            "{model}",
            "-",
        ],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn reply(&self, hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
        hooks::reply(hook, message)
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(context)
    }

    fn session_file(&self, dir: &str, id: &str, context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::file(dir, id, context))
    }

    fn session_id(&self, input: &hookhost_sdk::Object<'_>) -> Result<Option<String>, Fault> {
        Ok(sessions::id(input))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("codex resume {}", shell::word(id)))
    }

    fn subagent_transcripts(
        &self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        context: &Context,
    ) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::subagents(session_ref, subagents_dir, context))
    }

    fn transcript_source(&self, session_ref: &str, context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(sessions::source(session_ref, context))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        Ok(JsonLines::boxed(&start, transcripts::Rollout::new(start.want)))
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

hookhost_sdk::export_adapter!(Codex);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_payload_means_the_events_beside_it() {
        hookhost_sdk::testing::check_payload_fixtures::<Codex>();
    }
}
