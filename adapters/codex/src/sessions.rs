//! Where Codex keeps its sessions: `<home>/sessions/YYYY/MM/DD/rollout-<local time>-<id>.jsonl`, and after archiving
//! `<home>/archived_sessions/rollout-<local time>-<id>.jsonl`. Nothing in a path tells the repository. What has not been
//! touched for a week is compressed to `.jsonl.zst` in its place.

use hookhost_sdk::{
    Context, Fault, Object, Pattern, ProgramSource, Source, TranscriptLocation, paths, session_id_of, time,
};

use crate::Codex;

const SESSIONS: &str = "sessions";
const ARCHIVE: &str = "archived_sessions";

/// The ending that a file has more once it was compressed.
const COMPRESSED: &str = ".zst";

/// How many characters the id at the end of a file's name has.
const UUID_LENGTH: usize = 36;

/// Codex's own directory.
pub(crate) fn home(context: &Context) -> Result<String, Fault> {
    paths::configured_dir(context, "CODEX_HOME", ".codex")
        .ok_or_else(|| Fault::Other("neither CODEX_HOME nor a home directory is set".to_owned()))
}

pub(crate) fn dir(context: &Context) -> Result<String, Fault> {
    Ok(paths::join(&home(context)?, SESSIONS))
}

/// The session's id. A file's name holds a time before it.
pub(crate) fn id(input: &Object<'_>) -> Option<String> {
    let id = session_id_of(input)?;
    let uuid = id
        .starts_with("rollout-")
        .then(|| id.len().checked_sub(UUID_LENGTH).and_then(|at| id.get(at..)))
        .flatten();
    Some(uuid.map(str::to_owned).unwrap_or(id))
}

pub(crate) fn file(dir: &str, id: &str, context: &Context) -> Vec<Pattern> {
    let name = format!("rollout-*-{id}.jsonl");
    let by_date = format!("*/*/*/{name}");
    let mut patterns = vec![
        paths::join(dir, &by_date),
        // Before there were folders by date.
        paths::join(dir, &name),
    ];
    let home = paths::parent(dir);
    if !home.is_empty() && paths::file_name(dir) == SESSIONS {
        patterns.push(paths::join(&paths::join(home, ARCHIVE), &name));
        patterns.push(paths::join(&paths::join(home, ARCHIVE), &by_date));
    }
    // While Codex unpacks one to go on with it, both are there.
    let compressed: Vec<_> = patterns.iter().map(|path| format!("{path}{COMPRESSED}")).collect();
    patterns.extend(compressed);
    patterns.push(new_file(dir, id, context));
    patterns.into_iter().map(paths::literal).collect()
}

/// The file that Codex would have made for this session, so that `codex resume` finds it. Its name holds the time when
/// the session began, which the id holds as well; the time is local, which nothing here can know, and only has to be
/// one.
fn new_file(dir: &str, id: &str, context: &Context) -> String {
    let began = UuidTime::of(id).and_then(|time| time::from_millis(time.millis));
    let began = began.as_deref().unwrap_or(&context.received_at);
    let part = |from: usize, to: usize| began.get(from..to).unwrap_or("00");
    let (year, month, day) = (part(0, 4), part(5, 7), part(8, 10));
    let clock = part(11, 19).replace(':', "-");
    paths::join(
        dir,
        &format!("{year}/{month}/{day}/rollout-{year}-{month}-{day}T{clock}-{id}.jsonl"),
    )
}

/// A compressed transcript is unpacked by zstd's own program.
pub(crate) fn source(session_ref: &str, context: &Context) -> TranscriptLocation {
    let unpacked = session_ref.strip_suffix(COMPRESSED).and_then(|plain| {
        Some(paths::join(
            &paths::snapshot_dir::<Codex>(context)?,
            paths::file_name(plain),
        ))
    });
    let source = match unpacked {
        Some(snapshot) => Source::Program(ProgramSource {
            arguments: ["zstd", "-q", "-d", "-c", "--", session_ref]
                .map(str::to_owned)
                .to_vec(),
            snapshot,
            writes_file: false,
        }),
        None => Source::File(session_ref.to_owned()),
    };
    TranscriptLocation {
        source,
        companions: vec![],
    }
}

