//! Settings: `config.toml` in the config folder, overridden by `HOOKHOST_*` variables.
//!
//! [`keys::KEYS`] lists every setting with its kind, default and meaning; reading, checking and explaining all go by
//! that table. On the hook path a file that is not there costs one failed open.

mod keys;
mod values;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use toml_edit::{Document, Item};

pub use keys::{KEYS, Key};
pub use values::{Kind, Value};

use crate::adapter::Limits;
use crate::error::{Error, Result};
use crate::{paths, regular};

/// Names the file, in place of the one in the config folder.
pub const FILE_VARIABLE: &str = "HOOKHOST_CONFIG";

/// The table of adapters that are loaded without a sandbox.
const NATIVE: &str = "native";

/// No settings take more.
const SIZE_LIMIT: u64 = 1 << 20;

/// What of a payload is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capture {
    /// Every byte.
    #[default]
    Raw,
    /// With secrets replaced.
    Redacted,
    /// Nothing.
    Off,
}

/// An adapter that is loaded without a sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NativeAdapter {
    /// The library.
    pub file: PathBuf,
    /// What its SHA-256 must be, in hexadecimal.
    pub sha256: String,
}

/// The settings that hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The file they are from. `None`: there is no place for one.
    pub file: Option<PathBuf>,
    /// The settings that were made, by the names of their keys, and who made them.
    made: BTreeMap<&'static str, (Value, Origin)>,
    /// Adapters that are loaded without a sandbox, by name. [`Config::native_adapter`] says whether they may be.
    pub native: BTreeMap<String, NativeAdapter>,
    /// The file was named by [`FILE_VARIABLE`].
    is_named: bool,
    /// What is odd but does no harm, a sentence each.
    pub warnings: Vec<String>,
}

/// Who made a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody.
    Default,
    /// The file.
    File,
    /// This variable.
    Variable(&'static str),
}

