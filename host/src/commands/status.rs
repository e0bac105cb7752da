//! `status`

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::Output;
use super::agents::{Agent, All, ScopeName, WhichAgents, shown};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::Result;
use crate::format::style::{Look, Style};
use crate::format::table::{Cell, styled};
use crate::install::{self, Entry, EntryKind, State};
use crate::journal::Journal;
use crate::journal::index::Index;
use crate::journal::sessions::LastFailure;
use crate::model::Plan;
use crate::moment;

/// Show with which agents we are registered, and what came of it
///
/// Agents that are set up here or that were recorded; with names, those. Below the table stands what is odd: hooks that
/// are missing, spelled as by an older version or there twice, programs that are gone, and what other tools have on the
/// same hooks.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    which: WhichAgents,
    /// JSON for programs
    #[arg(long)]
    json: bool,
}

/// With which agents we are registered.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatusJson {
    /// The version of this object; fields are only added under it.
    v: u32,
    /// Recording is switched off.
    disabled: bool,
    /// The agents.
    agents: Vec<AgentJson>,
    /// Adapters that cannot be loaded.
    broken: Vec<BrokenJson>,
}

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentJson {
    /// The adapter's name.
    agent: String,
    /// For people.
    display_name: String,
    /// It is set up on this machine or in this repository.
    detected: bool,
    /// The settings say that it is not recorded.
    excluded: bool,
    /// When the last hook call was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_record: Option<String>,
    /// The last hook call that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_failure: Option<LastFailure>,
    /// What is registered, for this repository and for all of the user's work.
    installations: Vec<InstallationJson>,
}

/// What is registered in one place.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InstallationJson {
    /// For what.
    scope: ScopeName,
    /// How it stands.
    state: Standing,
    /// Hooks that a complete installation has.
    wanted: u32,
    /// How many of them are there.
    present: u32,
    /// All entries on the lists that it is about.
    entries: Vec<EntryJson>,
    /// What keeps the agent from running the hooks.
    obstacles: Vec<String>,
    /// Why it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// How an installation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// Every hook is registered.
    Complete,
    /// Some hooks are.
    Incomplete,
    /// None is.
    None,
    /// The files cannot be read.
    Unknown,
}

/// An entry on the lists of hooks.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EntryJson {
    /// The file.
    file: String,
    /// Where in it: `hooks.Stop`. Empty for a whole file.
    place: String,
    /// Whose it is, and how it relates to what is wanted.
    kind: KindName,
    /// The command, as it is written.
    command: String,
    /// The program, script or package that the command is about.
    program: String,
    /// Whether that is there; null when it cannot be told.
    exists: Option<bool>,
}

/// Whose an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KindName {
    /// Ours, as wanted.
    Current,
    /// Ours, spelled otherwise.
    OtherSpelling,
    /// Ours, one too many.
    Double,
    /// Ours, for a hook that is not wanted any more.
    Unwanted,
    /// Another tool's.
    Foreign,
}

/// An adapter that cannot be loaded.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BrokenJson {
    /// Its name.
    agent: String,
    /// Why.
    error: String,
}

impl From<&Entry> for EntryJson {
    fn from(entry: &Entry) -> Self {
        Self {
            file: entry.file.display().to_string(),
            place: entry.place.clone(),
            kind: match entry.kind {
                EntryKind::Current => KindName::Current,
                EntryKind::OtherSpelling => KindName::OtherSpelling,
                EntryKind::Double => KindName::Double,
                EntryKind::Unwanted => KindName::Unwanted,
                EntryKind::Foreign => KindName::Foreign,
            },
            command: entry.command.clone(),
            program: entry.program.clone(),
            exists: entry.exists,
        }
    }
}

pub(super) fn run(args: &StatusArgs, selection: &Selection) -> Result<Output> {
    let meant = args.which.find(selection, All::Known, Some(All::Known))?;
    let config = Config::load()?;
    let history = History::read();
    let is_choice = !args.which.agents.is_empty() || args.which.all || selection.name().is_some();
    let agents: Vec<_> = meant
        .agents
        .into_iter()
        .map(|agent| about(agent, &config, &history))
        .filter(|agent| is_choice || agent.is_of_interest())
        .collect();
    let status = StatusJson {
        v: 1,
        disabled: config.is_disabled(),
        agents,
        broken: meant
            .broken
            .into_iter()
            .map(|(agent, error)| BrokenJson {
                agent,
                error: error.to_string(),
            })
            .collect(),
    };
    if args.json {
        return Output::json(&status);
    }
    Ok(Output::bytes(page(&status, Look::of_stdout()).into_bytes()))
}

