//! A library whose digest was checked, and its one function.
#![allow(
    unsafe_code,
    reason = "a library's code cannot be checked, only that it is the one that the user named"
)]

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::slice;
use std::sync::OnceLock;

use libloading::Symbol;
use sha2::{Digest, Sha256};

use super::image;
use crate::adapter::contract::{CONTRACT_LINES, in_common};
use crate::adapter::{AdapterError, Answer, FailureKind};
use crate::config::{Config, NativeAdapter};
use crate::regular;

/// What stands before the contract line in the name of the exported function.
const SYMBOL: &str = "hookhost_adapter_";

/// The C library of a static program has no loader.
const IS_STATIC: bool = cfg!(all(unix, target_feature = "crt-static"));

/// The function, as the SDK's `native` documents it.
type AnswerFunction = unsafe extern "C" fn(
    request: *const u8,
    request_length: usize,
    bytes: *const u8,
    bytes_length: usize,
    take: unsafe extern "C" fn(to: *mut c_void, bytes: *const u8, length: usize),
    to: *mut c_void,
) -> u32;

/// A loaded library. It stays loaded until the process ends: a thread that was given up may still be in it.
pub(super) struct Library {
    answer: AnswerFunction,
    /// Why it is not called any more.
    lost: OnceLock<AdapterError>,
}

/// What a call came to.
pub(super) struct Answered {
    /// What the function returned.
    pub(super) status: u32,
    /// What it handed over; `None` when that was larger than it may be.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Library {
    /// Loads the library that the settings name.
    pub(super) fn load(name: &str, named: &NativeAdapter, config: &Config) -> Answer<Self> {
        let settings = config.file.as_deref().unwrap_or(Path::new("config.toml"));
        let error = |kind, message: String| AdapterError {
            adapter: name.to_owned(),
            kind,
            message,
        };
        if IS_STATIC {
            return Err(error(FailureKind::Load, cannot_load(name, named, settings)));
        }
        let bytes = checked(name, named, settings).map_err(|message| error(FailureKind::Load, message))?;
        // SAFETY: the user named this library with the digest of these very bytes, and so vouches for what it does.
        let library = unsafe { image::load(&bytes) }.map_err(|reason| {
            error(
                FailureKind::Load,
                format!(
                    "the library {} cannot be loaded ({reason}). Build it for this system: {}-{}",
                    named.file.display(),
                    std::env::consts::ARCH,
                    std::env::consts::OS
                ),
            )
        })?;
        // It is never unloaded, so what it gives out stays valid.
        let library = Box::leak(Box::new(library));
        for line in CONTRACT_LINES {
            let symbol = format!("{SYMBOL}{}", line.replace('.', "_"));
            // SAFETY: the name of the symbol stands for this type.
            let found: Result<Symbol<'_, AnswerFunction>, _> = unsafe { library.get(symbol.as_str()) };
            if let Ok(answer) = found {
                return Ok(Self {
                    answer: *answer,
                    lost: OnceLock::new(),
                });
            }
        }
        Err(error(FailureKind::Contract, other_line(&bytes, &named.file)))
    }

    /// Calls the function. An answer of more than `most` bytes is not taken.
    pub(super) fn call(&self, request: &[u8], bytes: &[u8], most: usize) -> Answered {
        let mut taken = Taken {
            most,
            bytes: Some(Vec::new()),
        };
        // SAFETY: the pointers and lengths are those of slices that live until the function returns, and `take` gets
        // what it expects. The library promises the rest by exporting a function of this name.
        let status = unsafe {
            (self.answer)(
                request.as_ptr(),
                request.len(),
                bytes.as_ptr(),
                bytes.len(),
                take,
                (&raw mut taken).cast(),
            )
        };
        Answered {
            status,
            bytes: taken.bytes,
        }
    }

    /// Why it is not called any more.
    pub(super) fn lost(&self) -> Option<&AdapterError> {
        self.lost.get()
    }

    /// A call has not come back. A library in an unknown state is not called again.
    pub(super) fn lose(&self, reason: AdapterError) {
        let _ = self.lost.set(reason);
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Library").field("lost", &self.lost).finish()
    }
}

struct Taken {
    most: usize,
    bytes: Option<Vec<u8>>,
}

