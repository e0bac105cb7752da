//! The tests of `hookhost-adapter`, and of the engine with guests that it compiled: one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be"
)]

#[path = "../it/native/alike.rs"]
mod alike;
mod guest;
mod hostile;
#[path = "../it/native/library.rs"]
mod library;
mod native;
mod shelf;
