//! The scratch directory of one case, and running the case in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value};

use super::checks;
use crate::program::{Answer, Invocation, Snapshot, readable};

/// The repository that a case is about when it names none.
const DEFAULT_ROOT: &str = "/home/dev/project";

/// Where the installer is expected to write.
const SETTINGS: &str = "{REPO}/.claude/settings.json";

/// Commands that are about the scratch repository.
const IN_REPO: [&str; 4] = ["hook", "install-hooks", "uninstall-hooks", "are-hooks-installed"];

pub(super) struct World {
    folder: PathBuf,
    tmp: tempfile::TempDir,
    pub(super) command: Value,
    pub(super) expected: Value,
    agent: String,
    hook_names: Vec<String>,
    names: BTreeMap<String, String>,
    bin: PathBuf,
    steps: Vec<Map<String, Value>>,
    watched: Vec<String>,
    pub(super) answers: Vec<Answer>,
    pub(super) first: Option<Snapshot>,
}

impl World {
    pub(super) fn new(folder: &Path, command: Value, expected: Value, agent: &str, hook_names: &[String]) -> Self {
        let tmp = tempfile::Builder::new().prefix("case-").tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
        let mut names: BTreeMap<String, String> = ["CASE", "HOME", "REPO"]
            .into_iter()
            .map(|name| (format!("{{{name}}}"), path(&name.to_lowercase())))
            .collect();
        names.insert("{TMP}".to_owned(), root.to_str().unwrap().to_owned());
        Self {
            folder: folder.to_owned(),
            tmp,
            command,
            expected,
            agent: agent.to_owned(),
            hook_names: hook_names.to_vec(),
            names,
            bin: PathBuf::new(),
            steps: vec![],
            watched: vec![],
            answers: vec![],
            first: None,
        }
    }

    /// Prepares the directory and runs all steps.
    pub(super) fn run(&mut self) -> Result<(), String> {
        self.prepare()?;
        for step in self.steps.clone() {
            self.step(step)?;
        }
        Ok(())
    }

    /// What is not as expected.
    pub(super) fn judge(&mut self) -> Vec<String> {
        checks::judge(self)
    }

    pub(super) fn tear_down(&mut self) {
        let commands = self.command["teardown"].clone();
        for argv in self.fill(commands).as_array().into_iter().flatten() {
            let _ = self.helper(argv, self.tmp.path());
        }
    }

    pub(super) fn settings(&mut self) -> String {
        self.fill_text(SETTINGS)
    }

