//! Runs an adapter's functions within limits, and says what went wrong.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use wasmtime::component::{
    Component, ComponentExportIndex, ComponentNamedList, Instance, Lift, Linker, Lower, TypedFunc,
};
use wasmtime::{ResourceLimiter, Result, Store, Trap, UpdateDeadline};

use super::deadline::{self, Deadline};
use super::precompiled;
use crate::adapter::{AdapterError, Answer, CallLimits, FailureKind};

const MAX_LOG_LINES: usize = 64;
const MAX_LOG_LINE_BYTES: usize = 4096;
/// How many of the last lines go into the message of a failure.
const LOG_LINES_IN_MESSAGE: usize = 4;

/// A component and, between its first call and its first failure, an instance of it.
pub(super) struct Sandbox {
    name: String,
    component: Component,
    define_imports: fn(&mut Linker<Guest>) -> Result<()>,
    /// The component may import what no contract line defines; such imports are traps.
    may_import_more: bool,
    running: Option<Running>,
    log: VecDeque<String>,
}

/// An instance.
pub(super) struct Running {
    pub(super) store: Store<Guest>,
    instance: Instance,
    component: Component,
}

/// What the host keeps for an instance.
pub(super) struct Guest {
    memory_limit: usize,
    log: VecDeque<String>,
}

/// A limit that stopped a call.
#[derive(Debug)]
enum Stopped {
    Deadline,
    Memory { asked: usize },
}

impl fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self:?}")
    }
}

impl std::error::Error for Stopped {}

impl Sandbox {
    pub(super) fn new(
        name: &str,
        component: Component,
        define_imports: fn(&mut Linker<Guest>) -> Result<()>,
        may_import_more: bool,
    ) -> Self {
        Self {
            name: name.to_owned(),
            component,
            define_imports,
            may_import_more,
            running: None,
            log: VecDeque::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub(super) fn take_log(&mut self) -> Vec<String> {
        self.log.drain(..).collect()
    }

    /// Runs `call`, which is named `what` in messages, within `limits`. Makes an instance when there is none. After a
    /// failure the instance is in no known state and is given up; the next call makes another one.
    pub(super) fn call<T>(
        &mut self,
        what: &str,
        limits: CallLimits,
        call: impl FnOnce(&mut Running) -> Result<T>,
    ) -> Answer<T> {
        self.call_with(what, limits, limits.time, call)
    }

    /// The same for one of several calls that share a limit: `left` is what there still is of its time.
    pub(super) fn call_with<T>(
        &mut self,
        what: &str,
        limits: CallLimits,
        left: Duration,
        call: impl FnOnce(&mut Running) -> Result<T>,
    ) -> Answer<T> {
        let engine = precompiled::engine().map_err(|error| self.error(FailureKind::Load, on_one_line(&error)))?;
        let (mut store, instance) = match self.running.take() {
            Some(running) => (running.store, Some(running.instance)),
            None => (Store::new(engine, Guest::new()), None),
        };
        store.data_mut().memory_limit = limits.memory;
        store.limiter(|guest| guest);
        store.set_hostcall_fuel(limits.answer);
        store.set_epoch_deadline(1);
        let deadline = Deadline::start(left);
        store.epoch_deadline_callback(stop_at(deadline.at()));

        let instance = match instance {
            Some(instance) => Ok(instance),
            None => self.instantiate(&mut store),
        };
        let mut running = match instance {
            Ok(instance) => Running {
                store,
                instance,
                component: self.component.clone(),
            },
            Err(error) => {
                drop(deadline);
                self.keep_log(store.data_mut());
                return Err(self.failure(what, limits, &error));
            }
        };
        let answer = call(&mut running);
        drop(deadline);
        self.keep_log(running.store.data_mut());
        match answer {
            Ok(answer) => {
                self.running = Some(running);
                Ok(answer)
            }
            Err(error) => Err(self.failure(what, limits, &error)),
        }
    }

    pub(super) fn error(&self, kind: FailureKind, message: String) -> AdapterError {
        AdapterError {
            adapter: self.name.clone(),
            kind,
            message,
        }
    }

    fn instantiate(&self, store: &mut Store<Guest>) -> Result<Instance> {
        let mut linker = Linker::new(self.component.engine());
        (self.define_imports)(&mut linker)?;
        if self.may_import_more && imports_more(&self.component) {
            linker.define_unknown_imports_as_traps(&self.component)?;
        }
        linker.instantiate(store, &self.component)
    }

    fn keep_log(&mut self, guest: &mut Guest) {
        for line in guest.log.drain(..) {
            push_line(&mut self.log, line);
        }
    }

    fn failure(&self, what: &str, limits: CallLimits, error: &wasmtime::Error) -> AdapterError {
        let (kind, mut message) = if let Some(stopped) = error.downcast_ref::<Stopped>() {
            match stopped {
                Stopped::Deadline => (
                    FailureKind::Deadline,
                    format!("{what} took longer than {} and was stopped", seconds(limits.time)),
                ),
                Stopped::Memory { asked } => (
                    FailureKind::Memory,
                    format!(
                        "{what} wanted {} of memory, the limit is {}",
                        mebibytes(*asked),
                        mebibytes(limits.memory)
                    ),
                ),
            }
        } else if on_one_line(error).contains(ANSWER_TOO_LARGE) {
            (
                FailureKind::OutputSize,
                format!("the answer of {what} is larger than {}", mebibytes(limits.answer)),
            )
        } else if let Some(trap) = error.downcast_ref::<Trap>() {
            (FailureKind::Trap, format!("{what} crashed: {trap}"))
        } else if is_of_the_system(error) {
            // Nothing that an adapter does: its memory could not be had.
            return self.error(
                FailureKind::Load,
                format!(
                    "the system gave {what} no room: {}. Allow the program more memory and addresses (ulimit -v): a \
                     sandbox reserves 4 GiB of addresses and uses little of them",
                    on_one_line(error)
                ),
            );
        } else {
            let cause = on_one_line(error);
            match cause.contains(UNKNOWN_IMPORT) {
                true => (
                    FailureKind::Trap,
                    format!("{what} used an import that hookhost does not give to adapters: {cause}"),
                ),
                false => (FailureKind::Contract, format!("{what} broke the contract: {cause}")),
            }
        };
        let said = self.log.iter().rev().take(LOG_LINES_IN_MESSAGE).rev();
        let said: Vec<&str> = said.map(String::as_str).collect();
        if !said.is_empty() {
            message.push_str("; its last words: ");
            message.push_str(&said.join(" | "));
        }
        message.push_str(match kind {
            FailureKind::Deadline | FailureKind::Memory | FailureKind::OutputSize => {
                ". If what it was given is sound, this is a fault of the adapter: report it to its author"
            }
            _ => ". This is a fault of the adapter: report it to its author",
        });
        self.error(kind, message)
    }
}

impl Running {
    /// A function of the component. Only this one's types are compared with ours.
    pub(super) fn function<P, R>(&mut self, interface: &str, name: &str) -> Result<TypedFunc<P, R>>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        let index = self.export(interface, name)?;
        self.instance.get_typed_func(&mut self.store, index)
    }

    fn export(&self, interface: &str, name: &str) -> Result<ComponentExportIndex> {
        self.component
            .get_export_index(None, interface)
            .and_then(|interface| self.component.get_export_index(Some(&interface), name))
            .ok_or_else(|| wasmtime::Error::msg(format!("the component does not export {name} of {interface}")))
    }
}

impl Guest {
    fn new() -> Self {
        Self {
            memory_limit: 0,
            log: VecDeque::new(),
        }
    }

