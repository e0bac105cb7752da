//! What a transcript says. It has roles, texts and tool calls, and nothing else: no ids, times, models, token numbers
//! or results, so every call counts as successful.

use std::borrow::Cow;

use hookhost_sdk::content::{Block, blocks};
use hookhost_sdk::lines::LineReader;
use hookhost_sdk::tools::{self, Effect, Rule};
use hookhost_sdk::{AssistantText, Entry, FileOp, Item, Object, UserPrompt, Wanted};

/// The paths are `path` in transcripts and `file_path` in hooks; both are read.
const TOOLS: &[Rule] = &[
    Rule::new(&["Read"], Effect::File(FileOp::Read, &["path", "file_path"])),
    Rule::new(&["Write"], Effect::File(FileOp::Write, &["path", "file_path"])),
    Rule::new(&["StrReplace"], Effect::File(FileOp::Modify, &["path", "file_path"])),
    Rule::new(
        &["EditNotebook"],
        Effect::File(FileOp::Modify, &["target_notebook", "path"]),
    ),
    Rule::new(&["Delete"], Effect::File(FileOp::Delete, &["path", "file_path"])),
    Rule::new(&["ApplyPatch"], Effect::Patch(&["patch", "input"])),
    Rule::new(
        &["Shell"],
        Effect::Shell {
            command: &["command"],
            cwd: &["working_directory"],
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
        let content = || {
            let message = record.object("message");
            blocks(message.and_then(|message| message.get("content")))
        };
        let mut push = |item| out.push(Entry::new(offset, item));
        match (record.text("role").as_deref(), record.text("type").as_deref()) {
            (Some("user"), _) => {
                if self.want.contains(Wanted::PROMPTS)
                    && let Some(prompt) = prompt(&content())
                {
                    push(Item::UserPrompt(prompt));
                }
            }
            (Some("assistant"), _) => {
                for block in content() {
                    match block {
                        Block::Text(text) if self.want.contains(Wanted::TEXTS) => {
                            if let Some(text) = without_redactions(&text) {
                                push(Item::AssistantText(AssistantText {
                                    text,
                                    model: None,
                                    message_id: None,
                                    replaces: false,
                                }));
                            }
                        }
                        Block::Thinking(text) if self.want.contains(Wanted::THINKING) => {
                            push(Item::Thinking(text.into_owned()));
                        }
                        Block::ToolUse { id, name, input } if self.want.contains(Wanted::FILES) => {
                            push(Item::ToolCall(tools::call(TOOLS, id, &name, input, self.want)));
                        }
                        _ => {}
                    }
                }
            }
            (_, Some("turn_ended")) => push(Item::TurnEnd),
            _ => {}
        }
    }
}

/// What a person typed.
fn prompt(content: &[Block<'_>]) -> Option<UserPrompt> {
    let texts: Vec<_> = content
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(without_timestamp(text)),
            _ => None,
        })
        .collect();
    let queries: Vec<_> = texts.iter().filter_map(|text| user_query(text)).collect();
    // With a query among them, the other texts are what Cursor adds to it.
    let text = if queries.is_empty() { texts } else { queries }.join("\n");
    let images = content.iter().filter(|block| matches!(block, Block::Image)).count();
    (images > 0 || !text.trim().is_empty()).then(|| UserPrompt {
        text,
        images: u32::try_from(images).unwrap_or(u32::MAX),
    })
}

/// The text without the line with the time that Cursor puts before it.
fn without_timestamp(text: &str) -> &str {
    text.trim_start()
        .strip_prefix("<timestamp>")
        .and_then(|rest| rest.split_once("</timestamp>"))
        .map_or(text, |(_, rest)| rest.trim_start())
}

