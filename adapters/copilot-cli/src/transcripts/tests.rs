use hookhost_sdk::testing;
use hookhost_sdk::{Usage, UsageScope};

use super::*;
use crate::CopilotCli;

const SAMPLE: &str = include_str!("../../../../tests/fixtures/copilot-cli/transcripts/sample/transcript.jsonl");

fn read(lines: &str) -> Vec<Entry> {
    let (entries, position) = testing::read::<CopilotCli>(lines.as_bytes(), vec![]).unwrap();
    assert_eq!(position, lines.len() as u64);
    entries
}

fn only(line: &str) -> Item {
    let mut entries = read(line);
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.remove(0).item
}

/// Scope, input, cache creation, cache read, output, calls.
fn usage(item: Item) -> (String, [u64; 4], u32) {
    let Item::Usage(Usage {
        scope,
        input,
        cache_creation,
        cache_read,
        output,
        calls,
        ..
    }) = item
    else {
        panic!("{item:?}")
    };
    let scope = match scope {
        UsageScope::Call(id) => format!("call {id}"),
        UsageScope::RunningTotal(run) => format!("total {run}"),
    };
    (scope, [input, cache_creation, cache_read, output], calls)
}

#[test]
fn each_number_is_told_once() {
    let rows: Vec<_> = read(SAMPLE)
        .into_iter()
        .map(|entry| entry.item)
        .filter(|item| matches!(item, Item::Usage(_)))
        .map(usage)
        .collect();
    let row = |scope: &str, numbers, calls| (scope.to_owned(), numbers, calls);
    assert_eq!(
        rows,
        [
            row("call m1", [0, 0, 0, 210], 1),
            row("call m2", [0, 0, 0, 60], 1),
            row("total claude-sonnet-4.6", [2000, 1000, 12000, 0], 0),
            row("call m3", [0, 0, 0, 90], 1),
            row("call ms1", [0, 0, 0, 35], 1),
            row("call m4", [0, 0, 0, 40], 1),
            row("call m5", [0, 0, 0, 30], 1),
            row("total claude-sonnet-4.6", [4000, 1500, 27500, 0], 0),
            row("total claude-haiku-4.5", [1000, 0, 1000, 0], 0),
            row("call compaction 00000028-3333-4444-8555-666677778888", [0, 0, 0, 80], 1),
            row("call m6", [0, 0, 0, 150], 1),
            row("call m7", [0, 0, 0, 45], 1),
            row("total claude-sonnet-4.6", [3000, 1000, 10000, 0], 0),
        ]
    );
}

#[test]
fn a_subagents_records_are_marked_and_its_call_is_linked_to_it() {
    const AGENT: &str = "7d3f1b58-2c94-4e6a-b0d7-9a8c5e4f3b21";
    let entries = read(SAMPLE);
    let said: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.item {
            Item::AssistantText(text) => Some((text.text.as_str(), entry.subagent.as_deref())),
            _ => None,
        })
        .collect();
    assert!(said.contains(&("README.md is the only one that mentions greet.", Some(AGENT))));
    assert!(said.contains(&("I will ask a subagent.", None)));
    let linked: Vec<_> = entries
        .iter()
        .filter_map(|entry| match &entry.item {
            Item::ToolResult(result) => Some((result.id.as_str(), result.subagent_id.as_deref()?)),
            _ => None,
        })
        .collect();
    assert_eq!(linked, [("t3", AGENT)]);
}

