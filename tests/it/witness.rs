//! Compares our reader with an independent one, the `rdb` crate, on every dump in testdata that it can read: keys,
//! types, lengths and expiries, and values as decoded by our own visitor. Values that it cannot decode must have as
//! many elements as we count.
//!
//! `cargo test --test it witness:: -- --nocapture` lists the dumps that it cannot read, and why.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::common::program::{rdblens as program, run, run_within};
use crate::common::truth::roots;
use rdb::{RdbDecoder, RdbValue, filter::Simple};
use rdblens::internals::analyze::check::check;
use rdblens::internals::analyze::second_reader::compare_readers;
use rdblens::internals::input::Input;
use rdblens::internals::rdb::batch::Batches;
use rdblens::internals::rdb::scan::FileItem;
use rdblens::internals::rdb::template::Templates;
use rdblens::internals::rdb::value_type::ValueType;
use rdblens::internals::record::{ElementLengths, Kind};
use rdblens::internals::show::{
    DecodeBudget, Entry, Extent, HashField, Item, Looked, Value, collect, decode, decode_value, find,
};
use rdblens::internals::units::Bytes;
use rdblens::report::{CheckVerdict, NotCompared};
use rdblens::{Plan, ReadPlan, Unwatched, for_each_record};

/// Database and name of a key.
type Place = (u64, Vec<u8>);
/// Facts that both readers report: type, length, expiry.
type Facts = (Kind, u64, Option<i64>);

fn dumps() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")];
    if std::env::var_os("RDBLENS_CORPUS").is_some() {
        folders.extend(roots());
    }
    let mut dumps = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_dump = path.extension().is_some_and(|end| end == "rdb" || end == "aof");
            match path.is_dir() {
                // Files that are damaged, and forms that the crate does not know.
                true if !["hostile", "salvage", "servers"].iter().any(|name| path.ends_with(name)) => {
                    folders.push(path);
                }
                false if is_dump && !path.to_string_lossy().contains(".incr.") => dumps.push(path),
                _ => {}
            }
        }
    }
    dumps.sort();
    dumps
}

/// Reads a file with the crate, without streams and modules.
fn witness(path: &Path) -> Result<BTreeMap<Place, Facts>, String> {
    let file = BufReader::new(fs::File::open(path).unwrap());
    let decoder = RdbDecoder::new(file, Simple::new()).map_err(|error| error.to_string())?;
    let (mut db, mut keys) = (0, BTreeMap::new());
    for item in decoder {
        let (key, kind, length, expiry) = match item.map_err(|error| error.to_string())? {
            RdbValue::SelectDb(number) => {
                db = u64::from(number);
                continue;
            }
            RdbValue::ResizeDb { .. } | RdbValue::AuxField { .. } | RdbValue::Checksum(_) => continue,
            RdbValue::String { key, value, expiry } => (key, Kind::String, value.len(), expiry),
            RdbValue::List { key, values, expiry } => (key, Kind::List, values.len(), expiry),
            RdbValue::Set { key, members, expiry } => (key, Kind::Set, members.len(), expiry),
            RdbValue::SortedSet { key, values, expiry } => (key, Kind::Zset, values.len(), expiry),
            RdbValue::Hash { key, values, expiry } => (key, Kind::Hash, values.len(), expiry),
        };
        let expiry = expiry.map(|at| i64::try_from(at).unwrap());
        keys.insert((db, key), (kind, length as u64, expiry));
    }
    Ok(keys)
}

fn ours(path: &Path) -> BTreeMap<Place, Facts> {
    let mut keys = BTreeMap::new();
    let plan = ReadPlan::new(std::env::temp_dir());
    for_each_record(&[path], &plan, |record, _| {
        let facts = (record.kind, record.length.unwrap_or_default(), record.expires_at.map(|at| at.0));
        keys.insert((record.db, record.key.to_vec()), facts);
    })
    .unwrap();
    keys
}

#[test]
fn both_readers_find_the_same_keys() {
    let (mut agreed, mut keys) = (0, 0);
    for path in dumps() {
        let mut ours = ours(&path);
        match witness(&path) {
            Ok(witness) => {
                ours.retain(|_, (kind, ..)| !matches!(kind, Kind::Stream | Kind::Module | Kind::Array));
                assert!(ours == witness, "{} differs", path.display());
                agreed += 1;
                keys += witness.len();
            }
            Err(reason) => println!("{}: the crate cannot read it: {reason}", path.display()),
        }
    }
    assert!(agreed >= 15 && keys > 20_000, "the witness saw {keys} keys in {agreed} dumps");
    println!("{keys} keys in {agreed} dumps agree");
}

/// Record as walked: database, key, value type, value.
type Raw = (u64, Vec<u8>, ValueType, Vec<u8>);

