//! Getting at transcripts and reading them piece by piece.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::{Adapter, ReadingStart};
use crate::error::{Error, Result};
use crate::model::{Companion, Context, Entry, Source, TranscriptLocation, Wanted};
use crate::program::Run;
use crate::regular;

use super::refs::SessionRef;
use super::{pattern, store};

/// How much of a transcript is pushed to an adapter at a time: what stays in a processor's cache while it is copied into
/// the sandbox and read there.
const PIECE: usize = 128 << 10;

/// The most that is read of a file beside a transcript.
const COMPANION_LIMIT: u64 = 16 << 20;

/// How long a program may take to give out a transcript.
const PROGRAM_LIMIT: Duration = Duration::from_secs(20);

/// SQLite's own program.
const SQLITE: &str = "sqlite3";

/// The most that is taken from a database.
const DATABASE_LIMIT: u64 = 256 << 20;

/// A transcript that was found.
#[derive(Debug)]
pub struct Transcript {
    /// As the caller named it, spelled out.
    pub session_ref: String,
    /// The file that holds it, or that would.
    pub path: PathBuf,
    location: TranscriptLocation,
}

impl Transcript {
    /// Finds the transcript that a session ref names. Its file need not exist.
    ///
    /// # Errors
    /// The ref breaks the rules, or names nothing that the adapter knows.
    pub fn find(adapter: &mut dyn Adapter, context: &Context, session_ref: &str) -> Result<Self> {
        let session_ref = &*super::refs::spelled_out(session_ref, context.home.as_deref());
        let parsed = SessionRef::parse(session_ref)?;
        let mut location = adapter.transcript_location(session_ref, context)?;
        let named = match &location.source {
            Source::File(path) => Path::new(path),
            _ => snapshot(&location).unwrap_or(Path::new("")),
        };
        let path = match (parsed, named) {
            (_, path) if path.is_absolute() => path.to_owned(),
            (SessionRef::Path(path), _) => path,
            (SessionRef::Key(key), _) => {
                let path = file_of_key(adapter, context, &key)?;
                // What is beside the file, or how it is unpacked, only its path tells.
                location = adapter.transcript_location(&path.to_string_lossy(), context)?;
                match snapshot(&location) {
                    Some(snapshot) if snapshot.is_absolute() => snapshot.to_owned(),
                    _ => path,
                }
            }
        };
        Ok(Self {
            session_ref: session_ref.to_owned(),
            path,
            location,
        })
    }

    /// Opens the file that holds it. A transcript that a program gives out or a database holds is fetched first, when
    /// it has not been yet.
    ///
    /// # Errors
    /// It does not exist or cannot be read.
    pub fn open(&self, context: &Context) -> Result<File> {
        if !self.path.exists() || self.is_outdated() {
            self.fetch(context)?;
        }
        let cannot = |error| Error::system(format!("cannot read the transcript {}", self.path.display()), error);
        regular::open(&self.path).map_err(cannot)
    }

