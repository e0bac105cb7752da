//! Installing, and what becomes of installed code when it is changed or hookhost is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::guest;

/// A home of our own for one test.
struct Home(tempfile::TempDir);

/// What a run of the program said.
struct Ran {
    good: bool,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let output = guest::tool()
            .args(arguments)
            .current_dir(self.0.path())
            .env("HOOKHOST_HOME", self.0.path())
            .output()
            .unwrap();
        Ran {
            good: output.status.success(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn good(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert!(ran.good, "{arguments:?}: {}{}", ran.out, ran.err);
        ran.out
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert!(!ran.good, "{arguments:?}: {}", ran.out);
        ran.out + &ran.err
    }

    fn adapters(&self) -> PathBuf {
        self.0.path().join("data/adapters")
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.adapters())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn code_file(&self) -> PathBuf {
        let is_code = |name: &String| name.ends_with(".cwasm");
        self.adapters().join(self.files().into_iter().find(is_code).unwrap())
    }
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

#[test]
fn what_is_installed_is_found_by_name_and_alias_until_it_is_removed() {
    let home = Home::new();
    let module = guest::module("hostile");
    let said = home.good(&["install", path(&module)]);
    assert!(said.starts_with("hostile is installed (sha256:"), "{said}");
    for name in ["hostile", "hostile-alias"] {
        assert!(home.good(&["info", name]).contains("Does what no adapter should"));
    }
    assert!(home.good(&["list"]).contains("hostile"));
    assert_eq!(home.good(&["remove", "hostile"]), "hostile is removed\n");
    assert_eq!(home.files(), Vec::<String>::new());
    assert!(
        home.refused(&["info", "hostile-alias"])
            .contains("there is no such adapter")
    );
    assert!(
        home.refused(&["remove", "hostile"])
            .contains("no adapter hostile is installed")
    );
}

#[test]
fn installing_again_replaces_the_adapter() {
    let home = Home::new();
    let module = guest::module("hostile");
    home.good(&["install", path(&module)]);
    home.good(&["install", path(&module)]);
    let files = home.files();
    let code = home.code_file().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(files, [&code, "hostile-alias.lock", "hostile.lock", "hostile.wasm"]);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_reach_installed_code() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    fs::create_dir_all(home.adapters()).unwrap();
    fs::set_permissions(home.adapters(), fs::Permissions::from_mode(0o777)).unwrap();
    home.good(&["install", path(&guest::module("hostile"))]);
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.adapters()), 0o700);
    assert_eq!(mode(&home.code_file()), 0o600);
}

#[test]
fn damaged_code_is_refused_and_made_anew_by_check() {
    let home = Home::new();
    home.good(&["install", path(&guest::module("hostile"))]);
    let whole = fs::read(home.code_file()).unwrap();
    fs::write(home.code_file(), &whole[..whole.len() / 2]).unwrap();
    let said = home.refused(&["info", "hostile"]);
    assert!(
        said.contains("has been changed") && said.contains("hookhost adapter check"),
        "{said}"
    );
    let said = home.good(&["check"]);
    assert!(said.contains("compiled again"), "{said}");
    home.good(&["info", "hostile"]);
    assert!(home.good(&["check", "hostile"]).contains("ready"));
}

#[test]
fn code_of_another_hookhost_is_refused_and_made_anew_by_check() {
    let home = Home::new();
    home.good(&["install", path(&guest::module("hostile"))]);
    let lock_file = home.adapters().join("hostile.lock");
    let lock = fs::read_to_string(&lock_file).unwrap();
    let version = hookhost::adapter::wasm::WASMTIME_VERSION;
    fs::write(&lock_file, lock.replace(version, "1.0.0")).unwrap();
    let said = home.refused(&["list"]);
    assert!(said.contains("compiled by another hookhost"), "{said}");
    home.good(&["check"]);
    assert!(fs::read_to_string(&lock_file).unwrap().contains(version));
    home.good(&["info", "hostile"]);
}

#[test]
fn a_component_that_was_exchanged_is_not_compiled() {
    let home = Home::new();
    home.good(&["install", path(&guest::module("hostile"))]);
    let lock_file = home.adapters().join("hostile.lock");
    let lock = fs::read_to_string(&lock_file).unwrap();
    fs::write(&lock_file, lock.replace("\"wasmtime\": \"", "\"wasmtime\": \"old-")).unwrap();
    fs::copy(guest::module("minimal-adapter"), home.adapters().join("hostile.wasm")).unwrap();
    let said = home.refused(&["check"]);
    assert!(said.contains("not the one that was installed"), "{said}");
}

#[test]
fn check_says_what_an_adapter_imports_and_does() {
    let home = Home::new();
    let report = home.good(&["check", "--json", path(&guest::module("foreign-import"))]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["contract"], "0.1");
    let trapped: Vec<&str> = report["imports"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|import| import["trapped"] == true)
        .map(|import| import["name"].as_str().unwrap())
        .collect();
    assert_eq!(trapped, ["wasi:random/random@0.2.0"]);
    let parses = report["operations"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "parse Pure");
    assert_eq!(parses.unwrap()["outcome"], "answered");
    let text = home.good(&["check", path(&guest::module("foreign-import"))]);
    assert!(text.contains("not given to adapters"), "{text}");
}

#[test]
fn the_example_passes_the_check() {
    let report = Home::new().good(&["check", path(&guest::module("minimal-adapter"))]);
    assert!(!report.contains("problem"), "{report}");
}

#[test]
fn what_is_no_adapter_is_refused_with_what_it_is() {
    let home = Home::new();
    let file = home.0.path().join("x.wasm");
    for (bytes, said) in [
        (&b"\x7fELF\x02\x01\x01"[..], "machine code"),
        (b"hello", "no WebAssembly"),
        (b"\0asm\x01\0\0\0", "it is no adapter"),
    ] {
        fs::write(&file, bytes).unwrap();
        for command in ["check", "install"] {
            let answer = home.refused(&[command, path(&file)]);
            assert!(answer.contains(said), "{command}: {answer}");
        }
    }
    assert!(
        home.refused(&["check", "missing.wasm"])
            .contains("cannot read missing.wasm")
    );
}

#[test]
fn a_new_adapter_builds_and_passes_the_check() {
    let home = Home::new();
    let said = home.good(&["new", "some-agent"]);
    assert!(said.contains("some_agent.wasm"), "{said}");
    assert!(home.refused(&["new", "some-agent"]).contains("is there already"));
    assert!(home.refused(&["new", "Some_Agent"]).contains("is no name"));
    let folder = home.0.path().join("some-agent");
    // The versions that this workspace is known to build with, without asking the network.
    fs::copy(guest::root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let cargo = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO"))
            .args(arguments)
            .arg("--offline")
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", guest::target_dir())
            .env("CARGO_ENCODED_RUSTFLAGS", "")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    cargo(&["test"]);
    cargo(&["build", "--release", "--target", "wasm32-unknown-unknown"]);
    let module = guest::target_dir().join("wasm32-unknown-unknown/release/some_agent.wasm");
    assert!(home.good(&["check", path(&module)]).contains("some-agent"));
    let toolchain = fs::read_to_string(folder.join("rust-toolchain.toml")).unwrap();
    assert!(toolchain.contains("wasm32-unknown-unknown"), "{toolchain}");
    home.good(&["install", path(&module)]);
    let info = home.good(&["info", "some-agent"]);
    assert!(info.contains("UserPrompt = user-prompt: TurnStart"), "{info}");
}
