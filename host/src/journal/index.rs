//! All sessions of the journal, fast: what was summed up before is remembered in a file that can be thrown away.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;

use serde::{Deserialize, Serialize};

use super::sessions::Summary;
use super::{ENDING, Journal};
use crate::regular;

/// The index's name. No folder or session begins with a dot.
const NAME: &str = ".index.json";

/// Rises when what is remembered means something else.
const VERSION: u32 = 3;

/// What a million sessions take. A larger one is made again.
const SIZE_LIMIT: u64 = 1 << 30;

/// Fewer files than this are not worth a thread.
const FILES_A_THREAD: usize = 16;

/// A session and its file.
#[derive(Clone, Debug)]
pub struct Session {
    /// The file with its records.
    pub path: PathBuf,
    /// What they say.
    pub summary: Summary,
    /// How large the file is.
    pub size: u64,
    /// What was found out about its transcript at an earlier time, and may be asked for again.
    pub transcript: Option<TranscriptNote>,
}

/// What a transcript said when it was as large and as old as this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptNote {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
    /// How many files the session changed.
    pub files: u64,
    /// How many tokens it used, all classes together.
    pub tokens: u64,
    /// How many prompts it has.
    #[serde(default)]
    pub prompts: u64,
    /// The first of them.
    #[serde(default)]
    pub title: Option<String>,
}

/// What is remembered of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    /// Behind the last line that was read.
    offset: u64,
    summary: Summary,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transcript: Option<TranscriptNote>,
}

/// What changes when a file does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Stamp {
    size: u64,
    modified: u64,
    file: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let file = 0;
        Self {
            size: metadata.len(),
            modified: modified(metadata),
            file,
        }
    }
}

/// When a file was changed last, in nanoseconds since 1970.
#[must_use]
pub fn modified(metadata: &Metadata) -> u64 {
    let since = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

#[derive(Default, Serialize, Deserialize)]
struct Remembered {
    version: u32,
    files: BTreeMap<String, Entry>,
}

/// The index of a journal.
#[derive(Debug)]
pub struct Index {
    folder: PathBuf,
    files: BTreeMap<String, Entry>,
    has_changed: bool,
}

impl Index {
    /// Looks at the journal's folders and reads what is new.
    ///
    /// # Errors
    /// The journal's folder cannot be read. One that is not there is an empty one.
    pub fn of(journal: &Journal) -> io::Result<Self> {
        let folder = journal.folder().to_owned();
        let mut remembered = remembered(&folder.join(NAME));
        let found = files_below(&folder)?;
        let mut has_changed = remembered.len() != found.len();
        let mut files = BTreeMap::new();
        let mut stale = vec![];
        for (key, stamp) in found {
            match remembered.remove(&key) {
                Some(entry) if entry.stamp == stamp => {
                    files.insert(key, entry);
                }
                known => stale.push((key, stamp, known)),
            }
        }
        has_changed |= !stale.is_empty();
        files.extend(read_all(&folder, stale));
        Ok(Self {
            folder,
            files,
            has_changed,
        })
    }

    /// All sessions, in no order that matters.
    #[must_use]
    pub fn sessions(&self) -> Vec<Session> {
        let session = |(key, entry): (&String, &Entry)| Session {
            path: self.folder.join(key),
            summary: entry.summary.clone(),
            size: entry.stamp.size,
            transcript: entry.transcript.clone(),
        };
        self.files.iter().map(session).collect()
    }

    /// Remembers what a session's transcript says.
    pub fn note_transcript(&mut self, session: &Path, note: TranscriptNote) {
        let key = session.strip_prefix(&self.folder).ok().and_then(Path::to_str);
        if let Some(entry) = key.and_then(|key| self.files.get_mut(key)) {
            self.has_changed |= entry.transcript.as_ref() != Some(&note);
            entry.transcript = Some(note);
        }
    }

    /// Writes what is to be remembered. That it cannot be written is no failure: it is read again then.
    pub fn save(self) {
        if !self.has_changed {
            return;
        }
        let remembered = Remembered {
            version: VERSION,
            files: self.files,
        };
        let _ = replace(
            &self.folder.join(NAME),
            &serde_json::to_vec(&remembered).unwrap_or_default(),
        );
    }
}

fn remembered(path: &Path) -> BTreeMap<String, Entry> {
    let remembered: Option<Remembered> = regular::read(path, SIZE_LIMIT)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    remembered
        .filter(|remembered| remembered.version == VERSION)
        .map(|remembered| remembered.files)
        .unwrap_or_default()
}

/// The files with records, by their paths below the journal's folder.
fn files_below(folder: &Path) -> io::Result<Vec<(String, Stamp)>> {
    let mut found = vec![];
    let agents = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        agents => agents?,
    };
    for agent in agents.flatten() {
        let Some(agent_name) = agent.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        if agent_name.starts_with('.') {
            continue;
        }
        let sessions = match fs::read_dir(agent.path()) {
            // A file that is not ours, or a folder that was removed meanwhile.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound) => continue,
            // To pass it over would say that nothing is recorded there.
            Err(error) => {
                return Err(io::Error::new(
                    error.kind(),
                    format!("{}: {error}", agent.path().display()),
                ));
            }
            Ok(sessions) => sessions,
        };
        for session in sessions.flatten() {
            let name = session.file_name();
            let Some(name) = name
                .to_str()
                .filter(|name| name.ends_with(ENDING) && !name.starts_with('.'))
            else {
                continue;
            };
            if let Some(metadata) = session.metadata().ok().filter(Metadata::is_file) {
                found.push((format!("{agent_name}/{name}"), Stamp::of(&metadata)));
            }
        }
    }
    Ok(found)
}