fn about(mut agent: Agent, config: &Config, history: &History) -> AgentJson {
    let mut installations = Vec::new();
    for scope in [ScopeName::Repo, ScopeName::User] {
        // What this agent does not have, and a repository where we are in none, is no news.
        if let Ok(Some(plan)) = agent.plan(scope) {
            let checked = install::check(&plan, &agent.owner);
            installations.push(InstallationJson::new(scope, plan, checked));
        }
    }
    let (last_record, last_failure) = history.of(agent.name());
    AgentJson {
        agent: agent.name().to_owned(),
        display_name: agent.description.display_name.clone(),
        detected: agent.is_detected,
        excluded: config.excludes_agent(agent.name()),
        last_record,
        last_failure,
        installations,
    }
}

impl AgentJson {
    fn is_of_interest(&self) -> bool {
        self.detected
            || self.last_record.is_some()
            || self
                .installations
                .iter()
                .any(|installation| installation.state != Standing::None)
    }
}

impl InstallationJson {
    fn new(scope: ScopeName, plan: Plan, checked: Result<State>) -> Self {
        match checked {
            Ok(state) => Self {
                scope,
                state: match (state.is_installed(), state.is_complete()) {
                    (_, true) => Standing::Complete,
                    (true, false) => Standing::Incomplete,
                    (false, false) => Standing::None,
                },
                wanted: state.wanted,
                present: state.present,
                // Where nothing is registered nothing can be kept from running.
                obstacles: if state.is_installed() {
                    plan.obstacles
                } else {
                    Vec::new()
                },
                entries: state.entries.iter().map(EntryJson::from).collect(),
                error: None,
            },
            Err(error) => Self {
                scope,
                state: Standing::Unknown,
                wanted: plan.hooks,
                present: 0,
                obstacles: plan.obstacles,
                entries: Vec::new(),
                error: Some(error.to_string()),
            },
        }
    }

    fn of_kind(&self, kind: KindName) -> impl Iterator<Item = &EntryJson> {
        self.entries.iter().filter(move |entry| entry.kind == kind)
    }
}

impl EntryJson {
    /// It calls the Entire CLI.
    fn is_for_entire(&self) -> bool {
        let name = self.program.rsplit(['/', '\\']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name) == "entire"
    }
}

/// What the journal knows of each agent.
struct History(Vec<(String, String, Option<LastFailure>)>);

impl History {
    /// A journal that cannot be read says nothing.
    fn read() -> Self {
        let index = Journal::of_user().and_then(|journal| Index::of(&journal).ok());
        let Some(index) = index else { return Self(Vec::new()) };
        let sessions = index.sessions().into_iter().map(|session| session.summary);
        Self(
            sessions
                .map(|summary| (summary.agent, summary.last, summary.last_failure))
                .collect(),
        )
    }

    /// The time of the last record, and the last failure.
    fn of(&self, agent: &str) -> (Option<String>, Option<LastFailure>) {
        let of_agent = || self.0.iter().filter(|(name, ..)| name == agent);
        (
            of_agent().map(|(_, last, _)| last.clone()).max(),
            of_agent()
                .filter_map(|(.., failure)| failure.clone())
                .max_by(|one, other| one.time.cmp(&other.time)),
        )
    }
}

fn page(status: &StatusJson, look: Look) -> String {
    let mut text = String::new();
    if status.disabled {
        text.push_str(&look.paint(
            "Recording is switched off (HOOKHOST_DISABLE or the setting disable).\n\n",
            Style::Yellow,
        ));
    }
    if status.agents.is_empty() && status.broken.is_empty() {
        text.push_str("No agent is set up here, and none is registered. `hookhost install AGENT` registers one.\n");
        return text;
    }
    text.push_str(&table(status, look));
    let mut remarks = Vec::new();
    for agent in &status.agents {
        for installation in &agent.installations {
            for remark in oddities(agent, installation, look) {
                if !remarks.contains(&remark) {
                    remarks.push(remark);
                }
            }
        }
    }
    for broken in &status.broken {
        remarks.push(format!("{} {}", look.paint(&broken.agent, Style::Bold), broken.error));
    }
    if !remarks.is_empty() {
        text.push('\n');
        text.push_str(&remarks.join("\n"));
        text.push('\n');
    }
    text
}

