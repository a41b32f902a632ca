//! Limits on the width and depth of a tree of patterns.

/// Longest name including its separator; a longer one is `{*}` at once, since it is payload rather than structure.
pub(super) const MAX_NAME_LEN: usize = 128;

/// Level from which strict mode counts classes as names: a few classes on each of many levels are many patterns.
pub const CLASSES_COUNT_FROM: usize = 2;

/// Deepest level: level numbers are bytes.
const MAX_LEVEL: usize = 250;

/// Limits on the names that a tree of patterns keeps apart. Trees that are merged must have the same limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeLimits {
    /// Distinct names kept apart on the top level.
    pub top: usize,
    /// Distinct names kept apart on each level below one prefix.
    pub below: usize,
    /// Segments kept apart; everything after them is one name.
    pub deepest: usize,
    /// Distinct names kept apart on each level in strict mode; everything after these levels is one name, kept if it is the only
    /// one.
    pub strict: Vec<usize>,
    /// Places of the set of all patterns, names counted by bucket, above which strict mode begins.
    pub strict_above: usize,
    /// Places of one tree above which it enters strict mode at once. Only names crafted to collide in the bucket hash
    /// get here before `strict_above`; memory stays bounded then, but the report may depend on the number of threads.
    pub most_places: usize,
}

impl Default for TreeLimits {
    fn default() -> Self {
        TreeLimits {
            top: 1024,
            below: 256,
            deepest: 16,
            strict: vec![512, 16, 8, 2],
            strict_above: 128 << 10,
            most_places: 1 << 20,
        }
    }
}

impl TreeLimits {
    /// Returns the names kept apart on a level outside strict mode, which is also its number of buckets. At least one, so that `{*}`
    /// always means several.
    #[inline]
    pub(super) fn generous(&self, level: usize) -> usize {
        if level == 0 { self.top.max(1) } else { self.below.max(1) }
    }

    /// Returns the names kept apart on a level.
    #[inline]
    pub(super) fn limit(&self, strict: bool, level: usize) -> usize {
        let generous = self.generous(level);
        if !strict {
            return generous;
        }
        if level >= self.last_level(true) {
            1
        } else {
            self.strict.get(level).map_or(1, |&limit| limit.clamp(1, generous))
        }
    }

    /// Returns the level on which the rest of a pattern is one name.
    #[inline]
    pub fn last_level(&self, strict: bool) -> usize {
        let deepest = self.deepest.min(MAX_LEVEL);
        if strict { self.strict.len().min(deepest) } else { deepest }
    }

    /// Returns true if classes, and names too long to be kept, count as names on a level.
    #[inline]
    pub(super) fn counts_classes(&self, strict: bool, level: usize) -> bool {
        strict && level >= CLASSES_COUNT_FROM.min(self.last_level(true))
    }
}
