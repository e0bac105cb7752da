//! The only place that writes to stdout and stderr.
//!
//! Writes go to the descriptors directly: the standard library's macros panic when the reader has gone, and a hook that
//! panics is an error in the user's agent.

mod exit;

use std::io::{self, Write};

/// Standard output.
#[derive(Debug, Default)]
pub struct Stdout;

/// Standard error.
#[derive(Debug, Default)]
pub struct Stderr;

/// Writes an answer to stdout, all of it.
///
/// # Errors
/// The reader has gone, or the disk is full.
pub fn answer(bytes: &[u8]) -> io::Result<()> {
    Stdout.write_all(bytes)
}

/// Writes a line for a person to stderr. That nobody can read it is no further failure.
pub fn note(text: &str) {
    let mut line = String::with_capacity(text.len() + 1);
    line.push_str(text);
    if !text.ends_with('\n') {
        line.push('\n');
    }
    let _ = Stderr.write_all(line.as_bytes());
}

/// Ends the process now. Nothing is dropped: the system takes memory and files back faster than we could give them.
pub fn leave(code: u8) -> ! {
    exit::now(code)
}

/// Whether stdout is a terminal, so that a person reads along.
#[must_use]
pub fn is_terminal() -> bool {
    io::IsTerminal::is_terminal(&io::stdout())
}

/// How many characters a line of the terminal has. `None`: stdout is none.
#[must_use]
pub fn terminal_width() -> Option<usize> {
    #[cfg(unix)]
    return rustix::termios::tcgetwinsize(rustix::stdio::stdout())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|width| *width > 0);
    #[cfg(not(unix))]
    None
}

#[cfg(unix)]
mod raw {
    use std::io::{self, Write};

    impl Write for super::Stdout {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Write for super::Stderr {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(rustix::io::write(rustix::stdio::stderr(), bytes)?)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(not(unix))]
mod raw {
    use std::io::{self, Write};

    impl Write for super::Stdout {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut stdout = io::stdout().lock();
            let written = stdout.write(bytes)?;
            stdout.flush()?;
            Ok(written)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Write for super::Stderr {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            io::stderr().lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
