//! Adapters built as libraries, for the tests of both programs.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hookhost::config::{Config, NativeAdapter};
use sha2::{Digest, Sha256};

/// The library of a package, built once, in a target folder of the libraries' own.
pub(crate) fn library(package: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let target_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-adapters");
        let packages = ["minimal-adapter", "hookhost-claude-code", "hostile"];
        let output = Command::new(env!("CARGO"))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .args(["build", "--lib", "--config", "profile.dev.debug=false", "--target-dir"])
            .arg(&target_dir)
            .args(packages.iter().flat_map(|package| ["-p", package]))
            .env("CARGO_ENCODED_RUSTFLAGS", "")
            .env_remove("CARGO_BUILD_TARGET")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        target_dir.join("debug")
    });
    folder.join(format!("{DLL_PREFIX}{}{DLL_SUFFIX}", package.replace('-', "_")))
}

/// The table of the settings that has an adapter loaded from this library.
pub(crate) fn table(adapter: &str, library: &Path, sha256: &str) -> String {
    format!(
        "[native.{adapter}]\nfile = '{}'\nsha256 = '{sha256}'\n",
        library.display()
    )
}

pub(crate) fn digest(library: &Path) -> String {
    let bytes = std::fs::read(library).unwrap();
    let digest = Sha256::digest(&bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Settings of the user's own that name these libraries with these digests.
pub(crate) fn settings(folder: &Path, named: &[(&str, &Path, &str)]) -> Config {
    let file = folder.join("config.toml");
    std::fs::write(&file, "").unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let native = named.iter().map(|(adapter, library, sha256)| {
        let named = NativeAdapter {
            file: library.to_path_buf(),
            sha256: (*sha256).to_owned(),
        };
        ((*adapter).to_owned(), named)
    });
    let native = native.collect();
    let mut config = Config::default();
    config.file = Some(file);
    config.native = native;
    config
}
