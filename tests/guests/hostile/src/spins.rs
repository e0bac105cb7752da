//! Works for a long while, but not for ever.

use std::hint::black_box;

use hookhost_sdk::{Event, Fault};

pub(crate) fn run() -> Result<Vec<Event>, Fault> {
    let mut sum = 0_u64;
    for number in 0..200_000_000_u64 {
        sum = black_box(sum.wrapping_add(number));
    }
    black_box(sum);
    Ok(vec![])
}
