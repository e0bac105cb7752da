//! What the commands share that look at the journal: which sessions are meant, and what their transcripts say.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use crate::adapter::{Adapter, registry};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::export;
use crate::journal::Journal;
use crate::journal::index::{Index, Session, TranscriptNote, modified};
use crate::journal::read::Lines;
use crate::journal::sessions::{Summary, title_of};
use crate::model::{Entry, Event, Wanted};
use crate::moment;
use crate::output;
use crate::session::facts::{Collector, Facts};
use crate::session::story::{Moment, Telling};
use crate::session::transcript::{self, Transcript};
use crate::session::{RepoPaths, TokenTotals, turns};
use crate::surroundings::Surroundings;

/// The shortest beginning of a session id that is shown.
pub(crate) const SHORT_ID: usize = 8;

/// Which sessions are meant.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Filter {
    /// Only what happened since then: a day, a time, or how long ago it is (90m, 2h, 3d)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only what happened in this directory or below it
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
}

/// Which sessions are meant, made out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    /// In milliseconds since 1970.
    pub(crate) since: Option<i64>,
    agent: Option<String>,
    repo: Option<PathBuf>,
}

impl Filter {
    pub(crate) fn chosen(&self, selection: &Selection, now: i64) -> Result<Chosen> {
        let since = self
            .since
            .as_deref()
            .map(|since| moment::parse(since, now))
            .transpose()?;
        // An agent's other names lead to its sessions as well; a library that is named in the settings adds none.
        let agent = selection
            .agent
            .as_ref()
            .map(|name| match registry::find(name, &Config::default()) {
                Ok(found) => found.name,
                Err(_) => name.clone(),
            });
        let repo = self.repo.as_ref().map(|repo| {
            std::fs::canonicalize(repo).map_err(|error| Error::system(format!("cannot find {}", repo.display()), error))
        });
        Ok(Chosen {
            since,
            agent,
            repo: repo.transpose()?,
        })
    }
}

impl Chosen {
    pub(crate) fn takes(&self, session: &Summary) -> bool {
        let is_since = self
            .since
            .is_none_or(|since| moment::milliseconds(&session.last) >= since);
        let is_agent = self.agent.as_ref().is_none_or(|agent| *agent == session.agent);
        is_since && is_agent && self.repo.as_ref().is_none_or(|repo| is_in(session, repo))
    }
}

fn is_in(session: &Summary, repo: &Path) -> bool {
    let places = [&session.repo_root, &session.cwd];
    places.into_iter().flatten().any(|place| {
        let place = Path::new(place);
        place.starts_with(repo) || std::fs::canonicalize(place).is_ok_and(|real| real.starts_with(repo))
    })
}

/// The user's journal.
pub(crate) fn journal() -> Result<Journal> {
    Journal::of_user().ok_or_else(|| {
        Error::new(ErrorKind::System, "there is no home directory, so there is no journal")
            .hint("set HOME, or HOOKHOST_HOME to a directory of your own")
    })
}

/// All sessions of the journal.
pub(crate) fn index(journal: &Journal) -> Result<Index> {
    Index::of(journal).map_err(|error| Error::system(format!("cannot read {}", journal.folder().display()), error))
}

/// The session that a person names by its id or the beginning of it.
pub(crate) fn session<'s>(sessions: &'s [Session], name: &str) -> Result<&'s Session> {
    if let Some(exact) = sessions.iter().find(|session| session.summary.session_id == name) {
        return Ok(exact);
    }
    let begins = |session: &&Session| !name.is_empty() && session.summary.session_id.starts_with(name);
    let found: Vec<&Session> = sessions.iter().filter(begins).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Error::input(format!("there is no session {name}")).hint("`hookhost list` shows the sessions")),
        many => {
            let ids: Vec<&str> = many
                .iter()
                .take(5)
                .map(|session| session.summary.session_id.as_str())
                .collect();
            Err(Error::input(format!("{} sessions begin with {name}", many.len()))
                .hint(format!("say more of the id: {}", ids.join(", "))))
        }
    }
}

/// The formats of other programs in which single things can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Foreign {
    /// As the session recorder hh gives it with --json
    Hh,
}

/// For each session id the shortest beginning that no other one has.
pub(crate) fn short_ids<'s>(sessions: impl Iterator<Item = &'s str>) -> BTreeMap<String, String> {
    let mut ids: Vec<&str> = sessions.collect();
    ids.sort_unstable();
    ids.dedup();
    let shared = |one: &str, other: Option<&&str>| {
        let pairs = one.chars().zip(other.copied().unwrap_or_default().chars());
        pairs.take_while(|(one, other)| one == other).count()
    };
    let short = |(at, id): (usize, &&str)| {
        let before = at.checked_sub(1).and_then(|before| ids.get(before));
        let least = shared(id, before).max(shared(id, ids.get(at + 1))) + 1;
        let short: String = id.chars().take(least.max(SHORT_ID)).collect();
        ((*id).to_owned(), short)
    };
    ids.iter().enumerate().map(short).collect()
}

/// Reads transcripts through the adapters of their agents.
pub(crate) struct Transcripts {
    surroundings: Surroundings,
    config: Config,
    adapters: BTreeMap<String, Box<dyn Adapter>>,
}

