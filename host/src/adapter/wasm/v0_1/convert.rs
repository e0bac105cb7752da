//! Between this line's types and the model, field by field.

use super::bindings::exports::hookhost::adapter::identity::{Capabilities, Description, HookName};
use super::bindings::exports::hookhost::adapter::registration::{
    ConfigEdit, ConfigFormat, Edit, InsertMode, Insertion, Invocation, OwnFile, RegistrationPlan, Scope,
};
use super::bindings::exports::hookhost::adapter::sessions::{Pattern, Source, TranscriptLocation};
use super::bindings::exports::hookhost::adapter::transcripts::{Companion, Start, Wanted};
use super::bindings::hookhost::adapter::types::{
    AssistantText, Base, CompactionMark, Context, ContextFile, Entry, Event, EventKind, FileEffect, FileOp, FileState,
    HookContext, Item, Place, Platform, Rewind, SessionFacts, ShellCommand, SubagentCall, ToolCall, ToolResult, Usage,
    UsageScope, UserPrompt,
};
use crate::adapter::ReadingStart;
use crate::model;

fn all<T, U: From<T>>(values: Vec<T>) -> Vec<U> {
    values.into_iter().map(Into::into).collect()
}

impl From<Description> for model::Description {
    fn from(from: Description) -> Self {
        Self {
            name: from.name,
            aliases: from.aliases,
            display_name: from.display_name,
            description: from.description,
            is_preview: from.is_preview,
            protected_dirs: from.protected_dirs,
            protected_files: from.protected_files,
            hook_names: all(from.hook_names),
            env: from.env,
            wanted_files: all(from.wanted_files),
            presence: all(from.presence),
            capabilities: from.capabilities.into(),
            caller_env_vars: from.caller_env_vars,
            text_command: from.text_command,
        }
    }
}

impl From<HookName> for model::HookName {
    fn from(from: HookName) -> Self {
        Self {
            native: from.native,
            alias: from.alias,
            registered: from.registered,
            events: all(from.events),
        }
    }
}

impl From<Capabilities> for model::Capabilities {
    fn from(from: Capabilities) -> Self {
        Self {
            hooks: from.contains(Capabilities::HOOKS),
            transcript_analyzer: from.contains(Capabilities::TRANSCRIPT_ANALYZER),
            transcript_preparer: from.contains(Capabilities::TRANSCRIPT_PREPARER),
            token_calculator: from.contains(Capabilities::TOKEN_CALCULATOR),
            compact_transcript: from.contains(Capabilities::COMPACT_TRANSCRIPT),
            text_generator: from.contains(Capabilities::TEXT_GENERATOR),
            hook_response_writer: from.contains(Capabilities::HOOK_RESPONSE_WRITER),
            subagent_aware_extractor: from.contains(Capabilities::SUBAGENT_AWARE_EXTRACTOR),
            uses_terminal: from.contains(Capabilities::USES_TERMINAL),
            streaming_text_generator: from.contains(Capabilities::STREAMING_TEXT_GENERATOR),
        }
    }
}

impl From<Place> for model::Place {
    fn from(from: Place) -> Self {
        Self {
            base: match from.base {
                Base::Repo => model::Base::Repo,
                Base::Home => model::Base::Home,
                Base::Program => model::Base::Program,
                Base::Root => model::Base::Root,
                Base::Env(variable) => model::Base::Env(variable),
            },
            path: from.path,
        }
    }
}

impl From<&model::Place> for Place {
    fn from(from: &model::Place) -> Self {
        Self {
            base: match &from.base {
                model::Base::Repo => Base::Repo,
                model::Base::Home => Base::Home,
                model::Base::Program => Base::Program,
                model::Base::Root => Base::Root,
                model::Base::Env(variable) => Base::Env(variable.clone()),
            },
            path: from.path.clone(),
        }
    }
}

impl From<&model::Context> for HookContext {
    fn from(from: &model::Context) -> Self {
        Self {
            repo_root: from.repo_root.clone(),
            cwd: from.cwd.clone(),
            home: from.home.clone(),
            platform: from.platform.into(),
            received_at: from.received_at.clone(),
            env: from.env.clone(),
            snapshots: from.snapshots.clone(),
        }
    }
}

impl From<&model::Context> for Context {
    fn from(from: &model::Context) -> Self {
        let HookContext {
            repo_root,
            cwd,
            home,
            platform,
            received_at,
            env,
            snapshots,
        } = from.into();
        Self {
            repo_root,
            cwd,
            home,
            platform,
            received_at,
            env,
            files: from.files.iter().map(Into::into).collect(),
            snapshots,
        }
    }
}

