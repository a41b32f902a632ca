//! How many slots a chained table has after so many insertions (`dict.c` of the servers).
//!
//! A table doubles when it holds as many entries as slots. Both halves then stay until each later insertion has moved
//! one bucket that is not empty; which ones are, only the server's random seed tells, so their number is the expected
//! one.

/// Slots of the smallest table.
const SMALLEST: u64 = 4;

/// A table that grows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Growth {
    size: u64,
    /// Slots of the table that is being moved to; 0 when none is.
    next: u64,
    used: u64,
    /// Insertions until the move is done.
    steps: u64,
}

impl Growth {
    /// Asks for room for so many entries (`dictExpand`).
    pub fn reserve(&mut self, entries: u64) {
        if self.next != 0 || self.used > entries {
            return;
        }
        let size = slots_for(entries);
        if self.size == 0 {
            self.size = size;
        } else if size != self.size {
            self.move_to(size);
        }
    }

    /// Adds an entry.
    #[inline]
    pub fn insert(&mut self) {
        if self.next != 0 {
            self.step();
        }
        if self.next == 0 && self.used >= self.size {
            match self.size {
                0 => self.size = SMALLEST,
                _ => self.move_to(slots_for(self.used + 1)),
            }
        }
        self.used += 1;
    }

    /// Slots of both halves.
    pub fn slots(&self) -> u64 {
        self.size + self.next
    }

    fn step(&mut self) {
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 {
            self.size = self.next;
            self.next = 0;
        }
    }

    fn move_to(&mut self, size: u64) {
        self.next = size;
        self.steps = occupied(self.used, self.size);
    }
}

/// The slots of a table that is made for so many entries: a power of two.
pub fn slots_for(entries: u64) -> u64 {
    entries.max(SMALLEST).checked_next_power_of_two().unwrap_or(1 << 63)
}

/// The expected number of slots in use when so many entries fell into so many slots.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn occupied(entries: u64, slots: u64) -> u64 {
    if slots == 0 {
        return 0;
    }
    let slots = slots as f64;
    let empty = (entries as f64 * (-1.0 / slots).ln_1p()).exp();
    // Between 0 and the number of slots, so nothing is lost.
    (slots * (1.0 - empty)).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots_after(reserved: u64, inserted: u64) -> u64 {
        let mut growth = Growth::default();
        if reserved > 0 {
            growth.reserve(reserved);
        }
        (0..inserted).for_each(|_| growth.insert());
        growth.slots()
    }

    #[test]
    fn a_table_of_the_right_size_stays() {
        assert_eq!(slots_after(600, 600), 1024);
        assert_eq!(slots_after(3, 4), 4);
        assert_eq!(slots_after(0, 4), 4);
    }

    #[test]
    fn both_halves_are_there_until_all_is_moved() {
        assert_eq!(slots_after(0, 1024), 1024);
        assert_eq!(slots_after(0, 1025), 1024 + 2048);
        assert_eq!(slots_after(0, 1024 + 640), 1024 + 2048);
        assert_eq!(slots_after(0, 1024 + 660), 2048);
    }

    #[test]
    fn an_empty_half_is_left_at_the_next_insertion() {
        let mut growth = Growth::default();
        growth.reserve(0);
        growth.reserve(100);
        assert_eq!(growth.slots(), 4 + 128);
        growth.insert();
        assert_eq!(growth.slots(), 128);
    }

    #[test]
    fn claims_do_not_overflow() {
        assert_eq!(slots_for(u64::MAX), 1 << 63);
        assert_eq!(occupied(5, 0), 0);
    }
}
