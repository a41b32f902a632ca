//! Allocator size classes: the bytes that an allocation really occupies, computed from each allocator's rule.
//!
//! jemalloc rounds small sizes up to a multiple of its quantum and larger ones to a quarter of the next lower power of two.
//! Servers build it with a quantum of 8 (`deps/Makefile`, `--with-lg-quantum=3`); distributions link a jemalloc with the
//! default of 16.

use std::fmt;

use crate::error::{Error, Result};

/// Memory allocator of the server; not recorded in dumps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Allocator {
    /// The jemalloc bundled with the servers' sources, as in official images and default builds.
    #[default]
    #[cfg_attr(feature = "cli", value(help = "jemalloc bundled with the server, 8-byte quantum"))]
    Jemalloc,
    /// A distribution's jemalloc, with a 16-byte quantum.
    #[cfg_attr(feature = "cli", value(help = "jemalloc of Linux distributions, 16-byte quantum"))]
    JemallocQ16,
    /// glibc malloc. Approximate: chunk sizes depend on earlier frees.
    #[cfg_attr(feature = "cli", value(help = "malloc of the GNU C library, approximate"))]
    Glibc,
}

/// Size from which glibc maps each allocation separately (default `M_MMAP_THRESHOLD`).
const GLIBC_MAP_FROM: u64 = 128 << 10;
const PAGE: u64 = 4096;

impl Allocator {
    /// All allocators, in the order of the help.
    pub const ALL: [Allocator; 3] = [Allocator::Jemalloc, Allocator::JemallocQ16, Allocator::Glibc];

    /// Returns the name used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Allocator::Jemalloc => "jemalloc",
            Allocator::JemallocQ16 => "jemalloc-q16",
            Allocator::Glibc => "glibc",
        }
    }

    /// Parses an allocator name.
    pub fn parse(text: &str) -> Result<Allocator> {
        let found = Allocator::ALL.into_iter().find(|allocator| allocator.name() == text);
        found.ok_or_else(|| {
            Error::usage(format!("unknown allocator {text:?}")).with_hint("jemalloc, jemalloc-q16 or glibc")
        })
    }

    /// Returns the bytes occupied by an allocation of `size` bytes.
    #[inline]
    pub const fn usable(self, size: u64) -> u64 {
        match self {
            Allocator::Jemalloc => jemalloc(size, 8),
            Allocator::JemallocQ16 if size <= 8 => 8,
            Allocator::JemallocQ16 => jemalloc(size, 16),
            Allocator::Glibc => glibc(size),
        }
    }
}

/// Lookup table of small size classes, which avoids unpredictable branches.
#[derive(Debug)]
pub struct SizeClasses {
    allocator: Allocator,
    /// Usable size, indexed by requested size in units of eight bytes, rounded up.
    small: [u32; SMALL_UNITS],
}

const SMALL_UNITS: usize = 257;

impl SizeClasses {
    /// Builds the table for an allocator.
    pub fn new(allocator: Allocator) -> SizeClasses {
        let of = |units: usize| u32::try_from(allocator.usable(8 * units as u64)).unwrap_or(u32::MAX);
        SizeClasses { allocator, small: std::array::from_fn(of) }
    }

    /// Returns the bytes occupied by an allocation of `size` bytes.
    #[inline]
    pub fn usable(&self, size: u64) -> u64 {
        let units = usize::try_from(size.div_ceil(8)).unwrap_or(usize::MAX);
        match self.small.get(units) {
            Some(&class) => u64::from(class),
            None => self.allocator.usable(size),
        }
    }
}

impl fmt::Display for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[inline]
const fn jemalloc(size: u64, quantum: u64) -> u64 {
    if size <= 64 {
        return round_up(if size == 0 { 1 } else { size }, quantum);
    }
    // Largest power of two below `size`: size is in (power, 2 * power], which has four size classes.
    let power = 1u64 << (63 - (size - 1).leading_zeros());
    round_up(size, power / 4)
}

const fn glibc(size: u64) -> u64 {
    if size >= GLIBC_MAP_FROM {
        // Mapped chunks are whole pages with a header of 16 bytes.
        return round_up(size.saturating_add(16), PAGE).saturating_sub(16);
    }
    // A chunk is a multiple of 16 bytes, 8 of which are its header; the smallest has 24 usable bytes.
    let chunk = round_up(size + 8, 16) - 8;
    if chunk < 24 { 24 } else { chunk }
}

/// Rounds `size` up to a multiple of `multiple`, a power of two.
#[inline]
const fn round_up(size: u64, multiple: u64) -> u64 {
    size.saturating_add(multiple - 1) & !(multiple - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usable(allocator: Allocator, sizes: &[u64]) -> Vec<u64> {
        sizes.iter().map(|&size| allocator.usable(size)).collect()
    }

    #[test]
    fn bundled_jemalloc_has_four_classes_per_doubling() {
        let sizes = [1, 8, 9, 25, 64, 65, 81, 129, 257, 1025, 4097, 16_385, 1_048_577];
        let classes = [8, 8, 16, 32, 64, 80, 96, 160, 320, 1280, 5120, 20_480, 1_310_720];
        assert_eq!(usable(Allocator::Jemalloc, &sizes), classes);
    }

    #[test]
    fn distributions_have_no_class_of_24_40_and_56() {
        assert_eq!(usable(Allocator::JemallocQ16, &[8, 9, 17, 33, 49, 65, 97]), [8, 16, 32, 48, 64, 80, 112]);
    }

    #[test]
    fn glibc_chunk_header_takes_eight_bytes() {
        assert_eq!(usable(Allocator::Glibc, &[1, 24, 25, 40, 41]), [24, 24, 40, 40, 56]);
    }

    #[test]
    fn cached_prices_equal_computed_ones() {
        for allocator in Allocator::ALL {
            let classes = SizeClasses::new(allocator);
            assert!((0..3000).all(|size| classes.usable(size) == allocator.usable(size)), "{allocator}");
        }
    }

    #[test]
    fn no_size_overflows() {
        for allocator in Allocator::ALL {
            assert!(allocator.usable(u64::MAX - 1) >= u64::MAX / 2);
            assert!(allocator.usable(0) > 0);
        }
    }
}
