//! Recognising our own entries: by what their command starts, never by where they stand or how they are spelled.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::node::{Node, Step};
use super::words::{Token, program_name, scripts};
use crate::model::{Edit, Plan};

/// Whose entries are ours: those that fire the hooks of an agent with one of these names.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// Empty: any agent's.
    names: Vec<String>,
    /// Files of ours that entries may run instead of the program.
    scripts: Vec<PathBuf>,
}

impl Owner {
    /// The entries of an agent, known by its name and its aliases.
    pub fn new(name: &str, aliases: &[String]) -> Self {
        Self {
            names: std::iter::once(name.to_owned())
                .chain(aliases.iter().cloned())
                .collect(),
            scripts: Vec::new(),
        }
    }

    /// With the entries that run a file of the plan's.
    pub(super) fn with_scripts(&self, plan: &Plan) -> Self {
        let scripts = plan.edits.iter().filter_map(|edit| match edit {
            Edit::File(own) => Some(PathBuf::from(&own.path)),
            Edit::Config(_) => None,
        });
        Self {
            names: self.names.clone(),
            scripts: scripts.collect(),
        }
    }

    /// The entries of any agent.
    pub(super) fn of_any_agent(&self) -> Self {
        Self {
            names: Vec::new(),
            scripts: self.scripts.clone(),
        }
    }

    /// The path is that of a file of ours, perhaps from where the directory was before.
    fn is_script(&self, path: &str) -> bool {
        let mut parts = path.rsplit(['/', '\\']);
        let (name, directory) = (parts.next(), parts.next());
        name.is_some_and(|name| !name.is_empty())
            && self.scripts.iter().any(|script| {
                let file_name = script.file_name().and_then(OsStr::to_str);
                let parent = script.parent().and_then(Path::file_name).and_then(OsStr::to_str);
                (file_name, parent) == (name, directory)
            })
    }

    fn knows(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|known| known == name)
    }

    /// The program word of a command that fires a hook of ours.
    pub fn program_in(&self, command: &str) -> Option<String> {
        if self.is_script(command) {
            return Some(command.to_owned());
        }
        scripts(command)
            .iter()
            .find_map(|tokens| self.program_in_tokens(tokens))
    }

    fn program_in_tokens(&self, tokens: &[Token]) -> Option<String> {
        let script = tokens.iter().find_map(|token| match token {
            Token::Word(word) if self.is_script(word) => Some(word.clone()),
            _ => None,
        });
        let mut calls = tokens.windows(3);
        script.or_else(|| {
            calls.find_map(|window| match window {
                [Token::Word(program), Token::Word(verb), Token::Word(agent)] => {
                    let name = program_name(program);
                    let is_call = name.eq_ignore_ascii_case("hookhost") && verb == "hook"
                        || name.eq_ignore_ascii_case("entire") && verb == "hooks";
                    (is_call && self.knows(agent)).then(|| program.clone())
                }
                _ => None,
            })
        })
    }
}

/// An entry of ours in a list of a settings file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// The element of the list.
    pub(super) index: usize,
    /// From the element to the entry, when the element holds entries of others as well. Empty: all of it is ours.
    pub(super) inside: Vec<Step>,
    /// The entry.
    pub(super) node: Node,
    /// Its commands, as lines.
    pub(super) commands: Vec<String>,
}

/// The entries of ours in a list, in order.
pub(super) fn entries(list: &[Node], owner: &Owner) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, element) in list.iter().enumerate() {
        if is_own(element, owner) {
            found.push(Found {
                index,
                inside: Vec::new(),
                node: element.clone(),
                commands: own_commands(element, owner),
            });
            continue;
        }
        let mut inner = Vec::new();
        let others = search(element, owner, &mut Vec::new(), &mut inner);
        if inner.is_empty() {
            continue;
        }
        if others == 0 {
            // A group of nothing but ours.
            let commands = inner.iter().flat_map(|(_, node)| own_commands(node, owner)).collect();
            found.push(Found {
                index,
                inside: Vec::new(),
                node: element.clone(),
                commands,
            });
        } else {
            found.extend(inner.into_iter().map(|(inside, node)| Found {
                index,
                inside,
                commands: own_commands(&node, owner),
                node,
            }));
        }
    }
    found
}

