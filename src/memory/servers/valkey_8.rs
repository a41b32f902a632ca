//! Valkey up to 8.1.

use super::redis_7;
use crate::memory::layout::*;

/// 7.2 is Redis 7.2 in this.
pub const VALKEY_7_2: Layout = redis_7::REDIS_7_2;

/// 8.0: the key stands inside its table entry, members alone in their bucket have no entry.
pub const LAYOUT: Layout = Layout {
    frame: Frame::KeyInEntry,
    sds: SdsHeaders { byte: 252, short: 65_530 },
    list: ListLayout { plain: PlainNodes::BeyondLimit, ..VALKEY_7_2.list },
    table: TableLayout::Dict { table: 56, entry: 24, zset_entry: 24, lone_members: true },
    ..VALKEY_7_2
};

/// 8.1: buckets of seven, key and short values inside the object.
pub const VALKEY_8_1: Layout = Layout {
    frame: Frame::Joint(Joint::Usable),
    short: ShortStrings::Joint(Embedding {
        longest: 44,
        room: 64,
        object: 16,
        flat_key: true,
        expiry: EmbeddedExpiry::Later,
        least: 0,
    }),
    table: TableLayout::Buckets { table: 72, hash_metadata: 0 },
    field: FieldForm::RoundedEntry { expiry: 0 },
    stream: StreamLayout { tree: TreeCount::Measured(32), ..LAYOUT.stream },
    ..LAYOUT
};

/// 8.1.0 to 8.1.2 forget the key.
pub const VALKEY_8_1_0: Layout = Layout { frame: Frame::Joint(Joint::ObjectOnly), ..VALKEY_8_1 };
