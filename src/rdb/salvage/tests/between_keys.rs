//! Damage between keys: numbers and sizes of databases, auxiliary fields, access counters.

use super::*;

#[test]
fn damaged_sizes_of_a_database_do_not_move_it() {
    let whole = file(&[strings(0, "user", 60), strings(5, "cart", 60), strings(15, "job", 60)].concat());
    for (db, prefix) in [(5, &b"cart"[..]), (15, b"job")] {
        let at = whole.windows(3).position(|window| window == [0xFE, db, 0xFB]).unwrap();
        for bytes in [[0x9A, 0x21, 0x93], [0x77, 0, 0], [0, 0, 0], [0xFF, 0xFF, 0xFF], [0, 3, 0x40], [0xFA, 0x33, 1]] {
            let mut damaged = whole.clone();
            damaged[at + 2..at + 5].copy_from_slice(&bytes);
            let (survey, out) = saved(&damaged);
            assert!(survey.keys() >= 177, "{db} {bytes:?}: {} keys", survey.keys());
            assert!(databases_of(&out, prefix).iter().all(|found| *found == u64::from(db)), "{db} {bytes:?}");
            assert_eq!(databases_of(&out, b"user").len(), 60, "{db} {bytes:?}");
        }
    }
}

/// The end of an intset or a ziplist may read as `SELECTDB`.
#[test]
fn end_of_a_damaged_value_names_no_database() {
    // Members 1, 2 and 510, whose length is damaged so that the value ends before the last.
    let set = b"\x0b\x03ids\x0e\x02\0\0\0\x03\0\0\0\x01\0\x02\0\xfe\x01";
    let keys = [&strings(0, "user", 30)[..], set, &strings(0, "user:more", 30)[6..]].concat();
    let mut whole = file(&keys);
    let size = whole.windows(3).position(|window| window == [0xFE, 0, 0xFB]).unwrap() + 4;
    whole[size] = 61;
    assert!(survey(&whole, 0).unwrap().is_sound());
    let at = whole.windows(4).position(|window| window == b"\x03ids").unwrap() + 4;
    for length in [0x0c, 0x0f, 0x2e] {
        let mut damaged = whole.clone();
        damaged[at] = length;
        let (survey, out) = saved(&damaged);
        assert!(survey.keys() >= 58, "{length}: {} keys", survey.keys());
        assert!(records(&out).iter().all(|(db, ..)| *db == 0), "{length}");
    }
}

#[test]
fn few_keys_of_a_file_that_is_cut_off_are_saved() {
    // Longer than what a file that is cut off may end with.
    let value = "x".repeat(62);
    let keys = |prefix: &str, count: usize| {
        (0..count).flat_map(|number| string(&format!("{prefix}:{number}"), &value)).collect::<Vec<u8>>()
    };
    let database = |db: u8, keys: Vec<u8>, count: u8| [vec![0xFE, db, 0xFB, count, 0], keys].concat();
    for count in [2, 5, 6, 7] {
        let few = database(0, keys("user", count), count as u8);
        let whole = file(&few);
        let (survey, _) = saved(&whole[..whole.len() - 10]);
        assert_eq!(survey.keys(), count as u64 - 1, "of {count}");
        let two = file(&[strings(0, "user", 60), database(1, keys("session", count), count as u8)].concat());
        let (survey, out) = saved(&two[..two.len() - 10]);
        assert_eq!((survey.keys(), databases_of(&out, b"session").len()), (59 + count as u64, count - 1), "of {count}");
    }
}

/// Returns keys of a cluster, each behind the sizes of its slot.
fn slots(count: u8) -> Vec<u8> {
    let slot = |number: u8| [&b"\xfa\x09slot-info\x06"[..], format!("{:02},1,0", number % 100).as_bytes()].concat();
    let keys = (0..count).map(|number| {
        let record = string(&format!("user:{number}:name"), &format!("value of the key number {number}"));
        [slot(number), record].concat()
    });
    [0xFE, 0, 0xFB, 0x40, count, 0].into_iter().chain(keys.flatten()).collect()
}

