//! `ingest`: reads event streams of agents that have no hooks.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::Output;
use super::hook::{hide, keep};
use crate::adapter::registry::Found;
use crate::adapter::{Adapter, AdapterError, Limits};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::ingest::{Piece, Pieces};
use crate::journal::record::{self, AdapterStamp};
use crate::journal::{Failure, Journal, Record};
use crate::model::Event;
use crate::output;
use crate::surroundings::Surroundings;
use crate::watch::Watch;
use crate::wire;

/// What the adapter knows a line of a stream by.
const HOOK: &str = "event";

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Record an event stream, for agents whose stream is the hook
///
/// Reads lines of JSON, JSON lists and pages, and server-sent events, from stdin or from files, and records what they
/// mean as if hooks had fired. The events are shown as they come.
#[derive(Debug, clap::Args)]
pub(crate) struct IngestArgs {
    /// Files with streams; without one stdin is read
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Go on with what is written to the file
    #[arg(long, short, requires = "files")]
    follow: bool,
    /// One event a line, as the protocol writes them
    #[arg(long)]
    json: bool,
    /// Show the events and record nothing
    #[arg(long)]
    no_record: bool,
}

pub(super) fn run(args: &IngestArgs, selection: &Selection) -> Result<Output> {
    if args.follow && args.files.len() > 1 {
        return Err(Error::usage("--follow takes one file"));
    }
    let config = Config::load()?;
    let (_, found) = selection.find(&config)?;
    let surroundings = Surroundings::of_process();
    let records = !args.no_record && !config.is_disabled() && !config.excludes_agent(&found.name);
    let limits = Limits {
        hooks: Limits::default().transcripts,
        ..config.limits()
    };
    let mut stream = Stream {
        adapter: found.load_hooks(&found.name, limits)?,
        journal: records.then(Journal::of_user).flatten(),
        found,
        config,
        surroundings,
        json: args.json,
        session: None,
        counts: Counts::default(),
    };
    let sources = sources(args)?;
    let follow = args.follow;
    Ok(Output::stream(move |out| {
        for source in sources {
            stream.read(source, follow, out)?;
        }
        stream.finish(out)?;
        output::note(&stream.counts.told());
        Ok(())
    }))
}

/// Where bytes come from.
enum Source {
    Stdin,
    File(PathBuf, File),
}

fn sources(args: &IngestArgs) -> Result<Vec<Source>> {
    if args.files.is_empty() {
        return Ok(vec![Source::Stdin]);
    }
    let open = |path: &PathBuf| {
        let file = File::open(path).map_err(|error| Error::system(format!("cannot read {}", path.display()), error))?;
        Ok(Source::File(path.clone(), file))
    };
    args.files.iter().map(open).collect()
}

struct Stream {
    adapter: Box<dyn Adapter>,
    journal: Option<Journal>,
    found: Found,
    config: Config,
    surroundings: Surroundings,
    json: bool,
    /// The session that the last event was of: lines without an event belong to it.
    session: Option<String>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    payloads: u64,
    events: u64,
    unreadable: u64,
    last_reason: String,
    is_cut_off: bool,
}

impl Counts {
    fn told(&self) -> String {
        let mut text = format!("{} payloads, {} events", self.payloads, self.events);
        if self.unreadable > 0 {
            text.push_str(&format!(
                "\n{} could not be read; the last: {}",
                self.unreadable, self.last_reason
            ));
        }
        if self.is_cut_off {
            text.push_str("\nthe stream was cut off in the middle of a value");
        }
        text
    }
}

impl Stream {
    fn read(&mut self, source: Source, follow: bool, out: &mut dyn Write) -> io::Result<()> {
        let mut pieces = Pieces::default();
        match source {
            Source::Stdin => self.read_all(&mut io::stdin().lock(), &mut pieces, out)?,
            Source::File(path, mut file) => {
                // The watch is there before the end is reached, so nothing is written unseen.
                let watch = follow.then(|| Watch::of(&path)).transpose().map_err(io_error)?;
                self.read_all(&mut file, &mut pieces, out)?;
                if let Some(watch) = watch {
                    self.follow(&path, file, &watch, &mut pieces, out)?;
                }
            }
        }
        let mut ready = vec![];
        self.counts.is_cut_off |= pieces.finish(&mut |piece| ready.push(piece));
        self.pieces(ready, out)
    }

