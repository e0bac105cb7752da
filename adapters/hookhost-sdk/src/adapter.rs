//! The author's side: one trait, with defaults for everything optional.

use crate::json;
use crate::lines::Reading;
use crate::{
    Base, Capabilities, Context, Description, Event, EventKind, Fault, HookName, Invocation, Pattern, Payload, Place,
    RegistrationPlan, Scope, Source, Start, TranscriptLocation,
};

/// A hook that the agent fires.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    /// The agent's own spelling.
    pub native: &'static str,
    /// Kebab-case.
    pub alias: &'static str,
    /// The registration plan asks for it.
    pub registered: bool,
    /// The kinds of events that its payloads can give.
    pub events: &'static [EventKind],
}

impl Hook {
    /// A hook that the registration plan asks for.
    #[must_use]
    pub const fn registered(native: &'static str, alias: &'static str) -> Self {
        Self {
            native,
            alias,
            registered: true,
            events: &[],
        }
    }

    /// A hook that is understood but not asked for.
    #[must_use]
    pub const fn known(native: &'static str, alias: &'static str) -> Self {
        Self {
            native,
            alias,
            registered: false,
            events: &[],
        }
    }
}

impl Hook {
    /// What its payloads can mean; without it callers hear nothing of the hook.
    #[must_use]
    pub const fn gives(mut self, events: &'static [EventKind]) -> Self {
        self.events = events;
        self
    }
}

/// A place in constant form; see the contract's `place`.
#[derive(Clone, Copy, Debug)]
pub enum Sign {
    /// Relative to the repository.
    Repo(&'static str),
    /// Relative to the user's home directory.
    Home(&'static str),
    /// A program on PATH.
    Program(&'static str),
    /// An absolute path.
    Root(&'static str),
    /// Relative to the directory that an environment variable names; no such place while it is not set.
    Env(&'static str, &'static str),
}

impl Sign {
    fn place(self) -> Place {
        let (base, path) = match self {
            Self::Repo(path) => (Base::Repo, path),
            Self::Home(path) => (Base::Home, path),
            Self::Program(path) => (Base::Program, path),
            Self::Root(path) => (Base::Root, path),
            Self::Env(variable, path) => (Base::Env(variable.to_owned()), path),
        };
        Place {
            base,
            path: path.to_owned(),
        }
    }
}

/// Who the agent is: the constant facts. The contract's `description` documents each field.
#[derive(Clone, Copy, Debug)]
pub struct Manifest {
    /// The same word as the adapter's folder and package.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// For people.
    pub display_name: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// Not yet proven in practice.
    pub is_preview: bool,
    /// Directories of the agent's in a repository.
    pub protected_dirs: &'static [&'static str],
    /// Files of the agent's in a repository.
    pub protected_files: &'static [&'static str],
    /// All hooks that the adapter knows.
    pub hooks: &'static [Hook],
    /// Environment variables wanted in [`Context::env`].
    pub env: &'static [&'static str],
    /// Files wanted in [`Context::files`].
    pub wanted_files: &'static [Sign],
    /// One that is found is enough to say that the agent is set up.
    pub presence: &'static [Sign],
    /// What the adapter claims beyond the required commands.
    pub capabilities: Capabilities,
    /// Variables that the agent sets for commands that it runs.
    pub caller_env_vars: &'static [&'static str],
    /// Command line of the agent's non-interactive mode.
    pub text_command: &'static [&'static str],
}

impl Manifest {
    /// Nothing claimed; the start for `..Manifest::EMPTY`.
    pub const EMPTY: Self = Self {
        name: "",
        aliases: &[],
        display_name: "",
        description: "",
        is_preview: false,
        protected_dirs: &[],
        protected_files: &[],
        hooks: &[],
        env: &[],
        wanted_files: &[],
        presence: &[],
        capabilities: Capabilities::empty(),
        caller_env_vars: &[],
        text_command: &[],
    };

    /// The agent's own spelling of a hook given in either spelling; an unknown name is given back as it is.
    #[must_use]
    pub fn native_hook<'a>(&self, hook: &'a str) -> &'a str {
        self.hooks
            .iter()
            .find(|known| known.native == hook || known.alias == hook)
            .map_or(hook, |known| known.native)
    }

    /// The contract's form of the manifest.
    #[must_use]
    pub fn description(&self) -> Description {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Description {
            name: self.name.to_owned(),
            aliases: owned(self.aliases),
            display_name: self.display_name.to_owned(),
            description: self.description.to_owned(),
            is_preview: self.is_preview,
            protected_dirs: owned(self.protected_dirs),
            protected_files: owned(self.protected_files),
            hook_names: self
                .hooks
                .iter()
                .map(|hook| HookName {
                    native: hook.native.to_owned(),
                    alias: hook.alias.to_owned(),
                    registered: hook.registered,
                    events: hook.events.to_vec(),
                })
                .collect(),
            env: owned(self.env),
            wanted_files: self.wanted_files.iter().map(|sign| sign.place()).collect(),
            presence: self.presence.iter().map(|sign| sign.place()).collect(),
            capabilities: self.capabilities,
            caller_env_vars: owned(self.caller_env_vars),
            text_command: owned(self.text_command),
        }
    }
}

