//! Dividing a mapped file among threads in any way gives the report of reading it from start to end.

use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rdblens::internals::analyze::read::chunk_list::{DivisionCounts, ReadSteps};
use rdblens::internals::analyze::read::division::Division;
use rdblens::internals::analyze::read::file::MappedFile;
use rdblens::internals::analyze::{Plan, Progress, ReadPlan, Selection, Unwatched, analyze};
use rdblens::internals::rdb::crc64;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn plan(threads: usize, division: Division) -> Plan {
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    (plan.read.threads, plan.read.division) = (threads, division);
    plan
}

/// Returns the report of one thread that reads the file batch by batch through a window, a separate code path.
fn sequential(input: &Path, selection: &Selection) -> String {
    let mut plan = plan(1, Division::default());
    plan.read.open.mmap = false;
    plan.read.selection = selection.clone();
    serde_json::to_string_pretty(&analyze(&[input], &plan, &Unwatched).unwrap()).unwrap()
}

fn divided(input: &Path, selection: &Selection, threads: usize, division: Division) -> String {
    let mut plan = plan(threads, division);
    plan.read.selection = selection.clone();
    serde_json::to_string_pretty(&analyze(&[input], &plan, &Unwatched).unwrap()).unwrap()
}

type Find = fn(&MappedFile, Range<usize>) -> Option<usize>;

/// Guesses that are rarely a boundary.
const ANYWHERE: Find = |_, range| Some(range.start);
/// Guesses at random places, or none.
const AT_RANDOM: Find = |mapped, range| {
    let mix = (range.start ^ mapped.map.bytes.len()).wrapping_mul(0x9E37_79B9) >> 5;
    let at = range.start + mix % 97;
    (mix % 3 > 0 && at < range.end).then_some(at)
};

/// Returns divisions into small pieces, at true and at false boundaries.
fn divisions() -> impl Iterator<Item = (usize, Division)> {
    let guess = Division::default().find;
    [(1, 1), (500, 300), (20_000, 4000)].into_iter().flat_map(move |(quantum, least)| {
        let with = move |find| Division { steps: ReadSteps { quantum, least }, find, readers: usize::MAX };
        let few = Division { readers: 2, ..with(guess) };
        [(2, with(guess)), (4, with(guess)), (4, few), (3, with(ANYWHERE)), (4, with(AT_RANDOM))]
    })
}

fn holds(input: &Path, selection: &Selection) {
    let whole = sequential(input, selection);
    for (threads, division) in divisions() {
        // Reports only whether they differ: the lines are too many to print.
        let same = divided(input, selection, threads, division) == whole;
        assert!(same, "{}: {threads} threads, {:?}", input.display(), division.steps);
    }
}

#[test]
fn any_division_of_a_real_dump_is_the_whole() {
    for folder in fs::read_dir(testdata("corpus")).unwrap() {
        let dump = folder.unwrap().path().join("dump.rdb");
        if dump.is_file() {
            holds(&dump, &Selection::default());
        }
    }
}

#[test]
fn databases_settled_late_are_selected_correctly() {
    for databases in [vec![], vec![0], vec![1, 2]] {
        holds(&testdata("dumps/shop.rdb"), &Selection { databases, ..Selection::default() });
    }
}

#[test]
fn damage_is_reported_as_if_read_in_order() {
    let shop = fs::read(testdata("dumps/shop.rdb")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("damaged.rdb");
    for part in 1..8 {
        let at = shop.len() * part / 8;
        fs::write(&file, &shop[..at]).unwrap();
        holds(&file, &Selection::default());
        let mut flipped = shop.clone();
        flipped[at..at + 3].fill(0xEE);
        fs::write(&file, &flipped).unwrap();
        holds(&file, &Selection::default());
    }
}

fn length(len: usize) -> Vec<u8> {
    [&[0x80][..], &u32::try_from(len).unwrap().to_be_bytes()].concat()
}

fn record(name: &str, value: &[u8]) -> Vec<u8> {
    [&[0][..], &length(name.len()), name.as_bytes(), &length(value.len()), value].concat()
}

fn dump(records: &[u8]) -> Vec<u8> {
    let mut file = [&b"REDIS0015\xfa\x05ctime\xc2\x80\x12\x34\x60\xfe\x00"[..], records, b"\xff"].concat();
    let sum = crc64::checksum(&file);
    file.extend(sum.to_le_bytes());
    file
}

fn keys(count: usize) -> Vec<u8> {
    (0..count).flat_map(|i| record(&format!("user:{i}"), b"some value")).collect()
}

/// Returns a listpack of small integers.
fn listpack(numbers: &[u8]) -> Vec<u8> {
    let size = u32::try_from(numbers.len() * 2 + 7).unwrap().to_le_bytes();
    let body = numbers.iter().flat_map(|&number| [number, 1]).collect::<Vec<u8>>();
    [&size[..], &[u8::try_from(numbers.len()).unwrap(), 0], &body, b"\xff"].concat()
}

/// Returns a key and its value of this type.
fn typed(value_type: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[value_type][..], &length(name.len()), name.as_bytes(), value].concat()
}

