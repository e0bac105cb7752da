//! Who an agent is.

use super::EventKind;

/// Where a relative path begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The repository's work tree.
    Repo,
    /// The user's home directory.
    Home,
    /// A program on PATH.
    Program,
    /// An absolute path.
    Root,
    /// The directory that this environment variable names; while it is not set, there is no such place.
    Env(String),
}

/// A place that an adapter names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// What the path is relative to.
    pub base: Base,
    /// `/`-separated.
    pub path: String,
}

/// What an adapter claims beyond the required commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one flag a capability of the protocol")]
pub struct Capabilities {
    /// `parse-hook`, `install-hooks`, `uninstall-hooks`, `are-hooks-installed`
    pub hooks: bool,
    /// `get-transcript-position`, `extract-modified-files`, `extract-prompts`, `extract-summary`
    pub transcript_analyzer: bool,
    /// `prepare-transcript`
    pub transcript_preparer: bool,
    /// `calculate-tokens`
    pub token_calculator: bool,
    /// `compact-transcript`
    pub compact_transcript: bool,
    /// `generate-text`
    pub text_generator: bool,
    /// `write-hook-response`
    pub hook_response_writer: bool,
    /// `extract-all-modified-files`, `calculate-total-tokens`
    pub subagent_aware_extractor: bool,
    /// The agent takes over the terminal.
    pub uses_terminal: bool,
    /// `generate-text` gives its text piece by piece.
    pub streaming_text_generator: bool,
}

/// A hook in its two spellings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookName {
    /// The agent's own.
    pub native: String,
    /// Kebab-case.
    pub alias: String,
    /// The registration plan asks for it.
    pub registered: bool,
    /// The kinds of events that its payloads can give.
    pub events: Vec<EventKind>,
}

/// The constant facts about an agent; the contract's `description` says what each means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The adapter's name.
    pub name: String,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// For people.
    pub display_name: String,
    /// One sentence.
    pub description: String,
    /// Not yet proven in practice.
    pub is_preview: bool,
    /// Directories of the agent's in a repository.
    pub protected_dirs: Vec<String>,
    /// Files of the agent's in a repository.
    pub protected_files: Vec<String>,
    /// All hooks that the adapter knows.
    pub hook_names: Vec<HookName>,
    /// Environment variables wanted in the context.
    pub env: Vec<String>,
    /// Files wanted in the context.
    pub wanted_files: Vec<Place>,
    /// Signs that the agent is set up.
    pub presence: Vec<Place>,
    /// What it claims.
    pub capabilities: Capabilities,
    /// Variables that the agent sets for commands that it runs.
    pub caller_env_vars: Vec<String>,
    /// Command line of the non-interactive mode.
    pub text_command: Vec<String>,
}
