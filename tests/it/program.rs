//! Running the built program.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Map, Value};

/// How long a run may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The ends that a shell tells of a program that was killed, and that of a panic.
const CRASHES: [i32; 7] = [101, 132, 134, 135, 136, 137, 139];

/// Contents of files; `None` for one that does not exist.
pub(crate) type Snapshot = BTreeMap<String, Option<Vec<u8>>>;

/// What a run of the program gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) label: String,
    /// `None`: ended by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    pub(crate) took: Duration,
    pub(crate) is_hung: bool,
    pub(crate) started: Option<SystemTime>,
    pub(crate) ended: Option<SystemTime>,
    /// The repository that it was told, without a separator at its end.
    pub(crate) root: String,
    /// The files that are watched, as they were before the run.
    pub(crate) before: Snapshot,
    /// The same after the run.
    pub(crate) after: Snapshot,
}

/// What a run needs to know.
pub(crate) struct Invocation<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) arguments: &'a [String],
    pub(crate) stdin: &'a [u8],
    pub(crate) env: &'a [(String, String)],
    pub(crate) cwd: &'a Path,
    pub(crate) holds_open: bool,
}

impl Answer {
    pub(crate) fn of(invocation: &Invocation<'_>) -> Self {
        let mut command = Command::new(invocation.program);
        command
            .args(invocation.arguments)
            .env_clear()
            .envs(invocation.env.iter().map(|(key, value)| (key, value)))
            .current_dir(invocation.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let label = format!(
            "{} {}",
            invocation.program.to_string_lossy(),
            invocation.arguments.join(" ")
        );
        let (begin, started) = (Instant::now(), Some(SystemTime::now()));
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {label}: {error}"));
        let mut stdin = child.stdin.take();
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let bytes = invocation.stdin.to_vec();
        let holds_open = invocation.holds_open;
        let feed = std::thread::spawn(move || {
            // A program that does not read all is none of our business.
            let _ = stdin.as_mut().map(|stdin| stdin.write_all(&bytes));
            holds_open.then_some(stdin)
        });
        let collect = |source: &mut dyn Read| {
            let mut bytes = vec![];
            let _ = source.read_to_end(&mut bytes);
            bytes
        };
        let out = std::thread::spawn(move || collect(&mut out));
        let err = std::thread::spawn(move || collect(&mut err));
        let mut is_hung = false;
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > TIMEOUT {
                is_hung = true;
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = begin.elapsed();
        drop(feed.join());
        Self {
            label,
            code: status.code(),
            out: out.join().unwrap(),
            err: err.join().unwrap(),
            took,
            is_hung,
            started,
            ended: Some(SystemTime::now()),
            ..Self::default()
        }
    }

    /// The answer as one JSON value.
    pub(crate) fn value(&self) -> Result<Value, String> {
        serde_json::from_slice(&self.out).map_err(|error| {
            format!(
                "expected one JSON value on stdout ({error}), came {}",
                readable(&self.out)
            )
        })
    }

    /// The answer as a JSON object; paths in `files` are cut to what stands behind the root.
    pub(crate) fn object(&self) -> Result<Map<String, Value>, String> {
        match self.value()? {
            Value::Object(mut object) => {
                for file in object
                    .get_mut("files")
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                {
                    if let Value::String(path) = file {
                        *path = self.cut(path);
                    }
                }
                Ok(object)
            }
            other => Err(format!("expected an object on stdout, came {other}")),
        }
    }

    /// A field of the answer; null when there is none.
    pub(crate) fn field(&self, name: &str) -> Value {
        self.object()
            .ok()
            .and_then(|mut object| object.remove(name))
            .unwrap_or_default()
    }

    pub(crate) fn cut(&self, path: &str) -> String {
        let root = self.root.trim_end_matches(['/', '\\']);
        let below = path.strip_prefix(root).and_then(|rest| rest.strip_prefix(['/', '\\']));
        below.unwrap_or(path).to_owned()
    }

    /// What counts as a failure in any case.
    pub(crate) fn crash(&self) -> Vec<String> {
        let mut failures = vec![];
        if self.is_crash() {
            failures.push(format!("crash: {}", self.log()));
        }
        for (name, bytes) in [("stdout", &self.out), ("stderr", &self.err)] {
            if std::str::from_utf8(bytes).is_err() {
                failures.push(format!("{name} is not UTF-8: {}", readable(bytes)));
            }
        }
        failures
    }

    fn is_crash(&self) -> bool {
        let is_killed = self.code.is_none_or(|code| CRASHES.contains(&code)) && !self.is_hung;
        is_killed || readable(&self.err).contains("panicked at")
    }

    pub(crate) fn log(&self) -> String {
        format!(
            "$ {} | exit {:?}, {} ms | stdout: {} | stderr: {}",
            self.label,
            self.code,
            self.took.as_millis(),
            readable(&self.out),
            readable(&self.err)
        )
    }
}

/// Bytes for a person, at most some hundred of them.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(600) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], bytes.len()),
        None => text.trim().to_owned(),
    }
}

/// A scratch home, a scratch repository below it, and the program under any name.
pub(crate) struct Place {
    dir: tempfile::TempDir,
    root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("repo/.git")).unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::fs::create_dir_all(root.join("tmp")).unwrap();
        Self { dir, root }
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root.join("repo")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file and gives back its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.dir.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The environment of a call: this home, this repository, this program, and a folder for temporary files, since what
    /// could not be recorded is noted there and told by other commands.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        [
            ("HOME", text(self.root.join("home"))),
            ("TMPDIR", text(self.root.join("tmp"))),
            (
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", text(self.root.join("bin"))),
            ),
            ("ENTIRE_REPO_ROOT", text(self.repo())),
            ("ENTIRE_PROTOCOL_VERSION", "1".to_owned()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .to_vec()
    }

    /// Runs `entire-agent-<agent>`.
    pub(crate) fn plugin(&self, agent: &str, arguments: &[&str], stdin: &[u8]) -> Answer {
        let link = self.root.join("bin").join(format!("entire-agent-{agent}"));
        if !link.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hookhost"), &link).unwrap();
        }
        self.run(link.as_os_str(), arguments, stdin, &[])
    }

    /// Runs `hookhost` with further variables.
    pub(crate) fn hookhost(&self, arguments: &[&str], stdin: &[u8], env: &[(&str, &str)]) -> Answer {
        self.run(OsStr::new(env!("CARGO_BIN_EXE_hookhost")), arguments, stdin, env)
    }

    fn run(&self, program: &OsStr, arguments: &[&str], stdin: &[u8], env: &[(&str, &str)]) -> Answer {
        let mut all = self.env();
        all.extend(env.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())));
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let answer = Answer::of(&Invocation {
            program,
            arguments: &arguments,
            stdin,
            env: &all,
            cwd: &self.repo(),
            holds_open: false,
        });
        assert!(!answer.is_crash() && !answer.is_hung, "{}", answer.log());
        answer
    }
}
