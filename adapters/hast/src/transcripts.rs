//! Saved events as a transcript: lines, raw server-sent events, a page or a list.

use std::collections::HashMap;

use hookhost_sdk::lines::{DocumentReader, LineReader};
use hookhost_sdk::tools::call;
use hookhost_sdk::{
    AssistantText, CompactionMark, Entry, Fault, FileEffect, FileOp, Item, Json, Object, SessionFacts, ToolResult,
    Usage, UsageScope, UserPrompt, Wanted,
};

use crate::envelope::{Envelope, Frame, Frames, Seen, members};

/// How many of the latest messages are kept, for a run that names another one than the last as its answer.
const KEPT_MESSAGES: usize = 64;

/// Reads envelopes.
pub(crate) struct Envelopes {
    want: Wanted,
    seen: Seen,
    frames: Frames,
    session: Option<String>,
    /// The prompt that a run's start told, which its message tells again.
    told: Option<String>,
    messages: Vec<(String, String)>,
    totals: HashMap<String, u64>,
}

impl Envelopes {
    pub(crate) fn new(want: Wanted) -> Self {
        Self {
            want,
            seen: Seen::default(),
            frames: Frames::default(),
            session: None,
            told: None,
            messages: vec![],
            totals: HashMap::new(),
        }
    }

    fn object(&mut self, offset: u64, object: &Object<'_>, out: &mut Vec<Entry>) -> Result<(), String> {
        match Envelope::read(object) {
            Ok(Some(envelope)) if self.seen.is_new(&envelope) => {
                self.envelope(offset, &envelope, out);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(Fault::Malformed(reason) | Fault::Other(reason)) => Err(reason),
            Err(Fault::Unsupported) => Err("not supported".to_owned()),
        }
    }
}

impl LineReader for Envelopes {
    fn text(&mut self, offset: u64, text: &str, out: &mut Vec<Entry>) -> Result<(), String> {
        let data = match self.frames.line(text) {
            Frame::Going => return Ok(()),
            Frame::Data(data) => data,
            Frame::Other => text.to_owned(),
        };
        self.object(offset, &Object::parse(&data)?, out)
    }

    fn line(&mut self, _offset: u64, _record: &Object<'_>, _out: &mut Vec<Entry>) {}
}

impl DocumentReader for Envelopes {
    fn document(&mut self, document: Json<'_>, out: &mut Vec<Entry>) -> u64 {
        let events = members(document);
        for (index, object) in (0_u64..).zip(&events) {
            if let Err(reason) = self.object(index, object, out) {
                out.push(Entry::new(index, Item::Unreadable(reason)));
            }
        }
        events.len() as u64
    }
}

impl Envelopes {
    fn envelope(&mut self, offset: u64, envelope: &Envelope<'_>, out: &mut Vec<Entry>) {
        let data = &envelope.data;
        let mut place = Entry::new(offset, Item::Note);
        place.time.clone_from(&envelope.time);
        place.record_id.clone_from(&envelope.id);
        place.subagent = data.id(&["parent_tool_call_id"]);
        let mut items = vec![];
        let is_first = self.session.is_none();
        if is_first {
            self.session = Some(envelope.session.clone());
        }
        let model = envelope.model();
        if is_first || model.is_some() {
            let session_id = Some(envelope.session.clone()).filter(|_| is_first);
            items.push(Item::Session(SessionFacts {
                session_id,
                model,
                ..SessionFacts::default()
            }));
        }
        match envelope.kind.as_str() {
            "message.completed" => self.message(envelope, &mut items),
            "run.started" => {
                self.told = envelope.text("text").or_else(|| envelope.text("prompt"));
                items.extend(self.told.clone().and_then(|text| self.prompt(text)));
            }
            "run.completed" | "run.failed" | "run.interrupted" => {
                self.told = None;
                self.answer(envelope, &mut items);
                items.push(Item::TurnEnd);
            }
            "reasoning.completed" if self.want.contains(Wanted::THINKING) => {
                items.push(Item::Thinking(envelope.text("text").unwrap_or_default()));
            }
            "tool.started" if self.want.contains(Wanted::FILES) => {
                let id = data.id(&["tool_call_id"]).unwrap_or_default();
                let name = data.text("name").unwrap_or_default();
                items.push(Item::ToolCall(call(&[], id, &name, data.get("input"), self.want)));
            }
            "tool.completed" if self.want.contains(Wanted::FILES) => items.push(self.tool_result(data)),
            "file.changed" if self.want.contains(Wanted::FILES) => {
                let op = match data.text("operation").as_deref() {
                    Some("delete") => FileOp::Delete,
                    // Creation is not told apart.
                    _ => FileOp::Modify,
                };
                let path = data.text("path").map(String::from);
                items.extend(path.map(|path| Item::FileChange(FileEffect { path, op })));
            }
            "usage.updated" if self.want.contains(Wanted::TOKENS) => items.extend(self.usage(envelope)),
            "context.compacted" => {
                let trigger = envelope.text("reason");
                items.push(Item::Compaction(CompactionMark { trigger, summary: None }));
            }
            _ => {}
        }
        out.extend(items.into_iter().map(|item| Entry { item, ..place.clone() }));
    }

    fn prompt(&self, text: String) -> Option<Item> {
        self.want
            .contains(Wanted::PROMPTS)
            .then_some(Item::UserPrompt(UserPrompt { text, images: 0 }))
    }

