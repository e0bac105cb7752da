//! `install-hooks`, `uninstall-hooks`, `are-hooks-installed`.

use clap::Args;
use serde_json::json;

use super::Call;
use crate::adapter::FailureKind;
use crate::commands::Output;
use crate::error::{Error, Result};
use crate::install::{self, Owner, Program};
use crate::model::{Invocation, Plan, Scope};
use crate::paths;

/// How to install.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Write entries of ours anew, also where they are as they should be
    #[arg(long)]
    force: bool,
    /// Accepted and ignored: hooks never start a program of the work tree
    #[arg(long, hide = true)]
    local_dev: bool,
}

pub(super) fn install(call: &mut Call, args: &InstallArgs) -> Result<Output> {
    let (plan, owner) = plan(call)?;
    let records = paths::data_dir().map(|data| data.join(install::RECORDS));
    let report = install::apply(&plan, &owner, records.as_deref(), args.force)?;
    let output = Output::json(&json!({ "hooks_installed": report.newly_written }))?;
    let mut notes = report.notes;
    if report.newly_written > 0 {
        notes.extend(plan.obstacles);
    }
    Ok(match notes.is_empty() {
        true => output,
        false => output.with_note(notes.join("\n")),
    })
}

pub(super) fn uninstall(call: &mut Call) -> Result<Output> {
    let (plan, owner) = plan(call)?;
    let records = paths::data_dir().map(|data| data.join(install::RECORDS));
    let notes = install::remove(&plan, &owner, records.as_deref())?.notes;
    Ok(match notes.is_empty() {
        true => Output::nothing(),
        false => Output::nothing().with_note(notes.join("\n")),
    })
}

pub(super) fn state(call: &mut Call) -> Result<Output> {
    let (plan, owner) = plan(call)?;
    let state = install::check(&plan, &owner)?;
    Output::json(&json!({ "installed": state.is_installed() }))
}

/// What registering takes, for this repository; for all of the user's work where the agent knows nothing smaller.
fn plan(call: &mut Call) -> Result<(Plan, Owner)> {
    call.claims("hooks", |claimed| claimed.hooks)?;
    if call.surroundings.repo_root.is_none() {
        return Err(
            Error::input("this is no repository, so there is nothing to register for")
                .hint("`hookhost install --user` registers for all repositories"),
        );
    }
    let context = call.context()?;
    let description = call.description()?.clone();
    let invocation = if call.is_plugin || std::env::var_os("ENTIRE_PROTOCOL_VERSION").is_some() {
        install::of_entire(&call.name)
    } else {
        install::of_hookhost(&Program::this(), &description.name)
    };
    let mut planned = |invocation: &Invocation, scope| call.adapter.plan(invocation, scope, &context);
    let plan = match planned(&invocation, Scope::Repo) {
        Err(error) if error.kind == FailureKind::Unsupported => planned(&invocation, Scope::User)?,
        planned => planned?,
    };
    Ok((plan, Owner::new(&description.name, &description.aliases)))
}
