//! The table of agents, hooks, events and capabilities in the documentation, made of what the adapters say and held
//! against the fixtures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use hookhost::adapter::Limits;
use hookhost::adapter::registry;
use hookhost::config::Config;
use hookhost::model::{Capabilities, Description, EventKind};
use hookhost_bundle::BUILTINS;
use serde_json::Value;

use crate::invariants::root;

const PAGE: &str = "docs/coverage.md";

fn descriptions() -> Vec<Description> {
    BUILTINS
        .iter()
        .map(|adapter| {
            let found = registry::find(adapter.name, &Config::default()).unwrap();
            found.load(adapter.name, Limits::default()).unwrap().describe().unwrap()
        })
        .collect()
}

fn claimed(capabilities: Capabilities) -> Vec<&'static str> {
    [
        (capabilities.hooks, "hooks"),
        (capabilities.transcript_analyzer, "transcript_analyzer"),
        (capabilities.transcript_preparer, "transcript_preparer"),
        (capabilities.token_calculator, "token_calculator"),
        (capabilities.compact_transcript, "compact_transcript"),
        (capabilities.text_generator, "text_generator"),
        (capabilities.hook_response_writer, "hook_response_writer"),
        (capabilities.subagent_aware_extractor, "subagent_aware_extractor"),
    ]
    .into_iter()
    .filter_map(|(is_claimed, name)| is_claimed.then_some(name))
    .collect()
}

fn page(descriptions: &[Description]) -> String {
    let mut text = String::from(
        "# Coverage\n\nWhich agents, hooks and events hookhost knows. Made from what the adapters say and held against \
         their fixtures by a test; `HOOKHOST_UPDATE=1 cargo test -p hookhost --test it coverage` writes it anew.\n\n## \
         Capabilities\n\n| agent | name | aliases | capabilities |\n|---|---|---|---|\n",
    );
    for agent in descriptions {
        let aliases = agent.aliases.join(", ");
        let capabilities = claimed(agent.capabilities).join(", ");
        text.push_str(&format!(
            "| {} | `{}` | {aliases} | {capabilities} |\n",
            agent.display_name, agent.name
        ));
    }
    text.push_str("\n## Hooks\n\nA hook in bold is registered; one without events is understood and says nothing that callers hear of.\n");
    for agent in descriptions {
        text.push_str(&format!(
            "\n### {}\n\n| hook | alias | events |\n|---|---|---|\n",
            agent.display_name
        ));
        for hook in &agent.hook_names {
            let mark = if hook.registered { "**" } else { "" };
            let events: Vec<_> = hook.events.iter().map(|kind| kind.name()).collect();
            text.push_str(&format!(
                "| {mark}`{}`{mark} | `{}` | {} |\n",
                hook.native,
                hook.alias,
                events.join(", ")
            ));
        }
    }
    text
}

#[test]
fn the_coverage_table_is_what_the_adapters_say() {
    let file = root().join(PAGE);
    let page = page(&descriptions());
    if std::env::var_os("HOOKHOST_UPDATE").is_some_and(|value| value == "1") {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &page).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&file).unwrap_or_default(),
        page,
        "{PAGE}: HOOKHOST_UPDATE=1 writes it anew"
    );
}

/// The kinds of events that an adapter's fixtures show for each hook, by the name that the fixture calls it.
fn shown_by_fixtures(adapter: &str) -> BTreeMap<String, BTreeSet<u64>> {
    let mut shown: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for entry in fs::read_dir(root().join("tests/fixtures").join(adapter).join("payloads")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(case) = name.strip_suffix(".expected.json") else {
            continue;
        };
        let expected: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let hook = expected["hook"]
            .as_str()
            .unwrap_or_else(|| case.split("--").next().unwrap());
        let kinds = expected["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["type"].as_u64().unwrap());
        shown.entry(hook.to_owned()).or_default().extend(kinds);
    }
    shown
}

/// Streams need more than one line for these; their adapters' own tests show them.
fn shown_by_streams(adapter: &str) -> &'static [EventKind] {
    match adapter {
        "hh" => &[EventKind::TurnEnd, EventKind::SubagentEnd],
        "hm" => &[EventKind::SubagentStart, EventKind::SubagentEnd],
        _ => &[],
    }
}

#[test]
fn what_an_adapter_says_of_its_hooks_is_what_its_fixtures_show() {
    for agent in descriptions() {
        let shown = shown_by_fixtures(&agent.name);
        let mut aliases = BTreeSet::new();
        for hook in &agent.hook_names {
            assert!(
                aliases.insert(&hook.alias),
                "{}: two hooks with the alias {}",
                agent.name,
                hook.alias
            );
            let mut events: BTreeSet<u64> = [&hook.native, &hook.alias]
                .into_iter()
                .filter_map(|name| shown.get(name))
                .flatten()
                .copied()
                .collect();
            events.extend(
                shown_by_streams(&agent.name)
                    .iter()
                    .map(|kind| u64::from(kind.number())),
            );
            let said: BTreeSet<u64> = hook.events.iter().map(|kind| u64::from(kind.number())).collect();
            let unsaid: Vec<_> = events.difference(&said).collect();
            assert!(
                unsaid.is_empty(),
                "{} {}: fixtures show {unsaid:?}, which is not said",
                agent.name,
                hook.native
            );
        }
        let said: BTreeSet<u64> = agent
            .hook_names
            .iter()
            .flat_map(|hook| &hook.events)
            .map(|kind| u64::from(kind.number()))
            .collect();
        let mut proven: BTreeSet<u64> = shown.values().flatten().copied().collect();
        proven.extend(
            shown_by_streams(&agent.name)
                .iter()
                .map(|kind| u64::from(kind.number())),
        );
        assert_eq!(
            said, proven,
            "{}: kinds of events that are said and kinds that fixtures show",
            agent.name
        );
    }
}
