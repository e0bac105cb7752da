//! Where goose keeps its sessions: in a database that only `goose session export` is made to read.

use hookhost_sdk::paths::{self, is_plain_id, join, literal};
use hookhost_sdk::{Context, Fault, Pattern, ProgramSource, Source, TranscriptLocation, env};

/// `sessions` in goose's data directory. `GOOSE_PATH_ROOT` moves all that goose keeps.
pub(crate) fn dir(context: &Context) -> Result<String, Fault> {
    if let Some(root) = env(context, "GOOSE_PATH_ROOT") {
        return Ok(join(&paths::expand_home(root, context), "data/sessions"));
    }
    if paths::is_windows(context) {
        let roaming = paths::configured_dir(context, "APPDATA", r"AppData\Roaming");
        return roaming
            .map(|dir| join(&dir, r"Block\goose\data\sessions"))
            .ok_or_else(no_home);
    }
    paths::configured_dir(context, "XDG_DATA_HOME", ".local/share")
        .map(|dir| join(&dir, "goose/sessions"))
        .ok_or_else(no_home)
}

fn no_home() -> Fault {
    Fault::Other("the user's home directory is not known: set HOME or GOOSE_PATH_ROOT".to_owned())
}

/// Where the session's export is kept. An id with a path in it names none.
pub(crate) fn export_file(id: &str, context: &Context) -> Option<String> {
    is_plain_id(id)
        .then(|| dir(context).ok())
        .flatten()
        .map(|dir| join(&dir, &format!("{id}.json")))
}

/// Versions before about 1.10 wrote a file a session.
pub(crate) fn files(dir: &str, id: &str, _context: &Context) -> Vec<Pattern> {
    vec![
        literal(join(dir, &format!("{id}.jsonl"))),
        literal(join(dir, &format!("{id}.json"))),
    ]
}

/// What goose keeps in its database is exported to the session ref; an older version's file is read as it is.
pub(crate) fn source(session_ref: &str) -> TranscriptLocation {
    let id = paths::file_stem(session_ref);
    let source = if session_ref.ends_with(".json") && !id.is_empty() {
        let arguments = [
            "goose",
            "session",
            "export",
            "--session-id",
            id,
            "--format",
            "json",
            "-o",
            session_ref,
        ];
        Source::Program(ProgramSource {
            arguments: arguments.map(str::to_owned).to_vec(),
            snapshot: session_ref.to_owned(),
            writes_file: true,
        })
    } else {
        Source::File(session_ref.to_owned())
    };
    TranscriptLocation {
        source,
        companions: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing::context;

    #[test]
    fn the_directory_follows_the_variables() {
        let mut context = context();
        assert_eq!(dir(&context).unwrap(), "/home/dev/.local/share/goose/sessions");
        context.env = vec![("XDG_DATA_HOME".to_owned(), "/data".to_owned())];
        assert_eq!(dir(&context).unwrap(), "/data/goose/sessions");
        context.env.push(("GOOSE_PATH_ROOT".to_owned(), "~/g".to_owned()));
        assert_eq!(dir(&context).unwrap(), "/home/dev/g/data/sessions");
    }

    #[test]
    fn an_id_that_is_no_file_name_names_no_export() {
        assert_eq!(export_file("../x", &context()), None);
        assert_eq!(
            export_file("20260820_3", &context()).unwrap(),
            "/home/dev/.local/share/goose/sessions/20260820_3.json"
        );
    }
}
