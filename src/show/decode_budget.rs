//! Memory for one decoded value: few bytes of a file may stand for many elements.

use std::mem::size_of;

use crate::error::{Error, ErrorKind, Result};
use crate::rdb::packed::PackedElement;
use crate::rdb::string::RawString;
use crate::wording::wording;

/// Bytes that an allocator takes beside those of an allocation.
const ALLOCATION: u64 = 16;

/// How much of a value is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Number of elements that are kept; the rest is only counted.
    pub elements: usize,
    /// Bytes of memory that the decoded value may take, and each of its parts while it is decompressed.
    pub memory: u64,
}

impl Default for Extent {
    /// Returns the whole value, whatever it takes.
    fn default() -> Extent {
        Extent { elements: usize::MAX, memory: u64::MAX }
    }
}

/// Rest of an [`Extent`] while a value is decoded.
#[derive(Debug)]
pub struct DecodeBudget {
    extent: Extent,
    /// Absolute offset of the value.
    offset: u64,
    taken: u64,
    elements: usize,
}

impl DecodeBudget {
    /// Creates the budget of a value at `offset` of the file.
    pub fn new(extent: Extent, offset: u64) -> DecodeBudget {
        DecodeBudget { extent, offset, taken: 0, elements: 0 }
    }

    /// Returns the maximum size of a part that is decompressed.
    pub fn most(&self) -> u64 {
        self.extent.memory
    }

    /// Returns the number of elements so far.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Counts an element, and returns whether it is to be kept.
    pub fn element(&mut self) -> bool {
        self.elements += 1;
        self.elements <= self.extent.elements
    }

    /// Takes memory for an element of a vector, which doubles as it grows.
    pub fn take_element<T>(&mut self) -> Result<()> {
        self.take(2 * size_of::<T>() as u64)
    }

    /// Takes `bytes` of memory.
    pub fn take(&mut self, bytes: u64) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes);
        let most = self.extent.memory;
        if self.taken <= most {
            return Ok(());
        }
        let what = wording!(
            "decoded, the value takes more than {most} bytes, a quarter of --max-memory",
            "解码后该 value 超过 {most} 字节，即 --max-memory 的四分之一"
        );
        let remedy = wording!(
            "give a larger --max-memory, or a smaller --limit to show its first elements",
            "请调大 --max-memory，或用更小的 --limit 只显示前几个元素"
        );
        Err(Error::at(self.offset, ErrorKind::OverBudget(what)).with_remedy(remedy))
    }

    /// Decodes a string into memory of its own.
    pub fn text(&mut self, string: &RawString<'_>) -> Result<Vec<u8>> {
        self.take(string.len().saturating_add(ALLOCATION))?;
        string.to_bytes().map(std::borrow::Cow::into_owned)
    }

    /// Decodes a packed element into memory of its own.
    pub fn packed(&mut self, element: &PackedElement<'_>) -> Result<Vec<u8>> {
        self.take(element.len().saturating_add(ALLOCATION))?;
        Ok(element.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_ends_with_the_memory_and_elements_are_counted_beyond_those_kept() {
        let mut budget = DecodeBudget::new(Extent { elements: 2, memory: 100 }, 7);
        assert_eq!([budget.element(), budget.element(), budget.element()], [true, true, false]);
        assert_eq!(budget.elements(), 3);
        assert_eq!(budget.text(&RawString::plain(b"abcd")).unwrap(), b"abcd");
        assert!(budget.take(80).is_ok());
        let error = budget.take(1).unwrap_err();
        assert_eq!(error.offset(), Some(7));
        assert!(error.hint().unwrap().contains("--max-memory"), "{error}");
        assert!(budget.take(u64::MAX).is_err());
    }
}
