//! Sessions: ids, directories, files, reading and writing, chunks.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{AGENT, assert_refused, json};
use crate::program::{Answer, Place};

fn session_dir(place: &Place) -> String {
    let repo = place.repo();
    let answer = json(&place.plugin(AGENT, &["get-session-dir", "--repo-path", repo.to_str().unwrap()], b""));
    answer["session_dir"].as_str().unwrap().to_owned()
}

#[test]
fn a_repository_is_the_same_however_its_path_is_written() {
    let place = Place::new();
    let repo = place.repo();
    let repo = repo.to_str().unwrap();
    for written in [format!("{repo}/"), format!("{repo}/./src/.."), format!("{repo}//")] {
        let answer = json(&place.plugin(AGENT, &["get-session-dir", "--repo-path", &written], b""));
        assert_eq!(answer["session_dir"], session_dir(&place), "{written}");
    }
}

fn session(place: &Place, session_ref: &str, data: Value) -> Value {
    json!({
        "session_id": "s1", "agent_name": AGENT, "repo_path": place.repo(), "session_ref": session_ref,
        "start_time": "2026-01-02T03:04:05Z", "native_data": data,
        "modified_files": null, "new_files": ["x"], "deleted_files": [],
    })
}

fn write(place: &Place, session: &Value) -> Answer {
    place.plugin(AGENT, &["write-session"], session.to_string().as_bytes())
}

fn read(place: &Place, session_ref: &str) -> Answer {
    let input = json!({
        "hook_type": "Stop", "session_id": "s1", "session_ref": session_ref, "timestamp": "2026-01-02T03:04:05Z",
    });
    place.plugin(AGENT, &["read-session"], input.to_string().as_bytes())
}

