//! Blocks of zeros that a lost disk block left in a string.

use crate::error::{Error, Result};
use crate::rdb::cursor::Cursor;
use crate::rdb::scan::KeyEntry;
use crate::rdb::string::StringForm;
use crate::rdb::value_type::ValueType;
use crate::wording::wording;

/// Finds blocks of zeros in strings that the server would have compressed.
///
/// A lost disk block reads as zeros, and inside a long string nothing else tells. But servers compress strings unless told
/// not to, and a compressed string has no long runs of zeros.
#[derive(Debug, Default)]
pub(super) struct ZeroedBlocks {
    compresses: bool,
}

impl ZeroedBlocks {
    /// Length of a run of zeros that is noticed: a disk block.
    const MIN_RUN: usize = 512;

    /// Fails if a string in `record`, the bytes of `entry`, holds a block of zeros.
    pub fn check(&mut self, entry: &KeyEntry<'_>, record: &[u8]) -> Result<()> {
        if entry.value_type != ValueType::String {
            return Ok(());
        }
        let key = match entry.key.form {
            StringForm::Plain(key) => key.len(),
            StringForm::Int(_) | StringForm::Lzf { .. } => return Ok(()),
        };
        // The key ends at the same distance from the record's start as in the file.
        let value = usize::try_from(entry.key.offset - entry.offset).unwrap_or(usize::MAX).saturating_add(key);
        let value = Cursor::new(record.get(value..).unwrap_or_default(), 0).string()?;
        match value.form {
            StringForm::Lzf { .. } => self.compresses = true,
            StringForm::Plain(bytes) if self.compresses && would_shrink(bytes) => {
                let what = wording!("a block of zeros in a string", "字符串中有整块的零字节");
                return Err(Error::corrupt(entry.offset, what));
            }
            StringForm::Plain(_) | StringForm::Int(_) => {}
        }
        Ok(())
    }
}

/// Returns whether LZF would shrink a string thanks to its runs of zeros alone.
pub(super) fn would_shrink(bytes: &[u8]) -> bool {
    let zeros: usize = bytes
        .chunk_by(|one, other| (*one == 0) == (*other == 0))
        .filter(|run| run[0] == 0 && run.len() >= ZeroedBlocks::MIN_RUN)
        .map(<[u8]>::len)
        .sum();
    // LZF adds one byte in 32 to what it cannot compress, and turns 264 zeros into three bytes.
    zeros > 0 && zeros - zeros / 64 > (bytes.len() - zeros) / 31 + 64
}
