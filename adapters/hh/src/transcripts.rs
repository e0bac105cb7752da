//! A recording as a transcript.

use hookhost_sdk::lines::{DocumentReader, LineReader};
use hookhost_sdk::tools::{Effect, Rule, call};
use hookhost_sdk::{
    AssistantText, Entry, Fault, FileEffect, FileOp, Item, Json, Object, SessionFacts, ToolResult, UserPrompt, Wanted,
    time,
};

use crate::record::{Recorded, check_schema, content_text, is_session, members};

/// Effects on files come from the recorder's own watch, not from calls.
const TOOLS: &[Rule] = &[Rule::new(
    &["Task", "Agent"],
    Effect::Subagent {
        kind: &["subagent_type"],
        description: &["description"],
        prompt: &["prompt"],
    },
)];

/// Reads records.
pub(crate) struct Recording {
    want: Wanted,
    started_at: Option<u64>,
    session: Option<String>,
}

impl Recording {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            want,
            started_at: None,
            session: None,
        }
    }

    fn object(&mut self, offset: u64, object: &Object<'_>, out: &mut Vec<Entry>) {
        if let Err(Fault::Malformed(reason)) = check_schema(object) {
            out.push(Entry::new(offset, Item::Unreadable(reason)));
        } else if is_session(object) {
            self.session_object(offset, object, out);
        } else if let Some(recorded) = Recorded::read(object) {
            self.record(offset, &recorded, out);
        }
    }

    fn session_object(&mut self, offset: u64, object: &Object<'_>, out: &mut Vec<Entry>) {
        self.started_at = object.get("started_at").and_then(Json::count);
        self.session = object.id(&["id"]);
        out.push(Entry::new(
            offset,
            Item::Session(SessionFacts {
                session_id: self.session.clone(),
                cwd: object.text("cwd").map(Into::into),
                started_at: object.get("started_at").and_then(time::of),
                ..SessionFacts::default()
            }),
        ));
    }

    fn record(&mut self, offset: u64, recorded: &Recorded<'_>, out: &mut Vec<Entry>) {
        if self.session.is_none() && recorded.session.is_some() {
            self.session.clone_from(&recorded.session);
            let session_id = recorded.session.clone();
            out.push(Entry::new(
                offset,
                Item::Session(SessionFacts {
                    session_id,
                    ..SessionFacts::default()
                }),
            ));
        }
        let item = match recorded.kind.as_str() {
            "user_message" if self.want.contains(Wanted::PROMPTS) => recorded
                .text()
                .map(|text| Item::UserPrompt(UserPrompt { text, images: 0 })),
            "agent_message" if self.want.contains(Wanted::TEXTS) => recorded.text().map(|text| {
                Item::AssistantText(AssistantText {
                    text,
                    model: None,
                    message_id: None,
                    replaces: false,
                })
            }),
            "thinking" if self.want.contains(Wanted::THINKING) => recorded.text().map(Item::Thinking),
            "tool_call" if self.want.contains(Wanted::FILES) => {
                let id = recorded.id.clone().unwrap_or_default();
                let name = recorded.body.text("name").unwrap_or_default();
                Some(Item::ToolCall(call(
                    TOOLS,
                    id,
                    &name,
                    recorded.body.get("input"),
                    self.want,
                )))
            }
            "tool_result" if self.want.contains(Wanted::FILES) => recorded.correlates.clone().map(|id| {
                let output = content_text(&recorded.body).filter(|_| self.want.contains(Wanted::TOOL_BODIES));
                Item::ToolResult(ToolResult {
                    id,
                    output: output.unwrap_or_default(),
                    is_error: recorded.body.flag("is_error"),
                    files: vec![],
                    subagent_id: None,
                })
            }),
            "file_change" if self.want.contains(Wanted::FILES) => recorded
                .file_change
                .as_ref()
                .and_then(file_effect)
                .map(Item::FileChange),
            _ if recorded.lifecycle().as_deref() == Some("exit") => Some(Item::TurnEnd),
            _ => None,
        };
        let mut entry = Entry::new(offset, Item::Note);
        entry.time = recorded.time(self.started_at);
        entry.record_id = recorded.id.as_ref().map(|id| format!("event-{id}"));
        out.extend(item.map(|item| Entry { item, ..entry }));
    }
}

fn file_effect(change: &Object<'_>) -> Option<FileEffect> {
    let op = match change.text("change_kind").as_deref() {
        Some("created") => FileOp::Create,
        Some("deleted") => FileOp::Delete,
        // An unknown kind of change is a change.
        _ => FileOp::Modify,
    };
    Some(FileEffect {
        path: change.text("path")?.into_owned(),
        op,
    })
}

impl LineReader for Recording {
    fn line(&mut self, offset: u64, record: &Object<'_>, out: &mut Vec<Entry>) {
        self.object(offset, record, out);
    }
}

impl DocumentReader for Recording {
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
        // The session object describes the messages and is none.
        let objects = members(document);
        let sessions = objects.iter().filter(|object| is_session(object)).count() as u64;
        for (index, object) in (0_u64..).zip(&objects) {
            self.object(index.saturating_sub(sessions), object, out);
        }
        let positions = objects.len() as u64 - sessions;
        // The recorder has no line for the end; what has one is all there.
        if objects
            .iter()
            .any(|object| is_session(object) && object.has("ended_at"))
        {
            out.push(Entry::new(positions.saturating_sub(1), Item::TurnEnd));
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hh;
    use hookhost_sdk::testing::read;

    const STREAM: &[u8] = include_bytes!("../../../tests/fixtures/hh/transcripts/session/transcript.jsonl");
    const EXPORT: &[u8] = include_bytes!("../../../tests/fixtures/hh/transcripts/export/transcript.json");

    fn changes(entries: &[Entry]) -> Vec<String> {
        entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::FileChange(effect) => Some(format!("{:?} {}", effect.op, effect.path)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn lines_and_an_export_tell_the_same_changes() {
        let (lines, position) = read::<Hh>(STREAM, vec![]).unwrap();
        assert_eq!(position, STREAM.len() as u64);
        assert_eq!(
            changes(&lines),
            [
                "FileOp::Create src/greet.ts",
                "FileOp::Create scratch.txt",
                "FileOp::Modify src/greet.ts",
                "FileOp::Delete docs/notes.md",
                "FileOp::Delete scratch.txt",
            ]
        );
        let (export, messages) = read::<Hh>(EXPORT, vec![]).unwrap();
        assert_eq!(changes(&export), changes(&lines));
        assert_eq!(messages, lines_of(STREAM));
        let Item::Session(facts) = &export[0].item else {
            panic!("facts were expected first")
        };
        assert_eq!(facts.started_at.as_deref(), Some("2026-08-20T09:15:00.000Z"));
        assert_eq!(facts.cwd.as_deref(), Some("/home/dev/project"));
    }

    fn lines_of(text: &[u8]) -> u64 {
        text.iter().filter(|&&byte| byte == b'\n').count() as u64
    }
}
