//! Files and objects that a command writes, so that no two of its outputs are the same.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;

use super::sources::{identity, stdout_file};
use crate::error::{Error, Result};
use crate::input::{FileId, folder_of};

/// Destinations of the outputs opened so far, with their names.
#[derive(Debug, Default)]
pub struct Destinations(RefCell<Vec<(Destination, String)>>);

/// Identity of a file or object to write, whatever name and link leads to it.
#[derive(Debug)]
pub enum Destination {
    /// A file or named pipe.
    File {
        /// The file that is there.
        id: Option<FileId>,
        /// Its folder and its name there, which an output has that is complete and one that is yet to be created.
        place: Option<(FileId, OsString)>,
    },
    /// An object, by its address.
    Object(String),
}

impl Destination {
    /// Returns the file that standard output is redirected to.
    pub fn of_stdout() -> Option<Destination> {
        stdout_file().map(|id| Destination::File { id: Some(id), place: None })
    }

    /// Returns the file at a path whose links have been followed. Terminals and other such devices may be written by several
    /// outputs.
    pub fn file(path: &Path) -> Option<Destination> {
        let id = identity(path);
        if id.is_none() && path.exists() {
            return None;
        }
        let place = FileId::of(folder_of(path)).zip(path.file_name().map(OsString::from));
        Some(Destination::File { id, place })
    }

    fn is_same(&self, other: &Destination) -> bool {
        fn same<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
            one.is_some() && one == other
        }
        match (self, other) {
            (Destination::File { id, place }, Destination::File { id: other_id, place: other_place }) => {
                same(id.as_ref(), other_id.as_ref()) || same(place.as_ref(), other_place.as_ref())
            }
            (Destination::Object(one), Destination::Object(other)) => one == other,
            (Destination::File { .. }, Destination::Object(_)) | (Destination::Object(_), Destination::File { .. }) => {
                false
            }
        }
    }
}

impl Destinations {
    /// Adds a destination, or refuses it if another output goes there. `name` is for messages.
    pub fn add(&self, destination: Option<Destination>, name: &str) -> Result<()> {
        let Some(destination) = destination else { return Ok(()) };
        let mut known = self.0.borrow_mut();
        if let Some((_, other)) = known.iter().find(|(known, _)| known.is_same(&destination)) {
            let what = if other == name {
                format!("two outputs of this command go to {name}")
            } else {
                format!("two outputs of this command, {other} and {name}, are the same file")
            };
            return Err(Error::usage(what).with_hint("give each output a file of its own"));
        }
        known.push((destination, name.to_owned()));
        Ok(())
    }
}
