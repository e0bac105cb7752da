//! Keeps compiled code, each piece with its record: the user's adapters, and what `--adapter FILE` was compiled to.
//!
//! Folders are the user's alone. Every file is written under another name and then renamed, so that no hook sees half a
//! file, and a file that is mapped never changes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use hookhost::adapter::registry::{self, FileIdentity, Found, Lock};
use hookhost::adapter::wasm::{self, Code};
use hookhost::adapter::{Adapter, Limits};
use hookhost::config::Config;
use hookhost::error::{Error, Result};
use hookhost::model::Description;

use crate::compile::compile;
use crate::component::{Component, digest};

/// An adapter whose code lies on the shelf.
pub struct Shelved {
    /// Ready to be called.
    pub adapter: Box<dyn Adapter>,
    /// What it says about itself.
    pub description: Description,
    /// Bytes of its code.
    pub code_bytes: u64,
}

/// Compiles the component in `file` for `--adapter FILE`.
///
/// # Errors
/// It is no adapter, or the cache cannot be written to.
pub fn compile_file(file: &Path, component: &Component) -> Result<Shelved> {
    let source = identity(file)?;
    let lock_file = registry::lock_of_file(file)
        .map_err(|error| Error::system(format!("no place for the code of {}", file.display()), error))?;
    shelve(&lock_file, component, Some(source), None)
}

/// Installs a component under its own name, in the place of an older one.
///
/// # Errors
/// As [`compile_file`]; another installed adapter answers to one of its names.
pub fn install(component: &Component, name: &str) -> Result<Found> {
    let folder = adapters_folder()?;
    let lock_file = folder.join(format!("{name}.lock"));
    let before = Lock::read(&lock_file).ok().flatten();
    let shelved = shelve(&lock_file, component, None, Some(name))?;
    replace(&folder, &format!("{name}.wasm"), &component.bytes)?;
    let lock = Lock::read(&lock_file)
        .ok()
        .flatten()
        .ok_or_else(|| Error::input(format!("{} was taken away meanwhile", lock_file.display())))?;
    for alias in &shelved.description.aliases {
        let text = lock.alias_text().map_err(unwritable)?;
        replace(&folder, &format!("{alias}.lock"), text.as_bytes())?;
    }
    for alias in before.map(|before| before.aliases).unwrap_or_default() {
        if !shelved.description.aliases.contains(&alias) {
            remove_alias(&folder, &alias, name)?;
        }
    }
    // What is on the shelf, also where the settings name a library in its place.
    Ok(registry::find(name, &Config::default())?)
}

/// Takes an installed adapter away.
///
/// # Errors
/// It is not installed, or its files cannot be removed.
pub fn remove(name: &str) -> Result<()> {
    let folder = registry::user_dir().filter(|_| registry::installed().iter().any(|installed| installed == name));
    let Some(folder) = folder else {
        return Err(Error::input(format!("no adapter {name} is installed"))
            .hint("`hookhost adapter list` has those that are; built-in ones stay"));
    };
    let lock_file = folder.join(format!("{name}.lock"));
    let lock = Lock::read(&lock_file).ok().flatten();
    // The record first: from here on the adapter is not found any more.
    remove_file(&lock_file)?;
    if let Some(lock) = lock {
        for alias in &lock.aliases {
            remove_alias(&folder, alias, name)?;
        }
        remove_file(&folder.join(&lock.file))?;
    }
    remove_file(&folder.join(format!("{name}.wasm")))
}

/// The component of an installed adapter.
///
/// # Errors
/// It cannot be read, or is not the one that was installed.
pub fn installed_component(name: &str) -> Result<Component> {
    let folder = adapters_folder()?;
    let component = Component::read(&folder.join(format!("{name}.wasm")))?;
    match Lock::read(&folder.join(format!("{name}.lock"))) {
        Ok(Some(lock)) if lock.digest != component.digest() => Err(Error::input(format!(
            "the component of {name} is not the one that was installed"
        ))
        .hint("install it again: hookhost adapter install FILE")),
        _ => Ok(component),
    }
}

