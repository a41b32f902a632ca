//! Numbers that are the same on every machine and in every version of every crate: SplitMix64.

/// A sequence of numbers made from a seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is above 0.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// A number of `from..=to`.
    #[inline]
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// Whether something happens that happens `percent` times in a hundred.
    #[inline]
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A share above 0, up to 1.
    fn share(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A size of `from..=to` such that every order of magnitude is as likely as any other.
    pub fn any_magnitude(&mut self, from: u64, to: u64) -> u64 {
        let factor = (to as f64 / from as f64).powf(self.share());
        ((from as f64 * factor) as u64).clamp(from, to)
    }

    /// A size of `from..=to` such that half as many are twice as large: many small ones, few huge ones.
    pub fn long_tail(&mut self, from: u64, to: u64) -> u64 {
        ((from as f64 / self.share()) as u64).clamp(from, to)
    }
}