/// Calls `see` for every record of a file, in file order; returns their number.
fn for_each_value(path: &Path, mut see: impl FnMut(Raw, &Templates)) -> usize {
    let options = ReadPlan::new(std::env::temp_dir()).open;
    let mut batches = Batches::open(Input::file(path.to_owned()).open(&options).unwrap().body).unwrap();
    let templates = batches.preamble().templates.unwrap_or_default();
    let mut keys = 0;
    while let Some(batch) = batches.next_batch() {
        let mut scanner = batch.scanner();
        while scanner.cursor().left() > 0 {
            let FileItem::Key(entry) = scanner.next_item().unwrap() else { continue };
            let start = scanner.cursor().consumed();
            scanner.skip_value(&entry).unwrap();
            let key = entry.key.to_bytes().unwrap().into_owned();
            keys += 1;
            see((entry.db.unwrap(), key, entry.value_type, scanner.cursor().since(start).to_vec()), &templates);
        }
    }
    assert!(batches.ending().stopped.is_none(), "{}", path.display());
    keys
}

/// Returns the well-formed files among the odd ones made by hand.
fn odd_dumps() -> Vec<PathBuf> {
    let odd = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        // The template of one follows its first key, and values are decoded here with the templates before it; blocks of Dragonfly
        // are not unfolded here.
        let reads = name != "valid-template-late.rdb" && !name.contains("dragonfly");
        name.starts_with("valid-") && name.ends_with(".rdb") && reads
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/hostile");
    let mut dumps: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(odd).collect();
    dumps.sort();
    dumps
}

/// Converts an item of the crate to a value; returns `None` for items that are not keys.
fn from_crate(item: RdbValue) -> Option<Value> {
    Some(match item {
        RdbValue::String { value, .. } => Value::Text(value),
        RdbValue::List { values, .. } => Value::List(values),
        RdbValue::Set { members, .. } => Value::Set(members),
        RdbValue::SortedSet { values, .. } => {
            Value::Zset(values.into_iter().map(|(score, member)| (member, score)).collect())
        }
        RdbValue::Hash { values, .. } => {
            let field = |(field, value)| HashField { field, value, expires_at: None };
            Value::Hash(values.into_iter().map(field).collect())
        }
        RdbValue::SelectDb(_) | RdbValue::ResizeDb { .. } | RdbValue::AuxField { .. } | RdbValue::Checksum(_) => {
            return None;
        }
    })
}

/// Iterates over database, key and value as the crate reads them.
fn items(path: &Path) -> impl Iterator<Item = Result<(u64, Vec<u8>, Value), String>> {
    let file = BufReader::new(fs::File::open(path).unwrap());
    let (decoder, error) = match RdbDecoder::new(file, Simple::new()) {
        Ok(decoder) => (Some(decoder), None),
        Err(error) => (None, Some(Err(error.to_string()))),
    };
    let mut db = 0;
    let items = decoder.into_iter().flatten().filter_map(move |item| {
        let item = match item {
            Ok(item) => item,
            Err(error) => return Some(Err(error.to_string())),
        };
        let key = match &item {
            RdbValue::String { key, .. }
            | RdbValue::List { key, .. }
            | RdbValue::Set { key, .. }
            | RdbValue::SortedSet { key, .. }
            | RdbValue::Hash { key, .. } => key.clone(),
            RdbValue::SelectDb(number) => {
                db = u64::from(*number);
                return None;
            }
            RdbValue::ResizeDb { .. } | RdbValue::AuxField { .. } | RdbValue::Checksum(_) => return None,
        };
        from_crate(item).map(|value| Ok((db, key, value)))
    });
    error.into_iter().chain(items)
}

/// Removes from a value what the crate drops.
fn without_field_expiries(mut value: Value) -> Value {
    if let Value::Hash(fields) = &mut value {
        fields.iter_mut().for_each(|field| field.expires_at = None);
    }
    value
}

