//! What an answer, and the world at the end, has to be like.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::json::{lacks, shown};
use super::settings::{self, FileChecks};
use super::world::{World, strings};
use crate::program::{Answer, Invocation, readable};

/// Checks of one answer.
const ANSWER_CHECKS: [&str; 25] = [
    "one_of",
    "exit",
    "exit_not",
    "error",
    "max_ms",
    "max_stdout_bytes",
    "event",
    "absent",
    "nonempty",
    "timestamp_if_present",
    "prompt_sha256",
    "prompt_chars",
    "result",
    "min",
    "max",
    "file_size_is",
    "path_inside",
    "arrays_present",
    "files_required",
    "files_count",
    "files_one_of",
    "files_resolve_to",
    "stderr_nonempty",
    "stderr_contains",
    "stdout_empty_or_json_object_without",
];

/// Checks that compare with what was before, or look at the end.
const WORLD_CHECKS: [&str; 5] = [
    "bytes_unchanged",
    "unchanged_since_previous_run",
    "files_after",
    "dir_after",
    "run_installed_commands",
];

/// What changes another check of the same block.
const MODIFIERS: [&str; 5] = [
    "empty_stdout_ok",
    "trim",
    "unordered",
    "files_allowed",
    "or_time_of_run",
];
const FILE_MODIFIERS: [&str; 2] = ["ignore_empty", "parse_as"];
const STRUCTURE: [&str; 6] = [
    "confidence",
    "must_not",
    "medium",
    "each_run",
    "runs",
    "runs_equal_except",
];
const INSTALLED: [&str; 4] = ["shell", "path", "clear_env", "stdin"];
const RUN_FIELDS: [&str; 11] = [
    "command",
    "args",
    "stdin_file",
    "stdin_mode",
    "native_event",
    "env",
    "cwd",
    "no_repo",
    "repo_root",
    "touch",
    "parallel",
];
const COMMAND_FIELDS: [&str; 8] = [
    "agent",
    "gen",
    "setup",
    "teardown",
    "template_files",
    "runs",
    "program_dir",
    "skip_if_root",
];

type Block = Map<String, Value>;

/// Whatever in the case would be ignored; each is a reason to fail.
pub(super) fn unknown_names(command: &Value, expected: &Value) -> Vec<String> {
    let mut unknown = vec![];
    let mut look = |block: &Value, known: &[&[&str]], at: &str| {
        for name in block.as_object().into_iter().flat_map(Map::keys) {
            if !known.iter().any(|names| names.contains(&name.as_str())) {
                unknown.push(format!("unknown field {name} in {at}"));
            }
        }
    };
    look(command, &[&COMMAND_FIELDS, &RUN_FIELDS], "cmd.json");
    for run in command["runs"].as_array().into_iter().flatten() {
        look(run, &[&RUN_FIELDS], "a run of cmd.json");
    }
    for block in nested(expected) {
        look(
            block,
            &[&ANSWER_CHECKS, &WORLD_CHECKS, &MODIFIERS, &STRUCTURE],
            "expected.json",
        );
        for file in block["files_after"].as_object().into_iter().flat_map(Map::values) {
            look(file, &[&settings::NAMES, &FILE_MODIFIERS], "files_after");
        }
        look(
            &block["run_installed_commands"],
            &[&INSTALLED, &ANSWER_CHECKS],
            "run_installed_commands",
        );
    }
    unknown
}

/// All blocks of checks.
fn nested(block: &Value) -> Vec<&Value> {
    let mut blocks = vec![block];
    for key in ["medium", "each_run", "runs", "one_of"] {
        match &block[key] {
            Value::Array(inner) => blocks.extend(inner.iter().flat_map(nested)),
            inner @ Value::Object(_) => blocks.extend(nested(inner)),
            _ => {}
        }
    }
    blocks
}

/// The files that some check compares with what they were.
pub(super) fn watched_files(expected: &Value) -> Vec<String> {
    nested(expected)
        .into_iter()
        .flat_map(|block| {
            let listed = ["bytes_unchanged", "unchanged_since_previous_run"].map(|key| strings(&block[key]));
            let after = block["files_after"]
                .as_object()
                .into_iter()
                .flat_map(Map::keys)
                .cloned();
            listed.concat().into_iter().chain(after).collect::<Vec<_>>()
        })
        .collect()
}

