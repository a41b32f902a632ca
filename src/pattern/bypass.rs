//! Adaptive bypass of a cache: when every probe misses, probing a large table costs more than the work it saves.

/// Misses in a row after which most probes are skipped.
const PATIENCE: u32 = 64;

/// One in this many lookups still probes, to notice when hits come back. Kept rare because each probe usually waits for
/// memory.
const TRIAL: u32 = 64;

/// Decides whether to probe a cache, by its recent hits and misses.
///
/// Affects speed only, never a result.
#[derive(Debug, Clone, Default)]
pub struct Bypass {
    /// Misses since the last hit; from [`PATIENCE`] on, lookups.
    misses: u32,
}

impl Bypass {
    /// Returns true if the cache should be probed this time.
    #[inline]
    pub fn should_probe(&mut self) -> bool {
        if self.misses < PATIENCE {
            return true;
        }
        // One counter for both phases: above PATIENCE it cycles through TRIAL values and probes at the first of them.
        self.misses = if self.misses == PATIENCE + TRIAL - 1 { PATIENCE } else { self.misses + 1 };
        self.misses == PATIENCE
    }

    /// Records a hit.
    #[inline]
    pub fn hit(&mut self) {
        self.misses = 0;
    }

    /// Records a miss.
    #[inline]
    pub fn miss(&mut self) {
        if self.misses < PATIENCE {
            self.misses += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_misses_make_probes_rare_and_one_hit_ends_that() {
        let mut bypass = Bypass::default();
        let looks = |bypass: &mut Bypass, chances: u32, found: bool| {
            let look = |_: &u32| {
                let tries = bypass.should_probe();
                match (tries, found) {
                    (true, true) => bypass.hit(),
                    (true, false) => bypass.miss(),
                    (false, _) => {}
                }
                tries
            };
            (0..chances).filter(look).count() as u32
        };
        assert_eq!(looks(&mut bypass, PATIENCE, false), PATIENCE);
        assert_eq!(looks(&mut bypass, 100 * TRIAL, false), 100);
        assert_eq!(looks(&mut bypass, TRIAL, true), 1);
        assert_eq!(looks(&mut bypass, PATIENCE, true), PATIENCE);
    }
}
