//! Laws of the aggregate, its figures compared with plain sums, and the sums over the tree of prefixes.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::pattern::segment::Separators;
use crate::pattern::{PartKind, PatternPart};
use crate::policy::evidence::Expiries;
use crate::policy::forest::PatternNode;
use crate::policy::word_set::WordSet;
use crate::record::{Encoding, Kind};
use crate::report::{Hidden, PrefixNode, Weight};
use crate::units::{Bytes, Millis};

pub(super) fn record(db: u64, key: &[u8], memory: u64, expires_at: Option<i64>) -> Record<'_> {
    Record {
        db,
        kind: if memory.is_multiple_of(2) { Kind::String } else { Kind::Hash },
        encoding: Encoding::Raw,
        length: Some(7),
        memory: Bytes(memory),
        allocated: Bytes(memory),
        disk: Bytes(memory / 2),
        expires_at: expires_at.map(Millis),
        ..crate::policy::testing::record(key)
    }
}

/// Classifies a key in a simplified way: `:` separates, and digits are a class.
fn pattern(key: &str) -> PatternBuf {
    let mut pattern = PatternBuf::default();
    for name in key.split(':') {
        if !pattern.parts.is_empty() {
            pattern.text.push(':');
        }
        let class = name.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty();
        let (name, kind) = if class { ("{int}", PartKind::Class) } else { (name, PartKind::Literal) };
        let start = u32::try_from(pattern.text.len()).unwrap();
        pattern.text.push_str(name);
        pattern.parts.push(PatternPart { start, end: u32::try_from(pattern.text.len()).unwrap(), kind });
    }
    pattern
}

#[derive(Debug, Clone)]
struct SeenKey {
    db: u64,
    key: String,
    memory: u64,
    expires_at: Option<i64>,
    broken: u64,
}

/// Returns two alternatives: half and three times the memory.
fn alternatives(memory: u64) -> [Bytes; 2] {
    [Bytes(memory / 2), Bytes(memory.saturating_mul(3))]
}

fn collect(seen: &[SeenKey], limits: &TreeLimits) -> PatternStats {
    let patterns = PatternStats::new(limits.clone(), 2).keeping_expiries(Millis(1));
    let mut patterns = patterns.sampling_ids(Some(IdFinder::new(&Separators::default(), WordSet::new(["name"]))));
    for SeenKey { db, key, memory, expires_at, broken } in seen {
        let alternatives = alternatives(*memory);
        let record = Record { alternatives: &alternatives, ..record(*db, key.as_bytes(), *memory, *expires_at) };
        patterns.observe(&record, &pattern(key), &crate::policy::testing::broken(*broken));
    }
    patterns
}

/// Creates `number` rules without measurements.
fn rules(number: usize) -> Vec<RuleBit> {
    vec![RuleBit { id: "a.rule", severity: Severity::Must, measures: false, saves: false }; number]
}

fn plan() -> PatternsPlan {
    PatternsPlan { top: 4, listed: 4, compared: 0, depth: 2, min_share: 0.1, rules: rules(3) }
}

fn show(patterns: PatternStats, plan: &PatternsPlan) -> String {
    let forest = patterns.forest();
    let seconds = |times: &Expiries| {
        let mut seconds: Vec<u32> = times.known_seconds().collect();
        seconds.sort_unstable();
        seconds
    };
    let ids = |node: &PatternNode<'_>| node.ids.map(|ids| ids.sorted());
    let times = forest
        .nodes
        .iter()
        .map(|node| (&node.text, ids(node), node.expiries.map(|times| (times.all(), seconds(times)))));
    format!("{:#?} {:?}", patterns.finish(plan), times.collect::<Vec<_>>())
}

fn snapshot() -> impl Strategy<Value = Vec<SeenKey>> {
    let key = prop_oneof![
        4 => "[a-f]:[a-c7]:[a-c7]",
        4 => "[a-c](:[0-9]{1,2}){0,3}",
        1 => "[a-c]{0,2}",
    ];
    let memory = prop_oneof![8 => 0u64..6, 1 => Just(u64::MAX / 2)];
    let seen = (0u64..3, key, memory, prop::option::of(0i64..2), 0u64..8);
    prop::collection::vec(
        seen.prop_map(|(db, key, memory, expires_at, broken)| SeenKey { db, key, memory, expires_at, broken }),
        0..40,
    )
}

