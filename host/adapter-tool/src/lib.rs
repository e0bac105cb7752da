//! All that is done with adapters outside of hooks: checking, compiling, installing, beginning a new one.
//!
//! This program holds the compiler, so that `hookhost`, which agents start with every hook, does not have to.

mod check;
pub mod cli;
pub mod compile;
pub mod component;
mod inventory;
mod new;
mod report;
pub mod shelf;
