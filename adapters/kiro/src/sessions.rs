//! Where Kiro keeps its sessions: files a session on newer command lines, a database on older ones.

use hookhost_sdk::paths::{self, is_plain_id, is_windows, join, literal};
use hookhost_sdk::{Context, Fault, Pattern, Platform, Source, SqliteSource, TranscriptLocation};

/// Ids of version 3 and of the IDE, whose sessions lie below a directory that is named by a hash.
const IDE_ID: &str = "sess_";
/// The directory of ours that holds what the database said.
const SNAPSHOTS: &str = "kiro";
const QUERY: &str = "SELECT value FROM conversations_v2 WHERE conversation_id = ?1";

fn sessions(context: &Context) -> Option<String> {
    paths::configured_dir(context, "KIRO_HOME", ".kiro").map(|dir| join(&dir, "sessions"))
}

pub(crate) fn dir(context: &Context) -> Result<String, Fault> {
    let dir = sessions(context).map(|dir| join(&dir, "cli"));
    dir.ok_or_else(|| Fault::Other("the user's home directory is not known: set HOME or KIRO_HOME".to_owned()))
}

/// The command line's file of a session; the IDE's cannot be computed.
pub(crate) fn rows_file(id: &str, context: &Context) -> Option<String> {
    let dir = dir(context)
        .ok()
        .filter(|_| is_plain_id(id) && !id.starts_with(IDE_ID))?;
    Some(join(&dir, &format!("{id}.jsonl")))
}

pub(crate) fn files(dir: &str, id: &str, context: &Context) -> Vec<Pattern> {
    let rows = join(dir, &format!("{id}.jsonl"));
    let mut patterns = vec![literal(rows.clone())];
    if id.starts_with(IDE_ID) {
        patterns.extend(sessions(context).map(|dir| literal(join(&dir, &format!("*/{id}/messages.jsonl")))));
    } else {
        let snapshots = context.snapshots.as_deref();
        patterns.extend(snapshots.map(|dir| literal(join(dir, &format!("{SNAPSHOTS}/{id}.jsonl")))));
    }
    patterns.push(literal(rows));
    patterns
}

/// A file of Kiro's is read with its companion; what lies in our own directory comes from the database.
pub(crate) fn source(session_ref: &str, context: &Context) -> TranscriptLocation {
    let ours = context.snapshots.as_deref().map(|dir| join(dir, SNAPSHOTS));
    let id = paths::file_stem(session_ref);
    if ours.as_deref() == Some(paths::parent(session_ref))
        && let Some(path) = database(context)
    {
        let (query, parameter, snapshot) = (QUERY.to_owned(), id.to_owned(), session_ref.to_owned());
        let source = Source::Sqlite(SqliteSource {
            path,
            query,
            parameter,
            snapshot,
        });
        return TranscriptLocation {
            source,
            companions: vec![],
        };
    }
    let companion = if paths::file_name(session_ref) == "messages.jsonl" {
        Some(join(paths::parent(session_ref), "session.json"))
    } else {
        session_ref.strip_suffix(".jsonl").map(|stem| format!("{stem}.json"))
    };
    TranscriptLocation {
        source: Source::File(session_ref.to_owned()),
        companions: companion.into_iter().collect(),
    }
}

/// The database of the command line to 2.x.
fn database(context: &Context) -> Option<String> {
    let dir = match context.platform {
        Platform::Macos => join(context.home.as_deref()?, "Library/Application Support"),
        _ if is_windows(context) => paths::configured_dir(context, "LOCALAPPDATA", r"AppData\Local")?,
        _ => paths::configured_dir(context, "XDG_DATA_HOME", ".local/share")?,
    };
    Some(join(&join(&dir, "kiro-cli"), "data.sqlite3"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing::context;

    #[test]
    fn files_are_looked_for_in_all_three_places() {
        let mut context = context();
        context.snapshots = Some("/snap".to_owned());
        let paths = |id| {
            files("/d", id, &context)
                .into_iter()
                .map(|pattern| pattern.path)
                .collect::<Vec<_>>()
        };
        assert_eq!(paths("7c"), ["/d/7c.jsonl", "/snap/kiro/7c.jsonl", "/d/7c.jsonl"]);
        assert_eq!(
            paths("sess_1"),
            [
                "/d/sess_1.jsonl",
                "/home/dev/.kiro/sessions/*/sess_1/messages.jsonl",
                "/d/sess_1.jsonl"
            ]
        );
    }

    #[test]
    fn our_own_directory_is_filled_from_the_database() {
        let mut context = context();
        context.snapshots = Some("/snap".to_owned());
        let Source::Sqlite(sqlite) = source("/snap/kiro/7c.jsonl", &context).source else {
            panic!("the database was expected")
        };
        assert_eq!(sqlite.path, "/home/dev/.local/share/kiro-cli/data.sqlite3");
        assert_eq!(
            (sqlite.parameter.as_str(), sqlite.snapshot.as_str()),
            ("7c", "/snap/kiro/7c.jsonl")
        );
        assert_eq!(source("/x/7c.jsonl", &context).companions, ["/x/7c.json"]);
    }

    #[test]
    fn only_a_plain_id_names_a_file() {
        assert_eq!(
            rows_file("7c", &context()).unwrap(),
            "/home/dev/.kiro/sessions/cli/7c.jsonl"
        );
        assert_eq!(rows_file("sess_1", &context()), None);
        assert_eq!(rows_file("../7c", &context()), None);
    }
}
