//! What becomes of one file: bytes to bytes.

use std::path::{Path, PathBuf};

use super::notation::{self, Trouble};
use super::own::Owner;
use super::record::{Record, digest};
use super::{settings, words};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{ConfigEdit, ConfigFormat, Edit, OwnFile};

/// What the file is changed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// To register; `force`: entries of ours are written anew, and a foreign file gives way to ours.
    Install {
        force: bool,
    },
    Remove,
}

/// What becomes of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) file: PathBuf,
    /// The bytes that it is to hold; `None`: no such file.
    pub(super) after: Option<Vec<u8>>,
    /// How it was before us.
    pub(super) record: Record,
    /// Entries of ours stay in it, so the record is still needed.
    pub(super) is_needed: bool,
    pub(super) is_change: bool,
    pub(super) newly_written: u32,
    pub(super) already: u32,
    pub(super) removed: u32,
    pub(super) notes: Vec<String>,
}

/// How much of a file is looked at for our marker.
const MARKER_LINES: usize = 10;

const MARK: char = '\u{feff}';

/// What an edit makes of the bytes of its file.
pub(super) fn outcome(
    edit: &Edit,
    path: &Path,
    before: Option<&[u8]>,
    goal: Goal,
    owner: &Owner,
    record: Option<Record>,
) -> Result<Outcome> {
    match (edit, goal) {
        (Edit::Config(edit), Goal::Install { force }) => install(edit, path, before, owner, force, record),
        (Edit::Config(edit), Goal::Remove) => uninstall(edit, path, before, owner, record),
        (Edit::File(own), Goal::Install { force }) => write_own(own, path, before, force, record),
        (Edit::File(own), Goal::Remove) => Ok(remove_own(own, path, before, record)),
    }
}

fn install(
    edit: &ConfigEdit,
    path: &Path,
    before: Option<&[u8]>,
    owner: &Owner,
    force: bool,
    record: Option<Record>,
) -> Result<Outcome> {
    let explain = |trouble| explain(trouble, path, edit.format);
    let whole = text(path, before.unwrap_or_default())?;
    let (mark, text) = without_mark(whole);
    // What was noted about a file without anything of ours in it is about an earlier one.
    let is_ours = settings::holds_ours(text, edit.format, owner).map_err(explain)?;
    let mut record = record.filter(|_| is_ours).unwrap_or_else(|| Record {
        made_file: before.is_none(),
        ..Record::default()
    });
    if before.is_some() && !is_ours && settings::is_blank(text, edit.format).map_err(explain)? {
        record.blank = Some(text.to_owned());
    }
    let installed = settings::install(text, edit, owner, force, &mut record).map_err(explain)?;
    let mut outcome = Outcome {
        newly_written: installed.newly_written,
        already: installed.already,
        removed: 0,
        is_needed: true,
        ..Outcome::default()
    };
    if installed.text == text && before.is_some() {
        outcome.after = before.map(<[u8]>::to_vec);
        outcome.record = record;
        return Ok(outcome);
    }
    // What cannot be read again must not be written.
    settings::holds_ours(&installed.text, edit.format, owner).map_err(|trouble| {
        Error::input(format!("cannot add our entries to {}", path.display()))
            .because(describe(&trouble))
            .hint("add them by hand, or move the file away and try again")
    })?;
    if !mark.is_empty() {
        record.mark.push_str(mark);
        outcome.notes.push(format!(
            "{} began with a byte order mark, which agents stumble over. It is taken off; uninstalling puts it back.",
            path.display()
        ));
    }
    if edit.format == ConfigFormat::Json && !text.is_empty() && notation::of(edit.format).strays(text) {
        outcome.notes.push(format!(
            "{} holds comments or trailing commas. They are kept, but the agent may read plain JSON only.",
            path.display()
        ));
    }
    outcome.notes.extend(gave_way(&installed.replaced, edit, path));
    outcome.after = Some(installed.text.into_bytes());
    outcome.record = record;
    Ok(outcome)
}

/// Says so when entries gave way that called another program than the ones that come in.
fn gave_way(replaced: &[String], edit: &ConfigEdit, path: &Path) -> Option<String> {
    let program = |command: &str| words::subject(command).map(|subject| words::program_name(&subject).to_owned());
    let wanted: Vec<_> = edit
        .insertions
        .iter()
        .map(|insertion| insertion.value.as_str())
        .collect();
    let mut others: Vec<_> = replaced
        .iter()
        .filter_map(|command| program(command))
        .filter(|program| !wanted.iter().any(|value| value.contains(program.as_str())))
        .collect();
    others.sort();
    others.dedup();
    (!others.is_empty()).then(|| {
        format!(
            "The entries in {} that called `{}` for these hooks gave way to ours: each hook is registered once.",
            path.display(),
            others.join("`, `")
        )
    })
}

