//! From a hook's payload to events.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When, claude};
use hookhost_sdk::prompt::Wrapper;
use hookhost_sdk::{Context, Event, EventKind, Json, Payload, json, paths};

const IS_TASK: When = When::Is("tool_name", &["Task"]);

/// The worker goes on after the tool has answered; nothing tells when it ends.
const IN_BACKGROUND: When = When::Is("tool_input.run_in_background", &["true"]);

const IS_OURS: When = When::Below("transcript_path", &[".factory"]);

const TASK: &[Fill] = &[
    Fill::ToolUseId(&["tool_use_id"]),
    Fill::ToolInput(&["tool_input"]),
    Fill::SubagentType(&["tool_input.subagent_type"]),
    Fill::TaskDescription(&["tool_input.description"]),
];

/// What Droid itself puts beside a prompt.
pub(crate) const REMINDERS: &[Wrapper] = &[Wrapper::Injected("system-reminder")];

const HOOKS: Mapping = Mapping {
    prompt_wrappers: REMINDERS,
    strangers: &[
        &[When::Has("timestamp")],
        &[When::CamelCase("hook_event_name")],
        // Droid's own modes are off, spec and auto-low, auto-medium, auto-high; those of agents with the same hooks
        // are others.
        &[
            When::Begins(
                "permission_mode",
                &["default", "accept", "plan", "dontAsk", "bypass", "yolo"],
            ),
            When::Not(&IS_OURS),
        ],
        &[
            When::Below(
                "transcript_path",
                &[".claude", ".codex", ".copilot", ".qwen", ".gemini", ".cursor"],
            ),
            When::Not(&IS_OURS),
        ],
    ],
    rules: &[
        claude::START_AFTER_COMPACTION,
        Rule::new(
            "SessionStart",
            EventKind::SessionStart,
            &[Fill::Metadata("source", &["source"])],
        ),
        Rule::new("UserPromptSubmit", EventKind::TurnStart, &[Fill::Prompt(&["prompt"])]),
        Rule::new("Stop", EventKind::TurnEnd, &[]),
        claude::PRE_COMPACT,
        claude::SESSION_END,
        Rule::new("PreToolUse", EventKind::SubagentStart, TASK).when(&[IS_TASK]),
        Rule::nothing("PostToolUse").when(&[IN_BACKGROUND]),
        Rule::new("PostToolUse", EventKind::SubagentEnd, TASK).when(&[IS_TASK]),
    ],
    ..Mapping::CLAUDE_LIKE
};

pub(crate) fn events(hook: &str, payload: &Payload<'_>, context: &Context) -> Vec<Event> {
    // Every payload has these, in one of two spellings, if only as null.
    let marks = ["transcript_path", "transcriptPath", "permission_mode", "permissionMode"];
    if !marks.iter().any(|mark| payload.has(mark)) {
        return vec![];
    }
    if is_droids_own(payload, context) {
        return vec![];
    }
    let mut events = HOOKS.events(hook, payload, context);
    for event in &mut events {
        if !matches!(event.kind, EventKind::SubagentStart | EventKind::SubagentEnd) {
            continue;
        }
        if event.tool_use_id.is_none() {
            let input = event.tool_input.as_deref().unwrap_or_default();
            event.tool_use_id = Some(call_id(&event.session_id, "Task", input));
        }
        if event.kind == EventKind::SubagentEnd {
            let answer = payload.at("tool_response").map(answer).unwrap_or_default();
            event.subagent_id = answer.worker;
            *event = event
                .clone()
                .with_last_message(answer.text.filter(|text| !text.is_empty()));
        }
    }
    events
}

/// Sessions in Droid's own directory are its own work.
fn is_droids_own(payload: &Payload<'_>, context: &Context) -> bool {
    let cwd = payload.text("cwd").map(|cwd| paths::expand_home(&cwd, context));
    let own = context.home.as_deref().map(|home| paths::join(home, ".factory"));
    matches!((cwd, own), (Some(cwd), Some(own)) if paths::without_end(&cwd) == own)
}

