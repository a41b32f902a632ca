//! Valkey 9: hash fields with expiries.

use super::valkey_8;
use crate::memory::layout::*;

/// Tables of databases, which are allocated on demand from 9.0 on. The sizes were read off 9.1.
const STORE: StoreLayout = StoreLayout {
    on_demand: Some(DatabaseStructures {
        database: 96,
        dicts: 4,
        dict: 56,
        stores: 3,
        store: [112, 80, 48],
        index: valkey_8::STORE.index,
    }),
    ..valkey_8::STORE_8_1
};

/// 9.0: an embedded value is checked with the real header of its key.
pub const LAYOUT: Layout = Layout {
    short: ShortStrings::Joint(Embedding { flat_key: false, ..valkey_8::EMBEDDING_8_1 }),
    table: TableLayout::Buckets { table: 72, hash_metadata: 8 },
    field: FieldForm::RoundedEntry { expiry: 8 },
    indexed_expiries: true,
    instance: InstanceLayout {
        slots: SlotForm::Tables(STORE),
        expiring_fields: FieldExpiryIndex::Table,
        ..valkey_8::VALKEY_8_1.instance
    },
    ..valkey_8::VALKEY_8_1
};

/// 9.1: longer embedded values, members embedded in skiplist nodes.
pub const VALKEY_9_1: Layout = Layout {
    short: ShortStrings::Joint(Embedding {
        longest: 255,
        room: 128,
        object: 8,
        flat_key: false,
        expiry: EmbeddedExpiry::Later,
        least: 8,
    }),
    table: TableLayout::Buckets { table: 80, hash_metadata: 8 },
    instance: InstanceLayout {
        slots: SlotForm::Tables(StoreLayout { store: 112, table: 96, main_table: 96, ..STORE }),
        ..LAYOUT.instance
    },
    skiplist: SkiplistLayout { list: 528, header: 0, node: NodeForm::Inline(1), ..LAYOUT.skiplist },
    ..LAYOUT
};
