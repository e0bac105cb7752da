//! Sessions: their ids, directories, files and transcripts.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::Call;
use crate::commands::Output;
use crate::error::{Error, ErrorKind, Result};
use crate::input::{Payload, SESSION_LIMIT, Stdin};
use crate::model::{Context, Pattern, Wanted};
use crate::session::chunk::Chunks;
use crate::session::facts::{Collector, Facts};
use crate::session::transcript::{self, Transcript};
use crate::session::{pattern, refs, store};
use crate::wire::{self, HookInput, Session, StoredSession};

/// Whose sessions.
#[derive(Debug, Args)]
pub(crate) struct DirArgs {
    /// The repository's work tree
    #[arg(long, value_name = "DIRECTORY")]
    repo_path: PathBuf,
}

/// Which session's file.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// The directory of the sessions, as get-session-dir gives it
    #[arg(long, value_name = "DIRECTORY")]
    session_dir: PathBuf,
    /// The session
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    session_id: String,
}

/// Which transcript.
#[derive(Debug, Args)]
pub(crate) struct RefArgs {
    /// The transcript: usually its path
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    pub(super) session_ref: String,
}

/// How large pieces may be.
#[derive(Debug, Args)]
pub(crate) struct ChunkArgs {
    /// The most bytes that a piece may have
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    max_size: std::num::NonZeroUsize,
}

/// Which session to go on with.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The session
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    session_id: String,
}

pub(super) fn id(call: &mut Call) -> Result<Output> {
    let payload = Payload::from_stdin()?;
    let text = payload.complete()?;
    HookInput::read(&text)?;
    let id = call.adapter.session_id(&text)?;
    Output::json(&json!({ "session_id": id.unwrap_or_default() }))
}

pub(super) fn dir(call: &mut Call, args: &DirArgs) -> Result<Output> {
    let context = call.context()?;
    let dir = call.adapter.session_dir(&absolute(&args.repo_path)?, &context)?;
    Output::json(&json!({ "session_dir": dir }))
}

pub(super) fn file(call: &mut Call, args: &FileArgs) -> Result<Output> {
    let context = call.context()?;
    let patterns = patterns_in(call, &absolute(&args.session_dir)?, &args.session_id, &context)?;
    let file = named(pattern::first(&patterns))?;
    Output::json(&json!({ "session_file": file }))
}

pub(super) fn resume(call: &mut Call, args: &ResumeArgs) -> Result<Output> {
    if args.session_id.is_empty() {
        return Err(Error::usage("the session id is empty"));
    }
    let command = call.adapter.resume_command(&args.session_id)?;
    Output::json(&json!({ "command": command }))
}

pub(super) fn read(call: &mut Call) -> Result<Output> {
    let payload = Payload::from_stdin()?;
    let text = payload.complete()?;
    let input = HookInput::read(&text)?;
    let context = call.context()?;
    let id = call.adapter.session_id(&text)?;
    let found = match &input.session_ref {
        Some(session_ref) => call.transcript(session_ref, &context)?,
        None => transcript_of(call, id.as_deref(), &context)?,
    };
    let file = found.open(&context)?;
    let (facts, size) = session_facts(call, &found, &file, &context)?;
    let session = Session {
        session_id: id.or(facts.session.session_id).unwrap_or_default(),
        agent_name: call.name.clone(),
        repo_path: context.repo_root.or(context.cwd).unwrap_or_default(),
        session_ref: found.session_ref,
        start_time: start_time(facts.session.started_at, input.timestamp, &file),
        modified_files: facts.files.modified,
        new_files: facts.files.created,
        deleted_files: facts.files.deleted,
    };
    // What came behind since the facts were read is not in them, so it is not in the data either.
    Ok(Output::stream(move |out| {
        io::Seek::rewind(&mut &file)?;
        session.write(&mut file.take(size), out)
    }))
}

pub(super) fn write(call: &mut Call) -> Result<Output> {
    let payload = Payload::within(SESSION_LIMIT)?;
    let session = StoredSession::read(&payload.complete()?)?;
    drop(payload);
    let context = call.context()?;
    is_of_this_agent(call, &session)?;
    let repo_path = session.repo_path.as_deref();
    if repo_path.is_some_and(|path| !Path::new(path).is_absolute()) {
        return Err(Error::input("the session's repo_path is not an absolute path"));
    }
    // Keys are looked up in the directory of the repository that the session names.
    let context = Context {
        repo_root: repo_path.map(str::to_owned).or(context.repo_root),
        ..context
    };
    let found = match &session.session_ref {
        Some(session_ref) => call.transcript(session_ref, &context)?,
        None => writable_transcript_of(call, session.session_id.as_deref(), &context)?,
    };
    let target = match repo_path {
        Some(repo_path) => {
            let dir = call.adapter.session_dir(repo_path, &context)?;
            refs::inside(&found.path, Path::new(&dir))?
        }
        None => refs::resolved(&found.path)?,
    };
    store::write(&target, &session.native_data)?;
    Ok(Output::nothing())
}