/// All that is not as expected.
pub(super) fn judge(world: &mut World) -> Vec<String> {
    let (expected, answers) = (world.expected.clone(), world.answers.clone());
    let mut failures: Vec<String> = answers.iter().flat_map(Answer::crash).collect();
    failures.extend(
        answers
            .iter()
            .filter(|answer| answer.is_hung)
            .map(|answer| format!("no end: {}", answer.log())),
    );
    if !failures.is_empty() {
        return failures;
    }
    let runs = expected["runs"].as_array().cloned().unwrap_or_default();
    if !runs.is_empty() && runs.len() != answers.len() {
        return vec![format!("{} runs are expected, {} were made", runs.len(), answers.len())];
    }
    let top = expected.as_object().unwrap().iter();
    let top: Block = top
        .filter(|(name, _)| !STRUCTURE.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    failures.extend(Checks::new(world, &answers, &top).evaluate());
    for (at, answer) in answers.iter().enumerate() {
        for block in [Some(&expected["each_run"]), runs.get(at)].into_iter().flatten() {
            let Some(block) = block.as_object() else { continue };
            let found = Checks::new(world, std::slice::from_ref(answer), block).evaluate();
            failures.extend(found.into_iter().map(|failure| format!("run {}: {failure}", at + 1)));
        }
    }
    if let Some(block) = expected["medium"].as_object() {
        failures.extend(Checks::new(world, &answers, block).evaluate());
    }
    if let Some(but) = expected.get("runs_equal_except") {
        let but = strings(but);
        let mut seen: Vec<Value> = answers
            .iter()
            .map(|answer| {
                let mut object = answer.object().unwrap_or_default();
                object.retain(|key, _| !but.contains(key));
                Value::Object(object)
            })
            .collect();
        seen.dedup();
        if seen.len() > 1 {
            failures.push(format!("the answers differ: {seen:?}"));
        }
    }
    for sentence in strings(&expected["must_not"]) {
        if answers.iter().any(|answer| is_forbidden(&sentence, answer)) {
            failures.push(format!("must not {sentence}"));
        }
    }
    if !failures.is_empty() {
        failures.extend(answers.iter().map(Answer::log));
    }
    failures
}

/// One block of checks on some answers.
struct Checks<'a> {
    world: &'a mut World,
    answers: &'a [Answer],
    block: &'a Block,
}

type Outcome = Result<Vec<String>, String>;

impl<'a> Checks<'a> {
    fn new(world: &'a mut World, answers: &'a [Answer], block: &'a Block) -> Self {
        Self { world, answers, block }
    }

    fn evaluate(&mut self) -> Vec<String> {
        let mut failures = vec![];
        for (name, value) in self.block {
            let is_check = ANSWER_CHECKS.contains(&name.as_str()) || WORLD_CHECKS.contains(&name.as_str());
            if is_check {
                let found = self.check(name, value).unwrap_or_else(|error| vec![error]);
                failures.extend(found.into_iter().map(|failure| format!("{name}: {failure}")));
            }
        }
        failures
    }

