//! `export`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Output;
use super::recorded::{self, Filter};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::Result;
use crate::journal::Record;
use crate::journal::read::Lines;
use crate::moment;
use crate::paths;
use crate::redact::Redactor;
use crate::wire;

/// Give out recorded sessions, without secrets
///
/// JSON, one value a line. Secrets are replaced as `hookhost redact` does it, unless --raw is said; the journal itself
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
}

pub(super) fn run(args: &ExportArgs, selection: &Selection) -> Result<Output> {
    let journal = recorded::journal()?;
    let sessions = recorded::index(&journal)?.sessions();
    let chosen = args.filter.chosen(selection, moment::now())?;
    let files: Vec<PathBuf> = if args.all {
        let mut wanted: Vec<_> = sessions
            .iter()
            .filter(|session| chosen.takes(&session.summary))
            .collect();
        wanted.sort_by(|one, other| one.summary.started.cmp(&other.summary.started));
        wanted.into_iter().map(|session| session.path.clone()).collect()
    } else {
        let named = args.sessions.iter().map(|name| recorded::session(&sessions, name));
        named.map(|session| Ok(session?.path.clone())).collect::<Result<_>>()?
    };
    let mut redactor = match args.raw {
        true => None,
        false => Some(Redactor::new(&Config::load()?, paths::data_dir().as_deref())?),
    };
    let format = args.format;
    Ok(Output::stream(move |out| {
        for file in &files {
            export(file, format, redactor.as_mut(), out)?;
        }
        Ok(())
    }))
}

fn export(file: &Path, format: Format, mut redactor: Option<&mut Redactor>, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Lines::open(file, 0)?;
    while let Some(line) = lines.next_line()? {
        // What is torn is of no use to anybody.
        let Ok(record) = Record::read(line.bytes) else {
            continue;
        };
        let given: Vec<Vec<u8>> = match format {
            Format::Records => vec![line.bytes.to_vec()],
            Format::Events => record
                .events
                .iter()
                .map(|event| wire::event_line(event).into_bytes())
                .collect(),
        };
        for line in given {
            let line = match &mut redactor {
                Some(redactor) => redactor.line(&line),
                None => line,
            };
            out.write_all(&line)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}
