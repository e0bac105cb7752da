//! What does not depend on an agent: settings, journal, adapters, cache, clock, PATH.

use std::collections::BTreeMap;
use std::path::Path;

use super::Finding;
#[cfg(unix)]
use super::Verdict;
use crate::adapter::registry;
use crate::config::{Capture, Config};
use crate::format::number;
use crate::journal::index::{Index, Session};
use crate::journal::{Journal, Record, fallback_file, read_fallback};
use crate::moment;
use crate::paths;
use crate::session::store;

/// Failures that are older are history.
const RECENT: i64 = 7 * 24 * 60 * 60 * 1000;

/// When this was written: no clock that is right shows an earlier time.
const EARLIEST: &str = "2026-11-30T00:00:00Z";

/// How far the newest record may lie in the future.
const CLOCK_TOLERANCE: i64 = 5 * 60 * 1000;

pub(super) fn look(fix: bool) -> Vec<Finding> {
    let mut findings = settings();
    let sessions = match Journal::of_user() {
        Some(journal) => {
            findings.extend(rights("journal", journal.folder(), fix));
            findings.push(writable());
            let (sessions, finding) = readable(&journal);
            findings.extend(finding);
            sessions
        }
        None => {
            let nowhere = Finding::wrong("journal", "there is no home directory to keep it in");
            findings.push(nowhere.remedy("set HOME, or HOOKHOST_HOME to a directory of your own"));
            vec![]
        }
    };
    findings.extend(lost());
    findings.extend(failures(&sessions));
    findings.extend(adapters(&Config::load().unwrap_or_default()));
    if let Some(cache) = paths::cache_dir().filter(|cache| cache.exists()) {
        findings.extend(rights("cache", &cache, fix));
    }
    findings.push(clock(&sessions));
    findings.push(path());
    findings
}

fn settings() -> Vec<Finding> {
    let config = match Config::load() {
        Ok(config) => config,
        Err(error) => {
            let text = error.to_string();
            let (message, hint) = text.split_once("\nhint: ").unwrap_or((&text, "correct the file"));
            return vec![
                Finding::wrong(
                    "settings",
                    format!("{message}; until it is corrected, hooks record nothing else"),
                )
                .remedy(hint),
            ];
        }
    };
    let mut findings: Vec<Finding> = vec![];
    for warning in &config.warnings {
        findings.push(Finding::notice("settings", warning).remedy("`hookhost config --explain` has all settings"));
    }
    if config.is_disabled() {
        let off = Finding::wrong("settings", "recording is switched off");
        findings.push(off.remedy("unset HOOKHOST_DISABLE, or take `disable = true` out of the settings"));
    }
    if config.capture() != Capture::Raw {
        findings.push(Finding::notice(
            "settings",
            "payloads are not kept as they come, so they cannot be replayed exactly",
        ));
    }
    if findings.is_empty() {
        let file = config.file.filter(|file| file.exists());
        let shown = file.map_or("the defaults hold".to_owned(), |file| {
            format!("{} can be read", file.display())
        });
        findings.push(Finding::fine("settings", shown));
    }
    findings
}

/// Whether only the user can read what is below a folder.
#[cfg(unix)]
fn rights(check: &'static str, folder: &Path, fix: bool) -> Option<Finding> {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    let mut open = vec![];
    let mut foreign = 0_u64;
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let metadata = std::fs::symlink_metadata(&next).ok()?;
        if metadata.is_symlink() {
            continue;
        }
        foreign += u64::from(metadata.uid() != user);
        if metadata.mode() & 0o077 != 0 {
            open.push(next.clone());
        }
        if metadata.is_dir() {
            let entries = std::fs::read_dir(&next).into_iter().flatten().flatten();
            folders.extend(entries.map(|entry| entry.path()));
        }
    }
    let place = folder.display();
    if foreign > 0 {
        let found = number::counted(foreign, "file or folder is", "files and folders are");
        let wrong = Finding::wrong(check, format!("{found} of another user in {place}"));
        return Some(wrong.remedy(format!("sudo chown -R {user} '{place}'")));
    }
    if open.is_empty() {
        return Some(Finding::fine(check, format!("{place} is for you only")));
    }
    let found = number::counted(open.len() as u64, "file or folder", "files and folders");
    if fix {
        let mended = open.iter().all(|path| close(path).is_ok());
        if mended {
            return Some(Finding::new(
                check,
                Verdict::Mended,
                format!("{found} in {place} could be read by others"),
            ));
        }
    }
    let wrong = Finding::wrong(check, format!("{found} in {place} can be read by others"));
    Some(wrong.remedy("hookhost doctor --fix"))
}

#[cfg(unix)]
fn close(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::symlink_metadata(path)?.permissions().mode();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode & 0o700))
}

#[cfg(not(unix))]
fn rights(_: &'static str, _: &Path, _: bool) -> Option<Finding> {
    None
}

/// Whether a record can be written where the journal is.
fn writable() -> Finding {
    let written = paths::data_dir()
        .ok_or_else(|| std::io::Error::other("there is no home directory"))
        .and_then(|data| {
            store::make_directory(&data)?;
            let scratch = tempfile::Builder::new().prefix(".doctor-").tempdir_in(&data)?;
            Journal::at(scratch.path()).append(&mut Record::default())
        });
    match written {
        Ok(()) => Finding::fine("journal", "a record can be written"),
        Err(error) => Finding::wrong("journal", format!("no record can be written: {error}"))
            .remedy("make room on the disk, or mend the access rights of the folder"),
    }
}

