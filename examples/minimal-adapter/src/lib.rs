//! The smallest adapter: an agent with two hooks.

use hookhost_sdk::{Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Manifest, Payload};

/// An agent that does not exist.
#[derive(Default)]
pub struct MinimalAgent;

impl Adapter for MinimalAgent {
    const MANIFEST: Manifest = Manifest {
        name: "minimal-adapter",
        display_name: "Minimal Agent",
        description: "The smallest adapter",
        hooks: &[
            Hook::known("UserPrompt", "user-prompt").gives(&[EventKind::TurnStart]),
            Hook::known("Stop", "stop").gives(&[EventKind::TurnEnd]),
        ],
        capabilities: Capabilities::HOOKS,
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, payload: &Payload<'_>, _: &Context) -> Result<Vec<Event>, Fault> {
        let Some(session) = payload.id(&["session_id"]) else {
            return Ok(vec![]);
        };
        Ok(match hook {
            "UserPrompt" => vec![Event {
                prompt: payload.text("prompt").map(Into::into),
                ..Event::new(EventKind::TurnStart, session)
            }],
            "Stop" => vec![Event::new(EventKind::TurnEnd, session)],
            _ => vec![],
        })
    }
}

hookhost_sdk::export_adapter!(MinimalAgent);