    fn check(&mut self, name: &str, value: &Value) -> Outcome {
        match name {
            "one_of" => return self.one_of(value),
            "files_after" => return Ok(self.files_after(value)),
            "dir_after" => return Ok(dir_after(value)),
            "bytes_unchanged" => return self.unchanged(value),
            "unchanged_since_previous_run" => {
                let is_first = self.answers.first().map(|answer| &answer.before) == self.world.first.as_ref();
                return if is_first {
                    Err("there is no previous run".to_owned())
                } else {
                    self.unchanged(value)
                };
            }
            "run_installed_commands" => return self.installed_commands(value),
            _ => {}
        }
        let [answer] = self.answers else {
            return Err("is about one answer, but the case has several: use each_run or runs".to_owned());
        };
        let unless = |good: bool, came: String| {
            if good {
                vec![]
            } else {
                vec![format!("expected {value}, came {came}")]
            }
        };
        let out = || readable(&answer.out);
        Ok(match name {
            "exit" => unless(
                answer.code.map(Value::from) == Some(value.clone()),
                format!("{:?}", answer.code),
            ),
            "exit_not" => {
                let codes = value.as_array().unwrap();
                unless(!codes.contains(&json!(answer.code)), format!("{:?}", answer.code))
            }
            "error" => {
                let is_silent = matches!(answer.out.trim_ascii(), b"" | b"null");
                unless(
                    answer.code != Some(0) && is_silent,
                    format!("exit {:?} and {}", answer.code, out()),
                )
            }
            "max_ms" => {
                let took = u64::try_from(answer.took.as_millis()).unwrap();
                unless(took <= value.as_u64().unwrap(), took.to_string())
            }
            "max_stdout_bytes" => unless(
                answer.out.len() as u64 <= value.as_u64().unwrap(),
                answer.out.len().to_string(),
            ),
            "event" => self.event(answer, value)?,
            "result" => self.result(answer, value)?,
            "absent" => each(value, answer, |came, _| came.is_null() || came == "")?,
            "nonempty" => each(value, answer, |came, _| {
                came.as_str().is_some_and(|text| !text.trim().is_empty())
            })?,
            "arrays_present" => each(value, answer, |came, _| came.is_array())?,
            "min" => each(value, answer, |came, bound| {
                came.as_f64() >= bound.as_f64() && came.is_number()
            })?,
            "max" => each(value, answer, |came, bound| {
                came.as_f64() <= bound.as_f64() && came.is_number()
            })?,
            "file_size_is" => each(value, answer, |came, path| {
                let size = std::fs::metadata(path.as_str().unwrap()).map(|metadata| metadata.len());
                came.as_u64() == size.ok()
            })?,
            "path_inside" => {
                let folder = resolved(value["dir"].as_str().unwrap());
                let path = answer.object()?[value["field"].as_str().unwrap()].clone();
                let is_inside = path.as_str().is_some_and(|path| {
                    let path = resolved(path);
                    path != folder && path.starts_with(&folder)
                });
                unless(is_inside, path.to_string())
            }
            "timestamp_if_present" => timestamp(answer, value)?,
            "prompt_sha256" => {
                let prompt = answer.object()?.get("prompt").cloned().unwrap_or_default();
                let digest = Sha256::digest(prompt.as_str().unwrap_or_default());
                let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                unless(*value == digest, digest)
            }
            "prompt_chars" => {
                let prompt = answer.object()?.get("prompt").cloned().unwrap_or_default();
                let count = prompt.as_str().map(|text| text.chars().count());
                unless(*value == json!(count), format!("{count:?}"))
            }
            "files_required" => {
                let (files, required) = (files(answer)?, strings(value));
                let allowed = strings(self.block.get("files_allowed").unwrap_or(&Value::Null));
                let is_full = required.iter().all(|file| files.contains(file));
                let may_be = files
                    .iter()
                    .all(|file| required.contains(file) || allowed.contains(file));
                unless(is_full && may_be, format!("{files:?}, allowed {allowed:?}"))
            }
            "files_count" => unless(*value == json!(files(answer)?.len()), out()),
            "files_one_of" => {
                let accepted: Vec<String> = strings(value).iter().map(|path| answer.cut(path)).collect();
                unless(files(answer)?.iter().all(|file| accepted.contains(file)), out())
            }
            "files_resolve_to" => {
                let sorted = |mut paths: Vec<_>| {
                    paths.sort();
                    paths.dedup();
                    paths
                };
                let root = Path::new(&answer.root);
                let led = files(answer)?
                    .iter()
                    .map(|file| resolved(root.join(file).to_str().unwrap()))
                    .collect();
                let want = strings(value).iter().map(|path| resolved(path)).collect();
                unless(sorted(led) == sorted(want), out())
            }
            "stderr_nonempty" => unless(!answer.err.trim_ascii().is_empty(), "nothing".to_owned()),
            "stderr_contains" => {
                let text = String::from_utf8_lossy(&answer.err);
                unless(
                    strings(value).iter().all(|part| text.contains(part)),
                    readable(&answer.err),
                )
            }
            "stdout_empty_or_json_object_without" => {
                let object = if answer.out.trim_ascii().is_empty() {
                    Map::new()
                } else {
                    answer.object()?
                };
                unless(strings(value).iter().all(|key| !object.contains_key(key)), out())
            }
            _ => vec![format!("unknown check {name}")],
        })
    }

    fn one_of(&mut self, options: &Value) -> Outcome {
        let mut all = vec![];
        for option in options.as_array().unwrap() {
            let mut block: Block = self.block.clone();
            block.retain(|name, _| MODIFIERS.contains(&name.as_str()));
            block.extend(option.as_object().unwrap().clone());
            let failures = Checks::new(self.world, self.answers, &block).evaluate();
            if failures.is_empty() {
                return Ok(vec![]);
            }
            all.push(failures.join("; "));
        }
        Ok(vec![format!("none of {} outcomes: {}", all.len(), all.join(" | "))])
    }

    fn event(&self, answer: &Answer, want: &Value) -> Outcome {
        let may_be_empty = self.block.get("empty_stdout_ok") == Some(&Value::Bool(true));
        match want.as_object() {
            None if may_be_empty && answer.out.trim_ascii().is_empty() => Ok(vec![]),
            None if answer.value()?.is_null() => Ok(vec![]),
            None => Ok(vec![format!("expected null, came {}", readable(&answer.out))]),
            Some(_) => self.result(answer, want),
        }
    }

