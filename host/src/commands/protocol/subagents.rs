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
use crate::session::TokenTotals;
use crate::session::facts::{Facts, SubagentLink};
use crate::session::pattern;

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
    // Paths below it become session refs, which may not go up and down.
    let dir = std::fs::canonicalize(&args.subagents_dir);
    let dir = dir.map_or_else(|_| args.subagents_dir.clone(), |dir| dir.to_string_lossy().into_owned());
    let dir = Some(dir.as_str()).filter(|dir| !dir.is_empty());
    let (earlier, later): (Vec<_>, Vec<_>) = main.subagents.iter().partition(|link| link.offset < from);
    let mut paths = found(call, dir, &later, &context)?;
    // Those that were started before the offset have been counted by whoever asked up to there.
    let names: Vec<&str> = earlier.iter().filter_map(|link| link.subagent_id.as_deref()).collect();
    paths.retain(|path| !names.iter().any(|id| is_named(path, id)));
    let mut subagents = vec![];
    for path in paths {
        let transcript = call.transcript(&path.to_string_lossy(), &context)?;
        subagents.push(read_facts(call, &transcript, 0, wanted, &context)?.0);
    }
    Ok((main, subagents))
}

/// The transcripts of subagents that can be found.
fn found(call: &mut Call, dir: Option<&str>, links: &[&SubagentLink], context: &Context) -> Result<BTreeSet<PathBuf>> {
    let ids: Vec<&str> = links.iter().filter_map(|link| link.subagent_id.as_deref()).collect();
    let mut paths = BTreeSet::new();
    for pattern in call.adapter.subagent_transcripts("", dir, context)? {
        let files = pattern::files(&pattern).into_iter();
        paths.extend(files.filter(|path| !pattern.linked || ids.iter().any(|id| is_named(path, id))));
    }
    // Those that a program gives out or a database holds have no file before they are fetched.
    let Some(dir) = dir else { return Ok(paths) };
    for id in ids {
        if paths.iter().any(|path| is_named(path, id)) || crate::session::refs::check_id(id).is_err() {
            continue;
        }
        let patterns = call.adapter.session_file(dir, id, context)?;
        let Some(path) = pattern::first(&patterns) else {
            continue;
        };
        let transcript = call.transcript(&path.to_string_lossy(), context)?;
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