impl Journal {
    /// The files with records, in no order.
    ///
    /// # Errors
    /// The journal's folder cannot be read. One that is not there is an empty one.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        let files = files_below(self.folder())?;
        Ok(files.into_iter().map(|(key, _)| self.folder().join(key)).collect())
    }
}

type Stale = (String, Stamp, Option<Entry>);

/// Reads the files that are new or have changed, on all processors.
fn read_all(folder: &Path, stale: Vec<Stale>) -> Vec<(String, Entry)> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = stale.len().div_ceil(threads).max(FILES_A_THREAD);
    if stale.len() <= share {
        return stale.into_iter().filter_map(|stale| read(folder, stale)).collect();
    }
    thread::scope(|scope| {
        let shares: Vec<_> = stale
            .chunks(share)
            .map(|share| {
                scope.spawn(move || {
                    share
                        .iter()
                        .filter_map(|stale| read(folder, stale.clone()))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        shares
            .into_iter()
            .flat_map(|share| share.join().unwrap_or_default())
            .collect()
    })
}

/// Reads a file from where it was left, or from its beginning when it is not the same any more.
fn read(folder: &Path, (key, stamp, known): Stale) -> Option<(String, Entry)> {
    let path = folder.join(&key);
    let has_grown = |entry: &Entry| entry.stamp.file == stamp.file && entry.offset <= stamp.size;
    let mut entry = known
        .filter(|entry| has_grown(entry) && ends_line(&path, entry.offset))
        .unwrap_or_default();
    entry.offset = entry.summary.read_on(&path, entry.offset).ok()?;
    entry.stamp = stamp;
    Some((key, entry))
}

/// Whether a line ends just before the offset.
fn ends_line(path: &Path, offset: u64) -> bool {
    let Some(before) = offset.checked_sub(1) else {
        return true;
    };
    let mut byte = [0];
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(before))?;
        file.read_exact(&mut byte)
    });
    read.is_ok() && byte == *b"\n"
}

/// Puts a file in the place of another, all of it or nothing.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Record;

    fn journal(folder: &Path) -> Journal {
        Journal::at(folder.join("journal"))
    }

    fn hook(journal: &Journal, agent: &str, session: &str) {
        let mut record = Record {
            time: "2026-01-02T03:04:05.678Z".to_owned(),
            agent: agent.to_owned(),
            session_id: Some(session.to_owned()),
            ..Record::default()
        };
        journal.append(&mut record).unwrap();
    }

    fn counts(journal: &Journal) -> Vec<(String, String, u64)> {
        let index = Index::of(journal).unwrap();
        let counts = index.sessions().into_iter().map(|session| {
            let summary = session.summary;
            (summary.agent, summary.session_id, summary.records)
        });
        let counts = counts.collect();
        index.save();
        counts
    }

    #[test]
    fn a_journal_that_is_not_there_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(counts(&journal(folder.path())), []);
        assert!(!folder.path().join("journal").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_read_is_no_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        hook(&journal, "a", "one");
        // Links in a circle are refused to everybody, also to those whom no mode holds back.
        std::os::unix::fs::symlink("round", journal.folder().join("round")).unwrap();
        assert!(Index::of(&journal).is_err());
        fs::remove_file(journal.folder().join("round")).unwrap();
        fs::write(journal.folder().join("notes"), "x").unwrap();
        assert_eq!(counts(&journal).len(), 1);
    }

    #[test]
    fn what_grows_is_read_on_and_what_is_replaced_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        hook(&journal, "a", "one");
        hook(&journal, "b", "two/2");
        let count = |one, two| {
            [("a", "one", one), ("b", "two/2", two)]
                .map(|(agent, session, count)| (agent.to_owned(), session.to_owned(), count))
        };
        assert_eq!(counts(&journal), count(1, 1));
        hook(&journal, "a", "one");
        assert_eq!(counts(&journal), count(2, 1));
        let path = journal.session_file("a", Some("one"));
        let first = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
        replace(&path, format!("{first}\n").as_bytes()).unwrap();
        assert_eq!(counts(&journal), count(1, 1));
        fs::remove_file(&path).unwrap();
        assert_eq!(counts(&journal), count(1, 1)[1..]);
    }

    #[test]
    fn an_index_that_is_gone_or_broken_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        hook(&journal, "a", "one");
        let before = counts(&journal);
        let path = journal.folder().join(NAME);
        for broken in ["", "{", "{\"version\":0,\"files\":{}}"] {
            fs::write(&path, broken).unwrap();
            assert_eq!(counts(&journal), before);
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(counts(&journal), before);
        assert!(path.is_file());
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert_eq!(counts(&journal), before);
    }

    #[test]
    fn many_sessions_are_read_on_all_processors() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        for number in 0..100 {
            hook(&journal, "a", &number.to_string());
        }
        assert_eq!(counts(&journal).len(), 100);
    }

    #[test]
    fn what_a_transcript_said_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        hook(&journal, "a", "one");
        let note = TranscriptNote {
            size: 1,
            modified: 2,
            files: 3,
            tokens: 4,
            prompts: 5,
            title: Some("six".to_owned()),
        };
        let mut index = Index::of(&journal).unwrap();
        index.note_transcript(&journal.session_file("a", Some("one")), note.clone());
        index.save();
        assert_eq!(Index::of(&journal).unwrap().sessions()[0].transcript, Some(note));
    }
}
