//! An adapter as a library: what [`crate::export_adapter!`] exports where the target is not WebAssembly.
//!
//! The border is one C function, `hookhost_adapter_<line>`, with nothing of Rust's on it: bytes go in, bytes come out,
//! and whose memory it is never changes.
//!
//! ```c
//! // Called once, before the function returns. The bytes are the library's, and gone after that.
//! typedef void (*take)(void *to, const uint8_t *bytes, size_t length);
//!
//! // 0: the answer, JSON. 1: the adapter panicked, and with which words. 2: the request is not understood, and why.
//! uint32_t hookhost_adapter_0_1(const uint8_t *request, size_t request_length,  // a `Request`, JSON
//!                               const uint8_t *bytes, size_t bytes_length,      // what is too large for JSON
//!                               take take, void *to);                           // `to` is handed to `take`
//! ```
//!
//! The contract's types have the JSON form that serde derives of what wit-bindgen makes of the WIT files; the host's
//! side derives the same of what wasmtime's bindgen makes of them. Flags are numbers, as the contract orders them.
//!
//! Every thread that calls is an instance of its own. After a panic the instance is in no known state and is given up.
#![allow(unsafe_code, reason = "a C function takes pointers")]

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{self, AssertUnwindSafe};
use std::slice;
use std::sync::Once;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::bindings::exports::hookhost::adapter::{hooks, identity, registration, sessions};
use crate::bindings::hookhost::adapter::types::HookContext;
use crate::component::{self, Exported};
use crate::lines::Reading;
use crate::{Adapter, Capabilities, Context, Fault, Invocation, Scope, Start, Wanted};

/// Takes the answer of a call.
pub type Take = unsafe extern "C" fn(to: *mut c_void, bytes: *const u8, length: usize);

/// The bytes are the answer.
pub const ANSWERED: u32 = 0;
/// The adapter panicked; the bytes are its words.
pub const PANICKED: u32 = 1;
/// The request is not one of this contract line; the bytes say why.
pub const NOT_UNDERSTOOD: u32 = 2;

/// A function of the contract and its parameters. A text or piece that can be large stands beside it, as `bytes`.
#[derive(Deserialize)]
enum Request {
    Describe,
    /// `bytes`: the payload.
    Parse {
        hook: String,
        context: HookContext,
    },
    Finish {
        context: HookContext,
    },
    Reply {
        hook: String,
        message: Option<String>,
    },
    /// `bytes`: the input.
    SessionId,
    SessionDir {
        repo_path: String,
        context: Context,
    },
    SessionFile {
        dir: String,
        id: String,
        context: Context,
    },
    ResumeCommand {
        id: String,
    },
    SubagentTranscripts {
        session_ref: String,
        subagents_dir: Option<String>,
        context: Context,
    },
    TranscriptSource {
        session_ref: String,
        context: Context,
    },
    /// Answers with the reading's number.
    Reading {
        start: Start,
    },
    /// `bytes`: the next piece.
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
        invocation: Invocation,
        scope: Scope,
        context: Context,
    },
}

/// A reading, or the fault that every call of it answers with.
type Begun = Result<Box<dyn Reading>, Fault>;

thread_local! {
    /// By their numbers; `None` when dropped.
    static READINGS: RefCell<Vec<Option<Begun>>> = const { RefCell::new(Vec::new()) };
    /// The words of a panic, while a call is running.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The exported function, for one adapter.
///
/// # Safety
/// `request` and `bytes` point to as many bytes as their lengths say (or are null with a length of zero), and nobody
/// writes to them before this returns. `take` may be called with `to`, once.
pub unsafe fn answer<A: Adapter>(
    request: *const u8,
    request_length: usize,
    bytes: *const u8,
    bytes_length: usize,
    take: Take,
    to: *mut c_void,
) -> u32 {
    // SAFETY: as the caller promises.
    let (request, bytes) = unsafe { (borrowed(request, request_length), borrowed(bytes, bytes_length)) };
    let (status, answer) = caught(|| respond::<A>(request, bytes));
    // SAFETY: as the caller promises; the answer lives until this returns.
    unsafe { take(to, answer.as_ptr(), answer.len()) };
    status
}

/// # Safety
/// As for [`answer`].
unsafe fn borrowed<'a>(bytes: *const u8, length: usize) -> &'a [u8] {
    if length == 0 || bytes.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice::from_raw_parts(bytes, length) }
}

