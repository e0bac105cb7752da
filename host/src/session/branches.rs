//! Which records of a transcript still stand: not those that the user took back, nor abandoned branches of a tree.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::model::{Entry, Rewind};

/// A record's place in the order of the transcript.
pub(crate) type Seq = u32;

/// Ids are remembered as 64 bits: a long transcript has hundreds of thousands.
pub(crate) fn hash(id: &str) -> u64 {
    // 0 stands for "no id".
    BuildHasherDefault::<DefaultHasher>::default().hash_one(id).max(1)
}

#[derive(Clone, Copy)]
struct Mark {
    id: u64,
    parent: u64,
}

/// A range of records that the user took back.
#[derive(Clone)]
struct TakenBack {
    records: std::ops::Range<Seq>,
    with_files: bool,
}

/// Keeps what is needed to tell standing records from others.
#[derive(Default)]
pub(crate) struct Branches {
    marks: Vec<Mark>,
    last: Option<(u64, u64)>,
    taken_back: Vec<TakenBack>,
    /// The last record of the main agent, when the transcript is a tree.
    leaf: Option<u64>,
    is_tree: bool,
}

impl Branches {
    /// Notes an entry's record and gives its place.
    pub(crate) fn record(&mut self, entry: &Entry) -> Seq {
        let id = entry.record_id.as_deref().map_or(0, hash);
        if self.last != Some((entry.offset, id)) {
            self.last = Some((entry.offset, id));
            let parent = entry.parent_id.as_deref().map_or(0, hash);
            self.is_tree |= parent != 0;
            if id != 0 && entry.subagent.is_none() {
                self.leaf = Some(id);
            }
            self.marks.push(Mark { id, parent });
        }
        self.end().saturating_sub(1)
    }

    pub(crate) fn rewind(&mut self, rewind: &Rewind) {
        let id = hash(&rewind.record_id);
        // A record that was written again under its id goes from its first place on, or stays in all of them. What
        // was taken back before under this id was another one.
        let stands = |at: &Seq| !self.taken_back.iter().any(|range| range.records.contains(at));
        let places = (0..).zip(&self.marks).filter(|(_, mark)| mark.id == id);
        let mut places = places.map(|(at, _)| at).filter(stands);
        let first = if rewind.inclusive {
            places.next()
        } else {
            places.last().map(|at| at.saturating_add(1))
        };
        if let Some(first) = first {
            self.taken_back.push(TakenBack {
                records: first..self.end(),
                with_files: rewind.restores_files,
            });
        }
    }

    fn end(&self) -> Seq {
        Seq::try_from(self.marks.len()).unwrap_or(Seq::MAX)
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            taken_back: self.taken_back.clone(),
            on_branch: self.is_tree.then(|| self.branch()),
        }
    }

    /// For each record whether it is on the branch that ends in the last one. A parent that is not in the file (its
    /// line was broken) is taken to be the record before.
    fn branch(&self) -> Vec<bool> {
        let mut places = HashMap::with_capacity(self.marks.len());
        for (place, mark) in self.marks.iter().enumerate().filter(|(_, mark)| mark.id != 0) {
            places.insert(mark.id, place);
        }
        let mut on_branch: Vec<bool> = self.marks.iter().map(|mark| mark.id == 0).collect();
        let mut next = self.leaf.and_then(|leaf| places.get(&leaf).copied());
        while let Some(place) = next {
            let (Some(mark), Some(flag)) = (self.marks.get(place), on_branch.get_mut(place)) else {
                break;
            };
            if mark.id != 0 && std::mem::replace(flag, true) {
                break;
            }
            next = match (mark.id, mark.parent) {
                (0, _) => place.checked_sub(1),
                (_, 0) => None,
                (_, parent) => places
                    .get(&parent)
                    .copied()
                    .filter(|&found| found != place)
                    .or(place.checked_sub(1)),
            };
        }
        on_branch
    }
}

