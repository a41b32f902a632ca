//! Tree of all patterns of a snapshot, segment by segment, of bounded size whatever the keys.
//!
//! A place's children are classes (`{int}`), names that a pattern *ends* with, and names that *go on*, each with the
//! separator that follows. Endings and inner names are counted apart. A level that has more distinct ones than its limit
//! becomes one `{*}`; its subtrees are merged, which may collapse further down.
//!
//! The tree depends on the set of patterns only, not on their order nor on how they were split over several trees:
//! "more than N distinct" can only become true, and merging subtrees only adds children, so collapsing now or later gives
//! the same. The limits of one level do not bound their product. So there is a second such fact, *strict mode*: the
//! number of places in the whole set, with the names of a level counted in as many buckets as its limit, is over
//! [`TreeLimits::strict_above`]. It brings limits whose product is bounded, and ends the tree after a few levels.
//!
//! Memory: before strict mode at most a small multiple of `strict_above` places; in strict mode the product of its
//! limits, where classes and separators are few by nature.

mod cache;
mod limits;
mod places;
mod plain_names;
mod seen;
mod step;
mod stored;
#[cfg(test)]
mod tests;
mod transplant;

pub use limits::{CLASSES_COUNT_FROM, TreeLimits};
pub use stored::StoredTree;

use super::PatternBuf;
use super::bypass::Bypass;
use super::name::KeyName;
use super::plain::PlainName;
use cache::{CacheAddress, LeafCache};
use places::{Places, ROOT};
use plain_names::PlainWay;
use seen::SeenPlaces;
use step::{Path, PathStep, StepKind};

/// Reciprocal of the share of strict mode's threshold at which look-ahead begins.
const LOOK_AHEAD_SHARE: usize = 16;

/// Data that a tree keeps for each pattern: a commutative monoid.
pub trait Payload: Default {
    /// Merges `other`.
    fn absorb(&mut self, other: Self);
}

/// Handle of a pattern's payload, valid until a level of the tree collapses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    payload: u32,
    /// The age of the tree.
    age: u64,
}

/// How far the places of a tree go along a path.
#[derive(Debug, Clone, Copy)]
enum Walk {
    /// To the leaf; every name has a place of its own.
    Known(u32),
    /// To the leaf, through a `{*}`.
    Collapsed { leaf: u32, known: Known },
    /// Not to the end.
    Missing { known: Known },
}

/// The first names of a path, which have places of their own.
#[derive(Debug, Clone, Copy)]
struct Known {
    names: usize,
    /// Place of the last of them.
    place: u32,
}

impl Known {
    const NOTHING: Known = Known { names: 0, place: ROOT };
}

/// Place in a tree that no longer changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(u32);

/// Tree of patterns with their payloads.
#[derive(Debug, Clone)]
pub struct PatternTree<T> {
    limits: TreeLimits,
    /// The last level in strict mode.
    last_strict: usize,
    places: Places<T>,
    /// Places of the whole set; `None` in strict mode.
    seen: Option<SeenPlaces>,
    cache: LeafCache,
    /// Skips the cache while it hits nothing.
    bypass: Bypass,
    /// Places from which look-ahead pays off.
    look_ahead_from: usize,
}

impl<T: Payload> PatternTree<T> {
    /// Creates an empty tree.
    pub fn new(limits: TreeLimits) -> Self {
        let (places, cache) = (Places::new(&limits, false), LeafCache::new());
        let last_strict = limits.last_level(true);
        let look_ahead_from = limits.strict_above / LOOK_AHEAD_SHARE;
        PatternTree {
            places,
            limits,
            last_strict,
            seen: Some(SeenPlaces::default()),
            cache,
            bypass: Bypass::default(),
            look_ahead_from,
        }
    }

