//! What can go wrong in a hook, and what is left of it: exit code 0, silence, and a record that says why.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

use hookhost::adapter::FailureKind;
use hookhost::journal::Journal;

use crate::fake_agent::{HOOKHOST, Machine, Stdin, run, start, wait};

const AGENT: &str = "claude-code";

const STOP: &[u8] = br#"{"session_id":"s1","transcript_path":"/home/dev/.claude/projects/x/s1.jsonl","cwd":"/home/dev/project","hook_event_name":"Stop","stop_hook_active":false}"#;

/// What the journal holds after an abuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// One record with one event.
    Event,
    /// One record without an event and without a failure.
    Record,
    /// One record with a failure of this code.
    Failure(&'static str),
    /// No record, but a line in the temp folder.
    Fallback,
    /// Nothing anywhere.
    Nothing,
}

use Left::{Event, Failure, Fallback, Nothing, Record};

fn left(machine: &Machine) -> Left {
    let records = machine.all_records();
    let fallback = machine.fallback();
    match (records.as_slice(), fallback.as_slice()) {
        ([], []) => Nothing,
        ([], [line]) => {
            assert!(["journal-unwritable", "killed"].contains(&line.failure.code.as_ref()));
            Fallback
        }
        ([record], []) => match &record.failure {
            Some(failure) => {
                assert!(record.events.is_empty(), "{record:?}");
                assert!(!failure.message.is_empty(), "{failure:?}");
                Failure(Box::leak(failure.code.to_string().into_boxed_str()))
            }
            None if record.events.is_empty() => Record,
            None => Event,
        },
        _ => panic!("{records:?} {fallback:?}"),
    }
}