fn readable(journal: &Journal) -> (Vec<Session>, Option<Finding>) {
    let index = match Index::of(journal) {
        Ok(index) => index,
        Err(error) => {
            let wrong = Finding::wrong(
                "journal",
                format!("{} cannot be read: {error}", journal.folder().display()),
            );
            return (vec![], Some(wrong.remedy("mend the access rights of the folder")));
        }
    };
    let sessions = index.sessions();
    index.save();
    let torn: u64 = sessions.iter().map(|session| session.summary.unreadable).sum();
    let finding = (torn > 0).then(|| {
        let lines = number::counted(torn, "line is", "lines are");
        Finding::notice(
            "journal",
            format!("{lines} no records: torn by a crash or a loss of power. The others are not touched by that"),
        )
    });
    (sessions, finding)
}

fn lost() -> Option<Finding> {
    let lost = read_fallback();
    let last = lost.last()?;
    let count = number::counted(lost.len() as u64, "hook call", "hook calls");
    let wrong = Finding::wrong(
        "lost",
        format!(
            "{count} could not be recorded, the last one at {}: {}",
            last.time, last.failure.message
        ),
    );
    Some(wrong.remedy(format!("when the reason is gone, remove {}", fallback_file().display())))
}

/// Recent failures, by their code.
fn failures(sessions: &[Session]) -> Vec<Finding> {
    let since = moment::now() - RECENT;
    let mut by_code: BTreeMap<(String, String), (u64, String)> = BTreeMap::new();
    for summary in sessions.iter().map(|session| &session.summary) {
        let Some(last) = &summary.last_failure else { continue };
        if moment::milliseconds(&last.time) < since {
            continue;
        }
        let key = (summary.agent.clone(), last.failure.code.to_string());
        let (count, message) = by_code.entry(key).or_default();
        *count += summary.failures;
        message.clone_from(&last.failure.message);
    }
    let finding = |((agent, code), (count, message)): ((String, String), (u64, String))| {
        let calls = number::counted(count, "failed hook call", "failed hook calls");
        Finding::notice(
            "failures",
            format!("{calls}, the last one within a week for {code}: {message}"),
        )
        .of(&agent)
    };
    by_code.into_iter().map(finding).collect()
}

fn adapters(config: &Config) -> Vec<Finding> {
    let mut findings = vec![];
    let mut loaded = 0;
    for found in registry::all(config) {
        match found {
            Ok(_) => loaded += 1,
            Err(error) => {
                let wrong = Finding::wrong("adapters", error.message.clone()).of(&error.adapter);
                // What to do about a library stands in the message.
                findings.push(match config.native.contains_key(&error.adapter) {
                    true => wrong,
                    false => wrong.remedy(format!("{} {}", registry::REMEDY, error.adapter)),
                });
            }
        }
    }
    findings.insert(
        0,
        Finding::fine("adapters", number::counted(loaded, "is there", "are there")),
    );
    findings
}

fn clock(sessions: &[Session]) -> Finding {
    let now = moment::now();
    let newest = sessions
        .iter()
        .map(|session| moment::milliseconds(&session.summary.last))
        .max();
    if now < moment::milliseconds(EARLIEST) {
        let wrong = Finding::wrong("clock", format!("it shows {}, which is long past", moment::clock(now)));
        return wrong.remedy("set the clock: sessions are sorted by time");
    }
    match newest.filter(|newest| *newest > now + CLOCK_TOLERANCE) {
        Some(newest) => {
            let future = Finding::notice(
                "clock",
                format!("a record is of {}, which is to come", moment::clock(newest)),
            );
            future.remedy("set the clock: sessions are sorted by time")
        }
        None => Finding::fine("clock", format!("it is {}", moment::clock(now))),
    }
}

/// Whether the program that agents find is this one.
fn path() -> Finding {
    let current = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    match (paths::program("hookhost"), current) {
        (Some(found), Some(current)) if std::fs::canonicalize(&found).is_ok_and(|found| found == current) => {
            Finding::fine("path", format!("hookhost is {}", found.display()))
        }
        (Some(found), Some(current)) => Finding::notice(
            "path",
            format!(
                "hookhost on PATH is {}, this one is {}",
                found.display(),
                current.display()
            ),
        )
        .remedy("remove one of them, or put the right one first"),
        _ => Finding::notice("path", "hookhost is not on PATH, so agents are given its full path")
            .remedy("put its directory on PATH, then install again"),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_others_can_read_is_found_and_mended() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("agent");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("s.jsonl"), "x").unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(folder.path(), 0o700);
        set(&inner, 0o755);
        set(&inner.join("s.jsonl"), 0o644);
        let found = rights("journal", folder.path(), false).unwrap();
        assert_eq!(found.verdict, Verdict::Wrong);
        assert!(found.message.starts_with("2 files and folders"), "{}", found.message);
        assert_eq!(rights("journal", folder.path(), true).unwrap().verdict, Verdict::Mended);
        assert_eq!(rights("journal", folder.path(), false).unwrap().verdict, Verdict::Fine);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&inner), mode(&inner.join("s.jsonl"))), (0o700, 0o600));
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_finding() {
        assert_eq!(rights("cache", Path::new("/no/such"), false), None);
    }
}
