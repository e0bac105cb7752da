//! Event streams through the built program.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::invariants::root;

fn ingest(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookhost"));
    command
        .args(["ingest", "--json", "--agent"])
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn stream(agent: &str, file: &str) -> std::path::PathBuf {
    root().join("tests/fixtures").join(agent).join("transcripts").join(file)
}

/// The types of the events on stdout, and what stderr says.
fn run(home: &Path, arguments: &[&str]) -> (Vec<u64>, String) {
    let output = ingest(home, arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (types(&output.stdout), String::from_utf8(output.stderr).unwrap())
}

fn types(lines: &[u8]) -> Vec<u64> {
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice::<Value>(line).unwrap()["type"].as_u64().unwrap())
        .collect()
}

#[test]
fn all_forms_of_a_stream_give_the_same_events() {
    let home = tempfile::tempdir().unwrap();
    const EXPECTED: [u64; 11] = [1, 2, 6, 7, 3, 2, 4, 3, 2, 3, 5];
    for file in [
        "session/transcript.jsonl",
        "page/transcript.json",
        "events/transcript.sse",
    ] {
        let file = stream("hast", file);
        let (types, _) = run(home.path(), &["hast", "--no-record", file.to_str().unwrap()]);
        assert_eq!(types, EXPECTED, "{}", file.display());
    }
    assert!(!home.path().join(".local").exists(), "nothing was to be recorded");
}

#[test]
fn a_stream_is_recorded_and_its_records_can_be_replayed() {
    let home = tempfile::tempdir().unwrap();
    let (types, told) = run(
        home.path(),
        &["hm", stream("hm", "session/transcript.jsonl").to_str().unwrap()],
    );
    assert_eq!(types, [1, 2, 6, 7, 3, 2, 4, 3, 5]);
    assert!(told.starts_with("44 payloads, 9 events"), "{told}");
    let journal = home
        .path()
        .join(".local/share/hookhost/journal/hm/0198c0de-0000-7000-8000-000000000001.jsonl");
    assert_eq!(fs::read_to_string(&journal).unwrap().lines().count(), 44);
    let replay = Command::new(env!("CARGO_BIN_EXE_hookhost"))
        .args(["replay", "--check"])
        .arg(&journal)
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stdout));
}

#[test]
fn a_recording_tells_more_when_the_list_comes_before_its_lines() {
    let home = tempfile::tempdir().unwrap();
    let lines = fs::read_to_string(stream("hh", "recorded-1.0.0/transcript.jsonl")).unwrap();
    let list = fs::read_to_string(root().join("tests/fixtures/hh/payloads/event--recorded-list.json")).unwrap();
    let both = home.path().join("both.jsonl");
    fs::write(&both, list + &lines).unwrap();
    let given = |file: &Path| run(home.path(), &["hh", "--no-record", file.to_str().unwrap()]).0;
    assert_eq!(given(&both), [1, 2, 3, 2, 6, 7, 3, 5]);
    assert_eq!(
        given(&stream("hh", "recorded-export-1.0.0/transcript.json")),
        [1, 2, 3, 2, 6, 7, 3, 5]
    );
    assert_eq!(
        given(&stream("hh", "recorded-1.0.0/transcript.jsonl")),
        [2, 3, 2, 6, 7, 3]
    );
}

#[test]
fn a_stream_that_is_cut_off_is_kept_and_said() {
    let home = tempfile::tempdir().unwrap();
    let whole = fs::read(stream("hh", "session/transcript.jsonl")).unwrap();
    let cut = home.path().join("cut.jsonl");
    // In the middle of the second prompt's line: the first turn has ended with the stream.
    let place = whole.windows(16).position(|part| part == b"Delete the notes").unwrap();
    fs::write(&cut, &whole[..place]).unwrap();
    let (types, told) = run(home.path(), &["hh", cut.to_str().unwrap()]);
    assert_eq!(types, [1, 2, 3]);
    assert!(
        told.contains("the stream was cut off in the middle of a value"),
        "{told}"
    );
    let journal = home
        .path()
        .join(".local/share/hookhost/journal/hh/0198c6e2-7a10-7c3e-9b1f-2f6a5d4e8c71.jsonl");
    let records = fs::read_to_string(&journal).unwrap();
    let last_payload = records.lines().rev().find(|line| line.contains("payload")).unwrap();
    assert!(last_payload.contains("malformed-payload"), "{last_payload}");
}

#[test]
fn a_growing_file_is_followed() {
    let home = tempfile::tempdir().unwrap();
    let growing = home.path().join("growing.jsonl");
    let text = fs::read_to_string(stream("hm", "session/transcript.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&growing, format!("{}\n{}", lines[0], &lines[1][..20])).unwrap();
    let mut child = ingest(home.path(), &["hm", "--follow", growing.to_str().unwrap()])
        .spawn()
        .unwrap();
    let mut events = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || types(events.next().unwrap().unwrap().as_bytes())[0];
    assert_eq!((next(), next()), (1, 2));
    let mut file = fs::OpenOptions::new().append(true).open(&growing).unwrap();
    writeln!(file, "{}\n{}", &lines[1][20..], lines.last().unwrap()).unwrap();
    assert_eq!(next(), 5);
    fs::remove_file(&growing).unwrap();
    assert!(child.wait().unwrap().success(), "following ends with the file");
}