    pub(super) fn case_file(&self, name: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.tmp.path().join("case").join(name))
            .map_err(|error| format!("the case has no {name}: {error}"))
    }

    fn prepare(&mut self) -> Result<(), String> {
        let (case, repo) = (self.tmp.path().join("case"), self.tmp.path().join("repo"));
        copy(&self.folder, &case);
        std::fs::create_dir(self.tmp.path().join("home")).unwrap();
        empty_repository(&repo);
        if case.join("repo").is_dir() {
            copy(&case.join("repo"), &repo);
        }
        let program_dir = self.command["program_dir"].as_str().map(str::to_owned);
        self.bin = self.fill_text(program_dir.as_deref().unwrap_or("{TMP}/bin")).into();
        place(&self.bin, &self.agent, program_dir.is_some());
        if let Some(program) = self.command["gen"].as_str() {
            self.helper(&serde_json::json!(["python3", program]), &case)?;
        }
        let setup = self.command["setup"].clone();
        for argv in self.fill(setup).as_array().into_iter().flatten() {
            self.helper(argv, self.tmp.path())?;
        }
        for name in strings(&self.command["template_files"]) {
            let mut bytes = self.case_file(&name)?;
            for (word, path) in self.names.clone() {
                bytes = replaced(&bytes, word.as_bytes(), path.as_bytes());
            }
            std::fs::write(case.join(&name), bytes).unwrap();
        }
        let mut base = self.command.as_object().unwrap().clone();
        let runs = base.remove("runs").unwrap_or_else(|| serde_json::json!([{}]));
        for run in runs.as_array().unwrap() {
            let mut step = base.clone();
            step.extend(run.as_object().unwrap().clone());
            let filled = self.fill(Value::Object(step));
            self.steps.push(filled.as_object().unwrap().clone());
        }
        let expected = self.expected.clone();
        self.expected = self.fill(expected);
        self.watched = checks::watched_files(&self.expected);
        let settings = self.settings();
        self.watched.push(settings);
        Ok(())
    }

    fn step(&mut self, mut step: Map<String, Value>) -> Result<(), String> {
        let arguments = strings(step.get("args").unwrap_or(&Value::Null));
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|argument| self.with_previous(argument).map(Value::String))
            .collect::<Result<_, _>>()?;
        step.insert("args".to_owned(), arguments.into());
        let stdin = match step.get("stdin_file").and_then(Value::as_str) {
            Some(name) => self.case_file(name)?,
            None => vec![],
        };
        for path in strings(step.get("touch").unwrap_or(&Value::Null)) {
            let file = std::fs::File::options()
                .append(true)
                .open(&path)
                .map_err(|error| format!("{path}: {error}"))?;
            file.set_modified(std::time::SystemTime::now()).unwrap();
        }
        let before = self.snapshot();
        self.first.get_or_insert_with(|| before.clone());
        let count = step.get("parallel").and_then(Value::as_u64).unwrap_or(1);
        let ready = self.ready(&step);
        let mut group: Vec<Answer> = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..count).map(|_| scope.spawn(|| ready.start(&stdin))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        let after = self.snapshot();
        for answer in &mut group {
            answer.before.clone_from(&before);
            answer.after.clone_from(&after);
        }
        self.answers.extend(group);
        Ok(())
    }

    /// The environment that installed commands are run in.
    pub(super) fn first_env(&mut self) -> Vec<(String, String)> {
        let step = self.steps.first().cloned().unwrap_or_default();
        self.env(&step)
    }

    pub(super) fn home(&self) -> String {
        self.names["{HOME}"].clone()
    }

    pub(super) fn repo(&self) -> PathBuf {
        self.names["{REPO}"].clone().into()
    }

    fn env(&mut self, step: &Map<String, Value>) -> Vec<(String, String)> {
        let path = format!("{}:{}", self.bin.display(), std::env::var("PATH").unwrap_or_default());
        let mut env = vec![
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), self.home()),
            ("TMPDIR".to_owned(), self.fill_text("{TMP}")),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("ENTIRE_PROTOCOL_VERSION".to_owned(), "1".to_owned()),
        ];
        if step.get("no_repo") != Some(&Value::Bool(true)) {
            env.push(("ENTIRE_REPO_ROOT".to_owned(), self.root(step)));
        }
        for (key, value) in step.get("env").and_then(Value::as_object).into_iter().flatten() {
            env.push((key.clone(), value.as_str().unwrap_or_default().to_owned()));
        }
        env
    }

    fn root(&mut self, step: &Map<String, Value>) -> String {
        let command = step.get("command").and_then(Value::as_str).unwrap_or_default();
        let named = step.get("repo_root").and_then(Value::as_str).map(str::to_owned);
        let usual = if IN_REPO.contains(&command) {
            "{REPO}"
        } else {
            DEFAULT_ROOT
        };
        self.fill_text(named.as_deref().unwrap_or(usual))
    }

    fn ready(&mut self, step: &Map<String, Value>) -> Ready {
        let command = step
            .get("command")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let mut arguments = strings(step.get("args").unwrap_or(&Value::Null));
        let is_hook = command == "hook";
        let hook_at = if is_hook {
            if let Some(first) = arguments.first_mut() {
                first.clone_from(&self.agent);
            }
            Some(1)
        } else {
            arguments
                .iter()
                .position(|argument| argument == "--hook")
                .map(|at| at + 1)
        };
        let native = step.get("native_event").and_then(Value::as_str);
        if let Some(name) = hook_at.and_then(|at| arguments.get_mut(at)) {
            *name = hook_name(name, native, &self.hook_names);
        }
        let file = if is_hook {
            "hookhost".to_owned()
        } else {
            format!("entire-agent-{}", self.agent)
        };
        arguments.insert(0, command);
        Ready {
            program: self.bin.join(file),
            arguments,
            env: self.env(step),
            cwd: step
                .get("cwd")
                .and_then(Value::as_str)
                .map_or_else(|| self.repo(), PathBuf::from),
            holds_open: step.get("stdin_mode").and_then(Value::as_str) == Some("hold_open"),
            root: self.root(step),
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.watched
            .iter()
            .map(|path| (path.clone(), std::fs::read(path).ok()))
            .collect()
    }

    /// `{PREV.x}` is field x of the previous answer.
    fn with_previous(&self, argument: &str) -> Result<String, String> {
        let Some((head, (name, tail))) = argument
            .split_once("{PREV.")
            .and_then(|(head, rest)| Some((head, rest.split_once('}')?)))
        else {
            return Ok(argument.to_owned());
        };
        let value = match self.answers.last().map(|answer| answer.field(name)) {
            Some(Value::String(text)) => text,
            Some(value) if !value.is_null() => value.to_string(),
            _ => return Err(format!("the previous answer has no {name}")),
        };
        Ok(format!("{head}{value}{tail}"))
    }

    /// Replaces the names of places.
    fn fill(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill_text(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.fill(value)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                Value::Object(
                    fields
                        .map(|(key, value)| (self.fill_text(&key), self.fill(value)))
                        .collect(),
                )
            }
            other => other,
        }
    }

    fn fill_text(&mut self, text: &str) -> String {
        const SESSION_DIR: &str = "{SESSION_DIR}";
        if text.contains(SESSION_DIR) && !self.names.contains_key(SESSION_DIR) {
            let repo = self.names["{REPO}"].clone();
            let step = serde_json::json!({
                "command": "get-session-dir", "args": ["--repo-path", repo], "repo_root": repo,
            });
            let answer = self.ready(step.as_object().unwrap()).start(b"");
            let dir = answer.field("session_dir");
            let dir = dir
                .as_str()
                .unwrap_or_else(|| panic!("no session_dir: {}", answer.log()));
            self.names.insert(SESSION_DIR.to_owned(), dir.to_owned());
        }
        self.names
            .iter()
            .fold(text.to_owned(), |text, (name, path)| text.replace(name, path))
    }

    fn helper(&self, argv: &Value, cwd: &Path) -> Result<(), String> {
        let argv = strings(argv);
        let done = Command::new(&argv[0]).args(&argv[1..]).current_dir(cwd).output();
        match done {
            Ok(done) if done.status.success() => Ok(()),
            Ok(done) => Err(format!("{argv:?}: {} {}", done.status, readable(&done.stderr))),
            Err(error) => Err(format!("{argv:?}: {error}")),
        }
    }
}

