use std::fs;
use std::path::PathBuf;

use super::*;
use crate::model::{ConfigEdit, ConfigFormat, InsertMode, Insertion, OwnFile};

mod generated;

/// A scratch directory with one settings file in it, and a place for records.
struct Scratch {
    directory: tempfile::TempDir,
    name: &'static str,
}

impl Scratch {
    fn empty() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            name: "settings.json",
        }
    }

    fn with(bytes: impl AsRef<[u8]>) -> Self {
        let scratch = Self::empty();
        fs::write(scratch.file(), bytes).unwrap();
        scratch
    }

    fn toml(text: &str) -> Self {
        let scratch = Self {
            name: "config.toml",
            ..Self::empty()
        };
        fs::write(scratch.file(), text).unwrap();
        scratch
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join(self.name)
    }

    fn records(&self) -> PathBuf {
        self.directory.path().join("records")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn plan(&self) -> Plan {
        plan(vec![Edit::Config(grouped(&self.file()))])
    }

    fn apply(&self, plan: &Plan) -> Report {
        apply(plan, &owner(), Some(&self.records()), false).unwrap()
    }

    fn refuse(&self, plan: &Plan) -> String {
        let before = fs::read(self.file()).ok();
        let error = apply(plan, &owner(), Some(&self.records()), false)
            .unwrap_err()
            .to_string();
        assert_eq!(fs::read(self.file()).ok(), before, "the file was touched");
        assert!(error.contains("\nhint: "), "{error}");
        error
    }

    fn remove(&self, plan: &Plan) -> Report {
        remove(plan, &owner(), Some(&self.records())).unwrap()
    }
}

fn owner() -> Owner {
    Owner::new("claude-code", &["claude".to_owned()])
}

const STOP: &str = r#"{"hooks":[{"type":"command","command":"hookhost hook claude-code Stop","timeout":30}]}"#;

fn append(path: &[&str], value: &str) -> Insertion {
    Insertion {
        path: path.iter().map(|&name| name.to_owned()).collect(),
        value: value.to_owned(),
        how: InsertMode::Append,
    }
}

fn default(path: &[&str], value: &str) -> Insertion {
    Insertion {
        how: InsertMode::Default,
        ..append(path, value)
    }
}

/// As Claude Code, Codex, Gemini and others have them: groups with a list of handlers.
fn grouped(file: &Path) -> ConfigEdit {
    ConfigEdit {
        file: file.to_string_lossy().into_owned(),
        format: ConfigFormat::Jsonc,
        insertions: vec![
            append(&["hooks", "Stop"], STOP),
            append(
                &["hooks", "PreToolUse"],
                r#"{"matcher":"Task|Agent","hooks":[{"type":"command","command":"hookhost hook claude-code PreToolUse","timeout":30}]}"#,
            ),
        ],
        sweep: vec![vec!["hooks".to_owned()]],
        remove_when_empty: false,
    }
}

/// As Cursor and Copilot have them: a version, and lists of handlers.
fn flat(file: &Path) -> ConfigEdit {
    ConfigEdit {
        file: file.to_string_lossy().into_owned(),
        format: ConfigFormat::Json,
        insertions: vec![
            default(&["version"], "1"),
            append(&["hooks", "stop"], r#"{"command":"hookhost hook claude-code stop"}"#),
        ],
        sweep: vec![vec!["hooks".to_owned()]],
        remove_when_empty: true,
    }
}

fn plan(edits: Vec<Edit>) -> Plan {
    let hooks = edits
        .iter()
        .map(|edit| match edit {
            Edit::Config(edit) => edit
                .insertions
                .iter()
                .filter(|insertion| insertion.how == InsertMode::Append)
                .count(),
            Edit::File(_) => 1,
        })
        .sum::<usize>();
    Plan {
        edits,
        hooks: u32::try_from(hooks).unwrap(),
        notes: vec!["Start the agent anew.".to_owned()],
        obstacles: vec![],
    }
}

fn own_file(path: &Path) -> Edit {
    Edit::File(OwnFile {
        path: path.to_string_lossy().into_owned(),
        marker: "hookhost-plugin".to_owned(),
        content: "// hookhost-plugin v1\nexport default 1;\n".to_owned(),
        executable: false,
    })
}

#[test]
fn a_new_file_is_written_as_a_person_would() {
    let scratch = Scratch::empty();
    let report = scratch.apply(&scratch.plan());
    assert_eq!((report.newly_written, report.already), (2, 0));
    assert_eq!(report.files, [scratch.file()]);
    assert_eq!(report.notes, ["Start the agent anew."]);
    assert_eq!(
        scratch.text(),
        r#"{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "hookhost hook claude-code Stop",
            "timeout": 30
          }
        ]
      }
    ],
    "PreToolUse": [
      {
        "matcher": "Task|Agent",
        "hooks": [
          {
            "type": "command",
            "command": "hookhost hook claude-code PreToolUse",
            "timeout": 30
          }
        ]
      }
    ]
  }
}
"#
    );
    let report = scratch.apply(&scratch.plan());
    assert_eq!((report.newly_written, report.already), (0, 2));
    assert!(report.files.is_empty() && report.notes.is_empty());
    scratch.remove(&scratch.plan());
    assert!(!scratch.file().exists());
    assert_eq!(fs::read_dir(scratch.records()).unwrap().count(), 0);
}

