//! Redis before 4.0, which has no MEMORY USAGE: only encodings differ here, memory is priced as 4.0 would.

use super::redis_4;
use crate::memory::layout::*;

/// Redis 2.8 and older: no embedded strings in what was loaded, linked lists.
pub const LAYOUT: Layout = Layout {
    short: ShortStrings::Raw,
    list: ListLayout { form: ListForm::Linked, ..redis_4::LAYOUT.list },
    ..redis_4::LAYOUT
};

/// Redis 3.0: strings of up to 39 bytes are embedded.
pub const REDIS_3_0: Layout = Layout { short: ShortStrings::Behind { longest: 39, count: Count::Requested }, ..LAYOUT };

/// Redis 3.2: quicklists, and 44 bytes.
pub const REDIS_3_2: Layout = redis_4::LAYOUT;