    fn message(&mut self, envelope: &Envelope<'_>, items: &mut Vec<Item>) {
        let text = envelope.text("text").unwrap_or_default();
        match envelope.text("role").as_deref() {
            Some("user") if self.told.take().is_some_and(|told| told == text) => {}
            Some("user") => items.extend(self.prompt(text)),
            Some("assistant") if !text.is_empty() && self.want.contains(Wanted::TEXTS) => {
                let message_id = envelope.data.id(&["message_id"]);
                if self.messages.len() == KEPT_MESSAGES {
                    self.messages.remove(0);
                }
                self.messages
                    .push((message_id.clone().unwrap_or_default(), text.clone()));
                items.push(Item::AssistantText(AssistantText {
                    text,
                    model: None,
                    message_id,
                    replaces: true,
                }));
            }
            _ => {}
        }
    }

    /// A run names its answer. As a rule that is the last message; if not, the answer is said once more.
    fn answer(&mut self, envelope: &Envelope<'_>, items: &mut Vec<Item>) {
        let Some(named) = envelope.data.id(&["final_message_id"]) else {
            return;
        };
        let is_last = self.messages.last().is_some_and(|(id, _)| *id == named);
        if let Some((_, text)) = self
            .messages
            .iter()
            .rev()
            .find(|(id, _)| *id == named)
            .filter(|_| !is_last)
        {
            let text = text.clone();
            items.push(Item::AssistantText(AssistantText {
                text,
                model: None,
                message_id: None,
                replaces: false,
            }));
        }
    }

    fn tool_result(&self, data: &Object<'_>) -> Item {
        let bodies = self.want.contains(Wanted::TOOL_BODIES);
        let output = data.get("output").filter(|_| bodies);
        let failed = data.text("status").is_some_and(|status| status != "succeeded");
        Item::ToolResult(ToolResult {
            id: data.id(&["tool_call_id"]).unwrap_or_default(),
            output: output
                .map(|json| json.text().map_or_else(|| json.raw().to_owned(), String::from))
                .unwrap_or_default(),
            is_error: data.flag("is_error") || failed,
            files: vec![],
            subagent_id: None,
        })
    }

    /// `total` is cumulative for the run. Whether its input holds the cached parts, and its output the reasoning, is
    /// told by `total_tokens`.
    fn usage(&mut self, envelope: &Envelope<'_>) -> Option<Item> {
        let total = envelope.data.object("total")?;
        let count = |key| total.count(key);
        let (input, output, reasoning) = (count("input_tokens"), count("output_tokens"), count("reasoning_tokens"));
        let (read, written, all) = (
            count("cache_read_tokens"),
            count("cache_write_tokens"),
            count("total_tokens"),
        );
        let cache_inside = all
            < input
                .saturating_add(read)
                .saturating_add(written)
                .saturating_add(output);
        let fresh = if cache_inside {
            input.saturating_sub(read).saturating_sub(written)
        } else {
            input
        };
        let whole_input = fresh.saturating_add(read).saturating_add(written);
        let reasoning_apart = reasoning > 0 && all == whole_input.saturating_add(output).saturating_add(reasoning);
        let run = envelope.run.clone().unwrap_or_else(|| envelope.session.clone());
        let before = self.totals.insert(run.clone(), all);
        Some(Item::Usage(Usage {
            scope: UsageScope::RunningTotal(run),
            model: envelope.model(),
            input: fresh,
            cache_creation: written,
            cache_read: read,
            output: if reasoning_apart {
                output.saturating_add(reasoning)
            } else {
                output
            },
            calls: u32::from(before != Some(all)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hast;
    use hookhost_sdk::testing::read;

    const STREAM: &str = include_str!("../../../tests/fixtures/hast/transcripts/session/transcript.jsonl");

    type Told = (Vec<String>, Vec<String>, Vec<(String, u64, u64, u64)>);

    fn told(entries: &[Entry]) -> Told {
        let (mut prompts, mut files, mut totals) = (vec![], vec![], vec![]);
        for entry in entries {
            match &entry.item {
                Item::UserPrompt(prompt) => prompts.push(prompt.text.clone()),
                Item::FileChange(effect) => files.push(format!("{:?} {}", effect.op, effect.path)),
                Item::Usage(usage) => {
                    let UsageScope::RunningTotal(run) = &usage.scope else {
                        panic!("totals were expected")
                    };
                    totals.push((run.clone(), usage.input, usage.cache_read, usage.output));
                }
                _ => {}
            }
        }
        (prompts, files, totals)
    }

    #[test]
    fn all_forms_of_a_stream_are_the_same_transcript() {
        let (lines, position) = read::<Hast>(STREAM.as_bytes(), vec![]).unwrap();
        assert_eq!(position, STREAM.len() as u64);
        let expected = told(&lines);
        assert_eq!(expected.0, ["Add a greet module.", "Delete the notes."]);
        assert_eq!(
            expected.1,
            ["FileOp::Modify src/greet.ts", "FileOp::Delete docs/notes.md"]
        );
        let run = |run: &str, input, read, output| (run.to_owned(), input, read, output);
        assert_eq!(
            expected.2,
            [
                run("r1", 1000, 0, 80),
                run("r1", 1200, 900, 150),
                run("r2", 300, 2000, 90)
            ]
        );
        let events = STREAM.lines().collect::<Vec<_>>();
        let page = format!("{{\n\"events\":[{}],\n\"has_more\":false}}", events.join(",\n"));
        let (entries, messages) = read::<Hast>(page.as_bytes(), vec![]).unwrap();
        assert_eq!((told(&entries), messages), (expected.clone(), events.len() as u64));
        let sse: String = events
            .iter()
            .map(|line| format!("id: 3\r\nevent: x\r\ndata: {line}\r\n\r\n"))
            .collect();
        let (entries, _) = read::<Hast>(format!(": hello\n\ndata: {{\"torn\n\n{sse}").as_bytes(), vec![]).unwrap();
        assert_eq!(told(&entries), expected);
    }
}
