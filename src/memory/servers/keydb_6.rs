//! KeyDB 6.3: Redis 6.2 with a larger object that holds the expiry, reference-counted keys and a larger table.

use super::redis_6;
use crate::memory::layout::*;

pub const LAYOUT: Layout = Layout {
    frame: Frame::SharedKey,
    object: 24,
    short: ShortStrings::Behind { longest: 52, count: Count::Requested },
    table: TableLayout::Dict { table: 112, entry: 24, zset_entry: 24, lone_members: false },
    modules: ModuleLine::Foreign,
    instance: InstanceLayout { expires: DatabaseEntry::NoTable, counted_object: 24, ..redis_6::REDIS_6_2_5.instance },
    ..redis_6::REDIS_6_2_5
};
