//! Where Cline keeps its sessions.

use hookhost_sdk::paths::{self, is_plain_id, join, literal};
use hookhost_sdk::{Context, Fault, Object, Pattern, Source, TranscriptLocation, env, session_id_of};

/// What a session's messages are kept in, behind the session's id.
const MESSAGES: &str = ".messages.json";
/// The extension's files of a task before it moved to the SDK.
const OLD_MESSAGES: &str = "api_conversation_history.json";
const OLD_UI_MESSAGES: &str = "ui_messages.json";

pub(crate) fn dir(context: &Context) -> Result<String, Fault> {
    sessions_dir(context).ok_or_else(|| Fault::Other("the user's home directory is not known: set HOME".to_owned()))
}

fn sessions_dir(context: &Context) -> Option<String> {
    if let Some(dir) = env(context, "CLINE_SESSION_DATA_DIR") {
        return Some(paths::expand_home(dir, context));
    }
    if let Some(dir) = env(context, "CLINE_DATA_DIR") {
        return Some(join(&paths::expand_home(dir, context), "sessions"));
    }
    paths::configured_dir(context, "CLINE_DIR", ".cline").map(|dir| join(&dir, "data/sessions"))
}

pub(crate) fn messages_file(id: &str, context: &Context) -> Option<String> {
    let dir = sessions_dir(context).filter(|_| is_plain_id(id))?;
    Some(join(&dir, &format!("{id}/{id}{MESSAGES}")))
}

pub(crate) fn files(dir: &str, id: &str) -> Vec<Pattern> {
    // An extension's task directory lies in the same place when the caller names its `tasks` directory.
    vec![
        literal(join(dir, &format!("{id}/{OLD_MESSAGES}"))),
        literal(join(dir, &format!("{id}/{id}{MESSAGES}"))),
    ]
}

/// The manifest stands beside the messages; the older extension's token numbers stand in a file of their own.
pub(crate) fn source(session_ref: &str) -> TranscriptLocation {
    let companion = if paths::file_name(session_ref) == OLD_MESSAGES {
        Some(join(paths::parent(session_ref), OLD_UI_MESSAGES))
    } else {
        session_ref.strip_suffix(MESSAGES).map(|stem| format!("{stem}.json"))
    };
    TranscriptLocation {
        source: Source::File(session_ref.to_owned()),
        companions: companion.into_iter().collect(),
    }
}

/// `taskId` changes when the SDK starts a fresh run; the root session's id stays.
pub(crate) fn id(input: &Object<'_>) -> Option<String> {
    let raw = input.object("raw_data").unwrap_or_default();
    let root = raw.at("sessionContext.rootSessionId").and_then(hookhost_sdk::Json::id);
    let of_file = || {
        let session_ref = input.text("session_ref")?;
        let name = paths::file_name(&session_ref);
        let name = if name == OLD_MESSAGES {
            paths::file_name(paths::parent(&session_ref))
        } else {
            name.strip_suffix(MESSAGES)?
        };
        (!name.is_empty()).then(|| name.to_owned())
    };
    input
        .id(&["session_id"])
        .or(root)
        .or_else(|| raw.id(&["taskId"]))
        .or_else(of_file)
        .or_else(|| session_id_of(input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing::context;

    #[test]
    fn the_directory_follows_the_variables() {
        let mut context = context();
        assert_eq!(dir(&context).unwrap(), "/home/dev/.cline/data/sessions");
        context.env = vec![("CLINE_DIR".to_owned(), "/c".to_owned())];
        assert_eq!(
            messages_file("7_a", &context).unwrap(),
            "/c/data/sessions/7_a/7_a.messages.json"
        );
        context.env.push(("CLINE_SESSION_DATA_DIR".to_owned(), "/s".to_owned()));
        assert_eq!(dir(&context).unwrap(), "/s");
        assert_eq!(messages_file("../x", &context), None);
    }

    #[test]
    fn ids_are_found_in_any_place() {
        let found = |input: &str| id(&Object::parse(input).unwrap());
        let raw = r#"{"session_id":"","raw_data":{"taskId":"conv_1","sessionContext":{"rootSessionId":"7_a"}}}"#;
        assert_eq!(found(raw).as_deref(), Some("7_a"));
        assert_eq!(
            found(r#"{"session_ref":"/x/7_a/7_a.messages.json"}"#).as_deref(),
            Some("7_a")
        );
        assert_eq!(
            found(r#"{"session_ref":"/x/tasks/17/api_conversation_history.json"}"#).as_deref(),
            Some("17")
        );
    }

    #[test]
    fn what_stands_beside_the_messages_is_read_with_them() {
        assert_eq!(source("/s/7_a/7_a.messages.json").companions, ["/s/7_a/7_a.json"]);
        assert_eq!(
            source("/t/17/api_conversation_history.json").companions,
            ["/t/17/ui_messages.json"]
        );
        assert!(source("/t/other.json").companions.is_empty());
    }
}
