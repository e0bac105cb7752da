//! `tail`

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::recorded::{self, Chosen, Filter, SHORT_ID};
use super::{Output, show};
use crate::cli::Selection;
use crate::error::{Error, Result};
use crate::format::style::{Look, Style};
use crate::format::table::shortened;
use crate::journal::index::Session;
use crate::journal::read::Lines;
use crate::journal::record::Payload;
use crate::journal::sessions::Summary;
use crate::journal::{Journal, Record};
use crate::model::Event;
use crate::moment;
use crate::session::store;
use crate::watch::Watch;

/// Show the last hook calls of all sessions
#[derive(Debug, clap::Args)]
pub(crate) struct TailArgs {
    /// Only this session: its id, or the beginning of it
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    #[command(flatten)]
    filter: Filter,
    /// Go on with what comes
    #[arg(long, short)]
    follow: bool,
    /// How many hook calls that were before
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    lines: usize,
    /// All hook calls, those without an event among them
    #[arg(long)]
    all: bool,
    /// JSON for programs: the records without their payloads, one a line
    #[arg(long)]
    json: bool,
}

/// What is followed.
struct Tail {
    journal: Journal,
    chosen: Chosen,
    session: Option<PathBuf>,
    /// How far each file has been read.
    positions: HashMap<PathBuf, u64>,
    shown: Shown,
}

/// How a record is shown.
struct Shown {
    look: Look,
    /// The beginnings of ids that tell the sessions apart which were there at the start.
    ids: BTreeMap<String, String>,
    all: bool,
    json: bool,
}

pub(super) fn run(args: &TailArgs, selection: &Selection) -> Result<Output> {
    let journal = recorded::journal()?;
    let chosen = args.filter.chosen(selection, moment::now())?;
    let mut sessions = recorded::index(&journal)?.sessions();
    sessions.sort_by(|one, other| other.summary.last.cmp(&one.summary.last));
    let session = match &args.session {
        Some(name) => Some(recorded::session(&sessions, name)?.path.clone()),
        None => None,
    };
    let mut tail = Tail {
        chosen,
        session,
        positions: HashMap::new(),
        shown: Shown {
            look: Look::of_stdout(),
            ids: recorded::short_ids(sessions.iter().map(|session| session.summary.session_id.as_str())),
            all: args.all,
            json: args.json,
        },
        journal,
    };
    let last = tail.last(&sessions, args.lines)?;
    let before: String = last.iter().map(|record| tail.shown.line(record)).collect();
    if !args.follow {
        return Ok(Output::bytes(before.into_bytes()));
    }
    // The folder is watched before the first hook has made it.
    store::make_directory(tail.journal.folder())
        .map_err(|error| Error::system(format!("cannot make {}", tail.journal.folder().display()), error))?;
    let watch = Watch::of(tail.journal.folder())?;
    Ok(Output::stream(move |out| {
        out.write_all(before.as_bytes())?;
        out.flush()?;
        tail.follow(&watch, out)
    }))
}

