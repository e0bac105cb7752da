//! What a guest does wrong is that call's error, within its limit, and the process goes on.

use std::thread;
use std::time::{Duration, Instant};

use hookhost::adapter::wasm::{self, Code};
use hookhost::adapter::{AdapterError, CallLimits, FailureKind, Limits, ReadingStart};
use hookhost::model::{Context, Platform};
use hookhost_adapter::compile::compile;
use hookhost_adapter::component::Component;

use crate::guest;

const MIB: usize = 1024 * 1024;

fn limits(milliseconds: u64) -> Limits {
    let call = CallLimits {
        time: Duration::from_millis(milliseconds),
        memory: 64 * MIB,
        answer: 10 * MIB,
    };
    Limits {
        hooks: call,
        transcripts: call,
    }
}

fn context() -> Context {
    Context {
        repo_root: None,
        cwd: None,
        home: None,
        platform: Platform::Linux,
        received_at: "2026-01-02T03:04:05.678Z".to_owned(),
        env: vec![],
        files: vec![],
        snapshots: None,
    }
}

/// The failure of one hook of the hostile guest, which has to answer a harmless one afterwards.
fn failure(hook: &str, limits: Limits) -> AdapterError {
    let mut adapter = guest::load("hostile", limits);
    let error = adapter.parse(hook, "{}", &context()).unwrap_err();
    assert_eq!(error.adapter, "hostile");
    assert_eq!(
        adapter.parse("Fine", "{}", &context()).unwrap().len(),
        1,
        "after {hook}"
    );
    error
}

#[test]
fn a_trap_is_told_from_other_failures() {
    let error = failure("Trap", limits(2000));
    assert_eq!(error.kind, FailureKind::Trap);
    assert!(error.message.contains("parse crashed"), "{error}");
}

#[test]
fn a_panic_says_its_text() {
    let error = failure("Panic", limits(2000));
    assert_eq!(error.kind, FailureKind::Trap);
    assert!(error.message.contains("the seventh seal is broken"), "{error}");
    assert!(error.message.contains("panics.rs"), "{error}");
}

#[test]
fn deep_recursion_is_a_trap() {
    assert_eq!(failure("DeepRecursion", limits(2000)).kind, FailureKind::Trap);
}

#[test]
fn an_endless_loop_ends_at_the_deadline() {
    let begun = Instant::now();
    let error = failure("EndlessLoop", limits(200));
    assert_eq!(error.kind, FailureKind::Deadline);
    assert!(error.message.contains("0.2 s"), "{error}");
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(200), "{took:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn memory_beyond_the_limit_is_refused() {
    let error = failure("MemoryHog", limits(10_000));
    assert_eq!(error.kind, FailureKind::Memory);
    assert!(error.message.contains("64 MiB"), "{error}");
}

#[test]
fn an_answer_that_is_too_large_is_not_copied() {
    for hook in ["HugeAnswer", "HugeList"] {
        let error = failure(hook, limits(10_000));
        assert_eq!(error.kind, FailureKind::OutputSize, "{hook}: {error}");
        assert!(error.message.contains("10 MiB"), "{error}");
    }
}

#[test]
fn a_log_keeps_its_last_lines_and_cuts_long_ones() {
    let mut adapter = guest::load("hostile", limits(10_000));
    adapter.parse("LogFlood", "{}", &context()).unwrap();
    let log = adapter.take_log();
    assert_eq!(log.len(), 64);
    assert!(log[63].starts_with("info: 999 é"), "{}", &log[63][..20]);
    assert!(log.iter().all(|line| line.len() <= 4096 + "info: …".len()));
    assert!(adapter.take_log().is_empty());
}

#[test]
fn a_deadline_of_one_call_does_not_end_another() {
    let quick = thread::spawn(|| failure("EndlessLoop", limits(100)).kind);
    let mut adapter = guest::load("hostile", limits(60_000));
    // Runs for longer than the other call's deadline, with the epoch going on meanwhile.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(500) {
        adapter.parse("Spin", "{}", &context()).unwrap();
    }
    assert_eq!(quick.join().unwrap(), FailureKind::Deadline);
}

