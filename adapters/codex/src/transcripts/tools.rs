//! What Codex's tools do, and how their calls ended.

use std::borrow::Cow;

use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{FileEffect, FileOp, Json, Object, ShellCommand, ToolCall, Wanted, patch, paths, shell};

const TOOLS: &[Rule] = &[
    Rule::new(&["apply_patch"], Effect::Patch(&["input", "patch", "command"])),
    Rule::new(
        &[
            "shell",
            "shell_command",
            "exec_command",
            "local_shell",
            "container.exec",
            "Bash",
        ],
        Effect::Shell {
            command: &["command", "cmd", "script"],
            cwd: &["workdir", "working_directory", "cwd"],
        },
    ),
    Rule::new(
        &["spawn_agent"],
        Effect::Subagent {
            kind: &["agent_type", "agent_role"],
            description: &["description", "task_name"],
            prompt: &["message", "prompt"],
        },
    ),
];

/// Names that programs in a list of arguments have for running one text as a script.
const SCRIPT_FLAGS: &[&str] = &["-lc", "-c", "-Command", "-command", "/c", "/C"];

/// Beginnings of a result that tell no exit code and yet a failure.
const FAILURES: &[&str] = &[
    "apply_patch verification failed",
    "patch rejected",
    "exec command rejected",
    "exec_command failed",
    "aborted",
    "failed to parse",
    "unsupported call",
    "execution error",
    "Failed to apply patch",
];

/// A `function_call`, `custom_tool_call` or `local_shell_call`.
pub(super) fn called(item: &Object<'_>, want: Wanted) -> Option<ToolCall> {
    let id = item.id(&["call_id", "id"]).unwrap_or_default();
    if let Some(action) = item.object("action") {
        let input = Json::parse(action.raw()).ok();
        let mut made = call(TOOLS, id, "local_shell", input, want);
        command(&mut made, &action);
        return Some(made);
    }
    let name = item.text("name")?;
    let input = item.any(&["arguments", "input"]);
    // `functions.apply_patch` is `apply_patch`.
    let plain = name.strip_prefix("functions.").unwrap_or(&name);
    let mut made = call(TOOLS, id, plain, input, want);
    if let Some(text) = input.map(Json::embedded) {
        command(&mut made, &Object::parse(&text).unwrap_or_default());
    }
    Some(made)
}

/// A command given as a list of arguments, and a patch applied by a command.
fn command(made: &mut ToolCall, input: &Object<'_>) {
    let Some(arguments) = input
        .any(&["command", "cmd"])
        .map(Json::items)
        .filter(|list| !list.is_empty())
    else {
        if let Some(shell) = &made.shell {
            made.files = heredoc(&shell.command, shell.cwd.as_deref());
        }
        return;
    };
    let arguments: Vec<Cow<'_, str>> = arguments.into_iter().filter_map(Json::text).collect();
    let cwd = input
        .text_any(&["workdir", "working_directory", "cwd"])
        .map(Cow::into_owned);
    let line = match arguments.as_slice() {
        [program, patch] if is_apply_patch(program) => {
            made.files = below(patch::effects(patch), cwd.as_deref());
            return;
        }
        [_, middle @ .., flag, script]
            if SCRIPT_FLAGS.contains(&flag.as_ref()) && middle.iter().all(|word| word.starts_with('-')) =>
        {
            script.clone().into_owned()
        }
        words => words.iter().map(|word| shell::word(word)).collect::<Vec<_>>().join(" "),
    };
    made.files = heredoc(&line, cwd.as_deref());
    made.shell = Some(ShellCommand { command: line, cwd });
}

