//! Options of a run: everything that it needs besides the bytes.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::input::{OpenOptions, StoreSettings, Window, shown_path};
use crate::limits::Budget;
use crate::mask::Secret;
use crate::memory::{Allocator, Server, ServerConfig, WhatIf};
use crate::near;
use crate::policy::file::PatternSyntax;
use crate::policy::{Policy, file, presets};
use crate::report::{BigRules, NamedReport, Options, Prefixes};
use crate::units::{Bytes, Millis};

use super::read::division::Division;
use super::select::Selection;

/// Options for reading snapshots, common to all commands.
#[derive(Debug, Clone)]
pub struct ReadPlan {
    /// Options for opening inputs.
    pub open: OpenOptions,
    /// Selection of the keys that count.
    pub selection: Selection,
    /// Maximum number of selected keys to read, in file order.
    pub limit: Option<u64>,
    /// Time that expiries are compared with, instead of the `ctime` of each file.
    pub at: Option<Millis>,
    /// Server to compute memory for, instead of the one that wrote the dump.
    pub server: Option<Server>,
    /// The server's allocator.
    pub allocator: Allocator,
    /// The server's settings.
    pub config: ServerConfig,
    /// Further servers, allocators and settings to compute memory for. Each takes as much time as the first.
    pub what_if: Vec<WhatIf>,
    /// True if the checksum is verified.
    pub checksum: bool,
    /// Where to stop in a damaged file.
    pub damage: AtDamage,
    /// Worker threads; 0 takes one per processor.
    pub threads: usize,
    /// Parameters for dividing large files among the threads; they never change a result.
    #[doc(hidden)]
    pub division: Division,
    /// Separators of name segments.
    pub separators: Vec<String>,
    /// Relation of several inputs that makes their sum meaningful.
    pub inputs: InputCheck,
    /// Settings of object stores, in place of variables of the environment.
    pub stores: StoreSettings,
    /// Folders that are shown by other names, such as one that an archive is unpacked into by the name of the archive.
    pub shown_as: Vec<(PathBuf, String)>,
}

/// Returns the error for an input that can be read only once; `flag` is the reason for reading twice.
pub(super) fn cannot_read_twice(name: &str, flag: &str) -> Error {
    let what = "reads the snapshot twice, which standard input and pipes do not allow";
    Error::usage(format!("{name}: {flag} {what}")).with_hint("write it to a file first")
}

/// Demand on several inputs of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InputCheck {
    /// They look like shards of one deployment at one time.
    #[default]
    Shards,
    /// They are of one night, whatever their times: their names say so. A server and its replica are not.
    Night,
    /// None is a copy of another.
    Copies,
    /// Anything goes.
    None,
}

/// Behaviour where the framing of a file breaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AtDamage {
    /// Stop: only what is before the damage counts.
    #[default]
    Stop,
    /// Go on behind it: all sound records count.
    Salvage,
}

impl InputCheck {
    /// All demands.
    pub(crate) const ALL: [InputCheck; 4] =
        [InputCheck::Shards, InputCheck::Night, InputCheck::Copies, InputCheck::None];

    /// Returns the name in plans.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            InputCheck::Shards => "shards",
            InputCheck::Night => "night",
            InputCheck::Copies => "copies",
            InputCheck::None => "any",
        }
    }
}

impl ReadPlan {
    /// Returns the flags that select keys, in words; empty if all keys count.
    pub fn selected(&self) -> Vec<String> {
        let limit = self.limit.map(|limit| format!("--limit {limit}"));
        self.selection.describe().into_iter().chain(limit).collect()
    }

    /// Returns the defaults. A stream record that does not fit the read window is spooled to a file in `spool_dir`.
    pub fn new(spool_dir: PathBuf) -> Self {
        ReadPlan {
            open: OpenOptions {
                mmap: true,
                spool_dir,
                window: Window::DEFAULT_LIMIT,
                budget: Budget::default(),
                inflaters: 1,
            },
            selection: Selection::default(),
            limit: None,
            at: None,
            server: None,
            allocator: Allocator::default(),
            config: ServerConfig::default(),
            what_if: Vec::new(),
            checksum: true,
            damage: AtDamage::Stop,
            threads: 0,
            division: Division::default(),
            separators: vec![":".to_owned()],
            inputs: InputCheck::default(),
            stores: StoreSettings::default(),
            shown_as: Vec::new(),
        }
    }

    /// Returns a name of a file as it is shown: see [`ReadPlan::shown_as`].
    pub(crate) fn shown(&self, name: String) -> String {
        let below = |folder: &PathBuf| {
            name.strip_prefix(&shown_path(folder)).filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
        };
        let shown = self.shown_as.iter().find_map(|(folder, shown)| Some(format!("{shown}{}", below(folder)?)));
        shown.unwrap_or(name)
    }
}

impl StoreSettings {
    /// Sets one of the variables that docs/remote.md lists. Fails if there is none of this name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        self.insert(name, value).map_err(|near| {
            let question = near::did_you_mean(&near);
            Error::usage(format!("no setting of object stores \"{name}\""))
                .with_hint(format!("{question}docs/remote.md lists the settings"))
        })
    }
}

