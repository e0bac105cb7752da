//! `redact`

use schemars::JsonSchema;
use serde::Serialize;

use super::Output;
use super::recorded::{self, Filter};
use crate::cli::Selection;
use crate::config::Config;
use crate::error::Result;
use crate::format::number;
use crate::journal::Record;
use crate::journal::index::Session;
use crate::journal::record::Audit;
use crate::journal::rewrite::{self, Rewriter};
use crate::moment;
use crate::paths;
use crate::redact::{Counts, Redactor};
use crate::surroundings;

/// Replace secrets in recorded sessions
///
/// Tokens of well-known shapes, words behind names like `password`, what looks random and what the setting
/// redact.patterns says become `[redacted:<kind>:<hash>]`; equal secrets get equal hashes. Files are replaced as a whole,
/// and a record of what was done is appended.
#[derive(Debug, clap::Args)]
pub(crate) struct RedactArgs {
    /// The sessions' ids, or the beginnings of them
    #[arg(value_name = "SESSION", required_unless_present = "all")]
    sessions: Vec<String>,
    /// All sessions that the options choose
    #[arg(long, conflicts_with = "sessions")]
    all: bool,
    #[command(flatten)]
    filter: Filter,
    /// Only say what would be replaced
    #[arg(long)]
    dry_run: bool,
    /// JSON for programs
    #[arg(long)]
    json: bool,
}

/// What was replaced.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RedactJson {
    /// The version of this object; fields are only added under it.
    v: u32,
    /// Nothing was written.
    dry_run: bool,
    /// The sessions that held secrets.
    sessions: Vec<RedactedJson>,
}

/// What was replaced in a session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RedactedJson {
    /// The agent.
    agent: String,
    /// The session.
    session_id: String,
    /// How many records changed.
    records: u64,
    /// How many secrets were replaced, by kind.
    secrets: Counts,
}

pub(super) fn run(args: &RedactArgs, selection: &Selection) -> Result<Output> {
    let journal = recorded::journal()?;
    let sessions = recorded::index(&journal)?.sessions();
    let chosen = args.filter.chosen(selection, moment::now())?;
    let wanted: Vec<&Session> = if args.all {
        sessions
            .iter()
            .filter(|session| chosen.takes(&session.summary))
            .collect()
    } else {
        let named = args.sessions.iter().map(|name| recorded::session(&sessions, name));
        named.collect::<Result<_>>()?
    };
    let mut redactor = Redactor::new(&Config::load()?, paths::data_dir().as_deref())?;
    let redacted = wanted
        .into_iter()
        .map(|session| redact(session, &mut redactor, args.dry_run));
    let redacted: Vec<RedactedJson> = redacted.filter_map(Result::transpose).collect::<Result<_>>()?;
    if args.json {
        return Output::json(&RedactJson {
            v: 1,
            dry_run: args.dry_run,
            sessions: redacted,
        });
    }
    Ok(Output::bytes(text(&redacted, args.dry_run).into_bytes()))
}

/// Takes the secrets out of a session's file. `None`: there are none.
fn redact(session: &Session, redactor: &mut Redactor, dry_run: bool) -> Result<Option<RedactedJson>> {
    let mut redacting = Redacting::new(session, redactor);
    rewrite::look(&session.path, |line| {
        redacting.line(line);
    })?;
    let found = redacting.finish();
    if dry_run || found.secrets.is_empty() {
        return Ok(Some(found).filter(|found| !found.secrets.is_empty()));
    }
    let mut redacting = Redacting::new(session, redactor);
    rewrite::rewrite(&session.path, &mut redacting)?;
    Ok(Some(redacting.done))
}

struct Redacting<'a> {
    redactor: &'a mut Redactor,
    done: RedactedJson,
}

impl<'a> Redacting<'a> {
    fn new(session: &Session, redactor: &'a mut Redactor) -> Self {
        Self {
            redactor,
            done: RedactedJson {
                agent: session.summary.agent.clone(),
                session_id: session.summary.session_id.clone(),
                records: 0,
                secrets: Counts::new(),
            },
        }
    }

    fn finish(mut self) -> RedactedJson {
        self.done.secrets = self.redactor.take_counts();
        self.done
    }
}

impl Rewriter for Redacting<'_> {
    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let redacted = self.redactor.line(line);
        self.done.records += u64::from(redacted != line);
        Some(redacted)
    }

    /// The record of what was done.
    fn last(&mut self) -> Option<Vec<u8>> {
        self.done.secrets = self.redactor.take_counts();
        let record = Record {
            id: Record::new_id(),
            time: surroundings::now(),
            agent: self.done.agent.clone(),
            session_id: Some(self.done.session_id.clone()).filter(|id| !id.is_empty()),
            audit: Some(Audit {
                action: "redact".to_owned(),
                by: concat!("hookhost ", env!("CARGO_PKG_VERSION")).to_owned(),
                records: self.done.records,
                secrets: self.done.secrets.clone(),
            }),
            ..Record::default()
        };
        Some(record.line().concat())
    }
}

fn text(redacted: &[RedactedJson], dry_run: bool) -> String {
    if redacted.is_empty() {
        return "no secrets were found\n".to_owned();
    }
    let would = if dry_run { "would be replaced" } else { "replaced" };
    let line = |session: &RedactedJson| {
        let kinds = session.secrets.iter().map(|(kind, count)| format!("{count} {kind}"));
        format!(
            "{} {}: {would} in {}: {}\n",
            session.agent,
            session.session_id,
            number::counted(session.records, "record", "records"),
            kinds.collect::<Vec<_>>().join(", ")
        )
    };
    redacted.iter().map(line).collect()
}
