//! Checks of one file at the end, mostly of the agent's settings.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::json::{keys_in_order, lacks, parse_jsonc, raw_field, shown, without_extras};
use super::world::strings;
use crate::program::readable;

/// The names of the checks.
pub(super) const NAMES: [&str; 11] = [
    "json_contains",
    "no_bom",
    "json_equal",
    "keeps_order_of",
    "text_contains",
    "bytes_base64",
    "is_symlink_to",
    "hooks_valid",
    "own",
    "own_hooks_per_event_max",
    "if_tool_hooks_then_matcher_fits",
];

const MARK: &[u8] = b"\xef\xbb\xbf";

/// A file as it was and as it is.
pub(super) struct FileChecks<'a> {
    pub(super) path: &'a str,
    pub(super) before: Option<&'a Vec<u8>>,
    pub(super) after: Option<&'a Vec<u8>>,
    pub(super) block: &'a Map<String, Value>,
}

/// An entry of the settings: event, matcher, handler.
type Handler = (String, Value, Value);

impl FileChecks<'_> {
    pub(super) fn evaluate(&self) -> Vec<String> {
        let checks = self.block.iter().filter(|(name, _)| NAMES.contains(&name.as_str()));
        checks
            .flat_map(|(name, value)| {
                let failures = self.check(name, value).unwrap_or_else(|error| vec![error]);
                failures.into_iter().map(move |failure| format!("{name}: {failure}"))
            })
            .collect()
    }

    fn check(&self, name: &str, value: &Value) -> Result<Vec<String>, String> {
        let unless = |good: bool, failure: String| if good { vec![] } else { vec![failure] };
        Ok(match name {
            "json_contains" => lacks(value, &self.json()?, "", false),
            "no_bom" => unless(
                !self.bytes()?.starts_with(MARK),
                "there is a byte order mark".to_owned(),
            ),
            "json_equal" => {
                let ignored = strings(self.block.get("ignore_empty").unwrap_or(&Value::Null));
                let (want, came) = (pruned(value, &ignored), pruned(&self.json()?, &ignored));
                unless(
                    want == came,
                    format!("expected {}, came {}", shown(&want), shown(&came)),
                )
            }
            "keeps_order_of" => self.keeps_order_of(value.as_str().unwrap_or_default())?,
            "text_contains" => {
                let text = String::from_utf8_lossy(self.bytes()?);
                let missing = strings(value).into_iter().filter(|part| !text.contains(part));
                missing
                    .map(|part| format!("expected {part} in {}", readable(text.as_bytes())))
                    .collect()
            }
            "bytes_base64" => {
                let want = STANDARD.decode(value.as_str().unwrap_or_default()).unwrap();
                let came = self.bytes()?;
                unless(
                    came == want,
                    format!("expected {}, came {}", readable(&want), readable(came)),
                )
            }
            "is_symlink_to" => {
                let is_link = Path::new(self.path).is_symlink();
                let leads = Path::new(self.path).canonicalize().ok();
                let want = Path::new(value.as_str().unwrap_or_default()).canonicalize().ok();
                unless(
                    is_link && leads == want,
                    format!("expected a link to {want:?}, came {leads:?}"),
                )
            }
            "hooks_valid" => self.hooks_valid()?,
            "own" => {
                let own = self.own()?;
                let want = strings(&value["events_with_own_hook_at_least"]);
                let missing = want
                    .into_iter()
                    .filter(|event| !own.iter().any(|(of, _, _)| of == event));
                missing.map(|event| format!("no own hook for {event}")).collect()
            }
            "own_hooks_per_event_max" => {
                let keys: Vec<Value> = self.own()?.iter().map(kind_of).collect();
                let count = |key: &Value| keys.iter().filter(|other| *other == key).count() as u64;
                let most = value.as_u64().unwrap_or_default();
                unless(
                    keys.iter().all(|key| count(key) <= most),
                    format!("more than {most} of a kind: {keys:?}"),
                )
            }
            "if_tool_hooks_then_matcher_fits" => self.matchers_fit(value)?,
            _ => vec![format!("unknown check {name}")],
        })
    }

    fn bytes(&self) -> Result<&[u8], String> {
        self.after
            .map(Vec::as_slice)
            .ok_or_else(|| format!("no file {}", self.path))
    }

    fn text(&self) -> Result<String, String> {
        let text = String::from_utf8(self.bytes()?.to_vec()).map_err(|error| error.to_string())?;
        let is_jsonc = self.block.get("parse_as").and_then(Value::as_str) == Some("jsonc");
        Ok(if is_jsonc { without_extras(&text) } else { text })
    }

    fn json(&self) -> Result<Value, String> {
        serde_json::from_str(&self.text()?).map_err(|error| format!("{} is not JSON: {error}", self.path))
    }

    fn old_text(&self) -> String {
        let bytes = self.before.map(Vec::as_slice).unwrap_or_default();
        let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
        without_extras(&String::from_utf8_lossy(bytes))
    }

    /// Handlers that were not there before, so the installer's.
    pub(super) fn own(&self) -> Result<Vec<Handler>, String> {
        let mut old = handlers(&parse_jsonc(&self.old_text()).unwrap_or_default());
        let mut own = handlers(&self.json()?);
        own.retain(|handler| match old.iter().position(|known| known == handler) {
            Some(at) => {
                old.remove(at);
                false
            }
            None => true,
        });
        Ok(own)
    }

    fn keeps_order_of(&self, key: &str) -> Result<Vec<String>, String> {
        let old_json: Value = parse_jsonc(&self.old_text())?;
        let lost = lacks(&old_json[key], &self.json()?[key], key, false);
        if !lost.is_empty() {
            return Ok(lost);
        }
        let keys = |text: &str| keys_in_order(&raw_field(text, key).unwrap_or_default());
        let (old, mut new) = (keys(&self.old_text()), keys(&self.text()?));
        new.retain(|name| old.contains(name));
        Ok(if new == old {
            vec![]
        } else {
            vec![format!("expected {old:?}, came {new:?}")]
        })
    }

    fn hooks_valid(&self) -> Result<Vec<String>, String> {
        let (settings, own) = (self.json()?, self.own()?);
        let mut failures = vec![];
        let hooks = settings.get("hooks").cloned().unwrap_or_else(|| json!({}));
        let Value::Object(hooks) = hooks else {
            return Ok(vec![format!("hooks is no object: {hooks}")]);
        };
        for (event, groups) in hooks {
            let Value::Array(groups) = groups else {
                failures.push(format!("{event} is no list: {groups}"));
                continue;
            };
            for group in groups {
                let has_matcher = group.get("matcher").is_none_or(Value::is_string);
                if !has_matcher || !group.get("hooks").is_some_and(Value::is_array) {
                    failures.push(format!("{event} has a group of another shape: {group}"));
                }
            }
        }
        let filled = |handler: &Value, key: &str| handler[key].as_str().is_some_and(|text| !text.trim().is_empty());
        for handler in handlers(&settings) {
            let is_whole = filled(&handler.2, "type") && filled(&handler.2, "command");
            let is_good = if own.contains(&handler) {
                is_whole
            } else {
                handler.2.is_object()
            };
            if !is_good {
                failures.push(format!(
                    "{} has an entry without type and command: {}",
                    handler.0, handler.2
                ));
            }
        }
        Ok(failures)
    }

    fn matchers_fit(&self, value: &Value) -> Result<Vec<String>, String> {
        let own = self.own()?;
        let mut failures = vec![];
        for event in strings(&value["events"]) {
            let matchers: Vec<&Value> = own
                .iter()
                .filter(|(of, _, _)| *of == event)
                .map(|(_, matcher, _)| matcher)
                .collect();
            for tool in strings(&value["tools"]) {
                if !matchers.is_empty() && !matchers.iter().any(|matcher| fits(matcher, &tool)) {
                    failures.push(format!("no matcher of {event} fits {tool}: {matchers:?}"));
                }
            }
        }
        Ok(failures)
    }
}

