//! Secrets, found and replaced.
//!
//! A secret becomes `[redacted:<kind>:<hash>]`. The hash is eight hexadecimal digits that depend on a salt of this
//! machine: equal secrets stay recognisable as equal, and nobody can try passwords against it.
//!
//! Three kinds of finders, all in one pass whose time grows with the text: the well-known shapes in `shapes`, words
//! behind names like `password` (`names`), and words that look random (`random`). The user's own patterns are
//! regular expressions of the linear-time kind.

mod json;
mod names;
mod random;
mod shapes;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex_lite::Regex;
use uuid::Uuid;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::journal::record::{Payload, Record};
use crate::model::Event;
use crate::regular;

/// The file with the salt, in the data folder.
const SALT: &str = "redact-salt";

/// Longer than any salt.
const SALT_LIMIT: u64 = 1 << 10;

/// How a tag begins that stands for a secret.
const TAG: &str = "[redacted:";

/// Longer than any tag.
const TAG_LIMIT: usize = 64;

/// The user's own patterns.
const OWN: &str = "own";

/// A secret in a text: where it is, and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Secret {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// How many secrets were replaced, by kind.
pub type Counts = BTreeMap<String, u64>;

/// Replaces secrets.
#[derive(Debug)]
pub struct Redactor {
    salt: Uuid,
    random: bool,
    own: Vec<Regex>,
    counts: Counts,
}

impl Redactor {
    /// By the user's settings, with the salt in `data`, which is made when there is none.
    ///
    /// # Errors
    /// One of the user's patterns is no regular expression.
    pub fn new(config: &Config, data: Option<&Path>) -> Result<Self> {
        let compile = |pattern: String| {
            Regex::new(&pattern).map_err(|error| {
                Error::input(format!("redact.patterns: {pattern} is not a regular expression")).because(error)
            })
        };
        Ok(Self {
            salt: salt(data),
            random: config.redacts_random(),
            own: config
                .redact_patterns()
                .into_iter()
                .map(compile)
                .collect::<Result<_>>()?,
            counts: Counts::new(),
        })
    }

