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

/// Most bytes of an instruction with its literals.
const MAX_INSTRUCTION_LEN: usize = 1 + MAX_LITERALS;
/// Most literals of one instruction.
const MAX_LITERALS: usize = 32;
/// Bytes that [`expand_widely`] copies at once.
const PIECE: usize = 16;
/// Longest distance of a back reference.
const MAX_DISTANCE: usize = 1 << 13;
/// Most bytes that an instruction produces, rounded up to whole pieces.
const MAX_OUTPUT_LEN: usize = (255 + 9_usize).next_multiple_of(PIECE);

/// Expands a whole block with declared size `len`, replacing the contents of `out`.
///
/// The caller has checked `len` against [`crate::limits::LZF_MAX_RATIO`]; `out` grows with the bytes actually produced.
pub fn expand(block: &[u8], len: usize, out: &mut Vec<u8>) -> Result<(), LzfError> {
    let mut rest = block;
    let mut made = 0;
    loop {
        // Only what is longer than the old contents has to be zeroed.
        out.resize(len.min(made + limits::EXPAND_AT_ONCE), 0);
        let before = made;
        (rest, made) = expand_widely(rest, out, made);
        if made == before {
            break;
        }
    }
    out.truncate(made);
    while !rest.is_empty() && out.len() < len {
        rest = step(rest, len, 0, out)?;
    }
    ended(rest, out.len(), len)
}

/// Checks that a block expands to its declared size `len`, without expanding it; fails as [`expand`] does.
pub fn check(block: &[u8], len: usize) -> Result<(), LzfError> {
    let (mut rest, mut made) = (block, 0);
    while !rest.is_empty() && made < len {
        // Fast path: with that many bytes made and left, no instruction refers too far back or is cut off.
        while made >= MAX_DISTANCE
            && let Some(head) = rest.first_chunk::<MAX_INSTRUCTION_LEN>()
        {
            let control = usize::from(head[0]);
            let (count, size) = match control >> 5 {
                0 => (control + 1, control + 2),
                7 => (usize::from(head[1]) + 9, 3),
                short => (short + 2, 2),
            };
            if count > len - made {
                break;
            }
            made += count;
            rest = &rest[size..];
        }
        let Some(instruction) = Instruction::first(rest, len - made, made)? else { break };
        made += instruction.count;
        rest = &rest[instruction.size..];
    }
    ended(rest, made, len)
}

