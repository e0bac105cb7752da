//! The host's own types: plain values, free of contract versions, files and formats.
//!
//! They mirror the newest contract line; older lines are converted to them in `adapter/wasm`. The WIT files in `wit/`
//! say what each field means.

mod entry;
mod event;
mod identity;
mod plan;
mod session;

pub use entry::{
    AssistantText, CompactionMark, Entry, FileEffect, FileOp, Item, Rewind, SessionFacts, ShellCommand, SubagentCall,
    ToolCall, ToolResult, Usage, UsageScope, UserPrompt, Wanted,
};
pub use event::{Event, EventKind};
pub use identity::{Base, Capabilities, Description, HookName, Place};
pub use plan::{ConfigEdit, ConfigFormat, Edit, InsertMode, Insertion, Invocation, OwnFile, Plan, Scope};
pub use session::{Companion, Context, ContextFile, FileState, Pattern, Platform, Source, TranscriptLocation};
