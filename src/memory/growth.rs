//! Size of a hash table after a number of insertions, including the second table during incremental rehashing.
//!
//! Chained tables (`dict.c`) double when they hold as many entries as slots; each later insertion then moves one non-empty
//! slot. Bucket tables (`hashtable.c` of Valkey) double when all seven places of all buckets would be taken; each later
//! insertion moves one bucket. Which slot an element falls into depends on the server's random hash seed, so the numbers
//! of occupied slots and chained buckets are expected values.

/// Slots of the smallest chained table (`DICT_HT_INITIAL_SIZE`).
const MIN_SLOTS: u64 = 4;
/// Elements per bucket.
const PLACES: u64 = 7;
/// Fill target of bucket tables: a table created for n elements has 5n/32 buckets, rounded up to a power of two.
const ELEMENTS_OF_5_BUCKETS: u64 = 32;
/// Largest possible table.
const MAX_SLOTS: u64 = 1 << 63;

/// Kind of hash table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TableKind {
    /// Slots with chained entries.
    #[default]
    Slots,
    /// Buckets of seven elements, which may chain further buckets.
    Buckets,
}

impl TableKind {
    /// Returns the size of a table created for `elements`, a power of two.
    pub fn size_for(self, elements: u64) -> u64 {
        let least = match self {
            TableKind::Slots => elements.max(MIN_SLOTS),
            TableKind::Buckets => elements.saturating_mul(5).div_ceil(ELEMENTS_OF_5_BUCKETS).max(1),
        };
        least.checked_next_power_of_two().unwrap_or(MAX_SLOTS)
    }

    /// Returns the number of elements a table of `size` holds before it grows.
    fn capacity(self, size: u64) -> u64 {
        match self {
            TableKind::Slots => size,
            TableKind::Buckets => size.saturating_mul(PLACES),
        }
    }

    /// Returns the number of insertions that rehashing a table of `size` takes.
    fn steps(self, used: u64, size: u64) -> u64 {
        match self {
            TableKind::Slots => occupied(used, size),
            TableKind::Buckets => size,
        }
    }
}

/// Growing hash table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Growth {
    kind: TableKind,
    size: u64,
    /// Size of the table being rehashed into; 0 if none.
    next: u64,
    used: u64,
    /// Number of elements below which an insertion only increments `used`.
    calm: u64,
    /// Insertions left until rehashing ends.
    steps: u64,
    /// Number of elements when rehashing began.
    used_before: u64,
}

impl Growth {
    /// Creates an empty table of size 0.
    pub fn new(kind: TableKind) -> Growth {
        Growth { kind, ..Growth::default() }
    }

    /// Returns the table after inserting `elements` one by one, in constant time.
    pub fn after(kind: TableKind, elements: u64) -> Growth {
        Growth::moving(kind, elements, 1)
    }

    /// Like [`Growth::after`], but each insertion follows a lookup, which moves a slot as well.
    pub fn after_lookups(kind: TableKind, elements: u64) -> Growth {
        Growth::moving(kind, elements, 2)
    }

    fn moving(kind: TableKind, elements: u64, steps_per_insertion: u64) -> Growth {
        let settled = Growth::settled(kind, elements);
        let before = settled.size / 2;
        let room = kind.capacity(before);
        if before < kind.size_for(0) || elements <= room {
            return settled;
        }
        let gone = (elements - room - 1).saturating_mul(steps_per_insertion);
        let steps = kind.steps(room, before);
        if gone >= steps {
            return settled;
        }
        Growth { size: before, next: settled.size, steps: steps - gone, used_before: room, ..settled }
    }

    /// Returns a table created for `elements` and filled with them.
    pub fn presized(kind: TableKind, elements: u64) -> Growth {
        Growth { kind, size: kind.size_for(elements), used: elements, ..Growth::default() }
    }

