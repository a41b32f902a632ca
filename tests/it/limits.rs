//! Limits on memory and temporary space: what exceeds them is told apart from damage, and nothing else depends on them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::program::{rdblens, run, testdata};

fn status(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A zstd frame of raw blocks that declares a window of 2^31 bytes.
fn with_large_window(content: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3];
    let mut blocks = content.chunks(100_000).peekable();
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

#[test]
fn zstd_window_of_two_gigabytes_needs_memory_and_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb.zst");
    fs::write(&path, with_large_window(&fs::read(testdata().join("dumps/shop.rdb")).unwrap())).unwrap();
    let refused = run(rdblens().arg("analyze").arg(&path).args(["--max-memory", "1GB"]));
    assert_eq!(status(&refused), 3);
    assert!(stderr(&refused).contains("give --max-memory 4GB or more"), "{}", stderr(&refused));
    let refused = run(rdblens().arg("check").arg(&path).args(["--max-memory", "1GB", "--format", "json"]));
    let verdict: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!((&verdict["verdict"], &verdict["errors"][0]["kind"]), (&"over-budget".into(), &"over-budget".into()));
    let read = run(rdblens().arg("check").arg(&path).args(["--max-memory", "4GB"]));
    assert_eq!(status(&read), 0, "{}", stderr(&read));
}

#[test]
fn large_record_of_a_compressed_file_is_refused_beyond_the_temporary_space() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.rdb.zst");
    // With zstd, which is quick in a debug build, too.
    let mut bomb = zstd::stream::write::Encoder::new(fs::File::create(&path).unwrap(), 1).unwrap();
    let len = 80u32 << 20;
    bomb.write_all(b"REDIS0011\xfe\x00\x00\x01a\x01b\x00\x01c\x80").unwrap();
    bomb.write_all(&len.to_be_bytes()).unwrap();
    for _ in 0..80 {
        bomb.write_all(&[0; 1 << 20]).unwrap();
    }
    bomb.write_all(b"\xff\0\0\0\0\0\0\0\0").unwrap();
    bomb.finish().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 1 << 20);
    let bytes = |limit: &str| {
        let output =
            run(rdblens().arg("analyze").arg(&path).args(["--no-checksum", "--max-temp", limit, "--format", "json"]));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (status(&output), report["totals"]["keys"].as_u64().unwrap(), report["source"]["files"][0]["errors"].clone())
    };
    let (exit, keys, errors) = bytes("70MB");
    assert_eq!((exit, keys, &errors[0]["kind"]), (4, 1, &"over-budget".into()), "{errors}");
    assert!(errors[0]["text"].as_str().unwrap().contains("--max-temp"), "{errors}");
    assert_eq!(bytes("100MB"), (0, 2, Value::Array(Vec::new())));
}

/// A compressed listpack of repeated elements `a`, which announces `count` elements and expands to some `len` bytes.
fn packed_bomb(len: usize, count: u16) -> Vec<u8> {
    const MAX_COPY_DISTANCE: usize = 264; // a multiple of the three bytes of an element
    let copies = len / MAX_COPY_DISTANCE;
    let total = 6 + 3 + copies * MAX_COPY_DISTANCE + 1;
    let mut block = vec![8];
    block.extend_from_slice(&(total as u32).to_le_bytes());
    block.extend_from_slice(&count.to_le_bytes());
    block.extend_from_slice(b"\x81a\x02");
    block.extend([0xE0, 0xFF, 2].repeat(copies));
    block.extend_from_slice(b"\0\xff");
    let mut string = vec![0xc3];
    for len in [block.len(), total] {
        string.push(0x80);
        string.extend_from_slice(&(len as u32).to_be_bytes());
    }
    [string, block].concat()
}

/// A snapshot with a string, these packed sets, and a list of 300 elements.
fn snapshot(sets: &[Vec<u8>]) -> Vec<u8> {
    let mut dump = b"REDIS0011\xfe\0\0\x05a:b:1\x01b".to_vec();
    for (at, set) in sets.iter().enumerate() {
        dump.extend_from_slice(format!("\x14\x08a:set:{at:02}").as_bytes());
        dump.extend_from_slice(set);
    }
    dump.extend_from_slice(b"\x01\x06a:list\x41\x2c");
    dump.extend(b"\x01e".repeat(300));
    dump.extend_from_slice(b"\xff\0\0\0\0\0\0\0\0");
    dump
}

