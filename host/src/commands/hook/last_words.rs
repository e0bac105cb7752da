//! What a hook call leaves when it is ended in the middle: by a signal, by a panic, by the lack of memory.
//!
//! All of them end with exit code 0: some agents take anything else for a veto. What is to be said was made ready
//! before, since a signal handler may do next to nothing.

use std::panic;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::journal::{Failure, Fallback, Journal, Record};
use crate::output;

/// What is to be said of the hook call of this process.
static CALL: OnceLock<Call> = OnceLock::new();

/// Nothing is to be said any more.
static IS_DONE: AtomicBool = AtomicBool::new(false);

struct Call {
    record: Record<'static>,
    journal: Option<Journal>,
    #[cfg(unix)]
    words: signals::Words,
}

/// Makes ready what is to be said when the hook call of `record` is ended in the middle.
pub(super) fn prepare(record: Record<'static>, journal: Option<&Journal>) {
    let _ = CALL.set(Call {
        #[cfg(unix)]
        words: signals::Words::of(&record, journal),
        record,
        journal: journal.cloned(),
    });
    panic::set_hook(Box::new(|panic| end(&panic.to_string())));
    #[cfg(unix)]
    signals::catch();
}

/// The record is written, or none is wanted.
pub(super) fn unnecessary() {
    IS_DONE.store(true, Ordering::SeqCst);
}

/// Records a panic and ends.
fn end(panic: &str) -> ! {
    if let (false, Some(call)) = (IS_DONE.swap(true, Ordering::SeqCst), CALL.get()) {
        let mut record = call.record.clone();
        record.failure = Some(Failure::new("panic", panic.replace('\n', " ")));
        let kept = call.journal.as_ref().map(|journal| journal.append(&mut record));
        if !matches!(kept, Some(Ok(()))) {
            let _ = Fallback::of(&record, &std::io::Error::other("hookhost panicked")).write();
        }
    }
    output::leave(0)
}

#[cfg(unix)]
mod signals {
    #![allow(unsafe_code, reason = "signal handlers have no safe interface in std or rustix")]

    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::atomic::Ordering;

    use super::{CALL, IS_DONE};
    use crate::journal::{Failure, Journal, Record, fallback_file};

    /// What ends a process from outside and by its own fault, but for SIGKILL and SIGSTOP, which nobody can catch.
    const SIGNALS: [libc::c_int; 14] = [
        libc::SIGTERM,
        libc::SIGINT,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGILL,
        libc::SIGFPE,
        libc::SIGABRT,
        libc::SIGTRAP,
        libc::SIGSYS,
        libc::SIGXCPU,
    ];

    /// Files, of which the first that can be written counts, and the line to append.
    pub(super) struct Words {
        files: [Option<CString>; 2],
        line: Vec<u8>,
    }

    impl Words {
        /// In the journal's file for records without a session, else in the temp folder.
        pub(super) fn of(record: &Record<'static>, journal: Option<&Journal>) -> Self {
            let path = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
            let record = Record {
                failure: Some(Failure::new(
                    "killed",
                    "the hook was ended by a signal before it was recorded",
                )),
                ..record.clone()
            };
            Self {
                files: [
                    journal.and_then(|journal| path(&journal.session_file(&record.agent, None))),
                    path(&fallback_file()),
                ],
                // The line before may be torn, and there is no looking.
                line: [b"\n", record.line().concat().as_slice(), b"\n"].concat(),
            }
        }
    }

    /// Has the signals end the process with exit code 0.
    pub(super) fn catch() {
        // SAFETY: a zeroed sigaction is a valid one with an empty mask; the handler is a plain function that lives as
        // long as the process and calls nothing but open, write and _exit, which are async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
            for signal in SIGNALS {
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
            // A write beyond the limit on file sizes is to be an error, as one to a full disk is.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }

    extern "C" fn on_signal(_: libc::c_int) {
        if let (false, Some(call)) = (IS_DONE.swap(true, Ordering::SeqCst), CALL.get()) {
            let line = &call.words.line;
            for path in call.words.files.iter().flatten() {
                // SAFETY: the path ends with a zero byte and the line is as long as its length says; both live as long
                // as the process.
                let written = unsafe {
                    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
                    let file = libc::open(path.as_ptr(), flags | libc::O_NOFOLLOW | libc::O_NONBLOCK, 0o600);
                    file >= 0 && libc::write(file, line.as_ptr().cast(), line.len()) > 0
                };
                if written {
                    break;
                }
            }
        }
        // SAFETY: ends the process; nothing of it is used any more.
        unsafe { libc::_exit(0) }
    }
}
