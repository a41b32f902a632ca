//! Rules about a key's name alone.

pub mod empty_segment;
pub mod length;
pub mod name_cost;
pub mod prefix;
pub mod special_chars;
