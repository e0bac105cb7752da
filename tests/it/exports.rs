//! Sessions in the formats of other programs, read back by the adapters of these formats.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hookhost::adapter::{Limits, registry};
use hookhost::config::Config;
use hookhost::export;
use hookhost::journal::sessions::Summary;
use hookhost::model::{Entry, Wanted};
use hookhost::session::RepoPaths;
use hookhost::session::facts::{Collector, Facts};
use hookhost::session::story::Telling;
use hookhost::session::transcript::{self, Transcript};
use hookhost_bundle::BUILTINS;
use serde_json::{Value, json};

use crate::fake_agent::{Machine, Stdin, run};
use crate::fixtures::facts::main_transcript;
use crate::fixtures::{HOME, REPO, context, names};
use crate::invariants::root;

/// An agent, the fixture with its transcript, and where the agent keeps it.
const SESSIONS: [(&str, &str, &str); 4] = [
    ("claude-code", "session", ".claude/projects/x/{id}.jsonl"),
    (
        "codex",
        "session",
        ".codex/sessions/2026/08/20/rollout-2026-08-20T09-15-00-{id}.jsonl",
    ),
    ("qwen-code", "session", ".qwen/projects/x/chats/{id}.jsonl"),
    ("factory-droid", "session", ".factory/sessions/x/{id}.jsonl"),
];

struct Recorded {
    machine: Machine,
    id: String,
    expected: Value,
}

impl Recorded {
    /// A session with its transcript, of which the hooks told the start and the end.
    fn new(agent: &str, case: &str, place: &str) -> Self {
        let machine = Machine::new();
        let folder = root().join("tests/fixtures").join(agent).join("transcripts").join(case);
        let expected: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
        let repo = machine.path("repo").canonicalize().unwrap();
        let text = std::fs::read_to_string(folder.join("transcript.jsonl")).unwrap();
        let text = text.replace("/home/dev/project", repo.to_str().unwrap());
        let id = expected["extra"]["session_id"].as_str().unwrap().to_owned();
        let transcript = machine.path("home").join(place.replace("{id}", &id));
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        std::fs::write(&transcript, text).unwrap();
        let settings = folder.join("transcript.settings.json");
        if settings.exists() {
            std::fs::copy(settings, transcript.with_extension("settings.json")).unwrap();
        }
        for (hook, more) in [
            ("SessionStart", json!({"source": "startup"})),
            ("SessionEnd", json!({"reason": "other"})),
        ] {
            let mut payload = json!({
                "session_id": id, "transcript_path": transcript, "cwd": repo, "hook_event_name": hook,
                "permission_mode": "default",
            });
            payload
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            machine
                .hook(agent, hook, payload.to_string().as_bytes())
                .assert_harmless(hook);
        }
        Self { machine, id, expected }
    }

    fn export(&self, format: &str) -> String {
        self.machine.ask(&["export", "--format", format, &self.id])
    }

    /// An export as a file that the format's adapter reads.
    fn file(&self, format: &str) -> PathBuf {
        let ending = if format == "hh" { "json" } else { "jsonl" };
        let path = self.machine.path(&format!("exported-{format}.{ending}"));
        std::fs::write(&path, self.export(format)).unwrap();
        path
    }

    fn protocol(&self, format: &str, arguments: &[&str], stdin: &[u8]) -> Value {
        let repo = self.machine.path("repo").canonicalize().unwrap();
        let mut command = self.machine.hookhost(arguments);
        command.env("HOOKHOST_AGENT", format).env("ENTIRE_REPO_ROOT", repo);
        let done = run(command, Stdin::Bytes(stdin));
        assert!(
            done.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        serde_json::from_slice(&done.stdout).unwrap()
    }

    /// The types of the events that the stream means.
    fn events(&self, format: &str) -> Vec<u64> {
        let file = self.file(format);
        let told = self.machine.ask(&[
            "ingest",
            "--agent",
            format,
            "--no-record",
            "--json",
            file.to_str().unwrap(),
        ]);
        let lines = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|event| event["type"].as_u64().unwrap()).collect()
    }
}

