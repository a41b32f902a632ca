//! Salvage of damaged snapshots on the command line. What servers say of the saved files is checked by `.ci/checks`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, run_args, run_with_input, testdata};

const ZEROED: &str = "testdata/salvage/zeroed.rdb";
const FLIPPED: &str = "testdata/salvage/flipped.rdb";
const SOUND: &str = "testdata/salvage/sound.rdb";

fn status(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn salvage(input: &str, folder: &TempDir) -> (Output, PathBuf) {
    let saved = folder.path().join("saved.rdb");
    let args = ["salvage", input, "-o", saved.to_str().unwrap(), "--format", "json"];
    (run_args(&args), saved)
}

#[test]
fn saved_file_is_sound_and_lacks_only_the_lost_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (output, saved) = salvage(ZEROED, &folder);
    assert_eq!(status(&output), 4);
    let said = json(&output);
    let (keys, announced) = (said["salvage"]["keys"].as_u64().unwrap(), said["salvage"]["announced"].as_u64().unwrap());
    assert_eq!(announced, 800);
    assert!((780..800).contains(&keys), "{said}");
    assert_eq!(said["sound"], false);
    assert_eq!(said["written"].as_u64().unwrap(), fs::metadata(&saved).unwrap().len());
    let damaged = said["salvage"]["damaged"].as_array().unwrap();
    assert!(damaged.iter().any(|range| range["damage"] == "framing" && range["keys_behind"].as_u64() > Some(0)));
    let check = run_args(&["check", saved.to_str().unwrap(), "--format", "json"]);
    assert_eq!((status(&check), json(&check)["keys"].as_u64()), (0, Some(keys)));
    let rows = |path: &str| {
        let rows = run_args(&["keys", path, "--format", "csv"]).stdout;
        String::from_utf8(rows).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = rows(SOUND);
    assert!(rows(saved.to_str().unwrap()).iter().all(|row| all.contains(row)));
}

#[test]
fn module_value_whose_items_disagree_is_lost_alone() {
    let sound = "testdata/corpus/redis-8.2.3-cluster/dump.rdb";
    let mut bytes = fs::read(sound).unwrap();
    // The module id of the first vector set; behind it the tag and the dimension of its vectors.
    let id = b"\x81\xbd\xe7\x2d\xa2\xbb\x1e\xb4\x00";
    let behind = bytes.windows(id.len()).position(|part| part == id).unwrap() + id.len();
    assert_eq!(bytes[behind..behind + 2], [2, 4]);
    bytes[behind + 1] = 5;
    // Without a checksum, by which the byte would be restored.
    let end = bytes.len() - 8;
    bytes[end..].fill(0);
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.rdb");
    fs::write(&damaged, bytes).unwrap();

    let keys = json(&run_args(&["check", sound, "--format", "json"]))["keys"].as_u64().unwrap();
    let check = run_args(&["check", damaged.to_str().unwrap(), "--format", "json"]);
    let said = json(&check);
    assert_eq!(
        (status(&check), said["verdict"].as_str(), said["damaged_keys"].as_u64()),
        (4, Some("corrupt"), Some(1))
    );
    let error = said["errors"][0]["text"].as_str().unwrap();
    assert!(error.contains("vector set: 4 bytes where 5 are expected"), "{error}");

    let (output, saved) = salvage(damaged.to_str().unwrap(), &folder);
    assert_eq!(json(&output)["salvage"]["keys"].as_u64(), Some(keys - 1));
    assert_eq!(status(&run_args(&["check", saved.to_str().unwrap()])), 0);
}

#[test]
fn changed_byte_is_restored_from_the_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let (output, saved) = salvage(FLIPPED, &folder);
    assert_eq!(status(&output), 4);
    assert_eq!(fs::read(saved).unwrap(), fs::read(SOUND).unwrap());
    let said = json(&output);
    let at = fs::metadata(SOUND).unwrap().len() / 3;
    assert_eq!(said["salvage"]["restored"]["offset"].as_u64(), Some(at));
    assert_eq!((&said["salvage"]["proven"], &said["salvage"]["bytes_lost"]), (&true.into(), &0.into()));
}

#[test]
fn sound_file_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (output, saved) = salvage(SOUND, &folder);
    assert_eq!((status(&output), json(&output)["sound"].as_bool()), (0, Some(true)));
    assert_eq!(fs::read(saved).unwrap(), fs::read(SOUND).unwrap());
}

