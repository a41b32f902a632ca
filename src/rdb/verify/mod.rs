//! Visitor behind `rdblens check`: decompresses every string and checks every value as servers do that sanitize what they load.
//!
//! [`Notes`] are oddities that servers load; all else that servers refuse is a fault. Their checks are in `rdbLoadObject` and
//! the functions that it calls (`sanitize-dump-payload yes`); `.ci/differential` compares both on mutants of real dumps.

mod modules;
pub mod name_hash;
mod packed;
mod stream;
pub mod unique;
mod visit;

use std::sync::Arc;

use modules::{ModuleCheck, TextUse};
use name_hash::NameHasher;
use packed::PackedCheck;
use stream::StreamCheck;
use unique::Unique;

use super::header::{Family, RdbHeader};
use super::string::RawString;
use super::template;
use super::value_type::ValueType;
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::limits;
use crate::rdb::packed::{Layout, Packing};
use crate::rdb::scratch::Scratch;

/// Visitor that validates every part of a value and keeps the first fault.
#[derive(Debug)]
pub struct Verify {
    /// True if what can be shown is sound, whatever servers say of it.
    lenient: bool,
    value_type: Option<ValueType>,
    scratch: Scratch,
    fault: Option<Error>,
    /// The first part that is too large to be decompressed.
    over_budget: Option<Error>,
    notes: Notes,
    unique: Unique,
    /// Kind of the elements in `unique`.
    names: Option<Reading>,
    /// The first of them that occurs twice.
    repeated: Option<Error>,
    /// Elements so far, or of all packed nodes.
    elements: u64,
    stream: StreamCheck,
    modules: ModuleCheck,
    /// The last field name of a compact hash that stores its names.
    last_name: Option<Vec<u8>>,
    /// True while a value is walked again for another part of its elements.
    again: bool,
}

/// Oddities of a value that servers load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Notes {
    /// No elements: servers skip the key.
    pub empty: bool,
    /// Counts of a stream differ from its entries, entries are out of order, or numbers are stored as text.
    pub odd_stream: bool,
    /// A score is a text that servers read in part, or as 0.
    pub odd_score: bool,
    /// An element of a vector set occurs twice.
    pub odd_vector_set: bool,
    /// A packed element has a size that servers of different versions store differently.
    pub edge_element: bool,
    /// The field names are those of a template that lies in a damaged part of the file.
    pub lost_template: bool,
}

impl Verify {
    /// Creates a visitor for files with this header: the checks of servers differ between families and versions.
    pub fn new(header: RdbHeader) -> Verify {
        let hasher = Arc::new(NameHasher::random());
        let mut modules = ModuleCheck::new();
        modules.set_header(header);
        Verify {
            lenient: false,
            value_type: None,
            scratch: Scratch::new(limits::MAX_UNASKED_PART),
            fault: None,
            over_budget: None,
            notes: Notes::default(),
            unique: Unique::new(&hasher),
            names: None,
            repeated: None,
            elements: 0,
            stream: StreamCheck::new(header, &hasher),
            modules,
            last_name: None,
            again: false,
        }
    }

    /// Creates a visitor that checks only that a value can be shown: its parts may repeat or contradict each other.
    pub fn lenient() -> Verify {
        /// A version whose servers do not look into texts and counts.
        const UNCHECKED: RdbHeader = RdbHeader { family: Family::Redis, version: 11 };
        Verify { lenient: true, ..Verify::new(UNCHECKED) }
    }

    /// Sets the maximum size of what is decompressed; larger parts are not checked.
    #[must_use]
    pub fn with_parts_up_to(self, most: u64) -> Verify {
        Verify { scratch: Scratch::new(most), unique: self.unique.for_parts_up_to(most), ..self }
    }

    /// Returns the first part of the value that was too large to be decompressed, and so was not checked.
    pub fn take_over_budget(&mut self) -> Option<Error> {
        self.over_budget.take()
    }

    /// Returns whether the value has to be walked once more, because it has too many elements to compare all at a time.
    pub fn needs_another_walk(&mut self) -> bool {
        self.compare_names();
        // Parts of a value without names, such as the nodes of a stream, are announced like elements, but not compared.
        self.again = self.fault.is_none() && self.names.is_some() && self.unique.next_part();
        self.again
    }

    fn compare_names(&mut self) {
        let found = self.unique.finish().within(self.names.unwrap_or(Reading::Element));
        keep_earlier(&mut self.repeated, found);
    }

    /// Returns what is odd about the value walked since the last call, or its first fault.
    pub fn finish(&mut self) -> Result<Notes> {
        self.compare_names();
        self.again = false;
        let repeated = self.repeated.take();
        if self.names == Some(Reading::VectorSetElement) {
            self.notes.odd_vector_set = repeated.is_some();
        } else {
            self.note(repeated.map_or(Ok(()), Err));
        }
        self.scratch.keep(limits::EXPAND_AT_ONCE);
        if matches!(self.value_type, Some(ValueType::Stream(_)) if !self.lenient) {
            let groups = self.stream.finish();
            self.note(groups);
            self.notes.odd_stream = self.stream.odd;
            self.notes.edge_element |= self.stream.edge_element;
        }
        self.notes.empty = self.elements == 0 && self.value_type.is_some_and(ValueType::is_skipped_without_elements);
        let notes = std::mem::take(&mut self.notes);
        self.fault.take().map_or(Ok(notes), Err)
    }

