//! The plugin that forwards Amp's events.

use hookhost_sdk::registration::settings_file;
use hookhost_sdk::{Context, Fault, Invocation, RegistrationPlan, Scope, plugin};

use crate::Amp;

const TEMPLATE: &str = include_str!("../plugin/hookhost.ts");

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let path = settings_file(
        scope,
        ".amp/plugins/hookhost.ts",
        ".config/amp/plugins/hookhost.ts",
        context,
    )?;
    Ok(plugin::plan::<Amp>(
        path,
        TEMPLATE,
        invocation,
        &[
            "Start Amp anew. Classic clients load plugins only with PLUGINS=all in their environment.",
            "`amp -x` may begin before plugins are loaded; --plugin-ready-timeout 30 has it wait.",
        ],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::Edit;
    use hookhost_sdk::testing::{context, plan};

    #[test]
    fn the_plugin_goes_where_amp_looks_for_plugins() {
        for (scope, path) in [
            (Scope::Repo, "/home/dev/project/.amp/plugins/hookhost.ts"),
            (Scope::User, "/home/dev/.config/amp/plugins/hookhost.ts"),
        ] {
            let plan = plan::<Amp>(scope, &context()).unwrap();
            let [Edit::File(file)] = plan.edits.as_slice() else {
                panic!("one file, not {:?}", plan.edits);
            };
            assert_eq!(file.path, path);
            let mut lines = file.content.lines();
            assert_eq!(
                lines.next(),
                Some("// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now"),
                "early versions demand it"
            );
            assert_eq!(lines.next(), Some("// hookhost-plugin v1"));
            assert!(
                file.content
                    .contains(r#"const COMMAND = ["hookhost", "hook", "amp", "{hook}"];"#)
            );
            assert!(!file.content.contains("__HOOKHOST"));
        }
    }
}
