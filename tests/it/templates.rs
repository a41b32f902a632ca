//! Compact hashes: the section on their templates, and what settings of loading would save.

use std::path::PathBuf;

use rdblens::internals::analyze::{MaskKey, Plan, ReadPlan, Unwatched, analyze};
use rdblens::internals::memory::WhatIf;
use rdblens::internals::units::Bytes;
use rdblens::report::{Report, TemplateCount, WarningKind};

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, run_with_input, testdata, text};
use crate::common::truth;

const CORPUS: &str = "corpus/redis-8.10.2-templates-q8/dump.rdb";

fn plan(asked: &[&str]) -> Plan {
    let mut read = ReadPlan::new(std::env::temp_dir());
    read.what_if = asked.iter().map(|text| WhatIf::parse(text).unwrap()).collect();
    Plan::new(read)
}

fn report(inputs: &[PathBuf], plan: &Plan) -> Report {
    analyze(inputs, plan, &Unwatched).unwrap()
}

/// Returns a dump of `sets` sets of field names with `keys` hashes each, packed and field by field in turn.
fn sessions(sets: usize, keys: usize) -> Vec<u8> {
    let mut dump = Dump::new();
    for key in 0..keys {
        for set in 0..sets {
            let fields = [format!("created-at-{set}"), format!("address-{set}"), format!("owner-{set}")];
            let pairs = [(&*fields[0], "1699999999"), (&*fields[1], "10.0.0.1"), (&*fields[2], "nobody")];
            let name = format!("session:{set}:{key}");
            let reversed = [pairs[2], pairs[1], pairs[0]];
            match key % 3 {
                0 => dump.hash(name, &pairs),
                1 => dump.hash_listpack(name, &reversed),
                _ => dump.hash_compressed(name, &pairs),
            };
        }
    }
    dump.bytes()
}

fn written(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn counts(report: &Report) -> Vec<Option<(u64, u64)>> {
    let of = |count: TemplateCount| (count.templates, count.keys);
    report.what_if.iter().flat_map(|what_if| &what_if.alternatives).map(|row| row.compact_hashes.map(of)).collect()
}

#[test]
fn the_section_counts_what_the_server_reports() {
    let input = testdata().join(CORPUS);
    let json = std::fs::read(input.with_file_name("server.json")).unwrap();
    let server: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let mut plan = plan(&["redis-8.8", "redis-8.10,hash-rdb-load-min-template-entries=2"]);
    plan.read.selection.no_expired = true;
    let report = report(&[input], &plan);
    let templates = report.hash_templates.as_ref().unwrap();
    let told = &server["restart_check"]["info_stats"];
    assert_eq!(templates.templates.to_string(), told["hash_templates"].as_str().unwrap());
    assert_eq!(templates.keys.to_string(), told["hash_template_keys"].as_str().unwrap());
    assert!(templates.saved > 0 && templates.bytes > Bytes(0) && templates.bytes < templates.memory);
    let rows = &templates.list;
    assert_eq!(rows.len(), plan.top);
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(row.saved.unsigned_abs())));
    // A file with templates is loaded as it is.
    assert_eq!(counts(&report), [None, Some((templates.templates, templates.keys))]);
    let alternatives = &report.what_if.as_ref().unwrap().alternatives;
    assert_eq!(alternatives[1].difference, 0);
}

#[test]
fn several_files_and_threads_give_one_section() {
    let converting = || {
        let mut plan = plan(&[]);
        plan.read.server = Some(rdblens::Server::parse("redis-8.10").unwrap());
        plan.read.config.set("hash-rdb-load-min-template-entries", "3").unwrap();
        plan
    };
    let (_first, one) = written(&sessions(5, 9));
    let (_second, other) = written(&sessions(7, 12));
    let alone = [&one, &other].map(|input| report(std::slice::from_ref(input), &converting()).hash_templates.unwrap());
    for threads in [1, 2, 4] {
        let mut plan = converting();
        plan.read.threads = threads;
        let both = report(&[one.clone(), other.clone()], &plan).hash_templates.unwrap();
        // Servers do not share templates, but equal field names are one row.
        assert_eq!((both.templates, both.keys, both.list.len()), (5 + 7, 45 + 84, 7));
        assert_eq!(both.saved, alone.iter().map(|alone| alone.saved).sum::<i64>());
        assert_eq!(both.bytes.0, alone.iter().map(|alone| alone.bytes.0).sum::<u64>());
        assert_eq!(both.list.iter().map(|row| row.keys).sum::<u64>(), 129);
        assert_eq!(both.list.iter().filter(|row| row.keys == 21).count(), 5);
    }
}