/// Whether the installed code is byte for byte what was compiled.
///
/// # Errors
/// It is not.
pub fn verify_installed(name: &str) -> Result<()> {
    let folder = adapters_folder()?;
    let lock = Lock::read(&folder.join(format!("{name}.lock"))).map_err(|stale| Error::input(stale.to_string()))?;
    let lock = lock.ok_or_else(|| Error::input(format!("{name} has no record")))?;
    let code_file = lock
        .verify(&folder, None)
        .map_err(|stale| Error::input(stale.to_string()))?;
    let code = fs::read(&code_file).map_err(|error| Error::system("its code cannot be read", error))?;
    if digest(&code) == lock.code_digest {
        return Ok(());
    }
    Err(Error::input("its compiled code is damaged"))
}

fn shelve(
    lock_file: &Path,
    component: &Component,
    source: Option<FileIdentity>,
    installed_as: Option<&str>,
) -> Result<Shelved> {
    wasm::contract_line(component.exports.iter().map(String::as_str)).map_err(Error::input)?;
    let code = compile(&component.bytes)?;
    let folder = private_folder(lock_file.parent().unwrap_or(Path::new("")))?;
    let stem = lock_file.file_stem().unwrap_or_default().to_string_lossy();
    let code_digest = digest(&code);
    let (_, hexadecimal) = code_digest.split_once(':').unwrap_or_default();
    let file = format!("{stem}-{}.cwasm", hexadecimal.get(..16).unwrap_or_default());
    let code_file = replace(&folder, &file, &code)?;

    let mut adapter = wasm::load(&stem, &Code::File(code_file.clone()), Limits::default())?;
    let description = adapter.describe()?;
    if let Some(name) = installed_as {
        refuse_others_names(&folder, name, &description)?;
    }
    let mut lock = Lock::new(
        &description.name,
        component.digest(),
        code_digest,
        file,
        identity(&code_file)?,
    );
    lock.aliases.clone_from(&description.aliases);
    lock.env.clone_from(&description.env);
    lock.source = source;
    let before = Lock::read(lock_file).ok().flatten();
    let lock_name = lock_file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    replace(&folder, &lock_name, lock.text().map_err(unwritable)?.as_bytes())?;
    if let Some(before) = before.filter(|before| before.file != lock.file) {
        // A hook that runs now has it open; the next one reads the new record.
        remove_file(&folder.join(before.file))?;
    }
    Ok(Shelved {
        adapter,
        description,
        code_bytes: lock.code.size,
    })
}

fn refuse_others_names(folder: &Path, name: &str, description: &Description) -> Result<()> {
    if description.name != name {
        return Err(Error::input(format!(
            "the adapter calls itself {}, not {name}",
            description.name
        )));
    }
    for word in std::iter::once(name).chain(description.aliases.iter().map(String::as_str)) {
        if !registry::is_name(word) {
            return Err(Error::input(format!(
                "{word:?} is no name: lower case letters, digits and hyphens"
            )));
        }
        let owner = registry::owner_of(folder, word);
        if let Some(owner) = owner.filter(|owner| owner != name) {
            return Err(
                Error::input(format!("{word} is already a name of the installed adapter {owner}"))
                    .hint(format!("hookhost adapter remove {owner}")),
            );
        }
    }
    Ok(())
}

fn adapters_folder() -> Result<PathBuf> {
    registry::user_dir().ok_or_else(|| Error::input("the user has no home directory").hint("set HOOKHOST_HOME"))
}

fn private_folder(folder: &Path) -> Result<PathBuf> {
    let failed = |error| Error::system(format!("cannot make {}", folder.display()), error);
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).map_err(failed)?;
    }
    Ok(folder.to_owned())
}

/// Writes a file that is there as a whole or not at all, also after a power failure.
fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    let failed = |error| Error::system(format!("cannot write {}", path.display()), error);
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(path)
}

fn remove_alias(folder: &Path, alias: &str, name: &str) -> Result<()> {
    if registry::owner_of(folder, alias).is_some_and(|owner| owner == name) {
        remove_file(&folder.join(format!("{alias}.lock")))?;
    }
    Ok(())
}

fn remove_file(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::system(format!("cannot remove {}", file.display()), error))
        }
        _ => Ok(()),
    }
}

fn identity(file: &Path) -> Result<FileIdentity> {
    let metadata =
        fs::metadata(file).map_err(|error| Error::system(format!("cannot read {}", file.display()), error))?;
    Ok(FileIdentity::of(&metadata))
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::input("a record cannot be written").because(error)
}