/// The first handler of ours in an element: itself, or one in a list inside it.
pub(super) fn handler<'a>(element: &'a Node, owner: &Owner) -> Option<&'a Node> {
    if is_own(element, owner) {
        return Some(element);
    }
    let Node::Object(members) = element else { return None };
    members.iter().find_map(|(_, value)| match value {
        Node::List(elements) => elements.iter().find_map(|inner| handler(inner, owner)),
        Node::Object(_) => handler(value, owner),
        _ => None,
    })
}

/// Collects the elements of ours in the lists inside a value and counts the objects of others there.
fn search(node: &Node, owner: &Owner, path: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, Node)>) -> usize {
    let Node::Object(members) = node else { return 0 };
    let mut others = 0;
    for (name, value) in members {
        path.push(Step::Key(name.clone()));
        match value {
            Node::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    path.push(Step::Index(index));
                    if is_own(element, owner) {
                        found.push((path.clone(), element.clone()));
                    } else if matches!(element, Node::Object(_)) {
                        others += 1;
                        others += search(element, owner, path, found);
                    }
                    path.pop();
                }
            }
            Node::Object(_) => others += search(value, owner, path, found),
            _ => {}
        }
        path.pop();
    }
    others
}

/// The value itself runs a command of ours: a command line, a list of words, an object with a command, or with an
/// object that has one (`{"action": {"command": ...}}`).
fn is_own(node: &Node, owner: &Owner) -> bool {
    commands(node).iter().any(|command| owner.program_in_command(command))
}

fn own_commands(node: &Node, owner: &Owner) -> Vec<String> {
    commands(node)
        .into_iter()
        .filter(|command| owner.program_in_command(command))
        .map(|command| command.line())
        .collect()
}

/// A command as it stands in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Line(String),
    /// A program, or the beginning of a line, and further words.
    Words(Vec<String>),
}

impl Command {
    /// For people, and to be compared.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::Words(words) => words
                .iter()
                .map(|word| {
                    if word.is_empty() || word.contains(char::is_whitespace) {
                        format!("'{word}'")
                    } else {
                        word.clone()
                    }
                })
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

impl Owner {
    fn program_in_command(&self, command: &Command) -> bool {
        self.program_of(command).is_some()
    }

