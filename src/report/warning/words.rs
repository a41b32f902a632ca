//! Warnings in words.

use super::{NoFile, WarningKind};
use crate::report::{FileServer, Wording};
use crate::wording::{grouped, singular};

impl WarningKind {
    /// Words the warning in both languages.
    pub(super) fn wording(&self) -> Wording {
        use WarningKind::*;
        let fixed = |en: &str, zh: &str| Wording { en: en.to_owned(), zh: zh.to_owned() };
        let filled = |en: String, zh: String| Wording { en, zh };
        match self {
            NewerFormat { magic: _, version } => filled(
                format!(
                    "byte 0x0: header: RDB version {version} is newer than those that this program knows: look for a newer rdblens"
                ),
                format!("字节 0x0：文件头：RDB 版本 {version} 比本程序已知的版本新：请更新 rdblens"),
            ),
            CommandsFollow { bytes } => filled(
                match bytes.0 {
                    1 => "1 byte of commands follows the snapshot and is not in the figures".to_owned(),
                    bytes => {
                        format!("{} bytes of commands follow the snapshot and are not in the figures", grouped(bytes))
                    }
                },
                format!("快照之后还有 {} 字节的命令，未计入统计", grouped(bytes.0)),
            ),
            NoEndMark => fixed("the replication stream does not end with its mark", "复制流的结尾缺少结束标记"),
            OtherLength { announced, bytes } => {
                let (announced, bytes) = (grouped(announced.0), grouped(bytes.0));
                filled(
                    format!("the replication stream announced {announced} bytes, but the snapshot has {bytes}"),
                    format!("复制流声明有 {announced} 字节，快照实际为 {bytes} 字节"),
                )
            }
            BytesFollow { bytes } => filled(
                match bytes.0 {
                    1 => "1 byte after the end of the snapshot was ignored".to_owned(),
                    bytes => format!("{} bytes after the end of the snapshot were ignored", grouped(bytes)),
                },
                format!("快照结尾之后有 {} 字节被忽略", grouped(bytes.0)),
            ),
            PassedOver { what } => match what {
                NoFile::NamedPipe => fixed(
                    "skipped: a named pipe in a directory is not read; name it to read it",
                    "已跳过：不读取目录中的命名管道；如需读取，请直接指定",
                ),
                NoFile::Socket => fixed("skipped: a socket, not a file", "已跳过：是套接字，不是文件"),
                NoFile::Device => fixed("skipped: a device, not a file", "已跳过：是设备，不是文件"),
            },
            StrayMetadata { places } => filled(
                format!("key metadata (expiry, idle time) without a key: {places}"),
                format!("有元数据（过期时间、空闲时间）但没有 key：{places} 处"),
            ),
            OtherNumberOfKeys { announced, keys } => {
                let (announced, keys) = (grouped(*announced), grouped(*keys));
                filled(
                    singular(format!(
                        "the file announces {announced} keys, but holds {keys}: it may be damaged, and rdblens salvage looks for \
                         lost keys"
                    )),
                    format!(
                        "文件声明有 {announced} 个 key，实际有 {keys} 个：文件可能已损坏，可用 rdblens salvage 查找丢失的 key"
                    ),
                )
            }
            EmptyKeys { keys } => filled(
                format!("keys without elements, which servers skip when they load the file: {keys}"),
                format!("有 {keys} 个没有元素的 key，服务器加载时会跳过"),
            ),
            OddStreams { keys } => filled(
                format!(
                    "streams whose stored counts differ from their entries, or whose entries are out of order, which servers load as they are: {keys}"
                ),
                format!("有 {keys} 个 stream 存储的计数与消息不符或消息顺序错乱，服务器会照样加载"),
            ),
            OddScores { keys } => filled(
                format!(
                    "sorted sets with scores that are not numbers; servers read the number at the start of such a score, or 0: {keys}"
                ),
                format!("有 {keys} 个 zset 的 score 不是数字，服务器只读取开头的数字，没有则按 0 处理"),
            ),
            OddVectorSets { keys } => filled(
                format!("vector sets with a repeated element, of which servers up to Redis 8.10 find only one: {keys}"),
                format!("有 {keys} 个向量集合含重复元素，Redis 8.10 及之前的服务器会加载，但只能找到其中一个"),
            ),
            OverBudget { keys } => filled(
                singular(format!(
                    "not read, because that needs more memory or temporary space than allowed: {keys} keys; give a larger \
                     --max-memory or --max-temp"
                )),
                format!("有 {keys} 个 key 需要的内存或临时空间超出上限，未予分析；请调大 --max-memory 或 --max-temp"),
            ),
            UpdatesNotApplied { commands } => filled(
                format!("commands written while the snapshot was taken, not in the figures: {commands}"),
                format!("生成快照期间写入的 {commands} 条命令未计入统计"),
            ),
            TemplatesNotShared { templates } => filled(
                format!(
                    "the memory of compact hashes is unknown: their share of the field names (hash templates: {templates}) \
                     cannot be computed from input that can be read only once; write it to a file first"
                ),
                format!(
                    "紧凑 hash 的内存未知：输入只能读取一次，无法计算其分摊的字段名（hash 模板：{templates}），\
                     请先将输入保存为文件"
                ),
            ),
            TooManyFieldSets { limit } => filled(
                format!(
                    "more than {limit} different sets of field names: the memory of compact hashes with further sets lacks their \
                     share of the names, and ordinary hashes with further sets are not converted"
                ),
                format!(
                    "不同的字段名组合超过 {limit} 种：其余组合的紧凑 hash 未计入字段名的分摊，普通 hash 按不转换计算"
                ),
            ),
            UnknownMemory { keys, stored_bytes, modules } => {
                let (keys, stored) = (grouped(*keys), grouped(stored_bytes.0));
                let (en, zh) = match modules.as_slice() {
                    [] => (String::new(), String::new()),
                    names => (format!(" of {}", names.join(", ")), format!("（{}）", names.join("、"))),
                };
                filled(
                    singular(format!(
                        "memory unknown: {keys} keys{en}, {stored} bytes in the file. Excluded from all memory sums, so \
                         actual usage is higher"
                    )),
                    format!(
                        "{keys} 个 key{zh}的内存未知，在文件中占 {stored} 字节。所有内存合计均不含这些 key，服务器实际需要的内存更多"
                    ),
                )
            }
            UnknownElsewhere { keys } => filled(
                singular(format!(
                    "what-if: the memory of {keys} keys is unknown on one of the servers: excluded from all what-if sums, \
                     including the current ones"
                )),
                format!(
                    "假设分析：{keys} 个 key 在其中某个服务器上的内存未知，假设分析的所有合计（包括当前值）均不含这些 key"
                ),
            ),
            SearchIndexes { modules } => filled(
                format!(
                    "search indexes ({}) are not in the file but rebuilt on loading: their memory is not included",
                    modules.join(", ")
                ),
                format!("搜索索引（{}）不在快照中，加载时重建：如有索引，其内存未计入任何数字", modules.join("、")),
            ),
            ModulesAsReported { bytes, modules } => filled(
                format!(
                    "whole server: {} bytes of the total are what the modules of {} report. What the server allocates for these \
                     values may differ by 10 to 40 % of that, or more",
                    grouped(bytes.0),
                    modules.join(", ")
                ),
                format!(
                    "整个实例：总量中有 {} 字节取自模块（{}）自报的内存，服务器为这些 value 实际分配的内存可能与此相差 10 % 到 40 % 甚至更多",
                    grouped(bytes.0),
                    modules.join("、")
                ),
            ),
            NoReferenceTime => fixed(
                "the dump does not say when it was taken: give --at to compare expiries with a time",
                "快照没有记录生成时间：请用 --at 指定判断过期的时间",
            ),
            CrowdedLevels => fixed(
                "too many distinct names: crowded levels are collapsed to {*}",
                "不同的名称过多：名称过多的层级合并为 {*}",
            ),
            CrowdedFirstLevel => fixed(
                "too many distinct first segments: they are counted together as {*}, so that prefixes, businesses and instances by \
                 business cannot be distinguished",
                "首段的不同取值过多：全部合并为 {*} 统计，无法区分前缀和业务，也无法按业务拆分实例",
            ),
            DifferentServers { servers } => {
                let (en, zh): (Vec<_>, Vec<_>) =
                    servers.iter().map(FileServer::wording).map(|Wording { en, zh }| (en, zh)).unzip();
                filled(
                    format!(
                        "the files are from different servers; the memory of each is computed as for its own: {}",
                        en.join(", ")
                    ),
                    format!("文件来自不同的服务器，各自按自己的版本计算内存：{}", zh.join("、")),
                )
            }
            RuleNotChecked { rule } => filled(
                format!("{rule} was not checked: it reads values, --inspect-values turns it on"),
                format!("未检查 {rule}：该规则需要读取 value，用 --inspect-values 启用"),
            ),
            ServerGuessed { rdb_version, writers, assumed } if !assumed.is_empty() => filled(
                format!(
                    "the dump does not name its server: RDB version {rdb_version} is written by {writers}, memory is \
                     computed as for {assumed}; --server corrects it"
                ),
                format!(
                    "快照没有记录服务器版本：RDB 版本 {rdb_version} 由 {} 写入，内存按 {assumed} 计算；可用 --server 指定",
                    writers.replace(", ", "、")
                ),
            ),
            ServerGuessed { rdb_version, .. } => filled(
                format!(
                    "the dump does not name its server, which was guessed from RDB version {rdb_version}: --server \
                     corrects it"
                ),
                format!("快照没有记录服务器版本，由 RDB 版本 {rdb_version} 推测：可用 --server 指定"),
            ),
            PricedAsOpenSource => fixed(
                "memory is computed as for open-source Redis of this version: not compared with Redis Enterprise",
                "内存按同版本的开源 Redis 计算：没有与 Redis Enterprise 核对过",
            ),
            NoModel => fixed(
                "no memory model for this server: --server computes memory as for another server",
                "没有该服务器的内存模型：可用 --server 按其他服务器计算",
            ),
            ServerTooOld => fixed(
                "MEMORY USAGE was introduced in Redis 4.0: memory is computed as for Redis 4.0",
                "Redis 4.0 才有 MEMORY USAGE：内存按 Redis 4.0 的方式计算",
            ),
            ServerTooNew => fixed(
                "unknown newer server version: memory is computed as for the newest known version",
                "服务器版本高于已知的最新版本：内存按已知的最新版本计算",
            ),
            ModelLittleChecked => fixed(
                "the model of this server was checked against single values of a real one, not against whole dumps",
                "该版本的内存模型只用真实服务器的单个 value 核对过，没有用完整快照核对过",
            ),
            AllocatorApproximate => fixed(
                "glibc's allocation sizes depend on what was freed before: figures are approximate",
                "glibc 的分配大小取决于此前释放的内存：数字为近似值",
            ),
            TemplatesOnWrite => fixed(
                "the figures are those right after loading: hash-min-template-entries applies only when a hash is next written; \
                 hash-rdb-load-min-template-entries makes hashes compact while the server loads",
                "hash-min-template-entries 只在下次写入时把 hash 转为紧凑形式：所示为服务器刚加载快照后的数字；\
                 加载时就转换的是 hash-rdb-load-min-template-entries",
            ),
            DoesNotLoad { server, magic: _, version } => filled(
                format!(
                    "{server} does not load RDB version {version}: the figure assumes that the data is moved by other means"
                ),
                format!("{server} 无法加载 RDB 版本 {version}：这里是同样的数据迁入之后占用的内存"),
            ),
            BaselineIncomplete => fixed(
                "its snapshot could not be read completely, so growth is not judged",
                "其快照未能完整读取，因此不判断增长",
            ),
            BaselineOtherServer => fixed(
                "computed for another server or other settings, which alone causes differences",
                "其数字按另一种服务器或不同配置计算，这一点本身就会造成差异",
            ),
            BaselineUnknownMemory { keys } => filled(
                format!("the memory of {keys} of its keys is unknown: growth may come from that alone"),
                format!("其中 {keys} 个 key 的内存未知：增长可能仅由此造成"),
            ),
            BaselineOtherSelection => fixed("it was made with another selection of keys", "生成时的 key 筛选条件不同"),
            BaselineOtherShards { shards } => filled(
                format!(
                    "it is about other shards, so growth of patterns is not judged; only one of the reports has {}",
                    listed(shards, ", ")
                ),
                format!("包含的分片不同，因此不判断模式的增长；仅其中一份报告含有 {}", listed(shards, "、")),
            ),
            BaselineLater => fixed("its snapshot is later than this one", "其快照晚于本次快照"),
            BaselineWithoutFindings => fixed(
                "it has no findings, so that all of this report count as new",
                "其中没有违规记录，因此本报告的违规全部算作新增",
            ),
            SnapshotIncomplete => {
                fixed("could not be read completely: its figures are too low", "未能完整读取：数字偏低")
            }
            NoTrend => fixed(
                "no trend and no forecast: fewer than two of the snapshots are complete and of different times",
                "没有趋势和预测：完整且时间不同的快照不足两个",
            ),
            SelectionsDiffer => {
                fixed("the reports were made with different selections of keys", "各报告的 key 筛选条件不同")
            }
            PoliciesDiffer { rules } if rules.is_empty() => fixed(
                "the policies of the reports may differ, and the reports do not say which rules have the same settings: which \
                 findings are new is unknown; make both reports with this version",
                "各报告的策略可能不同，且报告没有记录哪些规则的设置相同：无法判断哪些违规是新增的；请用本版本重新生成两份报告",
            ),
            PoliciesDiffer { rules } => filled(
                format!(
                    "the reports were checked against different policies: which findings are new is unknown for rules that only \
                     one of them has, or that have other settings: {}",
                    listed(rules, ", ")
                ),
                format!(
                    "各报告所用的策略不同：以下规则仅一方策略包含或设置不同，无法判断其违规是否新增：{}",
                    listed(rules, "、")
                ),
            ),
            SeparatorsDiffer { separators } => {
                let [en, zh] = [", ", "、"].map(|between| {
                    let quoted: Vec<String> = separators.iter().map(|it| format!("\"{it}\"")).collect();
                    listed(&quoted, between)
                });
                filled(
                    format!(
                        "names are divided at different separators ({en}), which alone makes patterns and findings differ; make the \
                         reports with the same --separator"
                    ),
                    format!(
                        "各报告的 key 名分隔符不同（{zh}），这一点本身就会使模式和违规不同；请用相同的 --separator 生成报告"
                    ),
                )
            }
            ModelsDiffer { models } => filled(
                format!(
                    "the figures are computed for different servers, which alone causes differences: {}",
                    models.join("; ")
                ),
                format!("各报告按不同的服务器计算内存，这一点本身就会造成差异：{}", models.join("；")),
            ),
            TimesMissing => fixed(
                "not every snapshot says when it was taken: those are left out of the trend",
                "有的快照没有记录生成时间：不计入趋势",
            ),
            NotInOrder => fixed("the snapshots are not in the order of their times", "快照没有按时间先后排列"),
            ShardsMissing { shards, of } => {
                let (missing, named, named_zh) = (shards.len(), listed(shards, ", "), listed(shards, "、"));
                filled(
                    format!("lacks {missing} of {of} shards: {named}"),
                    format!("缺少 {of} 个分片中的 {missing} 个：{named_zh}"),
                )
            }
            NightDamaged => fixed(
                "could not be read completely and does not count: what it lacks would look like shrinking",
                "未能完整读取，不计入：缺失的部分会显示为缩小",
            ),
            PresentNotCounted => fixed(
                "an input could not be read completely and does not count for growth, as what it lacks would look like shrinking; no later \
                 dates are planned",
                "有输入未能完整读取，未计入增长（缺失的部分会显示为缩小），也不规划以后的日期",
            ),
            NightOfOtherKeys => fixed(
                "was made with another selection of keys and does not count for growth",
                "生成时的 key 筛选条件不同，未计入增长",
            ),
            NightNotWhole { shards, of } => {
                let (missing, named, named_zh) = (shards.len(), listed(shards, ", "), listed(shards, "、"));
                filled(
                    format!("does not count for growth: it lacks {missing} of {of} shards: {named}"),
                    format!("未计入增长：缺少 {of} 个分片中的 {missing} 个：{named_zh}"),
                )
            }
            ShardsAdded { shards } => filled(
                format!("has shards that earlier nights lack, which count as growth: {}", listed(shards, ", ")),
                format!("含有此前没有的分片，其内存全部算作增长：{}", listed(shards, "、")),
            ),
            NightUnreadable { error } => filled(format!("could not be read: {error}"), format!("无法读取：{error}")),
            SameSnapshot { of } => filled(format!("is the same snapshot as {of}"), format!("与 {of} 是同一份快照")),
            KeysSelected { selection } => filled(
                format!("has only the keys selected by {}: the whole server needs more", listed(selection, " ")),
                format!("只包含按 {} 筛选的 key：整个服务器实际需要更多", listed(selection, " ")),
            ),
            TablesNotCounted => fixed(
                "not every report has the memory of the server's tables: only that of the keys is counted",
                "有的报告没有服务器哈希表的内存：只统计 key 的内存",
            ),
            SlotsNotStored => fixed(
                "slots are not planned: stored reports do not have the memory of every slot; give the dumps",
                "未规划槽的分配：已保存的报告没有每个槽的内存，请提供快照文件",
            ),
            QuestionsNotStored { asks } => filled(
                format!(
                    "not every input answers --what-if {}: stored reports answer what they were made with; give the dumps",
                    listed(asks, ", ")
                ),
                format!(
                    "并非所有输入都有 --what-if {} 的结果：已保存的报告只含生成时指定的方案；请提供快照文件",
                    listed(asks, "、")
                ),
            ),
            SlotsOverlap => fixed(
                "slots are not planned: two inputs hold keys of the same slot; give one snapshot of each primary",
                "未规划槽的分配：两个输入含有同一槽的 key；每个主节点请只提供一份快照",
            ),
            ClusterNodeMissing => fixed(
                "slots are not planned: a node of the cluster has slots, but no snapshot; give one of each primary",
                "未规划槽的分配：集群中有节点持有槽但没有快照；每个主节点请提供一份快照",
            ),
            ClusterNodesDiffer => fixed(
                "the list of cluster nodes does not fit the keys: it was made at another time, or of another cluster",
                "集群节点列表与 key 不符：可能取自其他时间或其他集群",
            ),
            ClusterNodesFailed { nodes } => filled(
                format!(
                    "the cluster does not reach nodes that hold slots: {}; no slots can be moved until they are back, or replicas have \
                     taken over (CLUSTER FAILOVER); give a new list then",
                    listed(nodes, ", ")
                ),
                format!(
                    "集群无法连通持有槽的节点：{}；节点恢复或由副本接管（CLUSTER FAILOVER）之前无法迁移槽，之后请重新提供列表",
                    listed(nodes, "、")
                ),
            ),
            ClusterNodesLeftOut { nodes } => filled(
                format!(
                    "nodes without slots that the cluster cannot reach get none: {}; remove them (CLUSTER FORGET), or give a new list \
                     when they have joined",
                    listed(nodes, ", ")
                ),
                format!(
                    "以下没有槽的节点无法连通，不参与分配：{}；请移除（CLUSTER FORGET），或在其加入后重新提供列表",
                    listed(nodes, "、")
                ),
            ),
            ClusterSlotsUnassigned { slots, ranges } => filled(
                format!(
                    "slots without an owner: {slots} ({}); the cluster may refuse requests; `redis-cli --cluster fix HOST:PORT` assigns \
                     them; give a new list then",
                    listed(ranges, ", ")
                ),
                format!(
                    "有 {slots} 个槽没有归属，集群可能拒绝请求：{}；可用 `redis-cli --cluster fix HOST:PORT` 分配，之后请重新提供列表",
                    listed(ranges, "、")
                ),
            ),
            ClusterSlotsOpen { slots } => filled(
                format!(
                    "slots are being migrated: {}; redis-cli moves others only when these are settled: wait for the end of the \
                     migration, or run \
                     `redis-cli --cluster fix HOST:PORT`; give a new list then",
                    listed(slots, ", ")
                ),
                format!(
                    "有槽正在迁移：{}；迁移结束之前 redis-cli 不会迁移其他槽：请等待迁移完成，或执行 \
                     `redis-cli --cluster fix HOST:PORT`，之后请重新提供列表",
                    listed(slots, "、")
                ),
            ),
            Other => Wording::default(),
        }
    }
}

/// Lists names, at most eight of them.
fn listed(names: &[String], between: &str) -> String {
    const MOST: usize = 8;
    let more = if names.len() > MOST { format!("{between}… (+{})", names.len() - MOST) } else { String::new() };
    names.iter().take(MOST).cloned().collect::<Vec<_>>().join(between) + &more
}
