//! A plugin folder of our own in the shared `.agents/plugins`.

use hookhost_sdk::json::quoted;
use hookhost_sdk::paths::join;
use hookhost_sdk::registration::{command, own_file, registered_hooks};
use hookhost_sdk::{Adapter, Context, Fault, Invocation, RegistrationPlan, Scope};

use crate::Goose;

/// Seconds. A turn waits for its hooks.
const TIMEOUT: u32 = 10;

/// Stands in both files; goose reads the name from `plugin.json`.
const MARKER: &str = "hookhost";

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let base = match scope {
        Scope::Repo => context.repo_root.as_deref(),
        Scope::User => context.home.as_deref(),
    };
    let base = base.ok_or_else(|| Fault::Other("there is no directory to register in".to_owned()))?;
    let folder = join(base, ".agents/plugins/hookhost");
    // No matcher: one that goose cannot read drops the rule without a word.
    let hooks: Vec<String> = Goose::MANIFEST
        .hooks
        .iter()
        .filter(|hook| hook.registered)
        .map(|hook| {
            let command = quoted(&command::<Goose>(invocation, hook.native, context));
            let event = hook.native;
            format!(
                "    \"{event}\": [\n      {{\"hooks\": [{{\"type\": \"command\", \"command\": {command}, \"timeout\": {TIMEOUT}}}]}}\n    ]"
            )
        })
        .collect();
    let hooks = format!("{{\n  \"hooks\": {{\n{}\n  }}\n}}\n", hooks.join(",\n"));
    let plugin = "{\n  \"name\": \"hookhost\",\n  \"version\": \"1.0.0\",\n  \
                  \"description\": \"Records what goose does\"\n}\n";
    Ok(RegistrationPlan {
        edits: vec![
            own_file(join(&folder, "plugin.json"), MARKER, plugin.to_owned(), false),
            own_file(join(&folder, "hooks/hooks.json"), MARKER, hooks, false),
        ],
        hooks: registered_hooks::<Goose>(),
        notes: vec!["goose takes the plugin up when it is started again.".to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::{Edit, Object, testing};

    #[test]
    fn the_plugin_has_a_command_for_each_of_the_four_hooks() {
        let plan = testing::plan::<Goose>(Scope::Repo, &testing::context()).unwrap();
        let files: Vec<_> = plan
            .edits
            .iter()
            .map(|edit| match edit {
                Edit::File(file) => (file.path.as_str(), Object::parse(&file.content).unwrap()),
                Edit::Config(_) => panic!("a file of our own was expected"),
            })
            .collect();
        let [(plugin_path, plugin), (hooks_path, hooks)] = &files[..] else {
            panic!("two files were expected")
        };
        assert_eq!(*plugin_path, "/home/dev/project/.agents/plugins/hookhost/plugin.json");
        assert_eq!(
            *hooks_path,
            "/home/dev/project/.agents/plugins/hookhost/hooks/hooks.json"
        );
        assert_eq!(plugin.text("name").as_deref(), Some("hookhost"));
        let events = hooks.object("hooks").unwrap();
        let names: Vec<_> = events.fields().map(|(name, _)| name).collect();
        assert_eq!(names, ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]);
        let handler = events.items("Stop")[0].object().unwrap().items("hooks")[0]
            .object()
            .unwrap();
        assert_eq!(handler.text("command").as_deref(), Some("hookhost hook goose Stop"));
    }
}
