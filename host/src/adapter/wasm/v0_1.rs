//! Contract line 0.1.

mod convert;

use std::time::{Duration, Instant};

use wasmtime::component::{Component, ComponentNamedList, Lift, Linker, Lower, ResourceAny, TypedFunc, WasmStr};
use wasmtime::{Result, StoreContextMut};

use super::sandbox::{Guest, Sandbox};
use crate::adapter::{Adapter, AdapterError, Answer, FailureKind, Limits, Reading, ReadingStart};
use crate::model;
use bindings::exports::hookhost::adapter::{identity, registration, sessions, transcripts};
use bindings::hookhost::adapter::log::Level;
use bindings::hookhost::adapter::types::{Context, Entry, Event, Fault, HookContext};

#[allow(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    dead_code,
    clippy::all,
    clippy::indexing_slicing,
    clippy::undocumented_unsafe_blocks,
    reason = "made from the WIT files, which hold the documentation; only the types are used"
)]
pub(in crate::adapter) mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/v0.1",
        world: "adapter",
        require_store_data_send: false,
        // The border of native adapters is text.
        additional_derives: [serde::Serialize, serde::Deserialize],
    });
}

// Patches of the line are found by these names as well: the engine compares versions as the contract does.
const IDENTITY: &str = "hookhost:adapter/identity@0.1.0";
const HOOKS: &str = "hookhost:adapter/hooks@0.1.0";
const SESSIONS: &str = "hookhost:adapter/sessions@0.1.0";
const TRANSCRIPTS: &str = "hookhost:adapter/transcripts@0.1.0";
const REGISTRATION: &str = "hookhost:adapter/registration@0.1.0";
const LOG: &str = "hookhost:adapter/log@0.1.0";

type Faulty<T> = Result<T, Fault>;
type Push = TypedFunc<(ResourceAny, &'static [u8]), (Faulty<Vec<Entry>>,)>;

/// Whether the component exports the interface that both worlds of this line have.
pub(super) fn is_spoken_by(component: &Component) -> bool {
    component.get_export_index(None, HOOKS).is_some()
}

/// An adapter of this line.
pub(super) struct WasmAdapter {
    sandbox: Sandbox,
    limits: Limits,
}

impl WasmAdapter {
    pub(super) fn new(name: &str, component: Component, limits: Limits, may_import_more: bool) -> Self {
        Self {
            sandbox: Sandbox::new(name, component, define_imports, may_import_more),
            limits,
        }
    }

    /// Calls a function that can answer with a fault.
    fn call<P, T>(&mut self, interface: &str, name: &str, parameters: P) -> Answer<T>
    where
        P: ComponentNamedList + Lower,
        (Faulty<T>,): ComponentNamedList + Lift,
    {
        let answer = self.sandbox.call(name, self.limits.hooks, |running| {
            let function = running.function::<P, (Faulty<T>,)>(interface, name)?;
            function.call(&mut running.store, parameters)
        });
        let (answer,) = answer?;
        answer.map_err(|fault| fault_error(self.sandbox.name(), name, fault))
    }
}

fn define_imports(linker: &mut Linker<Guest>) -> Result<()> {
    linker.instance(LOG)?.func_wrap(
        "log",
        |mut store: StoreContextMut<'_, Guest>, (level, message): (Level, WasmStr)| {
            let message = message.to_str(&store)?.into_owned();
            let level = match level {
                Level::Debug => "debug",
                Level::Info => "info",
                Level::Warn => "warn",
                Level::Error => "error",
            };
            store.data_mut().log(level, &message);
            Ok(())
        },
    )
}

/// The error that a fault is, of an adapter's function with this name.
pub(in crate::adapter) fn fault_error(adapter: &str, name: &str, fault: Fault) -> AdapterError {
    let (kind, message) = match fault {
        Fault::Unsupported => (
            FailureKind::Unsupported,
            format!("{name} is not supported for this agent"),
        ),
        Fault::Malformed(reason) => (FailureKind::Malformed, reason),
        Fault::Other(reason) => (FailureKind::Other, reason),
    };
    AdapterError {
        adapter: adapter.to_owned(),
        kind,
        message,
    }
}

impl Adapter for WasmAdapter {
    fn name(&self) -> &str {
        self.sandbox.name()
    }

    fn describe(&mut self) -> Answer<model::Description> {
        let (description,) = self.sandbox.call("describe", self.limits.hooks, |running| {
            let function = running.function::<(), (identity::Description,)>(IDENTITY, "describe")?;
            function.call(&mut running.store, ())
        })?;
        Ok(description.into())
    }

    fn parse(&mut self, hook: &str, payload: &str, context: &model::Context) -> Answer<Vec<model::Event>> {
        let events: Vec<Event> = self.call(HOOKS, "parse", (hook, payload, &HookContext::from(context)))?;
        Ok(events.into_iter().map(Into::into).collect())
    }

    fn finish(&mut self, context: &model::Context) -> Answer<Vec<model::Event>> {
        let events: Vec<Event> = self.call(HOOKS, "finish", (&HookContext::from(context),))?;
        Ok(events.into_iter().map(Into::into).collect())
    }

    fn reply(&mut self, hook: &str, message: Option<&str>) -> Answer<Vec<u8>> {
        self.call(HOOKS, "reply", (hook, message))
    }

    fn session_id(&mut self, input: &str) -> Answer<Option<String>> {
        self.call(SESSIONS, "session-id", (input,))
    }

