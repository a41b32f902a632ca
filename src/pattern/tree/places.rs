//! Places of a tree in one arena: finding and making them, collapsing levels, moving subtrees.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Payload;
use super::limits::TreeLimits;
use super::step::{PathStep, StepKind, bucket};
use crate::pattern::word::{FACTOR, WORD, short_word};

/// The place above all segments.
pub(super) const ROOT: u32 = 0;

/// Sentinel: no place, the end of a list.
pub(super) const NONE: u32 = u32::MAX;

// Sides of a place's children: inner names, after which patterns go on, and endings.

pub(super) const INNER: usize = 0;
pub(super) const ENDINGS: usize = 1;

#[derive(Debug, Clone)]
pub(super) struct TreePlace {
    /// Name and separator, as in a [`PathStep`].
    text: Box<[u8]>,
    /// [`word`] of the text.
    word: u64,
    /// The [`bucket`] that it counts in, outside strict mode and above all `{*}`.
    pub bucket: u64,
    parent: u32,
    /// The next child of the same parent.
    pub next: u32,
    /// The first child; of a leaf its payload.
    pub inside: u32,
    /// Distinct names among the children, by side.
    names: [u32; 2],
    /// Sides that have collapsed.
    pub shut: [bool; 2],
    /// The `{*}` used last, by side.
    /// INVARIANT: set only on collapsed sides, where a `{*}` is never removed.
    pub star: [u32; 2],
    /// Separator of the inner `{*}`; zero, which is no separator, if there is none.
    pub star_separator: u8,
    name: u8,
    /// Number of segments above its children.
    pub level: u8,
    kind: StepKind,
    pub ends: bool,
}

/// All places with their payloads. Freed places are reused.
#[derive(Debug, Clone)]
pub(super) struct Places<T> {
    pub limits: TreeLimits,
    pub strict: bool,
    arena: Vec<TreePlace>,
    free: Vec<u32>,
    payloads: Vec<T>,
    free_payloads: Vec<u32>,
    /// Every place but the root, by parent and step.
    table: HashTable<u32>,
    /// Randomly seeded, so that no file can be crafted to collide here; no output depends on its order.
    hasher: DefaultHashBuilder,
    collapses: u64,
    /// Cache of recently found places, by [`slot`]; they may have been freed since.
    recent: Box<[u32; SLOTS]>,
}

/// Slots of the direct-mapped cache of places. Tests have few, so that entries evict each other.
const SLOTS: usize = if cfg!(test) { 4 } else { 256 };

/// Returns a digest of a text that distinguishes most texts, and with the length all texts shorter than a word.
#[inline]
fn word(text: &[u8]) -> u64 {
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29),
        _ => short_word(text),
    }
}

/// Returns the cache slot of a step. Names can be crafted to collide here, which only costs lookups in the table.
#[inline]
fn slot(parent: u32, word: u64) -> usize {
    let spread = (word ^ u64::from(parent).rotate_left(40)).wrapping_mul(FACTOR);
    (spread >> 32) as usize % SLOTS // truncated on purpose: any bits will do
}

fn hash(hasher: &DefaultHashBuilder, parent: u32, step: &PathStep<'_>) -> u64 {
    let mut state = hasher.build_hasher();
    let marks = ((step.name as u64) << 8) | ((step.kind as u64) << 1) | u64::from(step.ends);
    state.write_u64((u64::from(parent) << 32) | marks);
    state.write(step.text);
    state.finish()
}