#[test]
fn checksum_at_the_end_is_restored_or_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let sound = fs::read(SOUND).unwrap();
    let damaged = folder.path().join("damaged.rdb");
    let mut wrong = sound.clone();
    *wrong.last_mut().unwrap() ^= 1;
    for bytes in [&wrong[..], &sound[..sound.len() - 3]] {
        fs::write(&damaged, bytes).unwrap();
        let (output, saved) = salvage(damaged.to_str().unwrap(), &folder);
        assert_eq!(status(&output), 4, "{output:?}");
        assert_eq!(fs::read(&saved).unwrap(), sound);
        fs::remove_file(saved).unwrap();
    }
}

#[test]
fn compressed_and_piped_inputs_are_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let zeroed = fs::read(ZEROED).unwrap();
    let from_file = json(&salvage(ZEROED, &folder).0)["salvage"].clone();
    let piped = run_with_input(rdblens().args(["salvage", "-", "--format", "json"]), zeroed);
    assert_eq!((status(&piped), &json(&piped)["salvage"]), (4, &from_file));
    let gzip = folder.path().join("cut.rdb.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&fs::read(SOUND).unwrap()).unwrap();
    let bytes = encoder.finish().unwrap();
    fs::write(&gzip, &bytes[..bytes.len() / 2]).unwrap();
    fs::remove_file(folder.path().join("saved.rdb")).unwrap();
    let (output, saved) = salvage(gzip.to_str().unwrap(), &folder);
    let said = json(&output);
    assert_eq!((status(&output), said["container"]["compression"].as_str()), (4, Some("gzip")));
    assert!(said["salvage"]["keys"].as_u64() > Some(100), "{said}");
    assert_eq!(status(&run_args(&["check", saved.to_str().unwrap()])), 0);
}

#[test]
fn input_that_needs_a_larger_copy_than_allowed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.rdb.gz");
    let value = "a text without an end ".repeat(100_000);
    let dump = Dump::new().string("a", "1").string("b", &value).string("c", "2").bytes();
    let mut encoder = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::fast());
    encoder.write_all(&dump).unwrap();
    encoder.finish().unwrap();
    let saved = folder.path().join("saved.rdb");
    let salvage = |most| {
        let args = ["salvage", path.to_str().unwrap(), "-o", saved.to_str().unwrap(), "--max-temp", most];
        run_args(&args)
    };
    let refused = salvage("1MB");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!((status(&refused), saved.exists()), (3, false), "{said}");
    assert!(said.contains("--max-temp"), "{said}");
    assert_eq!((status(&salvage("4MB")), saved.exists()), (0, true));
}

#[test]
fn output_is_guarded() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("a.rdb");
    fs::copy(ZEROED, &own).unwrap();
    let own = own.to_str().unwrap();
    assert_eq!(status(&run_args(&["salvage", own, "-o", own, "--force"])), 2);
    assert_eq!(fs::read(own).unwrap(), fs::read(ZEROED).unwrap());
    let (_, saved) = salvage(own, &folder);
    assert_eq!(status(&salvage(own, &folder).0), 2, "{saved:?} needs --force");
    assert_eq!(status(&run_args(&["salvage", own, "-o", "-"])), 2);
    let text = testdata().join("README.md");
    assert_eq!(status(&run_args(&["salvage", text.to_str().unwrap()])), 3);
}

#[test]
fn nothing_is_written_if_no_key_can_be_saved() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.rdb");
    fs::write(&damaged, b"REDIS0011\xfe\x00\x99\x99\x99\x99").unwrap();
    let (output, saved) = salvage(damaged.to_str().unwrap(), &folder);
    assert_eq!((status(&output), saved.exists()), (3, false));
}

#[test]
fn check_says_what_can_be_saved_in_both_languages() {
    let output = run_args(&["check", ZEROED, "--format", "json"]);
    let said = json(&output);
    assert_eq!(status(&output), 4);
    assert!(said["salvage"]["keys"].as_u64() > said["keys"].as_u64());
    let text = |lang: &str| String::from_utf8(run_args(&["check", ZEROED, "--lang", lang]).stdout).unwrap();
    assert!(text("en").contains("can be saved:") && text("en").contains("keys before and"), "{}", text("en"));
    assert!(text("zh").contains("可恢复："), "{}", text("zh"));
    assert!(json(&run_args(&["check", SOUND, "--format", "json"])).get("salvage").is_none());
}

