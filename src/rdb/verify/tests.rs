use super::*;
use crate::rdb::cursor::Cursor;
use crate::rdb::template::Templates;
use crate::rdb::walk::walk;

const REDIS_7: RdbHeader = RdbHeader { family: Family::Redis, version: 10 };
const REDIS_8_10: RdbHeader = RdbHeader { family: Family::Redis, version: 15 };
const VALKEY_9: RdbHeader = RdbHeader { family: Family::Valkey, version: 80 };

fn verified(verify: &mut Verify, value_type: ValueType, bytes: &[u8]) -> Result<Notes> {
    verified_in_walks(verify, value_type, bytes).map(|(notes, _)| notes)
}

/// Verifies a value, and returns how often it was walked, too.
fn verified_in_walks(verify: &mut Verify, value_type: ValueType, bytes: &[u8]) -> Result<(Notes, u32)> {
    for walks in 1.. {
        walk(value_type, Templates::NONE, &mut Cursor::new(bytes, 0), verify)?;
        if !verify.needs_another_walk() {
            return verify.finish().map(|notes| (notes, walks));
        }
    }
    unreachable!()
}

/// A set of members of four bytes.
fn set(members: impl Iterator<Item = u32>) -> Vec<u8> {
    let members: Vec<u8> = members.flat_map(|member| [&[4], &member.to_be_bytes()[..]].concat()).collect();
    let count = u32::try_from(members.len() / 5).unwrap();
    [&[0x80], &count.to_be_bytes()[..], &members].concat()
}

#[test]
fn large_values_are_compared_in_several_walks() {
    let mut verify = Verify::new(REDIS_7);
    let sound = set(0..4500);
    assert_eq!(verified(&mut verify, ValueType::Set, &sound).unwrap(), Notes::default());
    for twice in [0, 17, 4498] {
        let error = verified(&mut verify, ValueType::Set, &set((0..4499).chain([twice]))).unwrap_err();
        assert_eq!(error.offset(), Some(5 + 5 * 4499 + 1), "{twice}");
    }
    assert_eq!(verified(&mut verify, ValueType::Set, &sound).unwrap(), Notes::default());
}

#[test]
fn values_without_names_to_compare_are_walked_once() {
    let members = set(0..4500);
    let once = Ok((Notes::default(), 1));
    let walks = |verify: &mut Verify, value_type, bytes: &[u8]| {
        verified_in_walks(verify, value_type, bytes).map_err(|error| error.to_string())
    };
    let mut verify = Verify::new(REDIS_7);
    assert_eq!(walks(&mut verify, ValueType::List, &members), once);
    assert_eq!(walks(&mut Verify::lenient(), ValueType::Set, &members), once);
    assert_eq!(walks(&mut verify, ValueType::Set, &members), Ok((Notes::default(), 5)));
    // Of a stream walked again, each node would occur twice.
    let entry: &[(u8, u8)] = &[(0, 0)];
    let nodes: Vec<(u16, _)> = (1..=1001).map(|id| (id, entry)).collect();
    assert_eq!(walks(&mut verify, ValueType::Stream(1), &stream(&nodes)), once);
}

/// A packed set of members of four bytes.
fn packed_set(members: impl Iterator<Item = u32>) -> Vec<u8> {
    let members: Vec<u8> = members.flat_map(|member| [&[0x84], &member.to_be_bytes()[..], &[5]].concat()).collect();
    let total = u32::try_from(members.len() + 7).unwrap();
    [&[0x80], &total.to_be_bytes()[..], &total.to_le_bytes(), &[0xff; 2], &members, &[0xff]].concat()
}

