//! Number and size of the nodes of a radix tree (`rax.c`), computed from its keys in ascending order.
//!
//! Characters without a branch share one compressed node. A node takes 4 bytes plus one per character, padded to 8, then
//! one pointer per child (a single one if compressed) and one for a value.
//!
//! A stack holds the path to the last key: root, branches and keys on it. Nodes that the next key does not share can no
//! longer change and are counted.

use super::alloc::Allocator;

/// Counts of a radix tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TreeShape {
    /// Keys.
    pub keys: u64,
    /// Nodes.
    pub nodes: u64,
    /// Allocated bytes of all nodes.
    pub bytes: u64,
}

/// Start of a node on the path to the last key.
#[derive(Debug, Clone, Copy)]
struct PathPoint {
    depth: usize,
    is_key: bool,
    children: u64,
    /// Depth of the first child.
    first: usize,
}

/// Radix tree size calculator. Keys must be inserted in ascending order; other orders give an unspecified shape.
#[derive(Debug)]
pub struct RaxTree {
    allocator: Allocator,
    valued: bool,
    previous: Vec<u8>,
    path: Vec<PathPoint>,
    shape: TreeShape,
}

impl RaxTree {
    /// Creates an empty tree.
    pub fn new(allocator: Allocator) -> RaxTree {
        RaxTree { allocator, valued: true, previous: Vec::new(), path: Vec::new(), shape: TreeShape::default() }
    }

    /// Resets to an empty tree, whose keys have values if `valued`.
    pub fn clear(&mut self, valued: bool) {
        self.valued = valued;
        self.previous.clear();
        self.path.clear();
        self.path.push(PathPoint { depth: 0, is_key: false, children: 0, first: 0 });
        self.shape = TreeShape::default();
    }

    /// Inserts a key, unless it equals the previous one.
    pub fn insert(&mut self, key: &[u8]) {
        if self.shape.keys > 0 && self.previous == key {
            return;
        }
        let shared = self.previous.iter().zip(key).take_while(|(a, b)| a == b).count();
        self.leave(shared);
        match self.path.last_mut() {
            Some(last) if last.depth == key.len() => last.is_key = true,
            _ => self.path.push(PathPoint { depth: key.len(), is_key: true, children: 0, first: 0 }),
        }
        self.shape.keys += 1;
        self.previous.clear();
        self.previous.extend_from_slice(key);
    }

    /// Returns the shape of the whole tree.
    pub fn finish(&mut self) -> TreeShape {
        self.leave(0);
        while let Some(point) = self.path.pop() {
            self.count(point);
        }
        self.shape
    }

    /// Pops and counts the part of the path deeper than `depth`.
    fn leave(&mut self, depth: usize) {
        while let Some(point) = self.path.pop_if(|point| point.depth > depth) {
            self.count(point);
            match self.path.last() {
                Some(parent) if parent.depth >= depth => {}
                _ => self.path.push(PathPoint { depth, is_key: false, children: 0, first: 0 }),
            }
            self.adopt(point.depth);
        }
    }

    /// Adds a child that starts at `depth` to the last point of the path.
    fn adopt(&mut self, depth: usize) {
        let Some(parent) = self.path.last_mut() else { return };
        parent.children += 1;
        let PathPoint { depth: own, first, children, .. } = *parent;
        match children {
            1 => parent.first = depth,
            // A second child turns the compressed node into a branch: each child gets a run of its own after its character.
            2 => {
                self.run(first.saturating_sub(own + 1));
                self.run(depth.saturating_sub(own + 1));
            }
            _ => self.run(depth.saturating_sub(own + 1)),
        }
    }

    /// Counts the compressed node between a branch and its child, if any.
    fn run(&mut self, length: usize) {
        if length > 0 {
            self.node(length as u64, 1, false);
        }
    }

    fn count(&mut self, point: PathPoint) {
        match point.children {
            0 => self.node(0, 0, point.is_key),
            1 => self.node(point.first.saturating_sub(point.depth) as u64, 1, point.is_key),
            children => self.node(children, children, point.is_key),
        }
    }

