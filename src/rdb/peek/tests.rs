//! Tests: every layout is shown, up to the limits.

use super::*;

fn parts(value_type: ValueType, bytes: &[u8]) -> Vec<String> {
    let mut parts = Vec::new();
    RawValue { value_type, bytes, templates: Templates::NONE }.peek(&mut PeekBuffers::default(), |part| {
        parts.push(match part {
            ValuePart::String(text) => text.escape_ascii().to_string(),
            ValuePart::Element(text) => format!("- {}", text.escape_ascii()),
            ValuePart::Pair(field, value) => format!("{}={}", field.escape_ascii(), value.escape_ascii()),
        });
    });
    parts
}

/// Encodes a plain string with a 32-bit length.
fn string(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80];
    bytes.extend((text.len() as u32).to_be_bytes());
    bytes.extend(text);
    bytes
}

#[test]
fn every_string_encoding_is_shown() {
    assert_eq!(parts(ValueType::String, b"\x03abc"), ["abc"]);
    assert_eq!(parts(ValueType::String, b"\xc0\x07"), ["7"]);
    // Two literal bytes, then eight more from one byte back.
    assert_eq!(parts(ValueType::String, b"\xc3\x06\x0b\x01ab\xe0\x00\x00"), ["abbbbbbbbbb"]);
    assert!(parts(ValueType::String, b"\x09abc").is_empty());
}

#[test]
fn every_hash_layout_is_shown() {
    assert_eq!(parts(ValueType::Hash, b"\x02\x01a\x01b\x01c\xc0\x07"), ["a=b", "c=7"]);
    assert_eq!(parts(ValueType::HashMetadata, b"\x09\0\0\0\0\0\0\0\x01\x01\x01a\x01b"), ["a=b"]);
    assert_eq!(parts(ValueType::HashMetadataPreGa, b"\x01\x01\x01a\x01b"), ["a=b"]);
    assert_eq!(parts(ValueType::Hash2, b"\x01\x01a\x01b\xff\xff\xff\xff\xff\xff\xff\xff"), ["a=b"]);
    let listpack = b"\x0c\0\0\0\x02\0\x81a\x02\x07\x01\xff";
    assert_eq!(parts(ValueType::HashListpack, &string(listpack)), ["a=7"]);
    let expiring = b"\x0e\0\0\0\x03\0\x81a\x02\x07\x01\x00\x01\xff";
    assert_eq!(parts(ValueType::HashListpackExPreGa, &string(expiring)), ["a=7"]);
    assert_eq!(parts(ValueType::HashListpackEx, &[&[0; 8], &string(expiring)[..]].concat()), ["a=7"]);
    assert_eq!(parts(ValueType::HashZipmap, &string(b"\x01\x01a\x01\0b\xff")), ["a=b"]);
}

/// Encodes a listpack of texts and of integers from -4096 to 4095.
fn listpack(elements: &[&str]) -> Vec<u8> {
    let mut body = Vec::new();
    for element in elements {
        let start = body.len();
        match element.parse::<i64>() {
            Ok(number @ 0..=127) => body.push(number as u8),
            Ok(number) => body.extend((0xC000 | (number & 0x1FFF) as u16).to_be_bytes()),
            Err(_) => {
                body.push(0x80 | element.len() as u8);
                body.extend(element.as_bytes());
            }
        }
        body.push((body.len() - start) as u8);
    }
    let total = (body.len() + 7) as u32;
    [&total.to_le_bytes()[..], &(elements.len() as u16).to_le_bytes(), &body, &[0xFF]].concat()
}

/// Encodes a stream with these nodes; what follows them is not read.
fn stream(nodes: &[&[&str]]) -> Vec<u8> {
    let node = |elements: &&[&str]| [string(&[0; 16]), string(&listpack(elements))].concat();
    [vec![nodes.len() as u8], nodes.iter().flat_map(node).collect()].concat()
}