/// Definition of a template of two fields.
fn template(id: u8) -> Vec<u8> {
    [&[0xf2, id][..], b"\x02\x02id\x04name"].concat()
}

/// Returns compact hashes in all layouts; two of four refer to a template by its number.
fn compact(count: u8, id: u8) -> Vec<u8> {
    let hash = |at: u8| {
        let (packed, own) = (listpack(&[id, at % 100, 1]), listpack(&[0, at % 100, 1]));
        let blob = |bytes: &[u8]| [&length(bytes.len())[..], bytes].concat();
        [
            typed(30, &format!("packed:{at}"), &blob(&packed)),
            typed(32, &format!("array:{at}"), &[&[id][..], b"\x01x", b"\x02yz"].concat()),
            typed(29, &format!("own:{at}"), &[&b"\x01\x02\x02id\x04name"[..], &blob(&own)].concat()),
            typed(31, &format!("other:{at}"), b"\x01\x02\x02id\x05named\x01x\x02yz"),
        ]
        .concat()
    };
    (0..count).flat_map(hash).collect()
}

#[test]
fn templates_behind_keys_are_known_to_all_readers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late.rdb");
    let keys = keys(300);
    for (name, records, damaged) in [
        ("before", [&template(3)[..], b"\xfe\x00", &keys, &compact(200, 3), &keys].concat(), false),
        ("late", [&keys[..], &template(7), &compact(200, 7), &keys].concat(), false),
        ("both", [&template(3)[..], &compact(99, 3), &keys, &template(7), &compact(200, 7), &keys].concat(), false),
        ("several", (4..9).flat_map(|id| [&keys[..], &template(id), &compact(60, id)].concat()).collect(), false),
        ("own names only", [&keys[..], &template(3), &compact(1, 3), &keys].concat(), false),
        ("undefined", [&template(3)[..], &keys, &compact(200, 4), &keys].concat(), true),
        ("used before it is defined", [&keys[..], &compact(50, 7), &template(7), &keys].concat(), true),
        ("defined twice", [&keys[..], &template(7), &compact(50, 7), b"\xf2\x07\x01\x01a", &keys].concat(), true),
    ] {
        fs::write(&file, dump(&records)).unwrap();
        holds(&file, &Selection::default());
        let report = analyze(&[&file], &plan(2, Division::default()), &Unwatched).unwrap();
        assert_eq!(report.complete, !damaged, "{name}");
    }
}

/// Records the statistics of dividing, and the bytes that the second pass read.
#[derive(Default)]
struct Watch(Mutex<Vec<DivisionCounts>>, AtomicU64);

impl Progress for Watch {
    fn divided(&self, counts: DivisionCounts) {
        self.0.lock().unwrap().push(counts);
    }
    fn read_again(&self, bytes: u64) {
        self.1.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[test]
fn files_crafted_to_mislead_guesses_are_read_correctly() {
    let inner = dump(&keys(5000));
    let folder = tempfile::tempdir().unwrap();
    let misleading = [
        ("dumps inside values", (0..6).flat_map(|i| record(&format!("backup:{i}"), &inner)).collect()),
        ("one dump inside a value", record("backup", &inner)),
        ("zeros", [keys(10), record("zeros", &[0; 200_000]), keys(20)[200..].to_vec()].concat()),
        ("one giant value", [keys(3), record("giant", &[b'x'; 500_000])].concat()),
    ];
    for (name, records) in misleading {
        let file = folder.path().join(name);
        fs::write(&file, dump(&records)).unwrap();
        holds(&file, &Selection::default());
    }
}

#[test]
fn a_dump_after_the_end_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two");
    fs::write(&file, [dump(&keys(300)), dump(&keys(5000))].concat()).unwrap();
    holds(&file, &Selection::default());
}

#[test]
fn an_ordinary_dump_is_divided_and_no_byte_is_read_twice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    let databases = [keys(50_000), b"\xfe\x07".to_vec(), keys(50_000)].concat();
    fs::write(&file, dump(&databases)).unwrap();
    let division =
        Division { steps: ReadSteps { quantum: 4096, least: 16 << 10 }, readers: usize::MAX, ..Division::default() };
    let watch = Watch::default();
    let report = analyze(&[&file], &plan(4, division), &watch).unwrap();
    assert_eq!((report.totals.keys, report.databases.len()), (100_000, 2));
    let counts = watch.0.into_inner().unwrap();
    assert_eq!(counts.len(), 1);
    assert!(counts[0].guesses > 0);
    assert_eq!((counts[0].wasted, counts[0].failures), (0, 0));
}

