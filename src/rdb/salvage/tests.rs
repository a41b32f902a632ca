mod between_keys;
mod databases;
mod large_values;
mod swallowed;
mod templates;
mod time;

use super::databases::{GapFacts, InferredDb};
use super::duplicates::for_each_key;
use super::zeros::would_shrink;
use super::*;
use crate::error::ErrorKind;
use crate::rdb::writer::{ChecksumForm, write};
use proptest::prelude::*;

const SHOP: &str = "testdata/dumps/shop.rdb";

fn shop() -> Vec<u8> {
    std::fs::read(SHOP).unwrap()
}

/// Returns the key names and records of a sound file, in file order.
fn records(bytes: &[u8]) -> Vec<(u64, Vec<u8>, Vec<u8>)> {
    let survey = survey(bytes, 0).unwrap();
    assert!(survey.is_sound());
    let mut records = Vec::new();
    for stretch in &survey.stretches {
        for_each_key(bytes, &survey.about, stretch, |range, entry| {
            records.push((stretch.db, entry.key.to_bytes().unwrap().into_owned(), bytes[range].to_vec()));
        });
    }
    records
}

fn saved(bytes: &[u8]) -> (Survey, Vec<u8>) {
    let survey = survey(bytes, 0).unwrap();
    let mut out = Vec::new();
    write(&survey, bytes, 0, ChecksumForm::Computed, &mut out).unwrap();
    (survey, out)
}

/// Returns a file of version 11 with these items.
fn file(items: &[u8]) -> Vec<u8> {
    [b"REDIS0011", items, b"\xff", &[0; 8]].concat()
}

fn string(key: &str, value: &str) -> Vec<u8> {
    let part = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [vec![0], part(key), part(value)].concat()
}

fn strings(db: u8, prefix: &str, count: u8) -> Vec<u8> {
    let keys = (0..count).flat_map(|number| string(&format!("{prefix}:{number}"), &format!("value {number}")));
    [0xFE, db, 0xFB, 0x40, count, 0].into_iter().chain(keys).collect()
}

#[test]
fn function_library_behind_a_gap_is_left_out_if_another_has_its_name() {
    let library = b"\xf5\x0d#!lua name=a\n";
    let [before, behind] = ["user", "order"].map(|prefix| strings(0, prefix, 20));
    let (survey, out) = saved(&file(&[library, &before[..], &[0xEE; 50], &behind, library].concat()));
    assert_eq!((survey.keys(), survey.gaps.len(), records(&out).len()), (39, 2, 39));
}

#[test]
fn records_behind_a_lost_page_are_saved() {
    let whole = shop();
    let all = records(&whole);
    for page in [10, 77, 150, 300] {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0);
        let (survey, out) = saved(&damaged);
        let kept = records(&out);
        assert!(kept.iter().all(|record| all.contains(record)), "page {page}");
        let touched = all.len() - kept.len();
        assert!(touched < 100, "page {page}: {touched} keys lost");
        assert!(survey.gaps.iter().any(|gap| gap.keys_before > 0 && gap.keys_behind > 0));
    }
}

#[test]
fn cut_file_keeps_all_records_before_the_cut() {
    let whole = shop();
    let (survey, out) = saved(&whole[..700_000]);
    let kept = records(&out);
    assert_eq!(kept, records(&whole)[..kept.len()]);
    assert!(!survey.ended && survey.gaps.len() == 1);
    assert_eq!(survey.gaps[0].range.end, 700_000);
}

#[test]
fn changed_length_costs_its_key_and_invents_none() {
    let items = strings(0, "user", 100);
    let whole = file(&items);
    let all = records(&whole);
    let at = whole.windows(7).position(|window| window == b"user:50").unwrap();
    let mut sound = Vec::new();
    for length in (0..=255).filter(|length| *length != 7) {
        let mut damaged = whole.clone();
        damaged[at - 1] = length;
        let (survey, out) = saved(&damaged);
        let kept = records(&out);
        if survey.is_sound() {
            // The records inside the key end where one of the file ends: only the announced number of keys tells.
            assert!(kept.len() < 100 && survey.databases[0].announced == Some(100), "length {length}");
            sound.push(length);
            continue;
        }
        assert!(kept.iter().all(|record| all.contains(record)), "length {length}: {kept:?}");
        assert!(kept.len() >= 95, "length {length}: {} keys", kept.len());
    }
    // `user:50`, its value, and one to three records but for the value of the last. With 65, a length of two bytes, so many
    // records lie in the value behind the key that it is known to be false.
    assert_eq!(sound, [25, 43, 61]);
}

