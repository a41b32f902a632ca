//! Expiry before a record behind damage, which belongs to the record although parsing resumed behind it.

use std::ops::Range;

use crate::rdb::cursor::Cursor;
use crate::rdb::opcode::byte;
use crate::rdb::resync::expiry_ms;
use crate::rdb::scan::KeyEntry;

/// Expiries that are believed, in milliseconds: of the years 1987 to 2248. One in 2^29 of arbitrary bytes is one.
const EXPIRIES: Range<i64> = 1 << 39..1 << 43;

/// Sizes of idle times and access counters with their opcodes; none is 0.
const USAGE_SIZES: [usize; 4] = [0, 2, 3, 6];

/// Returns where the record of `entry` begins if an intact expiry stands before the bytes at which parsing resumed, the end of
/// `gap`; between them the idle time or access counter of the key may be.
pub(super) fn start(bytes: &[u8], gap: Range<usize>, entry: &KeyEntry<'_>) -> Option<usize> {
    if entry.expires_at.is_some() {
        return None;
    }
    let before = bytes.get(gap.clone())?;
    let is_used = entry.idle.is_some() || entry.freq.is_some();
    let uses: &[usize] = if is_used { &[0] } else { &USAGE_SIZES };
    let len = uses.iter().find_map(|&len| {
        let (before, usage) = before.split_at_checked(before.len().checked_sub(len)?)?;
        let (_, expiry) = before.split_at_checked(before.len().checked_sub(9)?)?;
        (is_expiry(expiry) && is_usage(usage)).then_some(len + expiry.len())
    })?;
    Some(gap.end - len)
}

/// Returns where a record begins whose access counter follows a false one, the last bytes of the damage before it: servers write one.
pub(super) fn without_false_counter(bytes: &[u8], start: usize) -> Option<usize> {
    let head = bytes.get(start..)?;
    matches!(head, [byte::FREQ, _, byte::FREQ, ..]).then_some(start + 2)
}

/// Returns whether an idle time or access counter ends at `at`.
pub(super) fn follows_usage(bytes: &[u8], at: usize) -> bool {
    let ends = |size: usize| at.checked_sub(size).and_then(|start| bytes.get(start..at)).is_some_and(is_usage);
    USAGE_SIZES.iter().any(|&size| size > 0 && ends(size))
}

fn is_expiry(bytes: &[u8]) -> bool {
    expiry_ms(bytes).is_some_and(|time| EXPIRIES.contains(&time))
}

/// Returns whether `bytes` are nothing, or an idle time or access counter.
fn is_usage(bytes: &[u8]) -> bool {
    let mut cursor = Cursor::new(bytes, 0);
    match cursor.byte() {
        Err(_) => bytes.is_empty(),
        Ok(byte::FREQ) => bytes.len() == 2,
        Ok(byte::IDLE) => cursor.length().is_ok() && cursor.left() == 0,
        Ok(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::header::Family;
    use crate::rdb::scan::{FileItem, ScanState, Scanner};

    /// Returns what [`start`] makes of the bytes from `resumed` on.
    fn start_at(bytes: &[u8], resumed: usize) -> Option<usize> {
        let state = ScanState { family: Family::Redis, db: Some(0) };
        let mut scanner = Scanner::new(Cursor::new(&bytes[resumed..], resumed as u64), state);
        let FileItem::Key(entry) = scanner.next_item().unwrap() else { panic!("a key") };
        start(bytes, 3..resumed, &entry)
    }

    #[test]
    fn expiry_before_the_place_of_resumption_belongs_to_the_record() {
        let expiry = [&[252][..], &1_790_000_000_000_i64.to_le_bytes()].concat();
        let record = b"\x00\x03key\x01v";
        for usage in [&b""[..], b"\xf9\x07", b"\xf8\x05", b"\xf8\x40\x45", b"\xf8\x80\0\x01\0\0"] {
            let bytes = [&b"xyz"[..], &expiry, usage, record].concat();
            assert_eq!(start_at(&bytes, 12), Some(3), "{usage:?}");
            assert_eq!(start_at(&bytes, 12 + usage.len()), Some(3), "{usage:?}");
            assert_eq!(start_at(&bytes, 3), None, "nothing is missing");
        }
    }

    #[test]
    fn bytes_that_are_no_expiry_belong_to_the_gap() {
        let record = b"\x00\x03key\x01v";
        let soon = 1_790_000_000_000_i64;
        for (opcode, time) in [(252, 0), (252, -1), (252, i64::MAX), (253, soon), (251, soon)] {
            let bytes = [&b"xyz"[..], &[opcode], &i64::to_le_bytes(time), record].concat();
            assert_eq!(start_at(&bytes, 12), None, "{opcode} {time}");
        }
        // Cut off by the gap, or apart from the record.
        let expiry = [&[252][..], &soon.to_le_bytes()].concat();
        for bytes in
            [[&b"xyz"[..], &expiry[1..], record].concat(), [&b"xyz"[..], &expiry, b"\xf9\x07\x07", record].concat()]
        {
            assert_eq!(start_at(&bytes, bytes.len() - record.len()), None);
        }
    }
}