    /// Returns the leaf of a name's pattern, inserting it if there is none.
    #[inline]
    pub fn leaf<'n>(&mut self, name: impl Into<KeyName<'n>>) -> Leaf {
        let payload = match name.into() {
            // A plain name skips the cache: hashing its text would cost as much as walking down the tree.
            KeyName::Plain(name) if self.is_strict() => self.reach_plain(&name),
            KeyName::Plain(name) => self.reach_counting(&name),
            KeyName::Classified(_, pattern) => self.reach_cached(pattern),
        };
        Leaf { payload, age: self.cache.age() }
    }

    /// Returns the index of a pattern's payload; probes the cache first.
    #[inline]
    fn reach_cached(&mut self, pattern: &PatternBuf) -> u32 {
        let address = if self.bypass.should_probe() { self.cache.address(pattern) } else { None };
        match address.and_then(|address| self.cache.get(address, pattern)) {
            Some(payload) => {
                self.bypass.hit();
                payload
            }
            None => {
                if address.is_some() {
                    self.bypass.miss();
                }
                self.find(pattern, address)
            }
        }
    }

    /// Returns true if a leaf is still valid.
    #[inline]
    pub fn holds(&self, leaf: Leaf) -> bool {
        leaf.age == self.cache.age()
    }

    /// Returns the payload of a leaf; `None` if the leaf is no longer valid.
    #[inline]
    pub fn payload(&mut self, leaf: Leaf) -> Option<&mut T> {
        if self.holds(leaf) { self.places.payload_mut(leaf.payload) } else { None }
    }

    /// Returns the index of a pattern's payload, found from the root, and offers it to the cache.
    #[inline(never)]
    fn find(&mut self, pattern: &PatternBuf, address: Option<CacheAddress>) -> u32 {
        let payload = self.reach(pattern);
        if let Some(address) = address {
            self.cache.put(address, pattern, payload);
        }
        payload
    }

    /// Fast path of [`PatternTree::reach`] for plain names outside strict mode.
    #[inline(never)]
    fn reach_counting(&mut self, name: &PlainName<'_>) -> u32 {
        let last_level = self.limits.last_level(false);
        let Some(PlainWay { mut leaf, above_star }) = self.places.follow_plain(name, last_level) else {
            return self.reach(name);
        };
        if let Some((above, steps)) = above_star {
            // The name may be a new pattern, which counts even if the tree has places for it already.
            self.count(above, (steps.level(last_level)..).zip(steps.each()));
            // Strict mode may have begun, and rebuilt the tree.
            if self.is_strict() {
                leaf = self.make(name);
            }
        }
        self.places.payload_of(leaf)
    }

    /// Fast path of [`PatternTree::reach`] for plain names in strict mode, where nothing is counted.
    #[inline]
    fn reach_plain(&mut self, name: &PlainName<'_>) -> u32 {
        let collapses = self.places.collapses();
        let payload = self.places.reach_plain(name, self.last_strict);
        if self.places.collapses() != collapses {
            self.cache.clear();
        }
        payload
    }

    /// Returns the index of the payload that a path leads to.
    #[inline]
    fn reach(&mut self, path: &impl Path) -> u32 {
        let leaf = match self.walk(path) {
            Walk::Known(leaf) => leaf,
            // The path may be a new pattern, which counts even if the tree has places for it already.
            Walk::Collapsed { leaf, known } => {
                self.count_path(path, known);
                // Strict mode may have begun, and rebuilt the tree.
                if self.is_strict() { self.make(path) } else { leaf }
            }
            Walk::Missing { known } => {
                self.count_path(path, known);
                if self.places.len() > self.limits.most_places {
                    self.become_strict();
                }
                self.make(path)
            }
        };
        self.places.payload_of(leaf)
    }

    /// Follows a path as far as there are places.
    #[inline]
    fn walk(&mut self, path: &impl Path) -> Walk {
        let (mut at, mut known, mut collapsed) = (ROOT, Known::NOTHING, false);
        for step in path.steps(self.limits.last_level(self.is_strict())) {
            at = match self.places.star(at, &step) {
                Some(star) => {
                    collapsed = true;
                    star
                }
                None => match self.places.find_cached(at, &step) {
                    Some(place) => {
                        collapsed |= step.kind == StepKind::Star;
                        place
                    }
                    None => return Walk::Missing { known },
                },
            };
            if !collapsed {
                known = Known { names: known.names + 1, place: at };
            }
        }
        if collapsed && !self.is_strict() { Walk::Collapsed { leaf: at, known } } else { Walk::Known(at) }
    }

    /// Finds or makes the places of a path, and returns its leaf.
    fn make(&mut self, path: &impl Path) -> u32 {
        let collapses = self.places.collapses();
        let last_level = self.limits.last_level(self.is_strict());
        let mut at = ROOT;
        for step in path.steps(last_level) {
            at = match self.places.star(at, &step) {
                Some(star) => star,
                None => self.places.child(at, step),
            };
        }
        if self.places.collapses() != collapses {
            self.cache.clear();
        }
        at
    }

    /// Counts the places of a path but for those that are `known`, which were counted before.
    fn count_path(&mut self, path: &impl Path, known: Known) -> bool {
        let steps = path.steps_from(known.names, self.limits.last_level(false));
        self.count(known.place, (known.names..).zip(steps))
    }

    /// Counts the places that steps lead to from `above`, outside strict mode. Steps come with their level. Returns true if any was
    /// new.
    #[inline]
    fn count<'a>(&mut self, above: u32, steps: impl Iterator<Item = (usize, PathStep<'a>)>) -> bool {
        let Some(seen) = &mut self.seen else { return false };
        let before = seen.len();
        seen.add(self.places.at(above).bucket, steps, &self.limits);
        let all = seen.len();
        if all > self.limits.strict_above {
            self.become_strict();
        }
        all > before
    }

    /// Returns true if look-ahead would pay off: with this many places, patterns are better counted before places are
    /// made for them, since strict mode would discard most places.
    pub fn wants_look_ahead(&self) -> bool {
        !self.is_strict() && self.len() > self.look_ahead_from
    }

    /// Counts the pattern of a name that will be observed later. Returns true if it is new.
    pub fn look_ahead<'n>(&mut self, name: impl Into<KeyName<'n>>) -> bool {
        match name.into() {
            KeyName::Plain(name) => self.count_path(&name, Known::NOTHING),
            KeyName::Classified(_, pattern) => self.count_path(pattern, Known::NOTHING),
        }
    }

    /// Ends look-ahead until the tree has twice as many places.
    pub fn end_look_ahead(&mut self) {
        self.look_ahead_from = self.look_ahead_from.max(self.len().saturating_mul(2));
    }

    /// Appends for each part of a pattern whether the tree still has its name: neither a class nor collapsed to `{*}`.
    pub fn names_kept(&self, pattern: &PatternBuf, kept: &mut Vec<bool>) {
        let mut at = Some(ROOT);
        for step in pattern.steps(self.limits.last_level(self.is_strict())) {
            let own = at.and_then(|at| self.places.find(at, &step));
            kept.push(own.is_some() && step.kind == StepKind::Literal);
            at = own.or_else(|| self.places.find(at?, &step.starred()));
        }
        // Parts joined in the last step are kept or lost together.
        let last = kept.last().copied().unwrap_or_default();
        kept.resize(pattern.parts.len(), last);
    }

    /// Returns the place of the pattern that a name was counted under; `None` for a name that is new to the tree.
    ///
    /// Changes nothing, unlike [`PatternTree::leaf`], so that many threads may look names up in a finished tree.
    pub fn place_of<'n>(&self, name: impl Into<KeyName<'n>>) -> Option<PlaceId> {
        match name.into() {
            KeyName::Plain(name) => self.follow(&name),
            KeyName::Classified(_, pattern) => self.follow(pattern),
        }
    }

    fn follow(&self, path: &impl Path) -> Option<PlaceId> {
        let mut steps = path.steps(self.limits.last_level(self.is_strict()));
        let place = steps
            .try_fold(ROOT, |at, step| self.places.find(at, &step).or_else(|| self.places.find(at, &step.starred())));
        place.map(PlaceId)
    }

    /// Returns true in strict mode.
    pub fn is_strict(&self) -> bool {
        self.seen.is_none()
    }

    /// Enters strict mode, rebuilding the tree under its limits. Call it for a tree that will be merged into one in strict mode.
    #[cold]
    pub fn become_strict(&mut self) {
        if self.is_strict() {
            return;
        }
        self.seen = None;
        self.cache.clear();
        let mut old = std::mem::replace(&mut self.places, Places::new(&self.limits, true));
        self.places.transplant(ROOT, &mut old, ROOT);
    }

    /// Merges another tree with the same limits.
    pub fn merge(&mut self, mut other: Self) {
        if other.places.len() > self.places.len() {
            std::mem::swap(self, &mut other);
        }
        if let (Some(seen), Some(more)) = (&mut self.seen, &other.seen) {
            seen.merge(more);
        }
        let too_many = self.seen.as_ref().is_some_and(|seen| seen.len() > self.limits.strict_above);
        if too_many || other.is_strict() {
            self.become_strict();
        }
        if self.is_strict() {
            other.become_strict();
        }
        self.cache.clear_after(&other.cache);
        self.places.transplant(ROOT, &mut other.places, ROOT);
        if self.places.len() > self.limits.most_places {
            self.become_strict();
        }
    }

    /// Returns the limits of this tree.
    pub fn limits(&self) -> &TreeLimits {
        &self.limits
    }

    /// Returns the place above all segments.
    pub fn root(&self) -> TreeNode<'_, T> {
        TreeNode { places: &self.places, id: ROOT }
    }

    /// Returns all payloads in no order; unused ones among them have their default.
    pub fn payloads_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.payloads_mut()
    }

    /// Returns the places of the whole set, names counted by bucket: equal for all trees with the same patterns, in whatever order,
    /// and only ever growing. `usize::MAX` in strict mode.
    pub fn breadth(&self) -> usize {
        self.seen.as_ref().map_or(usize::MAX, SeenPlaces::len)
    }

    /// Returns the number of places in use, inner ones and leaves.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if no pattern was seen.
    #[cfg(any(test, feature = "internals"))]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Converts a part of a pattern back to text: patterns are text, split at ASCII separators.
