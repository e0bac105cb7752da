//! Has the system load a library of which we hold the bytes.
//!
//! A library is loaded by a path, and what is at a path can change after it was read and its digest compared. So the
//! system is given a file of our own with the bytes that were compared.
//!
//! On Linux that is a file in memory, sealed: nobody can write to it any more, the user included. Elsewhere it is a new
//! file in a folder that only the user can enter; programs of the same user could replace it in the moment between
//! writing and loading.
//!
//! What remains everywhere: the digest covers this file only, not the system's libraries that it links to. And whoever
//! can write to the user's settings can name another library with its own digest.

use libloading::Library;

/// Loads the library with these bytes. Its code may run at once.
///
/// # Safety
/// Whatever the library does when it is loaded has to be sound.
#[allow(unsafe_code, reason = "loading a library runs its code")]
pub(super) unsafe fn load(bytes: &[u8]) -> Result<Library, String> {
    let file = private_copy(bytes).map_err(|error| format!("it cannot be copied for loading: {error}"))?;
    // SAFETY: as the caller promises.
    let library = unsafe { open(file.path()) }.map_err(|error| error.to_string())?;
    file.keep_while_loaded();
    Ok(library)
}

/// With all symbols looked up now: one that is missing is an error here, and not the end of the process later.
#[cfg(unix)]
#[allow(unsafe_code, reason = "loading a library runs its code")]
unsafe fn open(path: &std::path::Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix;
    // SAFETY: as the caller of `load` promises.
    unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | unix::RTLD_LOCAL) }.map(Library::from)
}

#[cfg(not(unix))]
#[allow(unsafe_code, reason = "loading a library runs its code")]
unsafe fn open(path: &std::path::Path) -> Result<Library, libloading::Error> {
    // SAFETY: as the caller of `load` promises.
    unsafe { Library::new(path) }
}

#[cfg(target_os = "linux")]
use memory::private_copy;

#[cfg(target_os = "linux")]
mod memory {
    use std::fs::File;
    use std::io::{self, Write};
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    pub(super) struct Copy {
        file: File,
        path: PathBuf,
    }

    pub(super) fn private_copy(bytes: &[u8]) -> io::Result<Copy> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create("hookhost-native-adapter", flags)?);
        file.write_all(bytes)?;
        fcntl_add_seals(
            &file,
            SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
        )?;
        // With our number, and not `self`: a debugger looks for the file under the name that it was loaded by.
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into();
        Ok(Copy { file, path })
    }

    impl Copy {
        pub(super) fn path(&self) -> &Path {
            &self.path
        }

        /// Debuggers and backtraces read the file as long as the process lives.
        pub(super) fn keep_while_loaded(self) {
            std::mem::forget(self.file);
        }
    }
}

#[cfg(not(target_os = "linux"))]
use folder::private_copy;

#[cfg(not(target_os = "linux"))]
mod folder {
    use std::env::consts::DLL_SUFFIX;
    use std::fs::File;
    use std::io::{self, Write};
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    pub(super) struct Copy {
        folder: TempDir,
        path: PathBuf,
    }

    pub(super) fn private_copy(bytes: &[u8]) -> io::Result<Copy> {
        let folder = tempfile::Builder::new().prefix("hookhost-").tempdir()?;
        // Windows puts `.dll` behind a name that has no ending.
        let path = folder.path().join(format!("native-adapter{DLL_SUFFIX}"));
        File::create_new(&path)?.write_all(bytes)?;
        Ok(Copy { folder, path })
    }

    impl Copy {
        pub(super) fn path(&self) -> &Path {
            &self.path
        }

        /// Unix keeps what is mapped; elsewhere a loaded file cannot be removed, and stays in the temp folder.
        pub(super) fn keep_while_loaded(self) {
            drop(self.folder);
        }
    }
}
