//! Number of keys of all patterns that expire in each second.
//!
//! The counts are exact, and their sum over all workers does not depend on the order of the keys. They are kept in pages of 1024
//! seconds, which are allocated when a key expires in them. A page has one byte for each second, so that those of a month stay in the
//! cache of a processor; what a byte cannot hold is carried to a map, for the few seconds in which hundreds of keys expire.
//!
//! Of more than [`MAX_PAGES`], the earliest are kept, which depends on the set of keys alone: a page among the earliest of all is
//! among those of each worker, ever since its first key. Later keys, and those beyond [`MAX_PLACES`], are not counted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::Millis;

/// Seconds of a page.
const PAGE: u32 = 1024;
/// Seconds of a block: at least as many as the longest window that is searched for.
const BLOCK: u32 = 64;
/// Number of keys that are counted together. Their counts lie anywhere in megabytes: one by one, each would wait for memory, while a loop
/// over many waits for several at once.
const PENDING: usize = 4096;
/// Maximum number of pages: 97 days in which keys expire, 8 MiB.
const MAX_PAGES: usize = 8192;
/// Maximum number of pages, used or not, from the reference time on: eight years.
const MAX_PLACES: usize = 1 << 18;

/// Low byte of the count of each second of a page.
type Page = [u8; PAGE as usize];

/// Keys that expire in each second.
#[derive(Debug, Clone)]
pub struct SecondCounts {
    /// Number of the first page since 1970, that of the reference time.
    first: u32,
    /// Pages from there on, as far as keys expire in them.
    pages: Vec<Option<Box<Page>>>,
    /// Counts above the low byte, of the seconds that have more.
    carries: BTreeMap<u32, u32>,
    /// Number of pages that are allocated.
    used: usize,
    /// Keys were not counted in pages from here on.
    end: usize,
    /// Seconds in which further keys expire.
    pending: Vec<u32>,
}

impl SecondCounts {
    /// Creates an empty table for keys that expire at `reference` or later.
    pub fn new(reference: Millis) -> Self {
        SecondCounts::of_page(second(reference) / PAGE, MAX_PLACES)
    }

    fn of_page(first: u32, end: usize) -> Self {
        SecondCounts { first, pages: Vec::new(), carries: BTreeMap::new(), used: 0, end, pending: Vec::new() }
    }

    /// Adds a key that expires at a time.
    #[inline]
    pub fn add(&mut self, at: Millis) {
        self.pending.push(second(at));
        if self.pending.len() >= PENDING {
            self.settle();
        }
    }

    /// Counts the keys that were added.
    #[inline(never)]
    pub fn settle(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        for &second in &pending {
            match self.low_byte(second) {
                Some(low) if *low < u8::MAX => *low += 1,
                _ => self.add_keys(second, 1),
            }
        }
        pending.clear();
        self.pending = pending;
    }

