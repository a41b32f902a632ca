//! Plan of a report over many files that several processes compute in parts: everything that depends on the whole.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{SourceFile, Warning, Word};
use crate::rdb::kind::Kind;
use crate::sorting::CompactSort;
use crate::units::{Bytes, Millis};

/// Name of this form of a plan.
pub const SCHEMA: &str = "rdblens.plan/1";

/// Plan of a report that is computed in parts: the files in their order, and all that depends on the whole.
///
/// `rdblens plan` writes it, `rdblens analyze --partial` and `rdblens merge` read it. A plan is for one version of the program.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct FleetPlan {
    /// Always `rdblens.plan/1`.
    #[cfg_attr(feature = "internals", schemars(extend("const" = SCHEMA)))]
    pub schema: Word,
    /// The program's version that made the plan; another one refuses it.
    pub rdblens: Word,
    /// SHA-256 of the plan without this field. Partial reports name it.
    pub digest: String,
    /// Time of the report: the highest creation time of all files, or that of `--at`, with which all expiries are then
    /// compared.
    pub reference_time: Option<Millis>,
    /// True if any of the servers is a cluster node, for which keys are counted by slot.
    pub cluster: bool,
    /// Head of the first file, which names server and memory model in the report.
    pub first: Option<FirstHead>,
    /// Options that the figures depend on.
    pub options: FleetOptions,
    /// The arguments as given, if they name others than the files: directories, patterns; else absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Number of inputs that memory and temporary space are divided by.
    pub inputs: u64,
    /// The files, in the order of the report.
    pub files: Vec<PlannedFile>,
    /// Entries of directories that are no files.
    pub warnings: Vec<Warning>,
}

/// Head of a file: what its memory model follows from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct FirstHead {
    /// Family of the format: `redis`, `valkey` or `dragonfly`.
    pub format: String,
    /// RDB version.
    pub rdb_version: u32,
    /// Auxiliary fields in file order.
    pub aux: Vec<(String, String)>,
    /// True if keys are grouped by cluster slot.
    pub by_slot: bool,
    /// True if Redis Enterprise wrote it.
    pub enterprise: bool,
}

/// One file of a plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct PlannedFile {
    /// Name in the report.
    pub name: String,
    /// Path to open; null if the file could not be read when the plan was made.
    pub path: Option<String>,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Tag of the content of an object in a store; another content is not read. Null for files.
    pub etag: Option<String>,
    /// SHA-256 of header and auxiliary fields, by which a file that was replaced is noticed.
    pub head: Option<String>,
    /// When the server wrote it, seconds since the epoch.
    pub ctime: Option<i64>,
    /// Bytes of commands in other files that follow it.
    pub following_bytes: Option<u64>,
    /// True if it is the base of a multi-part append-only file.
    pub multi_part: bool,
    /// Row of the report for a file that could not be read when the plan was made.
    pub unreadable: Option<SourceFile>,
}

/// Options of a plan that the figures depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct FleetOptions {
    /// Name of the preset or of the policy file.
    pub policy: String,
    /// Content of the policy file; null for a preset.
    pub policy_text: Option<String>,
    /// `--db`.
    pub databases: Vec<u64>,
    /// `--type`.
    pub types: Vec<Kind>,
    /// `--match`.
    pub match_globs: Vec<String>,
    /// `--regex`.
    pub regexes: Vec<String>,
    /// `--no-expired`.
    pub no_expired: bool,
    /// `--at`, in milliseconds since the epoch.
    pub at: Option<Millis>,
    /// `--server`.
    pub server: Option<String>,
    /// `--allocator`.
    pub allocator: String,
    /// Settings of the server that are not the defaults.
    pub server_config: BTreeMap<String, String>,
    /// `--what-if`.
    pub what_if: Vec<String>,
    /// False with `--no-checksum`.
    pub checksum: bool,
    /// `--salvage`.
    pub salvage: bool,
    /// `--separator`.
    pub separators: Vec<String>,
    /// Required relation of the inputs: `shards`, `night` (of one night), `copies` (none of another) or `any`.
    pub inputs: String,
    /// Rows in each list.
    pub top: u64,
    /// Rows of each list in reports for reading.
    pub rows: u64,
    /// `--big-string`.
    pub big_string: Option<u64>,
    /// `--big-elements`.
    pub big_elements: Option<u64>,
    /// `--big-memory`.
    pub big_memory: Option<Bytes>,
    /// `--inspect-values`.
    pub inspect_values: bool,
    /// True if keys are counted by slot whether or not a key has a hash tag.
    pub slots: bool,
}

