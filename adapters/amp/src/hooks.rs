//! What Amp's plugin events mean, as our plugin and Entire's send them.

use hookhost_sdk::content::joined_text;
use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::{Context, Event, EventKind, Hook, Json, LAST_MESSAGE, Payload};

use crate::sessions;

pub(crate) const HOOKS: &[Hook] = &[
    Hook::registered("session.start", "session-start").gives(&[EventKind::SessionStart]),
    Hook::registered("agent.start", "agent-start").gives(&[EventKind::TurnStart]),
    Hook::registered("agent.end", "agent-end").gives(&[EventKind::TurnEnd]),
    // A plugin that listens to `tool.call` decides about it: ours does not.
    Hook::known("tool.call", "tool-call").gives(&[EventKind::SubagentStart]),
    Hook::known("tool.result", "tool-result").gives(&[EventKind::SubagentEnd]),
];

const IS_TASK: &[When] = &[When::Is("tool", &["Task", "task"])];

const MAPPING: Mapping = Mapping {
    session_id: &["thread_id"],
    session_ref: &[],
    rules: &[
        Rule::new("session.start", EventKind::SessionStart, &[]),
        Rule::new(
            "agent.start",
            EventKind::TurnStart,
            &[
                Fill::Prompt(&["message"]),
                Fill::Metadata("message_id", &["message_id"]),
            ],
        ),
        Rule::new(
            "agent.end",
            EventKind::TurnEnd,
            &[
                Fill::LastMessage(&["last_assistant_message"]),
                Fill::Metadata("status", &["status"]),
                Fill::Metadata("message_id", &["message_id"]),
            ],
        ),
        Rule::new(
            "tool.call",
            EventKind::SubagentStart,
            &[
                Fill::ToolUseId(&["tool_use_id"]),
                Fill::TaskDescription(&["tool_input.description"]),
                Fill::ToolInput(&["tool_input"]),
            ],
        )
        .when(IS_TASK),
        Rule::new(
            "tool.result",
            EventKind::SubagentEnd,
            &[
                Fill::ToolUseId(&["tool_use_id"]),
                Fill::TaskDescription(&["tool_input.description"]),
                Fill::Metadata("status", &["status"]),
            ],
        )
        .when(IS_TASK),
    ],
    ..Mapping::CLAUDE_LIKE
};

/// The event of a payload, if it means one.
pub(crate) fn event(hook: &str, payload: &Payload<'_>, context: &Context) -> Option<Event> {
    if payload.text("type").as_deref() != Some(hook) {
        return None;
    }
    let mut event = MAPPING.event(hook, payload, context)?;
    event.session_ref = sessions::session_ref(&event.session_id, context);
    let has_last_words = event.metadata.iter().any(|(key, _)| key == LAST_MESSAGE);
    if event.kind == EventKind::TurnEnd && !has_last_words {
        event = event.with_last_message(last_words(payload));
    }
    Some(event)
}

/// The last text of the agent in the messages of a turn, which Entire's plugin sends.
fn last_words(payload: &Payload<'_>) -> Option<String> {
    payload
        .items("messages")
        .into_iter()
        .rev()
        .filter_map(Json::object)
        .filter(|message| message.text("role").as_deref() == Some("assistant"))
        .map(|message| joined_text(message.get("content")))
        .find(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::Amp;

    #[test]
    fn every_payload_means_what_its_fixture_says() {
        hookhost_sdk::testing::check_payload_fixtures::<Amp>();
    }
}
