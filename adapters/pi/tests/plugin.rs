//! The extension, run by node in pi's place, and what the adapter makes of what it sends.

use std::time::Duration;

use hookhost_pi::Pi;
use hookhost_sdk::testing::{Run, StandIn, parse, run_plugin, type_check_plugin};
use hookhost_sdk::{Event, EventKind};

fn run(scenario: &str, stand_in: StandIn) -> Result<Run, String> {
    run_plugin::<Pi>(scenario, stand_in, |plugin| plugin)
}

/// Kind, session, and what tells one event from another of its kind.
fn shown(run: &Run) -> Vec<String> {
    let line = |event: Event| {
        let about = |key: &str| {
            let found = event.metadata.iter().find(|(name, _)| name == key);
            found.map_or("-", |(_, value)| value).to_owned()
        };
        let session = &event.session_id;
        match event.kind {
            EventKind::SessionStart => {
                let previous = event.previous_session_id.as_deref().unwrap_or("-");
                format!("start {session} {} {previous}", about("reason"))
            }
            EventKind::TurnStart => format!("turn {session} {}", event.prompt.as_deref().unwrap_or("-")),
            EventKind::TurnEnd => format!(
                "turn-end {session} {} {}",
                about("aborted"),
                about("last_assistant_message")
            ),
            EventKind::Compaction => format!("compaction {session} {}", about("tokens_before")),
            EventKind::SessionEnd => format!("end {session} {}", about("reason")),
            kind => format!("{kind:?}"),
        }
    };
    run.calls
        .iter()
        .flat_map(|(hook, payload)| parse::<Pi>(hook, payload).unwrap_or_default())
        .map(line)
        .collect()
}

#[test]
fn a_session_becomes_its_events_in_order() -> Result<(), String> {
    let run = run("session", StandIn::Recorder)?;
    assert_eq!(
        shown(&run),
        [
            "start s1 startup -",
            "turn s1 Add a greet module.",
            "turn-end s1 false Added\nit.",
            "compaction s1 168400",
            "turn s1 -",
            "turn-end s1 true -",
            "end s1 quit",
        ]
    );
    assert!(run.calls.iter().all(|(_, payload)| !payload.contains("secret")));
    Ok(())
}

#[test]
fn without_agent_settled_the_last_run_of_a_prompt_ends_the_turn() -> Result<(), String> {
    let run = run("old-version", StandIn::Recorder)?;
    assert_eq!(
        shown(&run),
        [
            "start s1 - -",
            "turn s1 One",
            "turn-end s1 - First.",
            "turn s1 Two",
            "turn-end s1 - Second.",
            "start s1 resume s0",
        ]
    );
    Ok(())
}

#[test]
fn the_versions_number_tells_which_end_is_the_last() -> Result<(), String> {
    assert_eq!(
        shown(&run("numbers", StandIn::Recorder)?),
        ["turn-end s1 - 0.74.2", "turn-end s1 - 0.80.3", "turn-end s1 - later"]
    );
    Ok(())
}

#[test]
fn a_session_that_is_not_kept_is_not_told_of() -> Result<(), String> {
    assert_eq!(run("not-kept", StandIn::Recorder)?.calls, []);
    Ok(())
}

#[test]
fn a_message_is_shown_and_nothing_else_is_done_with_what_is_printed() -> Result<(), String> {
    run("message", StandIn::Recorder).map(|_| ())
}

#[test]
fn nothing_is_thrown_or_printed_whatever_comes() -> Result<(), String> {
    run("nonsense", StandIn::Missing)?;
    run("session", StandIn::Missing).map(|_| ())
}

#[test]
fn a_hookhost_that_hangs_is_given_up() -> Result<(), String> {
    let limited = |plugin: String| plugin.replace("TIME_LIMIT = 10000", "TIME_LIMIT = 100");
    let run = run_plugin::<Pi>("session", StandIn::Hanging, limited)?;
    assert!(run.took < Duration::from_secs(20), "{:?}", run.took);
    Ok(())
}

#[test]
#[ignore = "needs the TypeScript compiler: HOOKHOST_TSC=/path/to/tsc cargo test -p hookhost-pi -- --ignored"]
fn the_compiler_finds_nothing_wrong() -> Result<(), String> {
    type_check_plugin::<Pi>()
}
