//! Agents without hooks, whose event stream is the hook: a saved stream is their transcript, and nothing is registered.

use crate::paths::{join, literal, snapshot_dir};
use crate::{Adapter, Context, Fault, Pattern, RegistrationPlan};

/// Where saved streams lie: in the host's own directory, since the agent keeps none.
///
/// # Errors
/// When the host names no directory.
pub fn session_dir<A: Adapter>(context: &Context) -> Result<String, Fault> {
    snapshot_dir::<A>(context).ok_or_else(|| Fault::Other("the host names no directory for saved streams".to_owned()))
}

/// A saved stream is a file of lines with the session's id.
#[must_use]
pub fn session_file(dir: &str, id: &str) -> Vec<Pattern> {
    vec![literal(join(dir, &format!("{id}.jsonl")))]
}

/// Nothing to do, and what to do instead.
#[must_use]
pub fn no_registration<A: Adapter>() -> RegistrationPlan {
    let name = A::MANIFEST.name;
    let note = format!("{name} has no hooks: pipe its event stream to `hookhost ingest --agent {name}`.");
    RegistrationPlan {
        edits: vec![],
        hooks: 0,
        notes: vec![note],
        obstacles: vec![],
    }
}