    fn session_dir(&mut self, repo_path: &str, context: &model::Context) -> Answer<String> {
        self.call(SESSIONS, "session-dir", (repo_path, &Context::from(context)))
    }

    fn session_file(&mut self, dir: &str, id: &str, context: &model::Context) -> Answer<Vec<model::Pattern>> {
        let patterns: Vec<sessions::Pattern> =
            self.call(SESSIONS, "session-file", (dir, id, &Context::from(context)))?;
        Ok(patterns.into_iter().map(Into::into).collect())
    }

    fn resume_command(&mut self, id: &str) -> Answer<String> {
        self.call(SESSIONS, "resume-command", (id,))
    }

    fn subagent_transcripts(
        &mut self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        context: &model::Context,
    ) -> Answer<Vec<model::Pattern>> {
        let parameters = (session_ref, subagents_dir, &Context::from(context));
        let patterns: Vec<sessions::Pattern> = self.call(SESSIONS, "subagent-transcripts", parameters)?;
        Ok(patterns.into_iter().map(Into::into).collect())
    }

    fn transcript_location(
        &mut self,
        session_ref: &str,
        context: &model::Context,
    ) -> Answer<model::TranscriptLocation> {
        let parameters = (session_ref, &Context::from(context));
        let location: sessions::TranscriptLocation = self.call(SESSIONS, "transcript-source", parameters)?;
        Ok(location.into())
    }

    fn reading<'a>(&'a mut self, start: ReadingStart) -> Answer<Box<dyn Reading + 'a>> {
        let begun = Instant::now();
        let start = transcripts::Start::from(start);
        let (resource, push) = self.sandbox.call("reading", self.limits.transcripts, |running| {
            let constructor =
                running.function::<(&transcripts::Start,), (ResourceAny,)>(TRANSCRIPTS, "[constructor]reading")?;
            let (resource,) = constructor.call(&mut running.store, (&start,))?;
            Ok((resource, running.function(TRANSCRIPTS, "[method]reading.push")?))
        })?;
        let mut reading = WasmReading {
            left: self.limits.transcripts.time,
            adapter: self,
            resource,
            push,
            failure: None,
        };
        reading.spend(begun);
        Ok(Box::new(reading))
    }

    fn plan(
        &mut self,
        invocation: &model::Invocation,
        scope: model::Scope,
        context: &model::Context,
    ) -> Answer<model::Plan> {
        let parameters = (
            &registration::Invocation::from(invocation),
            registration::Scope::from(scope),
            &Context::from(context),
        );
        let plan: registration::RegistrationPlan = self.call(REGISTRATION, "plan", parameters)?;
        Ok(plan.into())
    }

    fn take_log(&mut self) -> Vec<String> {
        self.sandbox.take_log()
    }
}

struct WasmReading<'a> {
    adapter: &'a mut WasmAdapter,
    resource: ResourceAny,
    push: Push,
    /// The time for the calls to come.
    left: Duration,
    /// The instance is gone with its first failure; what came after it would be a different reading.
    failure: Option<AdapterError>,
}

impl WasmReading<'_> {
    fn run<T>(
        &mut self,
        what: &str,
        call: impl FnOnce(&mut super::sandbox::Running) -> Result<Faulty<T>>,
    ) -> Answer<T> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let begun = Instant::now();
        let limits = self.adapter.limits.transcripts;
        let answer = self.adapter.sandbox.call_with(what, limits, self.left, call);
        self.spend(begun);
        match answer {
            Ok(answer) => answer.map_err(|fault| fault_error(self.adapter.sandbox.name(), what, fault)),
            Err(failure) => {
                self.failure = Some(failure.clone());
                Err(failure)
            }
        }
    }

    fn spend(&mut self, begun: Instant) {
        self.left = self.left.saturating_sub(begun.elapsed());
    }
}

impl Reading for WasmReading<'_> {
    fn push(&mut self, chunk: &[u8]) -> Answer<Vec<model::Entry>> {
        let (resource, push) = (self.resource, self.push);
        let entries = self.run("reading", |running| {
            let (entries,) = push.call(&mut running.store, (resource, chunk))?;
            Ok(entries)
        })?;
        Ok(entries.into_iter().map(Into::into).collect())
    }

    fn finish(&mut self) -> Answer<Vec<model::Entry>> {
        let resource = self.resource;
        let entries: Vec<Entry> = self.run("reading", |running| {
            let finish =
                running.function::<(ResourceAny,), (Faulty<Vec<Entry>>,)>(TRANSCRIPTS, "[method]reading.finish")?;
            let (entries,) = finish.call(&mut running.store, (resource,))?;
            Ok(entries)
        })?;
        Ok(entries.into_iter().map(Into::into).collect())
    }

    fn position(&mut self) -> Answer<u64> {
        let resource = self.resource;
        self.run("reading", |running| {
            let position = running.function::<(ResourceAny,), (u64,)>(TRANSCRIPTS, "[method]reading.position")?;
            let (position,) = position.call(&mut running.store, (resource,))?;
            Ok(Ok(position))
        })
    }
}

impl Drop for WasmReading<'_> {
    /// Gives the adapter's memory back for the next reading.
    fn drop(&mut self) {
        if self.failure.is_none() && self.adapter.sandbox.is_running() {
            let (resource, limits) = (self.resource, self.adapter.limits.hooks);
            // A failure gives up the instance, and that is all that dropping wants.
            let _ = self
                .adapter
                .sandbox
                .call("reading", limits, |running| resource.resource_drop(&mut running.store));
        }
    }
}
