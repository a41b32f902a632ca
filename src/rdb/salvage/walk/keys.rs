//! Keys of a walk: which of them are sound, damaged, or part of another value.

use std::ops::Range;

use super::marks::{Mark, MarkKind};
use super::search::lost_template;
use super::{Stop, Walk};
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::rdb::kind::ModuleName;
use crate::rdb::resync::{Goal, KeyFacts, fields_look_like_keys, verify_value};
use crate::rdb::salvage::{name, prefix};
use crate::rdb::scan::{FileItem, KeyEntry, Scanner};
use crate::rdb::string::StringForm;
use crate::rdb::value_type::ValueType;
use crate::wording::wording;

/// Number of false records to accept behind a gap if fields of hashes cannot look like keys.
const FALSE_STARTS: u32 = 3;
/// Number of keys behind a gap after which they are accepted in files of strings whose names have nothing in common.
const MANY_STRINGS: u32 = 64;

impl<'a> Walk<'a> {
    /// Verifies the value of a key at `boundary`, and adds the key; returns where the next item begins. The scanner began at `at`.
    pub(super) fn read_key(
        &mut self,
        scanner: &mut Scanner<'a>,
        entry: &KeyEntry<'a>,
        at: usize,
        boundary: usize,
    ) -> std::result::Result<usize, Stop> {
        let failed = |error, is_credible| Err(Stop::Failed { at: boundary, error, is_credible });
        let facts = KeyFacts::of(entry);
        if self.is_behind_gap() && self.profile.is_overlong(&facts) && !self.is_one_of_many(scanner, entry) {
            return failed(overlong_key(entry), false);
        }
        if let Err(error) = self.has_access_as_others(boundary, &facts) {
            return failed(error, false);
        }
        let mut value = scanner.cursor().clone();
        if let Err(error) = verify_value(scanner, entry, &mut self.verify) {
            let _ = self.verify.finish();
            if let Some(id) = lost_template(entry, &mut value, scanner.templates()) {
                return Err(Stop::LostTemplate { at: boundary, id, values: at + value.consumed(), error });
            }
            let is_credible = self.is_proven()
                || self.profile.trusts(&facts)
                || self.is_at_end_mark(boundary)
                || self.may_be_cut_off(&error);
            return failed(error, is_credible);
        }
        let end = at + scanner.cursor().consumed();
        let fault = scanner.take_fault().and_then(|()| self.is_of_module(entry, &mut value));
        let is_added = self.add_key(boundary..end, entry, facts, fault);
        if is_added || self.profile.trusts(&facts) {
            Ok(end)
        } else {
            self.record_inside(boundary..end, scanner).map_or(Ok(end), |inside| Err(Stop::Inside(inside)))
        }
    }

    /// Fails for the value of a module whose id is damaged; counts the others.
    fn is_of_module(&mut self, entry: &KeyEntry<'_>, value: &mut Cursor<'_>) -> Result<()> {
        if !matches!(entry.value_type, ValueType::Module2 | ValueType::ModulePreGa) {
            return Ok(());
        }
        let id = value.length()?;
        if !self.is_proven() && self.known_modules.is_damaged(id) {
            let name = ModuleName::from_id(id);
            return Err(Error::corrupt(
                entry.offset,
                wording!("the id of its module is damaged ({name})", "其模块编号已损坏（{name}）"),
            ));
        }
        self.modules.count(id);
        Ok(())
    }

    /// Returns whether the name of the key behind an overlong one is overlong, too, as with many keys that were named alike.
    fn is_one_of_many(&self, scanner: &Scanner<'a>, entry: &KeyEntry<'a>) -> bool {
        let mut ahead = scanner.clone();
        let next = ahead.skip_value(entry).and_then(|()| ahead.next_item());
        matches!(next, Ok(FileItem::Key(next)) if self.profile.is_overlong(&KeyFacts::of(&next)))
    }

    /// Returns where a record begins that looks like the others, inside one that does not: a false start behind damage may take in
    /// many sound records, and end where one of them does.
    fn record_inside(&mut self, range: Range<usize>, scanner: &Scanner<'a>) -> Option<usize> {
        let templates = scanner.shared_templates();
        let goal = Goal { failed: range.end, templates: templates.as_ref(), profile: &self.profile, is_trusted: true };
        let inside = self.resync.find(range.start + 1..range.end, goal)?;
        // These bytes are read again.
        self.resync.charge(range.end - inside);
        if let Some(leading) = &mut self.leading {
            leading.resumed = inside;
        }
        Some(inside)
    }

