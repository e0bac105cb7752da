//! What the user typed, without what agents and editors put around it.

use std::borrow::Cow;

/// A rule about a tag in a prompt's text.
#[derive(Clone, Copy, Debug)]
pub enum Wrapper {
    /// `<tag ...>...</tag>` at the beginning or the end of the text is not the user's.
    Injected(&'static str),
    /// `<prefix...>...</...>` for any tag name with this prefix, at the beginning or the end.
    InjectedPrefix(&'static str),
    /// The user's text stands inside this tag.
    Around(&'static str),
}

/// `text` without the wrappers, white space at the ends removed when something was taken off.
///
/// Only blocks at the ends are taken off: a tag that the user mentions inside a sentence stays.
#[must_use]
pub fn unwrapped<'a>(text: &'a str, wrappers: &[Wrapper]) -> Cow<'a, str> {
    let mut rest = text;
    loop {
        let before = rest.len();
        for wrapper in wrappers {
            rest = taken_off(rest, *wrapper);
        }
        if rest.len() == before {
            break;
        }
    }
    if rest.len() == text.len() {
        Cow::Borrowed(text)
    } else {
        Cow::Borrowed(rest.trim())
    }
}

fn taken_off(text: &str, wrapper: Wrapper) -> &str {
    let trimmed = text.trim();
    match wrapper {
        Wrapper::Around(tag) => inner(trimmed, tag).unwrap_or(text),
        Wrapper::Injected(tag) => leading(trimmed, |name| name == tag)
            .or_else(|| trailing(trimmed, |name| name == tag))
            .unwrap_or(text),
        Wrapper::InjectedPrefix(prefix) => leading(trimmed, |name| name.starts_with(prefix))
            .or_else(|| trailing(trimmed, |name| name.starts_with(prefix)))
            .unwrap_or(text),
    }
}

/// The text inside `<tag ...>...</tag>` when that is the whole text.
fn inner<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (name, after) = opening(text)?;
    if name != tag {
        return None;
    }
    Some(after.strip_suffix(&format!("</{tag}>"))?.trim())
}

/// The name of the tag that the text begins with, and what stands behind the tag.
fn opening(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_prefix('<')?;
    let end = body.find('>')?;
    let name = body.get(..end)?.split_whitespace().next()?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, body.get(end + 1..)?))
}

/// The text behind a leading block whose tag matches.
fn leading(text: &str, matches: impl Fn(&str) -> bool) -> Option<&str> {
    let (name, after) = opening(text)?;
    if !matches(name) {
        return None;
    }
    let close = format!("</{name}>");
    let end = after.find(&close)?;
    after.get(end + close.len()..)
}

/// The text before a trailing block whose tag matches.
fn trailing(text: &str, matches: impl Fn(&str) -> bool) -> Option<&str> {
    let open = text.strip_suffix('>')?.rfind("</")?;
    let name = text.get(open + 2..text.len() - 1)?;
    if !matches(name) {
        return None;
    }
    let body = text.get(..open)?;
    let start = body.match_indices(&format!("<{name}")).map(|(at, _)| at).last()?;
    let (opened, _) = opening(text.get(start..)?)?;
    (opened == name).then(|| text.get(..start)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[Wrapper] = &[
        Wrapper::Injected("system-reminder"),
        Wrapper::InjectedPrefix("ide_"),
        Wrapper::Around("user_query"),
    ];

    #[test]
    fn blocks_at_the_ends_go_and_mentioned_tags_stay() {
        let plain = |text| unwrapped(text, RULES).into_owned();
        assert_eq!(plain("<ide_opened_file>a.rs</ide_opened_file>\nfix it"), "fix it");
        assert_eq!(plain("fix it\n<system-reminder>x\ny</system-reminder>"), "fix it");
        assert_eq!(plain("<user_query>\nhi <b>\n</user_query>"), "hi <b>");
        assert_eq!(
            plain("What does the <system-reminder> tag do in these logs?"),
            "What does the <system-reminder> tag do in these logs?"
        );
        assert_eq!(plain("  keeps its spaces "), "  keeps its spaces ");
        assert_eq!(plain("<system-reminder>only</system-reminder>"), "");
    }
}
