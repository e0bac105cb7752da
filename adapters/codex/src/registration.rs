//! Groups of our own in Codex's hooks: in `hooks.json`, or as tables in `config.toml` where the user keeps them there.
//!
//! Codex warns when both forms stand in one layer, so the form that is there is followed. A hook runs only after the
//! user has reviewed it; what the user trusted is remembered by the place in its list, so ours goes last.

mod config;

use hookhost_sdk::json::quoted;
use hookhost_sdk::registration::{GroupedHook, filled, grouped, registered_hooks, settings_edit, swept_hooks};
use hookhost_sdk::{
    ConfigFormat, Context, Fault, Insertion, Invocation, Object, Platform, RegistrationPlan, Scope, paths,
};

use crate::{Codex, sessions};
use config::Config;

/// Seconds.
const TIMEOUT: u32 = 30;

const HOOKS: &[GroupedHook] = &[
    GroupedHook::all("SessionStart"),
    GroupedHook::all("UserPromptSubmit"),
    GroupedHook::all("Stop"),
    GroupedHook::all("Interrupt"),
    GroupedHook::all("PreCompact"),
    GroupedHook::all("SessionEnd"),
    GroupedHook::all("SubagentStart"),
    GroupedHook::all("SubagentStop"),
];

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let dir = match (scope, context.repo_root.as_deref()) {
        (Scope::User, _) => sessions::home(context)?,
        (Scope::Repo, Some(root)) => paths::join(root, ".codex"),
        (Scope::Repo, None) => return Err(Fault::Other("there is no repository here".to_owned())),
    };
    let json = paths::join(&dir, "hooks.json");
    let toml = paths::join(&dir, "config.toml");
    let config = config_at(&toml, context);
    let in_json = paths::wanted_text(context, &json).is_some_and(|text| has_hooks(&text));
    let insertions = insertions(invocation, scope, context);
    let (obstacles, is_trusted) = obstacles(scope, &config, &[&json, &toml], context);
    let edits = match (in_json, config.has_hooks) {
        (false, true) => vec![settings_edit(toml, ConfigFormat::Toml, insertions)],
        // Ours may stand in the other form from before.
        (true, true) => vec![
            settings_edit(json, ConfigFormat::Json, insertions),
            swept_hooks(toml, ConfigFormat::Toml),
        ],
        (_, false) => vec![settings_edit(json, ConfigFormat::Json, insertions)],
    };
    Ok(RegistrationPlan {
        edits,
        hooks: registered_hooks::<Codex>(),
        notes: notes(scope, is_trusted),
        obstacles,
    })
}

/// A repository's file is read on every system that its users have, so it holds the command for each.
fn insertions(invocation: &Invocation, scope: Scope, context: &Context) -> Vec<Insertion> {
    if scope == Scope::User {
        return grouped::<Codex>(HOOKS, TIMEOUT, |_| String::new(), invocation, context);
    }
    let for_windows = |hook: &str| {
        let command = filled::<Codex>(&invocation.cmd, invocation, hook);
        format!("\"commandWindows\":{}", quoted(&command))
    };
    let elsewhere = Context {
        platform: Platform::Linux,
        ..context.clone()
    };
    grouped::<Codex>(HOOKS, TIMEOUT, for_windows, invocation, &elsewhere)
}

/// What the user has to do is said once, as an obstacle where it is known to be one.
fn notes(scope: Scope, is_trusted: bool) -> Vec<String> {
    let mut notes = vec![];
    if is_trusted {
        notes.push(
            "If hooks are new or have changed, Codex passes over them until you trust them in /hooks.".to_owned(),
        );
    }
    if scope == Scope::Repo {
        notes.push("Codex runs a repository's hooks only in a project that you have trusted.".to_owned());
    }
    notes
}

/// And whether hooks of these files, `sources`, were trusted: the user's `config.toml` names a hook that was reviewed by
/// its file.
fn obstacles(scope: Scope, config: &Config, sources: &[&str], context: &Context) -> (Vec<String>, bool) {
    let mut obstacles = vec![];
    let users = sessions::home(context).map(|home| paths::join(&home, "config.toml"));
    let users = users.unwrap_or_default();
    let mut switched_off = config.switches_hooks_off;
    if scope == Scope::Repo {
        switched_off |= config_at(&users, context).switches_hooks_off;
    }
    if switched_off {
        obstacles.push("Hooks are switched off in config.toml: take `hooks = false` out of [features].".to_owned());
    }
    let text = paths::wanted_text(context, &users).unwrap_or_default();
    let is_trusted = sources.iter().any(|source| text.contains(&format!("{source}:")));
    if !is_trusted {
        obstacles.push(
            "Codex passes over the hooks, without a word, until you trust them: open /hooks in it once.".to_owned(),
        );
    }
    (obstacles, is_trusted)
}

fn config_at(file: &str, context: &Context) -> Config {
    paths::wanted_text(context, file)
        .map(|text| Config::read(&text))
        .unwrap_or_default()
}

