//! Builds every adapter beside this folder, makes components of them, compiles those for the target's baseline
//! processor, and writes the table that `lib.rs` includes.
//!
//! 1. `cargo metadata` names the packages in `adapters/` that make a cdylib.
//! 2. A nested `cargo build` makes core modules of all of them, in a target folder of its own (`<target>/adapters`), which
//!    all profiles and targets share; and another one of the parts that hooks need (`hook-adapter` in the contract).
//! 3. Each is wrapped as a component and may import nothing but what the contract defines.
//! 4. Each component is compiled, unless its digest, the engine's version and the configuration are those of the last
//!    compilation.
#![allow(clippy::print_stdout, reason = "a build script talks to cargo on stdout")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use sha2::{Digest, Sha256};
use wasmparser::{Parser, Payload};
use wit_component::StringEncoding;
use wit_parser::Resolve;

#[path = "../../../host/src/adapter/wasm/engine_config.rs"]
#[allow(
    unreachable_pub,
    reason = "the file's home is the host's library, where these are public"
)]
mod engine_config;

const WASM_TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "adapter";
const CONTRACT: &str = "wit/v0.1";
/// Room for the guest's stack. The tool chain's default of 1 MiB is memory that every call has to be given.
const STACK_BYTES: u32 = 256 * 1024;

fn main() {
    if let Err(error) = run() {
        // `cargo::error` is shown without the build script's other output.
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let bundle = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let adapters_dir = bundle.parent().ok_or("the bundle lies in no folder")?;
    let root = adapters_dir.parent().ok_or("adapters/ lies in no folder")?;
    for watched in [
        "adapters",
        "wit",
        "Cargo.toml",
        "Cargo.lock",
        "host/src/adapter/wasm/engine_config.rs",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }

    let packages = adapter_packages(root, adapters_dir)?;
    let out_dir = PathBuf::from(variable("OUT_DIR")?);
    let shared = shared_target_dir(&out_dir)?;
    for part in [Part::Whole, Part::Hooks] {
        build_modules(root, &part.folder(&shared), &packages, part)?;
    }

    let contract = root.join(CONTRACT);
    // Compiling is most of the work, so each processor gets a component.
    let built: Vec<Option<Built>> = thread::scope(|scope| {
        let workers: Vec<_> = packages
            .iter()
            .map(|package| {
                scope.spawn(|| {
                    package
                        .finish(&contract, &shared, &out_dir)
                        .map_err(|error| error.to_string())
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .map_err(|_| "a worker of the build script panicked".to_owned())?
            })
            .collect::<Result<_, String>>()
    })?;
    let built: Vec<Built> = built.into_iter().flatten().collect();
    refuse_ambiguous_names(&built)?;
    fs::write(out_dir.join("table.rs"), table(&built)?)?;
    fs::write(out_dir.join("quirks.rs"), quirks(root, &built)?)?;
    Ok(())
}

struct Package {
    name: String,
    folder: String,
    /// The core module's file name.
    module: String,
}

/// What of an adapter a component holds.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// The contract's world `adapter`.
    Whole,
    /// The contract's world `hook-adapter`.
    Hooks,
}

impl Part {
    fn folder(self, shared: &Path) -> PathBuf {
        match self {
            Self::Whole => shared.to_owned(),
            Self::Hooks => shared.join("hooks"),
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Hooks => "-hooks",
        }
    }
}

struct Built {
    declaration: Declaration,
    digest: String,
    code: PathBuf,
    hooks: PathBuf,
}

/// What the SDK's macro wrote into the module: see `hookhost_sdk::export_adapter`.
#[derive(Default)]
struct Declaration {
    name: String,
    aliases: Vec<String>,
    env: Vec<String>,
}

fn adapter_packages(root: &Path, adapters_dir: &Path) -> Result<Vec<Package>, Box<dyn Error>> {
    let output = Command::new(variable("CARGO")?)
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version=1",
            "--manifest-path",
        ])
        .arg(root.join("Cargo.toml"))
        .output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let mut packages = Vec::new();
    for package in array(&metadata, "packages") {
        let manifest = PathBuf::from(text(package, "manifest_path"));
        let Some(folder) = manifest.parent().filter(|folder| folder.parent() == Some(adapters_dir)) else {
            continue;
        };
        let module = array(package, "targets")
            .iter()
            .find(|target| array(target, "crate_types").iter().any(|kind| kind == "cdylib"));
        if let Some(module) = module {
            packages.push(Package {
                name: text(package, "name").to_owned(),
                folder: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                module: format!("{}.wasm", text(module, "name").replace('-', "_")),
            });
        }
    }
    packages.sort_by(|one, other| one.folder.cmp(&other.folder));
    Ok(packages)
}

fn array<'a>(value: &'a serde_json::Value, key: &str) -> &'a [serde_json::Value] {
    value
        .get(key)
        .and_then(|value| value.as_array())
        .map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a serde_json::Value, key: &str) -> &'a str {
    value.get(key).and_then(|value| value.as_str()).unwrap_or_default()
}

