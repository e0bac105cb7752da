//! What an agent's tools do, by table.
//!
//! ```
//! use hookhost_sdk::tools::{Effect, Rule, call};
//! use hookhost_sdk::{FileOp, Json, Wanted};
//!
//! const TOOLS: &[Rule] = &[
//!     Rule::new(&["Write"], Effect::File(FileOp::Write, &["file_path"])),
//!     Rule::new(&["Bash"], Effect::Shell { command: &["command"], cwd: &[] }),
//! ];
//!
//! let input = Json::parse(r#"{"file_path":"/a/b.rs"}"#).unwrap();
//! let call = call(TOOLS, "toolu_1".to_owned(), "Write", Some(input), Wanted::FILES);
//! assert_eq!(call.files[0].path, "/a/b.rs");
//! ```
//!
//! Fields are named as in [`crate::mapping`].

use crate::mapping::Fields;
use crate::{FileEffect, FileOp, Json, Object, ShellCommand, SubagentCall, ToolCall, Wanted, patch};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The tool's names; capitals make no difference.
    pub names: &'static [&'static str],
    /// What it does.
    pub effect: Effect,
}

impl Rule {
    /// Tools with these names do this.
    #[must_use]
    pub const fn new(names: &'static [&'static str], effect: Effect) -> Self {
        Self { names, effect }
    }
}

/// What a tool does, and where its input says to what.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// To the file, or the list of files, in a field. An input that is a patch text ([`patch::effects`]) is read as that:
    /// some agents take one in the place of the fields.
    File(FileOp, Fields),
    /// Applies the patch text in a field, or the input itself when it is a text ([`patch::effects`]).
    Patch(Fields),
    /// Runs a command line.
    Shell {
        /// The command line.
        command: Fields,
        /// Where it runs.
        cwd: Fields,
    },
    /// Starts a subagent.
    Subagent {
        /// The kind of subagent.
        kind: Fields,
        /// Its task in short.
        description: Fields,
        /// Its task.
        prompt: Fields,
    },
}

/// Stands in every patch text.
const PATCH: &str = "*** Begin Patch";

/// The call of a tool. A name that is in no rule has no effects. The input is kept when `want` has `TOOL_BODIES`.
///
/// An input that is a text holding a JSON object is read as that object.
#[must_use]
pub fn call(rules: &[Rule], id: String, name: &str, input: Option<Json<'_>>, want: Wanted) -> ToolCall {
    let mut call = ToolCall {
        id,
        name: name.to_owned(),
        input: String::new(),
        files: vec![],
        shell: None,
        subagent: None,
    };
    let keeps_input = want.contains(Wanted::TOOL_BODIES);
    let named = |rule: &&Rule| rule.names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let effect = rules.iter().find(named).map(|rule| rule.effect);
    let Some(input) = input.filter(|_| keeps_input || effect.is_some()) else {
        return call;
    };
    let text = input.text();
    let embedded = text
        .as_deref()
        .filter(|text| text.trim_start().starts_with('{') && Json::parse(text).is_ok());
    let plain = text.as_deref().filter(|_| embedded.is_none());
    let json = embedded.unwrap_or(input.raw());
    if keeps_input {
        json.clone_into(&mut call.input);
    }
    let Some(effect) = effect else { return call };
    let object = Object::parse(json).unwrap_or_default();
    match effect {
        Effect::File(op, fields) => {
            call.files = match plain.filter(|text| op != FileOp::Read && text.contains(PATCH)) {
                Some(text) => patch::effects(text),
                None => files(&object, op, fields),
            };
        }
        Effect::Patch(fields) => {
            call.files = field(&object, fields)
                .or(plain.map(Into::into))
                .map(|text| patch::effects(&text))
                .unwrap_or_default();
        }
        Effect::Shell { command, cwd } => {
            call.shell = field(&object, command)
                .or(plain.map(Into::into))
                .map(|command| ShellCommand {
                    command,
                    cwd: field(&object, cwd),
                });
        }
        Effect::Subagent {
            kind,
            description,
            prompt,
        } => {
            call.subagent = Some(SubagentCall {
                subagent_type: field(&object, kind),
                description: field(&object, description),
                prompt: field(&object, prompt),
            });
        }
    }
    call
}

