//! Reports computed in parts: the merged report equals that of one run, byte for byte, and what does not fit is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::program::{rdblens, run};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const DUMPS: [&str; 5] = [
    "testdata/dumps/shop.rdb",
    "testdata/corpus/redis-7.2.6-nocomp/dump.rdb",
    "testdata/corpus/redis-8.10.2-templates-q8/dump.rdb",
    "testdata/corpus/valkey-9.1.2-cluster/dump.rdb",
    "testdata/corpus/redis-7.4.1-modules/dump.rdb",
];

/// Folder with a plan and its parts.
struct Fleet {
    folder: TempDir,
    inputs: Vec<String>,
    flags: Vec<String>,
}

impl Fleet {
    fn plan(inputs: &[&str], flags: &[&str]) -> Fleet {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let fleet = Fleet { folder: tempfile::tempdir().unwrap(), inputs: owned(inputs), flags: owned(flags) };
        let planned = run(rdblens()
            .arg("plan")
            .args(&fleet.inputs)
            .args(&fleet.flags)
            .args(["--allow-same", "-q", "-o"])
            .arg(fleet.at("plan.json")));
        assert!(planned.status.success(), "{}", String::from_utf8_lossy(&planned.stderr));
        fleet
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn part(&self, flags: &[&str], name: &str) -> PathBuf {
        let path = self.at(name);
        let done = self.try_part(flags, &path);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        path
    }

    fn try_part(&self, flags: &[&str], path: &Path) -> Output {
        run(rdblens()
            .args(["analyze", "--partial", "-q", "--plan"])
            .arg(self.at("plan.json"))
            .args(flags)
            .arg("-o")
            .arg(path))
    }

    fn parts(&self, count: usize) -> Vec<PathBuf> {
        (1..=count)
            .map(|number| self.part(&["--shard", &format!("{number}/{count}")], &format!("{number}.part")))
            .collect()
    }

    fn merge(&self, parts: &[PathBuf], flags: &[&str]) -> Output {
        run(rdblens().args(["merge", "--plan"]).arg(self.at("plan.json")).args(parts).args(flags))
    }

    fn one_run(&self, flags: &[&str]) -> Output {
        run(rdblens().arg("analyze").args(&self.inputs).args(&self.flags).args(["--allow-same", "-q"]).args(flags))
    }
}

#[track_caller]
fn assert_equal(one: &Output, merged: &Output, what: &str) {
    assert!(
        one.stdout == merged.stdout && !one.stdout.is_empty(),
        "{what}: {}",
        String::from_utf8_lossy(&merged.stderr)
    );
    assert_eq!(one.status.code(), merged.status.code(), "{what}");
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_merged_report_equals_that_of_one_run_in_every_form() {
    let fleet = Fleet::plan(
        &DUMPS,
        &["--policy", "strict", "--what-if", "valkey-8.1", "--inspect-values", "--maxmemory", "64MB"],
    );
    let mut parts = fleet.parts(3);
    parts.reverse();
    for format in ["table", "json", "html", "markdown", "csv", "prometheus"] {
        assert_equal(&fleet.one_run(&["--format", format]), &fleet.merge(&parts, &["--format", format]), format);
    }
    for flags in [&["--mask", "--format", "json"][..], &["--depth", "2", "--now", "1900000000"], &["--fail-on", "must"]]
    {
        assert_equal(&fleet.one_run(flags), &fleet.merge(&parts, flags), &format!("{flags:?}"));
    }
}

#[test]
fn every_preset_and_selection_merges_to_one_run() {
    for preset in rdblens::internals::policy::presets::names() {
        let fleet = Fleet::plan(&DUMPS, &["--policy", preset, "--no-expired", "--match", "*:*", "--top", "3"]);
        let parts = fleet.parts(2);
        let json = ["--format", "json"];
        assert_equal(&fleet.one_run(&json), &fleet.merge(&parts, &json), preset);
    }
}

#[test]
fn a_tree_of_merges_gives_the_same_and_equal_bytes_at_any_number_of_threads() {
    let fleet = Fleet::plan(&DUMPS, &[]);
    let parts: Vec<_> =
        (1..=5).map(|file| fleet.part(&["--file", &file.to_string(), "--threads", "2"], &format!("{file}"))).collect();
    let again = fleet.part(&["--file", "1", "--threads", "1", "--no-mmap"], "again");
    assert_eq!(fs::read(&parts[0]).unwrap(), fs::read(&again).unwrap());
    let merged = |parts: &[PathBuf], name: &str| {
        let path = fleet.at(name);
        let done = fleet.merge(parts, &["--partial", "-o", path.to_str().unwrap()]);
        assert!(done.status.success(), "{}", message(&done));
        path
    };
    let left = merged(&[parts[3].clone(), parts[0].clone()], "left");
    let right = merged(&parts[1..3], "right");
    let all = merged(&[left, right, parts[4].clone()], "all");
    let json = ["--format", "json"];
    assert_equal(&fleet.one_run(&json), &fleet.merge(std::slice::from_ref(&all), &json), "tree");
    let flat = merged(&parts, "flat");
    let whole = fleet.part(&["--shard", "1/1"], "whole");
    assert_eq!(fs::read(&all).unwrap(), fs::read(&flat).unwrap());
    assert_eq!(fs::read(&all).unwrap(), fs::read(&whole).unwrap());
}

#[test]
fn parts_are_found_in_folders_and_by_globs() {
    let fleet = Fleet::plan(&DUMPS, &[]);
    fs::create_dir(fleet.at("parts")).unwrap();
    for number in 1..=3 {
        fleet.part(&["--shard", &format!("{number}/3")], &format!("parts/{number}.part"));
    }
    fs::write(fleet.at("parts/notes.txt"), "no part").unwrap();
    let json = ["--format", "json"];
    let whole = fleet.one_run(&json);
    for parts in ["parts", "parts/", "parts/*.part"] {
        assert_equal(&whole, &fleet.merge(&[fleet.at(parts)], &json), parts);
    }
    fs::create_dir(fleet.at("more-parts")).unwrap();
    fs::rename(fleet.at("parts/3.part"), fleet.at("more-parts/3.part")).unwrap();
    for parts in ["*parts", "*parts/*.part"] {
        assert_equal(&whole, &fleet.merge(&[fleet.at(parts)], &json), parts);
    }
    let output = fleet.at("more-parts/3.part");
    let over = fleet.merge(&[fleet.at("*parts")], &["--partial", "-o", output.to_str().unwrap()]);
    assert!(message(&over).contains("also read by this command"), "{}", message(&over));
    fs::rename(fleet.at("more-parts/3.part"), fleet.at("parts/3.part")).unwrap();
    let none = fleet.merge(&[fleet.at("*parts")], &json);
    assert!(message(&none).contains("more-parts: no partial report in this directory"), "{}", message(&none));
    let twice = fleet.merge(&[fleet.at("parts"), fleet.at("parts/1.part")], &json);
    assert!(message(&twice).contains("1.part") && twice.status.code() == Some(3), "{}", message(&twice));
    let output = fleet.at("parts/1.part");
    let over = fleet.merge(&[fleet.at("parts")], &["--partial", "-o", output.to_str().unwrap()]);
    assert!(message(&over).contains("also read by this command"), "{}", message(&over));

    fs::create_dir(fleet.at("empty")).unwrap();
    let none = fleet.merge(&[fleet.at("empty")], &json);
    assert!(message(&none).contains("no partial report") && none.status.code() == Some(2), "{}", message(&none));
    let none = fleet.merge(&[fleet.at("empty/*.part")], &json);
    assert!(message(&none).contains("no matching file") && none.status.code() == Some(3), "{}", message(&none));
}

#[test]
fn shards_may_count_from_zero() {
    let fleet = Fleet::plan(&DUMPS, &[]);
    for index in 0..2 {
        let part = fleet.part(&["--shard-index", &format!("{index}/2")], &format!("{index}.part"));
        let same = fleet.part(&["--shard", &format!("{}/2", index + 1)], &format!("{index}.same"));
        assert!(fs::read(part).unwrap() == fs::read(same).unwrap());
    }
    for flags in [&["--shard-index", "2/2"][..], &["--shard-index", "x/2"], &["--shard-index", "0/2", "--shard", "1/2"]]
    {
        assert_eq!(fleet.try_part(flags, &fleet.at("x")).status.code(), Some(2), "{flags:?}");
    }
}

#[test]
fn a_missing_part_makes_the_report_incomplete_and_is_named() {
    let fleet = Fleet::plan(&DUMPS, &[]);
    let parts = fleet.parts(5);
    let merged = fleet.merge(&parts[1..], &["--format", "json"]);
    assert_eq!(merged.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&merged.stdout).unwrap();
    assert_eq!(report["complete"], false);
    let missing: Vec<_> = report["source"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| file["errors"] != Value::Array(vec![]))
        .collect();
    assert_eq!(missing.len(), 1);
    assert!(message(&merged).contains("no partial report has this file"), "{}", message(&merged));
    let table = fleet.merge(&parts[1..], &["--lang", "en"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(
        table.contains(" files is not included in the figures.") && !table.contains("could not be read"),
        "{table}"
    );
    let said = message(&merged);
    let (_, number) =
        said.split_once("`rdblens analyze --plan PLAN.json --partial --file ").unwrap_or_else(|| panic!("{said}"));
    let number = number.split(' ').next().unwrap_or_default();
    assert!(said.contains(&format!("--file {number} -o {number}.part`")), "{said}");
}

#[test]
fn parts_that_do_not_fit_are_refused_with_a_remedy() {
    let fleet = Fleet::plan(&DUMPS[..2], &[]);
    let parts = fleet.parts(2);
    let twice = fleet.merge(&[parts[0].clone(), parts[1].clone(), parts[0].clone()], &[]);
    assert_eq!(twice.status.code(), Some(3));
    assert!(message(&twice).contains("give each part once"), "{}", message(&twice));

    let other = Fleet::plan(&DUMPS[..2], &["--top", "7"]);
    let foreign = other.merge(&parts, &[]);
    assert!(message(&foreign).contains("another plan") && foreign.status.code() == Some(3), "{}", message(&foreign));

    let bytes = fs::read(&parts[0]).unwrap();
    let changed = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        let path = fleet.at(name);
        fs::write(&path, bytes).unwrap();
        let refused = fleet.merge(&[path], &[]);
        assert_eq!(refused.status.code(), Some(3));
        message(&refused)
    };
    for (name, end) in [("short", bytes.len() - 1), ("half", bytes.len() / 2), ("head", 40), ("empty", 0)] {
        let said = changed(name, &|bytes| bytes.truncate(end));
        assert!(said.contains("truncated or damaged") && said.contains(name), "{said}");
    }
    assert!(changed("flipped", &|bytes| *bytes.last_mut().unwrap() ^= 1).contains("damaged"));
    assert!(changed("longer", &|bytes| bytes.push(0)).contains("damaged"));
    assert!(changed("version", &|bytes| bytes[10] = b'9').contains("rdblens 9."));
    assert!(changed("magic", &|bytes| bytes[0] = b'X').contains("not a partial report"));
}

#[test]
fn a_file_or_a_plan_that_has_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.rdb");
    let small = fs::read(Path::new(ROOT).join(DUMPS[1])).unwrap();
    fs::write(&dump, &small).unwrap();
    let fleet = Fleet::plan(&[dump.to_str().unwrap()], &[]);

    fs::write(&dump, [&small[..], b"\n"].concat()).unwrap();
    let longer = fleet.try_part(&["--file", "1"], &fleet.at("x"));
    assert!(
        message(&longer).contains("has changed since the plan was made") && longer.status.code() == Some(3),
        "{}",
        message(&longer)
    );

    let mut other = small.clone();
    let place = other.windows(5).position(|bytes| bytes == b"ctime").unwrap() + 7;
    other[place] ^= 1;
    fs::write(&dump, &other).unwrap();
    let replaced = fleet.try_part(&["--file", "1"], &fleet.at("x"));
    assert!(message(&replaced).contains("dump.rdb: the file has changed"), "{}", message(&replaced));
    assert!(!fleet.at("x").exists());

    let plan = fs::read_to_string(fleet.at("plan.json")).unwrap();
    fs::write(fleet.at("plan.json"), plan.replace("\"top\": 20", "\"top\": 21")).unwrap();
    let edited = fleet.try_part(&["--file", "1"], &fleet.at("x"));
    assert!(message(&edited).contains("changed after it was written"), "{}", message(&edited));
}

#[test]
fn files_that_cannot_be_read_are_in_the_report_as_in_one_run() {
    let fleet_of = |inputs: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("plan.json");
        let planned = run(rdblens().arg("plan").args(inputs).args(["--allow-same", "-q", "-o"]).arg(&plan));
        assert_eq!(planned.status.code(), Some(4));
        Fleet { folder, inputs: inputs.iter().map(|input| (*input).to_owned()).collect(), flags: Vec::new() }
    };
    let fleet = fleet_of(&["README.md", DUMPS[0], "no-such.rdb"]);
    let parts = fleet.parts(2);
    for format in ["json", "table"] {
        assert_equal(&fleet.one_run(&["--format", format]), &fleet.merge(&parts, &["--format", format]), format);
    }
}

#[test]
#[cfg(unix)]
fn partial_reports_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let fleet = Fleet::plan(&DUMPS[..1], &[]);
    let part = fleet.parts(1).remove(0);
    assert_eq!(fs::metadata(part).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_the_plan_decides_is_refused_in_parts() {
    let fleet = Fleet::plan(&DUMPS[..1], &[]);
    for flags in [&["--top", "3"][..], &["--mask"], &["--policy", "strict"], &["dump.rdb"], &["--format", "json"]] {
        let refused = fleet.try_part(&[flags, &["--file", "1"]].concat(), &fleet.at("x"));
        assert_eq!(refused.status.code(), Some(2), "{flags:?}");
    }
    let none = fleet.try_part(&["--file", "2"], &fleet.at("x"));
    assert!(message(&none).contains("there is no file 2") && none.status.code() == Some(2), "{}", message(&none));
    let none = fleet.try_part(&["--file", "0"], &fleet.at("x"));
    assert!(message(&none).contains("counted from 1 to 1") && none.status.code() == Some(2), "{}", message(&none));
    fs::write(fleet.at("no-plan.json"), "{\"schema\": \"rdblens.report/1\"}").unwrap();
    let none = run(rdblens().args(["merge", "--plan"]).arg(fleet.at("no-plan.json")).arg(fleet.at("x.part")));
    assert!(message(&none).contains("no-plan.json: not a plan") && none.status.code() == Some(2), "{}", message(&none));
    let limited = run(rdblens().args(["plan", DUMPS[0], "--limit", "3"]));
    assert!(message(&limited).contains("--limit") && limited.status.code() == Some(2), "{}", message(&limited));
}
