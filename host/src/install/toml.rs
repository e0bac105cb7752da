//! TOML. New tables go to the end of the file, where they change the meaning of nothing before them.

use std::ops::Range;

use toml_edit::{ArrayOfTables, Document, InlineTable, Item, Key, Table, Value};

use super::node::{Node, Step};
use super::notation::{Edited, Inside, Notation, Trouble};
use super::splice::{Bracketed, Comments, Splice, cut, line_end, line_start, newline_of, spliced};

/// The notation.
pub(super) struct Toml;

impl Notation for Toml {
    fn read(&self, text: &str) -> Edited<Option<Node>> {
        Ok(Some(table_node(parse(text)?.as_table())))
    }

    fn append(&self, text: &str, path: &[String], element: &Node) -> Edited {
        let document = parse(text)?;
        match reach(document.as_table(), path)? {
            Reached::End(At::Tables(_)) => Ok(at_end(text, path, element)),
            Reached::End(At::Value(Value::Array(array))) => {
                Ok(in_brackets(text, &array_brackets(array), &inline(element)))
            }
            Reached::End(at) => Err(kind(path, "a list", &at)),
            Reached::Table(..) if matches!(element, Node::Object(_)) => Ok(at_end(text, path, element)),
            reached => Ok(put(
                text,
                document.as_table(),
                path,
                &Node::List(vec![element.clone()]),
                &reached,
            )),
        }
    }

    fn set(&self, text: &str, path: &[String], value: &Node) -> Edited {
        let document = parse(text)?;
        Ok(match reach(document.as_table(), path)? {
            Reached::End(_) => text.to_owned(),
            reached => put(text, document.as_table(), path, value, &reached),
        })
    }

    fn replace(&self, text: &str, steps: &[Step], value: &Node) -> Edited {
        let document = parse(text)?;
        match walk(document.as_table(), steps) {
            Some(At::Value(found)) => Ok(match found.span() {
                Some(range) => spliced(
                    text,
                    vec![Splice {
                        range,
                        text: inline(value),
                    }],
                ),
                None => text.to_owned(),
            }),
            Some(At::Table(table)) => {
                let path: Vec<_> = steps
                    .iter()
                    .filter_map(|step| match step {
                        Step::Key(name) => Some(name.clone()),
                        Step::Index(_) => None,
                    })
                    .collect();
                let lines = Lines::of(text, table);
                if !lines.foreign.is_empty() {
                    return self.append(&self.remove(text, steps)?, &path, value);
                }
                let mut block = block(&path, value, newline_of(text));
                if !cut(text, lines.range.clone()).ends_with('\n') {
                    block.truncate(block.trim_end().len());
                }
                Ok(spliced(
                    text,
                    vec![Splice {
                        range: lines.range,
                        text: block,
                    }],
                ))
            }
            _ => Ok(text.to_owned()),
        }
    }

    fn remove(&self, text: &str, steps: &[Step]) -> Edited {
        let document = parse(text)?;
        let Some((last, above)) = steps.split_last() else {
            return Ok(text.to_owned());
        };
        let Some(holder) = walk(document.as_table(), above) else {
            return Ok(text.to_owned());
        };
        Ok(match (holder, last) {
            (At::Tables(tables), Step::Index(index)) => match tables.get(*index) {
                Some(table) => Lines::of(text, table).removed(text, true),
                None => text.to_owned(),
            },
            (At::Table(table), Step::Key(name)) => match table.get(name) {
                Some(Item::Table(inner)) => Lines::of(text, inner).removed(text, true),
                Some(item) => match item.span() {
                    Some(range) => Lines::covering(text, vec![range]).removed(text, false),
                    None => text.to_owned(),
                },
                None => text.to_owned(),
            },
            (At::Value(Value::Array(array)), Step::Index(index)) => {
                spliced(text, array_brackets(array).remove(text, *index))
            }
            (At::Value(Value::InlineTable(table)), Step::Key(name)) => {
                let index = table.iter().position(|(key, _)| key == name);
                match index {
                    Some(index) => spliced(text, inline_table_brackets(table).remove(text, index)),
                    None => text.to_owned(),
                }
            }
            _ => text.to_owned(),
        })
    }