/// As the agent reads it: everything, or a list of exact names. Regular expressions are not needed so far.
fn fits(matcher: &Value, tool: &str) -> bool {
    match matcher {
        Value::Null => true,
        Value::String(text) if text.is_empty() || text == "*" => true,
        Value::String(text) => text.split(['|', ',']).any(|name| name.trim() == tool),
        _ => false,
    }
}

/// What makes two entries the same.
fn kind_of((event, matcher, handler): &Handler) -> Value {
    let matcher = if matcher.is_null() || matcher == "*" {
        json!("")
    } else {
        matcher.clone()
    };
    json!([event, matcher, handler["command"], handler["args"]])
}

/// Everything that has the current shape.
fn handlers(settings: &Value) -> Vec<Handler> {
    let mut found = vec![];
    for (event, groups) in settings["hooks"].as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            for handler in group["hooks"].as_array().into_iter().flatten() {
                found.push((event.clone(), group["matcher"].clone(), handler.clone()));
            }
        }
    }
    found
}

/// An empty object, or empty lists in it, count like nothing.
fn pruned(value: &Value, names: &[String]) -> Value {
    let mut value = value.clone();
    for name in names {
        let Some(fields) = value.as_object_mut() else { break };
        if let Some(inner) = fields.get_mut(name).and_then(Value::as_object_mut) {
            inner.retain(|_, list| *list != json!([]));
            if inner.is_empty() {
                fields.remove(name);
            }
        }
    }
    value
}
