//! Cursor, the editor and its command line (`cursor-agent`).

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
pub struct Cursor;

impl Adapter for Cursor {
    const MANIFEST: Manifest = Manifest {
        name: "cursor",
        display_name: "Cursor",
        description: "Cursor, the editor and its command line",
        protected_dirs: &[".cursor"],
        hooks: &[
            Hook::registered("sessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("beforeSubmitPrompt", "before-submit-prompt").gives(&[EventKind::TurnStart]),
            Hook::registered("stop", "stop").gives(&[EventKind::TurnEnd]),
            Hook::registered("sessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::registered("preCompact", "pre-compact").gives(&[EventKind::Compaction]),
            Hook::registered("subagentStart", "subagent-start").gives(&[EventKind::SubagentStart]),
            Hook::registered("subagentStop", "subagent-stop").gives(&[EventKind::SubagentEnd]),
            Hook::known("preToolUse", "pre-tool-use"),
            Hook::known("postToolUse", "post-tool-use"),
            Hook::known("postToolUseFailure", "post-tool-use-failure"),
            Hook::known("beforeShellExecution", "before-shell-execution"),
            Hook::known("afterShellExecution", "after-shell-execution"),
            Hook::known("beforeMCPExecution", "before-mcp-execution"),
            Hook::known("afterMCPExecution", "after-mcp-execution"),
            Hook::known("beforeReadFile", "before-read-file"),
            Hook::known("afterFileEdit", "after-file-edit"),
            Hook::known("afterAgentResponse", "after-agent-response"),
            Hook::known("afterAgentThought", "after-agent-thought"),
            Hook::known("beforeTabFileRead", "before-tab-file-read"),
            Hook::known("afterTabFileEdit", "after-tab-file-edit"),
            Hook::known("workspaceOpen", "workspace-open"),
        ],
        env: &["CURSOR_TRANSCRIPT_PATH"],
        presence: &[
            Sign::Repo(".cursor"),
            Sign::Home(".cursor"),
            Sign::Program("cursor-agent"),
        ],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::HOOK_RESPONSE_WRITER)
            .union(Capabilities::SUBAGENT_AWARE_EXTRACTOR),
        caller_env_vars: &["CURSOR_AGENT", "CURSOR_PROJECT_DIR", "CURSOR_VERSION"],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn reply(&self, _hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
        Ok(hooks::reply(message))
    }

    fn session_dir(&self, repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(repo_path, context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::files(dir, id))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("agent --resume {}", shell::word(id)))
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
        let reader = transcripts::Reader::new(start.want);
        Ok(JsonLines::boxed(&start, reader))
    }

    fn registration(
        &self,
        invocation: &Invocation,
        scope: Scope,
        context: &Context,
    ) -> Result<RegistrationPlan, Fault> {
        registration::plan::<Self>(invocation, scope, context)
    }
}

hookhost_sdk::export_adapter!(Cursor);
