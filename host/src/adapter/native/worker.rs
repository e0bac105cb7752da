//! Keeps time over calls that cannot be stopped: they run on a thread, and we wait for it no longer than the limit.
//!
//! A thread is an instance of the adapter. What it reads is its own, so that it may go on when nobody waits any more.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::library::{Answered, Library};

/// As much as the main thread has, for what parses by recursion.
const STACK: usize = 8 * 1024 * 1024;

/// A thread that calls a library.
pub(super) struct Worker {
    calls: Sender<Call>,
    answers: Receiver<Answered>,
}

struct Call {
    request: Vec<u8>,
    bytes: Vec<u8>,
    most: usize,
}

impl Worker {
    pub(super) fn start(library: Arc<Library>) -> io::Result<Self> {
        let (calls, taken_calls) = channel::<Call>();
        let (given_answers, answers) = channel();
        thread::Builder::new()
            .name("native adapter".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                for call in taken_calls {
                    let answer = library.call(&call.request, &call.bytes, call.most);
                    if given_answers.send(answer).is_err() {
                        break;
                    }
                }
            })?;
        Ok(Self { calls, answers })
    }

    /// The answer to a call; `None` when it did not come in time, or the thread is gone.
    pub(super) fn call(&self, request: Vec<u8>, bytes: Vec<u8>, most: usize, time: Duration) -> Option<Answered> {
        self.calls.send(Call { request, bytes, most }).ok()?;
        self.answers.recv_timeout(time).ok()
    }
}
