//! Bounds of time and memory: files made to be surveyed slowly take linear time.

use std::time::{Duration, Instant};

use super::*;

/// Time for a file of 1 MiB on a busy machine; a survey of quadratic time takes minutes.
const LIMIT: Duration = Duration::from_secs(10);

#[test]
fn plausible_starts_everywhere_take_linear_time() {
    // Each record fails behind a run of plausible ones, wherever the search begins.
    let run = [string("a", "b"), string("c", "d")].concat().repeat(7);
    let bait = [&run[..], &[0xEE]].concat();
    let bytes = file(&bait.repeat((1 << 20) / bait.len()));
    let start = Instant::now();
    survey(&bytes, 0).unwrap();
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
}

/// Surveys a file of version 15 with `run` in its middle, whole, cut off, and with a changed byte before it.
fn survey_in_time(name: &str, run: &[u8]) {
    let keys = strings(0, "user", 40);
    for (tail, is_cut) in [(&b""[..], true), (b"\xee", false)] {
        let end = run.len() - usize::from(is_cut);
        let bytes = [b"REDIS0015", &keys[..], tail, &run[..end], tail, &keys[6..]].concat();
        let bytes = if is_cut { &bytes[..9 + keys.len() + end] } else { &bytes[..] };
        let start = Instant::now();
        survey(bytes, 0).unwrap();
        assert!(start.elapsed() < LIMIT, "{name}, cut: {is_cut}: {:?}", start.elapsed());
    }
}

#[test]
fn runs_of_cheap_items_take_linear_time() {
    let expiry = [&[0xFC][..], &1_700_000_000_000u64.to_le_bytes()].concat();
    let idle = [0xF8, 0x81, 0, 0, 0, 0, 0, 0, 0, 9];
    let module = [&[0xF7, 0x81][..], &[1; 8], &[2, 2, 0]].concat();
    // Sets of numbers, and of the sets behind them.
    let sets = [&b"\x02\x01a\x7f\xff"[..], &[0xC0, 7, 0xC0, 8, 0xC0, 9].repeat(10)].concat();
    let units: [(&str, &[u8]); 9] = [
        ("SELECTDB", &[0xFE, 1]),
        ("RESIZEDB", &[0xFB, 1, 1]),
        ("auxiliary fields", b"\xfa\x01a\x01b"),
        ("expiries", &expiry),
        ("idle times", &idle),
        ("module data", &module),
        ("tiny strings", b"\0\x01a\x01b\0\x01c\x01d"),
        ("sets", &sets),
        ("listpacks", b"\x10\x01a\x7f\xff"),
    ];
    for (name, unit) in units {
        survey_in_time(name, &unit.repeat((1 << 20) / unit.len()));
    }
}

#[test]
fn runs_of_templates_take_linear_time() {
    // Field names of 100 bytes, so that copying the table for each template is felt.
    let template = |id: u16| [&[0xF2, 0x80, 0, 0][..], &id.to_be_bytes(), &[1, 0x40, 100], &[b'f'; 100]].concat();
    let select = |db: u16| [&[0xFE, 0x80, 0, 0][..], &db.to_be_bytes()].concat();
    let templates: Vec<u8> = (0..20_000).flat_map(template).collect();
    survey_in_time("templates", &templates);
    // A stretch of each database, with the table before it.
    let apart: Vec<u8> = (0..20_000).flat_map(|id| [select(id), template(id)].concat()).collect();
    survey_in_time("templates of many databases", &apart);
    // Starts of records that lead to a template, behind damage.
    let starts = [&templates[..], &[0xEE], &[&select(0)[..], &template(1)].concat().repeat(10_000)].concat();
    survey_in_time("templates behind SELECTDB", &starts);
}

#[test]
fn a_file_of_too_many_duplicates_is_given_up() {
    let twins = (0..70_000).flat_map(|number| string(["a", "b"][number % 2], &number.to_string()));
    let twins: Vec<u8> = twins.collect();
    let (before, behind) = (strings(0, "user", 40), strings(1, "cart", 40));
    let bytes = proven(&[&before[..], &twins, &behind].concat());
    let (survey, out) = saved(&bytes);
    assert_eq!((survey.gaps.len(), records(&out).len(), survey.ended), (limits::MAX_GAPS + 1, 40, false));
    let last = survey.gaps.last().unwrap();
    assert!(matches!(last.error.kind(), ErrorKind::Limit(_)) && last.kind == GapKind::Framing, "{last:?}");
    assert_eq!(last.range.end, bytes.len() as u64);
    assert!(survey.gaps.windows(2).all(|two| two[0].range.end <= two[1].range.start));
    // Those that are not too many cost only themselves.
    let few = &twins[..twins.len() / 70_000 * 1000];
    assert_eq!(records(&saved(&proven(&[&before[..], few, &behind].concat())).1).len(), 80);
}
