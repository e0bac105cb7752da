//! Builds the guests of `tests/guests`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hookhost::adapter::wasm::{self, Code};
use hookhost::adapter::{Adapter, Limits};
use hookhost_adapter::compile::compile;
use hookhost_adapter::component::Component;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The program under test.
pub(crate) fn tool() -> Command {
    Command::new(env!("CARGO_BIN_EXE_hookhost-adapter"))
}

/// A target folder of the guests' own, beside the profile's folder that this test was built in.
pub(crate) fn target_dir() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_hookhost-adapter"));
    program.parent().unwrap().parent().unwrap().join("guests")
}

/// The core module of a guest.
pub(crate) fn module(package: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let target_dir = target_dir();
        let packages = ["hostile", "foreign-import", "minimal-adapter"];
        let output = Command::new(env!("CARGO"))
            .current_dir(root())
            .args([
                "build",
                "--target",
                "wasm32-unknown-unknown",
                "--profile",
                "adapter",
                "--target-dir",
            ])
            .arg(&target_dir)
            .args(packages.iter().flat_map(|package| ["-p", package]))
            .env("CARGO_ENCODED_RUSTFLAGS", "")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        target_dir.join("wasm32-unknown-unknown/adapter")
    });
    folder.join(format!("{}.wasm", package.replace('-', "_")))
}

/// The guest's adapter, compiled once.
pub(crate) fn load(package: &str, limits: Limits) -> Box<dyn Adapter> {
    wasm::load(package, &Code::File(code_file(package)), limits).unwrap()
}

fn code_file(package: &str) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    static WRITING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let file = FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path().join(package);
    if !file.exists() {
        let component = Component::read(&module(package)).unwrap();
        std::fs::write(&file, compile(&component.bytes).unwrap()).unwrap();
    }
    file
}
