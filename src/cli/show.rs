//! stub
use super::Exit; use crate::error::Result; use super::args::ShowArgs;
/// stub
pub fn run(_args: &ShowArgs) -> Result<Exit> { Ok(Exit::NoReport) }
