//! Loads compiled components.
#![allow(
    unsafe_code,
    reason = "compiled code is machine code: the engine cannot check it, only where it comes from can be trusted"
)]

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine, Result};

use super::Code;
use super::engine_config::engine_config;

static ENGINE: OnceLock<Engine> = OnceLock::new();

/// The engine, if there is one yet. Safe to call in a signal handler.
pub(super) fn engine_if_running() -> Option<&'static Engine> {
    ENGINE.get()
}

/// The one engine of this process. It is never dropped, so a timer may refer to it at any time.
pub(super) fn engine() -> Result<&'static Engine> {
    if let Some(engine) = ENGINE.get() {
        return Ok(engine);
    }
    let mut config = engine_config();
    config.with_custom_code_memory(CODE_IN_PLACE.then(|| Arc::new(InPlace) as Arc<dyn CustomCodeMemory>));
    let engine = Engine::new(&config)?;
    Ok(ENGINE.get_or_init(|| engine))
}

/// The component that was compiled to `code`.
pub(super) fn component(code: &Code) -> Result<Component> {
    let engine = engine()?;
    match code {
        Code::Embedded(bytes) if CODE_IN_PLACE => in_place(engine, bytes),
        Code::Embedded(bytes) => {
            // SAFETY: as in `in_place`, but for the copy.
            unsafe { Component::deserialize(engine, bytes) }
        }
        Code::File(path) => {
            // SAFETY: the registry only names files that `hookhost-adapter` compiled into a folder that nobody but the
            // user can write to, and whose lock file says that they are still the ones it wrote. It never writes to a
            // file that has its final name, so a mapped file does not change.
            unsafe { Component::deserialize_file(engine, path) }
        }
    }
}

/// The engine knows code by its address, so a component that runs where it lies is made once.
fn in_place(engine: &Engine, bytes: &'static [u8]) -> Result<Component> {
    static MADE: Mutex<Vec<(usize, Component)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let address = bytes.as_ptr().addr();
    if let Some((_, component)) = made.iter().find(|(known, _)| *known == address) {
        return Ok(component.clone());
    }
    // SAFETY: the bytes were made by the build of this program with the same wasmtime and the same configuration, and
    // are part of the program: they live as long as it, and nothing writes to them.
    let component = unsafe { Component::deserialize_raw(engine, NonNull::from(bytes)) }?;
    made.push((address, component.clone()));
    Ok(component)
}

/// Whether embedded code can be run where it lies, without a copy.
const CODE_IN_PLACE: bool = cfg!(unix);

/// Makes code executable where it lies: in the program's own read-only data, or in a file's mapping.
struct InPlace;

impl CustomCodeMemory for InPlace {
    fn required_alignment(&self) -> usize {
        page_size()
    }

    #[cfg(unix)]
    fn publish_executable(&self, start: *const u8, length: usize) -> Result<()> {
        // The pages that hold the code may hold some of the data beside it, which becomes executable as well but stays
        // read-only.
        let before = start.addr() % page_size();
        let first = start.wrapping_sub(before);
        let length = (before + length).next_multiple_of(page_size());
        // SAFETY: the range covers whole pages of memory that stays mapped as long as the program runs or the
        // component lives; nothing writes to it.
        if unsafe { libc::mprotect(first.cast_mut().cast(), length, libc::PROT_READ | libc::PROT_EXEC) } == 0 {
            return Ok(());
        }
        Err(std::io::Error::last_os_error().into())
    }

    #[cfg(not(unix))]
    fn publish_executable(&self, _: *const u8, _: usize) -> Result<()> {
        Ok(())
    }

    /// Embedded code may be in use by another component, and a mapping is about to go.
    fn unpublish_executable(&self, _: *const u8, _: usize) -> Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
fn page_size() -> usize {
    // SAFETY: asks for a number; there are no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0x1_0000)
}

#[cfg(not(unix))]
fn page_size() -> usize {
    0x1_0000
}