#[test]
fn masked_reports_show_no_field_names() {
    let input = testdata().join(CORPUS);
    let open = report(std::slice::from_ref(&input), &plan(&[])).hash_templates.unwrap();
    let masked = Plan { mask: Some(MaskKey::OfSnapshot), ..plan(&[]) };
    let masked = report(&[input], &masked).hash_templates.unwrap();
    assert_eq!(masked.keys, open.keys);
    for (masked, open) in masked.list.iter().zip(&open.list) {
        assert_eq!(masked.names.len(), open.names.len());
        assert!(masked.names.iter().zip(&open.names).all(|(masked, open)| masked != open), "{masked:?}");
    }
}

#[test]
fn settings_convert_ordinary_hashes() {
    let (_folder, input) = written(&sessions(5, 9));
    let asked = [
        "redis-8.10",
        "redis-8.10,hash-rdb-load-min-template-entries=3",
        "redis-8.10,hash-rdb-load-min-template-entries=4",
        "redis-8.10,hash-rdb-load-min-template-entries=1,hash-rdb-load-max-template-entries=2",
        "redis-8.10,hash-rdb-load-min-template-entries=1,hash-rdb-load-template-disassembly-threshold=9",
        "redis-8.10,hash-rdb-load-min-template-entries=1,hash-rdb-load-template-disassembly-threshold=10",
        "redis-8.8,hash-rdb-load-min-template-entries=3",
    ];
    let asking = plan(&asked);
    let whole = report(std::slice::from_ref(&input), &asking);
    let all = Some((5, 45));
    assert_eq!(counts(&whole), [None, all, None, None, all, None, None]);
    let memory: Vec<u64> = whole.what_if.unwrap().alternatives.iter().map(|row| row.memory.0).collect();
    assert!(memory[1] < memory[0]);
    assert_eq!([memory[2], memory[3], memory[4], memory[5]], [memory[0], memory[0], memory[1], memory[0]]);
    // A run with these settings says the same, and shows the templates.
    let mut own = plan(&["redis-8.10,hash-rdb-load-min-template-entries=0"]);
    own.read.server = Some(rdblens::Server::parse("redis-8.10").unwrap());
    own.read.config.set("hash-rdb-load-min-template-entries", "3").unwrap();
    let own = report(&[input], &own);
    assert_eq!((own.totals.memory.0, own.what_if.unwrap().alternatives[0].memory.0), (memory[1], memory[0]));
    let templates = own.hash_templates.unwrap();
    assert_eq!((templates.templates, templates.keys), (5, 45));
    assert_eq!(templates.saved.unsigned_abs(), memory[0] - memory[1]);
    let names: Vec<_> = templates.list[0].names.iter().map(|name| name.as_text().unwrap()).collect();
    assert_eq!(names.len(), 3);
}

/// Hashes with a name or a value of 65 bytes, stored field by field or packed; `first` is the first value of the packed ones.
fn long_and_short(first: &str) -> Vec<u8> {
    let mut dump = Dump::new();
    let [name, other, value] = ["f".repeat(65), "g".repeat(65), "v".repeat(65)];
    dump.hash("long", &[("a", "1"), (&name, "v")]);
    dump.hash("short", &[("a", "1"), (&name[..64], "v")]);
    dump.hash("value", &[("a", "1"), ("b", &value)]);
    dump.hash_listpack("packed", &[("a", first), (&other, "v")]);
    dump.hash_listpack("packed-value", &[("a", first), ("c", &value)]);
    dump.bytes()
}

