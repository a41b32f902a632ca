//! Redis 7: listpacks; nearly everything counts its allocated size.

use super::redis_6;
use crate::memory::layout::*;

/// 7.0.
pub const LAYOUT: Layout = Layout {
    frame: Frame::Entry { cluster: 16 },
    short: ShortStrings::Behind { longest: 44, count: Count::Usable },
    packed: PackedForm::Listpack,
    packed_count: Count::Usable,
    score: ScoreText::SeventeenDigitsOrInteger,
    list: ListLayout {
        node: 40,
        entry: Count::Usable,
        lzf_header: 8,
        plain: PlainNodes::From(1 << 30),
        ..redis_6::LAYOUT.list
    },
    table: TableLayout::Dict { table: 56, entry: 24, zset_entry: 24, lone_members: false },
    presize: Presize { packed_hash: true, ..redis_6::LAYOUT.presize },
    stream: StreamLayout { stream: 80, real_stream: 80, group: 40, ..redis_6::REDIS_6_2_12.stream },
    instance: InstanceLayout { slots: SlotForm::Links { entry: 16, database: 0 }, ..redis_6::REDIS_6_2_12.instance },
    ..redis_6::REDIS_6_2_12
};

/// 7.2: packed sets and lists, scores with the fewest digits that identify them.
pub const REDIS_7_2: Layout = Layout {
    frame: Frame::Entry { cluster: 8 },
    list: ListLayout { form: ListForm::ListpackOrQuicklist, ..LAYOUT.list },
    packed_sets: true,
    bare: BareElements::Sets,
    score: ScoreText::Shortest,
    presize: Presize { packed_zset: true, ..LAYOUT.presize },
    stream: StreamLayout { consumer: 32, ..LAYOUT.stream },
    instance: InstanceLayout { slots: SlotForm::Links { entry: 16, database: 8 }, ..LAYOUT.instance },
    ..LAYOUT
};

/// Tables per cluster slot, introduced in 7.4.
pub const STORE: StoreLayout = StoreLayout {
    store: 216,
    index: 131_080,
    late: 0,
    on_demand: None,
    table: 64,
    main_table: 64,
    presized: Presized::Never,
    paired: false,
};

/// 7.4: hash fields with expiries; one table per cluster slot.
pub const REDIS_7_4: Layout = Layout {
    frame: Frame::Entry { cluster: 0 },
    list: ListLayout { plain: PlainNodes::BeyondLimit, ..REDIS_7_2.list },
    field: FieldForm::Mstr,
    instance: InstanceLayout {
        slots: SlotForm::Tables(STORE),
        expiring_fields: FieldExpiryIndex::Buckets,
        ..REDIS_7_2.instance
    },
    ..REDIS_7_2
};
