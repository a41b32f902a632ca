//! LZF decompression of whole blocks or prefixes.
//!
//! A prefix is often enough: the element count of a compressed listpack is in its first six bytes.
//!
//! ```text
//! 000LLLLL                      copy the next L+1 bytes
//! LLLooooo oooooooo             copy L+2 bytes from o+1 back (L < 7)
//! 111ooooo LLLLLLLL oooooooo    copy L+9 bytes from o+1 back
//! ```
//!
//! The format is liblzf's (`lzf_d.c`). Tests compare with the `lzf` crate, which expands only whole blocks.

use crate::limits;
use crate::wording::{Wording, wording};

/// Fault in a compressed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LzfError {
    /// The block ends inside an instruction or before producing its declared size.
    Short,
    /// A back reference points before the start of the output.
    Distance,
    /// The block expands to more than its declared size.
    Long,
}

impl LzfError {
    /// Returns the error message.
    pub fn message(self) -> Wording {
        match self {
            LzfError::Short => wording!("LZF block ends before its declared size", "LZF 块解压后短于声明的长度"),
            LzfError::Distance => wording!("LZF back reference points before the start", "LZF 的回溯引用越过开头"),
            LzfError::Long => wording!("LZF block expands beyond its declared size", "LZF 块解压后超出声明的长度"),
        }
    }
}

/// Expands a whole block with declared size `len`, appending to `out`.
///
/// The caller has checked `len` against [`crate::limits::LZF_MAX_RATIO`]; `out` grows with the bytes actually produced.
pub fn expand(block: &[u8], len: usize, out: &mut Vec<u8>) -> Result<(), LzfError> {
    let start = out.len();
    out.reserve(len.min(limits::EXPAND_AT_ONCE));
    let rest = expand_until(block, len, out)?;
    match (rest.is_empty(), out.len() - start == len) {
        (true, true) => Ok(()),
        (_, false) => Err(LzfError::Short),
        (false, _) => Err(LzfError::Long),
    }
}

/// Returns the first decompressed bytes, borrowed, if the block starts with a literal run of at least `want` bytes.
#[inline]
pub fn first_literals(block: &[u8], len: usize, want: usize) -> Option<&[u8]> {
    let (&control, rest) = block.split_first()?;
    let count = usize::from(control) + 1;
    if control >= 32 || count < want || count > len {
        return None;
    }
    rest.get(..count)
}

/// Expands at least the first `want` bytes of a block with declared size `len`, appending to `out`.
pub fn expand_prefix(block: &[u8], len: usize, want: usize, out: &mut Vec<u8>) -> Result<(), LzfError> {
    let start = out.len();
    let want = want.min(len);
    let mut rest = block;
    while out.len() - start < want {
        rest = step(rest, len, start, out)?;
    }
    Ok(())
}

fn expand_until<'a>(block: &'a [u8], len: usize, out: &mut Vec<u8>) -> Result<&'a [u8], LzfError> {
    let start = out.len();
    let mut rest = block;
    while !rest.is_empty() && out.len() - start < len {
        rest = step(rest, len, start, out)?;
    }
    Ok(rest)
}

/// Executes one instruction and returns the rest of the block.
#[inline]
fn step<'a>(block: &'a [u8], len: usize, start: usize, out: &mut Vec<u8>) -> Result<&'a [u8], LzfError> {
    let room = len - (out.len() - start);
    let (&control, rest) = block.split_first().ok_or(LzfError::Short)?;
    let control = usize::from(control);
    if control < 32 {
        let count = control + 1;
        let (literals, rest) = rest.split_at_checked(count).ok_or(LzfError::Short)?;
        if count > room {
            return Err(LzfError::Long);
        }
        out.extend_from_slice(literals);
        return Ok(rest);
    }
    let (count, rest) = match control >> 5 {
        7 => {
            let (&more, rest) = rest.split_first().ok_or(LzfError::Short)?;
            (usize::from(more) + 9, rest)
        }
        short => (short + 2, rest),
    };
    let (&low, rest) = rest.split_first().ok_or(LzfError::Short)?;
    let distance = ((control & 0x1F) << 8 | usize::from(low)) + 1;
    let made = out.len() - start;
    if distance > made {
        return Err(LzfError::Distance);
    }
    if count > room {
        return Err(LzfError::Long);
    }
    copy_back(out, distance, count);
    Ok(rest)
}

/// Appends `count` bytes copied from `distance` bytes back; source and destination may overlap.
#[inline]
fn copy_back(out: &mut Vec<u8>, distance: usize, count: usize) {
    let from = out.len() - distance;
    if distance >= count {
        out.extend_from_within(from..from + count);
        return;
    }
    let mut left = count;
    while left > 0 {
        // The output repeats with period `distance`, so each round can copy everything written so far and double the run.
        let run = left.min(out.len() - from);
        out.extend_from_within(from..from + run);
        left -= run;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(block: &[u8], len: usize) -> Result<Vec<u8>, LzfError> {
        let mut out = Vec::new();
        expand(block, len, &mut out).map(|()| out)
    }

    #[test]
    fn overlapping_copy_expands_to_run() {
        let block = [0x01, 0x61, 0x61, 0xE0, 0x57, 0x00, 0x01, 0x61, 0x61];
        assert_eq!(whole(&block, 100).unwrap(), vec![b'a'; 100]);
    }

    #[test]
    fn each_fault_is_rejected() {
        assert_eq!(whole(&[0x05, 1, 2], 6), Err(LzfError::Short));
        assert_eq!(whole(&[0x00, 1, 0x20, 0x05], 4), Err(LzfError::Distance));
        assert_eq!(whole(&[0x01, 1, 2], 1), Err(LzfError::Long));
        assert_eq!(whole(&[0x00, 1, 0x00, 2], 1), Err(LzfError::Long));
        assert_eq!(whole(&[0x00, 1], 2), Err(LzfError::Short));
    }

    proptest::proptest! {
        #[test]
        fn equals_lzf_crate(text in proptest::collection::vec(0u8..4, 30..400), want in 0usize..400) {
            if let Ok(block) = lzf::compress(&text) {
                proptest::prop_assert_eq!(&whole(&block, text.len()).unwrap(), &text);
                let mut prefix = Vec::new();
                expand_prefix(&block, text.len(), want, &mut prefix).unwrap();
                proptest::prop_assert!(prefix.len() >= want.min(text.len()));
                if let Some(literals) = first_literals(&block, text.len(), want) {
                    proptest::prop_assert!(literals.len() >= want && text.starts_with(literals));
                }
                proptest::prop_assert_eq!(&prefix[..], &text[..prefix.len()]);
            }
        }

        #[test]
        fn arbitrary_blocks_do_not_panic(block in proptest::collection::vec(0u8..255, 0..60), len in 0usize..5000) {
            if let Ok(made) = whole(&block, len) {
                proptest::prop_assert_eq!(made.len(), len);
                proptest::prop_assert_eq!(lzf::decompress(&block, len).unwrap(), made);
            }
        }
    }
}
