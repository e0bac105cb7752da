//! What a plan wants of one settings file: which entries to add, to replace and to take out. Text to text.

use super::node::{Node, Step};
use super::notation::{self, Edited, Notation, Trouble};
use super::own::{Command, Found, Owner, commands, entries, handler};
use super::record::Record;
use super::splice::{Splice, cut, spliced};
use crate::model::{ConfigEdit, ConfigFormat, InsertMode, Insertion};

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Installed {
    pub(super) text: String,
    pub(super) newly_written: u32,
    pub(super) already: u32,
    /// The commands that had to give way.
    pub(super) replaced: Vec<String>,
}

/// Puts the plan's entries into a text and takes older ones of ours out.
pub(super) fn install(
    text: &str,
    edit: &ConfigEdit,
    owner: &Owner,
    force: bool,
    record: &mut Record,
) -> Edited<Installed> {
    let notation = notation::of(edit.format);
    let root = root(notation, text)?;
    if let Some(root) = &root {
        remember(notation, text, root, edit, owner, record)?;
    }
    let mut installed = Installed {
        text: text.to_owned(),
        newly_written: 0,
        already: 0,
        replaced: Vec::new(),
    };
    let wanted = wanted(edit)?;
    for path in swept(root.as_ref(), edit) {
        if wanted.iter().any(|list| list.path == path) {
            continue;
        }
        let (text, removed) = without_ours(notation, &installed.text, &path, owner)?;
        if !removed.is_empty() {
            installed.text = prune(notation, &text, &path, record)?;
            installed
                .replaced
                .extend(removed.into_iter().flat_map(|found| found.commands));
        }
    }
    for insertion in &edit.insertions {
        match insertion.how {
            InsertMode::Default => {
                let root = self::root(notation, &installed.text)?;
                if root.as_ref().and_then(|root| root.at(&insertion.path)).is_none() {
                    installed.text = notation.set(&installed.text, &insertion.path, &value(insertion)?)?;
                    record.remember_default(&insertion.path, &insertion.value);
                }
            }
            InsertMode::Append => {
                // All that goes to one list goes there with the first of them.
                let list = wanted.iter().find(|list| std::ptr::eq(list.first, insertion));
                if let Some(list) = list {
                    into_list(notation, list, owner, force, &mut installed)?;
                }
            }
        }
    }
    Ok(installed)
}

fn into_list(
    notation: &dyn Notation,
    list: &Wanted,
    owner: &Owner,
    force: bool,
    installed: &mut Installed,
) -> Edited<()> {
    let root = root(notation, &installed.text)?;
    let found = root
        .as_ref()
        .and_then(|root| root.at(&list.path))
        .and_then(Node::as_list)
        .map(|elements| entries(elements, owner))
        .unwrap_or_default();
    let assigned = assign(&list.elements, found, owner, force);
    let mut missing = assigned.missing;
    let mut changes: Vec<(Found, Option<&Node>)> = Vec::new();
    for found in assigned.surplus {
        changes.push((found, None));
    }
    for (index, found) in assigned.stale {
        // In a group of somebody else's we do not stay.
        if found.inside.is_empty() {
            changes.push((found, list.elements.get(index)));
            installed.newly_written += 1;
        } else {
            changes.push((found, None));
            missing.push(index);
        }
    }
    // From the end, so that the places before stay where they are.
    changes.sort_by_key(|(found, _)| std::cmp::Reverse((found.index, last_index(&found.inside))));
    for (found, replacement) in changes {
        let steps = steps(&list.path, &found);
        installed.replaced.extend(found.commands);
        installed.text = match replacement {
            Some(element) => notation.replace(&installed.text, &steps, element)?,
            None => notation.remove(&installed.text, &steps)?,
        };
    }
    missing.sort_unstable();
    for element in missing.into_iter().filter_map(|index| list.elements.get(index)) {
        installed.text = notation.append(&installed.text, &list.path, element)?;
        installed.newly_written += 1;
    }
    installed.already += u32::try_from(assigned.current.len()).unwrap_or(u32::MAX);
    Ok(())
}

/// What is left without the plan's entries.
pub(super) struct Left {
    /// `None`: nothing, the file can go.
    pub(super) text: Option<String>,
    /// How many entries were taken out.
    pub(super) removed: usize,
    /// Entries of others stood behind ours and have another place in their list now.
    pub(super) moves_others: bool,
}

