//! Facts that a rule needs and a run may lack: without them the rule is not evaluated.

use super::context::Context;
use crate::report::{NotEvaluated, Report, Severity, Text, Warning, WarningKind};

/// Fact that a rule could not do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Memory limit of the server.
    Maxmemory,
    /// Eviction policy of the server.
    MaxmemoryPolicy,
    /// Current time.
    Now,
    /// Time of each snapshot.
    SnapshotTime,
    /// Time to compare expiries with.
    ReferenceTime,
    /// Earlier report.
    Baseline,
    /// Earlier report on the same shards.
    BaselineOfShards,
    /// Earlier report that is earlier than the snapshot.
    EarlierBaseline,
    /// Earlier report that is complete and of the same keys.
    ComparableBaseline,
    /// Earlier report that lists patterns.
    ListedPatterns,
    /// Data dictionary.
    Dictionary,
    /// Memory budgets.
    Budget,
    /// Maximum time to live.
    LongestLife,
    /// Keys that have to expire.
    RequiredExpiry,
    /// Types that keys are to have.
    ExpectedTypes,
    /// Time since the last access.
    IdleTimes,
    /// Time since the last access, or access counters.
    IdleTimesOrCounters,
    /// Contents of values.
    Values,
    /// Contents of all values.
    WholeValues,
    /// Cluster node, or several shards.
    Shards,
    /// The other nodes of a cluster.
    OtherNodes,
    /// Estimate for a newer server.
    NewerServer,
    /// Verified checksum.
    Checksum,
    /// Checksum of each file.
    StoredChecksum,
    /// Current time, later than that of the snapshots.
    LaterNow,
    /// Memory limit of a server that has none.
    MemoryLimit,
    /// Every byte of every file.
    WholeFiles,
    /// All keys of the snapshot.
    AllKeys,
    /// Compressed sizes of strings.
    CompressedSizes,
    /// Memory of all keys that the rule is about.
    KnownMemory,
    /// Size of the content of module values.
    ModuleContent,
    /// Names on a level that is collapsed to `{*}`.
    DistinctNames,
    /// Values of all locks of a pattern.
    LockValues,
    /// Expiries of all keys of a pattern.
    AllExpiries,
    /// Ids that two patterns can be compared by.
    ComparableIds,
}

impl Need {
    /// Returns the reason why a rule was not evaluated.
    pub const fn reason(self) -> Text {
        self.entry().reason
    }

    /// Returns what to do so that the rule is evaluated.
    pub const fn remedy(self) -> Text {
        self.entry().remedy
    }

