//! Claude Code: the CLI, its IDE extension, desktop and web.
//!
//! What the agent does, since when and by which source stands in the README beside this crate; what it does against
//! expectation stands in quirks.toml.

mod hooks;
mod prompts;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{JsonLines, Reading};
use hookhost_sdk::shell::word;
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, TranscriptLocation,
};

/// The adapter.
#[derive(Default)]
pub struct ClaudeCode;

impl Adapter for ClaudeCode {
    const MANIFEST: Manifest = Manifest {
        name: "claude-code",
        display_name: "Claude Code",
        description: "Anthropic's coding agent: CLI, IDE extension, desktop and web",
        protected_dirs: &[".claude"],
        hooks: &[
            Hook::registered("SessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("UserPromptSubmit", "user-prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::registered("Stop", "stop").gives(&[EventKind::TurnEnd]),
            Hook::registered("StopFailure", "stop-failure").gives(&[EventKind::TurnEnd]),
            Hook::registered("PreCompact", "pre-compact").gives(&[EventKind::Compaction]),
            Hook::registered("SessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::registered("PreToolUse", "pre-tool-use").gives(&[EventKind::SubagentStart]),
            Hook::registered("PostToolUse", "post-tool-use").gives(&[EventKind::SubagentEnd]),
            Hook::registered("SubagentStop", "subagent-stop").gives(&[EventKind::SubagentEnd]),
            Hook::known("UserPromptExpansion", "user-prompt-expansion"),
            Hook::known("PostToolUseFailure", "post-tool-use-failure"),
            Hook::known("PostToolBatch", "post-tool-batch"),
            Hook::known("PermissionRequest", "permission-request"),
            Hook::known("PermissionDenied", "permission-denied"),
            Hook::known("SubagentStart", "subagent-start"),
            Hook::known("PostCompact", "post-compact"),
            Hook::known("Notification", "notification"),
            Hook::known("MessageDisplay", "message-display"),
            Hook::known("Setup", "setup"),
            Hook::known("InstructionsLoaded", "instructions-loaded"),
            Hook::known("ConfigChange", "config-change"),
            Hook::known("CwdChanged", "cwd-changed"),
            Hook::known("FileChanged", "file-changed"),
            Hook::known("DirectoryAdded", "directory-added"),
            Hook::known("WorktreeCreate", "worktree-create"),
            Hook::known("WorktreeRemove", "worktree-remove"),
            Hook::known("TaskCreated", "task-created"),
            Hook::known("TaskCompleted", "task-completed"),
            Hook::known("TeammateIdle", "teammate-idle"),
            Hook::known("Elicitation", "elicitation"),
            Hook::known("ElicitationResult", "elicitation-result"),
        ],
        env: &[sessions::CONFIG_DIR, sessions::PROJECT_DIR_NAME],
        wanted_files: &[
            Sign::Repo(registration::SETTINGS),
            Sign::Env(sessions::CONFIG_DIR, "settings.json"),
            Sign::Home(".claude/settings.json"),
        ],
        presence: &[
            Sign::Repo(".claude"),
            Sign::Env(sessions::CONFIG_DIR, "settings.json"),
            Sign::Home(".claude"),
            Sign::Program("claude"),
        ],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::TEXT_GENERATOR)
            .union(Capabilities::HOOK_RESPONSE_WRITER)
            .union(Capabilities::SUBAGENT_AWARE_EXTRACTOR),
        caller_env_vars: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
        // No tools and no hooks: whoever asks for a text wants words, and no second session recorded.
        text_command: &[
            "claude",
            "-p",
            "--no-session-persistence",
            "--tools",
            "",
            "--settings",
            r#"{"disableAllHooks":true}"#,
            "--model",
            "{model}",
        ],
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
        Ok(sessions::files(dir, id))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("claude --resume {}", word(id)))
    }

    fn subagent_transcripts(
        &self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        _context: &Context,
    ) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::subagents(session_ref, subagents_dir))
    }

    fn transcript_source(&self, session_ref: &str, context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(sessions::source(session_ref, context))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        let reader = transcripts::Reader::new(&start);
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

hookhost_sdk::export_adapter!(ClaudeCode);