fn limits() -> impl Strategy<Value = TreeLimits> {
    let tiny = (4usize..40).prop_map(|strict_above| TreeLimits {
        top: 3,
        below: 2,
        deepest: 3,
        strict: vec![2, 1],
        strict_above,
        most_places: usize::MAX,
    });
    prop_oneof![Just(TreeLimits::default()), tiny]
}

#[test]
fn a_name_that_is_a_key_and_a_prefix_shows_as_two_rows() {
    let seen = ["user", "user:1:name", "user:2:name", "user:2:mail"].map(|key| SeenKey {
        db: 0,
        key: key.to_string(),
        memory: 10,
        expires_at: None,
        broken: 0b10,
    });
    let plan = PatternsPlan { top: 10, listed: 10, compared: 0, depth: 9, min_share: 0.0, rules: rules(2) };
    let sections = collect(&seen, &TreeLimits::default()).finish(&plan);
    let rows =
        |nodes: &[PrefixNode]| nodes.iter().map(|n| (n.prefix.clone(), n.segment.clone(), n.keys)).collect::<Vec<_>>();
    let tree = &sections.prefixes.tree;
    let row = |prefix: &str, segment: &str, keys: u64| (prefix.to_string(), segment.to_string(), keys);
    assert_eq!(rows(tree), [row("user:", "user", 3), row("user", "user", 1)]);
    assert_eq!(rows(&tree[0].children), [row("user:{int}:", "{int}", 3)]);
    let leaves = rows(&tree[0].children[0].children);
    assert_eq!(leaves, [row("user:{int}:name", "name", 2), row("user:{int}:mail", "mail", 1)]);
    assert!(tree[1].children.is_empty());
    let texts: Vec<_> = sections.patterns.list.iter().map(|row| row.pattern.as_str()).collect();
    assert_eq!(texts, ["user:{int}:name", "user", "user:{int}:mail"]);
    assert_eq!(sections.patterns.list[0].example.key.as_text(), Some("user:1:name"));
    assert_eq!((sections.broken[0].list.len(), sections.broken[1].list.len()), (0, 3));
    assert_eq!(sections.no_ttl.rows[0].examples.len(), 2);
}

#[test]
fn no_keys_give_empty_sections() {
    let sections = PatternStats::new(TreeLimits::default(), 0).finish(&plan());
    assert!(sections.prefixes.tree.is_empty() && sections.patterns.list.is_empty() && sections.no_ttl.rows.is_empty());
    assert_eq!((sections.prefixes.hidden, sections.broken.len()), (Hidden::default(), 3));
}

#[test]
fn the_pattern_that_changes_most_comes_first_and_then_the_heaviest() {
    let priced = [("a", 100, [100, 90]), ("b", 1, [40, 1]), ("c", 500, [500, 500]), ("d", 600, [600, 600])];
    let mut patterns = PatternStats::new(TreeLimits::default(), 2);
    for (key, memory, alternatives) in priced {
        let record = Record { alternatives: &alternatives.map(Bytes), ..record(0, key.as_bytes(), memory, None) };
        patterns.observe(&record, &pattern(key), &crate::policy::testing::broken(0));
    }
    let rows = patterns.finish(&PatternsPlan { top: 3, ..plan() }).what_if.rows;
    assert_eq!(rows.iter().map(|row| row.pattern.as_str()).collect::<Vec<_>>(), ["b", "a", "d"]);
    assert_eq!((rows[0].memory, rows[0].alternatives.as_slice()), (Bytes(1), &[Bytes(40), Bytes(1)][..]));
}