    /// A line that the adapter gave to its log.
    pub(super) fn log(&mut self, level: &str, message: &str) {
        let end = message.floor_char_boundary(MAX_LOG_LINE_BYTES);
        let (kept, rest) = message.split_at_checked(end).unwrap_or((message, ""));
        let cut = if rest.is_empty() { "" } else { "…" };
        push_line(&mut self.log, format!("{level}: {kept}{cut}"));
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        if desired <= self.memory_limit {
            return Ok(true);
        }
        // A failed growth is a crash to most programs. As an error of ours it is told from other crashes.
        Err(Stopped::Memory { asked: desired }.into())
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let asked = desired.saturating_mul(size_of::<usize>());
        if asked <= self.memory_limit {
            return Ok(true);
        }
        Err(Stopped::Memory { asked }.into())
    }
}

fn stop_at(
    deadline: Instant,
) -> impl FnMut(wasmtime::StoreContextMut<'_, Guest>) -> Result<UpdateDeadline> + Send + Sync + 'static {
    move |_| {
        if Instant::now() >= deadline {
            return Err(Stopped::Deadline.into());
        }
        // The timer went off for another call of this process.
        deadline::go_on();
        Ok(UpdateDeadline::Continue(1))
    }
}

/// wasmtime has no type for these two; tests with hostile guests notice when it words them differently.
const ANSWER_TOO_LARGE: &str = "too much data is being copied";
const UNKNOWN_IMPORT: &str = "unknown import";

/// An error and what lies behind it.
pub(super) fn on_one_line(error: &wasmtime::Error) -> String {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    causes.join(": ").replace('\n', " ")
}

fn is_of_the_system(error: &wasmtime::Error) -> bool {
    #[cfg(unix)]
    if error.chain().any(<dyn std::error::Error>::is::<rustix::io::Errno>) {
        return true;
    }
    error.chain().any(<dyn std::error::Error>::is::<std::io::Error>)
}

fn imports_more(component: &Component) -> bool {
    component
        .component_type()
        .imports(component.engine())
        .any(|(name, _)| !name.starts_with("hookhost:adapter/"))
}

fn push_line(log: &mut VecDeque<String>, line: String) {
    if log.len() == MAX_LOG_LINES {
        log.pop_front();
    }
    log.push_back(line);
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

fn mebibytes(bytes: usize) -> String {
    const MIB: usize = 1024 * 1024;
    format!("{} MiB", bytes.div_ceil(MIB))
}
