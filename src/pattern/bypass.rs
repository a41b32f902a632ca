//! Adaptive bypass of a cache: where nothing is ever found, a probe of a large table costs more than the work it saves.

/// Misses in a row after which most probes are left out.
const PATIENCE: u32 = 64;

/// One in this many chances is probed all the same, to notice when hits come back. Probes are rare, since each mostly waits
/// for memory.
const TRIAL: u32 = 64;

/// Decides whether to probe a cache, by its recent hits and misses.
///
/// Only the speed of an answer may depend on it, never the answer.
#[derive(Debug, Clone, Default)]
pub struct Bypass {
    /// Misses since the last hit; from [`PATIENCE`] on, chances to probe.
    misses: u32,
}

impl Bypass {
    /// Returns true if the cache should be probed this time.
    #[inline]
    pub fn should_probe(&mut self) -> bool {
        if self.misses < PATIENCE {
            return true;
        }
        // One counter for both phases: above PATIENCE it runs in a circle of TRIAL steps, and probes at its start.
        self.misses = if self.misses == PATIENCE + TRIAL - 1 { PATIENCE } else { self.misses + 1 };
        self.misses == PATIENCE
    }

    /// Notes a hit.
    #[inline]
    pub fn hit(&mut self) {
        self.misses = 0;
    }

    /// Notes a miss.
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
