//! What is registered with the agents, and whether it works.

use super::{Finding, canary};
use crate::cli::Selection;
use crate::commands::agents::{Agent, All, ScopeName, WhichAgents, shown};
use crate::error::Result;
use crate::install::{self, EntryKind, State};
use crate::model::Plan;

pub(super) fn look(which: &WhichAgents, selection: &Selection) -> Result<Vec<Finding>> {
    let meant = which.find(selection, All::Known, Some(All::Known))?;
    let mut findings = vec![];
    let mut count = 0;
    for mut agent in meant.agents {
        let found = of_agent(&mut agent)?;
        count += usize::from(found.iter().any(|finding| finding.check == "canary"));
        findings.extend(found);
    }
    if count == 0 {
        findings.push(Finding::notice("hooks", "no agent has hooks of ours").remedy("hookhost install <agent>"));
        findings.push(canary::of_program());
    }
    Ok(findings)
}

fn of_agent(agent: &mut Agent) -> Result<Vec<Finding>> {
    let mut findings = vec![];
    let mut is_installed = false;
    for scope in [ScopeName::Repo, ScopeName::User] {
        let Some(plan) = agent.plan(scope)? else {
            continue;
        };
        match install::check(&plan, &agent.owner) {
            Err(error) => {
                let text = error.to_string();
                let (message, hint) = text.split_once("\nhint: ").unwrap_or((&text, "correct the file"));
                findings.push(Finding::wrong("hooks", message).of(agent.name()).remedy(hint));
            }
            Ok(state) if state.is_installed() => {
                is_installed = true;
                findings.extend(of_installation(agent, scope, &plan, &state));
            }
            Ok(_) => {}
        }
    }
    if !is_installed && agent.is_detected {
        let notice = Finding::notice(
            "hooks",
            format!("{} is set up here and is not recorded", agent.description.display_name),
        );
        findings.push(
            notice
                .of(agent.name())
                .remedy(format!("hookhost install {}", agent.name())),
        );
    }
    Ok(findings)
}

fn of_installation(agent: &Agent, scope: ScopeName, plan: &Plan, state: &State) -> Vec<Finding> {
    let name = agent.name();
    let again = match scope {
        ScopeName::Repo => format!("hookhost install --repo {name}"),
        ScopeName::User => format!("hookhost install --user {name}"),
    };
    let place = match scope {
        ScopeName::Repo => "this repository",
        ScopeName::User => "all of your work",
    };
    let mut findings = vec![];
    if state.is_complete() {
        findings.push(Finding::fine("hooks", format!("all {} are registered for {place}", state.wanted)).of(name));
    } else {
        let message = format!("{} of {} are registered for {place}", state.present, state.wanted);
        findings.push(Finding::wrong("hooks", message).of(name).remedy(&again));
    }
    for entry in state.dead() {
        let message = format!(
            "{}, {}: the program {} is gone",
            shown(&entry.file),
            entry.place,
            entry.program
        );
        findings.push(Finding::wrong("hooks", message).of(name).remedy(&again));
    }
    for (kind, what) in [
        (EntryKind::Double, "is there twice"),
        (EntryKind::OtherSpelling, "is spelled as by another version"),
        (EntryKind::Unwanted, "is not needed any more"),
    ] {
        if let Some(entry) = state.of_kind(kind).next() {
            let count = state.of_kind(kind).count();
            let others = if count > 1 {
                format!(", and {} more", count - 1)
            } else {
                String::new()
            };
            let message = format!("{}, {} {what}{others}", shown(&entry.file), entry.place);
            findings.push(Finding::notice("hooks", message).of(name).remedy(&again));
        }
    }
    findings.extend(
        plan.obstacles
            .iter()
            .map(|obstacle| Finding::wrong("hooks", obstacle).of(name)),
    );
    findings.extend(canary::of_commands(agent, state));
    findings
}
