use super::*;
use crate::rdb::header::RdbHeader;

const REDIS: FileFormat<'_> = FileFormat { family: Family::Redis, templates: None, enterprise: false };
const STATE: ScanState = ScanState { family: Family::Redis, db: None };

/// Reads the real dumps, with their format families.
fn dumps() -> Vec<(Family, Vec<u8>)> {
    let mut paths = vec![std::path::PathBuf::from("testdata/dumps/shop.rdb")];
    let folders = std::fs::read_dir("testdata/corpus").unwrap();
    paths.extend(folders.map(|folder| folder.unwrap().path().join("dump.rdb")).filter(|path| path.is_file()));
    assert!(paths.len() > 10);
    let read = |path| {
        let bytes = std::fs::read(path).unwrap();
        let header = RdbHeader::read(&mut Cursor::new(&bytes, 0)).unwrap();
        (header.family, bytes)
    };
    paths.into_iter().map(read).collect()
}

/// Returns the offsets of all items, and whether each is a hash with field expiries.
fn boundaries(bytes: &[u8], family: Family) -> Vec<(usize, bool)> {
    let mut cursor = Cursor::new(bytes, 0);
    cursor.take(RdbHeader::LEN as u64).unwrap();
    let mut scanner = Scanner::new(cursor, ScanState { family, ..STATE });
    let mut boundaries = Vec::new();
    let mut start = RdbHeader::LEN;
    loop {
        let mut expiring = false;
        match scanner.next_item().unwrap() {
            FileItem::Key(entry) => {
                scanner.skip_value(&entry).unwrap();
                expiring = matches!(entry.value_type, ValueType::HashMetadata | ValueType::HashMetadataPreGa);
            }
            FileItem::End => {
                boundaries.push((start, false));
                return boundaries;
            }
            _ => {}
        }
        if scanner.at_boundary() {
            boundaries.push((start, expiring));
            start = scanner.cursor().consumed();
        }
    }
}

#[test]
fn guesses_in_real_dumps_are_boundaries() {
    let (mut asked, mut found) = (0, 0);
    for (family, bytes) in dumps() {
        let truth = boundaries(&bytes, family);
        for from in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            asked += 1;
            let Some(at) = find(&bytes, FileFormat { family, templates: None, enterprise: false }, from, bytes.len())
            else {
                continue;
            };
            let within = truth.partition_point(|&(start, _)| start <= at) - 1;
            match truth[within] {
                (start, _) if start == at => found += 1,
                // Pairs of such a hash look like string keys; only confirmation tells them apart.
                (_, true) => {}
                (start, false) => panic!(
                    "{at} is no boundary: one is at {start} {:?} {:?}",
                    &bytes[start..start + 40],
                    &bytes[at - 40..at + 80]
                ),
            }
        }
    }
    assert!(found * 10 > asked * 7, "{found} of {asked}");
}

#[test]
fn skipping_a_collection_equals_walking_it() {
    let mut passed = 0;
    for (family, bytes) in dumps() {
        let mut cursor = Cursor::new(&bytes, 0);
        cursor.take(RdbHeader::LEN as u64).unwrap();
        let mut scanner = Scanner::new(cursor, ScanState { family, ..STATE });
        while let Ok(item) = scanner.next_item() {
            match item {
                FileItem::End => break,
                FileItem::Key(entry) => {
                    let mut quick = scanner.cursor().clone();
                    scanner.skip_value(&entry).unwrap();
                    let table = TableLayout::of(entry.value_type);
                    if let Some(SkippedValue::Whole) =
                        table.and_then(|table| table.skip(&mut quick, &mut MAX_STEPS.clone()))
                    {
                        assert_eq!(quick.consumed(), scanner.cursor().consumed());
                        passed += 1;
                    }
                }
                _ => {}
            }
        }
    }
    assert!(passed > 500, "{passed}");
}

fn record(name: &str, value: &[u8]) -> Vec<u8> {
    let length = |len: usize| [&[0x80][..], &u32::try_from(len).unwrap().to_be_bytes()].concat();
    let name_length = [u8::try_from(name.len()).unwrap()];
    [&[0][..], &name_length, name.as_bytes(), &length(value.len()), value].concat()
}

#[test]
fn zeros_contain_no_boundary() {
    let bytes = record("zeros", &[0; 1 << 16]);
    assert_eq!(find(&bytes, REDIS, 100, bytes.len()), None);
}

#[test]
fn type_after_its_prefix_is_not_a_boundary() {
    let keys: Vec<u8> = (0..100)
        .flat_map(|i| [b"\xfc\x10\0\0\0\0\0\0\0".to_vec(), record(&format!("key:{}", 1000 + i), b"value")].concat())
        .collect();
    let first = keys.len() / 100;
    for from in 1..=first {
        assert_eq!(find(&keys, REDIS, from, keys.len()).unwrap() % first, 0, "{from}");
    }
}

