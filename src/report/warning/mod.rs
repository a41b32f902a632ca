//! Warnings about the figures: each is a variant with its data, worded in both languages.

mod words;

use std::collections::BTreeSet;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wording::text;
use super::{FileServer, Wording};
use crate::error::Error;
use crate::memory::Caveat;
use crate::units::Bytes;

/// A warning of a report, a comparison or a check.
///
/// In JSON `kind` and the data are for programs, `text` and `text_zh` for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Warning {
    /// File or report that it is about; absent if it is about all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Kind of the warning, with its data.
    #[serde(flatten)]
    pub kind: WarningKind,
    /// Wording, as the program that wrote the report put it.
    #[serde(flatten, with = "text")]
    #[cfg_attr(feature = "internals", schemars(with = "text::Form"))]
    pub wording: Wording,
}

/// Kind of a warning. Later versions of the program may add kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WarningKind {
    /// The RDB version is newer than this program knows.
    NewerFormat {
        /// `REDIS` or `VALKEY`.
        magic: String,
        /// RDB version.
        version: u32,
    },
    /// Commands of an append-only file follow the snapshot and are not in the figures.
    CommandsFollow {
        /// Number of bytes.
        bytes: Bytes,
    },
    /// The last command of an append-only file is cut off.
    LastCommandCut {
        /// Where it begins.
        offset: u64,
    },
    /// The replication stream does not end with the mark announced at its start.
    NoEndMark,
    /// The replication stream announced another number of bytes than the snapshot has.
    OtherLength {
        /// Bytes announced.
        announced: Bytes,
        /// Bytes of the snapshot.
        bytes: Bytes,
    },
    /// Bytes after the end of the snapshot were ignored.
    BytesFollow {
        /// Number of bytes.
        bytes: Bytes,
    },
    /// Something in a directory that is no file was passed over.
    PassedOver {
        /// Kind of entry.
        what: NoFile,
    },
    /// Key metadata (expiry, idle time) without a key behind it.
    StrayMetadata {
        /// Number of places.
        places: u64,
    },
    /// The file announces another number of keys than it holds: damage that reads as sound records, or a writer that does not
    /// count.
    OtherNumberOfKeys {
        /// Keys that its databases announce.
        announced: u64,
        /// Keys that it holds.
        keys: u64,
    },
    /// Keys without elements, which servers skip when they load the file.
    EmptyKeys {
        /// Number of keys.
        keys: u64,
    },
    /// Streams whose stored counts differ from their entries, or that have entries out of order or numbers as text; servers load
    /// them as they are.
    OddStreams {
        /// Number of keys.
        keys: u64,
    },
    /// Sorted sets with scores that are not numbers; servers read what is a number at the start, else 0.
    OddScores {
        /// Number of keys.
        keys: u64,
    },
    /// Vector sets with a repeated element; servers up to Redis 8.10 load them, and find only one of the two.
    OddVectorSets {
        /// Number of keys.
        keys: u64,
    },
    /// Keys with a packed element of 16,383, 2,097,151 or 268,435,455 bytes, which Redis 8.10 and Valkey 9.1 store differently from servers
    /// before them, and neither reads as the other writes it.
    EdgeElements {
        /// Number of keys.
        keys: u64,
    },
    /// Keys that were not read, because that needs more memory or temporary space than allowed; `check` also counts a
    /// search for repeated keys here.
    OverBudget {
        /// Number of keys.
        keys: u64,
    },
    /// Commands written while the snapshot was taken are not in the figures.
    UpdatesNotApplied {
        /// Number of commands.
        commands: u64,
    },
    /// Compact hashes whose memory is unknown, since the users of their templates could not be counted first.
    TemplatesNotShared {
        /// Number of templates.
        templates: u64,
    },
    /// Keys whose memory is unknown: no sum of memory includes them.
    UnknownMemory {
        /// Number of keys.
        keys: u64,
        /// Their bytes in the file.
        stored_bytes: Bytes,
        /// Types of their modules.
        modules: Vec<String>,
    },
    /// Keys whose memory is known, but not on one of the servers of a what-if question, whose section leaves them out.
    UnknownElsewhere {
        /// Number of keys.
        keys: u64,
    },
    /// Modules whose search indexes are built anew on loading and are not in the file.
    SearchIndexes {
        /// Modules that left data outside keys.
        modules: Vec<String>,
    },
    /// Module values whose allocated bytes are not known: the memory of the whole server counts what their modules report.
    ModulesAsReported {
        /// Memory that they report.
        bytes: Bytes,
        /// Types of their modules.
        modules: Vec<String>,
    },
    /// More sets of field names than are told apart: compact hashes with others are priced without sharing.
    TooManyFieldSets {
        /// Number of sets told apart.
        limit: u64,
    },
    /// No time to compare expiries with.
    NoReferenceTime,
    /// Too many distinct names: crowded levels are collapsed.
    CrowdedLevels,
    /// Too many distinct first segments: those that go on are counted together as `{*}`.
    CrowdedFirstLevel,
    /// The files were written by different servers.
    DifferentServers {
        /// Each of them.
        #[serde(deserialize_with = "super::file::read_servers")]
        servers: Vec<FileServer>,
    },
    /// The rule reads values, which was not asked for.
    RuleNotChecked {
        /// Its id.
        rule: String,
    },
    /// The dump does not name the server that wrote it.
    ServerGuessed {
        /// RDB version that the server was guessed from.
        rdb_version: u32,
        /// Servers that write this version: `redis 2.6–3.0`.
        #[serde(default)]
        writers: String,
        /// The one that figures are computed for: `redis 2.8`.
        #[serde(default)]
        assumed: String,
    },
    /// The figures are those of open-source Redis: Redis Enterprise was not compared.
    PricedAsOpenSource,
    /// Nothing is known about the memory of the server that wrote the dump.
    NoModel,
    /// The server is older than `MEMORY USAGE`.
    ServerTooOld,
    /// The server is newer than those known.
    ServerTooNew,
    /// The model of this server was checked on single values only.
    ModelLittleChecked,
    /// Figures of this allocator are approximate.
    AllocatorApproximate,
    /// Settings make hashes compact when they are written, which loading a file does not do.
    TemplatesOnWrite,
    /// The server of a what-if question does not load the file.
    DoesNotLoad {
        /// Server asked about.
        server: String,
        /// `REDIS` or `VALKEY`.
        magic: String,
        /// RDB version of the file.
        version: u32,
    },
    /// The snapshot of the baseline is incomplete: growth is not judged.
    BaselineIncomplete,
    /// The figures of the baseline are of another server.
    BaselineOtherServer,
    /// The memory of some keys of the baseline is unknown: growth may come from that alone.
    BaselineUnknownMemory {
        /// Number of keys.
        keys: u64,
    },
    /// The baseline was made with another selection of keys.
    BaselineOtherSelection,
    /// The baseline and the report are of different shards: growth of patterns is not judged.
    BaselineOtherShards {
        /// Those that only one of them has.
        shards: Vec<String>,
    },
    /// The snapshot of the baseline is the later one.
    BaselineLater,
    /// The baseline has no findings: all findings count as new.
    BaselineWithoutFindings,
    /// The lists of patterns do not tell of some rules whether violations are new or worse.
    ListsCut {
        /// The rules.
        rules: Vec<String>,
    },
    /// A compared snapshot is incomplete: missing keys look like shrinking.
    SnapshotIncomplete,
    /// There is no trend: fewer than two of the snapshots are complete and of different times.
    NoTrend,
    /// The compared reports were made with different selections of keys.
    SelectionsDiffer,
    /// The compared reports were checked against different policies, or it is not known whether they were.
    PoliciesDiffer {
        /// Rules that only one of the policies has or that have other settings; empty if the reports do not say which.
        #[serde(default)]
        rules: Vec<String>,
    },
    /// The reports divide names at different separators, so that their patterns differ.
    SeparatorsDiffer {
        /// The separators of each.
        separators: Vec<String>,
    },
    /// The compared figures are of different servers.
    ModelsDiffer {
        /// Each memory model.
        models: Vec<String>,
    },
    /// Some compared snapshots have no time and are left out of the trend.
    TimesMissing,
    /// The compared snapshots are not in the order of their times.
    NotInOrder,
    /// A night lacks shards that earlier nights have: without them it would look like a shrink.
    ShardsMissing {
        /// Their names, without dates.
        shards: Vec<String>,
        /// Number of shards that earlier nights have.
        of: u64,
    },
    /// The earlier night is damaged or cut short, and does not count.
    NightDamaged,
    /// A present snapshot is damaged or cut short: growth is computed without it, or not at all.
    PresentNotCounted,
    /// The report of the earlier night has another selection of keys, and does not count.
    NightOfOtherKeys,
    /// Growth leaves out a night that lacks shards.
    NightNotWhole {
        /// Their names, without dates.
        shards: Vec<String>,
        /// Number of shards that earlier nights have.
        of: u64,
    },
    /// The night has none of the shards of the one before, but others: all of the difference counts as growth.
    OtherShards {
        /// Their names, without dates.
        shards: Vec<String>,
    },
    /// Shards that earlier nights do not have: all of their memory counts as growth.
    ShardsAdded {
        /// Their names, without dates.
        shards: Vec<String>,
    },
    /// A night could not be read.
    NightUnreadable {
        /// Why.
        error: String,
        /// The same in Chinese.
        #[serde(default)]
        error_zh: String,
    },
    /// A file is the snapshot of another night once more.
    SameSnapshot {
        /// The file that is compared.
        of: String,
    },
    /// The report of a server has only some of its keys.
    KeysSelected {
        /// The flags that selected them.
        selection: Vec<String>,
    },
    /// A report has no figures on tables: only the memory of keys is counted.
    TablesNotCounted,
    /// Stored reports do not have the memory of every slot, which a plan of slots needs.
    SlotsNotStored,
    /// Stored reports were not made with these what-if questions.
    QuestionsNotStored {
        /// The questions.
        asks: Vec<String>,
    },
    /// Several servers hold keys of one slot, so they are not the nodes of one cluster.
    SlotsOverlap,
    /// The list of cluster nodes has one with slots whose snapshot is not among the inputs.
    ClusterNodeMissing,
    /// The keys are not in the slots that the list of nodes says.
    ClusterNodesDiffer,
    /// Nodes that hold slots have failed, or may have.
    ClusterNodesFailed {
        /// Address and flag of each.
        nodes: Vec<String>,
    },
    /// Nodes without slots get none, since the cluster cannot reach them.
    ClusterNodesLeftOut {
        /// Address and flag of each.
        nodes: Vec<String>,
    },
    /// Slots of the cluster have no owner.
    ClusterSlotsUnassigned {
        /// Number of slots.
        slots: u64,
        /// The slots, as ranges.
        ranges: Vec<String>,
    },
    /// Slots are on the move between nodes.
    ClusterSlotsOpen {
        /// Each with the node that gives it and the one that takes it.
        slots: Vec<String>,
    },
    /// A kind that this version of the program does not know; its wording says what it is about.
    #[serde(other)]
    Other,
}

