//! From payloads to events by table: what a page says in rows, an adapter says in rows.
//!
//! Most agents send flat JSON objects in which the hook and one or two fields decide what happened, and differ in
//! nothing but names. A [`Mapping`] holds the names:
//!
//! ```
//! use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
//! use hookhost_sdk::{EventKind, testing};
//!
//! const MAPPING: Mapping = Mapping {
//!     strangers: &[&[When::Has("cursor_version")]],
//!     rules: &[
//!         Rule::nothing("SessionStart").when(&[When::Is("source", &["compact"])]),
//!         Rule::new("SessionStart", EventKind::SessionStart, &[
//!             Fill::Model(&["model"]),
//!             Fill::Metadata("source", &["source"]),
//!         ]),
//!     ],
//!     ..Mapping::CLAUDE_LIKE
//! };
//!
//! let payload = hookhost_sdk::Object::parse(r#"{"session_id":"s","source":"startup"}"#).unwrap();
//! let events = MAPPING.events("SessionStart", &payload, &testing::context());
//! assert_eq!(events[0].metadata, [("source".to_owned(), "startup".to_owned())]);
//! ```
//!
//! A field is named by its path, `tool_input.description`. Both spellings of a name, `tool_input` and `toolInput`, are
//! found by either ([`Object::at`]). Of several paths the first that holds something counts.

pub mod claude;

use crate::event::{LAST_MESSAGE, LAST_MESSAGE_CHARS, shortened};
use crate::prompt::{Wrapper, unwrapped};
use crate::{Context, Event, EventKind, Json, Object, env, paths, time};

/// Paths of one value, the preferred one first.
pub type Fields = &'static [&'static str];

/// How an agent's payloads become events.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// The session's id. Without one there is no event.
    pub session_id: Fields,
    /// The environment variable that has the session's id when the payload does not; empty when there is none.
    pub session_env: &'static str,
    /// The transcript's path.
    pub session_ref: Fields,
    /// What a relative path of the transcript is relative to.
    pub cwd: Fields,
    /// ISO 8601, or seconds or milliseconds since 1970.
    pub timestamp: Fields,
    /// What stands around a prompt that the user did not type.
    pub prompt_wrappers: &'static [Wrapper],
    /// What the agent writes for a model that it does not name, such as `default`; capitals make no difference.
    pub no_models: &'static [&'static str],
    /// Marks of other agents that run the same hook file: a set that holds altogether is enough.
    pub strangers: &'static [&'static [When]],
    /// What a payload from inside a subagent has; empty when the agent's payloads do not tell.
    pub inside: &'static [When],
    /// The first rule of a hook whose conditions hold decides. No rule, no event.
    pub rules: &'static [Rule],
}

impl Mapping {
    /// The names that Claude Code gave the common fields and several agents took over.
    pub const CLAUDE_LIKE: Self = Self {
        session_id: &["session_id"],
        session_env: "",
        session_ref: &["transcript_path"],
        cwd: &["cwd"],
        timestamp: &["timestamp"],
        prompt_wrappers: &[],
        no_models: &[],
        strangers: &[],
        inside: &[],
        rules: &[],
    };

    /// The events of a payload; none for another agent's.
    #[must_use]
    pub fn events(&self, hook: &str, payload: &Object<'_>, context: &Context) -> Vec<Event> {
        if self.is_strange(payload) {
            return vec![];
        }
        self.event(hook, payload, context).into_iter().collect()
    }

    /// Whether the payload is plainly another agent's.
    #[must_use]
    pub fn is_strange(&self, payload: &Object<'_>) -> bool {
        self.strangers.iter().any(|marks| all_hold(marks, payload))
    }

    /// The event of a payload, whoever sent it.
    #[must_use]
    pub fn event(&self, hook: &str, payload: &Object<'_>, context: &Context) -> Option<Event> {
        let by_variable = || env(context, self.session_env).map(str::to_owned);
        let session = id(payload, self.session_id).or_else(by_variable)?;
        self.event_of(session, hook, payload, context)
    }