fn sorted(lists: &[&Value]) -> BTreeSet<String> {
    let files = lists.iter().flat_map(|list| list.as_array().unwrap());
    files.map(|file| file.as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_a_session_says_survives_every_format() {
    for (agent, case, place) in SESSIONS {
        let recorded = Recorded::new(agent, case, place);
        let expected = &recorded.expected;
        for format in ["hm", "hh", "hast"] {
            let what = format!("{agent} as {format}");
            let file = recorded.file(format);
            let path = file.to_str().unwrap();
            let prompts = recorded.protocol(
                format,
                &["extract-prompts", "--session-ref", path, "--offset", "0"],
                b"",
            );
            assert_eq!(prompts["prompts"], expected["prompts"], "{what}");
            let summary = recorded.protocol(format, &["extract-summary", "--session-ref", path], b"");
            assert_eq!(summary["summary"], expected["summary"], "{what}");
            let input = json!({ "hook_type": "x", "session_id": "", "session_ref": path, "timestamp": "" });
            let session = recorded.protocol(format, &["read-session"], input.to_string().as_bytes());
            assert_eq!(
                sorted(&[&session["deleted_files"]]),
                sorted(&[&expected["deleted_files"]]),
                "{what}"
            );
            // HAST does not tell created files from changed ones.
            let (new, modified) = (&session["new_files"], &session["modified_files"]);
            if format != "hast" {
                assert_eq!(sorted(&[new]), sorted(&[&expected["new_files"]]), "{what}");
            }
            assert_eq!(
                sorted(&[new, modified]),
                sorted(&[&expected["new_files"], &expected["modified_files"]]),
                "{what}"
            );
            if format != "hh" {
                let bytes = std::fs::read(&file).unwrap();
                let tokens = recorded.protocol(format, &["calculate-tokens", "--offset", "0"], &bytes);
                for class in [
                    "input_tokens",
                    "output_tokens",
                    "cache_read_tokens",
                    "cache_creation_tokens",
                ] {
                    assert_eq!(tokens[class], expected["tokens"][class], "{what}: {class}");
                }
            }
        }
    }
}

/// What a reader takes out of a transcript, to be compared.
fn said(facts: &Facts, with_tokens: bool) -> Value {
    let files = |lists: &[&Vec<String>]| -> BTreeSet<String> { lists.iter().copied().flatten().cloned().collect() };
    let tokens = facts.tokens;
    json!({
        "prompts": facts.prompts,
        "summary": facts.summary.as_deref().map(str::trim),
        "deleted": files(&[&facts.files.deleted]),
        // One of the formats does not tell them apart.
        "written": files(&[&facts.files.created, &facts.files.modified]),
        "tokens": with_tokens.then_some([tokens.input, tokens.output, tokens.cache_read, tokens.cache_creation]),
    })
}

#[test]
fn every_transcript_survives_every_format() {
    let mut failures = vec![];
    let mut exported = 0;
    for agent in BUILTINS {
        let folder = root().join("tests/fixtures").join(agent.name).join("transcripts");
        for case in names(&folder) {
            let folder = folder.join(&case);
            let path = main_transcript(&folder).unwrap();
            let mut telling = Telling::default();
            let bytes = std::fs::read(&path).unwrap();
            let facts = read(agent.name, &bytes, path.to_str().unwrap(), |entry| {
                telling.add(entry.clone())
            });
            let summary = Summary {
                agent: agent.name.to_owned(),
                session_id: "s".to_owned(),
                repo_root: Some(REPO.to_owned()),
                has_ended: true,
                ..Summary::default()
            };
            let expected = [false, true].map(|with_tokens| said(&facts, with_tokens));
            let created: BTreeSet<String> = facts.files.created.iter().cloned().collect();
            let session = export::Session::new(&summary, &[], Some((facts, telling.finish())));
            for (format, lines, with_tokens) in [
                ("hm", export::hm(&session), true),
                ("hh", export::hh_events(&session), false),
                ("hast", export::hast(&session), true),
            ] {
                let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
                let again = read(format, text.as_bytes(), "/x/exported.jsonl", |_| {});
                let (expected, came) = (&expected[usize::from(with_tokens)], said(&again, with_tokens));
                let created_again: BTreeSet<String> = again.files.created.iter().cloned().collect();
                if *expected != came || (format != "hast" && created != created_again) {
                    failures.push(format!(
                        "{} {case} as {format}\n  expected: {expected} created {created:?}\n  came:     {came} created {created_again:?}",
                        agent.name
                    ));
                }
                exported += 1;
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
    assert!(exported > 150, "{exported}");
}

fn read(agent: &str, bytes: &[u8], session_ref: &str, mut each: impl FnMut(&Entry)) -> Facts {
    let mut adapter = registry::find(agent, &Config::default())
        .unwrap()
        .load(agent, Limits::default())
        .unwrap();
    let found = Transcript::find(adapter.as_mut(), &context(), session_ref).unwrap();
    let mut collector = Collector::new(0, RepoPaths::new(Some(REPO), Some(HOME)));
    transcript::read(
        adapter.as_mut(),
        found.start(Wanted::EVERYTHING),
        &mut &*bytes,
        |entry| {
            each(&entry);
            collector.add(entry);
        },
    )
    .unwrap();
    collector.finish()
}

#[test]
fn a_stream_has_the_events_of_the_session() {
    let (agent, case, place) = SESSIONS[0];
    let recorded = Recorded::new(agent, case, place);
    // Three turns; the subagent is in the second, the compaction behind it.
    assert_eq!(recorded.events("hm"), [1, 2, 3, 2, 6, 7, 3, 4, 2, 3, 5]);
    assert_eq!(recorded.events("hast"), [1, 2, 3, 2, 6, 7, 3, 4, 2, 3, 5]);
    assert_eq!(recorded.events("hh"), [1, 2, 3, 2, 6, 7, 3, 2, 3, 5]);
}

#[test]
fn the_recorders_forms_have_the_fields_of_the_real_ones() {
    let (agent, case, place) = SESSIONS[0];
    let recorded = Recorded::new(agent, case, place);
    let real = |file: &str| -> Value {
        let text = std::fs::read_to_string(root().join("tests/fixtures/hh").join(file)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    // The description of the format has one field more than the program.
    let keys = |value: &Value| -> BTreeSet<String> {
        let keys = value.as_object().unwrap().keys().cloned();
        keys.filter(|key| key != "adapter_degrade_reason").collect()
    };
    let ours: Value = serde_json::from_str(&recorded.export("hh")).unwrap();
    let theirs = real("transcripts/recorded-export-1.0.0/transcript.json");
    assert_eq!(keys(&ours), keys(&theirs));
    assert_eq!(keys(&ours["session"]), keys(&theirs["session"]));
    let of_kind = |export: &Value, kind: &str| -> Value {
        let events = export["events"].as_array().unwrap();
        events.iter().find(|event| event["kind"] == kind).unwrap().clone()
    };
    for kind in [
        "user_message",
        "thinking",
        "agent_message",
        "tool_call",
        "tool_result",
        "file_change",
    ] {
        let (ours, theirs) = (of_kind(&ours, kind), of_kind(&theirs, kind));
        assert_eq!(keys(&ours), keys(&theirs), "{kind}");
        assert_eq!(keys(&ours["body"]), keys(&theirs["body"]), "{kind}");
        if kind == "file_change" {
            assert_eq!(keys(&ours["file_change"]), keys(&theirs["file_change"]));
        }
    }
    let list = recorded.machine.ask_json(&["list", "--format", "hh"]);
    assert_eq!(list, json!([ours["session"]]));
    assert_eq!(list[0]["id"], recorded.id);
    assert_eq!(list[0]["agent_kind"], "claude-code");
    assert_eq!(list[0]["status"], "ok");
    assert_eq!(list[0]["files_changed"], 4);
    let lines = recorded.machine.ask(&["inspect", "--format", "hh", &recorded.id]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json!(events), ours["events"]);
    let steps: BTreeSet<u64> = events.iter().filter_map(|event| event["step"].as_u64()).collect();
    assert_eq!(list[0]["steps"], steps.len());
    assert_eq!(steps, (1..=steps.len() as u64).collect());
    for (event, id) in events.iter().zip(1..) {
        assert_eq!(event["id"], id);
        if event["kind"] == "tool_result" {
            let call = &events[event["correlates"].as_u64().unwrap() as usize - 1];
            assert_eq!((&call["kind"], &call["step"]), (&json!("tool_call"), &event["step"]));
        }
    }
    let one = recorded
        .machine
        .ask_json(&["inspect", "--format", "hh", "--step", "1", &recorded.id]);
    assert_eq!(keys(&one), keys(&real("payloads/event--recorded-step.json")));
    assert_eq!(one["events"], json!([events[1]]));
    assert_eq!(one["kind"], "user_message");
}

#[test]
fn a_reply_of_the_stream_ends_behind_its_tokens() {
    let (agent, case, place) = SESSIONS[0];
    let recorded = Recorded::new(agent, case, place);
    let lines = recorded.export("hm");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<String> = lines
        .iter()
        .map(|line| {
            format!(
                "{} {}",
                line["type"].as_str().unwrap(),
                line["role"].as_str().unwrap_or_default()
            )
        })
        .map(|shown| shown.trim().to_owned())
        .collect();
    assert_eq!(
        types[..8],
        [
            "session_start",
            "message_end user",
            "thinking_delta",
            "usage",
            "message_start assistant",
            "text_delta",
            "message_end assistant",
            "tool_call",
        ]
    );
    let last = types.len() - 6;
    assert_eq!(
        types[last..],
        [
            "message_start assistant",
            "text_delta",
            "usage",
            "message_end assistant",
            "turn_end",
            "session_end"
        ]
    );
    let usage = &lines.last().unwrap()["usage"];
    assert_eq!((&usage["input"], &usage["output"]), (&json!(58), &json!(940)));
    for line in &lines {
        assert!(
            line["v"] == 1 && line["session"].is_string() && line["time"].is_string(),
            "{line}"
        );
    }
}

#[test]
fn a_session_without_a_transcript_is_what_its_hooks_told() {
    let machine = Machine::new();
    let payload = |hook: &str, more: Value| {
        let mut payload = json!({ "session_id": "s 1", "cwd": machine.path("repo"), "hook_event_name": hook });
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        machine
            .hook("claude-code", hook, payload.to_string().as_bytes())
            .assert_harmless(hook);
    };
    payload("SessionStart", json!({"source": "startup"}));
    payload("UserPromptSubmit", json!({"prompt": "Add a parser."}));
    payload("Stop", json!({"last_assistant_message": "Added."}));
    payload("UserPromptSubmit", json!({"prompt": "And tests."}));
    let export = machine.ask_json(&["export", "--format", "hh", "s 1"]);
    let kinds: Vec<&str> = export["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["lifecycle", "user_message", "agent_message", "user_message"]);
    // Not a UUID, so one that is always the same stands for it.
    let id = export["session"]["id"].as_str().unwrap();
    assert!(id.len() == 36 && id.ends_with(export["session"]["short_id"].as_str().unwrap()));
    assert_eq!(machine.ask_json(&["list", "--format", "hh"])[0]["id"], id);
    assert_eq!(export["session"]["status"], "recording");
    let hast = machine.ask(&["export", "--format", "hast", "s 1"]);
    assert_eq!(hast, machine.ask(&["export", "--format", "hast", "s 1"]));
    let lines: Vec<Value> = hast.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "runtime.status",
            "run.started",
            "message.completed",
            "message.completed",
            "run.completed",
            "run.started",
            "message.completed",
        ]
    );
    let sequences: Vec<u64> = lines.iter().map(|line| line["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(lines[4]["data"]["final_message_id"], lines[3]["data"]["message_id"]);
    assert!(
        !machine
            .ask(&["export", "--format", "hm", "s 1"])
            .contains("session_end")
    );
}

#[test]
fn secrets_stay_out_of_every_format() {
    let machine = Machine::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let payload = json!({
        "session_id": "s1", "cwd": machine.path("repo"), "hook_event_name": "UserPromptSubmit",
        "prompt": format!("use {token}"),
    });
    machine
        .hook("claude-code", "UserPromptSubmit", payload.to_string().as_bytes())
        .assert_harmless("prompt");
    for format in ["hm", "hh", "hast"] {
        let exported = machine.ask(&["export", "--format", format, "s1"]);
        assert!(
            exported.contains("[redacted:github-token:") && !exported.contains(&token),
            "{exported}"
        );
        assert!(
            machine
                .ask(&["export", "--raw", "--format", format, "s1"])
                .contains(&token)
        );
    }
}

/// What the description of HAST events requires of each type.
#[test]
fn hast_events_have_what_their_types_require() {
    const REQUIRED: &[(&str, &[&str])] = &[
        ("runtime.status", &["status"]),
        ("run.started", &["request_id", "turn_type"]),
        ("run.completed", &["final_message_id", "finish_reason", "attempts"]),
        ("run.interrupted", &["reason"]),
        ("message.completed", &["message_id", "role", "text"]),
        ("reasoning.completed", &["reasoning_id", "text"]),
        ("tool.started", &["tool_call_id", "kind", "name"]),
        (
            "tool.completed",
            &["tool_call_id", "kind", "name", "status", "is_error"],
        ),
        ("usage.updated", &["model", "context_window", "total"]),
        ("file.changed", &["path", "operation"]),
        ("context.compacted", &["reason"]),
    ];
    let (agent, case, place) = SESSIONS[1];
    let recorded = Recorded::new(agent, case, place);
    for line in recorded.export("hast").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let kind = line["type"].as_str().unwrap();
        let (_, fields) = REQUIRED.iter().find(|(known, _)| *known == kind).unwrap();
        for field in *fields {
            assert!(!line["data"][field].is_null(), "{field}: {line}");
        }
        assert_eq!(
            (&line["schema_version"], &line["engine"], &line["source"]),
            (&json!(2), &json!("codex_cli"), &json!("runtime"))
        );
        assert_eq!(line["session_id"], recorded.id);
        assert!(line["created_at"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    }
}
