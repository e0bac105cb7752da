//! Running an adapter natively, for its own unit tests.

mod fixtures;
mod plugin;

use crate::{
    Adapter, Base, Companion, Context, ContextFile, Edit, Entry, Event, Fault, FileState, Invocation, Object, Place,
    Platform, RegistrationPlan, Scope, Start, Wanted,
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

/// The same with these files, path and text, among those that the manifest asks for.
#[must_use]
pub fn context_with_files(files: &[(&str, &str)]) -> Context {
    let file = |(path, text): &(&str, &str)| ContextFile {
        wanted: Place {
            base: Base::Root,
            path: (*path).to_owned(),
        },
        path: (*path).to_owned(),
        state: FileState::Content(text.as_bytes().to_vec()),
    };
    Context {
        files: files.iter().map(file).collect(),
        ..context()
    }
}

/// The files that a plan edits or writes, each with the number of insertions.
#[must_use]
pub fn edited_files(plan: &RegistrationPlan) -> Vec<(&str, usize)> {
    let edits = plan.edits.iter().map(|edit| match edit {
        Edit::Config(config) => (config.file.as_str(), config.insertions.len()),
        Edit::File(file) => (file.path.as_str(), 0),
    });
    edits.collect()
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
