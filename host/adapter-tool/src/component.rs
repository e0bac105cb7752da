//! What a file holds, before any of it is compiled.

use std::fmt::Write as _;
use std::path::Path;

use hookhost::error::{Error, Result};
use hookhost::regular;
use sha2::{Digest, Sha256};
use wasmparser::{Parser, Payload};

/// No adapter is as large.
const SIZE_LIMIT: u64 = 256 << 20;

const CORE_MODULE: &[u8] = b"\0asm\x01\0\0\0";
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const ELF: &[u8] = b"\x7fELF";

/// A component and what it says about itself by the names it imports and exports.
#[derive(Clone, Debug)]
pub struct Component {
    /// The component, binary.
    pub bytes: Vec<u8>,
    /// Names that it imports.
    pub imports: Vec<String>,
    /// Names that it exports.
    pub exports: Vec<String>,
}

impl Component {
    /// The component in a file. A core module that was built against the contract is made a component.
    ///
    /// # Errors
    /// The file cannot be read or holds no WebAssembly.
    pub fn read(file: &Path) -> Result<Self> {
        let bytes = regular::read(file, SIZE_LIMIT)
            .map_err(|error| Error::system(format!("cannot read {}", file.display()), error))?;
        Self::of(bytes).map_err(|reason| Error::input(format!("{}: {reason}", file.display())))
    }

    /// The component in these bytes.
    ///
    /// # Errors
    /// Why they hold none.
    pub fn of(bytes: Vec<u8>) -> Result<Self, String> {
        let bytes = if bytes.starts_with(COMPONENT) {
            bytes
        } else if bytes.starts_with(CORE_MODULE) {
            wrapped(&bytes)?
        } else if bytes.starts_with(ELF) {
            return Err(
                "this is machine code. hookhost takes components only, and compiles them itself; a library is named in \
                 the settings, under [native.<adapter>], and never installed"
                    .to_owned(),
            );
        } else {
            return Err("this is no WebAssembly".to_owned());
        };
        let (imports, exports) = names(&bytes).map_err(|error| format!("this is no valid component: {error}"))?;
        Ok(Self {
            bytes,
            imports,
            exports,
        })
    }

    /// `sha256:` and hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&self.bytes)
    }

    /// The imports that the contract does not define. hookhost lets nothing stand behind them: using one is a crash.
    #[must_use]
    pub fn foreign_imports(&self) -> Vec<&str> {
        let foreign = |name: &&str| !name.starts_with("hookhost:adapter/");
        self.imports.iter().map(String::as_str).filter(foreign).collect()
    }
}

/// `sha256:` and hexadecimal digits.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold("sha256:".to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn wrapped(module: &[u8]) -> Result<Vec<u8>, String> {
    wit_component::ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| format!("this core module cannot be made a component: {error:#}"))
}

/// The names that the component itself imports and exports, without those of the parts in it.
fn names(component: &[u8]) -> wasmparser::Result<(Vec<String>, Vec<String>)> {
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok((imports, exports))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_component_is_refused_with_what_it_is() {
        for (bytes, said) in [
            (&b""[..], "no WebAssembly"),
            (b"#!/bin/sh", "no WebAssembly"),
            (b"\x7fELF\x02\x01", "machine code"),
            (b"\0asm\x01\0\0", "no WebAssembly"),
            (b"\0asm\x0d\0\x01\0\xff\xff", "no valid component"),
        ] {
            let reason = Component::of(bytes.to_vec()).unwrap_err();
            assert!(reason.contains(said), "{bytes:?}: {reason}");
        }
    }

    #[test]
    fn an_empty_module_becomes_a_component_without_names() {
        let component = Component::of(CORE_MODULE.to_vec()).unwrap();
        assert!(component.imports.is_empty() && component.exports.is_empty());
    }

    #[test]
    fn a_digest_is_that_of_the_bytes() {
        assert_eq!(
            digest(b"abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
