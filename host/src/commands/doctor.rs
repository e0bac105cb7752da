//! `doctor`

mod canary;
mod machine;
mod registered;

use schemars::JsonSchema;
use serde::Serialize;

use super::Output;
use super::agents::WhichAgents;
use crate::cli::Selection;
use crate::error::Result;
use crate::format::number;
use crate::format::style::{Look, Style};

/// Check that hooks are recorded as they should be
///
/// Looks at the settings, the journal, the adapters, the clock and PATH, at what is registered with the agents, and fires
/// a hook with each registered command line as the agent would, into a journal that is thrown away. Exits with 1 when
/// something is wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    which: WhichAgents,
    /// Mend what can be mended without a question: access rights of our own files and folders
    #[arg(long)]
    fix: bool,
    /// JSON for programs
    #[arg(long)]
    json: bool,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DoctorJson {
    /// The version of this object; fields are only added under it.
    v: u32,
    /// Nothing is wrong.
    healthy: bool,
    /// In the order in which it was looked at.
    findings: Vec<Finding>,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Finding {
    /// What was looked at: `settings`, `journal`, `lost`, `failures`, `adapters`, `cache`, `clock`, `path`, `hooks`,
    /// `canary`.
    check: &'static str,
    /// Of which agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// How it is.
    verdict: Verdict,
    /// What was found.
    message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// As it should be.
    Fine,
    /// It was wrong and has been mended.
    Mended,
    /// Good to know.
    Notice,
    /// Something is not recorded as it should be.
    Wrong,
}

impl Finding {
    fn new(check: &'static str, verdict: Verdict, message: impl Into<String>) -> Self {
        Self {
            check,
            agent: None,
            verdict,
            message: message.into(),
            remedy: None,
        }
    }

    fn fine(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, Verdict::Fine, message)
    }

    fn notice(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, Verdict::Notice, message)
    }

    fn wrong(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, Verdict::Wrong, message)
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    fn of(mut self, agent: &str) -> Self {
        self.agent = Some(agent.to_owned());
        self
    }
}

pub(super) fn run(args: &DoctorArgs, selection: &Selection) -> Result<Output> {
    let mut findings = machine::look(args.fix);
    let is_readable = |finding: &Finding| finding.check != "settings" || finding.verdict != Verdict::Wrong;
    match registered::look(&args.which, selection) {
        Ok(registered) => findings.extend(registered),
        // Agents are looked at by the settings.
        Err(error) if findings.iter().all(is_readable) => return Err(error),
        Err(_) => {}
    }
    let healthy = findings.iter().all(|finding| finding.verdict != Verdict::Wrong);
    let mut output = if args.json {
        Output::json(&DoctorJson {
            v: 1,
            healthy,
            findings,
        })?
    } else {
        Output::bytes(page(&findings, Look::of_stdout()).into_bytes())
    };
    output.failed = !healthy;
    Ok(output)
}

fn page(findings: &[Finding], look: Look) -> String {
    let mut text = String::new();
    for finding in findings {
        let (word, style) = match finding.verdict {
            Verdict::Fine => ("ok", Style::Green),
            Verdict::Mended => ("mended", Style::Green),
            Verdict::Notice => ("notice", Style::Yellow),
            Verdict::Wrong => ("wrong", Style::Red),
        };
        let about = match &finding.agent {
            Some(agent) => format!("{} {agent}", finding.check),
            None => finding.check.to_owned(),
        };
        let word = look.paint(&format!("{word:<6}"), style);
        text.push_str(&format!("{word}  {about}: {}\n", finding.message.trim_end()));
        if let Some(remedy) = &finding.remedy {
            text.push_str(&format!("        {} {remedy}\n", look.paint("→", Style::Dim)));
        }
    }
    let wrong = findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Wrong)
        .count() as u64;
    let verdict = match wrong {
        0 => look.paint("all is well", Style::Green),
        _ => look.paint(
            &number::counted(wrong, "thing is wrong", "things are wrong"),
            Style::Red,
        ),
    };
    text.push_str(&format!("\n{verdict}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_is_wrong_and_what_to_do() {
        let findings = [
            Finding::fine("clock", "it is 2026"),
            Finding::wrong("hooks", "2 of 9 are registered")
                .of("some-agent")
                .remedy("hookhost install some-agent"),
        ];
        let look = Look {
            color: false,
            width: 80,
        };
        assert_eq!(
            page(&findings, look),
            "ok      clock: it is 2026\n\
             wrong   hooks some-agent: 2 of 9 are registered\n        → hookhost install some-agent\n\
             \n1 thing is wrong\n"
        );
    }
}
