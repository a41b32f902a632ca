//! Whether it is worth a look: one in a large table costs more than a step of plain work where nothing is ever found.

/// After so many looks in vain, one after the other, most are left out.
const PATIENCE: u32 = 64;

/// One of so many is not, so that better times are noticed. Few, since a look mostly waits for memory.
const TRIAL: u32 = 64;

/// How looking something up went lately. What depends on it may only be how fast an answer comes.
#[derive(Debug, Clone, Default)]
pub struct Luck {
    /// Looks in vain since the last that was not; from [`PATIENCE`] on, chances to look.
    vain: u32,
}

impl Luck {
    /// Whether to look this time.
    #[inline]
    pub fn tries(&mut self) -> bool {
        if self.vain < PATIENCE {
            return true;
        }
        self.vain = if self.vain == PATIENCE + TRIAL - 1 { PATIENCE } else { self.vain + 1 };
        self.vain == PATIENCE
    }

    /// Something was found.
    #[inline]
    pub fn found(&mut self) {
        self.vain = 0;
    }

    /// Nothing was found.
    #[inline]
    pub fn missed(&mut self) {
        if self.vain < PATIENCE {
            self.vain += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_misses_make_looks_rare_and_one_hit_ends_that() {
        let mut luck = Luck::default();
        let looks = |luck: &mut Luck, chances: u32, found: bool| {
            let look = |_: &u32| {
                let tries = luck.tries();
                match (tries, found) {
                    (true, true) => luck.found(),
                    (true, false) => luck.missed(),
                    (false, _) => {}
                }
                tries
            };
            (0..chances).filter(look).count() as u32
        };
        assert_eq!(looks(&mut luck, PATIENCE, false), PATIENCE);
        assert_eq!(looks(&mut luck, 100 * TRIAL, false), 100);
        assert_eq!(looks(&mut luck, TRIAL, true), 1);
        assert_eq!(looks(&mut luck, PATIENCE, true), PATIENCE);
    }
}
