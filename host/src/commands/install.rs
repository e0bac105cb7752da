//! `install` and `uninstall`

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::Output;
use super::agents::{Agent, All, Meant, ScopeName, WhichAgents, records, shown};
use crate::cli::Selection;
use crate::error::{Error, Result};
use crate::format::diff::diff;
use crate::format::style::{Look, Style};
use crate::install::{self, Change, Report};
use crate::model::Plan;

/// How text looks that programs read.
const PLAIN: Look = Look {
    color: false,
    width: usize::MAX,
};

/// What holds for every agent once its hooks are registered.
const START_ANEW: &str = "Start the agent anew where it is running: most read their hooks at the start.";

/// `--all` has found nobody.
const NOBODY: &str = "Nothing to register: no agent is set up here, or those that are were left out. \
                      `hookhost install AGENT` registers with one by name.\n";

/// Register with agents, so that their sessions are recorded
///
/// Writes to your own settings, for the agents' sessions everywhere; with --repo to the settings of this repository, for
/// its sessions only. What is in an agent's settings already stays as it is, and `hookhost uninstall` gives the files
/// back as they were.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    which: WhichAgents,
    #[command(flatten)]
    how: HowArgs,
    /// Write entries of ours anew, also where they are as they should be; a file of somebody else's in our place is set
    /// aside
    #[arg(long)]
    force: bool,
}

/// Take the registration with agents back
///
/// Out of your own settings and those of this repository, unless --user or --repo says which.
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    which: WhichAgents,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Debug, Args)]
struct HowArgs {
    /// The settings of this repository
    #[arg(long, conflicts_with = "user")]
    repo: bool,
    /// Your own settings
    #[arg(long)]
    user: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// JSON for programs
    #[arg(long)]
    json: bool,
}

impl HowArgs {
    /// The scopes that were asked for.
    fn scopes(&self, otherwise: &[ScopeName]) -> Vec<ScopeName> {
        match (self.repo, self.user) {
            (true, _) => vec![ScopeName::Repo],
            (_, true) => vec![ScopeName::User],
            _ => otherwise.to_vec(),
        }
    }
}

/// What was registered, or taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InstallJson {
    /// The version of this object; fields are only added under it.
    v: u32,
    /// Nothing was changed: these are the changes that would be made.
    dry_run: bool,
    /// For each agent.
    agents: Vec<DoneJson>,
}

/// What was done for an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DoneJson {
    /// The agent.
    agent: String,
    #[serde(skip)]
    display_name: String,
    /// For what.
    scope: ScopeName,
    /// Hooks that were newly written.
    newly_written: u32,
    /// Hooks that were there.
    already: u32,
    /// Hooks that were taken out.
    removed: u32,
    /// Files that are changed.
    files: Vec<String>,
    /// What the user has to know or to do.
    notes: Vec<String>,
    /// What keeps the agent from running the hooks.
    obstacles: Vec<String>,
    /// The changes of a dry run, each a unified diff.
    changes: Vec<String>,
    #[serde(skip)]
    planned: Vec<Change>,
    /// Why it could not be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The two directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    In { force: bool },
    Out,
}

pub(super) fn install(args: &InstallArgs, selection: &Selection) -> Result<Output> {
    let meant = args.which.find(selection, All::Detected, None)?;
    let scopes = args.how.scopes(&[ScopeName::User]);
    run(meant, &scopes, Direction::In { force: args.force }, &args.how)
}

pub(super) fn uninstall(args: &UninstallArgs, selection: &Selection) -> Result<Output> {
    let meant = args.which.find(selection, All::Known, None)?;
    let scopes = args.how.scopes(&[ScopeName::Repo, ScopeName::User]);
    run(meant, &scopes, Direction::Out, &args.how)
}

