//! Many writers at once, and writers that are killed.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use hookhost::journal::read::Lines;
use hookhost::journal::record::Payload;
use hookhost::journal::{Journal, Record};

use crate::fake_agent::{Machine, records};

const AGENT: &str = "claude-code";

const WRITERS: usize = 64;

#[test]
fn sixty_four_hooks_at_once_lose_and_tear_nothing() {
    const HOOKS: usize = 4;
    let machine = Machine::new();
    let barrier = Barrier::new(WRITERS);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (machine, barrier) = (&machine, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for hook in 0..HOOKS {
                    let payload = format!(
                        r#"{{"session_id":"s","transcript_path":"/x","cwd":"/x","hook_event_name":"PreToolUse","tool_name":"Agent","tool_use_id":"t-{writer}-{hook}","tool_input":{{"prompt":"{}"}}}}"#,
                        "p".repeat(writer * 100)
                    );
                    machine.hook(AGENT, "PreToolUse", payload.as_bytes()).assert_harmless("parallel");
                }
            });
        }
    });
    let records = machine.records(AGENT, Some("s"));
    assert_eq!(records.len(), WRITERS * HOOKS);
    assert!(
        records
            .iter()
            .all(|record| record.events.len() == 1 && record.failure.is_none())
    );
    let mut calls: Vec<_> = records
        .iter()
        .map(|record| record.events[0].tool_use_id.clone().unwrap())
        .collect();
    calls.sort();
    calls.dedup();
    assert_eq!(calls.len(), WRITERS * HOOKS);
}

#[test]
fn a_hook_that_is_delivered_sixty_four_times_at_once_gives_one_event() {
    let machine = Machine::new();
    let barrier = Barrier::new(WRITERS);
    let stop = br#"{"session_id":"s","transcript_path":"/x","cwd":"/x","hook_event_name":"Stop"}"#;
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                barrier.wait();
                machine.hook(AGENT, "Stop", stop).assert_harmless("parallel");
            });
        }
    });
    let records = machine.records(AGENT, Some("s"));
    assert_eq!(records.len(), WRITERS);
    assert_eq!(records.iter().map(|record| record.events.len()).sum::<usize>(), 1);
    assert_eq!(
        records.iter().map(|record| record.repeats.len()).sum::<usize>(),
        WRITERS - 1
    );
}

#[test]
fn thousands_of_records_by_sixty_four_writers_are_all_there_and_whole() {
    const RECORDS: usize = 100;
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::at(folder.path());
    let barrier = Barrier::new(WRITERS);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (journal, barrier) = (&journal, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for number in 0..RECORDS {
                    append(journal, &format!("{writer}-{number}"), (writer * 7 + number) * 40);
                }
            });
        }
    });
    let records = records(&journal.session_file(AGENT, Some("s")));
    assert_eq!(records.len(), WRITERS * RECORDS);
    let mut ids: Vec<_> = records.into_iter().map(|record| record.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), WRITERS * RECORDS);
}

fn append(journal: &Journal, id: &str, size: usize) {
    let payload = format!("{{\"text\":\"{}\"}}", "x".repeat(size));
    let mut record = Record {
        id: id.to_owned(),
        time: "2026-01-02T03:04:05.678Z".to_owned(),
        agent: AGENT.to_owned(),
        session_id: Some("s".to_owned()),
        payload: Payload::of(payload.as_bytes()),
        ..Record::default()
    };
    journal.append(&mut record).unwrap();
}

/// Not a test: the process that the test below kills. It writes records until then, and says which are written.
#[test]
#[ignore = "a part of the test below"]
fn writer_that_is_killed() {
    let Ok(folder) = std::env::var("HOOKHOST_TEST_JOURNAL") else {
        return;
    };
    let round = std::env::var("HOOKHOST_TEST_ROUND").unwrap();
    let journal = Journal::at(folder);
    for number in 0.. {
        append(&journal, &format!("{round}-{number}"), number * 97 % 9000);
        println!("\nwritten {round}-{number}");
        std::io::stdout().flush().unwrap();
    }
}

#[test]
fn a_writer_that_is_killed_at_any_moment_loses_no_record_and_the_next_one_goes_on() {
    const ROUNDS: usize = 150;
    let folder = tempfile::tempdir().unwrap();
    let mut written = vec![];
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "concurrency::writer_that_is_killed",
                "--ignored",
                "--nocapture",
            ])
            .env("HOOKHOST_TEST_JOURNAL", folder.path())
            .env("HOOKHOST_TEST_ROUND", round.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The first one shows that the process has come that far; then the kill comes at another moment each time.
        for line in lines.by_ref() {
            if let Some(id) = line.unwrap().strip_prefix("written ") {
                written.push(id.to_owned());
                break;
            }
        }
        std::thread::sleep(Duration::from_micros(u64::try_from(round * 137 % 9000).unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
        // What it managed to say before.
        written.extend(
            lines
                .map_while(Result::ok)
                .filter_map(|line| line.strip_prefix("written ").map(str::to_owned)),
        );
    }
    let path = Journal::at(folder.path()).session_file(AGENT, Some("s"));
    let mut lines = Lines::open(&path, 0).unwrap();
    let mut found = HashSet::new();
    // The system stops a large write in the middle when its process is killed.
    let mut torn = 0;
    while let Some((_, record)) = lines.next_record().unwrap() {
        match record {
            Ok(record) => assert!(found.insert(record.id)),
            Err(_) => torn += 1,
        }
    }
    let lost: Vec<&String> = written.iter().filter(|id| !found.contains(id.as_str())).collect();
    assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), written.len());
    assert!(torn <= ROUNDS, "{torn} torn");
    assert!(written.len() > 1000, "only {} records", written.len());
    println!(
        "{} records by {ROUNDS} writers that were killed; none lost",
        written.len()
    );
}
