//! Archives of nights among the inputs: each is unpacked into a temporary folder, and takes the place of that folder.

use std::path::PathBuf;

use crate::analyze::ReadPlan;
use crate::cli::message::notice;
use crate::cli::temporary::TemporaryFolder;
use crate::error::Result;
use crate::input::archive::{Unpacked, is_archive, unpack};
use crate::input::nights::matching;
use crate::input::resolve::globs::Matches;
use crate::input::shown_path;

/// Inputs without archives.
pub struct Inputs {
    /// Files and folders to read.
    pub inputs: Vec<PathBuf>,
    /// Folders of archives; removed when this is dropped.
    _folders: Vec<TemporaryFolder>,
}

/// Unpacks the archives among `arguments`, and has `plan` show their folders by the names of the archives.
pub fn unpacked(arguments: &[PathBuf], plan: &mut ReadPlan, quiet: bool) -> Result<Inputs> {
    let (mut inputs, mut folders) = (Vec::new(), Vec::new());
    let mut budget = plan.open.budget;
    for argument in arguments {
        let Matches { mut paths, unreadable } = matching(argument);
        if !paths.iter().any(|path| is_archive(path) && path.is_file()) {
            inputs.push(argument.clone());
            continue;
        }
        // Reading them says why they cannot be read.
        paths.extend(unreadable.into_iter().map(|(path, _)| path));
        for path in paths {
            if !is_archive(&path) || path.is_dir() {
                inputs.push(path);
                continue;
            }
            let folder = TemporaryFolder::new_in(&plan.open.spool_dir)?;
            let Unpacked { bytes, passed_over } = unpack(&path, folder.path(), budget)?;
            budget.temp = budget.temp.saturating_sub(bytes);
            if !quiet {
                for (name, reason) in passed_over {
                    notice!("{}: passed over {name}: {}", shown_path(&path), reason.en);
                }
            }
            plan.shown_as.push((folder.path().to_owned(), shown_path(&path)));
            inputs.push(folder.path().to_owned());
            folders.push(folder);
        }
    }
    Ok(Inputs { inputs, _folders: folders })
}