fn run(meant: Meant, scopes: &[ScopeName], direction: Direction, how: &HowArgs) -> Result<Output> {
    let is_one_scope = scopes.len() == 1;
    let mut done: Vec<_> = meant
        .broken
        .into_iter()
        .map(|(name, error)| DoneJson::new(&name, &name, ScopeName::User, Err(error)))
        .collect();
    for mut agent in meant.agents {
        for &scope in scopes {
            let planned = match agent.plan(scope) {
                Ok(Some(plan)) => Ok(plan),
                Ok(None) if !is_one_scope => continue,
                Ok(None) => Err(not_for(&mut agent, scope)),
                // Outside of a repository there is nothing of a repository's to take back.
                Err(_) if direction == Direction::Out && !is_one_scope => continue,
                Err(error) => Err(error),
            };
            let result = planned.and_then(|plan| carry_out(&agent, &plan, direction, how.dry_run));
            let is_done = result.is_ok() && !how.dry_run;
            let mut json = DoneJson::new(agent.name(), &agent.description.display_name, scope, result);
            if is_done && direction != Direction::Out {
                // What stands in the way shows in the files as they are now.
                json.obstacles = agent.plan(scope)?.map(|plan| plan.obstacles).unwrap_or_default();
            }
            done.push(json);
        }
    }
    let failed = done.iter().any(|done| done.error.is_some());
    let mut output = if how.json {
        Output::json(&InstallJson {
            v: 1,
            dry_run: how.dry_run,
            agents: done,
        })?
    } else {
        let look = Look::of_stdout();
        let text = if done.is_empty() && direction != Direction::Out {
            NOBODY.to_owned()
        } else if how.dry_run {
            preview(&done, direction, look)
        } else {
            account(&done, direction, look)
        };
        let output = Output::bytes(text.into_bytes());
        match remarks(&done, &meant.excluded, direction, how.dry_run) {
            remarks if remarks.is_empty() => output,
            remarks => output.with_note(remarks),
        }
    };
    output.failed = failed;
    Ok(output)
}

fn not_for(agent: &mut Agent, scope: ScopeName) -> Error {
    let (what, other, option) = match scope {
        ScopeName::Repo => ("for a single repository", ScopeName::User, "--user"),
        ScopeName::User => ("for all of a user's work", ScopeName::Repo, "--repo"),
    };
    // Where the other plan fails (outside of a repository), there is one.
    let has_other = !matches!(agent.plan(other), Ok(None));
    let name = &agent.description.display_name;
    if has_other {
        Error::unsupported(format!("{name} has no hooks {what}")).hint(format!("try {option}"))
    } else {
        Error::unsupported(format!("nothing is known of how {name} registers hooks")).hint(format!(
            "tell it to run `hookhost hook {} <hook>` with the payload on stdin",
            agent.name()
        ))
    }
}

/// What was done, and what would have been.
type Work = (Report, Vec<Change>);

fn carry_out(agent: &Agent, plan: &Plan, direction: Direction, dry_run: bool) -> Result<Work> {
    let records = records();
    let records = records.as_deref();
    let owner = &agent.owner;
    Ok(match (direction, dry_run) {
        (Direction::In { force }, false) => (install::apply(plan, owner, records, force)?, Vec::new()),
        (Direction::Out, false) => (install::remove(plan, owner, records)?, Vec::new()),
        (Direction::In { force }, true) => {
            let changes = install::preview(plan, owner, records, force)?;
            let notes = if changes.is_empty() {
                Vec::new()
            } else {
                plan.notes.clone()
            };
            (
                Report {
                    notes,
                    ..Report::default()
                },
                changes,
            )
        }
        (Direction::Out, true) => (Report::default(), install::preview_removal(plan, owner, records)?),
    })
}

impl DoneJson {
    fn new(agent: &str, display_name: &str, scope: ScopeName, result: Result<Work>) -> Self {
        let (report, planned, error) = match result {
            Ok((report, planned)) => (report, planned, None),
            Err(error) => (Report::default(), Vec::new(), Some(error.to_string())),
        };
        let files = if planned.is_empty() {
            report.files
        } else {
            planned.iter().map(|change| change.file.clone()).collect()
        };
        Self {
            agent: agent.to_owned(),
            display_name: display_name.to_owned(),
            scope,
            newly_written: report.newly_written,
            already: report.already,
            removed: report.removed,
            files: files.iter().map(|file| file.display().to_string()).collect(),
            notes: report.notes,
            obstacles: Vec::new(),
            changes: planned.iter().map(|change| diff(change, PLAIN)).collect(),
            planned,
            error,
        }
    }
}