#[test]
fn large_packed_values_are_compared_in_several_walks_and_the_first_repeated_element_is_told() {
    let mut verify = Verify::new(REDIS_7);
    assert_eq!(verified(&mut verify, ValueType::SetListpack, &packed_set(0..4500)).unwrap(), Notes::default());
    let repeated = packed_set((0..4400).chain(100..200));
    for _ in 0..20 {
        // Hashes differ from run to run, and with them the part that an element is in.
        let error = verified(&mut Verify::new(REDIS_7), ValueType::SetListpack, &repeated).unwrap_err();
        assert_eq!(error.offset(), Some(5 + 6 + 6 * 4400));
    }
}

#[test]
fn part_that_is_too_large_to_be_decompressed_is_checked_as_far_as_possible() {
    // A listpack of 30 elements `a`, compressed: 97 bytes.
    let blob = b"\xc3\x10\x40\x61\x05\x61\0\0\0\x1e\0\x02\x81a\x02\xe0\x4e\x02\0\xff";
    let most = |most| Verify::new(REDIS_7).with_parts_up_to(most);
    let mut enough = most(97);
    assert!(verified(&mut enough, ValueType::SetListpack, blob).unwrap_err().to_string().contains("repeats"));
    assert!(enough.take_over_budget().is_none());
    let mut little = most(96);
    assert_eq!(verified(&mut little, ValueType::SetListpack, blob).unwrap(), Notes::default());
    assert_eq!(little.take_over_budget().unwrap().offset(), Some(4));
    let mut damaged = blob.to_vec();
    damaged[17] = 200; // a copy from before the beginning
    assert!(verified(&mut little, ValueType::SetListpack, &damaged).is_err());
}

#[test]
fn stream_with_a_node_too_large_to_be_decompressed_is_not_called_damaged() {
    // One entry of the field `f` with a value of 40 times `a`: 56 bytes.
    let body =
        [&b"\x01\x01\0\x01\x01\x01\x81f\x02\0\x01\x02\x01\0\x01\0\x01\xa8"[..], &[b'a'; 40], b"\x29\x04\x01"].concat();
    let total = u32::try_from(body.len() + 7).unwrap();
    let node = [&total.to_le_bytes()[..], b"\x0a\0", &body, b"\xff"].concat();
    // An LZF block of literals alone.
    let block = node.chunks(32).flat_map(|run| [&[u8::try_from(run.len() - 1).unwrap()], run].concat());
    let block: Vec<u8> = block.collect();
    let len = |bytes: &[u8]| [0x40, u8::try_from(bytes.len()).unwrap()];
    let stored = [&b"\xc3"[..], &len(&block), &len(&node), &block].concat();
    let stream = [&b"\x01\x10\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0"[..], &stored, b"\x01\x01\0\0"].concat();
    let layout = ValueType::Stream(1);
    let most = |most| Verify::new(REDIS_7).with_parts_up_to(most);
    assert_eq!(verified(&mut most(100), layout, &stream).unwrap(), Notes::default());
    let mut little = most(20);
    assert_eq!(verified(&mut little, layout, &stream).unwrap(), Notes::default());
    assert!(little.take_over_budget().is_some());
}

/// A stream of nodes, each with its id in milliseconds, and flags and differences of its entries.
fn stream(nodes: &[(u16, &[(u8, u8)])]) -> Vec<u8> {
    let mut live = 0;
    let nodes = nodes.iter().map(|(id, entries)| {
        let deleted = entries.iter().filter(|(flags, _)| flags & 1 == 1).count();
        live += entries.len() - deleted;
        // No field names, and entries of three elements that have those of the node.
        let head = [entries.len() - deleted, deleted, 0, 0].map(|count| u8::try_from(count).unwrap());
        let entries = entries.iter().flat_map(|(flags, time)| [flags | 2, *time, 0, 3]);
        let body: Vec<u8> = head.into_iter().chain(entries).flat_map(|number| [number, 1]).collect();
        let total = u8::try_from(body.len() + 7).unwrap();
        let count = u8::try_from(body.len() / 2).unwrap();
        let id = [&[0x10][..], &u64::from(*id).to_be_bytes(), &[0; 8]].concat();
        [&id[..], &[total, total, 0, 0, 0, count, 0], &body, &[0xff]].concat()
    });
    let nodes: Vec<Vec<u8>> = nodes.collect();
    let number = |number| [&[0x80][..], &u32::try_from(number).unwrap().to_be_bytes()].concat();
    [number(nodes.len()), nodes.concat(), number(live), vec![63, 0, 0]].concat()
}