#[test]
fn the_more_patterns_the_fewer_expiries_each_may_keep() {
    let mut before = MAX_EXPIRIES;
    for places in [0, 1, 256, 257, 700, 1_024, 2_048, 2_049, 8_192, 8_193, 20_000, 131_072, usize::MAX] {
        let most = ExpiryTiming::share(places);
        assert!(most == MIN_EXPIRIES || most * places <= EXPIRIES, "{most} for {places}");
        assert!(most <= USUAL_EXPIRIES || most * places <= EXPIRIES_OF_FEW, "{most} for {places}");
        assert!((MIN_EXPIRIES..=before).contains(&most));
        // The cap is lowered exactly where the share of a pattern is.
        let is_too_much = |most| ExpiryTiming { reference: Millis(0), most }.is_too_much(places);
        assert!(!is_too_much(most) || most == MIN_EXPIRIES);
        assert!(most == MAX_EXPIRIES || is_too_much(most * 2));
        before = most;
    }
    // With 10,000 patterns the busy one gives back expiries that it had kept.
    let mut patterns = PatternStats::new(TreeLimits::default(), 0).keeping_expiries(Millis(0));
    let mut see =
        |key: &str| patterns.observe(&record(0, key.as_bytes(), 8, Some(9)), &pattern(key), &Judged::default());
    (0..600).for_each(|number| see(&format!("busy:{number}")));
    (0..10_000).for_each(|number| see(&format!("a{}:b{}:{number}", number / 100, number % 100)));
    let share = ExpiryTiming::share(patterns.tree.breadth());
    assert!(share < MAX_EXPIRIES);
    let forest = patterns.forest();
    let busy = forest.nodes.iter().find(|node| node.text == "busy:{int}").and_then(|node| node.expiries).unwrap();
    assert_eq!((busy.kept(), busy.all().keys), (share, 600));
    assert!(patterns.heap_bytes() > patterns.tree.len() * PLACE_BYTES);
}

#[test]
fn expired_keys_are_not_kept() {
    let seen =
        [0, 1, 2].map(|at| SeenKey { db: 0, key: format!("a:{at}"), memory: 8, expires_at: Some(at), broken: 0 });
    let patterns = collect(&seen, &TreeLimits::default());
    let forest = patterns.forest();
    assert_eq!(forest.nodes.iter().find_map(|node| node.expiries).unwrap().all().keys, 2);
}

#[test]
fn sums_saturate() {
    let heavy = SeenKey { db: 0, key: "a".to_string(), memory: u64::MAX, expires_at: None, broken: 1 };
    let sections = collect(&[heavy.clone(), heavy], &TreeLimits::default()).finish(&plan());
    assert_eq!(sections.patterns.list[0].memory, Bytes(u64::MAX));
    assert_eq!(sections.broken[0].list[0].memory, Bytes(u64::MAX));
}

/// Sums up the shown and hidden rows of a level.
fn whole(shown: &[PrefixNode], hidden: Hidden) -> (u64, Bytes) {
    let keys = shown.iter().fold(hidden.keys, |sum, node| sum + node.keys);
    let memory = shown.iter().fold(hidden.memory, |sum, node| sum + node.memory);
    (keys, memory)
}

fn adds_up(node: &PrefixNode) -> bool {
    let below = node.hidden.nodes > 0 || !node.children.is_empty();
    let same = !below || whole(&node.children, node.hidden) == (node.keys, node.memory);
    same && node.children.iter().all(adds_up)
}

