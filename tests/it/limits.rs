//! Limits on memory and temporary space: what exceeds them is told apart from damage, and nothing else depends on them.

use std::fs;
use std::io::Write;
use std::process::Output;

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