/// All files below a directory.
fn files(dir: &Path) -> Vec<String> {
    let mut found = vec![];
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else {
            found.push(path.to_str().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn the_id_of_a_session_is_found_and_may_be_empty() {
    let place = Place::new();
    let id = |input: Value| {
        let answer = place.plugin(AGENT, &["get-session-id"], input.to_string().as_bytes());
        json(&answer)["session_id"].clone()
    };
    assert_eq!(
        id(json!({ "hook_type": "agent-spawn", "session_id": "abc", "tool_input": null })),
        "abc"
    );
    assert_eq!(id(json!({ "hook_type": "x", "session_id": "", "session_ref": "" })), "");
    assert_eq!(id(json!({ "session_id": null })), "");
}

#[test]
fn a_session_file_holds_the_id_and_stays_in_its_directory() {
    let place = Place::new();
    let file = |id: &str| {
        place.plugin(
            AGENT,
            &["resolve-session-file", "--session-dir", "/x/y", "--session-id", id],
            b"",
        )
    };
    let answer = json(&file("test-session-123"));
    let path = answer["session_file"].as_str().unwrap();
    assert!(path.starts_with("/x/y/") && path.contains("test-session-123"), "{path}");
    for id in ["../x", "a/b", "..", "", "a\\b", "*"] {
        assert_refused(&file(id));
    }
}

#[test]
fn a_document_that_cannot_be_understood_is_read_back_byte_for_byte_too() {
    let place = Place::new();
    let mut session = session(&place, "", STANDARD.encode(b"{\"messages\": [{").into());
    session["agent_name"] = "cline".into();
    let answer = place.plugin("cline", &["write-session"], session.to_string().as_bytes());
    assert_eq!(answer.code, Some(0), "{}", answer.log());
    let input =
        json!({ "hook_type": "Stop", "session_id": "s1", "session_ref": "", "timestamp": "2026-01-02T03:04:05Z" });
    let came = json(&place.plugin("cline", &["read-session"], input.to_string().as_bytes()));
    assert_eq!(came["native_data"], session["native_data"]);
    assert_eq!(came["modified_files"], json!([]));
}

#[test]
fn what_was_written_is_read_back_byte_for_byte() {
    let place = Place::new();
    let path = format!("{}/s1.jsonl", session_dir(&place));
    let samples: [&[u8]; 5] = [
        b"{\"test\": true}",
        b"",
        b"\xff\xfe\x00not text",
        b"no line end",
        "ä\r\n\u{feff}".as_bytes(),
    ];
    for bytes in samples {
        let answer = write(&place, &session(&place, &path, STANDARD.encode(bytes).into()));
        assert!(answer.code == Some(0) && answer.out.is_empty(), "{}", answer.log());
        assert_eq!(fs::read(&path).unwrap(), bytes);
        let came = json(&read(&place, &path));
        assert_eq!(came["native_data"], STANDARD.encode(bytes));
        assert_eq!(came["session_id"], "s1");
        assert_eq!(came["agent_name"], AGENT);
        assert_eq!(came["repo_path"], place.repo().to_str().unwrap());
        assert_eq!(came["session_ref"], path);
        assert_eq!(came["start_time"], "2026-01-02T03:04:05Z");
        for list in ["modified_files", "new_files", "deleted_files"] {
            assert!(came[list].is_array(), "{list}");
        }
        assert_eq!(
            place
                .plugin(AGENT, &["read-transcript", "--session-ref", &path], b"")
                .out,
            bytes
        );
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(&path)), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(write(&place, &session(&place, &path, "YQ==".into())).code, Some(0));
    assert_eq!(mode(Path::new(&path)), 0o644);
    assert_eq!(files(&place.path("home")), [path]);
}

#[test]
fn keys_and_sessions_without_a_ref_are_found_again() {
    let place = Place::new();
    let dir = session_dir(&place);
    for session_ref in ["some-key", ""] {
        let answer = write(&place, &session(&place, session_ref, "YQ==".into()));
        assert_eq!(answer.code, Some(0), "{}", answer.log());
        assert_eq!(json(&read(&place, session_ref))["native_data"], "YQ==");
    }
    let mut written = files(&place.path("home"));
    written.sort();
    assert_eq!(written, [format!("{dir}/s1.jsonl"), format!("{dir}/some-key.jsonl")]);
}

#[test]
fn refs_that_break_the_rules_write_nothing() {
    let place = Place::new();
    let dir = session_dir(&place);
    fs::create_dir_all(&dir).unwrap();
    fs::create_dir_all(place.path("outside")).unwrap();
    symlink(place.path("outside"), format!("{dir}/link")).unwrap();
    symlink(place.path("outside/target"), format!("{dir}/dangling")).unwrap();
    let before = files(place.path("").as_path());
    let refs = [
        format!("{dir}/../x.jsonl"),
        format!("{dir}/./x.jsonl"),
        format!("{dir}/link/x.jsonl"),
        format!("{dir}/dangling"),
        format!("{dir}-2/x.jsonl"),
        dir.clone(),
        place.path("outside/x").to_str().unwrap().to_owned(),
        "../x".to_owned(),
        "a/../../x".to_owned(),
        "..".to_owned(),
        r"\x".to_owned(),
        r"C:\x".to_owned(),
        "a\0b".to_owned(),
    ];
    for session_ref in refs {
        assert_refused(&write(&place, &session(&place, &session_ref, "YQ==".into())));
    }
    let path = format!("{dir}/s1.jsonl");
    let mut foreign = session(&place, &path, "YQ==".into());
    foreign["agent_name"] = "some-other-agent".into();
    assert_refused(&write(&place, &foreign));
    assert_refused(&write(&place, &session(&place, &path, Value::Null)));
    assert_refused(&write(&place, &session(&place, &path, "%%%".into())));
    let mut relative = session(&place, &path, "YQ==".into());
    relative["repo_path"] = "repo".into();
    assert_refused(&write(&place, &relative));
    assert_eq!(files(place.path("").as_path()), before);
    for session_ref in ["/x/../y", "../x", "/no/such/file.jsonl"] {
        assert_refused(&read(&place, session_ref));
        assert_refused(&place.plugin(AGENT, &["read-transcript", "--session-ref", session_ref], b""));
    }
}

#[test]
fn a_session_that_is_refused_makes_no_directory() {
    let place = Place::new();
    let path = format!("{}/sub/{}.jsonl", session_dir(&place), "x".repeat(300));
    assert_refused(&write(&place, &session(&place, &path, "YQ==".into())));
    assert_eq!(fs::read_dir(place.path("home")).unwrap().count(), 0);
}

#[test]
fn tildes_and_file_urls_name_the_same_file() {
    let place = Place::new();
    let path = format!("{}/s 1.jsonl", session_dir(&place));
    let home = place.path("home").to_str().unwrap().to_owned();
    let tilde = path.replace(&home, "~");
    assert_eq!(write(&place, &session(&place, &tilde, "YQ==".into())).code, Some(0));
    assert_eq!(fs::read(&path).unwrap(), b"a");
    for session_ref in [tilde.clone(), format!("file://{}", path.replace(' ', "%20"))] {
        let came = json(&read(&place, &session_ref));
        assert_eq!(
            (&came["native_data"], &came["session_ref"]),
            (&json!("YQ=="), &json!(path))
        );
        let bytes = place
            .plugin(AGENT, &["read-transcript", "--session-ref", &session_ref], b"")
            .out;
        assert_eq!(bytes, b"a");
    }
    let position = place.plugin(AGENT, &["get-transcript-position", "--path", &tilde], b"");
    assert_eq!(position.code, Some(0), "{}", position.log());
    let above = tilde.replace("~/", "~/x/../");
    assert_refused(&write(&place, &session(&place, &above, "YQ==".into())));
}

#[test]
fn a_link_inside_of_the_directory_is_written_through() {
    let place = Place::new();
    let dir = session_dir(&place);
    fs::create_dir_all(&dir).unwrap();
    fs::write(format!("{dir}/real.jsonl"), "old").unwrap();
    symlink("real.jsonl", format!("{dir}/link.jsonl")).unwrap();
    let answer = write(&place, &session(&place, &format!("{dir}/link.jsonl"), "YQ==".into()));
    assert_eq!(answer.code, Some(0), "{}", answer.log());
    assert!(Path::new(&dir).join("link.jsonl").is_symlink());
    assert_eq!(fs::read(format!("{dir}/real.jsonl")).unwrap(), b"a");
}

#[test]
fn a_session_that_cannot_be_written_leaves_the_old_one() {
    let place = Place::new();
    let dir = session_dir(&place);
    let path = format!("{dir}/s1.jsonl");
    fs::create_dir_all(format!("{path}/is-a-directory")).unwrap();
    assert_refused(&write(&place, &session(&place, &path, "YQ==".into())));
    assert!(files(Path::new(&dir)).is_empty());
}

#[test]
fn chunks_are_cut_behind_lines_and_are_the_whole() {
    let place = Place::new();
    let samples: [&[u8]; 4] = [
        b"",
        b"small content",
        "eine zeile ä\nzwei\n\ndrei".as_bytes(),
        b"\xff\x80\x80\x80\x80\n\x00",
    ];
    for bytes in samples {
        for max in ["1", "3", "7", "1048576"] {
            let chunks = place.plugin(AGENT, &["chunk-transcript", "--max-size", max], bytes);
            let whole = place.plugin(AGENT, &["reassemble-transcript"], &chunks.out);
            assert_eq!(whole.out, bytes, "{}", chunks.log());
            let sizes = json(&chunks)["chunks"].as_array().unwrap().clone();
            let max: usize = max.parse().unwrap();
            let fits = |chunk: &Value| STANDARD.decode(chunk.as_str().unwrap()).unwrap().len() <= max;
            assert!(sizes.iter().all(fits));
        }
    }
    let answer = place.plugin(
        AGENT,
        &["reassemble-transcript"],
        br#"{"chunks":["YQ==","not base64!"]}"#,
    );
    assert_refused(&answer);
}
