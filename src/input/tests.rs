//! Tests of every container in every compression, mapped and streamed.

use super::*;
use std::io::Write;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

const MARK: [u8; 40] = *b"0123456789abcdef0123456789abcdef01234567";

fn options(dir: &TempDir, mmap: bool) -> OpenOptions {
    OpenOptions { mmap, spool_dir: dir.path().to_owned(), window: 64 << 10, budget: Budget::default(), inflaters: 1 }
}

fn write(dir: &TempDir, bytes: &[u8]) -> Input {
    let path = dir.path().join("dump");
    std::fs::write(&path, bytes).unwrap();
    Input::file(path)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn vcs(bytes: &[u8]) -> Vec<u8> {
    [&b"VCS\x01\x01\x00\x01"[..], &lz4(bytes)].concat()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let info = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max64KB);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the bytes from the start of the snapshot to the end of the file, and their offset.
fn read(opened: Opened) -> (u64, Vec<u8>) {
    match opened.body {
        Body::Mapped(_) => (opened.body.offset(), opened.body.bytes().to_vec()),
        Body::Stream(mut window) => {
            let start = window.offset();
            assert!(!window.fill(u64::MAX).unwrap());
            (start, window.bytes().to_vec())
        }
    }
}

fn containers() -> Vec<(Vec<u8>, Container, u64)> {
    let snapshot = [&b"REDIS0011"[..], &[0xab; 300_000]].concat();
    let marked = [b"\n\n$EOF:", &MARK[..], b"\r\n", &snapshot, &MARK].concat();
    let sized = [format!("${}\r\n", snapshot.len()).as_bytes(), &snapshot].concat();
    vec![
        (marked, Container::Replication { mark: Some(MARK), length: None }, 49),
        (sized, Container::Replication { mark: None, length: Some(snapshot.len() as u64) }, 9),
        ([&b"VALKEY080"[..], &[1; 10]].concat(), Container::Plain, 0),
        (b"REDIS".to_vec(), Container::Plain, 0),
        (snapshot, Container::Plain, 0),
    ]
}

#[test]
fn every_container_reads_alike_mapped_streamed_and_compressed() {
    let dir = tempfile::tempdir().unwrap();
    for (bytes, container, start) in containers() {
        let zstd = zstd::bulk::compress(&bytes, 1).unwrap();
        let forms = [
            (bytes.clone(), None),
            (gzip(&bytes), Some(Compression::Gzip)),
            (zstd, Some(Compression::Zstd)),
            (lz4(&bytes), Some(Compression::Lz4)),
            (vcs(&bytes), Some(Compression::Vcs)),
            (gzip(&vcs(&bytes)), Some(Compression::Gzip)),
        ];
        for (form, compression) in forms {
            for mmap in [true, false] {
                let opened = write(&dir, &form).open(&options(&dir, mmap)).unwrap();
                assert_eq!((opened.container, opened.compression), (container, compression));
                assert_eq!(opened.size, Some(form.len() as u64));
                assert_eq!(matches!(opened.body, Body::Mapped(_)), mmap && compression.is_none());
                let (streamed, consumed) = (matches!(opened.body, Body::Stream(_)), Arc::clone(&opened.consumed));
                assert_eq!(read(opened), (start, bytes[usize::try_from(start).unwrap()..].to_vec()));
                let expected = if streamed { form.len() as u64 } else { 0 };
                assert_eq!(consumed.load(Ordering::Relaxed), expected);
            }
        }
    }
}

#[test]
fn slow_source_loses_no_bytes_to_recognition() {
    struct Drops(Cursor<Vec<u8>>);
    impl Read for Drops {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let len = into.len().min(1);
            self.0.read(&mut into[..len])
        }
    }
    let dir = tempfile::tempdir().unwrap();
    for (bytes, container, start) in containers() {
        let rest = bytes[usize::try_from(start).unwrap()..].to_vec();
        for form in [bytes.clone(), gzip(&bytes)] {
            let opened = open_reader(Drops(Cursor::new(form)), None, &options(&dir, true)).unwrap();
            assert_eq!(opened.container, container);
            assert_eq!(read(opened), (start, rest.clone()));
        }
    }
}

#[test]
fn non_snapshots_fail_alike_mapped_and_streamed() {
    let dir = tempfile::tempdir().unwrap();
    let twice = gzip(&gzip(b"REDIS0011"));
    for bytes in [&b""[..], b"RED", b"\n", b"$5\r\n", b"*1\r\n", b"VKCS\x01\x01", b"BZh91A", b"{\"a\": 1}", &twice] {
        let open = |mmap| write(&dir, bytes).open(&options(&dir, mmap)).err().unwrap();
        let error = open(true);
        assert_eq!(error.to_string(), open(false).to_string());
        assert!(error.file().unwrap().ends_with("dump"), "{error}");
    }
}

#[test]
fn missing_file_and_directory_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let missing = Input::file(dir.path().join("missing")).open(&options(&dir, true)).err().unwrap();
    assert!(matches!(missing.kind(), ErrorKind::Io(_)));
    assert!(missing.file().unwrap().ends_with("missing"));
    let directory = Input::file(dir.path().to_owned()).open(&options(&dir, true)).err().unwrap();
    assert!(matches!(directory.kind(), ErrorKind::Unreadable(_)));
}

#[test]
fn compressed_data_truncated_at_once_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let error = write(&dir, &gzip(b"REDIS0011")[..11]).open(&options(&dir, true)).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
    assert!(error.hint().unwrap().contains("0 decompressed bytes"));
}

#[cfg(target_os = "linux")]
#[test]
fn pipe_with_a_name_is_streamed() {
    let dir = tempfile::tempdir().unwrap();
    let (reader, mut writer) = io::pipe().unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    let opened = Input::file(path.into());
    let writing = std::thread::spawn(move || writer.write_all(&gzip(b"REDIS0011 and so on")).unwrap());
    let opened = opened.open(&options(&dir, true)).unwrap();
    writing.join().unwrap();
    assert_eq!((opened.size, opened.compression), (None, Some(Compression::Gzip)));
    assert_eq!(read(opened), (0, b"REDIS0011 and so on".to_vec()));
}

#[test]
fn damage_inside_an_envelope_in_gzip_is_told_by_its_layer() {
    let dir = tempfile::tempdir().unwrap();
    let mixed: Vec<u8> = (0..90_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let snapshot = [&b"REDIS0011"[..], &mixed].concat();
    let error_of = |bytes: &[u8]| match write(&dir, bytes).open(&options(&dir, true)).unwrap().body {
        Body::Stream(mut window) => window.fill(u64::MAX).unwrap_err().to_string(),
        Body::Mapped(_) => panic!("compressed files are streamed"),
    };
    let inner = vcs(&snapshot);
    assert!(error_of(&inner[..inner.len() / 2]).contains("vcs data is truncated"));
    assert!(error_of(&gzip(&inner[..inner.len() / 2])).contains("vcs data is truncated"));
    let outer = gzip(&inner);
    assert!(error_of(&outer[..outer.len() - 9000]).contains("gzip data is truncated"));
}
