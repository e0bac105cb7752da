//! What a transcript says: position, files, prompts, summary, tokens.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;

use super::Call;
use super::sessions::RefArgs;
use crate::adapter::ReadingStart;
use crate::commands::Output;
use crate::error::{Error, ErrorKind, Result};
use crate::input::Stdin;
use crate::model::{Context, Item, Wanted};
use crate::session::TokenTotals;
use crate::session::facts::{Collector, Facts};
use crate::session::refs::check_id;
use crate::session::transcript::{self, Transcript};
use crate::wire::TokenUsage;

/// How long `prepare-transcript` waits at most.
const PREPARE_LIMIT: Duration = Duration::from_secs(3);

/// How long a transcript without an end mark has to stand still to count as complete.
const STILL: Duration = Duration::from_millis(400);

/// How much of a transcript on stdin is looked at for the session's id.
const BEGINNING: u64 = 256 << 10;

/// Which transcript.
#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// The transcript's path
    #[arg(long, value_name = "PATH")]
    path: String,
}

/// Which transcript, and from where on.
#[derive(Debug, Args)]
pub(crate) struct PathOffsetArgs {
    /// The transcript's path
    #[arg(long, value_name = "PATH")]
    path: String,
    #[command(flatten)]
    from: OffsetArgs,
}

/// Which transcript, and from where on.
#[derive(Debug, Args)]
pub(crate) struct RefOffsetArgs {
    #[command(flatten)]
    transcript: RefArgs,
    #[command(flatten)]
    from: OffsetArgs,
}

/// From where on.
#[derive(Debug, Args)]
pub(crate) struct OffsetArgs {
    /// A position that get-transcript-position gave earlier
    #[arg(long, value_name = "POSITION")]
    pub(super) offset: u64,
}

pub(super) fn position(call: &mut Call, args: &PathArgs) -> Result<Output> {
    analyzer(call)?;
    let context = call.context()?;
    let found = by_path(call, &args.path, &context)?;
    let position = if found.path.exists() || !found.is_file() {
        read_facts(call, &found, 0, Wanted::default(), &context)?.1
    } else {
        0
    };
    Output::json(&json!({ "position": position }))
}

pub(super) fn files(call: &mut Call, args: &PathOffsetArgs) -> Result<Output> {
    analyzer(call)?;
    let context = call.context()?;
    let found = by_path(call, &args.path, &context)?;
    let wanted = Wanted {
        files: true,
        ..Wanted::default()
    };
    let (facts, position) = read_facts(call, &found, args.from.offset, wanted, &context)?;
    Output::json(&json!({ "files": facts.files.touched, "current_position": position }))
}

pub(super) fn prompts(call: &mut Call, args: &RefOffsetArgs) -> Result<Output> {
    analyzer(call)?;
    let context = call.context()?;
    let found = call.transcript(&args.transcript.session_ref, &context)?;
    let wanted = Wanted {
        prompts: true,
        ..Wanted::default()
    };
    let (facts, _) = read_facts(call, &found, args.from.offset, wanted, &context)?;
    Output::json(&json!({ "prompts": facts.prompts }))
}

pub(super) fn summary(call: &mut Call, args: &RefArgs) -> Result<Output> {
    analyzer(call)?;
    let context = call.context()?;
    let found = call.transcript(&args.session_ref, &context)?;
    let wanted = Wanted {
        texts: true,
        ..Wanted::default()
    };
    let (facts, _) = read_facts(call, &found, 0, wanted, &context)?;
    let has_summary = facts.summary.is_some();
    Output::json(&json!({ "summary": facts.summary.unwrap_or_default(), "has_summary": has_summary }))
}

pub(super) fn tokens(call: &mut Call, args: &OffsetArgs) -> Result<Output> {
    call.claims("token_calculator", |claimed| claimed.token_calculator)?;
    let context = call.context()?;
    let wanted = Wanted {
        tokens: true,
        ..Wanted::default()
    };
    let facts = read_stdin(call, args.offset, wanted, &context)?;
    Output::json(&usage(facts.tokens, facts.subagent_tokens))
}

pub(super) fn prepare(call: &mut Call, args: &RefArgs) -> Result<Output> {
    call.claims("transcript_preparer", |claimed| claimed.transcript_preparer)?;
    let context = call.context()?;
    let found = call.transcript(&args.session_ref, &context)?;
    if found.is_file() {
        wait_for(call, &found, &context)?;
    } else {
        found.fetch(&context)?;
    }
    Ok(Output::nothing())
}

/// What a transcript says from an offset on, and where it ends.
pub(super) fn read_facts(
    call: &mut Call,
    found: &Transcript,
    from: u64,
    wanted: Wanted,
    context: &Context,
) -> Result<(Facts, u64)> {
    let mut file = found.open(context)?;
    collect(call, found.start(wanted), &mut file, from, context)
}