#[test]
fn only_what_a_person_typed_is_a_prompt() {
    let message = |data: &str| match only(&format!(r#"{{"type":"user.message","id":"e","data":{data}}}"#)) {
        Item::UserPrompt(prompt) => Some((prompt.text, prompt.images)),
        Item::Note => None,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        message(r#"{"content":"a","attachments":null}"#),
        Some(("a".to_owned(), 0))
    );
    assert_eq!(
        message(r#"{"content":"a","attachments":[{"type":"blob","mimeType":"image/png"},{"type":"file"}]}"#),
        Some(("a".to_owned(), 1))
    );
    assert_eq!(
        message(
            r#"{"content":"","transformedContent":"<current_datetime>now</current_datetime>\n\nb\n<reminder>x</reminder>"}"#
        ),
        Some(("b".to_owned(), 0))
    );
    assert_eq!(message(r#"{"content":"a","source":"skill-docs"}"#), None);
    assert_eq!(message(r#"{"content":"a","isAutopilotContinuation":true}"#), None);
    assert_eq!(message(r#"{"content":"<skill-context name=\"x\">"}"#), None);
    assert_eq!(message(r#"{"content":""}"#), None);
}

fn effects(tool: &str, arguments: &str) -> Vec<(String, FileOp)> {
    let line = format!(
        r#"{{"type":"tool.execution_start","data":{{"toolCallId":"t","toolName":"{tool}","arguments":{arguments}}}}}"#
    );
    match only(&line) {
        Item::ToolCall(call) => {
            assert_eq!(call.name, tool);
            call.files.into_iter().map(|file| (file.path, file.op)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn tools_say_what_they_do_to_which_file() {
    let one = |path: &str, op| vec![(path.to_owned(), op)];
    assert_eq!(effects("create", r#"{"path":"/a"}"#), one("/a", FileOp::Create));
    assert_eq!(effects("edit", r#""{\"path\":\"/a\"}""#), one("/a", FileOp::Modify));
    assert_eq!(
        effects("str_replace_editor", r#"{"command":"create","path":"/a"}"#),
        one("/a", FileOp::Create)
    );
    assert_eq!(
        effects("str_replace_editor", r#"{"command":"view","path":"/a"}"#),
        one("/a", FileOp::Read)
    );
    assert_eq!(
        effects("str_replace_editor", r#"{"command":"str_replace","path":"/a"}"#),
        one("/a", FileOp::Modify)
    );
    assert_eq!(
        effects("str_replace_editor", r#"{"path":"/a"}"#),
        one("/a", FileOp::Modify)
    );
    assert_eq!(
        effects("apply_patch", r#""*** Begin Patch\n*** Delete File: a\n*** End Patch""#),
        one("a", FileOp::Delete)
    );
    assert_eq!(effects("grep", r#"{"path":"/a"}"#), []);
}

#[test]
fn a_tool_without_a_rule_names_its_files_in_the_result() {
    let lines = |tool: &str| {
        format!(
            "{{\"type\":\"tool.execution_start\",\"data\":{{\"toolCallId\":\"t\",\"toolName\":\"{tool}\",\"arguments\":{{\"path\":\"/a\"}}}}}}\n\
             {{\"type\":\"tool.execution_complete\",\"data\":{{\"toolCallId\":\"t\",\"result\":{{\"result_type\":\"success\"}},\
             \"toolTelemetry\":{{\"properties\":{{\"filePaths\":\"[\\\"/a\\\",\\\"/b\\\"]\"}}}}}}}}\n"
        )
    };
    let told = |tool: &str| match read(&lines(tool)).remove(1).item {
        Item::ToolResult(result) => {
            assert!(!result.is_error);
            result.files.len()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(told("refactor"), 2);
    assert_eq!(told("edit"), 0);
}

#[test]
fn results_fail_in_new_and_old_words() {
    let failed = |data: &str| match only(&format!(r#"{{"type":"tool.execution_complete","data":{data}}}"#)) {
        Item::ToolResult(result) => (result.is_error, result.output),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        failed(r#"{"toolCallId":"t","success":false,"error":{"message":"no"}}"#),
        (true, "no".to_owned())
    );
    assert!(failed(r#"{"toolCallId":"t","result":{"resultType":"denied"}}"#).0);
    assert_eq!(
        failed(r#"{"toolCallId":"t","success":true,"result":{"content":"ok"}}"#),
        (false, "ok".to_owned())
    );
}

#[test]
fn a_rewind_can_name_records_that_say_nothing_themselves() {
    let lines = "{\"type\":\"assistant.turn_start\",\"id\":\"e1\",\"data\":{}}\n\
                 {\"type\":\"session.snapshot_rewind\",\"id\":\"e2\",\"data\":{\"upToEventId\":\"e1\"}}\n";
    let entries = read(lines);
    assert_eq!(entries[0].record_id.as_deref(), Some("e1"));
    assert!(matches!(&entries[1].item, Item::Rewind(rewind) if rewind.record_id == "e1" && rewind.inclusive));
}

#[test]
fn the_session_says_where_and_with_what_it_runs() {
    let entries = read(SAMPLE);
    match &entries[0].item {
        Item::Session(facts) => {
            assert_eq!(
                facts.session_id.as_deref(),
                Some("5a0e9c37-4d1b-4862-8f7c-b6d3e2107a9f")
            );
            assert_eq!(facts.cwd.as_deref(), Some("/home/dev/project"));
            assert_eq!(facts.started_at.as_deref(), Some("2026-08-20T09:15:00.000Z"));
            assert_eq!(facts.agent_version.as_deref(), Some("1.0.78"));
        }
        other => panic!("{other:?}"),
    }
    match only(r#"{"type":"session.model_change","data":{"previousModel":"a","newModel":"b"}}"#) {
        Item::Session(facts) => assert_eq!((facts.model.as_deref(), facts.cwd), (Some("b"), None)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_that_failed_is_a_failed_call() {
    let failed = |tool: &str, content: &str| {
        let lines = format!(
            "{{\"type\":\"tool.execution_start\",\"data\":{{\"toolCallId\":\"t\",\"toolName\":\"{tool}\",\"arguments\":{{\"command\":\"rm a\"}}}}}}\n\
             {{\"type\":\"tool.execution_complete\",\"data\":{{\"toolCallId\":\"t\",\"success\":true,\"result\":{{\"content\":\"{content}\"}}}}}}\n"
        );
        match read(&lines).pop().unwrap().item {
            Item::ToolResult(result) => result.is_error,
            other => panic!("{other:?}"),
        }
    };
    assert!(failed("bash", r"rm: no such file\n<exited with exit code 1>"));
    assert!(!failed("bash", "<exited with exit code 0>"));
    assert!(!failed("view", "<exited with exit code 1>"));
}

#[test]
fn the_model_is_the_one_of_the_main_agents_last_message() {
    let lines = r#"{"type":"session.start","data":{"selectedModel":"chosen"}}
{"type":"assistant.message","data":{"messageId":"1","model":"main","content":""}}
{"type":"assistant.message","data":{"messageId":"2","model":"small","content":"found"},"agentId":"a"}
"#;
    let models: Vec<_> = read(lines)
        .into_iter()
        .filter_map(|entry| match entry.item {
            Item::Session(facts) => facts.model,
            _ => None,
        })
        .collect();
    assert_eq!(models, ["chosen", "main"]);
}