fn uninstall(
    edit: &ConfigEdit,
    path: &Path,
    before: Option<&[u8]>,
    owner: &Owner,
    record: Option<Record>,
) -> Result<Outcome> {
    let Some(before) = before else {
        return Ok(Outcome::default());
    };
    let explain = |trouble| explain(trouble, path, edit.format);
    let record = record.unwrap_or_default();
    let whole = text(path, before)?;
    let (mark, text) = without_mark(whole);
    let untouched = record.digest == digest(before);
    let left = settings::uninstall(text, edit, owner, &record, untouched).map_err(explain)?;
    let notes = left.moves_others.then(|| {
        format!(
            "Entries of others stood behind ours in {} and have moved up: an agent that knows by their place which ones \
             you trust asks you anew.",
            path.display()
        )
    });
    let is_needed = match &left.text {
        Some(after) => settings::holds_ours(after, edit.format, owner).map_err(explain)?,
        None => false,
    };
    let after = match left.text {
        Some(after) if after == text => Some(before.to_vec()),
        Some(after) => {
            let mark = if mark.is_empty() && !is_needed {
                &record.mark
            } else {
                mark
            };
            Some(format!("{mark}{after}").into_bytes())
        }
        None => None,
    };
    Ok(Outcome {
        after,
        record,
        is_needed,
        removed: u32::try_from(left.removed).unwrap_or(u32::MAX),
        notes: notes.into_iter().collect(),
        ..Outcome::default()
    })
}

fn write_own(
    own: &OwnFile,
    path: &Path,
    before: Option<&[u8]>,
    force: bool,
    record: Option<Record>,
) -> Result<Outcome> {
    let content = own.content.as_bytes();
    if own.marker.trim().is_empty() || !is_marked(content, own) {
        return Err(Error::new(
            ErrorKind::Adapter,
            format!(
                "the adapter's own file {} does not hold its marker `{}` in its first lines",
                path.display(),
                own.marker
            ),
        )
        .hint("it could never be taken away again; this is for the adapter's author to mend"));
    }
    let is_ours = before.is_some_and(|before| is_marked(before, own));
    let mut record = record.filter(|_| is_ours).unwrap_or_else(|| Record {
        made_file: before.is_none(),
        ..Record::default()
    });
    if before.is_some() && !is_ours {
        if !force {
            return Err(
                Error::input(format!("{} is there already and is not ours", path.display()))
                    .hint("move it away, or use --force: then it is set aside, and uninstalling puts it back"),
            );
        }
        let mut backup = path.as_os_str().to_owned();
        backup.push(".before-hookhost");
        record.backup = Some(PathBuf::from(backup));
    }
    let is_new = before != Some(content) || force;
    Ok(Outcome {
        after: Some(content.to_vec()),
        record,
        is_needed: true,
        newly_written: u32::from(is_new),
        already: u32::from(!is_new),
        ..Outcome::default()
    })
}

fn remove_own(own: &OwnFile, path: &Path, before: Option<&[u8]>, record: Option<Record>) -> Outcome {
    let mut outcome = Outcome {
        record: record.unwrap_or_default(),
        ..Outcome::default()
    };
    match before {
        Some(before) if is_marked(before, own) => outcome.removed = 1,
        Some(before) => {
            outcome.after = Some(before.to_vec());
            outcome
                .notes
                .push(format!("{} is not ours and was left alone.", path.display()));
        }
        None => {}
    }
    outcome
}

/// Our marker stands in the first lines.
pub(super) fn is_marked(bytes: &[u8], own: &OwnFile) -> bool {
    String::from_utf8_lossy(bytes)
        .lines()
        .take(MARKER_LINES)
        .any(|line| line.contains(&own.marker))
}

/// The text of a settings file.
pub(super) fn text<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b str> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Error::input(format!("{} is written in UTF-16", path.display()))
            .hint("save it as UTF-8 without a byte order mark and try again"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        Error::input(format!(
            "{} is no UTF-8: the byte at offset {} does not belong",
            path.display(),
            error.valid_up_to()
        ))
        .hint("save it as UTF-8 and try again; nothing was changed")
    })
}

/// The byte order marks at the beginning, and what follows them.
pub(super) fn without_mark(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(MARK);
    text.split_at(text.len() - rest.len())
}

/// An error that names the file, the place in it and what to do.
pub(super) fn explain(trouble: Trouble, path: &Path, format: ConfigFormat) -> Error {
    let file = path.display();
    match &trouble {
        Trouble::Syntax { .. } => {
            let notation = match format {
                ConfigFormat::Json | ConfigFormat::Jsonc => "JSON",
                ConfigFormat::Toml => "TOML",
            };
            Error::input(format!("{file} is not valid {notation}"))
                .because(describe(&trouble))
                .hint("mend it, or move it away, and try again; nothing was changed")
        }
        Trouble::Kind { .. } | Trouble::Twice { .. } => Error::input(format!("{file}: {}", describe(&trouble)))
            .hint("mend it by hand and try again; nothing was changed"),
    }
}

fn describe(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Syntax { line, column, message } => format!("line {line}, column {column}: {message}"),
        Trouble::Kind { path, wanted, found } if path.is_empty() => {
            format!("the file holds {found} where {wanted} has to be")
        }
        Trouble::Kind { path, wanted, found } => {
            format!("`{}` is {found} where {wanted} has to be", path.join("."))
        }
        Trouble::Twice { path } => format!("`{}` stands there twice", path.join(".")),
    }
}
