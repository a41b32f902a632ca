//! Clients of the stores of a run, one for each bucket.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::address::{Address, Scheme};
use super::failure::replaced;
use super::fetch::{Facts, Object};
use super::folder;
use super::given::StoreSettings;
use super::runtime::Runtime;
use super::settings::Settings;
use super::store::Store;
use super::upload::Target;
use crate::error::Result;
use crate::input::Input;

/// Kind, bucket and query: what makes a client.
type Bucket = (Scheme, String, Option<String>);

/// Clients of the stores of a run, made when they are needed.
#[derive(Default)]
pub struct Stores {
    given: StoreSettings,
    settings: Option<Settings>,
    runtime: Option<Runtime>,
    clients: BTreeMap<Bucket, Arc<Store>>,
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Clients hold credentials.
        write!(f, "Stores({})", self.clients.len())
    }
}

impl Stores {
    /// Creates clients with the settings of the environment, but for those that are given.
    pub fn new(given: &StoreSettings) -> Stores {
        Stores { given: given.clone(), ..Stores::default() }
    }

    /// Creates clients with these settings instead of those of the environment.
    #[cfg(test)]
    pub fn with_settings(settings: Settings) -> Stores {
        Stores { settings: Some(settings), ..Stores::default() }
    }

    /// Resolves an address to the objects that it names, in the order of their keys.
    pub fn resolve(&mut self, text: &str) -> Result<Vec<Input>> {
        let address = Address::parse(text)?;
        let store = self.client(&address)?;
        folder::resolve(address, &store)
    }

    /// Returns the object of a plan, which has to be as it was then.
    pub fn planned(&mut self, text: &str, size: Option<u64>, etag: Option<&str>) -> Result<Object> {
        let address = Address::parse(text)?;
        let store = self.client(&address)?;
        let etag = etag.map(str::to_owned);
        if let Some(size) = size
            && !address.scheme.is_web()
        {
            return Object::known(address, &store, Facts { size, etag });
        }
        let object = Object::find(address, &store)??;
        if size.is_some_and(|size| size != object.size()) || (etag.is_some() && etag.as_deref() != object.etag()) {
            return Err(replaced());
        }
        Ok(object)
    }

    /// Returns an object to be written.
    pub fn target(&mut self, text: &str) -> Result<Target> {
        let address = Address::parse(text)?;
        let store = self.client(&address)?;
        Target::new(address, store)
    }

    fn client(&mut self, address: &Address) -> Result<Arc<Store>> {
        let bucket = (address.scheme, address.bucket.clone(), address.query.clone());
        if let Some(store) = self.clients.get(&bucket) {
            return Ok(Arc::clone(store));
        }
        let settings = self.settings.get_or_insert_with(|| Settings::of_environment(&self.given));
        let runtime = match &self.runtime {
            Some(runtime) => runtime,
            None => self.runtime.insert(Runtime::start()?),
        };
        let store = Arc::new(Store::new(address, settings, runtime)?);
        self.clients.insert(bucket, Arc::clone(&store));
        Ok(store)
    }
}
