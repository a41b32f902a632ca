//! Intsets: packed sets of integers (`intset.c`).
//!
//! ```text
//! u32 width (2, 4, 8), u32 count, numbers in ascending order
//! ```

use super::chunk;
use crate::error::{Error, Result};
use crate::wording::wording;

/// Size of the header in bytes.
pub const HEADER: usize = 8;

/// Parsed header of an intset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntsetHeader {
    /// Bytes per integer.
    pub width: u64,
    /// Number of integers.
    pub count: u64,
}

/// Parses and checks the header; `prefix` may be a prefix of the blob, whose full size is `len`.
pub fn header(prefix: &[u8], len: u64, offset: u64) -> Result<IntsetHeader> {
    let width = u64::from(u32::from_le_bytes(chunk(prefix, 0, offset)?));
    let count = u64::from(u32::from_le_bytes(chunk(prefix, 4, offset)?));
    if !matches!(width, 2 | 4 | 8) {
        return Err(Error::corrupt(
            offset,
            wording!("unknown intset width of {width} bytes", "未知的 intset 整数宽度：{width} 字节"),
        ));
    }
    if HEADER as u64 + width * count != len {
        return Err(Error::corrupt(
            offset + 4,
            wording!(
                "intset of {len} bytes declares {count} integers of {width} bytes",
                "intset 长 {len} 字节，却声明有 {count} 个 {width} 字节的整数"
            ),
        ));
    }
    Ok(IntsetHeader { width, count })
}

/// Returns an iterator over the integers of a whole blob.
pub fn numbers(blob: &[u8], offset: u64) -> Result<impl Iterator<Item = i64> + '_> {
    let IntsetHeader { width, .. } = header(blob, blob.len() as u64, offset)?;
    let width = usize::try_from(width).expect("the header check allows widths 2, 4 and 8");
    Ok(blob[HEADER..].chunks_exact(width).map(|bytes| match *bytes {
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => unreachable_width(),
    }))
}

fn unreachable_width() -> i64 {
    debug_assert!(false, "the header check allows widths 2, 4 and 8");
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_width() {
        let blob = [2, 0, 0, 0, 3, 0, 0, 0, 0xFF, 0xFF, 2, 0, 0x2C, 1];
        assert_eq!(numbers(&blob, 0).unwrap().collect::<Vec<_>>(), [-1, 2, 300]);
        let wide = [8, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80];
        assert_eq!(numbers(&wide, 0).unwrap().collect::<Vec<_>>(), [i64::MIN + 1]);
    }

    #[test]
    fn false_headers_are_rejected() {
        for blob in [
            &[3u8, 0, 0, 0, 0, 0, 0, 0][..],
            &[2, 0, 0, 0, 1, 0, 0, 0],
            &[2, 0, 0, 0, 255, 255, 255, 255, 1, 0],
            &[2, 0],
        ] {
            assert!(numbers(blob, 0).is_err());
        }
    }
}