    /// Returns the flag that provides it, if one does.
    pub const fn flag(self) -> Option<&'static str> {
        self.entry().flag
    }

    /// Returns reason, remedy and flag.
    const fn entry(self) -> NeedEntry {
        match self {
            Need::Maxmemory => entry(
                ["the memory limit of the server is unknown", "服务器的内存上限未知"],
                [
                    "give --maxmemory, such as 4GB, or 0 if the server sets none",
                    "用 --maxmemory 指定，例如 4GB；服务器未设置时为 0",
                ],
            )
            .with_flag("--maxmemory"),
            Need::MaxmemoryPolicy => entry(
                ["the eviction policy of the server is unknown", "服务器的淘汰策略未知"],
                [
                    "give --maxmemory-policy, such as volatile-lru, or noeviction if the server sets none",
                    "用 --maxmemory-policy 指定，例如 volatile-lru；服务器未设置时为 noeviction",
                ],
            )
            .with_flag("--maxmemory-policy"),
            Need::Now => entry(["the current time was not given", "未指定当前时间"], ["give --now", "用 --now 指定"])
                .with_flag("--now"),
            Need::SnapshotTime => entry(
                ["a file does not say when it was taken", "有文件没有记录快照时间"],
                [
                    "use dumps of Redis 3.2 or newer, which record the time",
                    "使用 Redis 3.2 及以上版本的快照，其中记录了时间",
                ],
            ),
            Need::ReferenceTime => entry(
                ["there is no time to compare expiries with", "没有判断过期的基准时间"],
                ["give --at", "用 --at 指定"],
            )
            .with_flag("--at"),
            Need::Baseline => entry(
                ["there is no complete earlier report", "没有此前的完整报告"],
                ["give --baseline, a JSON report of an earlier snapshot", "用 --baseline 指定此前快照的 JSON 报告"],
            )
            .with_flag("--baseline"),
            Need::BaselineOfShards => entry(
                ["the earlier report is about other shards", "此前的报告包含的分片不同"],
                ["give a report on the same shards as --baseline", "用 --baseline 指定相同分片的报告"],
            ),
            Need::EarlierBaseline => entry(
                [
                    "the report given as baseline is not of an earlier snapshot",
                    "作为基线的报告，其快照并不早于本次快照",
                ],
                ["give a report of an earlier snapshot as --baseline", "用 --baseline 指定更早快照的报告"],
            ),
            Need::ComparableBaseline => entry(
                [
                    "the report given as baseline is incomplete, or of other keys or separators",
                    "作为基线的报告不完整，或其 key 筛选条件、分隔符不同",
                ],
                [
                    "give a complete report made with the same options as --baseline",
                    "用 --baseline 指定以相同选项生成的完整报告",
                ],
            ),
            Need::ListedPatterns => entry(
                ["the report given as baseline lists no patterns", "作为基线的报告没有列出任何模式"],
                ["make the baseline with --top 10000", "用 --top 10000 重新生成基线报告"],
            ),
            Need::Dictionary => entry(
                ["the policy has no data dictionary", "策略中没有数据字典"],
                [
                    "add [[dictionary]] to a policy file; `rdblens dictionary` drafts it",
                    "在策略文件中添加 [[dictionary]]；`rdblens dictionary` 可生成草稿",
                ],
            ),
            Need::Budget => entry(
                ["the policy has no memory budget", "策略中没有内存预算"],
                ["add [[budget]] to a policy file", "在策略文件中添加 [[budget]]"],
            ),
            Need::LongestLife => entry(
                ["the policy sets no maximum time to live", "策略中没有 TTL 上限"],
                ["set max of the rule or of a [[ttl_class]]", "设置该规则或 [[ttl_class]] 的 max"],
            ),
            Need::RequiredExpiry => entry(
                ["the policy has no keys that must expire", "策略中没有必须过期的 key"],
                ["add a [[ttl_class]], or set unclassified = true", "添加 [[ttl_class]]，或设置 unclassified = true"],
            ),
            Need::ExpectedTypes => entry(
                ["the policy expects no types", "策略中没有约定数据类型"],
                ["add [[expected]] to a policy file", "在策略文件中添加 [[expected]]"],
            ),
            Need::IdleTimes => entry(
                ["the dump has no idle times", "快照中没有空闲时间"],
                [
                    "use a dump of a server with an LRU maxmemory-policy",
                    "在 maxmemory-policy 为 LRU 的服务器上生成快照",
                ],
            ),
            Need::IdleTimesOrCounters => entry(
                ["the dump has no idle times or access counters", "快照中没有空闲时间或访问计数"],
                [
                    "use a dump of a server with an LRU or LFU maxmemory-policy",
                    "在 maxmemory-policy 为 LRU 或 LFU 的服务器上生成快照",
                ],
            ),
            Need::Values => entry(
                ["values were not inspected", "没有检查 value 的内容"],
                ["give --inspect-values", "用 --inspect-values 启用"],
            )
            .with_flag("--inspect-values"),
            Need::WholeValues => entry(
                [
                    "some values were not read because they need more memory than allowed",
                    "部分 value 超出内存上限，未予分析",
                ],
                ["give a larger --max-memory", "调大 --max-memory"],
            )
            .with_flag("--max-memory"),
            Need::Shards => entry(
                ["the input is one server outside a cluster", "输入只有一个非集群实例"],
                ["give the files of all shards", "提供所有分片的文件"],
            ),
            Need::OtherNodes => entry(
                ["only one node of the cluster was given", "只提供了集群的一个节点"],
                ["give the files of all shards", "提供所有分片的文件"],
            ),
            Need::NewerServer => entry(
                ["memory on a newer server was not estimated", "没有估算新版本服务器的内存"],
                ["give --what-if, such as redis-8.2", "用 --what-if 指定，例如 redis-8.2"],
            )
            .with_flag("--what-if"),
            Need::Checksum => entry(
                ["a checksum was not verified", "有文件的校验和未经校验"],
                ["read whole files, without --no-checksum", "读取整个文件，不加 --no-checksum"],
            ),
            Need::StoredChecksum => entry(
                ["a file has no checksum", "有文件没有校验和"],
                [
                    "dump with rdbchecksum yes; `rdblens check` validates every value of this file",
                    "生成快照时设置 rdbchecksum yes；`rdblens check` 可逐个校验此文件中的 value",
                ],
            ),
            Need::LaterNow => {
                entry(["the given time is before a snapshot", "指定的时间早于快照"], ["correct --now", "更正 --now"])
            }
            Need::MemoryLimit => entry(
                ["the server has no memory limit", "服务器没有内存上限"],
                [
                    "set maxmemory on the server, and pass it with --maxmemory",
                    "在服务器上设置 maxmemory，并用 --maxmemory 指定",
                ],
            ),
            Need::WholeFiles => entry(
                ["a file could not be read completely", "有文件未能完整读取"],
                [
                    "repeat the backup; `rdblens check` says where the file is damaged",
                    "重新备份；`rdblens check` 可指出损坏位置",
                ],
            ),
            Need::AllKeys => entry(
                ["only some of the keys were selected", "只选取了部分 key"],
                ["leave out --match, --db and other selections", "去掉 --match、--db 等筛选条件"],
            ),
            Need::CompressedSizes => entry(
                ["no string of a file is compressed", "有文件中没有压缩存储的 string"],
                ["dump with rdbcompression yes", "生成快照时设置 rdbcompression yes"],
            ),
            Need::KnownMemory => entry(
                ["the memory of some keys is unknown", "部分 key 的内存未知"],
                [
                    "add the server's own figures for these keys: MEMORY USAGE, or INFO modules",
                    "自行加上服务器给出的数字：MEMORY USAGE 或 INFO modules",
                ],
            ),
            Need::ModuleContent => entry(
                ["the size of the content of some module values is unknown", "部分模块类型 value 的内容大小未知"],
                ["look at `rdblens keys --type module`", "用 `rdblens keys --type module` 逐个查看"],
            ),
            Need::DistinctNames => entry(
                [
                    "too many distinct names in a segment are counted together as {*}",
                    "某一段的不同名称过多，合并为 {*} 统计",
                ],
                [
                    "begin names with a business, not with an id; owners in a [[dictionary]] tell businesses apart, too",
                    "key 名以业务而非 id 开头；在 [[dictionary]] 中写明负责人也可区分业务",
                ],
            ),
            Need::LockValues => entry(
                [
                    "only some of the many values of a pattern's locks were compared, and these show nothing",
                    "有模式的锁 value 过多，只比对了其中一部分，未见违规",
                ],
                [
                    "use random tokens such as UUIDs, which need no comparison",
                    "令牌改用 UUID 等随机值，这类 value 无需比对",
                ],
            ),
            Need::AllExpiries => entry(
                [
                    "many keys expire at once, and a sample does not show whether they belong to one pattern",
                    "有大量 key 集中过期，但仅凭抽样无法判断是否属于同一模式",
                ],
                [
                    "analyze the patterns one by one, with --match; what is found then is certain",
                    "用 --match 逐个分析这些模式，由此得出的违规是确定的",
                ],
            ),
            Need::ComparableIds => entry(
                [
                    "too few sampled ids of some patterns can be compared to tell whether they are attributes of one object",
                    "有模式可比对的采样 id 过少，无法判断是否为同一对象的属性",
                ],
                ["look at these keys, with `rdblens keys --match`", "用 `rdblens keys --match` 查看这些 key"],
            ),
        }
    }

    /// Returns false if a rule that lacks it has nothing to judge: no budget was agreed on, no cluster is divided.
    pub const fn applies(self) -> bool {
        !matches!(self, Need::Budget | Need::Shards)
    }

    /// Returns true if one of several files may lack it and the others not, so that a rule both finds something and is not evaluated.
    pub const fn is_of_file(self) -> bool {
        matches!(
            self,
            Need::SnapshotTime
                | Need::LaterNow
                | Need::Checksum
                | Need::StoredChecksum
                | Need::IdleTimes
                | Need::IdleTimesOrCounters
                | Need::CompressedSizes
        )
    }

    /// Returns the entry of a report for a rule that lacks it.
    pub fn of(self, rule: &'static str, severity: Severity) -> NotEvaluated {
        NotEvaluated {
            rule: rule.into(),
            severity,
            reason: self.reason().into(),
            remedy: self.remedy().into(),
            flag: self.flag().map(Into::into),
            applies: self.applies(),
        }
    }
}

