//! Sessions and their transcripts.

mod branches;
pub mod compact;
pub mod facts;
mod files;
mod repo_path;
mod shell;
mod tokens;

pub use files::Files;
pub use repo_path::RepoPaths;
pub use tokens::TokenTotals;
