//! Sessions as agents deliver them.

use std::fs;

use super::*;
use crate::model::{Event, EventKind};

fn event(kind: EventKind, session: &str) -> Event {
    Event {
        kind,
        session_id: session.to_owned(),
        previous_session_id: None,
        session_ref: None,
        prompt: None,
        model: None,
        timestamp: None,
        tool_use_id: None,
        subagent_id: None,
        tool_input: None,
        subagent_type: None,
        task_description: None,
        response_message: None,
        metadata: vec![],
    }
}

fn prompt(session: &str, text: &str) -> Event {
    Event {
        prompt: Some(text.to_owned()),
        ..event(EventKind::TurnStart, session)
    }
}

fn subagent(kind: EventKind, call: Option<&str>, id: Option<&str>) -> Event {
    Event {
        tool_use_id: call.map(str::to_owned),
        subagent_id: id.map(str::to_owned),
        ..event(kind, "s")
    }
}

/// Hooks that are called one after the other, `seconds` after the first.
struct Session {
    journal: Journal,
    cwd: &'static str,
    _folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            journal: Journal::at(folder.path()),
            cwd: "/home/dev/project",
            _folder: folder,
        }
    }

    /// Whether the event counted.
    fn hook(&self, seconds: u32, event: Event) -> bool {
        self.payload(seconds, vec![event]) == 1
    }

    /// How many of the events of one payload counted.
    fn payload(&self, seconds: u32, events: Vec<Event>) -> usize {
        let given = events.len();
        let mut record = Record {
            id: Record::new_id(),
            time: format!("2026-01-02T03:{:02}:{:02}.000Z", seconds / 60, seconds % 60),
            agent: "agent".to_owned(),
            hook: "Hook".to_owned(),
            session_id: Some(events[0].session_id.clone()),
            cwd: Some(self.cwd.to_owned()),
            events,
            ..Record::default()
        };
        self.journal.append(&mut record).unwrap();
        assert_eq!(record.events.len() + record.repeats.len(), given);
        record.events.len()
    }

    fn records(&self, session: &str) -> usize {
        let text = fs::read_to_string(self.journal.session_file("agent", Some(session))).unwrap();
        let is_record = |line: &&str| Record::read(line.as_bytes()).is_ok();
        assert!(text.lines().all(|line| is_record(&line)));
        text.lines().count()
    }
}

use EventKind::{Compaction, SessionEnd, SessionStart, SubagentEnd, SubagentStart, TurnEnd, TurnStart};

#[test]
fn a_repeat_is_kept_as_a_record_without_an_event() {
    let session = Session::new();
    assert!(session.hook(0, event(SessionStart, "s")));
    assert!(!session.hook(1, event(SessionStart, "s")));
    assert_eq!(session.records("s"), 2);
}

#[test]
fn a_session_starts_again_after_something_happened_in_it() {
    let session = Session::new();
    assert!(session.hook(0, event(SessionStart, "s")));
    assert!(session.hook(1, prompt("s", "a")));
    assert!(session.hook(2, event(SessionStart, "s")));
    assert!(!session.hook(3, event(SessionStart, "s")));
    assert!(session.hook(4, event(SessionEnd, "s")));
    assert!(session.hook(5, event(SessionStart, "s")));
}

#[test]
fn ends_count_once() {
    let session = Session::new();
    assert!(session.hook(0, event(SessionStart, "s")));
    assert!(session.hook(1, prompt("s", "a")));
    assert!(session.hook(2, event(TurnEnd, "s")));
    assert!(!session.hook(3, event(TurnEnd, "s")));
    assert!(session.hook(4, prompt("s", "b")));
    assert!(session.hook(5, event(TurnEnd, "s")));
    assert!(session.hook(6, event(SessionEnd, "s")));
    assert!(!session.hook(7, event(SessionEnd, "s")));
    assert!(!session.hook(8, event(TurnEnd, "s")));
}

