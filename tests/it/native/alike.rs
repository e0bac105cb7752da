//! Whether two adapters answer alike, whatever they are asked.

use hookhost::adapter::{Adapter, Answer, ReadingStart};
use hookhost::model::{
    Companion, Context, ContextFile, Description, Entry, FileState, Invocation, Platform, Scope, Wanted,
};

/// A hook's name and its payload.
pub(crate) type Payload = (String, String);

/// Compares every function of the contract. Gives the numbers of events and of entries that there were to compare.
pub(crate) fn compare(
    component: &mut dyn Adapter,
    library: &mut dyn Adapter,
    payloads: &[Payload],
    transcripts: &[Vec<u8>],
) -> (usize, usize) {
    let description = component.describe().unwrap();
    assert_eq!(library.describe().unwrap(), description);
    let (mut events, mut entries) = (0, 0);
    for context in contexts(&description) {
        events += hooks(component, library, payloads, &context);
        places(component, library, &context);
    }
    for bytes in transcripts {
        for want in [Wanted::EVERYTHING, Wanted::default()] {
            for piece in [1 << 20, 13] {
                let read = |adapter: &mut dyn Adapter| read(adapter, bytes, piece, want);
                let (expected, came) = (read(component), read(library));
                assert_eq!(came, expected);
                entries += expected.map_or(0, |(entries, _)| entries.len());
            }
        }
    }
    (events, entries)
}

fn hooks(component: &mut dyn Adapter, library: &mut dyn Adapter, payloads: &[Payload], context: &Context) -> usize {
    let mut events = 0;
    for (hook, payload) in payloads {
        let expected = component.parse(hook, payload, context);
        assert_eq!(library.parse(hook, payload, context), expected, "{hook}: {payload}");
        events += expected.map_or(0, |events| events.len());
        let input = format!(r#"{{"session_id":"s1","raw_data":{payload}}}"#);
        assert_eq!(library.session_id(&input), component.session_id(&input), "{input}");
        for message in [None, Some(""), Some("a word\nto \"you\" \u{1f980}")] {
            assert_eq!(library.reply(hook, message), component.reply(hook, message), "{hook}");
        }
    }
    assert_eq!(library.finish(context), component.finish(context));
    assert_eq!(library.session_id("no object"), component.session_id("no object"));
    events
}

fn places(component: &mut dyn Adapter, library: &mut dyn Adapter, context: &Context) {
    let dir = "/home/dev/project";
    assert_eq!(library.session_dir(dir, context), component.session_dir(dir, context));
    assert_eq!(
        library.session_file(dir, "s1", context),
        component.session_file(dir, "s1", context)
    );
    assert_eq!(library.resume_command("it's"), component.resume_command("it's"));
    let session_ref = "/home/dev/project/s1.jsonl";
    for subagents in [None, Some("/elsewhere")] {
        assert_eq!(
            library.subagent_transcripts(session_ref, subagents, context),
            component.subagent_transcripts(session_ref, subagents, context)
        );
    }
    assert_eq!(
        library.transcript_location(session_ref, context),
        component.transcript_location(session_ref, context)
    );
    let invocation = Invocation {
        posix: "hookhost hook a {hook}".to_owned(),
        cmd: "hookhost.exe hook a {hook}".to_owned(),
        powershell: "& hookhost hook a {hook}".to_owned(),
        argv: ["hookhost", "hook", "a", "{hook}"].map(str::to_owned).to_vec(),
        kebab: false,
    };
    for scope in [Scope::Repo, Scope::User] {
        assert_eq!(
            library.plan(&invocation, scope, context),
            component.plan(&invocation, scope, context)
        );
    }
}

fn read(adapter: &mut dyn Adapter, bytes: &[u8], piece: usize, want: Wanted) -> Answer<(Vec<Entry>, u64)> {
    let mut reading = adapter.reading(ReadingStart {
        session_ref: Some("/home/dev/project/s1.jsonl".to_owned()),
        companions: vec![Companion {
            path: "/home/dev/project/s1/beside".to_owned(),
            data: vec![0, 10, 255],
        }],
        from: 0,
        want,
    })?;
    let mut entries = vec![];
    for bytes in bytes.chunks(piece) {
        entries.extend(reading.push(bytes)?);
    }
    entries.extend(reading.finish()?);
    Ok((entries, reading.position()?))
}

/// Nothing known; everything known, with each wanted file in each state that a file can have.
fn contexts(description: &Description) -> Vec<Context> {
    let nothing = Context {
        repo_root: None,
        cwd: None,
        home: None,
        platform: Platform::Macos,
        received_at: "2026-01-02T03:04:05.678Z".to_owned(),
        env: vec![],
        files: vec![],
        snapshots: None,
    };
    let states = [
        FileState::Missing,
        FileState::Directory,
        FileState::Content(b"{\"hooks\": {}, \"disableAllHooks\": true}\xff".to_vec()),
        FileState::Content(b"{}".to_vec()),
        FileState::Unreadable("it is too large".to_owned()),
    ];
    let known = states.map(|state| Context {
        repo_root: Some("/home/dev/project".to_owned()),
        cwd: Some("/home/dev/project/src".to_owned()),
        home: Some("/home/dev".to_owned()),
        platform: Platform::Linux,
        env: description
            .env
            .iter()
            .map(|variable| (variable.clone(), "/home/dev/elsewhere".to_owned()))
            .collect(),
        files: description
            .wanted_files
            .iter()
            .map(|wanted| ContextFile {
                wanted: wanted.clone(),
                path: format!("/home/dev/{}", wanted.path),
                state: state.clone(),
            })
            .collect(),
        snapshots: Some("/home/dev/snapshots".to_owned()),
        ..nothing.clone()
    });
    [vec![nothing], known.to_vec()].concat()
}
