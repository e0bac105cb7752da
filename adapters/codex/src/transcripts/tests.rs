//! The fixtures' entries, held against the expected values as far as entries alone tell them; the host's part (net file
//! effects, offsets) is checked where the host is.

use hookhost_sdk::{Entry, FileEffect, FileOp, Item, Object, Usage, UsageScope, testing};

use crate::Codex;

fn fixture(case: &str, file: &str) -> Vec<u8> {
    let folder = testing::fixture_folder(&format!("codex/transcripts/{case}")).unwrap();
    std::fs::read(folder.join(file)).unwrap()
}

fn entries(case: &str) -> Vec<Entry> {
    testing::read::<Codex>(&fixture(case, "transcript.jsonl"), vec![])
        .unwrap()
        .0
}

fn own(entries: &[Entry]) -> impl Iterator<Item = &Item> {
    entries.iter().filter(|entry| !entry.inherited).map(|entry| &entry.item)
}

/// Prompts that were not taken back.
fn prompts(entries: &[Entry]) -> Vec<String> {
    let mut prompts: Vec<(String, String)> = vec![];
    for entry in entries.iter().filter(|entry| !entry.inherited) {
        match &entry.item {
            Item::UserPrompt(prompt) => prompts.push((entry.record_id.clone().unwrap(), prompt.text.clone())),
            Item::Rewind(rewind) => {
                let from = prompts.iter().position(|(id, _)| *id == rewind.record_id).unwrap();
                prompts.truncate(from);
            }
            _ => {}
        }
    }
    prompts.into_iter().map(|(_, text)| text).collect()
}

/// Input, written to a cache, read from a cache, output, calls.
fn tokens(entries: &[Entry]) -> [u64; 5] {
    let classes = |usage: &Usage| [usage.input, usage.cache_creation, usage.cache_read, usage.output];
    let mut sum = [0; 5];
    let mut last: Option<(String, [u64; 4])> = None;
    for entry in entries {
        let Item::Usage(usage) = &entry.item else { continue };
        let UsageScope::RunningTotal(run) = &usage.scope else {
            panic!("a total")
        };
        let now = classes(usage);
        let before = last
            .as_ref()
            .filter(|(known, _)| known == run)
            .map_or([0; 4], |(_, row)| *row);
        if !entry.inherited && now != before {
            for (sum, (now, before)) in sum.iter_mut().zip(now.iter().zip(before)) {
                *sum += now - before;
            }
            sum[4] += 1;
        }
        last = Some((run.clone(), now));
    }
    sum
}

#[test]
fn prompts_tokens_summary_and_model_are_the_expected_ones() {
    for case in [
        "session",
        "forked",
        "conversation-only",
        "counter-goes-down",
        "code-mode",
    ] {
        let entries = entries(case);
        let text = String::from_utf8(fixture(case, "expected.json")).unwrap();
        let expected = Object::parse(&text).unwrap();
        let texts = |key: &str| -> Vec<String> {
            expected
                .items(key)
                .into_iter()
                .map(|item| item.text().unwrap().into_owned())
                .collect()
        };
        assert_eq!(prompts(&entries), texts("prompts"), "{case}");
        let numbers = expected.object("tokens").unwrap();
        let numbers = [
            "input_tokens",
            "cache_creation_tokens",
            "cache_read_tokens",
            "output_tokens",
            "api_call_count",
        ]
        .map(|key| numbers.count(key));
        assert_eq!(tokens(&entries), numbers, "{case}");
        let last = own(&entries)
            .filter_map(|item| match item {
                Item::AssistantText(text) => Some(text),
                _ => None,
            })
            .last()
            .unwrap();
        assert_eq!(Some(last.text.as_str()), expected.text("summary").as_deref(), "{case}");
        assert_eq!(last.model.as_deref(), expected.text("model").as_deref(), "{case}");
        let marks = own(&entries).filter(|item| matches!(item, Item::Compaction(_))).count();
        let extra = expected.object("extra").unwrap();
        assert_eq!(marks, extra.items("compactions").len(), "{case}");
        let facts = own(&entries)
            .find_map(|item| match item {
                Item::Session(facts) => Some(facts),
                _ => None,
            })
            .unwrap();
        assert_eq!(
            facts.session_id.as_deref(),
            extra.text("session_id").as_deref(),
            "{case}"
        );
        assert_eq!(
            facts.started_at.as_deref(),
            extra.text("start_time").as_deref(),
            "{case}"
        );
    }
}

#[test]
fn a_subagents_prompts_are_its_parents_words() {
    let file = "rollout-2026-08-20T09-16-05-019c2f80-1d2e-7a41-8b55-6c7d8e9fa0b1.jsonl";
    let (entries, _) = testing::read::<Codex>(&fixture("session", file), vec![]).unwrap();
    assert_eq!(prompts(&entries), [""; 0]);
    assert_eq!(tokens(&entries), [1200, 0, 4000, 150, 1]);
    let Item::Session(facts) = &entries[0].item else {
        panic!("facts first")
    };
    assert_eq!(
        facts.parent_session_id.as_deref(),
        Some("019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3")
    );
}

/// What the results of a call, or changes without one, do to files.
fn effects(entries: &[Entry]) -> Vec<(String, FileOp)> {
    let pairs = |files: &[FileEffect]| {
        files
            .iter()
            .map(|file| (file.path.clone(), file.op))
            .collect::<Vec<_>>()
    };
    own(entries)
        .flat_map(|item| match item {
            Item::ToolResult(result) if !result.is_error => pairs(&result.files),
            Item::FileChange(file) => vec![(file.path.clone(), file.op)],
            _ => vec![],
        })
        .collect()
}

#[test]
fn a_program_of_the_models_changes_files_without_a_call_of_its_own() {
    let entries = entries("code-mode");
    let path = |name: &str| format!("/home/dev/project/{name}");
    assert_eq!(
        effects(&entries),
        [
            (path("src/port.ts"), FileOp::Create),
            (path("src/main.ts"), FileOp::Modify),
            // Once with the change and once with the result, in the patch's order.
            (path("a.ts"), FileOp::Modify),
            (path("b.ts"), FileOp::Create),
            (path("a.ts"), FileOp::Modify),
            (path("b.ts"), FileOp::Create),
        ]
    );
    let refused =
        own(&entries).any(|item| matches!(item, Item::ToolResult(result) if result.id == "call_b" && result.is_error));
    assert!(refused);
}

#[test]
fn a_subagent_is_linked_whichever_record_names_it() {
    let linked = |case: &str, call: &str| {
        own(&entries(case))
            .filter_map(|item| match item {
                Item::ToolResult(result) if result.id == call => Some(result.subagent_id.clone()),
                _ => None,
            })
            .last()
            .unwrap()
    };
    assert_eq!(
        linked("session", "call_2").as_deref(),
        Some("019c2f80-1d2e-7a41-8b55-6c7d8e9fa0b1")
    );
    let text = String::from_utf8(fixture("code-mode", "expected.json")).unwrap();
    let extra = Object::parse(&text).unwrap().object("extra").unwrap();
    let expected = extra.items("subagents")[0].object().unwrap();
    assert_eq!(linked("code-mode", "call_sub"), expected.id(&["subagent_id"]));
}

#[test]
fn a_half_written_line_is_left_for_the_next_reading() {
    let bytes = fixture("counter-goes-down", "transcript.jsonl");
    let (_, position) = testing::read::<Codex>(&bytes, vec![]).unwrap();
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    assert_eq!(position, whole as u64);
    assert!(bytes.len() > whole);
}
