//! Stored form of a tree: equal for equal sets of patterns, whatever the order in which they came.

use serde::{Deserialize, Serialize};

use super::limits::MAX_NAME_LEN;
use super::places::{Places, ROOT};
use super::seen::SeenPlaces;
use super::step::{MAX_SEPARATOR_LEN, PathStep, StepKind};
use super::{PatternTree, Payload, TreeLimits, TreeNode};

/// Tree as a list of places: each before its children, children sorted.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredTree<T> {
    /// Hashes of the places of the whole set, as ascending differences; `None` in strict mode.
    seen: Option<Vec<u64>>,
    /// Sides of the root that have collapsed.
    shut: [bool; 2],
    places: Vec<StoredPlace<T>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredPlace<T> {
    /// Number of places above, without the root.
    level: u8,
    kind: StepKind,
    /// Length of the name at the beginning of the text.
    name: u8,
    text: Box<[u8]>,
    /// Sides that have collapsed.
    shut: [bool; 2],
    /// Present if a pattern ends here.
    payload: Option<T>,
}

impl<T> StoredTree<T> {
    /// Returns the payloads.
    pub fn payloads(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.payload.as_ref())
    }
}

impl<T: Payload> PatternTree<T> {
    /// Converts the tree to its stored form.
    pub fn into_stored(mut self) -> StoredTree<T> {
        let seen = self.seen.take().map(|seen| {
            let mut last = 0;
            seen.into_sorted().into_iter().map(|hash| hash - std::mem::replace(&mut last, hash)).collect()
        });
        let mut places = Vec::with_capacity(self.places.len());
        let shut = self.places.at(ROOT).shut;
        self.places.store(ROOT, 0, &mut places);
        StoredTree { seen, shut, places }
    }

    /// Adds a tree in its stored form, which need not be trusted: it is built anew under the limits of this tree. Fails if the
    /// stored tree contradicts itself.
    pub fn add_stored(&mut self, stored: StoredTree<T>) -> Result<(), &'static str> {
        self.merge(PatternTree::of_stored(self.limits.clone(), stored)?);
        Ok(())
    }

    fn of_stored(limits: TreeLimits, stored: StoredTree<T>) -> Result<Self, &'static str> {
        let mut tree = PatternTree::new(limits);
        if stored.places.len() > tree.limits.most_places {
            return Err("the tree of patterns has too many places");
        }
        match stored.seen {
            None => tree.become_strict(),
            Some(seen) if seen.len() > tree.limits.strict_above => return Err("the tree of patterns is not strict"),
            Some(seen) => tree.seen = Some(SeenPlaces::of(hashes(&seen))),
        }
        let last_level = tree.limits.last_level(tree.is_strict());
        tree.places.shut_as(ROOT, stored.shut);
        let mut path = vec![ROOT];
        for place in stored.places {
            let level = usize::from(place.level);
            let is_inner = place.payload.is_none();
            let &above = path.get(level).ok_or("a place of the tree of patterns has no place above")?;
            if level > last_level || is_inner && level == last_level {
                return Err("the tree of patterns is too deep");
            }
            path.truncate(level + 1);
            let child = tree.places.child(above, place.step().ok_or("a name in the tree of patterns is no name")?);
            match place.payload {
                Some(payload) => tree.places.absorb(child, payload),
                None => {
                    tree.places.shut_as(child, place.shut);
                    path.push(child);
                }
            }
        }
        Ok(tree)
    }
}

/// Returns the hashes that have these differences.
fn hashes(differences: &[u64]) -> impl Iterator<Item = u64> {
    let sum = |last: &mut u64, difference: &u64| {
        *last = last.wrapping_add(*difference);
        Some(*last)
    };
    differences.iter().scan(0u64, sum)
}

impl<T> StoredPlace<T> {
    /// Returns the step to this place, if it is one that a pattern can make.
    fn step(&self) -> Option<PathStep<'_>> {
        let (name, ends) = (usize::from(self.name), self.payload.is_some());
        let longest = if self.kind == StepKind::Star { MAX_SEPARATOR_LEN } else { MAX_NAME_LEN };
        let is_sound = self.text.len() <= longest
            && name <= self.text.len()
            && (!ends || name == self.text.len())
            && (self.kind != StepKind::Star || name == 0);
        is_sound.then_some(PathStep { text: &self.text, name, kind: self.kind, ends })
    }
}

impl<T: Payload> Places<T> {
    /// Appends all places below one, whose children are on `level`; takes their payloads.
    fn store(&mut self, above: u32, level: u8, stored: &mut Vec<StoredPlace<T>>) {
        let mut children: Vec<u32> = self.children(above).collect();
        children.sort_by(|&one, &other| self.order(one).cmp(&self.order(other)));
        for child in children {
            let place = self.at(child);
            let (shut, ends, PathStep { text, name, kind, .. }) = (place.shut, place.ends, self.step(child));
            let (text, name) = (Box::from(text), u8::try_from(name).unwrap_or(u8::MAX));
            let payload = ends.then(|| self.take_payload(child));
            stored.push(StoredPlace { level, kind, name, text, shut, payload });
            if !ends {
                self.store(child, level.saturating_add(1), stored);
            }
        }
    }

    fn order(&self, id: u32) -> (&[u8], &[u8], u8) {
        TreeNode { places: self, id }.order()
    }
}
