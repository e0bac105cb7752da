//! `<id>.messages.json`: one document, rewritten as the session goes on. Before the move to the SDK the extension kept
//! a bare list of messages.

use hookhost_sdk::content::{Block, blocks};
use hookhost_sdk::lines::DocumentReader;
use hookhost_sdk::prompt::unwrapped;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, Companion, Entry, FileOp, Item, Json, Object, SessionFacts, ShellCommand, Start, ToolCall,
    ToolResult, Usage, UsageScope, UserPrompt, Wanted, time,
};

use crate::hooks::{WRAPPERS, slash_command};

const PATH: &[&str] = &["path", "file_path", "absolutePath"];

const TOOLS: &[Rule] = &[
    Rule::new(&["editor", "replace_in_file"], Effect::File(FileOp::Modify, PATH)),
    Rule::new(&["write_to_file", "new_file"], Effect::File(FileOp::Write, PATH)),
    Rule::new(&["apply_patch"], Effect::Patch(&["input", "patch"])),
    Rule::new(
        &["run_commands", "execute_command"],
        Effect::Shell {
            command: &["command", "cmd"],
            cwd: &["cwd"],
        },
    ),
    Rule::new(&["read_file"], Effect::File(FileOp::Read, PATH)),
    Rule::new(
        &["spawn_agent"],
        Effect::Subagent {
            kind: &["agent", "type"],
            description: &["task"],
            prompt: &["task"],
        },
    ),
];

/// Reads a session's messages.
pub(crate) struct Messages {
    want: Wanted,
    companions: Vec<Companion>,
}

impl Messages {
    pub(crate) fn new(start: &Start) -> Self {
        Self {
            want: start.want,
            companions: start.companions.clone(),
        }
    }
}

impl DocumentReader for Messages {
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
        let session = document.object().unwrap_or_default();
        let messages = if session.raw().is_empty() {
            document.items()
        } else {
            session.items("messages")
        };
        let beside: Vec<String> = self
            .companions
            .iter()
            .map(|companion| String::from_utf8_lossy(&companion.data).into_owned())
            .collect();
        let beside: Vec<Json<'_>> = beside.iter().filter_map(|text| Json::parse(text).ok()).collect();
        let manifest = beside.iter().find_map(|json| json.object()).unwrap_or_default();
        let ui_messages: Vec<_> = beside.iter().flat_map(|json| json.items()).collect();
        out.push(Entry::new(0, Item::Session(facts(&session, &manifest))));
        let mut has_metrics = false;
        let mut replies = 0;
        for (index, message) in (0_u64..).zip(&messages) {
            let Some(message) = message.object() else { continue };
            has_metrics |= message.has("metrics");
            replies += u32::from(message.text("role").as_deref() == Some("assistant"));
            self.message(index, &message, out);
        }
        if self.want.contains(Wanted::TOKENS) && !has_metrics {
            let last = (messages.len() as u64).saturating_sub(1);
            out.extend(
                older_usage(&ui_messages)
                    .chain(total_usage(&manifest, replies))
                    .map(|usage| Entry::new(last, Item::Usage(usage))),
            );
        }
        messages.len() as u64
    }
}

fn facts(session: &Object<'_>, manifest: &Object<'_>) -> SessionFacts {
    let text = |key| manifest.text(key).map(Into::into);
    SessionFacts {
        session_id: session.id(&["sessionId"]).or_else(|| manifest.id(&["session_id"])),
        parent_session_id: manifest.id(&["parent_session_id"]),
        cwd: text("cwd").or_else(|| text("workspace_root")),
        started_at: manifest.get("started_at").and_then(time::of),
        model: text("model"),
        agent_version: None,
        title: None,
    }
}

/// The whole session's numbers, for messages without any of their own.
fn total_usage(manifest: &Object<'_>, replies: u32) -> Option<Usage> {
    let usage = manifest.object("metadata")?.object("usage")?;
    Some(Usage {
        calls: replies,
        ..tokens(&usage, UsageScope::RunningTotal("session".to_owned()))
    })
}

