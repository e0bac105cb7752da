//! The fixtures' entries, held against the expected values as far as entries alone tell them; the host's part (net file
//! effects, offsets) is checked where the host is.

use hookhost_sdk::{Companion, Entry, FileOp, Item, Object, UsageScope, testing};

use crate::FactoryDroid;

fn fixture(case: &str, file: &str) -> Vec<u8> {
    let folder = testing::fixture_folder(&format!("factory-droid/transcripts/{case}")).unwrap();
    std::fs::read(folder.join(file)).unwrap_or_default()
}

/// The entries of `<stem>.jsonl` with `<stem>.settings.json`, if there is one.
fn entries(case: &str, stem: &str) -> Vec<Entry> {
    let settings = Companion {
        path: format!("/s/{stem}.settings.json"),
        data: fixture(case, &format!("{stem}.settings.json")),
    };
    let transcript = fixture(case, &format!("{stem}.jsonl"));
    testing::read::<FactoryDroid>(&transcript, vec![settings]).unwrap().0
}

fn prompts(entries: &[Entry]) -> Vec<&str> {
    let prompts = entries.iter().filter_map(|entry| match &entry.item {
        Item::UserPrompt(prompt) => Some(prompt.text.as_str()),
        _ => None,
    });
    prompts.collect()
}

/// Input, written to a cache, read from a cache, output, calls.
fn tokens(entries: &[Entry]) -> [u64; 5] {
    let mut sum = [0; 5];
    for entry in entries {
        if let Item::Usage(usage) = &entry.item {
            let row = [
                usage.input,
                usage.cache_creation,
                usage.cache_read,
                usage.output,
                u64::from(usage.calls),
            ];
            sum.iter_mut().zip(row).for_each(|(sum, row)| *sum += row);
        }
    }
    sum
}

fn expected_tokens(expected: &Object<'_>) -> [u64; 5] {
    let numbers = expected.object("tokens").unwrap();
    [
        "input_tokens",
        "cache_creation_tokens",
        "cache_read_tokens",
        "output_tokens",
        "api_call_count",
    ]
    .map(|key| numbers.count(key))
}

#[test]
fn prompts_and_tokens_are_the_expected_ones() {
    for case in ["session", "reminders"] {
        let entries = entries(case, "transcript");
        let text = String::from_utf8(fixture(case, "expected.json")).unwrap();
        let expected = Object::parse(&text).unwrap();
        let wanted = expected
            .items("prompts")
            .into_iter()
            .map(|item| item.text().unwrap().into_owned());
        assert_eq!(prompts(&entries), wanted.collect::<Vec<_>>(), "{case}");
        assert_eq!(tokens(&entries), expected_tokens(&expected), "{case}");
    }
}

#[test]
fn the_model_is_the_one_in_the_settings() {
    let entries = entries("session", "transcript");
    let last = entries.iter().rev().find_map(|entry| match &entry.item {
        Item::AssistantText(text) => Some(text),
        _ => None,
    });
    let last = last.unwrap();
    assert_eq!(
        last.text,
        "Renamed greet to welcome in src/greet.ts and updated README.md."
    );
    assert_eq!(last.model.as_deref(), Some("claude-sonnet-4-5-20250929"));
}

#[test]
fn the_total_belongs_to_the_beginning() {
    let entries = entries("session", "transcript");
    let total = &entries[0];
    let Item::Usage(usage) = &total.item else {
        panic!("the total first")
    };
    assert_eq!((total.offset, usage.calls), (0, 0));
    assert_eq!(usage.scope, UsageScope::RunningTotal("session".to_owned()));
}

#[test]
fn a_worker_is_linked_and_has_no_prompts() {
    let worker = "1e9d8c7b-6a5f-4e4d-8c3b-2a1f0e9d8c7b";
    let parent = entries("session", "transcript");
    let linked = parent.iter().find_map(|entry| match &entry.item {
        Item::ToolResult(result) if result.id == "toolu_3" => result.subagent_id.as_deref(),
        _ => None,
    });
    assert_eq!(linked, Some(worker));
    let entries = entries("session", worker);
    assert_eq!(prompts(&entries), [""; 0]);
    assert_eq!(tokens(&entries), [300, 1800, 1700, 120, 2]);
    let parent = entries.iter().find_map(|entry| match &entry.item {
        Item::Session(facts) => facts.parent_session_id.as_deref(),
        _ => None,
    });
    assert_eq!(parent, Some("8c4f2b6d-07e1-4d93-a5b8-1f6e3c9d7a20"));
}

#[test]
fn failures_are_read_out_of_texts() {
    let entries = entries("reminders", "transcript");
    let failed: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.item {
            Item::ToolResult(result) if result.is_error => Some(result.id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(failed, ["c1", "c2"]);
    let patched = entries.iter().find_map(|entry| match &entry.item {
        Item::ToolCall(call) if call.id == "c3" => Some(&call.files),
        _ => None,
    });
    let patched: Vec<_> = patched
        .unwrap()
        .iter()
        .map(|file| (file.path.as_str(), file.op))
        .collect();
    assert_eq!(
        patched,
        [
            ("b.ts", FileOp::Delete),
            ("c.ts", FileOp::Create),
            ("d.md", FileOp::Create)
        ]
    );
}

#[test]
fn a_failure_may_stand_in_the_text_only() {
    for (output, expected) in [
        (r#"{"success":false}"#, true),
        (r#"{"success":true}"#, false),
        ("Error: old_str not found", true),
        ("Error: x\n\n[Process exited with code 0]\n", false),
        ("rm: x\n\n[Process exited with code 1]", true),
        ("[Process exited with code 1]\nsaid the log", false),
        ("Edited", false),
    ] {
        assert_eq!(crate::transcripts::failed(output), expected, "{output}");
    }
}