impl TreePlace {
    fn step(&self) -> PathStep<'_> {
        PathStep { text: &self.text, name: usize::from(self.name), kind: self.kind, ends: self.ends }
    }

    /// Returns true if a step, whose text has this `word`, leads here from `parent`.
    ///
    /// Texts shorter than a word are equal if word and length are. Comparing empty ones would also be slow: the pointer
    /// of an empty box is dangling, and a masked vector load from there takes 100 ns.
    #[inline]
    fn is(&self, parent: u32, step: &PathStep<'_>, word: u64) -> bool {
        self.parent == parent
            && self.word == word
            && self.text.len() == step.text.len()
            && usize::from(self.name) == step.name
            && self.kind == step.kind
            && self.ends == step.ends
            && (step.text.len() < WORD || *self.text == *step.text)
    }

    /// Returns the cached `{*}` of a side, if its separator is this one; endings have none.
    #[inline]
    pub fn star(&self, side: usize, separator: &[u8]) -> Option<u32> {
        let same = side == ENDINGS || matches!(separator, [separator] if *separator == self.star_separator);
        (same && self.star[side] != NONE).then_some(self.star[side])
    }
}

/// Converts an index to an id of 32 bits: the limits keep a tree far below that many places.
fn id(index: usize) -> u32 {
    u32::try_from(index).expect("the limits keep the arena below 2^32 places")
}

impl<T: Payload> Places<T> {
    pub fn new(limits: &TreeLimits, strict: bool) -> Self {
        let root = TreePlace {
            text: Box::default(),
            word: 0,
            bucket: 0,
            parent: NONE,
            next: NONE,
            inside: NONE,
            names: [0; 2],
            shut: [false; 2],
            star: [NONE; 2],
            star_separator: 0,
            name: 0,
            level: 0,
            kind: StepKind::Literal,
            ends: false,
        };
        Places {
            limits: limits.clone(),
            strict,
            arena: vec![root],
            free: Vec::new(),
            payloads: Vec::new(),
            free_payloads: Vec::new(),
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            collapses: 0,
            recent: Box::new([NONE; SLOTS]),
        }
    }

    /// Returns the number of places in use, without the root.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns how often a level has collapsed: as long as this is unchanged, no place was freed.
    pub fn collapses(&self) -> u64 {
        self.collapses
    }

