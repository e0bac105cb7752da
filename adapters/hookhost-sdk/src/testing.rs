//! Running an adapter natively, for its own unit tests.

mod fixtures;
mod plugin;

use crate::{
    Adapter, Companion, Context, Entry, Event, Fault, Invocation, Object, Platform, RegistrationPlan, Scope, Start,
    Wanted,
};

pub use fixtures::{check_payload_fixtures, fixture_folder, wire};
pub use plugin::{Run, StandIn, run_plugin, type_check_plugin};

/// A context like the samples': repository `/home/dev/project`, home `/home/dev`, Linux.
#[must_use]
pub fn context() -> Context {
    Context {
        repo_root: Some("/home/dev/project".to_owned()),
        cwd: Some("/home/dev/project".to_owned()),
        home: Some("/home/dev".to_owned()),
        platform: Platform::Linux,
        received_at: "2026-01-02T03:04:05.678Z".to_owned(),
        env: vec![],
        files: vec![],
        snapshots: Some("/home/dev/.local/share/hookhost/snapshots".to_owned()),
    }
}

/// The events of one payload.
///
/// # Errors
/// The adapter's fault.
pub fn parse<A: Adapter>(hook: &str, payload: &str) -> Result<Vec<Event>, Fault> {
    parse_in::<A>(hook, payload, &context())
}

/// The events of one payload in a context.
///
/// # Errors
/// The adapter's fault.
pub fn parse_in<A: Adapter>(hook: &str, payload: &str, context: &Context) -> Result<Vec<Event>, Fault> {
    let mut adapter = A::default();
    let hook = A::MANIFEST.native_hook(hook);
    match Object::parse(payload) {
        Ok(object) => adapter.parse(hook, &object, context),
        Err(_) => adapter.parse_other(hook, payload, context),
    }
}

/// All entries of a transcript and the position behind it.
///
/// # Errors
/// The adapter's fault.
pub fn read<A: Adapter>(transcript: &[u8], companions: Vec<Companion>) -> Result<(Vec<Entry>, u64), Fault> {
    let start = Start {
        session_ref: None,
        companions,
        from: 0,
        want: Wanted::all(),
    };
    let mut reading = A::default().transcript(start)?;
    let mut entries = vec![];
    for chunk in transcript.chunks(1000) {
        entries.extend(reading.push(chunk)?);
    }
    entries.extend(reading.finish()?);
    Ok((entries, reading.position()))
}

/// The plan for `hookhost hook <adapter> <hook>`.
///
/// # Errors
/// The adapter's fault.
pub fn plan<A: Adapter>(scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let prefix = format!("hookhost hook {}", A::MANIFEST.name);
    let invocation = Invocation {
        posix: format!("{prefix} {{hook}}"),
        cmd: format!("{prefix} {{hook}}"),
        powershell: format!("{prefix} {{hook}}"),
        argv: prefix.split(' ').chain(["{hook}"]).map(str::to_owned).collect(),
        kebab: false,
    };
    A::default().registration(&invocation, scope, context)
}
