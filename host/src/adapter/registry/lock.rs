//! What is recorded of compiled code when it is written, and compared with what is there when it is loaded.
//!
//! `<name>.lock` names the file of the code beside it. Replacing the lock replaces the adapter at once: a hook that runs
//! at that moment has the old one or the new one. Comparing costs a `stat`; reading the code to compare digests would
//! take longer than the hook. An alias has a lock of its own, which holds nothing but the name.

use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::adapter::wasm::{CONFIG_ID, WASMTIME_VERSION};
use crate::regular;

const FORMAT: u32 = 1;

/// No lock is as large.
const SIZE_LIMIT: u64 = 1 << 20;

/// The record of one piece of compiled code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Version of this record.
    pub format: u32,
    /// The adapter's own name.
    pub name: String,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// Environment variables that it wants.
    pub env: Vec<String>,
    /// The component's digest, `sha256:` and hexadecimal digits.
    pub digest: String,
    /// The digest of the compiled code.
    pub code_digest: String,
    /// The component's file, when it is the user's own and can change.
    pub source: Option<FileIdentity>,
    /// The name of the file with the compiled code, in the folder of this record.
    pub file: String,
    /// What that file was when it had been written.
    pub code: FileIdentity,
    /// The engine that compiled it.
    pub wasmtime: String,
    /// Its configuration.
    pub config: String,
    /// The system it was compiled for.
    pub target: String,
}

/// What tells that a file is still the one that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
    /// Zero where files have none.
    pub inode: u64,
}

#[derive(Serialize, Deserialize)]
struct AliasLock {
    alias_of: String,
}

/// Why compiled code is not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale(String);

impl fmt::Display for Stale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Lock {
    /// A record for code in `file` that this program's engine can load.
    #[must_use]
    pub fn new(name: &str, digest: String, code_digest: String, file: String, code: FileIdentity) -> Self {
        Self {
            format: FORMAT,
            name: name.to_owned(),
            aliases: Vec::new(),
            env: Vec::new(),
            digest,
            code_digest,
            source: None,
            file,
            code,
            wasmtime: WASMTIME_VERSION.to_owned(),
            config: config(),
            target: target(),
        }
    }

    /// The record in `file`; `None` when there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(file: &Path) -> Result<Option<Self>, Stale> {
        let Some(text) = read_if_there(file)? else {
            return Ok(None);
        };
        let lock: Self = serde_json::from_slice(&text)
            .map_err(|error| Stale(format!("{} cannot be understood ({error})", file.display())))?;
        if lock.file.contains(['/', '\\']) {
            return Err(Stale(format!("{} names a file elsewhere", file.display())));
        }
        Ok(Some(lock))
    }

    /// The record as it is written.
    ///
    /// # Errors
    /// None that can be met: all its values have a JSON form.
    pub fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// The lock of an alias of this adapter, as it is written.
    ///
    /// # Errors
    /// As [`Lock::text`].
    pub fn alias_text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&AliasLock {
            alias_of: self.name.clone(),
        })
        .map(|text| text + "\n")
    }

    /// The file of the code, when it (and the component it was compiled from) is what was recorded, and this program's
    /// engine can load it. `folder` is that of this record.
    ///
    /// # Errors
    /// It is not, or cannot, and why.
    pub fn verify(&self, folder: &Path, source: Option<&Path>) -> Result<PathBuf, Stale> {
        for (recorded, ours) in [
            (&self.format.to_string(), FORMAT.to_string()),
            (&self.wasmtime, WASMTIME_VERSION.to_owned()),
            (&self.config, config()),
            (&self.target, target()),
        ] {
            if *recorded != ours {
                return Err(Stale(format!(
                    "it was compiled by another hookhost, or for another system ({recorded}, this is {ours})"
                )));
            }
        }
        let code_file = folder.join(&self.file);
        let metadata = fs::metadata(&code_file).map_err(|error| {
            Stale(format!(
                "its compiled code {} is not there ({error})",
                code_file.display()
            ))
        })?;
        if FileIdentity::of(&metadata) != self.code {
            return Err(Stale(
                "its compiled code has been changed since it was written".to_owned(),
            ));
        }
        refuse_others_file(&metadata)?;
        if let Some(source) = source {
            let now = fs::metadata(source)
                .map_err(|error| Stale(format!("{} cannot be read ({error})", source.display())))?;
            if Some(FileIdentity::of(&now)) != self.source {
                return Err(Stale("it has been changed since it was compiled".to_owned()));
            }
        }
        Ok(code_file)
    }
}

impl FileIdentity {
    /// Of the file that this is the metadata of.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            size: metadata.len(),
            modified: modified.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
            inode: inode(metadata),
        }
    }
}

