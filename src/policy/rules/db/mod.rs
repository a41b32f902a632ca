//! Rules about databases.

pub mod multiple;