/// Whether a `hooks.json` registers anything.
fn has_hooks(text: &str) -> bool {
    let Ok(root) = Object::parse(text.trim_start_matches('\u{feff}')) else {
        return false;
    };
    root.object("hooks")
        .is_some_and(|hooks| hooks.fields().any(|(_, groups)| !groups.items().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::Edit;
    use hookhost_sdk::testing::{self, context_with_files, edited_files};

    const JSON_HOOKS: &str = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}"#;
    const TOML_HOOKS: &str = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\n";

    #[test]
    fn each_hook_is_a_group_at_the_end_of_its_list() {
        let plan = testing::plan::<Codex>(Scope::User, &testing::context()).unwrap();
        assert_eq!(plan.hooks, 8);
        let [Edit::Config(config)] = plan.edits.as_slice() else {
            panic!("one file")
        };
        assert_eq!(config.file, "/home/dev/.codex/hooks.json");
        assert_eq!(config.insertions[2].path, ["hooks", "Stop"]);
        assert_eq!(
            config.insertions[2].value,
            r#"{"hooks":[{"type":"command","command":"hookhost hook codex Stop","timeout":30}]}"#
        );
        assert_eq!(config.insertions[2].how, hookhost_sdk::InsertMode::Append);
    }

    #[test]
    fn a_repositorys_file_holds_the_command_for_windows_as_well() {
        let mut context = testing::context();
        for platform in [Platform::Linux, Platform::Windows] {
            context.platform = platform;
            let plan = testing::plan::<Codex>(Scope::Repo, &context).unwrap();
            let Edit::Config(config) = &plan.edits[0] else { panic!() };
            assert_eq!(config.file, "/home/dev/project/.codex/hooks.json");
            let group = Object::parse(&config.insertions[0].value).unwrap();
            let handler = group.items("hooks")[0].object().unwrap();
            assert_eq!(handler.text("command").unwrap(), "hookhost hook codex SessionStart");
            assert_eq!(
                handler.text("commandWindows").unwrap(),
                "hookhost hook codex SessionStart"
            );
        }
    }

    #[test]
    fn the_form_that_is_there_is_followed() {
        let json = "/home/dev/project/.codex/hooks.json";
        let toml = "/home/dev/project/.codex/config.toml";
        let planned = |files: &[(&str, &str)]| testing::plan::<Codex>(Scope::Repo, &context_with_files(files)).unwrap();
        assert_eq!(edited_files(&planned(&[(toml, TOML_HOOKS)])), [(toml, 8)]);
        assert_eq!(
            edited_files(&planned(&[(toml, TOML_HOOKS), (json, "{\"hooks\":{}}")])),
            [(toml, 8)]
        );
        assert_eq!(
            edited_files(&planned(&[(toml, "model = \"x\""), (json, JSON_HOOKS)])),
            [(json, 8)]
        );
        assert_eq!(
            edited_files(&planned(&[(toml, TOML_HOOKS), (json, JSON_HOOKS)])),
            [(json, 8), (toml, 0)]
        );
    }

    #[test]
    fn codex_home_names_the_users_files() {
        let mut context = context_with_files(&[
            ("/cx/config.toml", TOML_HOOKS),
            ("/home/dev/.codex/hooks.json", JSON_HOOKS),
        ]);
        context.env = vec![("CODEX_HOME".to_owned(), "/cx".to_owned())];
        let plan = testing::plan::<Codex>(Scope::User, &context).unwrap();
        assert_eq!(edited_files(&plan), [("/cx/config.toml", 8)]);
    }

    #[test]
    fn the_user_is_told_what_keeps_the_hooks_from_running() {
        let off = "[features]\nhooks = false\n";
        let plan = testing::plan::<Codex>(
            Scope::Repo,
            &context_with_files(&[("/home/dev/.codex/config.toml", off)]),
        )
        .unwrap();
        assert_eq!(plan.notes.len(), 1);
        assert!(plan.notes[0].contains("project that you have trusted"));
        assert_eq!(plan.obstacles.len(), 2);
        assert!(plan.obstacles[0].contains("switched off"));
        assert!(plan.obstacles[1].contains("trust"));
    }

    #[test]
    fn hooks_that_were_reviewed_are_no_obstacle() {
        let trusted = "[hooks.state.\"/home/dev/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"x\"\n";
        let context = context_with_files(&[("/home/dev/.codex/config.toml", trusted)]);
        let plan = |scope| testing::plan::<Codex>(scope, &context).unwrap();
        let user = plan(Scope::User);
        assert_eq!(user.obstacles, Vec::<String>::new());
        assert!(user.notes[0].contains("/hooks"));
        let repo = plan(Scope::Repo);
        assert_eq!(repo.obstacles.len(), 1);
        assert!(!repo.notes.iter().any(|note| note.contains("/hooks")));
    }

    #[test]
    fn there_is_no_plan_without_a_place() {
        let mut context = testing::context();
        context.repo_root = None;
        assert!(testing::plan::<Codex>(Scope::Repo, &context).is_err());
    }
}