impl FleetPlan {
    /// Computes the digest of the plan.
    pub fn digest_of_content(&self) -> String {
        let plain = FleetPlan { digest: String::new(), ..self.clone() };
        let json = serde_json::to_vec(&plain).unwrap_or_default();
        HEXLOWER.encode(&Sha256::digest(json))
    }

    /// Returns the positions of the files of shard `number` of `count`, counted from 1, in ascending order.
    ///
    /// Files go to the shard with the fewest bytes so far, large ones first, so that shards take about the same time.
    pub fn shard(&self, number: u64, count: u64) -> Vec<usize> {
        let mut by_size: Vec<usize> = (0..self.files.len()).collect();
        by_size.compact_sort_by_key(|&at| (Reverse(self.files[at].size), at));
        // More shards than files leave the last ones empty.
        let count = count.min(self.files.len() as u64);
        let mut shards: BTreeMap<(u64, u64), Vec<usize>> = (1..=count).map(|shard| ((0, shard), Vec::new())).collect();
        for file in by_size {
            let Some(((bytes, shard), mut files)) = shards.pop_first() else { break };
            files.push(file);
            // At least one, so that files of unknown size are spread, too.
            shards.insert((bytes.saturating_add(self.files[file].size.unwrap_or(0).max(1)), shard), files);
        }
        let mut files = shards.into_iter().find(|((_, shard), _)| *shard == number).map_or_else(Vec::new, |it| it.1);
        files.sort_unstable();
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sizes: &[u64]) -> FleetPlan {
        let file = |size: &u64| PlannedFile {
            name: String::new(),
            path: None,
            size: Some(*size),
            etag: None,
            head: None,
            ctime: None,
            following_bytes: None,
            multi_part: false,
            unreadable: None,
        };
        let options = serde_json::json!({
            "policy": "default", "databases": [], "types": [], "match_globs": [], "regexes": [], "no_expired": false,
            "allocator": "jemalloc", "server_config": {}, "what_if": [], "checksum": true, "salvage": false,
            "separators": [":"], "inputs": "shards", "top": 20, "rows": 10, "inspect_values": false, "slots": false,
        });
        FleetPlan {
            schema: SCHEMA.into(),
            rdblens: "1".into(),
            digest: String::new(),
            reference_time: None,
            cluster: false,
            first: None,
            options: serde_json::from_value(options).unwrap(),
            arguments: Vec::new(),
            inputs: 0,
            files: sizes.iter().map(file).collect(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn every_file_is_in_one_shard_and_shards_have_similar_sizes() {
        let plan = plan(&[10, 90, 30, 0, 50, 20]);
        let shards: Vec<_> = (1..=3).map(|number| plan.shard(number, 3)).collect();
        assert_eq!(shards, [vec![1], vec![0, 4], vec![2, 3, 5]]);
        assert!(plan.shard(7, 7).is_empty() && plan.shard(4, 3).is_empty());
        assert_eq!((1..=1000).flat_map(|number| plan.shard(number, 1000)).count(), 6);
    }

    #[test]
    fn the_digest_depends_on_everything_but_itself() {
        let mut plan = plan(&[1]);
        let digest = plan.digest_of_content();
        plan.digest.clone_from(&digest);
        assert_eq!(plan.digest_of_content(), digest);
        plan.files[0].size = Some(2);
        assert_ne!(plan.digest_of_content(), digest);
    }
}