#[test]
fn every_layout_of_elements_is_shown() {
    for value_type in [ValueType::List, ValueType::Set] {
        assert_eq!(parts(value_type, b"\x03\x01a\xc0\x07\x01c"), ["- a", "- 7", "- c"]);
    }
    assert_eq!(parts(ValueType::Zset, b"\x03\x01a\x03100\x01b\xfe\x01c\x011"), ["- a", "- b", "- c"]);
    assert_eq!(parts(ValueType::Zset2, b"\x02\x01a\0\0\0\0\0\0\0\0\x01b\0\0\0\0\0\0\0\0"), ["- a", "- b"]);
    let packed = listpack(&["a", "7", "b", "-8"]);
    assert_eq!(parts(ValueType::SetListpack, &string(&packed)), ["- a", "- 7", "- b", "- -8"]);
    assert_eq!(parts(ValueType::ZsetListpack, &string(&packed)), ["- a", "- b"]);
    let quicklist = [b"\x02\x01\x01x\x02".to_vec(), string(&packed)].concat();
    assert_eq!(parts(ValueType::ListQuicklist2, &quicklist), ["- x", "- a", "- 7", "- b", "- -8"]);
    let ziplist = b"\x10\0\0\0\x0d\0\0\0\x02\0\x00\x01a\x03\xf2\xff";
    assert_eq!(parts(ValueType::ListZiplist, &string(ziplist)), ["- a", "- 1"]);
    assert_eq!(parts(ValueType::ZsetZiplist, &string(ziplist)), ["- a"]);
    assert_eq!(parts(ValueType::ListQuicklist, &[vec![1], string(ziplist)].concat()), ["- a", "- 1"]);
    let phone = [&b"\x08\0\0\0\x02\0\0\0"[..], &(-5i64).to_le_bytes(), &13_812_345_678i64.to_le_bytes()].concat();
    assert_eq!(parts(ValueType::SetIntset, &string(&phone)), ["- -5", "- 13812345678"]);
    assert_eq!(parts(ValueType::Array, b"\x02\x00\x00\x00\x01a\x05\x01\x07\0\0\0\0\0\0\0"), ["- a", "- 7"]);
}

#[test]
fn entries_of_streams_are_shown_with_their_fields() {
    // Two entries with the fields of the node, one with its own, one that is deleted.
    let node = [
        ["3", "1", "2", "name", "tel", "0"].as_slice(),
        &["2", "0", "0", "ann", "555", "5"],
        &["3", "1", "0", "bob", "556", "5"],
        &["0", "2", "0", "1", "mail", "c@d", "6"],
        &["2", "3", "0", "dan", "557", "5"],
    ]
    .concat();
    let shown = ["name=ann", "tel=555", "mail=c@d", "name=dan", "tel=557"];
    assert_eq!(parts(ValueType::Stream(1), &stream(&[&node])), shown);
    assert_eq!(parts(ValueType::Stream(3), &stream(&[&node, &node])), [shown, shown].concat());
    // Reading stops at a count beyond the data.
    for broken in [
        &["1"][..],
        &["1", "0", "x"],
        &["1", "0", "-1"],
        &["1", "0", "4095", "a"],
        &["1", "0", "1", "a", "0", "0", "0", "0", "-9"],
    ] {
        assert!(parts(ValueType::Stream(2), &stream(&[broken])).is_empty(), "{broken:?}");
    }
}

#[test]
fn collections_are_shown_up_to_the_limits() {
    let many = [b"\x40\xff".to_vec(), b"\x01a".repeat(255)].concat();
    assert_eq!(parts(ValueType::List, &many).len(), MAX_PARTS);
    let node = string(&listpack(&["a"; 100]));
    assert_eq!(parts(ValueType::SetListpack, &node).len(), MAX_PARTS);
    let nodes = [vec![0x40, 200], [vec![2], string(&listpack(&[]))].concat().repeat(200)].concat();
    assert!(parts(ValueType::ListQuicklist2, &nodes).is_empty());
    // Nodes that expand far, as only a hostile writer makes them: each claims half of what all may expand to.
    let mut bomb = vec![3];
    (0..3).for_each(|_| bomb.extend([&b"\x02\xc3\x80\0\0\x20\0\x80\0\x08\0\0"[..], &[0; 0x2000]].concat()));
    assert!(parts(ValueType::ListQuicklist2, &bomb).is_empty());
    let texts = [vec![64], string(&b"v".repeat(3000)).repeat(64)].concat();
    let shown: usize = parts(ValueType::Set, &texts).iter().map(String::len).sum();
    assert!(shown <= MAX_VALUE_BYTES + 2 * MAX_PARTS, "{shown}");
}

#[test]
fn large_values_are_shown_up_to_the_limits() {
    let long = parts(ValueType::String, &string(&b"x".repeat(1 << 20)));
    assert_eq!(long[0].len(), MAX_TEXT_BYTES);
    let mut hash = vec![0x80, 0, 0, 1, 0];
    (0..256).for_each(|_| hash.extend([string(b"field"), string(&b"v".repeat(3000))].concat()));
    let shown = parts(ValueType::Hash, &hash);
    assert!(
        shown.len() <= MAX_PARTS && shown.iter().map(String::len).sum::<usize>() <= MAX_VALUE_BYTES + MAX_PARTS,
        "{}",
        shown.len()
    );
    assert_eq!(parts(ValueType::Hash, &[b"\x40\xff".to_vec(), b"\x01a\x01b".repeat(255)].concat()).len(), MAX_PARTS);
}

#[test]
fn truncated_number_is_not_shown() {
    let text = [b"x ".to_vec(), b"1".repeat(MAX_TEXT_BYTES)].concat();
    assert_eq!(parts(ValueType::String, &string(&text)), ["x "]);
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80), byte in 0u8..40) {
        if let Some(value_type) = ValueType::from_byte(crate::rdb::header::Family::Redis, byte) {
            parts(value_type, &bytes);
        }
    }
}