/// Droid tells no id of a call. The same session, tool and input make the same one before and after it.
fn call_id(session_id: &str, tool: &str, input: &str) -> String {
    let compact = without_spaces(input);
    let text = format!("{session_id}\n{tool}\n{compact}");
    format!("call_{:016x}{:016x}", fnv1a(&text, 0), fnv1a(&text, 1))
}

/// JSON without the white space outside of its strings.
fn without_spaces(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut inside, mut escaped) = (false, false);
    for character in json.chars() {
        if inside || !character.is_whitespace() {
            out.push(character);
        }
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = inside;
        } else if character == '"' {
            inside = !inside;
        }
    }
    out
}

fn fnv1a(text: &str, seed: u8) -> u64 {
    let bytes = [seed].into_iter().chain(text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// What the Task tool answered.
#[derive(Default)]
pub(crate) struct Answer {
    /// The worker's session.
    pub(crate) worker: Option<String>,
    pub(crate) text: Option<String>,
}

/// Of a text that begins with `agentId: …`, or of an object, or of a list of content parts.
pub(crate) fn answer(response: Json<'_>) -> Answer {
    if let Some(text) = response.text() {
        return in_text(&text);
    }
    if let Some(object) = response.object() {
        let named = object.id(&["agentId", "agent_id", "sessionId", "session_id"]);
        let said = object
            .any(&["content", "output", "result", "text", "message"])
            .map(|content| hookhost_sdk::content::joined_text(Some(content)));
        let inner = said.as_deref().map(in_text).unwrap_or_default();
        return Answer {
            worker: named.or(inner.worker),
            text: inner.text,
        };
    }
    in_text(&hookhost_sdk::content::joined_text(Some(response)))
}

pub(crate) fn in_text(text: &str) -> Answer {
    let mut worker = None;
    let mut said = vec![];
    for line in text.lines() {
        match line.trim_start().strip_prefix("agentId:").map(str::trim) {
            Some(id) if worker.is_none() && !id.is_empty() => {
                worker = id.split_whitespace().next().map(str::to_owned);
            }
            _ => said.push(line),
        }
    }
    Answer {
        worker,
        text: Some(said.join("\n").trim().to_owned()).filter(|text| !text.is_empty()),
    }
}

/// Droid's way of showing a message to the user, as its documentation has it.
pub(crate) fn notice(message: &str) -> Vec<u8> {
    format!("{{\"systemMessage\":{}}}\n", json::quoted(message)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_the_same_id_before_and_after_it() {
        let id = call_id("s", "Task", "{\"a\": \"x  \\\" y\"}");
        assert_eq!(id, call_id("s", "Task", "{ \"a\":\"x  \\\" y\" }"));
        assert_ne!(id, call_id("s", "Task", "{\"a\": \"x \\\" y\"}"));
        assert_ne!(id, call_id("t", "Task", "{\"a\": \"x  \\\" y\"}"));
        assert_eq!(id.len(), "call_".len() + 32);
    }

    #[test]
    fn an_answer_is_a_text_or_an_object() {
        let read = |json: &str| {
            let answer = answer(Json::parse(json).unwrap());
            (answer.worker, answer.text)
        };
        let expected = (Some("w-1".to_owned()), Some("Done.".to_owned()));
        assert_eq!(read(r#""agentId: w-1\nDone.""#), expected);
        assert_eq!(read(r#"{"agentId":"w-1","content":"Done."}"#), expected);
        assert_eq!(
            read(r#"{"content":[{"type":"text","text":"agentId: w-1\n\nDone."}]}"#),
            expected
        );
        assert_eq!(read(r#"[{"type":"text","text":"agentId: w-1\nDone."}]"#), expected);
        assert_eq!(read(r#""Done.""#), (None, Some("Done.".to_owned())));
        assert_eq!(read("7"), (None, None));
    }
}
