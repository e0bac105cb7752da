//! Writing: one record, one write, under a lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::paths::is_still_at;
use crate::session::store;

/// How long other writers are waited for. They need microseconds; a program that was stopped while it wrote needs for
/// ever, and agents give their hooks no more than some seconds.
const PATIENCE: Duration = Duration::from_secs(4);

/// The first step back from the end of the file: the last record or two, which as a rule decide.
const FIRST_REACH: u64 = 4 << 10;

/// How far back is looked, but for one record that is larger than this.
const REACH: u64 = 64 << 10;

/// How far back is looked for the beginning of a single record.
const UTMOST_REACH: u64 = 128 << 20;

/// A journal file, open and locked. Dropping it unlocks.
#[derive(Debug)]
pub(crate) struct Locked {
    file: File,
    length: u64,
    /// The last byte, once somebody has seen it.
    last: Option<u8>,
}

impl Locked {
    /// Opens the file, makes it and its folders where they are missing, and waits for the lock.
    ///
    /// # Errors
    /// The file cannot be made or opened, or the lock was not to be had ([`io::ErrorKind::WouldBlock`]).
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::open_by(path, open_or_make)
    }

    /// As [`Self::open`], but a file that is not there is an error.
    ///
    /// # Errors
    /// As those of [`Self::open`].
    pub(crate) fn existing(path: &Path) -> io::Result<Self> {
        Self::open_by(path, |path| OpenOptions::new().read(true).write(true).open(path))
    }

    /// How long the file is.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// What stands in the file, from its beginning.
    pub(crate) fn read_from_start(&mut self) -> io::Result<impl Read> {
        self.file.rewind()?;
        Ok((&self.file).take(self.length))
    }

    fn open_by(path: &Path, open: impl Fn(&Path) -> io::Result<File>) -> io::Result<Self> {
        let began = Instant::now();
        loop {
            let file = open(path)?;
            wait_for_lock(&file, began)?;
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Err(io::Error::other("not a regular file"));
            }
            // Whoever rewrote or removed the file while we waited has left us with one that nobody will read.
            if is_still_at(path, &metadata) {
                return Ok(Self {
                    file,
                    length: metadata.len(),
                    last: None,
                });
            }
        }
    }

    /// Appends one record: `parts` without the newline. A line that was left torn is closed first. When the disk is
    /// full, nothing of the record stays.
    ///
    /// # Errors
    /// The record could not be written.
    pub(crate) fn append(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let closing: &[u8] = if self.is_torn()? { b"\n" } else { b"" };
        let mut slices: Vec<IoSlice<'_>> = Vec::with_capacity(parts.len() + 2);
        slices.push(IoSlice::new(closing));
        slices.extend(parts.iter().map(|part| IoSlice::new(part)));
        slices.push(IoSlice::new(b"\n"));
        let size: usize = slices.iter().map(|slice| slice.len()).sum();
        let written = write_all(&mut self.file, &mut slices);
        match written {
            Ok(()) => {
                self.length += size as u64;
                self.last = Some(b'\n');
            }
            Err(_) => {
                let _ = self.file.set_len(self.length);
            }
        }
        written
    }

    /// Looks at the lines before the end, the last one first, until `look` has seen enough or the reach of one look
    /// back ends. Reads at least one line, however long.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn newest_first(&mut self, look: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
        self.last = newest_first(&mut self.file, self.length, look)?;
        Ok(())
    }

    fn is_torn(&mut self) -> io::Result<bool> {
        let Some(end) = self.length.checked_sub(1) else {
            return Ok(false);
        };
        if self.last.is_none() {
            let mut byte = [b'\n'];
            self.file.seek(SeekFrom::Start(end))?;
            (&self.file).read_exact(&mut byte)?;
            self.last = byte.first().copied();
        }
        Ok(self.last != Some(b'\n'))
    }
}

/// Looks back over a file that others may be writing to, as [`Locked::newest_first`] does.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn look_back(path: &Path, look: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    newest_first(&mut file, length, look)?;
    Ok(())
}

/// Gives the last byte of the file.
fn newest_first(
    file: &mut File,
    length: u64,
    mut look: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<Option<u8>> {
    if length == 0 {
        return Ok(None);
    }
    let mut tail: Vec<u8> = vec![];
    // What lies behind this offset has been looked at.
    let mut seen_from = length;
    let mut reach = FIRST_REACH;
    loop {
        let start = length.saturating_sub(reach);
        tail = read_before(file, start, length, tail)?;
        let unseen = usize::try_from(seen_from - start).unwrap_or(usize::MAX);
        let mut region = tail.get(..unseen.min(tail.len())).unwrap_or_default();
        loop {
            let body = region.strip_suffix(b"\n").unwrap_or(region);
            let begin = match body.iter().rposition(|&byte| byte == b'\n') {
                Some(newline) => newline + 1,
                None if start == 0 => 0,
                None => break,
            };
            let line = body.get(begin..).unwrap_or_default();
            if look(line).is_break() || begin == 0 {
                return Ok(tail.last().copied());
            }
            region = region.get(..begin).unwrap_or_default();
            seen_from = start + begin as u64;
        }
        if reach >= UTMOST_REACH || (reach >= REACH && seen_from < length) {
            return Ok(tail.last().copied());
        }
        reach *= 4;
    }
}

/// The bytes from `start` to `end`, of which the last ones are here already.
fn read_before(file: &mut File, start: u64, end: u64, mut tail: Vec<u8>) -> io::Result<Vec<u8>> {
    let missing = end - start - tail.len() as u64;
    let mut bytes = Vec::with_capacity(usize::try_from(end - start).unwrap_or_default());
    file.seek(SeekFrom::Start(start))?;
    file.take(missing).read_to_end(&mut bytes)?;
    bytes.append(&mut tail);
    Ok(bytes)
}

fn open_or_make(path: &Path) -> io::Result<File> {
    match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                store::make_directory(folder)?;
            }
            open(path)
        }
        opened => opened,
    }
}

