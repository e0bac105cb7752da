//! Repeats: agents deliver the same hook twice, end a session twice, start one again before anything happened in it.
//!
//! An event is a repeat when an equal one was recorded in the same phase of the session. What ends a phase depends on
//! the kind of event; the functions below say it for each. In doubt an event counts: one too many is a smaller fault
//! than one lost.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::append::Locked;
use super::record::Record;
use crate::model::{Event, EventKind};
use crate::moment::milliseconds;

/// Two deliveries of one hook come within this time, in milliseconds. Nobody stops a turn and types the same prompt
/// again as fast.
const SAME_DELIVERY: u64 = 5000;

/// The metadata key by which agents that number their prompts tell two equal ones apart.
const PROMPT_ID: &str = "prompt_id";

/// Moves the events of a record that are repeats of what the session's file holds to the record's repeats. The file is
/// locked, so that of two deliveries at the same moment one is the second.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn separate(record: &mut Record<'_>, file: &mut Locked) -> io::Result<()> {
    let at = milliseconds(&record.time);
    let mut searches: Vec<Search<'_>> = record.events.iter().map(|event| Search::new(event, at)).collect();
    file.newest_first(|line| {
        with_events(line, |earlier| {
            let then = milliseconds(&earlier.time);
            for search in &mut searches {
                for event in earlier.events.iter().rev() {
                    search.look(event, then);
                }
            }
        });
        if searches.iter().all(Search::is_decided) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let mut verdicts: Vec<bool> = vec![];
    for (at, search) in searches.iter().enumerate() {
        let before = record.events.iter().zip(&verdicts).take(at).rev();
        let before = before.filter(|(_, is_repeat)| !**is_repeat).map(|(event, _)| event);
        let here = before
            .into_iter()
            .find_map(|earlier| in_one_record(search.event, earlier));
        verdicts.push(here.unwrap_or_else(|| search.is_repeat()));
    }
    let mut verdicts = verdicts.into_iter();
    let (repeats, events) = record.events.drain(..).partition(|_| verdicts.next() == Some(true));
    record.events = events;
    record.repeats = repeats;
    Ok(())
}

/// What an event of the same payload says. One payload tells nothing twice, but it can begin what it ends.
fn in_one_record(event: &Event, earlier: &Event) -> Option<bool> {
    if event.session_id != earlier.session_id {
        return None;
    }
    match event.kind {
        EventKind::SessionStart => session_start(earlier.kind),
        EventKind::TurnEnd => turn_end(earlier.kind),
        EventKind::SessionEnd => session_end(earlier.kind),
        EventKind::TurnStart => match earlier.kind {
            EventKind::TurnStart | EventKind::TurnEnd | EventKind::SessionEnd => Some(false),
            _ => None,
        },
        EventKind::Compaction => (earlier.kind == EventKind::Compaction).then_some(false),
        EventKind::SubagentStart | EventKind::SubagentEnd => None,
    }
}

/// The kinds of the events in a line of the journal.
pub(crate) fn kinds(line: &[u8]) -> Vec<EventKind> {
    let kinds = |record: EarlierRecord<'_>| {
        let numbers = record.events.iter().map(|event| event.number);
        numbers.filter_map(EventKind::from_number).collect()
    };
    with_events(line, kinds).unwrap_or_default()
}

/// Reads a line that has events.
///
/// A hook looks at many lines while other hooks wait, and most have a long payload or no events, so this goes by how
/// records are written. Nothing of what is looked for can stand in a text: quotes have backslashes there.
fn with_events<T>(line: &[u8], then: impl FnOnce(EarlierRecord<'_>) -> T) -> Option<T> {
    let events = find(line, b'[', |before, _| before.ends_with(b"\"events\":"))?;
    if line.get(events + 1) == Some(&b']') {
        return None;
    }
    let end = find(line, b',', |_, from| from.starts_with(b",\"payload"));
    let head = end.and_then(|end| line.get(..end)).map(|head| [head, b"}"].concat());
    if let Some(record) = head.as_deref().and_then(|head| serde_json::from_slice(head).ok()) {
        return Some(then(record));
    }
    // A tool's input can have a member of that name.
    serde_json::from_slice(line).ok().map(then)
}

/// The first place of a byte at which what stands before it, and what begins with it, is right.
fn find(line: &[u8], byte: u8, is_right: impl Fn(&[u8], &[u8]) -> bool) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + line.get(from..)?.iter().position(|&other| other == byte)?;
        let (before, behind) = line.split_at_checked(at)?;
        if is_right(before, behind) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// What of a record matters here.
#[derive(Deserialize)]
struct EarlierRecord<'a> {
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(borrow)]
    events: Vec<Earlier<'a>>,
}

