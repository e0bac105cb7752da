//! Adapters as libraries: the same answers as from the component, nothing loaded but what the user named, and whatever
//! a library does wrong is that call's error.

mod alike;
mod library;

use std::fs;
use std::path::{Path, PathBuf};

use hookhost::adapter::registry::{self, Found, Origin};
use hookhost::adapter::{Adapter, AdapterError, CallLimits, FailureKind, Limits, ReadingStart};
use hookhost::config::Config;

use crate::engine::context;
use crate::invariants::root;
use library::{digest, library, settings};

const AGENT: &str = "claude-code";

fn find_native(adapter: &str, package: &str) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let file = library(package);
    registry::find(adapter, &settings(folder.path(), &[(adapter, &file, &digest(&file))])).unwrap()
}

/// The failure of a copy of the smallest adapter's library that was changed like this.
fn failure_of(change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> AdapterError {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("changed");
    fs::write(&file, change(fs::read(library("minimal-adapter")).unwrap())).unwrap();
    let config = settings(folder.path(), &[("minimal-adapter", &file, &digest(&file))]);
    let error = registry::find("minimal-adapter", &config).unwrap_err();
    assert_eq!(error.adapter, "minimal-adapter");
    error
}

fn renamed(mut bytes: Vec<u8>, symbol: &[u8]) -> Vec<u8> {
    let ours = b"hookhost_adapter_0_1";
    assert_eq!(symbol.len(), ours.len());
    let places: Vec<usize> = (0..bytes.len() - ours.len())
        .filter(|at| bytes[*at..].starts_with(ours))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + ours.len()].copy_from_slice(symbol);
    }
    bytes
}

fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.to_str().unwrap().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_library_and_the_component_of_the_same_source_answer_alike() {
    let fixtures = root().join("tests/fixtures").join(AGENT);
    let payloads: Vec<alike::Payload> = files_below(&fixtures.join("payloads"), ".json")
        .into_iter()
        .filter(|file| !file.to_str().unwrap().ends_with(".expected.json"))
        .map(|file| {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let hook = name.split("--").next().unwrap().to_owned();
            (hook, String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned())
        })
        .collect();
    let transcripts: Vec<Vec<u8>> = files_below(&fixtures.join("transcripts"), ".jsonl")
        .into_iter()
        .map(|file| fs::read(file).unwrap())
        .collect();
    let component = registry::find(AGENT, &Config::default()).unwrap();
    let native = find_native(AGENT, "hookhost-claude-code");
    assert_eq!(component.origin, Origin::Builtin);
    assert_eq!(native.origin, Origin::Native(library("hookhost-claude-code")));
    assert_eq!(native.env, component.env);
    let load = |found: &Found| found.load(AGENT, Limits::default()).unwrap();
    let (events, entries) = alike::compare(
        load(&component).as_mut(),
        load(&native).as_mut(),
        &payloads,
        &transcripts,
    );
    assert!(events > 50 && entries > 100, "{events} events, {entries} entries");
}

#[test]
fn nothing_is_loaded_but_what_the_settings_name() {
    let file = library("hookhost-claude-code");
    assert_eq!(
        registry::find(AGENT, &Config::default()).unwrap().origin,
        Origin::Builtin
    );
    // A library for another agent changes nothing for this one.
    let folder = tempfile::tempdir().unwrap();
    let config = settings(folder.path(), &[("some-agent", &file, &digest(&file))]);
    assert_eq!(registry::find(AGENT, &config).unwrap().origin, Origin::Builtin);
}

#[test]
fn a_library_under_another_agents_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = library("minimal-adapter");
    let config = settings(folder.path(), &[(AGENT, &file, &digest(&file))]);
    let error = registry::find(AGENT, &config).unwrap_err();
    assert_eq!((error.kind, error.adapter.as_str()), (FailureKind::Load, AGENT));
    assert!(
        error
            .message
            .contains("is the adapter minimal-adapter. Write [native.minimal-adapter]"),
        "{}",
        error.message
    );
    let all = registry::all(&config);
    let broken: Vec<_> = all.iter().filter_map(|found| found.as_ref().err()).collect();
    assert_eq!(broken.len(), 1, "the other adapters are there: {broken:?}");
}

