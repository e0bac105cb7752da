//! Everything an author needs to write a hookhost adapter.
//!
//! An adapter is two projections and a few plain facts: a hook's payload becomes [`Event`]s, a transcript becomes
//! [`Entry`]s, and a [`Manifest`] says who the agent is. Implement [`Adapter`] (everything but the manifest and
//! [`Adapter::parse`] has a default) and hand the type to [`export_adapter!`]:
//!
//! ```
//! use hookhost_sdk::{Adapter, Context, Event, EventKind, Fault, Hook, Manifest, Payload};
//!
//! #[derive(Default)]
//! struct Example;
//!
//! impl Adapter for Example {
//!     const MANIFEST: Manifest = Manifest {
//!         name: "example",
//!         display_name: "Example",
//!         description: "An agent that does not exist",
//!         hooks: &[Hook::registered("Stop", "stop")],
//!         ..Manifest::EMPTY
//!     };
//!
//!     fn parse(&mut self, hook: &str, payload: &Payload<'_>, _: &Context) -> Result<Vec<Event>, Fault> {
//!         let Some(session) = payload.id(&["session_id"]) else { return Ok(vec![]) };
//!         Ok(match hook {
//!             "Stop" => vec![Event::new(EventKind::TurnEnd, session)],
//!             _ => vec![],
//!         })
//!     }
//! }
//! hookhost_sdk::export_adapter!(Example);
//! # fn main() {}
//! ```
//!
//! An adapter is pure: bytes in, facts out. It has no files, no clock, no environment and no network; what it needs to
//! know of its surroundings stands in the [`Context`].

mod adapter;
#[doc(hidden)]
pub mod bindings;
pub mod content;
mod event;
mod export;
pub mod json;
pub mod lines;
pub mod mapping;
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
pub mod native;
pub mod patch;
pub mod paths;
pub mod plugin;
pub mod prompt;
pub mod registration;
pub mod shell;
pub mod stream;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
pub mod time;
pub mod tools;

pub use adapter::{Adapter, Hook, Manifest, Sign, session_id_of};
pub use event::{LAST_MESSAGE, env, shortened};
#[doc(hidden)]
pub use export::{component, declaration, declaration_len};
pub use json::{Json, Object};

/// A hook's payload: one JSON object.
pub type Payload<'a> = Object<'a>;

pub use bindings::exports::hookhost::adapter::identity::{Capabilities, Description, HookName};
pub use bindings::exports::hookhost::adapter::registration::{
    ConfigEdit, ConfigFormat, Edit, InsertMode, Insertion, Invocation, OwnFile, RegistrationPlan, Scope,
};
pub use bindings::exports::hookhost::adapter::sessions::{
    Pattern, ProgramSource, Source, SqliteSource, TranscriptLocation,
};
pub use bindings::exports::hookhost::adapter::transcripts::{Companion, Start, Wanted};
pub use bindings::hookhost::adapter::types::{
    AssistantText, Base, CompactionMark, Context, ContextFile, Entry, Event, EventKind, Fault, FileEffect, FileOp,
    FileState, Item, Place, Platform, Rewind, SessionFacts, ShellCommand, SubagentCall, ToolCall, ToolResult, Usage,
    UsageScope, UserPrompt,
};