/// What happens to the files that the first of the fields names.
fn files(object: &Object<'_>, op: FileOp, fields: Fields) -> Vec<FileEffect> {
    let Some(named) = fields.iter().find_map(|field| object.at(field)) else {
        return vec![];
    };
    let one = named.text().into_iter();
    let several = named.items().into_iter().filter_map(Json::text);
    one.chain(several)
        .filter(|path| !path.is_empty())
        .map(|path| FileEffect {
            path: path.into_owned(),
            op,
        })
        .collect()
}

fn field(object: &Object<'_>, fields: Fields) -> Option<String> {
    fields
        .iter()
        .find_map(|field| object.at(field)?.text().filter(|text| !text.is_empty()))
        .map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &[Rule] = &[
        Rule::new(
            &["Write", "create"],
            Effect::File(FileOp::Write, &["file_path", "path"]),
        ),
        Rule::new(&["remove-files"], Effect::File(FileOp::Delete, &["file_paths"])),
        Rule::new(&["apply_patch"], Effect::Patch(&["input"])),
        Rule::new(
            &["Bash"],
            Effect::Shell {
                command: &["command", "cmd"],
                cwd: &["cwd"],
            },
        ),
        Rule::new(
            &["Task"],
            Effect::Subagent {
                kind: &["subagent_type"],
                description: &["description"],
                prompt: &["prompt"],
            },
        ),
    ];

    fn made(name: &str, input: &str) -> ToolCall {
        call(TOOLS, "t".to_owned(), name, Json::parse(input).ok(), Wanted::all())
    }

    fn paths(call: &ToolCall) -> Vec<(&str, FileOp)> {
        call.files
            .iter()
            .map(|effect| (effect.path.as_str(), effect.op))
            .collect()
    }

    #[test]
    fn files_are_named_by_a_text_or_a_list() {
        assert_eq!(paths(&made("write", r#"{"path":"a"}"#)), [("a", FileOp::Write)]);
        assert_eq!(
            paths(&made("remove-files", r#"{"file_paths":["a",null,"","b"]}"#)),
            [("a", FileOp::Delete), ("b", FileOp::Delete)]
        );
        assert_eq!(paths(&made("Write", r#"{"file_path":7}"#)), []);
        assert_eq!(paths(&made("Read", r#"{"file_path":"a"}"#)), []);
        assert_eq!(
            paths(&made("Write", r#""{\"filePath\":\"a\"}""#)),
            [("a", FileOp::Write)]
        );
    }

    #[test]
    fn a_patch_is_a_field_or_the_whole_input() {
        let patch = r#""*** Begin Patch\n*** Add File: a\n*** End Patch""#;
        assert_eq!(paths(&made("apply_patch", patch)), [("a", FileOp::Create)]);
        assert_eq!(
            paths(&made("apply_patch", &format!("{{\"input\":{patch}}}"))),
            [("a", FileOp::Create)]
        );
        assert_eq!(paths(&made("Write", patch)), [("a", FileOp::Create)]);
        assert_eq!(paths(&made("Write", r#""a text""#)), []);
    }

    #[test]
    fn commands_and_subagents_are_told() {
        let shell = made("Bash", r#"{"command":"rm a","cwd":"/w"}"#).shell.unwrap();
        assert_eq!((shell.command.as_str(), shell.cwd.as_deref()), ("rm a", Some("/w")));
        let subagent = made("Task", r#"{"subagent_type":"Explore","prompt":""}"#)
            .subagent
            .unwrap();
        assert_eq!(subagent.subagent_type.as_deref(), Some("Explore"));
        assert_eq!(subagent.prompt, None);
    }

    #[test]
    fn the_input_is_kept_when_it_is_wanted() {
        let input = Json::parse(r#"{"file_path":"a", "content":"x"}"#).ok();
        assert_eq!(made("Write", r#"{"file_path":"a"}"#).input, r#"{"file_path":"a"}"#);
        assert_eq!(call(TOOLS, String::new(), "Write", input, Wanted::FILES).input, "");
    }
}
