//! `parse-hook` and `write-hook-response`.

use std::ffi::OsString;

use clap::Args;

use super::Call;
use crate::cli::{Words, finish};
use crate::commands::Output;
use crate::error::{Error, Result};
use crate::input::{Arrived, Payload};
use crate::wire;

/// Which hook's payload it is.
#[derive(Debug, Args)]
pub(crate) struct ParseArgs {
    /// The hook, in the agent's spelling or in kebab-case
    #[arg(long, value_name = "NAME")]
    hook: String,
    /// The payload, for agents that give it as an argument; without it stdin is read
    #[arg(value_name = "PAYLOAD")]
    payload: Option<OsString>,
}

/// What the agent is to show.
#[derive(Debug, Args)]
pub(crate) struct ResponseArgs {
    /// The message for the user
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: String,
}

/// Runs `parse-hook` when its arguments are plain.
pub(crate) fn run_early(words: &Words<'_>) -> Option<u8> {
    let mut selection = words.selection.clone();
    let mut hook = None;
    let mut payload = None;
    let mut rest = words.rest.iter();
    while let Some(word) = rest.next() {
        let text = word.to_str()?;
        match text.split_once('=').unwrap_or((text, "")) {
            ("--hook", "") => hook = Some(rest.next()?.to_str()?.to_owned()),
            ("--hook", value) => hook = Some(value.to_owned()),
            ("--agent", "") => selection.agent = Some(rest.next()?.to_str()?.to_owned()),
            ("--agent", value) => selection.agent = Some(value.to_owned()),
            _ if text.starts_with('-') || payload.is_some() => return None,
            _ => payload = Some(word.clone()),
        }
    }
    let hook = hook.filter(|hook| !hook.starts_with('-'))?;
    let args = ParseArgs { hook, payload };
    Some(finish(super::Request::ParseHook(args).run(&selection)))
}

pub(super) fn parse(call: &mut Call, args: &ParseArgs) -> Result<Output> {
    let payload = match &args.payload {
        Some(payload) => Payload::from_bytes(payload.clone().into_encoded_bytes()),
        None => Payload::from_stdin()?,
    };
    let context = call.hook_context();
    // Some agents have hooks without a payload, so the adapter is asked even then.
    let parsed = match payload.arrived() {
        Arrived::Cut | Arrived::TooMuch => return payload.complete().map(|_| Output::nothing()),
        Arrived::Nothing => call.adapter.parse(&args.hook, "", &context).or_else(|_| Ok(vec![])),
        Arrived::Value | Arrived::Other => call.adapter.parse(&args.hook, &payload.text(), &context),
    };
    let Some(mut event) = parsed.map_err(Error::from)?.into_iter().next() else {
        call.claims_hooks()?;
        return Ok(Output::bytes(b"null\n".to_vec()));
    };
    event.timestamp.get_or_insert(context.received_at);
    Output::json(&wire::EventJson(&event))
}

pub(super) fn response(call: &mut Call, args: &ResponseArgs) -> Result<Output> {
    call.claims("hook_response_writer", |claimed| claimed.hook_response_writer)?;
    Ok(Output::bytes(call.adapter.reply("", Some(&args.message))?))
}
