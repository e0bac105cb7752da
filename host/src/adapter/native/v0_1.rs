//! Contract line 0.1, as JSON. The types are those of the sandbox, and so is how they become the model.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::Serializer;

use super::library::Library;
use super::worker::Worker;
use crate::adapter::wasm::v0_1::bindings::exports::hookhost::adapter::{identity, registration, sessions, transcripts};
use crate::adapter::wasm::v0_1::bindings::hookhost::adapter::types::{Context, Entry, Event, Fault, HookContext};
use crate::adapter::wasm::v0_1::fault_error;
use crate::adapter::{Adapter, AdapterError, Answer, CallLimits, FailureKind, Limits, Reading, ReadingStart};
use crate::model;

// What the function returns, and what its bytes then are.
/// The answer.
const ANSWERED: u32 = 0;
/// The words of a panic.
const PANICKED: u32 = 1;

/// A function of the contract and its parameters; what can be large stands beside it.
#[derive(Serialize)]
enum Request<'a> {
    Describe,
    Parse {
        hook: &'a str,
        context: HookContext,
    },
    Finish {
        context: HookContext,
    },
    Reply {
        hook: &'a str,
        message: Option<&'a str>,
    },
    SessionId,
    SessionDir {
        repo_path: &'a str,
        context: Context,
    },
    SessionFile {
        dir: &'a str,
        id: &'a str,
        context: Context,
    },
    ResumeCommand {
        id: &'a str,
    },
    SubagentTranscripts {
        session_ref: &'a str,
        subagents_dir: Option<&'a str>,
        context: Context,
    },
    TranscriptSource {
        session_ref: &'a str,
        context: Context,
    },
    Reading {
        start: transcripts::Start,
    },
    ReadingPush {
        reading: usize,
    },
    ReadingFinish {
        reading: usize,
    },
    ReadingPosition {
        reading: usize,
    },
    ReadingDrop {
        reading: usize,
    },
    Plan {
        invocation: registration::Invocation,
        scope: registration::Scope,
        context: Context,
    },
}

type Faulty<T> = Result<T, Fault>;

/// An adapter of this line: a library, and after the first call a thread in it.
pub(super) struct NativeAdapter {
    name: String,
    library: Arc<Library>,
    limits: Limits,
    worker: Option<Worker>,
}

impl NativeAdapter {
    pub(super) fn new(name: &str, library: Arc<Library>, limits: Limits) -> Self {
        Self {
            name: name.to_owned(),
            library,
            limits,
            worker: None,
        }
    }

    /// Calls a function that can answer with a fault.
    fn ask<T: DeserializeOwned>(&mut self, what: &str, request: &Request<'_>, bytes: &[u8]) -> Answer<T> {
        let answer: Faulty<T> = self.call(what, request, bytes, self.limits.hooks)?;
        answer.map_err(|fault| fault_error(&self.name, what, fault))
    }