impl Config {
    /// The user's settings.
    ///
    /// # Errors
    /// The file cannot be read or is not TOML, or a setting has a value that it cannot have.
    pub fn load() -> Result<Self> {
        let named = env::var_os(FILE_VARIABLE)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);
        let is_named = named.is_some();
        let file = named.or_else(|| Some(paths::config_dir()?.join("config.toml")));
        let mut config = match &file {
            None => Self::default(),
            Some(path) => match text_of(path) {
                Ok(text) => Self::read(path, &text)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => Self::default(),
                Err(error) => return Err(Error::system(format!("cannot read {}", path.display()), error)),
            },
        };
        config.file = file;
        config.is_named = is_named;
        config.override_by(|name| env::var_os(name).map(|value| value.to_string_lossy().into_owned()))?;
        Ok(config)
    }

    /// Whether the variable of the kill switch says so: it does even when the settings cannot be read.
    #[must_use]
    pub fn is_disabled_by_variable() -> bool {
        let value = env::var_os(keys::DISABLE.variable).unwrap_or_default();
        !value.is_empty() && value.to_str().and_then(|text| Kind::Flag.of_text(text)) != Some(Value::Flag(false))
    }

    /// What stands in a file.
    ///
    /// # Errors
    /// It is not TOML, or a setting has a value that it cannot have.
    pub fn read(path: &Path, text: &str) -> Result<Self> {
        let document = Document::parse(text)
            .map_err(|error| Error::input(format!("{} is not TOML", path.display())).because(error.to_string()))?;
        let mut config = Self::default();
        let place = |item: Option<&Item>| {
            let line = item.and_then(Item::span).map(|span| line_of(text, span.start));
            match line {
                Some(line) => format!("{}:{line}", path.display()),
                None => path.display().to_string(),
            }
        };
        let shown = |item: &Item| shown(item.span().and_then(|span| text.get(span)).unwrap_or_default());
        for (name, item) in document.as_table() {
            if name == NATIVE {
                config.native =
                    native_adapters(item).map_err(|reason| Error::input(format!("{}: {reason}", place(Some(item)))))?;
                continue;
            }
            match item.as_table_like().filter(|_| keys::is_group(name)) {
                Some(group) => {
                    for (inner, item) in group.iter() {
                        config.take(&format!("{name}.{inner}"), item, &shown(item), &place(Some(item)))?;
                    }
                }
                None => config.take(name, item, &shown(item), &place(Some(item)))?,
            }
        }
        Ok(config)
    }

    fn take(&mut self, name: &str, item: &Item, shown: &str, place: &str) -> Result<()> {
        let Some(key) = keys::find(name) else {
            let meant = keys::nearest(name).map(|near| format!("; did you mean {near}?"));
            self.warnings.push(format!(
                "{place}: there is no setting {name}{}",
                meant.unwrap_or_default()
            ));
            return Ok(());
        };
        let value = key.kind.of_item(item).ok_or_else(|| refused(place, key, shown))?;
        self.made.insert(key.name, (value, Origin::File));
        Ok(())
    }

    fn override_by(&mut self, variable: impl Fn(&str) -> Option<String>) -> Result<()> {
        for key in KEYS {
            let name = key.variable;
            let Some(text) = variable(name).filter(|text| !text.is_empty()) else {
                continue;
            };
            // Whoever sets this one wants silence, whatever they write.
            let value = match key.kind.of_text(&text) {
                None if key.name == keys::DISABLE.name => Value::Flag(true),
                value => value.ok_or_else(|| refused(&format!("the variable {name}"), key, &text))?,
            };
            self.made.insert(key.name, (value, Origin::Variable(name)));
        }
        Ok(())
    }

    /// The value of a setting, and who made it.
    #[must_use]
    pub fn value(&self, key: &Key) -> (Value, Origin) {
        match self.made.get(key.name) {
            Some((value, origin)) => (value.clone(), origin.clone()),
            None => (key.default.value(), Origin::Default),
        }
    }

    /// The kill switch.
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        self.flag(&keys::DISABLE)
    }

    /// What of a payload is kept.
    #[must_use]
    pub fn capture(&self) -> Capture {
        match self.text(&keys::CAPTURE).as_deref() {
            Some("redacted") => Capture::Redacted,
            Some("off") => Capture::Off,
            _ => Capture::Raw,
        }
    }

    /// Whether nothing is to be recorded of this agent.
    #[must_use]
    pub fn excludes_agent(&self, agent: &str) -> bool {
        self.texts(&keys::EXCLUDE_AGENTS)
            .iter()
            .any(|excluded| excluded == agent)
    }

    /// Whether nothing is to be recorded of what happens in this directory.
    #[must_use]
    pub fn excludes_place(&self, directory: &Path) -> bool {
        let excluded = self.texts(&keys::EXCLUDE_REPOS);
        excluded.iter().any(|excluded| {
            let excluded = at_home(excluded);
            // Directories are compared as they are spelled, and as they are without links.
            directory.starts_with(&excluded)
                || fs::canonicalize(&excluded).is_ok_and(|real| directory.starts_with(real))
        })
    }

    /// What else is a secret, as regular expressions.
    #[must_use]
    pub fn redact_patterns(&self) -> Vec<String> {
        self.texts(&keys::REDACT_PATTERNS)
    }

    /// Whether what looks random is taken for a secret.
    #[must_use]
    pub fn redacts_random(&self) -> bool {
        self.flag(&keys::REDACT_ENTROPY)
    }

    /// The library that the user wants for this adapter.
    ///
    /// A library can do all that the user can, so the settings that name one have to be the user's own: those at their
    /// usual place, which nobody else can write to. A project can set variables for what runs in it, and so name a
    /// file of its own as the settings.
    ///
    /// # Errors
    /// One is named, but not in such a file; a sentence that says what to do.
    pub fn native_adapter(&self, adapter: &str) -> Result<Option<&NativeAdapter>, String> {
        let (Some(named), Some(file)) = (self.native.get(adapter), &self.file) else {
            return Ok(None);
        };
        let shown = file.display();
        let refused = |why: String| format!("[{NATIVE}.{adapter}] in {shown} is not followed: {why}");
        if self.is_named {
            let usual = paths::config_dir().unwrap_or_default().join("config.toml");
            return Err(refused(format!(
                "the file is named by {FILE_VARIABLE}, which a project can set; write it into {}",
                usual.display()
            )));
        }
        match others_that_write_to(file) {
            Some(others) => Err(refused(format!("{others}; make it your own: chmod go-w {shown}"))),
            None => Ok(Some(named)),
        }
    }

    /// What a call of an adapter may use.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let milliseconds = |key| Duration::from_millis(self.number(key));
        let mebibytes = |key| usize::try_from(self.number(key) << 20).unwrap_or(usize::MAX);
        let mut limits = Limits::default();
        limits.hooks.time = milliseconds(&keys::HOOK_MS);
        limits.hooks.memory = mebibytes(&keys::HOOK_MEMORY_MIB);
        limits.hooks.answer = mebibytes(&keys::ANSWER_MIB);
        limits.transcripts.time = milliseconds(&keys::TRANSCRIPT_MS);
        limits.transcripts.memory = mebibytes(&keys::TRANSCRIPT_MEMORY_MIB);
        limits
    }

    fn number(&self, key: &Key) -> u64 {
        match self.value(key).0 {
            Value::Number(number) => number,
            _ => 0,
        }
    }

    fn flag(&self, key: &Key) -> bool {
        self.value(key).0 == Value::Flag(true)
    }

    fn texts(&self, key: &Key) -> Vec<String> {
        match self.value(key).0 {
            Value::Texts(texts) => texts,
            _ => vec![],
        }
    }

    fn text(&self, key: &Key) -> Option<String> {
        match self.value(key).0 {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn refused(place: &str, key: &Key, found: &str) -> Error {
    Error::input(format!("{place}: {} cannot be {found}", key.name)).hint(format!("allowed: {}", key.kind.allowed()))
}

/// As it stands in the file, cut when long.
fn shown(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// What stands in the file of the settings.
fn text_of(path: &Path) -> io::Result<String> {
    // How people name no settings at all; it is the one device that is meant.
    if path == Path::new("/dev/null") {
        return Ok(String::new());
    }
    regular::text(path, SIZE_LIMIT)
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    before.bytes().filter(|&byte| byte == b'\n').count() + 1
}

/// Who but the user can write to this file.
#[cfg(unix)]
fn others_that_write_to(file: &Path) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(file).ok()?;
    let is_ours = metadata.uid() == 0 || metadata.uid() == rustix::process::geteuid().as_raw();
    match (is_ours, metadata.mode() & 0o022) {
        (false, _) => Some("the file belongs to another user"),
        (true, 0) => None,
        (true, _) => Some("others can write to the file"),
    }
}

#[cfg(not(unix))]
fn others_that_write_to(_: &Path) -> Option<&'static str> {
    None
}

fn at_home(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => paths::user_home().unwrap_or_default().join(rest),
        None if path == "~" => paths::user_home().unwrap_or_default(),
        None => PathBuf::from(path),
    }
}