#[test]
fn comments_trailing_commas_and_order_stay() {
    let before = r#"{
  // which model to use
  "model": "example-model",
  "permissions": {
    "deny": ["Read(./.env)",], /* never read secrets */
  },
  "note": "a comma before a brace ,} and // no comment",

  "hooks": {
    "Stop": [
      { "matcher": "", "hooks": [{ "type": "command", "command": "notify-send done" }] }, // mine
    ],
  },

}
"#;
    let scratch = Scratch::with(before);
    scratch.apply(&scratch.plan());
    let expected = before
        .replace(
            "// mine\n",
            r#"// mine
      {
        "hooks": [
          {
            "type": "command",
            "command": "hookhost hook claude-code Stop",
            "timeout": 30
          }
        ]
      },
"#,
        )
        .replace(
            "    ],\n  },\n\n}",
            r#"    ],
    "PreToolUse": [
      {
        "matcher": "Task|Agent",
        "hooks": [
          {
            "type": "command",
            "command": "hookhost hook claude-code PreToolUse",
            "timeout": 30
          }
        ]
      }
    ],
  },

}"#,
        );
    assert_eq!(scratch.text(), expected);
    scratch.remove(&scratch.plan());
    assert_eq!(scratch.text(), before);
}

#[test]
fn tabs_and_windows_line_ends_are_kept_up() {
    let before = "{\r\n\t\"a\": 1\r\n}";
    let scratch = Scratch::with(before);
    scratch.apply(&scratch.plan());
    let text = scratch.text();
    assert!(
        text.starts_with("{\r\n\t\"a\": 1,\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": ["),
        "{text:?}"
    );
    assert!(!text.replace("\r\n", "").contains('\n'));
    scratch.remove(&scratch.plan());
    assert_eq!(scratch.text(), before);
}

#[test]
fn a_file_on_one_line_stays_on_one_line() {
    for (before, after) in [
        (
            r#"{"hooks":{"Stop":[]},"x":1}"#,
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"hookhost hook claude-code Stop","timeout":30}]}]},"x":1}"#,
        ),
        (
            r#"{ "hooks": { "Stop": [ { "command": "x" } ] } }"#,
            r#"{ "hooks": { "Stop": [ { "command": "x" }, {"hooks": [{"type": "command", "command": "hookhost hook claude-code Stop", "timeout": 30}]} ] } }"#,
        ),
    ] {
        let scratch = Scratch::with(before);
        let mut edit = grouped(&scratch.file());
        edit.insertions.truncate(1);
        let plan = plan(vec![Edit::Config(edit)]);
        scratch.apply(&plan);
        assert_eq!(scratch.text(), after);
        scratch.remove(&plan);
        assert_eq!(scratch.text(), before);
    }
}