    /// Calls a function, which is named `what` in messages.
    fn call<T: DeserializeOwned>(
        &mut self,
        what: &str,
        request: &Request<'_>,
        bytes: &[u8],
        limits: CallLimits,
    ) -> Answer<T> {
        if let Some(lost) = self.library.lost() {
            return Err(self.error(lost.kind.clone(), lost.message.clone()));
        }
        let request = serde_json::to_vec(request).map_err(|error| self.broke_contract(what, &error.to_string()))?;
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(Arc::clone(&self.library))
                .map_err(|error| self.error(FailureKind::Load, format!("no thread can be started for it ({error})")))?,
        };
        let Some(answered) = worker.call(request, bytes.to_vec(), limits.answer, limits.time) else {
            let error = self.too_late(what, limits);
            self.library.lose(error.clone());
            return Err(error);
        };
        self.worker = Some(worker);
        let Some(bytes) = answered.bytes else {
            let most = limits.answer.div_ceil(1024 * 1024);
            return Err(self.fault_of_adapter(
                FailureKind::OutputSize,
                format!("the answer of {what} is larger than {most} MiB"),
            ));
        };
        match answered.status {
            ANSWERED => serde_json::from_slice(&bytes).map_err(|error| self.broke_contract(what, &error.to_string())),
            PANICKED => {
                let said = String::from_utf8_lossy(&bytes).replace('\n', " ");
                Err(self.fault_of_adapter(FailureKind::Trap, format!("{what} crashed: {said}")))
            }
            _ => Err(self.broke_contract(what, &String::from_utf8_lossy(&bytes))),
        }
    }

    fn too_late(&self, what: &str, limits: CallLimits) -> AdapterError {
        self.fault_of_adapter(
            FailureKind::Deadline,
            format!(
                "{what} took longer than {} s. A native adapter cannot be stopped: it is left to itself, and not called \
                 again before hookhost is started anew",
                limits.time.as_secs_f64()
            ),
        )
    }

    fn broke_contract(&self, what: &str, cause: &str) -> AdapterError {
        self.fault_of_adapter(FailureKind::Contract, format!("{what} broke the contract: {cause}"))
    }

    fn fault_of_adapter(&self, kind: FailureKind, message: String) -> AdapterError {
        self.error(
            kind,
            format!("{message}. This is a fault of the adapter: report it to its author"),
        )
    }

    fn error(&self, kind: FailureKind, message: String) -> AdapterError {
        AdapterError {
            adapter: self.name.clone(),
            kind,
            message,
        }
    }
}

fn all<T, U: From<T>>(values: Vec<T>) -> Vec<U> {
    values.into_iter().map(Into::into).collect()
}

impl Adapter for NativeAdapter {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&mut self) -> Answer<model::Description> {
        let description: identity::Description = self.call("describe", &Request::Describe, &[], self.limits.hooks)?;
        Ok(description.into())
    }

    fn parse(&mut self, hook: &str, payload: &str, context: &model::Context) -> Answer<Vec<model::Event>> {
        let context = context.into();
        let events: Vec<Event> = self.ask("parse", &Request::Parse { hook, context }, payload.as_bytes())?;
        Ok(all(events))
    }

    fn finish(&mut self, context: &model::Context) -> Answer<Vec<model::Event>> {
        let context = context.into();
        let events: Vec<Event> = self.ask("finish", &Request::Finish { context }, &[])?;
        Ok(all(events))
    }

    fn reply(&mut self, hook: &str, message: Option<&str>) -> Answer<Vec<u8>> {
        self.ask("reply", &Request::Reply { hook, message }, &[])
    }

    fn session_id(&mut self, input: &str) -> Answer<Option<String>> {
        self.ask("session-id", &Request::SessionId, input.as_bytes())
    }

    fn session_dir(&mut self, repo_path: &str, context: &model::Context) -> Answer<String> {
        let context = context.into();
        self.ask("session-dir", &Request::SessionDir { repo_path, context }, &[])
    }

    fn session_file(&mut self, dir: &str, id: &str, context: &model::Context) -> Answer<Vec<model::Pattern>> {
        let context = context.into();
        let patterns: Vec<sessions::Pattern> =
            self.ask("session-file", &Request::SessionFile { dir, id, context }, &[])?;
        Ok(all(patterns))
    }

    fn resume_command(&mut self, id: &str) -> Answer<String> {
        self.ask("resume-command", &Request::ResumeCommand { id }, &[])
    }

    fn subagent_transcripts(
        &mut self,
        session_ref: &str,
        subagents_dir: Option<&str>,
        context: &model::Context,
    ) -> Answer<Vec<model::Pattern>> {
        let request = Request::SubagentTranscripts {
            session_ref,
            subagents_dir,
            context: context.into(),
        };
        let patterns: Vec<sessions::Pattern> = self.ask("subagent-transcripts", &request, &[])?;
        Ok(all(patterns))
    }

    fn transcript_location(
        &mut self,
        session_ref: &str,
        context: &model::Context,
    ) -> Answer<model::TranscriptLocation> {
        let request = Request::TranscriptSource {
            session_ref,
            context: context.into(),
        };
        let location: sessions::TranscriptLocation = self.ask("transcript-source", &request, &[])?;
        Ok(location.into())
    }

    fn reading<'a>(&'a mut self, start: ReadingStart) -> Answer<Box<dyn Reading + 'a>> {
        let begun = Instant::now();
        let start = transcripts::Start::from(start);
        let limits = self.limits.transcripts;
        let number = self.call("reading", &Request::Reading { start }, &[], limits)?;
        let mut reading = NativeReading {
            adapter: self,
            number,
            limits,
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
        let request = Request::Plan {
            invocation: invocation.into(),
            scope: scope.into(),
            context: context.into(),
        };
        let plan: registration::RegistrationPlan = self.ask("plan", &request, &[])?;
        Ok(plan.into())
    }

    /// A library has no log of ours.
    fn take_log(&mut self) -> Vec<String> {
        Vec::new()
    }
}

