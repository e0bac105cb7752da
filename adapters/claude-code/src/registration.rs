//! How Claude Code is told to run our command.

use hookhost_sdk::registration::{GroupedHook, grouped, is_set, registered_hooks, settings_edit, settings_file};
use hookhost_sdk::{Adapter, ConfigFormat, Context, Fault, Invocation, RegistrationPlan, Scope, paths};

use crate::sessions;

/// The file of a repository that its users share.
pub(crate) const SETTINGS: &str = ".claude/settings.json";

/// `Task` is what the tool was called before 2.1.63.
const AGENT_TOOLS: &str = "Task|Agent";

const HOOKS: &[GroupedHook] = &[
    GroupedHook::all("SessionStart"),
    GroupedHook::all("UserPromptSubmit"),
    GroupedHook::all("Stop"),
    GroupedHook::all("StopFailure"),
    GroupedHook::all("PreCompact"),
    GroupedHook::all("SessionEnd"),
    GroupedHook::matching("PreToolUse", AGENT_TOOLS),
    GroupedHook::matching("PostToolUse", AGENT_TOOLS),
    GroupedHook::all("SubagentStop"),
];

/// In seconds. Must be set: without it SessionEnd's hooks together get one and a half.
const TIMEOUT: u32 = 30;

pub(crate) fn plan<A: Adapter>(
    invocation: &Invocation,
    scope: Scope,
    context: &Context,
) -> Result<RegistrationPlan, Fault> {
    let file = match scope {
        Scope::Repo => settings_file(scope, SETTINGS, "", context)?,
        Scope::User => paths::join(&sessions::config_dir(context)?, "settings.json"),
    };
    // On Windows the command runs in Git Bash.
    let invocation = Invocation {
        cmd: invocation.posix.clone(),
        ..invocation.clone()
    };
    let mut notes = vec![];
    if scope == Scope::Repo {
        notes.push(
            "Claude Code runs a repository's hooks in interactive sessions once its folder is trusted.".to_owned(),
        );
    }
    let off = is_set("disableAllHooks", &file, context);
    let obstacles = off.then(|| format!("Hooks are switched off by `disableAllHooks` in {file}."));
    Ok(RegistrationPlan {
        edits: vec![settings_edit(
            file,
            ConfigFormat::Jsonc,
            grouped::<A>(HOOKS, TIMEOUT, |_| String::new(), &invocation, context),
        )],
        hooks: registered_hooks::<A>(),
        notes,
        obstacles: obstacles.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing::{context, context_with_files, plan};
    use hookhost_sdk::{Adapter, Context, Edit, InsertMode, Json, Platform, Scope};

    use crate::ClaudeCode;

    /// The file, and path and value of each insertion.
    fn planned(scope: Scope, context: &Context) -> (String, Vec<(String, String)>) {
        let plan = plan::<ClaudeCode>(scope, context).unwrap();
        let [Edit::Config(edit)] = &plan.edits[..] else {
            panic!("one file is edited")
        };
        assert_eq!(plan.hooks as usize, edit.insertions.len());
        let insertions = edit.insertions.iter().map(|insertion| {
            assert_eq!(insertion.how, InsertMode::Append);
            (insertion.path.join("."), insertion.value.clone())
        });
        (edit.file.clone(), insertions.collect())
    }

    #[test]
    fn each_registered_hook_has_its_group() {
        let (file, insertions) = planned(Scope::Repo, &context());
        assert_eq!(file, "/home/dev/project/.claude/settings.json");
        let registered = ClaudeCode::MANIFEST.hooks.iter().filter(|hook| hook.registered);
        assert!(
            registered
                .map(|hook| format!("hooks.{}", hook.native))
                .eq(insertions.iter().map(|(path, _)| path.clone()))
        );
        assert_eq!(
            insertions[2].1,
            r#"{"hooks":[{"type":"command","command":"hookhost hook claude-code Stop","timeout":30}]}"#
        );
        assert_eq!(
            insertions[6].1,
            r#"{"matcher":"Task|Agent","hooks":[{"type":"command","command":"hookhost hook claude-code PreToolUse","timeout":30}]}"#
        );
        for (_, value) in insertions {
            Json::parse(&value).unwrap();
        }
    }

    #[test]
    fn a_users_settings_lie_in_the_config_dir() {
        let mut context = context();
        assert_eq!(planned(Scope::User, &context).0, "/home/dev/.claude/settings.json");
        context.env = vec![("CLAUDE_CONFIG_DIR".to_owned(), "/c".to_owned())];
        assert_eq!(planned(Scope::User, &context).0, "/c/settings.json");
        context.env.clear();
        context.home = None;
        plan::<ClaudeCode>(Scope::User, &context).unwrap_err();
    }

    #[test]
    fn the_user_is_told_that_hooks_are_switched_off() {
        let obstacles = |settings: &str| {
            let context = context_with_files(&[("/home/dev/project/.claude/settings.json", settings)]);
            plan::<ClaudeCode>(Scope::Repo, &context).unwrap().obstacles.len()
        };
        assert_eq!(obstacles("{}"), 0);
        assert_eq!(obstacles("{ \"disableAllHooks\": true, /* for now */ }"), 1);
    }

    #[test]
    fn on_windows_the_command_is_one_for_sh() {
        let mut context = context();
        context.platform = Platform::Windows;
        context.repo_root = Some(r"C:\work".to_owned());
        let (file, insertions) = planned(Scope::Repo, &context);
        assert_eq!(file, r"C:\work\.claude\settings.json");
        assert!(insertions[0].1.contains("hookhost hook claude-code SessionStart"));
    }
}
