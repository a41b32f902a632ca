//! Checks of packed encodings: every element, their number, and that none occurs twice where servers do not allow it.

use super::Notes;
use super::unique::Unique;
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::packed::{Layout, PackedElement, Packing, intset, listpack, ziplist, zipmap};
use crate::rdb::score::{self, ScoreText};
use crate::wording::wording;

/// Latest expiry of a hash field that servers load, in milliseconds (`EB_EXPIRE_TIME_MAX`).
pub const LATEST_FIELD_EXPIRY: i64 = (1 << 48) - 1;

/// Returns the most names, of which no two may be the same, in a blob of `len` bytes: an element takes two bytes or more.
pub fn most_names(layout: Layout, packing: Packing, len: usize) -> u64 {
    // Intsets are checked for ascending order instead.
    if layout == Layout::List || packing == Packing::Intset { 0 } else { len as u64 / (2 * layout.group()) }
}

/// Returns what messages call the names.
pub fn reading(layout: Layout) -> Reading {
    match layout {
        Layout::List => Reading::ListElement,
        Layout::Set => Reading::SetMember,
        Layout::Zset => Reading::SortedSetMember,
        Layout::Hash | Layout::ExpiringHash => Reading::HashField,
    }
}

/// Check of one packed value. Each method returns the number of elements; `unique` then has the names.
#[derive(Debug)]
pub struct PackedCheck<'v> {
    pub layout: Layout,
    pub unique: &'v mut Unique,
    pub notes: &'v mut Notes,
    /// True if elements are only read.
    pub lenient: bool,
    /// Expiry of the last field; servers write fields by expiry, those without one last.
    pub expiry: i64,
}

impl PackedCheck<'_> {
    /// Checks a listpack.
    pub fn listpack(mut self, bytes: &[u8], offset: u64) -> Result<u64> {
        let mut elements = listpack::Elements::new(bytes, offset)?;
        let mut seen = 0;
        loop {
            let at = elements.position();
            let Some(element) = elements.next() else { break };
            self.element(seen, element?, at)?;
            seen += 1;
        }
        self.notes.edge_element |= elements.met_edge();
        self.finish(seen, offset)
    }

    /// Checks a ziplist.
    pub fn ziplist(mut self, bytes: &[u8], offset: u64) -> Result<u64> {
        let mut entries = ziplist::Entries::new(bytes, offset)?;
        let mut seen = 0;
        loop {
            let at = entries.position();
            let Some(entry) = entries.next() else { break };
            self.element(seen, entry?, at)?;
            seen += 1;
        }
        self.finish(seen, offset)
    }

    /// Checks a zipmap, which servers load only if it has elements.
    pub fn zipmap(self, bytes: &[u8], offset: u64) -> Result<u64> {
        let mut pairs = zipmap::Pairs::new(bytes, offset)?;
        let mut seen = 0;
        loop {
            let at = pairs.position();
            let Some(pair) = pairs.next() else { break };
            let (field, _) = pair?;
            if !self.lenient {
                self.unique.add(field, at);
            }
            seen += 1;
        }
        if seen == 0 {
            return Err(empty(offset));
        }
        pairs.check_unread_count()?;
        pairs.check_lengths()?;
        self.finish(2 * seen, offset)
    }

    /// Checks that an intset has integers in ascending order. Returns 1, as their number is known to be that of the intset.
    pub fn intset(self, bytes: &[u8], offset: u64) -> Result<u64> {
        let mut numbers = intset::numbers(bytes, offset)?;
        let mut last = numbers.next();
        if last.is_none() {
            return Err(empty(offset));
        }
        for number in numbers {
            if last >= Some(number) {
                return Err(Error::corrupt(
                    offset,
                    wording!("intset is not in ascending order", "intset 未按升序排列"),
                ));
            }
            last = Some(number);
        }
        Ok(1)
    }

    fn element(&mut self, index: u64, element: PackedElement<'_>, offset: u64) -> Result<()> {
        if self.lenient {
            return Ok(());
        }
        match (index % self.layout.group(), self.layout) {
            (_, Layout::List) => {}
            (0, _) => match element {
                PackedElement::Text(text) => self.unique.add(text, offset),
                PackedElement::Int(number) => {
                    self.unique.add(itoa::Buffer::new().format(number).as_bytes(), offset);
                }
            },
            (1, Layout::Zset) => self.score(element, offset).within(Reading::Score)?,
            (2, _) => self.expiry(element, offset).within(Reading::FieldExpiry)?,
            _ => {}
        }
        Ok(())
    }

    fn score(&mut self, element: PackedElement<'_>, offset: u64) -> Result<()> {
        let PackedElement::Text(text) = element else { return Ok(()) };
        match score::classify_packed(text) {
            ScoreText::Number => Ok(()),
            ScoreText::Prefix | ScoreText::NoNumber => {
                self.notes.odd_score = true;
                Ok(())
            }
            ScoreText::Nan => Err(not_a_number(offset)),
        }
    }

    fn expiry(&mut self, element: PackedElement<'_>, offset: u64) -> Result<()> {
        let expiry = match element {
            PackedElement::Int(time @ 0..=LATEST_FIELD_EXPIRY) => time,
            PackedElement::Int(time) => return Err(impossible_expiry(time, offset)),
            PackedElement::Text(_) => {
                return Err(Error::corrupt(offset, wording!("expiry is not a number", "过期时间不是数字")));
            }
        };
        let last = std::mem::replace(&mut self.expiry, expiry);
        if expiry != 0 && (last == 0 || expiry < last) {
            return Err(Error::corrupt(
                offset,
                wording!("field expiries are not in ascending order", "字段过期时间未按升序排列"),
            ));
        }
        Ok(())
    }

    fn finish(self, seen: u64, offset: u64) -> Result<u64> {
        let group = self.layout.group();
        if !seen.is_multiple_of(group) {
            return Err(Error::corrupt(
                offset,
                wording!("element count {seen} is not a multiple of {group}", "元素数 {seen} 不是 {group} 的倍数"),
            ));
        }
        Ok(seen)
    }
}

fn empty(offset: u64) -> Error {
    Error::corrupt(offset, wording!("no elements", "没有元素"))
        .with_remedy(wording!("servers do not load it", "服务器无法加载"))
}

/// Returns the error for a score that is NaN.
#[cold]
pub fn not_a_number(offset: u64) -> Error {
    Error::corrupt(offset, wording!("score is NaN", "score 为 NaN"))
}

/// Returns the error for a field expiry outside the range of servers.
#[cold]
pub fn impossible_expiry(time: i64, offset: u64) -> Error {
    Error::corrupt(
        offset,
        wording!(
            "expiry of {time} ms is outside the range that servers load",
            "过期时间 {time} 毫秒超出服务器可加载的范围"
        ),
    )
}