/// What stands between the first opening and the last closing tag: Cursor does not escape what the user types.
/// Only other tags' blocks may stand around it; a sentence that mentions the tag is no wrapper.
fn user_query(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once("<user_query>")?;
    let (query, after) = rest.rsplit_once("</user_query>")?;
    let is_added = |text: &str| text.trim().is_empty() || text.trim_start().starts_with('<');
    if !is_added(before) || !is_added(after) {
        return None;
    }
    let query = query.strip_prefix('\n').unwrap_or(query);
    Some(query.strip_suffix('\n').unwrap_or(query))
}

/// The text without the lines that stand for hidden thinking; `None` when nothing else is left.
fn without_redactions(text: &str) -> Option<String> {
    let hidden = |line: &str| line.trim() == "[REDACTED]";
    let kept = if text.lines().any(hidden) {
        let lines: Vec<_> = text.lines().filter(|line| !hidden(line)).collect();
        Cow::Owned(lines.join("\n").trim().to_owned())
    } else {
        Cow::Borrowed(text)
    };
    (!kept.trim().is_empty()).then(|| kept.into_owned())
}

#[cfg(test)]
mod tests {
    use hookhost_sdk::testing;

    use super::*;
    use crate::Cursor;

    fn read(lines: &str) -> Vec<Item> {
        let (entries, _) = testing::read::<Cursor>(lines.as_bytes(), vec![]).unwrap();
        entries.into_iter().map(|entry| entry.item).collect()
    }

    fn prompt_of(text: &str) -> Option<String> {
        let text = hookhost_sdk::json::quoted(text);
        let line = format!(r#"{{"role":"user","message":{{"content":[{{"type":"text","text":{text}}}]}}}}"#);
        match read(&line).as_slice() {
            [Item::UserPrompt(prompt)] => Some(prompt.text.clone()),
            _ => None,
        }
    }

    #[test]
    fn a_prompt_is_what_stands_in_the_query() {
        let prompt = |text| prompt_of(text).unwrap();
        assert_eq!(prompt("<user_query>\nfix it\n</user_query>"), "fix it");
        assert_eq!(
            prompt(
                "<timestamp>Thursday, Aug 20, 2026, 9:15 AM (UTC+0)</timestamp>\n<user_query>\n a\n\nb \n</user_query>"
            ),
            " a\n\nb "
        );
        assert_eq!(prompt("<context>x</context>\n<user_query>\na\n</user_query>"), "a");
        assert_eq!(
            prompt("<user_query>\na </user_query> b\n</user_query>"),
            "a </user_query> b"
        );
        assert_eq!(
            prompt("about <user_query>x</user_query> tags"),
            "about <user_query>x</user_query> tags"
        );
        assert_eq!(prompt("a\n<timestamp>t</timestamp>"), "a\n<timestamp>t</timestamp>");
        assert_eq!(prompt_of("<user_query>\n\n</user_query>"), None);
    }

    #[test]
    fn hidden_thinking_is_no_text() {
        assert_eq!(without_redactions("[REDACTED]"), None);
        assert_eq!(without_redactions("Done.\n\n[REDACTED]").as_deref(), Some("Done."));
        assert_eq!(
            without_redactions("The [REDACTED] mark\n").as_deref(),
            Some("The [REDACTED] mark\n")
        );
    }

    #[test]
    fn the_end_of_a_turn_is_told_however_it_ended() {
        for status in ["success", "aborted", "error"] {
            let line = format!(r#"{{"type":"turn_ended","status":"{status}"}}"#);
            assert!(matches!(read(&line).as_slice(), [Item::TurnEnd]), "{status}");
        }
    }

    #[test]
    fn only_what_is_wanted_is_given() {
        let line = r#"{"role":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","name":"Read","input":{"path":"b"}}]}}"#;
        let object = Object::parse(line).unwrap();
        let mut out = vec![];
        Reader::new(Wanted::FILES).line(0, &object, &mut out);
        match out.as_slice() {
            [
                Entry {
                    item: Item::ToolCall(call),
                    ..
                },
            ] => {
                assert_eq!(call.files[0].path, "b");
                assert_eq!(call.input, "");
            }
            other => panic!("{other:?}"),
        }
    }
}