#[test]
fn entries_of_a_stream_out_of_order_are_noted() {
    let odd = |nodes: &[(u16, &[(u8, u8)])]| {
        let notes = verified(&mut Verify::new(REDIS_7), ValueType::Stream(1), &stream(nodes)).unwrap();
        notes.odd_stream
    };
    assert!(!odd(&[(5, &[(0, 0), (0, 1), (0, 2)]), (9, &[(0, 0), (0, 3)])]));
    assert!(odd(&[(5, &[(0, 0), (0, 2), (0, 1)])]), "within a node");
    assert!(odd(&[(5, &[(0, 0), (0, 0)])]), "the same id");
    assert!(odd(&[(5, &[(0, 0), (0, 7)]), (9, &[(0, 0)])]), "over nodes");
    assert!(odd(&[(9, &[(0, 0)]), (5, &[(0, 0)])]), "nodes");
    // XADD 5-0, 7-0; XDEL 7-0; XSETID 5-0; XADD 6-0.
    assert!(!odd(&[(5, &[(0, 0), (1, 2), (0, 1)])]), "deleted entries");
}

/// A hundred times `a`, compressed.
const LONG_NAME: &[u8] = b"\xc3\x09\x40\x64\x01aa\xe0\x57\0\x01aa";

/// A group with one pending entry, which one consumer has.
fn group(name: &[u8], consumer: &[u8]) -> Vec<u8> {
    let id = [&[0; 15][..], &[1]].concat();
    let pending = [b"\0\0\x01", &id[..], &[0; 8], b"\x01"].concat();
    [name, &pending, b"\x01", consumer, &[0; 8], b"\x01", &id].concat()
}

#[test]
fn stream_with_names_too_large_to_be_decompressed_is_not_called_damaged() {
    let short: &[u8] = b"\x01n";
    let groups = [[group(short, short), group(LONG_NAME, short)], [group(b"\x01m", short), group(short, LONG_NAME)]];
    for groups in groups {
        let stream = [&b"\0\0\0\0\x02"[..], &groups.concat()].concat();
        let most = |most| Verify::new(REDIS_7).with_parts_up_to(most);
        let mut enough = most(100);
        assert_eq!(verified(&mut enough, ValueType::Stream(1), &stream).unwrap(), Notes::default());
        assert!(enough.take_over_budget().is_none());
        let mut little = most(99);
        assert_eq!(verified(&mut little, ValueType::Stream(1), &stream).unwrap(), Notes::default());
        assert!(little.take_over_budget().is_some());
    }
}

#[test]
fn repeated_names_of_a_packed_template_are_where_the_names_are() {
    let names = b"\x0d\x00\x00\x00\x02\x00\x81f\x02\x81f\x02\xff";
    let hash = [&b"\x00\x0d"[..], names, b"\x01a\x01b"].concat();
    let error = verified(&mut Verify::new(REDIS_7), ValueType::HashTemplateArray, &hash).unwrap_err();
    assert_eq!(error.offset(), Some(2));
}

#[test]
fn own_names_of_a_compact_hash_are_in_order() {
    let verified = |layout, hash: &[u8]| verified(&mut Verify::new(REDIS_7), layout, hash);
    let sorted = b"\x01\x02\x01b\x02aa\x01x\x01y";
    let unsorted = b"\x01\x02\x02aa\x01b\x01x\x01y";
    assert!(verified(ValueType::HashTemplateArray, sorted).is_ok());
    assert_eq!(verified(ValueType::HashTemplateArray, unsorted).unwrap_err().offset(), Some(6));
    // A listpack of the id 0 and two values.
    let values = b"\x0f\x0f\0\0\0\x03\0\0\x01\x81x\x02\x81y\x02\xff";
    let packed = |names: &[u8]| [names, values].concat();
    assert!(verified(ValueType::HashTemplateListpack, &packed(&sorted[..7])).is_ok());
    assert!(verified(ValueType::HashTemplateListpack, &packed(&unsorted[..7])).is_err());
}

