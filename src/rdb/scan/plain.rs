//! Fast paths for keys as most are stored.

use super::{KeyEntry, Scanner, expiry};
use crate::rdb::opcode::byte;
use crate::rdb::string::{RawString, StringForm, short_text};
use crate::rdb::value_type::ValueType;
use crate::units::Millis;

/// Record of a key up to its value, as most are stored: type, name and perhaps an expiry in milliseconds.
struct PlainHead<'a> {
    expires_at: Option<Millis>,
    value_type: ValueType,
    name: &'a [u8],
    /// The bytes from the value on.
    value: &'a [u8],
}

/// Key whose value is a compact hash with a template in the table of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TemplateUser {
    /// Position of the template in the table.
    pub(crate) place: usize,
    /// Expiry time.
    pub(crate) expires_at: Option<Millis>,
}

impl<'a> Scanner<'a> {
    /// Fast path for keys shorter than 64 bytes with at most an expiry in milliseconds as prefix.
    ///
    /// Returns `None`, consuming nothing, for everything else and if the bytes run out; fall back to
    /// [`Scanner::other_item`]. [`Scanner::next_item`] does both; hot loops call them in turn to avoid moving the entry
    /// through a [`FileItem`](super::FileItem).
    #[inline(always)]
    pub fn plain_entry(&mut self) -> Option<KeyEntry<'a>> {
        let PlainHead { expires_at, value_type, name, value } = self.plain_head()?;
        let (start, offset, left) = (self.cursor.consumed(), self.cursor.offset(), self.cursor.left());
        self.cursor.advance(left - value.len());
        let key =
            RawString { offset: offset + (left - value.len() - name.len()) as u64, form: StringForm::Plain(name) };
        Some(KeyEntry { offset, start, db: self.state.db, value_type, key, expires_at, idle: None, freq: None })
    }

    /// Reads what stands before the value of a key as in [`Scanner::plain_entry`], without consuming it.
    #[inline(always)]
    fn plain_head(&self) -> Option<PlainHead<'a>> {
        let rest = self.cursor.rest();
        let (expires_at, record) = match rest.split_first()? {
            (&byte::EXPIRE_TIME_MS, behind) => {
                let (time, record) = behind.split_first_chunk()?;
                (expiry(i64::from_le_bytes(*time)), record)
            }
            _ => (None, rest),
        };
        let [value_type, len, behind @ ..] = record else { return None };
        let value_type = ValueType::from_byte(self.state.family, *value_type)?;
        let (name, value) = if *len < 64 { behind.split_at_checked(usize::from(*len))? } else { return None };
        self.at_boundary().then_some(PlainHead { expires_at, value_type, name, value })
    }

    /// Fast path for counting the users of templates: consumes a key and its value if it is a compact hash, as most are stored, whose
    /// template is in the table of the file. Consumes nothing otherwise.
    #[inline(always)]
    pub(crate) fn pass_template_user(&mut self) -> Option<TemplateUser> {
        let PlainHead { expires_at, value_type, value, .. } = self.plain_head()?;
        if value_type != ValueType::HashTemplateListpackRef {
            return None;
        }
        let (head, listpack) = short_text(value)?;
        let place = self.templates().place_of_packed(listpack)?;
        self.cursor.advance(self.cursor.left() - value.len() + head + listpack.len());
        Some(TemplateUser { place, expires_at })
    }
}