    fn inside(&self, text: &str, path: &[String]) -> Edited<Option<Inside>> {
        let document = parse(text)?;
        let steps: Vec<_> = path.iter().cloned().map(Step::Key).collect();
        let bracketed = match walk(document.as_table(), &steps) {
            Some(At::Value(Value::Array(array))) => array_brackets(array),
            Some(At::Value(Value::InlineTable(table))) => inline_table_brackets(table),
            _ => return Ok(None),
        };
        Ok(Some(Inside {
            is_empty: bracketed.items.is_empty(),
            range: bracketed.inner,
        }))
    }

    fn strays(&self, _: &str) -> bool {
        false
    }
}

fn parse(text: &str) -> Edited<Document<&str>> {
    Document::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Trouble::at(text, offset, error.message().trim().replace('\n', ", "))
    })
}

/// What stands at a place.
enum At<'a> {
    Table(&'a Table),
    Tables(&'a ArrayOfTables),
    Value(&'a Value),
}

impl<'a> At<'a> {
    fn of(item: &'a Item) -> Option<Self> {
        match item {
            Item::None => None,
            Item::Table(table) => Some(Self::Table(table)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
            Item::Value(value) => Some(Self::Value(value)),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::Tables(_) => "a list",
            Self::Value(value) => value_node(value).kind(),
        }
    }
}

/// How far a path leads.
enum Reached<'a> {
    /// To its end.
    End(At<'a>),
    /// To this table; what follows after so many keys is missing.
    Table(&'a Table, usize),
    /// To this table in braces; what follows after so many keys is missing.
    Inline(&'a InlineTable, usize),
}

fn reach<'a>(root: &'a Table, path: &[String]) -> Edited<Reached<'a>> {
    let mut at = At::Table(root);
    for (depth, name) in path.iter().enumerate() {
        let next = match &at {
            At::Table(table) => match table.get(name).and_then(At::of) {
                Some(next) => next,
                None => return Ok(Reached::Table(table, depth)),
            },
            At::Value(Value::InlineTable(table)) => match table.get(name) {
                Some(value) => At::Value(value),
                None => return Ok(Reached::Inline(table, depth)),
            },
            at => return Err(kind(path.get(..depth).unwrap_or_default(), "a table", at)),
        };
        at = next;
    }
    Ok(Reached::End(at))
}

fn walk<'a>(root: &'a Table, steps: &[Step]) -> Option<At<'a>> {
    steps.iter().try_fold(At::Table(root), |at, step| match (at, step) {
        (At::Table(table), Step::Key(name)) => At::of(table.get(name)?),
        (At::Tables(tables), Step::Index(index)) => tables.get(*index).map(At::Table),
        (At::Value(Value::InlineTable(table)), Step::Key(name)) => table.get(name).map(At::Value),
        (At::Value(Value::Array(array)), Step::Index(index)) => array.get(*index).map(At::Value),
        _ => None,
    })
}

fn kind(path: &[String], wanted: &'static str, found: &At) -> Trouble {
    Trouble::Kind {
        path: path.to_vec(),
        wanted,
        found: found.kind(),
    }
}

/// A value at a path that leads only so far.
fn put(text: &str, root: &Table, path: &[String], value: &Node, reached: &Reached) -> String {
    match reached {
        Reached::End(_) => text.to_owned(),
        Reached::Inline(table, depth) => {
            let rest = path.get(*depth..).unwrap_or_default();
            in_brackets(text, &inline_table_brackets(table), &line(rest, value))
        }
        Reached::Table(table, depth) => {
            let rest = path.get(*depth..).unwrap_or_default();
            let (holder, name) = match path.split_last() {
                Some((name, holder)) => (holder, name),
                None => return text.to_owned(),
            };
            let newline = newline_of(text);
            if table.is_dotted() {
                return below_dotted(text, root, path, *depth, value);
            }
            match (rest.len(), last_line_of(text, table)) {
                // The table has lines of its own: one more.
                (1, Some(end)) => below(text, end, &line(rest, value)),
                // The root without a line of its own: before the first table.
                (1, None) if *depth == 0 => {
                    let line = line(rest, value);
                    if text.is_empty() {
                        format!("{line}{newline}")
                    } else {
                        format!("{line}{newline}{newline}{text}")
                    }
                }
                _ => {
                    let header = format!("[{}]{newline}", key_path(holder));
                    let line = line(std::slice::from_ref(name), value);
                    with_block(text, &format!("{header}{line}{newline}"))
                }
            }
        }
    }
}

/// The end of the last line that belongs to the table itself: of its values, else of its header.
fn last_line_of(text: &str, table: &Table) -> Option<usize> {
    let values = table
        .iter()
        .filter_map(|(_, item)| match item {
            Item::Value(value) => value.span(),
            Item::Table(inner) if inner.is_dotted() => pieces(inner).into_iter().max_by_key(|range| range.end),
            _ => None,
        })
        .map(|range| range.end)
        .max();
    let header = table
        .span()
        .filter(|range| !range.is_empty() && !table.is_implicit())
        .map(|range| range.end);
    values.or(header).map(|end| line_end(text, end))
}

/// A line below those that make a table by dotted keys (`a.b = 1`), in their way.
fn below_dotted(text: &str, root: &Table, path: &[String], depth: usize, value: &Node) -> String {
    let mut at = Some(root);
    let mut holder = 0;
    for (index, name) in path.iter().take(depth).enumerate() {
        at = at.and_then(|table| table.get(name)).and_then(Item::as_table);
        if at.is_some_and(|table| !table.is_dotted()) {
            holder = index + 1;
        }
    }
    let end = at.and_then(|table| pieces(table).into_iter().map(|piece| piece.end).max());
    match end {
        Some(end) => below(
            text,
            line_end(text, end),
            &line(path.get(holder..).unwrap_or_default(), value),
        ),
        None => text.to_owned(),
    }
}

/// A line below the one that ends at `end`.
fn below(text: &str, end: usize, line: &str) -> String {
    let newline = newline_of(text);
    let insert = if cut(text, 0..end).ends_with('\n') {
        format!("{line}{newline}")
    } else {
        format!("{newline}{line}")
    };
    spliced(text, vec![Splice::insert(end, insert)])
}

/// An element of a list of tables, at the end of the file.
fn at_end(text: &str, path: &[String], element: &Node) -> String {
    with_block(text, &block(path, element, newline_of(text)))
}

/// A block at the end of the file behind an empty line. It ends without a line end where the file did, so that taking
/// it out again gives the file as it was.
fn with_block(text: &str, block: &str) -> String {
    let newline = newline_of(text);
    if text.is_empty() {
        block.to_owned()
    } else if text.ends_with('\n') {
        format!("{text}{newline}{block}")
    } else {
        format!("{text}{newline}{newline}{}", block.trim_end())
    }
}

/// `[[path]]`, its values, and below them the lists of tables that it holds.
fn block(path: &[String], element: &Node, newline: &str) -> String {
    let mut text = format!("[[{}]]{newline}", key_path(path));
    let Node::Object(members) = element else {
        return text;
    };
    let mut lists = String::new();
    for (name, value) in members {
        match value {
            Node::Null => {}
            Node::List(elements)
                if !elements.is_empty() && elements.iter().all(|element| matches!(element, Node::Object(_))) =>
            {
                let mut inner = path.to_vec();
                inner.push(name.clone());
                for element in elements {
                    lists.push_str(newline);
                    lists.push_str(&block(&inner, element, newline));
                }
            }
            value => {
                text.push_str(&line(std::slice::from_ref(name), value));
                text.push_str(newline);
            }
        }
    }
    text + &lists
}

fn line(path: &[String], value: &Node) -> String {
    format!("{} = {}", key_path(path), inline(value))
}

fn key_path(path: &[String]) -> String {
    let keys: Vec<_> = path
        .iter()
        .map(|name| Key::new(name.as_str()).display_repr().into_owned())
        .collect();
    keys.join(".")
}

/// A value on one line.
fn inline(value: &Node) -> String {
    match value {
        // TOML has no null; whoever holds one leaves it out.
        Node::Null => "\"\"".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Number(digits) => digits.clone(),
        Node::Text(text) => Value::from(text.as_str()).to_string(),
        Node::List(elements) => {
            let elements: Vec<_> = elements.iter().map(inline).collect();
            format!("[{}]", elements.join(", "))
        }
        Node::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .filter(|(_, value)| *value != Node::Null)
                .map(|(name, value)| line(std::slice::from_ref(name), value))
                .collect();
            if members.is_empty() {
                "{}".to_owned()
            } else {
                format!("{{ {} }}", members.join(", "))
            }
        }
    }
}