/// Opens a file for appending and reading; a new one is readable by its owner only.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // A named pipe in the way must not hold us up.
        options.mode(0o600).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    }
    options.open(path)
}

/// Waits for the lock on a file.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    wait_for_lock(file, Instant::now())
}

fn wait_for_lock(file: &File, began: Instant) -> io::Result<()> {
    match file.try_lock() {
        // A file system without locks: an append is still one write.
        Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        Err(TryLockError::WouldBlock) => {}
    }
    // The system has no waiting for a lock with a limit. In a thread it can be waited for without one: the lock belongs
    // to the open file, not to the thread, and a process that gives up takes the thread with it.
    let (sender, locked) = mpsc::channel();
    let waiting = file.try_clone()?;
    thread::Builder::new().spawn(move || sender.send(waiting.lock()))?;
    match locked.recv_timeout(PATIENCE.saturating_sub(began.elapsed())) {
        Ok(locked) => locked,
        Err(_) => Err(io::Error::new(
            io::ErrorKind::WouldBlock,
            "another program holds the lock",
        )),
    }
}

/// One `writev` as a rule; more only when the system took a part.
fn write_all(file: &mut File, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    IoSlice::advance_slices(&mut slices, 0);
    while !slices.is_empty() {
        match file.write_vectored(slices) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut slices, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn lines(path: &Path) -> Vec<String> {
        let mut lines = vec![];
        Locked::open(path)
            .unwrap()
            .newest_first(|line| {
                lines.push(String::from_utf8(line.to_vec()).unwrap());
                ControlFlow::Continue(())
            })
            .unwrap();
        lines
    }

    #[test]
    fn a_record_is_its_parts_and_a_newline() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/c.jsonl");
        Locked::open(&path).unwrap().append(&[b"one", b"", b" more"]).unwrap();
        Locked::open(&path).unwrap().append(&[b"two"]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one more\ntwo\n");
        assert_eq!(lines(&path), ["two", "one more"]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_what_is_made() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal/agent/s.jsonl");
        Locked::open(&path).unwrap().append(&[b"{}"]).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&folder.path().join("journal")), 0o700);
        assert_eq!(mode(&folder.path().join("journal/agent")), 0o700);
    }

    #[test]
    fn a_torn_last_line_is_closed_by_the_next_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, b"{\"a\":1}\n{\"a\":").unwrap();
        Locked::open(&path).unwrap().append(&[b"{\"a\":2}"]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{\"a\":1}\n{\"a\":\n{\"a\":2}\n");
    }

    #[test]
    fn looking_back_is_bounded_but_for_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let line = "x".repeat(999);
        fs::write(&path, format!("{line}\n").repeat(1000)).unwrap();
        assert_eq!(lines(&path).len(), 65);
        let long = "y".repeat(3 << 20);
        Locked::open(&path).unwrap().append(&[long.as_bytes()]).unwrap();
        assert_eq!(lines(&path)[0], long);
        fs::write(&path, &long).unwrap();
        assert_eq!(lines(&path), [long]);
    }

    #[test]
    fn every_line_is_seen_once_wherever_the_steps_back_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        for length in [3_000_usize, 4_095, 4_096, 4_097, 15_000, 16_383, 16_384, 16_385, 40_000] {
            let all = [
                "first".to_owned(),
                "m".repeat(length),
                "\u{e9}".repeat(200),
                "last".to_owned(),
            ];
            fs::write(&path, format!("{}\n", all.join("\n"))).unwrap();
            let mut backwards = lines(&path);
            backwards.reverse();
            assert_eq!(backwards, all, "{length}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_writer_that_waited_while_the_file_was_replaced_writes_to_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let first = Locked::open(&path).unwrap();
        let waiting = {
            let path = path.clone();
            thread::spawn(move || Locked::open(&path).unwrap().append(&[b"late"]).unwrap())
        };
        thread::sleep(Duration::from_millis(30));
        let replacement = folder.path().join("new");
        fs::write(&replacement, b"redacted\n").unwrap();
        fs::rename(&replacement, &path).unwrap();
        drop(first);
        waiting.join().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"redacted\nlate\n");
    }

    #[test]
    fn a_lock_that_is_never_given_back_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let _held = Locked::open(&path).unwrap();
        assert_eq!(Locked::open(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_and_does_not_hold_us_up() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert!(Locked::open(&pipe).is_err());
        assert!(Locked::open(folder.path()).is_err());
    }
}
