//! Search behind damage: where it ends, and which gap it makes.

use std::sync::Arc;

use super::end::end_inside;
use super::{Stop, Walk};
use crate::error::Error;
use crate::rdb::cursor::Cursor;
use crate::rdb::opcode::byte;
use crate::rdb::resync::Goal;
use crate::rdb::salvage::lost_templates::stand_in;
use crate::rdb::scan::KeyEntry;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;

/// Number of lost templates whose number of fields cannot be found after which no other is looked for.
const MAX_UNKNOWN_TEMPLATES: u32 = 64;

/// State behind a gap, before the first key that looks like the others.
#[derive(Debug)]
pub(super) struct Leading {
    pub gap_start: usize,
    pub error: Error,
    /// Where parsing resumed.
    pub resumed: usize,
    pub rejected: u32,
}

/// Where a record is looked for behind a failure.
pub(super) struct Search {
    pub end: usize,
    /// True if no record begins before the end.
    pub is_one_item: bool,
}

/// What follows a stop of the walk.
enum Step {
    /// Nothing: the file ends.
    End,
    /// Items from this offset on.
    Resume(usize),
    /// A gap.
    Failed(Failure),
}

/// Item that cannot be read.
struct Failure {
    /// Offset where the walk had resumed.
    resumed: usize,
    /// End of the items before it that are sound.
    cut: usize,
    /// Its own offset.
    at: usize,
    error: Error,
    /// Search for a record behind it; `None` for the usual one.
    search: Option<Search>,
    /// Known record inside it.
    inside: Option<usize>,
}

