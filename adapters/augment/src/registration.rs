//! Groups of our own in Auggie's settings, which start small scripts of ours.
//!
//! The documentation wants the path of a script as the command; whether a command line with arguments works is not
//! known. A group of its own is needed in any case: `metadata` counts for all handlers of a group.

use hookhost_sdk::json::quoted;
use hookhost_sdk::paths::{is_windows, join};
use hookhost_sdk::registration::{filled, own_file, registered_hooks};
use hookhost_sdk::{
    Adapter, ConfigEdit, ConfigFormat, Context, Edit, Fault, InsertMode, Insertion, Invocation, RegistrationPlan, Scope,
};

use crate::Augment;

/// Milliseconds, unlike most agents.
const TIMEOUT: u32 = 10_000;

const MARKER: &str = "hookhost:augment:1 managed file";

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let (base, settings) = match scope {
        // The shared settings file of a repository is not the place for what one person has installed.
        Scope::Repo => (context.repo_root.as_deref(), ".augment/settings.local.json"),
        Scope::User => (context.home.as_deref(), ".augment/settings.json"),
    };
    let base = base.ok_or_else(|| Fault::Other("there is no directory to register in".to_owned()))?;
    let mut edits = vec![];
    let mut insertions = vec![];
    for hook in Augment::MANIFEST.hooks.iter().filter(|hook| hook.registered) {
        let (path, content) = script(invocation, base, hook.native, hook.alias, context);
        // Without it the agent's answer is not in the payload. The other kinds of metadata hold personal data.
        let metadata = if hook.native == "Stop" {
            "\"metadata\":{\"includeConversationData\":true},"
        } else {
            ""
        };
        let command = quoted(&path);
        insertions.push(Insertion {
            path: vec!["hooks".to_owned(), hook.native.to_owned()],
            value: format!(
                "{{{metadata}\"hooks\":[{{\"type\":\"command\",\"command\":{command},\"timeout\":{TIMEOUT}}}]}}"
            ),
            how: InsertMode::Append,
        });
        edits.push(own_file(path, MARKER, content, true));
    }
    edits.push(Edit::Config(ConfigEdit {
        file: join(base, settings),
        format: ConfigFormat::Jsonc,
        insertions,
        sweep: vec![vec!["hooks".to_owned()]],
        remove_when_empty: false,
    }));
    Ok(RegistrationPlan {
        edits,
        hooks: registered_hooks::<Augment>(),
        notes: vec![],
        obstacles: vec![],
    })
}

/// The script's path and text.
fn script(invocation: &Invocation, base: &str, hook: &str, alias: &str, context: &Context) -> (String, String) {
    if is_windows(context) {
        let command = filled::<Augment>(&invocation.cmd, invocation, hook);
        let path = join(base, &format!(".augment/hooks/hookhost-{alias}.cmd"));
        return (path, format!("@rem {MARKER}\r\n@{command}\r\n@exit /b 0\r\n"));
    }
    let command = filled::<Augment>(&invocation.posix, invocation, hook);
    let path = join(base, &format!(".augment/hooks/hookhost-{alias}.sh"));
    (path, format!("#!/bin/sh\n# {MARKER}\n{command}\nexit 0\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::{Object, testing};

    #[test]
    fn each_hook_has_a_script_and_a_group_of_its_own() {
        let plan = testing::plan::<Augment>(Scope::Repo, &testing::context()).unwrap();
        let mut scripts = vec![];
        let mut groups = vec![];
        for edit in &plan.edits {
            match edit {
                Edit::File(file) => scripts.push((file.path.clone(), file.content.clone(), file.executable)),
                Edit::Config(config) => {
                    assert_eq!(config.file, "/home/dev/project/.augment/settings.local.json");
                    groups.extend(config.insertions.iter().map(|insertion| insertion.value.clone()));
                }
            }
        }
        let stop = "/home/dev/project/.augment/hooks/hookhost-stop.sh";
        let text = format!("#!/bin/sh\n# {MARKER}\nhookhost hook augment Stop\nexit 0\n");
        assert_eq!((scripts.len(), groups.len(), plan.hooks), (4, 4, 4));
        assert!(scripts.contains(&(stop.to_owned(), text, true)));
        let group = groups
            .iter()
            .map(|group| Object::parse(group).unwrap())
            .find(|group| group.has("metadata"))
            .unwrap();
        let handler = group.items("hooks")[0].object().unwrap();
        assert_eq!(handler.text("command").as_deref(), Some(stop));
        assert_eq!(handler.count("timeout"), 10_000);
    }
}
