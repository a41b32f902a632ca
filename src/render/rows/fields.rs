//! Writer of ordinary rows as comma-separated values, several times as fast as the general one.

use std::borrow::Cow;

use super::RecordRow;
use crate::record::ModuleFacts;
use crate::render::key_text;

/// Fields of the facts of modules, which ordinary rows leave empty.
const NO_FACTS: [u8; ModuleFacts::NUMBERS.len() + 1] = [b','; ModuleFacts::NUMBERS.len() + 1];

/// Appends the row as the general writer does, with the line break; returns false, having written nothing, if it has parts that few
/// rows have, or texts that are written otherwise than they are.
pub(super) fn write_plain_csv(row: &RecordRow<'_>, out: &mut Vec<u8>) -> bool {
    let Some(key) = row.key.filter(|_| row.is_ordinary()) else { return false };
    if ![key, row.pattern].into_iter().chain(row.source).all(is_plain) {
        return false;
    }
    let mut fields = Fields { out, digits: itoa::Buffer::new() };
    fields.number(Some(row.db));
    fields.text(key);
    fields.text(""); // its bytes
    fields.text(row.kind.name());
    fields.text(""); // the module
    fields.text(row.encoding);
    fields.number(row.length);
    fields.number(row.memory.map(|memory| memory.0));
    fields.number(Some(row.disk.0));
    fields.number(row.expires_at.map(|at| at.0));
    fields.number(row.idle);
    fields.number(row.freq);
    fields.number(Some(row.slot));
    fields.text(row.pattern);
    [row.fields_with_ttl, row.groups, row.pending].into_iter().for_each(|count| fields.number(count));
    fields.text(row.source.unwrap_or_default());
    fields.out.extend_from_slice(&NO_FACTS);
    [row.longest_element, row.mean_element].into_iter().for_each(|length| fields.number(length.map(|length| length.0)));
    // The last field ends the line.
    if let Some(last) = fields.out.last_mut() {
        *last = b'\n';
    }
    true
}

/// Returns whether the field of a text is the text itself: printable ASCII that is no formula and needs no quotes.
pub(super) fn is_plain(text: &str) -> bool {
    matches!(key_text::csv(text), Cow::Borrowed(_))
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