#[test]
fn report_covers_all_sound_records_at_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (_, saved) = salvage(ZEROED, &folder);
    let report = |path: &str, threads: &str, more: &[&str]| {
        let args = [&["analyze", path, "--format", "json", "--quiet", "--threads", threads], more].concat();
        run(rdblens().args(args)).stdout
    };
    let one = report(ZEROED, "1", &["--salvage"]);
    assert!(one == report(ZEROED, "4", &["--salvage"]) && one == report(ZEROED, "4", &["--salvage", "--no-mmap"]));
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    let (salvaged, of_saved) = (read(&one), read(&report(saved.to_str().unwrap(), "1", &[])));
    assert_eq!(salvaged["totals"], of_saved["totals"]);
    assert_eq!((&salvaged["complete"], &of_saved["complete"]), (&false.into(), &true.into()));
    assert!(salvaged["source"]["files"][0]["salvage"]["damaged"][0]["start"].as_u64() > Some(0));
    let without = read(&report(ZEROED, "1", &[]));
    assert!(without["totals"]["keys"].as_u64() < salvaged["totals"]["keys"].as_u64());
    let mut sound = read(&report(SOUND, "1", &["--salvage"]));
    let flags = sound["options"].as_object_mut().unwrap().remove("flags");
    assert_eq!((flags, sound), (Some(json!(["--salvage"])), read(&report(SOUND, "1", &[]))));
}

#[test]
fn keys_behind_the_damage_have_rows() {
    let rows = |more: &[&str]| {
        let output = run_args(&[&["keys", ZEROED, "--quiet"], more].concat());
        assert_eq!(status(&output), 4);
        output.stdout.iter().filter(|&&byte| byte == b'\n').count()
    };
    assert!(rows(&["--salvage"]) > rows(&[]));
}

