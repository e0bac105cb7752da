//! The floor: what a native program needs to read a hook's payload and print its event.
//!
//! Everything that hookhost takes longer is the price of its sandbox, its registry and its care with bad input.
#![allow(clippy::print_stdout, reason = "the answer of a measured program")]

use std::borrow::Cow;
use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    transcript_path: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    prompt: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: u8,
    session_id: &'a str,
    session_ref: Option<&'a str>,
    prompt: Option<&'a str>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    let payload: Payload<'_> = serde_json::from_str(&text)?;
    let event = serde_json::to_vec(&Event {
        kind: 2,
        session_id: &payload.session_id,
        session_ref: payload.transcript_path.as_deref(),
        prompt: payload.prompt.as_deref(),
    })?;
    std::io::stdout().lock().write_all(&event)?;
    Ok(())
}
