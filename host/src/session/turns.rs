//! Turns that no hook told, made of what the transcript tells.
//!
//! Some agents have no hooks for turns when they run without a person. Hooks see payloads only, so nothing is made up
//! while one runs: whoever reads a session afterwards does it, when the session has ended and had no turn.

use crate::format::table::shortened;
use crate::journal::sessions::Summary;
use crate::model::{Event, EventKind};

use super::story::{Moment, What, with_turn_ends};

/// Where an event's metadata says that no hook told it.
const SOURCE: (&str, &str) = ("source", "transcript");

/// How many characters of the agent's last words an event has.
const LAST_WORDS_LIMIT: usize = 4096;

/// Whether a session has ended and its hooks told of no turn.
#[must_use]
pub fn are_untold(summary: &Summary) -> bool {
    summary.has_ended && summary.turns == 0 && summary.turns_ended == 0
}

/// The beginnings and ends of a session's turns.
#[must_use]
pub fn of(summary: &Summary, moments: Vec<Moment>) -> Vec<Event> {
    let mut events = vec![];
    let mut last_words = None;
    for moment in with_turn_ends(moments, false) {
        let (kind, prompt) = match moment.what {
            What::Prompt(text) => (EventKind::TurnStart, Some(text)),
            What::TurnEnd => (EventKind::TurnEnd, None),
            What::Text(text) => {
                last_words = Some(text);
                continue;
            }
            _ => continue,
        };
        let said = last_words.take().filter(|_| kind == EventKind::TurnEnd);
        let said = said.map(|text| ("last_assistant_message".to_owned(), shortened(&text, LAST_WORDS_LIMIT)));
        let source = (SOURCE.0.to_owned(), SOURCE.1.to_owned());
        events.push(Event {
            kind,
            session_id: summary.session_id.clone(),
            previous_session_id: None,
            session_ref: summary.session_ref.clone(),
            prompt,
            model: None,
            timestamp: moment.time,
            tool_use_id: None,
            subagent_id: None,
            tool_input: None,
            subagent_type: None,
            task_description: None,
            response_message: None,
            metadata: said.into_iter().chain([source]).collect(),
        });
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_prompt_is_a_turn_with_the_last_words_before_the_next() {
        let moment = |what| Moment { time: None, what };
        let moments = [
            What::Prompt("one".to_owned()),
            What::Text("first".to_owned()),
            What::Text("second".to_owned()),
            What::Prompt("two".to_owned()),
        ];
        let events = of(&Summary::default(), moments.map(moment).to_vec());
        let shown: Vec<_> = events
            .iter()
            .map(|event| (event.kind.number(), event.prompt.as_deref(), event.metadata.len()))
            .collect();
        assert_eq!(
            shown,
            [(2, Some("one"), 1), (3, None, 2), (2, Some("two"), 1), (3, None, 1)]
        );
        assert_eq!(events[1].metadata[0].1, "second");
    }
}
