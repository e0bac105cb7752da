//! An adapter that does what no adapter should, one hook a misdeed.

mod deep_recursion;
mod endless_loop;
mod endless_reading;
mod huge_answer;
mod huge_list;
mod log_flood;
mod memory_hog;
mod panics;
mod spins;
mod trap;

use hookhost_sdk::lines::Reading;
use hookhost_sdk::{Adapter, Context, Event, EventKind, Fault, Hook, Manifest, Payload, Start};

/// The guest.
#[derive(Default)]
pub struct Hostile;

impl Adapter for Hostile {
    const MANIFEST: Manifest = Manifest {
        name: "hostile",
        aliases: &["hostile-alias"],
        display_name: "Hostile",
        description: "Does what no adapter should",
        hooks: &[Hook::known("Fine", "fine")],
        capabilities: hookhost_sdk::Capabilities::HOOKS,
        env: &["HOSTILE_VARIABLE"],
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, _: &Payload<'_>, _: &Context) -> Result<Vec<Event>, Fault> {
        match hook {
            "Fine" => Ok(vec![Event::new(EventKind::TurnEnd, "s1")]),
            "DeepRecursion" => deep_recursion::run(),
            "EndlessLoop" => endless_loop::run(),
            "HugeAnswer" => huge_answer::run(),
            "HugeList" => huge_list::run(),
            "LogFlood" => log_flood::run(),
            "MemoryHog" => memory_hog::run(),
            "Panic" => panics::run(),
            "Spin" => spins::run(),
            "Trap" => trap::run(),
            _ => Ok(vec![]),
        }
    }

    fn transcript(&self, _: Start) -> Result<Box<dyn Reading>, Fault> {
        Ok(Box::new(endless_reading::EndlessReading))
    }
}

hookhost_sdk::export_adapter!(Hostile);
