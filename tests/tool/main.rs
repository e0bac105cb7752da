//! The tests of `hookhost-adapter`, and of the engine with guests that it compiled: one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be"
)]

mod guest;
mod hostile;
mod shelf;
