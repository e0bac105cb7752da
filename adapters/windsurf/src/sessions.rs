//! Where Windsurf keeps its transcripts: all projects' in one directory, at most a hundred, and only while a hook
//! asks for them.

use hookhost_sdk::{Context, paths};

/// The directory with all transcripts.
pub(crate) fn dir(context: &Context) -> Option<String> {
    context
        .home
        .as_deref()
        .map(|home| paths::join(home, ".windsurf/transcripts"))
}

/// Where the transcript of a session is or will be. An id that is no file's name has none.
pub(crate) fn file(id: &str, context: &Context) -> Option<String> {
    if !paths::is_plain_id(id) {
        return None;
    }
    dir(context).map(|dir| paths::join(&dir, &format!("{id}.jsonl")))
}
