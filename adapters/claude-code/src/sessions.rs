//! Where Claude Code keeps its sessions.

use hookhost_sdk::{Context, Fault, Pattern, Source, TranscriptLocation, env, paths};

/// Replaces `~/.claude`.
pub(crate) const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
/// Replaces the directory's name that is made of the path; goes with [`CONFIG_DIR`].
pub(crate) const PROJECT_DIR_NAME: &str = "CLAUDE_CODE_PROJECT_DIR_NAME";

/// A longer name is cut here and ends in a hash.
const NAME_LENGTH: usize = 200;

/// `~/.claude`, or what stands for it.
pub(crate) fn config_dir(context: &Context) -> Result<String, Fault> {
    paths::configured_dir(context, CONFIG_DIR, ".claude")
        .ok_or_else(|| Fault::Other("the home directory is not known".to_owned()))
}

/// The directory with the sessions that were started in `repo_path`.
pub(crate) fn dir(repo_path: &str, context: &Context) -> Result<String, Fault> {
    let projects = paths::join(&config_dir(context)?, "projects");
    let given = env(context, CONFIG_DIR).and(env(context, PROJECT_DIR_NAME));
    let name = given
        .filter(|name| !name.contains(['/', '\\']) && !matches!(*name, "." | ".."))
        .map_or_else(|| directory_name(repo_path), str::to_owned);
    Ok(paths::join(&projects, &name))
}

/// The path with everything but letters and digits replaced.
fn directory_name(path: &str) -> String {
    let path = match path.trim_end_matches('/') {
        "" => path,
        trimmed => trimmed,
    };
    let name = paths::dashed(path);
    match name.get(..NAME_LENGTH) {
        Some(beginning) if name.len() > NAME_LENGTH => format!("{beginning}-{}", base_36(hash(path))),
        _ => name,
    }
}

/// The usual hash of a JavaScript string: `h * 31 + c` over its 16-bit units in 32 bits, without the sign.
fn hash(text: &str) -> u32 {
    text.encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
        .unsigned_abs()
}

fn base_36(mut number: u32) -> String {
    let mut digits = vec![];
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// Where the session can be. It may have been started in another directory, or moved by `/cd`: ids are unique, so any
/// project's directory will do.
pub(crate) fn files(dir: &str, id: &str) -> Vec<Pattern> {
    let name = format!("{id}.jsonl");
    let here = paths::literal(paths::join(dir, &name));
    let projects = paths::parent(dir);
    if paths::file_name(projects) != "projects" {
        return vec![here];
    }
    let anywhere = paths::join(&paths::join(projects, "*"), &name);
    vec![here.clone(), paths::literal(anywhere), here]
}

/// A session's subagents lie in a directory of its own; formerly those of all sessions lay beside them.
pub(crate) fn subagents(session_ref: &str, subagents_dir: Option<&str>) -> Vec<Pattern> {
    let transcripts = |dir: &str, linked| Pattern {
        path: paths::join(dir, "agent-*.jsonl"),
        linked,
    };
    if let Some(dir) = subagents_dir {
        return vec![transcripts(dir, paths::file_name(dir) != "subagents")];
    }
    let beside = paths::parent(session_ref);
    let own = paths::join(&paths::join(beside, paths::file_stem(session_ref)), "subagents");
    vec![transcripts(&own, false), transcripts(beside, true)]
}

pub(crate) fn source(session_ref: &str, context: &Context) -> TranscriptLocation {
    TranscriptLocation {
        source: Source::File(paths::expand_home(session_ref, context)),
        companions: vec![],
    }
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing::context;

    use super::*;

    fn with_env(variables: &[(&str, &str)]) -> Context {
        let mut context = context();
        context.env = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        context
    }

    #[test]
    fn the_directory_is_named_after_the_path() {
        let dir = |path| dir(path, &context()).unwrap();
        assert_eq!(
            dir("/home/dev/My App/caf\u{e9}_v1.2"),
            "/home/dev/.claude/projects/-home-dev-My-App-caf--v1-2"
        );
        assert_eq!(dir("/home/dev/x/"), "/home/dev/.claude/projects/-home-dev-x");
        assert_eq!(dir("/"), "/home/dev/.claude/projects/-");
        assert_eq!(dir(r"C:\work\a"), "/home/dev/.claude/projects/C--work-a");
        assert_eq!(dir("/\u{1f600}"), "/home/dev/.claude/projects/---");
    }

    #[test]
    fn a_long_name_is_cut_and_hashed() {
        // By node: s => [...Array(s.length).keys()].reduce((h, i) => ((h << 5) - h + s.charCodeAt(i)) | 0, 0).
        assert_eq!(base_36(hash("hello")), "1n1e4y");
        assert_eq!(base_36(hash("")), "0");
        let path = format!("/{}", "a".repeat(199));
        assert_eq!(directory_name(&path), format!("-{}", "a".repeat(199)));
        let path = format!("/{}\u{e9}\u{1f600}", "a".repeat(250));
        assert_eq!(directory_name(&path), format!("-{}-2yprhf", "a".repeat(199)));
    }

    #[test]
    fn variables_move_and_name_it() {
        let dir = |variables: &[(&str, &str)]| dir("/p", &with_env(variables)).unwrap();
        assert_eq!(dir(&[(CONFIG_DIR, "~/c/")]), "/home/dev/c/projects/-p");
        assert_eq!(
            dir(&[(CONFIG_DIR, "/c"), (PROJECT_DIR_NAME, "mine")]),
            "/c/projects/mine"
        );
        assert_eq!(dir(&[(PROJECT_DIR_NAME, "mine")]), "/home/dev/.claude/projects/-p");
        assert_eq!(
            dir(&[(CONFIG_DIR, "/c"), (PROJECT_DIR_NAME, "../../x")]),
            "/c/projects/-p"
        );
    }

    #[test]
    fn a_session_is_looked_for_in_every_project() {
        let paths = |dir| files(dir, "id").into_iter().map(|found| found.path).collect::<Vec<_>>();
        assert_eq!(
            paths("/c/projects/-p"),
            [
                "/c/projects/-p/id.jsonl",
                "/c/projects/*/id.jsonl",
                "/c/projects/-p/id.jsonl"
            ]
        );
        assert_eq!(paths("/elsewhere/-p"), ["/elsewhere/-p/id.jsonl"]);
    }

    #[test]
    fn subagents_lie_below_the_session_or_beside_it() {
        let found = |dir| {
            subagents("/p/-x/s.jsonl", dir)
                .into_iter()
                .map(|pattern| (pattern.path, pattern.linked))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found(None),
            [
                ("/p/-x/s/subagents/agent-*.jsonl".to_owned(), false),
                ("/p/-x/agent-*.jsonl".to_owned(), true)
            ]
        );
        assert_eq!(
            found(Some("/d/subagents")),
            [("/d/subagents/agent-*.jsonl".to_owned(), false)]
        );
        assert_eq!(found(Some("/d")), [("/d/agent-*.jsonl".to_owned(), true)]);
    }
}
