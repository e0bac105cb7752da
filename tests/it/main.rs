//! The integration tests: one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be"
)]

mod cases;
mod coverage;
mod engine;
mod fixtures;
mod invariants;
mod program;
mod protocol;
mod registration;