/// An adapter. The contract's interfaces document what each function takes and gives back.
///
/// One value serves all calls of one instance, in order: a host that reads a stream calls [`Adapter::parse`] for each
/// value and [`Adapter::finish`] at the end. Every other caller makes a new instance for each call.
pub trait Adapter: Default + 'static {
    /// The constant facts.
    const MANIFEST: Manifest;

    /// What a hook's payload means. `hook` arrives in the agent's own spelling when the manifest knows it.
    ///
    /// # Errors
    /// [`Fault::Malformed`] for a payload that cannot be read at all. Unknown hooks and fields are no fault.
    fn parse(&mut self, hook: &str, payload: &Payload<'_>, context: &Context) -> Result<Vec<Event>, Fault>;

    /// What a payload means that is not a JSON object. A hook of an agent that sends none has an empty payload.
    ///
    /// # Errors
    /// [`Fault::Malformed`] unless the agent sends such payloads.
    fn parse_other(&mut self, _hook: &str, payload: &str, _context: &Context) -> Result<Vec<Event>, Fault> {
        Err(json::not_an_object(payload))
    }

    /// Events that waited for a line that did not come.
    ///
    /// # Errors
    /// As [`Adapter::parse`].
    fn finish(&mut self, _context: &Context) -> Result<Vec<Event>, Fault> {
        Ok(vec![])
    }

    /// What the agent wants to read on stdout. The default: nothing, and no way to show a message.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] when there is a message and the agent cannot show one.
    fn reply(&self, _hook: &str, message: Option<&str>) -> Result<Vec<u8>, Fault> {
        match message {
            None => Ok(vec![]),
            Some(_) => Err(Fault::Unsupported),
        }
    }

    /// The session's id from a HookInput object. The default is [`session_id_of`].
    ///
    /// # Errors
    /// Only for input that cannot be read.
    fn session_id(&self, input: &Object<'_>) -> Result<Option<String>, Fault> {
        Ok(session_id_of(input))
    }

    /// The directory with the sessions of `repo_path`.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] when the agent keeps none.
    fn session_dir(&self, _repo_path: &str, _context: &Context) -> Result<String, Fault> {
        Err(Fault::Unsupported)
    }

    /// Where a session's transcript can be; the default is `<dir>/<id>.jsonl`.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] when the agent keeps none.
    fn session_file(&self, dir: &str, id: &str, _context: &Context) -> Result<Vec<Pattern>, Fault> {
        Ok(vec![crate::paths::literal(crate::paths::join(
            dir,
            &format!("{id}.jsonl"),
        ))])
    }

    /// The command with which a person goes on with the session.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] when there is none.
    fn resume_command(&self, _id: &str) -> Result<String, Fault> {
        Err(Fault::Unsupported)
    }

    /// The transcripts of a session's subagents; the default: none.
    ///
    /// # Errors
    /// [`Fault::Unsupported`].
    fn subagent_transcripts(
        &self,
        _session_ref: &str,
        _subagents_dir: Option<&str>,
        _context: &Context,
    ) -> Result<Vec<Pattern>, Fault> {
        Ok(vec![])
    }

    /// How to get at the transcript; the default: the session ref is its path.
    ///
    /// # Errors
    /// For a session ref that names nothing.
    fn transcript_source(&self, session_ref: &str, _context: &Context) -> Result<TranscriptLocation, Fault> {
        Ok(TranscriptLocation {
            source: Source::File(session_ref.to_owned()),
            companions: vec![],
        })
    }

    /// A pass over a transcript.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] when the agent has no transcript that can be read.
    fn transcript(&self, _start: Start) -> Result<Box<dyn Reading>, Fault> {
        Err(Fault::Unsupported)
    }

    /// How the agent is told to run our command.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] when the agent has no hooks; another fault when the files that are there leave no way.
    fn registration(
        &self,
        _invocation: &Invocation,
        _scope: Scope,
        _context: &Context,
    ) -> Result<RegistrationPlan, Fault> {
        Err(Fault::Unsupported)
    }
}

use crate::Object;

/// The session id of a HookInput: `session_id`, else what `raw_data` calls it, else the file name of `session_ref`.
#[must_use]
pub fn session_id_of(input: &Object<'_>) -> Option<String> {
    const NAMES: &[&str] = &[
        "session_id",
        "sessionId",
        "conversation_id",
        "conversationId",
        "thread_id",
        "trajectory_id",
    ];
    if let Some(id) = input.id(NAMES) {
        return Some(id);
    }
    if let Some(id) = input.object("raw_data").and_then(|raw| raw.id(NAMES)) {
        return Some(id);
    }
    let session_ref = input.text("session_ref")?;
    let stem = crate::paths::file_stem(&session_ref);
    (!stem.is_empty()).then(|| stem.to_owned())
}