#[test]
fn an_end_without_a_start_counts_once() {
    let session = Session::new();
    assert!(session.hook(0, event(SessionEnd, "s")));
    assert!(!session.hook(1, event(SessionEnd, "s")));
    let session = Session::new();
    assert!(session.hook(0, event(TurnEnd, "s")));
    assert!(!session.hook(1, event(TurnEnd, "s")));
}

#[test]
fn a_turn_that_ends_after_its_session_did_still_ends() {
    let session = Session::new();
    assert!(session.hook(0, prompt("s", "a")));
    assert!(session.hook(1, event(SessionEnd, "s")));
    assert!(session.hook(1, event(TurnEnd, "s")));
}

#[test]
fn a_start_after_the_first_prompt_counts_and_does_not_hide_a_prompt_that_came_twice() {
    let session = Session::new();
    assert!(session.hook(0, prompt("s", "a")));
    assert!(session.hook(1, event(SessionStart, "s")));
    assert!(!session.hook(2, prompt("s", "a")));
}

#[test]
fn the_same_prompt_counts_again_when_it_is_said_again() {
    let session = Session::new();
    assert!(session.hook(0, prompt("s", "go on")));
    assert!(!session.hook(1, prompt("s", "go on")));
    assert!(session.hook(2, prompt("s", "stop")));
    // Interrupted: no end of the turn.
    assert!(session.hook(60, prompt("s", "stop")));
    assert!(session.hook(61, event(TurnEnd, "s")));
    assert!(session.hook(62, prompt("s", "stop")));
}

#[test]
fn numbered_prompts_are_told_apart_by_their_number() {
    let session = Session::new();
    let numbered = |id: &str| Event {
        metadata: vec![("prompt_id".to_owned(), id.to_owned())],
        ..prompt("s", "yes\n\"quoted\"")
    };
    assert!(session.hook(0, numbered("1")));
    assert!(!session.hook(0, numbered("1")));
    assert!(session.hook(0, numbered("2")));
}

#[test]
fn subagents_are_told_apart_by_call_or_by_id() {
    let session = Session::new();
    assert!(session.hook(0, subagent(SubagentStart, Some("t1"), None)));
    assert!(session.hook(0, subagent(SubagentStart, Some("t2"), None)));
    assert!(!session.hook(0, subagent(SubagentStart, Some("t1"), None)));
    // The agent's own report of a subagent's end, then the tool call's, and the other way round.
    assert!(session.hook(9, subagent(SubagentEnd, Some("t1"), Some("a1"))));
    assert!(!session.hook(9, subagent(SubagentEnd, Some("a1"), Some("a1"))));
    assert!(session.hook(10, subagent(SubagentEnd, None, Some("a2"))));
    assert!(!session.hook(10, subagent(SubagentEnd, Some("t2"), Some("a2"))));
    // Late, behind the next prompt.
    assert!(session.hook(11, prompt("s", "x")));
    assert!(!session.hook(12, subagent(SubagentEnd, Some("t1"), Some("a1"))));
}

#[test]
fn a_subagent_that_is_woken_again_ends_again() {
    let session = Session::new();
    assert!(session.hook(0, subagent(SubagentStart, Some("t1"), None)));
    assert!(session.hook(1, subagent(SubagentEnd, Some("t1"), Some("a"))));
    assert!(session.hook(2, subagent(SubagentStart, Some("t2"), None)));
    assert!(session.hook(3, subagent(SubagentEnd, Some("t2"), Some("a"))));
}

#[test]
fn subagents_whose_ids_are_names_start_and_end_in_turn() {
    let session = Session::new();
    assert!(session.hook(0, subagent(SubagentStart, None, Some("reviewer"))));
    assert!(!session.hook(0, subagent(SubagentStart, None, Some("reviewer"))));
    assert!(session.hook(1, subagent(SubagentEnd, None, Some("reviewer"))));
    assert!(!session.hook(1, subagent(SubagentEnd, None, Some("reviewer"))));
    assert!(session.hook(2, subagent(SubagentStart, None, Some("reviewer"))));
    assert!(session.hook(3, prompt("s", "x")));
    assert!(session.hook(4, subagent(SubagentStart, None, Some("reviewer"))));
}

