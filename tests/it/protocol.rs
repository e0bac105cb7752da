//! The external-agent protocol, end to end through the built binary.

mod claims;
mod hooks;
mod programs;
mod sessions;
mod transcripts;

use serde_json::Value;

use crate::program::{Answer, Place};

/// An adapter that has everything.
const AGENT: &str = "claude-code";

/// A payload that ends a turn of that agent.
const STOP: &str = r#"{"session_id":"s1","transcript_path":"/home/dev/.claude/projects/-home-dev-project/s1.jsonl","cwd":"/home/dev/project","hook_event_name":"Stop"}"#;

fn json(answer: &Answer) -> Value {
    assert_eq!(answer.code, Some(0), "{}", answer.log());
    answer
        .value()
        .unwrap_or_else(|error| panic!("{error}: {}", answer.log()))
}

/// A failure says why on stderr, says nothing on stdout, and is not taken for a veto.
#[track_caller]
fn assert_refused(answer: &Answer) {
    assert!(!matches!(answer.code, Some(0 | 2) | None), "{}", answer.log());
    assert!(answer.out.is_empty() && !answer.err.is_empty(), "{}", answer.log());
}

#[test]
fn the_agent_is_named_by_the_link_by_the_option_or_by_the_variable() {
    let place = Place::new();
    let hook = ["parse-hook", "--hook", "Stop"];
    let plugin = json(&place.plugin(AGENT, &hook, STOP.as_bytes()));
    let option = json(&place.hookhost(
        &["parse-hook", "--agent", AGENT, "--hook", "Stop"],
        STOP.as_bytes(),
        &[],
    ));
    let before = json(&place.hookhost(&["--agent", AGENT, "parse-hook", "--hook=stop"], STOP.as_bytes(), &[]));
    let variable = json(&place.hookhost(&hook, STOP.as_bytes(), &[("HOOKHOST_AGENT", AGENT)]));
    for answer in [plugin, option, before, variable] {
        assert_eq!(
            (&answer["type"], &answer["session_id"]),
            (&Value::from(3), &Value::from("s1"))
        );
    }
    assert_refused(&place.hookhost(&hook, STOP.as_bytes(), &[]));
    assert_refused(&place.plugin("no-such-agent", &["info"], b""));
}

#[test]
fn what_is_not_understood_is_refused_with_a_reason() {
    let place = Place::new();
    for arguments in [
        &["this-subcommand-does-not-exist"][..],
        &[],
        &["parse-hook"],
        &["parse-hook", "--hook"],
        &["parse-hook", "--hook", "Stop", "--no-such-flag"],
        &["get-session-dir"],
        &["resolve-session-file", "--session-dir", "/x"],
        &["format-resume-command", "--session-id", ""],
        &["chunk-transcript", "--max-size", "0"],
        &["chunk-transcript", "--max-size", "-1"],
        &["chunk-transcript", "--max-size", "many"],
        &["chunk-transcript"],
        &["extract-modified-files", "--path", "/x"],
        &["extract-prompts", "--session-ref", "/x", "--offset", "-1"],
        &["info", "--no-such-flag"],
        &["info", "and-more"],
    ] {
        assert_refused(&place.plugin(AGENT, arguments, b""));
    }
    for command in [
        "get-session-id",
        "read-session",
        "write-session",
        "reassemble-transcript",
    ] {
        for input in ["{\"session_id\":", "", "[]", "null", "hello", "{\"chunks\":"] {
            assert_refused(&place.plugin(AGENT, &[command], input.as_bytes()));
        }
    }
}

#[test]
fn the_whole_help_is_as_it_was() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/it/help.txt");
    let came = hookhost::cli::whole_help();
    if std::env::var_os("HOOKHOST_UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, &came).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        came == expected,
        "the help has changed; HOOKHOST_UPDATE=1 writes tests/it/help.txt:\n{came}"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let place = Place::new();
    let transcript = place.file("t.jsonl", vec![b'x'; 1 << 20]);
    let command = format!(
        "{} --agent {AGENT} read-transcript --session-ref {transcript} | head -c 10 >/dev/null; exec {} info --agent {AGENT} >&-",
        env!("CARGO_BIN_EXE_hookhost"),
        env!("CARGO_BIN_EXE_hookhost"),
    );
    let done = std::process::Command::new("sh")
        .arg("-c")
        .arg(command)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!said.contains("panicked"), "{said}");
    assert!(done.status.code().is_some_and(|code| code < 100), "{:?}", done.status);
}
