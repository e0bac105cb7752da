//! Where Copilot CLI keeps its sessions: `~/.copilot/session-state/<id>/events.jsonl`, whatever the project.

use hookhost_sdk::{Context, Object, Pattern, paths, session_id_of};

/// Moves `~/.copilot`.
pub(crate) const HOME: &str = "COPILOT_HOME";

const FILE: &str = "events.jsonl";

const SESSIONS: &str = "session-state";

/// The directory of all sessions.
pub(crate) fn dir(context: &Context) -> Option<String> {
    paths::configured_dir(context, HOME, ".copilot").map(|home| paths::join(&home, SESSIONS))
}

/// The session's one place in it.
pub(crate) fn files(dir: &str, id: &str) -> Vec<Pattern> {
    vec![paths::literal(paths::join(&paths::join(dir, id), FILE))]
}

/// Where the transcript of a session is or will be. An id that is no file's name has none.
pub(crate) fn file(id: &str, context: &Context) -> Option<String> {
    let dir = dir(context).filter(|_| paths::is_plain_id(id))?;
    Some(paths::join(&paths::join(&dir, id), FILE))
}

/// The folder that the session with this transcript has, which is named by its id.
pub(crate) fn folder(transcript: &str) -> Option<&str> {
    let folder = paths::parent(transcript);
    let is_sessions = paths::file_name(transcript) == FILE && paths::file_name(paths::parent(folder)) == SESSIONS;
    is_sessions
        .then(|| paths::file_name(folder))
        .filter(|id| !id.is_empty())
}

/// The session's id. Every transcript has the same name; the id is that of its folder.
pub(crate) fn id(input: &Object<'_>) -> Option<String> {
    let id = session_id_of(input)?;
    let session_ref = input.text("session_ref").unwrap_or_default();
    if paths::file_name(&session_ref) == FILE && paths::file_stem(FILE) == id {
        let folder = paths::file_name(paths::parent(&session_ref));
        return Some(folder.to_owned()).filter(|folder| !folder.is_empty());
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing::context;

    use super::*;

    #[test]
    fn the_home_of_all_sessions_can_be_moved() {
        let mut context = context();
        assert_eq!(
            file("a-1", &context).as_deref(),
            Some("/home/dev/.copilot/session-state/a-1/events.jsonl")
        );
        assert_eq!(file("../a", &context), None);
        context.env.push((HOME.to_owned(), "~/c".to_owned()));
        assert_eq!(
            file("a-1", &context).as_deref(),
            Some("/home/dev/c/session-state/a-1/events.jsonl")
        );
    }

    #[test]
    fn a_transcript_is_named_after_its_folder() {
        let id = |input| id(&Object::parse(input).unwrap());
        assert_eq!(
            id(r#"{"session_id":"","session_ref":"/c/session-state/a-1/events.jsonl"}"#).as_deref(),
            Some("a-1")
        );
        assert_eq!(id(r#"{"session_ref":"events.jsonl"}"#), None);
        assert_eq!(
            id(r#"{"session_id":"b","session_ref":"/c/session-state/a-1/events.jsonl"}"#).as_deref(),
            Some("b")
        );
        assert_eq!(id(r#"{"session_ref":"/c/other.jsonl"}"#).as_deref(), Some("other"));
    }
}