#[test]
fn duplicates_are_dropped_where_nothing_else_is_wrong() {
    let other = [&strings(0, "user", 60)[..], &string("user:7", "other")].concat();
    let same = [&strings(0, "user", 60)[..], &string("user:7", "value 7")].concat();
    for (items, kept) in [(other, 59), (same, 60)] {
        let (survey, out) = saved(&file(&items));
        assert!(!survey.is_sound());
        assert_eq!(records(&out).len(), kept);
    }
}

/// Returns a file of version 11 with these items and its checksum.
fn proven(items: &[u8]) -> Vec<u8> {
    let mut bytes = [b"REDIS0011", items, b"\xff"].concat();
    let checksum = crate::rdb::crc64::checksum(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn names_are_not_taken_for_one_because_of_their_hashes() {
    // The hasher of the standard library, which has no secret key, gives both the same 64 bits.
    let twins = [[19, 148, 114, 152, 112, 228, 101, 175], [82, 161, 128, 144, 94, 241, 110, 104]];
    let [one, other] = twins.map(|name| {
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&(0_u64, 8_u64, &name[..]), &mut hasher);
        (std::hash::Hasher::finish(&hasher), [&[0, 8][..], &name, b"\x01v"].concat())
    });
    assert_eq!(one.0, other.0);
    let (survey, _) = saved(&proven(&[one.1, other.1].concat()));
    assert!(survey.is_sound() && survey.keys() == 2, "{:?}", survey.gaps);
}

#[test]
fn the_end_of_a_damaged_value_is_no_expiry() {
    // An intset whose last bytes read as an expiry in the year 27,000,000, under a type that no such file has.
    let intset = b"\x1b\x03set\xc3\x14\x20\x04\x08\0\0\0\x03\x20\x03\x80\0\x02\xfc\xff\x01\x80\x08\x80\0\x20\x0c";
    let next = string("user:77", "value");
    let (_, out) = saved(&file(&[&strings(0, "user", 60)[..], intset, &next, &strings(1, "cart", 60)].concat()));
    let kept = records(&out);
    // The record before the damage is given up: its length might have led there.
    assert_eq!(kept.len(), 120);
    assert!(kept.iter().any(|(_, key, record)| key == b"user:77" && *record == next));
}

#[test]
fn damage_without_a_readable_name_has_no_name() {
    // LZF blocks that expand beyond their size: of a name, and of a function.
    let block = b"\xc3\x03\x01\x01ab";
    let long = [&[0x0B, 0x44, 1][..], &[b'n'; 0x401], b"\x01x"].concat();
    for damaged in [&[&[0][..], block, b"\x01v"].concat()[..], &[&[0xF5][..], block].concat(), &long] {
        let bytes = file(&[&strings(0, "user", 60)[..], damaged, &strings(1, "cart", 60)].concat());
        let (survey, out) = saved(&bytes);
        assert_eq!(records(&out).len(), 120);
        assert!(matches!(&survey.gaps[..], [gap] if gap.kind == GapKind::Value(None)), "{:?}", survey.gaps);
    }
    let named = file(&[&strings(0, "user", 60)[..], b"\x0b\0\x01x", &strings(1, "cart", 60)].concat());
    assert!(matches!(&saved(&named).0.gaps[..], [gap] if gap.kind == GapKind::Value(Some(Vec::new()))));
}

#[test]
fn expiry_that_a_damaged_value_takes_in_stays_with_its_key() {
    let expiry = [&[0xFC][..], &2_000_000_000_000_i64.to_le_bytes()].concat();
    let sound = [&expiry[..], &[0xF9, 7], &string("user:77", "value")].concat();
    // Intsets of numbers out of order, which take in all of the expiry, and all but its last bytes, which read as an empty list.
    let whole = b"\x0b\x03set\x12\x02\0\0\0\x05\0\0\0\x01";
    let part = b"\x0b\x03set\x0e\x02\0\0\0\x03\0\0\0";
    for intset in [&whole[..], part] {
        let damaged = file(&[&strings(0, "user", 60)[..], intset, &sound, &strings(1, "cart", 60)].concat());
        let (survey, out) = saved(&damaged);
        let kept = records(&out);
        assert!(kept.iter().any(|(_, key, record)| key == b"user:77" && *record == sound));
        assert_eq!(kept.len(), 121);
        assert!(matches!(&survey.gaps[..], [gap] if gap.kind == GapKind::Value(Some(b"set".to_vec()))));
    }
}

#[test]
fn value_of_a_module_with_a_damaged_id_is_lost() {
    let id = crate::rdb::kind::module_id(b"mymodule-", 1);
    let value = |number: u8, id: u64| {
        let key = format!("mod:{number:02}");
        [&[7, 6][..], key.as_bytes(), &[0x81], &id.to_be_bytes(), b"\x02\x07\x00"].concat()
    };
    for lost in [0, 7, 39] {
        for wrong in [id ^ 1 << 30, id ^ 2] {
            let values = (0..40).flat_map(|number| value(number, if number == lost { wrong } else { id }));
            let items: Vec<u8> = [0xFE, 0, 0xFB, 40, 0].into_iter().chain(values).collect();
            let (survey, out) = saved(&file(&items));
            assert_eq!((survey.keys(), records(&out).len()), (39, 39), "{lost}");
            let key = format!("mod:{lost:02}").into_bytes();
            assert!(matches!(&survey.gaps[..], [gap] if gap.kind == GapKind::Value(Some(key.clone()))));
            assert_eq!(survey.modules().iter().map(ToString::to_string).collect::<Vec<_>>(), ["mymodule-"]);
            // The checksum proves that the ids are right.
            assert_eq!(super::survey(&proven(&items), 0).unwrap().keys(), 40);
        }
    }
}

#[test]
fn head_of_one_record_and_tail_of_another_are_no_key() {
    let behind = strings(1, "cart", 200)[5..].to_vec();
    // The head takes in the records up to the name of one, whose value follows.
    let end = behind.windows(8).position(|window| window == b"cart:150").unwrap() + 8;
    let len = u16::try_from(end).unwrap() | 0x4000;
    let items = [
        &strings(0, "user", 60)[..],
        &[0x77; 50],
        &string("user:99", "behind the damage"),
        &[&[0][..], &len.to_be_bytes()].concat(),
        &behind,
    ];
    let (_, out) = saved(&file(&items.concat()));
    let kept = records(&out);
    assert!(kept.iter().all(|(_, key, _)| key.starts_with(b"user:") || key.starts_with(b"cart:")));
    assert!(kept.len() > 250, "{} keys", kept.len());
}

/// Returns the database of each key with this prefix.
fn databases_of(out: &[u8], prefix: &[u8]) -> Vec<u64> {
    records(out).into_iter().filter(|(_, key, _)| key.starts_with(prefix)).map(|(db, ..)| db).collect()
}

#[test]
fn fields_of_a_hash_with_expiries_are_no_keys() {
    let field = |number: u8| string(&format!("field-{number}"), "x");
    let fields = [field(1), field(2), field(3)].concat().repeat(60);
    let hash = [&[24, 4][..], b"hash", &[0; 8], &[0x40, 180], &fields].concat();
    let items = [strings(0, "user", 40), hash, strings(1, "cart", 40)].concat();
    let mut damaged = [b"REDIS0012", &items[..], b"\xff", &[0; 8]].concat();
    let at = damaged.windows(4).position(|window| window == b"hash").unwrap();
    damaged[at - 2..at + 15].fill(0xEE);
    let (survey, _) = saved(&damaged);
    assert!((75..=80).contains(&survey.keys()), "{} keys", survey.keys());
    assert!(survey.databases.iter().all(|database| database.keys <= 40));
}

#[test]
fn snapshot_inside_a_string_is_not_taken_for_keys() {
    let inner = file(&strings(0, "inner", 60));
    let length = u16::try_from(inner.len()).unwrap().to_be_bytes();
    let outer = [&[0, 4][..], b"dump", &[0x40 | length[0], length[1]], &inner].concat();
    let items = [strings(0, "user", 40), outer, strings(1, "cart", 40)].concat();
    let mut damaged = file(&items);
    let at = damaged.windows(4).position(|window| window == b"dump").unwrap();
    damaged[at - 2..at + 6].fill(0xEE);
    let (_, out) = saved(&damaged);
    assert!(records(&out).iter().all(|(_, key, _)| !key.starts_with(b"inner")));
    assert!(records(&out).len() > 70);
}

#[test]
fn same_key_is_saved_once() {
    let mut items = strings(0, "user", 40);
    let again = items[6..].to_vec();
    items[4] = 80;
    items.extend([0xEE; 30]);
    items.extend(again);
    let (survey, out) = saved(&file(&items));
    assert_eq!(records(&out).len(), 40);
    assert!(survey.gaps.iter().any(|gap| matches!(gap.kind, GapKind::Duplicate(_))));
}

#[test]
fn block_of_zeros_in_a_string_is_noticed() {
    let noise = |len: usize| {
        (0..len).scan(7u32, |state, _| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some(state.to_be_bytes()[0].max(1))
        })
    };
    let mut bytes: Vec<u8> = noise(20_000).collect();
    assert!(!would_shrink(&bytes));
    bytes[4096..8192].fill(0);
    assert!(would_shrink(&bytes));
    // Too little for LZF to gain anything.
    let mut bytes: Vec<u8> = noise(100_000).collect();
    bytes[4096..4096 + 600].fill(0);
    assert!(!would_shrink(&bytes));
}

