//! Features that the sound keys of a file have in common, by which real keys are told from invented ones.

use std::collections::BTreeMap;

use super::USUAL_EXPIRY;
use crate::rdb::boundary::{MAX_KEY_LEN, is_text};
use crate::rdb::scan::KeyEntry;
use crate::rdb::string::{RawString, StringForm};
use crate::rdb::value_type::ValueType;

/// Bytes of a key that make up its shape at most.
const SHAPE_BYTES: usize = 16;
/// Shape of all keys that are stored as integers.
const INTEGER_SHAPE: u64 = 1;
/// Shape of all keys that are stored compressed.
const COMPRESSED_SHAPE: u64 = 2;
/// Number of different shapes above which shapes tell nothing.
const MAX_SHAPES: usize = 4096;
/// Length above which a name that is no text needs one as long elsewhere in the file.
const LONG_BINARY: u64 = 64;
/// Number of keys from which shares of keys are meaningful.
const FEW_KEYS: u64 = 16;

/// Facts about the sound keys of a file, which tell other keys from invented ones.
#[derive(Debug, Default)]
pub struct Profile {
    keys: u64,
    /// String keys without any metadata.
    bare_strings: u64,
    /// Keys with an idle time or an access counter.
    with_access: u64,
    shapes: BTreeMap<u64, u64>,
    pub(super) types: Vec<ValueType>,
    /// Length of the longest name that is no text.
    longest_binary: u64,
    /// Keys whose name is not UTF-8.
    not_utf8: u64,
}

/// Facts about one key, for the [`Profile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyFacts {
    shape: u64,
    value_type: ValueType,
    has_access: bool,
    has_usual_expiry: bool,
    pub(super) is_text: bool,
    is_empty: bool,
    /// False if the name is stored as it is, and no UTF-8.
    is_utf8: bool,
    /// Length of a name that is no text, otherwise 0.
    binary_len: u64,
}

impl KeyFacts {
    /// Returns the facts about a key.
    pub fn of(entry: &KeyEntry<'_>) -> KeyFacts {
        let is_text = is_text(&entry.key);
        let is_binary = !is_text && matches!(entry.key.form, StringForm::Plain(_));
        KeyFacts {
            shape: shape(&entry.key),
            value_type: entry.value_type,
            has_access: entry.idle.is_some() || entry.freq.is_some(),
            has_usual_expiry: entry.expires_at.is_some_and(|at| USUAL_EXPIRY.contains(&at.0)),
            is_text,
            is_empty: entry.key.is_empty(),
            is_utf8: match entry.key.form {
                StringForm::Plain(bytes) => std::str::from_utf8(bytes).is_ok(),
                StringForm::Int(_) | StringForm::Lzf { .. } => true,
            },
            binary_len: if is_binary { entry.key.len() } else { 0 },
        }
    }

    /// Returns whether the name is text, and not empty.
    pub fn has_text_name(&self) -> bool {
        self.is_text && !self.is_empty
    }

    fn is_bare_string(&self) -> bool {
        self.value_type == ValueType::String && !self.has_access && !self.has_usual_expiry
    }
}

impl Profile {
    /// Adds a sound key.
    pub fn learn(&mut self, key: &KeyFacts) {
        self.keys += 1;
        self.bare_strings += u64::from(key.is_bare_string());
        self.with_access += u64::from(key.has_access);
        self.not_utf8 += u64::from(!key.is_utf8);
        self.longest_binary = self.longest_binary.max(key.binary_len);
        if !self.types.contains(&key.value_type) {
            self.types.push(key.value_type);
        }
        if self.shapes.len() < MAX_SHAPES || self.shapes.contains_key(&key.shape) {
            *self.shapes.entry(key.shape).or_default() += 1;
        }
    }

    /// Returns whether a key is hardly a part of another value that looks like a record.
    ///
    /// The fields of a hash with field expiries follow each other exactly as string keys without metadata do, so such keys
    /// must have a name like those of other keys.
    pub fn trusts(&self, key: &KeyFacts) -> bool {
        if key.is_empty || self.lacks_access(key) || self.is_foreign(key) {
            return false;
        }
        let is_known = self.knows_shape(key);
        if key.is_bare_string() { is_known } else { is_known || key.is_text }
    }

    /// Returns whether a name is long and no text, unlike any other of the file.
    ///
    /// The head of one record may be followed by the end of another, or by garbage: then its name takes in whole records, and may
    /// end in the middle of one.
    pub fn is_overlong(&self, key: &KeyFacts) -> bool {
        let usual = if self.is_informed() { LONG_BINARY } else { MAX_KEY_LEN };
        key.binary_len > usual.max(self.longest_binary)
    }

    /// Returns whether a name is unlike all others and not UTF-8, although nearly all of these are.
    pub fn is_foreign(&self, key: &KeyFacts) -> bool {
        !key.is_utf8 && self.is_informed() && self.not_utf8 <= self.keys / 64 && !self.knows_shape(key)
    }

    /// Returns whether a key has no access metadata although nearly all others have.
    pub fn lacks_access(&self, key: &KeyFacts) -> bool {
        !key.has_access && self.keys >= FEW_KEYS && self.with_access > self.keys / 10 * 9
    }

    /// Returns whether no key is known.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// Returns whether enough keys are known to judge others.
    pub fn is_informed(&self) -> bool {
        self.keys >= FEW_KEYS
    }

    /// Returns whether names tell nothing because hardly two begin alike, and almost all keys are strings without metadata.
    pub fn is_shapeless(&self) -> bool {
        let shapes = self.shapes.len() as u64;
        self.keys >= FEW_KEYS && self.bare_strings > self.keys / 20 * 19 && shapes > self.keys / 2
    }

    pub(super) fn knows_shape(&self, key: &KeyFacts) -> bool {
        let seen = self.shapes.get(&key.shape).copied().unwrap_or_default();
        match key.shape {
            // Elements of collections look like them, too: they must be common.
            INTEGER_SHAPE | COMPRESSED_SHAPE => seen > self.keys / 8,
            _ => seen > 0 || self.shapes.len() >= MAX_SHAPES,
        }
    }
}

/// Returns a hash of the start of a name, up to its first digit or separator; of integers one shape for all.
fn shape(key: &RawString<'_>) -> u64 {
    let bytes = match key.form {
        StringForm::Plain(bytes) => bytes,
        StringForm::Int(_) => return INTEGER_SHAPE,
        StringForm::Lzf { .. } => return COMPRESSED_SHAPE,
    };
    let is_end = |byte: &u8| byte.is_ascii_digit() || b":./-_|{}#@ ".contains(byte);
    let head = &bytes[..bytes.len().min(SHAPE_BYTES)];
    let end = head.iter().position(is_end).unwrap_or(head.len());
    let class = match head.get(end) {
        Some(byte) if byte.is_ascii_digit() => b'0',
        Some(&byte) => byte,
        None => 0,
    };
    // FNV-1a.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    head[..end].iter().fold(step(0xcbf2_9ce4_8422_2325, class), |hash, &byte| step(hash, byte))
}
