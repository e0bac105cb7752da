//! What Kiro's hooks mean. The command line to 2.x spells them in camel case, version 3 and the IDE with a capital.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::{Context, Event, EventKind, Object, env};

use crate::sessions;

const PROMPT: &[Fill] = &[Fill::Prompt(&["prompt"])];
const ANSWER: &[Fill] = &[Fill::LastMessage(&["assistant_response"])];
// Without a terminal the prompt comes with the start already; the hook for it follows.
const BEGUN: &[Fill] = &[Fill::Metadata("prompt", &["prompt"])];

const MAPPING: Mapping = Mapping {
    session_ref: &[],
    timestamp: &[],
    // Claude Code shares the names with a capital.
    strangers: &[
        &[When::Has("transcript_path")],
        &[When::Has("cursor_version")],
        &[When::Has("permission_mode")],
        &[When::Not(&When::Has("cwd"))],
        &[When::Not(&When::Has("hook_event_name"))],
    ],
    rules: &[
        Rule::new("agentSpawn", EventKind::SessionStart, BEGUN),
        Rule::new("SessionStart", EventKind::SessionStart, BEGUN),
        Rule::new("userPromptSubmit", EventKind::TurnStart, PROMPT),
        Rule::new("UserPromptSubmit", EventKind::TurnStart, PROMPT),
        Rule::new("promptSubmit", EventKind::TurnStart, PROMPT),
        Rule::new("stop", EventKind::TurnEnd, ANSWER),
        Rule::new("Stop", EventKind::TurnEnd, ANSWER),
        Rule::new("agentStop", EventKind::TurnEnd, ANSWER),
    ],
    ..Mapping::CLAUDE_LIKE
};

pub(crate) fn events(hook: &str, payload: &Object<'_>, context: &Context) -> Vec<Event> {
    let mut events = MAPPING.events(hook, payload, context);
    for event in &mut events {
        event.session_ref = sessions::rows_file(&event.session_id, context);
        // At most 4,096 characters, so only when the payload has none.
        if event.kind == EventKind::TurnStart && event.prompt.is_none() {
            event.prompt = env(context, "USER_PROMPT").map(str::to_owned);
        }
    }
    events
}

#[cfg(test)]
mod tests {
    #[test]
    fn payloads_give_the_expected_events() {
        hookhost_sdk::testing::check_payload_fixtures::<crate::Kiro>();
    }
}
