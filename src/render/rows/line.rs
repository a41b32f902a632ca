//! Writer of ordinary rows as JSON, several times as fast as serde's general one.

use super::RecordRow;
use crate::render::json;

/// Appends the row as [`json::write_line`] does; returns false, having written nothing, if it has parts that few rows have.
pub(super) fn write_plain_json(row: &RecordRow<'_>, out: &mut Vec<u8>) -> bool {
    if !row.is_ordinary() {
        return false;
    }
    let mut line = Line { out, digits: itoa::Buffer::new() };
    line.number(r#"{"db":"#, Some(row.db));
    line.text(r#","key":"#, row.key);
    line.text(r#","type":"#, Some(row.kind.name()));
    line.text(r#","encoding":"#, Some(row.encoding));
    line.number(r#","length":"#, row.length);
    line.number(r#","memory":"#, row.memory.map(|memory| memory.0));
    line.number(r#","disk":"#, Some(row.disk.0));
    line.number(r#","expires_at":"#, row.expires_at.map(|at| at.0));
    line.number(r#","idle":"#, row.idle);
    line.number(r#","freq":"#, row.freq);
    line.number(r#","slot":"#, Some(row.slot));
    line.text(r#","pattern":"#, Some(row.pattern));
    let counts = [
        (r#","fields_with_ttl":"#, row.fields_with_ttl),
        (r#","groups":"#, row.groups),
        (r#","pending":"#, row.pending),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| count.is_some()) {
        line.number(name, count);
    }
    if row.source.is_some() {
        line.text(r#","source":"#, row.source);
    }
    let lengths = [(r#","longest_element":"#, row.longest_element), (r#","mean_element":"#, row.mean_element)];
    for (name, length) in lengths.into_iter().filter(|(_, length)| length.is_some()) {
        line.number(name, length.map(|length| length.0));
    }
    line.out.push(b'}');
    true
}

struct Line<'o> {
    out: &'o mut Vec<u8>,
    digits: itoa::Buffer,
}

impl Line<'_> {
    fn number(&mut self, name: &str, number: Option<impl itoa::Integer>) {
        self.out.extend_from_slice(name.as_bytes());
        let text = number.map_or("null", |number| self.digits.format(number));
        self.out.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, name: &str, text: Option<&str>) {
        self.out.extend_from_slice(name.as_bytes());
        match text {
            // Printable ASCII without quotes and backslashes stands for itself.
            Some(text) if text.bytes().all(|byte| matches!(byte, b' '..=b'~') & !matches!(byte, b'"' | b'\\')) => {
                self.out.push(b'"');
                self.out.extend_from_slice(text.as_bytes());
                self.out.push(b'"');
            }
            // Writing to memory cannot fail.
            _ => drop(json::write_line(&text, self.out)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::KeyLabels;
    use crate::record::Kind;
    use crate::render::rows::fields::{self, write_plain_csv};
    use crate::render::rows::write_any_csv;
    use crate::units::{Bytes, Millis};

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z:{}0-9]{0,20}", "[ -~]{0,20}", any::<String>()]
    }

    proptest! {
        #[test]
        fn ordinary_rows_are_written_as_serde_does(
            (key, pattern, source) in (proptest::option::of(texts()), texts(), proptest::option::of(texts())),
            (db, disk, slot) in any::<(u64, u64, u16)>(),
            (length, memory, idle) in any::<(Option<u64>, Option<u64>, Option<u64>)>(),
            (expires_at, freq) in any::<(Option<i64>, Option<u8>)>(),
            (fields_with_ttl, groups, pending) in any::<(Option<u64>, Option<u64>, Option<u64>)>(),
            (longest, mean) in any::<(Option<u64>, Option<u64>)>(),
            kind in 0..Kind::ALL.len(),
        ) {
            let row = RecordRow {
                db,
                key: key.as_deref(),
                key_bytes: None,
                kind: Kind::ALL[kind],
                module: None,
                encoding: "raw",
                length,
                memory: memory.map(Bytes),
                disk: Bytes(disk),
                expires_at: expires_at.map(Millis),
                idle,
                freq,
                slot,
                pattern: &pattern,
                fields_with_ttl,
                groups,
                pending,
                source: source.as_deref(),
                module_facts: None,
                longest_element: longest.map(Bytes),
                mean_element: mean.map(Bytes),
                labels: None,
            };
            let (mut expected, mut written) = (Vec::new(), b"before".to_vec());
            json::write_line(&row, &mut expected).unwrap();
            prop_assert!(write_plain_json(&row, &mut written));
            prop_assert_eq!(String::from_utf8(written), String::from_utf8([&b"before"[..], &expected].concat()));
            let (mut expected, mut written) = (b"before".to_vec(), b"before".to_vec());
            write_any_csv(&row, &mut expected);
            if write_plain_csv(&row, &mut written) {
                prop_assert_eq!(String::from_utf8(written), String::from_utf8(expected));
            } else {
                let are_plain = [row.key, Some(row.pattern), row.source].into_iter().flatten().all(fields::is_plain);
                prop_assert!(row.key.is_none() || !are_plain);
                prop_assert_eq!(&written[..], b"before");
            }
            let rare = [
                RecordRow { key_bytes: Some(b"\xff"), ..row },
                RecordRow { module: Some("ReJSON-RL"), ..row },
                RecordRow { module_facts: Some(&Default::default()), ..row },
                RecordRow { labels: Some(KeyLabels::default()), ..row },
            ];
            for row in rare {
                prop_assert!(!write_plain_json(&row, &mut Vec::new()) && !write_plain_csv(&row, &mut Vec::new()));
            }
        }
    }
}