/// The subagents' transcripts lie among all others: a file's name holds the id.
pub(crate) fn subagents(session_ref: &str, subagents_dir: Option<&str>, context: &Context) -> Vec<Pattern> {
    let mut patterns = vec![];
    let mut below = |dir: &str, rest: &str| {
        patterns.push(Pattern {
            path: paths::join(dir, rest),
            linked: true,
        });
    };
    if let Some(dir) = subagents_dir {
        below(dir, "*.jsonl");
        below(dir, "*/*/*/*.jsonl");
        return patterns;
    }
    match root(session_ref).or_else(|| home(context).ok()) {
        Some(home) => {
            below(&paths::join(&home, SESSIONS), "*/*/*/rollout-*.jsonl");
            below(&paths::join(&home, ARCHIVE), "rollout-*.jsonl");
        }
        None => below(paths::parent(session_ref), "*.jsonl"),
    }
    patterns
}

/// Codex's directory, judged by a transcript in it.
fn root(session_ref: &str) -> Option<String> {
    let mut dir = paths::parent(session_ref);
    // `sessions/YYYY/MM/DD` at the deepest.
    for _ in 0..4 {
        if matches!(paths::file_name(dir), SESSIONS | ARCHIVE) {
            return Some(paths::parent(dir).to_owned());
        }
        dir = paths::parent(dir);
    }
    None
}

/// The time in a UUID of version 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UuidTime {
    pub(crate) millis: u64,
    /// The id has a random part. One without was written by hand, and its time is good for a minute or so.
    pub(crate) exact: bool,
}

impl UuidTime {
    /// `None` for any other id.
    pub(crate) fn of(id: &str) -> Option<Self> {
        let digits: String = id.chars().filter(|character| *character != '-').collect();
        if id.len() != UUID_LENGTH || digits.len() != 32 || digits.get(12..13) != Some("7") {
            return None;
        }
        let random = u64::from_str_radix(digits.get(13..16)?, 16).ok()?;
        let millis = u64::from_str_radix(digits.get(..12)?, 16).ok()?;
        Some(Self {
            millis,
            exact: random != 0 || !digits.get(17..)?.starts_with("000"),
        })
    }

