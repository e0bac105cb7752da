//! What a hook's payload means, and how a message is shown.

use hookhost_sdk::json::quoted;
use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::{Context, Event, EventKind, Fault, Json, Payload};

/// The tool that starts a subagent.
pub(crate) const AGENT_TOOL: &str = "invoke_agent";

const MAPPING: Mapping = Mapping {
    // Qwen Code has the same settings and Claude Code's names; Cursor and Copilot run other agents' hooks.
    strangers: &[
        &[When::Below("transcript_path", &[".qwen", ".claude", ".copilot"])],
        &[When::Has("cursor_version")],
        &[
            When::Not(&When::Has("timestamp")),
            When::Not(&When::Below("transcript_path", &[".gemini"])),
        ],
    ],
    rules: &[
        Rule::new(
            "SessionStart",
            EventKind::SessionStart,
            &[Fill::Metadata("source", &["source"])],
        ),
        Rule::new("BeforeAgent", EventKind::TurnStart, &[Fill::Prompt(&["prompt"])]),
        Rule::new("AfterAgent", EventKind::TurnEnd, &[]).when(&[When::Is("prompt_response", &["[no response text]"])]),
        Rule::new(
            "AfterAgent",
            EventKind::TurnEnd,
            &[Fill::LastMessage(&["prompt_response"])],
        ),
        // `auto` comes on every turn of the model, before it is known whether anything is to be compressed.
        Rule::new(
            "PreCompress",
            EventKind::Compaction,
            &[Fill::Metadata("trigger", &["trigger"])],
        )
        .when(&[When::Is("trigger", &["manual"])]),
        Rule::new(
            "SessionEnd",
            EventKind::SessionEnd,
            &[Fill::Metadata("reason", &["reason"])],
        ),
        Rule::new("BeforeTool", EventKind::SubagentStart, SUBAGENT).when(STARTS_SUBAGENT),
        Rule::new("AfterTool", EventKind::SubagentEnd, SUBAGENT).when(STARTS_SUBAGENT),
    ],
    ..Mapping::CLAUDE_LIKE
};

const STARTS_SUBAGENT: &[When] = &[When::Is("tool_name", &[AGENT_TOOL])];

const SUBAGENT: &[Fill] = &[
    Fill::SubagentType(&["tool_input.agent_name"]),
    Fill::TaskDescription(&["tool_input.prompt"]),
    Fill::ToolInput(&["tool_input"]),
];

/// The events of a hook.
pub(crate) fn events(hook: &str, payload: &Payload<'_>, context: &Context) -> Vec<Event> {
    let mut events = MAPPING.events(hook, payload, context);
    for event in &mut events {
        if !matches!(event.kind, EventKind::SubagentStart | EventKind::SubagentEnd) {
            continue;
        }
        // Tool hooks carry no id: what both ends of a call have in common makes one.
        let input = event.tool_input.as_deref().unwrap_or_default();
        event.tool_use_id = Some(format!("{AGENT_TOOL}-{:016x}", hash(&[&event.session_id, input])));
    }
    events
        .into_iter()
        .map(|event| match event.kind {
            EventKind::SubagentEnd => event.with_last_message(answer(payload)),
            _ => event,
        })
        .collect()
}

/// The words of a subagent: what is shown, else what the model got.
fn answer(payload: &Payload<'_>) -> Option<String> {
    let response = payload.object("tool_response")?;
    if let Some(shown) = response.text("returnDisplay") {
        return Some(shown.into_owned());
    }
    let content = response.get("llmContent")?;
    if let Some(text) = content.text() {
        return Some(text.into_owned());
    }
    let parts = match content.items() {
        parts if parts.is_empty() => vec![content],
        parts => parts,
    };
    let texts = parts
        .into_iter()
        .filter_map(|part| part.get("text").and_then(Json::text));
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// FNV-1a over the texts, each with a zero behind it.
fn hash(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Text on stdout is shown to the user; in two hooks nothing is. As JSON it was seen to be shown twice, so that is left
/// for what would be taken for JSON.
pub(crate) fn reply(hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
    let Some(message) = message else { return Ok(vec![]) };
    if matches!(hook, "SessionEnd" | "PreCompress") {
        return Err(Fault::Unsupported);
    }
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(if Json::parse(&line).is_ok() {
        format!("{{\"systemMessage\":{}}}", quoted(message)).into_bytes()
    } else {
        line.into_bytes()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing;

    #[test]
    fn payloads_mean_what_their_fixtures_say() {
        testing::check_payload_fixtures::<crate::GeminiCli>();
    }

    #[test]
    fn the_hash_is_the_known_one() {
        // FNV-1a of "foobar" is 85944171f73967e8; one more round with a zero byte multiplies by the prime.
        assert_eq!(
            hash(&["foobar"]),
            0x8594_4171_f739_67e8_u64.wrapping_mul(0x0000_0100_0000_01b3)
        );
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
    }

    #[test]
    fn a_message_is_one_line_of_text() {
        assert_eq!(reply("SessionStart", None), Ok(vec![]));
        assert_eq!(reply("SessionStart", Some("two\nlines")), Ok(b"two lines".to_vec()));
        assert_eq!(reply("", Some("17")), Ok(br#"{"systemMessage":"17"}"#.to_vec()));
        assert_eq!(reply("SessionEnd", Some("x")), Err(Fault::Unsupported));
    }
}
