//! Snapshots of Dragonfly: files with the magic of Redis, whose records may be in compressed blocks and in chunks.
//!
//! ```text
//! REDIS0009  aux* (among them df-ver)  sequence  EOF  8 bytes, always zero   padding to a multiple of 4 KiB
//!
//! sequence   (SELECTDB | record | search index | chunk)*
//! 201 n zstd frame, 202 n LZ4 frame      a sequence of at most about 1 MiB, compressed
//! 224 id size bytes                      a chunk: records larger than 64 KiB come in several, other records between them
//! ```
//!
//! [`unfold`] turns such a file into a plain stream of records, which the rest of the program reads as any other; offsets
//! count the bytes of that stream. It follows `rdb_save.cc` and `rdb_load.cc` of Dragonfly.

mod block;
mod chunks;
mod damage;
mod items;
mod unfold;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError};

use super::cursor::Cursor;
use super::header::{Family, RdbHeader};
use super::scan::{FileItem, ScanState, Scanner};
use super::string::RawString;
use crate::error::{Error, Result};
use crate::input::{Body, Mapped, OpenOptions, Window};
use unfold::Unfolded;

pub use damage::LostPart;

/// Number of bytes in which the field that names Dragonfly is looked for; it is one of the first three.
const HEAD: u64 = 4096;
/// Number of auxiliary fields that are looked at.
const FIELDS: usize = 8;
/// Name of the field with the version of Dragonfly.
const VERSION_FIELD: &[u8] = b"df-ver";

/// Returns whether Dragonfly wrote the snapshot at the start of `bytes`.
pub fn is_dragonfly(bytes: &[u8]) -> bool {
    let mut cursor = Cursor::new(bytes, 0);
    match RdbHeader::read(&mut cursor) {
        Ok(header) if header.family == Family::Redis => {}
        Ok(_) | Err(_) => return false,
    }
    let mut scanner = Scanner::new(cursor, ScanState { family: Family::Redis, db: None });
    for _ in 0..FIELDS {
        match scanner.next_item() {
            Ok(FileItem::Aux(name, _)) if is_version_field(&name) => return true,
            Ok(FileItem::Aux(..)) => {}
            Ok(_) | Err(_) => return false,
        }
    }
    false
}

/// Returns whether an auxiliary field has the version of Dragonfly. Decodes no other name: any may be of any length.
fn is_version_field(name: &RawString<'_>) -> bool {
    name.len() == VERSION_FIELD.len() as u64 && name.to_bytes().is_ok_and(|name| *name == *VERSION_FIELD)
}

/// Snapshot as the rest of the program reads it.
pub struct Unwrapped {
    /// The records.
    pub body: Body,
    /// Bytes of the file read so far, if the records are not the bytes of the file; `None` for other servers' files.
    pub consumed: Option<Arc<AtomicU64>>,
}

/// Returns a snapshot of Dragonfly as a plain stream of records, and any other as it is.
///
/// `body` must be positioned at the magic.
pub fn unfold(mut body: Body, options: &OpenOptions) -> Result<Unwrapped> {
    // Errors are met again, and reported, when the header is read.
    let _ = body.fill(HEAD);
    if !is_dragonfly(body.bytes()) {
        return Ok(Unwrapped { body, consumed: None });
    }
    let unfolded = Unfolded::new(body, options.budget);
    let consumed = Some(unfolded.consumed());
    let window = Window::new(Box::new(unfolded), options);
    Ok(Unwrapped { body: Body::Stream(window), consumed })
}

/// Plain records of a file that may be damaged.
#[derive(Debug)]
pub struct UnfoldedWhole {
    /// The records, with the bytes of the file where it cannot be unfolded.
    pub map: Mapped,
    /// Parts that cannot be unfolded, in order.
    pub lost: Vec<LostPart>,
    /// Error that ended the copy early.
    pub failure: Option<Error>,
}

/// Copies the records of a snapshot of Dragonfly to a temporary file, past all damage; returns `None` for other servers' files.
pub fn unfold_whole(map: &Mapped, options: &OpenOptions) -> Result<Option<UnfoldedWhole>> {
    if !is_dragonfly(map.bytes.get(map.start()..).unwrap_or_default()) {
        return Ok(None);
    }
    let (unfolded, lost) = Unfolded::past_damage(map.clone(), options.budget);
    let mut body = Body::Stream(Window::new(Box::new(unfolded), options));
    let failure = body.spool(options)?;
    let Body::Mapped(map) = body else { return Ok(None) };
    let lost = std::mem::take(&mut *lost.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Some(UnfoldedWhole { map, lost, failure }))
}
