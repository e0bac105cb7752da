//! Sums over a session and its subagents.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::Call;
use super::transcripts::{OffsetArgs, read_facts, read_stdin, usage};
use crate::commands::Output;
use crate::error::Result;
use crate::model::{Context, Wanted};
use crate::output;
use crate::session::TokenTotals;
use crate::session::facts::{Facts, SubagentLink};
use crate::session::pattern;
use crate::session::refs::check_id;

/// Which part of the main transcript, and where the others are.
#[derive(Debug, Args)]
pub(crate) struct SubagentArgs {
    #[command(flatten)]
    from: OffsetArgs,
    /// The directory with the subagents' transcripts
    #[arg(long, value_name = "DIRECTORY", allow_hyphen_values = true)]
    subagents_dir: String,
}

pub(super) fn files(call: &mut Call, args: &SubagentArgs) -> Result<Output> {
    let wanted = Wanted {
        files: true,
        ..Wanted::default()
    };
    let (main, subagents) = read_all(call, args, wanted)?;
    let mut seen = BTreeSet::new();
    let touched = std::iter::once(main)
        .chain(subagents)
        .flat_map(|facts| facts.files.touched);
    let files: Vec<String> = touched.filter(|file| seen.insert(file.clone())).collect();
    Output::json(&json!({ "files": files }))
}

pub(super) fn tokens(call: &mut Call, args: &SubagentArgs) -> Result<Output> {
    let wanted = Wanted {
        tokens: true,
        // The links from calls to subagents.
        files: true,
        ..Wanted::default()
    };
    let (main, subagents) = read_all(call, args, wanted)?;
    let inner = subagents
        .into_iter()
        .flat_map(|facts| [Some(facts.tokens), facts.subagent_tokens]);
    let sum = inner.chain([main.subagent_tokens]).flatten().reduce(TokenTotals::plus);
    let sum = sum.filter(|sum| *sum != TokenTotals::default());
    Output::json(&usage(main.tokens, sum))
}

/// The main transcript from stdin, and those of its subagents.
fn read_all(call: &mut Call, args: &SubagentArgs, wanted: Wanted) -> Result<(Facts, Vec<Facts>)> {
    call.claims("subagent_aware_extractor", |claimed| claimed.subagent_aware_extractor)?;
    let context = call.context()?;
    let from = args.from.offset;
    let main = read_stdin(call, from, wanted, &context)?;
    let dir = directory(&args.subagents_dir);
    let session_ref = session_ref_of(call, &main, &context);
    let (earlier, later): (Vec<_>, Vec<_>) = main.subagents.iter().partition(|link| link.offset < from);
    let mut paths = found(call, &session_ref, dir.as_deref(), &later, &context)?;
    // Those that were started before the offset have been counted by whoever asked up to there.
    let names: Vec<&str> = earlier.iter().filter_map(|link| link.subagent_id.as_deref()).collect();
    paths.retain(|path| !names.iter().any(|id| is_named(path, id)));
    let mut subagents = vec![];
    for path in paths {
        match read(call, &path, wanted, &context) {
            Ok(facts) => subagents.push(facts),
            // One that is half written is no reason to leave the others out.
            Err(error) => output::note(&format!(
                "passed over the subagent's transcript {}: {error}",
                path.display()
            )),
        }
    }
    Ok((main, subagents))
}

fn read(call: &mut Call, path: &Path, wanted: Wanted, context: &Context) -> Result<Facts> {
    let transcript = call.transcript(&path.to_string_lossy(), context)?;
    Ok(read_facts(call, &transcript, 0, wanted, context)?.0)
}

/// The directory as the paths below it can become session refs, which may not go up and down. One that is not there
/// holds nothing. `None`: none is given.
fn directory(given: &str) -> Option<String> {
    let real = std::fs::canonicalize(given).or_else(|_| std::path::absolute(given));
    real.map(|dir| dir.to_string_lossy().into_owned()).ok()
}

/// The session's own transcript, as it says who it is; empty when it does not. Some agents name the folder with the
/// subagents' transcripts after it.
fn session_ref_of(call: &mut Call, main: &Facts, context: &Context) -> String {
    let id = main.session.session_id.as_deref().filter(|id| check_id(id).is_ok());
    let found = id.and_then(|id| call.transcript(id, context).ok());
    found.map_or_else(String::new, |found| found.path.to_string_lossy().into_owned())
}

/// The transcripts of subagents that can be found.
fn found(
    call: &mut Call,
    session_ref: &str,
    dir: Option<&str>,
    links: &[&SubagentLink],
    context: &Context,
) -> Result<BTreeSet<PathBuf>> {
    let ids: Vec<&str> = links.iter().filter_map(|link| link.subagent_id.as_deref()).collect();
    let mut paths = BTreeSet::new();
    for pattern in call.adapter.subagent_transcripts(session_ref, dir, context)? {
        let files = pattern::files(&pattern).into_iter();
        paths.extend(files.filter(|path| !pattern.linked || ids.iter().any(|id| is_named(path, id))));
    }
    // Those that a program gives out or a database holds have no file before they are fetched.
    let Some(dir) = dir else { return Ok(paths) };
    for id in ids {
        if paths.iter().any(|path| is_named(path, id)) || check_id(id).is_err() {
            continue;
        }
        let patterns = call.adapter.session_file(dir, id, context)?;
        let Some(path) = pattern::first(&patterns) else {
            continue;
        };
        let Ok(transcript) = call.transcript(&path.to_string_lossy(), context) else {
            continue;
        };
        if !transcript.is_file() && transcript.open(context).is_ok() {
            paths.insert(path);
        }
    }
    Ok(paths)
}

/// Whether the file's name holds the id.
fn is_named(path: &Path, id: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(id))
}
