//! What a hook's payload means.
//!
//! The spelling of the event in the hook file chooses that of the payload: `agentStop` gives `sessionId` and
//! milliseconds, `Stop` gives `session_id` and a time in text. VS Code runs the same files and mixes both. All are read.

use hookhost_sdk::mapping::{Fill, Mapping, Rule};
use hookhost_sdk::{Context, Event, EventKind, Payload, time};

use crate::sessions;

const MAPPING: Mapping = Mapping {
    rules: &[
        Rule::new(
            "sessionStart",
            EventKind::SessionStart,
            &[Fill::Metadata("source", &["source"])],
        ),
        Rule::new(
            "userPromptSubmitted",
            EventKind::TurnStart,
            &[Fill::Prompt(&["prompt"])],
        ),
        Rule::new("agentStop", EventKind::TurnEnd, &[]),
        Rule::new(
            "preCompact",
            EventKind::Compaction,
            &[Fill::Metadata("trigger", &["trigger"])],
        ),
        Rule::new(
            "sessionEnd",
            EventKind::SessionEnd,
            &[Fill::Metadata("reason", &["reason"])],
        ),
        Rule::new("subagentStart", EventKind::SubagentStart, SUBAGENT),
        Rule::new("subagentStop", EventKind::SubagentEnd, SUBAGENT),
    ],
    ..Mapping::CLAUDE_LIKE
};

/// There is no id of the call or of the subagent in any payload: its name stands for both.
const SUBAGENT: &[Fill] = &[
    Fill::ToolUseId(&["agent_name"]),
    Fill::SubagentId(&["agent_name"]),
    Fill::SubagentType(&["agent_name"]),
    Fill::TaskDescription(&["agent_description"]),
];

/// The events of a hook.
pub(crate) fn events(hook: &str, payload: &Payload<'_>, context: &Context) -> Vec<Event> {
    if !is_copilot_clis(payload) {
        return vec![];
    }
    let mut events = MAPPING.events(in_camel_case(hook), payload, context);
    for event in &mut events {
        // A subagent's hooks may carry an id of its own; the transcript is its parent's.
        let is_subagents = matches!(event.kind, EventKind::SubagentStart | EventKind::SubagentEnd);
        if let Some(session_ref) = event.session_ref.as_deref().filter(|_| is_subagents)
            && let Some(id) = sessions::folder(session_ref)
        {
            event.session_id = id.to_owned();
        }
        if event.session_ref.is_none() {
            event.session_ref = sessions::file(&event.session_id, context);
        }
    }
    events
}

/// The events that are called otherwise in the style of Claude Code, also where callers write that in kebab-case.
fn in_camel_case(hook: &str) -> &str {
    match hook {
        "SessionStart" => "sessionStart",
        "UserPromptSubmit" | "user-prompt-submit" => "userPromptSubmitted",
        "Stop" | "stop" => "agentStop",
        "PreCompact" => "preCompact",
        "SessionEnd" => "sessionEnd",
        "SubagentStart" => "subagentStart",
        "SubagentStop" => "subagentStop",
        other => other,
    }
}

/// Other agents run hook files in the style of Claude Code too. `sessionId` is Copilot's alone; with `session_id` there
/// has to be a time, which Claude Code does not send, and no transcript elsewhere.
fn is_copilot_clis(payload: &Payload<'_>) -> bool {
    let transcript = payload
        .at("transcript_path")
        .and_then(|path| path.text())
        .unwrap_or_default();
    let lies_below = |folder: &str| {
        transcript
            .split(['/', '\\'])
            .any(|part| part.eq_ignore_ascii_case(folder))
    };
    if lies_below("GitHub.copilot-chat") || payload.get("cursor_version").is_some() {
        return false;
    }
    payload.get("sessionId").is_some()
        || (payload.get("timestamp").and_then(time::of).is_some()
            && (transcript.is_empty() || lies_below(".copilot") || lies_below("session-state")))
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing;

    #[test]
    fn payloads_mean_what_their_fixtures_say() {
        testing::check_payload_fixtures::<crate::CopilotCli>();
    }

    #[test]
    fn hooks_in_claude_codes_style_may_be_named_in_kebab_case() {
        let payload = r#"{"session_id":"s","timestamp":"2026-08-20T09:16:30Z","prompt":"hi"}"#;
        for hook in ["Stop", "stop", "UserPromptSubmit", "user-prompt-submit"] {
            assert_eq!(
                testing::parse::<crate::CopilotCli>(hook, payload).unwrap().len(),
                1,
                "{hook}"
            );
        }
    }
}
