//! Never returns.

use std::hint::black_box;

use hookhost_sdk::{Event, Fault};

pub(crate) fn run() -> Result<Vec<Event>, Fault> {
    loop {
        black_box(0);
    }
}
