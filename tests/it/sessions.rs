//! A day with an agent: its hooks, and what the commands for people then say.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fake_agent::{Machine, Stdin, run};

const AGENT: &str = "claude-code";

/// A session of which hooks and transcript are real-shaped.
struct Session<'m> {
    machine: &'m Machine,
    id: &'static str,
}

impl<'m> Session<'m> {
    fn new(machine: &'m Machine, id: &'static str) -> Self {
        Self { machine, id }
    }

    fn hook(&self, hook: &str, fields: Value) {
        let mut payload = json!({
            "session_id": self.id,
            "transcript_path": self.machine.path(&format!("home/.claude/projects/x/{}.jsonl", self.id)),
            "cwd": self.machine.path("repo"),
            "hook_event_name": hook,
        });
        payload
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let payload = payload.to_string();
        self.machine.hook(AGENT, hook, payload.as_bytes()).assert_harmless(hook);
    }

    /// Start, a prompt with a subagent, the answer; the turn's end comes twice.
    fn turn(&self, prompt: &str) {
        self.hook("UserPromptSubmit", json!({"prompt": prompt}));
        let call = json!({"tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"subagent_type": "explorer", "description": "look around", "prompt": "look"}});
        self.hook("PreToolUse", call.clone());
        let mut done = call;
        done["tool_response"] = json!({"status": "completed", "agentId": "a1"});
        self.hook("PostToolUse", done);
        self.hook(
            "SubagentStop",
            json!({"agent_id": "a1", "agent_type": "explorer", "stop_hook_active": false}),
        );
        self.hook(
            "Stop",
            json!({"stop_hook_active": false, "last_assistant_message": "Done."}),
        );
        self.hook(
            "Stop",
            json!({"stop_hook_active": false, "last_assistant_message": "Done."}),
        );
    }

    fn write_transcript(&self) {
        let fixture = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/fixtures/claude-code/transcripts/session/transcript.jsonl"
        );
        let path = self.machine.path(&format!("home/.claude/projects/x/{}.jsonl", self.id));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(fixture, path).unwrap();
    }
}

fn machine_with_a_session() -> Machine {
    let machine = Machine::new();
    let session = Session::new(&machine, "3f6c1a52-8d0e-4b7a-9c11-5e2d7a904b10");
    session.write_transcript();
    session.hook("SessionStart", json!({"source": "startup", "model": "claude-sonnet-5"}));
    session.hook("SessionStart", json!({"source": "resume", "model": "claude-sonnet-5"}));
    session.turn("Add a parser\nand tests");
    session.hook("SessionEnd", json!({"reason": "prompt_input_exit"}));
    session.hook("SessionEnd", json!({"reason": "other"}));
    machine
}

#[test]
fn a_session_is_recorded_with_each_event_once() {
    let machine = machine_with_a_session();
    let records = machine.records(AGENT, Some("3f6c1a52-8d0e-4b7a-9c11-5e2d7a904b10"));
    let events: Vec<&str> = records
        .iter()
        .flat_map(|record| &record.events)
        .map(|event| event.kind.name())
        .collect();
    assert_eq!(
        events,
        [
            "SessionStart",
            "TurnStart",
            "SubagentStart",
            "SubagentEnd",
            "TurnEnd",
            "SessionEnd"
        ]
    );
    let repeats: Vec<&str> = records
        .iter()
        .flat_map(|record| &record.repeats)
        .map(|event| event.kind.name())
        .collect();
    assert_eq!(repeats, ["SessionStart", "SubagentEnd", "TurnEnd", "SessionEnd"]);
    assert_eq!(records.len(), 10);
    assert!(records.iter().all(|record| record.failure.is_none()));
    assert!(records.iter().all(|record| {
        record
            .adapter
            .as_ref()
            .unwrap()
            .digest
            .as_ref()
            .unwrap()
            .starts_with("sha256:")
    }));
}

#[test]
fn list_and_show_say_what_happened() {
    let machine = machine_with_a_session();
    let list = machine.ask_json(&["list", "--json"]);
    let session = &list["sessions"][0];
    assert_eq!(session["agent"], AGENT);
    assert_eq!(session["state"], "ended");
    assert_eq!(session["title"], "Add a parser");
    assert_eq!(
        (&session["prompts"], &session["turns"], &session["failures"]),
        (&json!(1), &json!(1), &json!(0))
    );
    let expected: Value = serde_json::from_str(
        &std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/fixtures/claude-code/transcripts/session/expected.json"
        ))
        .unwrap(),
    )
    .unwrap();
    let count = |key: &str| expected[key].as_array().unwrap().len();
    let files = count("new_files") + count("modified_files") + count("deleted_files");
    assert_eq!(session["files"], json!(files));

    let show = machine.ask_json(&["show", "3f6c", "--json"]);
    assert_eq!(show["transcript"]["prompts"], expected["prompts"]);
    assert_eq!(
        show["transcript"]["tokens"]["input_tokens"],
        expected["tokens"]["input_tokens"]
    );
    assert_eq!(show["transcript"]["model"], expected["model"]);
    assert_eq!(show["records"].as_array().unwrap().len(), 10);
    assert!(show["records"][0].get("payload").is_none());
    let with_payloads = machine.ask_json(&["show", "3f6c", "--json", "--payloads"]);
    assert_eq!(
        with_payloads["records"][0]["payload"]["hook_event_name"],
        "SessionStart"
    );

    let table = machine.ask(&["list"]);
    assert!(table.lines().next().unwrap().starts_with("STARTED"), "{table}");
    assert!(table.contains("Add a parser"), "{table}");
    let text = machine.ask(&["show", "3f6c1a52"]);
    for expected in [
        "TurnStart",
        "Add a parser and tests",
        "explorer · look around",
        "Done.",
        "prompt_input_exit",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("again: TurnEnd"), "{text}");
    assert!(machine.ask(&["show", "3f6c1a52", "--all"]).contains("again: TurnEnd"));
}