/// What `[cd DIR &&] apply_patch <<'EOF'` does, which Codex takes as a call of its own tool. In its shell there is a
/// program of that name as well, which takes the patch as its argument or from a pipe.
fn heredoc(command: &str, cwd: Option<&str>) -> Vec<FileEffect> {
    let Some(at) = command.find("*** Begin Patch") else {
        return vec![];
    };
    let (before, patch) = command.split_at(at);
    let Some(line) = before.trim_end().lines().last() else {
        return vec![];
    };
    let (directory, call) = match line.rsplit_once("&&") {
        Some((change, call)) => match change.trim().strip_prefix("cd ") {
            Some(directory) => (Some(directory.trim().trim_matches(['"', '\''])), call),
            None => return vec![],
        },
        None => (None, line),
    };
    let words: Vec<_> = call.split_whitespace().collect();
    let applies = match words.as_slice() {
        [program, given, ..] if is_apply_patch(program) => given.starts_with(['<', '\'', '"']),
        ["cat", given, .., "|", program] => given.starts_with("<<") && is_apply_patch(program),
        _ => false,
    };
    if !applies {
        return vec![];
    }
    let patch = patch
        .find("*** End Patch")
        .and_then(|end| patch.get(..end))
        .unwrap_or(patch);
    let effects = patch::effects(patch);
    match directory {
        Some(directory) if paths::is_absolute(directory) => below(effects, Some(directory)),
        Some(directory) => below(below(effects, Some(directory)), cwd),
        None => below(effects, cwd),
    }
}

fn is_apply_patch(word: &str) -> bool {
    matches!(word, "apply_patch" | "applypatch")
}

/// The effects with relative paths put below `dir`.
fn below(mut effects: Vec<FileEffect>, dir: Option<&str>) -> Vec<FileEffect> {
    if let Some(dir) = dir {
        for effect in &mut effects {
            if !paths::is_absolute(&effect.path) && !effect.path.starts_with('~') {
                effect.path = paths::join(dir, &effect.path);
            }
        }
    }
    effects
}

/// The changes of a `patch_apply_end`: an object with the files' paths as keys. Those of an item can be a list whose
/// elements hold path and kind.
pub(super) fn changes(changes: Json<'_>) -> Vec<FileEffect> {
    let mut effects = vec![];
    if let Some(changes) = changes.object() {
        for (path, change) in changes.fields() {
            effects.extend(change.object().iter().flat_map(|change| changed(path, change)));
        }
    }
    for change in changes.items().into_iter().filter_map(Json::object) {
        let kind = change.object("kind");
        let path = change.text("path").unwrap_or_default();
        effects.extend(changed(&path, kind.as_ref().unwrap_or(&change)));
    }
    effects
}

/// What happened to one file.
fn changed(path: &str, change: &Object<'_>) -> Vec<FileEffect> {
    // Older versions wrote the kind as the only key: `{"add":{"content":""}}`.
    let kind = change.text_any(&["type", "kind"]).map(Cow::into_owned);
    let kind = kind.or_else(|| change.fields().next().map(|(key, _)| key.to_owned()));
    let inner = kind.as_deref().and_then(|kind| change.object(kind));
    let moved = inner.as_ref().unwrap_or(change).text("move_path").map(Cow::into_owned);
    let effect = |path: &str, op| FileEffect {
        path: paths::plain(path).into_owned(),
        op,
    };
    match (kind.as_deref(), moved) {
        (Some("add"), _) => vec![effect(path, FileOp::Create)],
        (Some("delete"), _) => vec![effect(path, FileOp::Delete)],
        (Some("update"), Some(moved)) => vec![effect(path, FileOp::Delete), effect(&moved, FileOp::Create)],
        (Some("update"), None) => vec![effect(path, FileOp::Modify)],
        _ => vec![],
    }
}

/// `effects` in the order in which the call named the files: the changes come in no order.
pub(super) fn in_order_of(announced: &[FileEffect], mut effects: Vec<FileEffect>) -> Vec<FileEffect> {
    let place = |effect: &FileEffect| {
        announced
            .iter()
            .position(|known| {
                effect.path == known.path
                    || effect
                        .path
                        .strip_suffix(known.path.trim_start_matches("./"))
                        .is_some_and(|rest| rest.ends_with(['/', '\\']))
            })
            .unwrap_or(announced.len())
    };
    effects.sort_by_key(place);
    effects
}

/// How a call ended, as its result tells.
pub(super) struct Ended {
    pub(super) text: String,
    pub(super) is_error: bool,
    /// The subagent that the call started.
    pub(super) subagent: Option<String>,
}