/// What the transcript on stdin says from an offset on.
///
/// Some agents keep a part of it in files beside the transcript. The caller gives none of them, so they are looked for
/// beside the session's own file, which the beginning of the transcript names by its id.
pub(super) fn read_stdin(call: &mut Call, from: u64, want: Wanted, context: &Context) -> Result<Facts> {
    let mut stdin = Stdin::default();
    let mut beginning = vec![];
    let cannot = |error| Error::system("cannot read the transcript", error);
    (&mut stdin)
        .take(BEGINNING)
        .read_to_end(&mut beginning)
        .map_err(cannot)?;
    let companions = session_of(call, &beginning)
        .and_then(|id| stored(call, &id, context))
        .map(|found| found.start(want).companions);
    let start = ReadingStart {
        companions: companions.unwrap_or_default(),
        want,
        ..ReadingStart::default()
    };
    let mut bytes = beginning.as_slice().chain(stdin);
    Ok(collect(call, start, &mut bytes, from, context)?.0)
}

/// The session that a transcript says it is, judged by its beginning.
fn session_of(call: &mut Call, beginning: &[u8]) -> Option<String> {
    let mut id = None;
    let mut bytes = beginning;
    let read = transcript::read(call.adapter.as_mut(), ReadingStart::default(), &mut bytes, |entry| {
        if let (None, Item::Session(facts)) = (&id, entry.item) {
            id = facts.session_id;
        }
    });
    // A document that is cut off here cannot be read, and tells nothing.
    read.ok().and(id)
}

/// The file in which the agent keeps a session.
pub(super) fn stored(call: &mut Call, id: &str, context: &Context) -> Option<Transcript> {
    check_id(id).ok()?;
    let by_id = call.transcript(id, context).ok()?;
    if !by_id.is_file() || !by_id.path.is_file() {
        return None;
    }
    call.transcript(&by_id.path.to_string_lossy(), context).ok()
}

fn collect(
    call: &mut Call,
    start: ReadingStart,
    bytes: &mut dyn Read,
    from: u64,
    context: &Context,
) -> Result<(Facts, u64)> {
    let mut collector = Collector::new(from, Call::repo_paths(context));
    let position = transcript::read(call.adapter.as_mut(), start, bytes, |entry| collector.add(entry))?;
    Ok((collector.finish(), position))
}

/// Token sums as the protocol writes them. Callers read signed numbers; a larger one would cost them the whole answer.
pub(super) fn usage(main: TokenTotals, subagents: Option<TokenTotals>) -> TokenUsage {
    let signed = |number: u64| number.min(i64::MAX.unsigned_abs());
    TokenUsage {
        input_tokens: signed(main.input),
        cache_creation_tokens: signed(main.cache_creation),
        cache_read_tokens: signed(main.cache_read),
        output_tokens: signed(main.output),
        api_call_count: signed(main.calls),
        subagent_tokens: subagents.map(|subagents| Box::new(usage(subagents, None))),
    }
}

fn analyzer(call: &mut Call) -> Result<()> {
    call.claims("transcript_analyzer", |claimed| claimed.transcript_analyzer)
}

/// A path is a session ref; a person may also give one that is relative to the working directory.
fn by_path(call: &mut Call, path: &str, context: &Context) -> Result<Transcript> {
    let is_relative = !path.is_empty() && !Path::new(path).is_absolute();
    match std::path::absolute(path) {
        Ok(absolute) if is_relative && absolute.is_file() => call.transcript(&absolute.to_string_lossy(), context),
        _ => call.transcript(path, context),
    }
}

/// Waits until the transcript stands still, at once when its last turn has ended. Time is short, so a transcript that
/// goes on growing is no failure. One that cannot be understood may be half written: it is given the time to become
/// whole.
fn wait_for(call: &mut Call, found: &Transcript, context: &Context) -> Result<()> {
    // All that can follow the end of a turn.
    let wanted = Wanted {
        prompts: true,
        texts: true,
        files: true,
        ..Wanted::default()
    };
    let deadline = Instant::now() + PREPARE_LIMIT;
    let mut seen = None;
    let mut since = Instant::now();
    let mut torn = None;
    loop {
        let state = state(&found.path);
        if state != seen {
            seen = state;
            since = Instant::now();
            torn = None;
            if state.is_some() {
                match read_facts(call, found, 0, wanted, context) {
                    Ok((facts, _)) if facts.turn_ended => return Ok(()),
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::Input => torn = Some(error),
                    Err(error) => return Err(error),
                }
            }
        }
        let is_still = seen.is_some() && torn.is_none() && since.elapsed() >= STILL;
        if is_still || Instant::now() >= deadline {
            // Says why, when there is no file.
            return torn.map_or_else(|| found.open(context).map(|_: File| ()), Err);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What changes when a file is written to. `None`: there is none.
fn state(path: &Path) -> Option<(u64, Option<std::time::SystemTime>)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}
