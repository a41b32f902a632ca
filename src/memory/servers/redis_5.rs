//! Redis 5.0: streams; tables are created with their final size; skiplists of up to 64 levels.

use super::redis_4;
use crate::memory::layout::*;

pub const LAYOUT: Layout = Layout {
    frame: Frame::Entry { cluster: 0 },
    presize: Presize { elements: true, ..redis_4::LAYOUT.presize },
    skiplist: SkiplistLayout { header: 24 + 16 * 64, only_nodes: false, ..redis_4::LAYOUT.skiplist },
    ..redis_4::LAYOUT
};