/// Something with a name that is neither a file nor a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NoFile {
    /// A named pipe (FIFO).
    NamedPipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl Warning {
    /// Returns a warning about all that was read.
    pub fn new(kind: WarningKind) -> Warning {
        Warning { about: None, wording: kind.wording(), kind }
    }

    /// Returns a warning about one file or report.
    pub fn about(name: &str, kind: WarningKind) -> Warning {
        let Wording { en, zh } = kind.wording();
        let wording = if kind.is_of_a_baseline() {
            Wording { en: format!("baseline {name}: {en}"), zh: format!("基准报告 {name}：{zh}") }
        } else {
            Wording { en: format!("{name}: {en}"), zh: format!("{name}：{zh}") }
        };
        Warning { about: Some(name.to_owned()), wording, kind }
    }
}

impl WarningKind {
    /// Returns that a night could not be read, and why.
    pub(crate) fn night_unreadable(error: &Error) -> WarningKind {
        let Wording { en: error, zh: error_zh } = error.wording_with_file();
        WarningKind::NightUnreadable { error, error_zh }
    }

    /// Returns whether a warning that names a report is about the baseline.
    fn is_of_a_baseline(&self) -> bool {
        use WarningKind::*;
        matches!(
            self,
            BaselineIncomplete
                | BaselineOtherServer
                | BaselineOtherSelection
                | BaselineOtherShards { .. }
                | BaselineLater
                | BaselineWithoutFindings
                | BaselineUnknownMemory { .. }
                | ListsCut { .. }
                | PoliciesDiffer { .. }
                | SeparatorsDiffer { .. }
        )
    }