/// Texts about a need.
struct NeedEntry {
    reason: Text,
    remedy: Text,
    flag: Option<&'static str>,
}

impl NeedEntry {
    const fn with_flag(self, flag: &'static str) -> Self {
        NeedEntry { flag: Some(flag), ..self }
    }
}

/// Creates an entry without a flag from reason and remedy, each in English and Chinese.
const fn entry([reason, reason_zh]: [&'static str; 2], [remedy, remedy_zh]: [&'static str; 2]) -> NeedEntry {
    NeedEntry { reason: Text { en: reason, zh: reason_zh }, remedy: Text { en: remedy, zh: remedy_zh }, flag: None }
}

/// Facts that a run has, before the keys are read or after.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Facts about run, server and policy.
    pub context: &'a Context,
    /// The report, once all keys were read.
    pub report: Option<&'a Report>,
    /// True if a file has long texts whose compressed size it does not tell; false until all keys were read.
    pub sizes_hidden: bool,
}

impl<'a> Known<'a> {
    /// Returns what is known before the keys are read.
    pub fn before(context: &'a Context) -> Self {
        Known { context, report: None, sizes_hidden: false }
    }

    /// Returns the need if the finished report shows it. A rule is then evaluated nevertheless: what it finds is true.
    pub fn lacks(&self, need: Need, is_missing: impl FnOnce(&Report) -> bool) -> Option<Need> {
        self.report.is_some_and(is_missing).then_some(need)
    }