/// No panic leaves the library.
fn caught(call: impl FnOnce() -> Result<Vec<u8>, String>) -> (u32, Vec<u8>) {
    keep_panics();
    PANIC.set(Some(String::new()));
    let caught = panic::catch_unwind(AssertUnwindSafe(call));
    let said = PANIC.take().unwrap_or_default();
    match caught {
        Ok(Ok(answer)) => (ANSWERED, answer),
        Ok(Err(reason)) => (NOT_UNDERSTOOD, reason.into_bytes()),
        Err(value) => {
            // What was panicked with can panic again when it is dropped, and so can an adapter that was left half-way.
            std::mem::forget(value);
            let _ = panic::catch_unwind(|| {
                component::forget();
                READINGS.set(Vec::new());
            });
            (PANICKED, said.into_bytes())
        }
    }
}

/// What panics in a call is told to the caller. Printed, it would reach the agent.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_kept = PANIC.with_borrow_mut(|said| match said {
                Some(said) => {
                    *said = info.to_string();
                    true
                }
                None => false,
            });
            if !is_kept {
                before(info);
            }
        }));
    });
}

fn respond<A: Adapter>(request: &[u8], bytes: &[u8]) -> Result<Vec<u8>, String> {
    let request: Request = serde_json::from_slice(request).map_err(|error| error.to_string())?;
    let text = || String::from_utf8_lossy(bytes).into_owned();
    match request {
        Request::Describe => json(&<Exported<A> as identity::Guest>::describe()),
        Request::Parse { hook, context } => json(&<Exported<A> as hooks::Guest>::parse(hook, text(), context)),
        Request::Finish { context } => json(&<Exported<A> as hooks::Guest>::finish(context)),
        Request::Reply { hook, message } => json(&<Exported<A> as hooks::Guest>::reply(hook, message)),
        Request::SessionId => json(&<Exported<A> as sessions::Guest>::session_id(text())),
        Request::SessionDir { repo_path, context } => {
            json(&<Exported<A> as sessions::Guest>::session_dir(repo_path, context))
        }
        Request::SessionFile { dir, id, context } => {
            json(&<Exported<A> as sessions::Guest>::session_file(dir, id, context))
        }
        Request::ResumeCommand { id } => json(&<Exported<A> as sessions::Guest>::resume_command(id)),
        Request::SubagentTranscripts {
            session_ref,
            subagents_dir,
            context,
        } => json(&<Exported<A> as sessions::Guest>::subagent_transcripts(
            session_ref,
            subagents_dir,
            context,
        )),
        Request::TranscriptSource { session_ref, context } => json(
            &<Exported<A> as sessions::Guest>::transcript_source(session_ref, context),
        ),
        Request::Reading { start } => {
            let begun = component::with::<A, _>(|adapter| adapter.transcript(start));
            READINGS.with_borrow_mut(|readings| {
                readings.push(Some(begun));
                json(&(readings.len() - 1))
            })
        }
        Request::ReadingPush { reading } => with_reading(reading, |reading| {
            json(&reading.and_then(|reading| reading.push(bytes)))
        }),
        Request::ReadingFinish { reading } => {
            with_reading(reading, |reading| json(&reading.and_then(|reading| reading.finish())))
        }
        Request::ReadingPosition { reading } => with_reading(reading, |reading| {
            json(&reading.map(|reading| reading.position()).unwrap_or_default())
        }),
        Request::ReadingDrop { reading } => {
            let dropped = READINGS.with_borrow_mut(|readings| readings.get_mut(reading).and_then(Option::take));
            json(&dropped.is_some())
        }
        Request::Plan {
            invocation,
            scope,
            context,
        } => json(&<Exported<A> as registration::Guest>::plan(invocation, scope, context)),
    }
}

fn json(answer: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(answer).map_err(|error| error.to_string())
}

fn with_reading(
    number: usize,
    call: impl FnOnce(Result<&mut dyn Reading, Fault>) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    READINGS.with_borrow_mut(|readings| match readings.get_mut(number) {
        Some(Some(Ok(reading))) => call(Ok(reading.as_mut())),
        Some(Some(Err(fault))) => call(Err(fault.clone())),
        _ => Err(format!("there is no reading {number}")),
    })
}

macro_rules! flags_as_number {
    ($flags:ty) => {
        impl Serialize for $flags {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.bits().serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $flags {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let bits = Deserialize::deserialize(deserializer)?;
                Self::from_bits(bits).ok_or_else(|| de::Error::custom(format!("there is no flag in {bits}")))
            }
        }
    };
}

