//! What the plugin's signals mean.
//!
//! A payload has one of three shapes: our plugin's envelope around a bus event or a plugin hook's arguments, a bus
//! event as OpenCode hands it to plugins, or the flat object that Entire's plugin sends.

use hookhost_sdk::mapping::{Fill, Mapping, Rule, When};
use hookhost_sdk::prompt::{Wrapper, unwrapped};
use hookhost_sdk::{Context, Event, EventKind, Hook, Object, Payload, time};

use crate::sessions;

pub(crate) const HOOKS: &[Hook] = &[
    Hook::registered("session.created", "session-created").gives(&[EventKind::SessionStart]),
    Hook::registered("chat.message", "chat-message").gives(&[EventKind::TurnStart]),
    Hook::registered("message.part.updated", "message-part-updated")
        .gives(&[EventKind::TurnStart, EventKind::SubagentEnd]),
    Hook::registered("session.status", "session-status").gives(&[EventKind::TurnEnd, EventKind::SubagentEnd]),
    Hook::registered("session.idle", "session-idle").gives(&[EventKind::TurnEnd]),
    Hook::registered("session.compacted", "session-compacted").gives(&[EventKind::Compaction]),
    Hook::registered("session.deleted", "session-deleted").gives(&[EventKind::SessionEnd]),
    Hook::registered("server.instance.disposed", "server-instance-disposed").gives(&[EventKind::SessionEnd]),
    Hook::registered("tool.execute.before", "tool-execute-before").gives(&[EventKind::SubagentStart]),
    Hook::registered("tool.execute.after", "tool-execute-after").gives(&[EventKind::SubagentEnd]),
    Hook::known("session.updated", "session-updated"),
    Hook::known("session.error", "session-error"),
    Hook::known("message.updated", "message-updated"),
    Hook::known("file.edited", "file-edited"),
    // What Entire's plugin calls.
    Hook::known("session-start", "session-start").gives(&[EventKind::SessionStart]),
    Hook::known("turn-start", "turn-start").gives(&[EventKind::TurnStart]),
    Hook::known("turn-end", "turn-end").gives(&[EventKind::TurnEnd]),
    Hook::known("compaction", "compaction").gives(&[EventKind::Compaction]),
    Hook::known("session-end", "session-end").gives(&[EventKind::SessionEnd]),
    Hook::known("subagent-start", "subagent-start").gives(&[EventKind::SubagentStart]),
    Hook::known("subagent-stop", "subagent-stop").gives(&[EventKind::SubagentEnd]),
];

/// The tool that starts a subagent.
const TASK: &str = "task";

/// What the `task` tool puts around the subagent's words.
const AROUND_RESULT: &[Wrapper] = &[
    Wrapper::Injected("task_metadata"),
    Wrapper::Around(TASK),
    Wrapper::Around("task_result"),
];

/// The flat payloads of Entire's plugin, which leaves child sessions out itself.
const ENTIRE: Mapping = Mapping {
    session_ref: &[],
    strangers: &[
        &[When::Has("hook_event_name")],
        &[When::Has("transcript_path")],
        &[When::Has("conversation_id")],
        &[When::Has("agent_action_name")],
    ],
    rules: &[
        Rule::new("session-start", EventKind::SessionStart, &[]),
        Rule::new(
            "turn-start",
            EventKind::TurnStart,
            &[Fill::Prompt(&["prompt"]), Fill::Model(&["model"])],
        ),
        Rule::new("turn-end", EventKind::TurnEnd, &[Fill::Model(&["model"])]),
        Rule::new("compaction", EventKind::Compaction, &[]),
        Rule::new("session-end", EventKind::SessionEnd, &[]),
        Rule::new("subagent-start", EventKind::SubagentStart, ENTIRE_TASK),
        Rule::new("subagent-stop", EventKind::SubagentEnd, ENTIRE_TASK),
    ],
    ..Mapping::CLAUDE_LIKE
};

const ENTIRE_TASK: &[Fill] = &[
    Fill::Model(&["model"]),
    Fill::ToolUseId(&["tool_use_id"]),
    Fill::SubagentId(&["subagent_id"]),
    Fill::SubagentType(&["subagent_type"]),
    Fill::TaskDescription(&["task_description"]),
];

/// The event of a payload, if it means one.
pub(crate) fn event(hook: &str, payload: &Payload<'_>, context: &Context) -> Option<Event> {
    match Signal::of(hook, payload) {
        Some(signal) => signal.event(hook, context),
        None if ENTIRE.is_strange(payload) => None,
        None => {
            let mut event = ENTIRE.event(hook, payload, context)?;
            event.session_ref = sessions::session_ref(&event.session_id, context);
            Some(event)
        }
    }
}

