//! From bytes to a report: what was asked, and the driver that answers it.

pub mod select;
