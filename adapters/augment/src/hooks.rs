//! What Auggie's hooks mean.

use hookhost_sdk::json::quoted;
use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::paths::{is_plain_id, join};
use hookhost_sdk::{Context, Event, EventKind, Object};

const MAPPING: Mapping = Mapping {
    session_id: &["conversation_id"],
    session_env: "AUGMENT_CONVERSATION_ID",
    session_ref: &[],
    cwd: &[],
    // Auggie loads some of Claude Code's folders and Cursor runs hooks of others: their payloads name a session or a
    // version of Cursor.
    strangers: &[
        &[When::Has("cursor_version")],
        &[When::Has("session_id")],
        &[When::Has("transcript_path")],
    ],
    rules: &[
        Rule::new("SessionStart", EventKind::SessionStart, &[]),
        Rule::new("PromptSubmit", EventKind::TurnStart, &[Fill::Prompt(&["user_prompt"])]),
        Rule::new(
            "Stop",
            EventKind::TurnEnd,
            &[
                // Before 0.27 there was no PromptSubmit: whoever saw no turn begin has the prompt here.
                Fill::Prompt(&["conversation.userPrompt"]),
                Fill::LastMessage(&["conversation.agentTextResponse"]),
                Fill::Metadata("agent_stop_cause", &["agent_stop_cause"]),
            ],
        ),
        Rule::new("SessionEnd", EventKind::SessionEnd, &[]),
    ],
    ..Mapping::CLAUDE_LIKE
};

pub(crate) fn events(hook: &str, payload: &Object<'_>, context: &Context) -> Vec<Event> {
    let mut events = MAPPING.events(hook, payload, context);
    for event in &mut events {
        event.session_ref = session_file(&event.session_id, context);
    }
    events
}

/// The session's file, named by its id. An id with a path in it names none.
fn session_file(id: &str, context: &Context) -> Option<String> {
    let home = context.home.as_deref().filter(|_| is_plain_id(id))?;
    Some(join(home, &format!(".augment/sessions/{id}.json")))
}

/// `systemMessage` is shown to the user.
pub(crate) fn system_message(message: &str) -> Vec<u8> {
    format!("{{\"systemMessage\":{}}}", quoted(message)).into_bytes()
}

#[cfg(test)]
mod tests {
    #[test]
    fn payloads_give_the_expected_events() {
        hookhost_sdk::testing::check_payload_fixtures::<crate::Augment>();
    }

    #[test]
    fn a_message_is_a_system_message() {
        assert_eq!(super::system_message("a \"b\""), br#"{"systemMessage":"a \"b\""}"#);
    }
}
