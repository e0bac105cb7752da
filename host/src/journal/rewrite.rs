//! The two exceptions to appending: `redact` writes a file anew, `prune` removes it. Both hold its lock, so that no
//! writer loses a record to them.

use std::fs;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use super::append::Locked;
use super::read::Lines;
use crate::error::{Error, Result};
use crate::session::store;

/// Looks at every line of a file.
///
/// # Errors
/// The file cannot be read.
pub fn look(path: &Path, mut each: impl FnMut(&[u8])) -> Result<()> {
    let mut lines = Lines::open(path, 0).map_err(|error| cannot("read", path, error))?;
    while let Some(line) = lines.next_line().map_err(|error| cannot("read", path, error))? {
        each(line.bytes);
    }
    Ok(())
}

/// What becomes of the lines of a file.
pub trait Rewriter {
    /// What is to stand for a line; `None` leaves it out.
    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>>;
    /// What is to stand behind the last line.
    fn last(&mut self) -> Option<Vec<u8>>;
}

/// Writes a file anew, all of it or nothing.
///
/// # Errors
/// The file is not there, is locked for too long, or cannot be written.
pub fn rewrite(path: &Path, rewriter: &mut dyn Rewriter) -> Result<()> {
    let mut locked = Locked::existing(path).map_err(|error| cannot("rewrite", path, error))?;
    store::replace(path, |file| {
        let mut lines = Lines::new(BufReader::new(locked.read_from_start()?), 0);
        let mut out = BufWriter::new(file);
        let mut write = |line: Option<Vec<u8>>| match line {
            Some(mut line) => {
                line.push(b'\n');
                out.write_all(&line)
            }
            None => Ok(()),
        };
        while let Some(line) = lines.next_line()? {
            write(rewriter.line(line.bytes))?;
        }
        write(rewriter.last())?;
        out.flush()
    })
}

/// Removes a file that is still as long as it was found to be. Says whether it did.
///
/// # Errors
/// The file is locked for too long or cannot be removed.
pub fn remove(path: &Path, length: u64) -> Result<bool> {
    let locked = match Locked::existing(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        locked => locked.map_err(|error| cannot("remove", path, error))?,
    };
    if locked.length() != length {
        return Ok(false);
    }
    fs::remove_file(path).map_err(|error| cannot("remove", path, error))?;
    Ok(true)
}

fn cannot(what: &str, path: &Path, error: io::Error) -> Error {
    Error::system(format!("cannot {what} {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct WithoutB;

    impl Rewriter for WithoutB {
        fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
            (line != b"b").then(|| [line, b"!"].concat())
        }

        fn last(&mut self) -> Option<Vec<u8>> {
            Some(b"end".to_vec())
        }
    }

    #[test]
    fn lines_are_replaced_left_out_and_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "a\nb\nc\ntorn").unwrap();
        rewrite(&path, &mut WithoutB).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a!\nc!\ntorn!\nend\n");
    }

    #[test]
    fn a_file_that_has_grown_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "a\n").unwrap();
        assert!(!remove(&path, 1).unwrap());
        assert!(path.exists());
        assert!(remove(&path, 2).unwrap());
        assert!(!path.exists());
        assert!(!remove(&path, 2).unwrap());
    }

    #[test]
    fn what_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        assert!(rewrite(&path, &mut WithoutB).is_err());
        assert!(!path.exists());
    }
}
