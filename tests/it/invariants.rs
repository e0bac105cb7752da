//! What must not be there, read off the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hookhost_bundle::BUILTINS;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) fn sources(dir: &Path) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("tests") {
                continue;
            }
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {}", dir.display());
    found
}

/// A source without its tests and without comments.
pub(crate) fn shipped(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether `text` holds `word` with nothing around it that belongs to a name.
fn names(text: &str, word: &str) -> bool {
    let belongs =
        |character: Option<char>| character.is_some_and(|character| character.is_alphanumeric() || character == '_');
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !belongs(before) && !belongs(after)
    })
}

/// Words of a language or a trade that are also an agent's name.
const ALSO_A_WORD: &[&str] = &["cursor", "pi", "amp", "augment", "goose", "hh", "hm"];

/// Formats that `export` writes; the adapters that read them have the same names.
const FORMATS: &[&str] = &["hm", "hh", "hast"];

#[test]
fn the_host_names_no_agent() {
    for (file, text) in sources(&root().join("host/src")) {
        let text = shipped(&text).to_lowercase();
        let is_export = file.contains("/export");
        for adapter in BUILTINS
            .iter()
            .filter(|adapter| !is_export || !FORMATS.contains(&adapter.name))
        {
            for name in [adapter.name].iter().chain(adapter.aliases) {
                let in_quotes = text.contains(&format!("\"{name}\""));
                let as_word = !ALSO_A_WORD.contains(name) && names(&text, name);
                assert!(!in_quotes && !as_word, "{file} names {name}");
            }
        }
    }
}

#[test]
fn one_module_writes_to_stdout_and_stderr() {
    for (file, text) in sources(&root().join("host/src")) {
        let text = shipped(&text);
        for call in ["println!", "print!(", "eprint!(", "io::stdout", "io::stderr", "dbg!"] {
            assert!(
                file.ends_with("host/src/output.rs") || !text.contains(call),
                "{file} has {call}"
            );
        }
    }
}

#[test]
fn unsafe_code_stands_in_the_named_modules_only() {
    const NAMED: &[&str] = &[
        "host/src/adapter/native/image.rs",
        "host/src/adapter/native/library.rs",
        "host/src/adapter/wasm/deadline.rs",
        "host/src/adapter/wasm/precompiled.rs",
        "host/src/commands/hook/last_words.rs",
        "host/src/heap.rs",
        "host/src/output/exit.rs",
    ];
    let mut having = BTreeSet::new();
    for dir in ["host/src", "host/adapter-tool/src"] {
        for (file, text) in sources(&root().join(dir)) {
            if shipped(&text).contains("unsafe {") || shipped(&text).contains("unsafe extern") {
                having.insert(file);
            }
        }
    }
    let unnamed: Vec<_> = having.iter().filter(|file| !NAMED.contains(&file.as_str())).collect();
    assert!(unnamed.is_empty(), "unsafe code in {unnamed:?}");
}

#[test]
fn every_adapter_has_fixtures_facts_and_quirks() {
    let folders: BTreeSet<String> = fs::read_dir(root().join("adapters"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("hookhost-"))
        .collect();
    let built: BTreeSet<String> = BUILTINS.iter().map(|adapter| adapter.name.to_owned()).collect();
    assert_eq!(folders, built, "a folder, a package and an adapter have the same name");
    let fixtures: BTreeSet<String> = fs::read_dir(root().join("tests/fixtures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        folders, fixtures,
        "every adapter has fixtures, and all fixtures are some adapter's"
    );
    for name in folders {
        let adapter = root().join("adapters").join(&name);
        for file in ["README.md", "quirks.toml"] {
            assert!(adapter.join(file).is_file(), "adapters/{name}/{file} is missing");
        }
        for part in ["payloads", "transcripts"] {
            let dir = root().join("tests/fixtures").join(&name).join(part);
            assert!(
                fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()),
                "{} is empty",
                dir.display()
            );
        }
    }
}

#[test]
fn adapters_use_the_sdk_and_nothing_else() {
    for adapter in BUILTINS {
        let manifest = fs::read_to_string(root().join("adapters").join(adapter.name).join("Cargo.toml")).unwrap();
        let manifest: toml_edit::DocumentMut = manifest.parse().unwrap();
        let used: Vec<_> = manifest["dependencies"]
            .as_table()
            .unwrap()
            .iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(used, ["hookhost-sdk"], "adapters/{}/Cargo.toml", adapter.name);
    }
}

#[test]
fn every_quirk_is_whole_and_names_a_fixture_that_is_there() {
    for adapter in BUILTINS {
        let file = format!("adapters/{}/quirks.toml", adapter.name);
        let quirks: toml_edit::DocumentMut = fs::read_to_string(root().join(&file)).unwrap().parse().unwrap();
        let quirks = quirks["quirk"].as_array_of_tables().unwrap();
        assert!(!quirks.is_empty(), "{file} has no quirks");
        let mut ids = BTreeSet::new();
        for quirk in quirks {
            for key in ["id", "versions", "hook", "behaviour", "response", "fixture"] {
                let value = quirk.get(key).and_then(|value| value.as_str()).unwrap_or_default();
                assert!(!value.is_empty(), "{file}: a quirk without {key}");
            }
            assert!(
                ids.insert(quirk["id"].as_str().unwrap().to_owned()),
                "{file}: two quirks with one id"
            );
            // Beside the adapter's other fixtures, or a scenario in its own folder.
            let fixture = quirk["fixture"].as_str().unwrap();
            let is_there = |place: &str| root().join(place).join(adapter.name).join(fixture).exists();
            assert!(
                is_there("tests/fixtures") || is_there("adapters"),
                "{file}: {fixture} is not there"
            );
        }
    }
}
