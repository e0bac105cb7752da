//! hookhost: one hook command for every coding agent.

pub mod adapter;
pub mod cli;
pub mod commands;
pub mod config;
pub mod error;
pub mod export;
pub mod format;
pub mod ingest;
pub mod input;
pub mod install;
pub mod journal;
pub mod model;
pub mod moment;
pub mod output;
pub mod paths;
pub mod program;
pub mod redact;
pub mod regular;
pub mod replay;
pub mod session;
pub mod surroundings;
pub mod watch;
pub mod wire;
