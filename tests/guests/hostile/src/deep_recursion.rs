//! Calls itself until there is no stack left.
#![allow(unconditional_recursion, reason = "what is tested")]

use std::hint::black_box;

use hookhost_sdk::{Event, Fault};

pub(crate) fn run() -> Result<Vec<Event>, Fault> {
    Err(Fault::Other(descend(0).to_string()))
}

fn descend(depth: u64) -> u64 {
    let here = black_box([depth; 16]);
    here.iter().sum::<u64>().wrapping_add(black_box(descend(depth + 1)))
}
