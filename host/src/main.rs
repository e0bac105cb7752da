//! The `hookhost` binary.

#[cfg(any(target_env = "musl", test))]
mod heap;

use std::ffi::OsString;
use std::path::Path;

#[cfg(target_env = "musl")]
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

/// What the name of the program begins with when a caller of the external-agent protocol starts it.
const PLUGIN_PREFIX: &str = "entire-agent-";

fn main() {
    let code = hookhost::cli::run(as_called(std::env::args_os().collect()));
    hookhost::output::leave(code)
}

/// `entire-agent-<x> info` is `hookhost --plugin --agent <x> info`. Known here and nowhere else.
fn as_called(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(agent) = arguments.first().and_then(plugin_agent) else {
        return arguments;
    };
    arguments.splice(0..1, ["hookhost".into(), "--plugin".into(), "--agent".into(), agent]);
    arguments
}

fn plugin_agent(program: &OsString) -> Option<OsString> {
    let file = Path::new(program).file_name()?.to_str()?;
    let name = file.strip_prefix(PLUGIN_PREFIX)?;
    let is_exe = |at: &usize| name.get(*at..).is_some_and(|end| end.eq_ignore_ascii_case(".exe"));
    let end = name.len().checked_sub(4).filter(is_exe).unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty()).map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_named_by_the_link() {
        for (program, agent) in [
            ("entire-agent-some", Some("some")),
            ("/usr/local/bin/entire-agent-some-cli", Some("some-cli")),
            ("entire-agent-some.EXE", Some("some")),
            ("entire-agent-a.b", Some("a.b")),
            ("entire-agent-", None),
            ("entire-agent-.exe", None),
            ("hookhost", None),
            ("/entire-agent-x/hookhost", None),
        ] {
            assert_eq!(plugin_agent(&program.into()), agent.map(OsString::from), "{program}");
        }
    }
}