    /// Whether the agent keeps it in the file itself.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self.location.source, Source::File(_))
    }

    /// A program that unpacks a file gave out what was in it then.
    fn is_outdated(&self) -> bool {
        let Source::Program { arguments, .. } = &self.location.source else {
            return false;
        };
        let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
        let files = arguments.iter().skip(1).map(Path::new);
        let mut files = files.filter(|path| path.is_absolute() && path.is_file());
        files.any(|file| changed(file) > changed(&self.path))
    }

    /// Fetches a transcript that is not a file of the agent's, and keeps it where [`Self::open`] finds it.
    ///
    /// # Errors
    /// The program or the database cannot be read.
    pub fn fetch(&self, context: &Context) -> Result<()> {
        if !self.is_file() {
            self.is_in_our_keeping(context)?;
        }
        match &self.location.source {
            Source::File(_) => Ok(()),
            Source::Program {
                arguments,
                snapshot,
                writes_file,
            } => {
                let directory = context.repo_root.as_deref().or(context.cwd.as_deref()).map(Path::new);
                let run = |arguments: &[String], file: &File| {
                    let run = Run {
                        arguments,
                        stdin: b"",
                        directory,
                        limit: PROGRAM_LIMIT,
                    };
                    run.to_file(file)
                };
                let mut failed = None;
                let kept = store::replace(&self.path, |file| {
                    let given = if *writes_file {
                        written_elsewhere(arguments, snapshot, |arguments| {
                            run(arguments, &tempfile::tempfile().map_err(cannot_keep)?)
                        })
                        .and_then(|mut given| std::io::copy(&mut given, file).map_err(cannot_keep).map(drop))
                    } else {
                        run(arguments, file)
                    };
                    given.and_then(|()| is_complete(file, &self.path)).map_err(|error| {
                        let text = error.to_string();
                        failed = Some(error);
                        std::io::Error::other(text)
                    })
                });
                failed.map_or(kept, Err)
            }
            Source::Sqlite {
                path, query, parameter, ..
            } => store::write(&self.path, &database_rows(path, query, parameter)?),
        }
    }

    /// Reading a session must not make files wherever a ref points to: what is fetched goes into our own directory.
    fn is_in_our_keeping(&self, context: &Context) -> Result<()> {
        let snapshots = context.snapshots.as_deref().map(Path::new);
        match snapshots.map(|snapshots| super::refs::inside(&self.path, snapshots)) {
            Some(Ok(_)) => Ok(()),
            _ => Err(Error::input(format!(
                "the transcript {} does not exist, and it is not where fetched ones are kept",
                self.path.display()
            ))),
        }
    }

    /// The start of a reading of it, with the files beside it.
    #[must_use]
    pub fn start(&self, want: Wanted) -> ReadingStart {
        ReadingStart {
            session_ref: Some(self.session_ref.clone()),
            companions: self
                .location
                .companions
                .iter()
                .filter_map(|path| companion(path))
                .collect(),
            from: 0,
            want,
        }
    }
}

fn cannot_keep(error: std::io::Error) -> Error {
    Error::system("cannot keep what a program gives out", error)
}

/// What a program writes that is told which file to write: another one than the snapshot, until it is complete.
fn written_elsewhere(arguments: &[String], snapshot: &str, run: impl FnOnce(&[String]) -> Result<()>) -> Result<File> {
    let directory = tempfile::tempdir().map_err(cannot_keep)?;
    let name = Path::new(snapshot).file_name().unwrap_or_default();
    let elsewhere = directory.path().join(name);
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| match argument.strip_suffix(snapshot) {
            Some(option) if option.is_empty() || option.ends_with('=') => format!("{option}{}", elsewhere.display()),
            _ => argument.clone(),
        })
        .collect();
    run(&arguments)?;
    let missing = |error| Error::system("the program did not write the file that it was told to write", error);
    regular::open(&elsewhere).map_err(missing)
}

/// Whether a program gave out all of a transcript, before it takes the place of one that is good. What a file's name
/// says it is, it has to be: one JSON value, or whole JSON values.
fn is_complete(file: &mut File, path: &Path) -> Result<()> {
    let refused = |why: String| Err(Error::input(format!("what was to be kept as {} {why}", path.display())));
    let cannot = |error| Error::system("cannot read what a program gave out", error);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_document = ending.eq_ignore_ascii_case("json");
    file.rewind().map_err(cannot)?;
    let mut values = 0_u64;
    if is_document || ending.eq_ignore_ascii_case("jsonl") {
        let reader = std::io::BufReader::new(&*file);
        for value in serde_json::Deserializer::from_reader(reader).into_iter::<serde::de::IgnoredAny>() {
            match value {
                Ok(_) => values += 1,
                Err(error) if error.is_io() => return Err(cannot(error.into())),
                Err(error) if error.is_eof() => return refused("ends in the middle".to_owned()),
                Err(error) if is_document => return refused(format!("is not JSON: {error}")),
                // A line that is broken is the reader's business.
                Err(_) => return Ok(()),
            }
        }
    }
    let size = file.metadata().map_err(cannot)?.len();
    match values {
        _ if size == 0 => refused("is empty".to_owned()),
        0 if is_document => refused("is empty".to_owned()),
        2.. if is_document => refused("is more than one JSON document".to_owned()),
        _ => Ok(()),
    }
}

