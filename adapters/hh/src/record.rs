//! The objects that the recorder writes: sessions, events, steps and exports.

use hookhost_sdk::{Fault, Json, Object, time};

/// The schemas that are understood.
const SCHEMAS: &[&str] = &["1", "2"];

/// # Errors
/// For another schema: its fields may mean other things.
pub(crate) fn check_schema(object: &Object<'_>) -> Result<(), Fault> {
    match object.get("schema").map(Json::raw) {
        Some(schema) if !SCHEMAS.contains(&schema) => Err(Fault::Malformed(format!(
            "field schema: the record has schema {schema}, this adapter knows {}; a newer hookhost may know more",
            SCHEMAS.join(" and ")
        ))),
        _ => Ok(()),
    }
}

/// What `hh export` writes, and a step with its events.
pub(crate) fn is_export(object: &Object<'_>) -> bool {
    object.has("events")
}

/// A session object: it has a start and is no event.
pub(crate) fn is_session(object: &Object<'_>) -> bool {
    object.has("started_at") && !object.has("kind")
}

/// The objects inside: an export's session and events, the elements of a list, or the object itself.
pub(crate) fn members<'a>(json: Json<'a>) -> Vec<Object<'a>> {
    match json.object() {
        Some(export) if is_export(&export) => {
            let session = export.object("session").filter(is_session);
            session
                .into_iter()
                .chain(export.items("events").into_iter().filter_map(Json::object))
                .collect()
        }
        Some(object) => vec![object],
        None => json.items().into_iter().filter_map(Json::object).collect(),
    }
}

/// An event, read.
pub(crate) struct Recorded<'a> {
    pub(crate) session: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) kind: String,
    pub(crate) correlates: Option<String>,
    pub(crate) body: Object<'a>,
    pub(crate) file_change: Option<Object<'a>>,
    /// Milliseconds since the session's start.
    pub(crate) millis: Option<u64>,
}

impl<'a> Recorded<'a> {
    /// `None` for an object that is no event.
    pub(crate) fn read(object: &Object<'a>) -> Option<Self> {
        let session = object
            .at("session.id")
            .or_else(|| object.get("session"))
            .and_then(Json::id);
        Some(Self {
            session,
            id: object.id(&["id"]),
            kind: object.text("kind")?.into_owned(),
            correlates: object.id(&["correlates"]),
            body: object.object("body").unwrap_or_default(),
            file_change: object.object("file_change"),
            millis: object.get("ts_ms").and_then(Json::count),
        })
    }

    pub(crate) fn text(&self) -> Option<String> {
        self.body.text("text").map(Into::into)
    }

    /// The start and the exit of the recorded program.
    pub(crate) fn lifecycle(&self) -> Option<String> {
        (self.kind == "lifecycle")
            .then(|| self.body.text("event").map(Into::into))
            .flatten()
    }

    /// RFC 3339, when the session's start is known.
    pub(crate) fn time(&self, started_at: Option<u64>) -> Option<String> {
        time::from_millis(started_at?.checked_add(self.millis?)?)
    }

    pub(crate) fn is_subagent_call(&self) -> bool {
        self.kind == "tool_call" && matches!(self.body.text("name").as_deref(), Some("Task" | "Agent"))
    }
}

/// A tool result's content as text.
pub(crate) fn content_text(body: &Object<'_>) -> Option<String> {
    let content = body.get("content")?;
    let text = content.text().map(String::from).or_else(|| {
        let joined = hookhost_sdk::content::joined_text(Some(content));
        (!joined.is_empty()).then_some(joined)
    });
    Some(text.unwrap_or_else(|| content.raw().to_owned()))
}