/// What Redis 8.10.2 reports of these hashes. A name of more than 64 bytes makes a table of a hash that is loaded field by field;
/// a listpack stays one whatever it holds.
#[test]
fn only_hashes_that_are_loaded_packed_become_packed_values() {
    let bytes = long_and_short("1");
    assert_eq!(memory_as_loaded(&bytes, &[]), [245, 222, 251, 223, 222]);
    assert_eq!(memory_as_loaded(&bytes, &["hash-max-listpack-entries=1"]), [245, 246, 251, 247, 258]);
}

/// What Redis 8.10.2 reports of these hashes if it keeps none of their templates: a long field name makes a table of a packed one.
#[test]
fn hashes_of_templates_that_are_not_kept_are_packed_if_their_names_are_short() {
    let rare = "hash-rdb-load-template-disassembly-threshold=2";
    assert_eq!(memory_as_loaded(&long_and_short("x"), &[rare]), [225, 106, 224, 227, 115]);
}

/// Returns the memory of each key on Redis 8.10, which makes compact hashes of those with two fields or more.
fn memory_as_loaded(dump: &[u8], settings: &[&str]) -> Vec<u64> {
    let (_folder, path) = written(dump);
    let mut keys = rdblens();
    keys.args(["keys", "-q", "--format", "csv", "--server", "redis-8.10", "--allocator", "jemalloc-q16"]).arg(&path);
    let settings = ["hash-rdb-load-min-template-entries=2"].iter().chain(settings);
    keys.args(settings.flat_map(|setting| ["--server-config", setting]));
    let rows = text(&keys.output().unwrap());
    rows.lines().skip(1).map(|row| row.split(',').nth(7).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_flood_of_field_names_stops_the_making_of_templates() {
    let (_folder, input) = written(&sessions(1500, 2));
    let asked = ["redis-8.10,hash-rdb-load-min-template-entries=2,hash-rdb-load-template-disassembly-threshold=2"];
    // The second hash of each set finds the template of the first, if there is one.
    assert_eq!(counts(&report(&[input], &plan(&asked))), [Some((1001, 2002))]);
}

#[test]
fn a_pipe_whose_hashes_are_made_compact_gives_the_report_of_the_file() {
    let setting = "hash-rdb-load-min-template-entries=2";
    let what_if = format!("redis-8.10,{setting}");
    for flags in [&["--what-if", &what_if][..], &["--server", "redis-8.10", "--server-config", setting]] {
        let [piped, mapped] = piped_and_mapped(sessions(30, 2), flags);
        assert_eq!(piped, mapped, "{flags:?}");
    }
}

/// Returns the report of `bytes` on standard input, and of the same bytes in a file.
fn piped_and_mapped(bytes: Vec<u8>, flags: &[&str]) -> [serde_json::Value; 2] {
    let (_folder, path) = written(&bytes);
    let analyze = || {
        let mut command = rdblens();
        command.args(["analyze", "-q", "--format", "json"]).args(flags);
        command
    };
    let outputs = [run_with_input(analyze().arg("-"), bytes), run(analyze().arg(&path))];
    let names = ["<stdin>".to_owned(), path.to_str().unwrap().to_owned()];
    std::array::from_fn(|at| {
        let output = String::from_utf8(outputs[at].stdout.clone()).unwrap();
        serde_json::from_str(&output.replace(&names[at], "NAME")).unwrap()
    })
}

#[test]
fn a_pipe_gives_the_report_of_the_file() {
    let with_templates =
        |folder: &truth::Folder| folder.name.starts_with("redis-8.10") && !folder.name.ends_with("-aof");
    let folders: Vec<_> = truth::folders().into_iter().filter(with_templates).collect();
    assert!(folders.len() >= 2);
    for folder in folders {
        let bytes = std::fs::read(folder.input()).unwrap();
        let flags: &[&str] = &["--what-if", "redis-8.8", "--what-if", "redis-8.10,jemalloc-q16"];
        let [piped, mapped] = piped_and_mapped(bytes, flags);
        if folder.name.ends_with("-dumped") {
            assert_ne!(piped["totals"]["unknown"]["keys"], 0, "{}: names stand with the keys", folder.name);
            continue;
        }
        assert_eq!(piped, mapped, "{}", folder.name);
    }
}

#[test]
fn compressed_pipes_and_cut_ones_are_as_their_files() {
    let bytes = std::fs::read(testdata().join(CORPUS)).unwrap();
    let [piped, mapped] = piped_and_mapped(zstd::encode_all(&bytes[..], 3).unwrap(), &[]);
    assert_eq!(piped["totals"], mapped["totals"]);
    assert_eq!(piped["hash_templates"], mapped["hash_templates"]);
    let [piped, mapped] = piped_and_mapped(bytes[..bytes.len() / 2].to_vec(), &[]);
    assert_eq!(piped, mapped);
    assert_eq!(piped["complete"], false);
    let mut damaged = zstd::encode_all(&bytes[..], 3).unwrap();
    damaged.truncate(damaged.len() / 2);
    let [piped, mapped] = piped_and_mapped(damaged, &[]);
    assert_eq!(piped["source"]["files"][0]["errors"], mapped["source"]["files"][0]["errors"]);
    assert_eq!((&piped["complete"], &piped["totals"]), (&false.into(), &mapped["totals"]));
}

#[test]
fn shares_that_a_pipe_does_not_tell_are_unknown() {
    // A hash that has its field names itself: there is no table before the first key.
    let mut dump = b"REDIS0015\xfa\x09redis-ver\x068.10.2\xfe\0".to_vec();
    dump.extend(b"\x00\x01s\x01v");
    dump.extend(b"\x1f\x01h\x01\x01\x01f\x01v");
    dump.extend([0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
    let [piped, mapped] = piped_and_mapped(dump, &["--what-if", "redis-8.8"]);
    assert_eq!(mapped["totals"]["unknown"]["keys"], 0);
    assert_eq!((&piped["totals"]["keys"], &piped["totals"]["unknown"]["keys"]), (&2.into(), &1.into()));
    let kinds: Vec<_> = piped["warnings"].as_array().unwrap().iter().map(|warning| &warning["kind"]).collect();
    assert!(kinds.contains(&&"templates-not-shared".into()) && kinds.contains(&&"unknown-memory".into()), "{kinds:?}");
    assert!(piped["totals"]["memory"].as_u64() < mapped["totals"]["memory"].as_u64());
}

#[test]
fn settings_of_writes_are_taken_and_change_nothing_on_loading() {
    let shop = testdata().join("dumps/shop.rdb");
    let asked = ["redis-8.10", "redis-8.10,hash-min-template-entries=2,hash-max-template-entries=60"];
    let report = report(&[shop], &plan(&asked));
    let alternatives: [_; 2] = report.what_if.unwrap().alternatives.try_into().unwrap();
    assert_eq!(alternatives[0].memory, alternatives[1].memory);
    let said = alternatives.map(|row| row.caveats.iter().any(|caveat| caveat.kind == WarningKind::TemplatesOnWrite));
    assert_eq!(said, [false, true]);
}

/// Returns a dump with two templates, in this order, and a packed hash of each with one value.
fn numbered(ids: [u8; 2]) -> Vec<u8> {
    let mut dump = b"REDIS0015\xfa\x09redis-ver\x068.10.2".to_vec();
    for (id, field) in ids.into_iter().zip(*b"ab") {
        dump.extend([0xf2, 0x40, id, 1, 1, field]);
    }
    dump.extend([0xfe, 0]);
    for (id, key) in ids.into_iter().zip(*b"xy") {
        let number = if id < 128 { vec![id, 1] } else { vec![0xc0, id, 2] };
        let size = 6 + number.len() as u8 + 2 + 1;
        dump.extend([30, 1, key, size, size, 0, 0, 0, 2, 0]);
        dump.extend(number);
        dump.extend([1, 1, 0xff]);
    }
    dump.extend([0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
    dump
}

#[test]
fn servers_number_templates_in_the_order_of_the_file() {
    let memory = |ids| {
        let (_folder, path) = written(&numbered(ids));
        let report = report(&[path], &plan(&[]));
        assert_eq!(report.totals.keys, 2);
        report.totals.memory
    };
    assert_eq!(memory([200, 0]), memory([0, 1]));
}

/// Returns a packed hash of the template `id`, under a name of some fifty bytes.
fn packed(id: u8, key: usize) -> Vec<u8> {
    let name = format!("session:of-a-visitor-from-the-western-provinces:{key:08}");
    let listpack = [13, 0, 0, 0, 3, 0, id, 1, (key % 100) as u8, 1, 7, 1, 0xff];
    [&[30, name.len() as u8], name.as_bytes(), &[13], &listpack].concat()
}

/// Returns a dump of three templates of two fields, and what follows them.
fn of_three_templates(records: &[Vec<u8>]) -> Vec<u8> {
    let mut dump = b"REDIS0015\xfa\x09redis-ver\x068.10.2".to_vec();
    for id in 0..3 {
        dump.extend([&[0xf2, id, 2, 2, b'a' + id, b'x', 5][..], b"owner"].concat());
    }
    dump.extend([0xfe, 0]);
    records.iter().for_each(|record| dump.extend(record));
    dump.extend([0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
    dump
}

/// Returns keys of the first few templates, more than are read before the count ends early or is divided among threads.
fn popular(templates: usize) -> Vec<Vec<u8>> {
    (0..200_000).map(|key| packed((key % templates) as u8, key)).collect()
}

fn on_threads(threads: usize, bytes: &[u8]) -> Report {
    let (_folder, path) = written(bytes);
    let mut plan = plan(&[]);
    plan.read.threads = threads;
    let mut report = report(&[path], &plan);
    report.source = Default::default();
    report
}

#[test]
fn users_counted_on_many_threads_are_those_counted_on_one() {
    let rare = [1, 2, 3].map(|key| packed(2, 1_000_000 + key));
    let mut mixed = popular(2);
    let alone = on_threads(1, &of_three_templates(&rare)).totals.memory;
    let others = on_threads(1, &of_three_templates(&mixed)).totals.memory;
    for (record, at) in rare.into_iter().zip([10, 90_000, 200_000]) {
        mixed.insert(at, record);
    }
    let mixed = of_three_templates(&mixed);
    let one = on_threads(1, &mixed);
    assert_eq!(one.totals.memory, others + alone);
    for threads in [2, 3, 8] {
        let many = serde_json::to_value(on_threads(threads, &mixed)).unwrap();
        assert_eq!(many, serde_json::to_value(&one).unwrap(), "{threads} threads");
    }
}

#[test]
fn templates_behind_many_keys_of_others_are_counted() {
    let listpack = [13, 13, 0, 0, 0, 3, 0, 0, 1, 5, 1, 7, 1, 0xff];
    let own = |key: u8| [&[29, 2, b'o', key, 1, 2][..], b"\x01p\x02qq", &listpack].concat();
    let late = [&[0xf2, 3, 2, 1, b'y'][..], b"\x05party"].concat();
    let tails = [vec![own(b'1'), own(b'2'), own(b'3')], vec![late, packed(3, 2_000_000), packed(3, 2_000_001)]];
    let popular = popular(3);
    let without = on_threads(2, &of_three_templates(&popular)).totals;
    for tail in tails {
        let alone = on_threads(1, &of_three_templates(&tail)).totals;
        for threads in [1, 3] {
            let together = on_threads(threads, &of_three_templates(&[&popular[..], &tail].concat())).totals;
            assert_eq!(together.keys, without.keys + alone.keys);
            assert_eq!(together.memory, without.memory + alone.memory, "{threads} threads");
        }
    }
}