fn report(path: &std::path::Path, arguments: &[&str]) -> (i32, Value) {
    let output =
        run(rdblens().arg("analyze").arg(path).args(["--format", "json", "--policy", "aliyun"]).args(arguments));
    (status(&output), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output))))
}

fn open_rule<'r>(report: &'r Value, rule: &str) -> Option<&'r Value> {
    report["findings"]["not_evaluated"].as_array().unwrap().iter().find(|open| open["rule"] == rule)
}

#[test]
fn compressed_value_beyond_its_share_is_not_looked_into_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    // A 64th of 256 MB is 4 MiB.
    fs::write(&path, snapshot(&[packed_bomb(5 << 20, u16::MAX), packed_bomb(5 << 20, 100)])).unwrap();
    let (exit, little) = report(&path, &["--max-memory", "256MB"]);
    assert_eq!((exit, &little["totals"]["keys"]), (0, &4.into()));
    let warning = little["warnings"].as_array().unwrap().iter().find(|it| it["kind"] == "over-budget");
    assert_eq!(warning.expect("values were passed over")["keys"], 2);
    // One is priced by the count in its header.
    assert_eq!(little["totals"]["unknown"]["keys"], 1);
    let open = open_rule(&little, "big.elements").expect("the rule is not called kept");
    assert_eq!(open["flag"], "--max-memory");
    assert!(!little["findings"]["checked"].to_string().contains("big.elements"));
    assert!(open_rule(&little, "big.string").is_none());

    let (exit, enough) = report(&path, &["--max-memory", "1GB"]);
    assert_eq!((exit, &enough["totals"]["unknown"]["keys"]), (0, &0.into()));
    assert!(!enough["warnings"].to_string().contains("over-budget"));
    assert!(open_rule(&enough, "big.elements").is_none());
}

#[test]
fn report_with_values_beyond_their_share_is_the_same_at_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    let sets: Vec<_> = (0..12).map(|at| packed_bomb([5 << 20, 1 << 16][at % 2], u16::MAX)).collect();
    fs::write(&path, snapshot(&sets)).unwrap();
    let by = |command: &str, threads: &str| {
        let mut program = rdblens();
        program.arg(command).arg(&path).args(["--max-memory", "256MB", "--threads", threads, "--format", "json"]);
        String::from_utf8(run(&mut program).stdout).unwrap()
    };
    for command in ["analyze", "check", "keys"] {
        let alone = by(command, "1");
        assert!(command == "keys" || alone.contains("over-budget"), "{alone}");
        assert!(["2", "7"].iter().all(|threads| by(command, threads) == alone), "{command}");
    }
}

#[test]
fn check_refuses_a_damaged_block_beyond_the_share_and_passes_over_a_sound_one() {
    let folder = tempfile::tempdir().unwrap();
    let verdict = |set: Vec<u8>| {
        let path = folder.path().join("dump.rdb");
        fs::write(&path, snapshot(&[set])).unwrap();
        let output = run(rdblens().arg("check").arg(&path).args(["--max-memory", "256MB", "--format", "json"]));
        let row: Value = serde_json::from_slice(&output.stdout).unwrap();
        (status(&output), row["verdict"].as_str().unwrap().to_owned())
    };
    let sound = packed_bomb(5 << 20, u16::MAX);
    assert_eq!(verdict(sound.clone()), (4, "over-budget".to_owned()));
    // A copy from before the beginning: the third byte of the first one is its distance.
    let mut damaged = sound;
    let first = damaged.iter().position(|&byte| byte == 0xE0).unwrap();
    damaged[first + 2] = 200;
    assert_eq!(verdict(damaged), (4, "corrupt".to_owned()));
}

