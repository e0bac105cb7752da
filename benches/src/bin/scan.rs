//! Adds up the tokens of a Claude Code transcript on stdin, natively: each line is parsed into the fields that count.
#![allow(clippy::print_stdout, reason = "the answer of a measured program")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};

use serde::Deserialize;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<&'a str>,
    usage: Option<Usage>,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Usage {
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut calls: HashMap<String, Usage> = HashMap::new();
    let mut input = BufReader::with_capacity(1 << 20, std::io::stdin().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let parsed: Option<Line<'_>> = serde_json::from_slice(&line).ok();
        let message = parsed
            .filter(|line| line.kind == "assistant")
            .and_then(|line| line.message);
        if let Some(Message {
            id: Some(id),
            usage: Some(usage),
        }) = message
        {
            match calls.get_mut(id) {
                Some(known) if known.output_tokens > usage.output_tokens => {}
                Some(known) => *known = usage,
                None => {
                    calls.insert(id.to_owned(), usage);
                }
            }
        }
        line.clear();
    }
    let sum = |field: fn(&Usage) -> u64| calls.values().map(field).sum::<u64>();
    let answer = serde_json::json!({
        "input_tokens": sum(|usage| usage.input_tokens),
        "cache_creation_tokens": sum(|usage| usage.cache_creation_input_tokens),
        "cache_read_tokens": sum(|usage| usage.cache_read_input_tokens),
        "output_tokens": sum(|usage| usage.output_tokens),
        "api_call_count": calls.len(),
    });
    writeln!(std::io::stdout().lock(), "{answer}")?;
    Ok(())
}
