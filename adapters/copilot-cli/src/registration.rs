//! How Copilot CLI is told to run our command: every file in the hooks folder is read, so ours is a file of its own, of
//! flat entries for bash and PowerShell.

use hookhost_sdk::json::quoted;
use hookhost_sdk::registration::{default_value, entries, filled, is_set, registered_hooks, settings_file};
use hookhost_sdk::{ConfigEdit, ConfigFormat, Context, Edit, Fault, Invocation, RegistrationPlan, Scope, env, paths};

use crate::{CopilotCli, sessions};

pub(crate) const REPO_FILE: &str = ".github/hooks/hookhost.json";
pub(crate) const USER_FILE: &str = ".copilot/hooks/hookhost.json";

/// Seconds; Copilot's own default.
const TIMEOUT: u32 = 30;

/// The events are registered in camel case: that spelling is what gives payloads in camel case.
pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let mut insertions = vec![default_value("version", "1")];
    insertions.extend(entries::<CopilotCli>(|hook| {
        format!(
            "{{\"type\":\"command\",\"bash\":{},\"powershell\":{},\"timeoutSec\":{TIMEOUT}}}",
            quoted(&filled::<CopilotCli>(&invocation.posix, invocation, hook)),
            quoted(&filled::<CopilotCli>(&invocation.powershell, invocation, hook)),
        )
    }));
    let moved = env(context, sessions::HOME).filter(|_| scope == Scope::User);
    let file = match moved {
        Some(home) => paths::join(&paths::expand_home(home, context), "hooks/hookhost.json"),
        None => settings_file(scope, REPO_FILE, USER_FILE, context)?,
    };
    let notes = match scope {
        Scope::Repo => vec!["Copilot CLI runs this repository's hooks once you have trusted its folder.".to_owned()],
        Scope::User => vec![],
    };
    let off = context
        .files
        .iter()
        .find(|file| is_set("disableAllHooks", &file.path, context));
    let obstacles = off.map(|file| format!("Hooks are switched off by `disableAllHooks` in {}.", file.path));
    Ok(RegistrationPlan {
        edits: vec![Edit::Config(ConfigEdit {
            file,
            format: ConfigFormat::Json,
            insertions,
            sweep: vec![vec!["hooks".to_owned()]],
            remove_when_empty: true,
        })],
        hooks: registered_hooks::<CopilotCli>(),
        notes,
        obstacles: obstacles.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing;

    fn edit(scope: Scope, context: &Context) -> ConfigEdit {
        let mut plan = testing::plan::<CopilotCli>(scope, context).unwrap();
        assert_eq!(plan.hooks, 7);
        match plan.edits.remove(0) {
            Edit::Config(edit) => edit,
            Edit::File(file) => panic!("{file:?}"),
        }
    }

    #[test]
    fn the_file_of_our_own_has_an_entry_for_each_event_in_camel_case() {
        let edit = edit(Scope::Repo, &testing::context());
        assert_eq!(edit.file, "/home/dev/project/.github/hooks/hookhost.json");
        let shown: Vec<_> = edit
            .insertions
            .iter()
            .map(|insertion| format!("{} {}", insertion.path.join("."), insertion.value))
            .collect();
        assert_eq!(shown[0], "version 1");
        assert_eq!(
            shown[3],
            r#"hooks.agentStop {"type":"command","bash":"hookhost hook copilot-cli agentStop","powershell":"hookhost hook copilot-cli agentStop","timeoutSec":30}"#
        );
        let events: Vec<_> = shown.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(
            events,
            [
                "version",
                "hooks.sessionStart",
                "hooks.userPromptSubmitted",
                "hooks.agentStop",
                "hooks.preCompact",
                "hooks.sessionEnd",
                "hooks.subagentStart",
                "hooks.subagentStop",
            ]
        );
    }

    #[test]
    fn the_user_is_told_when_hooks_are_switched_off() {
        let obstacles = |text| {
            let context = testing::context_with_files(&[("/home/dev/.copilot/settings.json", text)]);
            testing::plan::<CopilotCli>(Scope::User, &context).unwrap().obstacles
        };
        assert_eq!(obstacles(r#"{"disableAllHooks":false}"#), [""; 0]);
        assert_eq!(
            obstacles("{\"disableAllHooks\":true, // quiet\n}"),
            ["Hooks are switched off by `disableAllHooks` in /home/dev/.copilot/settings.json."]
        );
    }

    #[test]
    fn the_users_file_lies_in_copilots_home() {
        let mut context = testing::context();
        assert_eq!(
            edit(Scope::User, &context).file,
            "/home/dev/.copilot/hooks/hookhost.json"
        );
        context.env.push((sessions::HOME.to_owned(), "/opt/copilot".to_owned()));
        assert_eq!(edit(Scope::User, &context).file, "/opt/copilot/hooks/hookhost.json");
        assert_eq!(
            edit(Scope::Repo, &context).file,
            "/home/dev/project/.github/hooks/hookhost.json"
        );
    }
}
