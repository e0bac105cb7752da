//! What the reader makes of the fixtures, as far as the host does not sum it up.

use hookhost_sdk::testing::{fixture_folder, read};
use hookhost_sdk::{Adapter, Companion, Entry, Item, Object, Rewind, Start, UsageScope, Wanted};

use crate::ClaudeCode;

fn transcript(case: &str) -> Vec<u8> {
    let folder = fixture_folder("claude-code/transcripts").unwrap();
    std::fs::read(folder.join(case).join("transcript.jsonl")).unwrap()
}

fn entries(case: &str) -> Vec<Entry> {
    read::<ClaudeCode>(&transcript(case), Vec::<Companion>::new())
        .unwrap()
        .0
}

fn reading(bytes: &[u8], session_ref: Option<&str>, want: Wanted) -> Vec<Entry> {
    let start = Start {
        session_ref: session_ref.map(str::to_owned),
        companions: vec![],
        from: 0,
        want,
    };
    let mut reading = ClaudeCode.transcript(start).unwrap();
    let mut entries = reading.push(bytes).unwrap();
    entries.extend(reading.finish().unwrap());
    entries
}

fn picked<T>(entries: &[Entry], pick: impl Fn(&Item) -> Option<T>) -> Vec<T> {
    entries.iter().filter_map(|entry| pick(&entry.item)).collect()
}

