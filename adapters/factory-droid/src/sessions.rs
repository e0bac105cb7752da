//! Where Droid keeps its sessions: `~/.factory/sessions/<slug>/<id>.jsonl`, and `<id>.settings.json` beside it.

use hookhost_sdk::{Context, Fault, Pattern, Source, TranscriptLocation, paths};

const SESSIONS: &str = "sessions";

pub(crate) fn dir(repo_path: &str, context: &Context) -> Result<String, Fault> {
    let home = context
        .home
        .as_deref()
        .ok_or_else(|| Fault::Other("the home directory is not known".to_owned()))?;
    let sessions = paths::join(&paths::join(home, ".factory"), SESSIONS);
    Ok(paths::join(&sessions, &paths::dashed(repo_path)))
}

/// The directory is named after the working directory, which can be one inside the repository.
pub(crate) fn file(dir: &str, id: &str) -> Vec<Pattern> {
    let name = format!("{id}.jsonl");
    let here = paths::join(dir, &name);
    let mut patterns = vec![];
    let sessions = paths::parent(dir);
    if paths::file_name(sessions) == SESSIONS {
        patterns.push(paths::literal(here.clone()));
        patterns.push(paths::literal(paths::join(&paths::join(sessions, "*"), &name)));
    }
    patterns.push(paths::literal(here));
    patterns
}

/// Workers are sessions of their own beside their parent's.
pub(crate) fn workers(session_ref: &str, subagents_dir: Option<&str>) -> Vec<Pattern> {
    let dir = subagents_dir.unwrap_or_else(|| paths::parent(session_ref));
    vec![Pattern {
        path: paths::join(dir, "*.jsonl"),
        linked: true,
    }]
}

/// Model and tokens stand in the settings file beside the transcript.
pub(crate) fn source(session_ref: &str) -> TranscriptLocation {
    let settings = session_ref
        .strip_suffix(".jsonl")
        .map(|stem| format!("{stem}.settings.json"));
    TranscriptLocation {
        source: Source::File(session_ref.to_owned()),
        companions: settings.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing;

    #[test]
    fn a_session_lies_in_the_directory_of_its_working_directory() {
        let dir = dir("/home/dev/project", &testing::context()).unwrap();
        assert_eq!(dir, "/home/dev/.factory/sessions/-home-dev-project");
        let files: Vec<_> = file(&dir, "x").into_iter().map(|pattern| pattern.path).collect();
        assert_eq!(
            files,
            [
                "/home/dev/.factory/sessions/-home-dev-project/x.jsonl",
                "/home/dev/.factory/sessions/*/x.jsonl",
                "/home/dev/.factory/sessions/-home-dev-project/x.jsonl",
            ]
        );
        assert_eq!(file("/tmp/d", "x").len(), 1);
    }

    #[test]
    fn the_settings_lie_beside_the_transcript_and_so_do_the_workers() {
        assert_eq!(source("/s/x.jsonl").companions, ["/s/x.settings.json"]);
        assert_eq!(source("/s/x").companions, [""; 0]);
        assert_eq!(workers("/s/x.jsonl", None)[0].path, "/s/*.jsonl");
        assert_eq!(workers("/s/x.jsonl", Some("/w"))[0].path, "/w/*.jsonl");
    }
}