/// The table: name, what is left, arguments, stdin.
type Row = (&'static str, Left, &'static [&'static str], Stdin<'static>);

const ARGUMENTS_AND_STDIN: &[Row] = &[
    ("as it should be", Event, &[AGENT, "Stop"], Stdin::Bytes(STOP)),
    ("the hook's alias", Event, &[AGENT, "stop"], Stdin::Bytes(STOP)),
    ("stdin stays open", Event, &[AGENT, "Stop"], Stdin::Open(STOP)),
    ("the payload is an argument", Event, &[AGENT, "Stop", r#"{"session_id":"s1","transcript_path":"/home/dev/.claude/projects/x/s1.jsonl","cwd":"/x","hook_event_name":"Stop"}"#], Stdin::Open(b"")),
    ("no arguments", Failure("usage"), &[], Stdin::Bytes(STOP)),
    ("only the agent", Failure("usage"), &[AGENT], Stdin::Bytes(STOP)),
    ("empty arguments", Failure("usage"), &["", ""], Stdin::Bytes(STOP)),
    ("an option of a later version", Event, &["--later", AGENT, "Stop"], Stdin::Bytes(STOP)),
    ("an option without its value", Failure("usage"), &[AGENT, "--agent"], Stdin::Bytes(STOP)),
    ("help among the words", Event, &[AGENT, "--help", "Stop"], Stdin::Bytes(STOP)),
    ("an unknown agent", Failure("adapter-load"), &["no-such-agent", "Stop"], Stdin::Bytes(STOP)),
    ("an agent that leads out of the folder", Failure("adapter-load"), &["../../x", "Stop"], Stdin::Bytes(STOP)),
    ("an adapter's file that is not there", Failure("adapter-load"), &["--adapter", "/no/such.wasm", AGENT, "Stop"], Stdin::Bytes(STOP)),
    ("an unknown hook", Record, &[AGENT, "NoSuchHook"], Stdin::Bytes(STOP)),
    ("a hook with line ends", Record, &[AGENT, "Stop\nStop"], Stdin::Bytes(STOP)),
    ("empty stdin", Failure("payload-empty"), &[AGENT, "Stop"], Stdin::Bytes(b"")),
    ("white space and byte order marks", Failure("payload-empty"), &[AGENT, "Stop"], Stdin::Bytes(b"\xef\xbb\xbf\xef\xbb\xbf \r\n")),
    ("stdin open and silent", Failure("payload-empty"), &[AGENT, "Stop"], Stdin::Open(b"")),
    ("no JSON", Failure("malformed-payload"), &[AGENT, "Stop"], Stdin::Bytes(b"hello\n")),
    ("cut off", Failure("payload-cut"), &[AGENT, "Stop"], Stdin::Bytes(b"{\"session_id\":\"s1\",\"a\":")),
    ("cut off, and the pipe stays open", Failure("payload-cut"), &[AGENT, "Stop"], Stdin::Open(b"{\"session_id\":\"s1\",\"a\":")),
    ("looks complete and is not JSON", Failure("malformed-payload"), &[AGENT, "Stop"], Stdin::Bytes(b"{\"session_id\" \"s1\"}")),
    ("a list", Failure("malformed-payload"), &[AGENT, "Stop"], Stdin::Bytes(b"[1]")),
    ("null", Failure("malformed-payload"), &[AGENT, "Stop"], Stdin::Bytes(b"null")),
    ("two values", Event, &[AGENT, "Stop"], Stdin::Bytes(br#"{"session_id":"s1","transcript_path":"/x","cwd":"/x","hook_event_name":"Stop"}{"session_id":"s2"}"#)),
    ("byte order marks and line ends", Event, &[AGENT, "Stop"], Stdin::Bytes(b"\xef\xbb\xbf\xef\xbb\xbf{\r\n\"session_id\":\"s1\",\"transcript_path\":\"/x\",\"cwd\":\"/x\",\"hook_event_name\":\"Stop\"}\r\n")),
    ("bytes that are not UTF-8", Event, &[AGENT, "Stop"], Stdin::Bytes(b"{\"session_id\":\"s1\",\"transcript_path\":\"/x\",\"cwd\":\"/caf\xe9\",\"hook_event_name\":\"Stop\"}")),
    ("no session", Record, &[AGENT, "Stop"], Stdin::Bytes(br#"{"hook_event_name":"Stop"}"#)),
    ("a session that leads out of the folder", Event, &[AGENT, "Stop"], Stdin::Bytes(br#"{"session_id":"../../../etc/x","transcript_path":"/x","cwd":"/x","hook_event_name":"Stop"}"#)),
    ("a session with odd characters", Event, &[AGENT, "Stop"], Stdin::Bytes(br#"{"session_id":"a/b\\c\u0000\u0001\"\n:*?","transcript_path":"/x","cwd":"/x","hook_event_name":"Stop"}"#)),
];

#[test]
fn whatever_the_arguments_and_stdin_are_the_hook_is_harmless() {
    std::thread::scope(|scope| {
        for (name, expected, arguments, stdin) in ARGUMENTS_AND_STDIN {
            scope.spawn(move || {
                let machine = Machine::new();
                let words = [&["hook"], *arguments].concat();
                let done = run(machine.hookhost(&words), *stdin);
                done.assert_harmless(name);
                assert_eq!(left(&machine), *expected, "{name}");
                assert!(done.took < Duration::from_secs(20), "{name} took {:?}", done.took);
            });
        }
    });
}

#[test]
fn the_payload_is_kept_byte_for_byte_whatever_it_is() {
    for (_, expected, arguments, stdin) in ARGUMENTS_AND_STDIN {
        let (Stdin::Bytes(bytes), Event | Record | Failure(_)) = (stdin, expected) else {
            continue;
        };
        let machine = Machine::new();
        let words = [&["hook"], *arguments].concat();
        run(machine.hookhost(&words), *stdin);
        assert_eq!(machine.all_records()[0].payload.bytes(), *bytes, "{arguments:?}");
    }
}

#[test]
fn a_very_long_session_id_has_a_file_of_its_own() {
    let machine = Machine::new();
    let id = "x/".repeat(3000);
    let payload = format!(r#"{{"session_id":"{id}","transcript_path":"/x","cwd":"/x","hook_event_name":"Stop"}}"#);
    machine
        .hook(AGENT, "Stop", payload.as_bytes())
        .assert_harmless("long id");
    let records = machine.records(AGENT, Some(&id));
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].session_id.as_deref(), Some(id.as_str()));
}

#[test]
fn a_payload_above_the_limit_is_said_to_be_one() {
    let machine = Machine::new();
    let payload = format!("{{\"session_id\":\"s1\",\"prompt\":\"{}\"}}", "x".repeat(33 << 20));
    machine
        .hook(AGENT, "UserPromptSubmit", payload.as_bytes())
        .assert_harmless("large");
    assert_eq!(left(&machine), Failure("payload-too-large"));
}

#[test]
fn options_before_the_command_do_no_harm() {
    for options in [
        &["--no-such-option"][..],
        &["--plugin"],
        &["--agent", "x"],
        &["--version=1"],
    ] {
        let machine = Machine::new();
        let words = [options, &["hook", AGENT, "Stop"]].concat();
        run(machine.hookhost(&words), Stdin::Bytes(STOP)).assert_harmless("options before");
        assert_eq!(left(&machine), Event, "{options:?}");
    }
}

/// The table: name, what is left, a shell script in which `"$HOOKHOST" hook …` runs.
const SURROUNDINGS: &[(&str, Left, &str)] = &[
    (
        "stdin is closed",
        Failure("payload-empty"),
        r#"exec "$HOOKHOST" hook claude-code Stop <&-"#,
    ),
    (
        "stdin is a directory",
        Failure("stdin-unreadable"),
        r#"exec "$HOOKHOST" hook claude-code Stop </"#,
    ),
    (
        "stdout is closed",
        Event,
        r#"exec "$HOOKHOST" hook claude-code Stop >&-"#,
    ),
    (
        "stdout is full",
        Event,
        r#"exec "$HOOKHOST" hook claude-code Stop >/dev/full"#,
    ),
    (
        "stdout and stderr are closed",
        Event,
        r#"exec "$HOOKHOST" hook claude-code Stop >&- 2>&-"#,
    ),
    (
        "the reader of stdout has gone",
        Event,
        r#""$HOOKHOST" hook claude-code Stop | true"#,
    ),
    (
        "no home can be made",
        Fallback,
        r#"HOME=/dev/null exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "home is no place for files",
        Fallback,
        r#"HOME=/proc/self exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "no home and no temp folder",
        Nothing,
        r#"HOME=/dev/null TMPDIR=/no/such exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the temp folder is no folder",
        Nothing,
        r#"HOME=/dev/null TMPDIR=/dev/null exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the journal is a file",
        Fallback,
        r#"mkdir -p "$HOME/.local/share/hookhost"; echo >"$HOME/.local/share/hookhost/journal"; exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the session's file is a directory",
        Fallback,
        r#"mkdir -p "$HOME/.local/share/hookhost/journal/claude-code/s1.jsonl"; exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the session's file is a pipe",
        Fallback,
        r#"mkdir -p "$HOME/.local/share/hookhost/journal/claude-code"; mkfifo "$HOME/.local/share/hookhost/journal/claude-code/s1.jsonl"; exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the directory is gone",
        Event,
        r#"mkdir gone; cd gone; rmdir ../gone; exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "files cannot grow",
        Nothing,
        r#"ulimit -f 0; exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "one file can be opened at a time",
        Event,
        r#"ulimit -n 4; exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "switched off",
        Nothing,
        r#"HOOKHOST_DISABLE=1 exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "switched off in words",
        Nothing,
        r#"HOOKHOST_DISABLE=yes-please exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "not switched off",
        Event,
        r#"HOOKHOST_DISABLE=0 exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "switched off by the settings",
        Nothing,
        r#"echo 'disable = true' >c; HOOKHOST_CONFIG=c exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the agent is excluded",
        Nothing,
        r#"echo 'exclude.agents = ["claude-code"]' >c; HOOKHOST_CONFIG=c exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the repository is excluded",
        Nothing,
        r#"echo "exclude.repos = ['$PWD']" >c; HOOKHOST_CONFIG=c exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the settings are no TOML",
        Failure("config-invalid"),
        r#"echo 'a = ' >c; HOOKHOST_CONFIG=c exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "a setting is wrong",
        Failure("config-invalid"),
        r#"echo 'capture = "x"' >c; HOOKHOST_CONFIG=c exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "a setting is unknown",
        Event,
        r#"echo 'captur = "x"' >c; HOOKHOST_CONFIG=c exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the settings are a pipe",
        Failure("config-invalid"),
        r#"mkfifo c; HOOKHOST_CONFIG=c exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the settings have no end",
        Failure("config-invalid"),
        r#"HOOKHOST_CONFIG=/dev/zero exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the settings are nothing",
        Event,
        r#"HOOKHOST_CONFIG=/dev/null exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the settings are not there",
        Failure("config-invalid"),
        r#"HOOKHOST_CONFIG=/no/such exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "the settings are broken and it is switched off",
        Nothing,
        r#"HOOKHOST_DISABLE=1 HOOKHOST_CONFIG=/no/such exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "an own pattern is wrong",
        Failure("config-invalid"),
        r#"echo 'capture = "redacted"
redact.patterns = ["("]' >c; HOOKHOST_CONFIG=c exec "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "nothing in the environment",
        Event,
        r#"exec env -i HOME="$HOME" "$HOOKHOST" hook claude-code Stop"#,
    ),
    (
        "within the protocol's surroundings",
        Event,
        r#"ENTIRE_PROTOCOL_VERSION=1 ENTIRE_REPO_ROOT=$PWD exec "$HOOKHOST" hook claude-code Stop"#,
    ),
];

#[test]
fn whatever_the_surroundings_are_the_hook_is_harmless() {
    for (name, expected, script) in SURROUNDINGS {
        let machine = Machine::new();
        let mut command = machine.command("/bin/sh");
        command.args(["-c", script]);
        run(command, Stdin::Bytes(STOP)).assert_harmless(name);
        assert_eq!(left(&machine), *expected, "{name}");
    }
}

#[test]
fn a_disk_that_is_full_in_the_middle_of_a_record_leaves_the_records_before_it() {
    let machine = Machine::new();
    let large = format!(
        r#"{{"session_id":"s1","transcript_path":"/x","cwd":"/x","hook_event_name":"UserPromptSubmit","prompt":"{}"}}"#,
        "x".repeat(50_000)
    );
    machine.hook(
        AGENT,
        "SessionEnd",
        br#"{"session_id":"s1","transcript_path":"/x","cwd":"/x","hook_event_name":"SessionEnd"}"#,
    );
    let before = std::fs::read(machine.journal().session_file(AGENT, Some("s1"))).unwrap();
    // Less than the record and more than what is there.
    let mut command = machine.command("/bin/sh");
    command.args([
        "-c",
        "ulimit -f 8; exec \"$HOOKHOST\" hook claude-code UserPromptSubmit",
    ]);
    run(command, Stdin::Bytes(large.as_bytes())).assert_harmless("full");
    assert_eq!(
        std::fs::read(machine.journal().session_file(AGENT, Some("s1"))).unwrap(),
        before
    );
    assert_eq!(machine.fallback().len(), 1);
    machine
        .hook(AGENT, "UserPromptSubmit", large.as_bytes())
        .assert_harmless("again");
    assert_eq!(machine.records(AGENT, Some("s1")).len(), 2);
}

#[test]
fn a_hook_that_is_ended_by_a_signal_ends_well_and_says_so() {
    for signal in [
        "TERM", "INT", "HUP", "QUIT", "USR1", "SEGV", "BUS", "ILL", "FPE", "ABRT", "TRAP", "SYS", "XCPU",
    ] {
        let machine = Machine::new();
        // The agent's folder is there as a rule.
        machine.hook(
            AGENT,
            "SessionEnd",
            br#"{"session_id":"s0","transcript_path":"/x","cwd":"/x","hook_event_name":"SessionEnd"}"#,
        );
        let mut command = machine.hookhost(&["hook", AGENT, "Stop"]);
        let mut child = start(&mut command);
        std::thread::sleep(Duration::from_millis(300));
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let status = wait(&mut child);
        assert_eq!(status.code(), Some(0), "{signal}: {status:?}");
        let records = machine.records(AGENT, None);
        assert_eq!(records.len(), 1, "{signal}");
        assert_eq!(records[0].failure.as_ref().unwrap().code, "killed");
        assert_eq!(records[0].hook, "Stop");
    }
}

#[test]
fn a_hook_that_is_ended_before_there_is_a_journal_says_so_in_the_temp_folder() {
    let machine = Machine::new();
    let mut command = machine.hookhost(&["hook", AGENT, "Stop"]);
    let mut child = start(&mut command);
    std::thread::sleep(Duration::from_millis(300));
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert_eq!(wait(&mut child).code(), Some(0));
    assert_eq!(left(&machine), Fallback);
}

#[test]
fn a_hook_that_is_killed_leaves_a_journal_in_order() {
    let machine = Machine::new();
    machine.hook(AGENT, "Stop", STOP);
    let mut command = machine.hookhost(&["hook", AGENT, "Stop"]);
    let mut child = start(&mut command);
    std::thread::sleep(Duration::from_millis(100));
    child.kill().unwrap();
    assert_eq!(wait(&mut child).signal(), Some(9));
    machine.hook(AGENT, "Stop", STOP).assert_harmless("after a kill");
    assert_eq!(machine.all_records().len(), 2);
}

#[test]
fn too_little_memory_is_no_harm() {
    let limited = |machine: &Machine, limit: u32, arguments: &str| {
        let mut command = machine.command("/bin/sh");
        command.args(["-c", &format!("ulimit -v {limit}; exec \"$HOOKHOST\" {arguments}")]);
        run(command, Stdin::Bytes(STOP))
    };
    // Below what the system's loader needs there is no hookhost that could be well-behaved.
    let machine = Machine::new();
    let loads = |limit: &u32| limited(&machine, *limit, "--version").status.success();
    let least = (1..100).map(|step| step * 4000).find(loads).unwrap();
    for more in [0, 4000, 16_000, 64_000, 256_000] {
        let machine = Machine::new();
        limited(&machine, least + more, "hook claude-code Stop").assert_harmless("little memory");
        let left = left(&machine);
        assert!(matches!(left, Event | Failure(_) | Fallback), "{more}: {left:?}");
    }
    // Enough for the program and not for the addresses of a sandbox: that is not the adapter's fault.
    let machine = Machine::new();
    limited(&machine, 3_000_000, "hook claude-code Stop").assert_harmless("few addresses");
    assert_eq!(left(&machine), Failure("adapter-load"));
    let record = &machine.all_records()[0];
    let message = &record.failure.as_ref().unwrap().message;
    assert!(
        message.contains("ulimit -v") && !message.contains("author"),
        "{message}"
    );
}

#[test]
fn what_is_captured_is_as_the_settings_say() {
    let token = format!("ghp_{}", "aB3".repeat(12));
    let payload = format!(
        r#"{{"session_id":"s1","transcript_path":"/x","cwd":"/x","hook_event_name":"UserPromptSubmit","prompt":"use {token}"}}"#
    );
    let captured = |capture: &str| {
        let machine = Machine::new();
        let mut command = machine.hookhost(&["hook", AGENT, "UserPromptSubmit"]);
        command.env("HOOKHOST_CAPTURE", capture);
        run(command, Stdin::Bytes(payload.as_bytes())).assert_harmless(capture);
        let mut records = machine.records(AGENT, Some("s1"));
        records.remove(0)
    };
    assert_eq!(captured("raw").payload.bytes(), payload.as_bytes());
    let off = captured("off");
    assert!(off.payload.bytes().is_empty());
    assert_eq!(off.events[0].prompt, Some(format!("use {token}")));
    let redacted = captured("redacted");
    let text = String::from_utf8(redacted.line().concat()).unwrap();
    assert!(!text.contains(&token), "{text}");
    assert!(
        redacted.events[0]
            .prompt
            .as_ref()
            .unwrap()
            .starts_with("use [redacted:github-token:")
    );
    assert!(redacted.payload.bytes().len() > 50);
}

/// The words in quotes behind `mark` in the host's sources.
fn quoted_behind(mark: &str) -> Vec<String> {
    let mut words = vec![];
    for (file, text) in crate::invariants::sources(&crate::invariants::root().join("host/src")) {
        let shipped = crate::invariants::shipped(&text);
        let behind = shipped.split(mark).skip(1).filter(|_| !file.ends_with("tests.rs"));
        words.extend(behind.filter_map(|rest| {
            rest.trim_start()
                .strip_prefix('"')?
                .split('"')
                .next()
                .map(str::to_owned)
        }));
    }
    words
}

#[test]
fn every_reason_code_is_explained() {
    let explained = std::fs::read_to_string(crate::invariants::root().join("docs/journal.md")).unwrap();
    let mut codes = quoted_behind("Failure::new(");
    codes.extend(quoted_behind("Arrived::Cut =>"));
    codes.extend(quoted_behind("Arrived::TooMuch =>"));
    for kind in [
        FailureKind::Unsupported,
        FailureKind::Malformed,
        FailureKind::Other,
        FailureKind::Trap,
        FailureKind::Deadline,
        FailureKind::Memory,
        FailureKind::OutputSize,
        FailureKind::Contract,
        FailureKind::Load,
    ] {
        codes.push(kind.code().to_owned());
    }
    assert!(codes.len() > 15, "{codes:?}");
    for code in codes {
        assert!(
            explained.contains(&format!("`{code}`")),
            "docs/journal.md does not explain {code}"
        );
    }
}

#[test]
fn help_is_for_people() {
    let machine = Machine::new();
    let done = run(machine.hookhost(&["hook", "--help"]), Stdin::Bytes(b""));
    assert!(done.status.success());
    assert!(String::from_utf8(done.stdout).unwrap().contains("HOOKHOST_DISABLE"));
    assert!(Journal::files(&machine.journal()).unwrap().is_empty());
    let _ = HOOKHOST;
}
