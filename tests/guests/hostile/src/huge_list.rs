//! Many events with next to nothing in them: small in the guest, large in the host.

use hookhost_sdk::{Event, EventKind, Fault};

pub(crate) fn run() -> Result<Vec<Event>, Fault> {
    Ok((0..100_000).map(|_| Event::new(EventKind::TurnEnd, "s")).collect())
}
