//! What pi's events mean, as our extension and Entire's two send them.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::{Context, Event, EventKind, Hook, Payload, paths};

use crate::sessions::{Owner, id_in};

pub(crate) const HOOKS: &[Hook] = &[
    Hook::registered("session_start", "session-start").gives(&[EventKind::SessionStart]),
    Hook::registered("before_agent_start", "before-agent-start")
        .gives(&[EventKind::TurnStart, EventKind::SubagentStart]),
    Hook::registered("agent_end", "agent-end").gives(&[EventKind::TurnEnd, EventKind::SubagentEnd]),
    Hook::registered("agent_settled", "agent-settled").gives(&[EventKind::TurnEnd, EventKind::SubagentEnd]),
    Hook::registered("session_compact", "session-compact").gives(&[EventKind::Compaction]),
    Hook::registered("session_shutdown", "session-shutdown").gives(&[EventKind::SessionEnd]),
    Hook::known("tool_call", "tool-call"),
    Hook::known("tool_result", "tool-result"),
];

/// Whose session it is stands in the file's path rather than in a field; that part is not a table's.
const MAPPING: Mapping = Mapping {
    session_ref: &["session_file"],
    strangers: &[&[When::Has("hook_event_name")]],
    rules: &[
        Rule::nothing("session_start").when(&[When::Is("reason", &["reload"])]),
        Rule::new(
            "session_start",
            EventKind::SessionStart,
            &[Fill::Model(&["model"]), Fill::Metadata("reason", &["reason"])],
        ),
        Rule::new(
            "before_agent_start",
            EventKind::TurnStart,
            &[Fill::Model(&["model"]), Fill::Says("run", "custom")],
        )
        .when(&[When::Is("message_type", &["custom"])]),
        Rule::new(
            "before_agent_start",
            EventKind::TurnStart,
            &[Fill::Prompt(&["prompt"]), Fill::Model(&["model"])],
        ),
        Rule::new("agent_end", EventKind::TurnEnd, END),
        Rule::new("agent_settled", EventKind::TurnEnd, END),
        Rule::new(
            "session_compact",
            EventKind::Compaction,
            &[
                Fill::Metadata("reason", &["reason"]),
                Fill::Metadata("tokens_before", &["tokens_before"]),
            ],
        ),
        Rule::new(
            "session_shutdown",
            EventKind::SessionEnd,
            &[Fill::Metadata("reason", &["reason"])],
        )
        .when(&[
            When::Is("reason", &["quit"]),
            When::Has("session_id"),
            When::Not(&When::Is("session_id", &[""])),
        ]),
    ],
    ..Mapping::CLAUDE_LIKE
};

const END: &[Fill] = &[
    Fill::Model(&["model"]),
    Fill::LastMessage(&["last_assistant_message"]),
    Fill::Metadata("aborted", &["aborted"]),
];

/// The event of a payload, if it means one.
pub(crate) fn event(hook: &str, payload: &Payload<'_>, context: &Context) -> Option<Event> {
    if MAPPING.is_strange(payload) || payload.text("type").as_deref() != Some(hook) {
        return None;
    }
    let file = payload.text("session_file");
    match Owner::of(file.as_deref(), payload.id(&["session_id"]))? {
        Owner::Session(id) => {
            let mut event = MAPPING.event_of(id, hook, payload, context)?;
            if event.kind == EventKind::SessionStart {
                let previous = payload.text("previous_session_file");
                event.previous_session_id = previous.and_then(|file| id_in(paths::file_stem(&file)));
            }
            Some(event)
        }
        Owner::Subagent {
            session,
            session_file,
            subagent,
        } => {
            let event = MAPPING.event_of(session, hook, payload, context)?;
            of_subagent(event, &session_file, subagent, context)
        }
    }
}

/// A run of a subagent is a process of pi's own with a session of its own. Its turn is what the main session sees.
fn of_subagent(mut event: Event, session_file: &str, subagent: String, context: &Context) -> Option<Event> {
    event.kind = match event.kind {
        EventKind::TurnStart => EventKind::SubagentStart,
        EventKind::TurnEnd => EventKind::SubagentEnd,
        _ => return None,
    };
    let main = paths::session_ref(Some(session_file), None, context);
    let transcript = std::mem::replace(&mut event.session_ref, main);
    event.subagent_id = Some(subagent);
    // Nobody typed it.
    event.prompt = None;
    Some(event.with("agent_transcript_path", transcript))
}

#[cfg(test)]
mod tests {
    use crate::Pi;

    #[test]
    fn every_payload_means_what_its_fixture_says() {
        hookhost_sdk::testing::check_payload_fixtures::<Pi>();
    }
}
