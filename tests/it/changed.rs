//! Files that are written to while they are read: the report is never called complete.
#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::common::program::{rdblens, testdata};

const SMALL: &[u8] = b"REDIS0011\xfe\0\0\x01z\x01b\xff\0\0\0\0\0\0\0\0";
const APPEND_ONLY: &[u8] = b"REDIS0011\xfa\x0caof-preamble\xc0\x01\xfe\0\0\x01a\x01b\xff\0\0\0\0\0\0\0\0";
const COMMAND: &[u8] = b"*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$1\r\nc\r\n";

/// Opens a pipe for writing as soon as the program reads it.
fn open_once_read(pipe: &Path) -> File {
    /// `O_NONBLOCK` of Linux: without a reader, opening fails instead of waiting.
    const WITHOUT_WAITING: i32 = 0o4000;
    let start = Instant::now();
    loop {
        match OpenOptions::new().write(true).custom_flags(WITHOUT_WAITING).open(pipe) {
            Ok(pipe) => return pipe,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(60), "the program opens no pipe: {error}"),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs the program over a file and a pipe, which it opens in this order and then reads; the file is changed in between.
fn run_while_changed(name: &str, bytes: &[u8], arguments: &[&str], change: impl FnOnce(&Path)) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let (file, pipe) = (folder.path().join(name), folder.path().join("pipe"));
    fs::write(&file, bytes).unwrap();
    // Long ago: whatever the clock of the file system, a change has another time.
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().write(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = rdblens();
    command.args(arguments).arg(&file).arg(&pipe).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let mut pipe = open_once_read(&pipe);
    change(&file);
    pipe.write_all(SMALL).unwrap();
    drop(pipe);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shop() -> Vec<u8> {
    fs::read(testdata().join("dumps/shop.rdb")).unwrap()
}

#[track_caller]
fn assert_refused(output: &Output, what: &str) {
    let said = [text(&output.stdout), text(&output.stderr)].concat();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("dump.rdb") && said.contains(what), "{said}");
    assert!(said.contains("read a copy"), "{said}");
}

#[test]
fn file_rewritten_in_place_at_the_same_size_is_named_in_every_command() {
    for arguments in [
        &["analyze"][..],
        &["analyze", "--no-mmap"],
        &["check"],
        &["keys"],
        &["keys", "--limit", "1"],
        &["analyze", "--salvage"],
    ] {
        let output = run_while_changed("dump.rdb", &shop(), arguments, |file| fs::write(file, shop()).unwrap());
        assert_refused(&output, "was written to while it was read");
    }
}

#[test]
fn report_on_a_file_that_changed_is_not_complete() {
    let output = run_while_changed("dump.rdb", &shop(), &["analyze", "--format", "json"], |file| {
        fs::write(file, shop()).unwrap();
    });
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["complete"]), (Some(4), &false.into()));
    let errors = &report["source"]["files"][0]["errors"];
    assert!(errors[0]["text"].as_str().unwrap().contains("was written to"), "{errors}");
}

#[test]
fn file_that_grows_has_changed_unless_it_is_append_only() {
    let append = |file: &Path| OpenOptions::new().append(true).open(file).unwrap().write_all(COMMAND).unwrap();
    assert_refused(&run_while_changed("dump.rdb", SMALL, &["check"], append), "25 bytes before");
    let output = run_while_changed("appendonly.aof", &[APPEND_ONLY, COMMAND].concat(), &["check"], append);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn new_dump_renamed_onto_one_that_is_mapped_does_not_matter() {
    let replace = |file: &Path| {
        let next = file.with_extension("next");
        fs::write(&next, SMALL).unwrap();
        fs::rename(next, file).unwrap();
    };
    let output = run_while_changed("dump.rdb", &shop(), &["check"], replace);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    // A compressed file is opened twice: for its head, and for its records.
    let packed = zstd::encode_all(&shop()[..], 1).unwrap();
    let output = run_while_changed("dump.rdb.zst", &packed, &["check"], replace);
    assert_refused(&output, "another file took its place");
}
