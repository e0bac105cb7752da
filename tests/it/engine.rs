//! The engine with the adapters that hookhost brings along.

use std::path::Path;

use hookhost::adapter::registry::{self, Origin};
use hookhost::adapter::{Adapter, FailureKind, Limits, ReadingStart};
use hookhost::config::Config;
use hookhost::model::{Context, Platform};
use hookhost_bundle::{BUILTINS, COMPONENT_DIR};
use wasmparser::{Parser, Payload};

pub(crate) fn context() -> Context {
    Context {
        repo_root: Some("/home/dev/project".to_owned()),
        cwd: Some("/home/dev/project".to_owned()),
        home: Some("/home/dev".to_owned()),
        platform: Platform::Linux,
        received_at: "2026-01-02T03:04:05.678Z".to_owned(),
        env: vec![],
        files: vec![],
        snapshots: None,
    }
}

fn builtin(name: &str) -> Box<dyn Adapter> {
    registry::find(name, &Config::default())
        .unwrap()
        .load(name, Limits::default())
        .unwrap()
}

#[test]
fn every_built_in_adapter_is_found_under_all_its_names_and_describes_itself() {
    for adapter in BUILTINS {
        let description = builtin(adapter.name).describe().unwrap();
        assert_eq!(description.name, adapter.name);
        assert_eq!(description.aliases, adapter.aliases);
        assert_eq!(description.env, adapter.env);
        for alias in adapter.aliases {
            let found = registry::find(alias, &Config::default()).unwrap();
            assert_eq!((found.name.as_str(), found.origin), (adapter.name, Origin::Builtin));
        }
    }
}

#[test]
fn built_in_adapters_import_nothing_but_the_contract() {
    for adapter in BUILTINS {
        let component = std::fs::read(Path::new(COMPONENT_DIR).join(format!("{}.wasm", adapter.name))).unwrap();
        for name in imports(&component) {
            assert!(
                name.starts_with("hookhost:adapter/log@") || name.starts_with("hookhost:adapter/types@"),
                "{} imports {name}",
                adapter.name
            );
        }
    }
}

/// The names that a component itself imports, without those of the modules in it.
fn imports(component: &[u8]) -> Vec<String> {
    let mut depth = 0;
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        match payload.unwrap() {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 0 => {
                names.extend(section.into_iter().map(|import| import.unwrap().name.name.to_owned()));
            }
            _ => {}
        }
    }
    names
}

#[test]
fn a_payload_that_is_no_object_is_malformed_and_the_adapter_goes_on() {
    for adapter in BUILTINS {
        let mut adapter = builtin(adapter.name);
        let hook = adapter.describe().unwrap().hook_names.first().unwrap().native.clone();
        let error = adapter.parse(&hook, "not json", &context()).unwrap_err();
        assert_eq!(error.kind, FailureKind::Malformed, "{error}");
        assert_eq!(adapter.parse("NoSuchHook", "{}", &context()).unwrap(), vec![]);
    }
}

#[test]
fn an_empty_transcript_has_no_entries() {
    for adapter in BUILTINS {
        let mut adapter = builtin(adapter.name);
        let read = adapter.reading(ReadingStart::default()).and_then(|mut reading| {
            let mut entries = reading.push(b"")?;
            entries.extend(reading.finish()?);
            Ok((entries, reading.position()?))
        });
        match read {
            Ok((entries, position)) => assert_eq!((entries.len(), position), (0, 0)),
            Err(error) => assert_eq!(error.kind, FailureKind::Unsupported, "{error}"),
        }
    }
}
