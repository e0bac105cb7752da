//! The extension that forwards pi's events.

use hookhost_sdk::paths::{configured_dir, join};
use hookhost_sdk::registration::settings_file;
use hookhost_sdk::{Context, Fault, Invocation, RegistrationPlan, Scope, plugin};

use crate::Pi;

const TEMPLATE: &str = include_str!("../plugin/index.ts");
const FILE: &str = "extensions/hookhost/index.ts";

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let agent = configured_dir(context, "PI_CODING_AGENT_DIR", ".pi/agent").filter(|_| scope == Scope::User);
    let path = match agent {
        Some(agent) => join(&agent, FILE),
        None => settings_file(scope, &join(".pi", FILE), "", context)?,
    };
    let notes: &[&str] = match scope {
        Scope::Repo => &[
            "Start pi anew or type /reload.",
            "Since 0.79.0 pi loads a project's extensions only once you have said that you trust the project.",
        ],
        Scope::User => &["Start pi anew or type /reload."],
    };
    Ok(plugin::plan::<Pi>(path, TEMPLATE, invocation, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing::{context, plan};
    use hookhost_sdk::{Edit, OwnFile};

    fn file(scope: Scope, context: &Context) -> OwnFile {
        let plan = plan::<Pi>(scope, context).unwrap();
        match plan.edits.into_iter().next() {
            Some(Edit::File(file)) => file,
            other => panic!("one file, not {other:?}"),
        }
    }

    #[test]
    fn the_extension_goes_where_pi_looks_for_extensions() {
        let mut context = context();
        let path = |scope, context: &Context| file(scope, context).path;
        assert_eq!(
            path(Scope::Repo, &context),
            "/home/dev/project/.pi/extensions/hookhost/index.ts"
        );
        assert_eq!(
            path(Scope::User, &context),
            "/home/dev/.pi/agent/extensions/hookhost/index.ts"
        );
        context.env = vec![("PI_CODING_AGENT_DIR".to_owned(), "/pi".to_owned())];
        assert_eq!(path(Scope::User, &context), "/pi/extensions/hookhost/index.ts");
    }

    #[test]
    fn the_first_line_is_the_marker_and_everything_is_filled_in() {
        let content = file(Scope::Repo, &context()).content;
        assert_eq!(content.lines().next(), Some("// hookhost-plugin v1"));
        assert!(content.contains(r#"const COMMAND = ["hookhost", "hook", "pi", "{hook}"];"#));
        assert!(!content.contains("__HOOKHOST"));
    }
}
