//! The integration tests: one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be"
)]

#[cfg(unix)]
mod abuse;
mod cases;
#[cfg(unix)]
mod concurrency;
mod coverage;
#[cfg(unix)]
mod doctor;
mod engine;
#[cfg(unix)]
mod exports;
#[cfg(unix)]
mod fake_agent;
mod fixtures;
mod invariants;
mod native;
mod program;
mod protocol;
mod registering;
mod registration;
#[cfg(unix)]
mod sessions;
mod streams;