fn in_brackets(text: &str, bracketed: &Bracketed, item: &str) -> String {
    if bracketed.items.is_empty() {
        // Behind the comments that may stand there: only a line end ends them.
        return spliced(text, vec![Splice::insert(bracketed.inner.end, item)]);
    }
    spliced(text, bracketed.append(text, item, " "))
}

fn array_brackets(array: &toml_edit::Array) -> Bracketed {
    Bracketed {
        inner: inner(array.span()),
        items: array.iter().filter_map(Value::span).collect(),
        comments: Comments::Hash,
    }
}

fn inline_table_brackets(table: &InlineTable) -> Bracketed {
    Bracketed {
        inner: inner(table.span()),
        items: table
            .iter()
            .filter_map(|(name, value)| {
                let key = table.key(name).and_then(Key::span)?;
                Some(key.start..value.span()?.end)
            })
            .collect(),
        comments: Comments::Hash,
    }
}

fn inner(span: Option<Range<usize>>) -> Range<usize> {
    span.map_or(0..0, |span| span.start + 1..span.end.saturating_sub(1))
}

/// Whole lines that a table or a value takes up.
struct Lines {
    range: Range<usize>,
    /// Lines of others within: comments, other tables.
    foreign: String,
}

impl Lines {
    fn of(text: &str, table: &Table) -> Self {
        Self::covering(text, pieces(table))
    }