    /// The event of a payload for a session whose id the adapter has found elsewhere.
    #[must_use]
    pub fn event_of(&self, session: String, hook: &str, payload: &Object<'_>, context: &Context) -> Option<Event> {
        let is_inside = !self.inside.is_empty() && all_hold(self.inside, payload);
        let rule = self
            .rules
            .iter()
            .find(|rule| rule.hook == hook && rule.scope.covers(is_inside) && all_hold(rule.when, payload))?;
        let mut event = Event::new(rule.gives?, session);
        let cwd = text(payload, self.cwd);
        event.session_ref = paths::session_ref(text(payload, self.session_ref).as_deref(), cwd.as_deref(), context);
        event.timestamp = self.timestamp.iter().find_map(|field| time::of(payload.at(field)?));
        for fill in rule.fill {
            self.fill(&mut event, *fill, payload);
        }
        Some(event)
    }

    fn fill(&self, event: &mut Event, fill: Fill, payload: &Object<'_>) {
        match fill {
            Fill::Prompt(fields) => {
                event.prompt = text(payload, fields)
                    .map(|prompt| unwrapped(&prompt, self.prompt_wrappers).into_owned())
                    .filter(|prompt| !prompt.trim().is_empty());
            }
            Fill::Model(fields) => {
                let is_none = |model: &String| self.no_models.iter().any(|none| none.eq_ignore_ascii_case(model));
                event.model = text(payload, fields).filter(|model| !is_none(model));
            }
            Fill::Session(fields) => {
                if let Some(id) = id(payload, fields) {
                    event.session_id = id;
                }
            }
            Fill::PreviousSession(fields) => event.previous_session_id = id(payload, fields),
            Fill::ToolUseId(fields) => event.tool_use_id = id(payload, fields),
            Fill::SubagentId(fields) => event.subagent_id = id(payload, fields),
            Fill::SubagentType(fields) => event.subagent_type = text(payload, fields),
            Fill::TaskDescription(fields) => event.task_description = text(payload, fields),
            Fill::ToolInput(fields) => {
                event.tool_input = first(payload, fields).map(|input| input.raw().to_owned());
            }
            Fill::LastMessage(fields) => {
                let said = text(payload, fields).map(|said| shortened(&said, LAST_MESSAGE_CHARS));
                event.metadata.extend(said.map(|said| (LAST_MESSAGE.to_owned(), said)));
            }
            Fill::Metadata(key, fields) => {
                let value = first(payload, fields).map(shown).filter(|value| !value.is_empty());
                event.metadata.extend(value.map(|value| (key.to_owned(), value)));
            }
            Fill::Says(key, value) => event.metadata.push((key.to_owned(), value.to_owned())),
        }
    }
}

/// A row of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The hook in the agent's own spelling.
    pub hook: &'static str,
    /// Whose payloads it is for.
    pub scope: Scope,
    /// All of these have to hold.
    pub when: &'static [When],
    /// `None`: nothing that callers want to hear of.
    pub gives: Option<EventKind>,
    /// What the event carries besides session, transcript and time.
    pub fill: &'static [Fill],
}

impl Rule {
    /// The hook means this event.
    #[must_use]
    pub const fn new(hook: &'static str, gives: EventKind, fill: &'static [Fill]) -> Self {
        Self {
            hook,
            scope: Scope::Session,
            when: &[],
            gives: Some(gives),
            fill,
        }
    }

    /// The hook means nothing; goes before the rule that it is an exception of.
    #[must_use]
    pub const fn nothing(hook: &'static str) -> Self {
        Self {
            hook,
            scope: Scope::Session,
            when: &[],
            gives: None,
            fill: &[],
        }
    }

    /// The same under conditions.
    #[must_use]
    pub const fn when(mut self, when: &'static [When]) -> Self {
        self.when = when;
        self
    }

    /// The same for payloads from inside a subagent, and only for them.
    #[must_use]
    pub const fn inside(mut self) -> Self {
        self.scope = Scope::Subagent;
        self
    }

    /// The same for the session's payloads and those from inside a subagent.
    #[must_use]
    pub const fn anywhere(mut self) -> Self {
        self.scope = Scope::Anywhere;
        self
    }
}

/// Whose payloads a rule is for. What happens inside a subagent is no news of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The session's own.
    Session,
    /// Those from inside a subagent.
    Subagent,
    /// Both.
    Anywhere,
}

impl Scope {
    fn covers(self, is_inside: bool) -> bool {
        match self {
            Self::Session => !is_inside,
            Self::Subagent => is_inside,
            Self::Anywhere => true,
        }
    }
}