#[test]
fn auxiliary_field_takes_in_no_records() {
    let whole = file(&slots(200));
    let all = records(&whole);
    let at = whole.windows(6).position(|window| window == b"50,1,0").unwrap() - 10;
    let mut damaged = whole.clone();
    damaged[at..at + 3].copy_from_slice(&[0x45, 0, 0]);
    let (survey, out) = saved(&damaged);
    let kept = records(&out);
    assert!(!survey.is_sound() && kept.len() >= 198, "{} keys", kept.len());
    assert!(kept.iter().all(|record| all.contains(record)));
}

#[test]
fn slot_sizes_that_servers_refuse_are_left_out() {
    let mut whole = file(&slots(100));
    let at = whole.windows(6).position(|window| window == b"50,1,0").unwrap();
    whole[at + 2] = b';';
    let (survey, out) = saved(&whole);
    assert_eq!((survey.gaps.len(), records(&out).len()), (1, 100));
    assert!(out.windows(6).all(|window| window != b"50;1,0"));
}

#[test]
fn cluster_has_no_other_database() {
    let (before, behind) = (slots(60), strings(1, "user:more", 60));
    let (survey, out) = saved(&file(&[&before[..], &[0xEE; 50], &behind].concat()));
    assert!(survey.keys() >= 117 && records(&out).iter().all(|(db, ..)| *db == 0), "{} keys", survey.keys());
    assert!(survey.databases.iter().all(|size| size.is_certain));
    // Four slots do not make a cluster of a file that has announced several databases.
    let several = [&strings(0, "user", 20)[..], &strings(1, "cart", 20), &slots(60)[6..], &behind].concat();
    assert!(survey_is_sound_in(&several, 1));
}

/// Returns whether a file is sound, and has keys in this database.
fn survey_is_sound_in(items: &[u8], db: u64) -> bool {
    let survey = survey(&file(items), 0).unwrap();
    survey.is_sound() && survey.databases.iter().any(|size| size.db == db && size.keys > 0)
}

#[test]
fn damage_leaves_no_second_counter() {
    let counter = b"\xf9\x03";
    let items = [&b"\xfe\0"[..], &used(counter, "user", 40), &[0xEE; 50], b"\xf9\xc2", &used(counter, "user:more", 40)];
    let (_, out) = saved(&[b"REDIS0012", &items.concat()[..], b"\xff", &[0; 8]].concat());
    assert!(records(&out).iter().all(|(.., record)| record.starts_with(b"\xf9\x03\0")));
    assert!(records(&out).len() >= 78);
}

#[test]
fn damage_leaves_no_expiry_that_no_server_writes() {
    let behind = strings(0, "user:more", 40)[6..].to_vec();
    let of_version = |version: &[u8; 4]| {
        let items = [&strings(0, "user", 40)[..], &[0xEE; 50], b"\xfd\x61\xd2\x5a\x03", &behind].concat();
        let (_, out) = saved(&[b"REDIS", &version[..], &items, b"\xff", &[0; 8]].concat());
        let records = records(&out);
        assert!(records.len() >= 79, "{}", records.len());
        records.iter().filter(|(.., record)| record.starts_with(b"\xfd")).count()
    };
    assert_eq!(of_version(b"0011"), 0);
}

#[test]
fn members_of_a_set_are_no_keys_among_names_of_text() {
    let false_set = |n: u8| [2, 3, 0xC0, 0x39 + n, 0xC2, 4, 0xC0, n, 0xC0, n + 10, 0xC0, n + 20, 0xC0, n + 30];
    let false_sets: Vec<u8> = (0..6).flat_map(false_set).collect();
    let behind = strings(0, "user:more", 40)[6..].to_vec();
    let items = [&strings(0, "user", 40)[..], &[0xEE; 50], &false_sets, &behind].concat();
    let (survey, out) = saved(&file(&items));
    let kept = records(&out);
    assert!(kept.iter().all(|(_, name, _)| name.starts_with(b"user:")), "{kept:?}");
    assert!(kept.len() >= 79 && survey.gaps.len() == 1, "{}", kept.len());
}
