//! Reading and replacing a file that others read and write as well.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// No settings file is larger.
const SIZE_LIMIT: u64 = 16 << 20;

/// How many symbolic links are followed.
const LINK_LIMIT: usize = 40;

/// The file behind a path: symbolic links are followed, also to a file that is not there yet.
pub(super) fn real(path: &Path) -> Result<PathBuf> {
    let mut real = path.to_owned();
    for _ in 0..LINK_LIMIT {
        match fs::symlink_metadata(&real) {
            Ok(metadata) if metadata.is_symlink() => {
                let target = fs::read_link(&real).map_err(|error| cannot("read the link", &real, error))?;
                real = match real.parent() {
                    Some(directory) => directory.join(target),
                    None => target,
                };
            }
            Ok(_) => return Ok(real),
            Err(error) if is_missing(&error) => return Ok(real),
            Err(error) => return Err(cannot("look at", &real, error)),
        }
    }
    Err(
        Error::input(format!("{} leads through too many symbolic links", path.display()))
            .hint("remove the link, or let it point to a file, and try again"),
    )
}

/// The bytes of a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(cannot("look at", path, error)),
    };
    if !metadata.is_file() {
        let what = if metadata.is_dir() {
            "a directory"
        } else {
            "not a regular file"
        };
        return Err(Error::input(format!("{} is {what}", path.display()))
            .hint("a settings file is expected there: move it away and try again"));
    }
    if metadata.len() > SIZE_LIMIT {
        return Err(Error::input(format!(
            "{} is larger than {} MiB, too large for a settings file",
            path.display(),
            SIZE_LIMIT >> 20
        )));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|error| cannot("read", path, error))?;
    Ok(Some(bytes))
}

/// Refuses a file that the user could not write. A rename would replace it all the same, so it has to be asked.
pub(super) fn check_writable(path: &Path) -> Result<()> {
    if is_read_only(path) {
        return Err(Error::input(format!("{} is read-only", path.display()))
            .hint("make it writable (chmod u+w) and try again, or add the entries by hand"));
    }
    Ok(())
}

#[cfg(unix)]
pub(super) fn is_read_only(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    path.exists() && access(path, Access::WRITE_OK).is_err()
}

#[cfg(not(unix))]
pub(super) fn is_read_only(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly())
}

/// Makes the directories above a file; gives those that were not there, outermost first.
pub(super) fn make_parents(path: &Path) -> Result<Vec<PathBuf>> {
    let Some(parent) = path.parent() else {
        return Ok(Vec::new());
    };
    let missing: Vec<_> = parent
        .ancestors()
        .take_while(|directory| !directory.as_os_str().is_empty() && !directory.exists())
        .map(Path::to_owned)
        .collect();
    fs::create_dir_all(parent).map_err(|error| {
        cannot("make the directory", parent, error).hint("something else may stand there: move it away and try again")
    })?;
    Ok(missing.into_iter().rev().collect())
}

/// What holds other installers off a file while it lives.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Waits until nobody else of us works on the files of a directory.
///
/// The directory itself is locked: that leaves nothing behind, and it is the same lock whoever runs us. Where a
/// directory cannot be locked (Windows, some network file systems) a file in the temporary directory stands for it.
///
/// `None`: the directory is gone.
pub(super) fn lock(path: &Path) -> Result<Option<Lock>> {
    let directory = path.parent().unwrap_or(path);
    let locked = File::open(directory).and_then(|file| file.lock().map(|()| file));
    let file = match locked {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(_) => {
            let name = format!(
                "hookhost-{}.lock",
                super::record::digest(directory.to_string_lossy().as_bytes())
            );
            let stand_in = std::env::temp_dir().join(name);
            let open = File::options().create(true).append(true).open(&stand_in);
            open.and_then(|file| file.lock().map(|()| file))
                .map_err(|error| cannot("lock", &stand_in, error))?
        }
    };
    Ok(Some(Lock { _file: file }))
}