#[test]
fn value_too_large_to_be_shown_is_refused_and_its_first_elements_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    // A quarter of 256 MB is 64 MiB: the first set is smaller, but not its elements; the second is larger.
    fs::write(&path, snapshot(&[packed_bomb(3 << 20, u16::MAX), packed_bomb(70 << 20, u16::MAX)])).unwrap();
    let show = |key: &str, arguments: &[&str]| {
        run(rdblens().arg("show").arg(&path).arg(key).args(["--max-memory", "256MB"]).args(arguments))
    };
    let refused = show("a:set:00", &[]);
    assert_eq!((status(&refused), refused.stdout.len()), (3, 0));
    let said = stderr(&refused);
    assert!(said.contains("a quarter of --max-memory") && said.contains("--limit"), "{said}");
    let first = show("a:set:00", &["--limit", "2"]);
    assert_eq!(status(&first), 0, "{}", stderr(&first));
    assert!(String::from_utf8_lossy(&first.stdout).ends_with("… 1,048,519 more\n"), "{:?}", first.stdout);
    let refused = show("a:set:01", &["--limit", "2"]);
    assert_eq!((status(&refused), refused.stdout.len()), (3, 0));
    assert!(stderr(&refused).contains("give a larger --max-memory"), "{}", stderr(&refused));
    assert_eq!(status(&show("a:list", &[])), 0);
}

/// Returns the most memory that a run had, in bytes. On a busy machine a short run may end before it is looked at: it is
/// repeated.
fn peak(command: &mut Command) -> u64 {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let measured = (0..100).find_map(|_| peak_of_one_run(command));
    measured.unwrap_or_else(|| panic!("{command:?} was not measured"))
}

fn peak_of_one_run(command: &mut Command) -> Option<u64> {
    const LOADED: u64 = 4 << 20; // the program has begun to work
    let mut child = command.spawn().unwrap();
    let process = format!("/proc/{}", child.id());
    let program = Path::new(command.get_program()).file_name();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        // A child has the memory of this process until its program is loaded, which may be after `spawn` returns.
        if fs::read_link(format!("{process}/exe")).is_ok_and(|path| path.file_name() == program) {
            let text = fs::read_to_string(format!("{process}/status")).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            peak = peak.max(kilobytes.unwrap_or_default() << 10);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    (peak > LOADED).then_some(peak)
}

#[cfg(target_os = "linux")]
#[test]
fn value_of_a_gigabyte_from_a_small_file_does_not_take_a_gigabyte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    // Half a gigabyte that is not expanded, and 3 MB that are, with a million elements.
    fs::write(&path, snapshot(&[packed_bomb(512 << 20, u16::MAX), packed_bomb(3 << 20, u16::MAX)])).unwrap();
    for command in ["analyze", "check", "keys"] {
        let most = peak(rdblens().arg(command).arg(&path).args(["--max-memory", "256MB", "--threads", "2"]));
        assert!(most < 128 << 20, "{command} took {most} bytes");
    }
    // The name of an auxiliary field.
    let named = folder.path().join("named.rdb");
    let rest = b"\x01x\xfe\0\0\x01a\x01b\xff\0\0\0\0\0\0\0\0";
    fs::write(&named, [&b"REDIS0011\xfa"[..], &packed_bomb(512 << 20, 1), rest].concat()).unwrap();
    for command in ["analyze", "check", "keys", "salvage"] {
        let most = peak(rdblens().arg(command).arg(&named).args(["--max-memory", "256MB"]));
        assert!(most < 128 << 20, "{command} took {most} bytes for an auxiliary field");
    }
    // The name of a key before damage.
    let record = [&b"\x00"[..], &packed_bomb(500 << 20, 1), b"\x01v"].concat();
    let damaged = [b"REDIS0011\xfe\0", &record[..], b"\x00\x01a\x01b\x08\x08", &record, b"\xff\0\0\0\0\0\0\0\0"];
    fs::write(&named, damaged.concat()).unwrap();
    for command in ["check", "salvage"] {
        let most = peak(rdblens().arg(command).arg(&named).args(["--max-memory", "256MB"]));
        assert!(most < 128 << 20, "{command} took {most} bytes for the name of a key");
    }
    for (key, limit) in [("a:set:00", "9"), ("a:set:01", "9"), ("a:set:01", "1000000000")] {
        let arguments = [key, "--limit", limit, "--max-memory", "256MB"];
        let most = peak(rdblens().arg("show").arg(&path).args(arguments));
        assert!(most < 160 << 20, "show {key} took {most} bytes");
    }
}
