//! Lifecycle events.

/// The seven kinds; the numbers are the external-agent protocol's `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The agent's session has begun.
    SessionStart = 1,
    /// The user submitted a prompt.
    TurnStart = 2,
    /// The agent finished responding.
    TurnEnd = 3,
    /// The context window is being compressed.
    Compaction = 4,
    /// The session is over.
    SessionEnd = 5,
    /// A subagent was started.
    SubagentStart = 6,
    /// A subagent finished.
    SubagentEnd = 7,
}

impl EventKind {
    /// All kinds in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::SessionStart,
        Self::TurnStart,
        Self::TurnEnd,
        Self::Compaction,
        Self::SessionEnd,
        Self::SubagentStart,
        Self::SubagentEnd,
    ];

    /// The protocol's number, 1 to 7.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The kind with this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| u64::from(kind.number()) == number)
    }

    /// The name as the protocol writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::TurnStart => "TurnStart",
            Self::TurnEnd => "TurnEnd",
            Self::Compaction => "Compaction",
            Self::SessionEnd => "SessionEnd",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentEnd => "SubagentEnd",
        }
    }
}

/// One normalized lifecycle event; the contract's `event` says what each field means. Absent is `None`, never an empty
/// string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The agent's id of the session, never empty.
    pub session_id: String,
    /// The session that this one goes on from.
    pub previous_session_id: Option<String>,
    /// The transcript.
    pub session_ref: Option<String>,
    /// What a person typed.
    pub prompt: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// RFC 3339.
    pub timestamp: Option<String>,
    /// The tool call that started the subagent.
    pub tool_use_id: Option<String>,
    /// The subagent's own id.
    pub subagent_id: Option<String>,
    /// JSON text as it came.
    pub tool_input: Option<String>,
    /// The kind of subagent.
    pub subagent_type: Option<String>,
    /// What the subagent is to do.
    pub task_description: Option<String>,
    /// A notice for the user.
    pub response_message: Option<String>,
    /// Further facts.
    pub metadata: Vec<(String, String)>,
}
