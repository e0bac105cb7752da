//! The values that settings files hold, free of a notation.

/// One value. Objects keep the order of their members; numbers keep their spelling.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl Node {
    /// The member with this name.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        match self {
            Self::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value at a path of member names.
    pub(super) fn at(&self, path: &[String]) -> Option<&Node> {
        path.iter().try_fold(self, |node, name| node.get(name))
    }

    pub(super) fn as_list(&self) -> Option<&[Node]> {
        match self {
            Self::List(elements) => Some(elements),
            _ => None,
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An object or a list with nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::List(elements) => elements.is_empty(),
            Self::Object(members) => members.is_empty(),
            _ => false,
        }
    }

    /// What kind of value it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    /// Every text that `wanted` holds stands here at the same place. Numbers and switches may differ, and there may be
    /// more members: a timeout that the user changed is the user's to keep.
    pub(super) fn agrees_with(&self, wanted: &Node) -> bool {
        match (self, wanted) {
            (Self::Text(found), Self::Text(text)) => found == text,
            (Self::List(found), Self::List(elements)) => {
                found.len() == elements.len()
                    && found
                        .iter()
                        .zip(elements)
                        .all(|(found, element)| found.agrees_with(element))
            }
            (Self::Object(_), Self::Object(members)) => members.iter().all(|(name, value)| match self.get(name) {
                Some(found) => found.agrees_with(value),
                None => matches!(value, Self::Null | Self::Bool(_) | Self::Number(_)),
            }),
            (Self::Null | Self::Bool(_) | Self::Number(_), Self::Null | Self::Bool(_) | Self::Number(_)) => true,
            _ => false,
        }
    }
}
