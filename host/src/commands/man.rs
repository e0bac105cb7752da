//! `man`

use std::path::{Path, PathBuf};

use super::Output;
use crate::cli;
use crate::error::{Error, Result};
use crate::format::number;
use crate::session::store;

/// Print the manual page, or write all pages
///
/// For example: hookhost man | man -l -
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write one page for every command into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs) -> Result<Output> {
    let mut tree = cli::tree();
    // Names the commands as they are called: `hookhost-list`.
    tree.build();
    let Some(dir) = &args.dir else {
        return Ok(Output::bytes(page(tree)?));
    };
    let count = write_pages(&tree, dir)?;
    let written = format!("{} in {}", number::counted(count, "page", "pages"), dir.display());
    Ok(Output::nothing().with_note(written))
}

fn write_pages(command: &clap::Command, dir: &Path) -> Result<u64> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    store::write(&dir.join(format!("{name}.1")), &page(command.clone())?)?;
    let mut count = 1;
    let is_shown = |inner: &&clap::Command| !inner.is_hide_set() && inner.get_name() != "help";
    for inner in command.get_subcommands().filter(is_shown) {
        count += write_pages(inner, dir)?;
    }
    Ok(count)
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let mut page = vec![];
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Error::system("cannot make the page", error))?;
    Ok(page)
}
