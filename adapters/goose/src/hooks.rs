//! What goose's hooks mean.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::{Context, Event, EventKind, Object};

/// `.agents/plugins` is shared: another program may load the same folder and send payloads of its own. goose's name the
/// event in `event`.
const MAPPING: Mapping = Mapping {
    session_ref: &[],
    cwd: &["working_dir"],
    strangers: &[&[When::Has("hook_event_name")], &[When::Not(&When::Has("event"))]],
    rules: &[
        Rule::new("SessionStart", EventKind::SessionStart, &[]),
        Rule::new("UserPromptSubmit", EventKind::TurnStart, &[Fill::Prompt(&["message"])]),
        Rule::new(
            "Stop",
            EventKind::TurnEnd,
            &[Fill::LastMessage(&["last_assistant_message"])],
        ),
        Rule::new("SessionEnd", EventKind::SessionEnd, &[]),
    ],
    ..Mapping::CLAUDE_LIKE
};

pub(crate) fn events(hook: &str, payload: &Object<'_>, context: &Context) -> Vec<Event> {
    let mut events = MAPPING.events(hook, payload, context);
    for event in &mut events {
        event.session_ref = crate::sessions::export_file(&event.session_id, context);
    }
    events
}

#[cfg(test)]
mod tests {
    #[test]
    fn payloads_give_the_expected_events() {
        hookhost_sdk::testing::check_payload_fixtures::<crate::Goose>();
    }
}