#[test]
fn a_reading_fails_once_and_for_all() {
    let mut adapter = guest::load("hostile", limits(200));
    let mut reading = adapter.reading(ReadingStart::default()).unwrap();
    assert_eq!(reading.push(b"harmless").unwrap(), vec![]);
    let error = reading.push(b"endless").unwrap_err();
    assert_eq!(error.kind, FailureKind::Deadline);
    assert_eq!(reading.push(b"harmless").unwrap_err(), error);
    assert_eq!(reading.finish().unwrap_err(), error);
    drop(reading);
    assert_eq!(adapter.parse("Fine", "{}", &context()).unwrap().len(), 1);
}

#[test]
fn all_calls_of_a_reading_share_its_time() {
    let mut adapter = guest::load("hostile", limits(400));
    let mut reading = adapter.reading(ReadingStart::default()).unwrap();
    let failed = (0..1000).find_map(|_| reading.push(b"spin").err()).unwrap();
    assert_eq!(failed.kind, FailureKind::Deadline);
}

#[test]
fn another_contract_line_is_refused_with_both_sides_lines() {
    let component = Component::read(&guest::module("hostile")).unwrap();
    let mut bytes = component.bytes;
    for at in 0..bytes.len() - 6 {
        if bytes[at..].starts_with(b"@0.1.0") {
            bytes[at..at + 6].copy_from_slice(b"@0.9.0");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("code");
    std::fs::write(&file, compile(&bytes).unwrap()).unwrap();
    let error = wasm::load("future", &Code::File(file), limits(2000)).err().unwrap();
    assert_eq!(error.kind, FailureKind::Contract);
    assert!(error.message.contains("speaks contract 0.9"), "{error}");
    assert!(error.message.contains("this hookhost speaks 0.1"), "{error}");
}

#[test]
fn a_component_that_is_no_adapter_is_refused() {
    let component = Component::of(b"\0asm\x01\0\0\0".to_vec()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("code");
    std::fs::write(&file, compile(&component.bytes).unwrap()).unwrap();
    let error = wasm::load("nothing", &Code::File(file), limits(2000)).err().unwrap();
    assert_eq!(error.kind, FailureKind::Contract);
    assert!(error.message.contains("it is no adapter"), "{error}");
}

#[test]
fn an_import_that_adapters_are_not_given_is_a_crash_only_when_it_is_used() {
    let mut adapter = guest::load("foreign-import", limits(2000));
    assert_eq!(adapter.parse("Pure", "{}", &context()).unwrap().len(), 1);
    let error = adapter.parse("Random", "{}", &context()).unwrap_err();
    assert_eq!(error.kind, FailureKind::Trap);
    assert!(error.message.contains("wasi:random/random@0.2.0"), "{error}");
}

#[test]
fn code_that_is_cut_off_or_foreign_is_an_error() {
    let component = Component::read(&guest::module("hostile")).unwrap();
    let code = compile(&component.bytes).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("code");
    for length in [0, 1, 63, 64, 1000, code.len() / 2, code.len() - 1] {
        std::fs::write(&file, &code[..length]).unwrap();
        let error = wasm::load("cut-off", &Code::File(file.clone()), limits(2000))
            .err()
            .unwrap();
        assert_eq!(error.kind, FailureKind::Load, "{length} bytes: {error}");
    }
    // Another configuration is another engine to wasmtime.
    let mut config = wasm::engine_config();
    config.consume_fuel(true);
    let foreign = wasmtime::Engine::new(&config)
        .unwrap()
        .precompile_component(&component.bytes)
        .unwrap();
    std::fs::write(&file, foreign).unwrap();
    let error = wasm::load("foreign", &Code::File(file), limits(2000)).err().unwrap();
    assert_eq!(error.kind, FailureKind::Load);
    assert!(error.message.contains("hookhost adapter check"), "{error}");
}