    /// Adds a key whose framing is intact; `metadata` is what is wrong with the strings before it. Returns false for a key behind a gap
    /// that does not look like the others.
    fn add_key(&mut self, range: Range<usize>, entry: &KeyEntry<'_>, facts: KeyFacts, metadata: Result<()>) -> bool {
        let parsed_start = range.start;
        let notes = self.verify.finish();
        let is_empty = matches!(&notes, Ok(notes) if notes.empty);
        let fault = metadata.and(notes).and_then(|notes| match entry.key.form {
            _ if notes.lost_template => Err(Error::corrupt(
                entry.offset,
                wording!("its field names lie in a damaged part of the file", "其字段名位于文件的损坏部分"),
            )),
            StringForm::Lzf { .. } => entry.key.check().within(Reading::Key),
            StringForm::Plain(_) | StringForm::Int(_) => Ok(()),
        });
        let fault = fault.and_then(|()| {
            if self.is_proven() {
                Ok(())
            } else {
                self.zeros.check(entry, self.bytes.get(range.clone()).unwrap_or_default())
            }
        });
        self.has_expiries |= entry.expires_at.is_some();
        // The last bytes of an expiry read as an empty list without a name, and the pairs of a hash as keys without an idle time or
        // access counter.
        if !self.is_proven()
            && (is_empty && entry.key.is_empty() || self.has_no_access(range.start, &facts))
            && let Some(Mark { range: damaged, kind: MarkKind::Damaged { .. }, .. }) = self.marks.back_mut()
            && damaged.end == range.start
        {
            damaged.end = range.end;
            return true;
        }
        let damage = self.damage_before(range.start);
        let lost_start = damage.and_then(|gap| {
            prefix::start(self.bytes, gap, entry).or_else(|| prefix::without_false_counter(self.bytes, range.start))
        });
        let range = lost_start.unwrap_or(range.start)..range.end;
        if self.is_rejected(&range, entry, &facts) {
            return false;
        }
        self.end_leading(range.start);
        if let (Some(start), Some(before)) = (lost_start, self.marks.back_mut()) {
            // A false counter belongs to the damage, an expiry in it does not.
            before.range.end = if start > parsed_start { start } else { before.range.end.min(start) };
        }
        self.database.count_key(range.end);
        let kind = match fault {
            Ok(()) => {
                let expires = entry.expires_at.is_some() || lost_start.is_some_and(|start| start < parsed_start);
                MarkKind::Key { facts, expires, is_empty }
            }
            Err(error) => MarkKind::Damaged {
                key: name(&entry.key),
                error: error.or_at(entry.offset),
                is_trusted: self.profile.trusts(&facts),
            },
        };
        self.mark(Mark { range, db: self.database.current, kind });
        true
    }

    /// Returns whether a key right behind a gap does not look like the keys elsewhere, and stays in the gap.
    fn is_rejected(&mut self, range: &Range<usize>, entry: &KeyEntry<'_>, facts: &KeyFacts) -> bool {
        let has_no_access = self.has_no_access(range.start, facts);
        let Some(leading) = &mut self.leading else { return false };
        // An expiry before the first key may have lost its opcode; its highest byte is zero.
        let may_lack_expiry = range.start == leading.resumed
            && entry.expires_at.is_none()
            && self.has_expiries
            && self.bytes.get(range.start.wrapping_sub(1)) == Some(&0);
        if !may_lack_expiry && self.profile.trusts(facts) {
            return false;
        }
        // Servers write access metadata for all keys or for none, and members of integer sets read as keys of arbitrary bytes.
        if !may_lack_expiry && has_no_access || self.profile.is_foreign(facts) {
            return true;
        }
        leading.rejected += 1;
        let is_accepted = if fields_look_like_keys(self.header) {
            leading.rejected > MANY_STRINGS && self.profile.is_shapeless()
        } else {
            leading.rejected > FALSE_STARTS
        };
        !is_accepted
    }
}

fn overlong_key(entry: &KeyEntry<'_>) -> Error {
    let len = entry.key.len();
    Error::corrupt(
        entry.offset,
        wording!(
            "a key of {len} bytes that is no text, unlike all others",
            "key 长 {len} 字节且不是文本，与其他 key 都不同"
        ),
    )
}
