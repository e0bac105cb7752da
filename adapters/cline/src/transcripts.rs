//! `<id>.messages.json`: one document, rewritten as the session goes on. Before the move to the SDK the extension kept
//! a bare list of messages.

use std::collections::HashMap;

use hookhost_sdk::content::{Block, blocks};
use hookhost_sdk::lines::DocumentReader;
use hookhost_sdk::prompt::unwrapped;
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, Companion, Entry, FileOp, Item, Json, Object, SessionFacts, ShellCommand, Start, ToolCall,
    ToolResult, Usage, UsageScope, UserPrompt, Wanted, shell, time,
};

use crate::hooks::{WRAPPERS, slash_command};

const PATH: &[&str] = &["path", "file_path", "absolutePath"];

const TOOLS: &[Rule] = &[
    Rule::new(&["editor", "replace_in_file"], Effect::File(FileOp::Modify, PATH)),
    Rule::new(&["write_to_file", "new_file"], Effect::File(FileOp::Write, PATH)),
    Rule::new(&["apply_patch"], Effect::Patch(&["input", "patch"])),
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

/// Tools that run command lines, one or several a call.
const RUNNERS: &[&str] = &["run_commands", "execute_command"];

/// Reads a session's messages.
pub(crate) struct Messages {
    want: Wanted,
    companions: Vec<Companion>,
    /// How many command lines a call runs, where it is more than one.
    commands: HashMap<String, usize>,
}

impl Messages {
    pub(crate) fn new(start: &Start) -> Self {
        Self {
            want: start.want,
            companions: start.companions.clone(),
            commands: HashMap::new(),
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
            has_metrics |= message.get("metrics").is_some();
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
    fn message(&mut self, index: u64, message: &Object<'_>, out: &mut Vec<Entry>) {
        let mut place = Entry::new(index, Item::Note);
        place.time = message.get("ts").and_then(time::of);
        place.record_id = message.id(&["id"]);
        let mut add = |item| out.push(Entry { item, ..place.clone() });
        let is_user = message.text("role").as_deref() == Some("user");
        let mut texts = vec![];
        let mut images = 0;
        let mut has_results = false;
        for block in blocks(message.get("content")) {
            match block {
                Block::Text(text) if is_user => {
                    has_results |= is_result(&text);
                    texts.push(text.into_owned());
                }
                Block::Text(text) => self.said(&text, message, &mut add),
                Block::Image => images += 1,
                Block::Thinking(text) if self.want.contains(Wanted::THINKING) => add(Item::Thinking(text.into_owned())),
                Block::ToolUse { name, input, .. } if name == "submit_and_exit" => {
                    // The answer of a run that was told to end by itself.
                    let summary = input.and_then(|input| input.get("summary")?.text());
                    self.said(&summary.unwrap_or_default(), message, &mut add);
                }
                Block::ToolUse { id, name, input } if self.want.contains(Wanted::FILES) => {
                    let calls = self.calls(&id, &name, input);
                    if calls.len() > 1 {
                        self.commands.insert(id, calls.len());
                    }
                    calls.into_iter().map(Item::ToolCall).for_each(&mut add);
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
        if is_user && self.want.contains(Wanted::PROMPTS) {
            // Beside results stands what Cline tells the model, and what the user typed meanwhile, in its wrapper.
            let text = texts
                .iter()
                .filter(|text| !has_results || is_wrapped(text))
                .map(|text| typed(text))
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n");
            if !text.is_empty() || images > 0 && !has_results {
                add(Item::UserPrompt(UserPrompt { text, images }));
            }
        }
        if let Some(metrics) = message.object("metrics").filter(|_| self.want.contains(Wanted::TOKENS)) {
            let used = tokens(&metrics, UsageScope::Call(format!("message-{index}")));
            // A call that failed was not billed.
            if used.input > 0 || used.output > 0 || used.cache_read > 0 || used.cache_creation > 0 {
                add(Item::Usage(used));
            }
        }
    }

    /// Each text in its place among the calls; the host makes one message of them.
    fn said(&self, text: &str, message: &Object<'_>, add: &mut impl FnMut(Item)) {
        if text.is_empty() || !self.want.contains(Wanted::TEXTS) {
            return;
        }
        add(Item::AssistantText(AssistantText {
            text: text.to_owned(),
            model: message.at("modelInfo.id").and_then(Json::text).map(Into::into),
            message_id: message.id(&["id"]),
            replaces: false,
        }));
    }

    /// The calls behind one block: a list of commands is as many calls, so that each can fail by itself.
    fn calls(&self, id: &str, name: &str, input: Option<Json<'_>>) -> Vec<ToolCall> {
        let mut made = call(TOOLS, id.to_owned(), name, input, self.want);
        let Some(input) = input else { return vec![made] };
        if name == "editor"
            && let Some(input) = input.object()
            && input.text("old_text").is_none()
            && input.get("insert_line").is_none()
        {
            made.files.iter_mut().for_each(|effect| effect.op = FileOp::Write);
        }
        if !RUNNERS.contains(&name) {
            return vec![made];
        }
        let cwd = input.get("cwd").and_then(Json::text).map(String::from);
        let calls = command_lines(input)
            .into_iter()
            .enumerate()
            .map(|(number, command)| ToolCall {
                id: numbered(id, number),
                shell: Some(ShellCommand {
                    command,
                    cwd: cwd.clone(),
                }),
                ..made.clone()
            });
        let calls: Vec<_> = calls.collect();
        if calls.is_empty() { vec![made] } else { calls }
    }

    /// The result of a call, or of each of its commands.
    fn results(&self, id: &str, message: &Object<'_>) -> Vec<ToolResult> {
        let blocks = message.items("content").into_iter().filter_map(Json::object);
        let block = blocks
            .into_iter()
            .find(|block| block.id(&["tool_use_id"]).as_deref() == Some(id));
        let Some(block) = block else { return vec![] };
        let told = block.get("content").map(told).unwrap_or_default();
        let count = self.commands.get(id).copied().unwrap_or(1);
        let failed = block.flag("is_error");
        let result = |number: usize, told: &[Told]| ToolResult {
            id: numbered(id, number),
            output: if self.want.contains(Wanted::TOOL_BODIES) {
                told.iter()
                    .map(|told| told.output.as_str())
                    .collect::<Vec<_>>()
                    .join("\n")
            } else {
                String::new()
            },
            is_error: failed || told.iter().any(|told| told.failed),
            files: vec![],
            subagent_id: None,
        };
        if count > 1 && told.len() > 1 {
            return (0..count)
                .filter_map(|number| Some(result(number, told.get(number..=number)?)))
                .collect();
        }
        (0..count).map(|number| result(number, &told)).collect()
    }
}

/// What a result says of one command, or of the whole call.
struct Told {
    output: String,
    failed: bool,
}

/// A result's content: JSON objects, a list of them, or texts that hold either, or plain texts.
fn told(content: Json<'_>) -> Vec<Told> {
    let embedded = content.embedded();
    let Ok(json) = Json::parse(&embedded) else {
        return vec![];
    };
    let parts = match json.items() {
        parts if parts.is_empty() => vec![json],
        parts => parts,
    };
    parts
        .into_iter()
        .flat_map(|part| match part.get("text").filter(|text| text.text().is_some()) {
            Some(text) if part.get("type").and_then(Json::text).as_deref() == Some("text") => told(text),
            _ => vec![Told {
                output: part
                    .get("result")
                    .or_else(|| part.get("error"))
                    .and_then(Json::text)
                    .or_else(|| part.text())
                    .unwrap_or_else(|| part.raw().into())
                    .into_owned(),
                failed: match part.get("success").and_then(Json::flag) {
                    Some(success) => !success,
                    None => part.get("error").and_then(Json::id).is_some(),
                },
            }],
        })
        .collect()
}

/// What a call runs: a text, `{command, args}`, a list of either, or an object with such a list.
fn command_lines(input: Json<'_>) -> Vec<String> {
    let listed = match input.get("commands") {
        Some(commands) => commands,
        None => input,
    };
    let several = listed.items();
    let one = several.is_empty().then_some(listed);
    several.into_iter().chain(one).filter_map(command_line).collect()
}

fn command_line(command: Json<'_>) -> Option<String> {
    if let Some(line) = command.text() {
        return Some(line.into_owned());
    }
    let command = command.object()?;
    let mut line = command.text_any(&["command", "cmd"])?.into_owned();
    for argument in command.items("args").into_iter().filter_map(Json::text) {
        line.push(' ');
        line.push_str(&shell::word(&argument));
    }
    Some(line)
}

/// The older extension hands results to the model as texts, behind such a line.
fn is_result(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with('[') && first.ends_with("] Result:")
}

/// Cline marks what the user typed.
fn is_wrapped(text: &str) -> bool {
    let text = text.trim_end();
    text.ends_with("</user_input>") || text.ends_with("</user_command>")
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
    fn commands_are_written_in_many_ways_and_one_result_may_stand_for_all() {
        let runs = |input: &str, content: &str| {
            let text = format!(
                r#"[{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"run_commands","input":{input}}}]}},
                {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":{content}}}]}}]"#
            );
            let (entries, _) = read::<Cline>(text.as_bytes(), vec![]).unwrap();
            let mut shown: Vec<String> = vec![];
            for entry in entries {
                match entry.item {
                    Item::ToolCall(call) => shown.extend(call.shell.map(|shell| shell.command)),
                    Item::ToolResult(result) => {
                        let outcome = if result.is_error { "failed" } else { "ok" };
                        shown.push(
                            format!("{} {outcome} {}", result.id, result.output)
                                .trim_end()
                                .to_owned(),
                        );
                    }
                    _ => {}
                }
            }
            shown
        };
        let two = r#"{"commands":["rm a","rm b"]}"#;
        assert_eq!(runs(two, r#""fine""#), ["rm a", "rm b", "t ok fine", "t/1 ok fine"]);
        let text = r#""{\"success\":false,\"error\":\"no\"}""#;
        assert_eq!(runs(two, text), ["rm a", "rm b", "t failed no", "t/1 failed no"]);
        let blocks = r#"[{"type":"text","text":"[{\"success\":true,\"result\":\"x\"},{\"error\":\"y\"}]"}]"#;
        assert_eq!(runs(two, blocks), ["rm a", "rm b", "t ok x", "t/1 failed y"]);
        for (input, line) in [
            (r#"{"command":"rm","args":["a b","c"]}"#, "rm 'a b' c"),
            (r#"{"commands":[{"cmd":"rm","args":["a"]}]}"#, "rm a"),
            (r#"{"commands":"rm a"}"#, "rm a"),
            (r#"["rm a"]"#, "rm a"),
            (r#""rm a""#, "rm a"),
        ] {
            assert_eq!(runs(input, r#"[{"success":true,"error":""}]"#)[0], line, "{input}");
        }
    }

    #[test]
    fn what_is_said_stands_where_it_was_said() {
        let text = r#"[{"role":"assistant","content":[{"type":"text","text":"a"},
            {"type":"tool_use","id":"t","name":"editor","input":{"path":"p"}},{"type":"text","text":"b"}]}]"#;
        let (entries, _) = read::<Cline>(text.as_bytes(), vec![]).unwrap();
        let shown: Vec<_> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::AssistantText(text) => Some(text.text.as_str()),
                Item::ToolCall(call) => Some(call.name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(shown, ["a", "editor", "b"]);
    }

    #[test]
    fn fields_that_are_null_are_not_there() {
        let text = r#"{"messages":[{"role":"assistant","metrics":null,"content":[
            {"type":"tool_use","id":"t","name":"editor","input":{"path":"a","old_text":null,"insert_line":null}}]}]}"#;
        let manifest = r#"{"metadata":{"usage":{"inputTokens":7,"outputTokens":5}}}"#;
        let companion = Companion {
            path: "7_a.json".to_owned(),
            data: manifest.as_bytes().to_vec(),
        };
        let (entries, _) = read::<Cline>(text.as_bytes(), vec![companion]).unwrap();
        assert_eq!(sum(&entries), [7, 0, 0, 5, 1]);
        let made = entries.iter().find_map(|entry| match &entry.item {
            Item::ToolCall(call) => Some(call.files[0].op),
            _ => None,
        });
        assert_eq!(made, Some(FileOp::Write));
    }

    #[test]
    fn a_prompt_is_told_from_what_stands_around_it() {
        let typed = |content: &str| {
            let text = format!(r#"[{{"role":"user","content":[{content}]}}]"#);
            let (entries, _) = read::<Cline>(text.as_bytes(), vec![]).unwrap();
            prompts(&entries).join("|")
        };
        let text = |text: &str| format!(r#"{{"type":"text","text":{}}}"#, hookhost_sdk::json::quoted(text));
        let result = r#"{"type":"tool_result","tool_use_id":"t","content":"ok"},"#;
        assert_eq!(
            typed(&(text("<task>\nbuild\n</task>") + "," + &text("<environment_details>\nx\n</environment_details>"))),
            "build"
        );
        assert_eq!(
            typed(&(text("[write_to_file for 'a'] Result:") + "," + &text("saved"))),
            ""
        );
        assert_eq!(typed(&text("[1] Result: it broke")), "[1] Result: it broke");
        assert_eq!(typed(&(result.to_owned() + &text("time limit reached"))), "");
        assert_eq!(
            typed(&(result.to_owned() + &text("<user_input mode=\"act\">stop</user_input>"))),
            "stop"
        );
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