    /// Whether this was made before `other`, as far as both can tell.
    pub(crate) fn is_before(self, other: Self) -> bool {
        if self.exact && other.exact {
            self.millis < other.millis
        } else {
            self.millis >> 16 < other.millis >> 16
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::testing;

    const ID: &str = "019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3";

    fn shown(patterns: Vec<Pattern>) -> Vec<String> {
        patterns.into_iter().map(|pattern| pattern.path).collect()
    }

    #[test]
    fn a_session_is_found_by_its_id_wherever_it_lies() {
        let context = testing::context();
        assert_eq!(dir(&context).unwrap(), "/home/dev/.codex/sessions");
        assert_eq!(
            shown(file("/home/dev/.codex/sessions", ID, &context)),
            [
                "/home/dev/.codex/sessions/*/*/*/rollout-*-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl",
                "/home/dev/.codex/sessions/rollout-*-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl",
                "/home/dev/.codex/archived_sessions/rollout-*-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl",
                "/home/dev/.codex/archived_sessions/*/*/*/rollout-*-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl",
                "/home/dev/.codex/sessions/*/*/*/rollout-*-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl.zst",
                "/home/dev/.codex/sessions/rollout-*-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl.zst",
                "/home/dev/.codex/archived_sessions/rollout-*-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl.zst",
                "/home/dev/.codex/archived_sessions/*/*/*/rollout-*-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl.zst",
                "/home/dev/.codex/sessions/2026/02/05/rollout-2026-02-05T20-28-55-019c2f7e-5b1a-7c30-9e44-2f6d81a0b7c3.jsonl",
            ]
        );
    }

    #[test]
    fn a_compressed_transcript_is_unpacked_into_a_snapshot() {
        let packed = "/home/dev/.codex/archived_sessions/rollout-x.jsonl.zst";
        let Source::Program(program) = source(packed, &testing::context()).source else {
            panic!("a program was expected")
        };
        assert_eq!(program.arguments.join(" "), format!("zstd -q -d -c -- {packed}"));
        assert_eq!(
            program.snapshot,
            "/home/dev/.local/share/hookhost/snapshots/codex/rollout-x.jsonl"
        );
        let plain = source("/s/rollout-x.jsonl", &testing::context()).source;
        assert!(matches!(plain, Source::File(path) if path == "/s/rollout-x.jsonl"));
    }

    #[test]
    fn an_id_without_a_time_is_filed_under_the_time_of_the_call() {
        assert_eq!(
            shown(file("/d", "my-session", &testing::context())).pop().unwrap(),
            "/d/2026/01/02/rollout-2026-01-02T03-04-05-my-session.jsonl"
        );
    }

    #[test]
    fn codex_home_moves_everything() {
        let mut context = testing::context();
        context.env = vec![("CODEX_HOME".to_owned(), "~/cx".to_owned())];
        assert_eq!(dir(&context).unwrap(), "/home/dev/cx/sessions");
        context.env.clear();
        context.home = None;
        assert!(dir(&context).is_err());
    }

    #[test]
    fn subagents_are_looked_for_where_the_session_lies() {
        let context = testing::context();
        assert_eq!(
            shown(subagents("/x/sessions/2026/08/20/rollout-a.jsonl", None, &context)),
            [
                "/x/sessions/*/*/*/rollout-*.jsonl",
                "/x/archived_sessions/rollout-*.jsonl"
            ]
        );
        assert_eq!(
            shown(subagents("/x/archived_sessions/rollout-a.jsonl", None, &context))[0],
            "/x/sessions/*/*/*/rollout-*.jsonl"
        );
        assert_eq!(
            shown(subagents("/tmp/copy.jsonl", Some("/tmp/subs"), &context)),
            ["/tmp/subs/*.jsonl", "/tmp/subs/*/*/*/*.jsonl"]
        );
        assert!(subagents("", None, &context).iter().all(|pattern| pattern.linked));
    }

    #[test]
    fn the_id_is_taken_out_of_a_files_name() {
        let input = format!(r#"{{"session_id":"","session_ref":"/s/rollout-2026-08-20T09-15-00-{ID}.jsonl"}}"#);
        assert_eq!(id(&Object::parse(&input).unwrap()).as_deref(), Some(ID));
        let named = Object::parse(r#"{"session_id":"my-session"}"#).unwrap();
        assert_eq!(id(&named).as_deref(), Some("my-session"));
    }

    #[test]
    fn ids_tell_when_they_were_made_and_invented_ones_roughly() {
        let time = |id: &str| UuidTime::of(id);
        let made = time(ID).unwrap();
        assert_eq!((made.millis, made.exact), (0x019c_2f7e_5b1a, true));
        assert_eq!(time("67e55044-10b1-426f-9247-bb680e5fe0c8"), None);
        assert_eq!(time("x"), None);
        let invented = time("019c2f7e-0000-7000-8000-000000000001").unwrap();
        assert!(!invented.exact && !invented.is_before(made) && !made.is_before(invented));
        let later = time("019c2f7f-0000-7000-8000-000000000001").unwrap();
        assert!(made.is_before(later) && !later.is_before(made));
        let soon = time("019c2f7e-5b1b-7c30-9e44-2f6d81a0b7c3").unwrap();
        assert!(made.is_before(soon) && !soon.is_before(made));
    }
}
