//! Which records of a transcript still stand: not those that the user took back, nor abandoned branches of a tree.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::Range;

use crate::model::{Entry, Rewind};

/// A record's place in the order of the transcript.
pub(crate) type Seq = u32;

/// Ids are remembered as 64 bits: a long transcript has hundreds of thousands.
pub(crate) fn hash(id: &str) -> u64 {
    // 0 stands for "no id".
    BuildHasherDefault::<DefaultHasher>::default().hash_one(id).max(1)
}

/// The records that a message stands in, with their places.
pub(crate) struct Pieces(Vec<(u64, Seq)>);

/// What a piece of a message is to those before it.
pub(crate) enum Piece {
    /// It goes on with the message.
    More,
    /// The one record that the message stood in was written again.
    Instead,
    /// One of its records was written again.
    Known,
}

impl Pieces {
    /// A message that begins.
    pub(crate) fn of(record: u64, seq: Seq) -> Self {
        Self(vec![(record, seq)])
    }

    /// Notes a further piece.
    pub(crate) fn add(&mut self, record: u64, seq: Seq) -> Piece {
        let again = record != 0 && self.0.iter().any(|(id, at)| *id == record && *at != seq);
        if !again {
            if self.0.last() != Some(&(record, seq)) {
                self.0.push((record, seq));
            }
            return Piece::More;
        }
        if self.0.iter().all(|(id, _)| *id == record) {
            *self = Self::of(record, seq);
            return Piece::Instead;
        }
        Piece::Known
    }
}

#[derive(Clone, Copy)]
struct Mark {
    id: u64,
    parent: u64,
}

/// Ranges of records, each reaching to the last record of its time: in order and apart.
#[derive(Clone, Default)]
struct TakenBack(Vec<Range<Seq>>);

impl TakenBack {
    /// Adds what stands from `first` on, `end` being behind the last record.
    fn take(&mut self, first: Seq, end: Seq) {
        let mut first = first;
        while let Some(last) = self.0.pop_if(|last| last.end >= first) {
            first = first.min(last.start);
        }
        self.0.push(first..end);
    }

    fn has(&self, seq: Seq) -> bool {
        let at = self.0.partition_point(|range| range.end <= seq);
        self.0.get(at).is_some_and(|range| range.contains(&seq))
    }
}

/// The records that stand and where the ids among them are. Made with the first rewind: most transcripts have none.
struct Index {
    /// In order.
    standing: Vec<Seq>,
    /// The last standing record with an id.
    last: HashMap<u64, Seq>,
    /// For each record the standing one with the same id before it, or itself.
    before: Vec<Seq>,
}

impl Index {
    fn of(marks: &[Mark]) -> Self {
        let mut index = Self {
            standing: vec![],
            last: HashMap::new(),
            before: vec![],
        };
        marks.iter().for_each(|mark| index.push(mark.id));
        index
    }

    /// Notes the next record.
    fn push(&mut self, id: u64) {
        let seq = Seq::try_from(self.before.len()).unwrap_or(Seq::MAX);
        self.before.push(self.last.insert(id, seq).unwrap_or(seq));
        self.standing.push(seq);
    }

    /// Takes out the records from `first` on.
    fn cut(&mut self, first: Seq, marks: &[Mark]) {
        while let Some(seq) = self.standing.pop_if(|seq| *seq >= first) {
            let (mark, before) = (marks.get(seq as usize), self.before.get(seq as usize));
            let (Some(mark), Some(&before)) = (mark, before) else {
                continue;
            };
            if before == seq {
                self.last.remove(&mark.id);
            } else {
                self.last.insert(mark.id, before);
            }
        }
    }

    fn first(&self, id: u64) -> Option<Seq> {
        let mut seq = *self.last.get(&id)?;
        while let Some(&before) = self.before.get(seq as usize)
            && before != seq
        {
            seq = before;
        }
        Some(seq)
    }
}

