//! What a call of an adapter may use.

use std::time::Duration;

const MIB: usize = 1024 * 1024;

/// Limits by the kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls about hooks, and all others that are not a reading.
    pub hooks: CallLimits,
    /// A reading of a transcript; the time is that of all its calls together.
    pub transcripts: CallLimits,
}

/// Limits of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// Time from the call's begin, with what the instance needs to start.
    pub time: Duration,
    /// Bytes of the adapter's memory.
    pub memory: usize,
    /// Bytes of the answer.
    pub answer: usize,
}

impl Default for Limits {
    /// An agent waits for a hook, and kills a protocol call after 30 s.
    fn default() -> Self {
        Self {
            hooks: CallLimits {
                time: Duration::from_secs(2),
                memory: 64 * MIB,
                answer: 10 * MIB,
            },
            // The entries of one piece of a transcript stay within what the adapter could make of it in its memory.
            transcripts: CallLimits {
                time: Duration::from_secs(25),
                memory: 256 * MIB,
                answer: 256 * MIB,
            },
        }
    }
}