#[test]
fn arrays_are_refused_as_servers_refuse_them() {
    let verified = |array: &[u8]| verified(&mut Verify::new(REDIS_7), ValueType::Array, array);
    // One slot of index 0 that holds a small string, by length, as a number, and compressed.
    assert!(verified(b"\x01\0\0\x03\x07abcdefg").is_ok());
    assert!(verified(b"\x01\0\0\x03\xc2\xc0\x1d\xfe\xff").is_ok(), "-123456");
    assert_eq!(verified(b"\x01\0\0\x03\x08abcdefgh").unwrap_err().offset(), Some(5));
    assert!(verified(b"\x01\0\0\x03\xc2\x4e\x61\xbc\x00").is_err(), "12345678");
    assert!(verified(b"\x01\0\0\x03\xc3\x09\x40\x64\x01aa\xe0\x57\0\x01aa").is_err(), "100 times a");
    assert!(verified(b"\x01\0\0\0\x08abcdefgh").is_ok(), "not marked as small");
    // One slot of index 0 that holds 5, behind the flag and the index of the next insertion.
    let slot = b"\0\x01\x05\0\0\0\0\0\0\0";
    let with_head = |head: &[u8]| verified(&[head, slot].concat());
    assert!(with_head(b"\x01\0").is_ok());
    assert!(with_head(b"\x01\x01\x03").is_ok());
    assert!(with_head(b"\x01\x02\x03").is_err(), "a flag that is neither 0 nor 1");
    assert!(with_head(b"\x01\x01\x81\xff\xff\xff\xff\xff\xff\xff\xff").is_err(), "the reserved index");
    assert!(verified(b"\0\0").is_err(), "no items");
}

#[test]
fn a_value_without_elements_is_noted_after_one_with_elements() {
    let mut verify = Verify::new(REDIS_7);
    for (bytes, empty) in [(&b"\x01\x01a"[..], false), (b"\x00", true), (b"\x01\x01a", false)] {
        assert_eq!(verified(&mut verify, ValueType::List, bytes).unwrap().empty, empty);
    }
}

#[test]
fn a_lenient_visitor_lets_parts_repeat() {
    let twice = b"\x02\x01f\x01a\x01f\x01b";
    assert!(verified(&mut Verify::new(REDIS_7), ValueType::Hash, twice).is_err());
    assert_eq!(verified(&mut Verify::lenient(), ValueType::Hash, twice).unwrap(), Notes::default());
}

#[test]
fn a_zipmap_whose_count_is_not_read_is_refused_unless_it_is_254() {
    let verified = |count| {
        let blob = [7, count, 1, b'f', 1, 0, b'v', 0xff];
        verified(&mut Verify::new(REDIS_7), ValueType::HashZipmap, &blob)
    };
    assert_eq!(verified(254).unwrap(), Notes::default());
    assert!(verified(255).unwrap_err().to_string().contains("declares 255"));
}

#[test]
fn a_zipmap_whose_lengths_are_too_wide_is_refused() {
    let verified = |blob: &[u8]| {
        let blob = [&[u8::try_from(blob.len()).unwrap()], blob].concat();
        verified(&mut Verify::new(REDIS_7), ValueType::HashZipmap, &blob)
    };
    for wide in [&b"\x01\xfe\x01\0\0\0f\x01\0v\xff"[..], b"\x01\x01f\xfe\x01\0\0\0\0v\xff"] {
        assert!(verified(wide).unwrap_err().to_string().contains("more bytes than it needs"));
    }
}

