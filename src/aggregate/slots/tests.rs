use super::super::Aggregate;
use super::super::testing::{OwnedRecord, check_laws, samples};
use super::*;

fn observed(keys: &[(&str, u64, u16)]) -> SlotStats {
    let mut slots = SlotStats::new(10);
    for &(key, memory, slot) in keys {
        slots.observe_at(&OwnedRecord::string(key, 1, memory).record(), slot, key.contains('{'));
    }
    slots
}

#[test]
fn a_dump_without_cluster_and_tags_has_no_section() {
    assert!(observed(&[("a", 1, 3)]).finish(false).is_none());
    assert!(SlotStats::new(3).finish(false).is_none());
    assert_eq!(observed(&[("a", 1, 3)]).finish(true).unwrap().used, 1);
    assert_eq!(observed(&[("{a}", 1, 3)]).finish(false).unwrap().tagged_keys, 1);
}

#[test]
fn an_empty_cluster_has_an_empty_section() {
    let slots = SlotStats::new(3).finish(true).unwrap();
    assert_eq!((slots.used, slots.mean, slots.p50, slots.max, slots.list.len()), (0, Bytes(0), Bytes(0), Bytes(0), 0));
}

#[test]
fn slots_come_heaviest_first_with_their_heaviest_key() {
    let slots = observed(&[("a", 10, 16_383), ("c", 29, 5), ("b", 31, 5), ("d", 5, 5)]).finish(true).unwrap();
    let rows: Vec<_> = slots.list.iter().map(|r| (r.slot, r.keys, r.memory.0, r.example.key.as_text())).collect();
    assert_eq!(slots.list[1].tagged_keys, 0);
    assert_eq!(rows, [(5, 3, 65, Some("b")), (16_383, 1, 10, Some("a"))]);
    assert_eq!((slots.mean.0, slots.p50.0, slots.p99.0, slots.max.0), (37, 10, 65, 65));
}

#[test]
fn ranges_cover_every_slot_and_sum_up_their_slots() {
    let keys = [("a", u64::MAX, 16_383), ("b", 1, 16_256), ("c", 30, 0), ("d", 5, 127), ("e", 2, 128)];
    let ranges = observed(&keys).finish(true).unwrap().ranges;
    assert_eq!(ranges.len(), 128);
    assert!(ranges.windows(2).all(|two| two[0].last + 1 == two[1].first), "no gaps");
    let used: Vec<_> = ranges.iter().filter(|range| range.keys > 0).copied().collect();
    let range =
        |first, last, keys, memory| SlotRange { first, last, keys, memory: Bytes(memory), unknown: Unknown::default() };
    assert_eq!(used, [range(0, 127, 2, 35), range(128, 255, 1, 2), range(16_256, 16_383, 2, u64::MAX)]);
    assert_eq!(SlotStats::new(3).finish(true).unwrap().ranges.len(), 128, "empty, but all there");
}

#[test]
fn a_huge_name_is_kept_in_part() {
    let slots = observed(&[(&"x".repeat(5_000), 10, 0)]).finish(true).unwrap();
    let key = &slots.list[0].example.key;
    assert_eq!((key.0.len(), key.whole_bytes()), (NAME_KEPT, Some(5_000)));
}

#[test]
fn keys_of_unknown_memory_are_counted_by_slot() {
    let slots = observed(&[("a", 0, 130), ("b", 5, 130), ("c", 9, 7)]).finish(true).unwrap();
    let unknown: Vec<_> = slots.list.iter().map(|row| (row.slot, row.keys, row.unknown.keys)).collect();
    assert_eq!(unknown, [(7, 1, 0), (130, 2, 1)]);
    let ranges: Vec<_> = slots.ranges.iter().filter(|range| !range.unknown.is_none()).collect();
    assert_eq!((ranges.len(), ranges[0].first, ranges[0].unknown.keys), (1, 128, 1));
}

#[test]
fn ties_of_weight_do_not_depend_on_order() {
    let names: Vec<String> = (0..50).map(|i| format!("user:session:{i}")).collect();
    let shown = |names: &mut dyn Iterator<Item = &String>| {
        let keys: Vec<_> = names.map(|name| (name.as_str(), 30, 5)).collect();
        observed(&keys).finish(true).unwrap().list[0].example.key.clone()
    };
    assert_eq!(shown(&mut names.iter()), shown(&mut names.iter().rev()));
}