/// Takes the plan's entries out of a text, and what only they needed.
///
/// `untouched`: the file is as we left it.
pub(super) fn uninstall(
    text: &str,
    edit: &ConfigEdit,
    owner: &Owner,
    record: &Record,
    untouched: bool,
) -> Edited<Left> {
    let notation = notation::of(edit.format);
    let mut left = Left {
        text: Some(text.to_owned()),
        removed: 0,
        moves_others: false,
    };
    // Without an object at the root nothing of ours can be in it.
    let Some(root @ Node::Object(_)) = notation.read(text)? else {
        return Ok(left);
    };
    let mut text = text.to_owned();
    let mut paths: Vec<_> = appended(edit).map(|insertion| insertion.path.clone()).collect();
    paths.extend(swept(Some(&root), edit));
    // The last one first: what was put in last goes first.
    for (position, path) in paths.iter().enumerate().rev() {
        if paths.iter().take(position).any(|earlier| earlier == path) {
            continue;
        }
        let (without, found) = without_ours(notation, &text, path, owner)?;
        if !found.is_empty() {
            left.moves_others |= stand_before_others(&found, root.at(path));
            text = prune(notation, &without, path, record)?;
            left.removed += found.len();
        }
    }
    let only_defaults = match self::root(notation, &text)? {
        Some(root) => holds_only_defaults(&root, edit)?,
        None => true,
    };
    // What was written into a file without a value meanwhile may be a comment, which is the user's.
    let was_blank = record.blank.is_some() && untouched;
    let is_ours = record.made_file || was_blank || edit.remove_when_empty && !record.keeps(&[]);
    if only_defaults && is_ours && (left.removed > 0 || untouched) {
        left.text.clone_from(&record.blank);
        return Ok(left);
    }
    if untouched || only_defaults && left.removed > 0 {
        for default in record.defaults.iter().rev() {
            let root = self::root(notation, &text)?;
            let stands = root.as_ref().and_then(|root| root.at(&default.path));
            if stands.is_some() && stands == notation_value(&default.value)?.as_ref() {
                let steps: Vec<_> = default.path.iter().cloned().map(Step::Key).collect();
                text = notation.remove(&text, &steps)?;
                if let Some((_, above)) = default.path.split_last() {
                    text = prune(notation, &text, above, record)?;
                }
            }
        }
        text = prune(notation, &text, &[], record)?;
    }
    left.text = Some(text);
    Ok(left)
}

/// Whether an element of ours, taken out of the list, is followed by one that is not.
fn stand_before_others(found: &[Found], list: Option<&Node>) -> bool {
    let count = list.and_then(Node::as_list).map_or(0, <[Node]>::len);
    let ours = || {
        found
            .iter()
            .filter(|found| found.inside.is_empty())
            .map(|found| found.index)
    };
    ours()
        .min()
        .is_some_and(|first| (first..count).any(|index| ours().all(|ours| ours != index)))
}

/// One entry as it stands in a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Standing {
    pub(super) path: Vec<String>,
    pub(super) command: Command,
    pub(super) how: Standpoint,
}

/// How an entry relates to the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standpoint {
    /// As the plan wants it.
    Current,
    /// Ours, spelled otherwise.
    Other,
    /// Ours, one too many.
    Double,
    /// Ours, where the plan wants none any more.
    Unwanted,
    /// Somebody else's.
    Foreign,
}

/// What stands in a file, without changing it: how many of the wanted entries, and all entries on the same lists.
pub(super) fn inspect(text: &str, edit: &ConfigEdit, owner: &Owner) -> Edited<(u32, Vec<Standing>)> {
    let notation = notation::of(edit.format);
    let Some(root @ Node::Object(_)) = notation.read(text)? else {
        return Ok((0, Vec::new()));
    };
    let mut present = 0;
    let mut standing = Vec::new();
    let wanted = wanted(edit)?;
    let mut add = |path: &[String], found: &Found, how: Standpoint| {
        standing.extend(found.commands.iter().take(1).map(|line| Standing {
            path: path.to_vec(),
            command: Command::Line(line.clone()),
            how,
        }));
    };
    for list in &wanted {
        let Some(elements) = root.at(&list.path).and_then(Node::as_list) else {
            continue;
        };
        let assigned = assign(&list.elements, entries(elements, owner), owner, false);
        present += u32::try_from(assigned.current.len() + assigned.stale.len()).unwrap_or(u32::MAX);
        for found in &assigned.current {
            add(&list.path, found, Standpoint::Current);
        }
        for (_, found) in &assigned.stale {
            add(&list.path, found, Standpoint::Other);
        }
        for found in &assigned.surplus {
            add(&list.path, found, Standpoint::Double);
        }
    }
    let mut paths: Vec<_> = wanted.iter().map(|list| list.path.clone()).collect();
    for path in swept(Some(&root), edit) {
        if paths.contains(&path) {
            continue;
        }
        let elements = root.at(&path).and_then(Node::as_list).unwrap_or_default();
        for found in entries(elements, owner) {
            add(&path, &found, Standpoint::Unwanted);
        }
        paths.push(path);
    }
    for path in paths {
        for element in root.at(&path).and_then(Node::as_list).unwrap_or_default() {
            foreign(element, owner, &path, &mut standing);
        }
    }
    Ok((present, standing))
}

