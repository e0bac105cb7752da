//! One event whose prompt is larger than any answer may be.

use hookhost_sdk::{Event, EventKind, Fault};

pub(crate) fn run() -> Result<Vec<Event>, Fault> {
    Ok(vec![Event {
        prompt: Some("x".repeat(11 * 1024 * 1024)),
        ..Event::new(EventKind::TurnStart, "s1")
    }])
}
