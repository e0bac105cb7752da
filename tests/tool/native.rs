//! Libraries beside components that were compiled here, and what is told of them.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use hookhost::adapter::{Limits, registry};

use crate::alike;
use crate::guest;
use crate::library::{digest, library, settings, table};

#[test]
fn the_smallest_adapter_answers_alike_as_a_component_and_as_a_library() {
    let folder = tempfile::tempdir().unwrap();
    let file = library("minimal-adapter");
    let config = settings(folder.path(), &[("minimal-adapter", &file, &digest(&file))]);
    let native = registry::find("minimal-adapter", &config).unwrap();
    let payloads = [
        (
            "UserPrompt",
            r#"{"session_id":"s1","prompt":"say \"ü\" \ud83e\udd80\n"}"#,
        ),
        ("user-prompt", r#"{"session_id":"s1","prompt":""}"#),
        ("UserPrompt", r#"{"prompt":"whose?"}"#),
        ("Stop", r#"{"session_id":"s1"}"#),
        ("NoSuchHook", r#"{"session_id":"s1"}"#),
        ("Stop", "[1]"),
        ("Stop", ""),
    ]
    .map(|(hook, payload)| (hook.to_owned(), payload.to_owned()));
    let (events, entries) = alike::compare(
        guest::load("minimal-adapter", Limits::default()).as_mut(),
        native.load("minimal-adapter", Limits::default()).unwrap().as_mut(),
        &payloads,
        &[b"{}\n".to_vec()],
    );
    // Three payloads mean something, in each of six contexts. The agent has no transcripts.
    assert_eq!((events, entries), (18, 0));
}

fn ask(home: &Path, arguments: &[&str]) -> (bool, String) {
    let output = guest::tool()
        .args(arguments)
        .env("HOOKHOST_HOME", home)
        .env_remove("HOOKHOST_CONFIG")
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn list_and_info_say_that_a_library_is_not_confined() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config");
    fs::create_dir(&config).unwrap();
    let file = library("minimal-adapter");
    let named = |sha256: &str| {
        let config = config.join("config.toml");
        fs::write(&config, table("minimal-adapter", &file, sha256)).unwrap();
        fs::set_permissions(&config, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    };
    named(&digest(&file));
    let (is_good, list) = ask(home.path(), &["list"]);
    assert!(
        is_good && list.contains("minimal-adapter  native     not confined\n"),
        "{list}"
    );
    let (_, info) = ask(home.path(), &["info", "minimal-adapter"]);
    assert!(
        info.contains("native (not confined: it can do all that you can)"),
        "{info}"
    );
    assert!(info.contains(file.to_str().unwrap()), "{info}");
    let (_, json) = ask(home.path(), &["info", "minimal-adapter", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["origin"], &json["confined"]), (&"native".into(), &false.into()));
    named(&"0".repeat(64));
    let (is_good, list) = ask(home.path(), &["list"]);
    assert!(
        !is_good && list.contains("native     CANNOT BE USED: its library"),
        "{list}"
    );
}

#[test]
fn what_is_on_the_shelf_is_checked_also_where_a_library_stands_in_for_it() {
    let home = tempfile::tempdir().unwrap();
    let module = guest::module("hostile");
    assert!(ask(home.path(), &["install", module.to_str().unwrap()]).0);
    let config = home.path().join("config");
    fs::create_dir(&config).unwrap();
    fs::write(
        config.join("config.toml"),
        table("hostile", Path::new("/no/such/library"), &"0".repeat(64)),
    )
    .unwrap();
    assert_eq!(
        ask(home.path(), &["check", "hostile"]),
        (true, "hostile  ready\n".to_owned())
    );
    // Under all names of what it stands in for.
    for name in ["hostile", "hostile-alias"] {
        assert!(!ask(home.path(), &["info", name]).0, "{name}");
    }
}
