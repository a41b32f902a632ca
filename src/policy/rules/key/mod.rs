//! Rules about a key's name alone.

pub mod empty_segment;
pub mod length;
pub mod prefix;
pub mod special_chars;

pub use empty_segment::EmptySegment;
pub use length::Length;
pub use prefix::Prefix;
pub use special_chars::SpecialChars;
