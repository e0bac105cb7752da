//! The `hookhost` binary.

fn main() {}
