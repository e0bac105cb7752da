//! The envelope around each event, and the forms that it arrives in: a line, a page, a list, a server-sent event.

use std::collections::{HashMap, HashSet};

use hookhost_sdk::{Fault, Json, Object};

/// The version of the schema that is understood.
const VERSION: &str = "2";

/// An event's envelope.
pub(crate) struct Envelope<'a> {
    pub(crate) kind: String,
    pub(crate) session: String,
    pub(crate) run: Option<String>,
    pub(crate) time: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) data: Object<'a>,
    sequence: Option<u64>,
}

impl<'a> Envelope<'a> {
    /// `None` for an object that is no envelope.
    ///
    /// # Errors
    /// For another version of the schema: its fields may mean other things.
    pub(crate) fn read(object: &Object<'a>) -> Result<Option<Self>, Fault> {
        if let Some(version) = object
            .get("schema_version")
            .map(Json::raw)
            .filter(|version| *version != VERSION)
        {
            return Err(Fault::Malformed(format!(
                "field schema_version: the event has version {version}, this adapter knows version {VERSION}; a newer \
                 hookhost may know more"
            )));
        }
        let (Some(kind), Some(session)) = (object.text("type"), object.id(&["session_id", "task_id"])) else {
            return Ok(None);
        };
        Ok(Some(Self {
            kind: kind.into_owned(),
            session,
            run: object.id(&["run_id"]),
            time: object.text("created_at").map(Into::into),
            id: object.id(&["event_id"]),
            data: object.object("data").unwrap_or_default(),
            sequence: object.get("sequence").and_then(Json::count),
        }))
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.data.text(key).map(Into::into)
    }

    /// The model, where the event names one.
    pub(crate) fn model(&self) -> Option<String> {
        self.text("model")
            .or_else(|| Some(self.data.at("model_config.model")?.text()?.into_owned()))
    }
}

/// Sequences that were seen: readers reconnect and are given some events again. Ephemeral events have none.
#[derive(Default)]
pub(crate) struct Seen(HashMap<String, HashSet<u64>>);

impl Seen {
    pub(crate) fn is_new(&mut self, envelope: &Envelope<'_>) -> bool {
        let Some(sequence) = envelope.sequence else {
            return true;
        };
        match self.0.get_mut(&envelope.session) {
            Some(seen) => seen.insert(sequence),
            None => {
                self.0.insert(envelope.session.clone(), HashSet::from([sequence]));
                true
            }
        }
    }
}

/// A page of the polling interface.
pub(crate) fn is_page(object: &Object<'_>) -> bool {
    object.has("events")
}

/// The envelopes of an object that is one, of a page, or of a list.
pub(crate) fn members<'a>(json: Json<'a>) -> Vec<Object<'a>> {
    match json.object() {
        Some(page) if is_page(&page) => page.items("events").into_iter().filter_map(Json::object).collect(),
        Some(envelope) => vec![envelope],
        None => json.items().into_iter().filter_map(Json::object).collect(),
    }
}

/// Puts the lines of server-sent events together.
#[derive(Default)]
pub(crate) struct Frames {
    data: String,
}

/// What a line of text was.
pub(crate) enum Frame {
    /// A part of a frame, a comment, or nothing.
    Going,
    /// The frame's data is whole.
    Data(String),
    /// No server-sent event.
    Other,
}

impl Frames {
    pub(crate) fn line(&mut self, line: &str) -> Frame {
        let line = line.trim_end_matches(['\r', '\n']);
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        match field {
            "data" => {
                let value = value.strip_prefix(' ').unwrap_or(value);
                // What stands before a whole envelope is a frame that was cut off: readers of lines are given no blank ones.
                let is_whole = Object::parse(value).is_ok_and(|object| object.has("schema_version"));
                if is_whole {
                    self.data.clear();
                } else if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                // Most frames have one line of data: whoever follows a stream need not wait for the blank one.
                if is_whole || Json::parse(&self.data).is_ok() {
                    Frame::Data(std::mem::take(&mut self.data))
                } else {
                    Frame::Going
                }
            }
            "" => {
                if line.is_empty() {
                    self.data.clear();
                }
                Frame::Going
            }
            "id" | "event" | "retry" => Frame::Going,
            _ => Frame::Other,
        }
    }
}
