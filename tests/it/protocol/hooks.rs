//! `parse-hook`, `write-hook-response` and `replay`.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{AGENT, STOP, assert_refused, json};
use crate::program::Place;

fn parse(hook: &str, payload: impl AsRef<[u8]>) -> Value {
    json(&Place::new().plugin(AGENT, &["parse-hook", "--hook", hook], payload.as_ref()))
}

#[test]
fn the_time_of_receipt_is_filled_in() {
    let before = jiff::Timestamp::now();
    let event = parse("Stop", STOP);
    let time: jiff::Timestamp = event["timestamp"].as_str().unwrap().parse().unwrap();
    let slack = Duration::from_millis(1);
    assert!(before - slack <= time && time <= jiff::Timestamp::now());
}

#[test]
fn marks_white_space_and_what_follows_the_payload_do_no_harm() {
    let marked = [b"\xef\xbb\xbf\xef\xbb\xbf \r\n", STOP.as_bytes(), b"\r\n\r\n"].concat();
    let followed = [STOP.as_bytes(), b" {\"session_id\":\"other\"} trailing"].concat();
    let pretty = STOP.replace(',', ",\r\n\t");
    for payload in [marked, followed, pretty.into_bytes()] {
        assert_eq!(parse("stop", payload)["session_id"], "s1");
    }
}

#[test]
fn nothing_and_unknown_hooks_are_no_event() {
    for (hook, payload) in [
        ("Stop", ""),
        ("Stop", " \n"),
        ("NoSuchHook", STOP),
        ("Notification", STOP),
    ] {
        assert_eq!(parse(hook, payload), Value::Null, "{hook} {payload:?}");
    }
}

#[test]
fn what_is_no_object_is_refused_or_no_event() {
    let place = Place::new();
    for payload in [
        "{",
        "{\"session_id\":\"s1\"",
        "hello",
        "[1,2",
        "\"open",
        "{]",
        "{\"a\":nul}",
        "\0\0",
    ] {
        assert_refused(&place.plugin(AGENT, &["parse-hook", "--hook", "Stop"], payload.as_bytes()));
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced_and_lone_surrogates_too() {
    let prompt = |bytes: &[u8]| {
        let payload = [
            br#"{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":""#,
            bytes,
            b"\"}",
        ]
        .concat();
        parse("UserPromptSubmit", payload)["prompt"].clone()
    };
    assert_eq!(prompt(b"caf\xe9"), "caf\u{fffd}");
    assert_eq!(prompt(br"a\ud83db"), "a\u{fffd}b");
}

#[test]
fn tool_input_is_passed_on_as_it_came() {
    let payload = r#"{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Task","tool_use_id":"t1","tool_input":{"subagent_type":"x", "n":1.50,"big":12345678901234567890123}}"#;
    let place = Place::new();
    let answer = place.plugin(AGENT, &["parse-hook", "--hook", "pre-tool-use"], payload.as_bytes());
    let out = String::from_utf8_lossy(&answer.out);
    assert!(
        out.contains(r#""tool_input":{"subagent_type":"x", "n":1.50,"big":12345678901234567890123}"#),
        "{out}"
    );
}

#[test]
fn the_payload_can_be_an_argument() {
    let place = Place::new();
    let answer = place.plugin(AGENT, &["parse-hook", "--hook", "Stop", STOP], b"");
    assert_eq!(json(&answer)["type"], 3);
    let behind = place.plugin(AGENT, &["parse-hook", STOP, "--hook", "Stop"], b"");
    assert_eq!(json(&behind)["type"], 3);
}

#[test]
fn a_pipe_that_stays_open_is_not_waited_for() {
    let place = Place::new();
    for (payload, limit) in [(STOP, 2), ("", 8), ("{\"session_id\":", 8)] {
        let begin = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_hookhost"))
            .args(["parse-hook", "--agent", AGENT, "--hook", "Stop"])
            .env_clear()
            .envs(place.env())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(payload.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        drop(stdin);
        assert!(
            begin.elapsed() < Duration::from_secs(limit),
            "{:?} for {payload:?}",
            begin.elapsed()
        );
        let out = String::from_utf8(out.stdout).unwrap();
        assert_eq!(out.contains("\"type\":3"), payload == STOP, "{out}");
    }
}

#[test]
fn a_message_is_written_as_the_agent_shows_it() {
    let place = Place::new();
    let answer = json(&place.plugin(AGENT, &["write-hook-response", "--message", "-- \"hi\"\n"], b""));
    assert_eq!(answer, json!({ "systemMessage": "-- \"hi\"\n" }));
}

#[test]
fn bare_payloads_are_replayed() {
    let place = Place::new();
    let payload = place.file("stop.json", STOP);
    let notice = place.file("other.json", STOP.replace("\"Stop\"", "\"Other\""));
    let arguments = [
        "replay", "--agent", AGENT, "--hook", "Stop", "--json", &payload, &payload,
    ];
    let answer = place.hookhost(&arguments, b"", &[]);
    let out = String::from_utf8(answer.out.clone()).unwrap();
    assert_eq!(
        out.lines().filter(|line| line.contains("\"type\":3")).count(),
        2,
        "{}",
        answer.log()
    );
    assert!(
        String::from_utf8_lossy(&answer.err).contains("2 payloads, 2 events"),
        "{}",
        answer.log()
    );
    let answer = place.hookhost(
        &["replay", "--agent", AGENT, "--hook", "Notification", &notice],
        b"",
        &[],
    );
    assert!(answer.out.is_empty() && answer.code == Some(0), "{}", answer.log());
    assert!(String::from_utf8_lossy(&answer.err).contains("no lifecycle event: Notification 1"));
    assert_refused(&place.hookhost(&["replay", &payload], b"", &[]));
    assert_refused(&place.hookhost(&["replay", "/no/such/file"], b"", &[]));
}

#[test]
fn a_capture_is_held_against_what_was_recorded() {
    let place = Place::new();
    let record = |events: &str| {
        format!(
            r#"{{"v":1,"id":"1","time":"2026-01-02T03:04:05.678Z","agent":"{AGENT}","hook":"Stop","session_id":"s1","cwd":"/home/dev/project","duration_us":1,"events":{events},"payload":{STOP}}}"#
        )
    };
    let event = r#"[{"type":3,"session_id":"s1","session_ref":"/home/dev/.claude/projects/-home-dev-project/s1.jsonl","timestamp":"2026-01-02T03:04:05.678Z"}]"#;
    let same = place.file("same.jsonl", record(event) + "\n" + &record(event));
    let answer = place.hookhost(&["replay", "--check", &same], b"", &[]);
    assert!(answer.code == Some(0) && answer.out.is_empty(), "{}", answer.log());
    let other = place.file("other.jsonl", record(event) + "\n" + &record("[]") + "\n{\"v\":1,\"ag");
    let answer = place.hookhost(&["replay", "--check", &other], b"", &[]);
    assert_eq!(answer.code, Some(1), "{}", answer.log());
    assert!(
        String::from_utf8_lossy(&answer.err).contains("2 payloads, 1 not as recorded"),
        "{}",
        answer.log()
    );
    let table = place.hookhost(&["replay", &same], b"", &[]);
    let table = String::from_utf8(table.out).unwrap();
    assert!(table.starts_with("TIME") && table.contains("TurnEnd"), "{table}");
}