/// Options of a report.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Options for reading the inputs.
    pub read: ReadPlan,
    /// Rows in each list.
    pub top: usize,
    /// Rows of the lists of patterns and of cold patterns, if not as many as of the others.
    pub pattern_rows: Option<usize>,
    /// Rows of each list in reports for reading (terminal, Markdown, HTML).
    pub rows: usize,
    /// Limits above which a key is big, overriding the policy.
    pub big: BigLimits,
    /// Levels of the prefix tree.
    pub depth: usize,
    /// Prefixes below this share of the memory are left out.
    pub min_share: f64,
    /// The policy that the snapshot is checked against.
    pub policy: PolicySource,
    /// Key for masking names; `None` shows them.
    pub mask: Option<MaskKey>,
    /// True if rules may read values: `value.sensitive` is checked exactly if set.
    pub inspect_values: bool,
    /// The current time, for rules about the age of a snapshot.
    pub now: Option<Millis>,
    /// An earlier report to compare with.
    pub baseline: Option<Arc<NamedReport>>,
    /// Other earlier reports, for the trend of memory.
    pub earlier: Vec<Arc<NamedReport>>,
    /// The flags that named the files of those two, in words (`--baseline reports/yesterday.json`), for commands in the report.
    pub files: Vec<String>,
    /// When keys are counted by cluster slot.
    pub slots: SlotCounts,
}

/// When keys are counted by cluster slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SlotCounts {
    /// If the dump is of a cluster, or a key has a hash tag.
    #[default]
    IfUsed,
    /// Always, to plan a cluster.
    Always,
}

/// Key for masking names.
#[derive(Debug, Clone)]
pub enum MaskKey {
    /// Derived from the snapshot itself.
    OfSnapshot,
    /// Given by the user.
    Own(Secret),
}

impl MaskKey {
    /// Returns the key for a snapshot whose files have these checksums.
    pub(crate) fn secret(&self, checksums: impl IntoIterator<Item = u64>) -> Secret {
        match self {
            MaskKey::OfSnapshot => Secret::of_snapshot(checksums),
            MaskKey::Own(secret) => secret.clone(),
        }
    }
}

/// Limits that override the policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BigLimits {
    /// Strings longer than this are big.
    pub string_bytes: Option<u64>,
    /// Collections with more elements than this are big.
    pub elements: Option<u64>,
    /// Keys of any type that take more memory than this are big. No rule has this limit.
    pub memory: Option<Bytes>,
}

impl BigLimits {
    /// Overrides the limits of a policy, so that the keys listed as big are those that violate it.
    pub(crate) fn lay_over(&self, policy: &mut Policy) {
        let limits = [
            ("big.string", "max", self.string_bytes),
            ("big.elements", "max", self.elements),
            ("big.expiring", "elements", self.elements),
        ];
        for (rule, param, limit) in limits {
            if let Some(limit) = limit {
                policy.set_limit(rule, param, limit);
            }
        }
    }

    /// Returns the limits in force: these, then the policy's, then the defaults.
    pub(crate) fn over(&self, policy: &Policy) -> BigRules {
        let usual = BigRules::default();
        let limit = |own: Option<u64>, rule| own.or_else(|| policy.limit(rule, "max"));
        BigRules {
            string_bytes: limit(self.string_bytes, "big.string").unwrap_or(usual.string_bytes),
            elements: limit(self.elements, "big.elements").unwrap_or(usual.elements),
            payload: policy.limit("big.total", "max").map(Bytes),
            memory: self.memory,
        }
    }
}

/// Source of a policy.
#[derive(Debug, Clone)]
pub enum PolicySource {
    /// A preset, by name.
    Preset(String),
    /// Policy file.
    File {
        /// Its name in messages.
        name: String,
        /// Its content.
        text: String,
    },
}

impl PolicySource {
    /// Reads the policy.
    pub(crate) fn load(&self, syntax: PatternSyntax<'_>) -> Result<Policy> {
        match self {
            PolicySource::Preset(name) => presets::load(name, syntax),
            PolicySource::File { name, text } => file::parse(text, name, syntax),
        }
    }
}

impl Plan {
    /// Default number of rows in each list.
    pub const USUAL_TOP: usize = Options::USUAL_TOP;

    /// Returns the defaults of the command line, with these options for reading.
    pub fn new(read: ReadPlan) -> Self {
        Plan {
            read,
            top: Plan::USUAL_TOP,
            pattern_rows: None,
            rows: Options::USUAL_ROWS,
            big: BigLimits::default(),
            depth: usize::from(Prefixes::USUAL_DEPTH),
            min_share: Prefixes::USUAL_MIN_SHARE,
            policy: PolicySource::Preset("default".to_owned()),
            mask: None,
            inspect_values: false,
            now: None,
            baseline: None,
            earlier: Vec::new(),
            files: Vec::new(),
            slots: SlotCounts::default(),
        }
    }

    /// Returns the number of rows of the list of patterns.
    pub(crate) fn listed_patterns(&self) -> usize {
        self.pattern_rows.unwrap_or(self.top)
    }
}
