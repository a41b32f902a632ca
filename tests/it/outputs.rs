//! Outputs: none of them destroys a file that matters, none is left half-written, and none ends the program.

mod formats;
mod hostile_text;
mod overwrite;
mod pipes;
mod signals;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common::program::{rdblens, run, testdata};

fn status(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Files for one test: a dump, a stored report, a policy, and whatever a test adds.
struct TestFiles(TempDir);

impl TestFiles {
    fn new() -> TestFiles {
        let files = TestFiles(tempfile::tempdir().unwrap());
        fs::copy(testdata().join("dumps/shop.rdb"), files.path("a.rdb")).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the program in the folder.
    fn run(&self, args: &[&str]) -> Output {
        run(rdblens().current_dir(self.0.path()).args(args))
    }

    /// Runs a script of the shell in the folder; `$RDBLENS` is the program.
    fn shell(&self, script: &str) -> Output {
        let mut command = Command::new("sh");
        command.current_dir(self.0.path()).env("RDBLENS", env!("CARGO_BIN_EXE_rdblens")).env("LC_ALL", "C");
        run(command.args(["-c", script]))
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}
