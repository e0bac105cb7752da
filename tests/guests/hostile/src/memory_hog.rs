//! Asks for memory until there is none.

use std::hint::black_box;

use hookhost_sdk::{Event, Fault};

pub(crate) fn run() -> Result<Vec<Event>, Fault> {
    let mut hoard = vec![];
    loop {
        hoard.push(black_box(vec![1_u8; 1024 * 1024]));
    }
}
