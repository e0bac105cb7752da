//! Writing a file whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Puts `bytes` into the file at `path`, whose links have been resolved. Readers see the old file or the new one, never
/// a part. The mode of an old file is kept, a new one is for its owner only; missing directories are made.
///
/// # Errors
/// The system refuses. The old file is then as it was.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, |file| file.write_all(bytes))
}

/// As [`write()`], with the bytes that `fill` writes.
///
/// # Errors
/// The system refuses, or `fill` fails. The old file is then as it was.
pub fn replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    try_replace(path, fill).map_err(|error| Error::system(format!("cannot write {}", path.display()), error))
}

fn try_replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty())
        .ok_or_else(|| io::Error::other("it is no file in a directory"))?;
    let missing: Vec<&Path> = directory.ancestors().take_while(|above| !above.exists()).collect();
    let done = make_directory(directory).and_then(|()| replace_in(directory, path, fill));
    if done.is_err() {
        // What was made for a file that did not come about goes again, innermost first.
        for made in missing {
            let _ = fs::remove_dir(made);
        }
    }
    done
}

fn replace_in(directory: &Path, path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let old = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(io::Error::other("it is a directory")),
        // A device is the system's and a pipe somebody's: a file would take its place.
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut file = tempfile::Builder::new().prefix(".hookhost-").tempfile_in(directory)?;
    fill(file.as_file_mut())?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Makes a directory and those above it, for the user only.
///
/// # Errors
/// The system refuses.
pub fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn new_files_are_for_their_owner_and_directories_are_made() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/file");
        write(&path, b"x").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }

    #[test]
    fn the_mode_of_an_old_file_is_kept_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(mode(&path), 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("full"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(write(dir.path(), b"x").is_err());
    }

    #[test]
    fn what_was_refused_leaves_no_directory() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        fs::create_dir(&kept).unwrap();
        assert!(write(&kept.join("new/newer").join("x".repeat(300)), b"x").is_err());
        assert!(write(&kept.join("new").join("x".repeat(300)).join("file"), b"x").is_err());
        assert!(replace(&kept.join("new/file"), |_| Err(io::Error::other("full"))).is_err());
        assert!(kept.is_dir());
        assert_eq!(fs::read_dir(&kept).unwrap().count(), 0);
    }

    #[test]
    fn a_pipe_or_a_device_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert!(write(&pipe, b"x").is_err());
        assert!(!fs::metadata(&pipe).unwrap().is_file());
    }
}
