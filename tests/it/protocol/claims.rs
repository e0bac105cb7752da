//! What `info` claims works, and what it does not claim fails clearly: every adapter, every command.

use hookhost_bundle::BUILTINS;
use serde_json::{Value, json};

use super::{assert_refused, json};
use crate::program::{Answer, Place};

/// A capability, its command lines and what they read. `{file}` is an empty JSON object in a file.
const CLAIMS: &[(&str, &[&[&str]])] = &[
    (
        "transcript_analyzer",
        &[
            &["get-transcript-position", "--path", "{file}"],
            &["extract-modified-files", "--path", "{file}", "--offset", "0"],
            &["extract-modified-files", "--path", "{file}", "--offset", "999"],
            &["extract-prompts", "--session-ref", "{file}", "--offset", "999"],
            &["extract-summary", "--session-ref", "{file}"],
        ],
    ),
    ("token_calculator", &[&["calculate-tokens", "--offset", "0"]]),
    (
        "compact_transcript",
        &[&["compact-transcript", "--session-ref", "{file}"]],
    ),
    (
        "hook_response_writer",
        &[&["write-hook-response", "--message", "a message"]],
    ),
    (
        "subagent_aware_extractor",
        &[
            &[
                "extract-all-modified-files",
                "--offset",
                "0",
                "--subagents-dir",
                "{dir}",
            ],
            &["calculate-total-tokens", "--offset", "0", "--subagents-dir", "{dir}"],
        ],
    ),
    ("hooks", &[&["are-hooks-installed"]]),
];

/// Commands that need more than a file: only that they are refused is looked at.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "transcript_preparer",
        &["prepare-transcript", "--session-ref", "{file}"],
    ),
    ("text_generator", &["generate-text", "--model", "x"]),
];

fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS
        .iter()
        .flat_map(|adapter| [adapter.name].into_iter().chain(adapter.aliases.iter().copied()))
}

/// An event stream of many agents' sessions: there is no one program to go on with.
fn is_stream(name: &str) -> bool {
    let info = json(&Place::new().plugin(name, &["info"], b""));
    info["hook_names"] == json!(["event"])
}

fn run(place: &Place, agent: &str, words: &[&str]) -> Answer {
    let file = place.file("transcript.json", "{}");
    let dir = place.repo();
    let words: Vec<String> = words
        .iter()
        .map(|word| word.replace("{file}", &file).replace("{dir}", dir.to_str().unwrap()))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    place.plugin(agent, &words, b"{}")
}

#[test]
fn info_is_complete_and_answers_with_the_name_it_was_called_by() {
    for name in names() {
        let info = json(&Place::new().plugin(name, &["info"], b""));
        assert_eq!(info["protocol_version"], 1);
        assert_eq!(info["name"], name);
        for text in ["type", "description"] {
            assert!(
                info[text].as_str().is_some_and(|text| !text.is_empty()),
                "{name}: {text}"
            );
        }
        assert!(info["is_preview"].is_boolean());
        for list in ["protected_dirs", "protected_files", "hook_names"] {
            assert!(info[list].is_array(), "{name}: {list}");
        }
        let hook_names = info["hook_names"].as_array().unwrap();
        assert_eq!(hook_names.is_empty(), info["capabilities"]["hooks"] == false, "{name}");
        let is_kebab = |hook: &Value| {
            let hook = hook.as_str().unwrap();
            !hook.starts_with('-')
                && hook
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        };
        assert!(hook_names.iter().all(is_kebab), "{name}: {hook_names:?}");
        let capabilities = info["capabilities"].as_object().unwrap();
        assert_eq!(capabilities.len(), 10);
        assert!(capabilities.values().all(Value::is_boolean));
    }
}

