//! What answers for people look like. Makes text of data; nothing here reads or writes.

pub mod diff;
pub mod number;
pub mod style;
pub mod table;
