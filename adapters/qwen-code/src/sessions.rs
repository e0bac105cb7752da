//! Where Qwen Code keeps its sessions: `~/.qwen/projects/<slug>/chats/<id>.jsonl`, its subagents' beside them in
//! `subagents/<id>/agent-<agent id>.jsonl`.

use hookhost_sdk::{Context, Fault, Pattern, paths};

const CHATS: &str = "chats";

pub(crate) fn dir(repo_path: &str, context: &Context) -> Result<String, Fault> {
    let home = context
        .home
        .as_deref()
        .ok_or_else(|| Fault::Other("the home directory is not known".to_owned()))?;
    let projects = paths::join(home, ".qwen/projects");
    Ok(paths::join(&paths::join(&projects, &paths::dashed(repo_path)), CHATS))
}

/// The directory is named after the working directory, which can be one inside the repository.
pub(crate) fn file(dir: &str, id: &str) -> Vec<Pattern> {
    let name = format!("{id}.jsonl");
    let here = paths::join(dir, &name);
    let mut patterns = vec![];
    let projects = paths::parent(paths::parent(dir));
    if paths::file_name(dir) == CHATS && paths::file_name(projects) == "projects" {
        patterns.push(paths::literal(here.clone()));
        patterns.push(paths::literal(paths::join(projects, &format!("*/{CHATS}/{name}"))));
    }
    patterns.push(paths::literal(here));
    patterns
}

/// A folder a session, so every file in it is a subagent's of it. Out of other folders only those are taken that the
/// transcript names.
pub(crate) fn subagents(session_ref: &str, subagents_dir: Option<&str>) -> Vec<Pattern> {
    let session = paths::file_stem(session_ref);
    let own = |dir: &str, rest: &str| paths::literal(paths::join(dir, rest));
    let Some(dir) = subagents_dir else {
        let project = paths::parent(paths::parent(session_ref));
        return vec![own(project, &format!("subagents/{session}/*.jsonl"))];
    };
    let mut patterns = vec![own(dir, "agent-*.jsonl")];
    if !session.is_empty() {
        patterns.push(own(dir, &format!("{session}/*.jsonl")));
    }
    patterns.push(Pattern {
        linked: true,
        ..own(dir, "*/agent-*.jsonl")
    });
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing;

    fn shown(patterns: Vec<Pattern>) -> Vec<String> {
        patterns.into_iter().map(|pattern| pattern.path).collect()
    }

    #[test]
    fn a_session_lies_in_the_folder_of_its_working_directory() {
        let dir = dir("/home/dev/project", &testing::context()).unwrap();
        assert_eq!(dir, "/home/dev/.qwen/projects/-home-dev-project/chats");
        assert_eq!(
            shown(file(&dir, "x")),
            [
                "/home/dev/.qwen/projects/-home-dev-project/chats/x.jsonl",
                "/home/dev/.qwen/projects/*/chats/x.jsonl",
                "/home/dev/.qwen/projects/-home-dev-project/chats/x.jsonl",
            ]
        );
        assert_eq!(shown(file("/tmp/d", "x")), ["/tmp/d/x.jsonl"]);
    }

    #[test]
    fn subagents_lie_in_a_folder_named_after_the_session() {
        assert_eq!(
            shown(subagents("/q/projects/p/chats/x.jsonl", None)),
            ["/q/projects/p/subagents/x/*.jsonl"]
        );
        assert_eq!(
            shown(subagents("/q/chats/x.jsonl", Some("/s"))),
            ["/s/agent-*.jsonl", "/s/x/*.jsonl", "/s/*/agent-*.jsonl"]
        );
        let unknown = subagents("", Some("/s"));
        assert!(!unknown[0].linked && unknown[1].linked);
        assert_eq!(shown(unknown), ["/s/agent-*.jsonl", "/s/*/agent-*.jsonl"]);
    }
}
