//! Stdin itself, read with a limit on waiting.

use std::io::{self, Read};
use std::time::Duration;

use super::{Arrival, STREAM_SILENCE, Source};

/// Standard input. As a [`Read`] it fails when nothing arrives for [`STREAM_SILENCE`].
#[derive(Debug, Default)]
pub struct Stdin {
    inner: platform::Inner,
}

impl Source for Stdin {
    fn read_within(&mut self, buffer: &mut Vec<u8>, silence: Duration) -> io::Result<Arrival> {
        self.inner.read_within(buffer, silence)
    }
}

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer, STREAM_SILENCE)?.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::TimedOut,
                format!(
                    "nothing came for {} seconds and the pipe is still open",
                    STREAM_SILENCE.as_secs()
                ),
            )
        })
    }
}

#[cfg(unix)]
mod platform {
    use std::io;
    use std::time::Duration;

    use rustix::buffer::spare_capacity;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use rustix::stdio::stdin;

    use super::Arrival;

    #[derive(Debug, Default)]
    pub(super) struct Inner;

    impl Inner {
        pub(super) fn read_within(&mut self, buffer: &mut Vec<u8>, silence: Duration) -> io::Result<Arrival> {
            if !is_ready(silence)? {
                return Ok(Arrival::Silence);
            }
            loop {
                match rustix::io::read(stdin(), spare_capacity(buffer)) {
                    Ok(0) => return Ok(Arrival::End),
                    Ok(_) => return Ok(Arrival::Bytes),
                    Err(Errno::INTR) => {}
                    Err(error) => return ended(error).map(|_| Arrival::End),
                }
            }
        }

        pub(super) fn read(&mut self, buffer: &mut [u8], silence: Duration) -> io::Result<Option<usize>> {
            if !is_ready(silence)? {
                return Ok(None);
            }
            loop {
                match rustix::io::read(stdin(), &mut *buffer) {
                    Ok(count) => return Ok(Some(count)),
                    Err(Errno::INTR) => {}
                    Err(error) => return ended(error).map(Some),
                }
            }
        }
    }

    /// A stdin that was closed before we started, or a terminal that is gone, is an empty one.
    fn ended(error: Errno) -> io::Result<usize> {
        match error {
            Errno::BADF | Errno::IO => Ok(0),
            error => Err(error.into()),
        }
    }

    fn is_ready(silence: Duration) -> io::Result<bool> {
        let limit = Timespec::try_from(silence).unwrap_or_default();
        loop {
            let mut waiting = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
            match poll(&mut waiting, Some(&limit)) {
                Ok(count) => return Ok(count > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::io::{self, Read};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
    use std::time::Duration;

    use super::Arrival;

    /// There is no waiting with a limit on all kinds of handles: a thread reads ahead, and the process ends without it.
    #[derive(Debug, Default)]
    pub(super) struct Inner {
        pieces: Option<Receiver<io::Result<Vec<u8>>>>,
        rest: Vec<u8>,
    }

    impl Inner {
        pub(super) fn read_within(&mut self, buffer: &mut Vec<u8>, silence: Duration) -> io::Result<Arrival> {
            let arrival = self.wait(silence)?;
            let count = self.rest.len().min(buffer.capacity() - buffer.len());
            buffer.extend(self.rest.drain(..count));
            Ok(arrival)
        }

        pub(super) fn read(&mut self, buffer: &mut [u8], silence: Duration) -> io::Result<Option<usize>> {
            match self.wait(silence)? {
                Arrival::Silence => Ok(None),
                Arrival::End => Ok(Some(0)),
                Arrival::Bytes => {
                    let count = self.rest.as_slice().read(buffer)?;
                    self.rest.drain(..count);
                    Ok(Some(count))
                }
            }
        }

        fn wait(&mut self, silence: Duration) -> io::Result<Arrival> {
            if !self.rest.is_empty() {
                return Ok(Arrival::Bytes);
            }
            match self.pieces.get_or_insert_with(read_ahead).recv_timeout(silence) {
                Ok(piece) => {
                    self.rest = piece?;
                    Ok(if self.rest.is_empty() {
                        Arrival::End
                    } else {
                        Arrival::Bytes
                    })
                }
                Err(RecvTimeoutError::Timeout) => Ok(Arrival::Silence),
                Err(RecvTimeoutError::Disconnected) => Ok(Arrival::End),
            }
        }
    }

    fn read_ahead() -> Receiver<io::Result<Vec<u8>>> {
        let (sender, receiver) = sync_channel(4);
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut piece = vec![0; 64 << 10];
                let read = match stdin.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Ok(count) => {
                        piece.truncate(count);
                        Ok(piece)
                    }
                    Err(error) => Err(error),
                };
                let is_last = read.as_ref().map_or(true, Vec::is_empty);
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        receiver
    }
}
