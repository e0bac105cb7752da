//! The Auggie CLI of Augment Code. `README.md` has the facts and their sources.

mod hooks;
mod registration;
mod transcripts;

use hookhost_sdk::lines::{Document, Reading};
use hookhost_sdk::paths::{join, literal};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, export_adapter, shell,
};

/// The adapter.
#[derive(Default)]
pub struct Augment;

impl Adapter for Augment {
    const MANIFEST: Manifest = Manifest {
        name: "augment",
        aliases: &["auggie"],
        display_name: "Auggie CLI",
        description: "The command-line agent of Augment Code",
        protected_dirs: &[".augment"],
        hooks: &[
            Hook::registered("SessionStart", "session-start").gives(&[EventKind::SessionStart]),
            Hook::registered("PromptSubmit", "prompt-submit").gives(&[EventKind::TurnStart]),
            Hook::registered("Stop", "stop").gives(&[EventKind::TurnEnd]),
            Hook::registered("SessionEnd", "session-end").gives(&[EventKind::SessionEnd]),
            Hook::known("PreToolUse", "pre-tool-use"),
            Hook::known("PostToolUse", "post-tool-use"),
            Hook::known("Notification", "notification"),
        ],
        env: &["AUGMENT_CONVERSATION_ID"],
        presence: &[Sign::Repo(".augment"), Sign::Home(".augment"), Sign::Program("auggie")],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT)
            .union(Capabilities::HOOK_RESPONSE_WRITER),
        caller_env_vars: &["AUGMENT_CONVERSATION_ID", "AUGMENT_PROJECT_DIR"],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(hooks::events(hook, payload, context))
    }

    fn reply(&self, _hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
        Ok(message.map(hooks::system_message).unwrap_or_default())
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        let home = context.home.as_deref();
        home.map(|home| join(home, ".augment/sessions"))
            .ok_or_else(|| Fault::Other("the user's home directory is not known: set HOME".to_owned()))
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(vec![literal(join(dir, &format!("{id}.json")))])
    }

    fn resume_command(&self, id: &str) -> Result<String, Fault> {
        Ok(format!("auggie --resume {}", shell::word(id)))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        Ok(Document::boxed(&start, transcripts::Session::new(start.want)))
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

export_adapter!(Augment);
