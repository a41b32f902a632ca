//! Tests of every compression: complete, in pieces, damaged and abandoned.

use super::*;
use flate2::write::GzEncoder;
use std::io::{Cursor, Write};
use std::sync::mpsc;
use std::time::Duration;

const ALL: [Compression; 3] = [Compression::Gzip, Compression::Zstd, Compression::Lz4];

fn compress(compression: Compression, data: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Vcs => [&b"VCS\x01\x01\x00\x01"[..], &compress(Compression::Lz4, data)].concat(),
        Compression::Lz4 => {
            let info = lz4_flex::frame::FrameInfo::new()
                .block_size(lz4_flex::frame::BlockSize::Max64KB)
                .content_checksum(true);
            let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
    }
}

/// Returns several chunks of bytes that compress to about half.
fn content() -> Vec<u8> {
    (0..700_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 8).to_le_bytes()).collect()
}

fn one_thread(budget: Budget) -> DecoderLimits {
    DecoderLimits { budget, threads: 1 }
}

fn read_all(mut source: Decompressed) -> (Vec<u8>, Option<Error>) {
    let (mut all, mut piece) = (Vec::new(), vec![0; 300_000]);
    loop {
        match source.read(&mut piece, all.len() as u64) {
            Ok(0) => return (all, None),
            Ok(read) => all.extend_from_slice(&piece[..read]),
            Err(error) => return (all, Some(error)),
        }
    }
}

fn decompress(compression: Compression, bytes: Vec<u8>) -> (Vec<u8>, Option<Error>) {
    read_all(Decompressed::start(compression, one_thread(Budget::default()), Cursor::new(bytes)).unwrap())
}

#[test]
fn members_and_frames_are_one_stream() {
    for compression in ALL {
        let mut bytes = compress(compression, &content());
        bytes.extend(compress(compression, b"and the rest"));
        assert_eq!(Compression::recognise(&bytes).unwrap(), Some(compression));
        let (all, error) = decompress(compression, bytes);
        assert!(error.is_none(), "{error:?}");
        assert!(all == [&content()[..], b"and the rest"].concat(), "{compression:?}");
    }
}

#[test]
fn one_byte_at_a_time_equals_all_at_once() {
    struct Drops<R>(R);
    impl<R: Read> Read for Drops<R> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let len = into.len().min(1);
            self.0.read(&mut into[..len])
        }
    }
    for compression in ALL {
        let data = &content()[..100_000];
        let reader = Drops(Cursor::new(compress(compression, data)));
        let (all, error) = read_all(Decompressed::start(compression, one_thread(Budget::default()), reader).unwrap());
        assert!(error.is_none() && all == data, "{compression:?}");
    }
}

#[test]
fn truncation_is_reported_after_the_preceding_bytes() {
    for compression in ALL {
        let bytes = compress(compression, &content());
        let (all, error) = decompress(compression, bytes[..bytes.len() / 2].to_vec());
        let error = error.unwrap();
        assert!(all.len() > 1_000_000 && content().starts_with(&all), "{compression:?}");
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{compression:?}: {error}");
        assert_eq!(error.offset(), Some(all.len() as u64));
        assert!(error.to_string().contains(&format!("{} decompressed bytes", all.len())), "{error}");
    }
}

#[test]
fn damage_is_reported_at_its_offset() {
    for compression in ALL {
        let mut bytes = compress(compression, &content());
        let middle = bytes.len() / 2;
        bytes[middle..middle + 200].iter_mut().for_each(|byte| *byte ^= 0x5a);
        let (all, error) = decompress(compression, bytes);
        let error = error.expect("damage or a wrong checksum");
        assert!(all.len() > 1_000_000, "{compression:?}: {}", all.len());
        assert_eq!(error.offset(), Some(all.len() as u64), "{compression:?}");
        assert!(matches!(error.kind(), ErrorKind::Corrupt(_) | ErrorKind::Truncated { .. }), "{error}");
    }
}

#[test]
fn zstd_window_above_limit_is_reported() {
    // Magic, a frame header with a window of 2^31 bytes, an empty last block.
    let bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00];
    let error = decompress(Compression::Zstd, bytes.clone()).1.unwrap();
    assert!(matches!(error.kind(), ErrorKind::OverBudget(_)), "{error}");
    assert!(error.hint().unwrap().contains("--max-memory 4GB"));
    let enough = Budget { memory: 4 << 30, ..Budget::default() };
    let (all, error) =
        read_all(Decompressed::start(Compression::Zstd, one_thread(enough), Cursor::new(bytes)).unwrap());
    assert!(all.is_empty() && error.is_none());
}

#[test]
fn abandoned_stream_ends_its_thread() {
    struct Endless(Vec<u8>, usize, #[expect(dead_code, reason = "dropped with the thread")] mpsc::Sender<()>);
    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let len = into.len().min(self.0.len() - self.1);
            into[..len].copy_from_slice(&self.0[self.1..self.1 + len]);
            self.1 = (self.1 + len) % self.0.len();
            Ok(len)
        }
    }
    for compression in ALL {
        let (alive, ended) = mpsc::channel();
        let reader = Endless(compress(compression, &content()), 0, alive);
        let mut source = Decompressed::start(compression, one_thread(Budget::default()), reader).unwrap();
        assert!(source.read(&mut [0; 10], 0).unwrap() > 0);
        assert_eq!(ended.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(source);
        assert_eq!(ended.recv_timeout(Duration::from_secs(20)), Err(mpsc::RecvTimeoutError::Disconnected));
    }
}

#[test]
fn unsupported_compressions_have_a_hint() {
    for (head, command) in [(&b"\xfd7zXZ\0"[..], "xz -dc"), (b"BZh91A", "bzip2 -dc")] {
        let error = Compression::recognise(head).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
        assert!(error.hint().unwrap().contains(command));
    }
    assert_eq!(Compression::recognise(b"REDIS0").unwrap(), None);
    assert_eq!(Compression::recognise(b"").unwrap(), None);
}
