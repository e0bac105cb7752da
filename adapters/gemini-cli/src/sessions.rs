//! Where Gemini CLI keeps its sessions: `~/.gemini/tmp/<project>/chats/session-<minute>-<first 8 of the id>.jsonl`.

use hookhost_sdk::{Context, Fault, Object, Pattern, paths, session_id_of};

/// Stands for the home directory.
pub(crate) const HOME: &str = "GEMINI_CLI_HOME";

/// Which directory belongs to which project.
pub(crate) const REGISTRY: &str = ".gemini/projects.json";

/// How much of an id a file's name holds.
const SHORT: usize = 8;

const PREFIX: &str = "session-";

/// The directory with a project's sessions.
pub(crate) fn dir(repo_path: &str, context: &Context) -> Result<String, Fault> {
    let home = home(context).ok_or_else(|| Fault::Other("the home directory is not known".to_owned()))?;
    let project = registered(repo_path, &home, context).unwrap_or_else(|| slug(repo_path));
    Ok(paths::join(&home, &format!(".gemini/tmp/{project}/chats")))
}

fn home(context: &Context) -> Option<String> {
    match hookhost_sdk::env(context, HOME) {
        Some(home) => Some(paths::expand_home(home, context)),
        None => context.home.clone(),
    }
}

/// The name that Gemini CLI has given the project. On Windows it registers paths in small letters.
fn registered(repo_path: &str, home: &str, context: &Context) -> Option<String> {
    let text = paths::wanted_text(context, &paths::join(home, REGISTRY))?;
    let registry = Object::parse(&text).ok()?;
    let projects = registry.object("projects")?;
    let wanted = paths::without_end(repo_path);
    let is_wanted = |path: &str| {
        path == wanted || path == repo_path || (paths::is_windows(context) && path.eq_ignore_ascii_case(wanted))
    };
    let (_, name) = projects.fields().find(|(path, _)| is_wanted(path))?;
    name.text()
        .filter(|name| paths::is_plain_id(name))
        .map(|name| name.into_owned())
}

/// The name that it gives the first project with this last component: letters and digits, and a dash for what stands
/// between them.
fn slug(repo_path: &str) -> String {
    let mut slug = String::new();
    for character in paths::file_name(repo_path).to_lowercase().chars() {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    match slug.trim_end_matches('-') {
        "" => "project".to_owned(),
        slug => slug.to_owned(),
    }
}

/// Where a session can be: its project may have had another name (before 0.29 a hash of its path), and before 0.39
/// the file was one document.
pub(crate) fn files(dir: &str, id: &str) -> Vec<Pattern> {
    let made = paths::literal(paths::join(dir, &format!("{PREFIX}{id}.jsonl")));
    let Some(short) = id.get(..SHORT.min(id.len())).filter(|_| paths::is_plain_id(id)) else {
        return vec![made];
    };
    let mut dirs = vec![dir.to_owned()];
    let project = paths::parent(dir);
    if paths::file_name(dir) == "chats" && paths::file_name(paths::parent(project)) == "tmp" {
        dirs.push(paths::join(paths::parent(project), "*/chats"));
    }
    let mut patterns = vec![made.clone()];
    for dir in dirs {
        for ending in ["jsonl", "json"] {
            patterns.push(paths::literal(paths::join(
                &dir,
                &format!("{PREFIX}*-{short}.{ending}"),
            )));
        }
    }
    patterns.push(made);
    patterns
}

/// The session's id. A file's name has the beginning of it, which finds the file again.
pub(crate) fn id(input: &Object<'_>) -> Option<String> {
    let id = session_id_of(input)?;
    let session_ref = input.text("session_ref").unwrap_or_default();
    match id.strip_prefix(PREFIX) {
        Some(rest) if paths::file_stem(&session_ref) == id => Some(short_id(rest).unwrap_or(rest).to_owned()),
        _ => Some(id),
    }
}

/// What stands behind the minute in `2026-08-20T09-15-d2b7c9e4`.
fn short_id(name: &str) -> Option<&str> {
    const SHAPE: &[u8] = b"0000-00-00T00-00-";
    let (minute, short) = name.split_at_checked(SHAPE.len())?;
    let is_minute = minute.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == *shape,
    });
    (is_minute && !short.is_empty()).then_some(short)
}