    /// Returns the warning about separators of several reports, each in order, unless they are the same. Reports of the first
    /// versions do not name theirs.
    pub(crate) fn separators_differ<'a>(of_reports: impl IntoIterator<Item = &'a [String]>) -> Option<WarningKind> {
        let distinct: BTreeSet<&[String]> = of_reports.into_iter().filter(|it| !it.is_empty()).collect();
        let separators = || distinct.iter().map(|it| it.concat()).collect();
        (distinct.len() > 1).then(|| WarningKind::SeparatorsDiffer { separators: separators() })
    }
}

impl From<Caveat> for Warning {
    fn from(caveat: Caveat) -> Warning {
        Warning::new(match caveat {
            Caveat::ServerGuessed { rdb_version, assumed } => WarningKind::ServerGuessed {
                rdb_version,
                writers: assumed.writers().map_or_else(String::new, |writers| writers.names()),
                assumed: assumed.line_name(),
            },
            Caveat::PricedAsOpenSource => WarningKind::PricedAsOpenSource,
            Caveat::NoModel => WarningKind::NoModel,
            Caveat::ServerTooOld => WarningKind::ServerTooOld,
            Caveat::ServerTooNew => WarningKind::ServerTooNew,
            Caveat::ModelLittleChecked => WarningKind::ModelLittleChecked,
            Caveat::AllocatorApproximate => WarningKind::AllocatorApproximate,
            Caveat::TemplatesOnWrite => WarningKind::TemplatesOnWrite,
        })
    }
}

