//! JSON, with comments and trailing commas where the user wrote them.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::node::{Node, Step};
use super::notation::{Edited, Inside, Notation, Trouble};
use super::splice::{Bracketed, Comments, Splice, between, cut, line_indent, newline_of, spliced};

/// The notation.
pub(super) struct Json;

const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl Notation for Json {
    fn read(&self, text: &str) -> Edited<Option<Node>> {
        Ok(parse(text)?.as_ref().map(node))
    }

    fn append(&self, text: &str, path: &[String], element: &Node) -> Edited {
        self.put(text, path, &Node::List(vec![element.clone()]), Some(element))
    }

    fn set(&self, text: &str, path: &[String], value: &Node) -> Edited {
        self.put(text, path, value, None)
    }

    fn replace(&self, text: &str, steps: &[Step], value: &Node) -> Edited {
        let Some(root) = parse(text)? else {
            return Ok(text.to_owned());
        };
        let Some(place) = walk(&root, steps) else {
            return Ok(text.to_owned());
        };
        let range = place.value().range();
        let style = Style::of(text, &root);
        // A value on one line stays on one line.
        let on_one_line = style.on_one_line || !cut(text, range.start..range.end).contains('\n');
        let style = Style { on_one_line, ..style };
        let written = style.written(value, line_indent(text, range.start));
        Ok(spliced(
            text,
            vec![Splice {
                range: range.start..range.end,
                text: written,
            }],
        ))
    }

    fn remove(&self, text: &str, steps: &[Step]) -> Edited {
        let Some(root) = parse(text)? else {
            return Ok(text.to_owned());
        };
        let Some((last, above)) = steps.split_last() else {
            return Ok(text.to_owned());
        };
        let Some(container) = walk(&root, above) else {
            return Ok(text.to_owned());
        };
        let index = match (container.value(), last) {
            (Value::Object(object), Step::Key(name)) => object
                .properties
                .iter()
                .position(|property| property.name.as_str() == name),
            (Value::Array(_), Step::Index(index)) => Some(*index),
            _ => None,
        };
        Ok(match (index, bracketed(container.value())) {
            (Some(index), Some(bracketed)) => {
                let removed = spliced(text, bracketed.remove(text, index));
                if bracketed.items.len() == 1 {
                    close_up(&removed, bracketed.inner.start)
                } else {
                    removed
                }
            }
            _ => text.to_owned(),
        })
    }

    fn inside(&self, text: &str, path: &[String]) -> Edited<Option<Inside>> {
        let Some(root) = parse(text)? else {
            return Ok(None);
        };
        let steps: Vec<_> = path.iter().cloned().map(Step::Key).collect();
        Ok(walk(&root, &steps)
            .and_then(|place| bracketed(place.value()))
            .map(|bracketed| Inside {
                range: bracketed.inner,
                is_empty: bracketed.items.is_empty(),
            }))
    }

    fn strays(&self, text: &str) -> bool {
        let strict = ParseOptions {
            allow_comments: false,
            allow_trailing_commas: false,
            ..OPTIONS
        };
        parse_to_ast(text, &CollectOptions::default(), &strict).is_err()
    }
}

impl Json {
    /// Puts `value` at the path; `element` goes to the end of the list that stands there already.
    fn put(&self, text: &str, path: &[String], value: &Node, element: Option<&Node>) -> Edited {
        let Some(root) = parse(text)? else {
            return Ok(with_new_root(text, path, value));
        };
        let style = Style::of(text, &root);
        let mut at = &root;
        for (depth, name) in path.iter().enumerate() {
            let so_far = path.get(..depth).unwrap_or_default();
            let Value::Object(object) = at else {
                return Err(kind(so_far, "an object", at));
            };
            match member(object, name, so_far)? {
                Some(property) => at = &property.value,
                None => {
                    let rest = path.get(depth + 1..).unwrap_or_default();
                    let inner = nested(rest, value);
                    return Ok(style.add(text, at, |style, indent| {
                        format!("{}{}{}", quoted(name), style.colon, style.written(&inner, indent))
                    }));
                }
            }
        }
        match (at, element) {
            (Value::Array(_), Some(element)) => Ok(style.add(text, at, |style, indent| style.written(element, indent))),
            (_, Some(_)) => Err(kind(path, "a list", at)),
            (_, None) => Ok(text.to_owned()),
        }
    }
}

/// How the text is laid out.
struct Style {
    newline: &'static str,
    /// One level of indentation.
    unit: String,
    /// Behind a comma on one line.
    comma_space: &'static str,
    colon: &'static str,
    /// The whole text stands on one line.
    on_one_line: bool,
}