/// Takes an answer. Does not panic: there is nobody to catch it.
unsafe extern "C" fn take(to: *mut c_void, bytes: *const u8, length: usize) {
    // SAFETY: `to` is what `call` gave to the function that calls this before it returns.
    let taken = unsafe { &mut *to.cast::<Taken>() };
    let most = taken.most;
    let Some(answer) = &mut taken.bytes else { return };
    if length > most || answer.try_reserve_exact(length).is_err() {
        taken.bytes = None;
    } else if length > 0 {
        // SAFETY: the library's bytes are there for the time of this call.
        answer.extend_from_slice(unsafe { slice::from_raw_parts(bytes, length) });
    }
}

/// The library's bytes, when they are those that the user named.
fn checked(name: &str, named: &NativeAdapter, settings: &Path) -> Result<Vec<u8>, String> {
    let file = named.file.display();
    let bytes = read(&named.file).map_err(|error| {
        format!(
            "its library {file} cannot be read ({error}). Build it, or take [native.{name}] out of {}",
            settings.display()
        )
    })?;
    let found = hex(&Sha256::digest(&bytes));
    if found == named.sha256 {
        return Ok(bytes);
    }
    Err(format!(
        "its library {file} is not the one that {} names: SHA-256 {} was expected, {found} was found. If you built it \
         anew, write the new digest under [native.{name}]; if not, find out who changed it",
        settings.display(),
        named.sha256
    ))
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    regular::open(file)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn cannot_load(name: &str, named: &NativeAdapter, settings: &Path) -> String {
    format!(
        "the settings want it from the library {}, and this hookhost is the static build, which cannot load libraries. \
         Use the one that is linked to the system's C library (in hookhost's sources: cargo install --path host), or \
         take [native.{name}] out of {}",
        named.file.display(),
        settings.display()
    )
}

/// Why a library without our function is no adapter. What other lines it speaks stands in its bytes.
fn other_line(bytes: &[u8], file: &Path) -> String {
    let mut lines = lines_in(bytes);
    // Mentioned, but not exported.
    lines.retain(|line| !CONTRACT_LINES.contains(&line.as_str()));
    match in_common(&lines) {
        Some(Err(message)) => message,
        _ => format!(
            "the library {} exports no {SYMBOL}{}, so it is no adapter, or was built with panic = \"abort\": build it \
             with a profile that unwinds",
            file.display(),
            CONTRACT_LINES.first().unwrap_or(&"").replace('.', "_")
        ),
    }
}

/// `0.1` of each `hookhost_adapter_0_1` in the bytes.
fn lines_in(bytes: &[u8]) -> BTreeSet<String> {
    let symbol = SYMBOL.as_bytes();
    let places = bytes
        .windows(symbol.len())
        .enumerate()
        .filter(|(_, here)| *here == symbol);
    places
        .filter_map(|(at, _)| {
            let rest = bytes.get(at + symbol.len()..)?;
            let length = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'_')?;
            let line = std::str::from_utf8(rest.get(..length)?).ok()?.replace('_', ".");
            (!line.is_empty()).then_some(line)
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_library_are_read_from_the_names_of_its_symbols() {
        let bytes = b"\0memcpy\0hookhost_adapter_0_9\0hookhost_adapter_2\0x_hookhost_adapter_\0";
        assert_eq!(lines_in(bytes).into_iter().collect::<Vec<_>>(), ["0.9", "2"]);
        assert!(lines_in(b"").is_empty());
    }

    #[test]
    fn a_static_build_says_which_one_can_load_libraries() {
        let named = NativeAdapter {
            file: "/l/x.so".into(),
            sha256: "ab".repeat(32),
        };
        let message = cannot_load("x", &named, Path::new("/c/config.toml"));
        assert!(
            message.contains("/l/x.so") && message.contains("cargo install --path host"),
            "{message}"
        );
        assert!(message.contains("take [native.x] out of /c/config.toml"), "{message}");
    }

    #[test]
    fn digests_are_written_in_lower_case_hexadecimal() {
        // FIPS 180-4's example, SHA-256 of "abc".
        assert_eq!(
            hex(&Sha256::digest(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        assert!(read(Path::new("/")).is_err());
        assert!(read(Path::new("/no/such/file")).is_err());
    }
}
