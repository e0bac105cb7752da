//! `config`

use schemars::JsonSchema;
use serde::Serialize;

use super::Output;
use crate::config::{Config, KEYS, NativeAdapter, Origin, Value};
use crate::error::Result;
use crate::format::style::{Look, Style};

/// How wide the explanations are.
const WIDTH: usize = 100;

/// Show the settings that hold
///
/// Settings stand in config.toml in the config folder, or in the file that HOOKHOST_CONFIG names. Each can be overridden
/// by a variable: HOOKHOST_ and its name in capitals, `_` for the dot.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Explain every setting, as a file that can be used as it is
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    /// JSON for programs
    #[arg(long)]
    json: bool,
}

/// The settings that hold.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConfigJson {
    /// The version of this object; fields are only added under it.
    v: u32,
    /// The file that is read, whether it is there or not.
    file: Option<String>,
    /// All settings.
    settings: Vec<SettingJson>,
    /// Adapters that are loaded without a sandbox.
    native: Vec<NativeJson>,
    /// What is odd in the file.
    warnings: Vec<String>,
}

/// A setting.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SettingJson {
    /// As it is written in the file.
    key: &'static str,
    /// What holds.
    #[schemars(with = "serde_json::Value")]
    value: Value,
    /// Who made it: `default`, `file`, or the name of a variable.
    origin: String,
    /// The variable that overrides it.
    variable: &'static str,
    /// What it can be.
    allowed: String,
    /// What it means.
    meaning: &'static str,
}

/// An adapter that is loaded without a sandbox.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NativeJson {
    /// The adapter.
    name: String,
    /// The library.
    file: String,
    /// Its digest.
    sha256: String,
}

pub(super) fn run(args: &ConfigArgs) -> Result<Output> {
    if args.explain {
        return Ok(Output::bytes(explanation().into_bytes()));
    }
    let config = Config::load()?;
    if args.json {
        return Output::json(&json(&config));
    }
    let warnings = config.warnings.join("\n");
    Ok(Output::bytes(table(&config, Look::of_stdout()).into_bytes()).with_note(warnings))
}

fn json(config: &Config) -> ConfigJson {
    let setting = |key: &'static crate::config::Key| {
        let (value, origin) = config.value(key);
        SettingJson {
            key: key.name,
            value,
            origin: match origin {
                Origin::Default => "default".to_owned(),
                Origin::File => "file".to_owned(),
                Origin::Variable(name) => name.to_owned(),
            },
            variable: key.variable,
            allowed: key.kind.allowed(),
            meaning: key.meaning,
        }
    };
    let native = |(name, native): (&String, &NativeAdapter)| NativeJson {
        name: name.clone(),
        file: native.file.display().to_string(),
        sha256: native.sha256.clone(),
    };
    ConfigJson {
        v: 1,
        file: config.file.as_ref().map(|file| file.display().to_string()),
        settings: KEYS.iter().map(setting).collect(),
        native: config.native.iter().map(native).collect(),
        warnings: config.warnings.clone(),
    }
}

fn table(config: &Config, look: Look) -> String {
    let mut text = String::new();
    if let Some(file) = &config.file {
        let is_there = if file.exists() { "" } else { " (not there)" };
        text.push_str(&format!("# {}{is_there}\n", file.display()));
    }
    let mut group = "";
    for key in KEYS {
        let (value, origin) = config.value(key);
        let (table, name) = key.name.split_once('.').unwrap_or(("", key.name));
        if table != group {
            text.push_str(&format!("\n{}\n", look.paint(&format!("[{table}]"), Style::Bold)));
            group = table;
        }
        let (style, from) = match origin {
            Origin::Default => (Style::Dim, String::new()),
            Origin::File => (Style::Plain, String::new()),
            Origin::Variable(variable) => (Style::Yellow, format!("  # {variable}")),
        };
        text.push_str(&look.paint(&format!("{name} = {value}{from}"), style));
        text.push('\n');
    }
    for (name, native) in &config.native {
        let head = look.paint(&format!("[native.{name}]"), Style::Bold);
        let (file, sha256) = (Value::Text(native.file.display().to_string()), &native.sha256);
        text.push_str(&format!("\n{head}\nfile = {file}\nsha256 = \"{sha256}\"\n"));
    }
    text
}

/// A file with every setting at its default, explained.
fn explanation() -> String {
    let mut text = String::from("# Settings of hookhost. What is left out has the value that stands here.\n");
    let mut group = "";
    for key in KEYS {
        let (table, name) = key.name.split_once('.').unwrap_or(("", key.name));
        text.push('\n');
        if table != group {
            text.push_str(&format!("[{table}]\n"));
            group = table;
        }
        for line in wrapped(key.meaning, WIDTH - 2) {
            text.push_str(&format!("# {line}\n"));
        }
        text.push_str(&format!(
            "# Allowed: {}. Variable: {}.\n",
            key.kind.allowed(),
            key.variable
        ));
        text.push_str(&format!("{name} = {}\n", key.default.value()));
    }
    text.push_str(
        "\n# An adapter that is loaded as a library, without a sandbox: it can do all that you can. Only the file with this\n\
         # digest is loaded, and only while nobody else can write to these settings.\n# [native.some-agent]\n\
         # file = \"/path/to/libadapter.so\"\n# sha256 = \"...\"\n",
    );
    text
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_explanation_is_a_file_that_changes_nothing() {
        let config = Config::read(Path::new("c"), &explanation()).unwrap();
        assert_eq!(config.warnings, [""; 0]);
        for key in KEYS {
            assert_eq!(config.value(key), (key.default.value(), Origin::File), "{}", key.name);
        }
        assert!(explanation().lines().all(|line| line.chars().count() <= 120));
    }
}