#[test]
fn entry_is_pending_for_one_consumer() {
    let id = [&[0; 15][..], &[1]].concat();
    let pending = [b"\0\0\x01", &id[..], &[0; 8], b"\x01"].concat();
    let consumer = |name: &[u8]| [name, &[0; 8], b"\x01", &id].concat();
    let of = |consumers: &[Vec<u8>]| {
        let count = u8::try_from(consumers.len()).unwrap();
        let stream = [&b"\0\0\0\0\x01\x01g"[..], &pending, &[count], &consumers.concat()].concat();
        verified(&mut Verify::new(REDIS_7), ValueType::Stream(1), &stream)
    };
    assert!(of(&[consumer(b"\x01a")]).is_ok());
    assert!(of(&[consumer(b"\x01a"), consumer(b"\x01b")]).is_err());
}

#[test]
fn counts_of_fields_are_not_negative() {
    let of = |head: &[u8]| {
        let body = [head, b"\xff"].concat();
        let total = u8::try_from(body.len() + 6).unwrap();
        let count = u8::try_from(head.len() / 2).unwrap();
        let id = [&[0x10, 0, 0, 0, 0, 0, 0, 0, 5], &[0; 8][..]].concat();
        let stream = [&[1], &id[..], &[total, total, 0, 0, 0, count, 0], &body, b"\x01\x3f\0\0"].concat();
        verified(&mut Verify::new(REDIS_7), ValueType::Stream(1), &stream)
    };
    // One live entry without fields: of the node, or of its own. -1 as a number of 13 bits takes two bytes and their length.
    assert!(of(b"\x01\x01\0\x01\0\x01\0\x01\x02\x01\0\x01\0\x01\x03\x01").is_ok());
    assert!(of(b"\x01\x01\0\x01\xdf\xff\x02\0\x01\x02\x01\0\x01\0\x01\x03\x01").is_err());
}

/// Returns which servers refuse a stream of this layout: Redis 7.0, Valkey 9, Redis 8.10.
fn refused(layout: u8, stream: &[u8]) -> [bool; 3] {
    [REDIS_7, VALKEY_9, REDIS_8_10]
        .map(|header| verified(&mut Verify::new(header), ValueType::Stream(layout), stream).is_err())
}

/// A stream of one node, which declares live and deleted entries and has one entry for each element of `flags`; then its length.
fn declared(live: &[u8], deleted: u8, flags: &[u8], length: u8) -> Vec<u8> {
    let entries = flags.iter().zip(0..).flat_map(|(flags, time)| [flags | 2, time, 0, 3]);
    let rest: Vec<u8> = [deleted, 0, 0].into_iter().chain(entries).flat_map(|number| [number, 1]).collect();
    let total = u8::try_from(live.len() + rest.len() + 7).unwrap();
    let count = u8::try_from(rest.len() / 2 + 1).unwrap();
    let id = [&[0x10, 0, 0, 0, 0, 0, 0, 0, 5], &[0; 8][..]].concat();
    [&[1], &id[..], &[total, total, 0, 0, 0, count, 0], live, &rest, &[0xff, length, 63, 0]].concat()
}

#[test]
fn each_server_has_its_own_checks_of_the_counts_of_a_stream() {
    let of = |live: &[u8], deleted, flags: &[u8], length| {
        refused(1, &[&declared(live, deleted, flags, length)[..], &[0]].concat())
    };
    assert_eq!(of(b"\x02\x01", 1, &[0, 1, 0], 2), [false; 3]);
    assert_eq!(
        of(b"\x02\x01", 0, &[0, 1], 2),
        [false, true, true],
        "an entry is deleted, no matter what the node says"
    );
    assert_eq!(of(b"\x01\x01", 1, &[0, 0], 1), [false, true, true], "none is");
    assert_eq!(of(b"\x02\x01", 0, &[0, 0], 1), [false, true, true], "another length");
    assert_eq!(of(b"\0\x01", 1, &[1], 0), [false, false, true], "no live entry");
    assert_eq!(of(b"\x811\x02", 0, &[0], 1), [false, false, true], "their number as text");
}

