//! Redis 6.0 and 6.2: strings count their allocated size, skiplists have 32 levels again.

use super::redis_5;
use crate::memory::Encoding;
use crate::memory::layout::*;

/// 6.0, and 6.2 up to 6.2.4.
pub const LAYOUT: Layout = Layout {
    sds_count: SdsCount::Usable,
    skiplist: SkiplistLayout { header: 24 + 16 * 32, ..redis_5::LAYOUT.skiplist },
    stream: StreamLayout { encoding: Encoding::Stream, ..redis_5::LAYOUT.stream },
    ..redis_5::LAYOUT
};

/// 6.2.5 to 6.2.11 count the stream's structure.
pub const REDIS_6_2_5: Layout = Layout { stream: StreamLayout { stream: 40, ..LAYOUT.stream }, ..LAYOUT };

/// From 6.2.12 on listpacks of streams count their allocated size.
pub const REDIS_6_2_12: Layout =
    Layout { stream: StreamLayout { listpack: Count::Usable, ..REDIS_6_2_5.stream }, ..REDIS_6_2_5 };