/// The name of the user's adapter that is called `called`; `None` when there is none.
pub(super) fn resolve_alias(dir: &Path, called: &str) -> Result<Option<String>, Stale> {
    let Some(text) = read_if_there(&dir.join(format!("{called}.lock")))? else {
        return Ok(None);
    };
    Ok(Some(match serde_json::from_slice::<AliasLock>(&text) {
        Ok(alias) if super::is_name(&alias.alias_of) => alias.alias_of,
        _ => called.to_owned(),
    }))
}

fn read_if_there(file: &Path) -> Result<Option<Vec<u8>>, Stale> {
    match regular::read(file, SIZE_LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Stale(format!("{} cannot be read ({error})", file.display()))),
    }
}

fn config() -> String {
    format!("{CONFIG_ID:016x}")
}

fn target() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// Compiled code is machine code: nobody else may have written it, or be able to.
#[cfg(unix)]
fn refuse_others_file(metadata: &Metadata) -> Result<(), Stale> {
    use std::os::unix::fs::MetadataExt;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Stale("its compiled code belongs to another user".to_owned()));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(Stale("others can write to its compiled code".to_owned()));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_others_file(_: &Metadata) -> Result<(), Stale> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(dir: &Path) -> Lock {
        let code = dir.join("some-agent-01.cwasm");
        fs::write(&code, "code").unwrap();
        #[cfg(unix)]
        fs::set_permissions(&code, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let identity = FileIdentity::of(&fs::metadata(&code).unwrap());
        let file = "some-agent-01.cwasm".to_owned();
        let lock = Lock::new(
            "some-agent",
            "sha256:00".to_owned(),
            "sha256:01".to_owned(),
            file,
            identity,
        );
        fs::write(dir.join("some-agent.lock"), lock.text().unwrap()).unwrap();
        lock
    }

    #[test]
    fn what_was_written_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let lock = locked(dir.path());
        assert_eq!(Lock::read(&dir.path().join("some-agent.lock")), Ok(Some(lock.clone())));
        assert_eq!(
            lock.verify(dir.path(), None),
            Ok(dir.path().join("some-agent-01.cwasm"))
        );
    }

    #[test]
    fn code_of_another_engine_or_system_is_refused_by_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let lock = locked(dir.path());
        for foreign in [
            Lock {
                wasmtime: "1.0.0".to_owned(),
                ..lock.clone()
            },
            Lock {
                config: "0".to_owned(),
                ..lock.clone()
            },
            Lock {
                target: "s390x-aix".to_owned(),
                ..lock.clone()
            },
            Lock { format: 99, ..lock },
        ] {
            assert!(
                foreign
                    .verify(dir.path(), None)
                    .unwrap_err()
                    .to_string()
                    .contains("another hookhost")
            );
        }
    }

    #[test]
    fn changed_code_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let lock = locked(dir.path());
        let code = dir.path().join(&lock.file);
        fs::write(&code, "other code").unwrap();
        assert!(
            lock.verify(dir.path(), None)
                .unwrap_err()
                .to_string()
                .contains("changed")
        );
        fs::remove_file(&code).unwrap();
        assert!(
            lock.verify(dir.path(), None)
                .unwrap_err()
                .to_string()
                .contains("not there")
        );
    }

    #[cfg(unix)]
    #[test]
    fn code_that_others_can_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let lock = locked(dir.path());
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o620);
        fs::set_permissions(dir.path().join(&lock.file), mode).unwrap();
        assert!(
            lock.verify(dir.path(), None)
                .unwrap_err()
                .to_string()
                .contains("others can write")
        );
    }

    #[test]
    fn a_record_that_cannot_be_read_or_names_a_file_elsewhere_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let lock = locked(dir.path());
        let file = dir.path().join("some-agent.lock");
        fs::write(&file, "{\"format\":").unwrap();
        assert!(Lock::read(&file).is_err());
        let elsewhere = Lock {
            file: "../x.cwasm".to_owned(),
            ..lock
        };
        fs::write(&file, elsewhere.text().unwrap()).unwrap();
        assert!(Lock::read(&file).is_err());
    }

    #[test]
    fn an_alias_leads_to_the_adapter_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let lock = locked(dir.path());
        fs::write(dir.path().join("other-name.lock"), lock.alias_text().unwrap()).unwrap();
        fs::write(dir.path().join("bad.lock"), r#"{"alias_of": "../x"}"#).unwrap();
        let resolved = |called| resolve_alias(dir.path(), called).unwrap();
        assert_eq!(resolved("other-name").as_deref(), Some("some-agent"));
        assert_eq!(resolved("some-agent").as_deref(), Some("some-agent"));
        assert_eq!(resolved("bad").as_deref(), Some("bad"));
        assert_eq!(resolved("missing"), None);
    }
}
