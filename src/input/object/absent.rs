//! Stands in for object stores in a build without the feature `remote`: refuses them.

use std::convert::Infallible;
use std::fs::File;
use std::io;

use super::{Address, StoreSettings};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Input;
use crate::wording::wording;

/// Clients of the stores of a run: there are none in this build.
#[derive(Debug, Default)]
pub struct Stores {}

/// Object in a store: there is none in this build.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Object(Infallible);

/// Object to be written: there is none in this build.
#[derive(Debug)]
pub struct Target(Infallible);

impl Target {
    /// Returns the address.
    pub fn address(&self) -> &Address {
        match self.0 {}
    }

    /// Returns what is there now.
    pub fn existing(&self) -> Result<Option<Input>> {
        match self.0 {}
    }

    /// Writes the content of a file.
    pub fn put(&self, _: &mut File) -> Result<()> {
        match self.0 {}
    }
}

/// Reader of an object: there is none in this build.
pub struct ObjectReader(Infallible);

/// Returns the error for an address in a build without object stores.
pub fn lacks_feature() -> Error {
    let what = ErrorKind::Unreadable(wording!(
        "this build of rdblens does not read object stores",
        "此构建的 rdblens 不支持读取对象存储"
    ));
    Error::new(what).with_remedy(wording!(
        "use a released program, or build with `cargo build --release --features remote`",
        "请使用发布版程序，或用 `cargo build --release --features remote` 构建"
    ))
}

impl Stores {
    /// Ignores settings.
    pub fn new(_: &StoreSettings) -> Stores {
        Stores {}
    }

    /// Refuses an address.
    pub fn resolve(&mut self, text: &str) -> Result<Vec<Input>> {
        Address::parse(text)?;
        Err(lacks_feature())
    }

    /// Refuses an address of an output.
    pub fn target(&mut self, _: &str) -> Result<Target> {
        Err(lacks_feature())
    }

    /// Refuses an address of a plan.
    pub fn planned(&mut self, _: &str, _: Option<u64>, _: Option<&str>) -> Result<Object> {
        Err(lacks_feature())
    }
}

impl Object {
    /// Returns the address.
    pub fn address(&self) -> &Address {
        match self.0 {}
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        match self.0 {}
    }

    /// Returns the tag of the content.
    pub fn etag(&self) -> Option<&str> {
        match self.0 {}
    }

    /// Returns a reader of the bytes.
    pub fn reader(&self) -> ObjectReader {
        match self.0 {}
    }
}

impl io::Read for ObjectReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}
