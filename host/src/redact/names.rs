//! Secrets that can be told by the name in front of them: `password: …`, `API_KEY=…`, `--token …`.

use super::Secret;

pub(super) const KIND: &str = "named";

/// What names of secrets end in, without `_`, `-` and capitals.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "authkey",
    "accountkey",
    "credential",
    "credentials",
    "authorization",
    "connectionstring",
];

/// Whether a name says that a secret follows.
pub(super) fn is_secret(name: &str) -> bool {
    if name.len() > 80 {
        return false;
    }
    let letters = name
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_lowercase());
    let plain: Vec<u8> = letters.collect();
    NAMES.iter().any(|secret| plain.ends_with(secret.as_bytes()))
}

/// Whether a name says that an identifier follows, which looks random and is none.
pub(super) fn is_id(name: &str) -> bool {
    let ends = [
        "id",
        "Id",
        "ID",
        "ids",
        "Ids",
        "uuid",
        "digest",
        "sha",
        "sha256",
        "hash",
        "signature",
    ];
    ends.iter().any(|end| name.ends_with(end))
}

/// Whether the value behind such a name can be one: not a variable, a placeholder or an expression.
pub(super) fn is_plausible(value: &str) -> bool {
    let value = value.trim();
    let first = value.bytes().next().unwrap_or_default();
    let is_placeholder = matches!(first, b'$' | b'<' | b'{' | b'%' | b'[' | b'*' | b'.' | b'/')
        || value.contains("...")
        || [
            "true",
            "false",
            "null",
            "none",
            "undefined",
            "xxx",
            "your",
            "example",
            "changeme",
        ]
        .iter()
        .any(|word| value.to_ascii_lowercase().starts_with(word));
    (6..=4096).contains(&value.len()) && !is_placeholder
}

/// Values behind names of secrets, in running text and code.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut secrets = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let name_end = at + run(bytes, at, is_name_byte);
        if name_end == at {
            at += 1;
            continue;
        }
        let name = text.get(at..name_end).unwrap_or_default();
        at = name_end;
        if is_secret(name)
            && let Some(secret) = value_behind(text, name, name_end)
        {
            at = secret.end;
            secrets.push(secret);
        }
    }
    secrets
}

fn value_behind(text: &str, name: &str, name_end: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let mut at = name_end;
    // `"password": "…"` as well as `password=…`, and in JSON within JSON with backslashes.
    at += run(bytes, at, |byte| matches!(byte, b'"' | b'\'' | b'\\'));
    at += run(bytes, at, |byte| byte == b' ');
    let is_option = name.starts_with('-') && at > name_end;
    let is_assigned = match bytes.get(at)? {
        b':' | b'=' => {
            at += run(bytes, at, |byte| matches!(byte, b':' | b'=' | b'>'));
            at += run(bytes, at, |byte| byte == b' ');
            true
        }
        _ => is_option,
    };
    is_assigned.then_some(())?;
    for scheme in ["Bearer ", "bearer ", "Basic ", "basic ", "token "] {
        if bytes.get(at..)?.starts_with(scheme.as_bytes()) {
            at += scheme.len();
        }
    }
    let before_quote = at;
    at += run(bytes, at, |byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\'));
    let is_quoted = at > before_quote;
    let length = run(bytes, at, |byte| {
        !byte.is_ascii_whitespace()
            && !matches!(
                byte,
                b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b')' | b'(' | b'}' | b'{' | b']' | b'<' | b'>' | b'&'
            )
    });
    let value = text.get(at..at + length)?;
    // A word of code that is not quoted is a variable, unless it has a digit; in front of `(` it is a function.
    let is_code = !is_quoted && !value.bytes().any(|byte| byte.is_ascii_digit());
    let is_call = bytes.get(at + length) == Some(&b'(');
    (is_plausible(value) && !is_code && !is_call).then_some(Secret {
        start: at,
        end: at + length,
        kind: KIND,
    })
}

fn run(bytes: &[u8], from: usize, holds: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().position(|&byte| !holds(byte)).unwrap_or(rest.len())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
