//! Measures hookhost against native programs, in one interleaved run.
//!
//! `measure hooks HOOKHOST [--rounds N] [--also NAME COMMAND]...` spawns `hookhost parse-hook` and its floor with a
//! payload of 1 KiB in random order, and prints the medians of spawn to exit and their ratios, which were taken round by
//! round. `measure transcript HOOKHOST` does the same with a transcript of 100 MB.
//!
//! Compare only numbers of one run: on a virtual machine they change with whatever else is going on.
#![allow(clippy::print_stdout, reason = "a program for developers, which answers on stdout")]

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: measure hooks|transcript HOOKHOST [--rounds N] [--also NAME 'COMMAND']...";

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let what = arguments.next().ok_or(USAGE)?;
    let hookhost = PathBuf::from(arguments.next().ok_or(USAGE)?).canonicalize()?;
    let (mut rounds, mut also) = (None, Vec::new());
    while let Some(option) = arguments.next() {
        let mut word = || arguments.next().and_then(|word| word.into_string().ok()).ok_or(USAGE);
        match option.to_str() {
            Some("--rounds") => rounds = Some(word()?.parse()?),
            Some("--also") => {
                let (name, command) = (word()?, word()?);
                also.push(Measured::new(&name, command.split_whitespace().map(OsString::from)));
            }
            _ => return Err(USAGE.into()),
        }
    }
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("input");
    match what.to_str() {
        Some("hooks") => {
            std::fs::write(&input, payload())?;
            let mut commands = vec![
                Measured::new("floor", [beside("floor")?.into_os_string()]),
                Measured::new(
                    "hookhost parse-hook",
                    [
                        hookhost.clone().into_os_string(),
                        "--agent".into(),
                        "claude-code".into(),
                        "parse-hook".into(),
                        "--hook".into(),
                        "UserPromptSubmit".into(),
                    ],
                ),
                Measured::new(
                    "hookhost hook",
                    [
                        hookhost.into_os_string(),
                        "hook".into(),
                        "claude-code".into(),
                        "UserPromptSubmit".into(),
                    ],
                ),
            ];
            commands.extend(also);
            run(commands, &input, folder.path(), rounds.unwrap_or(400))
        }
        Some("transcript") => {
            write_transcript(&input)?;
            let mut commands = vec![
                Measured::new("native", [beside("scan")?.into_os_string()]),
                Measured::new(
                    "hookhost calculate-tokens",
                    [
                        hookhost.into_os_string(),
                        "--agent".into(),
                        "claude-code".into(),
                        "calculate-tokens".into(),
                        "--offset".into(),
                        "0".into(),
                    ],
                ),
            ];
            commands.extend(also);
            for command in &commands {
                let output = command
                    .command(&input, folder.path())?
                    .stdout(Stdio::piped())
                    .output()?;
                println!("{}: {}", command.name, String::from_utf8_lossy(&output.stdout).trim());
            }
            run(commands, &input, folder.path(), rounds.unwrap_or(7))
        }
        _ => Err(USAGE.into()),
    }
}

/// A program beside this one.
fn beside(name: &str) -> Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

struct Measured {
    name: String,
    words: Vec<OsString>,
    microseconds: Vec<f64>,
    failures: usize,
}

impl Measured {
    fn new(name: &str, words: impl IntoIterator<Item = OsString>) -> Self {
        Self {
            name: name.to_owned(),
            words: words.into_iter().collect(),
            microseconds: Vec::new(),
            failures: 0,
        }
    }

    fn command(&self, input: &Path, home: &Path) -> Result<Command> {
        let (program, arguments) = self.words.split_first().ok_or("an empty command")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("HOOKHOST_HOME", home)
            .stdin(File::open(input)?)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(command)
    }

    fn once(&mut self, input: &Path, home: &Path) -> Result<()> {
        let mut command = self.command(input, home)?;
        let begun = Instant::now();
        let status = command.spawn()?.wait()?;
        self.microseconds.push(begun.elapsed().as_secs_f64() * 1e6);
        self.failures += usize::from(!status.success());
        Ok(())
    }
}

