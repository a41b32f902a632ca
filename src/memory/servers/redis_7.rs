//! Redis 7: listpacks; nearly all is counted as the allocator rounds it.

use super::redis_6;
use crate::memory::layout::*;

/// 7.0.
pub const LAYOUT: Layout = Layout {
    frame: Frame::Entry { cluster: 16 },
    short: ShortStrings::Behind { longest: 44, count: Count::Usable },
    packed: PackedForm::Listpack,
    packed_count: Count::Usable,
    list: ListLayout {
        node: 40,
        entry: Count::Usable,
        lzf_header: 8,
        plain: PlainNodes::From(1 << 30),
        ..redis_6::LAYOUT.list
    },
    table: TableLayout::Dict { table: 56, entry: 24, zset_entry: 24, lone_members: false },
    presize: Presize { packed_hash: true, ..redis_6::LAYOUT.presize },
    stream: StreamLayout { stream: 80, group: 40, ..redis_6::REDIS_6_2_12.stream },
    ..redis_6::REDIS_6_2_12
};

/// 7.2: packed sets and lists, scores in as few digits as tell them.
pub const REDIS_7_2: Layout = Layout {
    frame: Frame::Entry { cluster: 8 },
    list: ListLayout { form: ListForm::ListpackOrQuicklist, ..LAYOUT.list },
    packed_sets: true,
    score: ScoreText::Shortest,
    presize: Presize { packed_zset: true, ..LAYOUT.presize },
    stream: StreamLayout { consumer: 32, ..LAYOUT.stream },
    ..LAYOUT
};

/// 7.4: hash fields with expiries.
pub const REDIS_7_4: Layout = Layout {
    frame: Frame::Entry { cluster: 0 },
    list: ListLayout { plain: PlainNodes::BeyondLimit, ..REDIS_7_2.list },
    field: FieldForm::Mstr,
    ..REDIS_7_2
};