/// A command line with all that belongs to it.
struct Ready {
    program: PathBuf,
    arguments: Vec<String>,
    env: Vec<(String, String)>,
    cwd: PathBuf,
    holds_open: bool,
    root: String,
}

impl Ready {
    fn start(&self, stdin: &[u8]) -> Answer {
        let mut answer = Answer::of(&Invocation {
            program: self.program.as_os_str(),
            arguments: &self.arguments,
            stdin,
            env: &self.env,
            cwd: &self.cwd,
            holds_open: self.holds_open,
        });
        answer.root.clone_from(&self.root);
        answer
    }
}

/// The answer to `info` under a name.
pub(super) fn ask_info(agent: &str) -> Answer {
    let tmp = tempfile::tempdir().unwrap();
    place(tmp.path(), agent, false);
    let home = tmp.path().to_str().unwrap().to_owned();
    let env = [("HOME", home.clone()), ("ENTIRE_REPO_ROOT", home)];
    Answer::of(&Invocation {
        program: tmp.path().join(format!("entire-agent-{agent}")).as_os_str(),
        arguments: &["info".to_owned()],
        stdin: b"",
        env: &env.map(|(key, value)| (key.to_owned(), value)),
        cwd: tmp.path(),
        holds_open: false,
    })
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub(super) fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// The texts of a list.
pub(super) fn strings(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// Puts the program into a directory, under its own name and as a plugin.
fn place(folder: &Path, agent: &str, is_copy: bool) {
    use std::os::unix::fs::symlink;
    let program = Path::new(env!("CARGO_BIN_EXE_hookhost"));
    std::fs::create_dir_all(folder).unwrap();
    if is_copy {
        std::fs::copy(program, folder.join("hookhost")).unwrap();
    } else {
        symlink(program, folder.join("hookhost")).unwrap();
    }
    symlink("hookhost", folder.join(format!("entire-agent-{agent}"))).unwrap();
}

/// What git makes of an empty folder, as far as anybody looks.
fn empty_repository(folder: &Path) {
    std::fs::create_dir_all(folder.join(".git/objects")).unwrap();
    std::fs::create_dir_all(folder.join(".git/refs")).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (kind, target) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path()).unwrap(), target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut filled = vec![];
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        filled.extend_from_slice(&rest[..at]);
        filled.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    filled.extend_from_slice(rest);
    filled
}

/// The adapter's spelling of a hook that the case writes in kebab-case.
fn hook_name(name: &str, native: Option<&str>, known: &[String]) -> String {
    let squeezed = |text: &str| -> String {
        text.to_lowercase()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect()
    };
    let spellings = [Some(name), native];
    let spellings = || spellings.into_iter().flatten();
    let exact = spellings()
        .find(|spelling| known.iter().any(|hook| hook == spelling))
        .map(str::to_owned);
    let close =
        || spellings().find_map(|spelling| known.iter().find(|hook| squeezed(hook) == squeezed(spelling)).cloned());
    exact.or_else(close).unwrap_or_else(|| name.to_owned())
}
