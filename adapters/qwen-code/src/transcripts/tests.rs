//! The fixtures' entries, held against the expected values as far as entries alone tell them; the host's part (branches,
//! net file effects, offsets) is checked where the host is.

use hookhost_sdk::{Entry, FileOp, Item, Object, testing};

use crate::QwenCode;

fn fixture(case: &str, file: &str) -> Vec<u8> {
    let folder = testing::fixture_folder(&format!("qwen-code/transcripts/{case}")).unwrap();
    std::fs::read(folder.join(file)).unwrap()
}

fn entries(case: &str, file: &str) -> Vec<Entry> {
    testing::read::<QwenCode>(&fixture(case, file), vec![]).unwrap().0
}

/// The items of the main agent's own records that lie on the branch of the last record.
fn standing(entries: &[Entry]) -> Vec<&Item> {
    let main: Vec<&Entry> = entries.iter().filter(|entry| entry.subagent.is_none()).collect();
    let mut branch = vec![];
    let mut next = main.last().and_then(|entry| entry.record_id.clone());
    while let Some(id) = next {
        let record = main
            .iter()
            .find(|entry| entry.record_id.as_deref() == Some(&id))
            .unwrap();
        branch.push(id);
        next = record.parent_id.clone();
    }
    let on_branch = |entry: &&Entry| entry.record_id.as_ref().is_some_and(|id| branch.contains(id));
    main.into_iter()
        .filter(|entry| !entry.inherited)
        .filter(on_branch)
        .map(|entry| &entry.item)
        .collect()
}

fn prompts(entries: &[Entry]) -> Vec<String> {
    let prompts = standing(entries).into_iter().filter_map(|item| match item {
        Item::UserPrompt(prompt) => Some(prompt.text.clone()),
        _ => None,
    });
    prompts.collect()
}

/// Input, written to a cache, read from a cache, output, calls, of all branches.
fn tokens(entries: &[Entry]) -> [u64; 5] {
    let mut sum = [0; 5];
    for entry in entries
        .iter()
        .filter(|entry| !entry.inherited && entry.subagent.is_none())
    {
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

#[test]
fn prompts_tokens_and_summary_are_the_expected_ones() {
    for case in ["session", "tree"] {
        let entries = entries(case, "transcript.jsonl");
        let text = String::from_utf8(fixture(case, "expected.json")).unwrap();
        let expected = Object::parse(&text).unwrap();
        let wanted = expected
            .items("prompts")
            .into_iter()
            .map(|item| item.text().unwrap().into_owned());
        assert_eq!(prompts(&entries), wanted.collect::<Vec<_>>(), "{case}");
        let numbers = expected.object("tokens").unwrap();
        let keys = [
            "input_tokens",
            "cache_creation_tokens",
            "cache_read_tokens",
            "output_tokens",
            "api_call_count",
        ];
        assert_eq!(tokens(&entries), keys.map(|key| numbers.count(key)), "{case}");
        let said: Vec<_> = standing(&entries)
            .into_iter()
            .filter_map(|item| match item {
                Item::AssistantText(text) => Some(text),
                _ => None,
            })
            .collect();
        let last = said.last().unwrap();
        assert_eq!(last.model.as_deref(), expected.text("model").as_deref(), "{case}");
        let message: Vec<_> = said
            .iter()
            .filter(|text| text.message_id == last.message_id)
            .map(|text| text.text.as_str())
            .collect();
        assert_eq!(
            Some(message.join("\n").as_str()),
            expected.text("summary").as_deref(),
            "{case}"
        );
    }
}

#[test]
fn a_result_tells_whether_a_file_was_made() {
    let entries = entries("tree", "transcript.jsonl");
    let files: Vec<_> = standing(&entries)
        .into_iter()
        .filter_map(|item| match item {
            Item::ToolResult(result) if !result.is_error => result.files.first(),
            _ => None,
        })
        .map(|file| (file.path.as_str(), file.op))
        .collect();
    assert_eq!(
        files,
        [
            ("/home/dev/project/old.ts", FileOp::Modify),
            ("/home/dev/project/a.ts", FileOp::Create)
        ]
    );
}

#[test]
fn a_subagents_own_file_is_read_like_any_other() {
    let file = "subagents/7e1d4c90-2a6b-4f35-b8d7-c3e0915fa624/agent-Explore-4b7c.jsonl";
    let entries = entries("session", file);
    assert_eq!(prompts(&entries), [""; 0]);
    assert_eq!(tokens(&entries), [1700, 0, 0, 35, 1]);
}

#[test]
fn every_record_of_the_main_agent_has_its_place_in_the_tree() {
    for entry in entries("tree", "transcript.jsonl") {
        assert_eq!(entry.record_id.is_some(), entry.subagent.is_none());
        assert_eq!(
            entry.inherited,
            entry.offset < 1016 && !matches!(entry.item, Item::Session(_)),
            "{entry:?}"
        );
    }
}

#[test]
fn facts_are_told_once() {
    let entries = entries("tree", "transcript.jsonl");
    let facts: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.item {
            Item::Session(facts) => Some((facts, &entry.time)),
            _ => None,
        })
        .collect();
    assert_eq!(facts.len(), 2);
    assert_eq!(facts[0].0.parent_session_id.as_deref(), Some("parent-session"));
    assert_eq!(facts[0].0.agent_version.as_deref(), Some("0.21.14"));
    assert_eq!(facts[0].1, &None);
    assert_eq!(facts[1].0.title.as_deref(), Some("Right thing"));
}