#[test]
fn a_byte_order_mark_goes_and_comes_back() {
    let before = "\u{feff}{\r\n  \"greeting\": \"naïve café\"\r\n}\r\n";
    let scratch = Scratch::with(before);
    let report = scratch.apply(&scratch.plan());
    assert!(report.notes[0].contains("byte order mark"), "{:?}", report.notes);
    assert!(scratch.text().starts_with("{\r\n  \"greeting\": \"naïve café\","));
    assert_eq!(scratch.apply(&scratch.plan()).newly_written, 0);
    scratch.remove(&scratch.plan());
    assert_eq!(scratch.text(), before);
}

#[test]
fn what_is_not_as_it_should_be_is_left_alone() {
    for (before, message) in [
        ("[]", "the file holds a list where an object has to be"),
        ("\"x\"", "the file holds a text where an object has to be"),
        (
            r#"{"hooks": [{"event": "Stop"}]}"#,
            "`hooks` is a list where an object has to be",
        ),
        (r#"{"hooks": null}"#, "`hooks` is null where an object has to be"),
        (
            r#"{"hooks": {"Stop": {"command": "x"}}}"#,
            "`hooks.Stop` is an object where a list has to be",
        ),
        (r#"{"hooks": {}, "hooks": {}}"#, "`hooks` stands there twice"),
        ("{\n  \"a\": 1,,\n}", "is not valid JSON: line 2, column 10: "),
        ("{\"a\": 1", "is not valid JSON: line 1, column 1: "),
        ("{'a': 1}", "is not valid JSON"),
        ("{} {}", "is not valid JSON"),
    ] {
        let scratch = Scratch::with(before);
        let error = scratch.refuse(&scratch.plan());
        assert!(error.contains(message), "{error}");
        assert!(error.contains("settings.json"), "{error}");
    }
    for bytes in [&b"{\"a\": \"\xff\"}"[..], &b"\xff\xfe{\0}\0"[..]] {
        let scratch = Scratch::with(bytes);
        assert!(scratch.refuse(&scratch.plan()).contains("UTF-"));
    }
    let scratch = Scratch::empty();
    fs::create_dir(scratch.file()).unwrap();
    assert!(scratch.refuse(&scratch.plan()).contains("is a directory"));
}

#[test]
fn an_error_in_one_file_keeps_all_files_as_they_are() {
    let scratch = Scratch::with("[]");
    let other = scratch.directory.path().join("other.json");
    let plan = plan(vec![
        Edit::Config(grouped(&other)),
        Edit::Config(grouped(&scratch.file())),
    ]);
    scratch.refuse(&plan);
    assert!(!other.exists());
}

#[test]
fn older_spellings_are_replaced_and_doubles_go() {
    let scratch = Scratch::with(
        r#"{
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "/old path/hookhost.exe hook claude Stop"}]},
      {"matcher": "", "hooks": [{"type": "command", "command": "echo mine"}, {"type": "command", "command": "entire hooks claude-code stop"}]},
      {"hooks": [{"type": "command", "command": "hookhost", "args": ["hook", "claude-code", "Stop"]}]},
      {"hooks": [{"type": "command", "command": "hookhost hook codex Stop"}]}
    ],
    "Notification": [
      {"hooks": [{"type": "command", "command": "hookhost hook claude-code Notification"}]}
    ]
  }
}
"#,
    );
    let state = check(&scratch.plan(), &owner()).unwrap();
    assert!(state.is_installed() && !state.is_complete());
    assert_eq!((state.wanted, state.present), (2, 1));
    assert_eq!(state.of_kind(EntryKind::OtherSpelling).count(), 1);
    assert_eq!(state.of_kind(EntryKind::Double).count(), 2);
    assert_eq!(state.of_kind(EntryKind::Unwanted).count(), 1);
    assert_eq!(
        state
            .neighbours()
            .map(|entry| entry.command.as_str())
            .collect::<Vec<_>>(),
        ["echo mine", "hookhost hook codex Stop"]
    );

    let report = scratch.apply(&scratch.plan());
    assert_eq!(report.newly_written, 2);
    assert!(
        report.notes.iter().any(|note| note.contains("`entire`")),
        "{:?}",
        report.notes
    );
    assert_eq!(
        scratch.text(),
        r#"{
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "hookhost hook claude-code Stop", "timeout": 30}]},
      {"matcher": "", "hooks": [{"type": "command", "command": "echo mine"}]},
      {"hooks": [{"type": "command", "command": "hookhost hook codex Stop"}]}
    ],
    "PreToolUse": [
      {
        "matcher": "Task|Agent",
        "hooks": [
          {
            "type": "command",
            "command": "hookhost hook claude-code PreToolUse",
            "timeout": 30
          }
        ]
      }
    ]
  }
}
"#
    );
    assert!(check(&scratch.plan(), &owner()).unwrap().is_complete());
}

