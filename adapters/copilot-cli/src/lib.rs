//! GitHub Copilot CLI. Not Copilot's chat in VS Code and not the agent in the cloud, which read the same hook files.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::lines::{JsonLines, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Object, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, shell,
};

/// The adapter.
#[derive(Default)]
pub struct CopilotCli;

impl Adapter for CopilotCli {
    const MANIFEST: Manifest = Manifest {
        name: "copilot-cli",
        display_name: "GitHub Copilot CLI",
        description: "GitHub Copilot in the terminal",
        protected_dirs: &[".github/hooks", ".github/copilot"],
        hooks: &[
            Hook::registered("sessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("userPromptSubmitted", "user-prompt-submitted").gives(&[EventKind::TurnStart]),
            Hook::registered("agentStop", "agent-stop").gives(&[EventKind::TurnEnd]),
            Hook::registered("preCompact", "pre-compact").gives(&[EventKind::Compaction]),
            Hook::registered("sessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::registered("subagentStart", "subagent-start").gives(&[EventKind::SubagentStart]),
            Hook::registered("subagentStop", "subagent-stop").gives(&[EventKind::SubagentEnd]),
            // A failing hook of these two denies the tool.
            Hook::known("preToolUse", "pre-tool-use"),
            Hook::known("permissionRequest", "permission-request"),
            Hook::known("postToolUse", "post-tool-use"),
            Hook::known("postToolUseFailure", "post-tool-use-failure"),
            Hook::known("notification", "notification"),
            Hook::known("errorOccurred", "error-occurred"),
        ],
        env: &[sessions::HOME],
        wanted_files: &[
            Sign::Repo(registration::REPO_FILE),
            Sign::Repo(".github/copilot/settings.json"),
            Sign::Repo(".github/copilot/settings.local.json"),
            Sign::Env(sessions::HOME, "hooks/hookhost.json"),
            Sign::Env(sessions::HOME, "settings.json"),
            Sign::Home(registration::USER_FILE),
            Sign::Home(".copilot/settings.json"),
        ],
        presence: &[
            Sign::Repo(registration::REPO_FILE),
            Sign::Repo(".github/copilot"),
            Sign::Repo(".github/copilot-instructions.md"),
            Sign::Env(sessions::HOME, ""),
            Sign::Home(".copilot"),
        ],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT),
        caller_env_vars: &["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn session_id(&self, input: &Object<'_>) -> Result<Option<String>, Fault> {
        Ok(sessions::id(input))
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(context).ok_or_else(|| Fault::Other("the home directory is not known".to_owned()))
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(sessions::files(dir, id))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("copilot --resume {}", shell::word(id)))
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
        registration::plan(invocation, scope, context)
    }
}

hookhost_sdk::export_adapter!(CopilotCli);
