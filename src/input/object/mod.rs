//! Objects in stores and on web servers, read as streams: `s3://`, `gs://`, `az://`, `oss://`, `cos://`, `https://`.
//!
//! ```text
//! store ─► ranges of 8 MiB, four at a time ─► in order ─► window
//!             │ If-Match: etag; repeated and resumed after failures
//! ```
//!
//! [`Stores`] resolves addresses, [`Object`] is what it finds, its reader reads it. Asynchronous code is confined to this
//! module; everything else reads from [`std::io::Read`]. Without the feature `remote`, addresses are refused.

mod address;
mod given;

#[cfg(not(feature = "remote"))]
mod absent;
#[cfg(feature = "remote")]
mod checks;
#[cfg(feature = "remote")]
mod failure;
#[cfg(feature = "remote")]
mod fetch;
#[cfg(feature = "remote")]
mod folder;
#[cfg(feature = "remote")]
mod list;
#[cfg(feature = "remote")]
mod reader;
#[cfg(feature = "remote")]
mod runtime;
#[cfg(feature = "remote")]
mod settings;
#[cfg(feature = "remote")]
mod store;
#[cfg(feature = "remote")]
mod stores;
#[cfg(feature = "remote")]
mod upload;

#[cfg(all(test, feature = "remote"))]
mod fault_server;
#[cfg(all(test, feature = "remote"))]
mod tests;

#[cfg(not(feature = "remote"))]
pub use absent::{Object, Stores, Target};
pub use address::{Address, as_address, shown};
#[cfg(feature = "remote")]
pub use fetch::Object;
pub use given::StoreSettings;
#[cfg(feature = "remote")]
pub use stores::Stores;
#[cfg(feature = "remote")]
pub use upload::Target;
