//! A mapped file that becomes shorter while it is read ends the program with its name and status 4.
#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::program::rdblens;

const SMALL: &[u8] = b"REDIS0011\xfe\0\0\x01a\x01b\xff\0\0\0\0\0\0\0\0";

/// A snapshot of 8 MiB of strings.
fn large() -> Vec<u8> {
    let mut dump = b"REDIS0011\xfe\0".to_vec();
    for key in 0..128 {
        dump.extend_from_slice(format!("\0\x05k:{key:03}").as_bytes());
        dump.extend_from_slice(&[0x80, 0, 1, 0, 0]);
        dump.extend(std::iter::repeat_n(b'v', 1 << 16));
    }
    dump.extend_from_slice(b"\xff\0\0\0\0\0\0\0\0");
    dump
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "waited for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Starts a run over a large file and a pipe, cuts the file once it is mapped, and then writes to the pipe.
fn run_while_cut(folder: &Path, arguments: &[&str], cut: impl FnOnce(&Path)) -> Output {
    let (large_file, pipe) = (folder.join("large.rdb"), folder.join("pipe"));
    fs::write(&large_file, large()).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = rdblens()
        .args(arguments)
        .args(["--threads", "1"])
        .arg(&large_file)
        .arg(&pipe)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let maps = format!("/proc/{}/maps", child.id());
    wait_until("the map", || fs::read_to_string(&maps).unwrap().contains("large.rdb"));
    cut(&large_file);
    write_unless_ended(&pipe, &mut child);
    child.wait_with_output().unwrap()
}

/// Writes a snapshot to a pipe that the program opens after the large file, unless it ends before that.
fn write_unless_ended(pipe: &Path, child: &mut Child) {
    const O_NONBLOCK: i32 = 0o4000;
    wait_until("the end, or a reader of the pipe", || {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        // Fails as long as nobody reads.
        let opened = OpenOptions::new().write(true).custom_flags(O_NONBLOCK).open(pipe);
        opened.is_ok_and(|mut pipe| pipe.write_all(SMALL).is_ok())
    });
}

#[test]
fn a_command_line_within_another_program_watches_no_file_and_maps_none() {
    let folder = tempfile::tempdir().unwrap();
    let (file, pipe) = (folder.path().join("large.rdb"), folder.path().join("pipe"));
    fs::write(&file, large()).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let words = ["rdblens", "keys", "--quiet", "--threads", "1", "-o", "/dev/null"].map(std::ffi::OsString::from);
    let words = words.into_iter().chain([file.clone().into(), pipe.clone().into()]).collect::<Vec<_>>();
    let running = std::thread::spawn(move || rdblens::cli::run_with(words));
    // The pipe is opened when the file has been read.
    let mut pipe = OpenOptions::new().write(true).open(pipe).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let names: Vec<_> =
        threads.map(|task| fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()).collect();
    pipe.write_all(SMALL).unwrap();
    drop(pipe);
    assert_eq!(running.join().unwrap(), rdblens::cli::ExitStatus::Done);
    assert!(!maps.contains("large.rdb"), "{maps}");
    assert!(!names.iter().any(|name| name.trim() == "shrunk"), "{names:?}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn file_that_becomes_shorter_is_named_and_no_temporary_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let reports = tempfile::tempdir().unwrap();
    let report = reports.path().join("report.html");
    let output = run_while_cut(folder.path(), &["analyze", "-o", report.to_str().unwrap()], |file| {
        OpenOptions::new().write(true).open(file).unwrap().set_len(4096).unwrap();
    });
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("large.rdb: became shorter while it was read: 8"), "{said}");
    assert!(said.contains("4096 now (") && said.contains("--no-mmap"), "{said}");
    assert_eq!(fs::read_dir(reports.path()).unwrap().count(), 0);
}

#[test]
fn file_that_was_removed_and_cut_off_is_an_error_too() {
    let folder = tempfile::tempdir().unwrap();
    let output = run_while_cut(folder.path(), &["check"], |file| {
        let open = OpenOptions::new().write(true).open(file).unwrap();
        fs::remove_file(file).unwrap();
        open.set_len(0).unwrap();
    });
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("an input cannot be read any more"), "{said}");
}

#[test]
fn file_that_is_not_mapped_is_truncated_where_it_ends_now() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.rdb");
    fs::write(&file, &large()[..4096]).unwrap();
    let output = rdblens().args(["check", "--no-mmap"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stdout).contains("truncated"), "{}", text(&output.stdout));
}
