//! Starts `hookhost-adapter`, which holds the compiler, as git and cargo start their subcommands.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::registry::{self, Found};
use crate::error::{Error, Result};
use crate::paths;

const PROGRAM: &str = "hookhost-adapter";

/// Runs `hookhost-adapter` with these arguments in this process' place, and gives back its exit code where the system
/// cannot do that.
///
/// # Errors
/// It is not installed, or cannot be started.
pub fn run(arguments: &[OsString]) -> Result<u8> {
    let mut command = Command::new(program()?);
    command.args(arguments);
    in_our_place(command)
}

/// The adapter in a component's file, compiled by `hookhost-adapter` when that was not done yet. Not for hooks.
///
/// # Errors
/// It cannot be compiled, or is no adapter.
pub fn compiled(component: &Path) -> Result<Found> {
    if let Ok(found) = registry::of_file(component) {
        return Ok(found);
    }
    let output = Command::new(program()?)
        .args([OsStr::new("precompile"), component.as_os_str()])
        .output()
        .map_err(|error| Error::system(format!("cannot start {PROGRAM}"), error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Error::input(said.trim_end().to_owned()));
    }
    Ok(registry::of_file(component)?)
}

/// Beside this program, else on PATH.
fn program() -> Result<PathBuf> {
    let beside = env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.join(format!("{PROGRAM}{EXE_SUFFIX}"))));
    beside
        .filter(|program| program.is_file())
        .or_else(|| paths::program(PROGRAM))
        .ok_or_else(|| {
            Error::input(format!("{PROGRAM} is neither beside hookhost nor on PATH")).hint(
                "it is a program of its own, since it holds the compiler; in a clone of hookhost: \
                 cargo install --path host/adapter-tool",
            )
        })
}

#[cfg(unix)]
fn in_our_place(mut command: Command) -> Result<u8> {
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    Err(Error::system(format!("cannot start {PROGRAM}"), error))
}

#[cfg(not(unix))]
fn in_our_place(mut command: Command) -> Result<u8> {
    let status = command
        .status()
        .map_err(|error| Error::system(format!("cannot start {PROGRAM}"), error))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
