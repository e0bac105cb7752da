//! The plugin file that forwards OpenCode's events.

use hookhost_sdk::paths::{configured_dir, join};
use hookhost_sdk::registration::settings_file;
use hookhost_sdk::{Context, Fault, Invocation, RegistrationPlan, Scope, plugin};

use crate::OpenCode;

const TEMPLATE: &str = include_str!("../plugin/hookhost.js");

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let moved = configured_dir(context, "XDG_CONFIG_HOME", ".config").filter(|_| scope == Scope::User);
    let path = match moved {
        Some(config) => join(&config, "opencode/plugins/hookhost.js"),
        None => settings_file(scope, ".opencode/plugins/hookhost.js", "", context)?,
    };
    Ok(plugin::plan::<OpenCode>(
        path,
        TEMPLATE,
        invocation,
        &["Start OpenCode anew: it loads plugins when it starts."],
    ))
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
        let content = plugin::filled::<OpenCode>(TEMPLATE, &invocation);
        assert!(content.contains(r#"const COMMAND = ["entire", "hooks", "opencode", "{hook}"];"#));
        assert!(content.contains(r#""tool.execute.before": "tool-execute-before""#));
    }
}
