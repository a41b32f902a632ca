//! Rules about the choice of data types.

pub mod expected;
pub mod json_string;
pub mod near_compact_limit;
pub mod set_as_counter;
pub mod split_object;
