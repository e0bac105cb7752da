//! The JSON event stream of the `hm` agent, format 1. `README.md` has the facts.

mod hooks;
mod transcripts;

use hookhost_sdk::lines::{JsonLines, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, export_adapter, stream,
};

/// The format that is understood. It changes only when the meaning of a field does.
const FORMAT: u64 = 1;

/// The adapter, and what it has seen of a stream.
#[derive(Default)]
pub struct Hm {
    stream: hooks::Stream,
}

impl Adapter for Hm {
    const MANIFEST: Manifest = Manifest {
        name: "hm",
        display_name: "hm",
        description: "The JSON event stream of the hm agent",
        hooks: &[Hook::known("event", "event").gives(&[
            EventKind::SessionStart,
            EventKind::TurnStart,
            EventKind::TurnEnd,
            EventKind::Compaction,
            EventKind::SessionEnd,
            EventKind::SubagentStart,
            EventKind::SubagentEnd,
        ])],
        presence: &[Sign::Program("hm")],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT),
        ..Manifest::EMPTY
    };

    fn parse(&mut self, _hook: &str, payload: &Payload<'_>, _context: &Context) -> Result<Vec<Event>, Fault> {
        self.stream.line(payload)
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        stream::session_dir::<Self>(context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(stream::session_file(dir, id))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        let reader = transcripts::Lines::new(start.want);
        Ok(JsonLines::boxed(&start, reader))
    }

    fn registration(&self, _: &Invocation, _: Scope, _: &Context) -> Result<RegistrationPlan, Fault> {
        Ok(stream::no_registration::<Self>())
    }
}

export_adapter!(Hm);
