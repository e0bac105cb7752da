//! How findings look to a person.

use std::fmt::Write as _;

use crate::check::{InstalledReport, Outcome, Report};
use crate::inventory::{Info, Line};

pub(crate) fn check(report: &Report) -> String {
    let mut text = String::new();
    row(
        &mut text,
        "adapter",
        &format!("{} ({})", report.name, report.display_name),
    );
    row(&mut text, "contract", report.contract);
    row(&mut text, "digest", &report.digest);
    for import in &report.imports {
        let note = match import.trapped {
            true => " (not given to adapters: using it is a crash)",
            false => "",
        };
        row(&mut text, "imports", &format!("{}{note}", import.name));
    }
    let sizes = format!(
        "component {}, compiled {}",
        kibibytes(report.component_bytes as u64),
        kibibytes(report.compiled_bytes)
    );
    row(&mut text, "size", &sizes);
    row(&mut text, "compiled in", &milliseconds(report.compile_microseconds));
    text.push('\n');
    let width = report
        .operations
        .iter()
        .map(|one| one.name.len())
        .max()
        .unwrap_or_default();
    for operation in &report.operations {
        let outcome = match operation.outcome {
            Outcome::Answered => "answers",
            Outcome::Unsupported => "has none",
            Outcome::Failed => "FAILS",
        };
        let time = milliseconds(operation.microseconds);
        let _ = write!(text, "{:width$}  {outcome:9} {time:>10}", operation.name);
        if let Some(message) = &operation.message {
            let _ = write!(text, "  {message}");
        }
        text.push('\n');
    }
    for line in &report.log {
        let _ = writeln!(text, "log: {line}");
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for problem in &report.problems {
        let _ = writeln!(text, "problem: {problem}");
    }
    text
}

pub(crate) fn installed(reports: &[InstalledReport]) -> String {
    if reports.is_empty() {
        return "no adapters are installed\n".to_owned();
    }
    let width = reports.iter().map(|one| one.name.len()).max().unwrap_or_default();
    reports.iter().fold(String::new(), |mut text, report| {
        let state = match (&report.problem, &report.compiled_again) {
            (Some(problem), _) => format!("CANNOT BE USED: {problem}"),
            (None, Some(reason)) => format!("compiled again: {reason}"),
            (None, None) => "ready".to_owned(),
        };
        let _ = writeln!(text, "{:width$}  {state}", report.name);
        text
    })
}

pub(crate) fn list(lines: &[Line]) -> String {
    let width = lines.iter().map(|line| line.name.len()).max().unwrap_or_default();
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = write!(text, "{:width$}  {:9}", line.name, line.origin);
        if let Some(problem) = &line.problem {
            let _ = write!(text, "  CANNOT BE USED: {problem}");
        } else {
            let aliases = (!line.aliases.is_empty()).then(|| format!("also {}", line.aliases.join(", ")));
            let notes = [(!line.confined).then(|| "not confined".to_owned()), aliases];
            for note in notes.into_iter().flatten() {
                let _ = write!(text, "  {note}");
            }
        }
        let end = text.trim_end().len();
        text.truncate(end);
        text.push('\n');
        text
    })
}

pub(crate) fn info(info: &Info) -> String {
    let mut text = String::new();
    row(&mut text, "name", &info.name);
    rows(&mut text, "also", &info.aliases);
    let preview = if info.is_preview { " (preview)" } else { "" };
    row(&mut text, "agent", &format!("{}{preview}", info.display_name));
    row(&mut text, "about", &info.description);
    let confined = match info.confined {
        true => "",
        false => " (not confined: it can do all that you can)",
    };
    row(&mut text, "origin", &format!("{}{confined}", info.origin));
    rows(&mut text, "file", info.file.as_slice());
    row(&mut text, "digest", &info.digest);
    for hook in &info.hooks {
        let note = if hook.registered {
            ""
        } else {
            " (understood, not asked for)"
        };
        let events = if hook.events.is_empty() {
            "-".to_owned()
        } else {
            hook.events.join(", ")
        };
        row(
            &mut text,
            "hook",
            &format!("{} = {}: {events}{note}", hook.native, hook.alias),
        );
    }
    rows(&mut text, "claims", &info.capabilities);
    rows(&mut text, "variable", &info.environment);
    rows(&mut text, "sign", &info.presence);
    rows(&mut text, "protected", &info.protected);
    for quirk in &info.quirks {
        row(
            &mut text,
            "quirk",
            &format!("{} ({}; {})", quirk.id, quirk.hook, quirk.versions),
        );
        row(&mut text, "", &quirk.behaviour);
        row(&mut text, "", &format!("-> {}", quirk.response));
    }
    text
}

fn rows(text: &mut String, key: &str, values: &[impl AsRef<str>]) {
    for value in values {
        row(text, key, value.as_ref());
    }
}

fn row(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key:11}  {value}");
}

fn kibibytes(bytes: u64) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

fn milliseconds(microseconds: u64) -> String {
    format!("{}.{:03} ms", microseconds / 1000, microseconds % 1000)
}
