//! From a hook's payload to events.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When, claude};
use hookhost_sdk::prompt::Wrapper;
use hookhost_sdk::{Context, Event, EventKind, Fault, Payload, json};

/// The block in which a hook's context stands behind a prompt.
pub(crate) const HOOK_CONTEXT: &[Wrapper] = &[Wrapper::Injected("qwen:user-prompt-submit-context")];

const IS_OURS: When = When::Below("transcript_path", &[".qwen"]);

const HOOKS: Mapping = Mapping {
    prompt_wrappers: HOOK_CONTEXT,
    strangers: &[
        &[When::CamelCase("hook_event_name")],
        // Claude Code and Codex send no time.
        &[When::Not(&When::Has("timestamp")), When::Not(&IS_OURS)],
        &[
            When::Below(
                "transcript_path",
                &[".claude", ".codex", ".copilot", ".cursor", ".factory", ".gemini"],
            ),
            When::Not(&IS_OURS),
        ],
        // Of Qwen's own only when its folder was moved; the last folder keeps its name.
        &[
            When::Begins("transcript_path", &["/", "~", "\\", "C:", "D:"]),
            When::Not(&When::Below("transcript_path", &[".qwen", "chats"])),
        ],
    ],
    inside: claude::INSIDE,
    rules: &[
        claude::START_AFTER_COMPACTION,
        claude::SESSION_START,
        Rule::new(
            "UserPromptSubmit",
            EventKind::TurnStart,
            &[Fill::Prompt(&["submitted_prompt"])],
        )
        .when(&[When::Has("submitted_prompt")]),
        // Tool results and continuations are sent to the model in the same way, and outside of the interactive
        // interface nothing tells them from a prompt: whoever knows whether a turn is open can.
        Rule::new(
            "UserPromptSubmit",
            EventKind::TurnStart,
            &[Fill::Prompt(&["prompt"]), Fill::Says("submitted_prompt", "absent")],
        ),
        Rule::new("Stop", EventKind::TurnEnd, &[claude::LAST_MESSAGE]),
        claude::STOP_FAILURE,
        claude::PRE_COMPACT,
        claude::SESSION_END,
        // The hooks tell no id of the call that started the subagent.
        claude::SUBAGENT_START,
        claude::SUBAGENT_STOP,
    ],
    ..Mapping::CLAUDE_LIKE
};

pub(crate) fn events(hook: &str, payload: &Payload<'_>, context: &Context) -> Vec<Event> {
    // Every payload has it, if only as null.
    if !payload.has("transcript_path") {
        return vec![];
    }
    HOOKS.events(hook, payload, context)
}

/// Some hooks run detached, and nobody reads what they print.
pub(crate) fn reply(hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
    match message {
        None => Ok(vec![]),
        Some(_) if matches!(hook, "MessageDisplay" | "StopFailure" | "SessionDelete") => Err(Fault::Unsupported),
        Some(message) => Ok(format!("{{\"systemMessage\":{}}}\n", json::quoted(message)).into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_shown_where_somebody_reads() {
        assert_eq!(reply("Stop", Some("x")).unwrap(), b"{\"systemMessage\":\"x\"}\n");
        assert_eq!(reply("StopFailure", Some("x")), Err(Fault::Unsupported));
        assert_eq!(reply("StopFailure", None), Ok(vec![]));
    }
}