#[test]
fn lists_can_be_narrowed() {
    let machine = machine_with_a_session();
    let count = |arguments: &[&str]| {
        let list = machine.ask_json(&[&["list", "--json"], arguments].concat());
        list["sessions"].as_array().unwrap().len()
    };
    let repo = machine.path("repo");
    assert_eq!(count(&["--since", "1h"]), 1);
    assert_eq!(count(&["--since", "2099-01-01"]), 0);
    assert_eq!(count(&["--agent", AGENT]), 1);
    assert_eq!(count(&["--agent", "cursor"]), 0);
    assert_eq!(count(&["--repo", repo.to_str().unwrap()]), 1);
    assert_eq!(count(&["--repo", machine.path("tmp").to_str().unwrap()]), 0);
    let wrong = run(machine.hookhost(&["list", "--since", "soon"]), Stdin::Bytes(b""));
    assert!(!wrong.status.success());
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("soon is no time"));
}

#[test]
fn failures_outside_of_sessions_are_seen() {
    let machine = Machine::new();
    machine.hook(AGENT, "Stop", b"").assert_harmless("empty");
    let list = machine.ask_json(&["list", "--json"]);
    assert_eq!(list["failures"][0]["failures"], json!(1));
    assert_eq!(list["failures"][0]["last_failure"]["code"], "payload-empty");
    let done = run(machine.hookhost(&["list"]), Stdin::Bytes(b""));
    assert!(
        String::from_utf8(done.stderr)
            .unwrap()
            .contains("1 failed hook call outside of any session")
    );
}