    /// Checks that a field name of a compact hash is in order behind the one before it.
    fn follows(&mut self, field: RawString<'_>) {
        if self.again || self.lenient {
            return;
        }
        let result = field.decode(&mut self.scratch).map(<[u8]>::to_vec).and_then(|name| {
            let last = self.last_name.as_ref();
            let is_sorted = last.is_none_or(|last| (last.len(), last) < (name.len(), &name));
            self.last_name = Some(name);
            if is_sorted { Ok(()) } else { Err(template::unsorted(field.offset)) }
        });
        self.note(result.within(Reading::HashField));
    }

    fn note(&mut self, result: Result<()>) {
        match result {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), ErrorKind::OverBudget(_)) => {
                self.over_budget.get_or_insert(error);
            }
            Err(error) => {
                self.fault.get_or_insert(error);
            }
        }
    }

    fn module_text(&mut self, string: RawString<'_>) {
        match self.modules.text_use() {
            TextUse::Length => self.text(string, Reading::StringInModuleData),
            TextUse::Name(elements) => {
                self.unique.expect(elements);
                self.name(string, Reading::VectorSetElement);
            }
            TextUse::Document(form) => {
                self.check_large(string, Reading::JsonDocument);
                let result = string.decode(&mut self.scratch).and_then(|document| form.check(document, string));
                self.note(result.within(Reading::JsonDocument));
            }
        }
    }

    fn text(&mut self, string: RawString<'_>, reading: Reading) {
        if string.is_compressed() {
            self.note(string.check().within(reading));
        }
    }

    /// Checks the name of a group or consumer, and has the stream start with it: without a name, if that is too large.
    fn stream_name(
        &mut self,
        name: RawString<'_>,
        reading: Reading,
        start: fn(&mut StreamCheck, Option<&[u8]>, u64) -> Result<()>,
    ) {
        if self.lenient {
            return self.text(name, reading);
        }
        self.check_large(name, reading);
        let result = match name.decode(&mut self.scratch).within(reading) {
            Ok(text) => start(&mut self.stream, Some(text), name.offset),
            Err(error) => start(&mut self.stream, None, name.offset).and(Err(error)),
        };
        self.note(result);
    }

    /// Checks a name, of which no two may be the same.
    fn name(&mut self, string: RawString<'_>, reading: Reading) {
        if self.lenient {
            return self.text(string, reading);
        }
        self.names = Some(reading);
        self.check_large(string, reading);
        let result = string.decode(&mut self.scratch).map(|name| self.unique.add(name, string.offset)).within(reading);
        self.note(result);
    }

    /// Checks a part that is too large to be decompressed as far as that is possible without.
    #[inline]
    fn check_large(&mut self, part: RawString<'_>, reading: Reading) {
        if part.is_compressed() && part.len() > self.scratch.most() {
            self.note(part.check().within(reading));
        }
    }

    fn packed(&mut self, blob: RawString<'_>, reading: Reading, layout: Layout, packing: Packing) {
        self.check_large(blob, reading);
        let Verify { scratch, unique, notes, lenient, .. } = self;
        let check = |bytes: &[u8]| {
            let mut repeated = None;
            unique.expect(if *lenient { 0 } else { packed::most_names(layout, packing, bytes.len()) });
            loop {
                let check = PackedCheck { layout, unique, notes, lenient: *lenient, expiry: -1 };
                let elements = match packing {
                    Packing::Listpack => check.listpack(bytes, blob.offset),
                    Packing::Ziplist => check.ziplist(bytes, blob.offset),
                    Packing::Zipmap => check.zipmap(bytes, blob.offset),
                    Packing::Intset => check.intset(bytes, blob.offset),
                }?;
                keep_earlier(&mut repeated, unique.finish().within(packed::reading(layout)));
                if !unique.next_part() {
                    return repeated.map_or(Ok(elements), Err);
                }
            }
        };
        let result = blob.decode(scratch).and_then(check).within(reading);
        // A blob that cannot be counted is not empty.
        self.elements += *result.as_ref().unwrap_or(&1);
        self.note(result.map(|_| ()));
    }
}

/// Keeps the first of two errors in the file, so that it does not depend on which part of the elements was compared first.
fn keep_earlier(first: &mut Option<Error>, result: Result<()>) {
    if let Err(error) = result
        && first.as_ref().is_none_or(|first| error.offset() < first.offset())
    {
        *first = Some(error);
    }
}

#[cfg(test)]
mod tests;