#[test]
fn what_the_user_tuned_stays_unless_forced() {
    let scratch = Scratch::empty();
    scratch.apply(&scratch.plan());
    let tuned = scratch.text().replacen("\"timeout\": 30", "\"timeout\": 90", 1);
    fs::write(scratch.file(), &tuned).unwrap();
    assert_eq!(scratch.apply(&scratch.plan()).newly_written, 0);
    assert_eq!(scratch.text(), tuned);
    let report = apply(&scratch.plan(), &owner(), Some(&scratch.records()), true).unwrap();
    assert_eq!(report.newly_written, 2);
    assert_eq!(scratch.text(), tuned.replace("90", "30"));
}

#[test]
fn a_default_stands_until_nobody_needs_it() {
    // Ours alone: the file goes.
    let scratch = Scratch::empty();
    let plan = plan(vec![Edit::Config(flat(&scratch.file()))]);
    scratch.apply(&plan);
    assert!(scratch.text().contains("\"version\": 1"));
    scratch.remove(&plan);
    assert!(!scratch.file().exists());
    // Somebody came after us: it stays.
    scratch.apply(&plan);
    let text = scratch.text();
    let theirs = "{\n    \"stop\": [\n      {\n        \"command\": \"theirs\"\n      },";
    fs::write(scratch.file(), text.replace("{\n    \"stop\": [", theirs)).unwrap();
    scratch.remove(&plan);
    assert!(scratch.text().contains("\"version\": 1") && scratch.text().contains("theirs"));
    // Nobody did: it goes with us.
    let before = "{\"hooks\": {\"stop\": [{\"command\": \"theirs\"}]}}\n";
    fs::write(scratch.file(), before).unwrap();
    scratch.apply(&plan);
    assert!(scratch.text().contains("\"version\": 1"));
    scratch.remove(&plan);
    assert_eq!(scratch.text(), before);
}

#[test]
fn without_a_record_the_entries_go_and_the_users_file_stays() {
    let scratch = Scratch::empty();
    let plan = scratch.plan();
    apply(&plan, &owner(), None, false).unwrap();
    remove(&plan, &owner(), None).unwrap();
    assert_eq!(scratch.text(), "{}\n");
    let plan = self::plan(vec![Edit::Config(flat(&scratch.file()))]);
    apply(&plan, &owner(), None, false).unwrap();
    remove(&plan, &owner(), None).unwrap();
    assert!(!scratch.file().exists());
}

#[test]
fn who_had_entries_behind_ours_is_told_that_they_moved() {
    let theirs = |command: &str| format!("{{\"hooks\": [{{\"type\": \"command\", \"command\": \"{command}\"}}]}}");
    let scratch = Scratch::with(format!("{{\"hooks\": {{\"Stop\": [{}]}}}}\n", theirs("first")));
    let plan = scratch.plan();
    scratch.apply(&plan);
    assert_eq!(scratch.remove(&plan).notes, [""; 0]);
    scratch.apply(&plan);
    let mut root: serde_json::Value = serde_json::from_str(&scratch.text()).unwrap();
    let last = serde_json::from_str(&theirs("last")).unwrap();
    root["hooks"]["Stop"].as_array_mut().unwrap().push(last);
    fs::write(scratch.file(), root.to_string()).unwrap();
    let notes = scratch.remove(&plan).notes;
    assert!(notes.len() == 1 && notes[0].contains("moved up"), "{notes:?}");
    assert!(scratch.text().contains("first") && scratch.text().contains("last"));
}

