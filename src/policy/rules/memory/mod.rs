//! Rules about the memory of the server, about budgets and about growth.

pub mod budget;
pub mod growth;
pub mod headroom;
pub mod limit;
pub mod upgrade;
pub mod volatile_policy;
