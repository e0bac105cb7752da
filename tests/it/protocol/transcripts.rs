//! What transcripts say, from an offset on.

use serde_json::{Value, json};

use super::{AGENT, assert_refused, json};
use crate::program::Place;

/// A call that writes a file, and its result.
fn edit(number: u32, file: &str) -> String {
    let call = json!({
        "type": "assistant", "uuid": format!("a{number}"), "timestamp": "2026-01-02T03:04:05.000Z",
        "sessionId": "s1", "cwd": "/home/dev/project", "isSidechain": false,
        "message": {
            "id": format!("m{number}"), "role": "assistant", "model": "some-model",
            "content": [{
                "type": "tool_use", "id": format!("t{number}"), "name": "Write",
                "input": { "file_path": format!("/home/dev/project/{file}"), "content": "x" },
            }],
            "usage": { "input_tokens": 1, "output_tokens": 2 },
        },
    });
    let result = json!({
        "type": "user", "uuid": format!("r{number}"), "timestamp": "2026-01-02T03:04:05.000Z",
        "sessionId": "s1", "cwd": "/home/dev/project", "isSidechain": false,
        "message": {
            "role": "user",
            "content": [{ "type": "tool_result", "tool_use_id": format!("t{number}"), "content": "ok" }],
        },
    });
    format!("{call}\n{result}\n")
}

struct Transcript {
    place: Place,
    path: String,
}

impl Transcript {
    fn new(text: impl AsRef<[u8]>) -> Self {
        let place = Place::new();
        let path = place.file("t.jsonl", text);
        Self { place, path }
    }

    fn files(&self, offset: usize) -> Value {
        let offset = offset.to_string();
        let arguments = ["extract-modified-files", "--path", &self.path, "--offset", &offset];
        let env = [("ENTIRE_REPO_ROOT", "/home/dev/project"), ("HOOKHOST_AGENT", AGENT)];
        json(&self.place.hookhost(&arguments, b"", &env))
    }

    fn position(&self) -> Value {
        json(
            &self
                .place
                .plugin(AGENT, &["get-transcript-position", "--path", &self.path], b""),
        )["position"]
            .clone()
    }
}

#[test]
fn files_behind_an_offset_are_found_wherever_it_falls() {
    let (one, two) = (edit(1, "src/a.rs"), edit(2, "src/b.rs"));
    let transcript = Transcript::new(format!("{one}{two}"));
    let end = one.len() + two.len();
    assert_eq!(transcript.position(), end);
    assert_eq!(
        transcript.files(0),
        json!({ "files": ["src/a.rs", "src/b.rs"], "current_position": end })
    );
    for offset in [one.len(), one.len() - 1, 10] {
        assert_eq!(
            transcript.files(offset)["files"],
            json!(["src/b.rs"]),
            "offset {offset}"
        );
    }
    for offset in [end, end + 1, 999_999_999] {
        assert_eq!(
            transcript.files(offset),
            json!({ "files": [], "current_position": end }),
            "offset {offset}"
        );
    }
}

#[test]
fn a_half_written_line_is_read_again_when_it_is_whole() {
    let (one, two) = (edit(1, "src/a.rs"), edit(2, "src/b.rs"));
    let half = two.len() / 3;
    let transcript = Transcript::new(format!("{one}{}", &two[..half]));
    let position = transcript.files(0)["current_position"].clone();
    assert_eq!(position, one.len());
    let whole = Transcript::new(format!("{one}{two}"));
    let rest = whole.files(usize::try_from(position.as_u64().unwrap()).unwrap());
    assert_eq!(
        rest,
        json!({ "files": ["src/b.rs"], "current_position": one.len() + two.len() })
    );
}

#[test]
fn broken_lines_do_not_hide_what_follows_them() {
    let broken = "{\"type\":\"assistant\",\"mess\nnot json\n\u{0}\u{0}\n[]\nnull\n\n{\"type\":\"new-kind\"}\r\n";
    let text = format!("{}{broken}{}", edit(1, "src/a.rs"), edit(2, "src/b.rs"));
    assert_eq!(Transcript::new(text).files(0)["files"], json!(["src/a.rs", "src/b.rs"]));
}

#[test]
fn a_missing_transcript_has_no_position_and_nothing_to_say() {
    let place = Place::new();
    let missing = place.path("none.jsonl");
    let missing = missing.to_str().unwrap();
    assert_eq!(
        json(&place.plugin(AGENT, &["get-transcript-position", "--path", missing], b""))["position"],
        0
    );
    assert_refused(&place.plugin(
        AGENT,
        &["extract-modified-files", "--path", missing, "--offset", "0"],
        b"",
    ));
    assert_refused(&place.plugin(
        AGENT,
        &["extract-prompts", "--session-ref", missing, "--offset", "0"],
        b"",
    ));
    assert_refused(&place.plugin(AGENT, &["extract-summary", "--session-ref", missing], b""));
    assert_refused(&place.plugin(AGENT, &["prepare-transcript", "--session-ref", missing], b""));
}