fn native_adapters(item: &Item) -> Result<BTreeMap<String, NativeAdapter>, String> {
    let wrong = || format!("[{NATIVE}.<adapter>] needs file (an absolute path) and sha256 (64 hexadecimal digits)");
    let table = item.as_table_like().ok_or_else(wrong)?;
    table
        .iter()
        .map(|(name, item)| {
            let text = |key: &str| item.get(key).and_then(Item::as_str);
            let file = text("file")
                .map(at_home)
                .filter(|file| file.is_absolute())
                .ok_or_else(wrong)?;
            let is_digest = |digest: &&str| digest.len() == 64 && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
            let sha256 = text("sha256").filter(is_digest).ok_or_else(wrong)?.to_ascii_lowercase();
            Ok((name.to_owned(), NativeAdapter { file, sha256 }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config> {
        Config::read(Path::new("/c/config.toml"), text)
    }

    #[test]
    fn without_a_file_the_defaults_hold() {
        let config = read("").unwrap();
        assert!(!config.is_disabled());
        assert_eq!(config.capture(), Capture::Raw);
        assert_eq!(config.limits(), Limits::default());
        assert!(!config.excludes_agent("some-agent"));
        assert!(!config.excludes_place(Path::new("/home/dev")));
    }

    #[test]
    fn settings_are_read_from_tables_and_from_dotted_keys() {
        let config =
            read("capture = 'redacted'\nlimits.hook_ms = 500\n[exclude]\nagents = ['a']\nrepos = ['/w/secret']\n")
                .unwrap();
        assert_eq!(config.capture(), Capture::Redacted);
        assert_eq!(config.number(&keys::HOOK_MS), 500);
        assert!(config.excludes_agent("a") && !config.excludes_agent("b"));
        assert!(config.excludes_place(Path::new("/w/secret/below")));
        assert!(!config.excludes_place(Path::new("/w/secretive")));
        assert_eq!(config.warnings, [""; 0]);
    }

    #[test]
    fn unknown_settings_are_warned_of_with_their_line_and_the_nearest_name() {
        let config = read("\ncaptur = 'raw'\n[limits]\nhok_ms = 3\nzzz = 1\n[other]\na = 1\n").unwrap();
        assert_eq!(
            config.warnings,
            [
                "/c/config.toml:2: there is no setting captur; did you mean capture?",
                "/c/config.toml:4: there is no setting limits.hok_ms; did you mean limits.hook_ms?",
                "/c/config.toml:5: there is no setting limits.zzz",
                "/c/config.toml:6: there is no setting other",
            ]
        );
    }

    #[test]
    fn a_bad_value_names_file_line_key_and_what_is_allowed() {
        for (text, expected) in [
            (
                "capture = 'some'",
                "/c/config.toml:1: capture cannot be 'some'\nhint: allowed: \"raw\", \"redacted\" or \"off\"",
            ),
            (
                "disable = 1",
                "/c/config.toml:1: disable cannot be 1\nhint: allowed: true or false",
            ),
            (
                "\n[limits]\nhook_ms = 0",
                "/c/config.toml:3: limits.hook_ms cannot be 0\nhint: allowed: a whole number from 10 to 60000",
            ),
            (
                "exclude.agents = 'a'",
                "/c/config.toml:1: exclude.agents cannot be 'a'\nhint: allowed: a list of texts",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), expected);
        }
        assert!(
            read("a = ")
                .unwrap_err()
                .to_string()
                .starts_with("/c/config.toml is not TOML: ")
        );
    }

    #[test]
    fn variables_override_the_file() {
        let mut config = read("capture = 'off'\nlimits.hook_ms = 500").unwrap();
        let variables = |name: &str| match name {
            "HOOKHOST_CAPTURE" => Some("raw".to_owned()),
            "HOOKHOST_EXCLUDE_AGENTS" => Some("a, b".to_owned()),
            "HOOKHOST_DISABLE" => Some("please".to_owned()),
            _ => None,
        };
        config.override_by(variables).unwrap();
        assert_eq!(config.capture(), Capture::Raw);
        assert_eq!(config.number(&keys::HOOK_MS), 500);
        assert!(config.excludes_agent("a") && config.excludes_agent("b"));
        assert!(config.is_disabled());
        let error = config.override_by(|_| Some("x".to_owned())).unwrap_err().to_string();
        assert!(
            error.starts_with("the variable HOOKHOST_CAPTURE: capture cannot be x\n"),
            "{error}"
        );
    }

    #[test]
    fn the_kill_switch_is_off_when_it_says_no() {
        let mut config = read("disable = true").unwrap();
        config
            .override_by(|name| (name == "HOOKHOST_DISABLE").then(|| "0".to_owned()))
            .unwrap();
        assert!(!config.is_disabled());
    }

    #[test]
    fn native_adapters_need_a_file_and_a_digest() {
        let digest = "AB".repeat(32);
        let config = read(&format!("[native.x]\nfile = '/l/x.so'\nsha256 = '{digest}'")).unwrap();
        assert_eq!(config.native["x"].sha256, "ab".repeat(32));
        assert_eq!(config.native["x"].file, Path::new("/l/x.so"));
        for wrong in [
            "native = 1",
            "[native.x]\nfile = '/l/x.so'",
            "[native.x]\nfile = 'x'\nsha256 = 'ab'",
        ] {
            assert!(
                read(wrong).unwrap_err().to_string().contains("absolute path"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_library_is_taken_from_the_users_own_settings_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let text = format!("[native.x]\nfile = '/l/x.so'\nsha256 = '{}'", "ab".repeat(32));
        fs::write(&file, &text).unwrap();
        let mut config = Config::read(&file, &text).unwrap();
        assert_eq!(config.native_adapter("x"), Ok(None), "settings without a file");
        config.file = Some(file.clone());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            for (mode, is_followed) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
                assert_eq!(config.native_adapter("x").is_ok(), is_followed, "{mode:o}");
            }
            let refused = config.native_adapter("x").unwrap_err();
            assert!(
                refused.contains("others can write to the file; make it your own: chmod go-w"),
                "{refused}"
            );
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        assert!(config.native_adapter("x").unwrap().is_some());
        assert_eq!(config.native_adapter("y"), Ok(None));
        config.is_named = true;
        let refused = config.native_adapter("x").unwrap_err();
        assert!(
            refused.contains("HOOKHOST_CONFIG, which a project can set"),
            "{refused}"
        );
    }

    #[test]
    fn every_default_is_a_value_that_is_allowed() {
        for key in KEYS {
            let text = format!("{} = {}", key.name, key.default.value());
            let config = read(&text).unwrap();
            assert_eq!(config.value(key), (key.default.value(), Origin::File), "{text}");
            assert_eq!(config.warnings, [""; 0]);
        }
    }
}