    fn result(&self, answer: &Answer, want: &Value) -> Outcome {
        let object = answer.object()?;
        let fields = want.as_object().unwrap().iter();
        Ok(fields
            .flat_map(|(field, want)| {
                let came = object.get(field).cloned().unwrap_or_default();
                lacks(&self.adapted(field, want), &self.adapted(field, &came), field, true)
            })
            .collect())
    }

    /// The value of a field as the block wants it compared.
    fn adapted(&self, field: &str, value: &Value) -> Value {
        let names = |key: &str| strings(self.block.get(key).unwrap_or(&Value::Null));
        let mut value = value.clone();
        if names("trim").iter().any(|name| name == field) {
            let trim = |text: &mut Value| {
                if let Value::String(text) = text {
                    *text = text.trim().to_owned();
                }
            };
            match &mut value {
                Value::Array(texts) => texts.iter_mut().for_each(trim),
                text => trim(text),
            }
        }
        if let (true, Value::Array(list)) = (names("unordered").iter().any(|name| name == field), &mut value) {
            list.sort_by_key(Value::to_string);
        }
        value
    }

    fn ends(&self) -> Result<(&'a Answer, &'a Answer), String> {
        self.answers
            .first()
            .zip(self.answers.last())
            .ok_or_else(|| "nothing was run".to_owned())
    }

    fn unchanged(&self, paths: &Value) -> Outcome {
        let (first, last) = self.ends()?;
        let mut failures = vec![];
        for path in strings(paths) {
            match (&first.before[&path], &last.after[&path]) {
                (None, _) => failures.push(format!("{path} was not there before")),
                (old, new) if old != new => {
                    failures.push(format!("{path} is now {:?}", new.as_deref().map(readable)));
                }
                _ => {}
            }
        }
        Ok(failures)
    }

    fn files_after(&self, files: &Value) -> Vec<String> {
        let Ok((first, last)) = self.ends() else { return vec![] };
        let files = files.as_object().unwrap().iter();
        files
            .flat_map(|(path, block)| {
                FileChecks {
                    path,
                    before: first.before[path].as_ref(),
                    after: last.after[path].as_ref(),
                    block: block.as_object().unwrap(),
                }
                .evaluate()
            })
            .collect()
    }

    /// Runs every command that the installer wrote.
    fn installed_commands(&mut self, value: &Value) -> Outcome {
        let (first, last) = self.ends()?;
        let settings = self.world.settings();
        let block = json!({ "parse_as": "jsonc" });
        let own = FileChecks {
            path: &settings,
            before: first.before[&settings].as_ref(),
            after: last.after[&settings].as_ref(),
            block: block.as_object().unwrap(),
        }
        .own()?;
        let commands: Vec<_> = own
            .iter()
            .filter(|(_, _, handler)| handler["command"].is_string())
            .collect();
        if commands.is_empty() {
            return Ok(vec!["there is no command of our own in the settings".to_owned()]);
        }
        let stdin = match value["stdin"].as_str() {
            Some(name) => self.world.case_file(name)?,
            None => vec![],
        };
        let mut env = if value["clear_env"] == true {
            vec![]
        } else {
            self.world.first_env()
        };
        env.retain(|(key, _)| key != "PATH" && key != "HOME");
        env.push(("PATH".to_owned(), value["path"].as_str().unwrap().to_owned()));
        env.push(("HOME".to_owned(), self.world.home()));
        let mut failures = vec![];
        for (event, _, handler) in commands {
            let command = handler["command"].as_str().unwrap().to_owned();
            let mut argv = match strings(&handler["args"]) {
                args if args.is_empty() => [strings(&value["shell"]), vec![command]].concat(),
                args => [vec![command], args].concat(),
            };
            let program = argv.remove(0);
            let answer = Answer::of(&Invocation {
                program: program.as_ref(),
                arguments: &argv,
                stdin: &stdin,
                env: &env,
                cwd: &self.world.repo(),
                holds_open: false,
            });
            failures.extend(answer.crash());
            let block = value.as_object().unwrap();
            let answers = [answer];
            let found = Checks::new(self.world, &answers, block).evaluate();
            failures.extend(
                found
                    .into_iter()
                    .map(|failure| format!("{event}: {failure}: {}", answers[0].log())),
            );
        }
        Ok(failures)
    }
}

