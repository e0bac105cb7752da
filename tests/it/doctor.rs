//! `doctor` on machines that are well and on some that are not.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::fake_agent::{Machine, Stdin, run};

const AGENT: &str = "claude-code";

/// What doctor says, and with which exit code.
fn doctor(machine: &Machine, arguments: &[&str], variables: &[(&str, &str)]) -> (Value, i32) {
    let mut command = machine.hookhost(&[&["doctor", "--json"], arguments].concat());
    command.envs(variables.iter().copied());
    let done = run(command, Stdin::Bytes(b""));
    let stderr = String::from_utf8_lossy(&done.stderr);
    let answer = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{stderr}"));
    (answer, done.status.code().unwrap())
}

/// Check, verdict and message of what is of this verdict.
fn found(answer: &Value, verdict: &str) -> Vec<(String, String)> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = answer["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["verdict"] == verdict)
        .map(|finding| (text(finding, "check"), text(finding, "message")))
        .collect()
}

fn with_hooks() -> Machine {
    let machine = Machine::new();
    machine.ask(&["--agent", AGENT, "install-hooks"]);
    machine
}

#[track_caller]
fn assert_wrong(answer: &Value, code: i32, check: &str, message: &str) {
    assert_eq!(code, 1);
    assert_eq!(answer["healthy"], false);
    let wrong = found(answer, "wrong");
    assert!(
        wrong
            .iter()
            .any(|(found, said)| found == check && said.contains(message)),
        "{check}, {message}: {wrong:?}"
    );
    for finding in answer["findings"].as_array().unwrap() {
        assert!(
            finding["verdict"] != "wrong" || finding["remedy"].is_string() || check == "hooks",
            "{finding}"
        );
    }
}

#[test]
fn a_machine_without_hooks_is_well_and_is_told_what_to_do() {
    let machine = Machine::new();
    let (answer, code) = doctor(&machine, &[], &[]);
    assert_eq!((code, found(&answer, "wrong")), (0, vec![]));
    assert!(
        found(&answer, "notice")
            .iter()
            .any(|(_, message)| message == "no agent has hooks of ours")
    );
    assert!(found(&answer, "fine").iter().any(|(check, _)| check == "canary"));
    assert!(machine.all_records().is_empty());
    let page = run(machine.hookhost(&["doctor"]), Stdin::Bytes(b""));
    assert!(String::from_utf8(page.stdout).unwrap().ends_with("all is well\n"));
}

#[test]
fn registered_commands_are_fired_and_leave_nothing_in_the_journal() {
    let machine = with_hooks();
    let (answer, code) = doctor(&machine, &[AGENT], &[]);
    assert_eq!((code, found(&answer, "wrong")), (0, vec![]));
    let fine = found(&answer, "fine");
    assert!(
        fine.iter()
            .any(|(check, message)| check == "canary" && message.contains("commands recorded a hook")),
        "{fine:?}"
    );
    assert!(
        fine.iter()
            .any(|(check, message)| check == "hooks" && message.starts_with("all "))
    );
    assert!(machine.all_records().is_empty());
}

#[test]
fn a_program_that_is_gone_is_found() {
    let machine = with_hooks();
    let settings = machine.path("repo/.claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace(crate::fake_agent::HOOKHOST, "/gone/hookhost")).unwrap();
    let (answer, code) = doctor(&machine, &[AGENT], &[]);
    assert_wrong(&answer, code, "hooks", "/gone/hookhost is gone");
    assert_wrong(&answer, code, "canary", "recorded nothing");
}

#[test]
fn hooks_that_are_missing_or_switched_off_are_found() {
    let machine = with_hooks();
    let settings = machine.path("repo/.claude/settings.json");
    let mut text: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    text["hooks"].as_object_mut().unwrap().remove("Stop");
    text["disableAllHooks"] = true.into();
    std::fs::write(&settings, text.to_string()).unwrap();
    let (answer, code) = doctor(&machine, &[AGENT], &[]);
    assert_wrong(&answer, code, "hooks", "8 of 9 are registered");
    assert_wrong(&answer, code, "hooks", "disableAllHooks");
}

#[test]
fn wrong_settings_are_found() {
    let machine = Machine::new();
    let config = machine.path("config.toml");
    std::fs::write(&config, "capture = 'all'").unwrap();
    let (answer, code) = doctor(&machine, &[], &[("HOOKHOST_CONFIG", config.to_str().unwrap())]);
    assert_wrong(&answer, code, "settings", "capture cannot be 'all'");
    let (answer, code) = doctor(&machine, &[], &[("HOOKHOST_DISABLE", "1")]);
    assert_wrong(&answer, code, "settings", "switched off");
    assert_wrong(&answer, code, "canary", "recorded nothing");
}

#[test]
fn access_rights_are_mended() {
    let machine = Machine::new();
    machine.hook(
        AGENT,
        "Stop",
        br#"{"session_id":"s","transcript_path":"/x","cwd":"/x","hook_event_name":"Stop"}"#,
    );
    let file = machine.journal().session_file(AGENT, Some("s"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (answer, code) = doctor(&machine, &[], &[]);
    assert_wrong(&answer, code, "journal", "1 file or folder in");
    let (answer, code) = doctor(&machine, &["--fix"], &[]);
    assert_eq!((code, found(&answer, "mended").len()), (0, 1));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_journal_that_cannot_be_written_is_found() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.path("home/.local/share")).unwrap();
    std::fs::write(machine.path("home/.local/share/hookhost"), "in the way").unwrap();
    machine.hook(AGENT, "Stop", b"{}").assert_harmless("no journal");
    let (answer, code) = doctor(&machine, &[], &[]);
    assert_wrong(&answer, code, "journal", "no record can be written");
    assert_wrong(&answer, code, "lost", "1 hook call could not be recorded");
}

#[test]
fn recent_failures_are_told() {
    let machine = Machine::new();
    machine.hook(AGENT, "Stop", b"");
    let (answer, code) = doctor(&machine, &[], &[]);
    assert_eq!(code, 0);
    let notices = found(&answer, "notice");
    assert!(
        notices
            .iter()
            .any(|(check, message)| check == "failures" && message.contains("payload-empty")),
        "{notices:?}"
    );
}

#[test]
fn what_doctor_says_is_what_its_schema_says() {
    let machine = with_hooks();
    let (answer, _) = doctor(&machine, &[AGENT], &[]);
    let schema = machine.ask_json(&["schema", "doctor"]);
    crate::sessions::check(&schema, &schema, &answer, "doctor");
}