/// A condition on a payload.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// The field is there and not null.
    Has(&'static str),
    /// The field's value, as text, is one of these.
    Is(&'static str, &'static [&'static str]),
    /// The field's text begins with one of these.
    Begins(&'static str, &'static [&'static str]),
    /// The field is a path with one of these as a component.
    Below(&'static str, &'static [&'static str]),
    /// The field's text is a name in camel case: a small letter first, a capital later.
    CamelCase(&'static str),
    /// The other way round.
    Not(&'static When),
}

impl When {
    fn holds(&self, payload: &Object<'_>) -> bool {
        match self {
            Self::Has(field) => payload.at(field).is_some(),
            Self::Is(field, values) => payload
                .at(field)
                .is_some_and(|value| values.contains(&shown(value).as_str())),
            Self::Begins(field, beginnings) => matches(payload, field, |text| {
                beginnings.iter().any(|beginning| text.starts_with(beginning))
            }),
            Self::Below(field, components) => matches(payload, field, |text| {
                text.split(['/', '\\']).any(|part| components.contains(&part))
            }),
            Self::CamelCase(field) => matches(payload, field, |text| {
                text.starts_with(|first: char| first.is_ascii_lowercase())
                    && text.contains(|letter: char| letter.is_ascii_uppercase())
            }),
            Self::Not(condition) => !condition.holds(payload),
        }
    }
}

/// What goes into an event, and from where.
#[derive(Clone, Copy, Debug)]
pub enum Fill {
    /// `prompt`, its wrappers taken off
    Prompt(Fields),
    /// `model`
    Model(Fields),
    /// `session_id`, where a hook has a better field for it than the others
    Session(Fields),
    /// `previous_session_id`
    PreviousSession(Fields),
    /// `tool_use_id`
    ToolUseId(Fields),
    /// `subagent_id`
    SubagentId(Fields),
    /// `subagent_type`
    SubagentType(Fields),
    /// `task_description`
    TaskDescription(Fields),
    /// `tool_input`
    ToolInput(Fields),
    /// `metadata.last_assistant_message`, shortened
    LastMessage(Fields),
    /// `metadata.<key>`, a text as it is and anything else as JSON
    Metadata(&'static str, Fields),
    /// `metadata.<key>` with a value that the hook itself stands for
    Says(&'static str, &'static str),
}

fn all_hold(conditions: &[When], payload: &Object<'_>) -> bool {
    conditions.iter().all(|condition| condition.holds(payload))
}

fn matches(payload: &Object<'_>, field: &str, test: impl Fn(&str) -> bool) -> bool {
    payload.at(field).and_then(Json::text).is_some_and(|text| test(&text))
}

fn first<'a>(payload: &Object<'a>, fields: Fields) -> Option<Json<'a>> {
    fields.iter().find_map(|field| payload.at(field))
}

fn text(payload: &Object<'_>, fields: Fields) -> Option<String> {
    fields
        .iter()
        .find_map(|field| payload.at(field)?.text().filter(|text| !text.is_empty()))
        .map(Into::into)
}

fn id(payload: &Object<'_>, fields: Fields) -> Option<String> {
    fields.iter().find_map(|field| payload.at(field)?.id())
}

fn shown(value: Json<'_>) -> String {
    value.text().map_or_else(|| value.raw().to_owned(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    const MAPPING: Mapping = Mapping {
        prompt_wrappers: &[Wrapper::Injected("note")],
        no_models: &["default"],
        strangers: &[
            &[When::CamelCase("hook_event_name")],
            &[
                When::Has("timestamp"),
                When::Not(&When::Below("transcript_path", &[".ours"])),
            ],
        ],
        rules: &[
            Rule::nothing("Prompt").when(&[When::Has("agent_id")]),
            Rule::new(
                "Prompt",
                EventKind::TurnStart,
                &[Fill::Prompt(&["submitted_prompt", "prompt"])],
            ),
            Rule::new(
                "Tool",
                EventKind::SubagentStart,
                &[
                    Fill::ToolUseId(&["tool_use_id"]),
                    Fill::Session(&["parent_session_id"]),
                    Fill::Model(&["model"]),
                    Fill::ToolInput(&["tool_input"]),
                    Fill::SubagentType(&["tool_input.subagent_type"]),
                    Fill::Metadata("background", &["tool_input.background"]),
                    Fill::Says("kind", "tool"),
                ],
            )
            .when(&[When::Is("tool_name", &["Agent", "Task"])]),
        ],
        ..Mapping::CLAUDE_LIKE
    };

    fn events(hook: &str, payload: &str) -> Vec<Event> {
        MAPPING.events(hook, &Object::parse(payload).unwrap(), &context())
    }

    #[test]
    fn what_happens_inside_a_subagent_is_no_news_of_the_session() {
        const INSIDE: Mapping = Mapping {
            inside: claude::INSIDE,
            rules: &[
                claude::SESSION_END,
                Rule::new("Tool", EventKind::SubagentStart, &[]).anywhere(),
                Rule::new("Own", EventKind::SubagentEnd, &[]).inside(),
            ],
            ..Mapping::CLAUDE_LIKE
        };
        let count = |hook: &str, agent: &str| {
            let payload = format!(r#"{{"session_id":"s"{agent}}}"#);
            INSIDE.events(hook, &Object::parse(&payload).unwrap(), &context()).len()
        };
        for (hook, outside, inside) in [("SessionEnd", 1, 0), ("Tool", 1, 1), ("Own", 0, 1)] {
            assert_eq!(count(hook, ""), outside, "{hook}");
            assert_eq!(count(hook, r#","agent_id":"""#), outside, "{hook}");
            assert_eq!(count(hook, r#","agent_id":null"#), outside, "{hook}");
            assert_eq!(count(hook, r#","agent_id":"a1""#), inside, "{hook}");
        }
    }

    #[test]
    fn the_first_rule_whose_conditions_hold_decides() {
        assert_eq!(
            events("Prompt", r#"{"session_id":"s","prompt":"p","agent_id":"a"}"#),
            []
        );
        let event = &events(
            "Prompt",
            r#"{"session_id":7,"prompt":"<note>x</note> p","agent_id":null}"#,
        )[0];
        assert_eq!(event.session_id, "7");
        assert_eq!(event.prompt.as_deref(), Some("p"));
        assert_eq!(events("Tool", r#"{"session_id":"s","tool_name":"Read"}"#), []);
        assert_eq!(events("Unknown", r#"{"session_id":"s"}"#), []);
        for id in ["null", r#""""#, r#"" ""#] {
            assert_eq!(events("Prompt", &format!(r#"{{"session_id":{id},"prompt":"p"}}"#)), []);
        }
        assert_eq!(events("Prompt", r#"{"session_id":"s","prompt":" \n"}"#)[0].prompt, None);
    }

    #[test]
    fn values_are_found_below_other_fields_and_in_either_spelling() {
        let event = &events(
            "Tool",
            r#"{"sessionId":"s","cwd":"/w","transcriptPath":"t.jsonl","toolName":"Task","toolUseId":"u",
                "toolInput":{"subagentType":"x","background":true}}"#,
        )[0];
        assert_eq!(event.session_ref.as_deref(), Some("/w/t.jsonl"));
        assert_eq!(event.tool_use_id.as_deref(), Some("u"));
        assert_eq!(
            event.tool_input.as_deref(),
            Some(r#"{"subagentType":"x","background":true}"#)
        );
        assert_eq!(event.subagent_type.as_deref(), Some("x"));
        let metadata =
            [("background", "true"), ("kind", "tool")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(event.metadata, metadata);
    }

    #[test]
    fn a_hook_may_name_its_session_better_and_its_model_not_at_all() {
        let event = |payload| events("Tool", payload).remove(0);
        let child = event(r#"{"session_id":"c","parent_session_id":"p","tool_name":"Task","model":"Default"}"#);
        assert_eq!((child.session_id.as_str(), child.model), ("p", None));
        let other = event(r#"{"session_id":"c","parent_session_id":"","tool_name":"Task","model":"m"}"#);
        assert_eq!((other.session_id.as_str(), other.model.as_deref()), ("c", Some("m")));
    }

    #[test]
    fn strangers_give_no_events() {
        assert_eq!(
            events(
                "Prompt",
                r#"{"session_id":"s","prompt":"p","hook_event_name":"userPrompt"}"#
            ),
            []
        );
        assert_eq!(events("Prompt", r#"{"session_id":"s","prompt":"p","timestamp":1}"#), []);
        let ours = r#"{"session_id":"s","prompt":"p","timestamp":1767323045678,"transcript_path":"C:\\u\\.ours\\t"}"#;
        let event = &events("Prompt", ours)[0];
        assert_eq!(event.timestamp.as_deref(), Some("2026-01-02T03:04:05.678Z"));
        assert_eq!(event.session_ref.as_deref(), Some(r"C:\u\.ours\t"));
    }
}