pub(super) fn transcript(call: &mut Call, args: &RefArgs) -> Result<Output> {
    let context = call.context()?;
    let mut file = call.transcript(&args.session_ref, &context)?.open(&context)?;
    Ok(Output::stream(move |out| io::copy(&mut file, out).map(|_| ())))
}

pub(super) fn chunk(args: &ChunkArgs) -> Result<Output> {
    // The first piece is cut before anything is written: a stdin that cannot be read gives no half answer.
    let mut chunks = Chunks::new(Stdin::default(), args.max_size.get());
    let first = chunks.next();
    if let Some(Err(error)) = first {
        return Err(Error::system("cannot read stdin", error));
    }
    Ok(Output::stream(move |out| {
        out.write_all(b"{\"chunks\":[")?;
        let mut separator: &[u8] = b"\"";
        for piece in first.into_iter().chain(chunks) {
            out.write_all(separator)?;
            out.write_all(wire::base64(&piece?).as_bytes())?;
            out.write_all(b"\"")?;
            separator = b",\"";
        }
        out.write_all(b"]}\n")
    }))
}

pub(super) fn reassemble() -> Result<Output> {
    let payload = Payload::within(SESSION_LIMIT)?;
    Ok(Output::bytes(wire::read_chunks(&payload.complete()?)?))
}

/// The transcript of a session that is known by its id only.
fn transcript_of(call: &mut Call, id: Option<&str>, context: &Context) -> Result<Transcript> {
    let patterns = patterns_of(call, id, context)?;
    let file = named(pattern::first(&patterns))?;
    call.transcript(&file, context)
}

/// The transcript to write for a session that is known by its id only. What the agent has packed away is not written
/// to: the session gets the file that it would have if it were new.
fn writable_transcript_of(call: &mut Call, id: Option<&str>, context: &Context) -> Result<Transcript> {
    let found = transcript_of(call, id, context)?;
    if found.is_file() {
        return Ok(found);
    }
    let literal = patterns_of(call, id, context)?.pop();
    let file = named(literal.map(|pattern| pattern.path.into()))?;
    call.transcript(&file, context)
}

fn patterns_of(call: &mut Call, id: Option<&str>, context: &Context) -> Result<Vec<Pattern>> {
    let id = id.ok_or_else(|| Error::input("neither a session_ref nor a session_id is given"))?;
    let repo = context
        .repo_root
        .as_deref()
        .or(context.cwd.as_deref())
        .unwrap_or_default();
    let dir = call.adapter.session_dir(repo, context)?;
    patterns_in(call, &dir, id, context)
}

fn patterns_in(call: &mut Call, dir: &str, id: &str, context: &Context) -> Result<Vec<Pattern>> {
    refs::check_id(id)?;
    Ok(call.adapter.session_file(dir, id, context)?)
}

fn named(file: Option<PathBuf>) -> Result<String> {
    let file = file.ok_or_else(|| Error::unsupported("the agent keeps no file for the session"))?;
    Ok(file.to_string_lossy().into_owned())
}

/// What the transcript says about the session, and how many bytes were read for it.
fn session_facts(call: &mut Call, found: &Transcript, file: &File, context: &Context) -> Result<(Facts, u64)> {
    let wanted = Wanted {
        files: true,
        // A session without a head began with its first prompt.
        prompts: true,
        ..Wanted::default()
    };
    let size = file
        .metadata()
        .map_err(|error| Error::system("cannot read the transcript", error))?
        .len();
    let mut collector = Collector::new(0, Call::repo_paths(context));
    let read = transcript::read(
        call.adapter.as_mut(),
        found.start(wanted),
        &mut file.take(size),
        |entry| {
            collector.add(entry);
        },
    );
    match read {
        // A session whose transcript cannot be understood is still handed over byte for byte.
        Ok(_) => Ok((collector.finish(), size)),
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Input) => Ok((Facts::default(), size)),
        Err(error) => Err(error),
    }
}

/// When the session began: as the transcript says, else as the caller says, else not after the file's last change.
fn start_time(said: Option<String>, called: Option<String>, file: &File) -> String {
    let is_time = |text: &String| text.parse::<jiff::Timestamp>().is_ok();
    said.filter(is_time)
        .or_else(|| called.filter(is_time))
        .unwrap_or_else(|| {
            let changed = file.metadata().and_then(|metadata| metadata.modified()).ok();
            let changed = changed.and_then(|changed| jiff::Timestamp::try_from(changed).ok());
            format!("{:.3}", changed.unwrap_or_default())
        })
}

/// A session of another agent would be a file that this one cannot read.
fn is_of_this_agent(call: &mut Call, session: &StoredSession) -> Result<()> {
    let Some(agent) = &session.agent_name else {
        return Ok(());
    };
    let called = call.name.clone();
    let description = call.description()?;
    if *agent == called || *agent == description.name || description.aliases.contains(agent) {
        return Ok(());
    }
    Err(Error::input(format!("the session is one of {agent}, not of {called}")))
}

/// Absolute, without `.`, `..` and a slash at the end: directories are named after paths as agents know them.
fn absolute(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).map_err(|error| Error::usage("a path is empty").because(error))?;
    let mut plain = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    Ok(plain.to_string_lossy().into_owned())
}