    /// The program word of a command that fires a hook of ours.
    pub(super) fn program_of(&self, command: &Command) -> Option<String> {
        match command {
            Command::Line(line) => self.program_in(line),
            Command::Words(words) => {
                let row: Vec<_> = words.iter().cloned().map(Token::Word).collect();
                self.program_in_tokens(&row)
                    .or_else(|| words.iter().find_map(|word| self.program_in(word)))
            }
        }
    }
}

/// The commands of an element, not those of elements in lists inside it.
pub(super) fn commands(node: &Node) -> Vec<Command> {
    match node {
        Node::Text(line) => vec![Command::Line(line.clone())],
        Node::List(_) => texts(node).map(Command::Words).into_iter().collect(),
        Node::Object(members) => {
            let arguments = members
                .iter()
                .find(|(name, value)| is_arguments(name) && matches!(value, Node::List(_)))
                .and_then(|(_, value)| texts(value))
                .unwrap_or_default();
            let mut found = Vec::new();
            for (name, value) in members {
                match value {
                    Node::Text(line) if is_command(name) => found.push(if arguments.is_empty() {
                        Command::Line(line.clone())
                    } else {
                        Command::Words(std::iter::once(line.clone()).chain(arguments.iter().cloned()).collect())
                    }),
                    Node::List(_) if is_command(name) => found.extend(texts(value).map(Command::Words)),
                    Node::Object(_) => found.extend(commands(value)),
                    _ => {}
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

fn texts(node: &Node) -> Option<Vec<String>> {
    let elements = node.as_list()?;
    let texts: Vec<_> = elements.iter().filter_map(Node::as_text).map(str::to_owned).collect();
    (texts.len() == elements.len() && !texts.is_empty()).then_some(texts)
}

/// Members that hold a command. Not `name`, `description` and the like: they may well quote one.
fn is_command(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "bash",
        "sh",
        "cmd",
        "powershell",
        "pwsh",
        "run",
        "exec",
        "script",
        "program",
        "argv",
        "linux",
        "osx",
        "macos",
        "windows",
    ];
    let name = name.to_ascii_lowercase();
    name.contains("command") || NAMES.contains(&name.as_str())
}

fn is_arguments(name: &str) -> bool {
    name == "args" || name == "arguments"
}

#[cfg(test)]
mod tests {
    use super::super::json::Json;
    use super::super::notation::Notation;
    use super::*;

    fn owner() -> Owner {
        Owner::new("claude-code", &["claude".to_owned()])
    }

    #[test]
    fn our_command_is_known_in_every_spelling() {
        for command in [
            "hookhost hook claude-code Stop",
            "hookhost.exe hook claude-code Stop",
            "/usr/local/bin/hookhost hook claude Stop",
            "\"/Users/Jo Doe/bin/hookhost\" hook claude-code Stop",
            "/Users/Jo Doe/bin/hookhost hook claude-code Stop",
            r#""C:\Program Files\hookhost\HookHost.EXE" hook claude-code Stop"#,
            "sh -c 'command -v hookhost >/dev/null 2>&1 || exit 0; exec hookhost hook claude-code Stop'",
            r#"sh -c 'command -v "/My Tools/hookhost" >/dev/null 2>&1 || exit 0; exec "/My Tools/hookhost" hook claude-code Stop'"#,
            "bash -lc \"hookhost hook claude-code Stop\"",
            "& 'C:\\My Tools\\hookhost.exe' hook claude-code Stop",
            "if (Get-Command hookhost -ErrorAction SilentlyContinue) { hookhost hook claude-code Stop }; exit 0",
            r#"if exist "C:\a b\hookhost.exe" "C:\a b\hookhost.exe" hook claude-code Stop"#,
            "cmd /d /c \"where /q hookhost && hookhost hook claude-code Stop || exit 0\"",
            "FOO=1 timeout 5 hookhost hook claude-code Stop </dev/null",
            "entire hooks claude-code stop",
            "sh -c 'if ! command -v entire >/dev/null 2>&1; then exit 0; fi; exec entire hooks claude-code stop'",
        ] {
            assert!(owner().program_in(command).is_some(), "{command}");
        }
    }

    #[test]
    fn commands_of_others_are_not_ours() {
        for command in [
            "hookhost hook codex Stop",
            "hookhost list claude-code",
            "my-hookhost hook claude-code Stop",
            "hookhost; hook claude-code",
            "echo hookhost-hook claude-code",
            "entire status",
            "entire hooks git post-commit",
            "",
        ] {
            assert_eq!(owner().program_in(command), None, "{command}");
        }
    }

    fn found(list: &str) -> Vec<(usize, Vec<Step>)> {
        let node = Json.read(list).unwrap().unwrap();
        entries(node.as_list().unwrap(), &owner())
            .into_iter()
            .map(|found| (found.index, found.inside))
            .collect()
    }

    #[test]
    fn handlers_groups_words_and_actions_are_found() {
        let list = r#"[
            {"command": "echo other"},
            {"type": "command", "bash": "hookhost hook claude-code a", "powershell": "hookhost hook claude-code a"},
            {"command": "/usr/bin/hookhost", "args": ["hook", "claude-code", "Stop"]},
            {"command": ["hookhost", "hook", "claude-code", "Stop"]},
            {"matcher": "", "hooks": [{"type": "command", "command": "entire hooks claude-code stop"}]},
            {"name": "x", "trigger": "Stop", "action": {"type": "command", "command": "hookhost hook claude-code Stop"}},
            "hookhost hook claude-code Stop",
            {"description": "like hookhost hook claude-code Stop", "command": "sh other.sh"}
        ]"#;
        assert_eq!(
            found(list).into_iter().map(|(index, _)| index).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5, 6]
        );
    }

    #[test]
    fn our_handler_in_the_group_of_others_is_only_a_part_of_it() {
        let list = r#"[{"hooks": [{"command": "echo a"}, {"command": "hookhost hook claude-code Stop"}]}]"#;
        assert_eq!(found(list), [(0, vec![Step::Key("hooks".to_owned()), Step::Index(1)])]);
    }
}
