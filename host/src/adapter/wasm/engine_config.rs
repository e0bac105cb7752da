//! The one configuration of the engine.
//!
//! Precompiled code can only be loaded by an engine with the very configuration that compiled it. So this file is all
//! there is: the host, `hookhost-adapter` and the build script of `hookhost-bundle` (which includes it by path) use it.

/// The version of wasmtime, which accepts no code that another version compiled. A test compares it with Cargo.lock.
pub const WASMTIME_VERSION: &str = "48.0.8";

/// Tells one state of this configuration from another: a digest of this file.
pub const CONFIG_ID: u64 = fnv1a(include_bytes!("engine_config.rs"));

/// What compiled code and the engine that runs it have to agree about.
///
/// The side that compiles adds the target, which pins the processor features to the target's baseline: code compiled
/// here has to run on every processor that the program runs on.
#[must_use]
pub fn engine_config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    // The deadline of a call: the timer's signal increments the epoch, the guest looks at it in loops and calls.
    config.epoch_interruption(true);
    // Adapters are plain functions; each of these costs start-up time in every hook.
    config.concurrency_support(false);
    config.gc_support(false);
    // Registering unwind tables takes longer than the call, and nothing unwinds through a guest.
    config.native_unwind_info(false);
    // For code that lies in the program itself, copy on write would make a memory file in every run.
    config.memory_init_cow(false);
    // Offsets into the wasm file for traces. Function names stay.
    config.generate_address_map(false);
    config
}

/// Whether code compiled for `architecture` and `system` (as `std::env::consts` spells them) can be given a target.
///
/// The triple of the plainest system of the kind: only its architecture and operating system matter to the engine.
#[must_use]
pub fn compile_target(architecture: &str, system: &str) -> String {
    match system {
        "macos" => format!("{architecture}-apple-darwin"),
        "windows" => format!("{architecture}-pc-windows-msvc"),
        "linux" => format!("{architecture}-unknown-linux-musl"),
        other => format!("{architecture}-unknown-{other}"),
    }
}

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated when the program is compiled; a wrong index stops the build"
)]
const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}
