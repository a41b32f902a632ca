//! Valkey up to 8.1.

use super::redis_7;
use crate::memory::layout::*;

/// 7.2: identical to Redis 7.2, but for modules.
pub const VALKEY_7_2: Layout = Layout { modules: ModuleLine::Foreign, ..redis_7::REDIS_7_2 };

/// Tables per cluster slot.
pub const STORE: StoreLayout = StoreLayout {
    store: 104,
    index: 131_080,
    late: 0,
    on_demand: None,
    table: 72,
    main_table: 72,
    presized: Presized::Never,
    paired: false,
};

/// 8.0: keys embedded in their table entry; members alone in their bucket have no entry.
pub const LAYOUT: Layout = Layout {
    frame: Frame::KeyInEntry,
    sds: SdsHeaders { byte: 252, short: 65_530 },
    list: ListLayout { plain: PlainNodes::BeyondLimit, ..VALKEY_7_2.list },
    table: TableLayout::Dict { table: 56, entry: 24, zset_entry: 24, lone_members: true },
    instance: InstanceLayout { main: DatabaseEntry::None, slots: SlotForm::Tables(STORE), ..VALKEY_7_2.instance },
    ..VALKEY_7_2
};

/// Tables per cluster slot from 8.1 on, created for the declared number of keys. The startup memory leaves out the indexes of
/// keys and expiries, which count as overhead.
pub const STORE_8_1: StoreLayout =
    StoreLayout { store: 96, late: 2 * STORE.index, table: 88, main_table: 88, presized: Presized::Always, ..STORE };

/// Short values from 8.1 on.
pub const EMBEDDING_8_1: Embedding =
    Embedding { longest: 44, room: 64, object: 16, flat_key: true, expiry: EmbeddedExpiry::Later, least: 0 };

/// 8.1: buckets of seven, key and short values embedded in the object.
pub const VALKEY_8_1: Layout = Layout {
    frame: Frame::Joint(Joint::Usable),
    short: ShortStrings::Joint(EMBEDDING_8_1),
    table: TableLayout::Buckets { table: 72, hash_metadata: 0 },
    shared_numbers: false,
    instance: InstanceLayout {
        expires: DatabaseEntry::None,
        counted_entry: 0,
        slots: SlotForm::Tables(STORE_8_1),
        ..LAYOUT.instance
    },
    field: FieldForm::RoundedEntry { expiry: 0 },
    stream: StreamLayout { tree: TreeCount::Measured(32), ..LAYOUT.stream },
    ..LAYOUT
};

/// 8.1.0 to 8.1.2: the key is not counted.
pub const VALKEY_8_1_0: Layout = Layout { frame: Frame::Joint(Joint::ObjectOnly), ..VALKEY_8_1 };
