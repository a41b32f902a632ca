//! Facts that lists of keys store besides the name.

use serde::{Deserialize, Serialize};

use super::parts::{RankedKey, TopList};
use crate::record::{Encoding, Kind, Record};
use crate::report::KeyRow;
use crate::units::{Bytes, Millis};

/// Facts shown in a key's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct KeyFacts {
    kind: Kind,
    encoding: Encoding,
    length: Option<u64>,
    memory: Bytes,
    expires_at: Option<Millis>,
    file: usize,
}

impl KeyFacts {
    pub(super) fn of(record: &Record<'_>) -> Self {
        KeyFacts {
            kind: record.kind,
            encoding: record.encoding,
            length: record.length,
            memory: record.memory,
            expires_at: record.expires_at,
            file: record.file,
        }
    }
}

/// Converts a list to rows of the report, first key first.
pub(super) fn rows(top: TopList<KeyFacts>) -> Vec<KeyRow> {
    top.into_sorted().into_iter().map(row).collect()
}

fn row(ranked: RankedKey<KeyFacts>) -> KeyRow {
    let RankedKey { weight: _, db, key, facts } = ranked;
    let KeyFacts { kind, encoding, length, memory, expires_at, file } = facts;
    let memory = memory.known();
    KeyRow { db, key: key.as_ref().into(), kind, encoding, length, memory, expires_at, source: None, file }
}