fn text(part: Option<&[u8]>) -> &str {
    part.and_then(|part| std::str::from_utf8(part).ok()).unwrap_or_default()
}

/// Read access to a place in the tree.
#[derive(Debug)]
pub struct TreeNode<'a, T> {
    places: &'a Places<T>,
    id: u32,
}

impl<T> Clone for TreeNode<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TreeNode<'_, T> {}

impl<'a, T: Payload> TreeNode<'a, T> {
    fn step(self) -> PathStep<'a> {
        self.places.step(self.id)
    }

    /// Returns its place.
    pub fn place(self) -> PlaceId {
        PlaceId(self.id)
    }

    /// Returns its segment: a name, a class or `{*}`.
    pub fn name(self) -> &'a str {
        text(Some(self.name_bytes()))
    }

    fn name_bytes(self) -> &'a [u8] {
        let step = self.step();
        match step.kind {
            StepKind::Star => b"{*}",
            StepKind::Literal | StepKind::Class => step.text.get(..step.name).unwrap_or_default(),
        }
    }

    /// Returns the separator between its segment and those of its children; empty for leaves.
    pub fn separator(self) -> &'a str {
        text(Some(self.step().separator()))
    }

    /// Returns true if it stands for many names: a class or `{*}`.
    pub fn varies(self) -> bool {
        self.step().kind != StepKind::Literal
    }

    /// Returns the sort key of children: name, separator, and a number for those of the same text, such as a class and a name
    /// spelt like it. Texts are in the order of their bytes; no two children are equal.
    pub fn order(self) -> (&'a [u8], &'a [u8], u8) {
        let step = self.step();
        (self.name_bytes(), step.separator(), ((step.kind as u8) << 1) | u8::from(step.ends))
    }

    /// Returns the payload of the pattern that ends here.
    pub fn payload(self) -> Option<&'a T> {
        self.places.payload(self.id)
    }

    /// Returns the places below, in no order.
    pub fn children(self) -> impl Iterator<Item = TreeNode<'a, T>> {
        let places = self.places;
        places.children(self.id).map(move |id| TreeNode { places, id })
    }
}
