//! Running other programs, with a limit on their time. Only programs that an absolute directory of PATH holds.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::paths;

/// How much of what a program says on stderr is shown.
const STDERR_SHOWN: u64 = 2000;

/// A program to run.
#[derive(Debug)]
pub struct Run<'a> {
    /// Program and arguments.
    pub arguments: &'a [String],
    /// What it reads.
    pub stdin: &'a [u8],
    /// Where it runs.
    pub directory: Option<&'a Path>,
    /// How long it may take.
    pub limit: Duration,
}

impl Run<'_> {
    /// Runs it, its output going to `output`.
    ///
    /// # Errors
    /// It is not there, cannot be started, takes too long or fails.
    pub fn to_file(&self, output: &File) -> Result<()> {
        let (name, arguments) = self
            .arguments
            .split_first()
            .ok_or_else(|| Error::input("no program is named"))?;
        let program = paths::program(name).ok_or_else(|| {
            Error::input(format!("the program {name} is not there")).hint("install it, or add its directory to PATH")
        })?;
        let cannot = |error| Error::system(format!("cannot run {}", program.display()), error);
        let mut stdin = tempfile::tempfile().map_err(cannot)?;
        stdin.write_all(self.stdin).map_err(cannot)?;
        stdin.seek(SeekFrom::Start(0)).map_err(cannot)?;
        let mut stderr = tempfile::tempfile().map_err(cannot)?;

        let mut command = Command::new(&program);
        command
            .args(arguments)
            .stdin(stdin)
            .stdout(Stdio::from(output.try_clone().map_err(cannot)?))
            .stderr(stderr.try_clone().map_err(cannot)?)
            // The agent that we start must not have its hooks recorded as if a person had started it.
            .env("HOOKHOST_DISABLE", "1");
        if let Some(directory) = self.directory.filter(|directory| directory.is_dir()) {
            command.current_dir(directory);
        }
        // A group of its own, so that what the program starts can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);

        let mut child = command.spawn().map_err(cannot)?;
        let status = wait(&mut child, self.limit).map_err(cannot)?;
        let said = || {
            let mut text = vec![];
            let _ = stderr.rewind();
            let _ = stderr.take(STDERR_SHOWN).read_to_end(&mut text);
            String::from_utf8_lossy(&text).trim().to_owned()
        };
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(Error::input(format!("{name} failed ({status}): {}", said()))),
            None => Err(Error::input(format!(
                "{name} took longer than {} seconds and was ended",
                self.limit.as_secs()
            ))),
        }
    }

    /// Runs it and gives back its output, at most `most` bytes.
    ///
    /// # Errors
    /// As [`Self::to_file`]; and when there is more output.
    pub fn to_bytes(&self, most: u64) -> Result<Vec<u8>> {
        let cannot = |error| Error::system("cannot keep a program's output", error);
        let mut output = tempfile::tempfile().map_err(cannot)?;
        self.to_file(&output)?;
        output.rewind().map_err(cannot)?;
        let mut bytes = vec![];
        output.take(most + 1).read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.len() as u64 > most {
            return Err(Error::input(format!(
                "a program's output is larger than {} MiB",
                most >> 20
            )));
        }
        Ok(bytes)
    }
}

/// `None`: it took too long and was ended.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            end(child);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn run(script: &str, stdin: &[u8], limit: u64) -> Result<Vec<u8>> {
        let arguments = ["sh", "-c", script].map(str::to_owned);
        Run {
            arguments: &arguments,
            stdin,
            directory: None,
            limit: Duration::from_millis(limit),
        }
        .to_bytes(100)
    }

    #[test]
    fn input_goes_in_and_output_comes_out() {
        assert_eq!(run("tr a-z A-Z", b"abc", 5000).unwrap(), b"ABC");
    }

    #[test]
    fn a_failure_says_what_the_program_said() {
        let error = run("echo sorry >&2; exit 3", b"", 5000).unwrap_err().to_string();
        assert!(error.contains("sorry"), "{error}");
    }

    #[test]
    fn what_takes_too_long_is_ended_with_all_that_it_started() {
        let begin = Instant::now();
        assert!(run("sleep 60 & sleep 60", b"", 100).is_err());
        assert!(begin.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn output_above_the_limit_is_refused() {
        assert!(run("head -c 200 /dev/zero", b"", 5000).is_err());
    }
}