fn table(status: &StatusJson, look: Look) -> String {
    let now = moment::now();
    let mut rows = Vec::new();
    for agent in &status.agents {
        let registered = agent
            .installations
            .iter()
            .filter(|installation| installation.state != Standing::None);
        let mut lines: Vec<_> = registered.map(Some).collect();
        if lines.is_empty() {
            lines.push(None);
        }
        for (index, installation) in lines.into_iter().enumerate() {
            let once = |text: String| if index == 0 { text } else { String::new() };
            let (scope, hooks, style) = match installation {
                None => ("", "not registered".to_owned(), Style::Dim),
                Some(installation) => {
                    let counts = format!("{} of {}", installation.present, installation.wanted);
                    let scope = match installation.scope {
                        ScopeName::Repo => "repo",
                        ScopeName::User => "user",
                    };
                    match installation.state {
                        Standing::Complete => (scope, counts, Style::Green),
                        Standing::Unknown => (scope, "unknown".to_owned(), Style::Red),
                        Standing::Incomplete | Standing::None => (scope, counts, Style::Yellow),
                    }
                }
            };
            let last = match &agent.last_record {
                Some(time) => moment::ago(moment::milliseconds(time), now),
                None => "never".to_owned(),
            };
            let failure = match &agent.last_failure {
                Some(failure) => {
                    let ago = moment::ago(moment::milliseconds(&failure.time), now);
                    format!("{} ({ago})", failure.failure.code)
                }
                None => String::new(),
            };
            let name = if agent.excluded {
                format!("{} (excluded)", agent.display_name)
            } else {
                agent.display_name.clone()
            };
            rows.push([
                Cell::new(once(name), Style::Bold),
                Cell::new(scope, Style::Plain),
                Cell::new(hooks, style),
                Cell::new(once(last), Style::Plain),
                Cell::new(once(failure), Style::Red),
            ]);
        }
    }
    styled(["agent", "for", "hooks", "last record", "last failure"], &rows, look)
}

/// What is to be looked at in one installation.
fn oddities(agent: &AgentJson, installation: &InstallationJson, look: Look) -> Vec<String> {
    let name = look.paint(&agent.display_name, Style::Bold);
    let again = format!(
        "`hookhost install {}{}`",
        agent.agent,
        match installation.scope {
            ScopeName::Repo => " --repo",
            ScopeName::User => "",
        }
    );
    let mut lines = Vec::new();
    if let Some(error) = &installation.error {
        lines.push(format!("{name}  {}", look.paint(error, Style::Red)));
    }
    if installation.state == Standing::Incomplete {
        let missing = installation.wanted.saturating_sub(installation.present);
        lines.push(format!("{name}  {missing} hooks are missing: {again}"));
    }
    for (kind, what) in [
        (KindName::OtherSpelling, "is spelled otherwise than today"),
        (KindName::Double, "is there twice"),
        (KindName::Unwanted, "is not used any more"),
    ] {
        let (for_entire, entries): (Vec<_>, Vec<_>) = installation
            .of_kind(kind)
            .partition(|entry| kind == KindName::OtherSpelling && entry.is_for_entire());
        if !for_entire.is_empty() {
            lines.push(format!(
                "{name}  registered by way of the Entire CLI, which calls us in its turn"
            ));
        }
        if let Some(first) = entries.first() {
            let more = match entries.len() {
                1 => String::new(),
                count => format!(", and {} more", count - 1),
            };
            lines.push(format!("{name}  {}{more} {what}: {again}", place(first)));
        }
    }
    lines.extend(
        installation
            .obstacles
            .iter()
            .map(|obstacle| format!("{name}  {}", look.paint(obstacle, Style::Yellow))),
    );
    let dead = installation
        .entries
        .iter()
        .filter(|entry| entry.kind != KindName::Foreign && entry.exists == Some(false));
    for program in distinct(dead.map(|entry| entry.program.as_str())) {
        lines.push(format!(
            "{name}  the entries call {}, which is not there: {again}",
            look.paint(program, Style::Red)
        ));
    }
    for neighbour in installation.of_kind(KindName::Foreign) {
        let gone = match neighbour.exists {
            Some(false) => look.paint(" (not there)", Style::Red),
            _ => String::new(),
        };
        lines.push(format!(
            "{name}  also on {}: {}{gone}",
            place(neighbour),
            look.paint(&neighbour.command, Style::Dim)
        ));
    }
    lines
}

fn place(entry: &EntryJson) -> String {
    let file = shown(entry.file.as_ref());
    if entry.place.is_empty() {
        file
    } else {
        format!("{} in {file}", entry.place)
    }
}

fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