#[test]
fn a_failed_call_may_say_so_in_a_list_of_blocks() {
    let is_error = |content: &str| {
        let line = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":{content}}}]}}}}"#
        );
        let results = picked(&reading(line.as_bytes(), None, Wanted::FILES), |item| match item {
            Item::ToolResult(result) => Some(result.is_error),
            _ => None,
        });
        results[0]
    };
    assert!(is_error(r#""<tool_use_error>no</tool_use_error>""#));
    assert!(is_error(
        r#"[{"type":"text","text":"<tool_use_error>no</tool_use_error>"}]"#
    ));
    assert!(!is_error(r#""\"<tool_use_error>\" is a mark""#));
    assert!(!is_error(
        r#"[{"type":"text","text":"ok"},{"type":"text","text":"<tool_use_error>"}]"#
    ));
    assert!(!is_error("[]"));
}

#[test]
fn a_compaction_has_its_trigger_and_its_summary() {
    let marks = |case| {
        picked(&entries(case), |item| match item {
            Item::Compaction(mark) => Some((mark.trigger.clone(), mark.summary.clone())),
            _ => None,
        })
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        marks("session"),
        [(
            text("auto"),
            text("Summary of the work so far: a greet module was added and docs/notes.md removed.")
        )]
    );
    assert_eq!(
        marks("compacted"),
        [
            (text("manual"), text("Summary: one was done.")),
            (None, text("Summary without a boundary."))
        ]
    );
}

#[test]
fn calls_are_linked_to_their_subagents() {
    let links = |case| {
        picked(&entries(case), |item| match item {
            Item::ToolResult(result) => result.subagent_id.clone().map(|id| (result.id.clone(), id)),
            _ => None,
        })
    };
    assert_eq!(
        links("session"),
        [("toolu_04".to_owned(), "a7c41e09d2b35f68".to_owned())]
    );
    assert_eq!(
        links("sidechains-in-main-file"),
        [("t1".to_owned(), "a1b2c3d4".to_owned())]
    );
}

#[test]
fn facts_about_the_session_are_told_once() {
    let facts = picked(&entries("compacted"), |item| match item {
        Item::Session(facts) => Some((facts.session_id.is_some(), facts.title.clone())),
        _ => None,
    });
    let title = |text: &str| Some(text.to_owned());
    assert_eq!(
        facts,
        [
            (false, title("Greets people")),
            (true, None),
            (false, title("Counting")),
            (false, title("My count"))
        ]
    );
    let forked = picked(&entries("forked"), |item| match item {
        Item::Session(facts) => facts.parent_session_id.clone(),
        _ => None,
    });
    assert_eq!(forked, ["00000000-0000-4000-8000-00000000aaaa"]);
}

#[test]
fn the_same_numbers_are_told_once() {
    let rows = picked(&entries("tokens"), |item| match item {
        Item::Usage(usage) => match &usage.scope {
            UsageScope::Call(id) => Some((id.clone(), usage.output)),
            UsageScope::RunningTotal(_) => None,
        },
        _ => None,
    });
    let rows: Vec<_> = rows.iter().map(|(id, output)| (id.as_str(), *output)).collect();
    assert_eq!(rows[..2], [("m1", 2), ("m1", 90)]);
    assert_eq!(
        rows[4],
        ("m1", 90),
        "what is told again after another call is for the host to judge"
    );
}

#[test]
fn a_subagents_own_file_is_about_the_subagent() {
    let folder = fixture_folder("claude-code/transcripts/session/transcript/subagents").unwrap();
    let file = "agent-a7c41e09d2b35f68.jsonl";
    let bytes = std::fs::read(folder.join(file)).unwrap();
    let entries = reading(&bytes, Some(&format!("/s/subagents/{file}")), Wanted::all());
    assert!(entries.iter().all(|entry| entry.subagent.is_none()));
    let Item::Session(facts) = &entries[0].item else {
        panic!("facts come first")
    };
    assert_eq!(facts.session_id.as_deref(), Some("a7c41e09d2b35f68"));
    assert_eq!(
        facts.parent_session_id.as_deref(),
        Some("3f6c1a52-8d0e-4b7a-9c11-5e2d7a904b10")
    );
    let said = picked(&entries, |item| match item {
        Item::AssistantText(said) => Some(said.text.clone()),
        Item::UserPrompt(_) => panic!("nobody typed it"),
        _ => None,
    });
    assert_eq!(said, ["Only README.md mentions greet."]);
    let entries = reading(&bytes, None, Wanted::all());
    assert!(
        entries
            .iter()
            .all(|entry| entry.subagent.as_deref() == Some("a7c41e09d2b35f68"))
    );
}

#[test]
fn what_is_not_wanted_is_not_given() {
    let bytes = transcript("session");
    let only = |want: Wanted| {
        let entries = reading(&bytes, None, want);
        entries.into_iter().all(|entry| match entry.item {
            Item::UserPrompt(_) => want.contains(Wanted::PROMPTS),
            Item::AssistantText(_) => want.contains(Wanted::TEXTS),
            Item::Thinking(_) => want.contains(Wanted::THINKING),
            Item::Usage(_) => want.contains(Wanted::TOKENS),
            Item::ToolCall(call) => want.contains(Wanted::FILES) && call.input.is_empty(),
            Item::ToolResult(result) => want.contains(Wanted::FILES) && result.output.is_empty(),
            _ => true,
        })
    };
    for want in [
        Wanted::PROMPTS,
        Wanted::TEXTS,
        Wanted::THINKING,
        Wanted::TOKENS,
        Wanted::FILES,
    ] {
        assert!(only(want), "{want:?}");
    }
}

#[test]
fn prompts_are_what_the_fixtures_say() {
    // The host takes back what a rewind names; here it is enough that the fixtures without one agree.
    for case in [
        "session",
        "prompts",
        "files",
        "tokens",
        "sidechains-in-main-file",
        "bytes",
        "compacted",
    ] {
        let folder = fixture_folder("claude-code/transcripts").unwrap();
        let expected = std::fs::read_to_string(folder.join(case).join("expected.json")).unwrap();
        let expected: Vec<_> = Object::parse(&expected)
            .unwrap()
            .items("prompts")
            .into_iter()
            .map(|prompt| prompt.text().unwrap().into_owned())
            .collect();
        let typed = picked(&entries(case), |item| match item {
            Item::UserPrompt(prompt) => Some(prompt.text.clone()),
            _ => None,
        });
        assert_eq!(typed, expected, "{case}");
    }
}

#[test]
fn a_prompt_in_anothers_place_takes_that_back() {
    let rewinds = picked(&entries("rewound"), |item| match item {
        Item::Rewind(rewind) => Some(rewind.clone()),
        _ => None,
    });
    assert_eq!(
        rewinds,
        [Rewind {
            record_id: "00000003-0000-4000-8000-000000000000".to_owned(),
            inclusive: true,
            restores_files: false,
        }]
    );
}

#[test]
fn lines_that_cannot_be_read_are_said_and_passed_over() {
    let (entries, position) = read::<ClaudeCode>(&transcript("bytes"), vec![]).unwrap();
    let unreadable = picked(&entries, |item| match item {
        Item::Unreadable(reason) => Some(reason.clone()),
        _ => None,
    });
    assert_eq!(
        unreadable.len(),
        4,
        "a torn line, null, a list and a text: {unreadable:?}"
    );
    assert!(unreadable[0].starts_with("the text ends in the middle at byte "));
    let whole = transcript("bytes");
    let half_written = br#"{"type":"user","message":{"role":"user","content":"half-writ"#.len();
    assert_eq!(position, (whole.len() - half_written) as u64);
}
