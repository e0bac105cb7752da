//! Token numbers, which Codex writes as running totals, each more than once.

use hookhost_sdk::{Json, Object, Usage, UsageScope};

/// The totals of a rollout so far.
#[derive(Default)]
pub(super) struct Totals {
    /// The last total, as its sum. `None` before the first.
    last: Option<u64>,
    /// How often the counter began anew.
    epoch: u32,
}

/// A total, and what stood on the counter before this session used it.
pub(super) struct Counted {
    /// Not this session's own.
    pub(super) base: Option<Usage>,
    pub(super) total: Usage,
}

impl Totals {
    /// A `token_count` record. `None` when it only tells of rate limits.
    ///
    /// `follows_copy`: what another session used stands on the counter, and no copied record told how much.
    pub(super) fn count(&mut self, payload: &Object<'_>, model: Option<&str>, follows_copy: bool) -> Option<Counted> {
        let info = payload.object("info")?;
        let total = Numbers::of(&info.object("total_token_usage")?);
        let call = info.object("last_token_usage").map(|last| Numbers::of(&last));
        let began_anew = self.last.is_some_and(|last| total.sum() < last);
        let unknown_base = self.last.is_none() && follows_copy;
        if began_anew {
            self.epoch += 1;
        }
        self.last = Some(total.sum());
        // The counter does not begin at zero then, but at what it shows less what this call added.
        let base = call
            .filter(|_| began_anew || unknown_base)
            .map(|call| total.less(&call))
            .filter(|base| base.sum() > 0);
        Some(Counted {
            base: base.map(|base| base.usage(self.epoch, model)),
            total: total.usage(self.epoch, model),
        })
    }
}

/// Numbers in classes that do not overlap.
struct Numbers {
    input: u64,
    cache_creation: u64,
    cache_read: u64,
    output: u64,
}

impl Numbers {
    fn of(usage: &Object<'_>) -> Self {
        let count = |keys: &[&str]| usage.any(keys).and_then(Json::count).unwrap_or_default();
        let cache_read = count(&["cached_input_tokens", "cache_read_input_tokens"]);
        let cache_creation = count(&["cache_write_input_tokens", "cache_creation_input_tokens"]);
        Self {
            input: count(&["input_tokens"])
                .saturating_sub(cache_read)
                .saturating_sub(cache_creation),
            cache_creation,
            cache_read,
            output: count(&["output_tokens"]),
        }
    }

    fn sum(&self) -> u64 {
        [self.cache_creation, self.cache_read, self.output]
            .iter()
            .fold(self.input, |sum, number| sum.saturating_add(*number))
    }

    fn less(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            cache_creation: self.cache_creation.saturating_sub(other.cache_creation),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            output: self.output.saturating_sub(other.output),
        }
    }

    fn usage(&self, epoch: u32, model: Option<&str>) -> Usage {
        Usage {
            scope: UsageScope::RunningTotal(epoch.to_string()),
            model: model.map(str::to_owned),
            input: self.input,
            cache_creation: self.cache_creation,
            cache_read: self.cache_read,
            output: self.output,
            calls: 1,
        }
    }
}