/// Puts a file in the place of another, or makes one: a new file beside it, then a rename, so that readers see the old
/// or the new one. The mode stays, the owner where that is possible.
///
/// `false`: the file is not what it was when we read it, and nothing was written.
pub(super) fn replace(path: &Path, old: Option<&[u8]>, new: &[u8], executable: bool) -> Result<bool> {
    let directory = path.parent().unwrap_or(path);
    let before = fs::metadata(path).ok();
    let write = || -> io::Result<tempfile::NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".hookhost-").suffix(".tmp");
        let mut temporary = new_file(&mut builder, executable).tempfile_in(directory)?;
        temporary.write_all(new)?;
        if let Some(before) = &before {
            take_over(temporary.as_file(), before, executable)?;
        }
        temporary.as_file().sync_all()?;
        Ok(temporary)
    };
    let temporary = match write() {
        Ok(temporary) => temporary,
        // The directory went away with somebody's uninstalling.
        Err(error) if is_missing(&error) => return Ok(false),
        Err(error) => {
            return Err(cannot("write into", directory, error)
                .hint("check that the directory is yours and that the disk has room"));
        }
    };
    if read(path)?.as_deref() != old {
        return Ok(false);
    }
    temporary
        .persist(path)
        .map_err(|error| cannot("replace", path, error.error))?;
    Ok(true)
}

/// Takes a file away. `false`: it is not what it was when we read it.
pub(super) fn delete(path: &Path, old: &[u8]) -> Result<bool> {
    if read(path)?.as_deref() != Some(old) {
        return Ok(false);
    }
    fs::remove_file(path).map_err(|error| cannot("remove", path, error))?;
    Ok(true)
}

/// Takes directories away, those of them that are empty. Inner ones come first.
pub(super) fn remove_empty<'a>(directories: impl IntoIterator<Item = &'a PathBuf>) {
    for directory in directories {
        // What is not empty is somebody's.
        let _ = fs::remove_dir(directory);
    }
}

/// Copies a file of somebody else's to a place beside it.
pub(super) fn set_aside(path: &Path, backup: &Path) -> Result<()> {
    if backup.exists() {
        return Err(Error::input(format!("{} is there already", backup.display()))
            .hint("it holds what stood there before an earlier installation: move it away and try again"));
    }
    fs::copy(path, backup).map_err(|error| cannot("set aside", path, error))?;
    Ok(())
}

/// Puts back what was set aside.
pub(super) fn put_back(backup: &Path, path: &Path) -> Result<()> {
    match fs::rename(backup, path) {
        Err(error) if !is_missing(&error) => Err(cannot("put back", path, error)),
        _ => Ok(()),
    }
}

/// The system would run it, or there is nothing that could be run.
#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_executable(_: &Path) -> bool {
    true
}

/// A new file gets the mode that the user's umask gives it, as any editor's would.
#[cfg(unix)]
fn new_file<'a>(
    builder: &'a mut tempfile::Builder<'static, 'static>,
    executable: bool,
) -> &'a mut tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(if executable { 0o777 } else { 0o666 }))
}

#[cfg(not(unix))]
fn new_file<'a>(
    builder: &'a mut tempfile::Builder<'static, 'static>,
    _: bool,
) -> &'a mut tempfile::Builder<'static, 'static> {
    builder
}

/// The mode of the file that is replaced, and its owner where that is possible.
#[cfg(unix)]
fn take_over(file: &File, before: &Metadata, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (before.uid(), before.gid()) {
        // Only root can give a file away; everybody else keeps what is possible.
        let _ = fchown(file, Some(before.uid()), Some(before.gid()));
    }
    let readable = before.mode() & 0o444;
    let mode = before.mode() & 0o7777 | if executable { readable >> 2 } else { 0 };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn take_over(file: &File, before: &Metadata, _: bool) -> io::Result<()> {
    file.set_permissions(before.permissions())
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

fn cannot(doing: &str, path: &Path, error: io::Error) -> Error {
    Error::system(format!("cannot {doing} {}", path.display()), error)
}
