//! A transcript that is never read to its end, once a piece of it says so.

use hookhost_sdk::lines::Reading;
use hookhost_sdk::{Entry, Event, Fault};

pub(crate) struct EndlessReading;

impl Reading for EndlessReading {
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Entry>, Fault> {
        let never: Result<Vec<Event>, Fault> = match chunk {
            b"endless" => crate::endless_loop::run(),
            b"spin" => crate::spins::run(),
            _ => Ok(vec![]),
        };
        never.map(|_| vec![])
    }

    fn finish(&mut self) -> Result<Vec<Entry>, Fault> {
        Ok(vec![])
    }

    fn position(&self) -> u64 {
        0
    }
}