fn run(mut commands: Vec<Measured>, input: &Path, home: &Path, rounds: usize) -> Result<()> {
    let mut order: Vec<usize> = (0..commands.len()).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..rounds {
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        for &at in &order {
            if let Some(command) = commands.get_mut(at) {
                command.once(input, home)?;
            }
        }
    }
    let floor = commands
        .first()
        .map(|first| first.microseconds.clone())
        .unwrap_or_default();
    println!("{:32} {:>12} {:>12} {:>8}", "", "median us", "fastest us", "ratio");
    for command in &commands {
        let ratios: Vec<f64> = command
            .microseconds
            .iter()
            .zip(&floor)
            .map(|(own, floor)| own / floor)
            .collect();
        let fastest = command.microseconds.iter().copied().fold(f64::INFINITY, f64::min);
        let failed = match command.failures {
            0 => String::new(),
            count => format!("  {count} FAILED"),
        };
        println!(
            "{:32} {:>12.0} {:>12.0} {:>8.2}{failed}",
            command.name,
            median(&command.microseconds),
            fastest,
            median(&ratios)
        );
    }
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// xorshift: the order has to be mixed, not unpredictable.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap_or_default()
    }
}

/// A payload of 1 KiB, as Claude Code sends it with a prompt.
fn payload() -> String {
    let empty = payload_with("");
    payload_with(
        &"Please look at the parser. "
            .repeat(64)
            .chars()
            .take(1024 - empty.len())
            .collect::<String>(),
    )
}

fn payload_with(prompt: &str) -> String {
    serde_json::json!({
        "session_id": "0b1f3c52-6d0e-4b5a-9c54-5a3b8a6f1d20",
        "transcript_path": "/home/dev/.claude/projects/-home-dev-project/0b1f3c52-6d0e-4b5a-9c54-5a3b8a6f1d20.jsonl",
        "cwd": "/home/dev/project",
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt,
    })
    .to_string()
}

/// 100 MB: prompts, answers, edits and their results, with records of 1.8 KB on average.
fn write_transcript(path: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut written = 0;
    let mut turn = 0_u64;
    while written < 100_000_000 {
        for record in turn_of(turn) {
            let line = record.to_string();
            writeln!(out, "{line}")?;
            written += line.len() + 1;
        }
        turn += 1;
    }
    out.flush()?;
    Ok(())
}

fn turn_of(turn: u64) -> Vec<serde_json::Value> {
    let words = "The quick brown fox jumps over the lazy dog, \"quoted\", \\ and a line\nbreak. ";
    let id = |part: u64| format!("00000000-0000-4000-8000-{:012x}", turn * 8 + part);
    let envelope = |kind: &str, part: u64, message: serde_json::Value| {
        serde_json::json!({
            "parentUuid": if turn + part == 0 { serde_json::Value::Null } else { (turn * 8 + part - 1).into() },
            "isSidechain": false, "userType": "external", "cwd": "/home/dev/project",
            "sessionId": "0b1f3c52-6d0e-4b5a-9c54-5a3b8a6f1d20", "version": "2.1.0", "gitBranch": "main",
            "type": kind, "message": message, "uuid": id(part), "timestamp": "2026-01-02T03:04:05.678Z",
        })
    };
    let usage = serde_json::json!({
        "input_tokens": 4 + turn % 7, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 12_000,
        "output_tokens": 100 + turn % 50,
    });
    let assistant = |call: &str, content: serde_json::Value| {
        serde_json::json!({
            "id": format!("msg_{turn}_{call}"), "type": "message", "role": "assistant", "model": "claude-opus-4-6",
            "content": [content], "stop_reason": null, "usage": usage,
        })
    };
    let edit = serde_json::json!({
        "type": "tool_use", "id": format!("toolu_{turn}"), "name": "Edit",
        "input": {
            "file_path": format!("/home/dev/project/src/file{}.rs", turn % 200),
            "old_string": words.repeat(8), "new_string": words.repeat(9),
        },
    });
    let result = serde_json::json!({
        "role": "user",
        "content": [{"tool_use_id": format!("toolu_{turn}"), "type": "tool_result", "content": words.repeat(30)}],
    });
    let prompt = serde_json::json!({"role": "user", "content": words.repeat(3)});
    let text = |times: usize| serde_json::json!({"type": "text", "text": words.repeat(times)});
    vec![
        envelope("user", 0, prompt),
        envelope("assistant", 1, assistant("a", text(12))),
        envelope("assistant", 2, assistant("a", edit)),
        envelope("user", 3, result),
        envelope("assistant", 4, assistant("b", text(20))),
    ]
}
