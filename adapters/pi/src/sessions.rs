//! Where pi keeps its sessions, and whose a session file is.

use std::borrow::Cow;

use hookhost_sdk::paths::{
    configured_dir, expand_home, file_name, file_stem, is_absolute, join, literal, parent, wanted_text,
};
use hookhost_sdk::{Context, Fault, Object, Pattern, Sign, env};

/// Settings that can move the sessions.
pub(crate) const SETTINGS: &[Sign] = &[
    Sign::Repo(".pi/settings.json"),
    Sign::Home(".pi/agent/settings.json"),
    Sign::Env("PI_CODING_AGENT_DIR", "settings.json"),
];

/// What extensions call the transcript of every subagent.
const SUBAGENT_FILE: &str = "session.jsonl";

/// Whose transcript a file is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A session that a person runs.
    Session(String),
    /// One run of a subagent.
    Subagent {
        /// The session that it belongs to.
        session: String,
        /// The transcript of that session.
        session_file: String,
        /// Tells the runs of a session apart.
        subagent: String,
    },
}

impl Owner {
    /// `<session>/<subagent>/run-<n>/session.jsonl` is a subagent's, everything else a session's: of the id that is
    /// known, else of the one in the file's name. A `session.jsonl` elsewhere names nobody.
    pub(crate) fn of(file: Option<&str>, id: Option<String>) -> Option<Self> {
        let Some(file) = file else { return id.map(Self::Session) };
        if file_name(file) != SUBAGENT_FILE {
            let id = id.or_else(|| id_in(file_stem(file)));
            return id.map(Self::Session);
        }
        let run_dir = parent(file);
        let subagent_dir = parent(run_dir);
        let session_dir = parent(subagent_dir);
        let (run, subagent) = (file_name(run_dir), file_name(subagent_dir));
        if !run.starts_with("run-") || subagent.is_empty() {
            return id.map(Self::Session);
        }
        Some(Self::Subagent {
            session: id_in(file_name(session_dir))?,
            session_file: format!("{session_dir}.jsonl"),
            subagent: format!("{subagent}-{run}"),
        })
    }
}

/// The session's id in `<time>_<id>`. The time has no underscore, an id of the user's own may have one.
pub(crate) fn id_in(name: &str) -> Option<String> {
    let has_time = |time: &str| time.len() == "2026-08-20T09-15-00-000Z".len() && time.ends_with('Z');
    let id = match name.split_once('_') {
        Some((time, id)) if has_time(time) => id,
        _ => name.rsplit_once('_').map_or(name, |(_, id)| id),
    };
    (!id.is_empty()).then(|| id.to_owned())
}

/// The id in a HookInput; that of the main session where a subagent's transcript is named.
pub(crate) fn id_of_input(input: &Object<'_>) -> Option<String> {
    let named = |object: &Object<'_>| object.id(&["session_id"]);
    let id = named(input).or_else(|| named(&input.object("raw_data")?));
    let file = input.text("session_ref");
    match (id, file) {
        (Some(id), _) => Some(id),
        (None, file) => match Owner::of(file.as_deref(), None)? {
            Owner::Session(id) | Owner::Subagent { session: id, .. } => Some(id),
        },
    }
}

/// The directory with the sessions of a working directory. One that the user named holds those of all of them.
pub(crate) fn dir(cwd: &str, context: &Context) -> Result<String, Fault> {
    let agent = configured_dir(context, "PI_CODING_AGENT_DIR", ".pi/agent");
    let project = context.repo_root.as_deref().map(|root| join(root, ".pi"));
    let moved = env(context, "PI_CODING_AGENT_SESSION_DIR")
        .map(str::to_owned)
        .or_else(|| set_dir(context, project.as_deref()?))
        .or_else(|| set_dir(context, agent.as_deref()?));
    if let Some(moved) = moved {
        let moved = expand_home(&moved, context);
        return Ok(if is_absolute(&moved) { moved } else { join(cwd, &moved) });
    }
    let agent = agent.ok_or_else(|| Fault::Other("the home directory is not known".to_owned()))?;
    let bare = cwd.trim_start_matches(['/', '\\']);
    let dashed: String = bare
        .chars()
        .map(|letter| {
            if matches!(letter, '/' | '\\' | ':') {
                '-'
            } else {
                letter
            }
        })
        .collect();
    Ok(join(&join(&agent, "sessions"), &format!("--{dashed}--")))
}

/// `sessionDir` in a folder's settings.
fn set_dir(context: &Context, folder: &str) -> Option<String> {
    let text: Cow<'_, str> = wanted_text(context, &join(folder, "settings.json"))?;
    let settings = Object::parse(&text).ok()?;
    settings.text("sessionDir").map(Into::into)
}

