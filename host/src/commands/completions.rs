//! `completions`

use super::Output;
use crate::cli;

/// Print what a shell needs to complete hookhost's commands
///
/// For example: hookhost completions bash > ~/.local/share/bash-completion/completions/hookhost
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Output {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut cli::tree(), "hookhost", &mut script);
    Output::bytes(script)
}
