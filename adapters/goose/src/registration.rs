//! A plugin folder of our own in the shared `.agents/plugins`.

use hookhost_sdk::json::quoted;
use hookhost_sdk::paths::join;
use hookhost_sdk::registration::{command, entries, own_file, registered_hooks};
use hookhost_sdk::{ConfigEdit, ConfigFormat, Context, Edit, Fault, Invocation, RegistrationPlan, Scope};

use crate::Goose;

/// Seconds. A turn waits for its hooks.
const TIMEOUT: u32 = 10;

/// By what we know our `plugin.json`.
const MARKER: &str = "\"name\": \"hookhost\"";

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let base = match scope {
        Scope::Repo => context.repo_root.as_deref(),
        Scope::User => context.home.as_deref(),
    };
    let base = base.ok_or_else(|| Fault::Other("there is no directory to register in".to_owned()))?;
    let folder = join(base, ".agents/plugins/hookhost");
    // No matcher: one that goose cannot read drops the rule without a word.
    let insertions = entries::<Goose>(|hook| {
        let command = quoted(&command::<Goose>(invocation, hook, context));
        format!("{{\"hooks\":[{{\"type\":\"command\",\"command\":{command},\"timeout\":{TIMEOUT}}}]}}")
    });
    let plugin = "{\n  \"name\": \"hookhost\",\n  \"version\": \"1.0.0\",\n  \
                  \"description\": \"Records what goose does\"\n}\n";
    Ok(RegistrationPlan {
        edits: vec![
            own_file(join(&folder, "plugin.json"), MARKER, plugin.to_owned(), false),
            Edit::Config(ConfigEdit {
                file: join(&folder, "hooks/hooks.json"),
                format: ConfigFormat::Json,
                insertions,
                sweep: vec![vec!["hooks".to_owned()]],
                remove_when_empty: true,
            }),
        ],
        hooks: registered_hooks::<Goose>(),
        notes: vec!["goose takes the plugin up when it is started again.".to_owned()],
        obstacles: vec![],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::{Object, testing};

    #[test]
    fn the_plugin_has_a_command_for_each_of_the_four_hooks() {
        let plan = testing::plan::<Goose>(Scope::Repo, &testing::context()).unwrap();
        let [Edit::File(plugin), Edit::Config(hooks)] = &plan.edits[..] else {
            panic!("a file of our own and one with the hooks were expected")
        };
        assert_eq!(plugin.path, "/home/dev/project/.agents/plugins/hookhost/plugin.json");
        let description = Object::parse(&plugin.content).unwrap();
        assert_eq!(description.text("name").as_deref(), Some("hookhost"));
        assert!(plugin.content.contains(MARKER));
        assert_eq!(
            hooks.file,
            "/home/dev/project/.agents/plugins/hookhost/hooks/hooks.json"
        );
        let paths: Vec<_> = hooks
            .insertions
            .iter()
            .map(|insertion| insertion.path.join("."))
            .collect();
        assert_eq!(
            paths,
            [
                "hooks.SessionStart",
                "hooks.UserPromptSubmit",
                "hooks.Stop",
                "hooks.SessionEnd"
            ]
        );
        assert_eq!(
            hooks.insertions[2].value,
            r#"{"hooks":[{"type":"command","command":"hookhost hook goose Stop","timeout":10}]}"#
        );
    }
}
