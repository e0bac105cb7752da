//! Where transcripts are: OpenCode keeps its sessions in a database of its own, `opencode export` prints one.

use hookhost_sdk::paths::{file_stem, is_absolute, is_plain_id, join, literal, parent, snapshot_dir};
use hookhost_sdk::{Context, Fault, Pattern, ProgramSource, Source, TranscriptLocation};

use crate::OpenCode;

/// What the ids of sessions begin with.
const ID_PREFIX: &str = "ses_";

/// The directory with the snapshots; one for all repositories, since ids are unique.
pub(crate) fn dir(context: &Context) -> Result<String, Fault> {
    snapshot_dir::<OpenCode>(context).ok_or_else(|| {
        Fault::Other("no directory for snapshots is known, and OpenCode keeps no transcripts".to_owned())
    })
}

/// The snapshot of a session.
pub(crate) fn file(dir: &str, id: &str) -> Pattern {
    literal(join(dir, &format!("{id}.json")))
}

/// The snapshot of a session in the usual directory, for the events of its hooks.
pub(crate) fn session_ref(id: &str, context: &Context) -> Option<String> {
    is_plain_id(id)
        .then(|| snapshot_dir::<OpenCode>(context))
        .flatten()
        .map(|dir| file(&dir, id).path)
}

/// The snapshots of the sessions that the `task` tool made.
pub(crate) fn children(session_ref: &str, subagents_dir: Option<&str>) -> Pattern {
    let dir = subagents_dir.unwrap_or_else(|| parent(session_ref));
    Pattern {
        path: join(dir, "*.json"),
        linked: true,
    }
}

/// A session's id, or a file that is named after one, stands for its export; any other file is one.
pub(crate) fn source(session_ref: &str, context: &Context) -> TranscriptLocation {
    let id = file_stem(session_ref);
    let is_ours = snapshot_dir::<OpenCode>(context).is_some_and(|dir| parent(session_ref) == dir);
    let is_export = (is_ours || id.starts_with(ID_PREFIX)) && is_plain_id(id) && !id.starts_with('-');
    let snapshot = if is_absolute(session_ref) && !is_opencodes(session_ref) {
        Some(session_ref.to_owned())
    } else if session_ref == id || is_opencodes(session_ref) {
        self::session_ref(id, context)
    } else {
        None
    };
    let source = match snapshot {
        Some(snapshot) if is_export => Source::Program(ProgramSource {
            arguments: ["opencode", "export", id].map(str::to_owned).to_vec(),
            snapshot,
            writes_file: false,
        }),
        _ => Source::File(session_ref.to_owned()),
    };
    TranscriptLocation {
        source,
        companions: vec![],
    }
}

/// Whether it is a file of the storage before the database: facts about a session, without its messages. OpenCode's
/// files are not ours to replace.
fn is_opencodes(path: &str) -> bool {
    let mut above = path.rsplit(['/', '\\']).skip(2);
    above.next() == Some("session") && above.next() == Some("storage")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing::context;

    const SNAPSHOT: &str = "/home/dev/.local/share/hookhost/snapshots/opencode/ses_1.json";

    fn snapshot_of(session_ref: &str) -> Option<(String, String)> {
        match source(session_ref, &context()).source {
            Source::Program(program) => Some((program.arguments.join(" "), program.snapshot)),
            _ => None,
        }
    }

    #[test]
    fn an_id_and_a_file_named_after_one_are_exported() {
        let export = |snapshot: &str| Some(("opencode export ses_1".to_owned(), snapshot.to_owned()));
        assert_eq!(snapshot_of("ses_1"), export(SNAPSHOT));
        assert_eq!(snapshot_of(SNAPSHOT), export(SNAPSHOT));
        assert_eq!(
            snapshot_of("/repo/.entire/tmp/ses_1.json"),
            export("/repo/.entire/tmp/ses_1.json")
        );
        assert_eq!(
            snapshot_of("/home/dev/.local/share/opencode/storage/session/global/ses_1.json"),
            export(SNAPSHOT),
            "OpenCode's own file is left alone"
        );
    }

    #[test]
    fn any_other_file_is_read_as_it_is() {
        assert_eq!(snapshot_of("/tmp/transcript.json"), None);
        assert_eq!(snapshot_of("dir/ses_1.json"), None);
        assert_eq!(snapshot_of("/tmp/ses_1;x.json"), None);
        assert_eq!(
            snapshot_of("/home/dev/.local/share/hookhost/snapshots/opencode/--help.json"),
            None
        );
    }

    #[test]
    fn an_id_that_is_no_file_name_has_no_snapshot() {
        assert_eq!(session_ref("ses_1", &context()).as_deref(), Some(SNAPSHOT));
        assert_eq!(session_ref("../ses_1", &context()), None);
    }
}
