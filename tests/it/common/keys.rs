//! Rows of `rdblens keys`.

use std::path::Path;
use std::process::Output;

use data_encoding::BASE64;
use serde::Deserialize;

use super::program::{rdblens, run};
use super::truth::{Folder, Place};

/// Row of `rdblens keys`.
#[derive(Debug, Deserialize, PartialEq)]
pub struct KeysRow {
    pub db: u64,
    key: Option<String>,
    key_base64: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub module: Option<String>,
    pub encoding: String,
    pub length: Option<u64>,
    pub memory: Option<u64>,
    pub expires_at: Option<i64>,
    pub idle: Option<u64>,
    pub freq: Option<u8>,
    pub fields_with_ttl: Option<u64>,
    pub groups: Option<u64>,
    pub pending: Option<u64>,
}

impl KeysRow {
    /// Returns database and name.
    pub fn place(&self) -> Place {
        let key = match (&self.key, &self.key_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(base64)) => BASE64.decode(base64.as_bytes()).expect("key_base64 is base64"),
            (None, None) => panic!("a row names its key: {self:?}"),
        };
        (self.db, key)
    }
}

/// Parses the output of `keys`.
pub fn rows(stdout: &[u8]) -> Vec<KeysRow> {
    let text = std::str::from_utf8(stdout).expect("NDJSON is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

/// Runs `keys` over the file of a folder, read as its server did.
pub fn keys_of_folder(folder: &Folder) -> Output {
    run(rdblens().arg("keys").arg(folder.input()).args(folder.options()))
}

/// Returns a key as messages show it.
pub fn shown((db, key): &Place) -> String {
    format!("db {db} {}", key.escape_ascii())
}

/// Returns the output of `keys` for a file.
pub fn keys_of(path: &Path) -> Vec<u8> {
    let output = run(rdblens().arg("keys").arg(path));
    assert!(output.status.success(), "{}: {}", path.display(), super::program::text(&output));
    output.stdout
}
