//! Lines of the contract.

use std::collections::BTreeSet;

/// The contract lines that this host speaks, newest first.
pub const CONTRACT_LINES: &[&str] = &["0.1"];

/// The newest line that an adapter of these lines and this host have in common; `None` for one without any line.
///
/// # Errors
/// A sentence that names both sides' lines, when they have none in common.
pub(super) fn in_common(lines: &BTreeSet<String>) -> Option<Result<&'static str, String>> {
    if let Some(line) = CONTRACT_LINES.iter().find(|line| lines.contains(**line)) {
        return Some(Ok(line));
    }
    if lines.is_empty() {
        return None;
    }
    let known = CONTRACT_LINES.join(", ");
    let lines = lines.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    Some(Err(format!(
        "it speaks contract {lines}, this hookhost speaks {known}. Get a version of the adapter for contract {known}, \
         or another version of hookhost"
    )))
}
