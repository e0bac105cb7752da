//! `ingest`: reads event streams of agents that have no hooks.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::Output;
use super::hook::hide;
use crate::adapter::registry::Found;
use crate::adapter::{Adapter, AdapterError, Limits};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::ingest::{END, HOOK, PIECE_LIMIT, Piece, Pieces};
use crate::journal::record::{self, AdapterStamp};
use crate::journal::{Failure, Fallback, Journal, Record};
use crate::model::{Event, EventKind};
use crate::output;
use crate::paths::is_still_at;
use crate::surroundings::Surroundings;
use crate::watch::Watch;
use crate::wire;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// How much of a stream is held back until an event tells whose it is.
const HELD_LIMIT: usize = 1 << 20;

/// How often is looked for a file that is not there, and how long for one that was.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(2);

/// Record an event stream, for agents whose stream is the hook
///
/// Reads lines of JSON, JSON lists and pages, and server-sent events, from stdin or from files, and records what they
/// mean as if hooks had fired. The events are shown as they come.
#[derive(Debug, clap::Args)]
pub(crate) struct IngestArgs {
    /// Files with streams; without one stdin is read
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Go on with what is written to the file, until it is gone
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
        held: vec![],
        counts: Counts::default(),
    };
    let sources = sources(args)?;
    Ok(Output::stream(move |out| {
        let read = stream.read(sources, out);
        stream.let_go();
        read?;
        output::note(&stream.counts.told());
        Ok(())
    }))
}

/// Where bytes come from.
enum Source {
    Stdin,
    File(PathBuf, File),
    /// A file that is to be followed, and may still have to come.
    Followed(PathBuf),
}

fn sources(args: &IngestArgs) -> Result<Vec<Source>> {
    if args.files.is_empty() {
        return Ok(vec![Source::Stdin]);
    }
    let open = |path: &PathBuf| {
        let cannot = |error| Error::system(format!("cannot read {}", path.display()), error);
        let is_to_come = |error: &io::Error| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            args.follow && error.kind() == io::ErrorKind::NotFound && folder.is_none_or(Path::is_dir)
        };
        match path.metadata() {
            Err(error) if is_to_come(&error) => Ok(Source::Followed(path.clone())),
            Err(error) => Err(cannot(error)),
            Ok(metadata) if metadata.is_dir() => Err(cannot(io::ErrorKind::IsADirectory.into())),
            Ok(_) if args.follow => Ok(Source::Followed(path.clone())),
            Ok(_) => File::open(path)
                .map(|file| Source::File(path.clone(), file))
                .map_err(cannot),
        }
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
    /// The session that the last event was of: what gives no event belongs to it.
    session: Option<String>,
    /// What came before the first event.
    held: Vec<Part>,
    counts: Counts,
}

/// What is recorded of a piece.
struct Part {
    hook: &'static str,
    bytes: Vec<u8>,
    events: Vec<Event>,
    failure: Option<Failure>,
    received_at: String,
}

#[derive(Default)]
struct Counts {
    payloads: u64,
    events: u64,
    unreadable: u64,
    last_reason: String,
    is_cut_off: bool,
    /// Sessions that have begun and not ended.
    open: BTreeSet<String>,
}

impl Counts {
    fn event(&mut self, event: &Event) {
        self.events += 1;
        match event.kind {
            EventKind::SessionStart => {
                self.open.insert(event.session_id.clone());
            }
            EventKind::SessionEnd => {
                self.open.remove(&event.session_id);
            }
            _ => {}
        }
    }

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
        match (self.open.len(), self.open.first()) {
            (1, Some(session)) => text.push_str(&format!("\nsession {session} has no end")),
            (0, _) => {}
            (count, _) => text.push_str(&format!("\n{count} sessions have no end")),
        }
        text
    }
}

