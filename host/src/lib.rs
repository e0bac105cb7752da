//! hookhost: one hook command for every coding agent.

pub mod adapter;
pub mod model;