impl Style {
    fn of(text: &str, root: &Value) -> Self {
        let range = root.range();
        let whole = cut(text, range.start..range.end);
        let is_empty = bracketed(root).is_none_or(|bracketed| bracketed.items.is_empty());
        let tight = first_property(root).is_some_and(|property| {
            let name_end = property.name.range().end;
            !cut(text, name_end..property.value.start()).contains([' ', '\t', '\n'])
        });
        Self {
            newline: newline_of(text),
            unit: unit(text, root).unwrap_or("  ").to_owned(),
            comma_space: if tight { "" } else { " " },
            colon: if tight { ":" } else { ": " },
            on_one_line: !is_empty && !whole.contains('\n'),
        }
    }

    /// Puts an item behind the last one of a container. `write` is told the indentation of the item's line.
    fn add(&self, text: &str, container: &Value, write: impl Fn(&Self, &str) -> String) -> String {
        let Some(bracketed) = bracketed(container) else {
            return text.to_owned();
        };
        let range = container.range();
        let outer = line_indent(text, range.start).to_owned();
        let splices = if let Some(last) = bracketed.items.last() {
            let own_line = bracketed.item_indent(text);
            let on_one_line = own_line.is_none() && !cut(text, last.clone()).contains('\n');
            let style = Self {
                newline: self.newline,
                unit: self.unit.clone(),
                comma_space: self.comma_space,
                colon: self.colon,
                on_one_line,
            };
            let item = write(&style, own_line.unwrap_or(&outer));
            bracketed.append(text, &item, self.comma_space)
        } else if self.on_one_line {
            vec![Splice::insert(bracketed.inner.start, write(self, &outer))]
        } else {
            let indent = format!("{outer}{}", self.unit);
            self.first_item(text, &bracketed, &outer, &indent, &write(self, &indent))
        };
        spliced(text, splices)
    }

    /// An item on a line of its own in a container that has none, behind the comments that stand there.
    fn first_item(&self, text: &str, bracketed: &Bracketed, outer: &str, indent: &str, item: &str) -> Vec<Splice> {
        let parts = between(text, bracketed.inner.clone(), Comments::Slashes);
        let behind = parts
            .iter()
            .filter_map(|part| match part {
                super::splice::Between::Comment(range, _) => Some(range.end),
                _ => None,
            })
            .next_back()
            .unwrap_or(bracketed.inner.start);
        let newline = self.newline;
        // A line end that stands there already is used for the closing bracket.
        let closing = if cut(text, behind..bracketed.inner.end).contains('\n') {
            String::new()
        } else {
            format!("{newline}{outer}")
        };
        vec![Splice::insert(behind, format!("{newline}{indent}{item}{closing}"))]
    }

    /// A value as text; `indent` is that of the line on which it begins.
    fn written(&self, value: &Node, indent: &str) -> String {
        match value {
            Node::Null => "null".to_owned(),
            Node::Bool(value) => value.to_string(),
            Node::Number(digits) => digits.clone(),
            Node::Text(text) => quoted(text),
            Node::List(elements) => {
                let nested = elements
                    .iter()
                    .any(|element| matches!(element, Node::List(_) | Node::Object(_)));
                self.container(['[', ']'], elements, nested, indent, |element, indent| {
                    self.written(element, indent)
                })
            }
            Node::Object(members) => self.container(['{', '}'], members, true, indent, |(name, value), indent| {
                format!("{}{}{}", quoted(name), self.colon, self.written(value, indent))
            }),
        }
    }

    fn container<T>(
        &self,
        [open, close]: [char; 2],
        items: &[T],
        on_lines: bool,
        indent: &str,
        write: impl Fn(&T, &str) -> String,
    ) -> String {
        if items.is_empty() {
            return format!("{open}{close}");
        }
        if self.on_one_line || !on_lines {
            let items: Vec<_> = items.iter().map(|item| write(item, indent)).collect();
            return format!("{open}{}{close}", items.join(&format!(",{}", self.comma_space)));
        }
        let inner = format!("{indent}{}", self.unit);
        let newline = self.newline;
        let items: Vec<_> = items
            .iter()
            .map(|item| format!("{newline}{inner}{}", write(item, &inner)))
            .collect();
        format!("{open}{}{newline}{indent}{close}", items.join(","))
    }
}

/// A whole text, behind whatever stood in the file: white space, comments.
fn with_new_root(text: &str, path: &[String], value: &Node) -> String {
    let newline = newline_of(text);
    let style = Style {
        newline,
        unit: "  ".to_owned(),
        comma_space: " ",
        colon: ": ",
        on_one_line: false,
    };
    let separator = if text.trim().is_empty() || text.ends_with('\n') {
        ""
    } else {
        newline
    };
    let kept = if text.trim().is_empty() { "" } else { text };
    format!("{kept}{separator}{}{newline}", style.written(&nested(path, value), ""))
}

