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

fn read(lines: &[&str]) -> Vec<Entry> {
    let text = lines.join("\n") + "\n";
    testing::read::<QwenCode>(text.as_bytes(), vec![]).unwrap().0
}

#[test]
fn an_error_of_any_shape_is_a_failure() {
    let failed = |result: &str| {
        let line = format!(
            r#"{{"uuid":"2","type":"tool_result","message":{{"parts":[{{"functionResponse":{{"id":"c","response":{result}}}}}]}}}}"#
        );
        let call = r#"{"uuid":"1","type":"assistant","message":{"parts":[{"functionCall":{"id":"c","name":"run_shell_command","args":{"command":"rm a"}}}]}}"#;
        match &read(&[call, &line]).last().unwrap().item {
            Item::ToolResult(result) => result.is_error,
            other => panic!("{other:?}"),
        }
    };
    assert!(failed(r#"{"error":"no"}"#));
    assert!(failed(r#"{"error":{"message":"denied"}}"#));
    assert!(failed(r#"{"output":"rm: no\nExit Code: 1"}"#));
    assert!(!failed(r#"{"output":"Exit Code: 0"}"#));
    assert!(!failed(r#"{"output":"","error":null}"#));
}

#[test]
fn a_subagents_prompt_is_its_parents_also_in_its_own_file() {
    let line = r#"{"uuid":"1","type":"user","provenance":"real_user","isSidechain":true,"agentId":"A","message":{"parts":[{"text":"find it"}]}}"#;
    assert_eq!(prompts(&read(&[line])), [""; 0]);
}

#[test]
fn a_uuid_that_another_session_uses_again_is_another_record() {
    let line = |session: &str, uuid: &str, parent: &str, kind: &str, text: &str| {
        format!(
            r#"{{"sessionId":"{session}","uuid":"{uuid}","parentUuid":{parent},"type":"{kind}","message":{{"parts":[{{"text":"{text}"}}]}}}}"#
        )
    };
    let lines = [
        line("s", "1", "null", "user", "first"),
        line("s", "2", "\"1\"", "assistant", "one"),
        line("t", "1", "\"2\"", "user", "second"),
        line("t", "2", "\"1\"", "assistant", "two"),
    ];
    let entries = read(&lines.each_ref().map(String::as_str));
    assert_eq!(prompts(&entries), ["first", "second"]);
    let messages: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.item {
            Item::AssistantText(text) => text.message_id.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(messages, ["2", "t/2"]);
}
