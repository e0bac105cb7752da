//! The plugin file, run by node in OpenCode's place, and what the adapter makes of what it sends.

use std::time::Duration;

use hookhost_opencode::OpenCode;
use hookhost_sdk::testing::{Run, StandIn, parse, run_plugin};
use hookhost_sdk::{Event, EventKind, Object};

fn run(scenario: &str, stand_in: StandIn) -> Result<Run, String> {
    run_plugin::<OpenCode>(scenario, stand_in, |plugin| plugin)
}

fn events(run: &Run) -> Vec<Event> {
    run.calls
        .iter()
        .flat_map(|(hook, payload)| parse::<OpenCode>(hook, payload).unwrap_or_default())
        .collect()
}

/// Kind, session, and what tells one event from another of its kind.
fn shown(events: &[Event]) -> Vec<String> {
    let text = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".to_owned());
    let metadata = |event: &Event, key| {
        let found = event.metadata.iter().find(|(name, _)| name == key);
        text(&found.map(|(_, value)| value.clone()))
    };
    let line = |event: &Event| {
        let session = &event.session_id;
        match event.kind {
            EventKind::SessionStart => format!("start {session} {}", metadata(event, "reason")),
            EventKind::TurnStart => format!("turn {session} {}", text(&event.prompt)),
            EventKind::TurnEnd => format!(
                "turn-end {session} {} {}",
                text(&event.model),
                metadata(event, "last_assistant_message")
            ),
            EventKind::Compaction => format!("compaction {session}"),
            EventKind::SessionEnd => format!("end {session} {}", metadata(event, "reason")),
            EventKind::SubagentStart => format!("task {session} {}", text(&event.tool_use_id)),
            EventKind::SubagentEnd => format!(
                "task-end {session} {} {} {}",
                text(&event.tool_use_id),
                text(&event.subagent_id),
                metadata(event, "error")
            ),
        }
    };
    events.iter().map(line).collect()
}

#[test]
fn a_session_becomes_its_events_in_order() -> Result<(), String> {
    let run = run("session", StandIn::Recorder)?;
    assert_eq!(
        shown(&events(&run)),
        [
            "start ses_main -",
            "turn ses_main Add a greet module.",
            "task ses_main call_2",
            "task ses_main call_1",
            "task-end ses_main call_2 ses_child -",
            "task-end ses_main call_3 ses_other Tool execution aborted",
            "task-end ses_main call_4 ses_background -",
            "compaction ses_main",
            "turn-end ses_main claude-sonnet-4-5 Added src/greet.ts.\nAnd used it.",
            "end ses_main disposed",
        ]
    );
    assert_eq!(run.calls.len(), 10, "nothing is sent that means nothing");
    Ok(())
}

#[test]
fn the_envelope_is_what_the_reference_says() -> Result<(), String> {
    let run = run("session", StandIn::Recorder)?;
    let (hook, payload) = &run.calls[1];
    let payload = Object::parse(payload)?;
    let text = |key| payload.text(key).map(String::from);
    assert_eq!(hook, "chat.message");
    assert_eq!(text("hook").as_deref(), Some("chat.message"));
    assert_eq!(text("source").as_deref(), Some("hook"));
    assert_eq!(text("session_id").as_deref(), Some("ses_main"));
    assert!(text("directory").is_some() && text("worktree").is_some());
    assert!(payload.count("time") > 1_700_000_000_000);
    let input = payload.object("input").unwrap_or_default();
    assert_eq!(input.text("messageID").as_deref(), Some("msg_1"));
    Ok(())
}

#[test]
fn a_session_from_before_the_process_is_opened_by_its_first_prompt() -> Result<(), String> {
    assert_eq!(
        shown(&events(&run("resumed", StandIn::Recorder)?)),
        [
            "start ses_old resume",
            "turn ses_old Go on.",
            "turn-end ses_old - -",
            "end ses_old deleted",
        ]
    );
    Ok(())
}

#[test]
fn builds_without_newer_signals_are_understood() -> Result<(), String> {
    assert_eq!(
        shown(&events(&run("old-build", StandIn::Recorder)?)),
        [
            "start ses_main -",
            "turn ses_main Add a greet module.",
            "turn-end ses_main m Done.",
            "end ses_main exit",
        ]
    );
    Ok(())
}

#[test]
fn nothing_is_thrown_or_printed_whatever_comes() -> Result<(), String> {
    run("nonsense", StandIn::Recorder)?;
    run("nonsense", StandIn::Missing)?;
    run("session", StandIn::Missing).map(|_| ())
}

#[test]
fn a_hookhost_that_hangs_is_given_up() -> Result<(), String> {
    let limited = |plugin: String| plugin.replace("TIME_LIMIT = 5000", "TIME_LIMIT = 100");
    let run = run_plugin::<OpenCode>("old-build", StandIn::Hanging, limited)?;
    assert!(run.took < Duration::from_secs(20), "{:?}", run.took);
    Ok(())
}