/// The commands of others in an element.
fn foreign(element: &Node, owner: &Owner, path: &[String], standing: &mut Vec<Standing>) {
    let found = commands(element);
    if let Some(command) = found.first() {
        if owner.program_of(command).is_none() {
            standing.push(Standing {
                path: path.to_vec(),
                command: command.clone(),
                how: Standpoint::Foreign,
            });
        }
        return;
    }
    if let Node::Object(members) = element {
        for (_, value) in members {
            for inner in value.as_list().unwrap_or_default() {
                foreign(inner, owner, path, standing);
            }
        }
    }
}

/// What the plan wants in one list.
struct Wanted<'a> {
    first: &'a Insertion,
    path: Vec<String>,
    elements: Vec<Node>,
}

fn wanted(edit: &ConfigEdit) -> Edited<Vec<Wanted<'_>>> {
    let mut lists: Vec<Wanted> = Vec::new();
    for insertion in appended(edit) {
        let element = value(insertion)?;
        match lists.iter_mut().find(|list| list.path == insertion.path) {
            Some(list) => list.elements.push(element),
            None => lists.push(Wanted {
                first: insertion,
                path: insertion.path.clone(),
                elements: vec![element],
            }),
        }
    }
    Ok(lists)
}

fn appended(edit: &ConfigEdit) -> impl Iterator<Item = &Insertion> {
    edit.insertions
        .iter()
        .filter(|insertion| insertion.how == InsertMode::Append)
}

/// The value of an insertion; the adapter wrote it as JSON.
fn value(insertion: &Insertion) -> Edited<Node> {
    Ok(notation_value(&insertion.value)?.unwrap_or(Node::Null))
}

fn notation_value(json: &str) -> Edited<Option<Node>> {
    notation::of(crate::model::ConfigFormat::Json).read(json)
}

/// How entries of ours and wanted elements go together.
#[derive(Debug, Default)]
struct Assigned {
    /// As wanted.
    current: Vec<Found>,
    /// To be replaced by the wanted element with this index.
    stale: Vec<(usize, Found)>,
    /// More than wanted.
    surplus: Vec<Found>,
    /// Wanted elements that have no entry.
    missing: Vec<usize>,
}

fn assign(wanted: &[Node], found: Vec<Found>, owner: &Owner, force: bool) -> Assigned {
    let mut assigned = Assigned::default();
    let mut rest: Vec<_> = found.into_iter().map(Some).collect();
    let mut open = Vec::new();
    for (index, element) in wanted.iter().enumerate() {
        let current = rest.iter_mut().find(|found| {
            found.as_ref().is_some_and(|found| {
                if found.inside.is_empty() {
                    found.node.agrees_with(element)
                } else {
                    handler(element, owner).is_some_and(|handler| found.node.agrees_with(handler))
                }
            })
        });
        match current.and_then(Option::take) {
            Some(found) if force => assigned.stale.push((index, found)),
            Some(found) => assigned.current.push(found),
            None => open.push(index),
        }
    }
    let mut rest = rest.into_iter().flatten();
    for index in open {
        match rest.next() {
            Some(found) => assigned.stale.push((index, found)),
            None => assigned.missing.push(index),
        }
    }
    assigned.surplus.extend(rest);
    assigned
}

/// The lists below the plan's sweep paths.
fn swept(root: Option<&Node>, edit: &ConfigEdit) -> Vec<Vec<String>> {
    let mut lists = Vec::new();
    for path in &edit.sweep {
        match root.and_then(|root| root.at(path)) {
            Some(Node::List(_)) => lists.push(path.clone()),
            Some(Node::Object(members)) => {
                for (name, value) in members {
                    if matches!(value, Node::List(_)) {
                        let mut list = path.clone();
                        list.push(name.clone());
                        lists.push(list);
                    }
                }
            }
            _ => {}
        }
    }
    lists
}

/// Takes every entry of ours out of a list, and gives them.
fn without_ours(notation: &dyn Notation, text: &str, path: &[String], owner: &Owner) -> Edited<(String, Vec<Found>)> {
    let root = root(notation, text)?;
    let elements = root
        .as_ref()
        .and_then(|root| root.at(path))
        .and_then(Node::as_list)
        .unwrap_or_default();
    let mut text = text.to_owned();
    let mut removed = Vec::new();
    for found in entries(elements, owner).into_iter().rev() {
        text = notation.remove(&text, &steps(path, &found))?;
        removed.push(found);
    }
    Ok((text, removed))
}