/// Compares record by record in file order, and element by element. Every value is also decoded as by `rdblens show`.
#[test]
fn both_readers_decode_the_same_values() {
    let (mut compared, mut whole) = (0, 0);
    for path in dumps().into_iter().chain(odd_dumps()) {
        let mut witness = items(&path).fuse();
        let mut reason = None;
        for_each_value(&path, |(db, key, value_type, bytes), templates| {
            let name = || format!("{}: db {db} {}", path.display(), key.escape_ascii());
            let shown =
                decode_value(value_type, templates, &bytes, 0).unwrap_or_else(|error| panic!("{}: {error}", name()));
            if matches!(value_type.kind(), Kind::Stream | Kind::Module | Kind::Array) || reason.is_some() {
                return;
            }
            let ours = collect(value_type, templates, &bytes, 0, &mut DecodeBudget::new(Extent::default(), 0)).unwrap();
            assert!(shown == ours, "{}: shown {shown:?}, collected {ours:?}", name());
            match witness.next() {
                Some(Ok((its_db, its_key, value))) => {
                    assert_eq!((its_db, &its_key), (db, &key), "{}", name());
                    let ours = without_field_expiries(ours);
                    assert!(value == ours, "{}: the crate says {value:?}, we say {ours:?}", name());
                    compared += 1;
                }
                Some(Err(error)) => reason = Some(error),
                None => panic!("{}: the crate has no more keys", name()),
            }
        });
        match reason.or_else(|| witness.next().and_then(Result::err)) {
            Some(reason) => println!("{}: the crate cannot read it: {reason}", path.display()),
            None => {
                assert!(witness.next().is_none(), "{}: the crate has more keys", path.display());
                whole += 1;
            }
        }
    }
    println!("{compared} values agree, {whole} dumps to their end");
    assert!(compared > 20_000 && whole >= 30, "the witness saw {compared} values, {whole} dumps to their end");
}

fn elements(value: &Value) -> Option<u64> {
    let count = match value {
        Value::Text(text) => text.len(),
        Value::List(elements) | Value::Set(elements) => elements.len(),
        Value::Zset(members) => members.len(),
        Value::Hash(fields) => fields.len(),
        Value::Stream(stream) => stream.entries.len(),
        Value::Array(slots) => slots.len(),
        Value::Json(_) | Value::Series(_) | Value::Vectors(_) | Value::Module(..) => return None,
    };
    Some(count as u64)
}

/// Returns the longest and the mean length of the elements of a decoded collection.
fn element_lengths(value: &Value) -> Option<ElementLengths> {
    let len = |text: &[u8]| text.len() as u64;
    let lengths: Vec<u64> = match value {
        Value::List(elements) | Value::Set(elements) => elements.iter().map(|element| len(element)).collect(),
        Value::Zset(members) => members.iter().map(|(member, _)| len(member)).collect(),
        Value::Hash(fields) => fields.iter().map(|it| len(&it.field) + len(&it.value)).collect(),
        Value::Stream(stream) => {
            let entry = |entry: &Entry| entry.fields.iter().map(|(field, value)| len(field) + len(value)).sum();
            stream.entries.iter().map(entry).collect()
        }
        Value::Array(slots) => slots
            .iter()
            .map(|(_, item)| match item {
                Item::Integer(number) => number.to_string().len() as u64,
                Item::Float(_) => 8,
                Item::Text(text) => len(text),
            })
            .collect(),
        Value::Text(_) | Value::Json(_) | Value::Series(_) | Value::Vectors(_) | Value::Module(..) => return None,
    };
    let (longest, sum, count) = (*lengths.iter().max()?, lengths.iter().sum::<u64>(), lengths.len() as u64);
    Some(ElementLengths { longest: Bytes(longest), mean: Bytes((sum + count / 2) / count) })
}

