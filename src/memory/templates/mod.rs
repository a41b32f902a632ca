//! Hash templates as a server would have them after loading a file (Redis 8.10).
//!
//! `MEMORY USAGE` counts the bytes of a template divided by the number of live keys that use it, in all databases. The keys
//! must therefore be counted before the first of them is priced: [`TemplateCensus`] does that in a pass over the file, and
//! gives [`HeldTemplates`], which meters consult.
//!
//! ```text
//! types 30, 32   the table of the file tells the field names    place in the table ──┐
//! types 29, 31   the value has them                             FieldSet ────────────┼─► HeldTemplate: id, share, users
//! types 4, 16    hash-rdb-load-* may convert them               FieldSet ────────────┘
//! ```

mod census;
mod field_set;
mod held;
mod rdb_load;

pub use census::TemplateCensus;
pub use field_set::FieldSet;
pub use held::{
    CensusExtent, HeldTemplate, HeldTemplates, LazyTemplates, ModelTemplates, NameSizes, PlacedTemplate,
    TemplateTotals, TemplateUse, id_size,
};
use rdb_load::LoadedSets;
pub use rdb_load::RdbLoad;