#[test]
fn a_script_that_an_entry_starts_is_no_hook_of_its_own() {
    let scratch = Scratch::empty();
    let script = scratch.directory.path().join("stop.sh");
    let mut plan = plan(vec![own_file(&script), Edit::Config(flat(&scratch.file()))]);
    plan.hooks = 1;
    assert_eq!(scratch.apply(&plan).newly_written, 1);
    let report = scratch.remove(&plan);
    assert_eq!((report.removed, report.files.len()), (1, 2));
}

#[test]
fn directories_that_we_made_go_with_us() {
    let scratch = Scratch::empty();
    let theirs = scratch.directory.path().join("a");
    fs::create_dir(&theirs).unwrap();
    let plan = plan(vec![
        own_file(&theirs.join("b/plugin.js")),
        own_file(&theirs.join("b/c/plugin.js")),
        Edit::Config(flat(&theirs.join("d/hooks.json"))),
    ]);
    assert_eq!(scratch.apply(&plan).newly_written, 3);
    assert_eq!(scratch.apply(&plan).newly_written, 0);
    assert!(check(&plan, &owner()).unwrap().is_complete());
    let report = scratch.remove(&plan);
    assert_eq!((report.removed, report.files.len()), (3, 3));
    assert!(theirs.is_dir());
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
}

#[test]
fn entries_that_run_a_script_of_ours_are_ours() {
    let scratch = Scratch::with("{}\n");
    let folder = scratch.directory.path().join("My hooks");
    let script = folder.join("hookhost-stop.sh");
    let mut edit = grouped(&scratch.file());
    edit.insertions = vec![append(
        &["hooks", "Stop"],
        &format!("{{\"hooks\":[{{\"command\":\"{}\"}}]}}", script.display()),
    )];
    let mut plan = plan(vec![own_file(&script), Edit::Config(edit)]);
    plan.hooks = 1;
    assert_eq!(scratch.apply(&plan).newly_written, 1);
    let installed = scratch.text();
    assert_eq!(scratch.apply(&plan).newly_written, 0);
    let state = check(&plan, &owner()).unwrap();
    assert!(state.is_complete() && state.dead().count() == 0 && state.neighbours().count() == 0);
    // The directory was moved: the old entry gives way.
    fs::write(
        scratch.file(),
        installed.replace(scratch.directory.path().to_str().unwrap(), "/old"),
    )
    .unwrap();
    assert_eq!(check(&plan, &owner()).unwrap().dead().count(), 1);
    assert_eq!(scratch.apply(&plan).newly_written, 1);
    assert_eq!(scratch.text(), installed);
    scratch.remove(&plan);
    assert_eq!(scratch.text(), "{}\n");
    assert!(!folder.exists());
}

#[test]
fn a_foreign_file_in_our_place_gives_way_only_when_forced() {
    let scratch = Scratch::with("mine\n");
    let plan = plan(vec![own_file(&scratch.file())]);
    assert!(scratch.refuse(&plan).contains("is not ours"));
    scratch.remove(&plan);
    assert_eq!(scratch.text(), "mine\n");
    apply(&plan, &owner(), Some(&scratch.records()), true).unwrap();
    assert!(scratch.text().starts_with("// hookhost-plugin"));
    scratch.remove(&plan);
    assert_eq!(scratch.text(), "mine\n");
}

#[test]
fn our_own_file_is_brought_up_to_date() {
    let scratch = Scratch::with("// hookhost-plugin v0\nold\n");
    let plan = plan(vec![own_file(&scratch.file())]);
    let state = check(&plan, &owner()).unwrap();
    assert_eq!(state.of_kind(EntryKind::OtherSpelling).count(), 1);
    assert_eq!(scratch.apply(&plan).newly_written, 1);
    assert_eq!(scratch.apply(&plan).newly_written, 0);
}