impl From<model::Platform> for Platform {
    fn from(from: model::Platform) -> Self {
        match from {
            model::Platform::Linux => Self::Linux,
            model::Platform::Macos => Self::Macos,
            model::Platform::Windows => Self::Windows,
        }
    }
}

impl From<&model::ContextFile> for ContextFile {
    fn from(from: &model::ContextFile) -> Self {
        Self {
            wanted: (&from.wanted).into(),
            path: from.path.clone(),
            state: match &from.state {
                model::FileState::Missing => FileState::Missing,
                model::FileState::Directory => FileState::Directory,
                model::FileState::Content(bytes) => FileState::Content(bytes.clone()),
                model::FileState::Unreadable(reason) => FileState::Unreadable(reason.clone()),
            },
        }
    }
}

/// The contract treats an empty string as absent, the model has none.
fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

impl From<EventKind> for model::EventKind {
    fn from(from: EventKind) -> Self {
        match from {
            EventKind::SessionStart => Self::SessionStart,
            EventKind::TurnStart => Self::TurnStart,
            EventKind::TurnEnd => Self::TurnEnd,
            EventKind::Compaction => Self::Compaction,
            EventKind::SessionEnd => Self::SessionEnd,
            EventKind::SubagentStart => Self::SubagentStart,
            EventKind::SubagentEnd => Self::SubagentEnd,
        }
    }
}

impl From<Event> for model::Event {
    fn from(from: Event) -> Self {
        Self {
            kind: from.kind.into(),
            session_id: from.session_id,
            previous_session_id: present(from.previous_session_id),
            session_ref: present(from.session_ref),
            prompt: present(from.prompt),
            model: present(from.model),
            timestamp: present(from.timestamp),
            tool_use_id: present(from.tool_use_id),
            subagent_id: present(from.subagent_id),
            tool_input: present(from.tool_input),
            subagent_type: present(from.subagent_type),
            task_description: present(from.task_description),
            response_message: present(from.response_message),
            metadata: from.metadata,
        }
    }
}

impl From<Pattern> for model::Pattern {
    fn from(from: Pattern) -> Self {
        Self {
            path: from.path,
            linked: from.linked,
        }
    }
}

impl From<TranscriptLocation> for model::TranscriptLocation {
    fn from(from: TranscriptLocation) -> Self {
        Self {
            source: match from.source {
                Source::File(path) => model::Source::File(path),
                Source::Program(program) => model::Source::Program {
                    arguments: program.arguments,
                    snapshot: program.snapshot,
                    writes_file: program.writes_file,
                },
                Source::Sqlite(database) => model::Source::Sqlite {
                    path: database.path,
                    query: database.query,
                    parameter: database.parameter,
                    snapshot: database.snapshot,
                },
            },
            companions: from.companions,
        }
    }
}

impl From<ReadingStart> for Start {
    fn from(from: ReadingStart) -> Self {
        let ReadingStart {
            session_ref,
            companions,
            from,
            want,
        } = from;
        let wanted = [
            (want.prompts, Wanted::PROMPTS),
            (want.texts, Wanted::TEXTS),
            (want.thinking, Wanted::THINKING),
            (want.files, Wanted::FILES),
            (want.tool_bodies, Wanted::TOOL_BODIES),
            (want.tokens, Wanted::TOKENS),
        ];
        Self {
            session_ref,
            companions: companions
                .into_iter()
                .map(|companion| Companion {
                    path: companion.path,
                    data: companion.data,
                })
                .collect(),
            from,
            want: wanted
                .into_iter()
                .filter(|(is_wanted, _)| *is_wanted)
                .fold(Wanted::empty(), |all, (_, flag)| all | flag),
        }
    }
}

impl From<Entry> for model::Entry {
    fn from(from: Entry) -> Self {
        Self {
            offset: from.offset,
            time: from.time,
            record_id: from.record_id,
            parent_id: from.parent_id,
            subagent: from.subagent,
            inherited: from.inherited,
            item: from.item.into(),
        }
    }
}

impl From<Item> for model::Item {
    fn from(from: Item) -> Self {
        match from {
            Item::Session(facts) => Self::Session(facts.into()),
            Item::UserPrompt(UserPrompt { text, images }) => Self::UserPrompt(model::UserPrompt { text, images }),
            Item::AssistantText(text) => Self::AssistantText(text.into()),
            Item::Thinking(text) => Self::Thinking(text),
            Item::ToolCall(call) => Self::ToolCall(call.into()),
            Item::ToolResult(result) => Self::ToolResult(result.into()),
            Item::FileChange(effect) => Self::FileChange(effect.into()),
            Item::Usage(usage) => Self::Usage(usage.into()),
            Item::Compaction(CompactionMark { trigger, summary }) => {
                Self::Compaction(model::CompactionMark { trigger, summary })
            }
            Item::Rewind(rewind) => Self::Rewind(rewind.into()),
            Item::TurnEnd => Self::TurnEnd,
            Item::Unreadable(reason) => Self::Unreadable(reason),
            Item::Note => Self::Note,
        }
    }
}

