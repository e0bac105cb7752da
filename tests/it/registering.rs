//! `install`, `status` and `uninstall`, as a person uses them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::fake_agent::{HOOKHOST, Machine, Stdin, run};

const AGENT: &str = "claude-code";

/// The user's settings, with a hook of another tool.
const SETTINGS: &str = "{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"/gone/guard.sh\"}]}\n    ]\n  }\n}\n";

fn machine() -> Machine {
    let machine = Machine::new();
    let settings = machine.path("home/.claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(settings, SETTINGS).unwrap();
    machine
}

fn settings(machine: &Machine) -> String {
    fs::read_to_string(machine.path("home/.claude/settings.json")).unwrap()
}

/// All commands of ours in a file without comments.
fn commands(text: &str) -> Vec<String> {
    let text: String = text.lines().filter(|line| !line.trim().starts_with("//")).collect();
    let value: Value = serde_json::from_str(&text).unwrap();
    let groups = value["hooks"].as_object().unwrap().values();
    groups
        .flat_map(|groups| groups.as_array().unwrap())
        .flat_map(|group| group["hooks"].as_array().unwrap())
        .map(|handler| handler["command"].as_str().unwrap().to_owned())
        .filter(|command| command.contains("hookhost"))
        .collect()
}

fn agent(status: &Value) -> &Value {
    let agents = status["agents"].as_array().unwrap();
    agents.iter().find(|agent| agent["agent"] == AGENT).unwrap()
}

#[test]
fn from_installing_to_a_recorded_session_and_back() {
    let machine = machine();
    let said = machine.ask(&["install", AGENT]);
    assert_eq!(said, "+ Claude Code  9 hooks written to ~/.claude/settings.json\n");
    assert_eq!(
        machine.ask(&["install", AGENT]),
        "= Claude Code  all 9 hooks were there\n"
    );
    let installed = settings(&machine);
    assert!(installed.starts_with("{\n  // mine\n  \"model\": \"x\",\n"));

    // Not on PATH, so by its path; and the agent runs it through a shell.
    let stop = commands(&installed)
        .into_iter()
        .find(|command| command.contains(" Stop'"))
        .unwrap();
    assert!(stop.contains(HOOKHOST), "{stop}");
    let payload =
        json!({"session_id": "s-1", "hook_event_name": "Stop", "cwd": machine.path("repo"), "stop_hook_active": false});
    let mut command = machine.command("/bin/sh");
    command.args(["-c", &stop]);
    run(command, Stdin::Open(payload.to_string().as_bytes())).assert_harmless("the installed command");
    assert_eq!(machine.records(AGENT, Some("s-1")).len(), 1);

    let status = machine.ask_json(&["status", "--json"]);
    let agent = agent(&status);
    assert!(agent["last_record"].is_string(), "{agent}");
    let user = agent["installations"]
        .as_array()
        .unwrap()
        .iter()
        .find(|installation| installation["scope"] == "user")
        .unwrap();
    assert_eq!((&user["state"], &user["present"]), (&json!("complete"), &json!(9)));
    let foreign: Vec<_> = user["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["kind"] == "foreign")
        .map(|entry| (entry["program"].as_str().unwrap(), entry["exists"].as_bool()))
        .collect();
    assert_eq!(foreign, [("/gone/guard.sh", Some(false))]);

    let page = machine.ask(&["status"]);
    assert!(page.contains("9 of 9"), "{page}");
    assert!(
        page.contains("also on hooks.Stop in ~/.claude/settings.json: /gone/guard.sh (not there)"),
        "{page}"
    );

    let said = machine.ask(&["uninstall", AGENT]);
    assert_eq!(said, "- Claude Code  9 hooks taken out of ~/.claude/settings.json\n");
    assert_eq!(settings(&machine), SETTINGS);
    assert_eq!(machine.ask(&["uninstall", AGENT]), "Nothing was registered.\n");
}

#[test]
fn a_program_under_a_path_with_spaces_is_harmless_once_it_is_gone() {
    let machine = machine();
    let folder = machine.path("My Tools");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("hookhost");
    fs::copy(HOOKHOST, &program).unwrap();
    let mut command = machine.command(&program);
    command.args(["install", AGENT, "--repo", "--json"]);
    let done = run(command, Stdin::Bytes(b""));
    let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(answer["agents"][0]["newly_written"], 9);
    let commands = commands(&fs::read_to_string(machine.path("repo/.claude/settings.json")).unwrap());
    let fire = |command: &str| {
        let mut shell = machine.command("/bin/sh");
        shell.args(["-c", command]);
        run(
            shell,
            Stdin::Bytes(br#"{"session_id": "s-2", "hook_event_name": "Stop"}"#),
        )
        .assert_harmless(command);
    };
    commands.iter().for_each(|command| fire(command));
    let recorded = machine.all_records().len();
    assert_eq!(recorded, commands.len());
    fs::remove_file(&program).unwrap();
    commands.iter().for_each(|command| fire(command));
    assert_eq!(machine.all_records().len(), recorded);
    let page = machine.ask(&["status", AGENT]);
    assert!(page.contains("My Tools/hookhost, which is not there"), "{page}");
}

#[test]
fn a_dry_run_shows_the_changes_and_makes_none() {
    let machine = machine();
    let mut command = machine.hookhost(&["install", "--all", "--dry-run"]);
    command.env("CLICOLOR_FORCE", "1");
    let done = run(command, Stdin::Bytes(b""));
    let shown = String::from_utf8(done.stdout).unwrap();
    assert!(
        shown.contains("\u{1b}[32m+    \"SessionStart\": [\u{1b}[0m\n"),
        "{shown}"
    );
    assert_eq!(settings(&machine), SETTINGS);
    assert!(!machine.path("home/.local").exists(), "not even notes are kept");
}

#[test]
fn who_names_no_agent_is_told_which_there_are() {
    let machine = machine();
    let done = run(machine.hookhost(&["install"]), Stdin::Bytes(b""));
    assert_eq!(done.status.code(), Some(64));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.contains("set up here: claude-code; --all takes all of them"),
        "{said}"
    );
}

#[test]
fn where_no_agent_is_set_up_all_of_them_is_none_and_that_is_said() {
    let machine = machine();
    for how in [
        &["install", "--all", "--exclude", AGENT][..],
        &["install", "--all", "--exclude", AGENT, "--dry-run"],
    ] {
        let said = machine.ask(how);
        assert!(
            said.starts_with("Nothing to register: no agent is set up here"),
            "{said}"
        );
    }
}

#[test]
fn status_of_all_is_that_of_agents_that_are_not_set_up_as_well() {
    let machine = machine();
    let status = machine.ask_json(&["status", "--all", "--json"]);
    let folders = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../adapters")).unwrap();
    let agents = folders
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("hookhost-"))
        .count();
    assert_eq!(status["agents"].as_array().unwrap().len(), agents);
}

#[test]
fn one_agents_failure_keeps_no_other_from_being_registered() {
    let machine = machine();
    let codex = machine.path("home/.codex/hooks.json");
    fs::create_dir_all(codex.parent().unwrap()).unwrap();
    fs::write(&codex, "[]").unwrap();
    let done = run(machine.hookhost(&["install", "--all"]), Stdin::Bytes(b""));
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.contains("hookhost: codex: ")
            && said.contains("hooks.json: the file holds a list where an object has to be"),
        "{said}"
    );
    assert!(
        settings(&machine).contains("hookhost hook claude-code Stop")
            || settings(&machine).contains("\\\" hook claude-code Stop")
    );
    assert_eq!(fs::read_to_string(&codex).unwrap(), "[]");
    let done = run(
        machine.hookhost(&["uninstall", "--all", "--exclude", "codex"]),
        Stdin::Bytes(b""),
    );
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(settings(&machine), SETTINGS);
    assert!(Path::new(&codex).exists());
}
