//! Cline has no settings for hooks: a hook is an executable file that is named after the event.

use hookhost_sdk::paths::{is_windows, join, wanted_file};
use hookhost_sdk::registration::{filled, own_file, registered_hooks};
use hookhost_sdk::{Adapter, Context, Fault, FileState, Invocation, Platform, RegistrationPlan, Scope, Sign};

use crate::Cline;

const MARKER: &str = "hookhost:cline:1 managed file";

/// The places where a file of the user's may stand already.
pub(crate) const WANTED_FILES: &[Sign] = &[
    Sign::Repo(".clinerules"),
    Sign::Repo(".clinerules/hooks/TaskStart"),
    Sign::Repo(".clinerules/hooks/TaskResume"),
    Sign::Repo(".clinerules/hooks/UserPromptSubmit"),
    Sign::Repo(".clinerules/hooks/TaskComplete"),
    Sign::Repo(".clinerules/hooks/TaskCancel"),
    Sign::Repo(".clinerules/hooks/TaskError"),
    Sign::Repo(".clinerules/hooks/SessionShutdown"),
    Sign::Repo(".clinerules/hooks/PreCompact"),
    Sign::Home("Documents/Cline/Hooks/TaskStart"),
    Sign::Home("Documents/Cline/Hooks/TaskResume"),
    Sign::Home("Documents/Cline/Hooks/UserPromptSubmit"),
    Sign::Home("Documents/Cline/Hooks/TaskComplete"),
    Sign::Home("Documents/Cline/Hooks/TaskCancel"),
    Sign::Home("Documents/Cline/Hooks/TaskError"),
    Sign::Home("Documents/Cline/Hooks/SessionShutdown"),
    Sign::Home("Documents/Cline/Hooks/PreCompact"),
];

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let base = match scope {
        Scope::Repo => context.repo_root.as_deref(),
        Scope::User => context.home.as_deref(),
    };
    let base = base.ok_or_else(|| Fault::Other("there is no directory to register in".to_owned()))?;
    let mut notes = vec![];
    let folder = join(base, folder(scope, base, context, &mut notes));
    let mut edits = vec![];
    for hook in Cline::MANIFEST.hooks.iter().filter(|hook| hook.registered) {
        let place = join(&folder, hook.native);
        let (ending, content) = script(invocation, hook.native, context);
        let ending = if is_taken(&place, context) && ending.is_empty() {
            notes.push(format!(
                "{place} is a hook of yours and stays. The command line runs ours beside it; the extension knows one \
                 file an event and does not report {} to us.",
                hook.native
            ));
            ".sh"
        } else {
            ending
        };
        edits.push(own_file(format!("{place}{ending}"), MARKER, content, true));
    }
    Ok(RegistrationPlan {
        edits,
        hooks: registered_hooks::<Cline>(),
        notes,
        obstacles: vec![],
    })
}

/// The folder that both the extension and the command line read, where there is one.
fn folder(scope: Scope, base: &str, context: &Context, notes: &mut Vec<String>) -> &'static str {
    let rules_are_a_file = matches!(
        wanted_file(context, &join(base, ".clinerules")),
        Some(FileState::Content(_) | FileState::Unreadable(_))
    );
    match scope {
        Scope::Repo if rules_are_a_file => {
            notes.push(
                ".clinerules is a file here, so the hooks go to .cline/hooks, which only Cline's command line reads: \
                 the extension is not covered."
                    .to_owned(),
            );
            ".cline/hooks"
        }
        Scope::Repo => ".clinerules/hooks",
        // macOS asks for permission when a program reads Documents, and a hook that waits for the answer hangs.
        Scope::User if context.platform == Platform::Macos => {
            notes.push("~/.cline/hooks is read by Cline's command line only: the extension is not covered.".to_owned());
            ".cline/hooks"
        }
        Scope::User => "Documents/Cline/Hooks",
    }
}

/// Whether a file of somebody else's stands there.
fn is_taken(place: &str, context: &Context) -> bool {
    match wanted_file(context, place) {
        None | Some(FileState::Missing) => false,
        Some(FileState::Content(content)) => !String::from_utf8_lossy(content).contains(MARKER),
        Some(FileState::Directory | FileState::Unreadable(_)) => true,
    }
}

/// The file's ending and text. Never a link or a copy of our program: the command line runs hook files with `bash`.
fn script(invocation: &Invocation, hook: &str, context: &Context) -> (&'static str, String) {
    if is_windows(context) {
        let command = filled::<Cline>(&invocation.powershell, invocation, hook);
        return (".ps1", format!("# {MARKER}\r\n{command}\r\nexit 0\r\n"));
    }
    let command = filled::<Cline>(&invocation.posix, invocation, hook);
    ("", format!("#!/bin/sh\n# {MARKER}\n{command}\nexit 0\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::{Base, ContextFile, Edit, Place, testing};

    fn paths(context: &Context, scope: Scope) -> (Vec<String>, Vec<String>) {
        let plan = testing::plan::<Cline>(scope, context).unwrap();
        let files = plan.edits.into_iter().map(|edit| match edit {
            Edit::File(file) => file.path,
            Edit::Config(_) => panic!("Cline has no settings for hooks"),
        });
        (files.collect(), plan.notes)
    }

    fn with(path: &str, state: FileState) -> Context {
        let mut context = testing::context();
        let wanted = Place {
            base: Base::Repo,
            path: path.to_owned(),
        };
        context.files.push(ContextFile {
            wanted,
            path: format!("/home/dev/project/{path}"),
            state,
        });
        context
    }

    #[test]
    fn every_hook_has_a_script_in_the_folder_that_both_read() {
        let (files, notes) = paths(&testing::context(), Scope::Repo);
        assert_eq!(files.len(), 8);
        assert_eq!(files[0], "/home/dev/project/.clinerules/hooks/TaskStart");
        assert!(notes.is_empty());
    }

    #[test]
    fn a_rules_file_is_left_alone() {
        let (files, notes) = paths(
            &with(".clinerules", FileState::Content(b"be kind".to_vec())),
            Scope::Repo,
        );
        assert_eq!(files[0], "/home/dev/project/.cline/hooks/TaskStart");
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn a_hook_of_the_users_keeps_its_place() {
        let taken = with(
            ".clinerules/hooks/TaskStart",
            FileState::Content(b"#!/bin/sh\nmine\n".to_vec()),
        );
        let (files, notes) = paths(&taken, Scope::Repo);
        assert_eq!(files[0], "/home/dev/project/.clinerules/hooks/TaskStart.sh");
        assert_eq!(files[1], "/home/dev/project/.clinerules/hooks/TaskResume");
        assert_eq!(notes.len(), 1);
        let ours = FileState::Content(format!("#!/bin/sh\n# {MARKER}\n").into_bytes());
        let (files, _) = paths(&with(".clinerules/hooks/TaskStart", ours), Scope::Repo);
        assert_eq!(files[0], "/home/dev/project/.clinerules/hooks/TaskStart");
    }
}
