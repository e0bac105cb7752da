//! Building registration plans from data.

use crate::json::{quoted, without_comments};
use crate::{
    Adapter, ConfigEdit, ConfigFormat, Context, Edit, Fault, InsertMode, Insertion, Invocation, Object, OwnFile,
    Platform, Scope, paths,
};

/// How one event is registered in a file of grouped hooks.
#[derive(Clone, Copy, Debug)]
pub struct GroupedHook {
    /// The event's name in the file.
    pub event: &'static str,
    /// The group's matcher; `None` leaves the key out.
    pub matcher: Option<&'static str>,
}

impl GroupedHook {
    /// An event whose group has no matcher.
    #[must_use]
    pub const fn all(event: &'static str) -> Self {
        Self { event, matcher: None }
    }

    /// An event for what `matcher` matches.
    #[must_use]
    pub const fn matching(event: &'static str, matcher: &'static str) -> Self {
        Self {
            event,
            matcher: Some(matcher),
        }
    }
}

/// The command line that fires `hook` of adapter `A`, for the platform's usual shell.
#[must_use]
pub fn command<A: Adapter>(invocation: &Invocation, hook: &str, context: &Context) -> String {
    let template = if context.platform == Platform::Windows {
        &invocation.cmd
    } else {
        &invocation.posix
    };
    filled::<A>(template, invocation, hook)
}

/// A template of the invocation with the hook's name in it.
#[must_use]
pub fn filled<A: Adapter>(template: &str, invocation: &Invocation, hook: &str) -> String {
    template.replace("{hook}", hook_word::<A>(invocation, hook))
}

/// The hook's name as the invocation wants it spelled.
#[must_use]
pub fn hook_word<'a, A: Adapter>(invocation: &Invocation, hook: &'a str) -> &'a str {
    if !invocation.kebab {
        return hook;
    }
    A::MANIFEST
        .hooks
        .iter()
        .find(|known| known.native == hook)
        .map_or(hook, |known| known.alias)
}

/// Insertions of the shape `hooks.<event>[] = {matcher?, hooks: [{..., type: "command", command, timeout}]}` that
/// Claude Code introduced and several agents took over.
///
/// `handler_extra` gives further members of the handler for an event, as JSON text (`"name":"x"`), or nothing.
#[must_use]
pub fn grouped<A: Adapter>(
    hooks: &[GroupedHook],
    timeout: u32,
    handler_extra: impl Fn(&str) -> String,
    invocation: &Invocation,
    context: &Context,
) -> Vec<Insertion> {
    hooks
        .iter()
        .map(|hook| {
            let matcher = hook.matcher.map(|text| format!("\"matcher\":{},", quoted(text))).unwrap_or_default();
            let extra = handler_extra(hook.event);
            let separator = if extra.is_empty() { "" } else { "," };
            let command = quoted(&command::<A>(invocation, hook.event, context));
            Insertion {
                path: vec!["hooks".to_owned(), hook.event.to_owned()],
                value: format!(
                    "{{{matcher}\"hooks\":[{{{extra}{separator}\"type\":\"command\",\"command\":{command},\"timeout\":{timeout}}}]}}"
                ),
                how: InsertMode::Append,
            }
        })
        .collect()
}

/// Insertions of the shape `hooks.<event>[] = entry`, one for each registered hook. `entry` gives the hook's entry as
/// JSON text.
#[must_use]
pub fn entries<A: Adapter>(entry: impl Fn(&str) -> String) -> Vec<Insertion> {
    A::MANIFEST
        .hooks
        .iter()
        .filter(|hook| hook.registered)
        .map(|hook| Insertion {
            path: vec!["hooks".to_owned(), hook.native.to_owned()],
            value: entry(hook.native),
            how: InsertMode::Append,
        })
        .collect()
}

/// A value that stands at the root of the file unless there is one.
#[must_use]
pub fn default_value(key: &str, value: &str) -> Insertion {
    Insertion {
        path: vec![key.to_owned()],
        value: value.to_owned(),
        how: InsertMode::Default,
    }
}

/// The absolute path of a settings file: `in_repo` below the repository's work tree, or `in_home` below the user's
/// home directory.
///
/// # Errors
/// [`Fault::Other`] outside a repository, or when the home directory is not known.
pub fn settings_file(scope: Scope, in_repo: &str, in_home: &str, context: &Context) -> Result<String, Fault> {
    let (base, below, missing) = match scope {
        Scope::Repo => (context.repo_root.as_deref(), in_repo, "there is no repository here"),
        Scope::User => (context.home.as_deref(), in_home, "the home directory is not known"),
    };
    let base = base.ok_or_else(|| Fault::Other(missing.to_owned()))?;
    Ok(paths::join(base, below))
}

/// Whether a settings file that the manifest asked for has a flag set at its root.
#[must_use]
pub fn is_set(flag: &str, file: &str, context: &Context) -> bool {
    paths::wanted_text(context, file).is_some_and(|text| {
        let plain = without_comments(&text);
        Object::parse(&plain).is_ok_and(|settings| settings.flag(flag))
    })
}

/// What is put into a settings file that belongs to the user. Entries of ours that stand elsewhere below the same keys
/// of the root, from an earlier version, are taken out.
#[must_use]
pub fn settings_edit(file: String, format: ConfigFormat, insertions: Vec<Insertion>) -> Edit {
    let mut sweep: Vec<Vec<String>> = Vec::new();
    for insertion in &insertions {
        if let (InsertMode::Append, [root, _, ..]) = (insertion.how, insertion.path.as_slice())
            && !sweep.iter().any(|path| path.first() == Some(root))
        {
            sweep.push(vec![root.clone()]);
        }
    }
    Edit::Config(ConfigEdit {
        file,
        format,
        insertions,
        sweep,
        remove_when_empty: false,
    })
}

/// Takes what is ours out of the lists below `hooks`, for a file that is no longer the place for it.
#[must_use]
pub fn swept_hooks(file: String, format: ConfigFormat) -> Edit {
    Edit::Config(ConfigEdit {
        file,
        format,
        insertions: vec![],
        sweep: vec![vec!["hooks".to_owned()]],
        remove_when_empty: false,
    })
}

/// How many hooks the manifest registers.
#[must_use]
pub fn registered_hooks<A: Adapter>() -> u32 {
    let count = A::MANIFEST.hooks.iter().filter(|hook| hook.registered).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A whole file of ours.
#[must_use]
pub fn own_file(path: String, marker: &str, content: String, executable: bool) -> Edit {
    Edit::File(OwnFile {
        path,
        marker: marker.to_owned(),
        content,
        executable,
    })
}
