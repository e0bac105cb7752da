//! Settings files of all layouts: what goes in comes out again, to the byte.

use proptest::prelude::*;

use super::*;

/// How a generated file is laid out.
#[derive(Clone, Debug)]
struct Layout {
    newline: &'static str,
    unit: &'static str,
    mark: &'static str,
    tail: &'static str,
    on_one_line: bool,
    comments: bool,
    trailing_commas: bool,
    blank_lines: bool,
}

fn layout() -> impl Strategy<Value = Layout> {
    (
        prop_oneof![Just("\n"), Just("\r\n")],
        prop_oneof![Just("  "), Just("    "), Just("\t"), Just(" "), Just("")],
        prop_oneof![4 => Just(""), 1 => Just("\u{feff}")],
        prop_oneof![Just(""), Just("\n"), Just("\n\n"), Just(" ")],
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(newline, unit, mark, tail, on_one_line, comments, trailing_commas, blank_lines)| Layout {
                newline,
                unit,
                mark,
                tail,
                on_one_line,
                comments: comments && !on_one_line,
                trailing_commas,
                blank_lines: blank_lines && !on_one_line,
            },
        )
}

/// A value of a settings file, as JSON text with `\n` and two spaces left to the layout.
#[derive(Clone, Debug)]
enum Shape {
    Scalar(&'static str),
    List(Vec<Shape>),
    Object(Vec<(String, Shape)>),
}

fn scalar() -> impl Strategy<Value = Shape> {
    prop::sample::select(vec![
        "1",
        "null",
        "true",
        "-2.5e3",
        r#""text""#,
        r#""// no comment, /* at */ all ,}""#,
        r#""esc \" \\ \u00e9 é""#,
        "[]",
        "{}",
    ])
    .prop_map(Shape::Scalar)
}

fn handler() -> impl Strategy<Value = Shape> {
    prop::sample::select(vec![
        r#"{"type": "command", "command": "notify-send done"}"#,
        r#"{"command": "/usr/bin/env", "args": ["sh", "check.sh"], "label": "lint"}"#,
        r#"{"type": "command", "command": "hookhost hook codex Stop"}"#,
        r#"{"type": "http", "url": "http://127.0.0.1:9/x"}"#,
    ])
    .prop_map(Shape::Scalar)
}

fn group() -> impl Strategy<Value = Shape> {
    (
        prop::option::of(prop::sample::select(vec![r#""""#, r#""Edit""#, r#""*""#])),
        prop::collection::vec(handler(), 0..3),
    )
        .prop_map(|(matcher, handlers)| {
            let mut members: Vec<_> = matcher
                .map(|matcher| ("matcher".to_owned(), Shape::Scalar(matcher)))
                .into_iter()
                .collect();
            members.push(("hooks".to_owned(), Shape::List(handlers)));
            Shape::Object(members)
        })
}

fn hooks() -> impl Strategy<Value = Shape> {
    (
        prop::sample::subsequence(vec!["Stop", "PreToolUse", "stop", "FutureEvent", "Notification"], 0..=5),
        prop::collection::vec(prop::collection::vec(group(), 0..3), 5),
    )
        .prop_map(|(events, lists)| {
            Shape::Object(
                events
                    .into_iter()
                    .zip(lists)
                    .map(|(event, groups)| (event.to_owned(), Shape::List(groups)))
                    .collect(),
            )
        })
}

fn settings() -> impl Strategy<Value = Shape> {
    let value = scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Shape::List),
            prop::collection::vec(inner, 0..3).prop_map(|values| {
                Shape::Object(
                    values
                        .into_iter()
                        .enumerate()
                        .map(|(index, value)| (format!("k{index}"), value))
                        .collect(),
                )
            }),
        ]
    });
    (
        prop::collection::vec(value, 0..4),
        prop::option::of(hooks()),
        0..5_usize,
    )
        .prop_map(|(values, hooks, at)| {
            let mut members: Vec<_> = values
                .into_iter()
                .enumerate()
                .map(|(index, value)| (format!("key{index}"), value))
                .collect();
            if let Some(hooks) = hooks {
                members.insert(at.min(members.len()), ("hooks".to_owned(), hooks));
            }
            Shape::Object(members)
        })
}

