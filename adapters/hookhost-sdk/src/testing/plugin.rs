//! Running a plugin file that an agent would load, with a program in hookhost's place that writes down what it is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::{Invocation, Object};

/// Writes `{"hook", "payload"}` as one line for each call.
const RECORDER: &str = r#"
import { appendFileSync, readFileSync } from "node:fs";
const payload = readFileSync(0, "utf8");
appendFileSync(new URL("calls.jsonl", import.meta.url), JSON.stringify({ hook: process.argv[2], payload }) + "\n");
process.stdout.write(process.env.HOOKHOST_TEST_REPLY ?? "");
"#;

/// Reads nothing and does not end by itself.
const HANGING: &str = "setTimeout(() => {}, 600_000);";

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

/// A folder to run a plugin file in.
pub struct PluginTest {
    folder: PathBuf,
    stand_in: StandIn,
}

/// What a run came to.
#[derive(Debug)]
pub struct Run {
    /// The hooks and payloads, in the order in which they arrived.
    pub calls: Vec<(String, String)>,
    /// What anybody printed.
    pub stdout: String,
    /// What anybody complained about.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

impl PluginTest {
    /// Makes the folder. `name` tells it from those of other tests.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn new(name: &str, stand_in: StandIn) -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("hookhost-plugin-{name}-{}", std::process::id()));
        // Left over from a process of the same number.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let test = Self { folder, stand_in };
        test.write(
            "hookhost.mjs",
            if stand_in == StandIn::Hanging {
                HANGING
            } else {
                RECORDER
            },
        )?;
        Ok(test)
    }

    /// How the stand-in is called.
    #[must_use]
    pub fn invocation(&self) -> Invocation {
        let program = match self.stand_in {
            StandIn::Missing => "hookhost-is-not-installed-here".to_owned(),
            StandIn::Recorder | StandIn::Hanging => node(),
        };
        let script = self.folder.join("hookhost.mjs").display().to_string();
        Invocation {
            posix: String::new(),
            cmd: String::new(),
            powershell: String::new(),
            argv: vec![program, script, "{hook}".to_owned()],
            kebab: false,
        }
    }

    /// Checks the plugin's syntax, then runs `scenario`, a module that finds the plugin's path in `process.argv[2]`.
    ///
    /// # Errors
    /// When node is missing, finds fault with the plugin, or when the scenario fails.
    pub fn run(&self, plugin: &str, scenario: &Path) -> Result<Run, String> {
        let plugin = self.write("plugin.mjs", plugin)?;
        let mut check = Command::new(node());
        succeeded(check.arg("--check").arg(&plugin), "the plugin's syntax")?;
        let begun = Instant::now();
        let mut command = Command::new(node());
        let output = succeeded(
            command.arg(scenario).arg(&plugin).current_dir(&self.folder),
            "the scenario",
        )?;
        let took = begun.elapsed();
        let recorded = fs::read_to_string(self.folder.join("calls.jsonl")).unwrap_or_default();
        Ok(Run {
            calls: recorded.lines().filter_map(call).collect(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            took,
        })
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for PluginTest {
    fn drop(&mut self) {
        // A folder in the system's temporary directory may stay.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The program to run scripts with; `HOOKHOST_NODE` names another one.
fn node() -> String {
    env::var("HOOKHOST_NODE").unwrap_or_else(|_| "node".to_owned())
}

fn succeeded(command: &mut Command, what: &str) -> Result<Output, String> {
    let output = command
        .output()
        .map_err(|error| format!("this test needs node, which runs the plugin: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!(
        "{what}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn call(line: &str) -> Option<(String, String)> {
    let call = Object::parse(line).ok()?;
    Some((call.text("hook")?.into_owned(), call.text("payload")?.into_owned()))
}