/// Since 0.36 the subagents of a session have a directory named by its whole id, before they lay beside it.
pub(crate) fn subagents(session_ref: &str, subagents_dir: Option<&str>) -> Vec<Pattern> {
    let chats = subagents_dir.unwrap_or_else(|| paths::parent(session_ref));
    let pattern = |path: &str, linked| Pattern {
        path: paths::join(chats, path),
        linked,
    };
    if subagents_dir.is_some() && paths::file_name(chats) != "chats" {
        return vec![pattern("*.jsonl", false)];
    }
    let short = paths::file_stem(session_ref).strip_prefix(PREFIX).and_then(short_id);
    match short {
        Some(short) => vec![pattern(&format!("{short}*/*.jsonl"), false), pattern("*.jsonl", true)],
        None => vec![pattern("*/*.jsonl", true), pattern("*.jsonl", true)],
    }
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::Platform;
    use hookhost_sdk::testing::context_with_files;

    use super::*;

    #[test]
    fn a_project_has_the_name_that_it_was_registered_with() {
        let registry = r#"{"projects":{"/home/dev/other":"project","/home/dev/project":"project-1","/x":"../../etc"}}"#;
        let context = context_with_files(&[("/home/dev/.gemini/projects.json", registry)]);
        let dir = |path| dir(path, &context).unwrap();
        assert_eq!(dir("/home/dev/project"), "/home/dev/.gemini/tmp/project-1/chats");
        assert_eq!(dir("/home/dev/project/"), "/home/dev/.gemini/tmp/project-1/chats");
        assert_eq!(dir("/home/dev/My App (2).x"), "/home/dev/.gemini/tmp/my-app-2-x/chats");
        assert_eq!(dir("/x"), "/home/dev/.gemini/tmp/x/chats");
        assert_eq!(dir("/\u{e9}"), "/home/dev/.gemini/tmp/project/chats");
    }

    #[test]
    fn the_variable_moves_registry_and_sessions() {
        let mut context = context_with_files(&[("/g/.gemini/projects.json", r#"{"projects":{"/p":"named"}}"#)]);
        context.env.push((HOME.to_owned(), "/g".to_owned()));
        assert_eq!(dir("/p", &context).unwrap(), "/g/.gemini/tmp/named/chats");
    }

    #[test]
    fn windows_registers_small_letters() {
        let mut context = context_with_files(&[(
            r"C:\Users\dev\.gemini\projects.json",
            r#"{"projects":{"c:\\work\\app":"app-2"}}"#,
        )]);
        context.platform = Platform::Windows;
        context.home = Some(r"C:\Users\dev".to_owned());
        assert_eq!(
            dir(r"C:\Work\App", &context).unwrap(),
            r"C:\Users\dev\.gemini\tmp\app-2\chats"
        );
    }

    #[test]
    fn a_session_is_looked_for_by_the_beginning_of_its_id() {
        let paths = |dir, id| files(dir, id).into_iter().map(|found| found.path).collect::<Vec<_>>();
        assert_eq!(
            paths("/g/tmp/p/chats", "d2b7c9e4-61f3-4a08"),
            [
                "/g/tmp/p/chats/session-d2b7c9e4-61f3-4a08.jsonl",
                "/g/tmp/p/chats/session-*-d2b7c9e4.jsonl",
                "/g/tmp/p/chats/session-*-d2b7c9e4.json",
                "/g/tmp/*/chats/session-*-d2b7c9e4.jsonl",
                "/g/tmp/*/chats/session-*-d2b7c9e4.json",
                "/g/tmp/p/chats/session-d2b7c9e4-61f3-4a08.jsonl",
            ]
        );
        assert_eq!(paths("/d", "a*b"), ["/d/session-a*b.jsonl"]);
        assert_eq!(paths("/d", "abc").len(), 4);
    }

    #[test]
    fn a_file_is_named_by_the_beginning_of_the_id() {
        let id = |input| id(&Object::parse(input).unwrap());
        assert_eq!(
            id(r#"{"session_ref":"/c/session-2026-08-20T09-15-d2b7c9e4.jsonl"}"#).as_deref(),
            Some("d2b7c9e4")
        );
        assert_eq!(
            id(r#"{"session_ref":"/c/session-d2b7-x.jsonl"}"#).as_deref(),
            Some("d2b7-x")
        );
        assert_eq!(
            id(r#"{"session_id":"whole","session_ref":"/c/session-2026-08-20T09-15-d2b7c9e4.jsonl"}"#).as_deref(),
            Some("whole")
        );
    }

    #[test]
    fn subagents_lie_in_the_sessions_directory_or_beside_it() {
        let found = |session_ref, dir| {
            subagents(session_ref, dir)
                .into_iter()
                .map(|pattern| (pattern.path, pattern.linked))
                .collect::<Vec<_>>()
        };
        let session = "/g/chats/session-2026-08-20T09-15-d2b7c9e4.jsonl";
        let beside = ("/g/chats/*.jsonl".to_owned(), true);
        assert_eq!(
            found(session, None),
            [("/g/chats/d2b7c9e4*/*.jsonl".to_owned(), false), beside.clone()]
        );
        assert_eq!(
            found("/g/chats/x.jsonl", None),
            [("/g/chats/*/*.jsonl".to_owned(), true), beside]
        );
        assert_eq!(
            found(session, Some("/d/whole-id")),
            [("/d/whole-id/*.jsonl".to_owned(), false)]
        );
    }
}