#[test]
fn start_inside_a_record_falls_into_step() {
    // A length of five bytes whose last two parse as a type and a shorter length.
    let key = |i: usize| [&b"\0\x80\0\0\0\x08"[..], format!("key:{i}\x05value").as_bytes()].concat();
    let keys: Vec<u8> = (1000..1100).flat_map(key).collect();
    let at = find(&keys, REDIS, 3, keys.len()).unwrap();
    assert_eq!(at % (keys.len() / 100), 0);
}

#[test]
fn dump_inside_a_value_is_mistaken_for_records() {
    // The reason why guesses have to be confirmed.
    let inner: Vec<u8> = (0..100).flat_map(|i| record(&format!("key:{i}"), b"value")).collect();
    let bytes = record("backup", &inner);
    assert!(find(&bytes, REDIS, 100, bytes.len()).is_some());
}

#[test]
fn large_collection_is_found_without_reading_to_its_end() {
    let pairs: Vec<u8> =
        (0..200_000).flat_map(|i| format!("\x0cfield:{i:06}\x08value:{:02}", i % 100).into_bytes()).collect();
    let table = [&b"\x04\x0auser:table\x80\x00\x03\x0d\x40"[..], &pairs].concat();
    let bytes = [record("a", b"text in front"), table.clone(), table.clone()].concat();
    let second = bytes.len() - table.len();
    assert_eq!(find(&bytes, REDIS, second - 500_000, bytes.len()), Some(second));
}

proptest::proptest! {
    #[test]
    fn boundary_lies_within_the_bytes(bytes in proptest::collection::vec(0u8..=30, 0..2000), from in 0usize..2000) {
        if let Some(at) = find(&bytes, REDIS, from, bytes.len()) {
            proptest::prop_assert!((from..=bytes.len()).contains(&at));
        }
    }
}

#[test]
fn runs_of_prefixes_and_parts_of_values_cost_steps() {
    // An access counter, then a prefix of Redis Enterprise, again and again: a record may start at each of them.
    let prefixes = b"\xf9\x00\x6b\x05".repeat(1 << 18);
    // A module's value of as many integers.
    let module = [&b"\x07\x05key:1\x81\0\0\0\0\0\0\x04\0"[..], &b"\x02\x01".repeat(1 << 18)].concat();
    // A compact hash with its own field names and values.
    let names = b"\x01f".repeat(1 << 14);
    let hash = [&b"\x1f\x05key:1\x01\x80\0\0\x40\0"[..], &names, &names].concat();
    for bytes in [prefixes, module, hash] {
        let mut steps = MAX_STEPS;
        assert_eq!(try_records(&bytes, REDIS, &mut steps), None);
        assert!(MAX_STEPS - steps >= bytes.len() as u64 / 16, "{} of {}", MAX_STEPS - steps, bytes.len());
        // Some attempts use up all steps; without a price, each start would cost one walk over the rest.
        assert_eq!(find(&bytes, REDIS, 0, bytes.len()), None);
    }
}

#[test]
fn every_record_costs_a_step() {
    let keys: Vec<u8> = (0..100).flat_map(|i| record(&format!("key:{i}"), b"value")).collect();
    for allowed in [u64::from(MIN_RECORDS), u64::from(MIN_RECORDS) - 1] {
        let found = try_records(&keys, REDIS, &mut allowed.clone());
        assert_eq!(found.is_some(), allowed == u64::from(MIN_RECORDS), "{allowed}");
    }
}

#[test]
fn end_of_the_file_is_plausible_only_behind_a_record() {
    let end = b"\xff\0\0\0\0\0\0\0\0";
    let of = |bytes: &[u8]| try_records(bytes, REDIS, &mut MAX_STEPS.clone());
    assert_eq!(of(end), None);
    let key = record("key:1", b"value");
    assert_eq!(of(&[&key, &end[..]].concat()), Some(key.len()));
    assert_eq!(of(&[&key, &end[..4]].concat()), None);
}

#[test]
fn opcodes_of_redis_enterprise_start_records_in_its_files_only() {
    for byte in 0..=u8::MAX {
        let [elsewhere, here] = [false, true].map(|enterprise| can_start_record(byte, LAST_TYPE, enterprise));
        assert_eq!(here && !elsewhere, matches!(byte, RAM_LRU | SLOT_NUM), "{byte}");
    }
}

#[test]
fn a_packed_value_has_the_length_that_it_announces() {
    let is_plausible = |bytes| BlobHeader::Length.is_plausible(&Cursor::new(bytes, 0).string().unwrap());
    assert!(is_plausible(b"\x07\x07\0\0\0\0\0\xff"));
    assert!(!is_plausible(b"\x07\x08\0\0\0\0\0\xff"));
    assert!(!is_plausible(b"\x03\x03\0\0"));
}
