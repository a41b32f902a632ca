//! Redis before 4.0, which has no MEMORY USAGE: encodings differ, memory is computed as in 4.0.

use super::redis_4;
use crate::memory::layout::*;

/// Redis 2.8 and older: no embedded strings after loading, linked lists.
pub const LAYOUT: Layout = Layout {
    short: ShortStrings::Raw,
    list: ListLayout { form: ListForm::Linked, ..redis_4::LAYOUT.list },
    ..redis_4::LAYOUT
};

/// Redis 3.0: strings of up to 39 bytes are embedded.
pub const REDIS_3_0: Layout = Layout { short: ShortStrings::Behind { longest: 39, count: Count::Requested }, ..LAYOUT };

/// Redis 3.2: quicklists, and embedded strings of up to 44 bytes.
pub const REDIS_3_2: Layout = redis_4::LAYOUT;
