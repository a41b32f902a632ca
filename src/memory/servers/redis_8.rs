//! Redis 8: from 8.2 on key and object share an allocation, from 8.4 on collections track their own size.

use super::redis_7;
use crate::memory::layout::*;

/// 8.0: main tables keep a histogram of the sizes of their keys.
pub const LAYOUT: Layout = Layout {
    modules: ModuleLine::Redis8_0,
    list: ListLayout { average_over: AverageOver::Elements, ..redis_7::REDIS_7_4.list },
    instance: InstanceLayout {
        slots: SlotForm::Tables(StoreLayout { store: 232, main_table: 2464, ..redis_7::STORE }),
        ..redis_7::REDIS_7_4.instance
    },
    ..redis_7::REDIS_7_4
};

/// Tables per cluster slot from 8.2 on, whose slot index is created on demand.
const STORE: StoreLayout = StoreLayout { index: 0, main_table: 2464, ..redis_7::STORE };

/// 8.2: the object holds key, expiry and short values.
pub const REDIS_8_2: Layout = Layout {
    modules: ModuleLine::Redis8_2,
    frame: Frame::Joint(Joint::Usable),
    sds: SdsHeaders { byte: 252, short: 65_530 },
    short: ShortStrings::Joint(Embedding {
        longest: 44,
        room: 64,
        object: 16,
        flat_key: true,
        expiry: EmbeddedExpiry::Counted,
        least: 0,
    }),
    table: TableLayout::Dict { table: 56, entry: 24, zset_entry: 16, lone_members: false },
    listpack_ex: 24,
    stream: StreamLayout { stream: 112, real_stream: 112, pending: 32, pending_lists: true, ..LAYOUT.stream },
    shared_numbers: false,
    instance: InstanceLayout {
        main: DatabaseEntry::Chained(16),
        expires: DatabaseEntry::Chained(16),
        counted_entry: 16,
        slots: SlotForm::Tables(STORE),
        ..LAYOUT.instance
    },
    ..LAYOUT
};

/// 8.4: collections track their own size, mostly requested sizes.
pub const REDIS_8_4: Layout = Layout {
    modules: ModuleLine::Redis8_4,
    frame: Frame::Joint(Joint::RequestedWithSpareExpiry),
    sds_count: SdsCount::UsableUnlessTiny,
    packed_count: Count::Requested,
    list: ListLayout { list: 48, structs: Count::Usable, entry: Count::Requested, ..REDIS_8_2.list },
    table: TableLayout::Dict { table: 56, entry: 24, zset_entry: 24, lone_members: false },
    skiplist: SkiplistLayout { list: 40, list_count: Count::Usable, ..REDIS_8_2.skiplist },
    stream: StreamLayout {
        stream: 120,
        real_stream: 120,
        listpack: Count::Requested,
        group: 48,
        tree: TreeCount::Measured(32),
        names: NamesCount::Trees { by_time: true },
        ..REDIS_8_2.stream
    },
    average: Average::Exact,
    ..REDIS_8_2
};

/// 8.6: field and value in one entry, members embedded in skiplist nodes.
pub const REDIS_8_6: Layout = Layout {
    modules: ModuleLine::Redis8_6,
    frame: Frame::Joint(Joint::Usable),
    short: ShortStrings::Joint(Embedding {
        longest: 44,
        room: 64,
        object: 16,
        flat_key: true,
        expiry: EmbeddedExpiry::Ignored,
        least: 0,
    }),
    presize: Presize { converted_hash_whole: true, ..REDIS_8_4.presize },
    bare: BareElements::All,
    field: FieldForm::Entry { expiry: 16 },
    skiplist: SkiplistLayout { node: NodeForm::Inline(0), ..REDIS_8_4.skiplist },
    stream: StreamLayout {
        stream: 160,
        real_stream: 160,
        group: 56,
        pending: 64,
        names: NamesCount::Trees { by_time: false },
        ..REDIS_8_4.stream
    },
    instance: InstanceLayout {
        slots: SlotForm::Tables(StoreLayout { main_table: 2496, presized: Presized::InCluster, paired: true, ..STORE }),
        ..REDIS_8_4.instance
    },
    ..REDIS_8_4
};

/// The 8.8 line.
pub const REDIS_8_8: Layout = Layout {
    frame: Frame::Joint(Joint::Requested),
    stream: StreamLayout { group: 64, ..REDIS_8_6.stream },
    ..REDIS_8_6
};

/// 8.10: hashes with the same field names share them.
pub const REDIS_8_10: Layout = Layout {
    templates: true,
    table: TableLayout::Dict { table: 56, entry: 16, zset_entry: 16, lone_members: false },
    stream: StreamLayout { tree: TreeCount::Leafless(40), group: 80, consumer: 48, ..REDIS_8_8.stream },
    // The histogram of the sizes of keys is created on demand.
    instance: InstanceLayout {
        slots: SlotForm::Tables(StoreLayout {
            store: 232,
            main_table: 96,
            presized: Presized::AtLoad,
            paired: true,
            ..STORE
        }),
        ..REDIS_8_8.instance
    },
    ..REDIS_8_8
};
