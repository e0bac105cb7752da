//! Adapters in the sandbox. The one door to wasmtime.
//!
//! [`load`] recognises the contract line by the names that a component exports, before any of its code runs, and hands
//! it to that line's file, which converts to the host's model. `sandbox` runs calls within their limits,
//! `precompiled` loads code, `deadline` keeps time.

mod deadline;
mod engine_config;
mod precompiled;
mod sandbox;
pub(super) mod v0_1;

use std::path::PathBuf;

use super::contract::{CONTRACT_LINES, in_common};
use super::{Adapter, AdapterError, Answer, FailureKind, Limits};

pub use engine_config::{CONFIG_ID, WASMTIME_VERSION, compile_target, engine_config};

/// A component that was compiled by the engine of this version and configuration.
#[derive(Clone, Debug)]
pub enum Code {
    /// Part of the program. Begins at a page boundary.
    Embedded(&'static [u8]),
    /// A file that `hookhost-adapter` wrote.
    File(PathBuf),
}

/// Makes an adapter of compiled code. Nothing of the adapter runs yet.
///
/// # Errors
/// [`FailureKind::Load`] for code that the engine does not take, [`FailureKind::Contract`] for a component of a contract
/// line that this host does not know.
pub fn load(name: &str, code: &Code, limits: Limits) -> Answer<Box<dyn Adapter>> {
    let component = precompiled::component(code).map_err(|error| {
        let remedy = match code {
            Code::Embedded(_) => "this hookhost is damaged; install it again",
            Code::File(_) => "compile it again: hookhost adapter check",
        };
        AdapterError {
            adapter: name.to_owned(),
            kind: FailureKind::Load,
            message: format!(
                "its compiled code cannot be loaded ({}). {remedy}",
                sandbox::on_one_line(&error)
            ),
        }
    })?;
    let may_import_more = matches!(code, Code::File(_));
    if v0_1::is_spoken_by(&component) {
        return Ok(Box::new(v0_1::WasmAdapter::new(
            name,
            component,
            limits,
            may_import_more,
        )));
    }
    let exports = component.component_type();
    let names = exports.exports(component.engine()).map(|(name, _)| name);
    Err(AdapterError {
        adapter: name.to_owned(),
        kind: FailureKind::Contract,
        message: contract_line(names).err().unwrap_or_default(),
    })
}

/// The contract line of a component that exports these names.
///
/// # Errors
/// A sentence that names both sides' lines, when they have none in common.
pub fn contract_line<'a>(exports: impl Iterator<Item = &'a str>) -> Result<&'static str, String> {
    in_common(&exports.filter_map(line_of).collect()).unwrap_or_else(|| {
        let known = CONTRACT_LINES.join(", ");
        Err(format!(
            "it exports no interface of hookhost:adapter, so it is no adapter (this hookhost speaks contract {known})"
        ))
    })
}

/// `0.1` of `hookhost:adapter/hooks@0.1.3`; from 1.0 on, the first number alone is the line.
fn line_of(export: &str) -> Option<String> {
    let (_, version) = export.strip_prefix("hookhost:adapter/")?.split_once('@')?;
    let mut numbers = version.split(['.', '-', '+']);
    match (numbers.next()?, numbers.next()?) {
        ("0", minor) => Some(format!("0.{minor}")),
        (major, _) => Some(major.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_an_export_is_the_part_of_the_version_that_breaks() {
        assert_eq!(line_of("hookhost:adapter/hooks@0.1.7").as_deref(), Some("0.1"));
        assert_eq!(line_of("hookhost:adapter/hooks@0.2.0-draft").as_deref(), Some("0.2"));
        assert_eq!(line_of("hookhost:adapter/hooks@2.3.1").as_deref(), Some("2"));
        assert_eq!(line_of("wasi:cli/run@0.2.0"), None);
        assert_eq!(line_of("hookhost:adapter/hooks"), None);
    }

    #[test]
    fn both_sides_lines_are_named_when_they_differ() {
        let names = |line: &'static str| ["wasi:cli/run@0.2.0", line].into_iter();
        assert_eq!(contract_line(names("hookhost:adapter/identity@0.1.0")), Ok("0.1"));
        let message = contract_line(names("hookhost:adapter/identity@0.9.0")).unwrap_err();
        assert!(
            message.contains("speaks contract 0.9") && message.contains("speaks 0.1"),
            "{message}"
        );
        assert!(contract_line(names("x:y/z@1.0.0")).unwrap_err().contains("no adapter"));
    }

    #[test]
    fn the_version_that_lock_files_record_is_the_one_that_is_linked() {
        let lock = include_str!("../../../Cargo.lock");
        let entry = format!("name = \"wasmtime\"\nversion = \"{WASMTIME_VERSION}\"");
        assert!(lock.contains(&entry), "{entry}");
    }
}