    fn node(&mut self, characters: u64, children: u64, is_key: bool) {
        let head = (4 + characters).next_multiple_of(8);
        let pointers = children + u64::from(is_key && self.valued);
        self.shape.nodes += 1;
        self.shape.bytes += self.allocator.usable(head + 8 * pointers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(keys: &[&str]) -> TreeShape {
        let mut tree = RaxTree::new(Allocator::Jemalloc);
        tree.clear(true);
        keys.iter().for_each(|key| tree.insert(key.as_bytes()));
        tree.finish()
    }

    #[test]
    fn empty_tree_is_one_node_and_one_key_two() {
        assert_eq!(shape(&[]), TreeShape { keys: 0, nodes: 1, bytes: 8 });
        // A run of 16 characters: 4 + 16, padded to 24, and a pointer; a leaf: 8 and its value.
        assert_eq!(shape(&["0123456789abcdef"]), TreeShape { keys: 1, nodes: 2, bytes: 32 + 16 });
        assert_eq!(shape(&["x"]), TreeShape { keys: 1, nodes: 2, bytes: 16 + 16 });
    }

    #[test]
    fn branches_end_runs() {
        // foo, branch of b and t, "ar" behind b, two leaves.
        assert_eq!(shape(&["foobar", "foot"]).nodes, 5);
        // branch at the root of a and b, two leaves.
        assert_eq!(shape(&["a", "b"]).nodes, 3);
        assert_eq!(shape(&["a", "b", "c"]).nodes, 4);
    }

    #[test]
    fn key_that_is_a_prefix_ends_the_run() {
        assert_eq!(shape(&["foo", "foobar"]), TreeShape { keys: 2, nodes: 3, bytes: 16 + 24 + 16 });
        assert_eq!(shape(&["foo", "foobar", "foox"]).nodes, 5);
        assert_eq!(shape(&["", "a"]).nodes, 2);
    }

    /// Reference implementation by definition: a node for each branch, key and end, and a run before each that needs one.
    fn plainly(keys: &[Vec<u8>]) -> u64 {
        fn below(keys: &[&[u8]]) -> u64 {
            let is_key = keys.iter().any(|key| key.is_empty());
            let mut firsts: Vec<u8> = keys.iter().filter_map(|key| key.first().copied()).collect();
            firsts.dedup();
            let [only] = firsts.as_slice() else {
                let children = firsts.iter().map(|first| {
                    let tails: Vec<&[u8]> = keys.iter().filter(|k| k.first() == Some(first)).map(|k| &k[1..]).collect();
                    below(&tails)
                });
                return 1 + children.sum::<u64>();
            };
            // A run: as far as all go the same way and no key ends.
            let mut tails: Vec<&[u8]> = keys.iter().filter(|k| !k.is_empty()).map(|k| &k[1..]).collect();
            let _ = (is_key, only);
            while !tails.iter().any(|t| t.is_empty()) && tails.iter().all(|t| t.first() == tails[0].first()) {
                tails.iter_mut().for_each(|tail| *tail = &tail[1..]);
            }
            1 + below(&tails)
        }
        below(&keys.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    proptest::proptest! {
        #[test]
        fn equals_the_definition(mut keys in proptest::collection::vec(proptest::collection::vec(0u8..3, 0..6), 0..20)) {
            keys.sort();
            keys.dedup();
            let mut tree = RaxTree::new(Allocator::Jemalloc);
            tree.clear(true);
            keys.iter().for_each(|key| tree.insert(key));
            proptest::prop_assert_eq!(tree.finish().nodes, plainly(&keys));
        }

        #[test]
        fn unsorted_keys_do_not_panic(keys in proptest::collection::vec(proptest::collection::vec(0u8..3, 0..6), 0..20)) {
            let mut tree = RaxTree::new(Allocator::Jemalloc);
            tree.clear(false);
            keys.iter().for_each(|key| tree.insert(key));
            tree.finish();
        }
    }
}
