//! Damaged templates of compact hashes.

use super::*;

/// Template ids in the order of the file; servers write them in any.
const TEMPLATE_IDS: [u8; 5] = [3, 0, 4, 1, 2];

/// Returns a file of strings and compact hashes, with templates of 11 bytes at its start.
fn compact_hashes() -> Vec<u8> {
    let template = |id: u8| [&[0xF2, id, 2][..], b"\x02id\x04name"].concat();
    let packed = |id: u8| [&[15, 15, 0, 0, 0, 3, 0, id, 1][..], b"\x81a\x02\x81b\x02\xff"].concat();
    let hash = |number: u8| {
        let id = number % 5;
        let key = |form: &str| [&[9][..], format!("{form}:{number:02}").as_bytes()].concat();
        [&[30][..], &key("packed"), &packed(id), &[32], &key("values"), &[id], b"\x01x\x01y"].concat()
    };
    let head: Vec<u8> = TEMPLATE_IDS.into_iter().flat_map(template).collect();
    let keys: Vec<u8> =
        (10..60).flat_map(|number| [string(&format!("text:{number}"), "value"), hash(number)].concat()).collect();
    [b"REDIS0015", &head[..], b"\xfe\x00\xfb\x40\x96\x00", &keys, b"\xff", &[0; 8]].concat()
}

/// Checks that a damaged copy of a file keeps all keys but the hashes of these templates, which are listed.
fn loses_hashes_of(whole: &[u8], damaged: &[u8], lost: &[u8]) {
    let (survey, out) = saved(damaged);
    let refers = |key: &[u8]| !key.starts_with(b"text") && lost.contains(&((key[key.len() - 1] - b'0') % 5));
    let expected: Vec<_> = records(whole).into_iter().filter(|(_, key, _)| !refers(key)).collect();
    assert_eq!(records(&out), expected, "templates {lost:?}");
    let listed = survey.gaps.iter().filter(|gap| matches!(gap.kind, GapKind::Value(_)));
    assert_eq!(listed.count(), 20 * lost.len());
}

#[test]
fn lost_template_costs_only_the_hashes_that_refer_to_it() {
    let whole = compact_hashes();
    assert_eq!(records(&whole).len(), 150);
    for (place, lost) in TEMPLATE_IDS.into_iter().enumerate() {
        let mut damaged = whole.clone();
        damaged[9 + place * 11..20 + place * 11].fill(0x77);
        loses_hashes_of(&whole, &damaged, &[lost]);
    }
    for (place, lost) in TEMPLATE_IDS.windows(2).enumerate() {
        let mut damaged = whole.clone();
        damaged[10 + place * 11..30 + place * 11].fill(0);
        loses_hashes_of(&whole, &damaged, lost);
    }
}

#[test]
fn template_whose_name_takes_in_others_is_lost_alone() {
    let whole = compact_hashes();
    for (place, lost) in TEMPLATE_IDS.into_iter().enumerate() {
        // The second name takes in the next templates, or the first database and its records.
        for len in [3, 5, 6, 7, 11, 15, 26, 31, 60] {
            let mut damaged = whole.clone();
            damaged[9 + place * 11 + 6] = len;
            loses_hashes_of(&whole, &damaged, &[lost]);
        }
        let mut damaged = whole.clone();
        damaged[9 + place * 11 + 2] = 1;
        loses_hashes_of(&whole, &damaged, &[lost]);
    }
}
