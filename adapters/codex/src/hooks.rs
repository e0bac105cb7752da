//! From a hook's payload to events.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When, claude};
use hookhost_sdk::{Context, Event, EventKind, Fault, Json, Payload, json, paths};

use crate::prompts;

const TURN: Fill = Fill::Metadata("turn_id", &["turn_id"]);
const MODEL: Fill = Fill::Model(&["model"]);

const HOOKS: Mapping = Mapping {
    strangers: &[&[When::Has("timestamp")], &[When::CamelCase("hook_event_name")]],
    inside: claude::INSIDE,
    rules: &[
        claude::START_AFTER_COMPACTION,
        claude::SESSION_START,
        Rule::new(
            "UserPromptSubmit",
            EventKind::TurnStart,
            &[Fill::Prompt(&["prompt"]), MODEL, TURN],
        ),
        Rule::new("Stop", EventKind::TurnEnd, &[claude::LAST_MESSAGE, MODEL, TURN]),
        // The last message is then a text about the error, or one that an earlier turn ended with.
        Rule::new(
            "StopFailure",
            EventKind::TurnEnd,
            &[MODEL, TURN, Fill::Metadata("error", &["error"])],
        ),
        Rule::new(
            "Interrupt",
            EventKind::TurnEnd,
            &[MODEL, TURN, Fill::Says("interrupted", "true")],
        ),
        claude::PRE_COMPACT,
        claude::SESSION_END,
        // Codex tells no id of the call that started the subagent. The subagent's own id stands in for it, so that
        // callers that pair start and end by `tool_use_id` find the pair.
        claude::SUBAGENT_START,
        claude::SUBAGENT_STOP,
    ],
    ..Mapping::CLAUDE_LIKE
};

/// The only event that `notify` tells.
const TURN_COMPLETE: &str = "agent-turn-complete";

/// The payload of the program that `notify` names: other names, no transcript. The host passes the program's last
/// argument as the payload.
const NOTIFY: Mapping = Mapping {
    session_id: &["thread-id"],
    session_ref: &[],
    cwd: &["cwd"],
    timestamp: &[],
    rules: &[Rule::new(
        "notify",
        EventKind::TurnEnd,
        &[
            Fill::LastMessage(&["last-assistant-message"]),
            Fill::Metadata("turn_id", &["turn-id"]),
        ],
    )
    .when(&[When::Is("type", &[TURN_COMPLETE])])],
    ..Mapping::CLAUDE_LIKE
};

pub(crate) fn events(hook: &str, payload: &Payload<'_>, context: &Context) -> Vec<Event> {
    // A caller may name the event instead of the program.
    if hook == "notify" || payload.text("type").as_deref() == Some(TURN_COMPLETE) {
        let mut events = NOTIFY.events("notify", payload, context);
        for event in &mut events {
            let messages = payload.at("input-messages").map(Json::items).unwrap_or_default();
            let prompt = messages.last().and_then(|message| message.text());
            *event = event.clone().with("prompt", prompt.as_deref().map(prompts::typed));
        }
        return events;
    }
    if is_of_another_agent(payload) {
        return vec![];
    }
    let mut events = HOOKS.events(hook, payload, context);
    for event in &mut events {
        event.prompt = event.prompt.take().map(|prompt| prompts::typed(&prompt).to_owned());
        event.session_ref = event.session_ref.take().map(|path| paths::plain(&path).into_owned());
        for (key, value) in &mut event.metadata {
            if key == "agent_transcript_path" {
                *value = paths::plain(value).into_owned();
            }
        }
    }
    events
}

/// Every transcript of Codex's is called `rollout-…`, wherever it lies, and `transcript_path` is in every payload, if
/// only as null.
fn is_of_another_agent(payload: &Payload<'_>) -> bool {
    const MARKS: &[&str] = &["transcript_path", "turn_id", "model", "permission_mode"];
    !MARKS.iter().any(|mark| payload.has(mark))
        || payload
            .text("transcript_path")
            .is_some_and(|path| !paths::file_name(&path).starts_with("rollout-"))
}

/// Codex reads JSON only where a hook can still speak to the user, and takes a key that it does not know as a failure
/// of the hook. `notify` is started without anybody reading.
pub(crate) fn reply(hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
    match message {
        None => Ok(vec![]),
        Some(_) if matches!(hook, "SessionEnd" | "notify") => Err(Fault::Unsupported),
        Some(message) => Ok(format!("{{\"systemMessage\":{}}}\n", json::quoted(message)).into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::Object;

    use super::*;

    #[test]
    fn a_turns_end_is_known_by_its_payload_whatever_the_caller_calls_it() {
        let payload = Object::parse(r#"{"type":"agent-turn-complete","thread-id":"t"}"#).unwrap();
        for hook in ["notify", "agent-turn-complete", "Stop"] {
            let events = events(hook, &payload, &hookhost_sdk::testing::context());
            assert_eq!(events.len(), 1, "{hook}");
            assert_eq!(
                (events[0].kind, events[0].session_id.as_str()),
                (EventKind::TurnEnd, "t")
            );
        }
    }

    #[test]
    fn a_message_is_the_only_key_of_a_reply() {
        assert_eq!(reply("Stop", None), Ok(vec![]));
        assert_eq!(
            reply("Stop", Some("a \"b\"")).unwrap(),
            b"{\"systemMessage\":\"a \\\"b\\\"\"}\n"
        );
        assert!(matches!(reply("SessionEnd", Some("x")), Err(Fault::Unsupported)));
        assert_eq!(reply("SessionEnd", None), Ok(vec![]));
    }
}
