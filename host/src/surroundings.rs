//! What the process knows of its surroundings, and the part of it that an adapter is told.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::model::{Base, Context, ContextFile, Description, FileState, Place, Platform};
use crate::paths;

/// Names the repository's work tree; callers of the protocol set it.
const REPO_ROOT_VARIABLE: &str = "ENTIRE_REPO_ROOT";

/// The most that an adapter gets to see of a file that it wanted.
const FILE_LIMIT: u64 = 1 << 20;

/// The repository, the directory and the user that this process works for.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The repository's work tree, spelled as the caller spells it.
    pub repo_root: Option<PathBuf>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// RFC 3339 with milliseconds, UTC: the time of the call.
    pub received_at: String,
}

impl Surroundings {
    /// Those of this process, now.
    #[must_use]
    pub fn of_process() -> Self {
        let cwd = std::env::current_dir().ok();
        let named = std::env::var_os(REPO_ROOT_VARIABLE)
            .map(PathBuf::from)
            .filter(|root| root.is_absolute());
        Self {
            repo_root: named.or_else(|| repo_root_of(cwd.as_deref()?)),
            cwd,
            home: paths::user_home(),
            received_at: now(),
        }
    }

    /// What a hook's adapter is told: the variables it declared, and no files.
    #[must_use]
    pub fn context(&self, variables: &[String]) -> Context {
        let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
        Context {
            repo_root: shown(&self.repo_root),
            cwd: shown(&self.cwd),
            home: shown(&self.home),
            platform: platform(),
            received_at: self.received_at.clone(),
            env: variables
                .iter()
                .filter_map(|name| Some((name.clone(), std::env::var_os(name)?.to_string_lossy().into_owned())))
                .collect(),
            files: vec![],
            snapshots: paths::data_dir().map(|data| data.join("snapshots").to_string_lossy().into_owned()),
        }
    }

    /// What an adapter is told where files matter: as [`Self::context`], with those that it wants to see.
    #[must_use]
    pub fn context_with_files(&self, description: &Description) -> Context {
        let mut context = self.context(&description.env);
        context.files = description
            .wanted_files
            .iter()
            .filter_map(|wanted| {
                let path = self.place(wanted)?;
                Some(ContextFile {
                    wanted: wanted.clone(),
                    state: state_of(&path),
                    path: path.to_string_lossy().into_owned(),
                })
            })
            .collect();
        context
    }

    /// Whether something is at a place.
    #[must_use]
    pub fn has(&self, place: &Place) -> bool {
        self.place(place).is_some_and(|path| path.exists())
    }

    /// The path of a place. `None`: there is no such place here.
    fn place(&self, place: &Place) -> Option<PathBuf> {
        let below = |base: &Path| base.join(&place.path);
        match &place.base {
            Base::Repo => self.repo_root.as_deref().map(below),
            Base::Home => self.home.as_deref().map(below),
            Base::Program => paths::program(&place.path),
            Base::Root => Some(PathBuf::from(&place.path)).filter(|path| path.is_absolute()),
            Base::Env(name) => {
                let base = std::env::var_os(name).map(PathBuf::from)?;
                base.is_absolute().then(|| below(&base))
            }
        }
    }
}

/// The time of the call: RFC 3339 with milliseconds, UTC.
#[must_use]
pub fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// The nearest directory from `start` upwards that holds `.git`: a directory, or a file in linked work trees.
fn repo_root_of(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .find(|directory| std::fs::symlink_metadata(directory.join(".git")).is_ok())
        .map(Path::to_owned)
}

fn state_of(path: &Path) -> FileState {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) => return FileState::Missing,
        Err(error) => return FileState::Unreadable(error.to_string()),
    };
    if metadata.is_dir() {
        return FileState::Directory;
    }
    // A pipe or a device could keep us waiting for ever.
    if !metadata.is_file() {
        return FileState::Unreadable("not a regular file".to_owned());
    }
    let mut content = vec![];
    match File::open(path).and_then(|file| file.take(FILE_LIMIT + 1).read_to_end(&mut content)) {
        Ok(_) if content.len() as u64 > FILE_LIMIT => FileState::Unreadable("larger than 1 MiB".to_owned()),
        Ok(_) => FileState::Content(content),
        Err(error) => FileState::Unreadable(error.to_string()),
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn platform() -> Platform {
    if cfg!(windows) {
        Platform::Windows
    } else if cfg!(target_os = "macos") {
        Platform::Macos
    } else {
        Platform::Linux
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_found_from_a_directory_below_it_and_by_a_file_named_git() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(dir.path().join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(repo_root_of(&inner).as_deref(), Some(dir.path()));
    }

    #[test]
    fn wanted_files_are_shown_as_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, size| std::fs::write(dir.path().join(name), vec![b'x'; size]).unwrap();
        write("small", 3);
        write("large", (1 << 20) + 1);
        let state = |name: &str| state_of(&dir.path().join(name));
        assert_eq!(state("small"), FileState::Content(b"xxx".to_vec()));
        assert!(matches!(state("large"), FileState::Unreadable(_)));
        assert_eq!(state("none"), FileState::Missing);
        assert_eq!(state("small/below"), FileState::Missing);
        assert_eq!(state("."), FileState::Directory);
    }

    #[test]
    fn times_are_utc_with_milliseconds() {
        let now = now();
        assert_eq!(now.len(), "2026-01-02T03:04:05.678Z".len(), "{now}");
        assert!(now.ends_with('Z'));
    }
}
