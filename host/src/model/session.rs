//! Where sessions are, and what an adapter is told of its surroundings.

use super::Place;

/// The family of systems that the host runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unixes.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

/// What is at a place that an adapter wanted to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Nothing.
    Missing,
    /// A directory.
    Directory,
    /// The file's bytes, at most 1 MiB.
    Content(Vec<u8>),
    /// Why it could not be read.
    Unreadable(String),
}

/// A file that an adapter wanted to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFile {
    /// As the adapter named it.
    pub wanted: Place,
    /// Absolute.
    pub path: String,
    /// What is there.
    pub state: FileState,
}

/// What an adapter is told of its surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Absolute path of the repository's work tree.
    pub repo_root: Option<String>,
    /// The working directory of the call.
    pub cwd: Option<String>,
    /// The user's home directory.
    pub home: Option<String>,
    /// The system.
    pub platform: Platform,
    /// RFC 3339 with milliseconds, UTC.
    pub received_at: String,
    /// Those of the wanted variables that are set.
    pub env: Vec<(String, String)>,
    /// The wanted files; empty on the hook path.
    pub files: Vec<ContextFile>,
    /// A directory of ours for transcripts that are no files of the agent's.
    pub snapshots: Option<String>,
}

/// An absolute path in which `*` stands for any part of one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The path.
    pub path: String,
    /// Only files whose name holds the id of a subagent that the main transcript links to.
    pub linked: bool,
}

/// How to get at a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The file itself.
    File(String),
    /// A program's output.
    Program {
        /// Program and arguments.
        arguments: Vec<String>,
        /// The file that holds the last output.
        snapshot: String,
        /// The program writes the snapshot itself.
        writes_file: bool,
    },
    /// Rows of a SQLite database.
    Sqlite {
        /// The database.
        path: String,
        /// The query; `?1` is bound to the parameter.
        query: String,
        /// What `?1` stands for.
        parameter: String,
        /// The file that holds the last rows.
        snapshot: String,
    },
}

/// A transcript and the files beside it that reading needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptLocation {
    /// The transcript.
    pub source: Source,
    /// Absolute paths; missing ones are left out.
    pub companions: Vec<String>,
}

/// A file beside the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companion {
    /// Absolute.
    pub path: String,
    /// Its bytes.
    pub data: Vec<u8>,
}
