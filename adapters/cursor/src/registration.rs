//! How Cursor is told to run our command: `hooks.json`, a flat list of entries for each event.

use hookhost_sdk::json::quoted;
use hookhost_sdk::registration::{command, default_value, entries, registered_hooks, settings_edit, settings_file};
use hookhost_sdk::{Adapter, ConfigFormat, Context, Fault, Invocation, RegistrationPlan, Scope};

const FILE: &str = ".cursor/hooks.json";

/// One entry for each registered hook. An entry holds nothing but its command: the file's schema is said to refuse
/// other keys, and the timeout is Cursor's own. An event name that Cursor does not know voids the whole file in some
/// builds, so only documented ones are registered.
pub(crate) fn plan<A: Adapter>(
    invocation: &Invocation,
    scope: Scope,
    context: &Context,
) -> Result<RegistrationPlan, Fault> {
    let mut insertions = vec![default_value("version", "1")];
    insertions.extend(entries::<A>(|hook| {
        format!("{{\"command\":{}}}", quoted(&command::<A>(invocation, hook, context)))
    }));
    // Cursor drops a file with such a command as a whole, everybody's hooks with it, and says nothing.
    if insertions.iter().any(|insertion| insertion.value.contains("://")) {
        return Err(Fault::Other(
            "Cursor ignores a hooks.json in which a command contains `://`: call hookhost by another path".to_owned(),
        ));
    }
    let notes = match scope {
        Scope::Repo => vec!["Cursor runs this repository's hooks once you have trusted its folder.".to_owned()],
        Scope::User => vec![],
    };
    Ok(RegistrationPlan {
        edits: vec![settings_edit(
            settings_file(scope, FILE, FILE, context)?,
            ConfigFormat::Json,
            insertions,
        )],
        hooks: registered_hooks::<A>(),
        notes,
        obstacles: vec![],
    })
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing::{context, plan};
    use hookhost_sdk::{Edit, Fault, Platform, Scope};

    use crate::Cursor;

    #[test]
    fn each_registered_event_gets_one_entry_with_a_command_and_nothing_else() {
        let plan = plan::<Cursor>(Scope::Repo, &context()).unwrap();
        let [Edit::Config(edit)] = plan.edits.as_slice() else {
            panic!("one file")
        };
        assert_eq!(edit.file, "/home/dev/project/.cursor/hooks.json");
        let shown: Vec<_> = edit
            .insertions
            .iter()
            .map(|insertion| format!("{} {}", insertion.path.join("."), insertion.value))
            .collect();
        assert_eq!(
            shown,
            [
                "version 1",
                r#"hooks.sessionStart {"command":"hookhost hook cursor sessionStart"}"#,
                r#"hooks.beforeSubmitPrompt {"command":"hookhost hook cursor beforeSubmitPrompt"}"#,
                r#"hooks.stop {"command":"hookhost hook cursor stop"}"#,
                r#"hooks.sessionEnd {"command":"hookhost hook cursor sessionEnd"}"#,
                r#"hooks.preCompact {"command":"hookhost hook cursor preCompact"}"#,
                r#"hooks.subagentStart {"command":"hookhost hook cursor subagentStart"}"#,
                r#"hooks.subagentStop {"command":"hookhost hook cursor subagentStop"}"#,
            ]
        );
        assert_eq!(plan.hooks, 7);
    }

    #[test]
    fn the_users_file_lies_in_the_home_directory() {
        let mut windows = context();
        windows.platform = Platform::Windows;
        windows.home = Some(r"C:\Users\dev".to_owned());
        let plan = plan::<Cursor>(Scope::User, &windows).unwrap();
        let [Edit::Config(edit)] = plan.edits.as_slice() else {
            panic!("one file")
        };
        assert_eq!(edit.file, r"C:\Users\dev\.cursor\hooks.json");
    }

    #[test]
    fn a_command_that_would_void_the_file_is_refused() {
        let invocation = hookhost_sdk::Invocation {
            posix: "file:///opt/hookhost hook cursor {hook}".to_owned(),
            cmd: String::new(),
            powershell: String::new(),
            argv: vec![],
            kebab: false,
        };
        let refused = super::plan::<Cursor>(&invocation, Scope::Repo, &context());
        assert!(matches!(refused, Err(Fault::Other(reason)) if reason.contains("://")));
    }
}
