//! How Gemini CLI is told to run our command: groups of handlers in `settings.json`, which may hold comments.

use hookhost_sdk::json::{quoted, without_comments};
use hookhost_sdk::registration::{GroupedHook, grouped, registered_hooks, settings_edit, settings_file};
use hookhost_sdk::{ConfigFormat, Context, Fault, Invocation, Json, Object, RegistrationPlan, Scope, env, paths};

use crate::{GeminiCli, sessions};

pub(crate) const FILE: &str = ".gemini/settings.json";

/// Milliseconds.
const TIMEOUT: u32 = 30_000;

const HOOKS: &[GroupedHook] = &[
    GroupedHook::all("SessionStart"),
    GroupedHook::all("SessionEnd"),
    GroupedHook::all("BeforeAgent"),
    GroupedHook::all("AfterAgent"),
    // The automatic one fires on every turn of the model, before it is known whether anything is to be compressed.
    GroupedHook::matching("PreCompress", "manual"),
    GroupedHook::matching("BeforeTool", "^invoke_agent$"),
    GroupedHook::matching("AfterTool", "^invoke_agent$"),
];

/// Each handler has a name: users switch hooks off by it, and trust is kept for name and command together.
pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    // On Windows hooks run in PowerShell.
    let invocation = Invocation {
        cmd: invocation.powershell.clone(),
        ..invocation.clone()
    };
    let name = |event: &str| format!("\"name\":{}", quoted(&format!("hookhost-{event}")));
    let moved = env(context, sessions::HOME).filter(|_| scope == Scope::User);
    let file = match moved {
        Some(home) => paths::join(&paths::expand_home(home, context), FILE),
        None => settings_file(scope, FILE, FILE, context)?,
    };
    let notes = vec![
        "Gemini CLI runs hooks in trusted folders only, and warns once of hooks that are new in a repository."
            .to_owned(),
    ];
    Ok(RegistrationPlan {
        edits: vec![settings_edit(
            file,
            ConfigFormat::Jsonc,
            grouped::<GeminiCli>(HOOKS, TIMEOUT, name, &invocation, context),
        )],
        hooks: registered_hooks::<GeminiCli>(),
        notes,
        obstacles: switched_off(context).into_iter().collect(),
    })
}

/// Where the user has switched hooks off, if so. The key has moved twice.
fn switched_off(context: &Context) -> Option<String> {
    let mut settings = context.files.iter().filter(|file| file.path.ends_with("settings.json"));
    settings.find_map(|file| {
        let text = paths::wanted_text(context, &file.path)?;
        let plain = without_comments(&text);
        let settings = Object::parse(&plain).ok()?;
        let is_off = |key: &&str| settings.at(key).and_then(Json::flag) == Some(false);
        let keys = ["hooksConfig.enabled", "hooks.enabled", "tools.enableHooks"];
        let key = keys.into_iter().find(is_off)?;
        Some(format!("Hooks are switched off by `{key}` in {}.", file.path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::{ConfigEdit, Edit, Platform, testing};

    fn edit(scope: Scope, context: &Context) -> ConfigEdit {
        let mut plan = testing::plan::<GeminiCli>(scope, context).unwrap();
        assert_eq!(plan.hooks as usize, HOOKS.len());
        match plan.edits.remove(0) {
            Edit::Config(edit) => edit,
            Edit::File(file) => panic!("{file:?}"),
        }
    }

    #[test]
    fn handlers_have_names_milliseconds_and_the_matchers_that_keep_them_rare() {
        let edit = edit(Scope::Repo, &testing::context());
        assert_eq!(edit.file, "/home/dev/project/.gemini/settings.json");
        let shown: Vec<_> = edit
            .insertions
            .iter()
            .map(|insertion| format!("{} {}", insertion.path.join("."), insertion.value))
            .collect();
        assert_eq!(
            shown[3],
            r#"hooks.AfterAgent {"hooks":[{"name":"hookhost-AfterAgent","type":"command","command":"hookhost hook gemini-cli AfterAgent","timeout":30000}]}"#
        );
        assert_eq!(
            shown[4],
            r#"hooks.PreCompress {"matcher":"manual","hooks":[{"name":"hookhost-PreCompress","type":"command","command":"hookhost hook gemini-cli PreCompress","timeout":30000}]}"#
        );
        assert!(shown[5].starts_with(r#"hooks.BeforeTool {"matcher":"^invoke_agent$","#));
        assert!(shown[6].starts_with(r#"hooks.AfterTool {"matcher":"^invoke_agent$","#));
    }

    #[test]
    fn the_user_is_told_when_hooks_are_switched_off() {
        let obstacles = |text| {
            let context = testing::context_with_files(&[("/home/dev/.gemini/settings.json", text)]);
            testing::plan::<GeminiCli>(Scope::Repo, &context).unwrap().obstacles
        };
        assert_eq!(obstacles(r#"{"hooksConfig":{"enabled":true}}"#), [""; 0]);
        assert_eq!(
            obstacles("{\n// for now\n\"hooksConfig\":{\"enabled\":false,}}")[0],
            "Hooks are switched off by `hooksConfig.enabled` in /home/dev/.gemini/settings.json."
        );
        assert!(obstacles(r#"{"tools":{"enableHooks":false}}"#)[0].contains("tools.enableHooks"));
    }

    #[test]
    fn windows_gets_a_command_for_powershell() {
        let invocation = Invocation {
            posix: "sh".to_owned(),
            cmd: "cmd".to_owned(),
            powershell: "ps {hook}".to_owned(),
            argv: vec![],
            kebab: false,
        };
        let mut windows = testing::context();
        windows.platform = Platform::Windows;
        let plan = plan(&invocation, Scope::Repo, &windows).unwrap();
        let [Edit::Config(edit)] = plan.edits.as_slice() else {
            panic!("one file")
        };
        assert!(edit.insertions[0].value.contains(r#""command":"ps SessionStart""#));
    }

    #[test]
    fn the_users_file_lies_in_the_home_that_the_variable_names() {
        let mut context = testing::context();
        assert_eq!(edit(Scope::User, &context).file, "/home/dev/.gemini/settings.json");
        context.env.push((sessions::HOME.to_owned(), "/work/g".to_owned()));
        assert_eq!(edit(Scope::User, &context).file, "/work/g/.gemini/settings.json");
    }
}