/// `<target>/adapters`: `OUT_DIR` is `<target>[/<triple>]/<profile>/build/<package>-<hash>/out`.
fn shared_target_dir(out_dir: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let mut target = out_dir.ancestors().nth(4).ok_or("OUT_DIR is not in a target folder")?;
    if target
        .file_name()
        .is_some_and(|name| name.to_string_lossy() == variable("TARGET").unwrap_or_default())
    {
        target = target.parent().ok_or("OUT_DIR is not in a target folder")?;
    }
    Ok(target.join("adapters"))
}

fn build_modules(root: &Path, target_dir: &Path, packages: &[Package], part: Part) -> Result<(), Box<dyn Error>> {
    if packages.is_empty() {
        return Ok(());
    }
    refuse_missing_target()?;
    let mut flags = vec![
        format!("-Clink-arg=-zstack-size={STACK_BYTES}"),
        // The engine has vectors everywhere. Transcripts are read in a third of the time with them.
        "-Ctarget-feature=+simd128".to_owned(),
    ];
    // Panic messages name source files: the same ones on every machine, so that a digest is the same everywhere.
    flags.push(format!("--remap-path-prefix={}=.", root.display()));
    if let Some(home) = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(cargo_home) {
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    let mut cargo = Command::new(variable("CARGO")?);
    cargo
        .current_dir(root)
        .args(["build", "--target", WASM_TARGET, "--profile", PROFILE, "--target-dir"])
        .arg(target_dir)
        .args(packages.iter().flat_map(|package| ["-p", &package.name]))
        .args(match part {
            Part::Whole => &[] as &[_],
            Part::Hooks => &["-p", "hookhost-sdk", "--features", "hookhost-sdk/hooks-only"],
        })
        // What the outer build wants of its own crates is not meant for these.
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_BUILD_TARGET_DIR")
        .env_remove("CARGO_INCREMENTAL");
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PROFILE_") {
            cargo.env_remove(name);
        }
    }
    let output = cargo.output()?;
    if !output.status.success() {
        return Err(format!(
            "the adapters do not build:\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    Ok(())
}

fn cargo_home() -> Option<PathBuf> {
    env::home_dir().map(|home| home.join(".cargo"))
}

fn refuse_missing_target() -> Result<(), Box<dyn Error>> {
    let output = Command::new(variable("RUSTC")?)
        .args(["--print", "target-libdir", "--target", WASM_TARGET])
        .output()?;
    let folder = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    Err(format!("adapters are WebAssembly and its target is missing. Run: rustup target add {WASM_TARGET}").into())
}

impl Package {
    /// From the core modules to the precompiled components in `out_dir`.
    fn finish(&self, contract: &Path, shared: &Path, out_dir: &Path) -> Result<Option<Built>, Box<dyn Error>> {
        let module = self.module(shared, Part::Whole)?;
        let Some(declaration) = declaration(&module)? else {
            println!(
                "cargo::warning=adapters/{} exports no adapter yet and is left out",
                self.folder
            );
            return Ok(None);
        };
        if declaration.name != self.folder {
            return Err(format!(
                "adapters/{} declares the name {:?}; folder and adapter are one word",
                self.folder, declaration.name
            )
            .into());
        }
        let (digest, code) = self.component(shared, out_dir, &module, Part::Whole)?;
        let mut module = self.module(shared, Part::Hooks)?;
        declare_world(&mut module, contract, "hook-adapter")?;
        let (_, hooks) = self.component(shared, out_dir, &module, Part::Hooks)?;
        Ok(Some(Built {
            declaration,
            digest,
            code,
            hooks,
        }))
    }

    fn module(&self, shared: &Path, part: Part) -> std::io::Result<Vec<u8>> {
        fs::read(part.folder(shared).join(WASM_TARGET).join(PROFILE).join(&self.module))
    }

    /// The component of a module: its digest, and the file of its compiled code.
    fn component(
        &self,
        shared: &Path,
        out_dir: &Path,
        module: &[u8],
        part: Part,
    ) -> Result<(String, PathBuf), Box<dyn Error>> {
        let component = wit_component::ComponentEncoder::default()
            .module(module)
            .and_then(|encoder| encoder.validate(true).encode())
            .map_err(|error| format!("adapters/{}: {error:#}", self.folder))?;
        refuse_foreign_imports(&component).map_err(|error| format!("adapters/{}: {error}", self.folder))?;
        let name = format!("{}{}", self.folder, part.suffix());
        write_if_changed(&out_dir.join(format!("{name}.wasm")), &component)?;

        let digest = hex(&Sha256::digest(&component));
        let code = out_dir.join(format!("{name}.cwasm"));
        write_if_changed(&code, &compiled(&name, shared, &component, &digest)?)?;
        Ok((digest, code))
    }
}

/// Adds the type of the component that the module is to become.
fn declare_world(module: &mut Vec<u8>, contract: &Path, world: &str) -> Result<(), Box<dyn Error>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(contract)?;
    let world = resolve.select_world(&[package], Some(world))?;
    wit_component::embed_component_metadata(module, &resolve, world, StringEncoding::UTF8)?;
    Ok(())
}

fn compiled(name: &str, shared: &Path, component: &[u8], digest: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let (architecture, system) = (variable("CARGO_CFG_TARGET_ARCH")?, variable("CARGO_CFG_TARGET_OS")?);
    let folder = shared.join("precompiled").join(format!("{architecture}-{system}"));
    let (code_file, key_file) = (folder.join(name), folder.join(format!("{name}.key")));
    let key = format!(
        "{digest} {} {:016x}",
        engine_config::WASMTIME_VERSION,
        engine_config::CONFIG_ID
    );
    // The key holds the code's own digest as well: two builds may write at the same time.
    if let (Ok(code), Ok(found)) = (fs::read(&code_file), fs::read_to_string(&key_file))
        && found == format!("{key} {}", hex(&Sha256::digest(&code)))
    {
        return Ok(code);
    }
    let code = compile(component, &engine_config::compile_target(&architecture, &system))
        .map_err(|error| format!("adapters/{name}: {error:?}"))?;
    fs::create_dir_all(&folder)?;
    replace(&code_file, &code)?;
    replace(&key_file, format!("{key} {}", hex(&Sha256::digest(&code))).as_bytes())?;
    Ok(code)
}

fn compile(component: &[u8], target: &str) -> wasmtime::Result<Vec<u8>> {
    let mut config = engine_config::engine_config();
    config.target(target)?;
    wasmtime::Engine::new(&config)?.precompile_component(component)
}

fn declaration(module: &[u8]) -> Result<Option<Declaration>, Box<dyn Error>> {
    let mut found = None;
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload?
            && section.name() == "hookhost:adapter"
        {
            let declaration: &mut Declaration = found.get_or_insert_default();
            for line in std::str::from_utf8(section.data())?.lines() {
                match line.split_once('=') {
                    Some(("name", name)) => declaration.name = name.to_owned(),
                    Some(("alias", alias)) => declaration.aliases.push(alias.to_owned()),
                    Some(("env", variable)) => declaration.env.push(variable.to_owned()),
                    _ => return Err(format!("unknown line in the adapter's declaration: {line:?}").into()),
                }
            }
        }
    }
    Ok(found)
}