impl Walk<'_> {
    /// Walks from `at` to the end of the file, past all damage.
    pub fn run(&mut self, mut at: usize) {
        loop {
            let stop = self.walk_from(at);
            let next = match self.after(stop, at) {
                Step::End => return,
                Step::Resume(next) => Some(next),
                Step::Failed(failure) => self.pass(failure),
            };
            match next {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// Returns what follows a stop of the walk that had resumed at this offset.
    fn after(&mut self, stop: Stop, resumed: usize) -> Step {
        let (mut search, mut inside) = (None, None);
        let (cut, at, error) = match stop {
            Stop::End => {
                self.end_leading(self.end);
                self.settle_all();
                return Step::End;
            }
            Stop::Failed { at, error, is_credible } => (self.retract(resumed, at, is_credible), at, error),
            Stop::Embedded(at) => {
                self.drop_pieces();
                (at, at, end_inside(at))
            }
            Stop::Inside(record) => return Step::Resume(record),
            Stop::LostTemplate { at, id, values, .. } if self.has_stand_in(id, values) => return Step::Resume(at),
            Stop::LostTemplate { at, error, .. } => (self.retract(resumed, at, true), at, error),
            Stop::Swallowed { at, record } => {
                inside = Some(record.inside);
                (self.retract(resumed, at, record.is_credible), at, record.error(at))
            }
            Stop::Lost { at, error, search: found } => {
                search = Some(found);
                (self.retract(resumed, at, true), at, error)
            }
        };
        Step::Failed(Failure { resumed, cut, at, error, search, inside })
    }

    /// Makes a gap of a failure, and returns where the walk resumes behind it; `None` if nothing more can be read.
    fn pass(&mut self, failure: Failure) -> Option<usize> {
        let Failure { resumed, cut, at: failed, error, search, inside } = failure;
        self.settle_all();
        self.database.left = None;
        if let Some(db) = self.database.head.take() {
            // Without records as yet: the damage lies between them and the database they belong to.
            self.parts.stretch(cut..cut, Some(db));
        }
        // A gap that no accepted key has ended goes on.
        let (gap_start, error, search_from) = match self.leading.take() {
            Some(leading) => (leading.gap_start, leading.error, leading.resumed.max(cut)),
            None => (cut, error, cut),
        };
        let reached = self.reached.max(failed);
        self.resync.charge(self.read_to.min(reached).saturating_sub(resumed));
        self.read_to = self.read_to.max(reached);
        let search = search.unwrap_or_else(|| self.search_behind(failed));
        let found = match self.parts.are_full() || search.is_one_item {
            true => None,
            false => inside.or_else(|| {
                let range = search_from + 1..search.end.max(search_from + 1);
                let templates = self.templates.as_ref();
                self.resync.find(range, Goal { failed, templates, profile: &self.profile, is_trusted: false })
            }),
        };
        if found.is_none() && search.end < self.bytes.len() && !self.parts.are_full() {
            self.parts.push_framing_gap(gap_start..search.end, self.database.settled, error);
            self.database.current = None;
            return Some(search.end);
        }
        if let Some(head) = self.resume_among_templates(search_from, found) {
            self.parts.push_framing_gap(gap_start..head, self.database.settled, error);
            return Some(head);
        }
        let Some(found) = found else {
            self.parts.push_framing_gap(gap_start..self.bytes.len(), self.database.settled, error);
            return None;
        };
        self.database.current = None;
        self.leading = Some(Leading { gap_start, error, resumed: found, rejected: 0 });
        Some(found)
    }

    /// Returns where an item before the first key begins behind damage that may be among templates, looking no farther than the record
    /// that was found.
    fn resume_among_templates(&mut self, search_from: usize, found: Option<usize>) -> Option<usize> {
        if !self.may_be_among_templates() {
            return None;
        }
        let templates = self.templates.get_or_insert_default();
        Arc::make_mut(templates).set_incomplete();
        let searched_to = found.unwrap_or(self.bytes.len());
        if self.searched_again > self.bytes.len() {
            return None;
        }
        let head = self.heads.resume(self.bytes, search_from + 1..searched_to, templates)?;
        self.searched_again = self.searched_again.saturating_add(searched_to.saturating_sub(head));
        Some(head)
    }

    /// Returns where the search for a record behind a failure ends: where one certainly begins, or at the end of the file.
    fn search_behind(&self, failed: usize) -> Search {
        match self.lost.get(self.lost.partition_point(|part| part.range.end <= failed)) {
            Some(part) if part.range.start > failed => Search { end: part.range.start, is_one_item: false },
            Some(part) => Search { end: part.range.end, is_one_item: part.is_one_item },
            None => Search { end: self.bytes.len(), is_one_item: false },
        }
    }

    /// Returns the lost part that begins at a boundary, once.
    pub(super) fn take_lost(&mut self, boundary: usize) -> Option<Stop> {
        if self.lost.is_empty() {
            return None;
        }
        let next = self.lost.partition_point(|part| part.range.start < boundary);
        let here = self.lost.iter_mut().skip(next).take_while(|part| part.range.start == boundary);
        let (error, part) = here.filter_map(|part| Some((part.error.take()?, part))).next()?;
        let search = Search { end: part.range.end, is_one_item: part.is_one_item };
        Some(Stop::Lost { at: boundary, error, search })
    }

    /// Returns whether templates may be damaged: those of a file stand before its first key.
    fn may_be_among_templates(&self) -> bool {
        let has_templates = !Templates::before(self.header).are_foreign();
        has_templates && self.profile.is_empty() && self.database.announced.is_empty() && !self.parts.are_full()
    }

    /// Returns the error of the template at a boundary if one of its names contains other items.
    pub(super) fn false_template(&mut self, boundary: usize, known: &Templates) -> Option<Error> {
        let is_template = self.bytes.get(boundary) == Some(&byte::HASH_TEMPLATE);
        if !is_template || self.is_proven() || !self.may_be_among_templates() {
            return None;
        }
        self.heads.false_template(self.bytes, boundary, known)
    }

    /// Returns whether a lost template could be given the number of values that such a hash has.
    fn has_stand_in(&mut self, id: u64, values: usize) -> bool {
        let Some(templates) = &mut self.templates else { return false };
        let found = self.unknown_templates < MAX_UNKNOWN_TEMPLATES
            && stand_in(self.bytes, values, id, templates, &mut self.resync, &self.profile);
        self.unknown_templates += u32::from(!found);
        found
    }
}

/// Returns the id of the lost template of a compact hash, whose value `input` is at, leaving it at the first value.
pub(super) fn lost_template(entry: &KeyEntry<'_>, input: &mut Cursor<'_>, templates: &Templates) -> Option<u64> {
    let is_reference = entry.value_type == ValueType::HashTemplateArrayRef && templates.are_incomplete();
    let id = is_reference.then(|| input.length().ok()).flatten()?;
    templates.get(id, entry.offset).is_err().then_some(id)
}
