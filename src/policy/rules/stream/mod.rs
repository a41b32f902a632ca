//! Rules about streams.

pub mod pending;
pub mod unbounded;

use std::num::NonZeroU64;

/// Earliest plausible time in an id, 2015-01-01: streams did not exist before, so smaller ids were chosen by clients.
const FIRST_TIME: u64 = 1_420_070_400_000;

/// Returns the milliseconds from `time` to `now`; `None` if the id holds no time, or a later one.
fn ago(time: Option<NonZeroU64>, now: u64) -> Option<u64> {
    now.checked_sub(time?.get().max(FIRST_TIME)).filter(|_| time.is_some_and(|time| time.get() >= FIRST_TIME))
}