/// Keeps what is needed to tell standing records from others.
#[derive(Default)]
pub(crate) struct Branches {
    marks: Vec<Mark>,
    index: Option<Index>,
    last: Option<(u64, u64)>,
    taken_back: TakenBack,
    /// The part of it whose effects on files were taken back as well.
    files_taken_back: TakenBack,
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
            if let Some(index) = &mut self.index {
                index.push(id);
            }
        }
        self.end().saturating_sub(1)
    }

    pub(crate) fn rewind(&mut self, rewind: &Rewind) {
        let (id, end) = (hash(&rewind.record_id), self.end());
        let index = self.index.get_or_insert_with(|| Index::of(&self.marks));
        // A record that was written again under its id goes from its first place on, or stays in all of them. What
        // was taken back before under this id was another one.
        let first = if rewind.inclusive {
            index.first(id)
        } else {
            index.last.get(&id).map(|last| last.saturating_add(1))
        };
        let Some(first) = first.filter(|first| *first < end) else {
            return;
        };
        index.cut(first, &self.marks);
        self.taken_back.take(first, end);
        if rewind.restores_files {
            self.files_taken_back.take(first, end);
        }
    }

    fn end(&self) -> Seq {
        Seq::try_from(self.marks.len()).unwrap_or(Seq::MAX)
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            taken_back: self.taken_back.clone(),
            files_taken_back: self.files_taken_back.clone(),
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
        // A record that was written again under its id stands in all its places.
        let standing: HashSet<u64> = self
            .marks
            .iter()
            .zip(&on_branch)
            .filter(|(mark, stands)| **stands && mark.id != 0)
            .map(|(mark, _)| mark.id)
            .collect();
        for (mark, flag) in self.marks.iter().zip(&mut on_branch) {
            *flag |= standing.contains(&mark.id);
        }
        on_branch
    }
}

/// Tells which records stand.
pub(crate) struct Standing {
    taken_back: TakenBack,
    files_taken_back: TakenBack,
    on_branch: Option<Vec<bool>>,
}

impl Standing {
    /// Whether the record's prompt or text counts.
    pub(crate) fn holds(&self, seq: Seq) -> bool {
        self.on_branch(seq) && !self.taken_back.has(seq)
    }

    /// Whether the record's effects on files count.
    pub(crate) fn holds_files(&self, seq: Seq) -> bool {
        self.on_branch(seq) && !self.files_taken_back.has(seq)
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
    fn a_branch_that_was_written_again_stands_in_all_its_places() {
        let records = [
            ("a", None),
            ("b", Some("a")),
            ("x", Some("a")),
            ("a", None),
            ("b", Some("a")),
        ];
        assert_eq!(standing(&records), [true, true, false, true, true]);
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

    /// The rule of [`Branches::rewind`] in its plainest form, a walk over all records for each rewind.
    fn taken_back_plainly(ids: &[u8], rewinds: &[(usize, u8, bool, bool)]) -> Vec<(bool, bool)> {
        let mut taken: Vec<(bool, bool)> = vec![];
        for (at, _) in ids.iter().enumerate() {
            for &(_, id, inclusive, with_files) in rewinds.iter().filter(|(before, ..)| *before == at) {
                let stands = |place: &usize| ids[*place] == id && !taken[*place].0;
                let mut places = (0..at).filter(stands);
                let first = if inclusive {
                    places.next()
                } else {
                    places.next_back().map(|place| place + 1)
                };
                for place in first.into_iter().flat_map(|first| first..at) {
                    taken[place] = (true, taken[place].1 || with_files);
                }
            }
            taken.push((false, false));
        }
        taken
    }

    proptest::proptest! {
        #[test]
        fn what_is_taken_back_is_what_the_plain_rule_says(
            ids in proptest::collection::vec(0..5u8, 1..40),
            rewinds in proptest::collection::vec((0..40usize, 0..5u8, proptest::bool::ANY, proptest::bool::ANY), 0..12),
        ) {
            let mut branches = Branches::default();
            for (at, id) in ids.iter().enumerate() {
                for (_, id, inclusive, restores_files) in rewinds.iter().filter(|(before, ..)| *before == at) {
                    branches.rewind(&Rewind {
                        record_id: id.to_string(),
                        inclusive: *inclusive,
                        restores_files: *restores_files,
                    });
                }
                branches.record(&Entry {
                    offset: at as u64,
                    time: None,
                    record_id: Some(id.to_string()),
                    parent_id: None,
                    subagent: None,
                    inherited: false,
                    item: Item::Note,
                });
            }
            let standing = branches.standing();
            let seqs = 0..Seq::try_from(ids.len()).unwrap();
            let told: Vec<_> = seqs.map(|seq| (!standing.holds(seq), !standing.holds_files(seq))).collect();
            proptest::prop_assert_eq!(told, taken_back_plainly(&ids, &rewinds));
        }
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
