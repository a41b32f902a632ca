//! Compares the tree with its slow, obvious twin: a top-down definition over the whole list of patterns.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::step::{Path, PathStep, StepKind, bucket};
use super::*;
use crate::pattern::plain::PlainReader;
use crate::pattern::segment::Separators;
use crate::pattern::{PartKind, PatternPart};

/// Classifies a key in a simplified way: digits are `{int}`; `:` and `/` separate.
pub(in crate::pattern) fn split(key: &str) -> PatternBuf {
    let mut pattern = PatternBuf::default();
    for piece in key.split_inclusive([':', '/']).chain(key.is_empty().then_some("")) {
        let name = piece.trim_end_matches([':', '/']);
        push(&mut pattern, name, &piece[name.len()..]);
    }
    if key.ends_with([':', '/']) {
        push(&mut pattern, "", "");
    }
    pattern
}

fn push(pattern: &mut PatternBuf, name: &str, separator: &str) {
    let class = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let (name, kind) = if class { ("{int}", PartKind::Class) } else { (name, PartKind::Literal) };
    let start = pattern.text.len();
    pattern.text.push_str(name);
    let end = pattern.text.len();
    pattern.text.push_str(separator);
    pattern.parts.push(PatternPart { start: start as u32, end: end as u32, kind });
}

/// Returns the payload of a pattern.
fn of<'t, T: Payload>(tree: &'t mut PatternTree<T>, pattern: &PatternBuf) -> &'t mut T {
    let leaf = tree.leaf(pattern);
    assert!(tree.holds(leaf));
    tree.payload(leaf).unwrap()
}

/// Like [`split`], with a second class for segments with a leading `#`.
fn split_classes(key: &str) -> PatternBuf {
    let mut pattern = split(key);
    for i in 0..pattern.parts.len() {
        if pattern.name(pattern.parts[i]).starts_with('#') {
            pattern.parts[i].kind = PartKind::Class;
        }
    }
    pattern
}

/// Numbers added to a pattern, sorted when compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct NumberList(Vec<u32>);