#[test]
fn an_empty_transcript_says_nothing() {
    let transcript = Transcript::new("");
    assert_eq!(transcript.position(), 0);
    assert_eq!(transcript.files(0), json!({ "files": [], "current_position": 0 }));
    let summary = transcript
        .place
        .plugin(AGENT, &["extract-summary", "--session-ref", &transcript.path], b"");
    assert_eq!(json(&summary), json!({ "summary": "", "has_summary": false }));
    let tokens = transcript
        .place
        .plugin(AGENT, &["calculate-tokens", "--offset", "0"], b"");
    assert_eq!(json(&tokens)["input_tokens"], 0);
}

#[test]
fn tokens_are_those_behind_the_offset() {
    let (one, two) = (edit(1, "a"), edit(2, "b"));
    let text = format!("{one}{two}");
    let place = Place::new();
    let tokens = |offset: usize| {
        let offset = offset.to_string();
        json(&place.plugin(AGENT, &["calculate-tokens", "--offset", &offset], text.as_bytes()))
    };
    assert_eq!(
        tokens(0),
        json!({
            "input_tokens": 2, "cache_creation_tokens": 0, "cache_read_tokens": 0, "output_tokens": 4,
            "api_call_count": 2,
        })
    );
    assert_eq!(tokens(one.len())["output_tokens"], 2);
    assert_eq!(tokens(text.len() + 5)["output_tokens"], 0);
}

#[test]
fn files_in_linked_repositories_are_relative_to_them() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("real/src")).unwrap();
    std::os::unix::fs::symlink(place.path("real"), place.path("link")).unwrap();
    let link = place.path("link").to_str().unwrap().to_owned();
    let real = place.path("real").to_str().unwrap().to_owned();
    for (root, written) in [(&link, &real), (&real, &link), (&real, &real)] {
        let text = edit(1, "src/a.rs").replace("/home/dev/project", written);
        let transcript = place.file("t.jsonl", text);
        let arguments = [
            "extract-modified-files",
            "--agent",
            AGENT,
            "--path",
            &transcript,
            "--offset",
            "0",
        ];
        let answer = place.hookhost(&arguments, b"", &[("ENTIRE_REPO_ROOT", root)]);
        assert_eq!(json(&answer)["files"], json!(["src/a.rs"]), "{}", answer.log());
    }
}

#[test]
fn subagents_are_counted_apart_and_their_files_with_the_others() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/claude-code/transcripts/session");
    let main = std::fs::read(folder.join("transcript.jsonl")).unwrap();
    let subagents = folder.join("transcript/subagents");
    let subagents = subagents.to_str().unwrap();
    let place = Place::new();
    let total = |offset: usize, dir: &str| {
        let offset = offset.to_string();
        let arguments = ["calculate-total-tokens", "--offset", &offset, "--subagents-dir", dir];
        json(&place.plugin(AGENT, &arguments, &main))
    };
    let whole = total(0, subagents);
    assert_eq!(
        (&whole["input_tokens"], &whole["api_call_count"]),
        (&json!(58), &json!(9))
    );
    assert_eq!(
        whole["subagent_tokens"],
        json!({
            "input_tokens": 11, "cache_creation_tokens": 1620, "cache_read_tokens": 1500, "output_tokens": 117,
            "api_call_count": 2,
        })
    );
    assert!(total(main.len(), subagents)["subagent_tokens"].is_null());
    assert!(total(0, "/no/such/directory")["subagent_tokens"].is_null());
    let arguments = [
        "extract-all-modified-files",
        "--offset",
        "0",
        "--subagents-dir",
        subagents,
    ];
    let env = [("ENTIRE_REPO_ROOT", "/home/dev/project"), ("HOOKHOST_AGENT", AGENT)];
    let mut files: Vec<String> = json(&place.hookhost(&arguments, &main, &env))["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file.as_str().unwrap().to_owned())
        .collect();
    files.sort();
    assert_eq!(files, ["README.md", "docs/notes.md", "src/greet.ts", "src/index.ts"]);
}

