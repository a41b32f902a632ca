//! How wide and how deep a tree of patterns may grow.

/// Names longer than this, separator included, are `{*}` at once: such names are payload, not structure.
pub(super) const LONGEST_NAME: usize = 128;

/// From this level on, strict mode counts classes as names: few classes on many levels are many patterns.
const CLASSES_COUNT_FROM: usize = 2;

/// A level number has to fit in a byte.
const DEEPEST: usize = 250;

/// How many names a tree of patterns keeps apart. All trees that are merged must have the same limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeLimits {
    /// Distinct names kept apart on the top level.
    pub top: usize,
    /// Distinct names kept apart on each level below one prefix.
    pub below: usize,
    /// Segments told apart; what comes behind them is one name.
    pub deepest: usize,
    /// Distinct names kept apart by level, in strict mode; what comes behind these levels is one name, kept if it is the
    /// only one.
    pub strict: Vec<usize>,
    /// Strict mode begins when the set of all patterns has more places than this, names counted by bucket.
    pub strict_above: usize,
    /// A tree with more places goes over to strict mode at once. No set of names reaches this before `strict_above` but one
    /// made to collide in our hash; memory stays bounded for such a file, but its report may depend on the threads.
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
    /// Names kept apart on this level outside strict mode (one at least, so that `{*}` always means several): also the number of buckets that its names are counted in.
    pub(super) fn generous(&self, level: usize) -> usize {
        if level == 0 { self.top.max(1) } else { self.below.max(1) }
    }

    /// Names kept apart on this level.
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

    /// The level on which all that is left of a pattern is one name.
    pub(super) fn last_level(&self, strict: bool) -> usize {
        let deepest = self.deepest.min(DEEPEST);
        if strict { self.strict.len().min(deepest) } else { deepest }
    }

    /// Whether classes, and names too long to be kept, count as names on this level.
    pub(super) fn counts_classes(&self, strict: bool, level: usize) -> bool {
        strict && level >= CLASSES_COUNT_FROM.min(self.last_level(true))
    }
}
