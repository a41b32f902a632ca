//! Tests: which database the keys behind damage are in.

use super::*;

#[test]
fn lost_database_switch_is_inferred() {
    let items = [strings(0, "user", 60), strings(1, "cart", 60), strings(2, "job", 60)].concat();
    let whole = file(&items);
    let at = whole.windows(4).position(|window| window == [0xFE, 1, 0xFB, 0x40]).unwrap();
    let mut damaged = whole.clone();
    damaged[at - 4..at + 12].fill(0x77);
    let (survey, out) = saved(&damaged);
    let kept = records(&out);
    let carts: Vec<_> = kept.iter().filter(|(_, key, _)| key.starts_with(b"cart")).map(|(db, ..)| *db).collect();
    assert!(carts.len() > 55 && carts.iter().all(|db| *db == 1), "{carts:?}");
    assert_eq!(survey.databases.iter().map(|size| size.db).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn databases_have_numbers_of_64_bits() {
    // The greatest number that can be stored.
    const LAST: u64 = u64::MAX - 1;
    let select = |db: u64| [&[0xFE, 0x81][..], &db.to_be_bytes()].concat();
    let size = [&[0xFB, 0x81][..], &LAST.to_be_bytes(), &[0]].concat();
    let last = [&select(LAST)[..], &size, &strings(0, "cart", 40)[6..]].concat();
    let (_, out) =
        saved(&file(&[&strings(0, "user", 40)[..], &last, &select(3), &[0xFB, 1, 0], &string("a", "b")].concat()));
    assert_eq!((databases_of(&out, b"user"), databases_of(&out, b"cart")), (vec![0; 40], vec![LAST; 40]));
}

#[test]
fn misplaced_database_switch_does_not_move_the_keys_behind_it() {
    // The end of one database and the start of the next, in the place of keys of another; nothing is where the block was.
    let block = [string("job:99", "the last of its database"), strings(9, "late", 20)[..300].to_vec()].concat();
    let parts = [strings(0, "user", 60), strings(1, "cart", 60), strings(2, "item", 60)];
    for selects in [&parts[..], &parts[..1]] {
        let mut damaged = file(&selects.concat());
        damaged[200..200 + block.len()].copy_from_slice(&block);
        let (survey, out) = saved(&damaged);
        let users = databases_of(&out, b"user");
        assert!(users.len() > 20 && users.iter().all(|db| *db == 0), "{users:?}");
        for (name, db) in [("cart", 1), ("item", 2)].into_iter().take(selects.len() - 1) {
            assert_eq!(databases_of(&out, name.as_bytes()), [db; 60]);
            assert!(survey.databases.iter().any(|found| found.db == db && found.is_certain), "{name}");
        }
    }
}

#[test]
fn database_is_uncertain_if_its_switch_may_be_lost() {
    let behind = |db, left, run, lost, usual, next| GapFacts { db, left, run, lost, usual, next }.database_behind();
    assert_eq!(behind(0, Some(1000), 900, 400, 40, None), InferredDb::certain(0));
    assert_eq!(behind(0, Some(5), 900, 400, 40, None), InferredDb::uncertain(1));
    assert_eq!(behind(0, Some(5), 900, 400, 40, Some(2)), InferredDb::certain(1));
    assert_eq!(behind(0, Some(5), 900, 400, 40, Some(1)), InferredDb::certain(0));
    assert_eq!(behind(0, None, 900, 400, 40, None), InferredDb::uncertain(0));
    assert_eq!(behind(0, Some(300), 310, 400, 40, None), InferredDb::uncertain(0));
    // One large value filled the gap: the keys behind it are all but two of those that are missing.
    assert_eq!(behind(0, Some(1002), 1000, 900_000, 47, None), InferredDb::uncertain(0));
    assert_eq!(behind(0, Some(1002), 20, 900_000, 47, None), InferredDb::uncertain(1));
    // All 241 keys that are left would have to be lost in 991 bytes; 18 keys of a misplaced block are more likely.
    assert_eq!(behind(1, Some(241), 259, 991, 270, Some(3)), InferredDb::uncertain(1));
}

#[test]
fn a_name_may_end_one_database_and_begin_the_next() {
    let items = [&string("config", "1")[..], &[0xfe, 1], &string("config", "2")].concat();
    let (survey, _) = saved(&file(&items));
    assert!(survey.is_sound() && survey.keys() == 2);
}
