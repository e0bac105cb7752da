//! Kiro's transcripts: rows of the command line, rows of the IDE, and the older command line's conversation, which is
//! one document (in a file, or as a value of its database).

use hookhost_sdk::lines::{DocumentReader, LineReader};
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, FileOp, Item, Json, Object, SessionFacts, Start, ToolCall, ToolResult,
    UserPrompt, Wanted, time,
};

const PATH: &[&str] = &["path", "file_path", "file"];

const TOOLS: &[Rule] = &[
    Rule::new(
        &["strReplace", "edit", "editCode", "fsAppend", "insert"],
        Effect::File(FileOp::Modify, PATH),
    ),
    Rule::new(&["create", "fsWrite"], Effect::File(FileOp::Write, PATH)),
    Rule::new(&["deleteFile", "delete"], Effect::File(FileOp::Delete, PATH)),
    Rule::new(
        &["read", "fs_read", "readFile", "readCode"],
        Effect::File(FileOp::Read, PATH),
    ),
    Rule::new(
        &["shell", "execute_bash", "execute_cmd", "executePwsh", "executeBash"],
        Effect::Shell {
            command: &["command"],
            cwd: &["cwd", "working_dir"],
        },
    ),
];

/// Tools whose `command` says what they do to the file.
const WRITERS: &[&str] = &["write", "fs_write"];

/// What the model noted about its call; no input of the tool's.
const PURPOSE: &str = "__tool_use_purpose";

fn tool_call(id: String, name: &str, input: Option<Json<'_>>, want: Wanted) -> ToolCall {
    let bare = input
        .and_then(Json::object)
        .filter(|input| input.has(PURPOSE))
        .map(|input| without_purpose(&input));
    let input = bare.as_deref().and_then(|text| Json::parse(text).ok()).or(input);
    if !WRITERS.contains(&name) {
        return call(TOOLS, id, name, input, want);
    }
    let command = input.and_then(|input| input.get("command")?.text()).unwrap_or_default();
    let op = match &*command {
        "create" => FileOp::Write,
        "delete" => FileOp::Delete,
        _ => FileOp::Modify,
    };
    call(&[Rule::new(WRITERS, Effect::File(op, PATH))], id, name, input, want)
}

fn without_purpose(input: &Object<'_>) -> String {
    let kept = input.fields().filter(|(key, _)| *key != PURPOSE);
    let fields: Vec<_> = kept
        .map(|(key, value)| format!("{}:{}", hookhost_sdk::json::quoted(key), value.raw()))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// Reads rows, whichever surface wrote them.
pub(crate) struct Rows {
    want: Wanted,
    companion: Option<SessionFacts>,
    /// The last model that a row named.
    model: Option<String>,
}

impl Rows {
    pub(crate) fn new(start: &Start) -> Self {
        let companion = start
            .companions
            .first()
            .map(|companion| String::from_utf8_lossy(&companion.data));
        let companion = companion.and_then(|text| Object::parse(&text).ok().map(|object| facts(&object)));
        Self {
            want: start.want,
            companion,
            model: None,
        }
    }
}

fn facts(companion: &Object<'_>) -> SessionFacts {
    let text = |path| companion.at(path).and_then(Json::text).map(String::from);
    SessionFacts {
        session_id: companion.id(&["session_id", "id"]),
        parent_session_id: companion.id(&["parent_session_id"]),
        cwd: text("cwd"),
        started_at: companion.get("created_at").and_then(time::of),
        model: text("session_state.rts_model_state.model_info.model_id"),
        agent_version: None,
        title: text("title"),
    }
}

impl LineReader for Rows {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        out.extend(
            self.companion
                .clone()
                .map(|facts| Entry::new(offset, Item::Session(facts))),
        );
        if let Some(model) = self.companion.take().and_then(|facts| facts.model) {
            self.model = Some(model);
        }
        if let Some(value) = record.get("value") {
            // A row of the database: the whole conversation.
            let text = value.embedded();
            if let Ok(conversation) = Json::parse(&text) {
                let first = out.len();
                Conversation::new(self.want).document(conversation, out);
                out.iter_mut().skip(first).for_each(|entry| entry.offset = offset);
            }
        } else if let Some(payload) = record.object("payload") {
            self.ide_row(offset, record, &payload, out);
        } else if let Some(data) = record.get("data").and_then(Json::object) {
            let kind = record.text("kind").unwrap_or_default();
            self.row(offset, &kind, &data, out);
        }
    }
}