/// Writes a shape; `dice` decides where comments and blank lines go.
fn write(shape: &Shape, layout: &Layout, depth: usize, dice: &mut impl FnMut() -> u8, out: &mut String) {
    let (open, close, items): (_, _, Vec<(Option<&str>, &Shape)>) = match shape {
        Shape::Scalar(text) => {
            out.push_str(text);
            return;
        }
        Shape::List(elements) => ('[', ']', elements.iter().map(|element| (None, element)).collect()),
        Shape::Object(members) => (
            '{',
            '}',
            members
                .iter()
                .map(|(name, value)| (Some(name.as_str()), value))
                .collect(),
        ),
    };
    out.push(open);
    // Some containers of a file on lines are on one line all the same.
    let on_lines = !layout.on_one_line && !dice().is_multiple_of(4);
    let inner = Layout {
        on_one_line: !on_lines,
        comments: layout.comments && on_lines,
        blank_lines: layout.blank_lines && on_lines,
        ..layout.clone()
    };
    let new_line = |out: &mut String, depth: usize| {
        out.push_str(layout.newline);
        out.push_str(&layout.unit.repeat(depth));
    };
    let count = items.len();
    for (index, (name, value)) in items.into_iter().enumerate() {
        if on_lines {
            if inner.blank_lines && dice().is_multiple_of(3) {
                out.push_str(layout.newline);
            }
            if inner.comments && dice().is_multiple_of(4) {
                new_line(out, depth + 1);
                out.push_str("// a comment, with ] and }");
            }
            new_line(out, depth + 1);
        } else if dice().is_multiple_of(2) {
            out.push(' ');
        }
        if let Some(name) = name {
            out.push_str(&format!("\"{name}\": "));
        }
        write(value, &inner, depth + 1, dice, out);
        let is_last = index + 1 == count;
        if inner.comments && dice().is_multiple_of(6) {
            out.push_str(" /* before the comma */");
        }
        if !is_last || layout.trailing_commas && dice().is_multiple_of(2) {
            out.push(',');
        }
        if inner.comments && dice().is_multiple_of(4) {
            out.push_str(" // mine");
        }
    }
    if on_lines && (count > 0 || dice().is_multiple_of(2)) {
        if inner.comments && dice().is_multiple_of(4) {
            new_line(out, depth + 1);
            out.push_str("// at the end");
        }
        if inner.blank_lines && dice().is_multiple_of(3) {
            out.push_str(layout.newline);
        }
        new_line(out, depth);
    } else if dice().is_multiple_of(3) {
        out.push(' ');
    }
    out.push(close);
}

fn written(shape: &Shape, layout: &Layout, seed: &[u8]) -> String {
    let mut dice = seed.iter().copied().cycle();
    let mut out = String::from(layout.mark);
    write(shape, layout, 0, &mut || dice.next().unwrap_or(1), &mut out);
    if !layout.mark.is_empty() {
        // The mark does not come back before the last entry of ours, of any agent, is gone.
        out = out.replace("hookhost", "other");
    }
    out.push_str(&layout.tail.replace('\n', layout.newline));
    out
}

