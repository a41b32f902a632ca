//! Tests that inflating on several threads gives what one thread gives.

use std::io::Write;

use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

/// Returns bytes that compress to about half.
fn content(len: usize) -> Vec<u8> {
    (0..u32::MAX).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 8).to_le_bytes()).take(len).collect()
}

fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a file with members of these bytes each.
fn members(bytes: &[u8], each: usize) -> Vec<u8> {
    bytes.chunks(each).flat_map(member).collect()
}

/// Returns what a decoder reads, and the kind and text of its error.
fn inflated(mut decoder: impl Read) -> (Vec<u8>, Option<(io::ErrorKind, String)>) {
    let (mut all, mut part) = (Vec::new(), vec![0; 70_000]);
    loop {
        match decoder.read(&mut part) {
            Ok(0) => return (all, None),
            Ok(read) => all.extend_from_slice(&part[..read]),
            Err(error) => return (all, Some((error.kind(), error.to_string()))),
        }
    }
}

/// Inflates one piece at a time and several, which must not differ; nor may one decoder for the whole file, except in how many
/// bytes precede damage.
fn both(file: &[u8]) -> (Vec<u8>, Option<(io::ErrorKind, String)>) {
    let (one, many) = (inflated(decoder(file, 1)), inflated(decoder(file, 3)));
    assert!(one == many, "{} and {} bytes, {:?} and {:?}", one.0.len(), many.0.len(), one.1, many.1);
    let (in_order, error) = inflated(in_order(file.to_vec(), Remaining { reader: io::empty(), failure: None }));
    assert_eq!(error, one.1);
    let is_damaged = error.is_some_and(|(kind, _)| kind != io::ErrorKind::UnexpectedEof);
    assert!(one.0 == in_order || is_damaged && (in_order.starts_with(&one.0) || one.0.starts_with(&in_order)));
    one
}

#[test]
fn members_of_any_size_are_one_stream() {
    let content = content(2_500_000);
    for each in [4_000, 65_280, 500_000, 2_500_000] {
        let (all, error) = both(&members(&content, each));
        assert!(all == content && error.is_none(), "{each}: {error:?}");
    }
    // Short members, then one that is longer than a piece, then short ones again.
    let mixed = [members(&content, 65_280), member(&content), members(&content, 65_280)].concat();
    assert!(both(&mixed).0.len() == 3 * content.len());
}

#[test]
fn zeros_behind_a_member_are_padding() {
    let content = content(1_500_000);
    for each in [65_280, 1_500_000] {
        let file = members(&content, each);
        for padding in [1, 511, 600_000] {
            let (all, error) = both(&[&file[..], &vec![0; padding]].concat());
            assert!(all == content && error.is_none(), "{each} {padding}: {error:?}");
            let (all, error) = both(&[&file[..], &vec![0; padding], &file].concat());
            assert!(all.len() == 2 * content.len() && error.is_none(), "{each} {padding}: {error:?}");
        }
        let (all, error) = both(&[&file[..], &[0; 100], b"other data"].concat());
        assert!(all == content && error.is_some(), "{each}");
    }
}

#[test]
fn threads_are_used_if_there_are_members() {
    let content = content(4_000_000);
    let file = members(&content, 65_280);
    assert!(has_members(&file[..PIECE]) && !has_members(&member(&content)[..PIECE]));
    let remaining = Remaining { reader: &file[PIECE..], failure: None };
    let mut decoder = Members::new(file[..PIECE].to_vec(), remaining, 2);
    let mut all = vec![0; content.len()];
    decoder.read_exact(&mut all).unwrap();
    assert!(all == content && decoder.in_order.is_none());
}

#[test]
fn bgzip_is_recognised_by_its_first_header() {
    let head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0";
    assert!(has_members(head) && !has_members(&head[..12]));
    assert!(!is_bgzip(b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x06\0BC\x02\0"));
}

#[test]
fn what_looks_like_a_member_within_another_is_not_one() {
    // Stored blocks hold the header of a member in every kilobyte.
    let block = [&b"\x1f\x8b\x08\0\0\0\0\0\0\xff"[..], &content(1_014)].concat();
    let content = block.repeat(3_000);
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(&content).unwrap();
    let file = encoder.finish().unwrap();
    assert!(has_members(&file[..PIECE]));
    assert!(both(&file).0 == content);
    assert!(both(&[member(b"short"), file].concat()).0.ends_with(&content));
}

/// A reader that fails at the end of its bytes.
struct Fails<'a>(&'a [u8]);

impl Read for Fails<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::from_raw_os_error(5)) } else { self.0.read(into) }
    }
}

#[test]
fn bytes_before_a_failure_are_read_first() {
    let file = members(&content(3_000_000), 65_280);
    let cut = file.len() - 20_000;
    let (all, error) = inflated(decoder(Fails(&file[..cut]), 3));
    let (in_order, same) = inflated(MultiGzDecoder::new(BufReader::new(Fails(&file[..cut]))));
    assert!(all == in_order && error == same && error.is_some(), "{} and {}", all.len(), in_order.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn damaged_files_give_the_same_bytes_and_error(
        each in 20_000..400_000usize,
        cut in 0.3..1.0f64,
        damage in prop::option::of((0.0..1.0f64, 1..=255u8)),
        more in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut file = members(&content(900_000), each);
        let at = |share: f64, len: usize| ((len as f64 * share) as usize).min(len - 1);
        if let Some((place, change)) = damage {
            let place = at(place, file.len());
            file[place] ^= change;
        }
        file.truncate(at(cut, file.len()) + 1);
        file.extend(more);
        both(&file);
    }
}
