//! Groups of our own in Qwen Code's settings.

use hookhost_sdk::json::quoted;
use hookhost_sdk::registration::{GroupedHook, grouped, is_set, registered_hooks, settings_edit, settings_file};
use hookhost_sdk::{ConfigFormat, Context, Fault, Invocation, RegistrationPlan, Scope};

use crate::QwenCode;

/// Milliseconds, unlike in the agents whose hooks look the same.
const TIMEOUT: u32 = 30_000;

const HOOKS: &[GroupedHook] = &[
    GroupedHook::all("SessionStart"),
    GroupedHook::all("UserPromptSubmit"),
    GroupedHook::all("Stop"),
    GroupedHook::all("StopFailure"),
    GroupedHook::all("PreCompact"),
    GroupedHook::all("SessionEnd"),
    GroupedHook::all("SubagentStart"),
    GroupedHook::all("SubagentStop"),
];

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let file = settings_file(scope, ".qwen/settings.json", ".qwen/settings.json", context)?;
    let name = |hook: &str| format!("\"name\":{}", quoted(&format!("hookhost-{hook}")));
    let mut notes = vec![];
    if scope == Scope::Repo {
        notes.push("Qwen Code reads a repository's settings only in a folder that you trust.".to_owned());
    }
    let off = is_set("disableAllHooks", &file, context);
    let obstacles = off.then(|| format!("Hooks are switched off by `disableAllHooks` in {file}."));
    Ok(RegistrationPlan {
        edits: vec![settings_edit(
            file,
            ConfigFormat::Jsonc,
            grouped::<QwenCode>(HOOKS, TIMEOUT, name, invocation, context),
        )],
        hooks: registered_hooks::<QwenCode>(),
        notes,
        obstacles: obstacles.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::{Edit, testing};

    #[test]
    fn each_hook_has_a_name_and_milliseconds() {
        let plan = testing::plan::<QwenCode>(Scope::Repo, &testing::context()).unwrap();
        let Edit::Config(config) = &plan.edits[0] else { panic!() };
        assert_eq!(config.file, "/home/dev/project/.qwen/settings.json");
        assert_eq!((config.insertions.len(), plan.hooks), (8, 8));
        assert_eq!(
            config.insertions[2].value,
            r#"{"hooks":[{"name":"hookhost-Stop","type":"command","command":"hookhost hook qwen-code Stop","timeout":30000}]}"#
        );
        assert_eq!(plan.notes.len(), 1);
    }

    #[test]
    fn the_user_is_told_of_the_switch() {
        let settings = (
            "/home/dev/.qwen/settings.json",
            "{ // off\n \"disableAllHooks\": true, }",
        );
        let context = testing::context_with_files(&[settings]);
        let plan = testing::plan::<QwenCode>(Scope::User, &context).unwrap();
        assert!(plan.obstacles[0].contains("disableAllHooks"));
    }
}