impl Tail {
    /// The last records of the sessions, which come with the newest first, in order of time.
    fn last(&mut self, sessions: &[Session], count: usize) -> Result<Vec<Record<'static>>> {
        let mut last: Vec<Record<'static>> = vec![];
        for session in sessions {
            if !self.wants_file(&session.path) {
                continue;
            }
            // Behind the first sessions there is nothing that is newer than what they hold.
            let is_older = last.len() == count && last.first().is_none_or(|first| first.time > session.summary.last);
            let position = if is_older {
                session.size
            } else {
                self.read_on(&session.path, 0, &mut last)?
            };
            self.positions.insert(session.path.clone(), position);
            in_order(&mut last);
            last.drain(..last.len().saturating_sub(count));
        }
        Ok(last)
    }

    fn follow(&mut self, watch: &Watch, out: &mut dyn Write) -> io::Result<()> {
        loop {
            let changed = watch.wait().map_err(|error| io::Error::other(error.to_string()))?;
            let files = if changed.is_empty() {
                self.journal.files()?
            } else {
                changed
            };
            let mut news = vec![];
            for file in &files {
                if !self.wants_file(file) {
                    continue;
                }
                let from = self.positions.get(file).copied().unwrap_or_default();
                let Ok(length) = std::fs::metadata(file).map(|metadata| metadata.len()) else {
                    self.positions.remove(file);
                    continue;
                };
                // A file that was rewritten holds nothing new.
                let position = if length < from {
                    length
                } else {
                    self.read_on(file, from, &mut news)
                        .map_err(|error| io::Error::other(error.to_string()))?
                };
                self.positions.insert(file.clone(), position);
            }
            in_order(&mut news);
            let text: String = news.iter().map(|record| self.shown.line(record)).collect();
            if !text.is_empty() {
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
        }
    }

    fn wants_file(&self, file: &Path) -> bool {
        let is_session = file.extension().is_some_and(|ending| ending == "jsonl");
        is_session && self.session.as_ref().is_none_or(|session| session == file)
    }

    /// Reads the records from an offset on that are wanted; how far it came.
    fn read_on(&self, file: &Path, from: u64, records: &mut Vec<Record<'static>>) -> Result<u64> {
        let cannot = |error| Error::system(format!("cannot read {}", file.display()), error);
        let mut lines = Lines::open(file, from).map_err(cannot)?;
        while let Some(line) = lines.next_line().map_err(cannot)? {
            if !line.is_whole {
                break;
            }
            if let Ok(mut record) = Record::read(line.bytes)
                && self.wants(&record)
            {
                record.payload = Payload::Absent;
                records.push(record);
            }
        }
        Ok(lines.position())
    }

    fn wants(&self, record: &Record<'_>) -> bool {
        let says_something = self.shown.all || !record.events.is_empty() || record.failure.is_some();
        let summary = Summary {
            agent: record.agent.clone(),
            last: record.time.clone(),
            cwd: record.cwd.clone(),
            repo_root: record.repo_root.clone(),
            ..Summary::default()
        };
        says_something && self.chosen.takes(&summary)
    }
}

fn in_order(records: &mut [Record<'static>]) {
    records.sort_by(|one, other| (&one.time, &one.id).cmp(&(&other.time, &other.id)));
}

impl Shown {
    fn line(&self, record: &Record<'_>) -> String {
        if self.json {
            return String::from_utf8(record.line().concat()).unwrap_or_default() + "\n";
        }
        let mut lines = vec![];
        for event in &record.events {
            lines.push(self.event_line(record, event));
        }
        if let Some(failure) = &record.failure {
            let what = format!("{}: {}", failure.code, failure.message);
            lines.push(self.row(record, "failed", Style::Red, &what));
        } else if record.events.is_empty() {
            lines.push(self.row(record, "-", Style::Dim, &record.hook));
        }
        lines.concat()
    }

    fn event_line(&self, record: &Record<'_>, event: &Event) -> String {
        let style = show::kind_style(event.kind);
        self.row(record, event.kind.name(), style, &show::detail(event, None))
    }

    fn row(&self, record: &Record<'_>, event: &str, style: Style, what: &str) -> String {
        let id = record.session_id.as_deref().unwrap_or("-");
        let id = self
            .ids
            .get(id)
            .cloned()
            .unwrap_or_else(|| id.chars().take(SHORT_ID).collect());
        let time = moment::time_of_day(moment::milliseconds(&record.time));
        let head = format!("{time}  {:<14}  {id:<SHORT_ID$}  {event:<13}  ", record.agent);
        let room = self.look.width.saturating_sub(head.chars().count());
        let what = shortened(&crate::format::table::on_one_line(what), room);
        let look = self.look;
        let line = format!(
            "{}  {:<14}  {}  {}  {what}",
            look.paint(&time, Style::Dim),
            record.agent,
            look.paint(&format!("{id:<SHORT_ID$}"), Style::Cyan),
            look.paint(&format!("{event:<13}"), style),
        );
        line.trim_end().to_owned() + "\n"
    }
}