/// What of a recorded event matters here.
#[derive(Debug, Deserialize)]
struct Earlier<'a> {
    #[serde(rename = "type")]
    number: u64,
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    tool_use_id: Option<String>,
    subagent_id: Option<String>,
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    task_description: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<EarlierMetadata<'a>>,
}

#[derive(Debug, Deserialize)]
struct EarlierMetadata<'a> {
    #[serde(borrow)]
    prompt_id: Option<Cow<'a, str>>,
}

/// A search for an equal event among earlier ones, which are given to it newest first.
#[derive(Debug)]
struct Search<'a> {
    event: &'a Event,
    at: i64,
    verdict: Option<bool>,
}

impl<'a> Search<'a> {
    /// `at`: when the hook was called, in milliseconds.
    fn new(event: &'a Event, at: i64) -> Self {
        Self {
            event,
            at,
            verdict: None,
        }
    }

    /// Looks at one earlier event.
    fn look(&mut self, earlier: &Earlier<'_>, at: i64) {
        let Some(kind) = EventKind::from_number(earlier.number) else {
            return;
        };
        if self.is_decided() || earlier.session_id != self.event.session_id {
            return;
        }
        let same_time = self.at.abs_diff(at) <= SAME_DELIVERY;
        self.verdict = match self.event.kind {
            EventKind::SessionStart => session_start(kind),
            EventKind::TurnStart => turn_start(self.event, kind, earlier, same_time),
            EventKind::TurnEnd => turn_end(kind),
            EventKind::SessionEnd => session_end(kind),
            EventKind::Compaction => compaction(kind, same_time),
            EventKind::SubagentStart | EventKind::SubagentEnd => subagent(self.event, kind, earlier, same_time),
        };
    }

    fn is_decided(&self) -> bool {
        self.verdict.is_some()
    }

    fn is_repeat(&self) -> bool {
        self.verdict == Some(true)
    }
}

/// A start counts once until something happened in the session.
pub(crate) fn session_start(earlier: EventKind) -> Option<bool> {
    match earlier {
        EventKind::SessionStart => Some(true),
        EventKind::TurnStart | EventKind::TurnEnd | EventKind::SessionEnd => Some(false),
        _ => None,
    }
}

/// A prompt counts again when it is said again, even without an end of the turn before it: users interrupt. Only the
/// same words at the same time are one delivery too many.
fn turn_start(event: &Event, kind: EventKind, earlier: &Earlier<'_>, same_time: bool) -> Option<bool> {
    match kind {
        EventKind::TurnStart => {
            let prompt_id = event
                .metadata
                .iter()
                .find(|(key, _)| key == PROMPT_ID)
                .map(|(_, id)| id.as_str());
            let earlier_id = earlier
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.prompt_id.as_deref());
            let same_id = match (prompt_id, earlier_id) {
                (Some(id), Some(earlier_id)) => id == earlier_id,
                _ => true,
            };
            Some(same_time && same_id && is_text(earlier.prompt, event.prompt.as_deref()))
        }
        EventKind::TurnEnd | EventKind::SessionEnd => Some(false),
        _ => None,
    }
}

/// A turn ends once after it has begun.
fn turn_end(earlier: EventKind) -> Option<bool> {
    match earlier {
        EventKind::TurnEnd => Some(true),
        EventKind::TurnStart | EventKind::SessionStart => Some(false),
        _ => None,
    }
}

