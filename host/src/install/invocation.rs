//! The command lines that agents are given.
//!
//! Agents remember a user's trust by the command's text, so the texts do not change from one version to the next.

use std::path::{Path, PathBuf};

use crate::model::Invocation;

/// Which program agents start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A bare name, to be found on PATH.
    Named(String),
    /// An absolute path.
    At(PathBuf),
}

impl Program {
    /// How agents find this program: by name if that is what PATH leads to, else where it is.
    #[must_use]
    pub fn this() -> Self {
        let name = "hookhost";
        let Ok(current) = std::env::current_exe() else {
            return Self::Named(name.to_owned());
        };
        match crate::paths::program(name) {
            Some(found) if same_file(&found, &current) => Self::Named(name.to_owned()),
            _ if current.file_stem().is_some_and(|stem| stem == name) => Self::At(current),
            // Called under another name: what stands beside it under ours, else whatever PATH will lead to.
            found => {
                let beside = current
                    .with_file_name(name)
                    .with_extension(std::env::consts::EXE_EXTENSION);
                match found {
                    None if beside.is_file() => Self::At(beside),
                    _ => Self::Named(name.to_owned()),
                }
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Named(name) => name.clone(),
            Self::At(path) => path.to_string_lossy().into_owned(),
        }
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// `hookhost hook <agent> {hook}`, silent and successful once the program is gone.
#[must_use]
pub fn of_hookhost(program: &Program, agent: &str) -> Invocation {
    invocation(program, &["hook", agent, "{hook}"], false)
}

/// `entire hooks <agent> {hook}`: the Entire CLI, which then calls us.
#[must_use]
pub fn of_entire(agent: &str) -> Invocation {
    invocation(&Program::Named("entire".to_owned()), &["hooks", agent, "{hook}"], true)
}

fn invocation(program: &Program, words: &[&str], kebab: bool) -> Invocation {
    let text = program.text();
    let call = words.join(" ");
    Invocation {
        posix: posix(program, &text, &call),
        cmd: cmd(program, &text, &call),
        powershell: powershell(program, &text, &call),
        argv: std::iter::once(text.as_str())
            .chain(words.iter().copied())
            .map(str::to_owned)
            .collect(),
        kebab,
    }
}

/// For any shell that agents use on Unix, whatever its syntax: a word for `sh` does the rest.
fn posix(program: &Program, text: &str, call: &str) -> String {
    let program = match program {
        Program::Named(name) => name.clone(),
        Program::At(_) => in_double_quotes(text),
    };
    let script = format!("command -v {program} >/dev/null 2>&1 || exit 0; exec {program} {call}");
    format!("sh -c '{}'", script.replace('\'', r"'\''"))
}

fn in_double_quotes(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        if matches!(character, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// `where /q` and `if exist` are silent without a redirection, which other shells would take for a file named `nul`.
fn cmd(program: &Program, text: &str, call: &str) -> String {
    match program {
        Program::Named(name) => format!("where /q {name} && {name} {call} || exit 0"),
        Program::At(_) => format!("if exist \"{text}\" \"{text}\" {call}"),
    }
}

fn powershell(program: &Program, text: &str, call: &str) -> String {
    match program {
        Program::Named(name) => {
            format!("if (Get-Command {name} -ErrorAction SilentlyContinue) {{ {name} {call} }}; exit 0")
        }
        Program::At(_) => {
            let quoted = format!("'{}'", text.replace('\'', "''"));
            format!("if (Test-Path -LiteralPath {quoted}) {{ & {quoted} {call} }}; exit 0")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::own::Owner;
    use super::*;

    fn named() -> Invocation {
        of_hookhost(&Program::Named("hookhost".to_owned()), "claude-code")
    }

    fn at(path: &str) -> Invocation {
        of_hookhost(&Program::At(PathBuf::from(path)), "claude-code")
    }

    #[test]
    fn the_texts_are_those_that_users_have_trusted() {
        let named = named();
        assert_eq!(
            named.posix,
            "sh -c 'command -v hookhost >/dev/null 2>&1 || exit 0; exec hookhost hook claude-code {hook}'"
        );
        assert_eq!(
            named.cmd,
            "where /q hookhost && hookhost hook claude-code {hook} || exit 0"
        );
        assert_eq!(
            named.powershell,
            "if (Get-Command hookhost -ErrorAction SilentlyContinue) { hookhost hook claude-code {hook} }; exit 0"
        );
        assert_eq!(named.argv, ["hookhost", "hook", "claude-code", "{hook}"]);
        let entire = of_entire("kiro");
        assert_eq!(
            entire.posix,
            "sh -c 'command -v entire >/dev/null 2>&1 || exit 0; exec entire hooks kiro {hook}'"
        );
        assert!(entire.kebab);
    }

    #[test]
    fn a_path_is_quoted_for_each_shell() {
        let posix = at("/home/dev/My $Tools/it's/hookhost").posix;
        assert_eq!(
            posix,
            r#"sh -c 'command -v "/home/dev/My \$Tools/it'\''s/hookhost" >/dev/null 2>&1 || exit 0; exec "/home/dev/My \$Tools/it'\''s/hookhost" hook claude-code {hook}'"#
        );
        let windows = at(r"C:\My Tools\hookhost.exe");
        assert_eq!(
            windows.cmd,
            r#"if exist "C:\My Tools\hookhost.exe" "C:\My Tools\hookhost.exe" hook claude-code {hook}"#
        );
        assert_eq!(
            windows.powershell,
            r"if (Test-Path -LiteralPath 'C:\My Tools\hookhost.exe') { & 'C:\My Tools\hookhost.exe' hook claude-code {hook} }; exit 0"
        );
    }

    #[test]
    fn every_form_is_recognised_as_ours() {
        let owner = Owner::new("claude-code", &[]);
        for invocation in [
            named(),
            of_entire("claude-code"),
            at(r"C:\My Tools\hookhost.exe"),
            at("/home/dev/My $Tools/it's/hookhost"),
        ] {
            for command in [&invocation.posix, &invocation.cmd, &invocation.powershell] {
                assert!(owner.program_in(command).is_some(), "{command}");
            }
            assert!(owner.program_in(&invocation.argv.join(" ")).is_some());
        }
    }

    #[cfg(unix)]
    mod run {
        use std::os::unix::fs::PermissionsExt;
        use std::process::Command;

        use super::*;

        fn run(script: &str, path: &str) -> (Option<i32>, String, String) {
            let output = Command::new("sh")
                .arg("-c")
                .arg(script)
                .env_clear()
                .env("PATH", path)
                .output()
                .unwrap();
            (
                output.status.code(),
                String::from_utf8(output.stdout).unwrap(),
                String::from_utf8(output.stderr).unwrap(),
            )
        }

        #[test]
        fn a_program_under_any_path_is_started_and_a_missing_one_is_silence() {
            let directory = tempfile::tempdir().unwrap();
            let folder = directory.path().join("My $HOME `Tools` \"q\" it's \\ é");
            std::fs::create_dir(&folder).unwrap();
            let program = folder.join("hookhost");
            let command = of_hookhost(&Program::At(program.clone()), "claude-code")
                .posix
                .replace("{hook}", "Stop");
            assert_eq!(run(&command, "/usr/bin:/bin"), (Some(0), String::new(), String::new()));
            std::fs::write(&program, "#!/bin/sh\necho \"$*\"\nexit 3\n").unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(
                run(&command, "/usr/bin:/bin"),
                (Some(3), "hook claude-code Stop\n".to_owned(), String::new())
            );
        }

        #[test]
        fn by_name_it_is_looked_for_on_path() {
            let directory = tempfile::tempdir().unwrap();
            let command = named().posix.replace("{hook}", "Stop");
            let path = format!("{}:/usr/bin:/bin", directory.path().display());
            assert_eq!(run(&command, &path), (Some(0), String::new(), String::new()));
        }
    }
}
