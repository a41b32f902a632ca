//! What several test programs share. Each uses its own part, so the rest is unused there.
#![allow(dead_code)]

pub mod dump;
pub mod measured;
pub mod program;
pub mod truth;