/// Returns switches and sizes of databases of any number.
fn database_item() -> impl Strategy<Value = Vec<u8>> {
    let number = || {
        let any = prop_oneof![Just(u64::MAX - 1), any::<u64>()];
        prop_oneof![0u64..4, any].prop_map(|number| [&[0x81][..], &number.to_be_bytes()].concat())
    };
    let select = number().prop_map(|db| [&[0xFE][..], &db].concat());
    let sizes = (number(), number()).prop_map(|(keys, expires)| [&[0xFB][..], &keys, &expires].concat());
    prop_oneof![select, sizes]
}

/// Returns a record of one of a few names.
fn record_of(number: u8) -> Vec<u8> {
    string(&format!("user:{}", number % 8), "value")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_do_not_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        items in prop::collection::vec(prop_oneof![database_item(), any::<u8>().prop_map(record_of)], 0..20),
        version in 1u8..16,
    ) {
        let file = [format!("REDIS{version:04}").as_bytes(), &items.concat(), &bytes].concat();
        let (survey, out) = saved(&file);
        prop_assert!(survey.stretches.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        prop_assert!(super::survey(&out, 0).unwrap().ended);
    }

    #[test]
    fn damage_anywhere_invents_nothing(at in 400usize..1_200_000, len in 1usize..5000, fill: u8) {
        let whole = shop();
        let mut damaged = whole.clone();
        damaged[at..at + len].fill(fill);
        let (_, out) = saved(&damaged);
        prop_assert!(super::survey(&out, 0).unwrap().is_sound());
    }
}

