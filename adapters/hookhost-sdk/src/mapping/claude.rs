//! Rows of Claude Code's hooks that other agents took over as they are, each with the fields of its payload.

use super::{Fill, Rule, When};
use crate::EventKind;

/// What payloads from inside a subagent have. A main agent that runs as `--agent x` has an `agent_type` only.
pub const INSIDE: &[When] = &[When::Has("agent_id"), When::Not(&When::Is("agent_id", &[""]))];

/// A session that goes on after a compaction; `PreCompact` has told.
pub const START_AFTER_COMPACTION: Rule = Rule::nothing("SessionStart")
    .when(&[When::Is("source", &["compact"])])
    .anywhere();

/// A session begins or is resumed.
pub const SESSION_START: Rule = Rule::new(
    "SessionStart",
    EventKind::SessionStart,
    &[Fill::Model(&["model"]), Fill::Metadata("source", &["source"])],
);

/// The agent's last words, where a hook has them.
pub const LAST_MESSAGE: Fill = Fill::LastMessage(&["last_assistant_message"]);

/// A turn that ended in an error; its last message is the error's text.
pub const STOP_FAILURE: Rule = Rule::new(
    "StopFailure",
    EventKind::TurnEnd,
    &[Fill::Metadata("error", &["error"])],
);

/// The context is about to be compressed.
pub const PRE_COMPACT: Rule = Rule::new(
    "PreCompact",
    EventKind::Compaction,
    &[Fill::Metadata("trigger", &["trigger"])],
);

/// The session is over.
pub const SESSION_END: Rule = Rule::new(
    "SessionEnd",
    EventKind::SessionEnd,
    &[Fill::Metadata("reason", &["reason"])],
);

/// A subagent begins. The hook tells no id of the call that started it; the subagent's own stands in for it, so that
/// callers that pair start and end by `tool_use_id` find the pair.
pub const SUBAGENT_START: Rule = Rule::new(
    "SubagentStart",
    EventKind::SubagentStart,
    &[
        Fill::SubagentId(&["agent_id"]),
        Fill::ToolUseId(&["tool_use_id", "agent_id"]),
        Fill::SubagentType(&["agent_type"]),
    ],
)
.inside();

/// A subagent has ended. Without an id nobody can tell which one.
pub const SUBAGENT_STOP: Rule = Rule::new(
    "SubagentStop",
    EventKind::SubagentEnd,
    &[
        Fill::SubagentId(&["agent_id"]),
        Fill::ToolUseId(&["tool_use_id", "agent_id"]),
        Fill::SubagentType(&["agent_type"]),
        LAST_MESSAGE,
        Fill::Metadata("agent_transcript_path", &["agent_transcript_path"]),
    ],
)
.inside();
