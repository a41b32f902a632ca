//! Writes a snapshot of the sound records of a damaged one.
//!
//! Records are copied byte for byte. Written anew are `SELECTDB`, `RESIZEDB` and the checksum.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::crc64::Crc64Digest;
use super::header::RdbHeader;
use super::opcode::byte;
use super::salvage::Survey;

/// First version with `RESIZEDB`.
const FIRST_WITH_SIZES: u32 = 7;

/// Checksum at the end of a written snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumForm {
    /// Computed.
    Computed,
    /// Zero, as of servers with `rdbchecksum no`.
    Zero,
}

/// Writes the sound records of `survey`, whose file has `bytes` with its magic at `start`; returns the bytes written.
pub fn write(
    survey: &Survey,
    bytes: &[u8],
    start: usize,
    checksum: ChecksumForm,
    out: &mut impl Write,
) -> io::Result<u64> {
    let header = survey.about.header;
    let mut out = Checked { out, sum: Crc64Digest::new(), written: 0 };
    out.put(bytes.get(start..start + RdbHeader::LEN).unwrap_or_default())?;
    let (mut current, mut sized) = (None, BTreeSet::new());
    for stretch in &survey.stretches {
        if stretch.records > 0 && current != Some(stretch.db) {
            current = Some(stretch.db);
            out.put(&[byte::SELECT_DB])?;
            out.put(&length(stretch.db))?;
            let place = survey.databases.binary_search_by_key(&stretch.db, |size| size.db);
            let size = place.ok().and_then(|place| survey.databases.get(place));
            if let Some(size) = size.filter(|_| header.version >= FIRST_WITH_SIZES && sized.insert(stretch.db)) {
                out.put(&[byte::RESIZE_DB])?;
                out.put(&length(size.keys))?;
                out.put(&length(size.expires))?;
            }
        }
        out.put(bytes.get(stretch.range.clone()).unwrap_or_default())?;
    }
    out.put(&[byte::EOF])?;
    if header.has_checksum() {
        let sum = match checksum {
            ChecksumForm::Computed => out.sum.value(),
            ChecksumForm::Zero => 0,
        };
        out.put(&sum.to_le_bytes())?;
    }
    Ok(out.written)
}

/// Writer that computes the checksum.
struct Checked<'w, W> {
    out: &'w mut W,
    sum: Crc64Digest,
    written: u64,
}

impl<W: Write> Checked<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// Returns a length in the shortest encoding.
fn length(number: u64) -> Vec<u8> {
    match number {
        0..0x40 => number.to_be_bytes()[7..].to_vec(),
        0x40..0x4000 => {
            let [.., high, low] = number.to_be_bytes();
            vec![0x40 | high, low]
        }
        0x4000..=0xFFFF_FFFF => [&[0x80], &number.to_be_bytes()[4..]].concat(),
        _ => [&[0x81], &number.to_be_bytes()[..]].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::cursor::Cursor;
    use crate::rdb::salvage::survey;

    #[test]
    fn lengths_are_read_back() {
        for number in [0, 1, 0x3F, 0x40, 0x3FFF, 0x4000, u64::from(u32::MAX), 1 << 32] {
            assert_eq!(Cursor::new(&length(number), 0).length().unwrap(), number);
        }
    }

    #[test]
    fn sound_snapshot_is_written_as_it_was() {
        let bytes = std::fs::read("testdata/dumps/shop.rdb").unwrap();
        let survey = survey(&bytes, 0).unwrap();
        assert!(survey.gaps.is_empty() && survey.ended);
        let mut out = Vec::new();
        let written = write(&survey, &bytes, 0, ChecksumForm::Computed, &mut out).unwrap();
        assert!(out == bytes);
        assert_eq!(written, bytes.len() as u64);
    }
}
