//! Transcripts that are no files of the agent's, and programs that we start.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{AGENT, assert_refused, json};
use crate::program::Place;

/// A program on the PATH of the place.
fn program(place: &Place, name: &str, script: &str) {
    let path = place.file(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn snapshot(place: &Place, name: &str) -> String {
    let path = place.path("home/.local/share/hookhost/snapshots").join(name);
    path.to_str().unwrap().to_owned()
}

const THREAD: &str = r#"{"v":1,"id":"T-1","created":1787217300000,"messages":[{"role":"user","messageId":0,"content":[{"type":"text","text":"Add it."}]}]}"#;

#[test]
fn a_transcript_that_a_program_gives_out_is_fetched_once_and_again_when_it_is_prepared() {
    let place = Place::new();
    let path = snapshot(&place, "amp/T-1.json");
    assert_refused(&place.plugin("amp", &["read-transcript", "--session-ref", &path], b""));
    assert!(
        !place
            .path("home/.local")
            .join("share/hookhost/snapshots/amp/T-1.json")
            .exists()
    );

    let calls = place.path("calls");
    let script = |thread: &str| format!("echo \"$*\" >> {}\nprintf '%s' '{thread}'", calls.display());
    program(&place, "amp", &script(THREAD));
    for session_ref in ["T-1", &path] {
        let came = place.plugin("amp", &["read-transcript", "--session-ref", session_ref], b"");
        assert_eq!(String::from_utf8_lossy(&came.out), THREAD, "{}", came.log());
    }
    let prompts = ["extract-prompts", "--session-ref", &path, "--offset", "0"];
    assert_eq!(
        json(&place.plugin("amp", &prompts, b"")),
        json!({ "prompts": ["Add it."] })
    );
    assert_eq!(fs::read_to_string(&calls).unwrap(), "threads export T-1\n");

    program(&place, "amp", &script(&THREAD.replace("Add", "Remove")));
    let prepared = place.plugin("amp", &["prepare-transcript", "--session-ref", &path], b"");
    assert!(
        prepared.code == Some(0) && prepared.out.is_empty(),
        "{}",
        prepared.log()
    );
    assert_eq!(
        json(&place.plugin("amp", &prompts, b"")),
        json!({ "prompts": ["Remove it."] })
    );
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_program_that_fails_leaves_what_was_there_and_nothing_is_fetched_to_elsewhere() {
    let place = Place::new();
    let path = snapshot(&place, "amp/T-1.json");
    place.file("home/.local/share/hookhost/snapshots/amp/T-1.json", THREAD);
    program(&place, "amp", "echo half; echo no network >&2; exit 1");
    let failed = place.plugin("amp", &["prepare-transcript", "--session-ref", &path], b"");
    assert_refused(&failed);
    assert!(
        String::from_utf8_lossy(&failed.err).contains("no network"),
        "{}",
        failed.log()
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), THREAD);
    let elsewhere = place.path("repo/T-2.json");
    assert_refused(&place.plugin(
        "amp",
        &["read-transcript", "--session-ref", elsewhere.to_str().unwrap()],
        b"",
    ));
    assert!(!elsewhere.exists());
}

#[test]
fn what_a_program_gives_out_is_kept_only_when_it_is_complete() {
    let place = Place::new();
    let path = snapshot(&place, "amp/T-1.json");
    place.file("home/.local/share/hookhost/snapshots/amp/T-1.json", THREAD);
    let prepare = ["prepare-transcript", "--session-ref", path.as_str()];
    let half = &THREAD[..THREAD.len() / 2];
    for output in ["", "   ", half, "Session not found", &format!("{THREAD}\n{THREAD}")] {
        program(&place, "amp", &format!("printf '%s' '{output}'"));
        assert_refused(&place.plugin("amp", &prepare, b""));
        assert_eq!(fs::read_to_string(&path).unwrap(), THREAD);
    }
    // The same for one that writes the file itself.
    let path = snapshot(&place, "goose/s1.json");
    let session = r#"{"id":"s1","conversation":[]}"#;
    place.file("home/.local/share/hookhost/snapshots/goose/s1.json", session);
    let writes = |output: &str| format!("for word; do file=$word; done\nprintf '%s' '{output}' > \"$file\"");
    let prepare = ["prepare-transcript", "--session-ref", path.as_str()];
    program(&place, "goose", &writes(&session[..9]));
    assert_refused(&place.plugin("goose", &prepare, b""));
    assert_eq!(fs::read_to_string(&path).unwrap(), session);
    let longer = session.replace("s1", "s2");
    program(&place, "goose", &writes(&longer));
    let prepared = place.plugin("goose", &prepare, b"");
    assert_eq!(prepared.code, Some(0), "{}", prepared.log());
    assert_eq!(fs::read_to_string(&path).unwrap(), longer);
}

#[test]
fn a_compressed_transcript_is_unpacked_by_its_own_program_or_said_to_need_it() {
    let place = Place::new();
    let id = "019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3";
    let packed = place.file(
        &format!("home/.codex/archived_sessions/rollout-2026-02-05T20-28-55-{id}.jsonl.zst"),
        b"\x28\xb5\x2f\xfd packed",
    );
    let line = r#"{"timestamp":"2026-02-05T20:28:55.000Z","type":"session_meta","payload":{"id":"019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3"}}"#;
    // This system's own program must not be found.
    let path = place.path("bin").to_str().unwrap().to_owned();
    let read = |session_ref: &str| {
        let arguments = ["read-transcript", "--agent", "codex", "--session-ref", session_ref];
        place.hookhost(&arguments, b"", &[("PATH", &path)])
    };
    let refused = read(id);
    assert_refused(&refused);
    assert!(
        String::from_utf8_lossy(&refused.err).contains("zstd"),
        "{}",
        refused.log()
    );
    program(&place, "zstd", &format!("echo '{line}'"));
    for session_ref in [id, packed.as_str()] {
        assert_eq!(String::from_utf8_lossy(&read(session_ref).out), format!("{line}\n"));
    }
    // It was packed again since.
    let changed = place.file("changed", "");
    fs::rename(&changed, &packed).unwrap();
    let later = std::time::SystemTime::now() + Duration::from_secs(60);
    fs::File::options()
        .append(true)
        .open(&packed)
        .unwrap()
        .set_modified(later)
        .unwrap();
    program(&place, "zstd", "echo later");
    assert_eq!(String::from_utf8_lossy(&read(id).out), "later\n");
    // What is written goes into a file of its own, which is then the session's.
    let session = json!({
        "session_id": id, "agent_name": "codex", "repo_path": place.repo(), "session_ref": "",
        "start_time": "2026-01-02T03:04:05Z", "native_data": "YQo=",
        "modified_files": [], "new_files": [], "deleted_files": [],
    });
    let written = place.plugin("codex", &["write-session"], session.to_string().as_bytes());
    assert_eq!(written.code, Some(0), "{}", written.log());
    assert_eq!(read(id).out, b"a\n");
}

#[test]
fn a_session_in_a_database_is_read_with_sqlites_own_program() {
    let place = Place::new();
    let path = snapshot(&place, "kiro/7c.jsonl");
    let reading = ["read-transcript", "--session-ref", path.as_str()];
    assert_refused(&place.plugin("kiro", &reading, b""));
    place.file("home/.local/share/kiro-cli/data.sqlite3", "a database");
    // Answers as the program does; the arguments are looked at below.
    let calls = place.path("calls");
    let script = format!(
        "for word; do echo \"$word\"; done > {}\nprintf '%s' '[{{\"value\":\"a\"}},\n{{\"value\":\"b\"}}]'",
        calls.display()
    );
    program(&place, "sqlite3", &script);
    let came = place.plugin("kiro", &reading, b"");
    assert_eq!(
        String::from_utf8_lossy(&came.out),
        "{\"value\":\"a\"}\n{\"value\":\"b\"}\n",
        "{}",
        came.log()
    );
    let said = fs::read_to_string(&calls).unwrap();
    assert!(
        said.contains("-readonly") && said.contains("conversation_id = '7c'"),
        "{said}"
    );
}

#[test]
fn a_text_is_generated_by_the_agents_own_program_whose_hooks_stay_silent() {
    let place = Place::new();
    let generate = ["generate-text", "--model", "some-model"];
    assert_refused(&place.plugin(AGENT, &generate, b"a prompt"));
    program(&place, "claude", "echo \"$* / $HOOKHOST_DISABLE / $(cat)\"");
    let text = json(&place.plugin(AGENT, &generate, b"a prompt"))["text"].clone();
    let text = text.as_str().unwrap();
    assert!(text.contains("some-model / 1 / a prompt"), "{text}");
    let text = json(&place.plugin(AGENT, &["generate-text", "--model", ""], b"a prompt"))["text"].clone();
    assert!(!text.as_str().unwrap().contains("model"), "{text}");
    program(&place, "claude", "exit 3");
    assert_refused(&place.plugin(AGENT, &generate, b"a prompt"));
}

#[test]
fn a_program_in_a_relative_directory_of_path_is_not_started() {
    let place = Place::new();
    program(&place, "../repo/evil/claude", "echo evil");
    let answer = place.hookhost(
        &["generate-text", "--agent", AGENT, "--model", ""],
        b"a prompt",
        &[("PATH", "evil:.:/usr/bin:/bin")],
    );
    assert_refused(&answer);
}

#[test]
fn a_transcript_that_goes_on_growing_is_not_waited_for_longer_than_a_few_seconds() {
    let place = Place::new();
    let path = place.file("t.jsonl", "{\"type\":\"system\"}\n");
    let growing = path.clone();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        while stopped.recv_timeout(Duration::from_millis(100)).is_err() {
            let mut file = fs::File::options().append(true).open(&growing).unwrap();
            std::io::Write::write_all(&mut file, b"{\"type\":\"system\"}\n").unwrap();
        }
    });
    let begin = Instant::now();
    let prepared = place.plugin(AGENT, &["prepare-transcript", "--session-ref", &path], b"");
    let took = begin.elapsed();
    stop.send(()).unwrap();
    writer.join().unwrap();
    let claims = json(&place.plugin(AGENT, &["info"], b""))["capabilities"]["transcript_preparer"] == Value::Bool(true);
    assert_eq!(prepared.code == Some(0), claims, "{}", prepared.log());
    assert!(took < Duration::from_secs(6), "{took:?}");
}

#[test]
fn a_half_written_document_is_given_the_time_to_become_whole() {
    let place = Place::new();
    let whole = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    let path = place.file("t.json", &whole[..20]);
    let later = path.clone();
    let writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        fs::write(&later, whole).unwrap();
    });
    let prepared = place.plugin("cline", &["prepare-transcript", "--session-ref", &path], b"");
    writer.join().unwrap();
    assert_eq!(prepared.code, Some(0), "{}", prepared.log());

    fs::write(&path, &whole[..20]).unwrap();
    assert_refused(&place.plugin("cline", &["prepare-transcript", "--session-ref", &path], b""));
}