/// Returns the snapshots of Dragonfly: files, and a folder of shards.
fn dragonfly() -> Vec<PathBuf> {
    let folder = testdata().join("servers");
    let names = ["dragonfly.rdb", "dragonfly-shard.dfs", "dragonfly-shard.dfs.gz", "dragonfly"];
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// Returns the rows of `keys`, sorted, and the exit status.
fn key_rows(input: &Path, more: &[&str]) -> (Vec<String>, i32) {
    let output = run(rdblens().arg("keys").arg(input).args(more).arg("--quiet"));
    let mut rows: Vec<_> = String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect();
    rows.sort();
    (rows, status(&output))
}

#[test]
fn sound_snapshots_of_dragonfly_are_salvaged_whole() {
    let folder = tempfile::tempdir().unwrap();
    for input in dragonfly() {
        let (rows, status) = key_rows(&input, &[]);
        assert!(status == 0 && !rows.is_empty());
        assert_eq!(key_rows(&input, &["--salvage"]), (rows.clone(), 0), "{}", input.display());
        assert_eq!(key_rows(&input, &["--salvage", "--threads", "1", "--no-mmap"]), (rows.clone(), 0));
        if input.is_dir() {
            continue;
        }
        let (output, saved) = salvage(input.to_str().unwrap(), &folder);
        let said = json(&output);
        assert_eq!((output.status.code(), &said["sound"]), (Some(0), &json!(true)), "{said}");
        assert_eq!(said["salvage"]["keys"], rows.len());
        let names = |rows: Vec<String>| {
            let row = |row: String| serde_json::from_str::<Value>(&row).unwrap();
            rows.into_iter()
                .map(row)
                .map(|row| [&row["db"], &row["key"], &row["type"], &row["length"]].map(Value::clone))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(key_rows(&saved, &[]).0), names(rows), "{}", input.display());
        let check = run_args(&["check", saved.to_str().unwrap()]);
        assert_eq!(check.status.code(), Some(0));
        fs::remove_file(saved).unwrap();
    }
    let summary = testdata().join("servers/dragonfly/dump-summary.dfs");
    let refused = run(rdblens().arg("salvage").arg(summary));
    let said = String::from_utf8(refused.stderr.clone()).unwrap();
    assert!(status(&refused) == 2 && said.contains("dump-summary.dfs stands for 3 files, salvage takes one"), "{said}");
}

#[test]
fn damaged_snapshots_of_dragonfly_give_at_least_what_is_read_without_salvage() {
    let mut damaged = 0;
    for entry in fs::read_dir(testdata().join("hostile")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("dragonfly-") || !name.ends_with(".rdb") {
            continue;
        }
        let (read, _) = key_rows(&path, &[]);
        let (saved, status) = key_rows(&path, &["--salvage"]);
        assert!(read.iter().all(|row| saved.contains(row)), "{name}: {read:?} {saved:?}");
        assert_eq!(status, 4, "{name}");
        damaged += 1;
    }
    assert!(damaged > 10);
}

#[test]
fn a_damaged_block_of_dragonfly_is_lost_alone() {
    const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
    const LZ4: &[u8] = &[0x04, 0x22, 0x4D, 0x18];
    let folder = tempfile::tempdir().unwrap();
    let shard = testdata().join("servers/dragonfly-shard.dfs");
    let bytes = fs::read(&shard).unwrap();
    let (all, _) = key_rows(&shard, &[]);
    let path = folder.path().join("dump.dfs");
    let frames: Vec<usize> = (0..bytes.len() - 4).filter(|&at| [ZSTD, LZ4].contains(&&bytes[at..at + 4])).collect();
    assert!(!frames.is_empty());
    for frame in frames {
        // The magic of the frame, and a byte inside of it.
        for at in [frame, frame + 20] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xFF;
            fs::write(&path, &damaged).unwrap();
            let ((read, _), (saved, status)) = (key_rows(&path, &[]), key_rows(&path, &["--salvage"]));
            assert!(status == 4 && read.len() < all.len(), "{at}");
            assert!(read.len() < saved.len() && saved.len() < all.len(), "{at}: {} of {}", saved.len(), all.len());
            assert!(saved.iter().all(|row| all.contains(row)) && read.iter().all(|row| saved.contains(row)), "{at}");
            let said = json(&run_args(&["salvage", path.to_str().unwrap(), "--format", "json"]));
            assert!(said["salvage"]["bytes_lost"].as_u64() > Some(0), "{said}");
            assert!(
                said["salvage"]["damaged"][0]["error"]["text"].as_str().unwrap().contains("compressed block"),
                "{said}"
            );
        }
    }
}

#[test]
fn records_behind_a_damaged_one_of_dragonfly_are_found() {
    let folder = tempfile::tempdir().unwrap();
    // Without blocks: the records are those of the shard.
    let (_, plain) = salvage(testdata().join("servers/dragonfly-shard.dfs").to_str().unwrap(), &folder);
    let bytes = fs::read(&plain).unwrap();
    let (all, _) = key_rows(&plain, &[]);
    let path = folder.path().join("dump.rdb");
    for start in [2000, 3000, 5000] {
        let mut damaged = bytes.clone();
        damaged[start..start + 40].fill(0xFF);
        fs::write(&path, &damaged).unwrap();
        let ((read, _), (saved, status)) = (key_rows(&path, &[]), key_rows(&path, &["--salvage"]));
        assert!(status == 4 && saved.len() > read.len() && saved.len() + 20 > all.len(), "{start}: {}", saved.len());
        assert!(saved.iter().all(|row| all.contains(row)), "{start}");
    }
}

#[test]
fn commands_in_other_files_of_an_append_only_file_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(SOUND, at("a.aof.1.base.rdb")).unwrap();
    fs::write(at("a.aof.1.incr.aof"), "*1\r\n$4\r\nPING\r\n").unwrap();
    let manifest = "file a.aof.1.base.rdb seq 1 type b\nfile a.aof.1.incr.aof seq 1 type i\n";
    fs::write(at("a.aof.manifest"), manifest).unwrap();
    let input = at("a.aof.manifest");
    let said = json(&run_args(&["salvage", input.to_str().unwrap(), "--format", "json"]));
    assert_eq!((&said["behind"], &said["sound"]), (&json!(14), &json!(true)), "{said}");
    let text = run_args(&["salvage", input.to_str().unwrap()]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("14 B after the snapshot, such as commands of an append-only file, are not copied"),
        "{text}"
    );
}
