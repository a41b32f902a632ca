//! Items of a Dragonfly file that are no plain records: blocks, chunks, search indexes, the end.

use crate::error::{Error, Reading, Result, Within};
use crate::input::Compression;
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::header::Family;
use crate::rdb::opcode;
use crate::rdb::scan::{ScanState, Scanner};
use crate::wording::wording;

const ZSTD_BLOCK: u8 = 201;
const LZ4_BLOCK: u8 = 202;

/// Bytes after the opcodes 200 and 211, and after EOF.
const EIGHT: u64 = 8;

/// Opcode at the start of an item that is no plain record, named after `RDB_OPCODE_…` in `rdb_extensions.h` of Dragonfly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecialOpcode {
    FullSyncEnd,
    ZstdBlock,
    Lz4Block,
    BlockEnd,
    JournalOffset,
    VectorIndex,
    ShardDocIndex,
    TaggedChunk,
    Eof,
}

impl SpecialOpcode {
    fn from_byte(byte: u8) -> Option<SpecialOpcode> {
        Some(match byte {
            200 => SpecialOpcode::FullSyncEnd,
            ZSTD_BLOCK => SpecialOpcode::ZstdBlock,
            LZ4_BLOCK => SpecialOpcode::Lz4Block,
            203 => SpecialOpcode::BlockEnd,
            211 => SpecialOpcode::JournalOffset,
            222 => SpecialOpcode::VectorIndex,
            223 => SpecialOpcode::ShardDocIndex,
            224 => SpecialOpcode::TaggedChunk,
            opcode::byte::EOF => SpecialOpcode::Eof,
            _ => return None,
        })
    }
}

/// Item at the front of a sequence that is no plain record.
pub(super) enum Special<'a> {
    /// A compressed block.
    Block(Compression, &'a [u8]),
    /// A chunk of the record with this id.
    Chunk(u32, &'a [u8]),
    /// Nothing that belongs to a record.
    Skipped,
    /// The end of the snapshot.
    End,
}

impl Special<'_> {
    /// Returns how many bytes are read at most for an item of `len` bytes in the file.
    pub fn most_read(&self, len: usize) -> usize {
        match self {
            Special::Block(..) => limits::MAX_BLOCK_BYTES,
            Special::Chunk(..) | Special::Skipped | Special::End => len,
        }
    }
}

/// Returns whether an item that begins with this byte is no plain record.
pub(super) fn is_special(byte: u8) -> bool {
    SpecialOpcode::from_byte(byte).is_some()
}

/// Reads the special item at the front of `bytes`; returns it with its length.
pub(super) fn special(bytes: &[u8], base: u64) -> Result<(Special<'_>, usize)> {
    let mut cursor = Cursor::new(bytes, base);
    let byte = cursor.byte()?;
    let item = match SpecialOpcode::from_byte(byte) {
        Some(SpecialOpcode::ZstdBlock) => Special::Block(Compression::Zstd, block(&mut cursor)?),
        Some(SpecialOpcode::Lz4Block) => Special::Block(Compression::Lz4, block(&mut cursor)?),
        Some(SpecialOpcode::TaggedChunk) => {
            let id = cursor.u32_le().within(Reading::ChunkOfValue)?;
            let size = cursor.u32_le().within(Reading::ChunkOfValue)?;
            if id == 0 || size == 0 {
                let what = wording!("chunk {id} of {size} bytes", "分块 {id} 为 {size} 字节");
                return Err(Error::corrupt(base, what)).within(Reading::ChunkOfValue);
            }
            Special::Chunk(id, cursor.take(u64::from(size)).within(Reading::ChunkOfValue)?)
        }
        Some(SpecialOpcode::FullSyncEnd | SpecialOpcode::JournalOffset) => {
            cursor.take(EIGHT).within(Reading::Record)?;
            Special::Skipped
        }
        Some(SpecialOpcode::VectorIndex) => {
            skip_vector_index(&mut cursor).within(Reading::SearchIndex)?;
            Special::Skipped
        }
        Some(SpecialOpcode::ShardDocIndex) => {
            skip_document_index(&mut cursor).within(Reading::SearchIndex)?;
            Special::Skipped
        }
        Some(SpecialOpcode::Eof) => {
            // A missing checksum is reported by the reader of the records.
            let _ = cursor.take(EIGHT);
            Special::End
        }
        Some(SpecialOpcode::BlockEnd) | None => {
            let what = wording!("opcode {byte} outside of a compressed block", "操作码 {byte} 出现在压缩块之外");
            return Err(Error::corrupt(base, what)).within(Reading::Record);
        }
    };
    Ok((item, cursor.consumed()))
}

/// Returns the compressed bytes of a block, behind its opcode.
fn block<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let len = cursor.length().within(Reading::CompressedBlock)?;
    cursor.take(len).within(Reading::CompressedBlock)
}

/// Skips `name, entry point, n, (id, document, level, (links, link[links])[level + 1])[n]`.
fn skip_vector_index(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.string()?;
    cursor.number()?;
    for _ in 0..cursor.length()? {
        cursor.take(12)?;
        for _ in 0..=cursor.u32_le()? {
            let links = cursor.u32_le()?;
            cursor.take(4 * u64::from(links))?;
        }
    }
    Ok(())
}

/// Skips `shard, name, n, (key, document)[n]`.
fn skip_document_index(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.number()?;
    cursor.string()?;
    for _ in 0..cursor.length()? {
        cursor.string()?;
        cursor.number()?;
    }
    Ok(())
}

/// Returns the position of the next compressed block behind the first byte, by its length and the magic of its frame.
pub(super) fn next_block(bytes: &[u8]) -> Option<usize> {
    memchr::memchr2_iter(ZSTD_BLOCK, LZ4_BLOCK, bytes.get(1..)?).map(|at| at + 1).find(|&at| is_block(&bytes[at..]))
}

fn is_block(bytes: &[u8]) -> bool {
    match special(bytes, 0) {
        Ok((Special::Block(Compression::Zstd, block), _)) => block.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]),
        Ok((Special::Block(_, block), _)) => block.starts_with(&[0x04, 0x22, 0x4D, 0x18]),
        Ok(_) | Err(_) => false,
    }
}

/// Returns whether an item seems to begin here.
pub(super) fn is_boundary(bytes: &[u8]) -> bool {
    let Some(&byte) = bytes.first() else { return true };
    match SpecialOpcode::from_byte(byte) {
        Some(SpecialOpcode::ZstdBlock | SpecialOpcode::Lz4Block) => is_block(bytes),
        Some(SpecialOpcode::TaggedChunk) => special(bytes, 0).is_ok(),
        Some(
            SpecialOpcode::FullSyncEnd
            | SpecialOpcode::BlockEnd
            | SpecialOpcode::JournalOffset
            | SpecialOpcode::VectorIndex
            | SpecialOpcode::ShardDocIndex
            | SpecialOpcode::Eof,
        ) => true,
        None => {
            Scanner::new(Cursor::new(bytes, 0), ScanState { family: Family::Dragonfly, db: None }).next_item().is_ok()
        }
    }
}