    fn read_all(&mut self, source: &mut dyn Read, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = match source.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut ready = vec![];
            pieces.push(chunk.get(..count).unwrap_or_default(), &mut |piece| ready.push(piece));
            self.pieces(ready, out)?;
        }
    }

    /// Goes on until the file is gone.
    fn follow(
        &mut self,
        path: &Path,
        mut file: File,
        watch: &Watch,
        pieces: &mut Pieces,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut read = file.metadata()?.len();
        loop {
            watch.wait().map_err(io_error)?;
            let Ok(metadata) = path.metadata() else { return Ok(()) };
            if metadata.len() < read {
                output::note(&format!(
                    "{} was written anew; reading from its beginning",
                    path.display()
                ));
                file = File::open(path)?;
            }
            self.read_all(&mut file, pieces, out)?;
            read = metadata.len();
        }
    }

    fn pieces(&mut self, ready: Vec<Piece>, out: &mut dyn Write) -> io::Result<()> {
        for piece in ready {
            self.piece(piece, out)?;
        }
        out.flush()
    }

    fn piece(&mut self, piece: Piece, out: &mut dyn Write) -> io::Result<()> {
        self.counts.payloads += 1;
        let (bytes, parsed) = match piece {
            Piece::Payload(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let context = self.surroundings_now().context(&self.found.env);
                let parsed = self.adapter.parse(HOOK, text.trim(), &context).map_err(because);
                (bytes, parsed)
            }
            Piece::Broken(bytes) => {
                let reason = format!("a JSON value of {} bytes has no end", bytes.len());
                (bytes, Err(Failure::new("malformed-payload", reason)))
            }
            Piece::TooLong(size) => {
                let reason = format!(
                    "a value of {size} bytes is above the limit of {}",
                    crate::ingest::PIECE_LIMIT
                );
                (vec![], Err(Failure::new("payload-too-large", reason)))
            }
        };
        self.told(&bytes, parsed, out)
    }

    /// The events that waited for more of the stream.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let context = self.surroundings_now().context(&self.found.env);
        let events = self.adapter.finish(&context).map_err(because);
        if !matches!(&events, Ok(events) if events.is_empty()) {
            self.told(&[], events, out)?;
        }
        out.flush()
    }

    fn told(
        &mut self,
        bytes: &[u8],
        parsed: std::result::Result<Vec<Event>, Failure>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let surroundings = self.surroundings_now();
        let (mut events, failure) = match parsed {
            Ok(events) => (events, None),
            Err(failure) => (vec![], Some(failure)),
        };
        if let Some(failure) = &failure {
            self.counts.unreadable += 1;
            self.counts.last_reason.clone_from(&failure.message);
        }
        for event in &mut events {
            event.timestamp.get_or_insert_with(|| surroundings.received_at.clone());
            self.counts.events += 1;
            self.session = Some(event.session_id.clone());
            out.write_all(self.shown(event).as_bytes())?;
        }
        self.record(bytes, events, failure, &surroundings);
        Ok(())
    }

    fn shown(&self, event: &Event) -> String {
        if self.json {
            return wire::event_line(event) + "\n";
        }
        let time = event.timestamp.as_deref().unwrap_or_default();
        let what = [&event.prompt, &event.task_description, &event.subagent_id, &event.model];
        let what = what
            .into_iter()
            .flatten()
            .next()
            .map(String::as_str)
            .unwrap_or_default();
        let what = crate::format::table::shortened(&what.split_whitespace().collect::<Vec<_>>().join(" "), 80);
        format!("{time:24}  {:13}  {}  {what}\n", event.kind.name(), event.session_id)
    }

    fn record(&self, bytes: &[u8], events: Vec<Event>, failure: Option<Failure>, surroundings: &Surroundings) {
        let Some(journal) = &self.journal else { return };
        let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
        let session = events.first().map(|event| event.session_id.clone());
        let mut record = Record {
            id: Record::new_id(),
            time: surroundings.received_at.clone(),
            agent: self.found.name.clone(),
            hook: HOOK.to_owned(),
            session_id: session.or_else(|| self.session.clone()),
            cwd: shown(&surroundings.cwd),
            repo_root: shown(&surroundings.repo_root),
            adapter: Some(AdapterStamp {
                name: self.found.name.clone(),
                version: None,
                digest: Some(self.found.digest.clone()),
            }),
            failure,
            events,
            payload: record::Payload::of(bytes.trim_ascii_end()),
            ..Record::default()
        };
        hide(&mut record, &self.config);
        keep(record, Some(journal));
    }

    fn surroundings_now(&self) -> Surroundings {
        Surroundings {
            received_at: crate::surroundings::now(),
            ..self.surroundings.clone()
        }
    }
}

fn because(error: AdapterError) -> Failure {
    Failure::new(error.kind.code(), error.message)
}

fn io_error(error: Error) -> io::Error {
    io::Error::other(error.to_string())
}