#[cfg(unix)]
#[test]
fn links_modes_and_read_only_files_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;

    let scratch = Scratch::empty();
    let real = scratch.directory.path().join("dotfiles/settings.json");
    fs::create_dir(real.parent().unwrap()).unwrap();
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles/settings.json", scratch.file()).unwrap();
    scratch.apply(&scratch.plan());
    assert!(fs::symlink_metadata(scratch.file()).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("hookhost"));
    assert_eq!(mode(&real), 0o640);
    scratch.remove(&scratch.plan());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");

    fs::set_permissions(&real, fs::Permissions::from_mode(0o444)).unwrap();
    // Root may write everything.
    if file::is_read_only(&real) {
        assert!(scratch.refuse(&scratch.plan()).contains("read-only"));
    }

    // A link to nowhere: the file is made where it points.
    let scratch = Scratch::empty();
    symlink("not/there.json", scratch.file()).unwrap();
    scratch.apply(&scratch.plan());
    assert!(scratch.directory.path().join("not/there.json").is_file());
    scratch.remove(&scratch.plan());
    assert!(!scratch.directory.path().join("not").exists());

    let scratch = Scratch::empty();
    symlink("settings.json", scratch.file()).unwrap();
    assert!(scratch.refuse(&scratch.plan()).contains("too many symbolic links"));

    let scratch = Scratch::empty();
    let plan = plan(vec![Edit::File(OwnFile {
        path: scratch.file().to_string_lossy().into_owned(),
        marker: "hookhost".to_owned(),
        content: "#!/bin/sh\n# hookhost\n".to_owned(),
        executable: true,
    })]);
    scratch.apply(&plan);
    assert_eq!(mode(&scratch.file()) & 0o100, 0o100);
    fs::set_permissions(scratch.file(), fs::Permissions::from_mode(0o644)).unwrap();
    scratch.apply(&plan);
    assert_eq!(mode(&scratch.file()), 0o755);

    // Taking back what is not there changes nothing: neither a file of the user's nor an empty folder.
    let scratch = Scratch::with("mine");
    let folder = scratch.directory.path().join("empty");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(scratch.file(), fs::Permissions::from_mode(0o644)).unwrap();
    for file in [scratch.file(), folder.join("script")] {
        let plan = super::tests::plan(vec![Edit::File(OwnFile {
            path: file.to_string_lossy().into_owned(),
            marker: "hookhost".to_owned(),
            content: "#!/bin/sh\n# hookhost\n".to_owned(),
            executable: true,
        })]);
        let report = scratch.remove(&plan);
        assert!(report.files.is_empty() && report.removed == 0, "{report:?}");
    }
    assert_eq!((scratch.text().as_str(), mode(&scratch.file())), ("mine", 0o644));
    assert!(folder.is_dir());
}

#[test]
fn a_file_that_held_no_value_is_as_it_was_again() {
    for before in ["", "\n", "// nothing yet\n"] {
        let scratch = Scratch::with(before);
        for plan in [scratch.plan(), plan(vec![Edit::Config(flat(&scratch.file()))])] {
            scratch.apply(&plan);
            assert!(scratch.text().contains("hookhost"));
            scratch.remove(&plan);
            assert_eq!(scratch.text(), before);
        }
    }
}

#[test]
fn installers_at_the_same_moment_lose_nothing() {
    let scratch = Scratch::with("{\n  \"model\": \"x\"\n}\n");
    let before = scratch.text();
    let plan_of = |agent: &str| {
        let mut edit = grouped(&scratch.file());
        for insertion in &mut edit.insertions {
            insertion.value = insertion.value.replace("claude-code", agent);
        }
        plan(vec![Edit::Config(edit)])
    };
    let agents: Vec<_> = (0..12).map(|number| format!("agent-{number}")).collect();
    let all = |work: &(dyn Fn(&Plan, &Owner) + Sync)| {
        std::thread::scope(|scope| {
            for agent in &agents {
                let plan = plan_of(agent);
                scope.spawn(move || work(&plan, &Owner::new(agent, &[])));
            }
        });
    };
    all(&|plan, owner| {
        apply(plan, owner, Some(&scratch.records()), false).unwrap();
    });
    for agent in &agents {
        let state = check(&plan_of(agent), &Owner::new(agent, &[])).unwrap();
        assert!(state.is_complete(), "{agent}: {state:?}");
    }
    all(&|plan, owner| {
        remove(plan, owner, Some(&scratch.records())).unwrap();
    });
    assert_eq!(scratch.text(), before);
}