/// Looking up a key reads the file from its start, so this shows only the types that the crate cannot read and some of
/// each other type.
#[test]
fn every_kind_of_value_is_shown_whole() {
    let plan_of_one = Plan::new(ReadPlan::new(std::env::temp_dir()));
    let mut shown: BTreeMap<&'static str, usize> = BTreeMap::new();
    for path in dumps() {
        let mut seen: BTreeMap<(Kind, &'static str), usize> = BTreeMap::new();
        let mut wanted = Vec::new();
        let plan = ReadPlan::new(std::env::temp_dir());
        for_each_record(&[&path], &plan, |record, _| {
            let count = seen.entry((record.kind, record.encoding.name())).or_default();
            *count += 1;
            if *count <= 3 || record.fields_with_ttl.is_some() && *count <= 20 {
                let facts = (record.db, record.key.to_vec(), record.kind, record.length, record.fields_with_ttl);
                wanted.push(facts);
            }
        })
        .unwrap();
        for (db, key, kind, length, fields_with_ttl) in wanted {
            let Looked::Found(found) = find(path.to_str().unwrap(), &key, Some(db), &plan_of_one).unwrap() else {
                panic!("{}: {} is not found", path.display(), key.escape_ascii());
            };
            let decoded = decode(&found, Extent::default());
            let value = decoded.unwrap_or_else(|error| panic!("{}: {error}", key.escape_ascii())).value;
            if let Some(count) = elements(&value) {
                assert_eq!(Some(count), length, "{}: {}", path.display(), key.escape_ascii());
            }
            let told = found.facts.as_ref().and_then(|facts| facts.elements);
            assert_eq!(told, element_lengths(&value), "{}: {}", path.display(), key.escape_ascii());
            if let (Value::Hash(fields), Some(expiring)) = (&value, fields_with_ttl) {
                let count = fields.iter().filter(|field| field.expires_at.is_some()).count();
                assert_eq!(count as u64, expiring, "{}: {}", path.display(), key.escape_ascii());
            }
            *shown.entry(kind.name()).or_default() += 1;
        }
    }
    for kind in ["string", "list", "set", "zset", "hash", "stream", "module"] {
        assert!(shown.get(kind).is_some_and(|count| *count >= 10), "{kind}: {shown:?}");
    }
}

#[test]
fn the_second_reader_of_check_finds_the_same() {
    let dumps = dumps();
    let plan = ReadPlan::new(std::env::temp_dir());
    let mut checks = check(&dumps, &plan, &Unwatched).unwrap();
    compare_readers(&dumps, &plan, &mut checks);
    let mut compared = 0;
    for check in &checks {
        let Some(reading) = &check.second_reader else {
            assert_ne!(check.verdict, CheckVerdict::Ok, "{}", check.name);
            continue;
        };
        assert!(reading.differences.is_empty() && reading.different == 0, "{}: {reading:?}", check.name);
        assert_eq!(reading.compared + reading.not_compared.values().sum::<u64>(), check.keys, "{}", check.name);
        compared += reading.compared;
    }
    assert!(compared > 20_000, "{compared}");
}

#[test]
fn a_difference_between_the_readers_exits_with_4() {
    let hostile = |name: &str| format!("{}/testdata/hostile/{name}.rdb", env!("CARGO_MANIFEST_DIR"));
    let checked = |path: &str, lang: &str| {
        let output = run(program().args(["check", "--second-reader", path, "--lang", lang]));
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    // Servers read the digits that a score begins with; the crate refuses it.
    let (status, text) = checked(&hostile("valid-zset-score-rest"), "en");
    assert!(status == Some(4) && text.contains("0 keys agree, 2 differ") && text.contains("readable: zset"), "{text}");
    let (status, text) = checked(&hostile("valid-zset-score-rest"), "zh");
    assert!(status == Some(4) && text.contains("2 个不一致"), "{text}");
    let (status, text) = checked(&hostile("truncated-in-list"), "en");
    assert!(status == Some(4) && text.contains("skipped, the file is damaged"), "{text}");
    let (status, text) = checked(&hostile("valid-database-number-huge"), "en");
    assert!(status == Some(0) && text.contains("not compared: database number above 32 bits 1"), "{text}");
    let (status, text) = checked("-", "en");
    assert!(status == Some(2) && text.is_empty());
    // Opcodes of Redis Enterprise and Dragonfly before keys are none that the crate knows.
    let server = |name: &str| format!("{}/testdata/servers/{name}", env!("CARGO_MANIFEST_DIR"));
    for name in ["enterprise-opcodes.rdb", "dragonfly/dump-0000.dfs", "dragonfly/dump-0001.dfs"] {
        let (status, text) = checked(&server(name), "en");
        assert!(
            status == Some(0) && !text.contains("differ") && text.contains("unknown key metadata "),
            "{name}: {text}"
        );
    }
}

#[test]
fn a_file_that_changes_after_its_check_is_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    let dump = |name: &str| format!("{}/testdata/{name}.rdb", env!("CARGO_MANIFEST_DIR"));
    let plan = ReadPlan::new(std::env::temp_dir());
    fs::copy(dump("dumps/shop"), &path).unwrap();
    let compared = |change: &dyn Fn()| {
        let mut checks = check(&[&path], &plan, &Unwatched).unwrap();
        change();
        compare_readers(&[&path], &plan, &mut checks);
        let reading = checks[0].second_reader.as_ref().unwrap();
        assert_eq!(reading.compared + reading.not_compared.values().sum::<u64>(), checks[0].keys);
        (checks[0].is_sound(), reading.compared, reading.not_compared.get(&NotCompared::Changed).copied())
    };
    assert_eq!(compared(&|| ()).2, None);
    let (sound, before, changed) = compared(&|| {
        fs::copy(dump("hostile/truncated-in-list"), &path).unwrap();
    });
    assert!(!sound && before < 10 && changed > Some(5000), "{before} {changed:?}");
    fs::copy(dump("dumps/shop"), &path).unwrap();
    assert_eq!(compared(&|| fs::remove_file(&path).unwrap()), (false, 0, Some(5257)));
}

#[test]
#[cfg(unix)]
fn a_pipe_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.rdb");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for args in [&["check", "--second-reader"][..], &["keys", "--mask"]] {
        let output = run_within(program().args(args).arg(&pipe), std::time::Duration::from_secs(20)).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("reads the snapshot twice, which standard input and pipes do not allow"), "{said}");
    }
}