fn preview(done: &[DoneJson], direction: Direction, look: Look) -> String {
    let mut text = String::new();
    if direction == Direction::Out && done.iter().all(|done| done.planned.is_empty() && done.error.is_none()) {
        return "Nothing is registered.\n".to_owned();
    }
    for done in done {
        if direction != Direction::Out && done.planned.is_empty() && done.error.is_none() {
            text.push_str(&look.paint(&format!("{}: nothing would change.\n", done.display_name), Style::Dim));
        }
        for change in &done.planned {
            text.push_str(&diff(change, look));
        }
    }
    text
}

/// A line an agent.
fn account(done: &[DoneJson], direction: Direction, look: Look) -> String {
    let width = done
        .iter()
        .map(|done| done.display_name.chars().count())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    let mut nothing_there = true;
    for done in done {
        if done.error.is_some() || direction == Direction::Out && done.removed == 0 && done.files.is_empty() {
            continue;
        }
        nothing_there = false;
        let files: Vec<_> = done.files.iter().map(|file| shown(file.as_ref())).collect();
        let files = files.join(", ");
        let (mark, what) = match direction {
            Direction::In { .. } if done.newly_written + done.already == 0 => {
                ("=", "there is nothing to register".to_owned())
            }
            Direction::In { .. } if done.newly_written == 0 => ("=", format!("all {} were there", hooks(done.already))),
            Direction::In { .. } => ("+", format!("{} written to {files}", hooks(done.newly_written))),
            Direction::Out => ("-", format!("{} taken out of {files}", hooks(done.removed))),
        };
        let style = match mark {
            "=" => Style::Dim,
            _ => Style::Green,
        };
        let name = &done.display_name;
        let blank = " ".repeat(width.saturating_sub(name.chars().count()));
        text.push_str(&format!(
            "{} {}{blank}  {what}\n",
            look.paint(mark, style),
            look.paint(name, Style::Bold)
        ));
    }
    if nothing_there && direction == Direction::Out && done.iter().all(|done| done.error.is_none()) {
        text.push_str("Nothing was registered.\n");
    }
    text
}

fn hooks(count: u32) -> String {
    match count {
        1 => "1 hook".to_owned(),
        count => format!("{count} hooks"),
    }
}

/// What a person has to know besides: failures, and what to do next.
fn remarks(done: &[DoneJson], excluded: &[String], direction: Direction, dry_run: bool) -> String {
    let mut lines = Vec::new();
    for done in done {
        if let Some(error) = &done.error {
            lines.push(format!("hookhost: {}: {error}", done.agent));
        }
    }
    if !excluded.is_empty() {
        lines.push(format!(
            "Left out, since the setting exclude.agents names them: {}",
            excluded.join(", ")
        ));
    }
    let mut next = Vec::new();
    for done in done {
        for note in done.obstacles.iter().chain(&done.notes) {
            let line = if note.starts_with(&done.display_name) {
                format!("  {note}")
            } else {
                format!("  {}: {note}", done.display_name)
            };
            if !next.contains(&line) {
                next.push(line);
            }
        }
    }
    let is_new = done.iter().any(|done| done.newly_written > 0);
    if matches!(direction, Direction::In { .. }) && is_new && !dry_run {
        next.push(format!("  {START_ANEW}"));
        next.push("  `hookhost status` shows what is registered, `hookhost list` what was recorded.".to_owned());
    }
    if !next.is_empty() {
        lines.push(if dry_run { "Then:" } else { "Next:" }.to_owned());
        lines.extend(next);
    }
    lines.join("\n")
}
