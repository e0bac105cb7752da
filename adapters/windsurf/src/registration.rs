//! How Windsurf is told to run our command: `hooks.json`, a flat list of entries for each event, each with a command
//! for bash and one for PowerShell.

use hookhost_sdk::json::quoted;
use hookhost_sdk::registration::{entries, filled, registered_hooks, settings_edit, settings_file};
use hookhost_sdk::{ConfigFormat, Context, Edit, Fault, FileState, Invocation, RegistrationPlan, Scope, paths};

use crate::Windsurf;

const REPO_FILE: &str = ".windsurf/hooks.json";
const USER_FILE: &str = ".codeium/windsurf/hooks.json";

/// What the plugin for JetBrains reads. Edited only where it is: not everybody has the plugin.
pub(crate) const JETBRAINS_FILE: &str = ".codeium/hooks.json";

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let mut files = vec![settings_file(scope, REPO_FILE, USER_FILE, context)?];
    if scope == Scope::User {
        let jetbrains = settings_file(scope, REPO_FILE, JETBRAINS_FILE, context)?;
        if let Some(FileState::Content(_)) = paths::wanted_file(context, &jetbrains) {
            files.push(jetbrains);
        }
    }
    let hooks = registered_hooks::<Windsurf>() * u32::try_from(files.len()).unwrap_or(1);
    Ok(RegistrationPlan {
        edits: files.into_iter().map(|file| edit(file, invocation)).collect(),
        hooks,
        notes: vec![],
        obstacles: vec![],
    })
}

fn edit(file: String, invocation: &Invocation) -> Edit {
    let insertions = entries::<Windsurf>(|hook| {
        format!(
            "{{\"command\":{},\"powershell\":{},\"show_output\":false}}",
            quoted(&filled::<Windsurf>(&invocation.posix, invocation, hook)),
            quoted(&filled::<Windsurf>(&invocation.powershell, invocation, hook)),
        )
    });
    settings_edit(file, ConfigFormat::Json, insertions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing::{context, context_with_files, edited_files, plan};

    #[test]
    fn each_turn_is_registered_once() {
        let plan = plan::<Windsurf>(Scope::Repo, &context()).unwrap();
        assert_eq!(edited_files(&plan), [("/home/dev/project/.windsurf/hooks.json", 2)]);
        let [Edit::Config(edit)] = plan.edits.as_slice() else {
            panic!("one file")
        };
        let shown: Vec<_> = edit
            .insertions
            .iter()
            .map(|insertion| format!("{} {}", insertion.path.join("."), insertion.value))
            .collect();
        assert_eq!(
            shown,
            [
                r#"hooks.pre_user_prompt {"command":"hookhost hook windsurf pre_user_prompt","powershell":"hookhost hook windsurf pre_user_prompt","show_output":false}"#,
                r#"hooks.post_cascade_response_with_transcript {"command":"hookhost hook windsurf post_cascade_response_with_transcript","powershell":"hookhost hook windsurf post_cascade_response_with_transcript","show_output":false}"#,
            ]
        );
        assert_eq!(plan.hooks, 2);
    }

    #[test]
    fn the_jetbrains_plugins_file_is_edited_where_there_is_one() {
        assert_eq!(
            edited_files(&plan::<Windsurf>(Scope::User, &context()).unwrap()),
            [("/home/dev/.codeium/windsurf/hooks.json", 2)]
        );
        let context = context_with_files(&[("/home/dev/.codeium/hooks.json", "{}")]);
        let both = plan::<Windsurf>(Scope::User, &context).unwrap();
        assert_eq!(
            edited_files(&both),
            [
                ("/home/dev/.codeium/windsurf/hooks.json", 2),
                ("/home/dev/.codeium/hooks.json", 2)
            ]
        );
        assert_eq!(both.hooks, 4);
    }
}