#[test]
fn subagents_without_any_id_are_told_apart_by_their_task() {
    let session = Session::new();
    let task = |text: &str| Event {
        task_description: Some(text.to_owned()),
        tool_input: Some("{\"a\":1}".to_owned()),
        ..subagent(SubagentStart, None, None)
    };
    assert!(session.hook(0, task("one")));
    assert!(session.hook(0, task("two")));
    assert!(!session.hook(0, task("one")));
    assert!(session.hook(60, task("one")));
}

#[test]
fn a_long_turn_is_compacted_more_than_once() {
    let session = Session::new();
    assert!(session.hook(0, prompt("s", "x")));
    assert!(session.hook(10, event(Compaction, "s")));
    assert!(!session.hook(10, event(Compaction, "s")));
    assert!(session.hook(70, event(Compaction, "s")));
}

#[cfg(unix)]
#[test]
fn one_start_that_comes_with_two_ids_counts_once() {
    let session = Session::new();
    assert!(session.hook(0, event(SessionStart, "random")));
    assert!(!session.hook(1, event(SessionStart, "taken-up-again")));
    assert_eq!(session.records("taken-up-again"), 1);
    assert!(session.hook(2, prompt("taken-up-again", "x")));
}

#[cfg(unix)]
#[test]
fn two_sessions_that_have_nothing_to_do_with_each_other_both_start() {
    // After a prompt in the first one.
    let session = Session::new();
    assert!(session.hook(0, event(SessionStart, "one")));
    assert!(session.hook(1, prompt("one", "x")));
    assert!(session.hook(2, event(SessionStart, "two")));
    // After its end.
    assert!(session.hook(3, event(SessionEnd, "two")));
    assert!(session.hook(4, event(SessionStart, "three")));
    // Later.
    assert!(session.hook(30, event(SessionStart, "four")));
    // When it says from where it goes on.
    let forked = Event {
        previous_session_id: Some("four".to_owned()),
        ..event(SessionStart, "five")
    };
    assert!(session.hook(31, forked));
    // In another directory.
    let elsewhere = Session {
        cwd: "/elsewhere",
        ..session
    };
    assert!(elsewhere.hook(32, event(SessionStart, "six")));
}

#[test]
fn records_without_a_session_have_a_file_of_their_own() {
    let session = Session::new();
    let mut record = Record {
        agent: "../agent".to_owned(),
        ..Record::default()
    };
    session.journal.append(&mut record).unwrap();
    assert!(session.journal.folder().join("%%2E%2E%2Fagent/%.jsonl").is_file());
}

#[test]
fn a_session_that_stays_locked_loses_no_record() {
    let session = Session::new();
    let _held = Locked::open(&session.journal.session_file("agent", Some("s"))).unwrap();
    let mut record = Record {
        agent: "agent".to_owned(),
        session_id: Some("s".to_owned()),
        events: vec![event(TurnStart, "s")],
        ..Record::default()
    };
    session.journal.append(&mut record).unwrap();
    let text = fs::read(session.journal.session_file("agent", None)).unwrap();
    let kept = Record::read(text.trim_ascii_end()).unwrap();
    assert_eq!(kept.failure.unwrap().code, "journal-locked");
    assert_eq!(kept.events, [event(TurnStart, "s")]);
}

#[test]
fn a_payload_may_end_what_it_begins() {
    let session = Session::new();
    let whole = || {
        let kinds = [EventKind::TurnStart, EventKind::TurnEnd, EventKind::SessionEnd];
        kinds.map(|kind| event(kind, "s")).to_vec()
    };
    assert!(session.hook(0, event(EventKind::SessionStart, "s")));
    assert!(session.hook(1, prompt("s", "first")));
    assert!(session.hook(2, event(EventKind::TurnEnd, "s")));
    assert_eq!(session.payload(3, whole()), 3, "the turn that ends is another one");
    assert_eq!(session.payload(20, whole()), 3);
    let again = vec![event(EventKind::TurnEnd, "s"), prompt("s", "first")];
    assert_eq!(session.payload(40, vec![prompt("s", "first")]), 1);
    assert_eq!(session.payload(41, again), 2, "the turn ended between the two");
}
