//! Warnings in words.

use super::{NoFile, WarningKind};
use crate::report::{FileServer, Wording};
use crate::units::Bytes;
use crate::wording::{grouped, wording};

impl WarningKind {
    /// Words the warning in both languages.
    pub(super) fn wording(&self) -> Wording {
        use WarningKind::*;
        // A text that holds names of files or errors is no `wording!`: the nouns in them stay as they are.
        match self {
            NewerFormat { magic: _, version } => wording!(
                "byte 0x0: header: RDB version {version} is newer than those that this program knows: look for a newer rdblens",
                "字节 0x0：文件头：RDB 版本 {version} 比本程序已知的版本新：请更新 rdblens"
            ),
            CommandsFollow { bytes: Bytes(1) } => wording!(
                "1 byte of commands follows the snapshot: not in the figures; rdblens check verifies only how they are framed",
                "快照之后还有 1 字节的命令，未计入统计；rdblens check 只检查其格式"
            ),
            CommandsFollow { bytes } => wording!(
                "{bytes} bytes of commands follow the snapshot: not in the figures; rdblens check verifies only how they are framed",
                "快照之后还有 {bytes} 字节的命令，未计入统计；rdblens check 只检查其格式",
                bytes = grouped(bytes.0)
            ),
            LastCommandCut { offset } => wording!(
                "the last command, at byte {offset:#x}, is cut off: servers drop it (aof-load-truncated yes) or refuse the file",
                "最后一条命令（字节 {offset:#x} 处）不完整：服务器会将其丢弃（aof-load-truncated yes），否则拒绝加载"
            ),
            NoEndMark => wording!("the replication stream does not end with its mark", "复制流的结尾缺少结束标记"),
            OtherLength { announced, bytes } => wording!(
                "the replication stream announced {announced} bytes, but the snapshot has {bytes}",
                "复制流声明有 {announced} 字节，快照实际为 {bytes} 字节",
                announced = grouped(announced.0),
                bytes = grouped(bytes.0)
            ),
            BytesFollow { bytes: Bytes(1) } => {
                wording!("1 byte after the end of the snapshot was ignored", "快照结尾之后有 1 字节被忽略")
            }
            BytesFollow { bytes } => wording!(
                "{bytes} bytes after the end of the snapshot were ignored",
                "快照结尾之后有 {bytes} 字节被忽略",
                bytes = grouped(bytes.0)
            ),
            PassedOver { what } => match what {
                NoFile::NamedPipe => wording!(
                    "skipped: a named pipe in a directory is not read; name it to read it",
                    "已跳过：不读取目录中的命名管道；如需读取，请直接指定"
                ),
                NoFile::Socket => wording!("skipped: a socket, not a file", "已跳过：是套接字，不是文件"),
                NoFile::Device => wording!("skipped: a device, not a file", "已跳过：是设备，不是文件"),
            },
            StrayMetadata { places } => wording!(
                "key metadata (expiry, idle time) without a key: {places}",
                "有元数据（过期时间、空闲时间）但没有 key：{places} 处"
            ),
            OtherNumberOfKeys { announced, keys } => wording!(
                "the file announces {announced} keys, but holds {keys}: it may be damaged, and rdblens salvage looks for \
                 lost keys",
                "文件声明有 {announced} 个 key，实际有 {keys} 个：文件可能已损坏，可用 rdblens salvage 查找丢失的 key",
                announced = grouped(*announced),
                keys = grouped(*keys)
            ),
            EmptyKeys { keys } => wording!(
                "keys without elements, which servers skip when they load the file: {keys}",
                "有 {keys} 个没有元素的 key，服务器加载时会跳过"
            ),
            OddStreams { keys } => wording!(
                "streams whose stored counts differ from their entries, or whose entries are out of order, which servers load as they are: {keys}",
                "有 {keys} 个 stream 存储的计数与消息不符或消息顺序错乱，服务器会照样加载"
            ),
            OddScores { keys } => wording!(
                "sorted sets with scores that are not numbers; servers read the number at the start of such a score, or 0: {keys}",
                "有 {keys} 个 zset 的 score 不是数字，服务器只读取开头的数字，没有则按 0 处理"
            ),
            OddVectorSets { keys } => wording!(
                "vector sets with a repeated element, of which servers up to Redis 8.10 find only one: {keys}",
                "有 {keys} 个向量集合含重复元素，Redis 8.10 及之前的服务器会加载，但只能找到其中一个"
            ),
            EdgeElements { keys } => wording!(
                "keys with an element of exactly 16,383, 2,097,151 or 268,435,455 bytes in a listpack, which Redis 8.10 and Valkey 9.1 store \
                 differently from servers before them; they refuse each other's files or fail when they read the key: {keys}",
                "有 {keys} 个 key 的 listpack 中含恰好 16,383、2,097,151 或 268,435,455 字节的元素，Redis 8.10 和 Valkey 9.1 的存储方式与之前的\
                 服务器不同，互相加载时会拒绝该文件，或在读取该 key 时出错"
            ),
            OverBudget { keys } => wording!(
                "not read, because that needs more memory or temporary space than allowed: {keys} keys; give a larger \
                 --max-memory or --max-temp",
                "有 {keys} 个 key 需要的内存或临时空间超出上限，未予分析；请调大 --max-memory 或 --max-temp"
            ),
            UpdatesNotApplied { commands } => wording!(
                "commands written while the snapshot was taken, not in the figures: {commands}",
                "生成快照期间写入的 {commands} 条命令未计入统计"
            ),
            TemplatesNotShared { templates } => wording!(
                "the memory of compact hashes is unknown: their share of the field names (hash templates: {templates}) \
                 cannot be computed from input that can be read only once; write it to a file first",
                "紧凑 hash 的内存未知：输入只能读取一次，无法计算其分摊的字段名（hash 模板：{templates}），\
                 请先将输入保存为文件"
            ),
            TooManyFieldSets { limit } => wording!(
                "more than {limit} different sets of field names: the memory of compact hashes with further sets lacks their \
                 share of the names, and ordinary hashes with further sets are not converted",
                "不同的字段名组合超过 {limit} 种：其余组合的紧凑 hash 未计入字段名的分摊，普通 hash 按不转换计算"
            ),
            UnknownMemory { keys, stored_bytes, modules } => {
                let (keys, stored) = (grouped(*keys), grouped(stored_bytes.0));
                let (en, zh) = match modules.as_slice() {
                    [] => (String::new(), String::new()),
                    names => (format!(" of {}", names.join(", ")), format!("（{}）", names.join("、"))),
                };
                wording!(
                    "memory unknown: {keys} keys{en}, {stored} bytes in the file. Excluded from all memory sums, so \
                     actual usage is higher",
                    "{keys} 个 key{zh}的内存未知，在文件中占 {stored} 字节。所有内存合计均不含这些 key，服务器实际需要的内存更多"
                )
            }
            UnknownElsewhere { keys } => wording!(
                "what-if: the memory of {keys} keys is unknown on one of the servers: excluded from all what-if sums, \
                 including the current ones",
                "假设分析：{keys} 个 key 在其中某个服务器上的内存未知，假设分析的所有合计（包括当前值）均不含这些 key"
            ),
            SearchIndexes { modules } => {
                let Wording { en, zh } = joined(modules, [", ", "、"]);
                wording!(
                    "search indexes ({en}) are not in the file but rebuilt on loading: their memory is not included",
                    "搜索索引（{zh}）不在快照中，加载时重建：如有索引，其内存未计入任何数字"
                )
            }
            ModulesAsReported { bytes, modules } => {
                let (bytes, Wording { en, zh }) = (grouped(bytes.0), joined(modules, [", ", "、"]));
                wording!(
                    "whole server: {bytes} bytes of the total are what the modules of {en} report. What the server allocates \
                     for these values may differ by 10 to 40 % of that, or more",
                    "整个实例：总量中有 {bytes} 字节取自模块（{zh}）自报的内存，服务器为这些 value 实际分配的内存可能与此相差 10 % 到 40 % 甚至更多"
                )
            }
            NoReferenceTime => wording!(
                "the dump does not say when it was taken: give --at to compare expiries with a time",
                "快照没有记录生成时间：请用 --at 指定判断过期的时间"
            ),
            CrowdedLevels => wording!(
                "too many distinct names: crowded levels are collapsed to {{*}}",
                "不同的名称过多：名称过多的层级合并为 {{*}}"
            ),
            CrowdedFirstLevel => wording!(
                "too many distinct first segments: they are counted together as {{*}}, so that prefixes, businesses and instances by \
                 business cannot be distinguished",
                "首段的不同取值过多：全部合并为 {{*}} 统计，无法区分前缀和业务，也无法按业务拆分实例"
            ),
            DifferentServers { servers } => {
                let (en, zh): (Vec<_>, Vec<_>) =
                    servers.iter().map(FileServer::wording).map(|Wording { en, zh }| (en, zh)).unzip();
                let (en, zh) = (en.join(", "), zh.join("、"));
                wording!(
                    "the files are from different servers; the memory of each is computed as for its own: {en}",
                    "文件来自不同的服务器，各自按自己的版本计算内存：{zh}"
                )
            }
            RuleNotChecked { rule } => wording!(
                "{rule} was not checked: it reads values, --inspect-values turns it on",
                "未检查 {rule}：该规则需要读取 value，用 --inspect-values 启用"
            ),
            ServerGuessed { rdb_version, writers, assumed } if !assumed.is_empty() => {
                let writers_zh = writers.replace(", ", "、");
                wording!(
                    "the dump does not name its server: RDB version {rdb_version} is written by {writers}, memory is \
                     computed as for {assumed}; --server corrects it",
                    "快照没有记录服务器版本：RDB 版本 {rdb_version} 由 {writers_zh} 写入，内存按 {assumed} 计算；可用 --server 指定"
                )
            }
            ServerGuessed { rdb_version, .. } => wording!(
                "the dump does not name its server, which was guessed from RDB version {rdb_version}: --server \
                 corrects it",
                "快照没有记录服务器版本，由 RDB 版本 {rdb_version} 推测：可用 --server 指定"
            ),
            PricedAsOpenSource => wording!(
                "memory is computed as for open-source Redis of this version: not compared with Redis Enterprise",
                "内存按同版本的开源 Redis 计算：没有与 Redis Enterprise 核对过"
            ),
            NoModel => wording!(
                "no memory model for this server: --server computes memory as for another server",
                "没有该服务器的内存模型：可用 --server 按其他服务器计算"
            ),
            ServerTooOld => wording!(
                "MEMORY USAGE was introduced in Redis 4.0: memory is computed as for Redis 4.0",
                "Redis 4.0 才有 MEMORY USAGE：内存按 Redis 4.0 的方式计算"
            ),
            ServerTooNew => wording!(
                "unknown newer server version: memory is computed as for the newest known version",
                "服务器版本高于已知的最新版本：内存按已知的最新版本计算"
            ),
            ModelLittleChecked => wording!(
                "the model of this server was checked against single values of a real one, not against whole dumps",
                "该版本的内存模型只用真实服务器的单个 value 核对过，没有用完整快照核对过"
            ),
            AllocatorApproximate => wording!(
                "glibc's allocation sizes depend on what was freed before: figures are approximate",
                "glibc 的分配大小取决于此前释放的内存：数字为近似值"
            ),
            TemplatesOnWrite => wording!(
                "the figures are those right after loading: hash-min-template-entries applies only when a hash is next written; \
                 hash-rdb-load-min-template-entries makes hashes compact while the server loads",
                "hash-min-template-entries 只在下次写入时把 hash 转为紧凑形式：所示为服务器刚加载快照后的数字；\
                 加载时就转换的是 hash-rdb-load-min-template-entries"
            ),
            DoesNotLoad { server, magic: _, version } => wording!(
                "{server} does not load RDB version {version}: the figure assumes that the data is moved by other means",
                "{server} 无法加载 RDB 版本 {version}：这里是同样的数据迁入之后占用的内存"
            ),
            BaselineIncomplete => wording!(
                "its snapshot could not be read completely, so growth is not judged",
                "其快照未能完整读取，因此不判断增长"
            ),
            BaselineOtherServer => wording!(
                "computed for another server or other settings, which alone causes differences",
                "其数字按另一种服务器或不同配置计算，这一点本身就会造成差异"
            ),
            BaselineUnknownMemory { keys } => wording!(
                "the memory of {keys} of its keys is unknown: growth may come from that alone",
                "其中 {keys} 个 key 的内存未知：增长可能仅由此造成"
            ),
            BaselineOtherSelection => {
                wording!("it was made with another selection of keys", "生成时的 key 筛选条件不同")
            }
            BaselineOtherShards { shards } => {
                let Wording { en, zh } = listed(shards);
                Wording {
                    en: format!(
                        "it is about other shards, so growth of patterns is not judged; only one of the reports has {en}"
                    ),
                    zh: format!("包含的分片不同，因此不判断模式的增长；仅其中一份报告含有 {zh}"),
                }
            }
            BaselineLater => wording!("its snapshot is later than this one", "其快照晚于本次快照"),
            BaselineWithoutFindings => wording!(
                "it has no findings, so that all of this report count as new",
                "其中没有违规记录，因此本报告的违规全部算作新增"
            ),
            ListsCut { rules } => {
                let Wording { en, zh } = listed(rules);
                Wording {
                    en: format!(
                        "lists of the heaviest patterns do not tell whether violations of {en} are new or worse; make reports with \
                         --top 10000"
                    ),
                    zh: format!(
                        "列表只含内存最多的模式，无法判断 {zh} 的违规是否新增或恶化；生成报告时请加 --top 10000"
                    ),
                }
            }
            SnapshotIncomplete => {
                wording!("could not be read completely: its figures are too low", "未能完整读取：数字偏低")
            }
            NoTrend => wording!(
                "no trend and no forecast: fewer than two of the snapshots are complete and of different times",
                "没有趋势和预测：完整且时间不同的快照不足两个"
            ),
            SelectionsDiffer => {
                wording!("the reports were made with different selections of keys", "各报告的 key 筛选条件不同")
            }
            PoliciesDiffer { rules } if rules.is_empty() => wording!(
                "the policies of the reports may differ, and the reports do not say which rules have the same settings: which \
                 findings are new is unknown; make both reports with this version",
                "各报告的策略可能不同，且报告没有记录哪些规则的设置相同：无法判断哪些违规是新增的；请用本版本重新生成两份报告"
            ),
            PoliciesDiffer { rules } => {
                let Wording { en, zh } = listed(rules);
                wording!(
                    "the reports were checked against different policies: which findings are new is unknown for rules that \
                     only one of them has, or that have other settings: {en}",
                    "各报告所用的策略不同：以下规则仅一方策略包含或设置不同，无法判断其违规是否新增：{zh}"
                )
            }
            SeparatorsDiffer { separators } => {
                let quoted: Vec<String> = separators.iter().map(|it| format!("\"{it}\"")).collect();
                let Wording { en, zh } = listed(&quoted);
                wording!(
                    "names are divided at different separators ({en}), which alone makes patterns and findings differ; make \
                     the reports with the same --separator",
                    "各报告的 key 名分隔符不同（{zh}），这一点本身就会使模式和违规不同；请用相同的 --separator 生成报告"
                )
            }
            ModelsDiffer { models } => {
                let Wording { en, zh } = joined(models, ["; ", "；"]);
                wording!(
                    "the figures are computed for different servers, which alone causes differences: {en}",
                    "各报告按不同的服务器计算内存，这一点本身就会造成差异：{zh}"
                )
            }
            TimesMissing => wording!(
                "not every snapshot says when it was taken: those are left out of the trend",
                "有的快照没有记录生成时间：不计入趋势"
            ),
            NotInOrder => wording!("the snapshots are not in the order of their times", "快照没有按时间先后排列"),
            ShardsMissing { shards, of } => {
                let (missing, Wording { en, zh }) = (shards.len(), listed(shards));
                Wording {
                    en: format!("lacks {missing} of {of} shards: {en}"),
                    zh: format!("缺少 {of} 个分片中的 {missing} 个：{zh}"),
                }
            }
            NightDamaged => wording!(
                "could not be read completely and does not count: what it lacks would look like shrinking",
                "未能完整读取，不计入：缺失的部分会显示为缩小"
            ),
            PresentNotCounted => wording!(
                "an input could not be read completely and does not count for growth, as what it lacks would look like shrinking; no later \
                 dates are planned",
                "有输入未能完整读取，未计入增长（缺失的部分会显示为缩小），也不规划以后的日期"
            ),
            NightOfOtherKeys => wording!(
                "was made with another selection of keys and does not count for growth",
                "生成时的 key 筛选条件不同，未计入增长"
            ),
            NightNotWhole { shards, of } => {
                let (missing, Wording { en, zh }) = (shards.len(), listed(shards));
                Wording {
                    en: format!("does not count for growth: it lacks {missing} of {of} shards: {en}"),
                    zh: format!("未计入增长：缺少 {of} 个分片中的 {missing} 个：{zh}"),
                }
            }
            OtherShards { shards } => {
                let Wording { en, zh } = listed(shards);
                Wording {
                    en: format!(
                        "has none of the shards of the snapshots before it, but others; the whole difference counts as growth: {en}"
                    ),
                    zh: format!("与之前快照的分片没有一个相同，差额全部算作增长：{zh}"),
                }
            }
            ShardsAdded { shards } => {
                let Wording { en, zh } = listed(shards);
                Wording {
                    en: format!("has shards that earlier nights lack, which count as growth: {en}"),
                    zh: format!("含有此前没有的分片，其内存全部算作增长：{zh}"),
                }
            }
            NightUnreadable { error, error_zh } => {
                Wording { en: format!("could not be read: {error}"), zh: format!("无法读取：{error_zh}") }
            }
            SameSnapshot { of } => {
                Wording { en: format!("is the same snapshot as {of}"), zh: format!("与 {of} 是同一份快照") }
            }
            KeysSelected { selection } => {
                let flags = first_of(selection, " ");
                Wording {
                    en: format!("has only the keys selected by {flags}: the whole server needs more"),
                    zh: format!("只包含按 {flags} 筛选的 key：整个服务器实际需要更多"),
                }
            }
            TablesNotCounted => wording!(
                "not every report has the memory of the server's tables: only that of the keys is counted",
                "有的报告没有服务器哈希表的内存：只统计 key 的内存"
            ),
            SlotsNotStored => wording!(
                "slots are not planned: stored reports do not have the memory of every slot; give the dumps",
                "未规划槽的分配：已保存的报告没有每个槽的内存，请提供快照文件"
            ),
            QuestionsNotStored { asks } => {
                let Wording { en, zh } = listed(asks);
                wording!(
                    "not every input answers --what-if {en}: stored reports answer what they were made with; give the dumps",
                    "并非所有输入都有 --what-if {zh} 的结果：已保存的报告只含生成时指定的方案；请提供快照文件"
                )
            }
            SlotsOverlap => wording!(
                "slots are not planned: two inputs hold keys of the same slot; give one snapshot of each primary",
                "未规划槽的分配：两个输入含有同一槽的 key；每个主节点请只提供一份快照"
            ),
            ClusterNodeMissing => wording!(
                "slots are not planned: a node of the cluster has slots, but no snapshot; give one of each primary",
                "未规划槽的分配：集群中有节点持有槽但没有快照；每个主节点请提供一份快照"
            ),
            ClusterNodesDiffer => wording!(
                "the list of cluster nodes does not fit the keys: it was made at another time, or of another cluster",
                "集群节点列表与 key 不符：可能取自其他时间或其他集群"
            ),
            ClusterNodesFailed { nodes } => {
                let Wording { en, zh } = listed(nodes);
                wording!(
                    "the cluster does not reach nodes that hold slots: {en}; no slots can be moved until they are back, or \
                     replicas have taken over (CLUSTER FAILOVER); give a new list then",
                    "集群无法连通持有槽的节点：{zh}；节点恢复或由副本接管（CLUSTER FAILOVER）之前无法迁移槽，之后请重新提供列表"
                )
            }
            ClusterNodesLeftOut { nodes } => {
                let Wording { en, zh } = listed(nodes);
                wording!(
                    "nodes without slots that the cluster cannot reach get none: {en}; remove them (CLUSTER FORGET), or give \
                     a new list when they have joined",
                    "以下没有槽的节点无法连通，不参与分配：{zh}；请移除（CLUSTER FORGET），或在其加入后重新提供列表"
                )
            }
            ClusterSlotsUnassigned { slots, ranges } => {
                let Wording { en, zh } = listed(ranges);
                wording!(
                    "slots without an owner: {slots} ({en}); the cluster may refuse requests; `redis-cli --cluster fix \
                     HOST:PORT` assigns them; give a new list then",
                    "有 {slots} 个槽没有归属，集群可能拒绝请求：{zh}；可用 `redis-cli --cluster fix HOST:PORT` 分配，之后请重新提供列表"
                )
            }
            ClusterSlotsOpen { slots } => {
                let Wording { en, zh } = listed(slots);
                wording!(
                    "slots are being migrated: {en}; redis-cli moves others only when these are settled: wait for the end of \
                     the migration, or run `redis-cli --cluster fix HOST:PORT`; give a new list then",
                    "有槽正在迁移：{zh}；迁移结束之前 redis-cli 不会迁移其他槽：请等待迁移完成，或执行 \
                     `redis-cli --cluster fix HOST:PORT`，之后请重新提供列表"
                )
            }
            Other => Wording::default(),
        }
    }
}

/// Lists names in both languages, at most eight of them.
fn listed(names: &[String]) -> Wording {
    Wording { en: first_of(names, ", "), zh: first_of(names, "、") }
}

/// Lists at most eight names, and the number of the others.
fn first_of(names: &[String], between: &str) -> String {
    const MAX_NAMED: usize = 8;
    let more =
        if names.len() > MAX_NAMED { format!("{between}… (+{})", names.len() - MAX_NAMED) } else { String::new() };
    names.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(between) + &more
}

/// Lists all names, with what is between them in each language.
fn joined(names: &[String], [en, zh]: [&str; 2]) -> Wording {
    Wording { en: names.join(en), zh: names.join(zh) }
}
