//! Panics with a text.
#![allow(clippy::panic, reason = "what is tested")]

use hookhost_sdk::{Event, Fault};

pub(crate) fn run() -> Result<Vec<Event>, Fault> {
    panic!("the seventh seal is broken");
}