struct NativeReading<'a> {
    adapter: &'a mut NativeAdapter,
    number: usize,
    /// With the time that is left for the calls to come.
    limits: CallLimits,
    /// The instance is gone with a panic; what came after it would be a different reading.
    failure: Option<AdapterError>,
}

impl NativeReading<'_> {
    fn run<T: DeserializeOwned>(&mut self, request: &Request<'_>, bytes: &[u8]) -> Answer<T> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let begun = Instant::now();
        let answer = self.adapter.call("reading", request, bytes, self.limits);
        self.spend(begun);
        if let Err(failure) = &answer {
            self.failure = Some(failure.clone());
        }
        answer
    }

    fn entries(&mut self, request: &Request<'_>, bytes: &[u8]) -> Answer<Vec<model::Entry>> {
        let entries: Faulty<Vec<Entry>> = self.run(request, bytes)?;
        let entries = entries.map_err(|fault| fault_error(&self.adapter.name, "reading", fault))?;
        Ok(all(entries))
    }

    fn spend(&mut self, begun: Instant) {
        self.limits.time = self.limits.time.saturating_sub(begun.elapsed());
    }
}

impl Reading for NativeReading<'_> {
    fn push(&mut self, chunk: &[u8]) -> Answer<Vec<model::Entry>> {
        self.entries(&Request::ReadingPush { reading: self.number }, chunk)
    }

    fn finish(&mut self) -> Answer<Vec<model::Entry>> {
        self.entries(&Request::ReadingFinish { reading: self.number }, &[])
    }

    fn position(&mut self) -> Answer<u64> {
        self.run(&Request::ReadingPosition { reading: self.number }, &[])
    }
}

impl Drop for NativeReading<'_> {
    /// Gives the adapter's memory back for the next reading.
    fn drop(&mut self) {
        if self.failure.is_none() {
            let (request, limits) = (Request::ReadingDrop { reading: self.number }, self.adapter.limits.hooks);
            // A failure is met by the next call as well.
            let _: Answer<bool> = self.adapter.call("reading", &request, &[], limits);
        }
    }
}

/// Flags cross as the number that they are in the contract's order.
macro_rules! flags_as_number {
    ($flags:ty: $($flag:ident)*) => {
        impl Serialize for $flags {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let [number] = self.as_array();
                serializer.serialize_u32(number)
            }
        }

        impl<'de> Deserialize<'de> for $flags {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = u32::deserialize(deserializer)?;
                let all = [$(Self::$flag),*];
                let set = all.into_iter().enumerate().filter(|(at, _)| number >> at & 1 == 1);
                let flags = set.fold(Self::empty(), |flags, (_, flag)| flags | flag);
                match number >> all.len() {
                    0 => Ok(flags),
                    _ => Err(de::Error::custom(format!("there is no flag in {number}"))),
                }
            }
        }
    };
}

flags_as_number!(identity::Capabilities:
    HOOKS TRANSCRIPT_ANALYZER TRANSCRIPT_PREPARER TOKEN_CALCULATOR COMPACT_TRANSCRIPT TEXT_GENERATOR
    HOOK_RESPONSE_WRITER SUBAGENT_AWARE_EXTRACTOR USES_TERMINAL STREAMING_TEXT_GENERATOR);
flags_as_number!(transcripts::Wanted: PROMPTS TEXTS THINKING FILES TOOL_BODIES TOKENS);
