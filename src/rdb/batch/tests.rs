use super::*;
use crate::input::Window;
use crate::input::source::Plain;

fn batches(bytes: Vec<u8>) -> Batches {
    batches_within(1 << 20, bytes)
}

fn batches_within(window: usize, bytes: Vec<u8>) -> Batches {
    let options = OpenOptions {
        mmap: false,
        spool_dir: std::env::temp_dir(),
        window,
        budget: limits::Budget::default(),
        inflaters: 1,
    };
    let window = Window::new(Box::new(Plain(std::io::Cursor::new(bytes))), &options);
    Batches::open(Body::Stream(window)).unwrap()
}

fn cut(mut batches: Batches) -> (Vec<usize>, FileEnding) {
    let sizes = std::iter::from_fn(|| batches.next_batch()).map(|batch| batch.bytes.len()).collect();
    (sizes, batches.ending())
}

#[test]
fn expanded_key_names_count_towards_batch_size() {
    let name = vec![0u8; 1 << 20];
    let block = lzf::compress(&name).unwrap();
    let length = |len: usize| [&[0x80][..], &u32::try_from(len).unwrap().to_be_bytes()].concat();
    let key = [&[0, 0xC3][..], &length(block.len()), &length(name.len()), &block, b"\x01v"].concat();
    let file = [&b"REDIS0011"[..], &key.repeat(10), &[0xFF], &[0; 8]].concat();
    let (sizes, ending) = cut(batches(file));
    assert_eq!(sizes, [9 + 4 * key.len(), 4 * key.len(), 2 * key.len() + 1]);
    assert!(ending.stopped.is_none());
}

#[test]
fn batches_cover_file_up_to_checksum() {
    let file = [&b"REDIS0011\xfe\x03"[..], &b"\x00\x01k\x01v".repeat(40_000), b"\xff", &[0; 8], b"tail"].concat();
    let (sizes, ending) = cut(batches(file.clone()));
    assert_eq!(sizes.len(), 3);
    assert_eq!(sizes.iter().sum::<usize>(), file.len() - 12);
    assert_eq!((ending.bytes, ending.trailing, ending.stored_checksum), (file.len() as u64 - 4, 4, Some(0)));
}

#[test]
fn a_stream_of_small_keys_is_not_read_far_ahead() {
    let key = |size: u8| [&b"\x00\x01k\x40"[..], &[size], &vec![b'v'; usize::from(size)]].concat();
    let (small, large) = (key(120), key(255));
    let file = [&b"REDIS0011"[..], &small.repeat(6 * limits::BATCH_KEYS), &large.repeat(60_000), b"\xff", &[0; 8]];
    let mut batches = batches_within(64 << 20, file.concat());
    let mut sizes = Vec::new();
    while let Some(batch) = batches.next_batch() {
        sizes.push(batch.bytes.len());
        let ahead = batches.body.bytes().len();
        // The first batch is not known to be short, and what was read beyond it is the second one.
        assert!(ahead < batch.bytes.len() / 8 || sizes.len() == 1, "batch {}: {ahead} bytes ahead", sizes.len());
        if sizes.len() == 6 {
            break;
        }
    }
    assert!(sizes.iter().all(|size| size.abs_diff(small.len() * limits::BATCH_KEYS) < 100_000), "{sizes:?}");
    // Larger keys fill a batch with fewer: it takes all bytes that it may have again.
    let sizes: Vec<usize> = std::iter::from_fn(|| batches.next_batch()).map(|batch| batch.bytes.len()).collect();
    assert!(sizes.iter().any(|size| *size > 3 << 20), "{sizes:?}");
}
