use hookhost_sdk::testing;

use super::*;
use crate::GeminiCli;

const SAMPLE: &str = include_str!("../../../../tests/fixtures/gemini-cli/transcripts/sample/transcript.jsonl");
const DOCUMENT: &str = include_str!("../../../../tests/fixtures/gemini-cli/transcripts/one-document/transcript.json");

fn read(text: &str) -> (Vec<Entry>, u64) {
    testing::read::<GeminiCli>(text.as_bytes(), vec![]).unwrap()
}

fn items(lines: &[&str]) -> Vec<Item> {
    let (entries, _) = read(&format!("{}\n", lines.join("\n")));
    entries.into_iter().map(|entry| entry.item).collect()
}

fn prompts(text: &str) -> Vec<String> {
    read(text)
        .0
        .into_iter()
        .filter_map(|entry| match entry.item {
            Item::UserPrompt(prompt) => Some(prompt.text),
            _ => None,
        })
        .collect()
}

/// The prompt of a user's message with these fields.
fn prompt_of(fields: &str) -> Option<(String, u32)> {
    match items(&[&format!(r#"{{"id":"u","type":"user",{fields}}}"#)]).as_slice() {
        [Item::UserPrompt(prompt)] => Some((prompt.text.clone(), prompt.images)),
        [Item::Note] => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_forms_are_read_and_told_apart_by_their_content() {
    let (entries, position) = read(SAMPLE);
    assert_eq!(position, SAMPLE.len() as u64);
    assert!(
        matches!(&entries[0].item, Item::Session(facts) if facts.started_at.as_deref() == Some("2026-08-20T09:15:00.000Z"))
    );
    let (entries, position) = read(DOCUMENT);
    assert_eq!(position, 4, "messages");
    assert!(matches!(&entries[1].item, Item::UserPrompt(_)));
    assert_eq!(entries[1].offset, 0);
    assert_eq!(entries.last().map(|entry| entry.offset), Some(3));
    let one_line = r#"{"sessionId":"s","messages":[{"id":"u","type":"user","content":"a"}]}"#;
    assert_eq!(prompts(one_line), ["a"]);
    assert_eq!(read(one_line).1, 1);
}

#[test]
fn a_prompt_is_what_was_typed() {
    let one = |text: &str| Some((text.to_owned(), 0));
    assert_eq!(prompt_of(r#""content":"a""#), one("a"));
    assert_eq!(prompt_of(r#""content":[{"text":"a"},{"text":"b"}]"#), one("ab"));
    assert_eq!(
        prompt_of(r#""content":[{"text":"long form"}],"displayContent":"short""#),
        one("short")
    );
    assert_eq!(
        prompt_of(
            r#""content":[{"text":"see @a"},{"text":"\n--- Content from referenced files ---"},{"text":"fn main"}]"#
        ),
        one("see @a")
    );
    assert_eq!(
        prompt_of(r#""content":[{"text":"a"},{"text":"<hook_context>x</hook_context>"}]"#),
        one("a")
    );
    assert_eq!(
        prompt_of(r#""content":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":""}}]"#),
        Some(("a".to_owned(), 1))
    );
    for nothing in [
        r#""content":"""#,
        r#""content":null"#,
        r#""content":"/compress""#,
        r#""content":"?""#,
        r#""content":"<session_context>x</session_context>""#,
        r#""content":"<hook_context>x""#,
        r#""content":[{"functionResponse":{"id":"c","name":"n","response":{}}}]"#,
        r#""content":[{"functionResponse":{"id":"c"}},{"inlineData":{"mimeType":"image/png","data":""}}]"#,
    ] {
        assert_eq!(prompt_of(nothing), None, "{nothing}");
    }
}

#[test]
fn a_message_that_grows_is_told_by_its_id_and_its_calls_once() {
    let lines = [
        r#"{"id":"g","type":"gemini","content":"x","tokens":null}"#,
        r#"{"id":"g","type":"gemini","content":"x","tokens":{"input":10,"output":1,"cached":4,"thoughts":2,"tool":3},"toolCalls":[{"id":"c","name":"write_file","args":{"file_path":"a"},"status":"executing"}]}"#,
        r#"{"id":"g","type":"gemini","content":"x","tokens":{"input":10,"output":1,"cached":4,"thoughts":2,"tool":3},"toolCalls":[{"id":"c","name":"write_file","args":{"file_path":"a"},"status":"success","resultDisplay":{"isNewFile":false}}]}"#,
        r#"{"id":"g","type":"gemini","content":"x","tokens":{"input":10,"output":1,"cached":4,"thoughts":2,"tool":3},"toolCalls":[{"id":"c","name":"write_file","args":{"file_path":"a"},"status":"success","resultDisplay":{"isNewFile":false}}]}"#,
    ];
    let told = items(&lines);
    let calls = told.iter().filter(|item| matches!(item, Item::ToolCall(_))).count();
    let ends: Vec<_> = told
        .iter()
        .filter_map(|item| match item {
            Item::ToolResult(result) => Some((result.is_error, result.files[0].op)),
            _ => None,
        })
        .collect();
    assert_eq!(calls, 1);
    assert_eq!(ends, [(false, FileOp::Modify)]);
    let usages: Vec<_> = told
        .iter()
        .filter_map(|item| match item {
            Item::Usage(usage) => Some((usage.input, usage.cache_read, usage.output, usage.calls)),
            _ => None,
        })
        .collect();
    // 10 - 4 + 3 and 1 + 2, each time.
    assert_eq!(usages, [(9, 4, 3, 1); 3]);
}

#[test]
fn an_edit_tells_whether_its_file_was_new() {
    let op = |tool: &str, shown: &str| {
        let line = format!(
            r#"{{"id":"g","type":"gemini","content":"","toolCalls":[{{"id":"c","name":"{tool}","args":{{"file_path":"a"}},"status":"success","resultDisplay":{shown}}}]}}"#
        );
        match items(&[&line]).as_slice() {
            [Item::ToolCall(_), Item::ToolResult(result)] => result.files.first().map(|file| file.op),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(op("write_file", r#"{"originalContent":null}"#), Some(FileOp::Create));
    assert_eq!(
        op("write_file", r#"{"originalContent":"","isNewFile":true}"#),
        Some(FileOp::Create)
    );
    assert_eq!(op("write_file", r#"{"originalContent":"x"}"#), Some(FileOp::Modify));
    assert_eq!(op("replace", r#"{"isNewFile":true}"#), Some(FileOp::Create));
    assert_eq!(op("write_file", r#""written""#), None);
    assert_eq!(op("read_file", r#"{"isNewFile":true}"#), None);
}

#[test]
fn a_compression_is_no_history_and_hiding_old_outputs_is_no_compression() {
    let lines = [
        r#"{"id":"u1","type":"user","content":"typed"}"#,
        r#"{"$set":{"messages":[{"id":"u1","type":"user","content":[{"text":"typed"}]}]}}"#,
        r#"{"$set":{"messages":[{"id":"s1","type":"user","content":[{"text":"<state_snapshot>so far</state_snapshot>"}]},{"id":"s2","type":"gemini","content":"Understood."}]}}"#,
        r#"{"id":"s1","type":"user","content":"again, as a record"}"#,
        r#"{"id":"s2","type":"gemini","content":"Understood."}"#,
        r#"{"$rewindTo":"s2"}"#,
    ];
    let shown: Vec<_> = items(&lines)
        .into_iter()
        .map(|item| match item {
            Item::UserPrompt(prompt) => prompt.text,
            Item::Compaction(mark) => mark.summary.unwrap_or_default(),
            Item::Note => "note".to_owned(),
            Item::Rewind(rewind) => format!("rewind {}", rewind.record_id),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "typed",
            "note",
            "note",
            "<state_snapshot>so far</state_snapshot>",
            "note",
            "note",
            "rewind s2"
        ]
    );
}

#[test]
fn subagents_are_linked_by_the_call_that_started_them() {
    let (entries, _) = read(SAMPLE);
    let linked: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.item {
            Item::ToolResult(result) => Some((result.id.as_str(), result.subagent_id.as_deref()?)),
            _ => None,
        })
        .collect();
    assert_eq!(linked, [("c3", "0f8e6d2c-7b1a-4c39-9d54-8e3f2a1b0c9d")]);
    let older = r#"{"id":"g","type":"gemini","content":"","toolCalls":[{"id":"c","name":"codebase_investigator","args":{"objective":"look"},"status":"success","agentId":"a"}]}"#;
    match items(&[older]).first() {
        Some(Item::ToolCall(call)) => {
            let subagent = call.subagent.as_ref().unwrap();
            assert_eq!(subagent.subagent_type.as_deref(), Some("codebase_investigator"));
            assert_eq!(subagent.prompt.as_deref(), Some("look"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_summary_is_the_sessions_title() {
    let (entries, _) = read(SAMPLE);
    assert!(entries.iter().any(
        |entry| matches!(&entry.item, Item::Session(facts) if facts.title.as_deref() == Some("Greet module added and renamed"))
    ));
}

#[test]
fn a_command_that_failed_is_a_failed_call() {
    let failed = |output: &str| {
        let line = format!(
            r#"{{"id":"g","type":"gemini","content":"","toolCalls":[{{"id":"c","name":"run_shell_command","args":{{"command":"rm a"}},"status":"success","result":[{{"functionResponse":{{"id":"c","response":{{"output":"{output}"}}}}}}]}}]}}"#
        );
        match items(&[&line]).as_slice() {
            [Item::ToolCall(_), Item::ToolResult(result)] => result.is_error,
            other => panic!("{other:?}"),
        }
    };
    assert!(failed(
        r"Command: rm a\nOutput: rm: a: No such file\nExit Code: 1\nSignal: (none)"
    ));
    assert!(!failed(r"Command: rm a\nExit Code: 0"));
    assert!(!failed("(empty)"));
}

#[test]
fn the_prompts_of_a_subagents_own_file_are_its_parents_words() {
    let file = |kind: &str| {
        format!(
            "{{\"sessionId\":\"s\",\"kind\":\"{kind}\"}}\n{{\"id\":\"u\",\"type\":\"user\",\"content\":\"find it\"}}\n"
        )
    };
    assert_eq!(prompts(&file("subagent")), [""; 0]);
    assert_eq!(prompts(&file("main")), ["find it"]);
}