#[test]
fn a_preview_shows_and_changes_nothing() {
    let scratch = Scratch::with("{}\n");
    let changes = preview(&scratch.plan(), &owner(), Some(&scratch.records()), false).unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].before.as_deref(), Some("{}\n"));
    assert!(
        changes[0]
            .after
            .as_deref()
            .unwrap()
            .contains("hookhost hook claude-code Stop")
    );
    assert_eq!(scratch.text(), "{}\n");
    assert!(!scratch.records().exists());
    scratch.apply(&scratch.plan());
    assert!(
        preview(&scratch.plan(), &owner(), Some(&scratch.records()), false)
            .unwrap()
            .is_empty()
    );
    let back = preview_removal(&scratch.plan(), &owner(), Some(&scratch.records())).unwrap();
    assert_eq!(back[0].after.as_deref(), Some("{}\n"));
}

fn toml_plan(file: &Path) -> Plan {
    plan(vec![Edit::Config(ConfigEdit {
        format: ConfigFormat::Toml,
        ..grouped(file)
    })])
}

const TOML_STOP: &str = r#"[[hooks.Stop]]

[[hooks.Stop.hooks]]
type = "command"
command = "hookhost hook claude-code Stop"
timeout = 30
"#;

#[test]
fn toml_gets_tables_at_the_end() {
    let before =
        "# mine\nmodel = \"x\" # y\n\n[[hooks.Stop]]\nhooks = [{ type = \"command\", command = 'a' }]\n\n[z]\n";
    let scratch = Scratch::toml(before);
    assert_eq!(scratch.apply(&toml_plan(&scratch.file())).newly_written, 2);
    let pre = TOML_STOP
        .replace("Stop", "PreToolUse")
        .replacen("]]\n", "]]\nmatcher = \"Task|Agent\"\n", 1);
    assert_eq!(scratch.text(), format!("{before}\n{TOML_STOP}\n{pre}"));
    assert_eq!(scratch.apply(&toml_plan(&scratch.file())).newly_written, 0);
    assert!(check(&toml_plan(&scratch.file()), &owner()).unwrap().is_complete());
    scratch.remove(&toml_plan(&scratch.file()));
    assert_eq!(scratch.text(), before);
}

#[test]
fn toml_keeps_line_ends_and_a_missing_last_one() {
    for before in [
        "",
        "\n",
        "a = 1",
        "a = 1\r\n[b]\r\nc = '''\r\nd'''",
        "# only this",
        "a = 1\n\n\n",
    ] {
        let scratch = Scratch::toml(before);
        scratch.apply(&toml_plan(&scratch.file()));
        if before.contains('\r') {
            assert!(!scratch.text().replace("\r\n", "").contains('\n'));
        }
        scratch.remove(&toml_plan(&scratch.file()));
        assert_eq!(scratch.text(), before);
    }
}

#[test]
fn toml_lists_in_brackets_are_extended_in_brackets() {
    for before in [
        "hooks = { Stop = [{ hooks = [{ command = \"x\" }] }], PreToolUse = [] }\n",
        "[hooks]\nStop = [\n  { hooks = [{ command = \"x\" }] }, # mine\n]\nPreToolUse = [ # none\n]",
        "hooks = {}\n",
    ] {
        let scratch = Scratch::toml(before);
        assert_eq!(scratch.apply(&toml_plan(&scratch.file())).newly_written, 2);
        let text = scratch.text();
        assert!(!text.contains("[["), "{text}");
        assert!(
            check(&toml_plan(&scratch.file()), &owner()).unwrap().is_complete(),
            "{text}"
        );
        scratch.remove(&toml_plan(&scratch.file()));
        assert_eq!(scratch.text(), before);
    }
}

#[test]
fn toml_older_entries_are_replaced_where_they_stand() {
    let old = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"entire hooks claude-code stop\"\n# after\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"theirs\"\n[[hooks.Stop.hooks]]\ncommand = \"hookhost hook claude stop\"\n";
    let scratch = Scratch::toml(old);
    let mut plan = toml_plan(&scratch.file());
    if let Edit::Config(edit) = &mut plan.edits[0] {
        edit.insertions.truncate(1);
    }
    plan.hooks = 1;
    assert_eq!(scratch.apply(&plan).newly_written, 1);
    assert_eq!(
        scratch.text(),
        format!("{TOML_STOP}# after\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"theirs\"\n")
    );
}

