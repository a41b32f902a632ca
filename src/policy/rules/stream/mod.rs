//! Rules about streams.

pub mod pending;
pub mod unbounded;

use std::num::NonZeroU64;

/// Ids before 2015-01-01 hold no times: streams are younger, so a client numbered its entries itself.
const FIRST_TIME: u64 = 1_420_070_400_000;

/// How many milliseconds a time lies before `now`; `None` if it is none, or later.
fn ago(time: Option<NonZeroU64>, now: u64) -> Option<u64> {
    now.checked_sub(time?.get().max(FIRST_TIME)).filter(|_| time.is_some_and(|time| time.get() >= FIRST_TIME))
}
