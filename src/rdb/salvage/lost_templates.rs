//! Templates of compact hashes that lie in a gap.
//!
//! Hashes of a lost template cannot be saved, since their field names are lost with it. What stands around them can: the templates
//! behind the gap, and the records behind such a hash, once the number of its values is known.

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr2_iter;

use crate::error::Error;
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::opcode::byte;
use crate::rdb::resync::{MAX_TEMPLATE_ID, Profile, Resync};
use crate::rdb::template::{Defined, HashTemplate, Templates};
use crate::wording::wording;

/// Largest number of fields of a lost template that is tried.
const MAX_FIELDS: usize = 1 << 10;
/// Bytes read by the search for each byte of the file before it, and in advance.
const WORK_PER_BYTE: usize = 16;
const FIRST_WORK: usize = 1 << 20;
/// Bytes behind a template that may be the rest of its last name.
const MAX_REST: usize = 256;
/// Fewer bytes than any template has.
const FEW_BYTES: usize = 5;
/// Names behind a template that may belong to it.
const MAX_MORE_NAMES: usize = 1 << 12;

/// Search for sound items before the first key of a damaged file, and the check of the templates there.
#[derive(Debug, Default)]
pub(super) struct HeadSearch {
    /// Number of bytes read and decompressed.
    work: usize,
    /// Number of templates whose names are text.
    textual: usize,
    /// Number of other templates.
    binary: usize,
}

/// Template that can be read.
struct Candidate {
    id: u64,
    end: usize,
    /// True if all its names are text.
    is_text: bool,
    last_name_len: u64,
}

impl HeadSearch {
    /// Returns where the head of the file goes on within a range behind damage: at a template that another one follows, or at the
    /// `SELECTDB` and `RESIZEDB` of the first keys. `known` are the templates before the range.
    pub fn resume(&mut self, bytes: &[u8], range: Range<usize>, known: &Templates) -> Option<usize> {
        let start = range.start;
        let opcodes = memchr2_iter(byte::HASH_TEMPLATE, byte::SELECT_DB, bytes.get(range)?);
        opcodes.map(|at| start + at).find(|&at| self.is_resumed_at(bytes, at, known))
    }

    /// Returns the error of the template at `at` if the length of a name or the number of its names is damaged, although it can be read.
    ///
    /// A name whose length has grown contains the start of the next template, perhaps many, or even records.
    pub fn false_template(&mut self, bytes: &[u8], at: usize, known: &Templates) -> Option<Error> {
        let template = self.template(bytes, at, known)?;
        if let Some(what) = self.is_false(bytes, at, &template, known) {
            return Some(what);
        }
        *(if template.is_text { &mut self.textual } else { &mut self.binary }) += 1;
        None
    }

    fn is_false(&mut self, bytes: &[u8], at: usize, template: &Candidate, known: &Templates) -> Option<Error> {
        let goes_on = self.goes_on(bytes, template, known);
        let inside = self.resume(bytes, at + 1..template.end, known);
        if let Some(inside) = inside.filter(|&inside| self.leads_out(bytes, inside, template, known, goes_on)) {
            return Some(Error::corrupt(
                at as u64,
                wording!(
                    "a hash template with the item at byte {inside:#x} in a field name",
                    "hash 模板的字段名中包含字节 {inside:#x} 处的条目"
                ),
            ));
        }
        let is_odd = !template.is_text && self.textual > 0 && self.binary == 0;
        let is_false = !goes_on && (is_odd || self.ends_early(bytes, template, known));
        is_false.then(|| {
            let what = wording!("a hash template whose field names are damaged", "hash 模板的字段名已损坏");
            Error::corrupt(at as u64, what)
        })
    }

    /// Returns whether an item that servers write behind templates follows, or nothing.
    fn goes_on(&mut self, bytes: &[u8], template: &Candidate, known: &Templates) -> bool {
        match bytes.get(template.end) {
            Some(&byte::HASH_TEMPLATE) => {
                self.template(bytes, template.end, known).is_some_and(|next| next.id != template.id)
            }
            Some(&byte::SELECT_DB) => is_database(bytes, template.end),
            Some(&(byte::EOF | byte::AUX | byte::FUNCTION_2 | byte::MODULE_AUX)) | None => true,
            // Perhaps only the opcode of the next template is damaged.
            Some(_) => {
                let next = self.operands(bytes, template.end + 1, known).filter(|next| next.id != template.id);
                next.is_some_and(|next| self.is_followed(bytes, &next, known, 1))
            }
        }
    }

    /// Returns whether the items from `at` on, inside a template, lead out of it, or to the first database: then it is false. If a sound
    /// item follows the template, they must lead to that one.
    fn leads_out(&mut self, bytes: &[u8], mut at: usize, outer: &Candidate, known: &Templates, goes_on: bool) -> bool {
        while at < outer.end {
            match self.template(bytes, at, known) {
                Some(inner) if inner.id != outer.id => at = inner.end,
                Some(_) => return false,
                None => return !goes_on && is_database(bytes, at),
            }
        }
        !goes_on || at == outer.end
    }