impl Rows {
    fn row(&mut self, offset: u64, kind: &str, data: &Object<'_>, out: &mut Vec<Entry>) {
        let mut place = Entry::new(offset, Item::Note);
        place.record_id = data.id(&["message_id"]);
        place.time = data.at("meta.timestamp").and_then(time::of);
        let mut add = |item| out.push(Entry { item, ..place.clone() });
        let blocks: Vec<_> = data.items("content").into_iter().filter_map(Json::object).collect();
        let texts = || {
            let texts = blocks
                .iter()
                .filter(|block| block.text("kind").as_deref() == Some("text"));
            texts
                .filter_map(|block| block.text("data"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        match kind {
            "Prompt" if self.want.contains(Wanted::PROMPTS) => {
                let images = blocks
                    .iter()
                    .filter(|block| block.text("kind").as_deref() == Some("image"))
                    .count();
                add(Item::UserPrompt(UserPrompt {
                    text: texts(),
                    images: u32::try_from(images).unwrap_or(u32::MAX),
                }));
            }
            "AssistantMessage" => {
                for block in &blocks {
                    let data = block.object("data").unwrap_or_default();
                    match block.text("kind").as_deref() {
                        // In its place among the calls; the host makes one message of a row's texts.
                        Some("text") if self.want.contains(Wanted::TEXTS) => {
                            if let Some(text) = block.text("data") {
                                add(Item::AssistantText(AssistantText {
                                    text: text.into_owned(),
                                    model: None,
                                    message_id: place.record_id.clone(),
                                    replaces: false,
                                }));
                            }
                        }
                        Some("thinking") => {
                            if let Some(model) = data.text("modelId").filter(|_| self.model.is_none()) {
                                self.model = Some(model.clone().into_owned());
                                let facts = SessionFacts {
                                    model: self.model.clone(),
                                    ..SessionFacts::default()
                                };
                                add(Item::Session(facts));
                            }
                            if self.want.contains(Wanted::THINKING) {
                                add(Item::Thinking(data.text("text").unwrap_or_default().into_owned()));
                            }
                        }
                        Some("toolUse") if self.want.contains(Wanted::FILES) => {
                            let id = data.id(&["toolUseId"]).unwrap_or_default();
                            let name = data.text("name").unwrap_or_default();
                            add(Item::ToolCall(tool_call(id, &name, data.get("input"), self.want)));
                        }
                        _ => {}
                    }
                }
            }
            "ToolResults" if self.want.contains(Wanted::FILES) => {
                let mut told = vec![];
                for block in blocks.iter().filter_map(|block| block.object("data")) {
                    let Some(id) = block.id(&["toolUseId"]) else { continue };
                    let outcome = data.object("results").and_then(|results| results.object(&id));
                    let failed = outcome.is_some_and(|outcome| has_failed(&outcome)) || says_failed(&block);
                    add(self.result(id.clone(), failed, &block));
                    told.push(id);
                }
                // Versions that leave the content out still say what came of each call.
                for (id, outcome) in data.object("results").unwrap_or_default().fields() {
                    let untold = !told.iter().any(|known| known == id);
                    if let Some(outcome) = outcome.object().filter(|_| untold) {
                        add(self.result(id.to_owned(), has_failed(&outcome), &Object::default()));
                    }
                }
            }
            "Compaction" => {
                let summary = data.text("summary").map(Into::into);
                add(Item::Compaction(CompactionMark { trigger: None, summary }));
            }
            _ => {}
        }
    }

    fn result(&self, id: String, is_error: bool, block: &Object<'_>) -> Item {
        let texts = block
            .items("content")
            .into_iter()
            .filter_map(|part| part.get("data")?.text());
        let output = if self.want.contains(Wanted::TOOL_BODIES) {
            texts.collect::<Vec<_>>().join("\n")
        } else {
            String::new()
        };
        Item::ToolResult(ToolResult {
            id,
            output,
            is_error,
            files: vec![],
            subagent_id: None,
        })
    }

    /// The names of the fields are not confirmed: the usual ones are tried.
    fn ide_row(&mut self, offset: u64, record: &Object<'_>, payload: &Object<'_>, out: &mut Vec<Entry>) {
        let mut place = Entry::new(offset, Item::Note);
        place.record_id = record.id(&["id"]);
        place.time = record.get("timestamp").and_then(time::of);
        let mut add = |item| out.push(Entry { item, ..place.clone() });
        let text = || {
            let said = payload
                .text_any(&["text", "content", "prompt", "message"])
                .map(String::from);
            said.unwrap_or_else(|| hookhost_sdk::content::joined_text(payload.get("content")))
        };
        let call_id = || {
            payload
                .id(&["toolCallId", "tool_call_id", "toolUseId", "id"])
                .unwrap_or_default()
        };
        match payload.text("type").as_deref() {
            Some("user") if self.want.contains(Wanted::PROMPTS) => {
                add(Item::UserPrompt(UserPrompt {
                    text: text(),
                    images: 0,
                }));
            }
            Some("assistant") if self.want.contains(Wanted::TEXTS) => {
                let model = payload.text_any(&["modelId", "model"]).map(Into::into);
                let message_id = place.record_id.clone();
                add(Item::AssistantText(AssistantText {
                    text: text(),
                    model,
                    message_id,
                    replaces: false,
                }));
            }
            Some("tool_call") if self.want.contains(Wanted::FILES) => {
                let name = payload.text_any(&["name", "toolName", "tool_name"]).unwrap_or_default();
                let input = payload.any(&["input", "args", "arguments"]);
                add(Item::ToolCall(tool_call(call_id(), &name, input, self.want)));
            }
            Some("tool_result") if self.want.contains(Wanted::FILES) => {
                let failed = payload.get("success").and_then(Json::flag) == Some(false)
                    || payload.flag("isError")
                    || payload.flag("is_error")
                    || payload.text("error").is_some()
                    || says_failed(payload);
                add(self.result(call_id(), failed, &Object::default()));
            }
            Some("session_metadata") => {
                let model = payload.text_any(&["modelId", "model"]).map(Into::into);
                let cwd = payload.text_any(&["cwd", "workspacePath"]).map(Into::into);
                add(Item::Session(SessionFacts {
                    model,
                    cwd,
                    ..SessionFacts::default()
                }));
            }
            Some("turn_end") => add(Item::TurnEnd),
            _ => {}
        }
    }
}

/// `result` is an object whose key is `Success` or says how the call failed (a call without anything to tell is named
/// by a bare text).
fn has_failed(outcome: &Object<'_>) -> bool {
    let Some(result) = outcome.get("result") else {
        return false;
    };
    match result.object() {
        Some(result) => match result.get("Success") {
            Some(success) => success.get("items").is_some_and(exited_with_failure),
            None => result.fields().any(|(kind, _)| kind != "Success"),
        },
        None => result.text().is_some_and(|kind| kind != "Success"),
    }
}

/// A `status` that is there and is not `success`, whatever the capitals.
fn says_failed(told: &Object<'_>) -> bool {
    told.text("status").is_some_and(|status| {
        !["success", "ok", "completed", "done"]
            .iter()
            .any(|good| status.eq_ignore_ascii_case(good))
    })
}

/// A command that was run counts as a success whatever its exit status, which stands in the output: a code, or a
/// sentence that ends in one.
fn exited_with_failure(content: Json<'_>) -> bool {
    let statuses = content
        .items()
        .into_iter()
        .filter_map(|part| part.get("Json")?.get("exit_status")?.id());
    statuses.into_iter().any(|status| {
        let code = status.rsplit(' ').next().unwrap_or_default();
        code.parse::<i64>().is_ok_and(|code| code != 0)
    })
}

/// Reads the conversation of the older command line.
pub(crate) struct Conversation {
    want: Wanted,
}

impl Conversation {
    pub(crate) fn new(want: Wanted) -> Self {
        Self { want }
    }
}

impl DocumentReader for Conversation {
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
        let Some(conversation) = document.object() else {
            return 0;
        };
        let history = conversation.items("history");
        let started_at = history
            .first()
            .and_then(|entry| time::of(entry.object()?.at("request_metadata.request_start_timestamp_ms")?));
        let cwd = history.first().and_then(|entry| {
            entry
                .object()?
                .at("user.env_context.env_state.current_working_directory")?
                .text()
                .map(Into::into)
        });
        let model = conversation
            .at("model_info.model_id")
            .and_then(Json::text)
            .map(Into::into);
        let session_id = conversation.id(&["conversation_id"]);
        out.push(Entry::new(
            0,
            Item::Session(SessionFacts {
                session_id,
                cwd,
                started_at,
                model,
                ..SessionFacts::default()
            }),
        ));
        if let Some(summary) = conversation.get("latest_summary") {
            // The older history was cut; the summary may stand in a pair with other facts.
            let summary = summary
                .text()
                .or_else(|| summary.items().first()?.text())
                .map(Into::into);
            out.push(Entry::new(
                0,
                Item::Compaction(CompactionMark { trigger: None, summary }),
            ));
        }
        let mut asked = vec![];
        for (index, entry) in (0_u64..).zip(&history) {
            let Some(entry) = entry.object() else { continue };
            let mut place = Entry::new(index, Item::Note);
            place.time = entry
                .at("request_metadata.request_start_timestamp_ms")
                .and_then(time::of);
            place.record_id = entry.at("request_metadata.request_id").and_then(Json::id);
            let mut items = vec![];
            if let Some(content) = entry.at("user.content").and_then(Json::object) {
                self.user(&content, &asked, &mut items);
            }
            let model = entry
                .at("request_metadata.model_id")
                .and_then(Json::text)
                .map(Into::into);
            if let Some(assistant) = entry.object("assistant") {
                asked = self.assistant(&assistant, model, &mut items);
            }
            out.extend(items.into_iter().map(|item| Entry { item, ..place.clone() }));
        }
        history.len() as u64
    }
}

impl Conversation {
    fn user(&self, content: &Object<'_>, asked: &[String], out: &mut Vec<Item>) {
        let cancelled = content.object("CancelledToolUses");
        let prompt = content
            .object("Prompt")
            .or_else(|| cancelled.clone())
            .and_then(|said| said.text("prompt").map(String::from));
        if let Some(text) = prompt.filter(|_| self.want.contains(Wanted::PROMPTS)) {
            out.push(Item::UserPrompt(UserPrompt { text, images: 0 }));
        }
        if !self.want.contains(Wanted::FILES) {
            return;
        }
        let result = |id: String, output: String, is_error| {
            Item::ToolResult(ToolResult {
                id,
                output,
                is_error,
                files: vec![],
                subagent_id: None,
            })
        };
        if cancelled.is_some() {
            // None of the calls that were asked for has run.
            out.extend(asked.iter().map(|id| result(id.clone(), String::new(), true)));
        }
        let results = content
            .object("ToolUseResults")
            .unwrap_or_default()
            .items("tool_use_results");
        for told in results.into_iter().filter_map(Json::object) {
            let failed = says_failed(&told) || told.get("content").is_some_and(exited_with_failure);
            let texts = told
                .items("content")
                .into_iter()
                .filter_map(|part| part.get("Text")?.text());
            let output = if self.want.contains(Wanted::TOOL_BODIES) {
                texts.collect::<Vec<_>>().join("\n")
            } else {
                String::new()
            };
            out.push(result(told.id(&["tool_use_id"]).unwrap_or_default(), output, failed));
        }
    }

    /// Gives the ids of the calls.
    fn assistant(&self, assistant: &Object<'_>, model: Option<String>, out: &mut Vec<Item>) -> Vec<String> {
        let Some(message) = assistant.object("Response").or_else(|| assistant.object("ToolUse")) else {
            return vec![];
        };
        if let Some(text) = message.text("content").filter(|_| self.want.contains(Wanted::TEXTS)) {
            let message_id = message.id(&["message_id"]);
            let text = text.into_owned();
            out.push(Item::AssistantText(AssistantText {
                text,
                model,
                message_id,
                replaces: false,
            }));
        }
        let mut asked = vec![];
        for used in message.items("tool_uses").into_iter().filter_map(Json::object) {
            let id = used.id(&["id"]).unwrap_or_default();
            asked.push(id.clone());
            if self.want.contains(Wanted::FILES) {
                let name = used.text("name").unwrap_or_default();
                out.push(Item::ToolCall(tool_call(id, &name, used.get("args"), self.want)));
            }
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kiro;
    use hookhost_sdk::Companion;
    use hookhost_sdk::testing::read;

    const ROWS: &[u8] = include_bytes!("../../../tests/fixtures/kiro/transcripts/session/transcript.jsonl");
    const COMPANION: &[u8] = include_bytes!("../../../tests/fixtures/kiro/transcripts/session/transcript.json");
    const DOCUMENT: &[u8] = include_bytes!("../../../tests/fixtures/kiro/transcripts/database/transcript.json");

    const PROMPTS: [&str; 3] = [
        "Add a greet module and use it from the entry point.",
        "Check which docs mention greet, then delete docs/notes.md.",
        "Rename the greet function to welcome.",
    ];

    fn prompts(entries: &[Entry]) -> Vec<&str> {
        entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::UserPrompt(prompt) => Some(prompt.text.as_str()),
                _ => None,
            })
            .collect()
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

    fn effects(entries: &[Entry]) -> Vec<(&str, FileOp)> {
        entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::ToolCall(call) => Some(call.files.iter().map(|effect| (effect.path.as_str(), effect.op))),
                _ => None,
            })
            .flatten()
            .collect()
    }

    #[test]
    fn the_rows_of_the_command_line_are_read_with_their_companion() {
        let companion = Companion {
            path: "transcript.json".to_owned(),
            data: COMPANION.to_vec(),
        };
        let (entries, position) = read::<Kiro>(ROWS, vec![companion]).unwrap();
        assert_eq!(position, ROWS.len() as u64);
        assert_eq!(prompts(&entries), PROMPTS);
        assert_eq!(failed(&entries), ["tooluse_03"]);
        assert_eq!(effects(&entries)[0], ("/home/dev/project/src/greet.ts", FileOp::Write));
        let Item::Session(facts) = &entries[0].item else {
            panic!("facts were expected first")
        };
        assert_eq!(facts.model.as_deref(), Some("claude-sonnet-4.5"));
        assert_eq!(facts.started_at.as_deref(), Some("2026-08-20T09:15:00.000Z"));
    }

    #[test]
    fn without_a_companion_the_rows_name_the_model() {
        let (entries, _) = read::<Kiro>(ROWS, vec![]).unwrap();
        let models: Vec<_> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::Session(facts) => facts.model.as_deref(),
                _ => None,
            })
            .collect();
        assert_eq!(models, ["claude-sonnet-4.5"]);
    }

    #[test]
    fn the_older_conversation_is_read_as_a_file_and_as_a_value_of_the_database() {
        let (entries, position) = read::<Kiro>(DOCUMENT, vec![]).unwrap();
        assert_eq!(position, 8);
        assert_eq!(prompts(&entries), PROMPTS);
        assert_eq!(failed(&entries), ["t3"]);
        let value = hookhost_sdk::json::quoted(std::str::from_utf8(DOCUMENT).unwrap());
        let row = format!("{{\"value\":{value}}}\n");
        let (entries, position) = read::<Kiro>(row.as_bytes(), vec![]).unwrap();
        assert_eq!(position, row.len() as u64);
        assert_eq!(prompts(&entries), PROMPTS);
    }

    #[test]
    fn cancelled_calls_did_not_run_and_what_was_said_instead_is_a_prompt() {
        let text = r#"{"history":[
            {"user":{"content":{"Prompt":{"prompt":"go"}}},"assistant":{"ToolUse":{"tool_uses":[{"id":"t1","name":"fs_write","args":{"command":"create","path":"a"}}]}}},
            {"user":{"content":{"CancelledToolUses":{"prompt":"stop","tool_use_results":[]}}},"assistant":{"Response":{"content":"ok"}}}]}"#;
        let (entries, _) = read::<Kiro>(text.as_bytes(), vec![]).unwrap();
        assert_eq!(failed(&entries), ["t1"]);
        assert_eq!(prompts(&entries), ["go", "stop"]);
    }

    #[test]
    fn a_call_fails_in_many_words_and_a_command_by_its_exit_status() {
        let told = |result: &str| {
            let row = format!(
                r#"{{"kind":"ToolResults","data":{{"content":[],"results":{{"t":{{"tool":{{}},"result":{result}}}}}}}}}"#
            );
            let (entries, _) = read::<Kiro>(row.as_bytes(), vec![]).unwrap();
            failed(&entries) == ["t"]
        };
        assert!(!told(r#"{"Success":{"items":[{"Text":"x"}]}}"#));
        assert!(!told(r#"{"Success":null}"#));
        assert!(!told(
            r#"{"Success":{"items":[{"Json":{"exit_status":"0","stdout":""}}]}}"#
        ));
        assert!(!told(
            r#"{"Success":{"items":[{"Json":{"exit_status":"exit status: 0"}}]}}"#
        ));
        assert!(told(
            r#"{"Success":{"items":[{"Json":{"exit_status":"exit status: 1"}}]}}"#
        ));
        assert!(told(r#"{"Success":{"items":[{"Json":{"exit_status":"127"}}]}}"#));
        assert!(told(r#"{"Error":{"Custom":"x"}}"#));
        assert!(told(r#"{"Cancelled":null}"#));
        assert!(told(r#""Error""#));
        let results = |status: &str, content: &str| {
            let text = format!(
                r#"{{"history":[{{"user":{{"content":{{"ToolUseResults":{{"tool_use_results":[{{"tool_use_id":"t","status":"{status}","content":{content}}}]}}}}}}}}]}}"#
            );
            let (entries, _) = read::<Kiro>(text.as_bytes(), vec![]).unwrap();
            failed(&entries) == ["t"]
        };
        assert!(!results("Success", "[]"));
        assert!(results("error", "[]"));
        assert!(results("Cancelled", "[]"));
        assert!(results("Success", r#"[{"Json":{"exit_status":"1"}}]"#));
        let ide = |result: &str| {
            let row = format!(r#"{{"payload":{{"type":"tool_result","toolCallId":"t",{result}}}}}"#);
            let (entries, _) = read::<Kiro>(row.as_bytes(), vec![]).unwrap();
            failed(&entries) == ["t"]
        };
        assert!(!ide(r#""status":"completed","error":null"#));
        assert!(ide(r#""status":"denied""#));
        assert!(ide(r#""error":"no""#));
    }

    #[test]
    fn what_is_said_stands_where_it_was_said() {
        let row = r#"{"kind":"AssistantMessage","data":{"content":[{"kind":"text","data":"a"},
            {"kind":"toolUse","data":{"toolUseId":"t","name":"write","input":{}}},{"kind":"text","data":"b"}]}}"#;
        let (entries, _) = read::<Kiro>(row.replace('\n', "").as_bytes(), vec![]).unwrap();
        let shown: Vec<_> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::AssistantText(text) => Some(text.text.as_str()),
                Item::ToolCall(call) => Some(call.name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(shown, ["a", "write", "b"]);
    }

    #[test]
    fn rows_of_the_ide_are_read_leniently() {
        let text = concat!(
            r#"{"id":"1","timestamp":1787217300000,"payload":{"type":"user","content":"go"}}"#,
            "\n",
            r#"{"id":"2","payload":{"type":"tool_call","toolCallId":"t","name":"deleteFile","input":{"path":"a","__tool_use_purpose":"x"}}}"#,
            "\n",
            r#"{"id":"3","payload":{"type":"tool_result","toolCallId":"t","success":false}}"#,
            "\n",
            r#"{"id":"4","payload":{"type":"something_new"}}"#,
            "\n",
        );
        let (entries, _) = read::<Kiro>(text.as_bytes(), vec![]).unwrap();
        assert_eq!(prompts(&entries), ["go"]);
        assert_eq!(effects(&entries), [("a", FileOp::Delete)]);
        assert_eq!(failed(&entries), ["t"]);
        let Some(Item::ToolCall(call)) = entries.iter().map(|entry| &entry.item).nth(1) else {
            panic!("a call")
        };
        assert_eq!(call.input, r#"{"path":"a"}"#);
    }
}
