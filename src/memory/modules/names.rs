//! Names of a value's elements, for the radix tree that its module keeps of them.

use crate::error::Result;
use crate::memory::rax::{RaxTree, TreeShape};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;

/// Maximum number of kept names and of their bytes; others are assumed to be like these.
const MAX_NAMES: usize = 1 << 20;
const MAX_BYTES: usize = 16 << 20;
/// Number of leading bytes by which names are compared.
const NAME_BYTES: usize = 4 << 10;
/// Buffers beyond this size are freed before the next value.
const KEPT: usize = 1 << 20;

/// Names in file order, one after the other.
#[derive(Debug, Default)]
pub struct Names {
    bytes: Vec<u8>,
    /// Start and end of each.
    places: Vec<(u32, u32)>,
}

impl Names {
    /// Returns the buffers without names.
    pub fn emptied(mut self) -> Names {
        self.bytes.clear();
        self.places.clear();
        self.bytes.shrink_to(KEPT);
        self.places.shrink_to(KEPT / 8);
        self
    }

    /// Adds a name, while there is room.
    pub fn add(&mut self, name: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        if self.places.len() >= MAX_NAMES || self.bytes.len() >= MAX_BYTES {
            return Ok(());
        }
        let name = name.prefix(NAME_BYTES, scratch)?;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name.get(..NAME_BYTES).unwrap_or(name));
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.bytes.len())) {
            self.places.push((start, end));
        }
        Ok(())
    }

    /// Returns the shape of the radix tree of `all` names, projected from the kept ones if there are more.
    pub fn tree(&mut self, tree: &mut RaxTree, all: u64) -> TreeShape {
        let bytes = &self.bytes;
        let name = |&(start, end): &(u32, u32)| bytes.get(start as usize..end as usize).unwrap_or_default();
        self.places.sort_unstable_by(|a, b| name(a).cmp(name(b)));
        tree.clear(true);
        self.places.iter().for_each(|place| tree.insert(name(place)));
        let kept = self.places.len() as u64;
        let shape = tree.finish();
        let project = |count: u64| match kept {
            0 => count,
            kept if all > kept => {
                let projected = u128::from(count) * u128::from(all) / u128::from(kept);
                u64::try_from(projected).unwrap_or(u64::MAX)
            }
            _ => count,
        };
        let TreeShape { keys, nodes, bytes } = shape;
        TreeShape { keys: project(keys), nodes: project(nodes), bytes: project(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Allocator;

    fn names(texts: &[&str]) -> Names {
        let mut names = Names::default();
        let mut scratch = Scratch::default();
        texts.iter().for_each(|text| names.add(RawString::plain(text.as_bytes()), &mut scratch).unwrap());
        names
    }

    #[test]
    fn order_of_names_does_not_matter() {
        let mut tree = RaxTree::new(Allocator::Jemalloc);
        let sorted = names(&["item:1", "item:10", "item:2", "other"]).tree(&mut tree, 4);
        assert_eq!(names(&["other", "item:10", "item:2", "item:1"]).tree(&mut tree, 4), sorted);
        assert_eq!(sorted.keys, 4);
        assert_eq!(names(&[]).tree(&mut tree, 0).nodes, 1);
    }

    #[test]
    fn names_beyond_the_limit_are_projected() {
        let mut tree = RaxTree::new(Allocator::Jemalloc);
        let mut names = names(&["a", "b"]);
        let known = names.tree(&mut tree, 2);
        let projected = names.tree(&mut tree, 20);
        assert_eq!((projected.keys, projected.bytes), (20, 10 * known.bytes));
        assert!(names.tree(&mut tree, u64::MAX).bytes > known.bytes);
    }

    #[test]
    fn emptied_names_are_forgotten() {
        let mut tree = RaxTree::new(Allocator::Jemalloc);
        assert_eq!(names(&["a", "b"]).emptied().tree(&mut tree, 0).keys, 0);
    }
}
