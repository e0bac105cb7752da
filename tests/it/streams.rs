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
        .env("TMPDIR", home)
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

/// The first two events of a session with this number.
fn beginning(number: u8) -> String {
    let text = fs::read_to_string(stream("hm", "session/transcript.jsonl")).unwrap();
    let first = text.lines().next().unwrap();
    first.replace("000000000001", &format!("{number:012}")) + "\n"
}

#[test]
fn a_file_that_is_followed_may_come_late_and_be_emptied_or_replaced() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("late.jsonl");
    let mut child = ingest(home.path(), &["hm", "--follow", path.to_str().unwrap()])
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(told.next().unwrap().unwrap().starts_with("waiting for "));
    let mut events = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let lines = [events.next().unwrap().unwrap(), events.next().unwrap().unwrap()];
        let [one, two] = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
        assert_eq!((&one["type"], &two["type"]), (&1.into(), &2.into()));
        one["session_id"].as_str().unwrap().chars().last().unwrap()
    };
    // Half a line is left behind, and must not become one with the other file's first.
    fs::write(&path, beginning(1) + "{\"v\":1,\"ty").unwrap();
    assert_eq!(next(), '1');
    fs::rename(&path, home.path().join("late.jsonl.1")).unwrap();
    fs::write(&path, beginning(2)).unwrap();
    assert_eq!(next(), '2');
    fs::write(home.path().join("other"), beginning(3) + &beginning(4)).unwrap();
    fs::rename(home.path().join("other"), &path).unwrap();
    assert_eq!((next(), next()), ('3', '4'));
    fs::write(&path, beginning(5)).unwrap();
    assert_eq!(next(), '5');
    fs::remove_file(&path).unwrap();
    assert!(child.wait().unwrap().success());
    let told = told.map(Result::unwrap).collect::<Vec<_>>().join("\n");
    assert!(
        told.contains("1 could not be read; the last: a JSON value of 10 bytes has no end"),
        "{told}"
    );
    assert!(told.ends_with("5 sessions have no end"), "{told}");
}

#[test]
fn what_cannot_be_read_is_said_before_anything_is_read() {
    let home = tempfile::tempdir().unwrap();
    let whole = stream("hm", "session/transcript.jsonl");
    for (arguments, reason) in [
        (
            ["hm", whole.to_str().unwrap(), "none.jsonl"],
            "none.jsonl: No such file",
        ),
        (["hm", whole.to_str().unwrap(), "."], "cannot read .: "),
        (["hm", "--follow", "no/such/folder"], "no/such/folder: No such file"),
    ] {
        let output = ingest(home.path(), &arguments).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{told}");
        assert!(told.contains(reason), "{told}");
    }
}

/// Every adapter of a stream is given it in every form.
#[test]
fn lists_events_and_marks_are_the_hosts_business() {
    let home = tempfile::tempdir().unwrap();
    for (agent, expected) in [
        ("hm", &[1, 2, 6, 7, 3, 2, 4, 3, 5][..]),
        ("hh", &[1, 2, 3, 2, 6, 7, 3, 5]),
        ("hast", &[1, 2, 6, 7, 3, 2, 4, 3, 2, 3, 5]),
    ] {
        let text = fs::read_to_string(stream(agent, "session/transcript.jsonl")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let events: String = lines.iter().map(|line| format!("data: {line}\r\n\r\n")).collect();
        for form in [
            format!("\u{feff}{}", lines.join("\r\n")),
            lines.concat(),
            format!("\u{feff}[{}]", lines.join(",\n")),
            format!("[{}]\n[{}]", lines[..4].join(","), lines[4..].join(",")),
            format!(": hello\n\ndata: {{\"torn\n\n{events}"),
        ] {
            let file = home.path().join("form");
            fs::write(&file, &form).unwrap();
            let (types, told) = run(home.path(), &[agent, "--no-record", file.to_str().unwrap()]);
            assert_eq!(types, expected, "{agent}: {told}\n{}", &form[..form.len().min(100)]);
        }
    }
}

/// The types of the events in a session's file, and whether they come again when it is replayed.
fn journal(home: &Path, agent: &str, session: &str) -> (Vec<u64>, bool) {
    let file = home.join(format!(".local/share/hookhost/journal/{agent}/{session}.jsonl"));
    let mut types = vec![];
    for line in fs::read_to_string(&file).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        for event in record["events"].as_array().into_iter().flatten() {
            assert_eq!(event["session_id"], session);
            types.push(event["type"].as_u64().unwrap());
        }
    }
    let mut replay = Command::new(env!("CARGO_BIN_EXE_hookhost"));
    let replay = replay.args(["replay", "--check"]).arg(&file).env("HOME", home).output();
    (types, replay.unwrap().status.success())
}

#[test]
fn each_session_of_a_stream_is_recorded_whole() {
    const ONE: &str = "0198c6e2-7a10-7c3e-9b1f-2f6a5d4e8c71";
    const TWO: &str = "0198c6e2-7a10-7c3e-9b1f-2f6a5d4e8c72";
    let home = tempfile::tempdir().unwrap();
    // Both turns are still open when the stream is over: their ends come together.
    let text = fs::read_to_string(stream("hh", "session/transcript.jsonl")).unwrap();
    let first: String = text.lines().take(10).map(|line| format!("{line}\n")).collect();
    let file = home.path().join("two.jsonl");
    fs::write(&file, format!("{first}{}", first.replace(ONE, TWO))).unwrap();
    run(home.path(), &["hh", file.to_str().unwrap()]);
    for session in [ONE, TWO] {
        assert_eq!(journal(home.path(), "hh", session), (vec![1, 2, 3], true), "{session}");
    }
    // Two sessions that begin together, and a turn that begins and ends with one event.
    let text = fs::read_to_string(stream("hast", "session/transcript.jsonl")).unwrap();
    let mixed: String = text
        .lines()
        .map(|line| format!("{line}\n{}\n", line.replace("ses_19b2", "ses_2")))
        .collect();
    fs::write(&file, mixed).unwrap();
    run(home.path(), &["hast", file.to_str().unwrap()]);
    for session in ["ses_19b2", "ses_2"] {
        let (types, _) = journal(home.path(), "hast", session);
        assert_eq!(types, [1, 2, 6, 7, 3, 2, 4, 3, 2, 3, 5], "{session}");
    }
}

#[test]
fn what_comes_before_the_first_event_belongs_to_its_session() {
    let home = tempfile::tempdir().unwrap();
    let lines = fs::read_to_string(stream("hh", "recorded-1.0.0/transcript.jsonl")).unwrap();
    let list = fs::read_to_string(root().join("tests/fixtures/hh/payloads/event--recorded-list.json")).unwrap();
    let file = home.path().join("both.jsonl");
    fs::write(&file, list + &lines).unwrap();
    run(home.path(), &["hh", file.to_str().unwrap()]);
    let session = "01a22e33-2f00-71ad-8ec0-15b087606c68";
    assert_eq!(
        journal(home.path(), "hh", session),
        (vec![1, 2, 3, 2, 6, 7, 3, 5], true)
    );
}
