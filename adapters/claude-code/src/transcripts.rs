//! Transcripts to entries.

mod line;
mod record;
#[cfg(test)]
mod tests;

use hookhost_sdk::lines::LineReader;
use hookhost_sdk::tools::{Effect, Rule};
use hookhost_sdk::{Entry, FileOp, SessionFacts, Start, Wanted, paths};

use line::Line;
use record::Record;

const TOOLS: &[Rule] = &[
    Rule::new(
        &["Write", "mcp__acp__Write"],
        Effect::File(FileOp::Write, &["file_path"]),
    ),
    Rule::new(
        &["Edit", "MultiEdit", "mcp__acp__Edit"],
        Effect::File(FileOp::Modify, &["file_path"]),
    ),
    Rule::new(
        &["NotebookEdit"],
        Effect::File(FileOp::Modify, &["notebook_path", "file_path"]),
    ),
    Rule::new(&["Read", "mcp__acp__Read"], Effect::File(FileOp::Read, &["file_path"])),
    Rule::new(
        &["Bash", "PowerShell", "mcp__acp__Bash"],
        Effect::Shell {
            command: &["command"],
            cwd: &[],
        },
    ),
    Rule::new(
        &["Agent", "Task"],
        Effect::Subagent {
            kind: &["subagent_type"],
            description: &["description"],
            prompt: &["prompt"],
        },
    ),
];

/// Makes entries of lines.
pub(crate) struct Reader {
    want: Wanted,
    /// The file is a subagent's own: what is marked as a subagent's is what it is about.
    is_subagents: bool,
    session: SessionFacts,
    title_rank: u8,
    /// Waits for the next line, which tells what it is.
    held: Option<Entry>,
    /// The prompts of the main agent that stand, each with the line that it follows.
    prompts: Vec<Prompt>,
    /// The model call that was told last.
    last_usage: Option<(String, record::Usage)>,
    /// Calls that start a subagent whose id is not known yet.
    agent_calls: Vec<String>,
}

struct Prompt {
    id: String,
    parent_id: String,
}

impl Reader {
    pub(crate) fn new(start: &Start) -> Self {
        let name = start.session_ref.as_deref().map(paths::file_name).unwrap_or_default();
        Self {
            want: start.want,
            is_subagents: name.starts_with("agent-"),
            session: SessionFacts::default(),
            title_rank: 0,
            held: None,
            prompts: vec![],
            last_usage: None,
            agent_calls: vec![],
        }
    }

    /// Of files and tools something is wanted.
    fn wants_tools(&self) -> bool {
        self.want.intersects(Wanted::FILES | Wanted::TOOL_BODIES)
    }
}

impl LineReader for Reader {
    fn text(&mut self, offset: u64, line: &str, out: &mut Vec<Entry>) -> Result<(), String> {
        let record = Record::read(line)?;
        Line::new(self, offset, &record, out).read();
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<Entry>) {
        out.extend(self.held.take());
    }
}