impl From<SessionFacts> for model::SessionFacts {
    fn from(from: SessionFacts) -> Self {
        Self {
            session_id: from.session_id,
            parent_session_id: from.parent_session_id,
            cwd: from.cwd,
            started_at: from.started_at,
            model: from.model,
            agent_version: from.agent_version,
            title: from.title,
        }
    }
}

impl From<AssistantText> for model::AssistantText {
    fn from(from: AssistantText) -> Self {
        Self {
            text: from.text,
            model: from.model,
            message_id: from.message_id,
            replaces: from.replaces,
        }
    }
}

impl From<ToolCall> for model::ToolCall {
    fn from(from: ToolCall) -> Self {
        Self {
            id: from.id,
            name: from.name,
            input: from.input,
            files: all(from.files),
            shell: from
                .shell
                .map(|ShellCommand { command, cwd }| model::ShellCommand { command, cwd }),
            subagent: from.subagent.map(
                |SubagentCall {
                     subagent_type,
                     description,
                     prompt,
                 }| model::SubagentCall {
                    subagent_type,
                    description,
                    prompt,
                },
            ),
        }
    }
}

impl From<ToolResult> for model::ToolResult {
    fn from(from: ToolResult) -> Self {
        Self {
            id: from.id,
            output: from.output,
            is_error: from.is_error,
            files: all(from.files),
            subagent_id: from.subagent_id,
        }
    }
}

impl From<FileEffect> for model::FileEffect {
    fn from(from: FileEffect) -> Self {
        Self {
            path: from.path,
            op: match from.op {
                FileOp::Create => model::FileOp::Create,
                FileOp::Modify => model::FileOp::Modify,
                FileOp::Delete => model::FileOp::Delete,
                FileOp::Write => model::FileOp::Write,
                FileOp::Read => model::FileOp::Read,
            },
        }
    }
}

impl From<Usage> for model::Usage {
    fn from(from: Usage) -> Self {
        Self {
            scope: match from.scope {
                UsageScope::Call(id) => model::UsageScope::Call(id),
                UsageScope::RunningTotal(run) => model::UsageScope::RunningTotal(run),
            },
            model: from.model,
            input: from.input,
            cache_creation: from.cache_creation,
            cache_read: from.cache_read,
            output: from.output,
            calls: from.calls,
        }
    }
}

impl From<Rewind> for model::Rewind {
    fn from(from: Rewind) -> Self {
        Self {
            record_id: from.record_id,
            inclusive: from.inclusive,
            restores_files: from.restores_files,
        }
    }
}

impl From<&model::Invocation> for Invocation {
    fn from(from: &model::Invocation) -> Self {
        Self {
            posix: from.posix.clone(),
            cmd: from.cmd.clone(),
            powershell: from.powershell.clone(),
            argv: from.argv.clone(),
            kebab: from.kebab,
        }
    }
}

impl From<model::Scope> for Scope {
    fn from(from: model::Scope) -> Self {
        match from {
            model::Scope::Repo => Self::Repo,
            model::Scope::User => Self::User,
        }
    }
}

impl From<RegistrationPlan> for model::Plan {
    fn from(from: RegistrationPlan) -> Self {
        Self {
            edits: all(from.edits),
            hooks: from.hooks,
            notes: from.notes,
            obstacles: from.obstacles,
        }
    }
}

impl From<Edit> for model::Edit {
    fn from(from: Edit) -> Self {
        match from {
            Edit::Config(ConfigEdit {
                file,
                format,
                insertions,
                sweep,
                remove_when_empty,
            }) => Self::Config(model::ConfigEdit {
                file,
                format: match format {
                    ConfigFormat::Json => model::ConfigFormat::Json,
                    ConfigFormat::Jsonc => model::ConfigFormat::Jsonc,
                    ConfigFormat::Toml => model::ConfigFormat::Toml,
                },
                insertions: all(insertions),
                sweep,
                remove_when_empty,
            }),
            Edit::File(OwnFile {
                path,
                marker,
                content,
                executable,
            }) => Self::File(model::OwnFile {
                path,
                marker,
                content,
                executable,
            }),
        }
    }
}

impl From<Insertion> for model::Insertion {
    fn from(from: Insertion) -> Self {
        Self {
            path: from.path,
            value: from.value,
            how: match from.how {
                InsertMode::Append => model::InsertMode::Append,
                InsertMode::Default => model::InsertMode::Default,
            },
        }
    }
}