/// Where a session's file can be: its time is not known. The time ends in `Z`: behind another `_` stands the rest of a
/// longer id.
pub(crate) fn files(dir: &str, id: &str) -> Vec<Pattern> {
    vec![
        literal(join(dir, &format!("*Z_{id}.jsonl"))),
        literal(join(dir, &format!("*_{id}.jsonl"))),
        literal(join(dir, &format!("{id}.jsonl"))),
    ]
}

/// The transcripts of a session's subagents.
pub(crate) fn subagents(session_ref: &str, subagents_dir: Option<&str>) -> Pattern {
    let beside = join(parent(session_ref), file_stem(session_ref));
    let dir = subagents_dir.unwrap_or(&beside);
    literal(join(dir, &format!("*/run-*/{SUBAGENT_FILE}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing::context;
    use hookhost_sdk::{Base, ContextFile, FileState, Place};

    const DIR: &str = "/home/dev/.pi/agent/sessions/--home-dev-project--";

    #[test]
    fn the_time_in_a_files_name_is_not_the_id() {
        let id = |name| id_in(name).unwrap();
        assert_eq!(id("2026-08-20T09-15-00-000Z_0199aa10-7c31-7d52"), "0199aa10-7c31-7d52");
        assert_eq!(id("2026-08-20T09-15-00-000Z_my_own_id"), "my_own_id");
        assert_eq!(id("by_hand"), "hand");
        assert_eq!(id("0199aa10"), "0199aa10");
        assert_eq!(id_in("2026-08-20T09-15-00-000Z_"), None);
    }

    #[test]
    fn runs_of_subagents_are_told_apart_and_never_called_session() {
        let of = |rest: &str| Owner::of(Some(&format!("{DIR}/2026-10-05T09-00-00-000Z_b1b1{rest}")), None);
        let run = |subagent: &str| {
            Some(Owner::Subagent {
                session: "b1b1".to_owned(),
                session_file: format!("{DIR}/2026-10-05T09-00-00-000Z_b1b1.jsonl"),
                subagent: subagent.to_owned(),
            })
        };
        assert_eq!(of("/a1b2c3/run-0/session.jsonl"), run("a1b2c3-run-0"));
        assert_eq!(of("/a1b2c3/run-1/session.jsonl"), run("a1b2c3-run-1"));
        assert_eq!(of(".jsonl"), Some(Owner::Session("b1b1".to_owned())));
        assert_eq!(Owner::of(Some("/tmp/session.jsonl"), None), None);
        assert_eq!(
            Owner::of(Some("/tmp/session.jsonl"), Some("x".to_owned())),
            Some(Owner::Session("x".to_owned()))
        );
        assert_eq!(Owner::of(None, None), None);
    }

    #[test]
    fn the_directory_is_named_after_the_working_directory() {
        let context = context();
        assert_eq!(dir("/home/dev/project", &context).unwrap(), DIR);
        assert_eq!(
            dir(r"C:\Users\x", &context).unwrap(),
            "/home/dev/.pi/agent/sessions/--C--Users-x--"
        );
    }

    #[test]
    fn variables_and_settings_move_the_sessions() {
        let mut context = context();
        context.env = vec![("PI_CODING_AGENT_DIR".to_owned(), "/pi".to_owned())];
        assert_eq!(dir("/w", &context).unwrap(), "/pi/sessions/--w--");
        context.files = vec![ContextFile {
            wanted: Place {
                base: Base::Env("PI_CODING_AGENT_DIR".to_owned()),
                path: "settings.json".to_owned(),
            },
            path: "/pi/settings.json".to_owned(),
            state: FileState::Content(br#"{"sessionDir":"~/pi-sessions"}"#.to_vec()),
        }];
        assert_eq!(dir("/w", &context).unwrap(), "/home/dev/pi-sessions");
        context
            .env
            .push(("PI_CODING_AGENT_SESSION_DIR".to_owned(), "here".to_owned()));
        assert_eq!(dir("/w", &context).unwrap(), "/w/here");
    }

    #[test]
    fn a_longer_id_with_the_same_end_is_looked_at_last() {
        let paths: Vec<_> = files("/s", "id").into_iter().map(|pattern| pattern.path).collect();
        assert_eq!(paths, ["/s/*Z_id.jsonl", "/s/*_id.jsonl", "/s/id.jsonl"]);
    }

    #[test]
    fn transcripts_of_subagents_lie_below_the_sessions_name() {
        assert_eq!(
            subagents("/s/2026_b1b1.jsonl", None).path,
            "/s/2026_b1b1/*/run-*/session.jsonl"
        );
        assert_eq!(
            subagents("/s/2026_b1b1.jsonl", Some("/elsewhere")).path,
            "/elsewhere/*/run-*/session.jsonl"
        );
    }
}
