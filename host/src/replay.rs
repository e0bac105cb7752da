//! Running recorded payloads again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::adapter::{Adapter, AdapterError, FailureKind};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::ingest::END;
use crate::input::{Arrived, PAYLOAD_LIMIT, Payload};
use crate::journal::read::Lines;
use crate::journal::{Failure, Record};
use crate::model::{Context, Event};
use crate::surroundings::Surroundings;
use crate::wire;

/// A payload that was run again.
#[derive(Debug)]
pub struct Replayed {
    /// The file that it came from.
    pub file: PathBuf,
    /// Where in the file its record begins; `None` for a file that is the payload.
    pub offset: Option<u64>,
    /// The agent.
    pub agent: String,
    /// The hook.
    pub hook: String,
    /// When it was received.
    pub time: String,
    /// What it means now, or why it means nothing.
    pub now: std::result::Result<Vec<Event>, Failure>,
    /// What it meant when it was recorded.
    pub then: Option<Vec<Event>>,
}

impl Replayed {
    /// Whether it means what it meant. Events that were left out as repeats count: they were what the payload meant.
    #[must_use]
    pub fn is_as_recorded(&self) -> bool {
        let lines = |events: &[Event]| {
            // The order of metadata says nothing.
            let line = |event: &Event| {
                let mut event = event.clone();
                event.metadata.sort();
                wire::event_line(&event)
            };
            let mut lines: Vec<String> = events.iter().map(line).collect();
            lines.sort();
            lines
        };
        let now = self.now.as_deref().unwrap_or_default();
        self.then.as_deref().is_none_or(|then| lines(then) == lines(now))
    }
}

/// Runs payloads again, with one adapter for each agent.
pub struct Player {
    selection: Selection,
    hook: Option<String>,
    surroundings: Surroundings,
    adapters: BTreeMap<Option<String>, Opened>,
}

struct Opened {
    name: String,
    adapter: Box<dyn Adapter>,
    env: Vec<String>,
}

impl Player {
    /// Files are captures; with a hook they are bare payloads of that hook. An agent that is selected takes the place
    /// of the recorded ones.
    #[must_use]
    pub fn new(selection: Selection, hook: Option<String>) -> Self {
        Self {
            selection,
            hook,
            surroundings: Surroundings::of_process(),
            adapters: BTreeMap::new(),
        }
    }

    /// Runs the payloads of a file. `each` is given every one, and every line that is no record as an error.
    ///
    /// # Errors
    /// The file cannot be read, or holds nothing that can be run.
    pub fn play(&mut self, file: &Path, mut each: impl FnMut(Result<Replayed>)) -> Result<()> {
        if let Some(hook) = self.hook.clone() {
            each(self.bare(file, hook));
            return Ok(());
        }
        let cannot = |error| Error::system(format!("cannot read {}", file.display()), error);
        let mut lines = Lines::open(file, 0).map_err(cannot)?;
        let mut strangers = vec![];
        let mut found = false;
        while let Some((offset, record)) = lines.next_record().map_err(cannot)? {
            match record {
                Ok(record) => {
                    found = true;
                    each(self.recorded(file, offset, record));
                }
                Err(error) => strangers.push((offset, error)),
            }
        }
        if !found && !strangers.is_empty() {
            return Err(Error::input(format!("{} is no capture", file.display()))
                .hint("for a file that is a payload as the agent sent it, give --agent and --hook"));
        }
        for (offset, error) in strangers {
            each(Err(
                Error::input(format!("{} at byte {offset}", file.display())).because(error)
            ));
        }
        Ok(())
    }

    fn recorded(&mut self, file: &Path, offset: u64, record: Record<'_>) -> Result<Replayed> {
        let agent = self.selection.agent.clone().unwrap_or_else(|| record.agent.clone());
        let payload = Payload::from_bytes(record.payload.bytes().into_owned());
        let surroundings = Surroundings {
            repo_root: record.repo_root.map(PathBuf::from),
            cwd: record.cwd.map(PathBuf::from),
            home: self.surroundings.home.clone(),
            received_at: record.time.clone(),
        };
        // Variables are not recorded, and those of today have nothing to do with the call.
        let now = self.events(Some(agent.clone()), &record.hook, &payload, &surroundings.context(&[]));
        Ok(Replayed {
            file: file.to_owned(),
            offset: Some(offset),
            agent,
            hook: record.hook,
            time: record.time,
            now,
            then: Some([record.events, record.repeats].concat()),
        })
    }

    fn bare(&mut self, file: &Path, hook: String) -> Result<Replayed> {
        let cannot = |error| Error::system(format!("cannot read {}", file.display()), error);
        let mut bytes = vec![];
        // A pipe is as good as a file, and one without an end is a payload that is too large.
        File::open(file)
            .and_then(|file| file.take(PAYLOAD_LIMIT as u64 + 1).read_to_end(&mut bytes))
            .map_err(cannot)?;
        let agent = self.selection.agent.clone();
        let variables = self.adapter(agent.clone())?.env.clone();
        let context = self.surroundings.context(&variables);
        let now = self.events(agent.clone(), &hook, &Payload::from_bytes(bytes), &context);
        let agent = self.adapter(agent)?.name.clone();
        Ok(Replayed {
            file: file.to_owned(),
            offset: None,
            agent,
            hook,
            time: context.received_at,
            now,
            then: None,
        })
    }

    fn events(
        &mut self,
        agent: Option<String>,
        hook: &str,
        payload: &Payload,
        context: &Context,
    ) -> std::result::Result<Vec<Event>, Failure> {
        let opened = self.adapter(agent).map_err(|error| Failure {
            code: "no-adapter".into(),
            message: error.to_string(),
        })?;
        let failure = |error: AdapterError| Failure {
            code: error.kind.code().into(),
            message: error.message,
        };
        if hook == END {
            let events = opened.adapter.finish(context).map_err(failure)?;
            return Ok(timed(events, context));
        }
        let text = match payload.arrived() {
            Arrived::Value | Arrived::Other => payload.text(),
            Arrived::Nothing => "".into(),
            Arrived::Cut | Arrived::TooMuch => {
                let reason = payload
                    .complete()
                    .map_or_else(|error| error.to_string(), |_| String::new());
                return Err(Failure::new(FailureKind::Malformed.code(), reason));
            }
        };
        let events = opened.adapter.parse(hook, &text, context).map_err(failure)?;
        Ok(timed(events, context))
    }

    fn adapter(&mut self, agent: Option<String>) -> Result<&mut Opened> {
        let opened = match self.adapters.remove(&agent) {
            Some(opened) => opened,
            None => self.open(agent.clone())?,
        };
        Ok(self.adapters.entry(agent).or_insert(opened))
    }

    fn open(&self, agent: Option<String>) -> Result<Opened> {
        let selection = Selection {
            agent,
            ..self.selection.clone()
        };
        let config = Config::load()?;
        let (name, found) = selection.find(&config)?;
        Ok(Opened {
            adapter: found.load_hooks(&name, config.limits())?,
            name,
            env: found.env,
        })
    }
}

/// An event that tells no time happened when it was received.
fn timed(mut events: Vec<Event>, context: &Context) -> Vec<Event> {
    for event in &mut events {
        event.timestamp.get_or_insert_with(|| context.received_at.clone());
    }
    events
}