/// Returns whether a block is complete of which `rest` is left after `made` of `len` bytes.
fn ended(rest: &[u8], made: usize, len: usize) -> Result<(), LzfError> {
    match (rest.is_empty(), made == len) {
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

/// Executes instructions as long as the longest possible one would fit, and stops before a false one. `out` already has `made`
/// bytes. Returns the rest of the block and the number of bytes then made; bytes behind these are undefined.
///
/// With room for any instruction, copies have fixed sizes and may write beyond their end, which is several times as fast as
/// copying exactly the bytes of each short run.
fn expand_widely<'a>(mut block: &'a [u8], out: &mut [u8], mut made: usize) -> (&'a [u8], usize) {
    while let Some(instruction) = block.first_chunk::<MAX_INSTRUCTION_LEN>()
        && out.len() - made >= MAX_OUTPUT_LEN
    {
        let control = usize::from(instruction[0]);
        if control < MAX_LITERALS {
            out[made..made + MAX_LITERALS].copy_from_slice(&instruction[1..]);
            made += control + 1;
            block = &block[control + 2..];
            continue;
        }
        let (count, low, size) = match control >> 5 {
            7 => (usize::from(instruction[1]) + 9, instruction[2], 3),
            short => (short + 2, instruction[1], 2),
        };
        let distance = ((control & 0x1F) << 8 | usize::from(low)) + 1;
        if distance > made {
            break;
        }
        let end = made + count;
        if distance >= PIECE {
            for to in (made..end).step_by(PIECE) {
                let (before, rest) = out.split_at_mut(to);
                rest[..PIECE].copy_from_slice(&before[to - distance..][..PIECE]);
            }
        } else {
            for to in made..end {
                out[to] = out[to - distance];
            }
        }
        made = end;
        block = &block[size..];
    }
    (block, made)
}

/// An instruction of a block.
#[derive(Debug, Clone, Copy)]
struct Instruction {
    /// Bytes that it produces.
    count: usize,
    /// Bytes that it takes in the block, with its literals.
    size: usize,
    /// Distance of a back reference; `None` for literals, which end the instruction.
    distance: Option<usize>,
}

impl Instruction {
    /// Reads the first instruction of `block`, which may produce `room` bytes after the `made` ones; `None` if there is room for
    /// none.
    #[inline]
    fn first(block: &[u8], room: usize, made: usize) -> Result<Option<Instruction>, LzfError> {
        if room == 0 {
            return Ok(None);
        }
        let byte = |at: usize| block.get(at).copied().map(usize::from).ok_or(LzfError::Short);
        let control = byte(0)?;
        let distance = |low: usize| ((control & 0x1F) << 8 | low) + 1;
        let instruction = match control >> 5 {
            0 => Instruction { count: control + 1, size: control + 2, distance: None },
            7 => Instruction { count: byte(1)? + 9, size: 3, distance: Some(distance(byte(2)?)) },
            short => Instruction { count: short + 2, size: 2, distance: Some(distance(byte(1)?)) },
        };
        if instruction.size > block.len() {
            return Err(LzfError::Short);
        }
        if instruction.distance.is_some_and(|distance| distance > made) {
            return Err(LzfError::Distance);
        }
        if instruction.count > room {
            return Err(LzfError::Long);
        }
        Ok(Some(instruction))
    }
}

/// Executes one instruction and returns the rest of the block.
#[inline]
fn step<'a>(block: &'a [u8], len: usize, start: usize, out: &mut Vec<u8>) -> Result<&'a [u8], LzfError> {
    let made = out.len() - start;
    let Some(Instruction { count, size, distance }) = Instruction::first(block, len - made, made)? else {
        return Err(LzfError::Long);
    };
    match distance {
        None => out.extend_from_slice(&block[1..size]),
        Some(distance) => copy_back(out, distance, count),
    }
    Ok(&block[size..])
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
    use proptest::prelude::Strategy;

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

    /// Texts with long runs, with near and far repetitions, and with runs of literals.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let piece = || {
            proptest::prop_oneof![
                proptest::collection::vec(0u8..4, 1..60),
                proptest::collection::vec(proptest::num::u8::ANY, 1..60),
                (proptest::num::u8::ANY, 1usize..400).prop_map(|(byte, count)| vec![byte; count]),
            ]
        };
        let pieces = proptest::collection::vec(piece(), 1..8);
        (pieces, proptest::collection::vec(0usize..8, 4..30)).prop_map(|(pieces, order)| {
            order.into_iter().flat_map(|at| pieces[at % pieces.len()].clone()).chain([7; 30]).collect()
        })
    }

    proptest::proptest! {
        #[test]
        fn equals_lzf_crate(text in texts(), want in 0usize..400) {
            if let Ok(block) = lzf::compress(&text) {
                proptest::prop_assert_eq!(&whole(&block, text.len()).unwrap(), &text);
                proptest::prop_assert_eq!(check(&block, text.len()), Ok(()));
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
        fn arbitrary_blocks_do_not_panic(block in proptest::collection::vec(0u8..255, 0..200), len in 0usize..5000) {
            proptest::prop_assert_eq!(check(&block, len), whole(&block, len).map(|_| ()));
            if let Ok(made) = whole(&block, len) {
                proptest::prop_assert_eq!(made.len(), len);
                proptest::prop_assert_eq!(lzf::decompress(&block, len).unwrap(), made);
            }
        }

        #[test]
        fn damaged_blocks_fail_like_single_steps(text in texts(), at in 0usize..2000, byte in proptest::num::u8::ANY) {
            if let Ok(mut block) = lzf::compress(&text) {
                let at = at % block.len();
                block[at] = byte;
                let slowly = || {
                    let (mut out, mut rest) = (Vec::new(), &block[..]);
                    while !rest.is_empty() && out.len() < text.len() {
                        rest = step(rest, text.len(), 0, &mut out)?;
                    }
                    match (rest.is_empty(), out.len() == text.len()) {
                        (true, true) => Ok(out),
                        (_, false) => Err(LzfError::Short),
                        (false, _) => Err(LzfError::Long),
                    }
                };
                let slowly = slowly();
                proptest::prop_assert_eq!(check(&block, text.len()), slowly.as_ref().map(|_| ()).map_err(|error| *error));
                proptest::prop_assert_eq!(whole(&block, text.len()), slowly);
            }
        }
    }
}
