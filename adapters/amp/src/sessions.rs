//! Where transcripts are: threads are on Amp's servers, `amp threads export` prints one.

use hookhost_sdk::paths::{file_stem, is_absolute, is_plain_id, join, literal, parent, snapshot_dir};
use hookhost_sdk::{Context, Fault, Pattern, ProgramSource, Source, TranscriptLocation, env};

use crate::Amp;

/// What the ids of threads begin with.
const ID_PREFIX: &str = "T-";

/// The directory with the snapshots; one for all repositories, since ids are unique.
pub(crate) fn dir(context: &Context) -> Result<String, Fault> {
    snapshot_dir::<Amp>(context).ok_or_else(|| {
        Fault::Other("no directory for snapshots is known, and Amp keeps its threads on its servers".to_owned())
    })
}

/// The snapshot of a thread.
pub(crate) fn file(dir: &str, id: &str) -> Pattern {
    literal(join(dir, &format!("{id}.json")))
}

/// The snapshot of a thread in the usual directory, for the events of its hooks.
pub(crate) fn session_ref(id: &str, context: &Context) -> Option<String> {
    is_plain_id(id)
        .then(|| snapshot_dir::<Amp>(context))
        .flatten()
        .map(|dir| file(&dir, id).path)
}

/// A thread's id, or a file that is named after one, stands for its export. Any other file is read as it is, and so are
/// those that older clients kept: they are Amp's and not ours to replace.
pub(crate) fn source(session_ref: &str, context: &Context) -> TranscriptLocation {
    let id = file_stem(session_ref);
    let snapshot = if !id.starts_with(ID_PREFIX) || !is_plain_id(id) {
        None
    } else if is_absolute(session_ref) {
        Some(session_ref.to_owned()).filter(|path| Some(parent(path)) != threads_dir(context).as_deref())
    } else if session_ref == id {
        self::session_ref(id, context)
    } else {
        None
    };
    let source = match snapshot {
        Some(snapshot) => Source::Program(ProgramSource {
            arguments: ["amp", "threads", "export", id].map(str::to_owned).to_vec(),
            snapshot,
            writes_file: false,
        }),
        None => Source::File(session_ref.to_owned()),
    };
    TranscriptLocation {
        source,
        companions: vec![],
    }
}

/// Where clients before 2026-05 kept threads.
fn threads_dir(context: &Context) -> Option<String> {
    let data = env(context, "XDG_DATA_HOME")
        .or_else(|| env(context, "LOCALAPPDATA"))
        .map(str::to_owned)
        .or_else(|| context.home.as_deref().map(|home| join(home, ".local/share")))?;
    Some(join(&join(&data, "amp"), "threads"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing::context;

    const SNAPSHOT: &str = "/home/dev/.local/share/hookhost/snapshots/amp/T-1.json";

    fn snapshot_of(session_ref: &str, context: &Context) -> Option<(String, String)> {
        match source(session_ref, context).source {
            Source::Program(program) => Some((program.arguments.join(" "), program.snapshot)),
            _ => None,
        }
    }

    #[test]
    fn an_id_and_a_file_named_after_one_are_exported() {
        let export = |snapshot: &str| Some(("amp threads export T-1".to_owned(), snapshot.to_owned()));
        assert_eq!(snapshot_of("T-1", &context()), export(SNAPSHOT));
        assert_eq!(snapshot_of(SNAPSHOT, &context()), export(SNAPSHOT));
        assert_eq!(session_ref("T-1", &context()).as_deref(), Some(SNAPSHOT));
    }

    #[test]
    fn amps_own_files_and_all_others_are_read_as_they_are() {
        let mut context = context();
        assert_eq!(
            snapshot_of("/home/dev/.local/share/amp/threads/T-1.json", &context),
            None
        );
        assert_eq!(snapshot_of("/tmp/transcript.json", &context), None);
        assert_eq!(snapshot_of("/tmp/T-1;x.json", &context), None);
        context.env = vec![("LOCALAPPDATA".to_owned(), r"C:\Users\dev\AppData\Local".to_owned())];
        assert_eq!(
            snapshot_of(r"C:\Users\dev\AppData\Local\amp\threads\T-1.json", &context),
            None
        );
    }
}