#[test]
fn slots_cover_all_keys_wherever_the_first_hash_tag_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tagged");
    let tag = || record("{user:7}:cart", b"some value");
    // These records are in databases unknown to a reader that starts in the middle; a slot's heaviest key is shown with
    // its own.
    let two = |front: Vec<u8>, back: Vec<u8>| [front, b"\xfe\x07".to_vec(), back].concat();
    let by_slot = b"\xf4\x01\x01\x00".to_vec();
    let dumps = [
        ("first", two([tag(), keys(3000)].concat(), keys(3000))),
        ("last", two(keys(3000), [keys(3000), tag()].concat())),
        ("in the middle", two([keys(3000), tag()].concat(), keys(3000))),
        ("none, but marked as a cluster's late", two(keys(3000), [by_slot, keys(3000)].concat())),
    ];
    for (name, records) in dumps {
        fs::write(&file, dump(&records)).unwrap();
        assert!(sequential(&file, &Selection::default()).contains("\"slots\": {"), "{name}");
        holds(&file, &Selection::default());
        for databases in [vec![0], vec![7]] {
            holds(&file, &Selection { databases, ..Selection::default() });
        }
    }
}

#[test]
fn only_bytes_before_the_first_hash_tag_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tagged");
    let read_again = |records: Vec<u8>| {
        fs::write(&file, dump(&records)).unwrap();
        let division = Division {
            steps: ReadSteps { quantum: 4096, least: 16 << 10 },
            readers: usize::MAX,
            ..Division::default()
        };
        let watch = Watch::default();
        let report = analyze(&[&file], &plan(1, division), &watch).unwrap();
        (report.slots.is_some(), watch.1.into_inner())
    };
    let tag = || record("{user:7}:cart", b"some value");
    assert_eq!(read_again(keys(5000)), (false, 0));
    let (told, bytes) = read_again([keys(10), tag(), keys(5000)].concat());
    assert!(told && (1..8192).contains(&bytes), "{bytes}");
    let (told, bytes) = read_again([keys(5000), tag()].concat());
    assert!(told && bytes > 100_000, "{bytes}");
}

#[test]
fn slots_of_a_compressed_file_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, packed) = (folder.path().join("tagged.rdb"), folder.path().join("packed"));
    let tag = || record("{user:7}:cart", b"some value");
    // Several batches before the tag and behind it.
    let records = [keys(60_000), tag(), b"\xfe\x07".to_vec(), keys(60_000)].concat();
    let bytes = dump(&records);
    fs::write(&file, &bytes).unwrap();
    let slots = |input: &Path, threads: usize| {
        let watch = Watch::default();
        let report = analyze(&[input], &plan(threads, Division::default()), &watch).unwrap();
        (serde_json::to_string(&(report.totals, report.slots.unwrap())).unwrap(), watch.1.into_inner())
    };
    let (expected, _) = slots(&file, 1);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    let compressed =
        [("zstd", zstd::encode_all(&bytes[..], 1).unwrap(), true), ("gzip", gzip.finish().unwrap(), false)];
    for (name, compressed, is_read_again) in compressed {
        fs::write(&packed, compressed).unwrap();
        for threads in [1, 4] {
            let (found, again) = slots(&packed, threads);
            assert!(found == expected, "{name}, {threads} threads");
            assert_eq!(again > 0, is_read_again, "{name}: inflating again takes as long as the first time");
            assert!(
                threads > 1 || again < bytes.len() as u64 * 3 / 4,
                "{name}: {again} bytes, the tag is in the middle"
            );
        }
    }
}

/// Creates names that are all patterns of their own: 1024 below each of 36 from `first` on, shuffled. Every hundredth
/// value is damaged.
fn patterns(first: usize) -> Vec<u8> {
    const COUNT: usize = 36 << 10;
    let name = |number: usize| {
        let top = first + (number >> 10);
        let bits = (0..10).map(|bit| if number >> bit & 1 == 1 { ":a" } else { ":b" });
        let top = [top / 26, top % 26].map(|letter| char::from(b'a' + letter as u8));
        top.iter().collect::<String>() + &bits.collect::<String>()
    };
    let record = |i: usize| {
        let name = name(i * 7919 % COUNT); // odd, so coprime to the count
        let value: &[u8] = if i.is_multiple_of(100) { b"\xc3\x01\x09\xff" } else { b"\x02ok" };
        [&[0][..], &length(name.len()), name.as_bytes(), value].concat()
    };
    (0..COUNT).flat_map(record).collect()
}

#[test]
fn look_ahead_does_not_change_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("varied.rdb");
    let steps = ReadSteps { quantum: 64 << 10, least: 256 << 10 };
    let database: &[u8] = b"\xfe\x07";
    let damage: &[u8] = b"\xee";
    // Neither database alone exceeds the limits of the tree; together they do. Bytes after damage are not read.
    for (between, databases, too_varied) in
        [(database, vec![0], false), (database, vec![7], false), (damage, vec![], false), (database, vec![], true)]
    {
        fs::write(&file, dump(&[&patterns(0)[..], between, &patterns(36)].concat())).unwrap();
        let selection = Selection { databases, ..Selection::default() };
        let whole = sequential(&file, &selection);
        assert_eq!(whole.contains("\"distinct\": 36495,"), !too_varied);
        for find in [Division::default().find, AT_RANDOM] {
            let same = divided(&file, &selection, 3, Division { steps, find, readers: usize::MAX }) == whole;
            assert!(same, "databases {:?}", selection.databases);
        }
    }
}
