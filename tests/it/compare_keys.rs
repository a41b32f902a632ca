//! `rdblens compare --keys`: which keys differ, at any number of threads and in any memory, and what damage does to the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use rdblens::internals::render::schema::Described;
use serde_json::Value;

use crate::common::dump::{CTIME, Dump};
use crate::common::program::{run, run_args, stdout_of, testdata, text};

const LATER: i64 = CTIME + 86_400_000;

fn shop(name: &str) -> String {
    testdata().join("dumps").join(name).to_str().unwrap().to_owned()
}

/// Dumps in a folder of their own.
struct Dumps(tempfile::TempDir);

impl Dumps {
    fn new() -> Dumps {
        Dumps(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn add(&self, name: &str, dump: &Dump) -> String {
        self.add_bytes(name, &dump.bytes())
    }

    fn add_bytes(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Compares, and returns the status, the sums and the rows.
    fn compare(&self, args: &[&str]) -> (Option<i32>, Value, Vec<Value>) {
        let rows = self.path("rows.ndjson");
        let all =
            [&["compare", "--keys", "--format", "json", "--quiet", "--rows", rows.to_str().unwrap()], args].concat();
        let output = run_args(&all);
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", text(&output)));
        (output.status.code(), json, ndjson(&rows))
    }

    /// Compares two dumps and returns the changes of each key.
    fn changes(&self, before: &Dump, after: &Dump, args: &[&str]) -> Vec<(String, String)> {
        let (before, after) = (self.add("before.rdb", before), self.add("after.rdb", after));
        let (_, _, rows) = self.compare(&[&[before.as_str(), &after], args].concat());
        rows.iter().map(|row| (row["key"].as_str().unwrap().to_owned(), changes(row))).collect()
    }
}

fn ndjson(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn changes(row: &Value) -> String {
    let changes = row["change"].as_array().unwrap().iter().map(|change| change.as_str().unwrap());
    changes.collect::<Vec<_>>().join(" ")
}

#[test]
fn sums_and_rows_agree() {
    let dumps = Dumps::new();
    let (status, json, rows) = dumps.compare(&[&shop("shop.rdb"), &shop("shop-later.rdb")]);
    assert_eq!(status, Some(0));
    let count = |change: &str| rows.iter().filter(|row| changes(row).split(' ').any(|one| one == change)).count();
    let sums = &json["sums"];
    for (sum, change) in [
        (&sums["added"]["keys"], "added"),
        (&sums["removed"]["keys"], "removed"),
        (&sums["expired"]["keys"], "expired"),
        (&sums["changed"], "value"),
        (&sums["reexpired"], "expiry"),
        (&sums["retyped"], "type"),
    ] {
        assert_eq!(sum.as_u64(), Some(count(change) as u64), "{change}");
    }
    let number = |value: &Value| value.as_u64().unwrap();
    let (before, after) = (number(&json["before"]["keys"]), number(&json["after"]["keys"]));
    assert_eq!(before, number(&sums["equal"]) + rows.len() as u64 - count("added") as u64);
    assert_eq!(after, before + count("added") as u64 - count("removed") as u64 - count("expired") as u64);
    assert!(count("added") == 6000 && count("value") == 1 && count("expired") > 100, "{sums}");
    let total = |rows: &Value| rows.as_array().unwrap().iter().map(|row| number(&row["differing"])).sum::<u64>();
    assert_eq!(total(&json["types"]), number(&sums["differing"]));
    let names: Vec<_> = rows.iter().map(|row| (number(&row["db"]), row["key"].as_str().unwrap().to_owned())).collect();
    assert!(names.is_sorted());
}

/// A dump of many keys; `odd` chooses which of them have other values, and which are missing.
fn many(odd: bool) -> Dump {
    let mut dump = Dump::new();
    for number in 0..12_000_u32 {
        let (key, changed) = (format!("part:{}:key:{number}", number % 7), odd && number % 5 == 0);
        match number % 11 {
            _ if number % 13 == u32::from(odd) => {}
            0 => _ = dump.list(key, &["a", if changed { "b" } else { "c" }]),
            1 => _ = dump.hash(key, &[("f", if changed { "b" } else { "c" })]),
            2 => _ = dump.expires_at(LATER + i64::from(changed)).string(key, "v"),
            _ => _ = dump.string(key, if changed { "b" } else { "c" }),
        }
    }
    dump
}

#[test]
fn output_does_not_depend_on_threads_and_memory() {
    let dumps = Dumps::new();
    let (one, other) = (dumps.add("before.rdb", &many(false)), dumps.add("after.rdb", &many(true)));
    for mask in [&[][..], &["--mask"]] {
        output_is_always_the_same(&dumps, &one, &other, mask);
    }
}

fn output_is_always_the_same(dumps: &Dumps, one: &str, other: &str, mask: &[&str]) {
    let mut expected: Option<(Vec<u8>, Vec<Vec<u8>>)> = None;
    // In the least memory, keys and differing keys take several runs on disk.
    for (threads, memory) in [("1", "1GB"), ("3", "1GB"), ("1", "1"), ("4", "1")] {
        let mut rows = Vec::new();
        let mut sums = Vec::new();
        for name in ["rows.ndjson", "rows.csv", "rows.parquet"] {
            let path = dumps.path(name);
            let args = ["compare", "--keys", one, other, "--threads", threads, "--max-memory", memory, "--quiet"];
            let to = ["--rows", path.to_str().unwrap(), "--format", "json", "--top", "100"];
            let output = run_args(&[&args[..], &to, mask].concat());
            assert!(output.status.success(), "{}", text(&output));
            rows.push(fs::read(&path).unwrap());
            sums = output.stdout;
        }
        let (known, known_rows) = expected.get_or_insert_with(|| (sums.clone(), rows.clone()));
        assert!(*known == sums && *known_rows == rows, "{threads} threads, {memory}");
    }
    let (_, rows) = expected.unwrap();
    assert!(String::from_utf8_lossy(&rows[0]).lines().count() > 3_000);
}

#[test]
fn values_too_large_for_the_memory_are_not_called_equal() {
    let dumps = Dumps::new();
    let mut dump = Dump::new();
    dump.compressed("large", "x".repeat(100_000)).string("small", "v");
    let (before, after) = (dumps.add("before.rdb", &dump), dumps.add("after.rdb", &dump));
    let (status, json, rows) = dumps.compare(&[&before, &after, "--max-memory", "1MB"]);
    assert_eq!((status, &json["sums"]["equal"], &json["sums"]["unreadable"]), (Some(4), &1.into(), &1.into()));
    assert_eq!(rows.iter().map(changes).collect::<Vec<_>>(), ["unreadable"]);
    let (status, ..) = dumps.compare(&[&before, &after, "--max-memory", "8MB"]);
    assert_eq!(status, Some(0));
}

#[test]
fn the_json_form_is_valid_under_its_schema() {
    let validator =
        jsonschema::draft202012::new(&serde_json::to_value(Described::CompareKeys.schema()).unwrap()).unwrap();
    let dumps = Dumps::new();
    let mut odd = Dump::new();
    odd.module("m", ("ReJSON-RL", 3), &["{}"]).string(b"\xff\x1b[31m", "v");
    let odd = dumps.add("odd.rdb", &odd);
    for inputs in [[shop("shop.rdb"), shop("shop-later.rdb")], [shop("shop.rdb"), odd]] {
        let (_, json, _) = dumps.compare(&[&inputs[0], &inputs[1]]);
        let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn content_in_other_encodings_is_equal() {
    let long = "x".repeat(100);
    let pairs = [("f", "1"), ("g", long.as_str()), ("h", "-3")];
    let back = [("h", "-3"), ("f", "1"), ("g", long.as_str())];
    let (mut one, mut other) = (Dump::new(), Dump::new());
    one.hash("hash", &pairs).set("set", &["1", "2", "3"]).string("string", &long).list("list", &["a", "1", &long]);
    other.list_compressed("list", &["a", "1", &long]).compressed("string", &long).intset("set", &[3, 1, 2]);
    other.hash_compressed("hash", &back);
    one.set("other", &["b", "a"]).hash_listpack("again", &pairs);
    other.hash("again", &back).set_table("other", &["a", "b"]);
    let dumps = Dumps::new();
    let (before, after) = (dumps.add("before.rdb", &one), dumps.add("after.rdb", &other));
    let (status, json, rows) = dumps.compare(&[&before, &after, "--fail-on-difference"]);
    assert_eq!((status, rows), (Some(0), Vec::new()));
    assert_eq!((&json["sums"]["equal"], &json["before"]["keys"]), (&6.into(), &6.into()));
}

#[test]
fn each_change_is_named() {
    let at = LATER + 10_000;
    let (mut one, mut other) = (Dump::new(), Dump::new());
    one.string("same", "v").string("value", "a").expires_at(at).string("ttl", "v").string("type", "a");
    other.string("same", "v").string("value", "b").expires_at(at + 5).string("ttl", "v").list("type", &["a"]);
    one.string("gone", "v")
        .hash("hash", &[("a", "1"), ("b", "2")])
        .list("list", &["a", "b"])
        .expires_at(at)
        .string("kept", "");
    other.hash("hash", &[("a", "2"), ("b", "1")]).list("list", &["b", "a"]).string("kept", "").string("new", "v");
    one.db(3).string("both", "1");
    other.db(4).string("both", "1");
    let dumps = Dumps::new();
    let found = dumps.changes(&one, &other, &[]);
    let expected = [
        ("gone", "removed"),
        ("hash", "value"),
        ("kept", "expiry"),
        ("list", "value"),
        ("new", "added"),
        ("ttl", "expiry"),
        ("type", "type"),
        ("value", "value"),
        ("both", "removed"),
        ("both", "added"),
    ];
    assert_eq!(found, expected.map(|(key, change)| (key.to_owned(), change.to_owned())));
    let expiries = |args: &[&str]| {
        let found = dumps.changes(&one, &other, args).into_iter();
        found.filter(|(_, change)| change == "expiry").map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert_eq!(expiries(&["--expiry-tolerance", "4ms"]), ["kept", "ttl"]);
    assert_eq!(expiries(&["--expiry-tolerance", "5ms"]), ["kept"]);
    assert_eq!(expiries(&["--ignore", "expiry"]), [""; 0]);
}

#[test]
fn keys_that_expired_are_no_loss() {
    let (mut one, mut other) = (Dump::new(), Dump::new());
    one.expires_at(CTIME - 1000).string("dead", "v").expires_at(CTIME + 60_000).string("short", "v");
    one.expires_at(LATER * 2).string("long", "v");
    other.string("x", "v");
    let dumps = Dumps::new();
    let (before, after) = (dumps.add("before.rdb", &one), dumps.add("after.rdb", &other));
    let at = (LATER / 1000).to_string();
    let (status, json, rows) = dumps.compare(&[&before, &after, "--fail-on-difference"]);
    // Both snapshots are of one second: nothing had time to expire.
    assert_eq!((status, rows.len(), &json["before"]["expired"]), (Some(1), 3, &1.into()));
    let (_, json, _) = dumps.compare(&[&before, &after, "--at", &at]);
    assert_eq!((&json["before"]["expired"], &json["sums"]["removed"]["keys"]), (&2.into(), &1.into()));
}

#[test]
fn a_key_of_a_shard_expires_at_the_time_of_this_shard() {
    let (mut early, mut late) = (Dump::new(), Dump::taken(CTIME + 60_000));
    early.expires_at(CTIME - 1000).string("dead", "v").expires_at(CTIME + 3000).string("otp", "v");
    late.expires_at(CTIME + 3000).string("gone", "v").string("user", "v");
    let dumps = Dumps::new();
    let (early, late) = (dumps.add("early.rdb", &early), dumps.add("late.rdb", &late));
    for side in [[&*early, &late], [&late, &early]] {
        let (_, json, rows) = dumps.compare(&[side[0], side[1], "--with", &early]);
        assert_eq!((rows.len(), &rows[0]["key"], changes(&rows[0])), (1, &"user".into(), "removed".to_owned()));
        let [before, after] = ["before", "after"].map(|side| json[side]["expired"].as_u64().unwrap());
        assert_eq!((&json["sums"]["equal"], before, after), (&1.into(), 2, 1));
    }
    // A time that is given applies to all files.
    let at = (CTIME / 1000 + 60).to_string();
    let (_, json, _) = dumps.compare(&[&early, &late, "--with", &early, "--at", &at]);
    assert_eq!((&json["sums"]["equal"], &json["before"]["expired"]), (&0.into(), &3.into()));
}

#[test]
fn shards_are_compared_as_a_whole_and_repeated_keys_are_named() {
    let dumps = Dumps::new();
    let key = |number: u32| format!("key:{number}");
    let shard = |numbers: &mut dyn Iterator<Item = u32>| {
        let mut dump = Dump::new();
        numbers.for_each(|number| _ = dump.string(key(number), number.to_string()));
        dump
    };
    for part in 0..2 {
        dumps.add(&format!("old/{part}.rdb"), &shard(&mut (0..100).filter(|number| number % 2 == part)));
    }
    let new: Vec<String> = (0..4)
        .map(|part| dumps.add(&format!("new/{part}.rdb"), &shard(&mut (0..100).filter(|number| number % 4 == part))))
        .collect();
    let (old, folder) = (dumps.path("old"), dumps.path("new"));
    let (old, folder) = (old.to_str().unwrap(), folder.to_str().unwrap());
    let (status, json, _) = dumps.compare(&[old, folder, "--fail-on-difference"]);
    assert_eq!((status, &json["sums"]["equal"], &json["after"]["name"]), (Some(0), &100.into(), &"4 files".into()));
    let listed: Vec<&str> = ["--with"].into_iter().chain(new.iter().map(String::as_str)).collect();
    let (status, _, _) = dumps.compare(&[&[old, "--fail-on-difference"], &listed[..]].concat());
    assert_eq!(status, Some(0));
    // A slot was on its way while the shards were saved, and one of its keys was written to meanwhile.
    let mut moved = shard(&mut (0..100).filter(|number| number % 4 == 3 || *number == 4));
    moved.string(key(8), "other");
    dumps.add("new/3.rdb", &moved);
    let (status, json, rows) = dumps.compare(&[old, folder, "--fail-on-difference"]);
    assert_eq!((status, &json["after"]["duplicates"], &json["sums"]["duplicate"]), (Some(1), &2.into(), &2.into()));
    let found: Vec<_> =
        rows.iter().map(|row| (row["key"].as_str().unwrap(), changes(row), row["copies_after"].as_u64())).collect();
    assert_eq!(found, [("key:4", "duplicate".to_owned(), Some(2)), ("key:8", "value duplicate".to_owned(), Some(2))]);
    // The sums, types and patterns agree on what changed.
    for counts in [&json["types"][0], &json["patterns"][0]] {
        assert_eq!((&counts["differing"], &counts["changed"]), (&2.into(), &1.into()), "{counts}");
    }
    assert_eq!(json["sums"]["changed"], 1);
}

#[test]
fn a_duplicate_that_expired_is_no_difference() {
    let shard = |expiry: i64| {
        let mut dump = Dump::new();
        dump.expires_at(CTIME + expiry).string("otp", "v");
        dump
    };
    let dumps = Dumps::new();
    let [one, other, later] = [("one.rdb", 5000), ("other.rdb", 5000), ("later.rdb", 90_000)]
        .map(|(name, expiry)| dumps.add(name, shard(expiry).string(name, "v")));
    let mut after = Dump::taken(CTIME + 60_000);
    ["one.rdb", "other.rdb", "later.rdb"].into_iter().for_each(|name| _ = after.string(name, "v"));
    let after = dumps.add("after.rdb", &after);
    let compare = |before: &[&str]| dumps.compare(&[before, &["--with", &after, "--fail-on-difference"]].concat());
    let lacks_one = |json: &Value| json["sums"]["added"]["keys"] == 1;
    let (status, json, rows) = compare(&[&one, &other]);
    let expired: Vec<_> = rows.iter().filter(|row| row["key"] == "otp").map(changes).collect();
    assert!(status == Some(1) && lacks_one(&json) && expired == ["expired"], "{json}");
    assert_eq!((&json["sums"]["duplicate"], &json["sums"]["expired"]["keys"]), (&0.into(), &1.into()));
    // Nothing is said of copies of which one may be alive.
    let (_, json, rows) = compare(&[&one, &later]);
    let removed: Vec<_> = rows.iter().filter(|row| row["key"] == "otp").map(changes).collect();
    assert!(removed == ["removed duplicate"] && json["sums"]["duplicate"] == 1, "{json}");
}

#[test]
fn a_side_that_is_cut_short_makes_no_claims() {
    let dumps = Dumps::new();
    let mut whole = Dump::new();
    (0..50).for_each(|number| _ = whole.string(format!("key:{number}"), "v"));
    let bytes = whole.bytes();
    let before = dumps.add("before.rdb", &whole);
    let after = dumps.add_bytes("after.rdb", &bytes[..bytes.len() - 100]);
    let (status, json, rows) = dumps.compare(&[&before, &after, "--fail-on-difference"]);
    assert_eq!((status, &json["after"]["complete"]), (Some(4), &false.into()));
    assert!(!rows.is_empty() && rows.iter().all(|row| changes(row) == "removed" && row["certain"] == false));
    let (status, _, rows) = dumps.compare(&[&after, &before]);
    assert_eq!(status, Some(4));
    assert!(rows.iter().all(|row| changes(row) == "added" && row["certain"] == false));
    let page = run_args(&["compare", "--keys", &before, &after]);
    assert!(
        text(&page).contains("could not be read completely: keys listed as removed may exist there, too"),
        "{}",
        text(&page)
    );
}

#[test]
fn a_damaged_value_is_neither_equal_nor_changed() {
    let dumps = Dumps::new();
    let mut sound = Dump::new();
    sound.hash_listpack("hash", &[("field", "value")]).string("other", "v");
    let mut bytes = sound.bytes();
    // The length of an element now reaches beyond the listpack.
    let place = bytes.windows(5).position(|five| five == b"value").unwrap() - 1;
    bytes[place] = 0xBF;
    let (before, after) = (dumps.add("before.rdb", &sound), dumps.add_bytes("after.rdb", &bytes));
    let (status, json, rows) = dumps.compare(&[&before, &after]);
    assert_eq!(status, Some(4), "{json}");
    assert_eq!(json["sums"]["changed"], 0);
    assert!(rows.iter().all(|row| changes(row) != "value"), "{rows:?}");
}

#[test]
fn many_keys_of_one_name_do_not_grow_memory_or_time() {
    let dumps = Dumps::new();
    let mut dump = Dump::new();
    (0..20_000).for_each(|number| _ = dump.string("same", number.to_string()));
    let (before, after) = (dumps.add("before.rdb", &dump), dumps.add("after.rdb", &dump));
    for memory in ["1", "1GB"] {
        let (status, json, rows) = dumps.compare(&[&before, &after, "--max-memory", memory]);
        assert_eq!((status, &json["before"]["keys"], rows.len()), (Some(0), &1.into(), 1));
        assert_eq!((changes(&rows[0]), &rows[0]["copies_before"]), ("value duplicate".to_owned(), &20_000.into()));
    }
}

#[test]
fn names_are_escaped_in_every_form() {
    let dumps = Dumps::new();
    let mut dump = Dump::new();
    dump.string(b"\xff\x1b[31m", "v").string("=1+1", "v").string("a,\"b\"\n", "v");
    let (before, after) = (dumps.add("before.rdb", &Dump::new()), dumps.add("after.rdb", &dump));
    let csv = dumps.path("rows.csv");
    let page = run_args(&["compare", "--keys", &before, &after, "--rows", csv.to_str().unwrap()]);
    assert!(!page.stdout.contains(&0x1B), "{}", text(&page));
    let rows = fs::read_to_string(&csv).unwrap();
    assert!(rows.contains(",'=1+1,") && rows.contains("\"a,\"\"b\"\"\n\"") && rows.contains(",/xtbMzFt,"), "{rows}");
    let (_, _, rows) = dumps.compare(&[&before, &after]);
    assert_eq!(rows.last().map(|row| &row["key_base64"]), Some(&"/xtbMzFt".into()));
}

#[test]
fn too_little_temporary_space_is_an_error() {
    let output = run_args(&[
        "compare",
        "--keys",
        &shop("shop.rdb"),
        &shop("shop-later.rdb"),
        "--max-memory",
        "1",
        "--max-temp",
        "100000",
    ]);
    let said = text(&output);
    assert!(!output.status.success() && said.contains("give a larger --max-temp or --max-memory"), "{said}");
}

#[test]
fn wrong_usage_is_explained() {
    let shop = shop("shop.rdb");
    let one = shop.as_str();
    let usage = |args: &[&str]| -> Output { run_args(&[&["compare", "--keys", one], args].concat()) };
    for (args, said) in [
        (&[][..], "needs two sides"),
        (&[one, one][..], "needs two sides"),
        (&[one, "--limit", "3"][..], "--limit cannot be combined with --keys"),
        (&[one, "--format", "csv", "--section", "growth"][..], "give one of sums, sides, types, patterns, examples"),
        (&[one, "--section", "types"][..], "--section chooses the list of --format csv"),
        (&[one, "--mask-key", one][..], "--mask"),
        (&[one, "--rows", "rows.txt"][..], "give a file that ends in .ndjson, .csv or .parquet"),
        (&[one, "--rows", "-"][..], "cannot share standard output"),
        (&[one, "--expiry-tolerance", "soon"][..], "such as 500ms or 1s"),
        (&[one, "--fail-on", "growth=20%"][..], "cannot be used with '--fail-on"),
        (&[one, "--allow-missing"][..], "cannot be used with"),
    ] {
        let output = usage(args);
        assert!(output.status.code() == Some(2) && text(&output).contains(said), "{args:?}: {}", text(&output));
    }
    for args in [&["--rows", "rows.csv"][..], &["--mask"]] {
        let without = run_args(&[&["compare", one, one], args].concat());
        assert!(without.status.code() == Some(2) && text(&without).contains("--keys"), "{}", text(&without));
    }
    let nights = run_args(&["compare", one, one, "--format", "csv", "--section", "sums"]);
    assert!(text(&nights).contains("give one of growth, snapshots, findings"), "{}", text(&nights));
    let pipe = run_args(&["compare", "--keys", one, "-", "--mask"]);
    assert!(pipe.status.code() == Some(2) && text(&pipe).contains("reads the snapshot twice"), "{}", text(&pipe));
}

#[test]
fn rows_replace_a_snapshot_only_by_force() {
    let dumps = Dumps::new();
    let (shop, other) = (shop("shop.rdb"), dumps.add("rows.csv", &Dump::new()));
    let rows = |more: &[&str]| run_args(&[&["compare", "--keys", &shop, &shop, "--rows", &other], more].concat());
    let refused = rows(&[]);
    assert!(refused.status.code() == Some(2) && text(&refused).contains("--force"), "{}", text(&refused));
    assert!(fs::read(&other).unwrap().starts_with(b"REDIS"));
    let written = rows(&["--force", "--private"]);
    assert!(written.status.success(), "{}", text(&written));
    assert!(fs::read_to_string(&other).unwrap().lines().next().unwrap().contains("key_base64"));
}

#[test]
#[cfg(unix)]
fn rows_are_not_replaced_if_the_sums_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let (shop, rows) = (shop("shop.rdb"), folder.path().join("rows.ndjson"));
    let (rows, sums) = (rows.to_str().unwrap(), folder.path().join("sums.html"));
    let long = folder.path().join("x".repeat(300) + ".json");
    fs::write(rows, "old").unwrap();
    let refused = run_args(&["compare", "--keys", &shop, &shop, "--rows", rows, "-o", long.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused));
    // The page is larger than files may be, the rows are not.
    let limited = format!(
        "ulimit -f 1; {} compare --keys {shop} {shop} --rows {rows} -o {}",
        env!("CARGO_BIN_EXE_rdblens"),
        sums.display()
    );
    let refused = run(std::process::Command::new("sh").args(["-c", &limited]));
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused));
    assert_eq!(fs::read_to_string(rows).unwrap(), "old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn sums_are_lists_and_metrics_too() {
    let (before, after) = (shop("shop.rdb"), shop("shop-later.rdb"));
    let dumps = Dumps::new();
    let (_, json, _) = dumps.compare(&[&before, &after]);
    let list = |section: &str| {
        let args = ["compare", "--keys", &before, &after, "--quiet", "--format", "csv", "--section", section];
        let text = stdout_of(&args);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads = reader.headers().unwrap().clone();
        let rows = reader.records().map(Result::unwrap);
        rows.map(|row| heads.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()).collect::<Vec<_>>()
    };
    let rows: Vec<BTreeMap<String, String>> = list("sums");
    let sum = |what: &str, column: &str| rows.iter().find(|row| row["what"] == what).map(|row| row[column].clone());
    let sums = &json["sums"];
    for (what, keys) in [
        ("equal", &sums["equal"]),
        ("differing", &sums["differing"]),
        ("added", &sums["added"]["keys"]),
        ("expired", &sums["expired"]["keys"]),
        ("value", &sums["changed"]),
        ("expiry", &sums["reexpired"]),
        ("duplicate", &sums["duplicate"]),
    ] {
        assert_eq!(sum(what, "keys"), Some(keys.to_string()), "{what}");
    }
    assert_eq!(sum("added", "memory"), Some(sums["added"]["memory"].to_string()));
    assert_eq!(sum("value", "memory").as_deref(), Some(""));
    let usual = stdout_of(&["compare", "--keys", &before, &after, "--quiet", "--format", "csv", "--bom"]);
    assert!(usual.starts_with("\u{feff}what,keys,memory\n"), "{usual}");
    let rows = dumps.path("rows.csv");
    let mark = ["compare", "--keys", &before, &after, "--rows", rows.to_str().unwrap(), "--bom"];
    assert!(
        !stdout_of(&mark).contains('\u{feff}') && fs::read_to_string(&rows).unwrap().starts_with("\u{feff}change,")
    );
    for (section, field, length) in [("types", "type", 4), ("patterns", "pattern", 20), ("examples", "key", 20)] {
        let rows: Vec<BTreeMap<String, String>> = list(section);
        let of_json = json[section].as_array().unwrap();
        assert!(rows.len() == of_json.len() && rows.len() <= length, "{section}");
        let same = |(row, json): (&BTreeMap<String, String>, &Value)| row[field] == json[field].as_str().unwrap();
        assert!(rows.iter().zip(of_json).all(same), "{section}");
    }
    let sides: Vec<BTreeMap<String, String>> = list("sides");
    assert_eq!((&*sides[1]["side"], &*sides[1]["keys"], &*sides[1]["complete"]), ("after", "10985", "true"));
    let args = ["compare", "--keys", &before, &after, "--quiet", "--format", "prometheus", "--label", "pair=shop"];
    let metrics = stdout_of(&args);
    for line in [
        &format!("rdblens_key_diff_keys{{pair=\"shop\",change=\"added\"}} {}\n", sums["added"]["keys"]),
        &format!("rdblens_key_diff_memory_bytes{{pair=\"shop\",change=\"added\"}} {}\n", sums["added"]["memory"]),
        &format!("rdblens_key_diff_differing_keys{{pair=\"shop\"}} {}\n", sums["differing"]),
        "rdblens_key_diff_side_complete{pair=\"shop\",side=\"before\"} 1\n",
        "rdblens_key_diff_pattern_keys{pair=\"shop\",pattern=\"product:{int}:tags\"} 459\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
}

#[test]
fn masked_names_join_over_both_sides_and_are_in_no_order_of_the_names() {
    let (before, after) = (shop("shop.rdb"), shop("shop-later.rdb"));
    let dumps = Dumps::new();
    let (_, plain, plain_rows) = dumps.compare(&[&before, &after]);
    let (status, masked, rows) = dumps.compare(&[&before, &after, "--mask"]);
    assert_eq!((status, &plain["sums"], &plain["types"]), (Some(0), &masked["sums"], &masked["types"]));
    assert_eq!(rows.len(), plain_rows.len());
    let keys = |rows: &[Value]| rows.iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let (names, shown) = (keys(&plain_rows), keys(&rows));
    let places: Vec<_> = rows.iter().zip(&shown).map(|(row, key)| (row["db"].as_u64(), key)).collect();
    assert!(places.is_sorted() && shown.iter().all(|key| key.contains('~') || names.contains(key)));
    let literal: Vec<_> = shown.iter().filter(|key| !key.contains('~')).collect();
    assert_eq!(literal, ["queue:mail"]);
    assert_eq!(shown.iter().collect::<BTreeSet<_>>().len(), names.len());
    let tags = |key: &&String| key.starts_with("product:{int}~") && key.ends_with(":tags");
    assert_eq!(shown.iter().filter(tags).count(), 459);
    let patterns = |json: &Value| json["patterns"].as_array().unwrap().iter().map(|it| it["pattern"].clone()).collect();
    let (before_patterns, after_patterns): (Vec<Value>, Vec<Value>) = (patterns(&plain), patterns(&masked));
    assert_eq!(before_patterns[..2], after_patterns[..2]);
    let whole = masked.to_string();
    assert!(!whole.contains("product:165:tags") && plain.to_string().contains("product:165:tags"), "{whole}");
    // One key for both commands gives equal tokens.
    let secret = dumps.add_bytes("secret", b"of the team");
    let own = ["--mask", "--mask-key", &secret];
    let (_, _, rows) = dumps.compare(&[&[before.as_str(), &after], &own[..]].concat());
    let known = stdout_of(&[&["keys", &after, "--quiet", "--match", "product:*:tags"], &own[..]].concat());
    let tags: Vec<String> = keys(&rows).into_iter().filter(|key| key.ends_with(":tags")).collect();
    assert!(tags.len() == 459 && tags.iter().all(|key| known.contains(key.as_str())));
    let said = run_args(&["compare", "--keys", &before, &after, "--mask", "--mask-key", &secret, "-o", &secret]);
    assert_eq!(said.status.code(), Some(2), "{}", text(&said));
}

#[test]
fn a_stored_report_is_refused_with_what_to_give() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("shop.json");
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");
    stdout_of(&["analyze", shop, "--format", "json", "-o", report.to_str().unwrap()]);
    let output = run_args(&["compare", "--keys", report.to_str().unwrap(), shop]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("shop.json is a stored report (give the snapshot that it was made from"), "{said}");
}
