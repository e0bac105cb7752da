//! From typed-in arguments to findings and an exit code.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind as ClapKind;
use clap::{Parser, Subcommand};
use hookhost::error::{Error, ErrorKind, Result};
use hookhost::output;
use serde::Serialize;

use crate::component::Component;
use crate::{check, inventory, new, report, shelf};

/// Check, install and write adapters
#[derive(Debug, Parser)]
#[command(name = "hookhost-adapter", bin_name = "hookhost adapter", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Begin a new adapter: a crate that builds
    New {
        /// Its name: the agent's own, lower case
        name: String,
        /// The folder of hookhost-sdk; without it, that of the hookhost this program was built from
        #[arg(long, value_name = "FOLDER")]
        sdk: Option<PathBuf>,
    },
    /// Say whether an adapter does what it claims; without a file, make the installed ones ready again
    ///
    /// FILE is a component, or a core module that was built with hookhost-sdk for wasm32-unknown-unknown. An upgrade of
    /// hookhost, or another computer, needs other machine code: installed adapters are then compiled again here.
    Check {
        /// A file, or the name of an installed adapter
        file: Option<PathBuf>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Check an adapter and put it where hookhost finds it by its name
    Install {
        /// A component, or a core module that was built with hookhost-sdk
        file: PathBuf,
    },
    /// Take an installed adapter away
    Remove {
        /// Its name
        name: String,
    },
    /// List all adapters, built-in and installed
    List {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Say who an adapter is for and what it can do
    Info {
        /// Its name, or a file
        name: String,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Compile a file for `hookhost --adapter FILE`
    #[command(hide = true)]
    Precompile {
        /// A component, or a core module that was built with hookhost-sdk
        file: PathBuf,
    },
}

/// Runs what the arguments ask for, the program's name first among them, and gives back the exit code.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let outcome = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command.run(),
        Err(error) if matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion) => {
            Ok(Outcome::good(error.render().to_string()))
        }
        Err(error) => {
            output::note(&error.render().to_string());
            return Error::usage("").exit_code();
        }
    };
    let written = outcome.and_then(|outcome| {
        output::answer(outcome.text.as_bytes()).map_err(|error| Error::system("cannot write the answer", error))?;
        Ok(outcome.code)
    });
    written.unwrap_or_else(|error| {
        output::note(&error.to_string());
        error.exit_code()
    })
}

struct Outcome {
    text: String,
    code: u8,
}

impl Outcome {
    fn good(text: String) -> Self {
        Self { text, code: 0 }
    }

    /// What there is to show, with the exit code that tells scripts whether all of it is good.
    fn shown<T: Serialize>(value: &T, json: bool, text: impl FnOnce(&T) -> String, is_good: bool) -> Result<Self> {
        let text = match json {
            true => serde_json::to_string_pretty(value)
                .map(|text| text + "\n")
                .map_err(|error| Error::new(ErrorKind::System, "cannot write JSON").because(error))?,
            false => text(value),
        };
        Ok(Self {
            text,
            code: u8::from(!is_good),
        })
    }
}

impl Command {
    fn run(self) -> Result<Outcome> {
        match self {
            Self::New { name, sdk } => new::create(&name, sdk.as_deref()).map(Outcome::good),
            Self::Check { file: None, json } => {
                let reports = check::check_installed();
                let is_good = reports.iter().all(|one| one.problem.is_none());
                Outcome::shown(&reports, json, |reports| report::installed(reports), is_good)
            }
            Self::Check { file: Some(file), json } => match installed_name(&file) {
                Some(name) => {
                    let reports = vec![check::check_one_installed(name)];
                    let is_good = reports.iter().all(|one| one.problem.is_none());
                    Outcome::shown(&reports, json, |reports| report::installed(reports), is_good)
                }
                None => {
                    let report = check::check_file(&file)?;
                    Outcome::shown(&report, json, report::check, report.problems.is_empty())
                }
            },
            Self::Install { file } => {
                let report = check::check_file(&file)?;
                let found = shelf::install(&Component::read(&file)?, check::accepted_name(&report)?)?;
                Ok(Outcome::good(format!(
                    "{} is installed ({})\n",
                    found.name, found.digest
                )))
            }
            Self::Remove { name } => {
                shelf::remove(&name)?;
                Ok(Outcome::good(format!("{name} is removed\n")))
            }
            Self::List { json } => {
                let lines = inventory::list()?;
                let is_good = lines.iter().all(|line| line.problem.is_none());
                Outcome::shown(&lines, json, |lines| report::list(lines), is_good)
            }
            Self::Info { name, json } => Outcome::shown(&inventory::info(&name)?, json, report::info, true),
            Self::Precompile { file } => check::precompile(&file).map(|()| Outcome::good(String::new())),
        }
    }
}

/// A word that is no file but an installed adapter's name.
fn installed_name(file: &Path) -> Option<String> {
    let name = file.to_str().filter(|_| !file.exists())?;
    hookhost::adapter::registry::installed()
        .into_iter()
        .find(|installed| installed == name)
}
