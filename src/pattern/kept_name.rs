//! Names of keys that are kept in part: a hostile file has names of any size, and many lists hold names.
//!
//! A name longer than a limit is stored as its beginning, followed by length and checksum of the whole. So lists tell long
//! names apart, reports say that a name is cut, and masking gives the token of the whole.

use std::borrow::Cow;

use crate::rdb::crc64;

/// Longest name kept as an example, in bytes; longer ones are kept in part, since there are many examples.
pub const MAX_EXAMPLE_LEN: usize = 1024;

/// Bytes behind the beginning of a name.
const BEHIND: usize = 16;

/// Length and checksum of a name of which only the beginning is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WholeName {
    /// Length in bytes.
    pub bytes: u64,
    /// Checksum; 0 if it is not known.
    pub checksum: u64,
}

impl WholeName {
    /// Returns those of a name.
    pub fn of(name: &[u8]) -> WholeName {
        WholeName { bytes: name.len() as u64, checksum: crc64::checksum(name) }
    }
}

/// Cuts a name at `limit` bytes, or shortly before, at the end of a character.
#[inline]
pub fn beginning(name: &[u8], limit: usize) -> &[u8] {
    if name.len() <= limit {
        return name;
    }
    let is_boundary = |&end: &usize| name.get(end).is_none_or(|byte| byte & 0xC0 != 0x80);
    let end = (limit.saturating_sub(3)..=limit).rev().find(is_boundary).unwrap_or(limit);
    name.get(..end).unwrap_or(name)
}

/// Returns what is stored of a name: itself, or else its beginning with length and checksum.
pub fn stored(name: &[u8], limit: usize) -> Cow<'_, [u8]> {
    if name.len() <= limit {
        return Cow::Borrowed(name);
    }
    let WholeName { bytes, checksum } = WholeName::of(name);
    Cow::Owned([beginning(name, limit), &bytes.to_be_bytes(), &checksum.to_be_bytes()].concat())
}

/// Takes a stored name apart again.
pub fn read(stored: &[u8], limit: usize) -> (&[u8], Option<WholeName>) {
    let behind = stored.split_last_chunk::<BEHIND>().filter(|_| stored.len() > limit);
    let Some((name, &[a, b, c, d, e, f, g, h, checksum @ ..])) = behind else { return (stored, None) };
    let bytes = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    (name, Some(WholeName { bytes, checksum: u64::from_be_bytes(checksum) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters_and_told_apart() {
        let (short, long) = ("x".repeat(20), format!("{}ä{}", "x".repeat(19), "y".repeat(9)));
        assert_eq!(read(&stored(short.as_bytes(), 20), 20), (short.as_bytes(), None));
        let kept = stored(long.as_bytes(), 20);
        assert_eq!(read(&kept, 20), (&long.as_bytes()[..19], Some(WholeName::of(long.as_bytes()))));
        assert_ne!(kept, stored(long.replace('y', "z").as_bytes(), 20), "equal beginnings");
        assert_eq!(beginning(&[0x80; 30], 20).len(), 20, "no text");
    }
}