impl Payload for NumberList {
    fn absorb(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// Leaves by path; kind and end of each step are part of the path.
type Leaves = BTreeMap<Vec<(String, u8)>, Vec<u32>>;

fn leaves(tree: &PatternTree<NumberList>) -> Leaves {
    fn walk(node: TreeNode<'_, NumberList>, path: &mut Vec<(String, u8)>, found: &mut Leaves) {
        if let Some(numbers) = node.payload() {
            let mut sorted = numbers.0.clone();
            sorted.sort_unstable();
            assert!(found.insert(path.clone(), sorted).is_none(), "one leaf per path");
        }
        for child in node.children() {
            path.push((format!("{}{}", child.name(), child.separator()), child.order().2));
            walk(child, path, found);
            path.pop();
        }
    }
    let mut found = Leaves::new();
    walk(tree.root(), &mut Vec::new(), &mut found);
    found
}

/// Remaining steps of each pattern, with its number.
type Rows<'a> = Vec<(Vec<PathStep<'a>>, u32)>;

/// Computes the leaves by definition: groups a level by first step, after replacing the names of a crowded side by
/// `{*}`.
fn twin(patterns: &[(PatternBuf, u32)], limits: &TreeLimits) -> Leaves {
    let places: BTreeSet<u64> = patterns
        .iter()
        .flat_map(|(p, _)| {
            let steps = p.steps(limits.last_level(false)).enumerate();
            let hashes = steps.scan(0, |place, (level, step)| {
                *place = bucket(*place, level, &step, limits);
                Some(*place)
            });
            hashes.collect::<Vec<_>>()
        })
        .collect();
    let strict = places.len() > limits.strict_above;
    let rows: Rows<'_> =
        patterns.iter().map(|(p, number)| (p.steps(limits.last_level(strict)).collect(), *number)).collect();
    let mut found = Leaves::new();
    group(&rows, 0, strict, limits, &mut Vec::new(), &mut found);
    found
}

fn group(
    rows: &[(Vec<PathStep<'_>>, u32)],
    level: usize,
    strict: bool,
    limits: &TreeLimits,
    path: &mut Vec<(String, u8)>,
    found: &mut Leaves,
) {
    let counts = |kind: StepKind| kind == StepKind::Literal || limits.counts_classes(strict, level);
    let over = |ends: bool| {
        let names: BTreeSet<_> = rows
            .iter()
            .map(|(row, _)| row[0])
            .filter(|step| step.ends == ends && counts(step.kind))
            .map(|step| (step.text, step.name, step.kind))
            .collect();
        names.len() > limits.limit(strict, level)
    };
    let over = [over(false), over(true)];
    let mut groups: BTreeMap<(String, u8), Rows<'_>> = BTreeMap::new();
    for (row, number) in rows {
        let mut step = row[0];
        if over[usize::from(step.ends)] && counts(step.kind) {
            step = step.starred();
        }
        let name = if step.kind == StepKind::Star { "{*}" } else { text(step.text.get(..step.name)) };
        let rank = ((step.kind as u8) << 1) | u8::from(step.ends);
        groups
            .entry((format!("{name}{}", text(Some(step.separator()))), rank))
            .or_default()
            .push((row[1..].to_vec(), *number));
    }
    for (key, below) in groups {
        let ends = key.1 & 1 == 1;
        path.push(key);
        if ends {
            let mut numbers: Vec<u32> = below.iter().map(|(_, number)| *number).collect();
            numbers.sort_unstable();
            found.insert(path.clone(), numbers);
        } else {
            group(&below, level + 1, strict, limits, path, found);
        }
        path.pop();
    }
}

/// Adds numbers to patterns, the odd ones as plain names where possible.
fn add(tree: &mut PatternTree<NumberList>, patterns: &[(PatternBuf, u32)]) {
    let separators = Separators::new(&[":", "/"].map(str::to_owned)).unwrap();
    let reader = PlainReader::new(&separators);
    for (pattern, number) in patterns {
        let plain = reader.read(pattern.text.as_bytes(), 99, |_| true);
        match plain.filter(|_| number % 2 == 1) {
            Some(name) => {
                let leaf = tree.leaf(KeyName::Plain(name));
                assert_eq!(tree.leaf(KeyName::Plain(name)), leaf);
                assert!(tree.holds(leaf));
                tree.payload(leaf).unwrap().0.push(*number);
            }
            None => of(tree, pattern).0.push(*number),
        }
    }
}

fn tree(patterns: &[(PatternBuf, u32)], limits: &TreeLimits) -> PatternTree<NumberList> {
    let mut tree: PatternTree<NumberList> = PatternTree::new(limits.clone());
    add(&mut tree, patterns);
    tree
}

fn tiny(strict_above: usize) -> TreeLimits {
    TreeLimits { top: 3, below: 2, deepest: 4, strict: vec![2, 2, 1], strict_above, most_places: usize::MAX }
}

#[test]
fn wide_levels_collapse_side_by_side() {
    let keys = ["a:x", "b:x", "c:x", "d:x", "a", "b", "9:y", "d:z", "c:y"];
    let patterns: Vec<_> = keys.iter().enumerate().map(|(i, key)| (split(key), i as u32)).collect();
    let texts: Vec<(String, Vec<u32>)> = leaves(&tree(&patterns, &tiny(1000)))
        .into_iter()
        .map(|(path, numbers)| (path.into_iter().map(|(text, _)| text).collect(), numbers))
        .collect();
    let expected = [("a", vec![4]), ("b", vec![5]), ("{*}:{*}", vec![0, 1, 2, 3, 7, 8]), ("{int}:y", vec![6])];
    assert_eq!(texts, expected.map(|(text, numbers)| (text.to_string(), numbers)));
}

#[test]
fn a_million_names_count_as_one_level() {
    let mut tree: PatternTree<NumberList> = PatternTree::new(TreeLimits::default());
    for i in 0..100_000u32 {
        of(&mut tree, &split(&format!("name{i}"))).0.clear();
    }
    assert!(!tree.is_strict());
    assert_eq!(tree.len(), 1);
}

#[test]
fn three_wide_levels_are_strict_and_small() {
    let mut tree: PatternTree<NumberList> =
        PatternTree::new(TreeLimits { strict_above: 5000, ..TreeLimits::default() });
    for i in 0..100_000u32 {
        let (a, b, c) = (i % 60, i / 60 % 50, i / 3000);
        of(&mut tree, &split(&format!("a{a}:b{b}:c{c}"))).0.clear();
    }
    assert!(tree.is_strict());
    assert_eq!(tree.len(), 60 * 3);
}

#[test]
fn crafted_collisions_cannot_make_a_tree_too_large() {
    let limits = TreeLimits { strict_above: usize::MAX, most_places: 500, ..TreeLimits::default() };
    let mut tree: PatternTree<NumberList> = PatternTree::new(limits);
    for i in 0..20_000u32 {
        of(&mut tree, &split(&format!("a{}:b{}:c{}:d", i % 20, i / 20 % 20, i / 400))).0.clear();
    }
    assert!(tree.is_strict() && tree.len() < 500);
}

fn keys() -> impl Strategy<Value = Vec<(PatternBuf, u32)>> {
    let segment = prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "c", "d", "e", "f"]).prop_map(str::to_string),
        2 => Just("7".to_string()),
        1 => prop::sample::select(vec!["#x", "#y", "#z", "{int}", "{*}", ""]).prop_map(str::to_string),
        1 => (0u8..2).prop_map(|i| format!("{i}x").repeat(limits::MAX_NAME_LEN / 2 + 1)),
        1 => (0u8..2).prop_map(|i| "y".repeat(limits::MAX_NAME_LEN / 2 + usize::from(i))),
    ];
    let separator = prop_oneof![5 => Just(":"), 1 => Just("/")];
    let key = prop::collection::vec((segment, separator), 1..7).prop_map(|parts| {
        let last = parts.len() - 1;
        parts
            .into_iter()
            .enumerate()
            .fold(String::new(), |key, (i, (name, separator))| key + &name + if i == last { "" } else { separator })
    });
    let few = prop::collection::vec((key, 0u32..9), 0..40);
    few.prop_map(|keys| keys.into_iter().map(|(key, number)| (split_classes(&key), number)).collect())
}

