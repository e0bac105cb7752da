//! What Cline's hooks mean. The extension and the SDK send different payloads to the same hook files.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::prompt::Wrapper;
use hookhost_sdk::{Context, Event, EventKind, Object};

use crate::sessions;

/// What Cline puts around a prompt. The last three are from before the extension moved to the SDK.
pub(crate) const WRAPPERS: &[Wrapper] = &[
    Wrapper::Injected("mode_notice"),
    Wrapper::Around("user_input"),
    Wrapper::Injected("environment_details"),
    Wrapper::Around("task"),
    Wrapper::Around("feedback"),
];

const OF_SUBAGENT: &[When] = &[
    When::Has("parent_agent_id"),
    When::Not(&When::Is("parent_agent_id", &[""])),
];
const SPAWNS: &[When] = &[When::Is("tool_call.name", &["spawn_agent"])];
const HAS_SPAWNED: &[When] = &[When::Is("tool_result.name", &["spawn_agent"])];
const MODEL: Fill = Fill::Model(&["model.slug"]);

const MAPPING: Mapping = Mapping {
    session_id: &["sessionContext.rootSessionId", "taskId"],
    session_ref: &[],
    cwd: &[],
    prompt_wrappers: WRAPPERS,
    // The extension passes no model and says so with this word.
    no_models: &["unknown"],
    strangers: &[&[When::Not(&When::Has("hookName"))], &[When::Not(&When::Has("taskId"))]],
    rules: &[
        Rule::new(
            "PreToolUse",
            EventKind::SubagentStart,
            &[
                Fill::ToolUseId(&["tool_call.id"]),
                Fill::TaskDescription(&["tool_call.input.task"]),
                Fill::ToolInput(&["tool_call.input"]),
            ],
        )
        .when(SPAWNS),
        Rule::new(
            "PostToolUse",
            EventKind::SubagentEnd,
            &[
                Fill::ToolUseId(&["tool_result.id"]),
                Fill::TaskDescription(&["tool_result.input.task"]),
                Fill::ToolInput(&["tool_result.input"]),
                Fill::LastMessage(&[
                    "tool_result.output.result",
                    "tool_result.output.text",
                    "tool_result.output",
                ]),
            ],
        )
        .when(HAS_SPAWNED),
        Rule::nothing("TaskStart").when(OF_SUBAGENT),
        Rule::nothing("TaskResume").when(OF_SUBAGENT),
        Rule::nothing("UserPromptSubmit").when(OF_SUBAGENT),
        Rule::nothing("TaskComplete").when(OF_SUBAGENT),
        Rule::nothing("TaskCancel").when(OF_SUBAGENT),
        Rule::nothing("TaskError").when(OF_SUBAGENT),
        Rule::nothing("PreCompact").when(OF_SUBAGENT),
        // Fires for every message of the user; whoever keeps state drops the repeats.
        Rule::new("TaskStart", EventKind::SessionStart, &[MODEL]),
        Rule::new(
            "TaskResume",
            EventKind::SessionStart,
            &[MODEL, Fill::Says("resumed", "true")],
        ),
        Rule::new(
            "UserPromptSubmit",
            EventKind::TurnStart,
            &[Fill::Prompt(&["userPromptSubmit.prompt"]), MODEL],
        ),
        Rule::new(
            "TaskComplete",
            EventKind::TurnEnd,
            &[
                MODEL,
                Fill::LastMessage(&["turn.outputText", "taskComplete.taskMetadata.result"]),
            ],
        ),
        Rule::new(
            "TaskCancel",
            EventKind::TurnEnd,
            &[MODEL, Fill::Says("status", "cancelled")],
        ),
        Rule::new(
            "TaskError",
            EventKind::TurnEnd,
            &[
                Fill::Says("status", "error"),
                Fill::Metadata("error", &["error.message"]),
            ],
        ),
        Rule::new(
            "PreCompact",
            EventKind::Compaction,
            &[MODEL, Fill::Metadata("strategy", &["preCompact.compactionStrategy"])],
        ),
    ],
    ..Mapping::CLAUDE_LIKE
};

pub(crate) fn events(hook: &str, payload: &Object<'_>, context: &Context) -> Vec<Event> {
    let mut events = MAPPING.events(hook, payload, context);
    let is_sdk = payload.get("sessionContext").is_some();
    for event in &mut events {
        event.prompt = event
            .prompt
            .take()
            .map(|prompt| slash_command(&prompt).unwrap_or(prompt));
        if is_sdk {
            event.session_ref = sessions::messages_file(&event.session_id, context);
        }
    }
    // A message of injected parts alone was not typed.
    events.retain(|event| event.kind != EventKind::TurnStart || event.prompt.is_some());
    events
}

/// `<user_command slash="x">rest</user_command>` is how Cline writes `/x rest`.
pub(crate) fn slash_command(text: &str) -> Option<String> {
    let inside = text
        .trim()
        .strip_prefix("<user_command slash=\"")?
        .strip_suffix("</user_command>")?;
    let (name, rest) = inside.split_once("\">")?;
    Some(format!("/{name} {}", rest.trim()).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn payloads_give_the_expected_events() {
        hookhost_sdk::testing::check_payload_fixtures::<crate::Cline>();
    }

    #[test]
    fn slash_commands_are_shown_as_they_were_typed() {
        let typed = |text| super::slash_command(text);
        assert_eq!(
            typed("<user_command slash=\"plan\">the move</user_command>").as_deref(),
            Some("/plan the move")
        );
        assert_eq!(
            typed("<user_command slash=\"undo\"></user_command>").as_deref(),
            Some("/undo")
        );
        assert_eq!(typed("what does <user_command slash=\"x\"> do?"), None);
    }
}