#[test]
fn tail_shows_the_last_and_what_comes() {
    let machine = machine_with_a_session();
    let last = machine.ask(&["tail", "-n", "2"]);
    let events: Vec<bool> = last
        .lines()
        .map(|line| line.contains("TurnEnd") || line.contains("SessionEnd"))
        .collect();
    assert_eq!(events, [true, true], "{last}");

    let mut child = machine
        .hookhost(&["tail", "-f", "-n", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("SessionEnd"));
    Session::new(&machine, "another").hook("UserPromptSubmit", json!({"prompt": "Hello there"}));
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains("TurnStart") && line.contains("Hello there"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_session_is_redacted_in_place_and_exported_without_secrets() {
    let machine = Machine::new();
    let token = format!("ghp_{}", "aB3".repeat(12));
    let session = Session::new(&machine, "secretive");
    session.hook("UserPromptSubmit", json!({"prompt": format!("push with {token}")}));
    session.hook("Stop", json!({}));

    let exported = machine.ask(&["export", "secretive"]);
    assert!(!exported.contains(&token) && exported.contains("[redacted:github-token:"));
    assert_eq!(exported.lines().count(), 2);
    assert!(machine.ask(&["export", "secretive", "--raw"]).contains(&token));
    let events = machine.ask(&["export", "--all", "--format", "events"]);
    assert!(
        events.starts_with("{\"type\":2,\"session_id\":\"secretive\""),
        "{events}"
    );

    let path = machine.journal().session_file(AGENT, Some("secretive"));
    let before = std::fs::read_to_string(&path).unwrap();
    machine.ask(&["redact", "secretive", "--dry-run"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    let redacted = machine.ask_json(&["redact", "secretive", "--json"]);
    assert_eq!(redacted["sessions"][0]["secrets"]["github-token"], json!(2));
    let after = std::fs::read_to_string(&path).unwrap();
    assert!(!after.contains(&token));
    let records = machine.records(AGENT, Some("secretive"));
    assert_eq!(records.len(), 3);
    assert_eq!(records[2].audit.as_ref().unwrap().records, 1);
    assert_eq!(machine.ask_json(&["redact", "--all", "--json"])["sessions"], json!([]));
    assert_eq!(
        machine.ask_json(&["list", "--json"])["sessions"][0]["records"],
        json!(2)
    );
}

#[test]
fn old_sessions_are_pruned_and_open_ones_stay() {
    let machine = machine_with_a_session();
    Session::new(&machine, "open").hook("UserPromptSubmit", json!({"prompt": "x"}));
    let pruned = machine.ask_json(&["prune", "--keep", "0", "--dry-run", "--json"]);
    assert_eq!(pruned["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(
        machine.ask_json(&["list", "--json"])["sessions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    machine.ask(&["prune", "--keep", "0"]);
    let list = machine.ask_json(&["list", "--json"]);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(list["sessions"][0]["session_id"], "open");
    let nothing = run(machine.hookhost(&["prune"]), Stdin::Bytes(b""));
    assert!(!nothing.status.success());
}

#[test]
fn settings_are_shown_and_explained() {
    let machine = Machine::new();
    let folder = machine.path("home/.config/hookhost");
    std::fs::create_dir_all(&folder).unwrap();
    let mut file = std::fs::File::create(folder.join("config.toml")).unwrap();
    writeln!(file, "capture = 'off'\nunknown = 1").unwrap();
    let done = run(machine.hookhost(&["config"]), Stdin::Bytes(b""));
    assert!(String::from_utf8(done.stdout).unwrap().contains("capture = \"off\""));
    assert!(
        String::from_utf8(done.stderr)
            .unwrap()
            .contains("config.toml:2: there is no setting unknown")
    );
    let config = machine.ask_json(&["config", "--json"]);
    let capture = config["settings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|setting| setting["key"] == "capture")
        .unwrap();
    assert_eq!((&capture["value"], &capture["origin"]), (&json!("off"), &json!("file")));
    assert!(machine.ask(&["config", "--explain"]).contains("HOOKHOST_CAPTURE"));
}

#[test]
fn shells_and_manuals_are_served() {
    let machine = Machine::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(machine.ask(&["completions", shell]).contains("hookhost"), "{shell}");
    }
    assert!(machine.ask(&["man"]).contains(".TH"));
    machine.ask(&["man", "--dir", machine.path("man").to_str().unwrap()]);
    assert!(machine.path("man/hookhost-list.1").is_file());
}

#[test]
fn what_is_said_in_json_is_what_the_schemas_say() {
    let machine = machine_with_a_session();
    machine.hook(AGENT, "Stop", b"");
    let schemas = machine.ask_json(&["schema"]);
    let answers = [
        ("list", machine.ask_json(&["list", "--json"])),
        ("show", machine.ask_json(&["show", "3f6c", "--json", "--payloads"])),
        ("config", machine.ask_json(&["config", "--json"])),
        ("redact", machine.ask_json(&["redact", "--all", "--json"])),
        (
            "prune",
            machine.ask_json(&["prune", "--keep", "0", "--dry-run", "--json"]),
        ),
        (
            "install",
            machine.ask_json(&["install", AGENT, "--user", "--dry-run", "--json"]),
        ),
        ("install", machine.ask_json(&["install", AGENT, "--json"])),
        ("status", machine.ask_json(&["status", "--json"])),
    ];
    for (name, answer) in &answers {
        check(&schemas[name], &schemas[name], answer, name);
        assert_eq!(machine.ask_json(&["schema", name]), schemas[name]);
    }
    for line in machine
        .ask(&["tail", "--json", "--all"])
        .lines()
        .chain(machine.ask(&["export", "3f6c"]).lines())
    {
        check(
            &schemas["record"],
            &schemas["record"],
            &serde_json::from_str(line).unwrap(),
            "record",
        );
    }
    for line in machine.ask(&["export", "3f6c", "--format", "events"]).lines() {
        check(
            &schemas["event"],
            &schemas["event"],
            &serde_json::from_str(line).unwrap(),
            "event",
        );
    }
}

#[test]
fn ten_thousand_sessions_are_listed_in_a_moment() {
    const SESSIONS: usize = 10_000;
    let machine = Machine::new();
    let folder = machine.journal().agent_folder(AGENT);
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..SESSIONS {
        let time = format!(
            "2026-11-{:02}T{:02}:{:02}:00.000Z",
            number % 28 + 1,
            number / 28 % 24,
            number / 672 % 60
        );
        let record = json!({"v": 1, "id": number.to_string(), "time": time, "agent": AGENT, "hook": "UserPromptSubmit",
            "session_id": format!("{number:08x}-session"), "duration_us": 1,
            "events": [{"type": 2, "session_id": format!("{number:08x}-session"), "prompt": "Do it"}], "payload": {"prompt": "Do it"}});
        std::fs::write(
            folder.join(format!("{number:08x}-session.jsonl")),
            format!("{record}\n"),
        )
        .unwrap();
    }
    let list = || {
        let done = run(machine.hookhost(&["list"]), Stdin::Bytes(b""));
        assert_eq!(String::from_utf8(done.stdout).unwrap().lines().count(), 31);
        assert_eq!(
            String::from_utf8(done.stderr).unwrap(),
            "30 of 10000 sessions; --all shows all\n"
        );
        done.took
    };
    let (first, second) = (list(), list());
    println!("{SESSIONS} sessions: {first:?} without an index, {second:?} with it");
    // What is measured here is a build without optimisation, beside all other tests.
    assert!(second.as_secs() < 5, "{second:?}");
}

/// Checks a value against a schema, as far as ours go, and that there is nothing in it that the schema does not name.
pub(crate) fn check(root: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = reference.strip_prefix('#').unwrap();
        return check(
            root,
            root.pointer(pointer).unwrap_or_else(|| panic!("{place}: {reference}")),
            value,
            place,
        );
    }
    if let Some(options) = schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))
        .and_then(Value::as_array)
    {
        let fits = options
            .iter()
            .any(|option| std::panic::catch_unwind(|| check(root, option, value, place)).is_ok());
        assert!(fits, "{place}: {value} is none of {options:?}");
        return;
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        assert!(words.contains(value), "{place}: {value} is none of {words:?}");
    }
    if let Some(constant) = schema.get("const") {
        assert_eq!(constant, value, "{place}");
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{place}: {other}"),
    };
    assert!(
        types.is_empty() || types.iter().any(|name| is(name)),
        "{place}: {value} is no {types:?}"
    );
    if let (Some(items), Some(elements)) = (schema.get("items"), value.as_array()) {
        for (at, element) in elements.iter().enumerate() {
            check(root, items, element, &format!("{place}[{at}]"));
        }
    }
    let Some(fields) = value.as_object() else { return };
    let properties = schema.get("properties").and_then(Value::as_object);
    for required in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        assert!(
            fields.contains_key(required.as_str().unwrap()),
            "{place}: {required} is missing"
        );
    }
    for (name, field) in fields {
        let place = format!("{place}.{name}");
        match (
            properties.and_then(|properties| properties.get(name)),
            schema.get("additionalProperties"),
        ) {
            (Some(property), _) => check(root, property, field, &place),
            (None, Some(rest)) if rest.is_object() => check(root, rest, field, &place),
            // A schema that says nothing of fields takes all.
            (None, _) => assert!(properties.is_none(), "{place} is not in the schema"),
        }
    }
}

/// Cursor's command line has no hooks for turns when it runs without a person.
#[test]
fn turns_that_no_hook_told_are_made_of_the_transcript_once_the_session_has_ended() {
    let machine = Machine::new();
    let id = "4b1f0e3a-9c55-4d0e-8f57-2a6d7c1e9b10";
    let place = format!("home/.cursor/projects/x/agent-transcripts/{id}/{id}.jsonl");
    let transcript = machine.path(&place);
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let fixture = crate::invariants::root().join("tests/fixtures/cursor/transcripts/sample/transcript.jsonl");
    std::fs::copy(fixture, &transcript).unwrap();
    let hook = |hook: &str, more: Value| {
        let mut payload = json!({
            "conversation_id": id, "generation_id": "g", "session_id": id, "hook_event_name": hook,
            "cursor_version": "2026.05.20", "workspace_roots": [machine.path("repo")], "transcript_path": transcript,
        });
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let done = machine.hook("cursor", hook, payload.to_string().as_bytes());
        assert_eq!(done.status.code(), Some(0));
    };
    hook("sessionStart", json!({"composer_mode": "agent"}));
    let types = || -> Vec<u64> {
        let events = machine.ask(&["export", "--format", "events", id]);
        let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.map(|event| event["type"].as_u64().unwrap()).collect()
    };
    assert_eq!(types(), [1]);
    for _ in 0..2 {
        hook("sessionEnd", json!({"reason": "completed", "duration_ms": 5}));
    }
    assert_eq!(types(), [1, 2, 3, 2, 3, 2, 3, 5]);
    let shown = machine.ask_json(&["show", id, "--json"]);
    let turns = shown["untold_turns"].as_array().unwrap();
    assert_eq!(
        turns[0]["prompt"],
        "Add a greet module and use it from the entry point."
    );
    assert_eq!(turns[0]["metadata"]["source"], "transcript");
    assert_eq!(
        turns[5]["metadata"]["last_assistant_message"],
        "Renamed greet to welcome in src/greet.ts and updated README.md."
    );
    assert_eq!(
        (&shown["session"]["turns"], &shown["session"]["prompts"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(shown["records"].as_array().unwrap().len(), 3);
    let listed = machine.ask_json(&["list", "--json"])["sessions"][0].clone();
    assert_eq!(
        (&listed["turns"], &listed["title"]),
        (&json!(3), &json!("Add a greet module and use it from the entry point."))
    );
    let text = machine.ask(&["show", id]);
    assert_eq!(text.matches("TurnStart").count(), 3, "{text}");
    assert!(
        text.find("TurnEnd").unwrap() < text.find("SessionEnd").unwrap(),
        "{text}"
    );
}
