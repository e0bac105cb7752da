//! Running a plugin file that an agent would load, with a program in hookhost's place that writes down what it is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::{Adapter, Edit, Invocation, Scope};

/// Writes the hook and the payload as a line each, and says what the scenario wants said.
const RECORDER: &str = r#"payload=$(cat)
printf '%s\n%s\n' "$1" "$payload" >>"${0%/*}/calls"
printf '%s' "$HOOKHOST_TEST_REPLY"
"#;

/// What the compiler has to know of the runtime.
const TYPES: &str = include_str!("plugin-types.d.ts");

/// Reads nothing, does not end in time, and leaves behind what holds its pipes.
const HANGING: &str = "sleep 30 &\nwait";

/// What hookhost's place is taken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandIn {
    /// Writes down what it is told.
    Recorder,
    /// Does not answer.
    Hanging,
    /// Is not installed.
    Missing,
}

/// What a run came to.
#[derive(Debug)]
pub struct Run {
    /// The hooks and payloads, in the order in which they arrived.
    pub calls: Vec<(String, String)>,
    /// How long it took.
    pub took: Duration,
}

/// Runs an adapter's plugin file, as it is installed, in the scenario `tests/scenarios/<scenario>.mjs` of the package
/// under test: a module that finds the plugin's path in `process.argv[2]`. Its syntax is checked first. `change` may
/// shorten a time limit.
///
/// # Errors
/// When node is missing or finds fault with the plugin, when the scenario fails, and when anything is printed.
pub fn run_plugin<A: Adapter>(
    scenario: &str,
    stand_in: StandIn,
    change: impl FnOnce(String) -> String,
) -> Result<Run, String> {
    let folder = Folder::new(&format!("{}-{scenario}-{stand_in:?}", A::MANIFEST.name))?;
    let script = match stand_in {
        StandIn::Hanging => HANGING,
        StandIn::Recorder | StandIn::Missing => RECORDER,
    };
    let program = folder.write("hookhost.sh", script)?;
    let plugin = folder.write("plugin.mjs", &change(installed::<A>(stand_in, &program)?))?;
    let package = env::var("CARGO_MANIFEST_DIR").map_err(|_| "CARGO_MANIFEST_DIR is not set: run cargo test")?;
    let scenario = Path::new(&package)
        .join("tests/scenarios")
        .join(format!("{scenario}.mjs"));

    succeeded(Command::new(node()).arg("--check").arg(&plugin), "the plugin's syntax")?;
    let begun = Instant::now();
    let mut command = Command::new(node());
    command.arg(scenario).arg(&plugin).current_dir(&folder.0);
    let output = succeeded(&mut command, "the scenario")?;
    let took = begun.elapsed();
    if !output.stdout.is_empty() || !output.stderr.is_empty() {
        return Err(format!("the plugin printed: {}", printed(&output)));
    }
    let recorded = fs::read_to_string(folder.0.join("calls")).unwrap_or_default();
    let mut lines = recorded.lines().map(str::to_owned);
    Ok(Run {
        calls: std::iter::from_fn(|| lines.next().zip(lines.next())).collect(),
        took,
    })
}

/// Has the TypeScript compiler look at an adapter's plugin file; `HOOKHOST_TSC` names it, else it is `tsc`.
///
/// # Errors
/// When the compiler is missing or finds fault with the plugin.
pub fn type_check_plugin<A: Adapter>() -> Result<(), String> {
    let folder = Folder::new(&format!("{}-types", A::MANIFEST.name))?;
    let plugin = installed::<A>(StandIn::Missing, Path::new("hookhost.sh"))?;
    let files = [folder.write("plugin.ts", &plugin)?, folder.write("types.d.ts", TYPES)?];
    let tsc = env::var("HOOKHOST_TSC").unwrap_or_else(|_| "tsc".to_owned());
    let mut command = Command::new(tsc);
    command
        .args(["--noEmit", "--strict", "false", "--target", "es2022", "--lib", "es2022"])
        .args(["--module", "esnext", "--moduleResolution", "bundler"])
        .args(files)
        .current_dir(&folder.0);
    succeeded(&mut command, "the compiler").map(|_| ())
}

/// The plugin file that the adapter's plan writes, with the stand-in's command in it.
fn installed<A: Adapter>(stand_in: StandIn, script: &Path) -> Result<String, String> {
    let program = match stand_in {
        StandIn::Missing => "hookhost-is-not-installed-here",
        StandIn::Recorder | StandIn::Hanging => "sh",
    };
    let invocation = Invocation {
        posix: String::new(),
        cmd: String::new(),
        powershell: String::new(),
        argv: vec![program.to_owned(), script.display().to_string(), "{hook}".to_owned()],
        kebab: false,
    };
    let plan = A::default()
        .registration(&invocation, Scope::Repo, &super::context())
        .map_err(|fault| format!("no plan: {fault:?}"))?;
    match plan.edits.into_iter().next() {
        Some(Edit::File(file)) => Ok(file.content),
        other => Err(format!("the plan begins with no file but {other:?}")),
    }
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("hookhost-plugin-{name}-{}", std::process::id()));
        // Left over from a process of the same number.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self(folder))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It lies in the system's temporary directory and may stay.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program to run scripts with; `HOOKHOST_NODE` names another one.
fn node() -> String {
    env::var("HOOKHOST_NODE").unwrap_or_else(|_| "node".to_owned())
}

fn succeeded(command: &mut Command, what: &str) -> Result<Output, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("this test needs {program}, which checks or runs the plugin: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{what}: {}\n{}", output.status, printed(&output)))
}

fn printed(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