/// Each of the fields, a list of names or an object with a bound for each.
fn each(fields: &Value, answer: &Answer, good: impl Fn(&Value, &Value) -> bool) -> Outcome {
    let object = answer.object()?;
    let fields: Vec<(String, Value)> = match fields {
        Value::Object(bounds) => bounds
            .iter()
            .map(|(field, bound)| (field.clone(), bound.clone()))
            .collect(),
        names => strings(names).into_iter().map(|field| (field, Value::Null)).collect(),
    };
    let came = |field: &str| object.get(field).cloned().unwrap_or_default();
    let bad = fields.iter().filter(|(field, bound)| !good(&came(field), bound));
    Ok(bad
        .map(|(field, bound)| format!("{field} (bound {bound}), came {}", shown(&came(field))))
        .collect())
}

fn files(answer: &Answer) -> Result<Vec<String>, String> {
    match answer.object()?.get("files") {
        Some(list @ Value::Array(_)) => Ok(strings(list)),
        other => Err(format!("expected a list in files, came {other:?}")),
    }
}

fn timestamp(answer: &Answer, want: &Value) -> Outcome {
    let Some(text) = answer
        .field("timestamp")
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
    else {
        return Ok(vec![]);
    };
    let instant = |text: &str| {
        text.parse::<jiff::Timestamp>()
            .map_err(|error| format!("{text}: {error}"))
    };
    let (came, right) = (instant(&text)?, instant(want["instant"].as_str().unwrap())?);
    let off = came.duration_since(right).unsigned_abs();
    let tolerance = Duration::from_millis(want["tolerance_ms"].as_u64().unwrap_or_default());
    let may_be_now = want["or_time_of_run"] == true;
    let is_now = answer.started.zip(answer.ended).is_some_and(|(started, ended)| {
        let at = |time: SystemTime| jiff::Timestamp::try_from(time).unwrap();
        let slack = Duration::from_secs(2);
        at(started - slack) <= came && came <= at(ended + slack)
    });
    let is_good = off <= tolerance || (may_be_now && is_now);
    Ok(if is_good {
        vec![]
    } else {
        vec![format!("expected {right}, came {text}")]
    })
}

fn dir_after(folders: &Value) -> Vec<String> {
    let mut failures = vec![];
    for (path, names) in folders.as_object().unwrap() {
        let mut want = strings(names);
        want.sort();
        let mut came: Vec<String> = std::fs::read_dir(path)
            .map(|entries| {
                entries
                    .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                    .collect()
            })
            .unwrap_or_default();
        came.sort();
        if came != want {
            failures.push(format!("{path}: expected {want:?}, came {came:?}"));
        }
    }
    failures
}

/// The path with its links resolved, as far as it exists.
fn resolved(path: &str) -> std::path::PathBuf {
    let path = Path::new(path);
    path.ancestors()
        .find_map(|existing| Some(existing.canonicalize().ok()?.join(path.strip_prefix(existing).ok()?)))
        .unwrap_or_else(|| path.to_owned())
}

/// `must_not` is for people; the sentences that have one of these forms are checked too.
fn is_forbidden(sentence: &str, answer: &Answer) -> bool {
    let field = |name: &str| answer.field(name);
    let has_event = !field("type").is_null();
    let out = String::from_utf8_lossy(&answer.out);
    let word = |prefix: &str| {
        sentence
            .strip_prefix(prefix)
            .map(|rest| rest.split(' ').next().unwrap_or_default())
    };
    if let Some(code) = word("end with exit status ") {
        return answer.code.map(|code| code.to_string()).as_deref() == Some(code);
    }
    if let Some(kind) = word("print type ") {
        return kind.parse::<u64>().is_ok_and(|kind| field("type") == kind);
    }
    if let Some(id) = word("print session_id ") {
        return field("session_id") == id.trim_matches('"');
    }
    if let Some(id) = word("print an event that names session ") {
        return out.contains(id);
    }
    if let Some((name, values)) = sentence
        .strip_prefix("give ")
        .and_then(|rest| rest.split_once(" as \""))
    {
        return values.split('"').step_by(2).any(|value| field(name) == value);
    }
    if let Some(tags) = sentence.strip_prefix("return text with ") {
        return tags
            .split(' ')
            .filter(|tag| tag.starts_with('<'))
            .any(|tag| out.contains(tag.trim_end_matches(',')));
    }
    if let Some((one, other)) = sentence.strip_prefix("list ").and_then(|rest| rest.split_once(" or ")) {
        return strings(&field("files")).iter().any(|file| file == one || file == other);
    }
    match sentence {
        "answer null with exit 0" => answer.code == Some(0) && answer.out.trim_ascii() == b"null",
        "print an event" => has_event,
        _ if sentence.starts_with("print an event with an empty") && sentence.ends_with("session_id") => {
            has_event && field("session_id").as_str().unwrap_or_default().is_empty()
        }
        _ => false,
    }
}