proptest! {
    #[test]
    fn splitting_and_order_do_not_matter(seen in snapshot(), cut in 0usize..40, limits in limits()) {
        let whole = show(collect(&seen, &limits), &plan());
        let (left, right) = seen.split_at(cut.min(seen.len()));
        let mut forward = collect(left, &limits);
        forward.merge(collect(right, &limits));
        let mut backward = collect(right, &limits);
        backward.merge(collect(left, &limits));
        prop_assert_eq!(&show(forward, &plan()), &whole);
        prop_assert_eq!(&show(backward, &plan()), &whole);
        let reversed: Vec<_> = seen.iter().rev().cloned().collect();
        prop_assert_eq!(&show(collect(&reversed, &limits), &plan()), &whole);
    }

    #[test]
    fn a_database_settled_late_gives_the_same_result(seen in snapshot(), db in 0u64..3, limits in limits()) {
        let of = |db: u64| seen.iter().map(|seen| SeenKey { db, ..seen.clone() }).collect::<Vec<_>>();
        let mut settled = collect(&of(0), &limits);
        settled.settle_database(db);
        let mut expected = collect(&of(db), &limits);
        let before = collect(&seen, &limits);
        settled.merge(before.clone());
        expected.merge(before);
        prop_assert_eq!(show(settled, &plan()), show(expected, &plan()));
    }

    #[test]
    fn figures_are_plain_sums_in_their_order(seen in snapshot()) {
        let plan = PatternsPlan { top: 1000, listed: 1000, compared: 0, depth: 9, min_share: 0.0, rules: rules(3) };
        let sections = collect(&seen, &TreeLimits::default()).finish(&plan);
        let sums = |counts: &dyn Fn(&SeenKey) -> bool| {
            let mut sums: BTreeMap<String, Weight> = BTreeMap::new();
            for seen in seen.iter().filter(|seen| counts(seen)) {
                let sum = sums.entry(pattern(&seen.key).text).or_default();
                sum.keys += 1;
                sum.memory += Bytes(seen.memory);
            }
            sums.into_iter().map(|(text, sum)| (text, sum.keys, sum.memory)).collect::<Vec<_>>()
        };
        let by_memory = |mut rows: Vec<(String, u64, Bytes)>| {
            rows.sort_by_key(|(text, _, memory)| (std::cmp::Reverse(*memory), text.clone()));
            rows
        };
        let list: Vec<_> = sections.patterns.list.iter().map(|r| (r.pattern.clone(), r.keys, r.memory)).collect();
        prop_assert_eq!(list, by_memory(sums(&|_| true)));
        let plain = |rows: &[report::PatternWeight]| {
            rows.iter().map(|r| (r.pattern.clone(), r.keys, r.memory)).collect::<Vec<_>>()
        };
        let mut rows = sums(&|seen| seen.expires_at.is_none());
        // Those of unknown memory go by their keys.
        let rank = |keys: u64, memory: Bytes| (memory, if memory == Bytes(0) { keys } else { 0 });
        rows.sort_by_key(|(text, keys, memory)| (std::cmp::Reverse(rank(*keys, *memory)), text.clone()));
        prop_assert_eq!(plain(&sections.no_ttl.rows), rows);
        let list: Vec<_> = sections.what_if.rows.iter().map(|r| (r.pattern.clone(), r.keys, r.memory)).collect();
        let difference = |memory: u64| alternatives(memory)[1].0.saturating_sub(memory);
        let mut rows = sums(&|_| true);
        if rows.iter().all(|(_, _, memory)| memory.0 < 1000) {
            rows.sort_by_key(|(text, _, memory)| (std::cmp::Reverse((difference(memory.0), *memory)), text.clone()));
            prop_assert_eq!(list, rows);
        }
        for rule in 0..3 {
            let mut rows = sums(&|seen| seen.broken >> rule & 1 == 1);
            rows.sort_by_key(|(text, keys, memory)| (std::cmp::Reverse((*memory, *keys)), text.clone()));
            let found = &sections.broken[rule];
            prop_assert_eq!(found.distinct, rows.len() as u64);
            let found: Vec<_> = found.list.iter().map(|r| (r.pattern.clone().unwrap(), r.keys, r.memory)).collect();
            prop_assert_eq!(found, rows);
        }
    }

    #[test]
    fn shown_and_hidden_are_the_whole(
        seen in snapshot(), limits in limits(), depth in 0usize..5, min_share in prop_oneof![Just(0.0), 0.0..1.1f64],
    ) {
        let sections = collect(&seen, &limits).finish(&PatternsPlan { depth, min_share, ..plan() });
        let memory = seen.iter().map(|seen| Bytes(seen.memory)).sum::<Bytes>();
        let prefixes = sections.prefixes;
        prop_assert_eq!(whole(&prefixes.tree, prefixes.hidden), (seen.len() as u64, memory));
        prop_assert!(prefixes.tree.iter().all(adds_up));
        if depth == 0 {
            prop_assert!(prefixes.tree.is_empty());
        }
    }
}
