//! `compact-transcript` and `generate-text`.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::Call;
use super::sessions::RefArgs;
use crate::commands::Output;
use crate::error::{Error, Result};
use crate::input;
use crate::model::Wanted;
use crate::program::Run;
use crate::session::compact::Conversation;
use crate::session::transcript;
use crate::wire;

/// Shorter than the time after which callers end us: then the agent is ended as well, and there is a reason.
const GENERATE_LIMIT: Duration = Duration::from_secs(28);

/// What callers take of an answer.
const ANSWER_LIMIT: u64 = 10 << 20;

/// The version of the program that the transcript is made for.
const CALLER_VERSION: &str = "ENTIRE_CLI_VERSION";

/// Which model is to answer.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// The model; the agent's own choice when it is empty
    #[arg(long, value_name = "MODEL")]
    model: String,
}

pub(super) fn compact(call: &mut Call, args: &RefArgs) -> Result<Output> {
    call.claims("compact_transcript", |claimed| claimed.compact_transcript)?;
    let context = call.context()?;
    let found = call.transcript(&args.session_ref, &context)?;
    let wanted = Wanted {
        prompts: true,
        texts: true,
        files: true,
        tool_bodies: true,
        ..Wanted::default()
    };
    let mut file = found.open(&context)?;
    let mut conversation = Conversation::default();
    transcript::read(call.adapter.as_mut(), found.start(wanted), &mut file, |entry| {
        conversation.add(entry)
    })?;
    let version = std::env::var(CALLER_VERSION).unwrap_or_else(|_| env!("CARGO_PKG_VERSION").to_owned());
    let lines = wire::compact_lines(&call.name, &version, &conversation.finish())?;
    Output::json(&json!({ "transcript": wire::base64(lines.as_bytes()) }))
}

pub(super) fn generate(call: &mut Call, args: &GenerateArgs) -> Result<Output> {
    call.claims("text_generator", |claimed| claimed.text_generator)?;
    let arguments = with_model(&call.description()?.text_command, &args.model);
    if arguments.is_empty() {
        return Err(Error::unsupported(format!(
            "{} has no command that generates text",
            call.name
        )));
    }
    let prompt = input::text_to_end(input::PAYLOAD_LIMIT)?;
    let run = Run {
        arguments: &arguments,
        stdin: prompt.as_bytes(),
        directory: call.surroundings.repo_root.as_deref(),
        limit: GENERATE_LIMIT,
    };
    let text = run.to_bytes(ANSWER_LIMIT)?;
    Output::json(&json!({ "text": String::from_utf8_lossy(&text) }))
}

/// The command line with the model in its place; with none, without the place and the option before it.
fn with_model(command: &[String], model: &str) -> Vec<String> {
    const PLACE: &str = "{model}";
    let mut words: Vec<String> = vec![];
    for word in command {
        if !word.contains(PLACE) {
            words.push(word.clone());
        } else if model.is_empty() {
            words.pop();
        } else {
            words.push(word.replace(PLACE, model));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_model_its_option_is_left_out() {
        let command = ["agent", "-p", "--model", "{model}", "--quiet"].map(str::to_owned);
        assert_eq!(
            with_model(&command, "big"),
            ["agent", "-p", "--model", "big", "--quiet"]
        );
        assert_eq!(with_model(&command, ""), ["agent", "-p", "--quiet"]);
    }
}
