//! What a hook's payload means.

use hookhost_sdk::json::quoted;
use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::{Context, Event, EventKind, Payload, env, paths};

const MAPPING: Mapping = Mapping {
    session_id: &["conversation_id", "session_id"],
    no_models: &["default"],
    // Cursor's own payloads carry its version. Builds from before that field have the id of the generation.
    strangers: &[
        &[
            When::Not(&When::Has("cursor_version")),
            When::Not(&When::Has("conversation_id")),
        ],
        &[
            When::Not(&When::Has("cursor_version")),
            When::Not(&When::Has("generation_id")),
        ],
    ],
    rules: &[
        Rule::new(
            "sessionStart",
            EventKind::SessionStart,
            &[
                Fill::Model(&["model"]),
                Fill::Metadata("is_background_agent", &["is_background_agent"]),
                Fill::Metadata("composer_mode", &["composer_mode"]),
            ],
        ),
        Rule::new(
            "beforeSubmitPrompt",
            EventKind::TurnStart,
            &[
                Fill::Model(&["model"]),
                Fill::Prompt(&["prompt"]),
                Fill::Metadata("generation_id", &["generation_id"]),
            ],
        ),
        Rule::new(
            "stop",
            EventKind::TurnEnd,
            &[
                Fill::Model(&["model"]),
                Fill::Metadata("status", &["status"]),
                Fill::Metadata("loop_count", &["loop_count"]),
            ],
        ),
        Rule::new(
            "sessionEnd",
            EventKind::SessionEnd,
            &[
                Fill::Model(&["model"]),
                Fill::Metadata("reason", &["reason"]),
                Fill::Metadata("duration_ms", &["duration_ms"]),
            ],
        ),
        Rule::new(
            "preCompact",
            EventKind::Compaction,
            &[
                Fill::Model(&["model"]),
                Fill::Metadata("trigger", &["trigger"]),
                Fill::Metadata("context_tokens", &["context_tokens"]),
            ],
        ),
        Rule::new("subagentStart", EventKind::SubagentStart, SUBAGENT).when(HAS_TASK),
        Rule::new(
            "subagentStop",
            EventKind::SubagentEnd,
            &[
                Fill::Session(&["parent_conversation_id"]),
                Fill::Model(&["subagent_model"]),
                Fill::ToolUseId(&["tool_call_id"]),
                Fill::SubagentId(&["subagent_id"]),
                Fill::SubagentType(&["subagent_type"]),
                Fill::TaskDescription(&["task"]),
                Fill::Metadata("status", &["status"]),
                Fill::Metadata("agent_transcript_path", &["agent_transcript_path"]),
                Fill::LastMessage(&["summary"]),
            ],
        )
        .when(HAS_TASK),
    ],
    ..Mapping::CLAUDE_LIKE
};

/// A subagent has a conversation of its own, and its events may be told under that one. Its model is not the `model`
/// of the payload, which is the main agent's.
const SUBAGENT: &[Fill] = &[
    Fill::Session(&["parent_conversation_id"]),
    Fill::Model(&["subagent_model"]),
    Fill::ToolUseId(&["tool_call_id"]),
    Fill::SubagentId(&["subagent_id"]),
    Fill::SubagentType(&["subagent_type"]),
    Fill::TaskDescription(&["task"]),
];

/// A subagent without a task is the agent's own housekeeping.
const HAS_TASK: &[When] = &[When::Has("task"), When::Not(&When::Is("task", &[""]))];

/// The event of a hook, if it has one.
pub(crate) fn events(hook: &str, payload: &Payload<'_>, context: &Context) -> Vec<Event> {
    let mut events = MAPPING.events(hook, payload, context);
    for event in &mut events {
        if event.session_ref.is_none() {
            event.session_ref = paths::session_ref(env(context, "CURSOR_TRANSCRIPT_PATH"), None, context);
        }
        // Some models' ids are two, one a line; the first is the call's.
        if let Some(id) = event.tool_use_id.take() {
            event.tool_use_id = id.lines().next().map(str::to_owned);
        }
        match event.kind {
            EventKind::TurnEnd => event.metadata.extend(tokens(payload)),
            EventKind::SubagentEnd if event.subagent_id.is_none() => {
                // Not in the published list of fields; the transcript bears the same name.
                event.subagent_id = payload
                    .text("agent_transcript_path")
                    .map(|path| paths::file_stem(&path).to_owned());
            }
            _ => {}
        }
    }
    events
}

/// The numbers of a turn. Cursor's `input_tokens` includes what was read from and written to the cache; ours does not.
fn tokens(payload: &Payload<'_>) -> impl Iterator<Item = (String, String)> {
    let count = |key| payload.get(key).and_then(|value| value.count());
    let (cache_read, cache_write) = (count("cache_read_tokens"), count("cache_write_tokens"));
    let cached = cache_read
        .unwrap_or_default()
        .saturating_add(cache_write.unwrap_or_default());
    // Less input than cache: a build that counts the classes apart.
    let fresh = count("input_tokens").map(|input| input.checked_sub(cached).unwrap_or(input));
    [
        ("input_tokens", fresh),
        ("cache_read_tokens", cache_read),
        ("cache_creation_tokens", cache_write),
        ("output_tokens", count("output_tokens")),
    ]
    .into_iter()
    .filter_map(|(key, number)| Some((key.to_owned(), number?.to_string())))
}

/// The only way to show something that does not also act on the agent. It is shown for `preCompact` and mostly passed
/// over elsewhere; `followup_message` would be read by more events, but it starts a new turn.
pub(crate) fn reply(message: Option<&str>) -> Vec<u8> {
    message.map_or_else(Vec::new, |text| {
        format!("{{\"user_message\":{}}}", quoted(text)).into_bytes()
    })
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing;

    use crate::Cursor;

    #[test]
    fn payloads_mean_what_their_fixtures_say() {
        testing::check_payload_fixtures::<Cursor>();
    }

    #[test]
    fn a_message_never_starts_a_turn_and_silence_is_nothing() {
        assert_eq!(super::reply(None), b"");
        assert_eq!(super::reply(Some("a \"b\"\n")), br#"{"user_message":"a \"b\"\n"}"#);
    }
}
