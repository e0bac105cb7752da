//! `replay`

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use crate::cli;
use crate::commands::Output;
use crate::error::Result;
use crate::format::table::table;
use crate::journal::Failure;
use crate::model::Event;
use crate::replay::{Player, Replayed};
use crate::wire;

/// How wide a line of the table may be.
const WIDTH: usize = 160;

/// How much of a prompt or a task stands in the table.
const DETAIL_LIMIT: usize = 200;

/// Why most payloads give no event.
const NO_MEANING: &str = "no lifecycle event";

/// Run recorded payloads again and show the events they give
///
/// A file is a capture: a file of the journal, with one record a line. With --hook it is a bare payload, as the agent
/// sent it.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Captures, or with --hook payloads
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The hook that the payloads in the files were sent to
    #[arg(long, value_name = "NAME")]
    hook: Option<String>,
    /// One event a line, as the protocol writes them
    #[arg(long, conflicts_with = "check")]
    json: bool,
    /// Compare with the events that were recorded, and fail when they differ
    #[arg(long, conflicts_with = "hook")]
    check: bool,
}

pub(super) fn run(args: &ReplayArgs, selection: &cli::Selection) -> Result<Output> {
    // Records name their agent; the variable is for payloads, which have nothing else to go by.
    let agent = match args.hook {
        Some(_) => selection.name(),
        None => selection.agent.clone(),
    };
    let selection = cli::Selection {
        agent,
        ..selection.clone()
    };
    let mut player = Player::new(selection, args.hook.clone());
    let mut all = vec![];
    let mut unreadable = vec![];
    for file in &args.files {
        player.play(file, |played| match played {
            Ok(replayed) => all.push(replayed),
            Err(error) => unreadable.push(error.to_string()),
        })?;
    }
    if args.check {
        return Ok(checked(&all, &unreadable));
    }
    let summary = summary(&all, &unreadable);
    let text = if args.json {
        event_lines(&all)
    } else {
        event_table(&all)
    };
    Ok(Output::bytes(text.into_bytes()).with_note(summary))
}

fn checked(all: &[Replayed], unreadable: &[String]) -> Output {
    let different: Vec<&Replayed> = all.iter().filter(|replayed| !replayed.is_as_recorded()).collect();
    let mut text: String = different.iter().map(|replayed| difference(replayed)).collect();
    for line in unreadable {
        text.push_str(&format!("{line}\n"));
    }
    let count = different.len();
    let verdict = format!("{}, {count} not as recorded", counted(all.len(), "payload", "payloads"));
    let mut output = Output::bytes(text.into_bytes()).with_note(verdict);
    output.failed = count > 0 || !unreadable.is_empty();
    output
}

fn difference(replayed: &Replayed) -> String {
    let mut text = format!(
        "{} at byte {}: {} {}\n",
        replayed.file.display(),
        replayed.offset.unwrap_or_default(),
        replayed.agent,
        replayed.hook
    );
    for event in replayed.then.iter().flatten() {
        text.push_str(&format!("- {}\n", wire::event_line(event)));
    }
    match &replayed.now {
        Ok(events) => {
            for event in events {
                text.push_str(&format!("+ {}\n", wire::event_line(event)));
            }
        }
        Err(failure) => text.push_str(&format!("+ {}\n", reason(failure))),
    }
    text
}

fn event_lines(all: &[Replayed]) -> String {
    let events = all.iter().flat_map(|replayed| replayed.now.iter().flatten());
    events.map(|event| wire::event_line(event) + "\n").collect()
}

fn event_table(all: &[Replayed]) -> String {
    let rows: Vec<[String; 6]> = all
        .iter()
        .flat_map(|replayed| replayed.now.iter().flatten().map(move |event| row(replayed, event)))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    table(["TIME", "AGENT", "HOOK", "EVENT", "SESSION", "WHAT"], &rows, WIDTH)
}

fn row(replayed: &Replayed, event: &Event) -> [String; 6] {
    let metadata = || {
        let pairs = event.metadata.iter().map(|(key, value)| format!("{key}={value}"));
        pairs.collect::<Vec<_>>().join(" ")
    };
    let said = [
        &event.prompt,
        &event.task_description,
        &event.subagent_type,
        &event.model,
    ];
    let what = said.into_iter().flatten().next().cloned().unwrap_or_else(metadata);
    [
        event.timestamp.clone().unwrap_or_default(),
        replayed.agent.clone(),
        replayed.hook.clone(),
        event.kind.name().to_owned(),
        event.session_id.clone(),
        what.chars().take(DETAIL_LIMIT).collect(),
    ]
}

/// How many payloads gave how many events, and why the others gave none.
fn summary(all: &[Replayed], unreadable: &[String]) -> String {
    let events: usize = all.iter().map(|replayed| replayed.now.iter().flatten().count()).sum();
    let mut text = format!(
        "{}, {}",
        counted(all.len(), "payload", "payloads"),
        counted(events, "event", "events")
    );
    let mut reasons: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for replayed in all {
        let why = match &replayed.now {
            Ok(events) if events.is_empty() => NO_MEANING.to_owned(),
            Ok(_) => continue,
            Err(failure) => reason(failure),
        };
        *reasons.entry(why).or_default().entry(&replayed.hook).or_default() += 1;
    }
    for (why, hooks) in reasons {
        let hooks: Vec<String> = hooks.iter().map(|(hook, count)| format!("{hook} {count}")).collect();
        text.push_str(&format!("\n{why}: {}", hooks.join(", ")));
    }
    for line in unreadable {
        text.push_str(&format!("\n{line}"));
    }
    text
}

fn reason(failure: &Failure) -> String {
    format!("{}: {}", failure.code, failure.message)
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
