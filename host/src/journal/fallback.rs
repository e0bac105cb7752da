//! The last resort: a line in the temp folder when the journal cannot be written.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::{Failure, Record};

/// When the file is larger it is begun anew: it is looked at for the newest lines.
const LIMIT: u64 = 1 << 20;

/// A hook call that the journal doesn't know of. A record with a failure can be read as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fallback {
    /// When the hook was called.
    pub time: String,
    /// The agent.
    pub agent: String,
    /// The hook.
    pub hook: String,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Why the journal could not be written.
    pub failure: Failure,
}

impl Fallback {
    /// What is to be said of a record that could not be written.
    #[must_use]
    pub fn of(record: &Record<'_>, error: &io::Error) -> Self {
        let mut message = format!("the journal cannot be written: {error}");
        if let Some(earlier) = &record.failure {
            message.push_str(&format!("; before that: {}: {}", earlier.code, earlier.message));
        }
        Self {
            time: record.time.clone(),
            agent: record.agent.clone(),
            hook: record.hook.clone(),
            session_id: record.session_id.clone(),
            failure: Failure::new("journal-unwritable", message),
        }
    }

    /// Appends the line to the user's file in the temp folder.
    ///
    /// # Errors
    /// That cannot be written either.
    pub fn write(&self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let mut file = open_own(&mut options)?;
        if file.metadata()?.len() > LIMIT {
            file.set_len(0)?;
        }
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        file.write_all(&line)
    }
}

/// The file in the temp folder.
#[must_use]
pub fn fallback_file() -> PathBuf {
    #[cfg(unix)]
    let user = rustix::process::geteuid().as_raw().to_string();
    #[cfg(not(unix))]
    let user = "user";
    std::env::temp_dir().join(format!("hookhost-{user}.jsonl"))
}

/// The lines in the temp folder, oldest first. Anything that is no line of ours is left out.
#[must_use]
pub fn read_fallback() -> Vec<Fallback> {
    let mut text = String::new();
    let read = open_own(OpenOptions::new().read(true)).and_then(|file| file.take(2 * LIMIT).read_to_string(&mut text));
    match read {
        Ok(_) => text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        Err(_) => vec![],
    }
}

/// Everybody can write to the temp folder: a link or a file of somebody else's is not ours.
fn open_own(options: &mut OpenOptions) -> io::Result<std::fs::File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        let file = options
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(fallback_file())?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other("the file in the temp folder is not ours"));
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(fallback_file())
}
