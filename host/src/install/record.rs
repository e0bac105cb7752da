//! How a file was before we came: what cannot be told from the file afterwards. One small file each, in our data
//! directory. Where it is missing (another machine, another user), uninstalling goes by what the entries show.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::regular;
use crate::session::store;

/// No record is as large: the settings files themselves are smaller.
const SIZE_LIMIT: u64 = 64 << 20;

/// What was there, and what we made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    /// The file that this is about.
    pub(super) file: String,
    /// There was no file.
    pub(super) made_file: bool,
    /// Directories that we made, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) made_dirs: Vec<PathBuf>,
    /// The byte order marks that the file began with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) mark: String,
    /// The text of a file that held no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) blank: Option<String>,
    /// Objects and lists that were there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) kept: Vec<Kept>,
    /// Where a file of somebody else's was set aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) backup: Option<PathBuf>,
    /// What we set because it was missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) defaults: Vec<SetValue>,
    /// The file as we left it.
    pub(super) digest: String,
}

/// An object or a list that was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    path: Vec<String>,
    /// What stood between its brackets, when that was no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    inner: Option<String>,
}

/// A value of ours at a path where nothing stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SetValue {
    pub(super) path: Vec<String>,
    /// JSON text.
    pub(super) value: String,
}

impl Record {
    /// Notes that something stood at a path.
    pub(super) fn keep(&mut self, path: &[String], inner: Option<&str>) {
        if !self.keeps(path) {
            self.kept.push(Kept {
                path: path.to_vec(),
                inner: inner.map(str::to_owned),
            });
        }
    }

    /// Something stood at the path.
    pub(super) fn keeps(&self, path: &[String]) -> bool {
        self.kept.iter().any(|kept| kept.path == path)
    }

    /// What stood between the brackets at the path, when that was no value.
    pub(super) fn inner(&self, path: &[String]) -> Option<&str> {
        self.kept.iter().find(|kept| kept.path == path)?.inner.as_deref()
    }

    /// Notes that we set a value.
    pub(super) fn remember_default(&mut self, path: &[String], value: &str) {
        if !self.defaults.iter().any(|default| default.path == path) {
            self.defaults.push(SetValue {
                path: path.to_vec(),
                value: value.to_owned(),
            });
        }
    }
}

/// A digest of a file's bytes, to see whether it is as we left it.
pub(super) fn digest(bytes: &[u8]) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, bytes).to_string()
}

/// Where the records are.
#[derive(Clone, Debug)]
pub(super) struct Records {
    directory: Option<PathBuf>,
}

impl Records {
    /// In a directory, or nowhere.
    pub(super) fn new(directory: Option<&Path>) -> Self {
        Self {
            directory: directory.map(Path::to_owned),
        }
    }

    /// The record of a file.
    pub(super) fn load(&self, file: &Path) -> Option<Record> {
        let bytes = regular::read(&self.path(file)?, SIZE_LIMIT).ok()?;
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        (record.file == file.to_string_lossy()).then_some(record)
    }

    /// Writes a record. `false`: it could not be written.
    pub(super) fn save(&self, file: &Path, record: &Record) -> bool {
        let Some(path) = self.path(file) else { return false };
        let mut record = record.clone();
        record.file = file.to_string_lossy().into_owned();
        let Ok(mut text) = serde_json::to_string_pretty(&record) else {
            return false;
        };
        text.push('\n');
        store::write(&path, text.as_bytes()).is_ok()
    }

    /// Drops a record.
    pub(super) fn forget(&self, file: &Path) {
        if let Some(path) = self.path(file) {
            // That there is none is as good.
            let _ = std::fs::remove_file(path);
        }
    }

    fn path(&self, file: &Path) -> Option<PathBuf> {
        let name = digest(file.to_string_lossy().as_bytes());
        Some(self.directory.as_ref()?.join(format!("{name}.json")))
    }
}
