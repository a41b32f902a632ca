//! How large a table is after so many insertions: it grows in steps, and while it moves to a larger one both are there.
//!
//! Chained tables (`dict.c` of the servers) double when they hold as many entries as slots, and each later insertion
//! moves one slot that is not empty. Tables of buckets (`hashtable.c` of Valkey) double when all seven places of all
//! buckets would be taken, and each later insertion moves one bucket. Where an element falls only the server's random
//! seed tells: slots in use and chained buckets are the expected number.

/// Slots of the smallest chained table.
const SMALLEST: u64 = 4;
/// Places of a bucket.
const PLACES: u64 = 7;
/// A table of buckets that is made for so many elements has a bucket for each 32/5 of them.
const ELEMENTS_OF_5_BUCKETS: u64 = 32;
/// The largest table that can be thought of.
const LARGEST: u64 = 1 << 63;

/// What a table is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TableKind {
    /// Slots with chained entries.
    #[default]
    Slots,
    /// Buckets of seven, with more of them chained behind.
    Buckets,
}

impl TableKind {
    /// The size of a table that is made for so many elements: a power of two.
    pub fn size_for(self, elements: u64) -> u64 {
        let least = match self {
            TableKind::Slots => elements.max(SMALLEST),
            TableKind::Buckets => elements.saturating_mul(5).div_ceil(ELEMENTS_OF_5_BUCKETS).max(1),
        };
        least.checked_next_power_of_two().unwrap_or(LARGEST)
    }

    /// Elements that a table of this size holds before it grows.
    fn capacity(self, size: u64) -> u64 {
        match self {
            TableKind::Slots => size,
            TableKind::Buckets => size.saturating_mul(PLACES),
        }
    }

    /// Insertions that it takes to leave a table of this size.
    fn steps(self, used: u64, size: u64) -> u64 {
        match self {
            TableKind::Slots => occupied(used, size),
            TableKind::Buckets => size,
        }
    }
}

/// A table that grows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Growth {
    kind: TableKind,
    size: u64,
    /// Size of the table that is being moved to; 0 when none is.
    next: u64,
    used: u64,
    /// Up to so many elements an insertion changes nothing else.
    calm: u64,
    /// Insertions until the move is done.
    steps: u64,
    /// Elements when the move began.
    used_before: u64,
}

impl Growth {
    /// A table without any room yet.
    pub fn new(kind: TableKind) -> Growth {
        Growth { kind, ..Growth::default() }
    }

    /// The table after so many insertions one by one, without going through them.
    pub fn after(kind: TableKind, elements: u64) -> Growth {
        let settled = Growth::settled(kind, elements);
        let before = settled.size / 2;
        let room = kind.capacity(before);
        if before < kind.size_for(0) || elements <= room {
            return settled;
        }
        let (steps, gone) = (kind.steps(room, before), elements - room - 1);
        if gone >= steps {
            return settled;
        }
        Growth { size: before, next: settled.size, steps: steps - gone, used_before: room, ..settled }
    }

    /// A table that was made for so many elements, with them.
    pub fn presized(kind: TableKind, elements: u64) -> Growth {
        Growth { kind, size: kind.size_for(elements), used: elements, ..Growth::default() }
    }

    /// The same after the server had time: no move is under way, and a table of slots that is full has been doubled, but
    /// for the smallest.
    pub fn rested(kind: TableKind, elements: u64) -> Growth {
        let settled = Growth::settled(kind, elements);
        let full =
            kind == TableKind::Slots && elements == settled.size && elements > SMALLEST && settled.size < LARGEST;
        if full { Growth { size: 2 * settled.size, ..settled } } else { settled }
    }

    /// The same, but after a move that was under way has come to its end.
    fn settled(kind: TableKind, elements: u64) -> Growth {
        let least = elements.div_ceil(kind.capacity(1)).max(kind.size_for(0));
        let size = least.checked_next_power_of_two().unwrap_or(LARGEST);
        Growth { kind, size, used: elements, ..Growth::default() }
    }

    /// Asks for room for so many elements.
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

    /// Adds an element.
    #[inline]
    pub fn insert(&mut self) {
        if self.used >= self.calm {
            self.prepare();
        }
        self.used += 1;
    }

    /// Adds so many elements, one by one as far as the table would tell.
    pub fn insert_many(&mut self, elements: u64) {
        let mut left = elements;
        while left > 0 {
            let calm = self.calm.saturating_sub(self.used);
            // Of a move only the last step changes anything.
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

    /// Goes on with a move, or begins one, before an element is added.
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

    /// Adds so many elements to a table that has room for them.
    pub fn fill(&mut self, elements: u64) {
        self.used = self.used.saturating_add(elements);
    }

    /// Slots or direct buckets, of both tables while it moves.
    pub fn size(&self) -> u64 {
        self.size.saturating_add(self.next)
    }

    /// Buckets, chained ones included.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of entries or slots"
    )]
    pub fn buckets(&self) -> u64 {
        let chained = if self.next == 0 {
            chained(self.used, self.size)
        } else {
            // What is left of the old table, and the new one with all others.
            let share = self.steps as f64 / self.size.max(1) as f64;
            let left = (self.used_before as f64 * share) as u64;
            chained(self.used_before, self.size) * share + chained(self.used.saturating_sub(left), self.next)
        };
        // Below the number of elements, so nothing is lost.
        self.size().saturating_add(chained.round() as u64)
    }

    /// Entries that are not the first in their slot.
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
        // Slots that were not moved yet are as they were.
        let share = self.steps as f64 / self.kind.steps(self.used_before, self.size).max(1) as f64;
        let left = (self.used_before as f64 * share) as u64;
        let old = (behind(self.used_before, self.size) as f64 * share) as u64;
        old + behind(self.used.saturating_sub(left), self.next)
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

/// The expected number of slots in use when so many entries fell into so many slots.
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

/// Expected number of buckets chained to others: with m elements in a bucket's chain, one for each six beyond seven.
fn chained(elements: u64, buckets: u64) -> f64 {
    /// So many elements in one bucket are not to be expected: the mean is seven at most.
    const ENOUGH: u64 = 64;
    if elements <= PLACES || buckets == 0 {
        return 0.0;
    }
    if buckets == 1 {
        return (elements - PLACES).div_ceil(PLACES - 1) as f64;
    }
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
    fn a_table_of_the_right_size_stays() {
        assert_eq!(after(TableKind::Slots, 600, 600).size(), 1024);
        assert_eq!(after(TableKind::Slots, 3, 4).size(), 4);
        assert_eq!(after(TableKind::Slots, 0, 4).size(), 4);
        assert_eq!(after(TableKind::Buckets, 0, 7).size(), 1);
    }

    #[test]
    fn both_tables_are_there_until_all_is_moved() {
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
    fn the_short_way_equals_the_long_one() {
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
    fn many_at_once_are_as_many_one_by_one() {
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
    fn full_tables_are_doubled_by_and_by() {
        let sizes = [4, 5, 8, 9, 1024].map(|n| Growth::rested(TableKind::Slots, n).size());
        assert_eq!(sizes, [4, 8, 16, 16, 2048]);
        assert_eq!([7, 8, 14].map(|n| Growth::presized(TableKind::Buckets, n).size()), [2, 2, 4]);
    }

    #[test]
    fn an_empty_table_is_left_at_the_next_insertion() {
        let mut growth = Growth::default();
        growth.reserve(0);
        growth.reserve(100);
        assert_eq!(growth.size(), 4 + 128);
        growth.insert();
        assert_eq!(growth.size(), 128);
    }

    #[test]
    fn few_elements_fit_the_direct_buckets() {
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
