//! Sessions and their transcripts.

mod branches;
pub mod chunk;
pub mod compact;
pub mod facts;
mod files;
pub mod pattern;
pub mod refs;
mod repo_path;
mod shell;
pub mod store;
pub mod story;
mod tokens;
pub mod transcript;
pub mod turns;

pub use files::Files;
pub use repo_path::RepoPaths;
pub use tokens::TokenTotals;
