//! Records behind a damaged value that is large: false starts inside it neither hide them nor take them in.

use super::*;

/// Returns the record of a hash whose values are texts of up to 57 letters.
fn hash(key: &str, fields: u16) -> Vec<u8> {
    let head = string(key, "");
    let mut state = fields.wrapping_add(u16::try_from(key.len()).unwrap()) | 1;
    let mut letter = || {
        state = state.wrapping_mul(25_173).wrapping_add(13_849);
        state >> 8
    };
    let mut text = || (0..letter() % 55 + 3).map(|_| char::from(b'a' + (letter() % 26) as u8)).collect::<String>();
    let pairs = (0..fields).flat_map(|field| string(&format!("field{field}"), &text()).split_off(1));
    let [high, low] = fields.to_be_bytes();
    [&[4], &head[1..head.len() - 1], &[0x40 | high, low], &pairs.collect::<Vec<u8>>()].concat()
}

#[test]
fn a_damaged_hash_costs_no_other_key() {
    let hashes: Vec<Vec<u8>> = (10..50).map(|number| hash(&format!("user:{number}"), 2000 + number)).collect();
    let whole = file(&hashes.concat());
    let start = hashes[..3].concat().len() + 9;
    for at in (1000..50_000).step_by(7000) {
        let mut shorter = whole.clone();
        shorter.drain(start + at..start + at + 512);
        let mut longer = whole.clone();
        longer.splice(start + at..start + at, *b"\x8f\x1d\x02\xc3\xee\x41\x77\xb0");
        for damaged in [shorter, longer] {
            let kept = names(&saved(&damaged).1);
            assert_eq!((kept.len(), kept.iter().any(|name| name == "user:13")), (39, false), "{at}: {kept:?}");
        }
    }
}

#[test]
fn records_in_a_false_one_are_found() {
    let behind = strings(1, "user:more", 200)[6..].to_vec();
    // The false record ends where `user:more:50` begins.
    let end = behind.windows(12).position(|window| window == b"user:more:50").unwrap() - 2;
    let [high, low] = u16::try_from(end).unwrap().to_be_bytes();
    for name in [&b"x9"[..], b"#!"] {
        let head = [&[0, 2], name, &[0x40 | high, low]].concat();
        let items = [&strings(0, "user", 60)[..], &[0x77; 50], &head, &behind, &strings(2, "order", 40)].concat();
        let (survey, out) = saved(&file(&items));
        let kept = names(&out);
        // The record before the damage is given up: its length might have led there.
        assert!(kept.len() >= 299 && kept.contains(&"user:more:0".to_owned()), "{} keys", kept.len());
        assert_eq!(survey.gaps.len(), 1, "{:?}", survey.gaps);
        assert!(kept.iter().all(|name| name.contains(':')));
    }
}