/// What the older extension noted of each request, in a text that holds JSON. `tokensIn` is without cache there.
fn older_usage<'a>(ui_messages: &'a [Json<'a>]) -> impl Iterator<Item = Usage> + 'a {
    ui_messages.iter().enumerate().filter_map(|(number, message)| {
        let message = message.object()?;
        (message.text("say").as_deref() == Some("api_req_started")).then_some(())?;
        let text = message.text("text")?;
        let request = Object::parse(&text).ok()?;
        request.has("tokensIn").then(|| Usage {
            scope: UsageScope::Call(format!("request-{number}")),
            model: None,
            input: request.count("tokensIn"),
            cache_creation: request.count("cacheWrites"),
            cache_read: request.count("cacheReads"),
            output: request.count("tokensOut"),
            calls: 1,
        })
    })
}

/// `inputTokens` is the whole input, cached parts included. Some older providers report it without: then nothing is
/// left of it rather than less than nothing.
fn tokens(usage: &Object<'_>, scope: UsageScope) -> Usage {
    let (read, written) = (usage.count("cacheReadTokens"), usage.count("cacheWriteTokens"));
    Usage {
        scope,
        model: None,
        input: usage.count("inputTokens").saturating_sub(read).saturating_sub(written),
        cache_creation: written,
        cache_read: read,
        output: usage.count("outputTokens"),
        calls: 1,
    }
}

impl Messages {
    fn message(&self, index: u64, message: &Object<'_>, out: &mut Vec<Entry>) {
        let mut place = Entry::new(index, Item::Note);
        place.time = message.get("ts").and_then(time::of);
        place.record_id = message.id(&["id"]);
        let mut add = |item| out.push(Entry { item, ..place.clone() });
        let is_user = message.text("role").as_deref() == Some("user");
        let model = message.at("modelInfo.id").and_then(Json::text).map(String::from);
        let mut texts = vec![];
        let mut images = 0;
        let mut has_results = false;
        for block in blocks(message.get("content")) {
            match block {
                Block::Text(text) => texts.push(text.into_owned()),
                Block::Image => images += 1,
                Block::Thinking(text) if self.want.contains(Wanted::THINKING) => add(Item::Thinking(text.into_owned())),
                Block::ToolUse { name, input, .. } if name == "submit_and_exit" => {
                    // The answer of a run that was told to end by itself.
                    texts.extend(input.and_then(|input| input.get("summary")?.text()).map(Into::into));
                }
                Block::ToolUse { id, name, input } if self.want.contains(Wanted::FILES) => {
                    self.calls(&id, &name, input)
                        .into_iter()
                        .map(Item::ToolCall)
                        .for_each(&mut add);
                }
                Block::ToolResult { id, .. } => {
                    has_results = true;
                    if self.want.contains(Wanted::FILES) {
                        self.results(&id, message)
                            .into_iter()
                            .map(Item::ToolResult)
                            .for_each(&mut add);
                    }
                }
                _ => {}
            }
        }
        if is_user && !has_results && self.want.contains(Wanted::PROMPTS) {
            let text = texts
                .iter()
                .map(|text| typed(text))
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n");
            if !text.is_empty() || images > 0 {
                add(Item::UserPrompt(UserPrompt { text, images }));
            }
        }
        if !is_user && self.want.contains(Wanted::TEXTS) && !texts.is_empty() {
            let message_id = place.record_id.clone();
            add(Item::AssistantText(AssistantText {
                text: texts.join("\n"),
                model,
                message_id,
                replaces: false,
            }));
        }
        if let Some(metrics) = message.object("metrics").filter(|_| self.want.contains(Wanted::TOKENS)) {
            add(Item::Usage(tokens(
                &metrics,
                UsageScope::Call(format!("message-{index}")),
            )));
        }
    }

    /// The calls behind one block: a list of commands is as many calls, so that each can fail by itself.
    fn calls(&self, id: &str, name: &str, input: Option<Json<'_>>) -> Vec<ToolCall> {
        let mut made = call(TOOLS, id.to_owned(), name, input, self.want);
        let Some(input) = input.and_then(Json::object) else {
            return vec![made];
        };
        if name == "editor" && !input.has("old_text") && !input.has("insert_line") {
            made.files.iter_mut().for_each(|effect| effect.op = FileOp::Write);
        }
        let commands = input.items("commands");
        if commands.is_empty() {
            return vec![made];
        }
        commands
            .into_iter()
            .enumerate()
            .map(|(number, command)| {
                let line = command.text().or_else(|| command.get("command")?.text());
                let shell = line.map(|line| ShellCommand {
                    command: line.into_owned(),
                    cwd: None,
                });
                ToolCall {
                    id: numbered(id, number),
                    shell,
                    ..made.clone()
                }
            })
            .collect()
    }

    /// The result of a call, or of each of its commands: JSON objects, a list of them, or a text that holds either.
    fn results(&self, id: &str, message: &Object<'_>) -> Vec<ToolResult> {
        let blocks = message.items("content").into_iter().filter_map(Json::object);
        let block = blocks
            .into_iter()
            .find(|block| block.id(&["tool_use_id"]).as_deref() == Some(id));
        let Some(block) = block else { return vec![] };
        let content = block.get("content").map(Json::embedded).unwrap_or_default();
        let whole = Json::parse(&content).ok();
        let parts = match whole {
            Some(json) if !json.items().is_empty() => json.items(),
            Some(json) => vec![json],
            None => vec![],
        };
        let says_failed = |part: &Json<'_>| part.get("success").and_then(Json::flag) == Some(false);
        let result = |number, is_error, output: &str| ToolResult {
            id: numbered(id, number),
            output: if self.want.contains(Wanted::TOOL_BODIES) {
                output.to_owned()
            } else {
                String::new()
            },
            is_error,
            files: vec![],
            subagent_id: None,
        };
        let failed = block.flag("is_error");
        match parts.len() {
            0 | 1 => {
                let said = parts.first();
                let output = said
                    .and_then(|part| part.get("result")?.text())
                    .unwrap_or_else(|| content.clone());
                vec![result(0, failed || said.is_some_and(says_failed), &output)]
            }
            _ => parts
                .iter()
                .enumerate()
                .map(|(number, part)| {
                    let output = part.get("result").and_then(Json::text).unwrap_or_default();
                    result(number, failed || says_failed(part), &output)
                })
                .collect(),
        }
    }
}

fn numbered(id: &str, number: usize) -> String {
    if number == 0 {
        id.to_owned()
    } else {
        format!("{id}/{number}")
    }
}

/// What the user typed of a text.
fn typed(text: &str) -> String {
    let text = unwrapped(text, WRAPPERS);
    slash_command(&text).unwrap_or_else(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cline;
    use hookhost_sdk::testing::read;

    const TRANSCRIPT: &[u8] = include_bytes!("../../../tests/fixtures/cline/transcripts/session/transcript.json");

    fn prompts(entries: &[Entry]) -> Vec<&str> {
        entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::UserPrompt(prompt) => Some(prompt.text.as_str()),
                _ => None,
            })
            .collect()
    }

    fn sum(entries: &[Entry]) -> [u64; 5] {
        let mut sum = [0; 5];
        for entry in entries {
            if let Item::Usage(usage) = &entry.item {
                let row = [
                    usage.input,
                    usage.cache_creation,
                    usage.cache_read,
                    usage.output,
                    u64::from(usage.calls),
                ];
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
        }
        sum
    }

    fn failed(entries: &[Entry]) -> Vec<&str> {
        entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::ToolResult(result) if result.is_error => Some(result.id.as_str()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn the_sample_gives_prompts_failures_and_tokens() {
        let (entries, position) = read::<Cline>(TRANSCRIPT, vec![]).unwrap();
        assert_eq!(position, 16);
        assert_eq!(
            prompts(&entries),
            [
                "Add a greet module and use it from the entry point.",
                "Check which docs mention greet, then delete docs/notes.md.",
                "Rename the greet function to welcome.",
            ]
        );
        assert_eq!(failed(&entries), ["tu3"]);
        assert_eq!(sum(&entries), [1250, 7450, 42900, 1040, 8]);
    }

    #[test]
    fn each_of_several_commands_fails_by_itself() {
        let text = r#"{"messages":[
            {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"run_commands","input":{"commands":["rm a",{"command":"rm b"}]}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"success":true},{"success":false}]}]}]}"#;
        let (entries, _) = read::<Cline>(text.as_bytes(), vec![]).unwrap();
        let shells: Vec<_> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::ToolCall(call) => Some((call.id.as_str(), call.shell.as_ref().unwrap().command.as_str())),
                _ => None,
            })
            .collect();
        assert_eq!(shells, [("t", "rm a"), ("t/1", "rm b")]);
        assert_eq!(failed(&entries), ["t/1"]);
    }

    #[test]
    fn the_older_extensions_list_of_messages_is_read_with_its_token_notes() {
        let messages = r#"[{"role":"user","content":[{"type":"text","text":"plain words"}]},
            {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"write_to_file","input":{"path":"a","content":""}}]}]"#;
        let notes = r#"[{"say":"text","text":"x"},{"say":"api_req_started","text":"{\"tokensIn\":10,\"tokensOut\":4,\"cacheWrites\":3,\"cacheReads\":2}"}]"#;
        let companion = Companion {
            path: "ui_messages.json".to_owned(),
            data: notes.as_bytes().to_vec(),
        };
        let (entries, position) = read::<Cline>(messages.as_bytes(), vec![companion]).unwrap();
        assert_eq!(position, 2);
        assert_eq!(prompts(&entries), ["plain words"]);
        assert_eq!(sum(&entries), [10, 3, 2, 4, 1]);
    }

    #[test]
    fn without_numbers_of_their_own_the_manifests_count() {
        let messages = r#"{"messages":[{"role":"assistant","content":"hi"}]}"#;
        let manifest = r#"{"session_id":"7_a","cwd":"/w","metadata":{"usage":{"inputTokens":100,"outputTokens":5,
            "cacheReadTokens":60,"cacheWriteTokens":30}}}"#;
        let companion = Companion {
            path: "7_a.json".to_owned(),
            data: manifest.as_bytes().to_vec(),
        };
        let (entries, _) = read::<Cline>(messages.as_bytes(), vec![companion]).unwrap();
        assert_eq!(sum(&entries), [10, 30, 60, 5, 1]);
    }
}
