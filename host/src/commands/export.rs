//! `export`

use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use super::Output;
use super::recorded::{self, Filter, Transcripts};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::Result;
use crate::export;
use crate::journal::Record;
use crate::journal::index::Session;
use crate::journal::read::Lines;
use crate::model::{Event, EventKind};
use crate::moment;
use crate::paths;
use crate::redact::Redactor;
use crate::wire;

/// Give out recorded sessions, without secrets
///
/// JSON, one value a line. Whole sessions are what their transcripts tell, or their hooks where there is no transcript;
/// readers of these formats know them as `hookhost ingest` does. Secrets are replaced as `hookhost redact` does it, unless --raw is said; the journal itself
/// stays as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The sessions' ids, or the beginnings of them
    #[arg(value_name = "SESSION", required_unless_present = "all")]
    sessions: Vec<String>,
    /// All sessions that the options choose
    #[arg(long, conflicts_with = "sessions")]
    all: bool,
    #[command(flatten)]
    filter: Filter,
    /// What is given out
    #[arg(long, value_enum, default_value_t = Format::Records)]
    format: Format,
    /// With the secrets
    #[arg(long)]
    raw: bool,
}

/// What is given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// The journal's records with their payloads: a capture that `hookhost replay` reads
    Records,
    /// The events, as the external-agent protocol writes them
    Events,
    /// Whole sessions as the event stream of hm
    Hm,
    /// Whole sessions as exports of the session recorder hh, one a line
    Hh,
    /// Whole sessions as HAST task events
    Hast,
}

pub(super) fn run(args: &ExportArgs, selection: &Selection) -> Result<Output> {
    let journal = recorded::journal()?;
    let sessions = recorded::index(&journal)?.sessions();
    let chosen = args.filter.chosen(selection, moment::now())?;
    let wanted: Vec<Session> = if args.all {
        let mut wanted: Vec<_> = sessions
            .into_iter()
            .filter(|session| chosen.takes(&session.summary))
            .collect();
        wanted.sort_by(|one, other| one.summary.started.cmp(&other.summary.started));
        wanted
    } else {
        let named = args.sessions.iter().map(|name| recorded::session(&sessions, name));
        named.map(|session| Ok(session?.clone())).collect::<Result<_>>()?
    };
    let config = Config::load()?;
    let mut redactor = match args.raw {
        true => None,
        false => Some(Redactor::new(&config, paths::data_dir().as_deref())?),
    };
    let mut transcripts = Transcripts::new(config);
    let format = args.format;
    Ok(Output::stream(move |out| {
        for session in &wanted {
            let lines: Option<fn(&export::Session) -> Vec<Value>> = match format {
                Format::Records | Format::Events => None,
                Format::Hm => Some(export::hm),
                Format::Hh => Some(|session| vec![export::hh_export(session)]),
                Format::Hast => Some(export::hast),
            };
            match lines {
                None => {
                    let untold = match format {
                        Format::Events => transcripts.untold(&session.summary),
                        _ => vec![],
                    };
                    recorded_lines(&session.path, format, untold, redactor.as_mut(), out)?;
                }
                // Records that belong to no session.
                Some(_) if session.summary.session_id.is_empty() => {}
                Some(lines) => {
                    for line in lines(&transcripts.exported(session)?) {
                        write(&serde_json::to_vec(&line)?, redactor.as_mut(), out)?;
                    }
                }
            }
        }
        Ok(())
    }))
}

fn write(line: &[u8], redactor: Option<&mut Redactor>, out: &mut dyn Write) -> io::Result<()> {
    match redactor {
        Some(redactor) => out.write_all(&redactor.line(line))?,
        None => out.write_all(line)?,
    }
    out.write_all(b"\n")
}

/// What the journal holds of a session, and turns of which it does not know before the session's end.
fn recorded_lines(
    file: &Path,
    format: Format,
    mut untold: Vec<Event>,
    mut redactor: Option<&mut Redactor>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = Lines::open(file, 0)?;
    while let Some(line) = lines.next_line()? {
        // What is torn is of no use to anybody.
        let Ok(record) = Record::read(line.bytes) else {
            continue;
        };
        if format == Format::Records {
            write(line.bytes, redactor.as_deref_mut(), out)?;
            continue;
        }
        for event in record.events {
            let before = match event.kind {
                EventKind::SessionEnd => std::mem::take(&mut untold),
                _ => vec![],
            };
            for event in before.into_iter().chain([event]) {
                write(wire::event_line(&event).as_bytes(), redactor.as_deref_mut(), out)?;
            }
        }
    }
    Ok(())
}
