//! Payloads to events, and what Claude Code wants to hear back.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When, claude};
use hookhost_sdk::{Context, Event, EventKind, Fault, Payload, json, paths, shortened};

use crate::{prompts, sessions};

/// Hook output over 10,000 characters is cut, which would leave no JSON; every character takes six at most.
const MESSAGE_CHARS: usize = 1600;

const IS_AGENT_TOOL: When = When::Is("tool_name", &["Agent", "Task"]);
const NOT_OUR_PATH: When = When::Not(&When::Below("transcript_path", &[".claude"]));

const MAPPING: Mapping = Mapping {
    strangers: &[
        // Cursor and Augment.
        &[When::Has("cursor_version")],
        &[When::Has("conversation_id"), NOT_OUR_PATH],
        &[When::CamelCase("hook_event_name")],
        // Copilot CLI, Qwen Code, Gemini CLI, Grok Build: Claude Code sends no time and always its own path.
        &[When::Has("timestamp"), NOT_OUR_PATH],
        // Codex.
        &[When::Has("turn_id"), NOT_OUR_PATH],
        // Factory Droid.
        &[When::Is("permission_mode", &["off", "spec"])],
        &[When::Begins("permission_mode", &["auto-"])],
        &[When::Below(
            "transcript_path",
            &[
                ".copilot",
                ".codex",
                ".factory",
                ".qwen",
                ".gemini",
                ".cursor",
                ".augment",
                ".grok",
                // VS Code with Copilot.
                "workspaceStorage",
                "GitHub.copilot-chat",
            ],
        )],
    ],
    inside: claude::INSIDE,
    rules: &[
        claude::START_AFTER_COMPACTION,
        claude::SESSION_START,
        Rule::new(
            "UserPromptSubmit",
            EventKind::TurnStart,
            &[Fill::Prompt(&["prompt"]), Fill::Metadata("prompt_id", &["prompt_id"])],
        ),
        Rule::new("Stop", EventKind::TurnEnd, &[claude::LAST_MESSAGE]),
        // Comes instead of Stop. Its `last_assistant_message` is the text of the error.
        claude::STOP_FAILURE,
        claude::PRE_COMPACT,
        claude::SESSION_END,
        Rule::new(
            "PreToolUse",
            EventKind::SubagentStart,
            &[
                Fill::ToolUseId(&["tool_use_id"]),
                Fill::ToolInput(&["tool_input"]),
                Fill::SubagentType(&["tool_input.subagent_type"]),
                Fill::TaskDescription(&["tool_input.description"]),
            ],
        )
        .when(&[IS_AGENT_TOOL])
        .anywhere(),
        // Launched in the background: it has only begun, SubagentStop will tell the end.
        Rule::nothing("PostToolUse")
            .when(&[
                When::Has("tool_response.status"),
                When::Not(&When::Is("tool_response.status", &["completed"])),
            ])
            .anywhere(),
        Rule::new(
            "PostToolUse",
            EventKind::SubagentEnd,
            &[
                Fill::ToolUseId(&["tool_use_id"]),
                Fill::SubagentId(&["tool_response.agentId"]),
                Fill::ToolInput(&["tool_input"]),
            ],
        )
        .when(&[IS_AGENT_TOOL])
        .anywhere(),
        // Without an id (before 2.0.42) PostToolUse has told.
        claude::SUBAGENT_STOP,
    ],
    ..Mapping::CLAUDE_LIKE
};

pub(crate) fn events(hook: &str, payload: &Payload<'_>, context: &Context) -> Vec<Event> {
    // Claude Code always sends this field in this spelling; agents that run its hooks with their own payloads may
    // spell it otherwise.
    if !payload.has("session_id") || (!is_in_our_config_dir(payload, context) && MAPPING.is_strange(payload)) {
        return vec![];
    }
    let mut event = MAPPING.event(hook, payload, context);
    if let Some(event) = &mut event {
        event.prompt = event.prompt.take().and_then(|text| prompts::typed(&text).prompt());
    }
    event.into_iter().collect()
}

/// A directory of the user's choice may have any name, even one that another agent's path is known by.
fn is_in_our_config_dir(payload: &Payload<'_>, context: &Context) -> bool {
    let (Some(dir), Some(path)) = (
        hookhost_sdk::env(context, sessions::CONFIG_DIR),
        payload.text("transcript_path"),
    ) else {
        return false;
    };
    let dir = paths::expand_home(dir, context);
    path.strip_prefix(paths::without_end(&dir))
        .is_some_and(|rest| rest.starts_with(['/', '\\']))
}

/// Nothing, or a message in the form that is shown to the user; these hooks' output is discarded.
pub(crate) fn reply(hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
    let Some(message) = message else { return Ok(vec![]) };
    match hook {
        "SessionEnd" | "PreCompact" | "PostCompact" | "Notification" | "StopFailure" => Err(Fault::Unsupported),
        _ => {
            let text = json::quoted(&shortened(message, MESSAGE_CHARS));
            Ok(format!("{{\"systemMessage\":{text}}}\n").into_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing::{check_payload_fixtures, context, parse, parse_in};
    use hookhost_sdk::{Adapter, Fault};

    use crate::ClaudeCode;

    #[test]
    fn payloads_mean_what_stands_beside_them() {
        check_payload_fixtures::<ClaudeCode>();
    }

    #[test]
    fn a_payload_that_is_no_object_is_malformed() {
        for payload in ["", "null", "[]", "\"stop\"", "{\"session_id\":\"x\""] {
            assert!(
                matches!(parse::<ClaudeCode>("stop", payload), Err(Fault::Malformed(_))),
                "{payload}"
            );
        }
    }

    #[test]
    fn a_config_dir_of_any_name_is_ours() {
        let payload = r#"{"session_id":"s","transcript_path":"/x/.copilot/projects/p/s.jsonl","timestamp":"2026-08-20T09:16:30Z"}"#;
        assert!(parse::<ClaudeCode>("Stop", payload).unwrap().is_empty());
        let mut context = context();
        context.env = vec![("CLAUDE_CONFIG_DIR".to_owned(), "/x/.copilot/".to_owned())];
        let events = parse_in::<ClaudeCode>("Stop", payload, &context).unwrap();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].timestamp.as_deref(), Some("2026-08-20T09:16:30Z"));
    }

    #[test]
    fn a_message_is_shown_where_claude_code_shows_one() {
        let reply = |hook, message| ClaudeCode.reply(hook, message);
        assert_eq!(reply("Stop", None), Ok(vec![]));
        assert_eq!(
            reply("SessionStart", Some("a \"b\"\n")),
            Ok(b"{\"systemMessage\":\"a \\\"b\\\"\\n\"}\n".to_vec())
        );
        assert_eq!(reply("SessionEnd", Some("x")), Err(Fault::Unsupported));
        let long = reply("Stop", Some(&"\u{1}".repeat(20_000))).unwrap();
        assert!(long.len() < 10_000);
    }
}