/// The value with all members in the order of their names.
fn sorted(node: node::Node) -> node::Node {
    match node {
        node::Node::Object(mut members) => {
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            node::Node::Object(members.into_iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        node::Node::List(elements) => node::Node::List(elements.into_iter().map(sorted).collect()),
        scalar => scalar,
    }
}

/// The commands of others in the order in which they stand in the file.
fn foreign(plan: &Plan) -> Vec<(String, String)> {
    let state = check(plan, &owner()).unwrap();
    state
        .neighbours()
        .map(|entry| (entry.place.clone(), entry.command.clone()))
        .collect()
}

fn there_and_back(scratch: &Scratch, plan: &Plan) {
    let before = fs::read(scratch.file()).unwrap();
    let theirs = foreign(plan);

    let report = scratch.apply(plan);
    assert_eq!(report.newly_written, plan.hooks);
    let installed = fs::read(scratch.file()).unwrap();
    assert!(check(plan, &owner()).unwrap().is_complete());
    assert_eq!(foreign(plan), theirs, "entries of others");

    let again = scratch.apply(plan);
    assert_eq!((again.newly_written, again.already), (0, plan.hooks));
    assert_eq!(
        fs::read(scratch.file()).unwrap(),
        installed,
        "a second time changes nothing"
    );

    let forced = apply(plan, &owner(), Some(&scratch.records()), true).unwrap();
    assert_eq!(forced.newly_written, plan.hooks);
    assert_eq!(fs::read(scratch.file()).unwrap(), installed, "force writes the same");

    let report = scratch.remove(plan);
    assert_eq!(report.removed, plan.hooks);
    assert_eq!(
        String::from_utf8_lossy(&fs::read(scratch.file()).unwrap()),
        String::from_utf8_lossy(&before),
        "between: {}",
        String::from_utf8_lossy(&installed)
    );
    assert!(!check(plan, &owner()).unwrap().is_installed());
}

/// A number of cases that a quick run has time for; PROPTEST_CASES asks for more.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: std::env::var_os("PROPTEST_CASES").map_or(64, |_| default.cases),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn json_comes_back_to_the_byte(
        shape in settings(),
        layout in layout(),
        seed in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let scratch = Scratch::with(written(&shape, &layout, &seed));
        there_and_back(&scratch, &scratch.plan());
        there_and_back(&scratch, &plan(vec![Edit::Config(flat(&scratch.file()))]));
    }

    /// What happens to a file while we are registered stays when we go.
    #[test]
    fn changes_that_others_make_in_between_stay(
        shape in settings(),
        layout in layout(),
        seed in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let scratch = Scratch::with(written(&shape, &layout, &seed));
        let theirs = plan(vec![Edit::Config(ConfigEdit {
            insertions: vec![append(&["other"], "{\"command\":\"theirs\"}"), append(&["hooks", "Other"], "1")],
            sweep: vec![],
            ..grouped(&scratch.file())
        })]);
        apply(&theirs, &Owner::new("nobody", &[]), None, false).unwrap();
        let with_theirs = scratch.text();
        fs::write(scratch.file(), written(&shape, &layout, &seed)).unwrap();

        scratch.apply(&scratch.plan());
        apply(&theirs, &Owner::new("nobody", &[]), None, false).unwrap();
        scratch.remove(&scratch.plan());
        let read = |text: &str| {
            let text = text.trim_start_matches('\u{feff}');
            notation::of(ConfigFormat::Jsonc).read(text).unwrap().map(sorted)
        };
        prop_assert_eq!(read(&scratch.text()), read(&with_theirs));
    }

    #[test]
    fn toml_comes_back_to_the_byte(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "# a comment\n", "\n", "[features]\nhooks = true\n", "[table]\nkey = 'value' # with [[x]]\n",
                "[[hooks.Stop]]\nmatcher = \"\"\n\n[[hooks.Stop.hooks]]\ncommand = \"theirs\"\n",
                "[[hooks.Other]]\nhooks = [{ command = 'theirs' }]\n", "[q.b]\nx = [\n  1, # one\n  2,\n]\n",
                "[text]\nlong = '''\n[[hooks.Stop]]\n'''\n",
            ]),
            0..6,
        ),
        root in prop::sample::select(vec!["", "a = 1\n", "a = { b = 2 }\n\n", "# first\n\n"]),
        newline in prop_oneof![Just("\n"), Just("\r\n")],
        mark in prop_oneof![4 => Just(""), 1 => Just("\u{feff}")],
        ends in any::<bool>(),
    ) {
        let mut seen = std::collections::HashSet::new();
        let parts: String = parts.into_iter().filter(|part| seen.insert(*part) || part.starts_with("[[")).collect();
        let mut text = format!("{root}{parts}").replace('\n', newline);
        if !ends {
            text.truncate(text.trim_end().len());
        }
        let scratch = Scratch::toml(&format!("{mark}{text}"));
        there_and_back(&scratch, &toml_plan(&scratch.file()));
    }
}