#[test]
fn toml_defaults_go_where_their_table_is() {
    for (before, after) in [
        ("", "[features]\nhooks = true\n"),
        ("a = 1\n", "a = 1\n\n[features]\nhooks = true\n"),
        ("[features]\nx = 1\n[b]\n", "[features]\nx = 1\nhooks = true\n[b]\n"),
        ("[features]", "[features]\nhooks = true"),
        ("features = { x = 1 }\n", "features = { x = 1, hooks = true }\n"),
        ("[features]\nhooks = false\n", "[features]\nhooks = false\n"),
        ("features.x = 1\n", "features.x = 1\nfeatures.hooks = true\n"),
    ] {
        let scratch = Scratch::toml(before);
        let plan = plan(vec![Edit::Config(ConfigEdit {
            insertions: vec![default(&["features", "hooks"], "true")],
            format: ConfigFormat::Toml,
            sweep: vec![],
            ..grouped(&scratch.file())
        })]);
        scratch.apply(&plan);
        assert_eq!(scratch.text(), after);
        scratch.remove(&plan);
        assert_eq!(scratch.text(), before);
    }
}

#[test]
fn toml_of_another_shape_is_left_alone() {
    for (before, message) in [
        ("hooks = 1\n", "`hooks` is a number where a table has to be"),
        ("[hooks]\nStop = 'x'\n", "`hooks.Stop` is a text where a list has to be"),
        ("a = \n", "is not valid TOML: line 1, column 5"),
        ("a = 1\na = 2\n", "is not valid TOML: line 2"),
    ] {
        let scratch = Scratch::toml(before);
        let error = scratch.refuse(&toml_plan(&scratch.file()));
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_list_of_texts_takes_one_more() {
    // As an editor's list of trusted commands has it.
    let scratch = Scratch::with("{\n    \"trusted\": [\"npm *\"] // mine\n}\n");
    let before = scratch.text();
    let plan = plan(vec![Edit::Config(ConfigEdit {
        insertions: vec![append(&["trusted"], "\"hookhost hook claude-code stop\"")],
        sweep: vec![],
        ..grouped(&scratch.file())
    })]);
    assert_eq!(scratch.apply(&plan).newly_written, 1);
    assert_eq!(
        scratch.text(),
        before.replace("\"npm *\"", "\"npm *\", \"hookhost hook claude-code stop\"")
    );
    assert_eq!(scratch.apply(&plan).newly_written, 0);
    scratch.remove(&plan);
    assert_eq!(scratch.text(), before);
}

#[test]
fn entries_that_others_added_later_stay() {
    let scratch = Scratch::empty();
    scratch.apply(&scratch.plan());
    let text = scratch.text().replacen(
        "    \"Stop\": [\n",
        "    \"Stop\": [\n      {\"hooks\": [{\"command\": \"theirs\"}]},\n",
        1,
    );
    fs::write(scratch.file(), text).unwrap();
    scratch.remove(&scratch.plan());
    assert_eq!(
        scratch.text(),
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"command\": \"theirs\"}]}\n    ]\n  }\n}\n"
    );
}

#[test]
fn programs_that_are_gone_are_seen() {
    let scratch = Scratch::with(
        r#"{"hooks": {"Stop": [
            {"hooks": [{"command": "/not/there/hookhost hook claude-code Stop"}]},
            {"hooks": [{"command": "/not/there/guard --all"}, {"command": "sh -c 'exit 0'"}, {"command": "~/bin/x"}]}
        ]}}"#,
    );
    let state = check(&scratch.plan(), &owner()).unwrap();
    assert_eq!(
        state.dead().map(|entry| entry.program.as_str()).collect::<Vec<_>>(),
        ["/not/there/hookhost"]
    );
    let neighbours: Vec<_> = state
        .neighbours()
        .map(|entry| (entry.program.as_str(), entry.exists))
        .collect();
    assert_eq!(
        neighbours,
        [("/not/there/guard", Some(false)), ("sh", Some(true)), ("~/bin/x", None)]
    );
}