/// The rows of a query, a JSON object a line. Asks SQLite's own program, which many systems have: a library of it in
/// every hook's binary would be a high price for the few agents that keep sessions in a database.
fn database_rows(path: &str, query: &str, parameter: &str) -> Result<Vec<u8>> {
    if crate::paths::program(SQLITE).is_none() {
        return Err(
            Error::unsupported(format!("the transcript stands in the database {path}"))
                .hint(format!("install the program {SQLITE} to have it read")),
        );
    }
    if !Path::new(path).is_file() {
        return Err(Error::input(format!("there is no database {path}")));
    }
    if parameter.contains('\0') {
        return Err(Error::input("a session id has a NUL in it"));
    }
    let query = query.replace("?1", &format!("'{}'", parameter.replace('\'', "''")));
    let arguments = [SQLITE, "-readonly", "-batch", "-json", path, &query].map(str::to_owned);
    let run = Run {
        arguments: &arguments,
        stdin: b"",
        directory: None,
        limit: PROGRAM_LIMIT,
    };
    let output = run.to_bytes(DATABASE_LIMIT)?;
    let rows: Vec<&serde_json::value::RawValue> = match output.trim_ascii() {
        // No rows are no list.
        b"" => return Err(Error::input(format!("the database {path} has no such session"))),
        output => serde_json::from_slice(output)
            .map_err(|error| Error::input(format!("{SQLITE} did not answer with JSON")).because(error))?,
    };
    let mut lines = vec![];
    for row in rows {
        lines.extend(row.get().bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
        lines.push(b'\n');
    }
    Ok(lines)
}

fn snapshot(location: &TranscriptLocation) -> Option<&Path> {
    match &location.source {
        Source::File(_) => None,
        Source::Program { snapshot, .. } | Source::Sqlite { snapshot, .. } => Some(Path::new(snapshot)),
    }
}

/// The file that a key names: one in the directory of the repository's sessions.
fn file_of_key(adapter: &mut dyn Adapter, context: &Context, key: &str) -> Result<PathBuf> {
    let repo = context
        .repo_root
        .as_deref()
        .or(context.cwd.as_deref())
        .unwrap_or_default();
    let directory = adapter.session_dir(repo, context)?;
    let literal = Path::new(&directory).join(key);
    if literal.exists() || super::refs::check_id(key).is_err() {
        return Ok(literal);
    }
    let patterns = adapter.session_file(&directory, key, context)?;
    Ok(pattern::first(&patterns).unwrap_or(literal))
}

/// Opens a file, and nothing else: a pipe or a device could keep us waiting for ever, a pipe already when it is opened.
fn companion(path: &str) -> Option<Companion> {
    let file = regular::open(Path::new(path)).ok()?;
    let mut data = vec![];
    file.take(COMPANION_LIMIT).read_to_end(&mut data).ok()?;
    Some(Companion {
        path: path.to_owned(),
        data,
    })
}

/// Reads a transcript from its beginning, gives each entry to `each`, and gives back where the next reading may begin.
///
/// # Errors
/// The bytes cannot be read, or the adapter fails.
pub fn read(
    adapter: &mut dyn Adapter,
    start: ReadingStart,
    bytes: &mut dyn Read,
    mut each: impl FnMut(Entry),
) -> Result<u64> {
    let mut reading = adapter.reading(start)?;
    let mut piece = vec![0; PIECE];
    loop {
        let filled = fill(bytes, &mut piece)?;
        if filled.is_empty() {
            break;
        }
        reading.push(filled)?.into_iter().for_each(&mut each);
    }
    reading.finish()?.into_iter().for_each(&mut each);
    Ok(reading.position()?)
}

/// Reads as much as fits: pipes give small pieces, and a call into an adapter is worth a large one.
fn fill<'a>(bytes: &mut dyn Read, piece: &'a mut [u8]) -> Result<&'a [u8]> {
    let mut filled = 0;
    while let Some(rest) = piece.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match bytes.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::system("cannot read the transcript", error)),
        }
    }
    Ok(piece.get(..filled).unwrap_or_default())
}
