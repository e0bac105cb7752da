//! Where Cursor keeps its sessions: `~/.cursor/projects/<workspace>/agent-transcripts`.

use hookhost_sdk::{Context, Fault, Pattern, paths};

/// The directory with a repository's transcripts.
pub(crate) fn dir(repo_path: &str, context: &Context) -> Result<String, Fault> {
    let home = context
        .home
        .as_deref()
        .ok_or_else(|| Fault::Other("the home directory is not known".to_owned()))?;
    let projects = paths::join(&paths::join(home, ".cursor"), "projects");
    Ok(paths::join(
        &paths::join(&projects, &workspace_key(repo_path)),
        "agent-transcripts",
    ))
}

/// The name of a workspace's folder: the absolute path without its leading separators, everything but letters and
/// digits a dash. A drive is a small letter, and its colon is dropped.
fn workspace_key(path: &str) -> String {
    let path = path.trim_matches(['/', '\\']);
    match path.split_at_checked(2) {
        Some((drive, rest)) if drive.ends_with(':') && drive.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            paths::dashed(&format!("{}{rest}", drive.trim_end_matches(':').to_ascii_lowercase()))
        }
        _ => paths::dashed(path),
    }
}

/// The editor and newer command lines give each session a folder, older command lines do not. The subagents of both
/// lie in the folder.
pub(crate) fn files(dir: &str, id: &str) -> Vec<Pattern> {
    let nested = paths::join(&paths::join(dir, id), &format!("{id}.jsonl"));
    let flat = paths::join(dir, &format!("{id}.jsonl"));
    vec![
        paths::literal(nested.clone()),
        paths::literal(flat),
        // The one that is made when there is none.
        paths::literal(nested),
    ]
}

/// `<id>/subagents/<subagent id>.jsonl`.
pub(crate) fn subagents(session_ref: &str, subagents_dir: Option<&str>) -> Vec<Pattern> {
    if let Some(dir) = subagents_dir {
        return vec![paths::literal(paths::join(dir, "*.jsonl"))];
    }
    let parent = paths::parent(session_ref);
    let id = paths::file_stem(session_ref);
    let session_dir = if paths::file_name(parent) == id {
        parent.to_owned()
    } else {
        paths::join(parent, id)
    };
    vec![paths::literal(paths::join(
        &paths::join(&session_dir, "subagents"),
        "*.jsonl",
    ))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_has_the_folder_that_cursor_gives_it() {
        assert_eq!(workspace_key("/home/dev/project"), "home-dev-project");
        assert_eq!(
            workspace_key("/home/dev/My App/caf\u{e9}.v1"),
            "home-dev-My-App-caf--v1"
        );
        assert_eq!(workspace_key(r"C:\Users\dev\project"), "c-Users-dev-project");
        assert_eq!(workspace_key("/c:/Users/dev/project"), "c-Users-dev-project");
    }

    #[test]
    fn subagents_lie_in_the_sessions_folder_in_both_layouts() {
        let path = |session_ref| subagents(session_ref, None).remove(0).path;
        assert_eq!(path("/t/a/a.jsonl"), "/t/a/subagents/*.jsonl");
        assert_eq!(path("/t/a.jsonl"), "/t/a/subagents/*.jsonl");
    }
}
