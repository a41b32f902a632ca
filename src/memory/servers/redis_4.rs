//! Redis 4.0: the first with MEMORY USAGE, which counts lengths as asked for.

use crate::memory::layout::*;
use crate::record::Encoding;

pub const LAYOUT: Layout = Layout {
    frame: Frame::Argument,
    object: 16,
    sds: SdsHeaders { byte: 255, short: 65_535 },
    sds_count: SdsCount::Requested,
    short: ShortStrings::Behind { longest: 44, count: Count::Requested },
    packed: PackedForm::Ziplist,
    packed_count: Count::Requested,
    list: ListLayout {
        form: ListForm::Quicklist,
        list: 40,
        node: 32,
        structs: Count::Requested,
        entry: Count::Requested,
        lzf_header: 0,
        plain: PlainNodes::Never,
        average_over: AverageOver::Nodes,
    },
    packed_sets: false,
    score: ScoreText::SeventeenDigits,
    table: TableLayout::Dict { table: 96, entry: 24, zset_entry: 24, lone_members: false },
    presize: Presize { elements: false, packed_hash: false, packed_zset: false, converted_hash_whole: false },
    field: FieldForm::Strings,
    indexed_expiries: false,
    listpack_ex: 32,
    skiplist: SkiplistLayout {
        zset: 16,
        list: 32,
        list_count: Count::Requested,
        header: 24 + 16 * 32,
        node: NodeForm::Pointer,
        only_nodes: true,
    },
    stream: StreamLayout {
        encoding: Encoding::Unknown,
        stream: 0,
        listpack: Count::Requested,
        group: 32,
        consumer: 24,
        pending: 24,
        tree: TreeCount::Estimated,
        names: NamesCount::Length,
    },
    average: Average::Double,
};
