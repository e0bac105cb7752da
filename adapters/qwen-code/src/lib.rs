//! Qwen Code: a descendant of Gemini CLI with hooks in the manner of Claude Code.
//!
//! What the agent does, since when and by which source stands in the README beside this crate.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{JsonLines, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, shell,
};

/// The adapter.
#[derive(Default)]
pub struct QwenCode;

impl Adapter for QwenCode {
    const MANIFEST: Manifest = Manifest {
        name: "qwen-code",
        // Its command.
        aliases: &["qwen"],
        display_name: "Qwen Code",
        description: "The Qwen team's coding agent for the terminal",
        protected_dirs: &[".qwen"],
        hooks: &[
            Hook::registered("SessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("UserPromptSubmit", "user-prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::registered("Stop", "stop").gives(&[EventKind::TurnEnd]),
            Hook::registered("StopFailure", "stop-failure").gives(&[EventKind::TurnEnd]),
            Hook::registered("PreCompact", "pre-compact").gives(&[EventKind::Compaction]),
            Hook::registered("SessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::registered("SubagentStart", "subagent-start").gives(&[EventKind::SubagentStart]),
            Hook::registered("SubagentStop", "subagent-stop").gives(&[EventKind::SubagentEnd]),
            Hook::known("PreToolUse", "pre-tool-use"),
            Hook::known("PostToolUse", "post-tool-use"),
            Hook::known("PostToolUseFailure", "post-tool-use-failure"),
            Hook::known("PostCompact", "post-compact"),
            Hook::known("UserPromptExpansion", "user-prompt-expansion"),
            Hook::known("SessionDelete", "session-delete"),
            Hook::known("MessageDisplay", "message-display"),
            Hook::known("TodoCreated", "todo-created"),
            Hook::known("TodoCompleted", "todo-completed"),
            Hook::known("Notification", "notification"),
            Hook::known("PermissionRequest", "permission-request"),
            Hook::known("PermissionDenied", "permission-denied"),
        ],
        wanted_files: &[Sign::Repo(".qwen/settings.json"), Sign::Home(".qwen/settings.json")],
        presence: &[Sign::Repo(".qwen"), Sign::Home(".qwen"), Sign::Program("qwen")],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::TEXT_GENERATOR)
            .union(Capabilities::HOOK_RESPONSE_WRITER)
            .union(Capabilities::SUBAGENT_AWARE_EXTRACTOR)
            .union(Capabilities::USES_TERMINAL),
        text_command: &["qwen", "--model", "{model}"],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn reply(&self, hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
        hooks::reply(hook, message)
    }

    fn session_dir(&self, repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(repo_path, context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::file(dir, id))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("qwen --resume {}", shell::word(id)))
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
        Ok(JsonLines::boxed(&start, transcripts::Chat::new(start.want)))
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

hookhost_sdk::export_adapter!(QwenCode);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_payload_means_the_events_beside_it() {
        hookhost_sdk::testing::check_payload_fixtures::<QwenCode>();
    }
}
