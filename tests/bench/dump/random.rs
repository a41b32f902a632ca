//! Random numbers that are equal on every machine and with every version of every crate: SplitMix64.

/// Generator of numbers from a seed.
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

    /// Returns a number below `limit`, which must be above 0.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Returns a number in `from..=to`.
    #[inline]
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// Returns true with a probability of `percent` %.
    #[inline]
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns a fraction above 0, up to 1.
    fn share(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Returns a size in `from..=to`, with every order of magnitude equally likely.
    pub fn any_magnitude(&mut self, from: u64, to: u64) -> u64 {
        let factor = (to as f64 / from as f64).powf(self.share());
        ((from as f64 * factor) as u64).clamp(from, to)
    }

    /// Returns a size in `from..=to`; doubling the size halves its probability, so there are many small ones and few
    /// huge ones.
    pub fn long_tail(&mut self, from: u64, to: u64) -> u64 {
        ((from as f64 / self.share()) as u64).clamp(from, to)
    }
}