    /// Returns whether the bytes behind a template are the rest of its last name, or more names, and the next item follows them.
    fn ends_early(&mut self, bytes: &[u8], template: &Candidate, known: &Templates) -> bool {
        let rest = bytes.get(template.end..).unwrap_or_default();
        let text = rest.iter().take(MAX_REST).take_while(|byte| !byte.is_ascii_control()).count();
        // By as many as a changed bit of its length takes off, or a few: the text may be what overwrote the next template.
        let mut lost = (1..=text).filter(|len| len.is_power_of_two() || *len < FEW_BYTES);
        if lost.any(|len| self.is_resumed_at(bytes, template.end + len, known)) {
            return true;
        }
        let mut names = Cursor::new(rest, 0);
        for _ in 0..MAX_MORE_NAMES {
            if !names.string().is_ok_and(|name| name.len() >= template.last_name_len) {
                return false;
            }
            if self.is_resumed_at(bytes, template.end + names.consumed(), known) {
                return true;
            }
        }
        false
    }

    /// Returns whether the head of the file may go on at this offset.
    fn is_resumed_at(&mut self, bytes: &[u8], at: usize, known: &Templates) -> bool {
        match bytes.get(at) {
            Some(&byte::HASH_TEMPLATE) => self.template(bytes, at, known).is_some_and(|template| {
                let is_usual = template.is_text || self.binary > 0 || self.textual == 0;
                self.is_followed(bytes, &template, known, if is_usual { 1 } else { 2 })
            }),
            Some(&byte::SELECT_DB) => is_database(bytes, at),
            Some(_) | None => false,
        }
    }

    /// Returns whether this many templates or the first database follow one.
    fn is_followed(&mut self, bytes: &[u8], template: &Candidate, known: &Templates, templates: u32) -> bool {
        if templates == 0 || is_database(bytes, template.end) {
            return true;
        }
        let next = self.template(bytes, template.end, known).filter(|next| next.id != template.id);
        next.is_some_and(|next| self.is_followed(bytes, &next, known, templates - 1))
    }

    /// Returns the template at an offset.
    fn template(&mut self, bytes: &[u8], at: usize, known: &Templates) -> Option<Candidate> {
        let is_template = bytes.get(at) == Some(&byte::HASH_TEMPLATE);
        if is_template { self.operands(bytes, at + 1, known) } else { None }
    }

    /// Returns the template whose id is at an offset, if that is new and in the shortest form, and the names are in order. Fails if too
    /// much was read.
    fn operands(&mut self, bytes: &[u8], at: usize, known: &Templates) -> Option<Candidate> {
        if self.work > FIRST_WORK.saturating_add(at.saturating_mul(WORK_PER_BYTE)) {
            return None;
        }
        let mut cursor = Cursor::new(bytes.get(at..)?, at as u64);
        let mut ahead = cursor.clone();
        let id = ahead.length().ok().filter(|&id| id < MAX_TEMPLATE_ID && !known.defines(id))?;
        let shortest = match id {
            0..0x40 => 1,
            0x40..0x4000 => 2,
            0x4000.. => 5,
        };
        if ahead.consumed() != shortest {
            return None;
        }
        let last_name_len = self.measure_names(&mut ahead)?;
        match Templates::NONE.read(&mut cursor) {
            Ok(Defined::New(template)) => {
                Some(Candidate { id, end: at + cursor.consumed(), is_text: is_text(&template), last_name_len })
            }
            Ok(Defined::Before | Defined::Twice(_)) | Err(_) => None,
        }
    }

    /// Skips names without decompressing them, and returns the length of the last one.
    fn measure_names(&mut self, cursor: &mut Cursor<'_>) -> Option<u64> {
        let start = cursor.consumed();
        let (mut last, mut unpacked) = (0, 0_u64);
        let names = (0..cursor.count(1).ok()?).try_for_each(|_| {
            let name = cursor.string().ok()?;
            (last, unpacked) = (name.len(), unpacked.saturating_add(name.len()));
            (last <= limits::MAX_TEMPLATE_BYTES as u64).then_some(())
        });
        let read = (cursor.consumed() - start).saturating_add(usize::try_from(unpacked).unwrap_or(usize::MAX));
        self.work = self.work.saturating_add(read);
        names.map(|()| last)
    }
}

/// Returns whether all names are text.
fn is_text(template: &HashTemplate) -> bool {
    template.fields().all(|name| std::str::from_utf8(name).is_ok() && !name.iter().any(u8::is_ascii_control))
}