/// The `output` of a `function_call_output` or `custom_tool_call_output`.
pub(super) fn ended(output: Option<Json<'_>>) -> Ended {
    let Some(output) = output else {
        return Ended {
            text: String::new(),
            is_error: false,
            subagent: None,
        };
    };
    let text = texts(output);
    let embedded = Object::parse(&text).or_else(|_| Object::parse(output.raw()));
    let Ok(object) = embedded else {
        let is_error = exit_code(&text).is_some_and(|code| code != 0)
            || FAILURES.iter().any(|beginning| text.starts_with(beginning));
        return Ended {
            text,
            is_error,
            subagent: None,
        };
    };
    let code = object
        .object("metadata")
        .and_then(|metadata| metadata.get("exit_code"))
        .or_else(|| object.get("exit_code"));
    let inner = object.any(&["output", "content"]).map(texts);
    let refused = object.get("success").and_then(Json::flag) == Some(false);
    let failed = code.is_some_and(is_failure)
        || inner
            .as_deref()
            .is_some_and(|text| FAILURES.iter().any(|beginning| text.starts_with(beginning)));
    Ended {
        is_error: failed || refused,
        subagent: object.id(&["agent_id", "thread_id"]),
        text: inner.unwrap_or(text),
    }
}

/// An exit code, a number or its digits.
pub(super) fn is_failure(code: Json<'_>) -> bool {
    code.count() != Some(0)
}

/// A text, or the texts of a list of content parts.
fn texts(output: Json<'_>) -> String {
    if let Some(text) = output.text() {
        return text.into_owned();
    }
    let parts = output.items().into_iter().filter_map(Json::object);
    let texts: Vec<_> = parts
        .filter_map(|part| part.text("text").map(Cow::into_owned))
        .collect();
    texts.join("\n")
}