#[test]
fn every_adapter_has_the_required_commands() {
    for adapter in BUILTINS {
        let place = Place::new();
        let run = |words: &[&str], stdin: &Value| place.plugin(adapter.name, words, stdin.to_string().as_bytes());
        let repo = place.repo();
        let repo = repo.to_str().unwrap();
        assert!(json(&run(&["detect"], &Value::Null))["present"].is_boolean());
        let input = json!({ "hook_type": "agent-spawn", "session_id": "test-session-abc", "session_ref": "" });
        assert_eq!(
            json(&run(&["get-session-id"], &input))["session_id"],
            "test-session-abc"
        );
        let dir = json(&run(&["get-session-dir", "--repo-path", repo], &Value::Null));
        let dir = dir["session_dir"].as_str().unwrap().to_owned();
        assert!(std::path::Path::new(&dir).is_absolute(), "{}: {dir}", adapter.name);
        let resolve = [
            "resolve-session-file",
            "--session-dir",
            &dir,
            "--session-id",
            "test-session-123",
        ];
        let file = json(&run(&resolve, &Value::Null));
        let file = file["session_file"].as_str().unwrap().to_owned();
        assert!(file.contains("test-session-123"), "{}: {file}", adapter.name);
        let command = run(
            &["format-resume-command", "--session-id", "test-session-123"],
            &Value::Null,
        );
        if is_stream(adapter.name) {
            assert_refused(&command);
        } else {
            let command = json(&command);
            assert!(
                command["command"].as_str().is_some_and(|text| !text.is_empty()),
                "{}",
                adapter.name
            );
        }

        let session = json!({
            "session_id": "test-session-123", "agent_name": adapter.name, "repo_path": repo, "session_ref": file,
            "start_time": "2026-01-02T03:04:05Z", "native_data": "eyJ0ZXN0IjogdHJ1ZX0=",
            "modified_files": ["file1.go"], "new_files": [], "deleted_files": [],
        });
        let written = run(&["write-session"], &session);
        assert_eq!(written.code, Some(0), "{}", written.log());
        let input = json!({
            "hook_type": "agent-spawn", "session_id": "test-session-123", "session_ref": file,
            "timestamp": "2026-01-02T03:04:05Z",
        });
        let came = json(&run(&["read-session"], &input));
        for field in ["session_id", "agent_name", "repo_path", "session_ref", "native_data"] {
            assert_eq!(came[field], session[field], "{}: {field}", adapter.name);
        }
    }
}

#[test]
fn every_hook_takes_any_payload_and_none() {
    for adapter in BUILTINS {
        let place = Place::new();
        let info = json(&place.plugin(adapter.name, &["info"], b""));
        for hook in info["hook_names"].as_array().unwrap() {
            let hook = hook.as_str().unwrap();
            let input = json!({
                "hook_type": hook, "session_id": "test-session-hook", "session_ref": "", "user_prompt": "test prompt",
                "timestamp": "2026-01-02T03:04:05Z", "raw_data": { "session_id": "test-session-hook" },
            });
            let event = json(&place.plugin(
                adapter.name,
                &["parse-hook", "--hook", hook],
                input.to_string().as_bytes(),
            ));
            if !event.is_null() {
                assert!(event["session_id"].as_str().is_some_and(|id| !id.is_empty()), "{event}");
                assert!(
                    event["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(),
                    "{event}"
                );
            }
            json(&place.plugin(adapter.name, &["parse-hook", "--hook", hook], b""));
        }
    }
}

#[test]
fn what_is_claimed_answers_and_what_is_not_is_refused() {
    for adapter in BUILTINS {
        let place = Place::new();
        let info = json(&place.plugin(adapter.name, &["info"], b""));
        for (capability, commands) in CLAIMS {
            for words in *commands {
                let answer = run(&place, adapter.name, words);
                if info["capabilities"][capability] == false {
                    assert_refused(&answer);
                } else {
                    assert_eq!(answer.code, Some(0), "{capability}: {}", answer.log());
                }
            }
        }
        for (capability, words) in OTHERS {
            if info["capabilities"][capability] == false {
                assert_refused(&run(&place, adapter.name, words));
            }
        }
    }
}

#[test]
fn hooks_are_installed_once_and_taken_back() {
    for adapter in BUILTINS {
        let place = Place::new();
        let ask = |words: &[&str]| place.plugin(adapter.name, words, b"");
        if is_stream(adapter.name) {
            continue;
        }
        let installed = || json(&ask(&["are-hooks-installed"]))["installed"].clone();
        assert_eq!(installed(), false, "{}", adapter.name);
        let first = ask(&["install-hooks"]);
        assert!(json(&first)["hooks_installed"].as_u64() > Some(0), "{}", first.log());
        assert_eq!(installed(), true, "{}", adapter.name);
        assert_eq!(
            json(&ask(&["install-hooks", "--local-dev"]))["hooks_installed"],
            0,
            "{}",
            adapter.name
        );
        json(&ask(&["install-hooks", "--force"]));
        let removed = ask(&["uninstall-hooks"]);
        assert!(removed.code == Some(0) && removed.out.is_empty(), "{}", removed.log());
        assert_eq!(installed(), false, "{}", adapter.name);
    }
}