/// Takes out what has become empty from `path` upwards, the root excepted. What was there before us stays, as it was.
fn prune(notation: &dyn Notation, text: &str, path: &[String], record: &Record) -> Edited {
    let mut text = text.to_owned();
    for depth in (0..=path.len()).rev() {
        let path = path.get(..depth).unwrap_or_default();
        let root = root(notation, &text)?;
        match root.as_ref().and_then(|root| root.at(path)) {
            Some(node) if !node.is_empty() => break,
            Some(_) if depth == 0 || record.keeps(path) => {
                if let (Some(inner), Some(inside)) = (record.inner(path), notation.inside(&text, path)?) {
                    // Comments that came since are not ours to drop.
                    let now = cut(&text, inside.range.clone());
                    if squeezed(now) == squeezed(inner) {
                        text = spliced(
                            &text,
                            vec![Splice {
                                range: inside.range,
                                text: inner.to_owned(),
                            }],
                        );
                    }
                }
                break;
            }
            Some(_) => {
                let steps: Vec<_> = path.iter().cloned().map(Step::Key).collect();
                text = notation.remove(&text, &steps)?;
            }
            None => {}
        }
    }
    Ok(text)
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Notes which of the objects and lists that the plan touches are there without us, whichever agent we serve.
fn remember(
    notation: &dyn Notation,
    text: &str,
    root: &Node,
    edit: &ConfigEdit,
    owner: &Owner,
    record: &mut Record,
) -> Edited<()> {
    let owner = owner.of_any_agent();
    let paths = edit
        .insertions
        .iter()
        .map(|insertion| &insertion.path)
        .chain(&edit.sweep);
    for path in paths {
        for depth in 0..=path.len() {
            let path = path.get(..depth).unwrap_or_default();
            let Some(node) = root.at(path) else { break };
            if matches!(node, Node::Object(_) | Node::List(_)) && holds_others(node, &owner) {
                let inside = notation.inside(text, path)?.filter(|inside| inside.is_empty);
                record.keep(path, inside.map(|inside| cut(text, inside.range)));
            }
        }
    }
    Ok(())
}

/// Something in it is not ours, or it stood there empty.
fn holds_others(node: &Node, owner: &Owner) -> bool {
    match node {
        Node::List(elements) => {
            let ours = entries(elements, owner)
                .iter()
                .filter(|found| found.inside.is_empty())
                .count();
            elements.is_empty() || ours < elements.len()
        }
        Node::Object(members) => members.is_empty() || members.iter().any(|(_, value)| holds_others(value, owner)),
        _ => true,
    }
}

/// Nothing but what the plan sets by default, and that unchanged.
fn holds_only_defaults(root: &Node, edit: &ConfigEdit) -> Edited<bool> {
    let Node::Object(members) = root else { return Ok(false) };
    for (name, value) in members {
        let mut defaults = edit
            .insertions
            .iter()
            .filter(|insertion| insertion.how == InsertMode::Default);
        let default = defaults.find(|insertion| insertion.path.as_slice() == std::slice::from_ref(name));
        match default {
            Some(insertion) if self::value(insertion)? == *value => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Whether the text holds an entry of ours, of any agent.
pub(super) fn holds_ours(text: &str, format: ConfigFormat, owner: &Owner) -> Edited<bool> {
    fn search(node: &Node, owner: &Owner) -> bool {
        match node {
            Node::List(elements) => !entries(elements, owner).is_empty(),
            Node::Object(members) => members.iter().any(|(_, value)| search(value, owner)),
            _ => false,
        }
    }
    let owner = owner.of_any_agent();
    Ok(notation::of(format)
        .read(text)?
        .is_some_and(|root| search(&root, &owner)))
}

/// Whether the text holds no value: nothing, or white space and comments.
pub(super) fn is_blank(text: &str, format: ConfigFormat) -> Edited<bool> {
    Ok(match notation::of(format).read(text)? {
        None => true,
        Some(_) => format == ConfigFormat::Toml && text.trim().is_empty(),
    })
}

/// The file's value, an object; `None` for a text that holds no value.
fn root(notation: &dyn Notation, text: &str) -> Edited<Option<Node>> {
    match notation.read(text)? {
        Some(other) if !matches!(other, Node::Object(_)) => Err(Trouble::Kind {
            path: Vec::new(),
            wanted: "an object",
            found: other.kind(),
        }),
        root => Ok(root),
    }
}

fn steps(path: &[String], found: &Found) -> Vec<Step> {
    path.iter()
        .cloned()
        .map(Step::Key)
        .chain([Step::Index(found.index)])
        .chain(found.inside.iter().cloned())
        .collect()
}

fn last_index(steps: &[Step]) -> usize {
    steps
        .iter()
        .rev()
        .find_map(|step| match step {
            Step::Index(index) => Some(*index),
            Step::Key(_) => None,
        })
        .unwrap_or(0)
}
