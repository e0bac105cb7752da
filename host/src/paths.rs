//! The directories that belong to hookhost. The one door to the `directories` package.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use directories::ProjectDirs;

/// Puts all of our directories below one: `<it>/data`, `<it>/config`, `<it>/cache`.
pub const HOME_VARIABLE: &str = "HOOKHOST_HOME";

/// What outlives everything: the journal and the user's adapters.
#[must_use]
pub fn data_dir() -> Option<PathBuf> {
    below_home("data").or_else(|| Some(ours()?.data_local_dir().to_owned()))
}

/// Settings.
#[must_use]
pub fn config_dir() -> Option<PathBuf> {
    below_home("config").or_else(|| Some(ours()?.config_dir().to_owned()))
}

/// What can be made again: precompiled adapters.
#[must_use]
pub fn cache_dir() -> Option<PathBuf> {
    below_home("cache").or_else(|| Some(ours()?.cache_dir().to_owned()))
}

/// The user's home directory.
#[must_use]
pub fn user_home() -> Option<PathBuf> {
    // As `directories` finds it, without looking for all the other directories.
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// The file of a program, when PATH names one by an absolute directory. What stands in relative directories, so in the
/// directory that we happen to be in, is never found.
#[must_use]
pub fn program(name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains(['/', '\\']) {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .find_map(|directory| executable(&directory.join(name)))
}

#[cfg(unix)]
fn executable(path: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then(|| path.to_owned())
}

#[cfg(not(unix))]
fn executable(path: &Path) -> Option<PathBuf> {
    ["", ".exe", ".cmd", ".bat"]
        .into_iter()
        .map(|ending| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        })
        .find(|candidate| candidate.is_file())
}

/// Whether the file that was opened is still the one at that path: others rename files and put new ones in their place.
#[cfg(unix)]
pub(crate) fn is_still_at(path: &Path, opened: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).is_ok_and(|there| there.ino() == opened.ino() && there.dev() == opened.dev())
}

#[cfg(not(unix))]
pub(crate) fn is_still_at(path: &Path, _: &Metadata) -> bool {
    path.exists()
}

// Both are asked for several times in a hook, and are the same each time.

fn below_home(name: &str) -> Option<PathBuf> {
    static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
    let set = || std::env::var_os(HOME_VARIABLE).filter(|home| !home.is_empty());
    let home = HOME.get_or_init(|| set().map(PathBuf::from)).as_ref()?;
    Some(home.join(name))
}

fn ours() -> Option<&'static ProjectDirs> {
    static OURS: OnceLock<Option<ProjectDirs>> = OnceLock::new();
    OURS.get_or_init(|| ProjectDirs::from("", "", "hookhost")).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_its_bare_name_only() {
        assert_eq!(program("/bin/sh"), None);
        assert_eq!(program(""), None);
        #[cfg(unix)]
        assert!(program("sh").is_some_and(|path| path.is_absolute()));
    }
}
