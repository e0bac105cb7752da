//! From typed-in arguments to a command's answer and the exit code.

use std::ffi::{OsStr, OsString};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, Parser};

use crate::adapter::registry::{self, Found};
use crate::adapter::tool;
use crate::commands::{self, Body, Command, Output};
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::output;

/// Names the agent where nothing else does.
const AGENT_VARIABLE: &str = "HOOKHOST_AGENT";

/// One hook command for every coding agent
///
/// Agents run `hookhost hook <agent> <hook>`; callers of the external-agent protocol run `entire-agent-<agent> <command>`
/// (a link to this program) or `hookhost <command> --agent <agent>`.
#[derive(Debug, Parser)]
#[command(
    name = "hookhost",
    version,
    arg_required_else_help = false,
    subcommand_required = true
)]
struct Cli {
    #[command(flatten)]
    selection: Selection,
    #[command(subcommand)]
    command: Command,
}

/// Which agent is meant.
#[derive(Clone, Debug, Default, Args)]
pub struct Selection {
    /// The agent by name; without it HOOKHOST_AGENT counts
    #[arg(long, global = true, value_name = "NAME")]
    pub agent: Option<String>,
    /// An adapter's file instead of one that is built in or installed
    #[arg(long, global = true, value_name = "FILE")]
    pub adapter: Option<PathBuf>,
    /// Called as a plugin of the Entire CLI: hooks are registered as its commands
    #[arg(long, global = true, hide = true)]
    pub plugin: bool,
}

impl Selection {
    /// The agent's name: that of the option, else that of the variable.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        let variable = || std::env::var(AGENT_VARIABLE).ok();
        self.agent.clone().or_else(variable).filter(|name| !name.is_empty())
    }

    /// The adapter that is meant, and the name by which it is called.
    ///
    /// # Errors
    /// None is named, or there is no such adapter.
    pub fn find(&self, config: &Config) -> Result<(String, Found)> {
        let name = self.name();
        let found = match (&self.adapter, &name) {
            (Some(file), _) => tool::compiled(file)?,
            (None, Some(name)) => registry::find(name, config)?,
            (None, None) => {
                let names = registry::names(config).join(", ");
                return Err(Error::usage("no agent is named")
                    .hint(format!("give --agent NAME, or set HOOKHOST_AGENT; there are {names}")));
            }
        };
        Ok((name.unwrap_or_else(|| found.name.clone()), found))
    }
}

/// Runs what the arguments ask for, the program's name first among them, and gives back the exit code.
#[must_use]
pub fn run(arguments: Vec<OsString>) -> u8 {
    let words = Words::of(&arguments);
    // Commands that run inside of a user's turn do not pay for the tree of all the others.
    if let Some(code) = commands::run_early(&words) {
        return code;
    }
    match Cli::try_parse_from(&arguments) {
        Ok(cli) => finish(cli.command.run(&cli.selection)),
        Err(error) => not_understood(&error, words.command),
    }
}

/// The tree of all commands.
pub(crate) fn tree() -> clap::Command {
    use clap::CommandFactory;
    Cli::command()
}

/// The whole help, as it is shown: the main page and each command's.
#[must_use]
pub fn whole_help() -> String {
    let mut command = tree().term_width(100);
    command.build();
    let mut pages = vec![];
    help_pages(&mut command, &mut pages);
    pages.join("\n")
}

fn help_pages(command: &mut clap::Command, pages: &mut Vec<String>) {
    let help = command.render_long_help();
    let name = command.get_display_name().unwrap_or(command.get_name());
    pages.push(format!("# {name}\n\n{help}"));
    let inner = command.get_subcommands_mut().filter(|inner| inner.get_name() != "help");
    for inner in inner {
        help_pages(inner, pages);
    }
}

fn not_understood(error: &clap::Error, command: Option<&OsStr>) -> u8 {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    let text = error.render().to_string();
    if matches!(error.kind(), DisplayHelp | DisplayVersion) {
        return finish(Ok(Output::bytes(text.into_bytes())));
    }
    // Agents take usage errors of their hooks for vetoes, or show them to the model.
    if command.is_some_and(|command| command == "hook") {
        return 0;
    }
    output::note(&text);
    Error::new(ErrorKind::Usage, "").exit_code()
}

/// Delivers a command's answer and gives back the exit code.
pub(crate) fn finish(result: Result<Output>) -> u8 {
    match result.and_then(deliver) {
        Ok(code) => code,
        Err(error) => {
            output::note(&format!("hookhost: {error}"));
            error.exit_code()
        }
    }
}

fn deliver(answer: Output) -> Result<u8> {
    let delivered = match answer.body {
        Body::Nothing => Ok(()),
        Body::Bytes(bytes) => output::answer(&bytes),
        Body::Stream(write) => {
            let mut out = BufWriter::with_capacity(64 << 10, output::Stdout);
            write(&mut out).and_then(|()| out.flush())
        }
    };
    delivered.map_err(|error| Error::system("cannot write the answer", error))?;
    if let Some(note) = answer.note {
        output::note(&note);
    }
    Ok(u8::from(answer.failed))
}

/// The arguments by their place, as far as it can be told without knowing the commands.
#[derive(Debug, Default)]
pub(crate) struct Words<'a> {
    /// Options before the command.
    pub(crate) selection: Selection,
    /// The command.
    pub(crate) command: Option<&'a OsStr>,
    /// What follows the command.
    pub(crate) rest: &'a [OsString],
    /// An option before the command that only the whole parser understands.
    pub(crate) is_unclear: bool,
}

impl<'a> Words<'a> {
    fn of(arguments: &'a [OsString]) -> Self {
        let mut words = Self::default();
        let mut rest = arguments.get(1..).unwrap_or_default();
        while let Some((word, behind)) = rest.split_first() {
            rest = behind;
            if !word.as_encoded_bytes().starts_with(b"-") {
                words.command = Some(word);
                words.rest = rest;
                break;
            }
            match rest.split_first() {
                Some((value, behind)) if word == "--agent" => {
                    words.selection.agent = value.to_str().map(str::to_owned);
                    words.is_unclear |= value.to_str().is_none();
                    rest = behind;
                }
                Some((value, behind)) if word == "--adapter" => {
                    words.selection.adapter = Some(value.into());
                    rest = behind;
                }
                _ if word == "--plugin" => words.selection.plugin = true,
                _ => words.is_unclear = true,
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_commands_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn the_command_is_found_behind_options() {
        let arguments: Vec<OsString> = ["hookhost", "--plugin", "--agent", "x", "parse-hook", "--hook", "y"]
            .map(OsString::from)
            .into();
        let words = Words::of(&arguments);
        assert_eq!(words.command, Some(OsStr::new("parse-hook")));
        assert_eq!(words.selection.agent.as_deref(), Some("x"));
        assert!(words.selection.plugin && !words.is_unclear);
        assert_eq!(words.rest, ["--hook", "y"]);
    }
}