/// `Exit code: N` or `Process exited with code N`, in the lines before the output itself.
fn exit_code(text: &str) -> Option<i64> {
    text.lines()
        .take_while(|line| !line.starts_with("Output:"))
        .take(8)
        .find_map(|line| {
            let code = line
                .strip_prefix("Exit code:")
                .or_else(|| line.strip_prefix("Process exited with code"))?;
            code.trim().parse().ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(item: &str) -> ToolCall {
        called(&Object::parse(item).unwrap(), Wanted::all()).unwrap()
    }

    fn shown(effects: &[FileEffect]) -> Vec<(&str, FileOp)> {
        effects.iter().map(|effect| (effect.path.as_str(), effect.op)).collect()
    }

    fn shell_call(arguments: &str) -> ToolCall {
        made(&format!(
            r#"{{"type":"function_call","name":"shell","call_id":"c","arguments":{}}}"#,
            hookhost_sdk::json::quoted(arguments)
        ))
    }

    #[test]
    fn a_patch_is_found_in_every_tool_that_takes_one() {
        let patch = r"*** Begin Patch\n*** Add File: a.md\n+x\n*** End Patch";
        let custom = format!(r#"{{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"{patch}"}}"#);
        assert_eq!(shown(&made(&custom).files), [("a.md", FileOp::Create)]);
        let spaced = custom.replace("\"apply_patch\"", "\"functions.apply_patch\"");
        assert_eq!(shown(&made(&spaced).files), [("a.md", FileOp::Create)]);
        let old = format!(
            r#"{{"type":"function_call","call_id":"c","name":"apply_patch","arguments":"{{\"input\":\"{}\"}}"}}"#,
            patch.replace('\\', r"\\")
        );
        assert_eq!(shown(&made(&old).files), [("a.md", FileOp::Create)]);
        let list = format!(r#"{{"command":["apply_patch","{patch}"],"workdir":"/w"}}"#);
        assert_eq!(shown(&shell_call(&list).files), [("/w/a.md", FileOp::Create)]);
        let script =
            format!(r#"{{"command":["bash","-lc","cd sub && apply_patch <<'EOF'\n{patch}\nEOF\n"],"workdir":"/w"}}"#);
        assert_eq!(shown(&shell_call(&script).files), [("/w/sub/a.md", FileOp::Create)]);
        for line in [
            format!(r"apply_patch '{patch}'"),
            format!(r"cat <<'EOF' | apply_patch\n{patch}\nEOF"),
        ] {
            let script = format!(r#"{{"command":"{line}"}}"#);
            assert_eq!(shown(&shell_call(&script).files), [("a.md", FileOp::Create)], "{line}");
        }
    }

    #[test]
    fn a_patch_that_is_only_written_down_changes_no_file() {
        let script =
            r#"{"command":"cat > notes.md <<'EOF'\n*** Begin Patch\n*** Delete File: a.md\n*** End Patch\nEOF"}"#;
        assert_eq!(shown(&shell_call(script).files), []);
    }

    #[test]
    fn a_command_is_a_text_or_a_list_of_arguments() {
        let command = |arguments: &str| shell_call(arguments).shell.unwrap().command;
        assert_eq!(command(r#"{"command":["bash","-lc","rm a.md"]}"#), "rm a.md");
        assert_eq!(command(r#"{"command":["rm","a b.md"]}"#), "rm 'a b.md'");
        assert_eq!(command(r#"{"command":"rm a.md"}"#), "rm a.md");
        assert_eq!(
            command(r#"{"command":["powershell.exe","-NoProfile","-Command","del a"]}"#),
            "del a"
        );
        let unified = made(
            r#"{"type":"function_call","name":"exec_command","call_id":"c","arguments":"{\"cmd\":\"ls\",\"workdir\":\"/w\"}"}"#,
        );
        let shell = unified.shell.unwrap();
        assert_eq!((shell.command.as_str(), shell.cwd.as_deref()), ("ls", Some("/w")));
        let local = made(
            r#"{"type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["ls"],"working_directory":"/w"}}"#,
        );
        assert_eq!(local.shell.unwrap().cwd.as_deref(), Some("/w"));
    }

    #[test]
    fn changes_are_read_in_both_spellings_and_keep_the_calls_order() {
        let text = r#"{"/p/b":{"update":{"unified_diff":"","move_path":"/p/c"}},"/p/d":{"type":"delete"},
            "\\\\?\\C:\\a":{"type":"add"},"/p/e":{"type":"update","move_path":null},"/p/x":{"type":"future"},"/p/y":7}"#;
        let effects = changes(Json::parse(text).unwrap());
        assert_eq!(
            shown(&effects),
            [
                ("/p/b", FileOp::Delete),
                ("/p/c", FileOp::Create),
                ("/p/d", FileOp::Delete),
                (r"C:\a", FileOp::Create),
                ("/p/e", FileOp::Modify),
            ]
        );
        let listed = r#"[{"path":"/p/a","kind":{"type":"add"}},{"path":"/p/b","kind":"update"},{"path":"/p/c",
            "kind":{"type":"update","move_path":"/p/d"}},{"kind":"add"},7]"#;
        assert_eq!(
            shown(&changes(Json::parse(listed).unwrap()))[..4],
            [
                ("/p/a", FileOp::Create),
                ("/p/b", FileOp::Modify),
                ("/p/c", FileOp::Delete),
                ("/p/d", FileOp::Create),
            ]
        );
        let announced = ["e", "./d"].map(|path| FileEffect {
            path: path.to_owned(),
            op: FileOp::Modify,
        });
        let ordered = in_order_of(&announced, effects);
        assert_eq!((ordered[0].path.as_str(), ordered[1].path.as_str()), ("/p/e", "/p/d"));
    }

    #[test]
    fn every_way_of_telling_a_failure_is_understood() {
        let failed = |output: &str| ended(Json::parse(output).ok()).is_error;
        assert!(failed(r#""{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}""#));
        assert!(!failed(r#""{\"output\":\"yes\",\"metadata\":{\"exit_code\":0}}""#));
        assert!(failed(r#""{\"output\":\"\",\"metadata\":{\"exit_code\":-1}}""#));
        assert!(!failed(r#""{\"output\":\"\",\"metadata\":{\"exit_code\":\"0\"}}""#));
        assert!(failed(r#""Exit code: 2\nWall time: 0.1 seconds\nOutput:\nx""#));
        assert!(!failed(r#""Exit code: 0\nOutput:\nExit code: 1""#));
        assert!(failed(
            r#""Chunk ID: 1\nWall time: 1\nProcess exited with code 127\nOutput:\n""#
        ));
        assert!(failed(r#""apply_patch verification failed: x""#));
        assert!(failed(r#"{"content":"patch rejected by user","success":false}"#));
        assert!(failed(r#"[{"type":"input_text","text":"aborted by user after 1s"}]"#));
        assert!(!failed(r#""Success.""#));
        assert!(!ended(None).is_error);
    }
}
