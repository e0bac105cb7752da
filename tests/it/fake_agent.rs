//! An agent as far as its hooks can tell: it starts the command, writes a payload, keeps the pipe open or not, waits for
//! so long, and reads exit code and output.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use hookhost::journal::read::Lines;
use hookhost::journal::{Fallback, Journal, Record};

/// The program.
pub(crate) const HOOKHOST: &str = env!("CARGO_BIN_EXE_hookhost");

/// Longer than anything that a hook may wait for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A machine with a user, a home and a repository.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
}

/// What a hook did.
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) took: Duration,
}

/// What stdin is.
#[derive(Clone, Copy)]
pub(crate) enum Stdin<'a> {
    /// These bytes, then the end.
    Bytes(&'a [u8]),
    /// These bytes, and the pipe stays open.
    Open(&'a [u8]),
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["home", "tmp", "repo/.git"] {
            std::fs::create_dir_all(folder.path().join(inner)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join(inner)
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::at(self.path("home/.local/share/hookhost/journal"))
    }

    /// A command with nothing in its environment that is not this machine's.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("HOOKHOST", HOOKHOST)
            .current_dir(self.path("repo"));
        command
    }

    pub(crate) fn hookhost(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(HOOKHOST);
        command.args(arguments);
        command
    }

    /// Fires a hook as agents do: through a shell, with the payload on stdin.
    pub(crate) fn hook(&self, agent: &str, hook: &str, payload: &[u8]) -> Done {
        let mut command = self.command("/bin/sh");
        command.args(["-c", "exec \"$HOOKHOST\" hook \"$0\" \"$1\"", agent, hook]);
        run(command, Stdin::Bytes(payload))
    }

    /// What a command for people answers. It must succeed.
    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        let done = run(self.hookhost(arguments), Stdin::Bytes(b""));
        assert!(
            done.status.success(),
            "{arguments:?}: {}\n{}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8(done.stdout).unwrap()
    }

    pub(crate) fn ask_json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.ask(arguments)).unwrap()
    }

    /// The records of a session, or those without one.
    pub(crate) fn records(&self, agent: &str, session: Option<&str>) -> Vec<Record<'static>> {
        records(&self.journal().session_file(agent, session))
    }

    /// All records of all files.
    pub(crate) fn all_records(&self) -> Vec<Record<'static>> {
        // What is no folder holds no records.
        let files = self.journal().files().unwrap_or_default();
        files.iter().flat_map(|file| records(file)).collect()
    }

    /// The lines in the temp folder.
    pub(crate) fn fallback(&self) -> Vec<Fallback> {
        let files = std::fs::read_dir(self.path("tmp")).unwrap();
        let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        let lines: Vec<String> = texts
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let lines = lines.iter().filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn records(path: &Path) -> Vec<Record<'static>> {
    let Ok(mut lines) = Lines::open(path, 0) else {
        return vec![];
    };
    let mut records = vec![];
    while let Some((offset, record)) = lines.next_record().unwrap() {
        records.push(record.unwrap_or_else(|error| panic!("{}: at {offset}: {error}", path.display())));
    }
    records
}

/// Runs a command to its end.
pub(crate) fn run(mut command: Command, stdin: Stdin<'_>) -> Done {
    let began = Instant::now();
    let mut child = start(&mut command);
    let mut stdout = child.stdout.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let mut pipe = child.stdin.take();
    std::thread::scope(|scope| {
        let stdout = scope.spawn(move || all_of(&mut stdout));
        let stderr = scope.spawn(move || all_of(&mut stderr));
        let (Stdin::Bytes(bytes) | Stdin::Open(bytes)) = stdin;
        if let Some(pipe) = &mut pipe {
            // Some commands leave before they have read everything.
            let _ = pipe.write_all(bytes);
        }
        if matches!(stdin, Stdin::Bytes(_)) {
            pipe = None;
        }
        let status = wait(&mut child);
        let took = began.elapsed();
        drop(pipe);
        Done {
            status,
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
            took,
        }
    })
}

fn all_of(pipe: &mut impl Read) -> Vec<u8> {
    let mut bytes = vec![];
    pipe.read_to_end(&mut bytes).unwrap();
    bytes
}

pub(crate) fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > until {
            let _ = child.kill();
            panic!("the hook did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Done {
    /// What every hook has to be: successful and silent.
    pub(crate) fn assert_harmless(&self, what: &str) {
        assert_eq!(self.status.code(), Some(0), "{what}: {:?}", self.status);
        assert_eq!(String::from_utf8_lossy(&self.stderr), "", "{what}: stderr");
        assert_eq!(String::from_utf8_lossy(&self.stdout), "", "{what}: stdout");
    }
}
