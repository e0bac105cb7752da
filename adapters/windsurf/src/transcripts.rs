//! What a transcript says: a row a step, with the step's facts under its own name. There are no ids, times, models or
//! token numbers.

use hookhost_sdk::lines::LineReader;
use hookhost_sdk::{
    AssistantText, Entry, FileEffect, FileOp, Item, Object, ShellCommand, ToolCall, ToolResult, UserPrompt, Wanted,
    paths,
};

/// Reads the lines.
pub(crate) struct Reader {
    want: Wanted,
}

impl Reader {
    pub(crate) fn new(want: Wanted) -> Self {
        Self { want }
    }
}

impl LineReader for Reader {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        let Some(step) = record.text("type") else { return };
        let body = record.object(&step).unwrap_or_default();
        let done = record.text("status").is_none_or(|status| status == "done");
        let mut push = |item| out.push(Entry::new(offset, item));
        match step.as_ref() {
            "user_input" if done => {
                if let (true, Some(text)) = (self.want.contains(Wanted::PROMPTS), body.text("user_response")) {
                    push(Item::UserPrompt(UserPrompt {
                        text: text.into_owned(),
                        images: 0,
                    }));
                }
            }
            "planner_response" if done => {
                if let (true, Some(text)) = (self.want.contains(Wanted::TEXTS), body.text("response")) {
                    push(Item::AssistantText(AssistantText {
                        text: text.into_owned(),
                        model: None,
                        message_id: None,
                        replaces: false,
                    }));
                }
            }
            "user_input" | "planner_response" => {}
            tool if self.want.contains(Wanted::FILES) => {
                // The place in the file serves as the id that links the two.
                let id = format!("step-{offset}");
                push(Item::ToolCall(call(id.clone(), tool, &body, self.want)));
                push(Item::ToolResult(ToolResult {
                    id,
                    output: match body.text("output") {
                        Some(output) if self.want.contains(Wanted::TOOL_BODIES) => output.into_owned(),
                        _ => String::new(),
                    },
                    is_error: !done || has_failed(&body),
                    files: vec![],
                    subagent_id: None,
                }));
            }
            _ => {}
        }
    }
}

fn call(id: String, tool: &str, body: &Object<'_>, want: Wanted) -> ToolCall {
    let file = |op| {
        let path = body.text("path")?;
        Some(FileEffect {
            path: paths::of_uri(&path).into_owned(),
            op,
        })
    };
    let effect = match tool {
        "view_file" => file(FileOp::Read),
        // No content before: a new file, or an empty one that was there.
        "code_action" if body.text("original_content").is_none() => file(FileOp::Write),
        "code_action" => file(FileOp::Modify),
        _ => None,
    };
    let shell = (tool == "run_command").then(|| body.text("command")).flatten();
    ToolCall {
        id,
        name: tool.to_owned(),
        input: if want.contains(Wanted::TOOL_BODIES) {
            body.raw().to_owned()
        } else {
            String::new()
        },
        files: effect.into_iter().collect(),
        shell: shell.map(|command| ShellCommand {
            command: command.into_owned(),
            cwd: body.text("cwd").map(|cwd| paths::of_uri(&cwd).into_owned()),
        }),
        subagent: None,
    }
}

/// Refused by the user, or ended with an error.
fn has_failed(body: &Object<'_>) -> bool {
    let refused = body
        .text("acknowledgement_type")
        .is_some_and(|answer| answer.contains("REJECT"));
    let exit_code = body.get("exit_code");
    refused || body.flag("user_rejected") || exit_code.is_some_and(|code| code.count() != Some(0))
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing;

    use super::*;
    use crate::Windsurf;

    fn shown(line: &str) -> Vec<String> {
        let (entries, _) = testing::read::<Windsurf>(line.as_bytes(), vec![]).unwrap();
        entries
            .into_iter()
            .map(|entry| match entry.item {
                Item::UserPrompt(prompt) => format!("prompt {}", prompt.text),
                Item::AssistantText(text) => format!("text {}", text.text),
                Item::ToolCall(call) => {
                    let files: Vec<_> = call
                        .files
                        .iter()
                        .map(|file| format!(" {:?} {}", file.op, file.path))
                        .collect();
                    format!("{}{}", call.name, files.concat())
                }
                Item::ToolResult(result) if result.is_error => "failed".to_owned(),
                Item::ToolResult(result) => format!("ok {}", result.output),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn only_finished_rows_count() {
        let row = |status: &str| {
            shown(&format!(
                r#"{{"type":"user_input","status":"{status}","user_input":{{"user_response":"a @[b]"}}}}"#
            ))
        };
        assert_eq!(row("done"), ["prompt a @[b]"]);
        assert_eq!(row("canceled"), [""; 0]);
        assert_eq!(
            shown(
                r#"{"type":"code_action","status":"error","code_action":{"path":"file:///a","original_content":"x"}}"#
            ),
            ["code_action FileOp::Modify /a", "failed"]
        );
    }

    #[test]
    fn edits_say_whether_there_was_something_before() {
        let edit = |body: &str| {
            shown(&format!(
                r#"{{"type":"code_action","status":"done","code_action":{body}}}"#
            ))
        };
        assert_eq!(
            edit(r#"{"path":"file:///c%3A/a%20b.ts","new_content":"x"}"#),
            ["code_action FileOp::Write c:/a b.ts", "ok "]
        );
        assert_eq!(
            edit(r#"{"path":"/p","original_content":"","new_content":"x"}"#)[0],
            "code_action FileOp::Write /p"
        );
        assert_eq!(
            edit(r#"{"path":"/p","original_content":"o"}"#)[0],
            "code_action FileOp::Modify /p"
        );
        assert_eq!(
            edit(r#"{"path":"/p","original_content":"o","acknowledgement_type":"ACKNOWLEDGEMENT_TYPE_REJECT"}"#)[1],
            "failed"
        );
    }

    #[test]
    fn a_command_fails_by_its_exit_code_or_the_users_word() {
        let run = |body: &str| {
            shown(&format!(
                r#"{{"type":"run_command","status":"done","run_command":{body}}}"#
            ))[1]
                .clone()
        };
        assert_eq!(run(r#"{"command":"rm a","exit_code":0,"output":"x"}"#), "ok x");
        assert_eq!(run(r#"{"command":"rm a","exit_code":null}"#), "ok ");
        assert_eq!(run(r#"{"command":"rm a","exit_code":"0"}"#), "ok ");
        assert_eq!(run(r#"{"command":"rm a","exit_code":1}"#), "failed");
        assert_eq!(run(r#"{"command":"rm a","exit_code":-1}"#), "failed");
        assert_eq!(
            run(r#"{"command":"rm a","exit_code":0,"user_rejected":true}"#),
            "failed"
        );
    }

    #[test]
    fn rows_of_unknown_kinds_are_passed_over_or_named() {
        assert_eq!(shown(r#"{"status":"done"}"#), [""; 0]);
        assert_eq!(shown(r#"{"type":"search_web","status":"done"}"#), ["search_web", "ok "]);
    }
}