#[test]
fn records_without_elements_are_saved_and_are_no_keys() {
    let empty_lists = b"\x01\x07empty:1\x00\xfc\0\0\0\0\0\x02\0\0\x01\x07empty:2\x00";
    let mut damaged = file(&[strings(0, "user", 40), empty_lists.to_vec(), strings(1, "cart", 40)].concat());
    let at = damaged.windows(7).position(|window| window == b"cart:20").unwrap();
    damaged[at - 2] = 0x77;
    let (survey, out) = saved(&damaged);
    let records: u64 = survey.stretches.iter().map(|stretch| stretch.records).sum();
    assert_eq!((survey.keys() + 2, survey.databases[0].keys), (records, 40));
    assert!(survey.databases.iter().all(|database| database.expires == 0));
    assert!(out.windows(7).any(|window| window == b"empty:2"));
    // The same after a cut of the stretch, which is then counted anew.
    let mut twice = damaged.clone();
    let first = twice.windows(6).position(|window| window == b"user:5").unwrap();
    twice[first + 5] = b'8';
    let (survey, _) = saved(&twice);
    assert_eq!(survey.databases[0].keys, 38);
}

#[test]
fn odd_records_are_sound_where_the_checksum_proves_them() {
    let noise: String =
        (0..2000u32).map(|number| char::from(33 + (number.wrapping_mul(2_654_435_761) >> 26) as u8)).collect();
    let compressed = b"\x00\x04lzf1\xc3\x05\x0a\x00a\xe0\x00\x00";
    let zeros = [&b"\x00\x06bitmap\x60\x00"[..], &[0; 8192]].concat();
    let long = [&b"\x00\x05noise\x47\xd0"[..], noise.as_bytes()].concat();
    let aux = b"\xfa\x06\xe7\x89\x88\xe6\x9c\xac\x01y";
    let empty_twin = b"\x01\x06user:5\x00";
    let mut bytes = proven(&[&strings(0, "user", 20)[..], aux, compressed, &zeros, &long, empty_twin].concat());
    let survey = survey(&bytes, 0).unwrap();
    assert!(survey.is_sound(), "{:?}", survey.gaps);
    assert_eq!(survey.keys(), 23);
    // Without it they are likely to be damage.
    let end = bytes.len() - 8;
    bytes[end..].fill(0);
    assert!(!super::survey(&bytes, 0).unwrap().is_sound());
}