/// The value inside objects, one a name.
fn nested(path: &[String], value: &Node) -> Node {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, name| Node::Object(vec![(name.clone(), inner)]))
}

fn parse(text: &str) -> Edited<Option<Value<'_>>> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    match parse_to_ast(text, &collect, &OPTIONS) {
        Ok(result) => Ok(result.value),
        Err(error) => Err(syntax(text, &error)),
    }
}

fn syntax(text: &str, error: &ParseError) -> Trouble {
    Trouble::at(text, error.range().start, error.kind().to_string())
}

fn kind(path: &[String], wanted: &'static str, found: &Value) -> Trouble {
    Trouble::Kind {
        path: path.to_vec(),
        wanted,
        found: node(found).kind(),
    }
}

fn member<'a, 'b>(object: &'b Object<'a>, name: &str, path: &[String]) -> Edited<Option<&'b ObjectProp<'a>>> {
    let mut found = object
        .properties
        .iter()
        .filter(|property| property.name.as_str() == name);
    let first = found.next();
    if found.next().is_some() {
        let mut path = path.to_vec();
        path.push(name.to_owned());
        return Err(Trouble::Twice { path });
    }
    Ok(first)
}

/// What a walk ends at.
struct Place<'a, 'b>(&'b Value<'a>);

impl<'a, 'b> Place<'a, 'b> {
    fn value(&self) -> &'b Value<'a> {
        self.0
    }
}

fn walk<'a, 'b>(root: &'b Value<'a>, steps: &[Step]) -> Option<Place<'a, 'b>> {
    steps
        .iter()
        .try_fold(root, |value, step| match (value, step) {
            (Value::Object(object), Step::Key(name)) => Some(&object.get(name)?.value),
            (Value::Array(array), Step::Index(index)) => array.elements.get(*index),
            _ => None,
        })
        .map(Place)
}

fn bracketed(value: &Value) -> Option<Bracketed> {
    let range = value.range();
    let items = match value {
        Value::Object(object) => object
            .properties
            .iter()
            .map(|item| item.range.start..item.range.end)
            .collect(),
        Value::Array(array) => array.elements.iter().map(|item| item.start()..item.end()).collect(),
        _ => return None,
    };
    Some(Bracketed {
        inner: range.start + 1..range.end.saturating_sub(1),
        items,
        comments: Comments::Slashes,
    })
}

/// Takes out the white space of a container that has just become empty, unless there are comments in it.
fn close_up(text: &str, inner_start: usize) -> String {
    let rest = cut(text, inner_start..text.len());
    let space = rest.len() - rest.trim_start().len();
    if cut(rest, space..rest.len()).starts_with([']', '}']) {
        spliced(text, vec![Splice::delete(inner_start..inner_start + space)])
    } else {
        text.to_owned()
    }
}

/// The first property anywhere in the text.
fn first_property<'a, 'b>(value: &'b Value<'a>) -> Option<&'b ObjectProp<'a>> {
    match value {
        Value::Object(object) => object.properties.first(),
        Value::Array(array) => array.elements.iter().find_map(first_property),
        _ => None,
    }
}

/// One level of indentation: by how much the first item on a line of its own is indented more than what holds it.
fn unit<'t>(text: &'t str, value: &Value) -> Option<&'t str> {
    let bracketed = bracketed(value)?;
    let outer = line_indent(text, value.start());
    if let Some(unit) = bracketed
        .item_indent(text)
        .and_then(|indent| indent.strip_prefix(outer))
        && !unit.is_empty()
    {
        return Some(unit);
    }
    match value {
        Value::Object(object) => object
            .properties
            .iter()
            .find_map(|property| unit(text, &property.value)),
        Value::Array(array) => array.elements.iter().find_map(|element| unit(text, element)),
        _ => None,
    }
}

fn node(value: &Value) -> Node {
    match value {
        Value::NullKeyword(_) => Node::Null,
        Value::BooleanLit(literal) => Node::Bool(literal.value),
        Value::NumberLit(literal) => Node::Number(literal.value.to_owned()),
        Value::StringLit(literal) => Node::Text(literal.value.clone().into_owned()),
        Value::Array(array) => Node::List(array.elements.iter().map(node).collect()),
        Value::Object(object) => Node::Object(
            object
                .properties
                .iter()
                .map(|property| (property.name.as_str().to_owned(), node(&property.value)))
                .collect(),
        ),
    }
}

/// A JSON string literal.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
