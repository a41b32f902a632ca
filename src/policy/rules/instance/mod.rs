//! Rules about instances.

pub mod mixed;