#[test]
fn a_subagents_transcript_that_cannot_be_read_leaves_the_others_in() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/opencode/transcripts/session");
    let main = std::fs::read(folder.join("transcript.json")).unwrap();
    let child = std::fs::read_to_string(folder.join("ses_5f2a8d3b1ffeGreetChild002.json")).unwrap();
    let place = Place::new();
    let whole = place.file("subs/ses_5f2a8d3b1ffeGreetChild002.json", &child);
    let total = |dir: &str| {
        let answer = place.plugin(
            "opencode",
            &["calculate-total-tokens", "--offset", "0", "--subagents-dir", dir],
            &main,
        );
        let said = String::from_utf8(answer.err.clone()).unwrap();
        (json(&answer)["subagent_tokens"].clone(), said)
    };
    let dir = place.path("subs");
    let (tokens, said) = total(dir.to_str().unwrap());
    assert!(
        tokens["api_call_count"].as_u64() > Some(0) && said.is_empty(),
        "{tokens} {said}"
    );
    // Beside it another one that is named after the same subagent and half written.
    let torn = place.file("subs/a-ses_5f2a8d3b1ffeGreetChild002.json", &child[..child.len() / 2]);
    let (again, said) = total(dir.to_str().unwrap());
    assert_eq!(again, tokens);
    assert!(said.contains(&torn), "{said}");
    std::fs::remove_file(whole).unwrap();
    assert!(total(dir.to_str().unwrap()).0.is_null());
    for elsewhere in ["", "none", "../none", "./a/../../b"] {
        let (tokens, said) = total(elsewhere);
        assert!(tokens.is_null() && said.is_empty(), "{elsewhere}: {tokens} {said}");
    }
    // Relative to the working directory, which is the repository.
    place.file("repo/subs/ses_5f2a8d3b1ffeGreetChild002.json", &child);
    assert_eq!(total("subs").0, tokens);
    assert_eq!(total("../repo/subs").0, tokens);
}

#[test]
fn subagents_in_a_folder_named_after_their_session_are_found() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/qwen-code/transcripts/session");
    let main = std::fs::read(folder.join("transcript.jsonl")).unwrap();
    let place = Place::new();
    let total = |dir: &std::path::Path| {
        let arguments = [
            "calculate-total-tokens",
            "--offset",
            "0",
            "--subagents-dir",
            dir.to_str().unwrap(),
        ];
        json(&place.plugin("qwen-code", &arguments, &main))["subagent_tokens"].clone()
    };
    let own = total(&folder.join("subagents/7e1d4c90-2a6b-4f35-b8d7-c3e0915fa624"));
    assert!(own["api_call_count"].as_u64() > Some(0), "{own}");
    assert_eq!(total(&folder.join("subagents")), own);
}

#[test]
fn a_compact_transcript_is_one_message_a_line() {
    use base64::Engine;
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures/claude-code/transcripts/session/transcript.jsonl")
        .canonicalize()
        .unwrap();
    let place = Place::new();
    let arguments = [
        "compact-transcript",
        "--agent",
        AGENT,
        "--session-ref",
        path.to_str().unwrap(),
    ];
    let answer = json(&place.hookhost(&arguments, b"", &[("ENTIRE_CLI_VERSION", "9.9.9")]));
    let text = base64::engine::general_purpose::STANDARD
        .decode(answer["transcript"].as_str().unwrap())
        .unwrap();
    let lines: Vec<Value> = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let users: Vec<&Value> = lines.iter().filter(|line| line["type"] == "user").collect();
    assert_eq!(users.len(), 3);
    assert_eq!(
        users[2]["content"],
        json!([{ "text": "Rename the greet function to welcome." }])
    );
    for line in &lines {
        assert_eq!(
            (&line["v"], &line["agent"], &line["cli_version"]),
            (&json!(1), &json!(AGENT), &json!("9.9.9"))
        );
        assert!(line["type"] == "user" || line["type"] == "assistant");
        assert!(line["ts"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    }
    let parts: Vec<&Value> = lines
        .iter()
        .flat_map(|line| line["content"].as_array().unwrap())
        .collect();
    let failed: Vec<&&Value> = parts
        .iter()
        .filter(|part| part["result"]["status"] == "error")
        .collect();
    assert_eq!(failed.len(), 1);
    assert!(
        parts
            .iter()
            .any(|part| part["type"] == "tool_use" && part["result"]["status"] == "success")
    );
    assert_eq!(
        parts.last().unwrap()["text"],
        "Renamed greet to welcome in src/greet.ts and updated README.md."
    );
}

#[test]
fn a_pipe_in_the_place_of_a_transcript_is_not_waited_for() {
    let place = Place::new();
    let pipe = place.path("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let pipe = pipe.to_str().unwrap();
    let begin = std::time::Instant::now();
    assert_refused(&place.plugin(AGENT, &["get-transcript-position", "--path", pipe], b""));
    assert_refused(&place.plugin(AGENT, &["read-transcript", "--session-ref", pipe], b""));
    assert!(begin.elapsed() < std::time::Duration::from_secs(5));
}

#[test]
fn numbers_that_no_signed_one_can_hold_are_cut_to_the_largest() {
    let row = json!({
        "type": "assistant", "uuid": "u1", "sessionId": "s1", "requestId": "r1", "timestamp": "2026-01-02T03:04:05Z",
        "message": {
            "id": "m1", "role": "assistant", "model": "m", "content": [{ "type": "text", "text": "x" }],
            "usage": { "input_tokens": u64::MAX, "output_tokens": 1 },
        },
    });
    let place = Place::new();
    let text = format!("{row}\n");
    let answer = json(&place.plugin(AGENT, &["calculate-tokens", "--offset", "0"], text.as_bytes()));
    assert_eq!(answer["input_tokens"], i64::MAX);
}
