//! The plugin file, run by node in Amp's place, and what the adapter makes of what it sends.

use std::time::Duration;

use hookhost_amp::Amp;
use hookhost_sdk::testing::{Run, StandIn, parse, run_plugin, type_check_plugin};
use hookhost_sdk::{Event, EventKind, Json, Object};

fn run(scenario: &str, stand_in: StandIn) -> Result<Run, String> {
    run_plugin::<Amp>(scenario, stand_in, |plugin| plugin)
}

/// Kind, thread, and what tells one event from another of its kind.
fn shown(run: &Run) -> Vec<String> {
    let line = |event: Event| {
        let about = |key: &str| {
            let found = event.metadata.iter().find(|(name, _)| name == key);
            found.map_or("-", |(_, value)| value).to_owned()
        };
        let thread = &event.session_id;
        match event.kind {
            EventKind::SessionStart => format!("start {thread}"),
            EventKind::TurnStart => format!("turn {thread} {}", event.prompt.as_deref().unwrap_or("-")),
            EventKind::TurnEnd => format!(
                "turn-end {thread} {} {}",
                about("status"),
                about("last_assistant_message")
            ),
            kind => format!("{kind:?}"),
        }
    };
    run.calls
        .iter()
        .flat_map(|(hook, payload)| parse::<Amp>(hook, payload).unwrap_or_default())
        .map(line)
        .collect()
}

#[test]
fn threads_become_their_events_in_order() -> Result<(), String> {
    let run = run("session", StandIn::Recorder)?;
    assert_eq!(
        shown(&run),
        [
            "start T-1",
            "turn T-1 Add a greet module.",
            "turn-end T-1 done Added",
            "start T-2",
            "turn T-2 Two\nblocks",
            "turn-end T-2 cancelled -",
        ]
    );
    let (_, end) = &run.calls[2];
    let files: Vec<_> = Object::parse(end)?
        .items("modified_files")
        .into_iter()
        .filter_map(Json::text)
        .map(String::from)
        .collect();
    assert_eq!(files, ["/p/a.ts"], "a file that was only read is not changed");
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
    let run = run_plugin::<Amp>("session", StandIn::Hanging, limited)?;
    assert!(run.took < Duration::from_secs(20), "{:?}", run.took);
    Ok(())
}

#[test]
#[ignore = "needs the TypeScript compiler: HOOKHOST_TSC=/path/to/tsc cargo test -p hookhost-amp -- --ignored"]
fn the_compiler_finds_nothing_wrong() -> Result<(), String> {
    type_check_plugin::<Amp>()
}
