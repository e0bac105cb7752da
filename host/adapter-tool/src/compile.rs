//! From a component to machine code.

use hookhost::adapter::wasm::{compile_target, engine_config};
use hookhost::error::{Error, ErrorKind, Result};
use wasmtime::Engine;

/// Code for this system that every processor of its kind can run, and that hookhost can load.
///
/// # Errors
/// The component is not valid, or uses something of WebAssembly that adapters are not given.
pub fn compile(component: &[u8]) -> Result<Vec<u8>> {
    compiled(component).map_err(|error| {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        Error::new(
            ErrorKind::Input,
            format!("the component cannot be compiled: {}", causes.join(": ")),
        )
    })
}

fn compiled(component: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let mut config = engine_config();
    config.target(&compile_target(std::env::consts::ARCH, std::env::consts::OS))?;
    Engine::new(&config)?.precompile_component(component)
}
