//! Writer of ordinary rows as comma-separated values, several times as fast as the general one.

use super::RecordRow;
use crate::record::ModuleFacts;

/// Fields of the facts of modules, which ordinary rows leave empty.
const NO_FACTS: [u8; ModuleFacts::NUMBERS.len() + 1] = [b','; ModuleFacts::NUMBERS.len() + 1];

/// Appends the row as the general writer does, with the line break; returns false, having written nothing, if it has parts that few
/// rows have, or texts that are written otherwise than they are.
pub(super) fn write_plain_csv(row: &RecordRow<'_>, out: &mut Vec<u8>) -> bool {
    let &RecordRow {
        db,
        key: Some(key),
        key_bytes: None,
        kind,
        module: None,
        encoding,
        length,
        memory,
        disk,
        expires_at,
        idle,
        freq,
        slot,
        pattern,
        fields_with_ttl,
        groups,
        pending,
        source,
        module_facts: None,
        longest_element,
        mean_element,
        labels: None,
    } = row
    else {
        return false;
    };
    if ![key, pattern].into_iter().chain(source).all(is_plain) {
        return false;
    }
    let mut fields = Fields { out, digits: itoa::Buffer::new() };
    fields.number(Some(db));
    fields.text(key);
    fields.text(""); // its bytes
    fields.text(kind.name());
    fields.text(""); // the module
    fields.text(encoding);
    fields.number(length);
    fields.number(memory.map(|memory| memory.0));
    fields.number(Some(disk.0));
    fields.number(expires_at.map(|at| at.0));
    fields.number(idle);
    fields.number(freq);
    fields.number(Some(slot));
    fields.text(pattern);
    [fields_with_ttl, groups, pending].into_iter().for_each(|count| fields.number(count));
    fields.text(source.unwrap_or_default());
    fields.out.extend_from_slice(&NO_FACTS);
    [longest_element, mean_element].into_iter().for_each(|length| fields.number(length.map(|length| length.0)));
    // The last field ends the line.
    if let Some(last) = fields.out.last_mut() {
        *last = b'\n';
    }
    true
}

/// Returns whether a text is printable ASCII that begins like a name, and needs no quotes: the field is the text itself.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().next().is_none_or(|first| first.is_ascii_alphanumeric() || matches!(first, b'{' | b'_'))
        && text.bytes().all(|byte| matches!(byte, b' '..=b'~') & !matches!(byte, b'"' | b','))
}

/// Writer of fields, each with a comma behind it.
struct Fields<'o> {
    out: &'o mut Vec<u8>,
    digits: itoa::Buffer,
}

impl Fields<'_> {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b',');
    }

    fn number(&mut self, number: Option<impl itoa::Integer>) {
        if let Some(number) = number {
            self.out.extend_from_slice(self.digits.format(number).as_bytes());
        }
        self.out.push(b',');
    }
}
