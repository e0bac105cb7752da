//! What the user typed, without what Codex, its desktop app and its IDE extension put around it.

use std::borrow::Cow;

use hookhost_sdk::Object;
use hookhost_sdk::prompt::{Wrapper, unwrapped};

/// What the desktop app and the IDE extension put in front of the user's words: open files, selections, attachments.
const LEAD_INS: &[&str] = &["# Context from my IDE setup", "# Files mentioned by the user"];

/// The heading under which the user's own words follow.
const REQUEST: &str = "## My request for Codex:";

/// Blocks that Codex itself writes into the conversation in the user's name.
const INJECTED: &[Wrapper] = &[
    Wrapper::Injected("environment_context"),
    Wrapper::Injected("user_instructions"),
    Wrapper::Injected("INSTRUCTIONS"),
    Wrapper::Injected("permissions"),
    Wrapper::Injected("turn_aborted"),
    Wrapper::Injected("subagent_notification"),
    Wrapper::Injected("user_shell_command"),
    Wrapper::Injected("skill"),
    Wrapper::Injected("skills_instructions"),
    Wrapper::Injected("additional_context"),
    Wrapper::Injected("extension_context"),
    Wrapper::Injected("goal_context"),
    Wrapper::Injected("hook_prompt"),
    Wrapper::Injected("model_switch"),
    Wrapper::Injected("collaboration_mode"),
    Wrapper::Injected("personality_spec"),
];

/// The project's instructions, which older versions write without a tag around them.
const INSTRUCTIONS: &str = "# AGENTS.md instructions";

/// The user's own words in a prompt.
pub(crate) fn typed(text: &str) -> &str {
    let trimmed = text.trim_start();
    if !LEAD_INS.iter().any(|lead_in| trimmed.starts_with(lead_in)) {
        return text;
    }
    match text.find(REQUEST).and_then(|at| text.get(at + REQUEST.len()..)) {
        Some(request) => request.trim(),
        None => text,
    }
}

/// A prompt as it stands in the conversation that is sent to the model, and the number of pictures in it. `None`: the
/// message holds nothing that a person typed.
pub(crate) fn in_conversation(message: &Object<'_>) -> Option<(String, u32)> {
    let mut words = vec![];
    let mut images = 0;
    for part in message.items("content").into_iter().filter_map(|part| part.object()) {
        match part.text("type").as_deref() {
            Some("input_image") => images += 1,
            Some("input_text" | "text") => words.extend(part.text("text").and_then(said)),
            _ => {}
        }
    }
    (!words.is_empty() || images > 0).then(|| (words.join("\n"), images))
}

/// What is left of one text of a message when what Codex wrote is taken off.
fn said(text: Cow<'_, str>) -> Option<String> {
    let trimmed = text.trim();
    // `<image name=[Image #1]>` and `</image>` stand around a picture, each as a text of its own.
    let frames_an_image = trimmed == "</image>" || trimmed.starts_with("<image") && trimmed.ends_with('>');
    if frames_an_image || trimmed.starts_with(INSTRUCTIONS) {
        return None;
    }
    let own = unwrapped(&text, INJECTED);
    let own = typed(&own);
    (!own.trim().is_empty()).then(|| own.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_of_an_editor_is_taken_off_and_a_mentioned_heading_stays() {
        let wrapped = "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(typed(wrapped), "fix it");
        let files = "\n# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## My request for Codex:\nlook";
        assert_eq!(typed(files), "look");
        let mentioned = "What does `## My request for Codex:` mean?";
        assert_eq!(typed(mentioned), mentioned);
        assert_eq!(typed(" two  spaces "), " two  spaces ");
    }

    #[test]
    fn a_message_holds_what_is_left_without_what_codex_wrote() {
        let read = |content: &str| {
            let text = format!("{{\"content\":{content}}}");
            in_conversation(&Object::parse(&text).unwrap())
        };
        let part = |text: &str| {
            format!(
                "{{\"type\":\"input_text\",\"text\":{}}}",
                hookhost_sdk::json::quoted(text)
            )
        };
        assert_eq!(
            read(&format!(
                "[{},{}]",
                part("# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>x</INSTRUCTIONS>"),
                part("<environment_context>\n</environment_context>")
            )),
            None
        );
        assert_eq!(read(&format!("[{}]", part("<turn_aborted>x</turn_aborted>"))), None);
        assert_eq!(
            read(&format!(
                "[{},{{\"type\":\"input_image\",\"image_url\":\"data:\"}},{},{}]",
                part("<image name=[Image #1]>"),
                part("</image>"),
                part("what is [Image #1]?")
            )),
            Some(("what is [Image #1]?".to_owned(), 1))
        );
        assert_eq!(read("\"text\""), None);
    }
}
