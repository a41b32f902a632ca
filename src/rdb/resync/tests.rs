use super::*;

/// Returns the record of a hash with a few hundred fields; the last one repeats another if the value is to be damaged.
fn hash(number: u8, is_damaged: bool) -> Vec<u8> {
    let pairs = (0..300_u16).flat_map(|field| {
        let name = if is_damaged && field == 299 { 0 } else { field };
        format!("\x08name-{name:03}\x0fvalue-{number:03}-{field:03}-x").into_bytes()
    });
    [&b"\x04\x06key:"[..], &[b'a' + number / 26, b'a' + number % 26], b"\x41\x2c", &pairs.collect::<Vec<u8>>()].concat()
}

#[test]
fn values_are_verified_once_in_a_search() {
    let header = RdbHeader { family: Family::Redis, version: 11 };
    let hashes: Vec<Vec<u8>> = (0..30).map(|number| hash(number, number == 11)).collect();
    let (bytes, before) = (hashes.concat(), hashes[..12].concat().len());
    let mut resync = Resync::new(&bytes, 0, header);
    let profile = Profile::default();
    let goal = Goal { failed: 0, templates: None, profile: &profile, is_trusted: false };
    // Chains from all records before the damaged one end at it.
    assert_eq!(resync.find(0..bytes.len(), goal), Some(before));
    let granted = FIRST_WORK + i64::try_from(before + 1).unwrap() * WORK_PER_BYTE;
    let spent = usize::try_from(granted - resync.work).unwrap();
    assert!((bytes.len() / 2..bytes.len() * 3 / 2).contains(&spent), "{spent} of {}", bytes.len());
}

#[test]
fn strings_that_are_jumped_over_take_no_work() {
    const LONG: usize = (1 << 20) + 100;
    let header = RdbHeader { family: Family::Redis, version: 11 };
    // Each start reads as a string of a megabyte, which no record follows.
    let start = b"\0\x02ab\x80\0\x10\0\0";
    let records = (10..40).flat_map(|number| format!("\0\x06key:{number}\x05value").into_bytes());
    let bytes = [&start.repeat(1000)[..], &[0xEE; LONG], &records.collect::<Vec<u8>>(), &[0xEE; LONG]].concat();
    let mut resync = Resync::new(&bytes, 0, header);
    let profile = Profile::default();
    let goal = Goal { failed: 0, templates: None, profile: &profile, is_trusted: false };
    assert_eq!(resync.find(0..bytes.len(), goal), Some(start.len() * 1000 + LONG));
    assert!(resync.work > FIRST_WORK);
}
