//! The first files of an adapter.

use std::fs;
use std::path::{Path, PathBuf};

use hookhost::adapter::registry;
use hookhost::error::{Error, Result};

const LIB: &str = include_str!("new/lib.rs.txt");
const MANIFEST: &str = include_str!("new/Cargo.toml.txt");
const MEMBER_MANIFEST: &str = include_str!("new/Cargo.member.toml.txt");
/// The compiler and the target that the SDK is known to build with: what else stands on the author's machine may be
/// older, or make no components.
const TOOLCHAIN: &str = include_str!("../../../rust-toolchain.toml");

/// Writes the crate into a new folder of the adapter's name, and says what to do with it.
pub(crate) fn create(name: &str, sdk: Option<&Path>) -> Result<String> {
    if !registry::is_name(name) {
        return Err(Error::usage(format!(
            "{name:?} is no name: lower case letters, digits and hyphens"
        )));
    }
    let folder = PathBuf::from(name);
    if folder.exists() {
        return Err(Error::usage(format!("{name} is there already")));
    }
    // Beside hookhost's own adapters, the workspace has the versions, the lints and the SDK.
    let is_member = Path::new("hookhost-sdk/Cargo.toml").is_file() && Path::new("../Cargo.toml").is_file();
    let manifest = match is_member {
        true => MEMBER_MANIFEST.to_owned(),
        false => MANIFEST.replace("{sdk}", &sdk_folder(sdk)?),
    };
    let type_name = type_name(name);
    let mut files = vec![("Cargo.toml", manifest.as_str()), ("src/lib.rs", LIB)];
    if !is_member {
        files.push(("rust-toolchain.toml", TOOLCHAIN));
    }
    for (file, content) in files {
        let content = content.replace("{name}", name).replace("{type}", &type_name);
        let path = folder.join(file);
        let written = fs::create_dir_all(path.parent().unwrap_or(&folder)).and_then(|()| fs::write(&path, content));
        written.map_err(|error| Error::system(format!("cannot write {}", path.display()), error))?;
    }
    Ok(next_steps(name, is_member))
}

fn sdk_folder(given: Option<&Path>) -> Result<String> {
    let folder = match given {
        Some(folder) => folder.to_owned(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/hookhost-sdk"),
    };
    match folder.canonicalize() {
        Ok(folder) if folder.join("Cargo.toml").is_file() => Ok(folder.display().to_string().replace('\\', "/")),
        _ => Err(Error::usage(format!("hookhost-sdk is not in {}", folder.display()))
            .hint("clone hookhost and give its folder: --sdk <clone>/adapters/hookhost-sdk")),
    }
}

fn next_steps(name: &str, is_member: bool) -> String {
    if is_member {
        return format!(
            "{name} is begun. Next:\n  cargo test -p hookhost-{name}\n  then CONTRIBUTING.md, `Add an agent`\n"
        );
    }
    let module = name.replace('-', "_");
    format!(
        "{name} is begun. Next:\n  cd {name}\n  cargo test\n  cargo build --release --target wasm32-unknown-unknown\n  \
         hookhost adapter check target/wasm32-unknown-unknown/release/{module}.wasm\n  \
         hookhost adapter install target/wasm32-unknown-unknown/release/{module}.wasm\n"
    )
}

/// `gemini-cli` is the type `GeminiCli`.
fn type_name(name: &str) -> String {
    let mut type_name = String::new();
    for word in name.split('-') {
        let mut letters = word.chars();
        if let Some(first) = letters.next() {
            if type_name.is_empty() && first.is_ascii_digit() {
                type_name.push_str("Agent");
            }
            type_name.push(first.to_ascii_uppercase());
            type_name.push_str(letters.as_str());
        }
    }
    type_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_makes_a_type() {
        assert_eq!(type_name("gemini-cli"), "GeminiCli");
        assert_eq!(type_name("pi"), "Pi");
        assert_eq!(type_name("7up"), "Agent7up");
    }
}
