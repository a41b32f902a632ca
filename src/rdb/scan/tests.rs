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

/// Returns the first fault in what stands between keys, and the offset of each.
fn faults(items: &[u8]) -> Vec<(u64, String)> {
    let mut scanner = Scanner::new(Cursor::new(items, 100), STATE).with_checked_opcodes();
    let mut faults = Vec::new();
    while scanner.cursor().left() > 0 {
        if let FileItem::Key(entry) = scanner.next_item().unwrap() {
            scanner.skip_value(&entry).unwrap();
        }
        faults.extend(scanner.take_fault().err().map(|error| (error.offset().unwrap(), error.message())));
    }
    faults
}

fn library(name: &str) -> Vec<u8> {
    let code = format!("#!lua name={name}\nreturn");
    [&[0xf5, u8::try_from(code.len()).unwrap()], code.as_bytes()].concat()
}

#[test]
fn function_libraries_have_different_names() {
    assert_eq!(faults(&[library("a"), library("A"), library("b")].concat()), []);
    let found = faults(&[library("a"), library("b"), library("a")].concat());
    assert!(matches!(&found[..], [(144, message)] if message.contains("same name")), "{found:?}");
}

#[test]
fn metadata_stands_right_before_its_key() {
    assert_eq!(faults(b"\xfc\x10\0\0\0\0\0\0\0\xf3\0\0\x01a\x01v\xf8\x05\0\x01b\x01v"), []);
    for between in [&b"\xf8\x05"[..], b"\xf3\0", b"\xfe\x01", b"\xfa\x01x\x01y"] {
        let found = faults(&[b"\xf3\0", between, b"\0\x01a\x01v"].concat());
        assert!(matches!(&found[..], [(102, _)]), "{found:?}");
    }
    assert_eq!(faults(b"\xf3\0\xff").len(), 1, "the end");
}

#[test]
fn a_template_defined_twice_is_refused_and_one_read_twice_is_not() {
    let defined = b"\xf2\0\x01\x01f";
    assert_eq!(faults(&[&defined[..], b"\xf2\x01\x01\x01f"].concat()), [], "the same names under another id");
    assert_eq!(faults(&[&defined[..], defined].concat()).len(), 1);
    let mut scanner = Scanner::new(Cursor::new(defined, 100), STATE).with_checked_opcodes();
    scanner.next_item().unwrap();
    let templates = scanner.shared_templates();
    let mut again = Scanner::new(Cursor::new(defined, 100), STATE).with_templates(Templates::NONE, templates);
    again.check.is_on = true;
    again.next_item().unwrap();
    assert!(again.take_fault().is_ok());
}

#[test]
fn users_of_templates_are_passed_with_their_value() {
    let defined = b"\xf2\0\x01\x01f\xf2\x01\x01\x01g"; // two templates of one field
    let mut cursor = Cursor::new(defined, 0);
    let mut table = Templates::default();
    while cursor.byte().is_ok() {
        match table.read(&mut cursor).unwrap() {
            Defined::New(template) => table.add(template),
            other => panic!("{other:?}"),
        }
    }
    let table = Arc::new(table);
    let scanner =
        |items| Scanner::new(Cursor::new(items, 100), STATE).with_templates(Templates::NONE, Some(table.clone()));
    let value = b"\x0b\x0b\0\0\0\x02\0\x01\x01\x07\x01\xff"; // the id, 7
    let plain = [&b"\x1e\x01k"[..], value, b"\0"].concat();
    let expiring = [&b"\xfc\x10\0\0\0\0\0\0\0"[..], &plain].concat();
    for (items, expires_at) in [(&plain, None), (&expiring, Some(Millis(16)))] {
        let (mut passed, mut skipped) = (scanner(items), scanner(items));
        assert_eq!(passed.pass_template_user(), Some(TemplateUser { place: 1, expires_at }));
        let FileItem::Key(entry) = skipped.next_item().unwrap() else { panic!() };
        skipped.skip_value(&entry).unwrap();
        assert_eq!(passed.cursor().consumed(), skipped.cursor().consumed());
    }
    let (mut other_id, mut other_type) = (plain.clone(), plain.clone());
    (other_id[10], other_type[0]) = (2, 16);
    for items in [&other_id[..], &other_type, &plain[..13], b"\x1e\x01k\xc0\x01\0", b"\x1e", b""] {
        let mut scanner = scanner(items);
        assert_eq!((scanner.pass_template_user(), scanner.cursor().consumed()), (None, 0), "{items:?}");
    }
    let mut foreign = Scanner::new(Cursor::new(&plain, 100), STATE).with_templates(Templates::FOREIGN, None);
    assert_eq!(foreign.pass_template_user(), None);
}
