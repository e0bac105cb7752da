//! Facts of a transcript.

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOp {
    /// It did not exist before.
    Create,
    /// It existed before.
    Modify,
    /// It is gone.
    Delete,
    /// Created or overwritten.
    Write,
    /// Read, so it exists; no change.
    Read,
}

/// A file and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEffect {
    /// As the agent wrote it.
    pub path: String,
    /// What happens.
    pub op: FileOp,
}

/// Facts about the session as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// The session's id.
    pub session_id: Option<String>,
    /// The session that this one was started from or by.
    pub parent_session_id: Option<String>,
    /// What relative paths are relative to.
    pub cwd: Option<String>,
    /// RFC 3339.
    pub started_at: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The session's title.
    pub title: Option<String>,
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserPrompt {
    /// What a person typed.
    pub text: String,
    /// Pictures that came with it.
    pub images: u32,
}

/// Words of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssistantText {
    /// The words.
    pub text: String,
    /// The model that said them.
    pub model: Option<String>,
    /// Records with the same id are one message.
    pub message_id: Option<String>,
    /// Replaces the earlier record of the message instead of going on from it.
    pub replaces: bool,
}

/// A subagent that a tool call starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentCall {
    /// Its kind.
    pub subagent_type: Option<String>,
    /// Its task in short.
    pub description: Option<String>,
    /// Its task.
    pub prompt: Option<String>,
}

/// A command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// As the agent wrote it.
    pub command: String,
    /// Where it runs, when that is not the session's working directory.
    pub cwd: Option<String>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Links the call to its result; empty when the format has no ids.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON text.
    pub input: String,
    /// Effects if it succeeds.
    pub files: Vec<FileEffect>,
    /// The command line that it runs.
    pub shell: Option<ShellCommand>,
    /// The subagent that it starts.
    pub subagent: Option<SubagentCall>,
}

/// A tool call's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// Id of the call.
    pub id: String,
    /// Text shown to the model.
    pub output: String,
    /// The call's effects do not count.
    pub is_error: bool,
    /// When not empty, replaces the effects that the call announced.
    pub files: Vec<FileEffect>,
    /// The subagent that the call started.
    pub subagent_id: Option<String>,
}

/// How a row of token numbers is counted; the contract's `usage-scope` has the rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UsageScope {
    /// One model call.
    Call(String),
    /// A running total.
    RunningTotal(String),
}

/// Token numbers in classes that do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// How it is counted.
    pub scope: UsageScope,
    /// The model.
    pub model: Option<String>,
    /// Neither read from nor written to a cache.
    pub input: u64,
    /// Written to a cache.
    pub cache_creation: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// With reasoning.
    pub output: u64,
    /// Model calls that this row stands for.
    pub calls: u32,
}

/// The context was compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionMark {
    /// `manual`, `auto` or the agent's own word.
    pub trigger: Option<String>,
    /// What it was compressed to.
    pub summary: Option<String>,
}

/// The user took back a part of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewind {
    /// From this record on.
    pub record_id: String,
    /// The named record as well.
    pub inclusive: bool,
    /// The agent put the files back.
    pub restores_files: bool,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the contract's `item` documents the cases")]
pub enum Item {
    Session(SessionFacts),
    UserPrompt(UserPrompt),
    AssistantText(AssistantText),
    Thinking(String),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    FileChange(FileEffect),
    Usage(Usage),
    Compaction(CompactionMark),
    Rewind(Rewind),
    TurnEnd,
    Unreadable(String),
    Note,
}

/// One fact of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where the record begins: bytes for lines, the message's index for one JSON document.
    pub offset: u64,
    /// RFC 3339.
    pub time: Option<String>,
    /// The record's own id.
    pub record_id: Option<String>,
    /// For transcripts that are trees: the record that this one follows.
    pub parent_id: Option<String>,
    /// Set for records of a subagent in the same transcript.
    pub subagent: Option<String>,
    /// Copied from another session.
    pub inherited: bool,
    /// What it says.
    pub item: Item,
}

/// What the caller of a reading needs; other entries may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one flag a kind of entry")]
pub struct Wanted {
    /// User prompts.
    pub prompts: bool,
    /// Assistant texts.
    pub texts: bool,
    /// Thinking.
    pub thinking: bool,
    /// Tool calls, results and file changes.
    pub files: bool,
    /// Inputs and outputs of tool calls.
    pub tool_bodies: bool,
    /// Usage.
    pub tokens: bool,
}

impl Wanted {
    /// All that there is.
    pub const EVERYTHING: Self = Self {
        prompts: true,
        texts: true,
        thinking: true,
        files: true,
        tool_bodies: true,
        tokens: true,
    };
}