/// A session ends once after something has begun in it.
fn session_end(earlier: EventKind) -> Option<bool> {
    match earlier {
        EventKind::SessionEnd => Some(true),
        EventKind::SessionStart | EventKind::TurnStart => Some(false),
        _ => None,
    }
}

/// A long turn can be compacted more than once.
fn compaction(earlier: EventKind, same_time: bool) -> Option<bool> {
    match earlier {
        EventKind::Compaction => Some(same_time),
        _ => None,
    }
}

/// A tool call starts and ends its subagent once. An id of the subagent's own may be used again (some agents have
/// names there): it is free again after the other end of the pair, and with the next prompt.
fn subagent(event: &Event, kind: EventKind, earlier: &Earlier<'_>, same_time: bool) -> Option<bool> {
    if kind != EventKind::SubagentStart && kind != EventKind::SubagentEnd {
        let has_call = call_id(event.tool_use_id.as_deref(), event.subagent_id.as_deref()).is_some();
        return (kind == EventKind::TurnStart && !has_call).then_some(false);
    }
    let subagents = (event.subagent_id.as_deref(), earlier.subagent_id.as_deref());
    let calls = (
        call_id(event.tool_use_id.as_deref(), event.subagent_id.as_deref()),
        call_id(earlier.tool_use_id.as_deref(), earlier.subagent_id.as_deref()),
    );
    let same_kind = kind == event.kind;
    match (calls, subagents) {
        ((Some(call), Some(earlier_call)), _) if call != earlier_call => None,
        ((Some(_), Some(_)), (Some(subagent), Some(earlier_subagent))) if subagent != earlier_subagent => None,
        ((Some(_), Some(_)), _) => same_kind.then_some(true),
        (_, (Some(subagent), Some(earlier_subagent))) => (subagent == earlier_subagent).then_some(same_kind),
        ((None, None), (None, None)) => {
            let same_task = is_text(earlier.task_description, event.task_description.as_deref())
                && earlier.tool_input.map(RawValue::get) == event.tool_input.as_deref();
            (same_kind && same_time && same_task).then_some(true)
        }
        _ => None,
    }
}

/// The tool call's id. Adapters that know none put the subagent's own in its place.
fn call_id<'a>(tool_use_id: Option<&'a str>, subagent_id: Option<&str>) -> Option<&'a str> {
    tool_use_id.filter(|id| Some(*id) != subagent_id)
}

/// Whether a JSON string says `text`.
fn is_text(raw: Option<&RawValue>, text: Option<&str>) -> bool {
    let said = raw.and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok());
    said.as_deref() == text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(line: &str) -> Option<Vec<u64>> {
        with_events(line.as_bytes(), |record| {
            record.events.iter().map(|event| event.number).collect()
        })
    }

    #[test]
    fn events_are_found_whatever_stands_around_them() {
        for (line, expected) in [
            (
                r#"{"time":"t","events":[{"type":3,"session_id":"s"}],"payload":{"events":[]}}"#,
                Some(vec![3]),
            ),
            (
                r#"{"time":"t","events":[],"payload":{"events":[{"type":3,"session_id":"s"}]}}"#,
                None,
            ),
            (
                r#"{"time":"t","cwd":"/a[1]/\"events\":[]","events":[{"type":1,"session_id":"s"}]}"#,
                Some(vec![1]),
            ),
            (
                r#"{"time":"t","events":[{"type":6,"session_id":"s","tool_input":{"a":1,"payload":{}}}],"payload":{}}"#,
                Some(vec![6]),
            ),
            (
                r#"{"time":"t","events":[{"type":2,"session_id":"s","prompt":"a,\"payload\":b"}],"payload_base64":"eA=="}"#,
                Some(vec![2]),
            ),
            (r#"{"time":"t","events":[{"type":3,"session_id":"s"}],"payl"#, None),
            ("", None),
        ] {
            assert_eq!(numbers(line), expected, "{line}");
        }
    }
}