    fn covering(text: &str, pieces: Vec<Range<usize>>) -> Self {
        let start = pieces.iter().map(|piece| piece.start).min().unwrap_or(text.len());
        let end = pieces.iter().map(|piece| piece.end).max().unwrap_or(text.len());
        let range = line_start(text, start)..line_end(text, end);
        let mut foreign = String::new();
        let mut at = range.start;
        while at < range.end {
            let end = line_end(text, at).max(at + 1);
            let line = cut(text, at..end);
            let is_ours = pieces.iter().any(|piece| piece.start < end && at < piece.end);
            if !is_ours && !line.trim().is_empty() {
                foreign.push_str(line);
            }
            at = end;
        }
        Self { range, foreign }
    }

    /// The text without these lines; `block`: without the empty line before them as well.
    fn removed(&self, text: &str, block: bool) -> String {
        let mut before = cut(text, 0..self.range.start);
        let after = cut(text, self.range.end..text.len());
        if block {
            let blank = line_start(text, before.len().saturating_sub(1));
            if !before.is_empty() && cut(before, blank..before.len()).trim().is_empty() {
                before = cut(before, 0..blank);
            }
        }
        if after.is_empty() && self.foreign.is_empty() && !text.ends_with('\n') {
            before = before.strip_suffix('\n').unwrap_or(before);
            before = before.strip_suffix('\r').unwrap_or(before);
        }
        format!("{before}{}{after}", self.foreign)
    }
}

/// Where the header of a table stands, its values, and the same of the tables in it.
fn pieces(table: &Table) -> Vec<Range<usize>> {
    let mut pieces: Vec<_> = table
        .span()
        .filter(|span| !span.is_empty() && !table.is_dotted() && !table.is_implicit())
        .into_iter()
        .collect();
    for (_, item) in table {
        match item {
            Item::None => {}
            Item::Value(value) => pieces.extend(value.span()),
            Item::Table(inner) => pieces.extend(self::pieces(inner)),
            Item::ArrayOfTables(tables) => pieces.extend(tables.iter().flat_map(self::pieces)),
        }
    }
    pieces
}

fn table_node(table: &Table) -> Node {
    Node::Object(
        table
            .iter()
            .filter_map(|(name, item)| {
                let value = match item {
                    Item::None => return None,
                    Item::Value(value) => value_node(value),
                    Item::Table(inner) => table_node(inner),
                    Item::ArrayOfTables(tables) => Node::List(tables.iter().map(table_node).collect()),
                };
                Some((name.to_owned(), value))
            })
            .collect(),
    )
}

fn value_node(value: &Value) -> Node {
    match value {
        Value::String(text) => Node::Text(text.value().clone()),
        Value::Integer(number) => Node::Number(number.value().to_string()),
        Value::Float(number) => Node::Number(number.value().to_string()),
        Value::Boolean(value) => Node::Bool(*value.value()),
        Value::Datetime(time) => Node::Text(time.value().to_string()),
        Value::Array(array) => Node::List(array.iter().map(value_node).collect()),
        Value::InlineTable(table) => Node::Object(
            table
                .iter()
                .map(|(name, value)| (name.to_owned(), value_node(value)))
                .collect(),
        ),
    }
}
