//! Target `containers`: a file is the same bytes whatever it is packed in.

use std::io::Write;
use std::sync::LazyLock;

use rdblens::report::CheckVerdict;
use rdblens::{ReadPlan, Unwatched, check as check_files};

use super::InputFile;

/// Plans that stream, and that map.
static PLANS: LazyLock<[ReadPlan; 2]> = LazyLock::new(|| {
    [false, true].map(|mmap| {
        let mut plan = ReadPlan { threads: 1, ..ReadPlan::new(std::env::temp_dir()) };
        (plan.open.mmap, plan.open.window) = (mmap, 4096);
        plan
    })
});

/// Packs the bytes as their first byte says, and checks them packed and unpacked.
pub fn check(input: &[u8]) {
    let Some((&kind, bytes)) = input.split_first() else { return };
    let plain = verdict(bytes, true);
    assert_eq!(plain, verdict(bytes, false), "mapped and streamed differ");
    let packed = match kind % 6 {
        0 => return,
        1 => gzip(bytes),
        2 => zstd::encode_all(bytes, 1).expect("memory can be written"),
        3 => lz4(bytes),
        4 => [&b"VCS\x01\x01\0\x01"[..], &lz4(bytes)].concat(),
        _ => [format!("\n${}\r\n", bytes.len()).as_bytes(), bytes].concat(),
    };
    let packed = verdict(&packed, true);
    // Packed twice is told from no snapshot, and so is a snapshot inside of a stream; whatever is read must be the same.
    if let (Some(plain), Some(packed)) = (plain, packed) {
        assert_eq!(plain, packed, "packing by {kind} changes the verdict");
    }
}

/// Returns the verdict, the number of keys and that of damaged ones; `None` if it is no snapshot.
fn verdict(bytes: &[u8], mmap: bool) -> Option<(CheckVerdict, u64, u64)> {
    let file = InputFile::new(bytes);
    let checks = check_files(&[file.path()], &PLANS[usize::from(mmap)], &Unwatched).expect("the file is there");
    let one = checks.into_iter().next().expect("there is one file");
    match one.verdict {
        CheckVerdict::NotASnapshot | CheckVerdict::Unreadable | CheckVerdict::Unsupported => None,
        verdict => Some((verdict, one.keys, one.damaged_keys)),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).and_then(|()| gzip.finish()).expect("memory can be written")
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(bytes).expect("memory can be written");
    lz4.finish().expect("memory can be written")
}