fn any_limits() -> impl Strategy<Value = TreeLimits> {
    let strict = prop::collection::vec(0usize..4, 0..6);
    (0usize..5, 0usize..4, 0usize..6, strict, 4usize..60).prop_map(|(top, below, deepest, strict, strict_above)| {
        TreeLimits { top, below, deepest, strict, strict_above, most_places: usize::MAX }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_split_and_order_is_as_the_definition(
        patterns in keys(),
        limits in prop_oneof![any_limits(), (4usize..60).prop_map(tiny)],
        owners in prop::collection::vec((0usize..4, any::<bool>()), 40),
    ) {
        let expected = twin(&patterns, &limits);
        prop_assert_eq!(&leaves(&tree(&patterns, &limits)), &expected);
        let mut parts = vec![Vec::new(); 4];
        for (row, (owner, _)) in patterns.iter().zip(&owners) {
            parts[*owner].push(row.clone());
        }
        // Some patterns are looked ahead at before they are added.
        let looking_ahead = |part: &Vec<(PatternBuf, u32)>| {
            let mut tree = PatternTree::new(limits.clone());
            for (row, (_, looked_ahead)) in part.iter().zip(&owners) {
                if *looked_ahead {
                    tree.look_ahead(&row.0);
                }
            }
            add(&mut tree, part);
            tree
        };
        let mut trees: Vec<_> = parts.iter().map(looking_ahead).collect();
        let mut turns = owners.iter().map(|(_, turn)| *turn);
        while trees.len() > 1 {
            let (last, turn) = (trees.pop().unwrap(), turns.next().unwrap());
            let pick = if turn { trees.len() - 1 } else { 0 };
            let other = std::mem::replace(&mut trees[pick], PatternTree::new(limits.clone()));
            let (mut into, from) = if turns.next().unwrap() { (last, other) } else { (other, last) };
            into.merge(from);
            trees[pick] = into;
        }
        prop_assert_eq!(&leaves(&trees[0]), &expected);
        // Merged trees accept further patterns like any other.
        let mut whole = trees.pop().unwrap();
        add(&mut whole, &patterns);
        let twice: Vec<_> = patterns.iter().chain(&patterns).cloned().collect();
        prop_assert_eq!(leaves(&whole), twin(&twice, &limits));
    }

    #[test]
    fn a_finished_tree_knows_the_place_of_every_name(patterns in keys(), limits in any_limits()) {
        fn walk(node: TreeNode<'_, NumberList>, found: &mut BTreeMap<PlaceId, Vec<u32>>) {
            if let Some(numbers) = node.payload() {
                found.insert(node.place(), numbers.0.clone());
            }
            node.children().for_each(|child| walk(child, found));
        }
        let tree = tree(&patterns, &limits);
        let (mut counted, mut looked_up) = (BTreeMap::new(), BTreeMap::<PlaceId, Vec<u32>>::new());
        walk(tree.root(), &mut counted);
        for (pattern, number) in &patterns {
            looked_up.entry(tree.place_of(pattern).unwrap()).or_default().push(*number);
        }
        counted.values_mut().chain(looked_up.values_mut()).for_each(|numbers| numbers.sort_unstable());
        prop_assert_eq!(counted, looked_up);
    }

    #[test]
    fn every_place_but_the_root_is_reachable_once(patterns in keys(), limits in any_limits()) {
        fn count(node: TreeNode<'_, NumberList>) -> usize {
            node.children().map(|child| 1 + count(child)).sum()
        }
        let tree = tree(&patterns, &limits);
        prop_assert_eq!(count(tree.root()), tree.len());
    }
}

#[test]
fn a_leaf_holds_until_the_tree_changes_its_levels() {
    let new = || PatternTree::<NumberList>::new(TreeLimits { top: 2, ..TreeLimits::default() });
    let (mut tree, mut other) = (new(), new());
    let leaf = tree.leaf(&split("a"));
    tree.leaf(&split("b:1"));
    assert!(tree.holds(leaf) && tree.leaf(&split("a")) == leaf);
    (0..4).for_each(|i| _ = tree.leaf(&split(&format!("c{i}"))));
    assert!(!tree.holds(leaf) && tree.payload(leaf).is_none());
    // The larger of two trees absorbs the other one, whichever it is.
    let leaf = tree.leaf(&split("a"));
    (0..99).for_each(|i| _ = other.leaf(&split(&format!("d:{{int}}:e{i}"))));
    tree.merge(other);
    assert!(!tree.holds(leaf));
}
