//! Rules about the choice of a type.

pub mod json_string;
pub mod near_compact_limit;
pub mod set_as_counter;
pub mod split_object;