/// A signal of OpenCode's, with or without our plugin's envelope.
struct Signal<'a> {
    payload: &'a Payload<'a>,
    /// `properties` of a bus event.
    properties: Object<'a>,
    /// The arguments of a plugin hook.
    input: Object<'a>,
    output: Object<'a>,
}

impl<'a> Signal<'a> {
    fn of(hook: &str, payload: &'a Payload<'a>) -> Option<Self> {
        let empty = Object::default;
        let is = |key| payload.text(key).as_deref() == Some(hook);
        if is("hook") && payload.has("source") {
            let event = payload.object("event").unwrap_or_default();
            return Some(Self {
                payload,
                properties: event.object("properties").unwrap_or_default(),
                input: payload.object("input").unwrap_or_default(),
                output: payload.object("output").unwrap_or_default(),
            });
        }
        let properties = payload.object("properties")?;
        is("type").then(|| Self {
            payload,
            properties,
            input: empty(),
            output: empty(),
        })
    }

    fn event(&self, hook: &str, context: &Context) -> Option<Event> {
        let is_child = self.parent().is_some();
        match hook {
            "session.created" if !is_child => {
                let reason = self.payload.flag("resumed").then_some("resume");
                Some(self.main(EventKind::SessionStart, context)?.with("reason", reason))
            }
            "chat.message" if !is_child => self.turn_start(context),
            // Builds without `chat.message`: the plugin sends the first text of a user message instead.
            "message.part.updated" if !is_child && self.payload.flag("no_chat_message") => {
                let part = self.properties.object("part")?;
                let mut event = self.main(EventKind::TurnStart, context)?;
                event.prompt = part.text("text").map(Into::into);
                Some(event.with("message_id", part.text("messageID")))
            }
            "message.part.updated" => self.failed_task(context),
            "session.status" if !self.is_idle() => None,
            "session.status" if is_child => self.background_task_end(context),
            "session.status" => self.turn_end(context),
            // Comes beside `session.status`, which builds before it do not have.
            "session.idle" if !is_child && self.payload.flag("no_session_status") => self.turn_end(context),
            "session.compacted" if !is_child => self.main(EventKind::Compaction, context),
            "session.deleted" if !is_child => self.session_end("deleted", context),
            "server.instance.disposed" if !is_child => {
                let reason = self.payload.text("reason");
                self.session_end(reason.as_deref().unwrap_or("disposed"), context)
            }
            "tool.execute.before" if self.is_task() => {
                let args = self.output.object("args").or_else(|| self.input.object("args"))?;
                let mut event = self.subagent(EventKind::SubagentStart, &args, context)?;
                event.tool_use_id = self.input.id(&["callID"]);
                event.tool_input = Some(args.raw().to_owned());
                Some(event)
            }
            "tool.execute.after" if self.is_task() => self.task_end(context),
            _ => None,
        }
    }

    /// The session that the signal is about.
    fn session(&self) -> Option<String> {
        let id = self
            .payload
            .id(&["session_id"])
            .or_else(|| self.properties.id(&["sessionID"]))
            .or_else(|| self.input.id(&["sessionID"]))
            .or_else(|| self.properties.object("part")?.id(&["sessionID"]));
        id.or_else(|| self.session_info()?.id(&["id"]))
    }

    /// The session whose subagent runs in this one.
    fn parent(&self) -> Option<String> {
        self.payload
            .id(&["parent_session_id"])
            .or_else(|| self.session_info()?.id(&["parentID"]))
    }

