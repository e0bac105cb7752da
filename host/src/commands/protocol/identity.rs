//! `info` and `detect`.

use serde_json::json;

use super::Call;
use crate::commands::Output;
use crate::error::Result;
use crate::wire::Info;

pub(super) fn info(call: &mut Call) -> Result<Output> {
    let name = call.name.clone();
    Output::json(&Info::new(&name, call.description()?))
}

pub(super) fn detect(call: &mut Call) -> Result<Output> {
    let surroundings = call.surroundings.clone();
    let present = call.description()?.presence.iter().any(|place| surroundings.has(place));
    Output::json(&json!({ "present": present }))
}
