//! `adapter`: hands over to `hookhost-adapter`.

use std::ffi::OsString;

use clap::Args;

use crate::adapter::tool;
use crate::cli::{Words, finish};
use crate::commands::Output;
use crate::error::Result;

/// Check, install and write adapters: `hookhost adapter --help`
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct AdapterArgs {
    /// What hookhost-adapter is to do
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Runs `adapter` with all that follows it, which only the other program understands.
pub(crate) fn run_early(words: &Words<'_>) -> Option<u8> {
    Some(tool::run(words.rest).unwrap_or_else(|error| finish(Err(error))))
}

pub(super) fn run(args: &AdapterArgs) -> Result<Output> {
    let mut answer = Output::nothing();
    answer.failed = tool::run(&args.arguments)? != 0;
    Ok(answer)
}