    /// `info` of a session. The `info` of a message has a `parentID` as well, which is the message that it answers.
    fn session_info(&self) -> Option<Object<'a>> {
        let info = self.properties.object("info")?;
        (!info.has("sessionID")).then_some(info)
    }

    fn is_idle(&self) -> bool {
        let status = self.properties.object("status");
        status.is_some_and(|status| status.text("type").as_deref() == Some("idle"))
    }

    fn is_task(&self) -> bool {
        self.input.text("tool").as_deref() == Some(TASK)
    }

    fn timed(&self, mut event: Event) -> Event {
        event.timestamp = self.payload.get("time").and_then(time::of);
        event
    }

    /// An event of the session itself.
    fn main(&self, kind: EventKind, context: &Context) -> Option<Event> {
        let session = self.session()?;
        let session_ref = sessions::session_ref(&session, context);
        let mut event = self.timed(Event::new(kind, session));
        event.session_ref = session_ref;
        Some(event)
    }

    /// An event of a subagent. It belongs to the session that the user started: that of a subagent's subagent is not
    /// the session that runs the tool.
    fn subagent(&self, kind: EventKind, args: &Object<'_>, context: &Context) -> Option<Event> {
        let caller = self.session()?;
        let main = self.payload.id(&["root_session_id"]).or_else(|| self.parent());
        let nested = main.is_some().then(|| caller.clone());
        let session = main.unwrap_or(caller);
        let session_ref = sessions::session_ref(&session, context);
        let mut event = self.timed(Event::new(kind, session));
        event.session_ref = session_ref;
        event.subagent_type = args.text("subagent_type").map(Into::into);
        event.task_description = args.text("description").map(Into::into);
        Some(event.with("parent_subagent_id", nested))
    }

    fn turn_start(&self, context: &Context) -> Option<Event> {
        let message = self.output.object("message").unwrap_or_default();
        let mut event = self.main(EventKind::TurnStart, context)?;
        event.prompt = typed(&self.output);
        event.model = model(&self.input).or_else(|| model(&message));
        let id = self.input.id(&["messageID"]).or_else(|| message.id(&["id"]));
        Some(event.with("message_id", id))
    }

    fn turn_end(&self, context: &Context) -> Option<Event> {
        let mut event = self.main(EventKind::TurnEnd, context)?;
        event.model = self.payload.text("model").map(Into::into);
        Some(event.with_last_message(self.payload.text("last_assistant_message")))
    }

    fn session_end(&self, reason: &str, context: &Context) -> Option<Event> {
        Some(self.main(EventKind::SessionEnd, context)?.with("reason", Some(reason)))
    }

    fn task_end(&self, context: &Context) -> Option<Event> {
        let metadata = self.output.object("metadata").unwrap_or_default();
        // It has only been started; its end is its own session's idle.
        if metadata.flag("background") {
            return None;
        }
        let args = self.input.object("args").unwrap_or_default();
        let mut event = self.subagent(EventKind::SubagentEnd, &args, context)?;
        event.tool_use_id = self.input.id(&["callID"]);
        event.subagent_id = metadata.id(&["sessionId"]);
        let output = self.output.text("output").unwrap_or_default();
        Some(event.with_last_message(Some(unwrapped(&output, AROUND_RESULT))))
    }

    fn failed_task(&self, context: &Context) -> Option<Event> {
        let part = self.properties.object("part")?;
        let state = part.object("state")?;
        if part.text("tool").as_deref() != Some(TASK) || state.text("status").as_deref() != Some("error") {
            return None;
        }
        let args = state.object("input").unwrap_or_default();
        let mut event = self.subagent(EventKind::SubagentEnd, &args, context)?;
        event.tool_use_id = part.id(&["callID"]);
        event.subagent_id = state
            .object("metadata")
            .and_then(|metadata| metadata.id(&["sessionId"]));
        Some(event.with("error", state.shown("error")))
    }

    /// The child session of a task that went on in the background is idle; the plugin names the call it was made by.
    fn background_task_end(&self, context: &Context) -> Option<Event> {
        let call = self.payload.id(&["background_call_id"])?;
        let child = self.session()?;
        let session = self.payload.id(&["root_session_id"]).or_else(|| self.parent())?;
        let session_ref = sessions::session_ref(&session, context);
        let mut event = self.timed(Event::new(EventKind::SubagentEnd, session));
        event.session_ref = session_ref;
        event.tool_use_id = Some(call);
        event.subagent_id = Some(child);
        event.model = self.payload.text("model").map(Into::into);
        Some(event.with_last_message(self.payload.text("last_assistant_message")))
    }
}

/// What a person typed: text parts that neither OpenCode nor a plugin added.
fn typed(message: &Object<'_>) -> Option<String> {
    let texts: Vec<_> = message
        .items("parts")
        .into_iter()
        .filter_map(hookhost_sdk::Json::object)
        .filter(is_typed_text)
        .filter_map(|part| part.text("text"))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Whether a part is text, and neither added by OpenCode (`synthetic`) nor kept from the model (`ignored`).
pub(crate) fn is_typed_text(part: &Object<'_>) -> bool {
    part.text("type").as_deref() == Some("text") && !part.flag("synthetic") && !part.flag("ignored")
}

fn model(of: &Object<'_>) -> Option<String> {
    of.object("model")?.id(&["modelID"])
}

#[cfg(test)]
mod tests {
    use crate::OpenCode;

    #[test]
    fn every_payload_means_what_its_fixture_says() {
        hookhost_sdk::testing::check_payload_fixtures::<OpenCode>();
    }
}
