//! The patch text that several agents' edit tools take (`*** Begin Patch`).

use crate::{FileEffect, FileOp};

/// The files that a patch touches, in its order. Only header lines count: lines of a file's text begin with `+`, `-`
/// or a space.
#[must_use]
pub fn effects(patch: &str) -> Vec<FileEffect> {
    let mut effects: Vec<FileEffect> = vec![];
    for line in patch.lines() {
        let Some(header) = line.strip_prefix("*** ") else {
            continue;
        };
        let effect = |path: &str, op| FileEffect {
            path: path.trim().to_owned(),
            op,
        };
        if let Some(path) = header.strip_prefix("Add File:") {
            effects.push(effect(path, FileOp::Create));
        } else if let Some(path) = header.strip_prefix("Update File:") {
            effects.push(effect(path, FileOp::Modify));
        } else if let Some(path) = header.strip_prefix("Delete File:") {
            effects.push(effect(path, FileOp::Delete));
        } else if let Some(path) = header.strip_prefix("Move to:") {
            if let Some(moved) = effects.last_mut() {
                moved.op = FileOp::Delete;
            }
            effects.push(effect(path, FileOp::Create));
        }
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_inside_a_files_text_is_text() {
        let patch = "*** Begin Patch\n*** Add File: docs/a.md\n+*** Delete File: src/x.rs\n*** Update File: old.rs\n\
                     *** Move to: new.rs\n@@\n-a\n+b\n*** Delete File: gone.rs\n*** End Patch\n";
        let found: Vec<_> = effects(patch)
            .into_iter()
            .map(|effect| (effect.path, effect.op))
            .collect();
        assert_eq!(
            found,
            [
                ("docs/a.md".to_owned(), FileOp::Create),
                ("old.rs".to_owned(), FileOp::Delete),
                ("new.rs".to_owned(), FileOp::Create),
                ("gone.rs".to_owned(), FileOp::Delete),
            ]
        );
    }
}