#[test]
fn each_server_has_its_own_checks_of_entries_added_and_read() {
    // Two entries; the first id, the greatest deleted one, entries added; a group without pending entries and consumers.
    let of = |added: &[u8], read: &[u8]| {
        let stream = declared(b"\x02\x01", 0, &[0, 0], 2);
        refused(2, &[&stream[..], &[0; 4], added, b"\x01\x01g\0\0", read, b"\0\0"].concat())
    };
    let unknown = b"\x81\xff\xff\xff\xff\xff\xff\xff\xff";
    assert_eq!(of(b"\x02", b"\x02"), [false; 3]);
    assert_eq!(of(b"\x05", unknown), [false; 3], "a group that does not know it");
    assert_eq!(of(b"\x02", b"\x03"), [false, false, true], "more read than added");
    assert_eq!(of(b"\x02", b"\x81\xff\xff\xff\xff\xff\xff\xff\xfe"), [false, false, true], "-2 read");
    assert_eq!(of(b"\x01", b"\x01"), [false, false, true], "fewer added than there are");
    let odd = |read: &[u8]| {
        let stream = declared(b"\x02\x01", 0, &[0, 0], 2);
        let stream = [&stream[..], &[0; 4], b"\x02\x01\x01g\0\0", read, b"\0\0"].concat();
        verified(&mut Verify::new(REDIS_7), ValueType::Stream(2), &stream).unwrap().odd_stream
    };
    assert!(!odd(b"\x02") && !odd(unknown) && odd(b"\x03"), "a note where servers load it");
    assert_eq!(of(unknown, unknown), [false, false, true], "-1 added");
}

#[test]
fn an_entry_may_be_returned_twice() {
    let id = [&[0; 15][..], &[1]].concat();
    let group = [b"\x01\x01g\0\0\0\x01", &id[..], &[0; 8], b"\x01\0"].concat();
    let of = |returned: &[&[u8]]| {
        let returned = [&[u8::try_from(returned.len()).unwrap()], &returned.concat()[..]].concat();
        let stream = [&[0; 9][..], &group, &returned, b"\x01\x01\0\0\0"].concat();
        verified(&mut Verify::new(REDIS_8_10), ValueType::Stream(5), &stream)
    };
    assert!(of(&[&id]).is_ok());
    assert!(of(&[&id, &id]).is_ok());
    assert!(of(&[]).is_err() && of(&[&[0; 16]]).is_err());
}

#[test]
fn pending_entries_are_sorted_once() {
    const ENTRIES: u32 = 100_000;
    let id = |number: u32| [&[0; 12][..], &number.to_be_bytes()].concat();
    let number = |number: u32| [&[0x80][..], &number.to_be_bytes()].concat();
    // The last id is pending twice, which is found behind all others.
    let ids = (0..ENTRIES - 1).chain([ENTRIES - 2]);
    let pending: Vec<u8> = ids.clone().flat_map(|entry| [&id(entry)[..], &[0; 8], b"\x01"].concat()).collect();
    let returned: Vec<u8> = ids.flat_map(id).collect();
    let group = [b"\x01\x01g\0\0\0", &number(ENTRIES)[..], &pending, b"\0", &number(ENTRIES), &returned].concat();
    let stream = [&[0; 9][..], &group, b"\x01\x01\0\0\0"].concat();
    let start = std::time::Instant::now();
    let result = verified(&mut Verify::new(REDIS_8_10), ValueType::Stream(5), &stream);
    assert!(result.unwrap_err().to_string().contains("pending twice for a group"));
    assert!(start.elapsed().as_secs() < 3, "{:?}", start.elapsed());
}