impl Stream {
    /// Several files are one stream.
    fn read(&mut self, sources: Vec<Source>, out: &mut dyn Write) -> io::Result<()> {
        for source in sources {
            let mut pieces = Pieces::default();
            match source {
                Source::Stdin => {
                    self.read_all(&mut io::stdin().lock(), &mut pieces, out)?;
                }
                Source::File(path, mut file) => {
                    self.read_all(&mut file, &mut pieces, out).map_err(|error| {
                        io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display()))
                    })?;
                }
                Source::Followed(path) => self.follow(&path, &mut pieces, out)?,
            }
            self.end(&mut pieces, out)?;
        }
        self.finish(out)
    }

    /// Gives how much there was.
    fn read_all(&mut self, source: &mut dyn Read, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<u64> {
        let mut chunk = vec![0; CHUNK];
        let mut read = 0;
        loop {
            let count = match source.read(&mut chunk) {
                Ok(0) => return Ok(read),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            read += count as u64;
            let mut ready = vec![];
            pieces.push(chunk.get(..count).unwrap_or_default(), &mut |piece| ready.push(piece));
            self.pieces(ready, out)?;
        }
    }

    /// The file has no more: half a value stays one.
    fn end(&mut self, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
        let mut ready = vec![];
        self.counts.is_cut_off |= pieces.finish(&mut |piece| ready.push(piece));
        self.pieces(ready, out)
    }

    /// Waits for the file, and goes on until it is gone. One that was emptied, or that another one took the place of, is
    /// read from its beginning.
    fn follow(&mut self, path: &Path, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
        if !path.exists() {
            output::note(&format!("waiting for {}", path.display()));
        }
        let mut patience = None;
        while let Some(mut file) = appeared(path, patience)? {
            patience = Some(PATIENCE);
            // The watch is there before the end is reached, so nothing is written unseen.
            let watch = match Watch::of(path) {
                Err(_) if !path.exists() => continue,
                watch => watch.map_err(io_error)?,
            };
            let mut read = self.read_all(&mut file, pieces, out)?;
            loop {
                let metadata = file.metadata()?;
                if !is_still_at(path, &metadata) {
                    break;
                }
                if metadata.is_file() && metadata.len() < read {
                    output::note(&format!("{} was emptied; reading from its beginning", path.display()));
                    self.end(pieces, out)?;
                    file.rewind()?;
                    read = 0;
                } else {
                    watch.wait().map_err(io_error)?;
                }
                read += self.read_all(&mut file, pieces, out)?;
            }
            // What was written between the last look and the change of name.
            self.read_all(&mut file, pieces, out)?;
            self.end(pieces, out)?;
        }
        Ok(())
    }

    fn pieces(&mut self, ready: Vec<Piece>, out: &mut dyn Write) -> io::Result<()> {
        for piece in ready {
            self.piece(piece, out)?;
        }
        out.flush()
    }

    fn piece(&mut self, piece: Piece, out: &mut dyn Write) -> io::Result<()> {
        self.counts.payloads += 1;
        let surroundings = self.surroundings_now();
        let (bytes, parsed) = match piece {
            Piece::Payload(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let context = surroundings.context(&self.found.env);
                let parsed = self.adapter.parse(HOOK, text.trim(), &context).map_err(because);
                (bytes, parsed)
            }
            Piece::Broken(bytes) => {
                let reason = format!("a JSON value of {} bytes has no end", bytes.len());
                (bytes, Err(Failure::new("malformed-payload", reason)))
            }
            Piece::TooLong(size) => {
                let reason = format!("a value of {size} bytes is above the limit of {PIECE_LIMIT}");
                (vec![], Err(Failure::new("payload-too-large", reason)))
            }
        };
        self.told(HOOK, bytes, parsed, surroundings.received_at, out)
    }

    /// The events that waited for more of the stream.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let surroundings = self.surroundings_now();
        let context = surroundings.context(&self.found.env);
        let events = self.adapter.finish(&context).map_err(because);
        if !matches!(&events, Ok(events) if events.is_empty()) {
            self.told(END, vec![], events, surroundings.received_at, out)?;
        }
        out.flush()
    }

    fn told(
        &mut self,
        hook: &'static str,
        bytes: Vec<u8>,
        parsed: std::result::Result<Vec<Event>, Failure>,
        received_at: String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (mut events, failure) = match parsed {
            Ok(events) => (events, None),
            Err(failure) => (vec![], Some(failure)),
        };
        if let Some(failure) = &failure {
            self.counts.unreadable += 1;
            self.counts.last_reason.clone_from(&failure.message);
        }
        let mut lines = String::new();
        for event in &mut events {
            event.timestamp.get_or_insert_with(|| received_at.clone());
            self.counts.event(event);
            lines.push_str(&self.shown(event));
        }
        self.keep(Part {
            hook,
            bytes,
            events,
            failure,
            received_at,
        });
        out.write_all(lines.as_bytes())
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

    /// Records a part in the session of its events, or in the one that spoke last.
    fn keep(&mut self, part: Part) {
        if self.journal.is_none() {
            return;
        }
        if part.events.is_empty() && self.session.is_none() {
            let size: usize = self.held.iter().map(|part| part.bytes.len()).sum();
            self.held.push(part);
            if size > HELD_LIMIT {
                self.let_go();
            }
            return;
        }
        if let Some(event) = part.events.first().filter(|_| self.session.is_none()) {
            self.session = Some(event.session_id.clone());
            self.let_go();
        }
        self.record(part);
    }

    /// Records what was held back.
    fn let_go(&mut self) {
        for part in std::mem::take(&mut self.held) {
            self.record(part);
        }
    }

    /// A part that tells of several sessions is a record of each; the first has the payload.
    fn record(&mut self, part: Part) {
        let mut sessions: Vec<(Option<String>, Vec<Event>)> = vec![];
        for event in part.events {
            let session = Some(event.session_id.clone());
            self.session.clone_from(&session);
            match sessions.iter_mut().find(|(known, _)| *known == session) {
                Some((_, events)) => events.push(event),
                None => sessions.push((session, vec![event])),
            }
        }
        if sessions.is_empty() {
            sessions.push((self.session.clone(), vec![]));
        }
        let mut payload = record::Payload::of(part.bytes.trim_ascii_end());
        for (session_id, events) in sessions {
            let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
            let mut record = Record {
                id: Record::new_id(),
                time: part.received_at.clone(),
                agent: self.found.name.clone(),
                hook: part.hook.to_owned(),
                session_id,
                cwd: shown(&self.surroundings.cwd),
                repo_root: shown(&self.surroundings.repo_root),
                adapter: Some(AdapterStamp {
                    name: self.found.name.clone(),
                    version: None,
                    digest: Some(self.found.digest.clone()),
                }),
                failure: part.failure.clone(),
                events,
                payload: std::mem::take(&mut payload),
                ..Record::default()
            };
            hide(&mut record, &self.config);
            let Some(journal) = &self.journal else { return };
            if let Err(error) = journal.append_all(&mut record) {
                let _ = Fallback::of(&record, &error).write();
            }
        }
    }

    fn surroundings_now(&self) -> Surroundings {
        Surroundings {
            received_at: crate::surroundings::now(),
            ..self.surroundings.clone()
        }
    }
}

/// Opens the file when it is there. `None`: it was waited for long enough.
fn appeared(path: &Path, patience: Option<Duration>) -> io::Result<Option<File>> {
    let began = Instant::now();
    loop {
        match File::open(path) {
            Ok(file) => return Ok(Some(file)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) if patience.is_some_and(|patience| began.elapsed() >= patience) => return Ok(None),
            Err(_) => thread::sleep(LOOK_AGAIN),
        }
    }
}

fn because(error: AdapterError) -> Failure {
    Failure::new(error.kind.code(), error.message)
}

fn io_error(error: Error) -> io::Error {
    io::Error::other(error.to_string())
}
