//! More lines, and longer ones, than a log keeps.

use hookhost_sdk::{Event, Fault, bindings::hookhost::adapter::log};

pub(crate) fn run() -> Result<Vec<Event>, Fault> {
    for number in 0..1000 {
        log::log(log::Level::Info, &format!("{number} {}", "é".repeat(10_000)));
    }
    Ok(vec![])
}
