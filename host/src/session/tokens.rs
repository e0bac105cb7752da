//! Counting tokens once.

use std::collections::HashMap;

use crate::model::{Usage, UsageScope};

use super::branches::hash;

/// Sums in classes that do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenTotals {
    /// Neither read from nor written to a cache.
    pub input: u64,
    /// Written to a cache.
    pub cache_creation: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// With reasoning.
    pub output: u64,
    /// Model calls behind them.
    pub calls: u64,
}

impl TokenTotals {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    /// What `self` has more than `earlier`; nothing is negative.
    fn minus(self, earlier: Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }

    fn zip(self, other: Self, each: fn(u64, u64) -> u64) -> Self {
        Self {
            input: each(self.input, other.input),
            cache_creation: each(self.cache_creation, other.cache_creation),
            cache_read: each(self.cache_read, other.cache_read),
            output: each(self.output, other.output),
            calls: each(self.calls, other.calls),
        }
    }

    fn tokens(self) -> u64 {
        [self.input, self.cache_creation, self.cache_read, self.output]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    fn of(usage: &Usage) -> Self {
        Self {
            input: usage.input,
            cache_creation: usage.cache_creation,
            cache_read: usage.cache_read,
            output: usage.output,
            calls: u64::from(usage.calls),
        }
    }
}

/// Counts rows of usage from an offset on.
pub(crate) struct TokenCount {
    from: u64,
    /// Rows of calls that began before the offset.
    before: HashMap<u64, Row>,
    /// Rows behind the offset.
    behind: HashMap<u64, Row>,
    runs: HashMap<u64, Run>,
}

/// What a row says of a call.
#[derive(Clone, Copy)]
struct Row {
    /// The record's id, hashed; 0 when it has none.
    record: u64,
    totals: TokenTotals,
}

impl Row {
    /// Of two rows of one call: the last one of a record that was written again, else the one with more output, the
    /// later one of equals.
    fn or(self, later: Self) -> Self {
        let is_again = self.record != 0 && self.record == later.record;
        if is_again || later.totals.output >= self.totals.output {
            later
        } else {
            self
        }
    }
}

/// Model calls one by one, in their order.
#[derive(Default)]
pub(crate) struct Calls {
    rows: Vec<Row>,
    by_id: HashMap<u64, usize>,
    runs: HashMap<u64, Run>,
}

impl Calls {
    /// The number of the call, when the row is the first of it. `record` is the hashed id of the row's record.
    pub(crate) fn add(&mut self, record: u64, inherited: bool, usage: &Usage) -> Option<usize> {
        let mut totals = TokenTotals::of(usage);
        match &usage.scope {
            UsageScope::Call(_) if inherited => return None,
            UsageScope::Call(id) => {
                let next = self.rows.len();
                let at = *self.by_id.entry(hash(id)).or_insert(next);
                if let Some(known) = self.rows.get_mut(at) {
                    *known = known.or(Row { record, totals });
                    return None;
                }
            }
            UsageScope::RunningTotal(run) => {
                let run = self.runs.entry(hash(run)).or_default();
                let before = run.sum;
                run.add(totals, !inherited);
                totals = run.sum.minus(before);
                if totals == TokenTotals::default() {
                    return None;
                }
            }
        }
        self.rows.push(Row { record, totals });
        self.rows.len().checked_sub(1)
    }

    pub(crate) fn finish(self) -> Vec<TokenTotals> {
        self.rows.into_iter().map(|row| row.totals).collect()
    }
}

#[derive(Default)]
struct Run {
    last: Option<TokenTotals>,
    sum: TokenTotals,
}

impl TokenCount {
    pub(crate) fn new(from: u64) -> Self {
        Self {
            from,
            before: HashMap::new(),
            behind: HashMap::new(),
            runs: HashMap::new(),
        }
    }

    /// Takes a row that stands at `offset`. `record` is the hashed id of its record.
    pub(crate) fn add(&mut self, offset: u64, record: u64, inherited: bool, usage: &Usage) {
        let totals = TokenTotals::of(usage);
        let counts = offset >= self.from && !inherited;
        match &usage.scope {
            UsageScope::Call(_) if inherited => {}
            UsageScope::Call(id) => {
                let rows = if counts { &mut self.behind } else { &mut self.before };
                let row = Row { record, totals };
                let known = rows.entry(hash(id)).or_insert(row);
                *known = known.or(row);
            }
            UsageScope::RunningTotal(run) => self.runs.entry(hash(run)).or_default().add(totals, counts),
        }
    }