flags_as_number!(Capabilities);
flags_as_number!(Wanted);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, EventKind, Manifest, Payload};

    #[derive(Default)]
    struct Counting {
        calls: usize,
    }

    impl Adapter for Counting {
        const MANIFEST: Manifest = Manifest {
            name: "counting",
            capabilities: Capabilities::HOOKS.union(Capabilities::USES_TERMINAL),
            ..Manifest::EMPTY
        };

        fn parse(&mut self, hook: &str, _: &Payload<'_>, _: &Context) -> Result<Vec<Event>, Fault> {
            self.calls += 1;
            assert_ne!(hook, "Panic", "a hook to panic at");
            Ok(vec![Event::new(EventKind::TurnEnd, self.calls.to_string())])
        }
    }

    unsafe extern "C" fn take(to: *mut c_void, bytes: *const u8, length: usize) {
        // SAFETY: `call` below hands over a vector.
        let (to, bytes) = unsafe { (&mut *to.cast::<Vec<u8>>(), borrowed(bytes, length)) };
        to.extend_from_slice(bytes);
    }

    fn call(request: &str, bytes: &[u8]) -> (u32, String) {
        let mut answer = Vec::<u8>::new();
        // SAFETY: the slices live until the function returns, and `take` gets the vector that it expects.
        let status = unsafe {
            super::answer::<Counting>(
                request.as_ptr(),
                request.len(),
                bytes.as_ptr(),
                bytes.len(),
                take,
                (&raw mut answer).cast(),
            )
        };
        (status, String::from_utf8(answer).unwrap())
    }

    fn parse(hook: &str) -> (u32, String) {
        let context = r#"{"repo_root":null,"cwd":null,"home":null,"platform":"Linux","received_at":"","env":[],"files":[],"snapshots":null}"#;
        call(
            &format!(r#"{{"Parse":{{"hook":"{hook}","context":{context}}}}}"#),
            b"{}",
        )
    }

    #[test]
    fn flags_are_the_number_that_they_are_in_the_contracts_order() {
        let (status, answer) = call("\"Describe\"", b"");
        assert_eq!(status, ANSWERED);
        // hooks is the first flag, uses-terminal the ninth.
        assert!(answer.contains("\"capabilities\":257,"), "{answer}");
        assert!(serde_json::from_str::<Wanted>("64").is_err());
        assert_eq!(
            serde_json::from_str::<Wanted>("33").unwrap(),
            Wanted::PROMPTS | Wanted::TOKENS
        );
    }

    #[test]
    fn an_instance_keeps_its_state_until_it_panics() {
        assert!(parse("Stop").1.contains(r#""session_id":"1""#));
        assert!(parse("Stop").1.contains(r#""session_id":"2""#));
        let (status, words) = parse("Panic");
        assert_eq!(status, PANICKED);
        assert!(
            words.contains("a hook to panic at") && words.contains("native.rs"),
            "{words}"
        );
        assert!(parse("Stop").1.contains(r#""session_id":"1""#));
    }

    #[test]
    fn every_thread_is_an_instance() {
        assert!(parse("Stop").1.contains(r#""session_id":"1""#));
        let other = std::thread::spawn(|| parse("Stop").1).join().unwrap();
        assert!(other.contains(r#""session_id":"1""#), "{other}");
    }

    #[test]
    fn a_request_of_another_line_is_not_understood() {
        assert_eq!(call("{\"Foresee\":{}}", b"").0, NOT_UNDERSTOOD);
        assert_eq!(call("", b"").0, NOT_UNDERSTOOD);
        let (status, reason) = call("{\"ReadingPush\":{\"reading\":7}}", b"");
        assert_eq!((status, reason.as_str()), (NOT_UNDERSTOOD, "there is no reading 7"));
    }

    #[test]
    fn a_reading_that_did_not_begin_answers_with_its_fault() {
        let start = r#"{"Reading":{"start":{"session_ref":null,"companions":[],"from":0,"want":1}}}"#;
        assert_eq!(call(start, b""), (ANSWERED, "0".to_owned()));
        let push = call(r#"{"ReadingPush":{"reading":0}}"#, b"x");
        assert_eq!(push, (ANSWERED, r#"{"Err":"Unsupported"}"#.to_owned()));
        assert_eq!(
            call(r#"{"ReadingDrop":{"reading":0}}"#, b""),
            (ANSWERED, "true".to_owned())
        );
        assert_eq!(call(r#"{"ReadingPosition":{"reading":0}}"#, b"").0, NOT_UNDERSTOOD);
    }
}
