//! Which agents `install`, `uninstall` and `status` are about, and what each adapter plans for them.

use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::adapter::registry::{self, Found};
use crate::adapter::{Adapter, Answer, FailureKind};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::install::{self, Owner, Program};
use crate::model::{Description, Invocation, Plan, Scope};
use crate::paths;
use crate::surroundings::Surroundings;

/// Which agents.
#[derive(Debug, Args)]
pub(crate) struct WhichAgents {
    /// The agents by name
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// All agents; for install those that are set up on this machine or in this repository
    #[arg(long, conflicts_with = "agents")]
    pub(crate) all: bool,
    /// But not this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) exclude: Vec<String>,
}

/// For what the hooks are registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScopeName {
    /// This repository.
    Repo,
    /// All of the user's work.
    User,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Repo => Self::Repo,
            ScopeName::User => Self::User,
        }
    }
}

/// An agent with its adapter.
pub(crate) struct Agent {
    pub(crate) description: Description,
    pub(crate) owner: Owner,
    /// It is set up here.
    pub(crate) is_detected: bool,
    adapter: Box<dyn Adapter>,
    surroundings: Surroundings,
    invocation: Invocation,
}

impl Agent {
    fn open(found: &Found, surroundings: &Surroundings, config: &Config) -> Answer<Self> {
        let mut adapter = found.load(&found.name, config.limits())?;
        let description = adapter.describe()?;
        Ok(Self {
            owner: Owner::new(&description.name, &description.aliases),
            is_detected: description.presence.iter().any(|place| surroundings.has(place)),
            surroundings: surroundings.clone(),
            invocation: install::of_hookhost(&Program::this(), &description.name),
            adapter,
            description,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.description.name
    }

    /// What registering takes, as the agent's files are now. `None`: this agent has nothing for that scope.
    pub(crate) fn plan(&mut self, scope: ScopeName) -> Result<Option<Plan>> {
        let context = self.surroundings.context_with_files(&self.description);
        match self.adapter.plan(&self.invocation, scope.into(), &context) {
            Ok(plan) => Ok(Some(plan)),
            Err(error) if error.kind == FailureKind::Unsupported => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The agents that were meant, and the adapters that could not be loaded.
pub(crate) struct Meant {
    pub(crate) agents: Vec<Agent>,
    pub(crate) broken: Vec<(String, Error)>,
    /// Agents that the settings exclude.
    pub(crate) excluded: Vec<String>,
}

/// What `--all` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum All {
    /// Agents that are set up here.
    Detected,
    /// All that there are adapters for.
    Known,
}

impl WhichAgents {
    /// The agents that are meant. Without a name and `--all`: those that `otherwise` says.
    pub(crate) fn find(&self, selection: &Selection, all: All, otherwise: Option<All>) -> Result<Meant> {
        let surroundings = Surroundings::of_process();
        let config = Config::load()?;
        let named: Vec<String> = match (self.agents.is_empty(), selection.name()) {
            (false, _) => self.agents.clone(),
            (true, Some(name)) if !self.all => vec![name],
            (true, _) => Vec::new(),
        };
        let mut meant = Meant {
            agents: Vec::new(),
            broken: Vec::new(),
            excluded: Vec::new(),
        };
        if named.is_empty() {
            let Some(all) = (if self.all { Some(all) } else { otherwise }) else {
                return Err(nobody_named(&surroundings, &config));
            };
            for found in registry::all(&config) {
                let opened = found.and_then(|found| Agent::open(&found, &surroundings, &config));
                match opened {
                    Ok(agent) if config.excludes_agent(agent.name()) && all == All::Detected => {
                        meant.excluded.push(agent.name().to_owned());
                    }
                    Ok(agent) if all == All::Known || agent.is_detected => meant.agents.push(agent),
                    Ok(_) => {}
                    Err(error) => meant.broken.push((error.adapter.clone(), error.into())),
                }
            }
        } else {
            for name in &named {
                let found = match &selection.adapter {
                    Some(file) => registry::of_file(file)?,
                    None => registry::find(name, &config)?,
                };
                let agent = Agent::open(&found, &surroundings, &config)?;
                if !meant.agents.iter().any(|known| known.name() == agent.name()) {
                    meant.agents.push(agent);
                }
            }
        }
        for name in &self.exclude {
            registry::find(name, &config)?;
        }
        meant.agents.retain(|agent| {
            !self
                .exclude
                .iter()
                .any(|name| agent.name() == name || agent.description.aliases.contains(name))
        });
        Ok(meant)
    }
}

fn nobody_named(surroundings: &Surroundings, config: &Config) -> Error {
    let detected: Vec<_> = registry::all(config)
        .into_iter()
        .filter_map(|found| Agent::open(&found.ok()?, surroundings, config).ok())
        .filter(|agent| agent.is_detected)
        .map(|agent| agent.name().to_owned())
        .collect();
    let hint = if detected.is_empty() {
        format!("give its name; there are {}", registry::names(config).join(", "))
    } else {
        format!("set up here: {}; --all takes all of them", detected.join(", "))
    };
    Error::usage("no agent is named").hint(hint)
}

/// Where notes are kept of how files were before us.
pub(crate) fn records() -> Option<PathBuf> {
    paths::data_dir().map(|data| data.join(install::RECORDS))
}

/// A path as people write it: relative below the working directory, `~/…` below the home directory.
pub(crate) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    if let Some(below) = here.as_deref().and_then(|here| path.strip_prefix(here).ok()) {
        return below.display().to_string();
    }
    let below = paths::user_home().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned));
    match below {
        Some(below) => Path::new("~").join(below).display().to_string(),
        None => path.display().to_string(),
    }
}