    pub(crate) fn finish(self) -> TokenTotals {
        let calls = self.behind.into_iter().map(|(id, row)| match self.before.get(&id) {
            Some(&earlier) => earlier.or(row).totals.minus(earlier.totals),
            None => row.totals,
        });
        let runs = self.runs.into_values().map(|run| run.sum);
        calls.chain(runs).fold(TokenTotals::default(), TokenTotals::plus)
    }
}

impl Run {
    fn add(&mut self, row: TokenTotals, counts: bool) {
        let gained = match self.last {
            Some(last) if last.minus(row).tokens() == 0 && row.minus(last).tokens() == 0 => return,
            // The counter before the first call.
            None if row.tokens() == 0 => TokenTotals::default(),
            Some(last) if row.tokens() >= last.tokens() => TokenTotals {
                calls: row.calls,
                ..row.minus(last)
            },
            _ => row,
        };
        self.last = Some(row);
        if counts {
            self.sum = self.sum.plus(gained);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(scope: UsageScope, input: u64, output: u64) -> Usage {
        Usage {
            scope,
            model: None,
            input,
            cache_creation: 0,
            cache_read: 0,
            output,
            calls: 1,
        }
    }

    fn count(from: u64, rows: &[(u64, bool, UsageScope, u64, u64)]) -> (u64, u64, u64) {
        let mut count = TokenCount::new(from);
        for (offset, inherited, scope, input, output) in rows {
            count.add(*offset, 0, *inherited, &usage(scope.clone(), *input, *output));
        }
        let sum = count.finish();
        (sum.input, sum.output, sum.calls)
    }

    fn call(id: &str) -> UsageScope {
        UsageScope::Call(id.to_owned())
    }

    fn total() -> UsageScope {
        UsageScope::RunningTotal("run".to_owned())
    }

    #[test]
    fn repeated_rows_of_a_call_count_once_with_the_largest_output() {
        let rows = [
            (0, false, call("a"), 3, 1),
            (1, false, call("a"), 3, 120),
            (2, false, call("a"), 3, 8),
        ];
        assert_eq!(count(0, &rows), (3, 120, 1));
    }

    #[test]
    fn of_a_record_that_was_written_again_the_last_row_counts() {
        let sum = |rows: &[(u64, u64)]| {
            let (mut count, mut calls) = (TokenCount::new(0), Calls::default());
            for (record, output) in rows {
                count.add(0, *record, false, &usage(call("a"), 3, *output));
                calls.add(*record, false, &usage(call("a"), 3, *output));
            }
            let sum = count.finish();
            assert_eq!(calls.finish(), [sum]);
            sum.output
        };
        assert_eq!(sum(&[(1, 120), (1, 80)]), 80);
        assert_eq!(sum(&[(1, 120), (2, 80)]), 120);
        assert_eq!(sum(&[(0, 120), (0, 80)]), 120);
    }

    #[test]
    fn a_call_that_grows_across_the_offset_counts_by_the_difference() {
        let rows = [
            (0, false, call("a"), 100, 10),
            (5, false, call("a"), 100, 30),
            (6, false, call("b"), 7, 2),
        ];
        assert_eq!(count(5, &rows), (7, 22, 1));
    }

    #[test]
    fn running_totals_count_their_growth_behind_the_offset() {
        let rows = [
            (0, false, total(), 1000, 50),
            (1, false, total(), 1000, 50),
            (2, false, total(), 1600, 110),
            (3, false, total(), 1600, 110),
        ];
        assert_eq!(count(0, &rows), (1600, 110, 2));
        assert_eq!(count(2, &rows), (600, 60, 1));
        assert_eq!(count(9, &rows), (0, 0, 0));
    }

    #[test]
    fn a_total_of_nothing_is_no_call() {
        assert_eq!(count(0, &[(0, false, total(), 0, 0)]), (0, 0, 0));
        assert_eq!(
            count(0, &[(0, false, total(), 0, 0), (1, false, total(), 9, 1)]),
            (9, 1, 1)
        );
    }

    #[test]
    fn a_smaller_total_begins_anew() {
        let rows = [
            (0, false, total(), 1000, 50),
            (1, false, total(), 200, 20),
            (2, false, total(), 300, 30),
        ];
        assert_eq!(count(0, &rows), (1300, 80, 3));
    }

    #[test]
    fn what_a_fork_replays_is_its_parents() {
        let rows = [
            (0, true, total(), 2000, 100),
            (1, false, total(), 2600, 160),
            (0, true, call("x"), 9, 9),
        ];
        assert_eq!(count(0, &rows), (600, 60, 1));
    }
}