/// Returns records that have access counters or idle times in front.
fn used(prefix: &[u8], names: &str, count: u8) -> Vec<u8> {
    let keys = (0..count).map(|number| string(&format!("{names}:{number}"), &format!("value {number}")));
    keys.flat_map(|record| [prefix, &record].concat()).collect()
}

fn names(saved: &[u8]) -> Vec<String> {
    records(saved).iter().map(|(_, key, _)| String::from_utf8_lossy(key).into_owned()).collect()
}

/// A compressed member whose length takes in the start of the hash behind it.
#[test]
fn pairs_of_a_hash_behind_a_damaged_value_are_no_keys() {
    let idle = b"\xf8\x07";
    let pairs: Vec<u8> = (0..30).flat_map(|pair| string(&format!("field{pair:02}"), "content")).collect();
    let swallowed = [&b"\x01m"[..], idle, b"\x18\x01h\0\0\0\0\0\0\0\0\x1e", &pairs[..17]].concat();
    let size = u8::try_from(swallowed.len()).unwrap();
    let set = [&idle[..], b"\x02\x03set\x01\xc3", &[size, 50], &swallowed].concat();
    let items = [&used(idle, "user", 40)[..], &set, &pairs[17..], &used(idle, "user:more", 40)].concat();
    let (survey, out) = saved(&[b"REDIS0012\xfe\0", &items[..], b"\xff", &[0; 8]].concat());
    let kept = names(&out);
    assert!(kept.len() == 80 && kept.iter().all(|name| name.starts_with("user")), "{kept:?}");
    assert_eq!(survey.gaps.len(), 1);
}

/// The length of a value takes in the opcode of the next key's counter: what follows parses as a record without one.
#[test]
fn a_swallowed_counter_makes_no_key() {
    let counter = b"\xf9\0";
    let set = [&counter[..], b"\x02\x01k\x01\0"].concat();
    let items = [&b"\xfe\0"[..], &used(counter, "user", 40), &set, &used(counter, "user:more", 40)].concat();
    let mut whole = file(&items);
    let end = whole.len() - 8;
    let sum = crate::rdb::crc64::checksum(&whole[..end]).to_le_bytes();
    whole[end..].copy_from_slice(&sum);
    let all = records(&whole);
    let at = whole.windows(8).position(|window| window == b"value 39").unwrap();
    whole[at - 1] += 1;
    let kept = records(&saved(&whole).1);
    // The set is lost with the value before it, or saved as it was.
    assert!(kept.len() >= 79 && kept.iter().all(|record| all.contains(record)), "{:?}", names(&saved(&whole).1));
}

/// A key whose idle time lies in the damage is sound.
#[test]
fn a_key_behind_a_swallowed_idle_time_is_saved() {
    let idle = b"\xf8\x07";
    let swallowed = [&b"\x01m"[..], idle].concat();
    let set = [&idle[..], b"\x02\x03set\x01\xc3\x04\x32", &swallowed].concat();
    let next = string("other", "value");
    let items = [&used(idle, "user", 40)[..], &set, &next, &used(idle, "user:more", 40)].concat();
    let (_, out) = saved(&[b"REDIS0012\xfe\0", &items[..], b"\xff", &[0; 8]].concat());
    let kept = names(&out);
    assert!(kept.len() == 81 && kept.contains(&"other".to_owned()), "{kept:?}");
}

#[test]
fn records_that_no_release_writes_are_left_out() {
    // A function of a release candidate; a value and data of the module with the id 8; a slot of Redis Enterprise.
    let function = &b"\xf6\x01f\x03LUA\0\x01x"[..];
    for (record, lost) in [(function, 0), (b"\xf7\x08\x02\x02\0", 0), (b"\x07\x01m\x08\x02\x01\0", 1), (b"\x79\x05", 1)]
    {
        let (before, after) = (strings(0, "user", 40), strings(1, "order", 40));
        let (survey, out) = saved(&file(&[&before[..], record, &after].concat()));
        assert!(!survey.is_sound(), "{record:?}");
        // The record before a false one may be damaged, too, so that its end was taken for it.
        assert_eq!(records(&out).len(), 80 - lost, "{record:?}");
        assert!(!survey.about.enterprise, "{record:?}");
    }
    let (survey, _) = saved(&file(&[b"\x79\x05", &strings(0, "user", 3)[..]].concat()));
    assert!(survey.is_sound() && survey.about.enterprise);
}
