//! Samples of the keys of a pattern, collected for rules about patterns. They are bounded and commutative monoids, so that
//! each worker collects its own and merging them in any order gives the same result.

mod bottom_k;
mod expiries;
pub mod ids;
mod seconds;
mod secrets;
pub mod timeline;
mod tokens;

pub use expiries::{Expiries, MAX_EXPIRIES};
pub use ids::IdSample;
pub use seconds::SecondCounts;
pub use secrets::Secrets;
pub use tokens::{KnownToken, LockValue, MAX_TOKENS, Majority, TokenForm, TokenUse, Tokens};