    /// Like [`Growth::after`], but after idle time: rehashing has ended, and a full chained table has been doubled, except the
    /// smallest.
    pub fn rested(kind: TableKind, elements: u64) -> Growth {
        let settled = Growth::settled(kind, elements);
        let full =
            kind == TableKind::Slots && elements == settled.size && elements > MIN_SLOTS && settled.size < MAX_SLOTS;
        if full { Growth { size: 2 * settled.size, ..settled } } else { settled }
    }

    /// Returns the table when the server, now idle, has begun to double it, if that is what [`Growth::rested`] expects of it:
    /// both tables exist, and nothing has been moved yet.
    pub fn once_idle(self) -> Growth {
        let rested = Growth::rested(self.kind, self.used).size;
        let mut growth = self;
        if self.next == 0 && self.used == self.size && rested > self.size {
            growth.move_to(rested);
        }
        growth
    }

    /// Like [`Growth::after`], but with rehashing completed.
    fn settled(kind: TableKind, elements: u64) -> Growth {
        let least = elements.div_ceil(kind.capacity(1)).max(kind.size_for(0));
        let size = least.checked_next_power_of_two().unwrap_or(MAX_SLOTS);
        Growth { kind, size, used: elements, ..Growth::default() }
    }

    /// Expands the table for `elements`, as `dictExpand` does.
    pub fn reserve(&mut self, elements: u64) {
        if self.next != 0 || self.used > elements {
            return;
        }
        let size = self.kind.size_for(elements);
        if self.size == 0 {
            self.settle(size);
        } else if size != self.size {
            self.move_to(size);
        }
    }

    /// Inserts an element.
    #[inline]
    pub fn insert(&mut self) {
        if self.used >= self.calm {
            self.prepare();
        }
        self.used += 1;
    }

    /// Inserts `elements` one by one, skipping over insertions that change only the count.
    pub fn insert_many(&mut self, elements: u64) {
        let mut left = elements;
        while left > 0 {
            let calm = self.calm.saturating_sub(self.used);
            // Only the last step of rehashing changes the size.
            let moving = if self.next == 0 { 0 } else { self.steps.saturating_sub(1) };
            let alike = left.min(calm.max(moving));
            if alike == 0 {
                self.insert();
                left -= 1;
                continue;
            }
            if calm == 0 {
                self.steps -= alike;
            }
            self.used += alike;
            left -= alike;
        }
    }

    /// Continues or starts rehashing before an insertion.
    fn prepare(&mut self) {
        if self.next != 0 {
            self.step();
        }
        if self.next == 0 && self.used >= self.kind.capacity(self.size) {
            let size = self.kind.size_for(self.used + 1);
            match self.size {
                0 => self.settle(size),
                _ => self.move_to(size),
            }
        }
    }

    /// Adds `elements` to a table that has room for them.
    pub fn fill(&mut self, elements: u64) {
        self.used = self.used.saturating_add(elements);
    }

    /// Returns the number of slots or top-level buckets, of both tables during rehashing.
    pub fn size(&self) -> u64 {
        self.size.saturating_add(self.next)
    }

    /// Returns the number of buckets, chained ones included.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of entries or slots"
    )]
    pub fn buckets(&self) -> u64 {
        let chained = if self.next == 0 {
            chained(self.used, self.size)
        } else {
            // The part of the old table not yet moved, and the new one with all other elements.
            let share = self.steps as f64 / self.size.max(1) as f64;
            let left = (self.used_before as f64 * share) as u64;
            chained(self.used_before, self.size) * share + chained(self.used.saturating_sub(left), self.next)
        };
        // Below the number of elements, so nothing is lost.
        self.size().saturating_add(chained.round() as u64)
    }

    /// Returns the number of entries that are not the first in their slot.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of entries or slots"
    )]
    pub fn followers(&self) -> u64 {
        let behind = |used: u64, size| used.saturating_sub(occupied(used, size));
        if self.next == 0 {
            return behind(self.used, self.size);
        }
        // Slots not yet moved keep their entries.
        let share = self.steps as f64 / self.kind.steps(self.used_before, self.size).max(1) as f64;
        let left = (self.used_before as f64 * share) as u64;
        let old = (behind(self.used_before, self.size) as f64 * share) as u64;
        // Moved slots fill two ranges of the new table; later elements fall anywhere.
        let later = self.used.saturating_sub(self.used_before);
        let (range, beyond) = ((self.next as f64 * (1.0 - share)) as u64, (later as f64 * share) as u64);
        let within = self.used.saturating_sub(left).saturating_sub(beyond);
        old + behind(within, range) + behind(beyond, self.next.saturating_sub(range))
    }

    fn step(&mut self) {
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 {
            self.settle(self.next);
        }
    }

    fn settle(&mut self, size: u64) {
        self.size = size;
        self.next = 0;
        self.calm = self.kind.capacity(size);
    }

    fn move_to(&mut self, size: u64) {
        self.calm = 0;
        self.next = size;
        self.used_before = self.used;
        self.steps = self.kind.steps(self.used, self.size);
    }
}

