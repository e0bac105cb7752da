//! Finds adapters by name.
//!
//! Whoever is nearer to the user wins:
//! 1. `--adapter FILE`: that file, whatever it is called.
//! 2. The libraries that the user's settings name with their digests, `[native.<name>]`. They come before what is
//!    installed: who names one means it. Only finding one reads and loads it.
//! 3. The user's adapters, `<data>/adapters/<name>.lock` and the code that it names: what `hookhost adapter install` put there.
//! 4. The adapters that hookhost brings along.
//!
//! Each of them is found by its name or one of its aliases. A built-in adapter's alias finds the user's adapter of the
//! same name, so replacing one replaces it under all its names. What names a library has besides that of its table is
//! not known before it is loaded: it is found by that one, and by the aliases of what it stands in for. Nothing here
//! compiles or lists a folder, but [`all`].

mod lock;

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::native::Native;
use super::wasm;
use super::{Adapter, AdapterError, Answer, FailureKind, Limits};
use crate::config::Config;
use crate::paths;

pub use lock::{FileIdentity, Lock, Stale};

/// The command that makes a stale adapter whole again.
pub const REMEDY: &str = "hookhost adapter check";

/// An adapter that was found and can be loaded.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its own name.
    pub name: String,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// Environment variables that it wants in its context.
    pub env: Vec<String>,
    /// The component's or the library's digest, `sha256:` and hexadecimal digits.
    pub digest: String,
    /// Where it came from.
    pub origin: Origin,
    code: Code,
    /// The part that a running hook needs, where it is compiled by itself.
    hooks: Option<wasm::Code>,
}

#[derive(Clone, Debug)]
enum Code {
    Component(wasm::Code),
    Library(Native),
}

/// Where an adapter came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// hookhost brings it along.
    Builtin,
    /// The user installed it; the file is its compiled code.
    User(PathBuf),
    /// The user named this file.
    File(PathBuf),
    /// The user's settings name this library. It is not confined.
    Native(PathBuf),
}

impl Origin {
    /// In one word, as listings have it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Builtin => "built-in",
            Self::User(_) => "installed",
            Self::File(_) => "file",
            Self::Native(_) => "native",
        }
    }

    /// Whether it runs in the sandbox.
    #[must_use]
    pub fn is_confined(&self) -> bool {
        !matches!(self, Self::Native(_))
    }
}

impl Found {
    /// Makes it ready to be called. `called` is the name that messages and answers use for it.
    ///
    /// # Errors
    /// [`FailureKind::Load`] and [`FailureKind::Contract`].
    pub fn load(&self, called: &str, limits: Limits) -> Answer<Box<dyn Adapter>> {
        match &self.code {
            Code::Component(code) => wasm::load(called, code, limits),
            Code::Library(native) => Ok(native.adapter(called, limits)),
        }
    }

    /// As [`Found::load`], for callers that only want to know what a hook's payload means and what is replied: of a
    /// built-in adapter, whose hooks are always claimed, a small part is enough and nothing else can be called.
    ///
    /// # Errors
    /// As [`Found::load`].
    pub fn load_hooks(&self, called: &str, limits: Limits) -> Answer<Box<dyn Adapter>> {
        match &self.hooks {
            Some(hooks) => wasm::load(called, hooks, limits),
            None => self.load(called, limits),
        }
    }

    /// [`Found::load_hooks`] gives only a part of the adapter.
    #[must_use]
    pub fn has_hooks_apart(&self) -> bool {
        self.hooks.is_some()
    }

    fn locked(lock: Lock, origin: Origin, code: PathBuf) -> Self {
        Self {
            name: lock.name,
            aliases: lock.aliases,
            env: lock.env,
            digest: lock.digest,
            origin,
            code: Code::Component(wasm::Code::File(code)),
            hooks: None,
        }
    }
}

/// The adapter that answers to `name`: the library that the settings name, else the user's, else the built-in one.
///
/// # Errors
/// [`FailureKind::Load`]: there is none, or the user's one was compiled by another hookhost or is damaged, or the
/// library is not the one that was named. [`FailureKind::Contract`] for a library of another contract line.
pub fn find(name: &str, config: &Config) -> Answer<Found> {
    if !is_name(name) {
        return Err(not_loaded(
            name,
            "an adapter's name is lower case letters, digits and hyphens".to_owned(),
        ));
    }
    if !config.native.is_empty()
        && let Some(found) = find_native(name, config)?
    {
        return Ok(found);
    }
    let user_dir = user_dir();
    if let Some(dir) = &user_dir
        && let Some(found) = find_in(dir, name)?
    {
        return Ok(found);
    }
    let Some(builtin) = builtin(name) else {
        return Err(not_loaded(
            name,
            format!("there is no such adapter; there are {}", names(config).join(", ")),
        ));
    };
    if builtin.name != name
        && let Some(dir) = &user_dir
        && let Some(found) = find_in(dir, &builtin.name)?
    {
        return Ok(found);
    }
    Ok(builtin)
}

/// What was compiled of a component file that the user named with `--adapter`.
///
/// # Errors
/// [`FailureKind::Load`] when it has not been compiled yet, or the component or hookhost has changed since then.
pub fn of_file(component: &Path) -> Answer<Found> {
    let name = component.display().to_string();
    let lock = lock_of_file(component).map_err(|error| not_loaded(&name, error.to_string()))?;
    match locked_code(&lock, Some(component)) {
        Ok(Some((lock, code))) => Ok(Found::locked(lock, Origin::File(component.to_owned()), code)),
        Ok(None) => Err(not_loaded(
            &name,
            format!("it is not compiled yet. Run: {REMEDY} {name}"),
        )),
        Err(stale) => Err(not_loaded(&name, format!("{stale}. Run: {REMEDY} {name}"))),
    }
}