impl Transcripts {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            surroundings: Surroundings::of_process(),
            config,
            adapters: BTreeMap::new(),
        }
    }

    /// What the transcript of a session says.
    pub(crate) fn facts(&mut self, session: &Summary) -> Result<Facts> {
        let wanted = Wanted {
            prompts: true,
            texts: true,
            files: true,
            tokens: true,
            ..Wanted::default()
        };
        self.read(session, wanted, |_| {})
    }

    /// What the transcript of a session says, and what happened in it.
    pub(crate) fn story(&mut self, session: &Summary) -> Result<(Facts, Vec<Moment>)> {
        let mut telling = Telling::default();
        let facts = self.read(session, Wanted::EVERYTHING, |entry| telling.add(entry.clone()))?;
        Ok((facts, telling.finish()))
    }

    /// A session as the formats of other programs need it. Without a transcript it is what its hooks told.
    pub(crate) fn exported(&mut self, session: &Session) -> io::Result<export::Session> {
        let mut lines = Lines::open(&session.path, 0)?;
        let mut events = vec![];
        while let Some((_, record)) = lines.next_record()? {
            let Ok(record) = record else { continue };
            let time = record.time;
            events.extend(record.events.into_iter().map(|mut event| {
                event.timestamp.get_or_insert_with(|| time.clone());
                event
            }));
        }
        let story = self.story(&session.summary);
        if let (Err(error), Some(_)) = (&story, &session.summary.session_ref) {
            output::note(&format!(
                "the transcript of {} cannot be read, so there is only what its hooks told: {error}",
                session.summary.session_id
            ));
        }
        Ok(export::Session::new(&session.summary, &events, story.ok()))
    }

    /// The turns of a session that has ended, when its hooks told of none.
    pub(crate) fn untold(&mut self, session: &Summary) -> Vec<Event> {
        if !turns::are_untold(session) {
            return vec![];
        }
        let story = self.story(session).map(|(_, moments)| moments);
        turns::of(session, story.unwrap_or_default())
    }

    fn read(&mut self, session: &Summary, wanted: Wanted, mut each: impl FnMut(&Entry)) -> Result<Facts> {
        let session_ref = session
            .session_ref
            .as_deref()
            .ok_or_else(|| Error::input("no hook has named the session's transcript"))?;
        if !self.adapters.contains_key(&session.agent) {
            let adapter = registry::find(&session.agent, &self.config)?.load(&session.agent, self.config.limits())?;
            self.adapters.insert(session.agent.clone(), adapter);
        }
        let adapter = self
            .adapters
            .get_mut(&session.agent)
            .ok_or_else(|| Error::unsupported("the adapter is gone"))?;
        let description = adapter.describe()?;
        let mut surroundings = self.surroundings.clone();
        surroundings.cwd = session.cwd.as_ref().map(PathBuf::from);
        surroundings.repo_root = session.repo_root.as_ref().map(PathBuf::from);
        let context = surroundings.context_with_files(&description);
        let found = Transcript::find(adapter.as_mut(), &context, session_ref)?;
        let mut file = found.open(&context)?;
        let root = context.repo_root.as_deref().or(context.cwd.as_deref());
        let mut facts = Collector::new(0, RepoPaths::new(root, context.home.as_deref()));
        let start = found.start(wanted);
        transcript::read(adapter.as_mut(), start, &mut file, |entry| {
            each(&entry);
            facts.add(entry);
        })?;
        Ok(facts.finish())
    }
}

/// All tokens of a session, its subagents' in the same transcript among them.
pub(crate) fn all_tokens(facts: &Facts) -> TokenTotals {
    facts.tokens.plus(facts.subagent_tokens.unwrap_or_default())
}

/// What of a transcript is remembered.
pub(crate) fn note_of(facts: &Facts, metadata: &Metadata) -> TranscriptNote {
    let tokens = all_tokens(facts);
    let files = facts.files.created.len() + facts.files.modified.len() + facts.files.deleted.len();
    TranscriptNote {
        size: metadata.len(),
        modified: modified(metadata),
        files: files as u64,
        tokens: tokens.input + tokens.cache_creation + tokens.cache_read + tokens.output,
        prompts: facts.prompts.len() as u64,
        title: facts.prompts.first().map(|prompt| title_of(prompt)),
    }
}

/// Counts the turns of which no hook told.
pub(crate) fn count_untold(summary: &mut Summary, note: &TranscriptNote) {
    if turns::are_untold(summary) {
        summary.turns = note.prompts;
        summary.turns_ended = note.prompts;
        summary.prompts = note.prompts;
        summary.title.clone_from(&note.title);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(ids: &[&str]) -> Vec<Session> {
        let session = |id: &&str| Session {
            path: PathBuf::new(),
            summary: Summary {
                session_id: (*id).to_owned(),
                ..Summary::default()
            },
            size: 0,
            transcript: None,
        };
        ids.iter().map(session).collect()
    }

    #[test]
    fn a_session_is_found_by_its_id_or_a_beginning_that_only_it_has() {
        let sessions = sessions(&["abc", "abcd", "b1"]);
        let id = |name| session(&sessions, name).map(|session| session.summary.session_id.clone());
        assert_eq!(id("abc").unwrap(), "abc");
        assert_eq!(id("b").unwrap(), "b1");
        assert!(id("ab").unwrap_err().to_string().contains("2 sessions begin with ab"));
        assert!(id("x").is_err());
        assert!(id("").is_err());
    }

    #[test]
    fn short_ids_tell_sessions_apart() {
        let ids = ["0193f2c4-7d1e-1", "0193f2c4-7d1e-2", "zzzzzzzzzzzz", "a"];
        let short = short_ids(ids.into_iter());
        assert_eq!(short["0193f2c4-7d1e-1"], "0193f2c4-7d1e-1");
        assert_eq!(short["zzzzzzzzzzzz"], "zzzzzzzz");
        assert_eq!(short["a"], "a");
    }
}
