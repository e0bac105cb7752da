//! Plugin files: for agents that run no commands but load programs of ours into their own process.
//!
//! A template is a whole program of the adapter's, valid as it stands, in which four places are filled in:
//!
//! | place | becomes |
//! |---|---|
//! | `"__HOOKHOST_COMMAND__"` | the command, a list of arguments with `{hook}` in it |
//! | `"__HOOKHOST_HOOKS__"` | an object that leads from each registered hook to the word that stands for `{hook}` |
//! | `// __HOOKHOST_CALL__` | a JavaScript function that calls hookhost; needs `spawn`, `COMMAND`, `HOOKS`, `TIME_LIMIT` |
//! | `// __HOOKHOST_MESSAGE__` | a JavaScript function that finds a message to the user in what hookhost printed |

use crate::json::quoted;
use crate::registration::{hook_word, own_file, registered_hooks};
use crate::{Adapter, Invocation, RegistrationPlan};

/// Stands in the first lines of every plugin file of ours.
pub const MARKER: &str = "// hookhost-plugin";

const CALL: &str = include_str!("plugin/call.js");
const MESSAGE: &str = include_str!("plugin/message.js");

/// The plan that writes one plugin file with all registered hooks. `notes` say what the user has to do next.
#[must_use]
pub fn plan<A: Adapter>(path: String, template: &str, invocation: &Invocation, notes: &[&str]) -> RegistrationPlan {
    RegistrationPlan {
        edits: vec![own_file(path, MARKER, filled::<A>(template, invocation), false)],
        hooks: registered_hooks::<A>(),
        notes: notes.iter().map(|&note| note.to_owned()).collect(),
        obstacles: vec![],
    }
}

/// The template with its places filled in.
#[must_use]
pub fn filled<A: Adapter>(template: &str, invocation: &Invocation) -> String {
    let command: Vec<_> = invocation.argv.iter().map(|argument| quoted(argument)).collect();
    let hooks: Vec<_> = A::MANIFEST
        .hooks
        .iter()
        .filter(|hook| hook.registered)
        .map(|hook| {
            let word = hook_word::<A>(invocation, hook.native);
            format!("{}: {}", quoted(hook.native), quoted(word))
        })
        .collect();
    // The command last: its arguments are the user's and could hold anything.
    template
        .replace("// __HOOKHOST_CALL__\n", CALL)
        .replace("// __HOOKHOST_MESSAGE__\n", MESSAGE)
        .replace("\"__HOOKHOST_HOOKS__\"", &format!("{{ {} }}", hooks.join(", ")))
        .replacen("\"__HOOKHOST_COMMAND__\"", &format!("[{}]", command.join(", ")), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Event, Fault, Hook, Manifest, Payload};

    #[derive(Default)]
    struct Example;

    impl Adapter for Example {
        const MANIFEST: Manifest = Manifest {
            name: "example",
            hooks: &[
                Hook::registered("turn.end", "turn-end"),
                Hook::known("tool.call", "tool-call"),
            ],
            ..Manifest::EMPTY
        };

        fn parse(&mut self, _: &str, _: &Payload<'_>, _: &Context) -> Result<Vec<Event>, Fault> {
            Ok(vec![])
        }
    }

    #[test]
    fn places_are_filled_with_json_and_what_the_user_wrote_is_left_alone() {
        let invocation = |kebab| Invocation {
            posix: String::new(),
            cmd: String::new(),
            powershell: String::new(),
            argv: [r#"C:\a "b"\hookhost"#, "\"__HOOKHOST_COMMAND__\"", "{hook}"]
                .map(str::to_owned)
                .to_vec(),
            kebab,
        };
        let template = "f(\"__HOOKHOST_COMMAND__\", \"__HOOKHOST_HOOKS__\");";
        let expected = |word| {
            format!(
                r#"f(["C:\\a \"b\"\\hookhost", "\"__HOOKHOST_COMMAND__\"", "{{hook}}"], {{ "turn.end": "{word}" }});"#
            )
        };
        assert_eq!(filled::<Example>(template, &invocation(false)), expected("turn.end"));
        assert_eq!(filled::<Example>(template, &invocation(true)), expected("turn-end"));
        let plan = plan::<Example>(
            "/p".to_owned(),
            "// __HOOKHOST_MESSAGE__\n",
            &invocation(true),
            &["Restart."],
        );
        assert_eq!(plan.hooks, 1);
    }
}
