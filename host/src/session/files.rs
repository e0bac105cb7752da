//! Net effects on files: what a session made, changed and removed, all in all.

use std::collections::HashMap;

use crate::model::{FileEffect, FileOp, ToolCall, ToolResult};

use super::branches::{Seq, Standing, hash};
use super::repo_path::RepoPaths;
use super::shell;

/// Disjoint lists in the order of first touch. Paths as [`RepoPaths`] gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Not there before, there now.
    pub created: Vec<String>,
    /// There before and now.
    pub modified: Vec<String>,
    /// There before, gone now.
    pub deleted: Vec<String>,
    /// All three, in the order of first touch.
    pub touched: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Counts unless an error is reported.
    Pending,
    /// Counts only when success is reported.
    Awaited,
    Done,
    /// An error was reported; a later result can still say otherwise.
    Failed,
    /// Another call, or what the result said, took its place.
    Replaced,
}

struct Effect {
    seq: Seq,
    offset: u64,
    path: u32,
    op: FileOp,
    outcome: Outcome,
}

struct Call {
    record: Seq,
    first: usize,
    count: usize,
    resolved: bool,
}

/// The effects in their order, with what became of them.
pub(crate) struct FileLog {
    from: u64,
    paths: RepoPaths,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    effects: Vec<Effect>,
    calls: HashMap<u64, Call>,
    cwd: Option<String>,
}

impl FileLog {
    pub(crate) fn new(from: u64, paths: RepoPaths) -> Self {
        Self {
            from,
            paths,
            names: vec![],
            numbers: HashMap::new(),
            effects: vec![],
            calls: HashMap::new(),
            cwd: None,
        }
    }

    pub(crate) fn set_cwd(&mut self, cwd: Option<&str>) {
        if let Some(cwd) = cwd {
            self.cwd = Some(cwd.to_owned());
        }
    }

    pub(crate) fn call(&mut self, seq: Seq, offset: u64, call: ToolCall) {
        let outcome = if call.id.is_empty() {
            Outcome::Done
        } else {
            Outcome::Pending
        };
        let shell_outcome = if call.id.is_empty() {
            Outcome::Done
        } else {
            Outcome::Awaited
        };
        let key = hash(&call.id);
        // The same call in a later version of its record takes the place of the earlier one.
        let again = !call.id.is_empty()
            && self
                .calls
                .get(&key)
                .is_some_and(|known| !known.resolved || known.record == seq);
        if again {
            self.mark(key, Outcome::Replaced);
        }
        let first = self.effects.len();
        for effect in call.files {
            self.push(seq, offset, &effect.path, effect.op, outcome, None);
        }
        if let Some(command) = call.shell {
            for deleted in shell::deletions(&command.command) {
                self.push(
                    seq,
                    offset,
                    &deleted,
                    FileOp::Delete,
                    shell_outcome,
                    command.cwd.as_deref(),
                );
            }
        }
        if !call.id.is_empty() {
            let count = self.effects.len() - first;
            self.calls.insert(
                key,
                Call {
                    record: seq,
                    first,
                    count,
                    resolved: false,
                },
            );
        }
    }

    pub(crate) fn result(&mut self, seq: Seq, offset: u64, result: ToolResult) {
        let key = hash(&result.id);
        let Some(call) = self.calls.get_mut(&key) else {
            if !result.is_error {
                result
                    .files
                    .into_iter()
                    .for_each(|effect| self.change(seq, offset, effect));
            }
            return;
        };
        call.resolved = true;
        let range = call.first..call.first + call.count;
        if result.is_error {
            self.mark(key, Outcome::Failed);
            return;
        }
        let mut said = result.files;
        let replaces = !said.is_empty();
        for index in range {
            let Some(effect) = self.effects.get(index) else {
                continue;
            };
            let name = self.names.get(effect.path as usize).cloned().unwrap_or_default();
            let named = said
                .iter()
                .position(|file| self.paths.shown(&file.path, self.cwd.as_deref()) == name);
            let Some(effect) = self.effects.get_mut(index) else {
                continue;
            };
            match named {
                Some(at) => {
                    effect.op = said.remove(at).op;
                    effect.outcome = Outcome::Done;
                }
                None if replaces => effect.outcome = Outcome::Replaced,
                None if effect.outcome != Outcome::Replaced => effect.outcome = Outcome::Done,
                None => {}
            }
        }
        said.into_iter().for_each(|effect| self.change(seq, offset, effect));
    }

    pub(crate) fn change(&mut self, seq: Seq, offset: u64, effect: FileEffect) {
        self.push(seq, offset, &effect.path, effect.op, Outcome::Done, None);
    }

    fn push(&mut self, seq: Seq, offset: u64, path: &str, op: FileOp, outcome: Outcome, cwd: Option<&str>) {
        if path.trim().is_empty() {
            return;
        }
        let shown = self.paths.shown(path, cwd.or(self.cwd.as_deref()));
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(shown.clone()).or_insert(next);
        if number == next {
            self.names.push(shown);
        }
        self.effects.push(Effect {
            seq,
            offset,
            path: number,
            op,
            outcome,
        });
    }

    fn mark(&mut self, key: u64, outcome: Outcome) {
        if let Some(call) = self.calls.get(&key) {
            for effect in self.effects.iter_mut().skip(call.first).take(call.count) {
                effect.outcome = outcome;
            }
        }
    }