    /// Returns the table with all keys counted.
    pub fn settled(&self) -> Cow<'_, Self> {
        if self.pending.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut all = self.clone();
        all.settle();
        Cow::Owned(all)
    }

    /// Returns the place of a second's page.
    fn place(&self, second: u32) -> usize {
        (second / PAGE).wrapping_sub(self.first) as usize
    }

    /// Returns the first second of a page.
    fn page_start(&self, place: usize) -> u32 {
        self.first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)).saturating_mul(PAGE)
    }

    /// Returns the pages in which keys expire, each with its first second.
    fn pages_of(&self, places: Range<usize>) -> impl Iterator<Item = (u32, &Page)> {
        let pages = self.pages.get(places.clone()).unwrap_or_default();
        places.zip(pages).filter_map(|(place, page)| Some((self.page_start(place), page.as_deref()?)))
    }

    /// Returns the count of a second with this low byte.
    fn count(&self, second: u32, low: u8) -> u32 {
        let carry = self.carries.get(&second).copied().unwrap_or_default();
        carry << u8::BITS | u32::from(low)
    }

    /// Returns the low byte of the count of a second whose page is there.
    fn low_byte(&mut self, second: u32) -> Option<&mut u8> {
        let place = self.place(second);
        let page = self.pages.get_mut(place)?.as_mut()?;
        Some(&mut page[(second % PAGE) as usize])
    }

    /// Adds keys that expire in a second, with a page for it if there is none.
    #[cold]
    fn add_keys(&mut self, second: u32, keys: u32) {
        let place = self.place(second);
        if place >= self.end {
            return;
        }
        if self.pages.len() <= place {
            self.pages.resize(place + 1, None);
        }
        if let Some(page @ None) = self.pages.get_mut(place) {
            *page = Some(Box::new([0; PAGE as usize]));
            self.used += 1;
        }
        let carried = self.count(second, 0);
        if let Some(low) = self.low_byte(second) {
            let count = carried.saturating_add(u32::from(*low)).saturating_add(keys);
            [*low, ..] = count.to_le_bytes();
            if count > u32::from(u8::MAX) {
                self.carries.insert(second, count >> u8::BITS);
            }
        }
        self.drop_latest();
    }

    /// Drops the latest pages beyond the limit.
    fn drop_latest(&mut self) {
        while self.used > MAX_PAGES || self.pages.len() > self.end {
            let Some(last) = self.pages.pop() else { return };
            if last.is_some() {
                self.used -= 1;
                self.end = self.end.min(self.pages.len());
            }
        }
        let end = self.end();
        while let Some(last) = self.carries.last_entry().filter(|last| *last.key() >= end) {
            last.remove();
        }
    }

    /// Adds the keys of another table for the same reference time.
    pub fn merge(&mut self, other: &SecondCounts) {
        self.settle();
        let other = other.settled();
        self.end = self.end.min(other.end);
        self.drop_latest();
        other.counts().for_each(|(second, keys)| self.add_keys(second, keys));
    }

    /// Returns the seconds in which keys expire, ascending, with their number, of a [settled](SecondCounts::settle) table.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u32)> {
        self.counts_within(0..u32::MAX)
    }

    /// Returns the seconds of a span in which keys expire, ascending, with their number.
    pub fn counts_within(&self, span: Range<u32>) -> impl Iterator<Item = (u32, u32)> {
        let place = |second: u32| ((second / PAGE).saturating_sub(self.first) as usize).min(self.pages.len());
        let places = place(span.start)..place(span.end).saturating_add(1).min(self.pages.len());
        self.pages_of(places).flat_map(move |(start, page)| {
            let seconds = (0..PAGE).map(move |second| start.saturating_add(second));
            let counts = seconds.zip(page).map(|(second, low)| (second, self.count(second, *low)));
            let span = span.clone();
            counts.filter(move |(second, keys)| *keys > 0 && span.contains(second))
        })
    }

    /// Returns the spans of time around all windows of up to [`BLOCK`] seconds with at least this many keys, and `margin` seconds before
    /// and after these; ascending and apart. Most snapshots have few such windows, so that few seconds need a closer look.
    pub fn busy_spans(&self, least: u64, margin: u32) -> Vec<Range<u32>> {
        let mut spans: Vec<Range<u32>> = Vec::new();
        // Start and keys of the block before.
        let mut before = (0, 0);
        for (page_start, page) in self.pages_of(0..self.pages.len()) {
            for (number, block) in (0u32..).zip(page.as_chunks::<{ BLOCK as usize }>().0) {
                let start = page_start.saturating_add(number * BLOCK);
                let low: u64 = block.iter().copied().map(u64::from).sum();
                let carries = self
                    .carries
                    .range(start..start.saturating_add(BLOCK))
                    .map(|(_, carry)| u64::from(*carry) << u8::BITS);
                let keys = low + carries.sum::<u64>();
                let joined = if start.checked_sub(BLOCK) == Some(before.0) { before.1 } else { 0 };
                before = (start, keys);
                if keys + joined < least {
                    continue;
                }
                // A window may begin in the block before, and end in the next one, even where no key expires in them.
                let beside = margin.saturating_add(BLOCK);
                let span = start.saturating_sub(beside)..start.saturating_add(BLOCK).saturating_add(beside);
                match spans.last_mut().filter(|last| last.end >= span.start) {
                    Some(last) => last.end = span.end,
                    None => spans.push(span),
                }
            }
        }
        spans
    }

    /// Returns the first second whose keys may not have been counted.
    pub fn end(&self) -> u32 {
        self.page_start(self.end)
    }
}

