//! The JSON of the `hh` session recorder, schemas 1 and 2. `README.md` has the facts.

mod hooks;
mod record;
mod transcripts;

use hookhost_sdk::lines::{Either, Reading};
use hookhost_sdk::{
    Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Invocation, Manifest, Pattern, Payload,
    RegistrationPlan, Scope, Sign, Start, export_adapter, stream,
};

/// The adapter, and what it has seen of a stream.
#[derive(Default)]
pub struct Hh {
    stream: hooks::Stream,
}

impl Adapter for Hh {
    const MANIFEST: Manifest = Manifest {
        name: "hh",
        display_name: "hh",
        description: "Sessions recorded by the hh session recorder",
        hooks: &[Hook::known("event", "event").gives(&[
            EventKind::SessionStart,
            EventKind::TurnStart,
            EventKind::TurnEnd,
            EventKind::SessionEnd,
            EventKind::SubagentStart,
            EventKind::SubagentEnd,
        ])],
        presence: &[Sign::Program("hh")],
        // Recordings hold no token counts.
        capabilities: Capabilities::HOOKS
            .union(Capabilities::TRANSCRIPT_ANALYZER)
            .union(Capabilities::TRANSCRIPT_PREPARER)
            .union(Capabilities::COMPACT_TRANSCRIPT),
        ..Manifest::EMPTY
    };

    fn parse(&mut self, _hook: &str, payload: &Payload<'_>, _context: &Context) -> Result<Vec<Event>, Fault> {
        self.stream.payload(payload)
    }

    fn parse_other(&mut self, _hook: &str, payload: &str, _context: &Context) -> Result<Vec<Event>, Fault> {
        self.stream.list(payload)
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
        let lines = transcripts::Recording::new(start.want);
        let export = transcripts::Recording::new(start.want);
        Ok(Either::boxed(start, lines, export, record::is_export))
    }

    fn registration(&self, _: &Invocation, _: Scope, _: &Context) -> Result<RegistrationPlan, Fault> {
        Ok(stream::no_registration::<Self>())
    }
}

export_adapter!(Hh);