#[test]
fn a_library_with_another_digest_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let file = library("minimal-adapter");
    let named = "0".repeat(64);
    let config = settings(folder.path(), &[("minimal-adapter", &file, &named)]);
    let error = registry::find("minimal-adapter", &config).unwrap_err();
    assert_eq!(error.kind, FailureKind::Load);
    assert_eq!(error.adapter, "minimal-adapter");
    for part in [
        file.to_str().unwrap(),
        folder.path().join("config.toml").to_str().unwrap(),
        &named,
        &digest(&file),
        "write the new digest under [native.minimal-adapter]",
    ] {
        assert!(error.message.contains(part), "{part}: {}", error.message);
    }
}

#[test]
fn a_library_that_is_not_there_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, file) in [
        ("missing", folder.path().join("no.so")),
        ("folder", folder.path().to_owned()),
    ] {
        let config = settings(folder.path(), &[(name, &file, &"ab".repeat(32))]);
        let error = registry::find(name, &config).unwrap_err();
        assert_eq!(error.kind, FailureKind::Load);
        assert!(error.message.contains(file.to_str().unwrap()), "{error}");
        assert!(
            error.message.contains(&format!("take [native.{name}] out of")),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_is_no_library_is_an_error() {
    let error = failure_of(|_| b"no library".to_vec());
    assert_eq!(error.kind, FailureKind::Load);
    assert!(error.message.contains("cannot be loaded"), "{error}");
}

#[test]
fn a_library_of_another_contract_line_is_refused_with_both_sides_lines() {
    let error = failure_of(|bytes| renamed(bytes, b"hookhost_adapter_0_9"));
    assert_eq!(error.kind, FailureKind::Contract);
    assert!(
        error
            .message
            .contains("it speaks contract 0.9, this hookhost speaks 0.1"),
        "{error}"
    );
}

#[test]
fn a_library_without_the_symbol_is_no_adapter() {
    let error = failure_of(|bytes| renamed(bytes, b"something_else_0_1__"));
    assert_eq!(error.kind, FailureKind::Contract);
    assert!(
        error
            .message
            .contains("exports no hookhost_adapter_0_1, so it is no adapter"),
        "{error}"
    );
    assert!(error.message.contains("panic = \"abort\""), "{error}");
}

#[test]
fn what_was_checked_is_what_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("library");
    fs::copy(library("minimal-adapter"), &file).unwrap();
    // Its own digest: bytes behind a library's end mean nothing to the system's loader.
    let mut bytes = fs::read(&file).unwrap();
    bytes.extend_from_slice(b"behind the end");
    fs::write(&file, &bytes).unwrap();
    let config = settings(folder.path(), &[("minimal-adapter", &file, &digest(&file))]);
    let found = registry::find("minimal-adapter", &config).unwrap();
    // What becomes of the file afterwards is nothing to the one that was loaded.
    fs::write(&file, vec![0; bytes.len()]).unwrap();
    let mut adapter = found.load("minimal-adapter", Limits::default()).unwrap();
    let events = adapter.parse("Stop", r#"{"session_id":"s1"}"#, &context()).unwrap();
    assert_eq!(events[0].session_id, "s1");
}

fn hostile() -> Box<dyn Adapter> {
    const MIB: usize = 1024 * 1024;
    let call = CallLimits {
        memory: 64 * MIB,
        answer: 10 * MIB,
        ..Limits::default().transcripts
    };
    let limits = Limits {
        hooks: call,
        transcripts: call,
    };
    find_native("hostile", "hostile").load("hostile", limits).unwrap()
}

#[test]
fn a_panic_stays_in_the_library_and_says_its_text() {
    let mut adapter = hostile();
    let error = adapter.parse("Panic", "{}", &context()).unwrap_err();
    assert_eq!(error.kind, FailureKind::Trap);
    assert!(error.message.contains("the seventh seal is broken"), "{error}");
    assert!(error.message.contains("panics.rs"), "{error}");
    assert_eq!(adapter.parse("Fine", "{}", &context()).unwrap().len(), 1);
}

#[test]
fn an_answer_that_is_too_large_is_not_taken() {
    let mut adapter = hostile();
    let error = adapter.parse("HugeAnswer", "{}", &context()).unwrap_err();
    assert_eq!(error.kind, FailureKind::OutputSize);
    assert!(error.message.contains("10 MiB"), "{error}");
    assert_eq!(adapter.parse("Fine", "{}", &context()).unwrap().len(), 1);
}

#[test]
fn a_reading_of_a_library_can_be_followed_by_another() {
    let mut adapter = hostile();
    for _ in 0..2 {
        let mut reading = adapter.reading(ReadingStart::default()).unwrap();
        assert_eq!(reading.push(b"harmless").unwrap(), vec![]);
    }
    assert_eq!(adapter.parse("Fine", "{}", &context()).unwrap().len(), 1);
}

#[test]
fn the_breakpoint_of_the_readme_is_where_a_hook_is_read() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("break minimal-adapter/src/lib.rs:").unwrap();
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let source = fs::read_to_string(root().join("examples/minimal-adapter/src/lib.rs")).unwrap();
    let line = source.lines().nth(number.parse::<usize>().unwrap() - 1).unwrap();
    assert!(line.contains("payload.id("), "{line}");
}

/// With the program: what cannot be undone in this process.
#[cfg(unix)]
mod program {
    use std::time::Duration;

    use super::*;
    use crate::fake_agent::{Machine, Stdin, run};

    /// A machine whose user named this library.
    fn machine(adapter: &str, package: &str, more: &str) -> Machine {
        let machine = Machine::new();
        let file = library(package);
        let table = library::table(adapter, &file, &digest(&file));
        let folder = machine.path("home/.config/hookhost");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), format!("{more}\n{table}")).unwrap();
        own(&folder.join("config.toml"), 0o600);
        machine
    }

    fn own(file: &Path, mode: u32) {
        fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Why a hook that is silent and successful failed, by its record.
    fn failure_code(machine: &Machine, hook: &str) -> Option<String> {
        let done = machine.hook("hostile", hook, br#"{"session_id":"s1"}"#);
        assert!(done.status.success(), "{hook}: {}", done.status);
        assert_eq!((done.stdout, done.stderr), (vec![], vec![]), "{hook}");
        assert!(done.took < Duration::from_secs(15), "{hook}: {:?}", done.took);
        // What a signal ends has its record where those without a session are.
        let records = machine.all_records();
        let record = records.iter().find(|record| record.hook == hook);
        let record = record.unwrap_or_else(|| panic!("{hook}: {records:?}"));
        record.failure.as_ref().map(|failure| failure.code.to_string())
    }

    #[test]
    fn whatever_a_library_does_the_hook_exits_with_0_in_silence_and_leaves_a_record() {
        let machine = machine("hostile", "hostile", "limits.hook_ms = 1500");
        for (hook, code) in [
            ("Fine", None),
            ("Panic", Some("adapter-trap")),
            ("EndlessLoop", Some("adapter-deadline")),
            ("HugeAnswer", Some("adapter-output-size")),
            // Ends the process, as a crash does.
            ("Trap", Some("killed")),
            ("DeepRecursion", Some("killed")),
        ] {
            assert_eq!(failure_code(&machine, hook).as_deref(), code, "{hook}");
        }
    }

    #[test]
    fn who_cannot_be_registered_is_not_told_to_try_elsewhere() {
        let machine = machine("minimal-adapter", "minimal-adapter", "");
        for scope in ["--user", "--repo"] {
            let done = run(
                machine.hookhost(&["install", "minimal-adapter", scope]),
                Stdin::Bytes(b""),
            );
            let said = String::from_utf8(done.stderr).unwrap();
            assert_eq!(done.status.code(), Some(1));
            assert!(said.contains("`hookhost hook minimal-adapter <hook>`"), "{said}");
        }
    }

    #[test]
    fn only_the_users_own_settings_can_have_a_library_loaded() {
        let machine = machine("minimal-adapter", "minimal-adapter", "");
        let ask = ["parse-hook", "--agent", "minimal-adapter", "--hook", "stop"];
        let payload = Stdin::Bytes(br#"{"session_id":"s1"}"#);
        assert!(run(machine.hookhost(&ask), payload).status.success());
        let refused = |command| {
            let done = run(command, payload);
            assert!(!done.status.success());
            String::from_utf8(done.stderr).unwrap()
        };
        // A project's environment names settings of its own.
        let settings = machine.path("home/.config/hookhost/config.toml");
        fs::copy(&settings, machine.path("repo/config.toml")).unwrap();
        let mut command = machine.hookhost(&ask);
        command.env("HOOKHOST_CONFIG", machine.path("repo/config.toml"));
        let said = refused(command);
        assert!(said.contains("HOOKHOST_CONFIG, which a project can set"), "{said}");
        // A file that others can write to.
        own(&settings, 0o666);
        let said = refused(machine.hookhost(&ask));
        assert!(said.contains("others can write to the file"), "{said}");
        // A file of settings in the project is not read at all.
        fs::remove_file(&settings).unwrap();
        let said = refused(machine.hookhost(&ask));
        assert!(said.contains("there is no such adapter"), "{said}");
    }
}
