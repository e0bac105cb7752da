//! What a hook's payload means.
//!
//! A session's start and end are never told, and no payload says which project it is about.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::{Context, Event, EventKind, Payload};

use crate::sessions;

const MAPPING: Mapping = Mapping {
    session_id: &["trajectory_id"],
    session_ref: &["tool_info.transcript_path"],
    no_models: &["Unknown"],
    strangers: &[
        &[When::Not(&When::Has("agent_action_name"))],
        &[When::Not(&When::Has("trajectory_id"))],
    ],
    rules: &[
        Rule::new(
            "pre_user_prompt",
            EventKind::TurnStart,
            &[
                Fill::Model(&["model_name"]),
                Fill::Prompt(&["tool_info.user_prompt"]),
                Fill::Metadata("execution_id", &["execution_id"]),
            ],
        ),
        Rule::new(
            "post_cascade_response_with_transcript",
            EventKind::TurnEnd,
            &[
                Fill::Model(&["model_name"]),
                Fill::Metadata("execution_id", &["execution_id"]),
            ],
        ),
        Rule::new(
            "post_cascade_response",
            EventKind::TurnEnd,
            &[
                Fill::Model(&["model_name"]),
                Fill::Metadata("execution_id", &["execution_id"]),
                Fill::LastMessage(&["tool_info.response"]),
            ],
        ),
    ],
    ..Mapping::CLAUDE_LIKE
};

/// The events of a hook.
pub(crate) fn events(hook: &str, payload: &Payload<'_>, context: &Context) -> Vec<Event> {
    let mut events = MAPPING.events(hook, payload, context);
    for event in &mut events {
        // There is but one place for it, so it need not exist yet.
        if event.session_ref.is_none() && hook != "post_cascade_response" {
            event.session_ref = sessions::file(&event.session_id, context);
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::{Fault, testing};

    use crate::Windsurf;

    #[test]
    fn payloads_mean_what_their_fixtures_say() {
        testing::check_payload_fixtures::<Windsurf>();
    }

    #[test]
    fn a_payload_that_is_no_object_is_said_to_be_none() {
        for (payload, reason) in [("[1]", "not a JSON object"), ("{\"a\":\"\n", "not JSON")] {
            match testing::parse::<Windsurf>("pre_user_prompt", payload) {
                Err(Fault::Malformed(text)) => assert!(text.contains(reason), "{text}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
