//! HAST Event v2: the task events of a hosted agent service. `README.md` has the facts.

mod envelope;
mod hooks;
mod transcripts;

use hookhost_sdk::lines::{Either, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Pattern, Payload,
    RegistrationPlan, Scope, Start, export_adapter, stream,
};

/// The adapter, and what it has seen of a stream.
#[derive(Default)]
pub struct Hast {
    stream: hooks::Stream,
}

impl Adapter for Hast {
    const MANIFEST: Manifest = Manifest {
        name: "hast",
        display_name: "HAST",
        description: "The task events of a hosted agent service, HAST Event v2",
        hooks: &[Hook::known("event", "event").gives(&[
            EventKind::SessionStart,
            EventKind::TurnStart,
            EventKind::TurnEnd,
            EventKind::Compaction,
            EventKind::SessionEnd,
            EventKind::SubagentStart,
            EventKind::SubagentEnd,
        ])],
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::TOKEN_CALCULATOR)
            .union(Capabilities::COMPACT_TRANSCRIPT),
        ..Manifest::EMPTY
    };

    fn parse(&mut self, _hook: &str, payload: &Payload<'_>, _context: &Context) -> Result<Vec<Event>, Fault> {
        self.stream.payload(payload)
    }

    fn parse_other(&mut self, _hook: &str, payload: &str, _context: &Context) -> Result<Vec<Event>, Fault> {
        self.stream.text(payload)
    }

    fn finish(&mut self, _context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(self.stream.finish())
    }

    fn session_dir(&self, _repo_path: &str, context: &Context) -> Result<String, Fault> {
        stream::session_dir::<Self>(context)
    }

    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(stream::session_file(dir, id))
    }

    fn transcript(&self, start: Start) -> Result<Box<dyn Reading>, Fault> {
        let lines = transcripts::Envelopes::new(start.want);
        let page = transcripts::Envelopes::new(start.want);
        Ok(Either::boxed(start, lines, page, envelope::is_page))
    }

    fn registration(&self, _: &Invocation, _: Scope, _: &Context) -> Result<RegistrationPlan, Fault> {
        Ok(stream::no_registration::<Self>())
    }
}

export_adapter!(Hast);
