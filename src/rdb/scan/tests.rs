//! Prefixes, boundaries and databases of items.

use super::*;

const STATE: ScanState = ScanState { family: Family::Redis, db: None };

/// Scans `items`; returns the keys and the number of prefixes without a key.
fn entries(items: &[u8]) -> (Vec<KeyEntry<'_>>, u64) {
    let mut scanner = Scanner::new(Cursor::new(items, 100), STATE);
    let mut entries = Vec::new();
    while scanner.cursor().left() > 0 {
        if let FileItem::Key(entry) = scanner.next_item().unwrap() {
            scanner.skip_value(&entry).unwrap();
            entries.push(entry);
        }
    }
    (entries, scanner.strays())
}

#[test]
fn prefixes_apply_to_next_key_only() {
    let items = b"\xfc\x10\0\0\0\0\0\0\0\xf8\x05\0\x01a\x01v\0\x01b\x01v\xfd\x02\0\0\0\xf9\x07\0\x01c\x01v";
    let (entries, strays) = entries(items);
    let told: Vec<_> = entries.iter().map(|entry| (entry.expires_at, entry.idle, entry.freq)).collect();
    assert_eq!(told[0], (Some(Millis(16)), Some(5), None));
    assert_eq!(told[1], (None, None, None));
    assert_eq!(told[2], (Some(Millis(2000)), None, Some(7)));
    assert_eq!((entries[0].offset, entries[1].offset, strays), (100, 116, 0));
}

#[test]
fn auxiliary_field_keeps_pending_prefix() {
    let (entries, strays) = entries(b"\xf8\x05\xfa\x0bmvcc-tstamp\x011\0\x01a\x01v");
    assert_eq!((entries[0].idle, strays), (Some(5), 0));
}

#[test]
fn expiry_of_minus_one_is_none() {
    let (entries, _) = entries(b"\xfc\xff\xff\xff\xff\xff\xff\xff\xff\0\x01a\x01v");
    assert_eq!(entries[0].expires_at, None);
}

#[test]
fn keys_belong_to_last_selected_database() {
    let (entries, strays) = entries(b"\0\x01a\x01v\xfe\x03\0\x01b\x01v\xfc\x10\0\0\0\0\0\0\0\xfe\x04\0\x01c\x01v");
    let databases: Vec<_> = entries.iter().map(|entry| entry.db).collect();
    assert_eq!((databases, strays), (vec![None, Some(3), Some(4)], 1));
    assert_eq!(entries[2].expires_at, None);
}
