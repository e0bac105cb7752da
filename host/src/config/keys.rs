//! The settings there are.

use super::values::{Default, Kind};

/// A setting.
#[derive(Debug)]
pub struct Key {
    /// As it is written in the file; a dot stands between a table and what is in it.
    pub name: &'static str,
    /// The variable that overrides it: `HOOKHOST_` and the name.
    pub variable: &'static str,
    /// What it can be.
    pub kind: Kind,
    /// What it is when nobody says.
    pub default: Default,
    /// What it means.
    pub meaning: &'static str,
}

pub(crate) const DISABLE: Key = Key {
    name: "disable",
    variable: "HOOKHOST_DISABLE",
    kind: Kind::Flag,
    default: Default::Flag(false),
    meaning: "The kill switch: hooks do nothing and record nothing.",
};

pub(crate) const CAPTURE: Key = Key {
    name: "capture",
    variable: "HOOKHOST_CAPTURE",
    kind: Kind::Choice(&["raw", "redacted", "off"]),
    default: Default::Text("raw"),
    meaning: "What is kept of a payload in the journal: every byte; with secrets replaced in the payload and in the \
              events; nothing, only the events. Only raw payloads can be replayed exactly.",
};

pub(crate) const EXCLUDE_AGENTS: Key = Key {
    name: "exclude.agents",
    variable: "HOOKHOST_EXCLUDE_AGENTS",
    kind: Kind::Texts,
    default: Default::Texts,
    meaning: "Agents of which nothing is recorded, by their adapters' names.",
};

pub(crate) const EXCLUDE_REPOS: Key = Key {
    name: "exclude.repos",
    variable: "HOOKHOST_EXCLUDE_REPOS",
    kind: Kind::Paths,
    default: Default::Texts,
    meaning: "Directories in which, and below which, nothing is recorded. A leading ~ is the home directory.",
};

pub(crate) const HOOK_MS: Key = Key {
    name: "limits.hook_ms",
    variable: "HOOKHOST_LIMITS_HOOK_MS",
    kind: Kind::Number(10, 60_000),
    default: Default::Number(2000),
    meaning: "How long an adapter may take for a hook, in milliseconds. The agent waits that long at most.",
};

pub(crate) const HOOK_MEMORY_MIB: Key = Key {
    name: "limits.hook_memory_mib",
    variable: "HOOKHOST_LIMITS_HOOK_MEMORY_MIB",
    kind: Kind::Number(1, 4095),
    default: Default::Number(64),
    meaning: "How much memory an adapter may use for a hook.",
};

pub(crate) const TRANSCRIPT_MS: Key = Key {
    name: "limits.transcript_ms",
    variable: "HOOKHOST_LIMITS_TRANSCRIPT_MS",
    kind: Kind::Number(100, 3_600_000),
    default: Default::Number(25_000),
    meaning: "How long an adapter may take to read a transcript, in milliseconds. Callers of the external-agent \
              protocol give up after 30 seconds.",
};

pub(crate) const TRANSCRIPT_MEMORY_MIB: Key = Key {
    name: "limits.transcript_memory_mib",
    variable: "HOOKHOST_LIMITS_TRANSCRIPT_MEMORY_MIB",
    kind: Kind::Number(1, 4095),
    default: Default::Number(256),
    meaning: "How much memory an adapter may use to read a transcript.",
};

pub(crate) const ANSWER_MIB: Key = Key {
    name: "limits.answer_mib",
    variable: "HOOKHOST_LIMITS_ANSWER_MIB",
    kind: Kind::Number(1, 1024),
    default: Default::Number(10),
    meaning: "How large an adapter's answer may be.",
};

pub(crate) const REDACT_PATTERNS: Key = Key {
    name: "redact.patterns",
    variable: "HOOKHOST_REDACT_PATTERNS",
    kind: Kind::Texts,
    default: Default::Texts,
    meaning: "Regular expressions of what else is a secret, beyond the well-known shapes of tokens.",
};

pub(crate) const REDACT_ENTROPY: Key = Key {
    name: "redact.entropy",
    variable: "HOOKHOST_REDACT_ENTROPY",
    kind: Kind::Flag,
    default: Default::Flag(true),
    meaning: "Whether long words that look random are taken for secrets.",
};

/// All settings, in the order in which they are explained.
pub const KEYS: &[Key] = &[
    DISABLE,
    CAPTURE,
    EXCLUDE_AGENTS,
    EXCLUDE_REPOS,
    HOOK_MS,
    HOOK_MEMORY_MIB,
    TRANSCRIPT_MS,
    TRANSCRIPT_MEMORY_MIB,
    ANSWER_MIB,
    REDACT_PATTERNS,
    REDACT_ENTROPY,
];

pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether there are settings in a table of this name.
pub(crate) fn is_group(name: &str) -> bool {
    KEYS.iter()
        .any(|key| key.name.split_once('.').is_some_and(|(group, _)| group == name))
}

/// The setting that was meant, when one is spelled alike.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let by_distance = KEYS.iter().map(|key| (distance(name, key.name), key.name));
    by_distance
        .min()
        .filter(|(distance, _)| *distance <= 2)
        .map(|(_, name)| name)
}

/// How many letters have to be put in, taken out or changed.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.bytes().enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        for (cell, other_letter) in row.iter_mut().skip(1).zip(other.bytes()) {
            let changed = diagonal + usize::from(letter != other_letter);
            diagonal = *cell;
            left = changed.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_like_their_settings() {
        for key in KEYS {
            let name = key.name.replace('.', "_").to_ascii_uppercase();
            assert_eq!(key.variable, format!("HOOKHOST_{name}"));
        }
    }

    #[test]
    fn words_are_as_far_apart_as_letters_differ() {
        for (one, other, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("abc", "abc", 0),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }
}