/// An adapter is pure: whatever else it imports would be a door.
fn refuse_foreign_imports(component: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    let name = import?.name.name;
                    if !["hookhost:adapter/log@", "hookhost:adapter/types@"]
                        .iter()
                        .any(|own| name.starts_with(own))
                    {
                        return Err(format!("imports {name}, which the contract does not define").into());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn refuse_ambiguous_names(built: &[Built]) -> Result<(), Box<dyn Error>> {
    let mut seen = std::collections::BTreeMap::new();
    for Declaration { name, aliases, .. } in built.iter().map(|built| &built.declaration) {
        for word in std::iter::once(name).chain(aliases) {
            if let Some(other) = seen.insert(word, name) {
                return Err(format!("the adapters {other} and {name} both answer to {word}").into());
            }
        }
    }
    Ok(())
}

fn table(built: &[Built]) -> Result<String, Box<dyn Error>> {
    let page = |file: &Path| format!("{{ static CODE: &Page<[u8]> = &Page(*include_bytes!({file:?})); &CODE.0 }}");
    let mut source = String::from("&[\n");
    for Built {
        declaration: Declaration { name, aliases, env },
        digest,
        code,
        hooks,
    } in built
    {
        writeln!(
            source,
            "    Builtin {{ name: {name:?}, aliases: &{aliases:?}, env: &{env:?}, digest: \"sha256:{digest}\", \
             code: {}, hooks: {} }},",
            page(code),
            page(hooks),
        )?;
    }
    source.push(']');
    Ok(source)
}

/// What the adapters' folders say about the quirks of their agents.
fn quirks(root: &Path, built: &[Built]) -> Result<String, Box<dyn Error>> {
    let mut source = String::from("&[\n");
    for name in built.iter().map(|built| &built.declaration.name) {
        let file = root.join("adapters").join(name).join("quirks.toml");
        if file.is_file() {
            writeln!(source, "    ({name:?}, include_str!({file:?})),")?;
        }
    }
    source.push(']');
    Ok(source)
}

fn variable(name: &str) -> Result<String, Box<dyn Error>> {
    env::var(name).map_err(|_| format!("cargo did not set {name}").into())
}

/// Cargo and `include_bytes!` look at the time of a file: one that is the same stays as it is.
fn write_if_changed(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes)
}

/// Another build never sees half a file.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, bytes)?;
    fs::rename(new, path)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
