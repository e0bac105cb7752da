//! Token numbers, which stand in three places.
//!
//! Output is told with each message and each compaction; input and cache only when the session is shut down, as totals
//! of each model since the session began or was last compacted. Each number is taken from one place: the output in the
//! totals is that of the messages once more.

use hookhost_sdk::{Item, Object, Usage, UsageScope};

/// The output of one message, subagents' included. One that does not tell it was a call all the same.
pub(crate) fn of_message(data: &Object<'_>, message_id: Option<String>, push: &mut impl FnMut(Item)) {
    let Some(id) = message_id else { return };
    push(Item::Usage(Usage {
        scope: UsageScope::Call(id),
        model: data.text("model").map(Into::into),
        output: data.count("outputTokens"),
        ..NOTHING_COUNTED
    }));
}

/// The output of the call that made the summary. Its input went into the totals that it reset.
pub(crate) fn of_compaction(data: &Object<'_>, record_id: Option<&str>, push: &mut impl FnMut(Item)) {
    let Some(used) = data.object("compactionTokensUsed") else {
        return;
    };
    let output = used.any(&["outputTokens", "output"]).and_then(|count| count.count());
    push(Item::Usage(Usage {
        scope: UsageScope::Call(format!("compaction {}", record_id.unwrap_or_default())),
        model: used.text("model").map(Into::into),
        output: output.unwrap_or_default(),
        ..NOTHING_COUNTED
    }));
}

/// Input and cache of each model. They stand for no further calls.
pub(crate) fn of_shutdown(data: &Object<'_>, push: &mut impl FnMut(Item)) {
    let metrics = data.object("modelMetrics").unwrap_or_default();
    for (model, metrics) in metrics.fields() {
        let Some(usage) = metrics.get("usage").and_then(|usage| usage.object()) else {
            continue;
        };
        let cache_read = usage.count("cacheReadTokens");
        let cache_creation = usage.count("cacheWriteTokens");
        let cached = cache_read.saturating_add(cache_creation);
        push(Item::Usage(Usage {
            scope: UsageScope::RunningTotal(model.to_owned()),
            model: Some(model.to_owned()),
            input: usage.count("inputTokens").saturating_sub(cached),
            cache_creation,
            cache_read,
            output: 0,
            calls: 0,
        }));
    }
}

const NOTHING_COUNTED: Usage = Usage {
    scope: UsageScope::Call(String::new()),
    model: None,
    input: 0,
    cache_creation: 0,
    cache_read: 0,
    output: 0,
    calls: 1,
};