    pub fn payloads_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.payloads.iter_mut()
    }

    pub fn payload_mut(&mut self, payload: u32) -> Option<&mut T> {
        self.payloads.get_mut(payload as usize)
    }

    /// Returns the index of a leaf's payload.
    pub fn payload_of(&self, leaf: u32) -> u32 {
        debug_assert!(self.at(leaf).ends);
        self.at(leaf).inside
    }

    pub fn payload(&self, place: u32) -> Option<&T> {
        let place = self.at(place);
        place.ends.then(|| &self.payloads[place.inside as usize])
    }

    pub fn step(&self, place: u32) -> PathStep<'_> {
        self.at(place).step()
    }

    pub fn children(&self, place: u32) -> impl Iterator<Item = u32> {
        let place = self.at(place);
        let first = if place.ends { NONE } else { place.inside };
        std::iter::successors((first != NONE).then_some(first), |&child| {
            let next = self.at(child).next;
            (next != NONE).then_some(next)
        })
    }

    pub fn at(&self, place: u32) -> &TreePlace {
        &self.arena[place as usize]
    }

    fn at_mut(&mut self, place: u32) -> &mut TreePlace {
        &mut self.arena[place as usize]
    }

    /// Finds or makes a child. Making it may collapse the level; returns the place that the step leads to afterwards.
    pub fn child(&mut self, parent: u32, step: PathStep<'_>) -> u32 {
        let side = usize::from(step.ends);
        loop {
            let was_shut = self.at(parent).shut[side];
            let step = if was_shut && self.counts(parent, step.kind) { step.starred() } else { step };
            if let Some(found) = self.find_cached(parent, &step) {
                if was_shut && step.kind == StepKind::Star {
                    self.remember_star(parent, found);
                }
                return found;
            }
            let made = self.make(&step, self.at(parent).level);
            self.attach(parent, made);
            if self.at(parent).shut[side] == was_shut {
                return made;
            }
        }
    }

    /// Returns the place of a step whose level has collapsed, if the cached `{*}` has its separator, so that its name
    /// does not matter.
    #[inline]
    pub fn star(&self, parent: u32, step: &PathStep<'_>) -> Option<u32> {
        let side = usize::from(step.ends);
        if step.kind == StepKind::Class && !self.counts(parent, step.kind) {
            return None;
        }
        self.at(parent).star(side, step.separator())
    }

    /// Caches the `{*}` of a collapsed side.
    fn remember_star(&mut self, parent: u32, star: u32) {
        let TreePlace { ends, text, .. } = self.at(star);
        let (side, separator) = (usize::from(*ends), text.first().copied());
        debug_assert!(self.at(parent).shut[side]);
        match (separator, text.len()) {
            (None, _) if side == ENDINGS => self.at_mut(parent).star[ENDINGS] = star,
            (Some(separator), 1) if side == INNER => {
                let above = self.at_mut(parent);
                (above.star[INNER], above.star_separator) = (star, separator);
            }
            _ => {} // no other separator exists
        }
    }

    /// Returns true if a child of this kind counts against the limit of its level, and collapses with it.
    fn counts(&self, parent: u32, kind: StepKind) -> bool {
        kind == StepKind::Literal || self.limits.counts_classes(self.strict, usize::from(self.at(parent).level))
    }

    /// Returns the child that is exactly this step, from the table.
    pub fn find(&self, parent: u32, step: &PathStep<'_>) -> Option<u32> {
        let word = word(step.text);
        let same = |&id: &u32| self.at(id).is(parent, step, word);
        self.table.find(hash(&self.hasher, parent, step), same).copied()
    }

    /// Like `find`, but probes the cache of recent places first.
    #[inline]
    pub fn find_cached(&mut self, parent: u32, step: &PathStep<'_>) -> Option<u32> {
        let recent = self.probe(parent, step);
        if recent.is_some() {
            return recent;
        }
        let found = self.find(parent, step)?;
        self.recent[slot(parent, word(step.text))] = found;
        Some(found)
    }

    /// Probes the cache of recent places only.
    #[inline]
    pub fn probe(&self, parent: u32, step: &PathStep<'_>) -> Option<u32> {
        let word = word(step.text);
        let recent = self.recent[slot(parent, word)];
        let place = self.arena.get(recent as usize)?;
        place.is(parent, step, word).then_some(recent)
    }

    /// Makes a place without inserting it into a list.
    fn make(&mut self, step: &PathStep<'_>, above: u8) -> u32 {
        let inside = if step.ends { self.make_payload() } else { NONE };
        let name = u8::try_from(step.name).expect("longer names are stars, which have none");
        let place = TreePlace {
            text: step.text.into(),
            word: word(step.text),
            bucket: 0,
            parent: NONE,
            next: NONE,
            inside,
            names: [0; 2],
            shut: [false; 2],
            star: [NONE; 2],
            star_separator: 0,
            name,
            level: above.saturating_add(1),
            kind: step.kind,
            ends: step.ends,
        };
        match self.free.pop() {
            Some(free) => {
                *self.at_mut(free) = place;
                free
            }
            None => {
                self.arena.push(place);
                id(self.arena.len() - 1)
            }
        }
    }

    fn make_payload(&mut self) -> u32 {
        self.free_payloads.pop().unwrap_or_else(|| {
            self.payloads.push(T::default());
            id(self.payloads.len() - 1)
        })
    }

    pub fn take_payload(&mut self, leaf: u32) -> T {
        let payload = self.at(leaf).inside;
        self.free_payloads.push(payload);
        std::mem::take(&mut self.payloads[payload as usize])
    }

    pub fn absorb(&mut self, leaf: u32, payload: T) {
        let into = self.at(leaf).inside;
        self.payloads[into as usize].absorb(payload);
    }

    /// Frees a place. Its payload or its children must have been taken before.
    fn release(&mut self, place: u32) {
        let gone = self.at_mut(place);
        (gone.text, gone.parent) = (Box::default(), NONE);
        self.free.push(place);
    }

    /// Inserts a place into the list of a parent that has no such child; the level may collapse.
    fn attach(&mut self, parent: u32, child: u32) {
        let first = std::mem::replace(&mut self.at_mut(parent).inside, child);
        let (above, level) = (self.at(parent).bucket, usize::from(self.at(parent).level));
        let bucket = bucket(above, level, &self.at(child).step(), &self.limits);
        let place = self.at_mut(child);
        (place.parent, place.next, place.bucket) = (parent, first, bucket);
        let (side, kind) = (usize::from(place.ends), place.kind);
        let Places { table, hasher, arena, .. } = self;
        let key = |id: &u32| {
            let place = &arena[*id as usize];
            hash(hasher, place.parent, &place.step())
        };
        table.insert_unique(key(&child), child, key);
        if !self.counts(parent, kind) {
            return;
        }
        let limit = self.limits.limit(self.strict, level);
        let place = self.at_mut(parent);
        place.names[side] = place.names[side].saturating_add(1);
        if !place.shut[side] && place.names[side] as usize > limit {
            self.collapse(parent, side);
        }
    }

    /// Removes a place from the table; the caller removes it from its parent's list.
    fn unhash(&mut self, child: u32) {
        let place = self.at(child);
        let hash = hash(&self.hasher, place.parent, &place.step());
        if let Ok(entry) = self.table.find_entry(hash, |&id| id == child) {
            entry.remove();
        }
    }

    /// Collapses all names on one side of a place to a single `{*}`, permanently.
    pub fn collapse(&mut self, parent: u32, side: usize) {
        if self.at(parent).shut[side] {
            return;
        }
        self.collapses += 1;
        let mut child = std::mem::replace(&mut self.at_mut(parent).inside, NONE);
        self.at_mut(parent).shut[side] = true;
        self.at_mut(parent).names[side] = 0;
        let mut moved = Vec::new();
        while child != NONE {
            let (next, kind, ends) = (self.at(child).next, self.at(child).kind, self.at(child).ends);
            if usize::from(ends) == side && self.counts(parent, kind) {
                self.unhash(child);
                moved.push(child);
            } else {
                let first = std::mem::replace(&mut self.at_mut(parent).inside, child);
                self.at_mut(child).next = first;
            }
            child = next;
        }
        for child in moved {
            self.adopt(parent, child);
        }
    }

    /// Inserts a place into the list of a parent, merging it with an equal child.
    fn adopt(&mut self, parent: u32, child: u32) {
        let step = self.step(child);
        if self.at(parent).shut[usize::from(step.ends)] && self.counts(parent, step.kind) {
            let text: Box<[u8]> = step.starred().text.into();
            let place = self.at_mut(child);
            (place.word, place.text, place.name, place.kind) = (word(&text), text, 0, StepKind::Star);
        }
        match self.find(parent, &self.step(child)) {
            Some(twin) => self.unite(child, twin),
            None => self.attach(parent, child),
        }
    }

    /// Merges a place that is in no list into an equal one of the tree.
    fn unite(&mut self, from: u32, into: u32) {
        if self.at(from).ends {
            let payload = self.take_payload(from);
            self.absorb(into, payload);
            return self.release(from);
        }
        self.shut_as(into, self.at(from).shut);
        let mut child = std::mem::replace(&mut self.at_mut(from).inside, NONE);
        while child != NONE {
            let next = self.at(child).next;
            self.unhash(child);
            self.adopt(into, child);
            child = next;
        }
        self.release(from);
    }

    /// Collapses the sides that are collapsed in another place.
    pub fn shut_as(&mut self, place: u32, shut: [bool; 2]) {
        for (side, shut) in shut.into_iter().enumerate() {
            if shut {
                self.collapse(place, side);
            }
        }
    }
}