/// Every adapter that can be found by its own name, sorted; what is installed or named in the settings but cannot be
/// loaded is an error.
#[must_use]
pub fn all(config: &Config) -> Vec<Answer<Found>> {
    names(config).iter().map(|name| find(name, config)).collect()
}

/// The own names of all adapters, sorted, also of those that cannot be loaded.
#[must_use]
pub fn names(config: &Config) -> Vec<String> {
    let mut names: Vec<String> = builtins().map(|builtin| builtin.name).chain(installed()).collect();
    names.extend(config.native.keys().cloned());
    names.sort();
    names.dedup();
    names
}

/// The names of the adapters that the user installed.
#[must_use]
pub fn installed() -> Vec<String> {
    let Some(entries) = user_dir().and_then(|dir| fs::read_dir(dir).ok()) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".wasm")?.to_owned()))
        .filter(|name| is_name(name))
        .collect();
    names.sort();
    names
}

/// The adapters that hookhost brings along.
pub fn builtins() -> impl Iterator<Item = Found> {
    builtins_where(|_, _| true)
}

fn builtin(name: &str) -> Option<Found> {
    builtins_where(|own, aliases| own == name || aliases.contains(&name)).next()
}

/// Those whose name and aliases pass; a hook does not pay for the others.
#[cfg(feature = "builtin")]
fn builtins_where(pass: impl Fn(&str, &[&str]) -> bool) -> impl Iterator<Item = Found> {
    let passing = hookhost_bundle::BUILTINS
        .iter()
        .filter(move |one| pass(one.name, one.aliases));
    passing.map(|one| Found {
        name: one.name.to_owned(),
        aliases: one.aliases.iter().map(|&alias| alias.to_owned()).collect(),
        env: one.env.iter().map(|&variable| variable.to_owned()).collect(),
        digest: one.digest.to_owned(),
        origin: Origin::Builtin,
        code: Code::Component(wasm::Code::Embedded(one.code)),
        hooks: Some(wasm::Code::Embedded(one.hooks)),
    })
}

#[cfg(not(feature = "builtin"))]
fn builtins_where(_: impl Fn(&str, &[&str]) -> bool) -> impl Iterator<Item = Found> {
    std::iter::empty()
}

/// The folder of the user's adapters.
#[must_use]
pub fn user_dir() -> Option<PathBuf> {
    Some(paths::data_dir()?.join("adapters"))
}

/// The record of the compiled code of a component's file: one place in the cache for one absolute path.
///
/// # Errors
/// There is no such file, or no cache folder.
pub fn lock_of_file(component: &Path) -> io::Result<PathBuf> {
    let component = component.canonicalize()?;
    let cache = paths::cache_dir().ok_or_else(|| io::Error::other("the user has no home directory"))?;
    let key = component
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let stem = component.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(cache.join("adapters").join(format!("{stem}-{key:016x}.lock")))
}

/// Lower case letters, digits and hyphens: safe as a file name everywhere.
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !name.starts_with('-')
}

/// The installed adapter that answers to `word` in this folder, whatever state it is in.
#[must_use]
pub fn owner_of(folder: &Path, word: &str) -> Option<String> {
    lock::resolve_alias(folder, word).ok().flatten()
}

/// The library that the settings name for `called`, or for the adapter that this is an alias of.
fn find_native(called: &str, config: &Config) -> Answer<Option<Found>> {
    let of_installed = || owner_of(&user_dir()?, called);
    let of_builtin = || Some(builtin(called)?.name);
    let names = [Some(called.to_owned()), of_installed(), of_builtin()];
    for name in names.into_iter().flatten() {
        let named = config
            .native_adapter(&name)
            .map_err(|refused| not_loaded(&name, refused))?;
        if let Some(named) = named {
            let native = Native::open(&name, named, config)?;
            return Ok(Some(Found {
                name,
                aliases: native.description.aliases.clone(),
                env: native.description.env.clone(),
                digest: format!("sha256:{}", named.sha256),
                origin: Origin::Native(named.file.clone()),
                code: Code::Library(native),
                hooks: None,
            }));
        }
    }
    Ok(None)
}

fn find_in(dir: &Path, called: &str) -> Answer<Option<Found>> {
    let stale = |stale: Stale| not_loaded(called, format!("{stale}. Run: {REMEDY} {called}"));
    let Some(name) = lock::resolve_alias(dir, called).map_err(stale)? else {
        return Ok(None);
    };
    let found = locked_code(&dir.join(format!("{name}.lock")), None).map_err(stale)?;
    Ok(found.map(|(lock, code)| Found::locked(lock, Origin::User(code.clone()), code)))
}

fn locked_code(lock_file: &Path, source: Option<&Path>) -> Result<Option<(Lock, PathBuf)>, Stale> {
    let Some(lock) = Lock::read(lock_file)? else {
        return Ok(None);
    };
    let code = lock.verify(lock_file.parent().unwrap_or(Path::new("")), source)?;
    Ok(Some((lock, code)))
}

fn not_loaded(adapter: &str, message: String) -> AdapterError {
    AdapterError {
        adapter: adapter.to_owned(),
        kind: FailureKind::Load,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_lead_out_of_the_adapters_folder() {
        for name in ["", "..", "a/b", "a\\b", "-x", "A", "a.b", "a\0"] {
            assert!(!is_name(name), "{name:?}");
            assert_eq!(find(name, &Config::default()).unwrap_err().kind, FailureKind::Load);
        }
        assert!(is_name("gemini-cli"));
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_are_known() {
        let error = find("no-such-agent", &Config::default()).unwrap_err();
        let known = builtins().next().unwrap().name;
        assert!(error.message.contains(&known), "{error}");
    }
}