impl From<String> for Warning {
    /// Returns a warning that has words only, the same in both languages: how the first reports had them.
    fn from(en: String) -> Warning {
        Warning { about: None, kind: WarningKind::Other, wording: Wording { zh: en.clone(), en } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_kind_data_and_text() {
        let warning = Warning::about("a.rdb", WarningKind::CommandsFollow { bytes: Bytes(7) });
        let json = serde_json::to_value(&warning).unwrap();
        assert_eq!(
            (&json["kind"], &json["bytes"], &json["about"]),
            (&"commands-follow".into(), &7.into(), &"a.rdb".into())
        );
        assert_eq!(
            json["text"],
            "a.rdb: 7 bytes of commands follow the snapshot: not in the figures; rdblens check verifies only how they are framed"
        );
        assert_eq!(json["text_zh"], "a.rdb：快照之后还有 7 字节的命令，未计入统计；rdblens check 只检查其格式");
        assert_eq!(serde_json::from_value::<Warning>(json).unwrap(), warning);
        let long = Warning::new(WarningKind::CommandsFollow { bytes: Bytes(52_171) });
        assert!(long.wording.en.starts_with("52,171 bytes") && long.wording.zh.contains("52,171 字节"));
    }

    #[test]
    fn lists_have_the_punctuation_of_their_language() {
        let [writers, assumed] = ["redis 7.2, valkey 7.2–8.1", "redis 7.2"].map(str::to_owned);
        let Wording { en, zh } = Warning::new(WarningKind::ServerGuessed { rdb_version: 11, writers, assumed }).wording;
        assert!(en.contains("redis 7.2, valkey 7.2–8.1") && zh.contains("由 redis 7.2、valkey 7.2–8.1 写入"), "{zh}");
    }

    #[test]
    fn a_kind_of_a_later_version_keeps_its_words() {
        let json = r#"[{"kind": "moon-phase", "phase": 3, "text": "full moon", "text_zh": "满月"}, "a text"]"#;
        let read: Vec<Warning> =
            crate::report::wording::read_list(&mut serde_json::Deserializer::from_str(json)).unwrap();
        let words: Vec<_> = read.iter().map(|it| (&it.kind, it.wording.en.as_str(), it.wording.zh.as_str())).collect();
        let other = &WarningKind::Other;
        assert_eq!(words, [(other, "full moon", "满月"), (other, "a text", "a text")]);
    }
}
