//! Message content in the shape of Anthropic's API (a text, or a list of typed blocks), which several agents' transcripts share.

use std::borrow::Cow;

use crate::{Json, Object};

/// One block of a message's content.
#[derive(Clone, Debug)]
pub enum Block<'a> {
    /// `text`
    Text(Cow<'a, str>),
    /// `thinking`
    Thinking(Cow<'a, str>),
    /// `image` and other pictures.
    Image,
    /// `tool_use`
    ToolUse {
        /// `id`
        id: String,
        /// `name`
        name: Cow<'a, str>,
        /// `input`
        input: Option<Json<'a>>,
    },
    /// `tool_result`
    ToolResult {
        /// `tool_use_id`
        id: String,
        /// `content`, its texts joined with newlines
        output: String,
        /// `is_error`
        is_error: bool,
    },
    /// Anything else.
    Other(Object<'a>),
}

/// The blocks of a message's `content`.
#[must_use]
pub fn blocks(content: Option<Json<'_>>) -> Vec<Block<'_>> {
    let Some(content) = content else { return vec![] };
    if let Some(text) = content.text() {
        return vec![Block::Text(text)];
    }
    content
        .items()
        .into_iter()
        .filter_map(Json::object)
        .map(block)
        .collect()
}

fn block(object: Object<'_>) -> Block<'_> {
    match object.text("type").as_deref() {
        Some("text") => Block::Text(text_of(&object, "text")),
        Some("thinking") => Block::Thinking(text_of(&object, "thinking")),
        Some("image") => Block::Image,
        Some("tool_use") => Block::ToolUse {
            id: object.id(&["id"]).unwrap_or_default(),
            name: text_of(&object, "name"),
            input: object.get("input"),
        },
        Some("tool_result") => Block::ToolResult {
            id: object.id(&["tool_use_id"]).unwrap_or_default(),
            output: joined_text(object.get("content")),
            is_error: object.flag("is_error"),
        },
        _ => Block::Other(object),
    }
}

fn text_of<'a>(object: &Object<'a>, key: &str) -> Cow<'a, str> {
    object.text(key).unwrap_or_default()
}

/// The texts of a content, joined with newlines.
#[must_use]
pub fn joined_text(content: Option<Json<'_>>) -> String {
    let texts: Vec<_> = blocks(content)
        .into_iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    texts.join("\n")
}