/// Returns whether the number of a database and its size follow, with at least one key.
fn is_database(bytes: &[u8], at: usize) -> bool {
    let mut cursor = Cursor::new(bytes.get(at..).unwrap_or_default(), 0);
    cursor.byte().is_ok_and(|opcode| opcode == byte::SELECT_DB)
        && cursor.length().is_ok_and(|db| db <= u64::from(u16::MAX))
        && cursor.byte().is_ok_and(|opcode| opcode == byte::RESIZE_DB)
        && cursor.length().is_ok_and(|keys| keys > 0 && cursor.length().is_ok_and(|expires| expires <= keys))
}

/// Adds a stand-in for a lost template to the table, with as many fields as there are values from `values` on before a sound row of
/// records, or before another hash whose template is lost. Returns false if no number of them leads to one.
pub(super) fn stand_in(
    bytes: &[u8],
    values: usize,
    id: u64,
    templates: &mut Arc<Templates>,
    resync: &mut Resync<'_>,
    profile: &Profile,
) -> bool {
    for may_be_before_lost in [false, true] {
        let mut cursor = Cursor::new(bytes.get(values..).unwrap_or_default(), values as u64);
        let mut table = Arc::clone(templates);
        // Copies the table once, and only for an id that is new.
        resync.charge(table.bytes());
        for _ in 0..MAX_FIELDS {
            if cursor.string_len().is_err() {
                break;
            }
            Arc::make_mut(&mut table).add_lost_field(id);
            let end = values + cursor.consumed();
            let is_end = match may_be_before_lost {
                true => resync.is_before_lost(end, &table, profile),
                false => resync.is_boundary(end, Some(&table), profile),
            };
            if is_end {
                *templates = table;
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASE: &[u8] = &[0xFE, 0, 0xFB, 1, 0];

    fn resume(parts: &[&[u8]]) -> Option<usize> {
        let bytes = parts.concat();
        HeadSearch::default().resume(&bytes, 0..bytes.len(), Templates::NONE)
    }

    #[test]
    fn templates_go_on_where_another_one_or_a_database_follows() {
        let [one, two] = [3, 4].map(|id| [&[0xF2, id, 2][..], b"\x02id\x04name"].concat());
        assert_eq!(resume(&[b"xyz", &one, &two]), Some(3));
        assert_eq!(resume(&[b"xyz\xf2\x07", &two, DATABASE]), Some(5));
        assert_eq!(resume(&[b"xyz", &two, &one]), Some(3), "servers write them in any order");
        assert_eq!(resume(&[b"xyz", &two, &two]), None, "the same id twice");
        assert_eq!(resume(&[b"xyz", &one, b"\xfe\x00\x00"]), None, "neither a template nor a database");
        assert_eq!(resume(&[b"xyz\xf2\x03\x02\x04name\x02id\x01", &two]), None, "names out of order");
        assert_eq!(resume(&[b"xyz\xf2\x40\x03\x01\x02id", &two]), None, "a long form of a small id");
        assert_eq!(resume(&[b"xyz\xf2", DATABASE]), Some(4), "the last template is lost");
        assert_eq!(resume(&[b"xyz\xfe\x00\xfb\x01\x02"]), None, "more keys with an expiry than keys");
    }

    /// Returns whether the template at the start is false, behind one whose names are text.
    fn is_false(parts: &[&[u8]]) -> bool {
        let bytes = parts.concat();
        let mut search = HeadSearch { textual: 1, ..HeadSearch::default() };
        search.false_template(&bytes, 0, Templates::NONE).is_some()
    }

    #[test]
    fn a_name_with_the_next_item_in_it_is_false() {
        let [one, two] = [9, 4].map(|id| [&[0xF2, id, 2][..], b"\x02id\x04name"].concat());
        let start = |len: u8| [&b"\xf2\x07\x02\x02id"[..], &[len], b"name"].concat();
        assert!(!is_false(&[&start(4), &one, &two, DATABASE]));
        for len in 5..30 {
            assert!(is_false(&[&start(len), &one, &two, DATABASE]), "{len}");
        }
        assert!(is_false(&[&start(5), DATABASE]));
        assert!(is_false(&[&start(3), &one, DATABASE]), "the last letter is missing");
        assert!(is_false(&[b"\xf2\x07\x01\x02id\x04name", &one, DATABASE]), "a name is missing");
    }

    #[test]
    fn a_template_before_a_damaged_one_is_sound() {
        let start = b"\xf2\x07\x02\x02id\x04name";
        for next in [&b"\xf0\x09\x02\x02id\x04name"[..], b"\xf2\x09\x02\x04name\x02id", b"\xf2\x09\xff", b""] {
            assert!(!is_false(&[start, next, DATABASE]), "{next:?}");
        }
        // A name may contain what looks like templates that do not lead out of it.
        let [one, two] = [9, 4].map(|id| [&[0xF2, id, 2][..], b"\x02id\x04name"].concat());
        let name = [&one[..], &two, b"12345678"].concat();
        let outer = [&[0xF2, 7, 1, u8::try_from(name.len()).unwrap()], &name[..]].concat();
        assert!(!is_false(&[&outer, &one, DATABASE]));
    }
}
