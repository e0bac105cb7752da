//! What adapters there are, and what one says about itself.

use std::path::Path;

use hookhost::adapter::registry::{self, Found, Origin};
use hookhost::config::Config;
use hookhost::error::Result;
use hookhost::model::{Base, Capabilities, EventKind, Place};
use serde::Serialize;

use crate::check;

/// One adapter of the list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    /// `built-in`, `installed` or `native`.
    pub(crate) origin: &'static str,
    /// Runs in the sandbox.
    pub(crate) confined: bool,
    pub(crate) digest: Option<String>,
    /// Why it cannot be used.
    pub(crate) problem: Option<String>,
}

/// What one adapter says about itself.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Info {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) display_name: String,
    pub(crate) description: String,
    pub(crate) is_preview: bool,
    pub(crate) origin: &'static str,
    /// Runs in the sandbox.
    pub(crate) confined: bool,
    /// The file that the user named, when it is not built in or installed.
    pub(crate) file: Option<String>,
    pub(crate) digest: String,
    pub(crate) hooks: Vec<HookLine>,
    pub(crate) capabilities: Vec<&'static str>,
    pub(crate) environment: Vec<String>,
    pub(crate) presence: Vec<String>,
    pub(crate) protected: Vec<String>,
    pub(crate) quirks: Vec<Quirk>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct HookLine {
    pub(crate) native: String,
    pub(crate) alias: String,
    pub(crate) registered: bool,
    /// The events that its payloads can give, by name.
    pub(crate) events: Vec<&'static str>,
}

/// Something that the agent does and that one would not expect.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Quirk {
    pub(crate) id: String,
    pub(crate) versions: String,
    pub(crate) hook: String,
    pub(crate) behaviour: String,
    /// What the adapter does about it.
    pub(crate) response: String,
    /// The fixture that shows it.
    pub(crate) fixture: String,
}

pub(crate) fn list() -> Result<Vec<Line>> {
    let config = Config::load()?;
    let lines = registry::all(&config).into_iter().map(|found| match found {
        Ok(found) => Line {
            origin: found.origin.word(),
            confined: found.origin.is_confined(),
            digest: Some(found.digest),
            name: found.name,
            aliases: found.aliases,
            problem: None,
        },
        Err(error) => {
            let is_native = config.native.contains_key(&error.adapter);
            Line {
                origin: if is_native { "native" } else { "installed" },
                confined: !is_native,
                name: error.adapter,
                aliases: Vec::new(),
                digest: None,
                problem: Some(error.message),
            }
        }
    });
    Ok(lines.collect())
}

/// `which` is a name, or a file with a component.
pub(crate) fn info(which: &str) -> Result<Info> {
    let config = Config::load()?;
    let found = if which.contains(['/', '\\', '.']) {
        check::precompile(Path::new(which))?;
        registry::of_file(Path::new(which))?
    } else {
        registry::find(which, &config)?
    };
    let description = found.load(which, config.limits())?.describe()?;
    Ok(Info {
        name: description.name,
        aliases: description.aliases,
        display_name: description.display_name,
        description: description.description,
        is_preview: description.is_preview,
        origin: found.origin.word(),
        confined: found.origin.is_confined(),
        file: file(&found),
        digest: found.digest,
        hooks: description
            .hook_names
            .into_iter()
            .map(|hook| HookLine {
                native: hook.native,
                alias: hook.alias,
                registered: hook.registered,
                events: hook.events.into_iter().map(EventKind::name).collect(),
            })
            .collect(),
        capabilities: claimed(description.capabilities),
        environment: description.env,
        presence: description.presence.iter().map(place).collect(),
        protected: [description.protected_dirs, description.protected_files].concat(),
        quirks: match found.origin {
            Origin::Builtin => quirks(&found.name),
            Origin::User(_) | Origin::File(_) | Origin::Native(_) => vec![],
        },
    })
}

/// The quirks that a built-in adapter's folder tells of. A component that was installed brings none along.
fn quirks(adapter: &str) -> Vec<Quirk> {
    #[cfg(feature = "builtin")]
    let all = hookhost_bundle::QUIRKS;
    #[cfg(not(feature = "builtin"))]
    let all: &[(&str, &str)] = &[];
    let text = all.iter().find(|(name, _)| *name == adapter).map(|(_, text)| *text);
    let document: toml_edit::DocumentMut = text.unwrap_or_default().parse().unwrap_or_default();
    let tables = document.get("quirk").and_then(toml_edit::Item::as_array_of_tables);
    let quirk = |table: &toml_edit::Table| {
        let field = |key: &str| {
            table
                .get(key)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
                .to_owned()
        };
        Quirk {
            id: field("id"),
            versions: field("versions"),
            hook: field("hook"),
            behaviour: field("behaviour"),
            response: field("response"),
            fixture: field("fixture"),
        }
    };
    tables.into_iter().flatten().map(quirk).collect()
}

fn file(found: &Found) -> Option<String> {
    match &found.origin {
        Origin::Builtin | Origin::User(_) => None,
        Origin::File(file) | Origin::Native(file) => Some(file.display().to_string()),
    }
}

fn claimed(capabilities: Capabilities) -> Vec<&'static str> {
    [
        (capabilities.hooks, "hooks"),
        (capabilities.transcript_analyzer, "transcript-analyzer"),
        (capabilities.transcript_preparer, "transcript-preparer"),
        (capabilities.token_calculator, "token-calculator"),
        (capabilities.compact_transcript, "compact-transcript"),
        (capabilities.text_generator, "text-generator"),
        (capabilities.hook_response_writer, "hook-response-writer"),
        (capabilities.subagent_aware_extractor, "subagent-aware-extractor"),
        (capabilities.uses_terminal, "uses-terminal"),
        (capabilities.streaming_text_generator, "streaming-text-generator"),
    ]
    .into_iter()
    .filter_map(|(claimed, name)| claimed.then_some(name))
    .collect()
}

fn place(place: &Place) -> String {
    match &place.base {
        Base::Repo => place.path.clone(),
        Base::Home => format!("~/{}", place.path),
        Base::Program => format!("{} on PATH", place.path),
        Base::Root => place.path.clone(),
        Base::Env(variable) => format!("${variable}/{}", place.path),
    }
}