/// Converts a time to seconds; times before 1970 count as 1970.
pub(super) fn second(at: Millis) -> u32 {
    u32::try_from(at.0.max(0) / 1000).unwrap_or(u32::MAX)
}

/// Stored form.
#[derive(Serialize, Deserialize)]
struct Stored {
    first: u32,
    end: usize,
    /// Offset of each page from the first one, and its counts: most take one byte.
    pages: Vec<(usize, Vec<u32>)>,
}

impl Serialize for SecondCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = self.settled();
        let pages = all.pages.iter().enumerate().filter_map(|(place, page)| {
            let counts = (all.page_start(place)..).zip(page.as_deref()?).map(|(second, low)| all.count(second, *low));
            Some((place, counts.collect()))
        });
        Stored { first: all.first, end: all.end, pages: pages.collect() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SecondCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { first, end, pages } = Stored::deserialize(deserializer)?;
        let mut table = SecondCounts::of_page(first, end.min(MAX_PLACES));
        for (place, counts) in pages {
            let start = table.page_start(place);
            let counts = (0..PAGE).zip(counts).filter(|(_, keys)| *keys > 0);
            counts.for_each(|(second, keys)| table.add_keys(start.saturating_add(second), keys));
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(seconds: &[u32]) -> SecondCounts {
        let mut table = SecondCounts::new(Millis(5_000));
        seconds.iter().for_each(|second| table.add(Millis(i64::from(*second) * 1000 + 999)));
        table.settle();
        table
    }

    #[test]
    fn keys_are_counted_by_second() {
        let counts: Vec<_> = table(&[5, 2_000, 5, 1_023, 1_024]).counts().collect();
        assert_eq!(counts, [(5, 2), (1_023, 1), (1_024, 1), (2_000, 1)]);
        assert_eq!(table(&[]).counts().count(), 0);
    }

    #[test]
    fn a_second_may_have_any_number_of_keys() {
        let seconds: Vec<u32> = [(6, 1), (7, 255), (8, 256), (9, 257), (10, 70_000)]
            .into_iter()
            .flat_map(|(second, keys)| vec![second; keys])
            .collect();
        let table = table(&seconds);
        assert_eq!(table.counts().collect::<Vec<_>>(), [(6, 1), (7, 255), (8, 256), (9, 257), (10, 70_000)]);
        assert_eq!(table.busy_spans(70_769, 0).len(), 1);
        assert!(table.busy_spans(70_770, 0).is_empty());
        let mut doubled = table.clone();
        doubled.merge(&table);
        assert_eq!(doubled.counts().collect::<Vec<_>>(), [(6, 2), (7, 510), (8, 512), (9, 514), (10, 140_000)]);
        let stored: SecondCounts = postcard::from_bytes(&postcard::to_stdvec(&doubled).unwrap()).unwrap();
        assert_eq!(stored.counts().collect::<Vec<_>>(), doubled.counts().collect::<Vec<_>>());
    }

    #[test]
    fn times_far_ahead_are_not_counted() {
        let far = table(&[7, u32::MAX, PAGE * (1 << 18), PAGE * (1 << 18) - 1]);
        assert_eq!(far.counts().map(|(second, _)| second).collect::<Vec<_>>(), [7, PAGE * (1 << 18) - 1]);
        assert_eq!(far.end(), PAGE * (1 << 18));
        let mut table = SecondCounts::new(Millis(i64::MAX));
        [i64::MIN, 0, i64::MAX].into_iter().for_each(|at| table.add(Millis(at)));
        assert!(table.settled().counts().count() <= 1);
    }

    #[test]
    fn of_too_many_pages_the_earliest_are_kept() {
        let pages = u32::try_from(MAX_PAGES).unwrap();
        let seconds: Vec<u32> = (0..pages + 9).map(|page| page * PAGE + 7).collect();
        let reversed: Vec<u32> = seconds.iter().rev().copied().collect();
        for seconds in [&seconds, &reversed] {
            let table = table(seconds);
            assert_eq!((table.counts().count(), table.used, table.end()), (MAX_PAGES, MAX_PAGES, pages * PAGE));
        }
        let (left, right) = seconds.split_at(5_000);
        let mut merged = table(right);
        merged.merge(&table(left));
        assert_eq!(merged.counts().collect::<Vec<_>>(), table(&seconds).counts().collect::<Vec<_>>());
        assert_eq!(merged.end(), pages * PAGE);
        let last = pages * PAGE + 7;
        let later: Vec<u32> = (1..=pages).map(|page| page * PAGE + 7).chain([last; 300]).collect();
        let mut full = table(&later);
        assert_eq!((full.counts().last(), full.carries.len()), (Some((last, 301)), 1));
        full.merge(&table(&[7]));
        assert_eq!((full.counts().last(), full.carries.len()), (Some((last - PAGE, 1)), 0));
    }

    #[test]
    fn a_stored_table_of_times_without_meaning_is_read() {
        for (first, place) in [(u32::MAX, 0), (u32::MAX, usize::MAX), (u32::MAX / PAGE, 0), (7, usize::MAX)] {
            let stored = Stored { first, end: usize::MAX, pages: vec![(place, vec![1; PAGE as usize])] };
            let table: SecondCounts = postcard::from_bytes(&postcard::to_stdvec(&stored).unwrap()).unwrap();
            assert!(table.counts().count() <= PAGE as usize && table.busy_spans(1, u32::MAX).len() <= 1);
        }
    }

    proptest! {
        #[test]
        fn busy_spans_hold_all_full_windows(
            seconds in prop::collection::vec(prop_oneof![5u32..400, 900u32..2_100, 50_000u32..50_100], 0..60), length in 1u32..=BLOCK,
            least in 1u64..12, margin in 0u32..100,
        ) {
            let table = table(&seconds);
            let spans = table.busy_spans(least, margin);
            prop_assert!(spans.iter().zip(spans.iter().skip(1)).all(|(one, next)| one.end < next.start));
            for start in 0..2_200u32 {
                let inside = seconds.iter().filter(|second| (start..start + length).contains(second)).count() as u64;
                let around = start.saturating_sub(margin)..start + length + margin;
                let is_in = |span: &Range<u32>| {
                    let keys: Vec<_> = seconds.iter().filter(|second| around.contains(second)).collect();
                    keys.into_iter().all(|second| span.contains(second))
                };
                prop_assert!(inside < least || spans.iter().any(is_in), "{start}");
            }
        }

        #[test]
        fn splitting_and_order_do_not_matter(seconds in prop::collection::vec(5u32..9_000, 0..60), cut in 0usize..60) {
            let (left, right) = seconds.split_at(cut.min(seconds.len()));
            let whole = postcard::to_stdvec(&table(&seconds)).unwrap();
            for (one, other) in [(left, right), (right, left)] {
                let mut merged = table(one);
                merged.merge(&table(other));
                prop_assert_eq!(postcard::to_stdvec(&merged).unwrap(), whole.clone());
            }
            let stored: SecondCounts = postcard::from_bytes(&whole).unwrap();
            prop_assert_eq!(stored.counts().collect::<Vec<_>>(), table(&seconds).counts().collect::<Vec<_>>());
        }
    }
}