    pub(crate) fn finish(self, standing: &Standing) -> Files {
        let mut states: HashMap<u32, State> = HashMap::new();
        let mut order = vec![];
        for effect in &self.effects {
            let counts = matches!(effect.outcome, Outcome::Done | Outcome::Pending) && standing.holds_files(effect.seq);
            if !counts {
                continue;
            }
            let state = states.entry(effect.path).or_default();
            let existed = state
                .exists
                .unwrap_or(matches!(effect.op, FileOp::Modify | FileOp::Delete | FileOp::Read));
            state.exists = Some(match effect.op {
                FileOp::Read => existed,
                FileOp::Delete => false,
                FileOp::Create | FileOp::Modify | FileOp::Write => true,
            });
            let touches = effect.offset >= self.from && effect.op != FileOp::Read;
            if touches && state.existed_before.is_none() {
                state.existed_before = Some(existed);
                order.push(effect.path);
            }
        }
        let mut files = Files::default();
        for number in order {
            let (Some(state), Some(name)) = (states.get(&number), self.names.get(number as usize)) else {
                continue;
            };
            let list = match (state.existed_before == Some(true), state.exists == Some(true)) {
                (false, true) => &mut files.created,
                (true, true) => &mut files.modified,
                (true, false) => &mut files.deleted,
                (false, false) => continue,
            };
            list.push(name.clone());
            files.touched.push(name.clone());
        }
        files
    }
}

#[derive(Default)]
struct State {
    /// As known so far.
    exists: Option<bool>,
    /// Before the first touch that counts.
    existed_before: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ShellCommand;
    use crate::session::branches::Branches;

    fn call(id: &str, files: &[(&str, FileOp)], shell: Option<&str>) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: "tool".to_owned(),
            input: String::new(),
            files: files
                .iter()
                .map(|(path, op)| FileEffect {
                    path: (*path).to_owned(),
                    op: *op,
                })
                .collect(),
            shell: shell.map(|command| ShellCommand {
                command: command.to_owned(),
                cwd: None,
            }),
            subagent: None,
        }
    }

    fn result(id: &str, is_error: bool, files: &[(&str, FileOp)]) -> ToolResult {
        ToolResult {
            id: id.to_owned(),
            output: String::new(),
            is_error,
            files: files
                .iter()
                .map(|(path, op)| FileEffect {
                    path: (*path).to_owned(),
                    op: *op,
                })
                .collect(),
            subagent_id: None,
        }
    }

    fn finish(log: FileLog) -> Files {
        log.finish(&Branches::default().standing())
    }

    #[test]
    fn the_net_effect_counts() {
        let mut log = FileLog::new(0, RepoPaths::default());
        log.call(
            0,
            0,
            call("1", &[("made", FileOp::Write), ("read", FileOp::Read)], None),
        );
        log.call(
            1,
            1,
            call("2", &[("made", FileOp::Modify), ("read", FileOp::Write)], None),
        );
        log.call(2, 2, call("3", &[("brief", FileOp::Create)], None));
        log.call(
            3,
            3,
            call("4", &[("brief", FileOp::Delete), ("old", FileOp::Delete)], None),
        );
        log.call(4, 4, call("5", &[("back", FileOp::Delete)], None));
        log.call(5, 5, call("6", &[("back", FileOp::Create)], None));
        let files = finish(log);
        assert_eq!(files.created, ["made"]);
        assert_eq!(files.modified, ["read", "back"]);
        assert_eq!(files.deleted, ["old"]);
        assert_eq!(files.touched, ["made", "read", "old", "back"]);
    }

    #[test]
    fn failed_calls_do_not_count_and_unfinished_ones_do() {
        let mut log = FileLog::new(0, RepoPaths::default());
        log.call(0, 0, call("1", &[("refused", FileOp::Modify)], None));
        log.result(1, 1, result("1", true, &[]));
        log.call(2, 2, call("2", &[("running", FileOp::Modify)], None));
        log.call(3, 3, call("3", &[], Some("rm running-rm")));
        assert_eq!(finish(log).touched, ["running"]);
    }

    #[test]
    fn the_last_result_of_a_call_decides() {
        let mut log = FileLog::new(0, RepoPaths::default());
        log.call(0, 0, call("1", &[("a", FileOp::Modify)], None));
        log.result(1, 1, result("1", true, &[]));
        log.result(2, 2, result("1", false, &[]));
        log.call(3, 3, call("2", &[("b", FileOp::Modify)], None));
        log.result(4, 4, result("2", false, &[]));
        log.result(5, 5, result("2", true, &[]));
        assert_eq!(finish(log).touched, ["a"]);
    }

    #[test]
    fn a_result_knows_better_than_its_call() {
        let mut log = FileLog::new(0, RepoPaths::default());
        log.call(0, 0, call("1", &[("a", FileOp::Write), ("b", FileOp::Write)], None));
        log.result(
            1,
            1,
            result("1", false, &[("a", FileOp::Modify), ("c", FileOp::Create)]),
        );
        let files = finish(log);
        assert_eq!(
            (files.modified, files.created),
            (vec!["a".to_owned()], vec!["c".to_owned()])
        );
    }

    #[test]
    fn a_plain_deletion_counts_once_it_has_succeeded() {
        let mut log = FileLog::new(0, RepoPaths::default());
        log.call(0, 0, call("1", &[], Some("rm docs/notes.md")));
        log.result(1, 1, result("1", false, &[]));
        log.call(2, 2, call("2", &[], Some("rm other.md")));
        log.result(3, 3, result("2", true, &[]));
        assert_eq!(finish(log).deleted, ["docs/notes.md"]);
    }

    #[test]
    fn an_offset_cuts_off_earlier_touches_but_not_what_they_tell() {
        let mut log = FileLog::new(5, RepoPaths::default());
        log.call(0, 0, call("1", &[("a", FileOp::Create), ("b", FileOp::Create)], None));
        log.call(1, 5, call("2", &[("a", FileOp::Write)], None));
        let files = finish(log);
        assert_eq!(files.modified, ["a"]);
        assert_eq!(files.touched, ["a"]);
    }
}