/// Tells which records stand.
pub(crate) struct Standing {
    taken_back: Vec<TakenBack>,
    on_branch: Option<Vec<bool>>,
}

impl Standing {
    /// Whether the record's prompt or text counts.
    pub(crate) fn holds(&self, seq: Seq) -> bool {
        self.on_branch(seq) && !self.taken_back.iter().any(|range| range.records.contains(&seq))
    }

    /// Whether the record's effects on files count.
    pub(crate) fn holds_files(&self, seq: Seq) -> bool {
        self.on_branch(seq)
            && !self
                .taken_back
                .iter()
                .any(|range| range.with_files && range.records.contains(&seq))
    }

    fn on_branch(&self, seq: Seq) -> bool {
        self.on_branch
            .as_ref()
            .is_none_or(|flags| flags.get(seq as usize).copied().unwrap_or(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Item;

    fn standing(records: &[(&str, Option<&str>)]) -> Vec<bool> {
        let mut branches = Branches::default();
        for (offset, (id, parent)) in (0..).zip(records) {
            branches.record(&Entry {
                offset,
                time: None,
                record_id: Some((*id).to_owned()),
                parent_id: parent.map(str::to_owned),
                subagent: None,
                inherited: false,
                item: Item::Note,
            });
        }
        let standing = branches.standing();
        (0..records.len())
            .map(|seq| standing.holds(Seq::try_from(seq).unwrap()))
            .collect()
    }

    #[test]
    fn the_branch_of_the_last_record_stands() {
        let records = [
            ("a", None),
            ("b", Some("a")),
            ("c", Some("b")),
            ("d", Some("a")),
            ("e", Some("d")),
        ];
        assert_eq!(standing(&records), [true, false, false, true, true]);
    }

    #[test]
    fn going_back_to_an_abandoned_branch_revives_it() {
        let records = [("a", None), ("b", Some("a")), ("c", Some("a")), ("d", Some("b"))];
        assert_eq!(standing(&records), [true, true, false, true]);
    }

    #[test]
    fn a_record_that_was_written_again_is_taken_back_in_all_its_places() {
        let taken_back = |ids: &[&str], rewinds: &[(usize, &str, bool)]| {
            let mut branches = Branches::default();
            for (at, id) in ids.iter().enumerate() {
                for (_, record_id, inclusive) in rewinds.iter().filter(|(before, ..)| *before == at) {
                    branches.rewind(&Rewind {
                        record_id: (*record_id).to_owned(),
                        inclusive: *inclusive,
                        restores_files: true,
                    });
                }
                branches.record(&Entry {
                    offset: at as u64,
                    time: None,
                    record_id: Some((*id).to_owned()),
                    parent_id: None,
                    subagent: None,
                    inherited: false,
                    item: Item::Note,
                });
            }
            let standing = branches.standing();
            let stand = |at: usize| standing.holds(Seq::try_from(at).unwrap());
            (0..ids.len()).filter(|at| !stand(*at)).collect::<Vec<_>>()
        };
        let ids = ["a", "b", "b", "c", "rewind"];
        assert_eq!(taken_back(&ids, &[(4, "b", true)]), [1, 2, 3]);
        assert_eq!(taken_back(&ids, &[(4, "b", false)]), [3]);
        // The second `b` is a new record: the first was taken back before it was written.
        assert_eq!(
            taken_back(&["a", "b", "c", "b", "d", "e"], &[(3, "b", true), (5, "b", true)]),
            [1, 2, 3, 4]
        );
        assert_eq!(taken_back(&["a", "b", "c", "b", "d"], &[(3, "b", true)]), [1, 2]);
    }

    #[test]
    fn a_parent_whose_line_was_broken_cuts_nothing_off() {
        let records = [("a", None), ("b", Some("a")), ("d", Some("c"))];
        assert_eq!(standing(&records), [true, true, true]);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        assert_eq!(standing(&[("a", Some("b")), ("b", Some("a"))]), [true, true]);
    }
}
