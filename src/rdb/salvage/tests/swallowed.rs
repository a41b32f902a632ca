//! Records that contain others, false keys, and keys before the end of a damaged file.

use super::*;

/// Returns the names of the keys of a sound file.
fn names(bytes: &[u8]) -> Vec<String> {
    records(bytes).into_iter().map(|(_, key, _)| String::from_utf8_lossy(&key).into_owned()).collect()
}

/// Returns `items` with a record at `start` whose value holds all bytes from its own value to `end`.
fn taken_in(items: &[u8], start: usize, name: &str, end: usize) -> Vec<u8> {
    let head = 2 + name.len();
    let value = &items[start + head..end];
    let len = u16::try_from(value.len()).unwrap() | 0x4000;
    [&items[..start + head], &len.to_be_bytes(), value, &items[end..]].concat()
}

/// Returns where the record of this key begins.
fn place(items: &[u8], name: &str) -> usize {
    let record = string(name, "");
    let head = &record[..record.len() - 1];
    items.windows(head.len()).position(|window| window == head).unwrap()
}

#[test]
fn a_value_does_not_take_in_the_commands_behind_the_snapshot() {
    let set = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\nbc\r\n";
    let commands = [&b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"[..], &set.repeat(40)].concat();
    let snapshot = file(&strings(0, "user", 60));
    let bytes = [&snapshot[..], &commands].concat();
    assert!(survey(&bytes, 0).unwrap().is_sound());
    let last = place(&bytes, "user:59");
    let damaged = [&bytes[..last + 9], &[0x41, 0], &bytes[last + 10..]].concat();
    let (found, out) = saved(&damaged);
    assert_eq!((names(&out).len(), found.limit), (59, snapshot.len() + 1));
    assert!(!found.is_sound());
    // If the checksum before the commands is right with one byte changed back, that byte was the damage.
    let snapshot = proven(&strings(0, "user", 60));
    let mut bytes = [&snapshot[..], &commands].concat();
    bytes[snapshot.len() - 9] = 0xFD;
    assert_eq!((survey(&bytes, 0).unwrap().keys(), survey(&bytes, 0).unwrap().limit), (60, snapshot.len()));
}

#[test]
fn a_damaged_end_mark_is_no_key() {
    for count in [1, 3, 10, 60] {
        let whole = file(&strings(0, "user", count));
        for mark in [0x00, 0xFC, 0xFD, 0xF9, 0x77] {
            let mut damaged = whole.clone();
            let at = damaged.len() - 9;
            damaged[at] = mark;
            let (found, out) = saved(&damaged);
            assert_eq!(records(&out), records(&whole), "{mark:#x} behind {count} keys");
            assert_eq!(found.gaps.last().map(|gap| gap.range.clone()), Some(at as u64..at as u64 + 9), "{mark:#x}");
        }
    }
}

#[test]
fn keys_before_a_damaged_end_are_saved_if_they_are_all_that_are_announced() {
    for count in [1, 2, 5, 8, 60] {
        let items = [b"REDIS0011", &strings(0, "user", count)[..]].concat();
        let noise: Vec<u8> = (0..300_u32).map(|number| (number * number % 251) as u8).collect();
        for rest in [&[0; 300][..], &[0xC8; 300], &noise, b"\x06junkjunkjunk"] {
            let (_, out) = saved(&[&items[..], rest].concat());
            assert_eq!(records(&out).len(), usize::from(count), "{count} keys, then {:?}", &rest[..4]);
        }
        // The bytes before an intact end may be the rest of the last value.
        let (found, _) = saved(&[&items[..], b"2more\xff", &[0; 8]].concat());
        assert_eq!(found.keys(), u64::from(count) - 1, "{count} keys");
    }
}

#[test]
fn a_value_that_takes_in_records_and_a_database_is_dropped() {
    let items = [strings(0, "user", 60), strings(3, "cart", 100), strings(15, "order", 60)].concat();
    let (start, end) = (place(&items, "cart:70"), place(&items, "order:20"));
    let damaged = file(&taken_in(&items, start, "cart:70", end));
    let (found, out) = saved(&damaged);
    let kept = records(&out);
    assert_eq!(databases_of(&out, b"order"), [15; 60]);
    assert_eq!(databases_of(&out, b"cart"), [3; 99]);
    assert!(kept.len() == 219 && kept.iter().all(|(_, key, _)| key != b"cart:70"));
    assert_eq!(found.gaps.len(), 1, "{:?}", found.gaps);
    // Within one database, and where the value is damaged, too.
    let end = place(&items, "cart:90");
    let mut damaged = file(&taken_in(&items, start, "cart:70", end));
    assert_eq!(saved(&damaged).0.keys(), 219);
    damaged[9 + start] = 0x0B;
    assert_eq!(saved(&damaged).0.keys(), 219);
    // As a name.
    let name = taken_in(&items, start - 7, "", end)[start - 7..].to_vec();
    let (_, out) = saved(&file(&[&items[..start - 7], &name].concat()));
    assert!(names(&out).iter().all(|name| name.len() < 10) && records(&out).len() >= 216, "{}", records(&out).len());
}

#[test]
fn a_value_of_records_is_kept_if_all_announced_keys_are_there() {
    let items = strings(0, "user", 60);
    let inner = &strings(0, "user", 40)[6..];
    let len = u16::try_from(inner.len()).unwrap() | 0x4000;
    let value = [&[0, 4][..], b"text", &len.to_be_bytes(), inner].concat();
    let mut all = [&items[..], &value, &string("user:more", "x")].concat();
    all[4] = 62;
    let (found, _) = saved(&file(&all));
    assert!(found.is_sound() && found.keys() == 62);
    // Some keys are lost elsewhere, but fewer.
    all.splice(100..140, [0xEE; 30]);
    let (_, out) = saved(&file(&all));
    assert!(names(&out).contains(&"text".to_owned()));
}

#[test]
fn more_keys_than_announced_leave_their_database_in_doubt() {
    let mut items = [strings(0, "user", 60), strings(3, "cart", 60)].concat();
    items.extend(&strings(15, "order", 40)[6..]);
    let bytes = file(&items);
    assert!(survey(&bytes, 0).unwrap().databases.iter().all(|database| database.is_certain));
    let mut damaged = bytes.clone();
    let at = place(&damaged, "user:7");
    damaged[at..at + 8].fill(0xEE);
    let certain: Vec<_> = survey(&damaged, 0).unwrap().databases.iter().map(|database| database.is_certain).collect();
    assert_eq!(certain, [true, false]);
}
