//! The plugin file that forwards OpenCode's events.

use hookhost_sdk::paths::{configured_dir, join};
use hookhost_sdk::registration::{own_file, plugin, registered_hooks};
use hookhost_sdk::{Context, Fault, Invocation, RegistrationPlan, Scope};

use crate::OpenCode;

const TEMPLATE: &str = include_str!("../plugin/hookhost.js");
/// Stands in the template's first line, before the version of the file's form.
const MARKER: &str = "// hookhost-plugin";
const FILE: &str = "plugins/hookhost.js";

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let dir = match scope {
        Scope::Repo => context.repo_root.as_deref().map(|root| join(root, ".opencode")),
        Scope::User => configured_dir(context, "XDG_CONFIG_HOME", ".config").map(|dir| join(&dir, "opencode")),
    }
    .ok_or_else(|| {
        Fault::Other(match scope {
            Scope::Repo => "not in a repository".to_owned(),
            Scope::User => "the home directory is not known".to_owned(),
        })
    })?;
    Ok(RegistrationPlan {
        edits: vec![own_file(
            join(&dir, FILE),
            MARKER,
            plugin::<OpenCode>(TEMPLATE, invocation),
            false,
        )],
        hooks: registered_hooks::<OpenCode>(),
        notes: vec!["Start OpenCode anew: it loads plugins when it starts.".to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::Edit;
    use hookhost_sdk::testing::{context, plan};

    fn file(scope: Scope, context: &Context) -> hookhost_sdk::OwnFile {
        let plan = plan::<OpenCode>(scope, context).unwrap();
        match plan.edits.into_iter().next() {
            Some(Edit::File(file)) => file,
            other => panic!("one file, not {other:?}"),
        }
    }

    #[test]
    fn the_plugin_goes_where_opencode_looks_for_plugins() {
        let mut context = context();
        let path = |scope, context: &Context| file(scope, context).path;
        assert_eq!(
            path(Scope::Repo, &context),
            "/home/dev/project/.opencode/plugins/hookhost.js"
        );
        assert_eq!(
            path(Scope::User, &context),
            "/home/dev/.config/opencode/plugins/hookhost.js"
        );
        context.env = vec![("XDG_CONFIG_HOME".to_owned(), "/etc/dev".to_owned())];
        assert_eq!(path(Scope::User, &context), "/etc/dev/opencode/plugins/hookhost.js");
    }

    #[test]
    fn the_first_line_is_the_marker_and_the_command_is_filled_in() {
        let content = file(Scope::Repo, &context()).content;
        assert_eq!(content.lines().next(), Some("// hookhost-plugin v1"));
        assert!(content.contains(r#"const COMMAND = ["hookhost", "hook", "opencode", "{hook}"];"#));
        assert!(content.contains(r#""session.created": "session.created""#));
        assert!(!content.contains("__HOOKHOST"));
    }

    #[test]
    fn an_invocation_for_verbs_gets_the_aliases() {
        let invocation = Invocation {
            posix: String::new(),
            cmd: String::new(),
            powershell: String::new(),
            argv: ["entire", "hooks", "opencode", "{hook}"].map(str::to_owned).to_vec(),
            kebab: true,
        };
        let content = plugin::<OpenCode>(TEMPLATE, &invocation);
        assert!(content.contains(r#"const COMMAND = ["entire", "hooks", "opencode", "{hook}"];"#));
        assert!(content.contains(r#""tool.execute.before": "tool-execute-before""#));
    }
}
