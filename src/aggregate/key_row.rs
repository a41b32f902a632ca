//! Facts that lists of keys store besides the name.

use serde::{Deserialize, Serialize};

use super::parts::{RankedKey, TopList};
use crate::record::{ElementLengths, Encoding, Kind, Record};
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
    elements: Option<ElementLengths>,
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
            elements: record.element_lengths(),
        }
    }
}

/// Converts a list to rows of the report, first key first.
pub(super) fn rows(top: TopList<KeyFacts>) -> Vec<KeyRow> {
    top.into_sorted().into_iter().map(row).collect()
}

fn row(ranked: RankedKey<KeyFacts>) -> KeyRow {
    let key = ranked.name();
    let RankedKey { weight: _, db, key: _, facts } = ranked;
    let KeyFacts { kind, encoding, length, memory, expires_at, file, elements } = facts;
    let memory = memory.known();
    let (longest_element, mean_element) = elements.map(|of| (of.longest, of.mean)).unzip();
    KeyRow { db, key, kind, encoding, length, memory, expires_at, source: None, longest_element, mean_element, file }
}
