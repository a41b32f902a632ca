//! Rules about key names.

pub mod charset;
pub mod empty_segment;
pub mod hash_tag;
pub mod length;
pub mod levels;
pub mod lowercase;
pub mod name_cost;
pub mod prefix;
pub mod registered;
pub mod special_chars;
pub mod starts_with_letter;
pub mod type_suffix;
