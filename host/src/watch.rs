//! Following files as they change. The one door to the `notify` package.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::error::{Error, ErrorKind, Result};

/// How long changes are gathered after the first one.
const GATHER: Duration = Duration::from_millis(20);

/// How often is looked where the system does not tell of changes.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells which files change in some places.
pub struct Watch {
    changes: Receiver<notify::Result<notify::Event>>,
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Watches a file, or a folder with everything in it.
    ///
    /// # Errors
    /// It is not there, or the system has no more watches.
    pub fn of(place: &Path) -> Result<Self> {
        let cannot = |error: notify::Error| {
            Error::new(ErrorKind::System, format!("cannot watch {}", place.display())).because(error)
        };
        let (sender, changes) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(sender).map_err(cannot)?;
        watcher.watch(place, RecursiveMode::Recursive).map_err(cannot)?;
        Ok(Self {
            changes,
            _watcher: watcher,
        })
    }

    /// Waits for changes and gives the files that have changed; all changes within a moment are one. Returns with none
    /// after a second, so that the caller can look for itself: some file systems tell nothing.
    ///
    /// # Errors
    /// The watch has broken down.
    pub fn wait(&self) -> Result<Vec<PathBuf>> {
        let mut changed = vec![];
        let mut until = Instant::now() + PATIENCE;
        loop {
            match self
                .changes
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(Ok(event)) if event.kind.is_access() => {}
                Ok(Ok(event)) => {
                    if changed.is_empty() {
                        until = Instant::now() + GATHER;
                    }
                    changed.extend(event.paths);
                }
                // An overflow: what has changed is not known.
                Ok(Err(_)) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new(ErrorKind::System, "the watch on the files has ended"));
                }
            }
        }
        changed.sort();
        changed.dedup();
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    #[test]
    fn a_file_that_is_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        fs::create_dir(folder.join("a")).unwrap();
        let watch = Watch::of(&folder).unwrap();
        let path = folder.join("a/b");
        let writer = {
            let path = path.clone();
            thread::spawn(move || fs::write(path, "x").unwrap())
        };
        let mut changed = vec![];
        for _ in 0..10 {
            changed.extend(watch.wait().unwrap());
            if changed.contains(&path) {
                break;
            }
        }
        writer.join().unwrap();
        assert!(changed.contains(&path), "{changed:?}");
    }

    #[test]
    fn what_is_not_there_cannot_be_watched() {
        assert!(Watch::of(Path::new("/no/such/place")).is_err());
    }
}
