//! Groups of our own in Droid's hooks: in `hooks.json` where there is one, in `settings.json` where that one holds
//! hooks, else in a new `hooks.json`. Never in both.

use hookhost_sdk::registration::{GroupedHook, grouped, registered_hooks, settings_edit, swept_hooks};
use hookhost_sdk::{ConfigFormat, Context, Fault, FileState, Invocation, Object, RegistrationPlan, Scope, json, paths};

use crate::FactoryDroid;

/// Seconds.
const TIMEOUT: u32 = 30;

const HOOKS: &[GroupedHook] = &[
    GroupedHook::all("SessionStart"),
    GroupedHook::all("UserPromptSubmit"),
    GroupedHook::all("Stop"),
    GroupedHook::all("PreCompact"),
    GroupedHook::all("SessionEnd"),
    GroupedHook::matching("PreToolUse", "Task"),
    GroupedHook::matching("PostToolUse", "Task"),
];

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let base = match scope {
        Scope::Repo => context.repo_root.as_deref(),
        Scope::User => context.home.as_deref(),
    };
    let base = base.ok_or_else(|| Fault::Other("there is no directory to register in".to_owned()))?;
    let dir = paths::join(base, ".factory");
    let own = paths::join(&dir, "hooks.json");
    let settings = paths::join(&dir, "settings.json");
    let text = paths::wanted_text(context, &settings).map(|text| json::without_comments(&text));
    let root = text
        .as_deref()
        .and_then(|text| Object::parse(text).ok())
        .unwrap_or_default();
    let has_own = !matches!(paths::wanted_file(context, &own), None | Some(FileState::Missing));
    let in_settings = registers(&root);

    let insertions = grouped::<FactoryDroid>(HOOKS, TIMEOUT, |_| String::new(), invocation, context);
    let edits = match (has_own, in_settings) {
        (false, true) => vec![settings_edit(settings, ConfigFormat::Jsonc, insertions)],
        (true, true) => vec![
            settings_edit(own, ConfigFormat::Jsonc, insertions),
            swept_hooks(settings, ConfigFormat::Jsonc),
        ],
        (_, false) => vec![settings_edit(own, ConfigFormat::Jsonc, insertions)],
    };
    let notes = vec!["Restart Droid, or open /hooks in it: it reads its hooks when it starts.".to_owned()];
    let off = root.flag("hooksDisabled");
    let obstacles = off.then(|| "Hooks are switched off by `hooksDisabled` in settings.json.".to_owned());
    Ok(RegistrationPlan {
        edits,
        hooks: registered_hooks::<FactoryDroid>(),
        notes,
        obstacles: obstacles.into_iter().collect(),
    })
}

/// Whether the settings hold hooks. `hooks` has members there that are none, such as `claudeHooksImported`.
fn registers(root: &Object<'_>) -> bool {
    root.object("hooks")
        .is_some_and(|hooks| hooks.fields().any(|(_, groups)| !groups.items().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::Edit;
    use hookhost_sdk::testing::{self, context_with_files, edited_files};

    const OWN: &str = "/home/dev/project/.factory/hooks.json";
    const SETTINGS: &str = "/home/dev/project/.factory/settings.json";
    const HOLDS_HOOKS: &str = "{ // mine\n \"hooks\": { \"claudeHooksImported\": true, \"Stop\": [{\"hooks\":[]}], } }";

    fn planned(files: &[(&str, &str)]) -> RegistrationPlan {
        testing::plan::<FactoryDroid>(Scope::Repo, &context_with_files(files)).unwrap()
    }

    #[test]
    fn the_file_that_holds_the_hooks_is_followed() {
        assert_eq!(edited_files(&planned(&[])), [(OWN, 7)]);
        assert_eq!(edited_files(&planned(&[(SETTINGS, HOLDS_HOOKS)])), [(SETTINGS, 7)]);
        assert_eq!(
            edited_files(&planned(&[(SETTINGS, "{\"hooks\":{\"claudeHooksImported\":true}}")])),
            [(OWN, 7)]
        );
        assert_eq!(
            edited_files(&planned(&[(SETTINGS, HOLDS_HOOKS), (OWN, "{}")])),
            [(OWN, 7), (SETTINGS, 0)]
        );
    }

    #[test]
    fn tool_hooks_are_asked_for_one_tool_only() {
        let plan = planned(&[]);
        let Edit::Config(config) = &plan.edits[0] else { panic!() };
        assert_eq!(plan.hooks, 7);
        assert_eq!(
            config.insertions[5].value,
            r#"{"matcher":"Task","hooks":[{"type":"command","command":"hookhost hook factory-droid PreToolUse","timeout":30}]}"#
        );
        assert_eq!(
            config.insertions[2].value,
            r#"{"hooks":[{"type":"command","command":"hookhost hook factory-droid Stop","timeout":30}]}"#
        );
    }

    #[test]
    fn the_user_is_told_of_the_switch() {
        assert_eq!(planned(&[]).obstacles.len(), 0);
        assert_eq!(planned(&[(SETTINGS, "{\"hooksDisabled\":true,}")]).obstacles.len(), 1);
    }
}