    /// Returns the need for all keys if only some were selected.
    pub fn lacks_keys(&self) -> Option<Need> {
        self.lacks(Need::AllKeys, |report| !report.options.selection.is_empty())
    }

    /// Returns the need for the contents of all values if some were not read. None of them is a string.
    pub fn lacks_values(&self) -> Option<Need> {
        let passed_over = |warning: &Warning| matches!(warning.kind, WarningKind::OverBudget { .. });
        self.lacks(Need::WholeValues, |report| report.warnings.iter().any(passed_over))
    }

    /// Returns the need for the memory of all keys if that of some is unknown. Sums are too small then: what
    /// exceeds a limit is known to exceed it, nothing else is known to keep it, and shares are unknown.
    pub fn lacks_memory(&self) -> Option<Need> {
        self.lacks(Need::KnownMemory, |report| !report.totals.unknown.is_none())
    }

    /// Returns the need of a rule about the memory of all keys.
    pub fn lacks_sums(&self) -> Option<Need> {
        self.lacks_keys().or_else(|| self.lacks_memory())
    }

    /// Returns the need for a reference time if there is none, although keys expire.
    pub fn lacks_reference(&self) -> Option<Need> {
        self.lacks_time(|report| report.totals.without_ttl.keys < report.totals.keys)
    }

    /// Returns the need for a reference time if there is none, although the report has what is compared with it.
    pub fn lacks_time(&self, is_compared: impl FnOnce(&Report) -> bool) -> Option<Need> {
        self.lacks(Need::ReferenceTime, |report| self.context.reference.report.is_none() && is_compared(report))
    }
}
