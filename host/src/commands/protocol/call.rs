//! What all commands of the protocol stand on: an adapter, and what it is told.

use crate::adapter::Adapter;
use crate::cli::Selection;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::model::{Capabilities, Context, Description};
use crate::session::RepoPaths;
use crate::session::transcript::Transcript;
use crate::surroundings::Surroundings;

/// One call of the protocol.
pub(crate) struct Call {
    /// The agent, as it was called.
    pub(crate) name: String,
    pub(crate) adapter: Box<dyn Adapter>,
    pub(crate) surroundings: Surroundings,
    /// Called as a plugin of the Entire CLI.
    pub(crate) is_plugin: bool,
    /// The environment variables that the adapter wants, as its file declares them.
    env: Vec<String>,
    description: Option<Description>,
    /// The adapter is only the part that hooks need, which is there for adapters that claim hooks.
    is_for_hooks: bool,
}

impl Call {
    /// Finds the adapter.
    pub(crate) fn open(selection: &Selection) -> Result<Self> {
        let config = Config::load()?;
        let (name, found) = selection.find(&config)?;
        let adapter = found.load(&name, config.limits())?;
        Ok(Self::with(selection, name, found.env, adapter, false))
    }

    /// Finds the adapter, to be asked about a hook and nothing else.
    pub(crate) fn open_for_hooks(selection: &Selection) -> Result<Self> {
        let config = Config::load()?;
        let (name, found) = selection.find(&config)?;
        let adapter = found.load_hooks(&name, config.limits())?;
        let is_for_hooks = found.has_hooks_apart();
        Ok(Self::with(selection, name, found.env, adapter, is_for_hooks))
    }

    fn with(
        selection: &Selection,
        name: String,
        env: Vec<String>,
        adapter: Box<dyn Adapter>,
        is_for_hooks: bool,
    ) -> Self {
        Self {
            name,
            adapter,
            surroundings: Surroundings::of_process(),
            is_plugin: selection.plugin,
            env,
            description: None,
            is_for_hooks,
        }
    }

    /// The constant facts about the agent.
    pub(crate) fn description(&mut self) -> Result<&Description> {
        if self.description.is_none() {
            self.description = Some(self.adapter.describe()?);
        }
        self.description
            .as_ref()
            .ok_or_else(|| Error::unsupported("the adapter has no description"))
    }

    /// What the adapter is told of a hook: no files, and nothing that it would have to be asked for.
    pub(crate) fn hook_context(&self) -> Context {
        self.surroundings.context(&self.env)
    }

    /// What the adapter is told, with the files that it wants to see.
    pub(crate) fn context(&mut self) -> Result<Context> {
        let surroundings = self.surroundings.clone();
        Ok(surroundings.context_with_files(self.description()?))
    }

    /// Lets commands through that belong to a capability which the adapter claims.
    pub(crate) fn claims(&mut self, capability: &str, claimed: impl Fn(&Capabilities) -> bool) -> Result<()> {
        if claimed(&self.description()?.capabilities) {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "the adapter {} does not have the capability {capability}",
            self.name
        ))
        .hint("`info` lists the capabilities that it has"))
    }

    /// Lets commands through that belong to hooks.
    pub(crate) fn claims_hooks(&mut self) -> Result<()> {
        if self.is_for_hooks {
            return Ok(());
        }
        self.claims("hooks", |claimed| claimed.hooks)
    }

    /// The transcript that a session ref names.
    pub(crate) fn transcript(&mut self, session_ref: &str, context: &Context) -> Result<Transcript> {
        Transcript::find(self.adapter.as_mut(), context, session_ref)
    }

    /// What file paths are made relative to.
    pub(crate) fn repo_paths(context: &Context) -> RepoPaths {
        RepoPaths::new(context.repo_root.as_deref(), context.home.as_deref())
    }
}