/// Returns the expected number of occupied slots for `entries` hashed into `slots`: `slots * (1 - (1 - 1/slots)^entries)`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of entries or slots")]
pub fn occupied(entries: u64, slots: u64) -> u64 {
    if slots == 0 {
        return 0;
    }
    let slots = slots as f64;
    let empty = (entries as f64 * (-1.0 / slots).ln_1p()).exp();
    // Between 0 and the number of slots, so nothing is lost.
    (slots * (1.0 - empty)).round() as u64
}

/// Returns the expected number of chained buckets; a chain of m > 7 elements needs one for each 6 beyond 7, because the
/// last place of a full bucket becomes the link.
fn chained(elements: u64, buckets: u64) -> f64 {
    /// Larger counts in one bucket are negligible: the mean is at most seven.
    const ENOUGH: u64 = 64;
    if elements <= PLACES || buckets == 0 {
        return 0.0;
    }
    if buckets == 1 {
        return (elements - PLACES).div_ceil(PLACES - 1) as f64;
    }
    // Binomial distribution of elements per bucket, each term computed from the one before.
    let share = 1.0 / buckets as f64;
    let odds = share / (1.0 - share);
    let mut probability = (elements as f64 * (-share).ln_1p()).exp();
    let mut expected = 0.0;
    for held in 0..=elements.min(ENOUGH) {
        if held > PLACES {
            expected += probability * (held - PLACES).div_ceil(PLACES - 1) as f64;
        }
        probability *= (elements - held) as f64 / (held + 1) as f64 * odds;
    }
    expected * buckets as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(kind: TableKind, reserved: u64, inserted: u64) -> Growth {
        let mut growth = Growth::new(kind);
        if reserved > 0 {
            growth.reserve(reserved);
        }
        (0..inserted).for_each(|_| growth.insert());
        growth
    }

    #[test]
    fn reserved_table_does_not_grow() {
        assert_eq!(after(TableKind::Slots, 600, 600).size(), 1024);
        assert_eq!(after(TableKind::Slots, 3, 4).size(), 4);
        assert_eq!(after(TableKind::Slots, 0, 4).size(), 4);
        assert_eq!(after(TableKind::Buckets, 0, 7).size(), 1);
    }

    #[test]
    fn both_tables_exist_until_rehashing_ends() {
        assert_eq!(after(TableKind::Slots, 0, 1024).size(), 1024);
        assert_eq!(after(TableKind::Slots, 0, 1025).size(), 1024 + 2048);
        assert_eq!(after(TableKind::Slots, 0, 1024 + 640).size(), 1024 + 2048);
        assert_eq!(after(TableKind::Slots, 0, 1024 + 660).size(), 2048);
        assert_eq!(after(TableKind::Buckets, 30, 56).size(), 8);
        assert_eq!(after(TableKind::Buckets, 30, 57).size(), 8 + 16);
        assert_eq!(after(TableKind::Buckets, 30, 64).size(), 8 + 16);
        assert_eq!(after(TableKind::Buckets, 30, 65).size(), 16);
    }

    #[test]
    fn closed_form_equals_single_insertions() {
        for kind in [TableKind::Slots, TableKind::Buckets] {
            let mut long = Growth::new(kind);
            for elements in 1..6000 {
                long.insert();
                let short = Growth::after(kind, elements);
                assert_eq!((short.size(), short.buckets()), (long.size(), long.buckets()), "{kind:?} {elements}");
                assert!(Growth::settled(kind, elements).size() <= long.size());
            }
        }
    }

    #[test]
    fn insert_many_equals_single_insertions() {
        for (kind, reserved) in
            [(TableKind::Slots, 0), (TableKind::Slots, 40), (TableKind::Buckets, 0), (TableKind::Buckets, 100)]
        {
            let mut single = Growth::new(kind);
            let mut at_once = Growth::new(kind);
            for growth in [&mut single, &mut at_once] {
                growth.insert();
                growth.reserve(reserved);
            }
            for many in 0..200 {
                (0..many).for_each(|_| single.insert());
                at_once.insert_many(many);
                assert_eq!(format!("{single:?}"), format!("{at_once:?}"), "{kind:?} {reserved} {many}");
            }
        }
    }

    #[test]
    fn lookups_between_insertions_shorten_rehashing() {
        let slots = |elements| Growth::after_lookups(TableKind::Slots, elements).size();
        // Slots of the table of templates of Redis 8.10.2.
        assert_eq!([128, 129, 166, 180, 1024, 1300, 1400].map(slots), [128, 384, 384, 256, 1024, 3072, 2048]);
        assert_eq!([180, 1400].map(|elements| Growth::after(TableKind::Slots, elements).size()), [384, 3072]);
    }

    #[test]
    fn full_tables_double_while_idle() {
        let sizes = [4, 5, 8, 9, 1024].map(|n| Growth::rested(TableKind::Slots, n).size());
        assert_eq!(sizes, [4, 8, 16, 16, 2048]);
        assert_eq!([7, 8, 14].map(|n| Growth::presized(TableKind::Buckets, n).size()), [2, 2, 4]);
    }

    #[test]
    fn both_tables_of_a_full_one_exist_when_doubling_begins() {
        for grown in [Growth::presized, Growth::after] {
            let sizes = [4, 8, 9, 1024, 1500, 2000].map(|n| grown(TableKind::Slots, n).once_idle().size());
            let before = [4, 9, 1500, 2000].map(|n| grown(TableKind::Slots, n).size());
            assert_eq!(sizes, [before[0], 8 + 16, before[1], 1024 + 2048, before[2], before[3]]);
        }
        let full = Growth::presized(TableKind::Slots, 1024);
        assert_eq!(full.once_idle().followers(), full.followers(), "none has been moved yet");
        assert_eq!(Growth::presized(TableKind::Buckets, 7).once_idle().size(), 2);
        assert_eq!(Growth::presized(TableKind::Slots, MAX_SLOTS).once_idle().size(), MAX_SLOTS);
    }

    #[test]
    fn empty_table_is_replaced_at_the_next_insertion() {
        let mut growth = Growth::default();
        growth.reserve(0);
        growth.reserve(100);
        assert_eq!(growth.size(), 4 + 128);
        growth.insert();
        assert_eq!(growth.size(), 128);
    }

    #[test]
    fn few_elements_need_no_chained_buckets() {
        assert_eq!([1, 6, 7].map(|n| after(TableKind::Buckets, n, n).buckets()), [1, 1, 2]);
        let many = after(TableKind::Buckets, 800, 800).buckets();
        assert!((130..170).contains(&many), "{many}");
    }

    #[test]
    fn claims_do_not_overflow() {
        assert_eq!(TableKind::Slots.size_for(u64::MAX), 1 << 63);
        assert!(TableKind::Buckets.size_for(u64::MAX) > 0);
        assert_eq!(occupied(5, 0), 0);
        let mut growth = Growth::new(TableKind::Buckets);
        growth.reserve(u64::MAX);
        growth.fill(u64::MAX);
        assert!(growth.buckets() > 0);
        assert!(Growth::after(TableKind::Buckets, u64::MAX).size() > 0);
        assert!(Growth::after(TableKind::Slots, u64::MAX).size() > 0);
    }
}
