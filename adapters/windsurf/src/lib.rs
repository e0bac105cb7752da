//! Windsurf, now Devin Desktop: the hooks of Cascade, its agent.

mod hooks;
mod registration;
mod sessions;
mod transcripts;

use hookhost_sdk::json::{not_an_object, with_escaped_controls};
use hookhost_sdk::lines::{JsonLines, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Object, Payload,
    RegistrationPlan, Scope, Sign, Start,
};

/// The adapter.
#[derive(Default)]
pub struct Windsurf;

impl Adapter for Windsurf {
    const MANIFEST: Manifest = Manifest {
        name: "windsurf",
        display_name: "Windsurf",
        description: "Windsurf (Devin Desktop) and its agent Cascade",
        protected_dirs: &[".windsurf"],
        hooks: &[
            Hook::registered("pre_user_prompt", "pre-user-prompt").gives(&[EventKind::TurnStart]),
            Hook::registered(
                "post_cascade_response_with_transcript",
                "post-cascade-response-with-transcript",
            )
            .gives(&[EventKind::TurnEnd]),
            // Fires beside the one above: registering both would end each turn twice.
            Hook::known("post_cascade_response", "post-cascade-response").gives(&[EventKind::TurnEnd]),
            Hook::known("pre_read_code", "pre-read-code"),
            Hook::known("post_read_code", "post-read-code"),
            Hook::known("pre_write_code", "pre-write-code"),
            Hook::known("post_write_code", "post-write-code"),
            Hook::known("pre_run_command", "pre-run-command"),
            Hook::known("post_run_command", "post-run-command"),
            Hook::known("pre_mcp_tool_use", "pre-mcp-tool-use"),
            Hook::known("post_mcp_tool_use", "post-mcp-tool-use"),
            Hook::known("post_setup_worktree", "post-setup-worktree"),
        ],
        wanted_files: &[Sign::Home(registration::JETBRAINS_FILE)],
        presence: &[Sign::Repo(".windsurf"), Sign::Home(".codeium/windsurf")],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::COMPACT_TRANSCRIPT),
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn parse_other(&mut self, hook: &str, payload: &str, context: &Context) -> Result<Vec<Event>, Fault> {
        // Strings were seen with line breaks and tabs in them as they are.
        match Object::parse(&with_escaped_controls(payload)) {
            Ok(repaired) => self.parse(hook, &repaired, context),
            Err(_) => Err(not_an_object(payload)),
        }
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        sessions::dir(context).ok_or_else(|| Fault::Other("the home directory is not known".to_owned()))
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("Open the project in Windsurf and choose the conversation {id}"))
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

hookhost_sdk::export_adapter!(Windsurf);
