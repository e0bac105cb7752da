//! A canary: a hook that is fired with the registered command line, as the agent would, into a journal that is thrown
//! away.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Finding;
use crate::commands::agents::Agent;
use crate::install::{EntryKind, State};
use crate::journal::read::Lines;
use crate::journal::{FOLDER_VARIABLE, Journal, Record};

/// A payload that no agent sends: no adapter makes an event of it.
const PAYLOAD: &[u8] = br#"{"hookhost_canary":true}"#;

/// How long a hook may take. An agent that is kept waiting for longer is disturbed.
const LIMIT: Duration = Duration::from_secs(5);

/// A program whose entries count as ours, since it calls us.
const OTHER_CALLER: &str = "entire";

/// Fires every command line that is registered.
pub(super) fn of_commands(agent: &Agent, state: &State) -> Vec<Finding> {
    // Other programs that call us would record the canary as well.
    let is_hookhost = |program: &str| Path::new(program).file_stem().is_none_or(|stem| stem != OTHER_CALLER);
    let ours = state
        .entries
        .iter()
        .filter(|entry| entry.kind != EntryKind::Foreign && is_hookhost(&entry.program));
    let commands: BTreeSet<&str> = ours
        .map(|entry| entry.command.as_str())
        .filter(|command| !command.is_empty())
        .collect();
    let mut slowest = Duration::ZERO;
    for command in &commands {
        match fire(shell(command)) {
            Ok(took) => slowest = slowest.max(took),
            Err(reason) => {
                let wrong = Finding::wrong("canary", format!("`{command}` {reason}")).of(agent.name());
                return vec![wrong.remedy(format!("hookhost install --force {}", agent.name()))];
            }
        }
    }
    if commands.is_empty() {
        // A file of ours: the agent runs it in its own way.
        return vec![of_program().of(agent.name())];
    }
    let count = commands.len();
    let fired = if count == 1 {
        "the command".to_owned()
    } else {
        format!("all {count} commands")
    };
    let message = format!("{fired} recorded a hook, the slowest within {} ms", slowest.as_millis());
    vec![Finding::fine("canary", message).of(agent.name())]
}

/// Fires this program itself.
pub(super) fn of_program() -> Finding {
    let fired = std::env::current_exe()
        .map_err(|error| error.to_string())
        .and_then(|program| {
            let mut command = Command::new(program);
            command.args(["hook", "hookhost-canary", "canary"]);
            fire(command)
        });
    match fired {
        Ok(took) => Finding::fine("canary", format!("a hook is recorded within {} ms", took.as_millis())),
        Err(reason) => Finding::wrong("canary", format!("hookhost {reason}")).remedy("install hookhost again"),
    }
}

/// As agents start the commands of their settings.
fn shell(command: &str) -> Command {
    let (program, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut shell = Command::new(program);
    shell.args([option, command]);
    shell
}

/// Runs a command with the canary on a stdin that stays open. How long it took, or what was not as it should be.
fn fire(mut command: Command) -> Result<Duration, String> {
    let scratch = tempfile::tempdir().map_err(|error| format!("cannot be tried: {error}"))?;
    let journal = scratch.path().join("journal");
    let began = Instant::now();
    let mut child = command
        .env(FOLDER_VARIABLE, &journal)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        // A command that does not read shows by its missing record.
        let _ = stdin.write_all(PAYLOAD);
    }
    let status = wait(&mut child, began);
    let took = began.elapsed();
    drop(stdin);
    let status = status.ok_or_else(|| format!("took longer than {} seconds", LIMIT.as_secs()))?;
    if !status.success() {
        return Err(format!("ended with {status}; agents take that for an error or a veto"));
    }
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut said);
    }
    if !said.trim().is_empty() {
        return Err(format!("wrote to stderr: {}", said.trim()));
    }
    if records(&journal).is_empty() {
        return Err("recorded nothing: it may be switched off, or PATH may lead to no hookhost".to_owned());
    }
    Ok(took)
}

fn wait(child: &mut Child, began: Instant) -> Option<std::process::ExitStatus> {
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if began.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn records(folder: &Path) -> Vec<Record<'static>> {
    let mut records = vec![];
    for file in Journal::at(folder).files().unwrap_or_default() {
        let Ok(mut lines) = Lines::open(&file, 0) else {
            continue;
        };
        while let Ok(Some((_, record))) = lines.next_record() {
            records.extend(record);
        }
    }
    records
}
