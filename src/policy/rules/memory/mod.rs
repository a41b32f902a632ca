//! Rules about the memory of the whole server, of budgets and of patterns over time.

pub mod budget;
pub mod growth;
pub mod headroom;
pub mod upgrade;
pub mod volatile_policy;