    /// How many secrets were replaced since the last time that this was asked.
    pub fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }

    /// A text without its secrets.
    pub fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        self.text_of(text, self.random)
    }

    /// A JSON text without the secrets in its strings; everything else stays as it is, byte for byte. What is no JSON is
    /// taken for a text.
    pub fn json<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        json::redact(text, self)
    }

    /// A line of the journal without secrets.
    pub fn line(&mut self, line: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(line);
        let text = self.json(&text);
        text.into_owned().into_bytes()
    }

    /// Takes the secrets out of a record that is to be written.
    pub fn record(&mut self, record: &mut Record<'_>) {
        match &record.payload {
            Payload::Absent => {}
            Payload::Json { before, value, after } => {
                if let Cow::Owned(value) = self.json(value) {
                    record.payload = Payload::Json {
                        before: Cow::Owned(before.to_string()),
                        value: Cow::Owned(value),
                        after: Cow::Owned(after.to_string()),
                    };
                }
            }
            Payload::Bytes(bytes) => record.payload = Payload::Bytes(Cow::Owned(self.bytes(bytes))),
        }
        if let Some(failure) = &mut record.failure {
            self.replace(&mut failure.message);
        }
        for event in record.events.iter_mut().chain(&mut record.repeats) {
            self.event(event);
        }
    }

    fn event(&mut self, event: &mut Event) {
        let texts = [
            &mut event.prompt,
            &mut event.task_description,
            &mut event.response_message,
        ];
        for text in texts.into_iter().flatten() {
            self.replace(text);
        }
        if let Some(input) = &mut event.tool_input
            && let Cow::Owned(redacted) = self.json(input)
        {
            *input = redacted;
        }
        for (key, value) in &mut event.metadata {
            if let Cow::Owned(redacted) = self.value(key, value) {
                *value = redacted;
            }
        }
    }

    fn replace(&mut self, text: &mut String) {
        if let Cow::Owned(redacted) = self.text(text) {
            *text = redacted;
        }
    }

    /// A payload that is not one JSON value.
    fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        match self.json(&String::from_utf8_lossy(bytes)) {
            Cow::Borrowed(_) => bytes.to_vec(),
            Cow::Owned(redacted) => redacted.into_bytes(),
        }
    }

    /// The value that stands behind a name.
    pub(crate) fn value<'t>(&mut self, name: &str, value: &'t str) -> Cow<'t, str> {
        if name == "payload_base64"
            && let Ok(bytes) = STANDARD.decode(value)
        {
            let redacted = self.bytes(&bytes);
            return if redacted == bytes {
                Cow::Borrowed(value)
            } else {
                Cow::Owned(STANDARD.encode(redacted))
            };
        }
        if names::is_secret(name) && names::is_plausible(value) {
            return Cow::Owned(self.tag(names::KIND, value));
        }
        self.text_of(value, self.random && !names::is_id(name))
    }

    fn text_of<'t>(&mut self, text: &'t str, random: bool) -> Cow<'t, str> {
        let mut secrets = shapes::find(text);
        secrets.extend(names::find(text));
        for pattern in &self.own {
            secrets.extend(
                pattern
                    .find_iter(text)
                    .filter(|found| !found.is_empty())
                    .map(|found| Secret {
                        start: found.start(),
                        end: found.end(),
                        kind: OWN,
                    }),
            );
        }
        if random {
            secrets.extend(random::find(text));
        }
        let tags = tags(text);
        let is_tag = |secret: &Secret| {
            let behind = tags.partition_point(|tag| tag.end <= secret.start);
            tags.get(behind).is_some_and(|tag| tag.start < secret.end)
        };
        secrets.retain(|secret| !is_tag(secret));
        if secrets.is_empty() {
            return Cow::Borrowed(text);
        }
        // Of secrets that lie over each other the first and longest counts: finders that know more stand first.
        secrets.sort_by_key(|secret| (secret.start, std::cmp::Reverse(secret.end)));
        let mut redacted = String::with_capacity(text.len());
        let mut done = 0;
        for secret in secrets {
            if secret.start < done {
                continue;
            }
            redacted.push_str(text.get(done..secret.start).unwrap_or_default());
            redacted.push_str(&self.tag(secret.kind, text.get(secret.start..secret.end).unwrap_or_default()));
            done = secret.end;
        }
        redacted.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(redacted)
    }

    fn tag(&mut self, kind: &str, secret: &str) -> String {
        *self.counts.entry(kind.to_owned()).or_default() += 1;
        let digest = Uuid::new_v5(&self.salt, secret.as_bytes()).simple().to_string();
        format!("{TAG}{kind}:{}]", digest.get(..8).unwrap_or_default())
    }
}

/// The tags that stand for secrets already.
fn tags(text: &str) -> Vec<Range<usize>> {
    let tag = |(start, _): (usize, &str)| {
        let mut rest = text.as_bytes().get(start..)?.iter().take(TAG_LIMIT);
        Some(start..start + rest.position(|&byte| byte == b']')?)
    };
    text.match_indices(TAG).filter_map(tag).collect()
}

/// The salt of this machine, or one for this time only when it cannot be kept.
fn salt(data: Option<&Path>) -> Uuid {
    let Some(data) = data else {
        return Uuid::now_v7();
    };
    let path = data.join(SALT);
    let kept = || {
        regular::text(&path, SALT_LIMIT)
            .ok()
            .and_then(|text| text.trim().parse().ok())
    };
    kept().unwrap_or_else(|| {
        let salt = Uuid::now_v7();
        // Of two that make it at the same time both use the one that was first.
        match make_salt(&path, salt) {
            Ok(()) => salt,
            Err(_) => kept().unwrap_or(salt),
        }
    })
}

fn make_salt(path: &Path, salt: Uuid) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    crate::session::store::make_directory(folder)?;
    let mut file = tempfile::Builder::new().prefix(".hookhost-").tempfile_in(folder)?;
    io::Write::write_all(&mut file, format!("{salt}\n").as_bytes())?;
    file.persist_noclobber(path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