#[test]
fn ties_are_ordered_by_database_and_name() {
    let shown = |keys: &[(u64, &str)]| {
        let mut slots = SlotStats::new(10);
        for &(db, key) in keys {
            let mut record = OwnedRecord::string(key, 1, 30);
            record.rest.db = db;
            slots.observe_at(&record.record(), 5, true);
        }
        let example = slots.finish(true).unwrap().list[0].example.clone();
        (example.db, example.key.as_text().unwrap().to_owned())
    };
    let tags = ["{t}:a", "{t}:b", "{t}:c", "{t}:d", "{t}:e", "{t}:f"].map(|key| (0, key));
    assert_eq!(shown(&tags), (0, "{t}:a".to_owned()));
    assert_eq!(shown(&tags.iter().rev().copied().collect::<Vec<_>>()), (0, "{t}:a".to_owned()));
    assert_eq!(shown(&[(1, "a"), (0, "b"), (0, "c")]), (0, "b".to_owned()));
    assert_eq!(shown(&[(700, "b"), (300, "c"), (300, "d"), (301, "a")]), (300, "c".to_owned()));
}

proptest::proptest! {
    #[test]
    fn weights_never_fall(one in 0u64..1 << 34, other in 0u64..1 << 34, shift in 0u32..34) {
        let (one, other) = (one >> shift, other >> shift);
        proptest::prop_assert!(weight(Bytes(one.min(other))) <= weight(Bytes(one.max(other))));
    }

    #[test]
    fn the_first_of_equals_is_the_example(
        keys in proptest::collection::vec((0u64..3, 0u16..2, "(app:[ab]:)?(session:user:profile:){0,3}[0-2]{0,3}"), 1..40),
        parts in 1usize..4,
    ) {
        let mut workers = vec![SlotStats::new(10); parts];
        for (at, (db, slot, key)) in keys.iter().enumerate() {
            let mut record = OwnedRecord::string(key, 1, 30);
            record.rest.db = *db;
            workers[at % parts].observe_at(&record.record(), *slot, false);
        }
        let all = workers.into_iter().reduce(|mut all, next| { all.merge(next); all }).unwrap();
        for row in all.finish(true).unwrap().list {
            let first = keys.iter().filter(|key| key.1 == row.slot).map(|key| (key.0, key.2.as_str())).min();
            proptest::prop_assert_eq!(Some((row.example.db, row.example.key.as_text().unwrap())), first);
        }
    }
}

#[test]
fn slots_stay_small() {
    assert_eq!((size_of::<SlotSums>(), size_of::<SlotDetails>()), (16, 48));
}

#[test]
fn counts_and_weights_beyond_32_bits_are_kept() {
    let mut slots = observed(&[("a", u64::from(u32::MAX) + 5, 1)]);
    slots.sums[1].keys = u32::MAX - 1;
    for (key, memory) in [("b", u64::from(u32::MAX) + 4), ("c", u64::from(u32::MAX) + 6)] {
        slots.observe_at(&OwnedRecord::string(key, 1, memory).record(), 1, false);
    }
    let row = &slots.finish(true).unwrap().list[0];
    assert_eq!((row.keys, row.example.key.as_text()), (u64::from(u32::MAX) + 1, Some("c")));
}

/// Aggregate over a few slots only, so that several keys share each.
#[derive(serde::Serialize, serde::Deserialize)]
struct SlottedByBytes(SlotStats);

impl Aggregate for SlottedByBytes {
    fn observe(&mut self, record: &Record<'_>) {
        let slot = record.key.iter().map(|&byte| u16::from(byte) % 5).sum();
        self.0.observe_at(record, slot, record.key.contains(&b'{'));
    }
    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }
    fn settle_database(&mut self, db: u64) {
        self.0.settle_database(db);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn laws(sample in samples()) {
        check_laws(&sample, || SlottedByBytes(SlotStats::new(5)), |slots| slots.0.finish(true));
    }
}
