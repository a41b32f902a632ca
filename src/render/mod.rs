//! From a report to bytes somebody reads. A renderer adds form and nothing else: the order of rows and every figure
//! that two formats would share are in the report already.

pub mod human;
pub mod key_text;
