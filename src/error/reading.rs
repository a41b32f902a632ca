//! Parts of a file that an error can name as what was being read.

use crate::wording::Text;

/// Declares the parts, each with its name in English and Chinese.
macro_rules! readings {
    ($($part:ident: $en:literal, $zh:literal;)*) => {
        /// Part of a file that was being read when an error was found.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reading {
            $(#[doc = concat!("The ", $en, ".")] $part,)*
        }

        impl Reading {
            /// All parts.
            #[cfg(test)]
            pub const ALL: &[Reading] = &[$(Reading::$part),*];

            /// Returns the name of the part; the English one is its name in JSON.
            pub const fn text(self) -> Text {
                match self {
                    $(Reading::$part => Text { en: $en, zh: $zh },)*
                }
            }
        }
    };
}

readings! {
    AccessCounter: "access counter", "访问计数";
    ArrayFlag: "array flag", "array 标志";
    ArrayIndex: "array index", "array 下标";
    ArrayInsertIndex: "array insert index", "array 插入下标";
    ArrayItem: "array item", "array 元素";
    ArrayItemTag: "array item's tag", "array 元素的标记";
    ArraySize: "array size", "array 元素数";
    AuxiliaryFieldName: "auxiliary field's name", "辅助字段名";
    AuxiliaryFieldValue: "auxiliary field's value", "辅助字段的值";
    BloomFilter: "Bloom filter", "布隆过滤器";
    Checksum: "checksum", "校验和";
    ChunkOfValue: "chunk of a value", "value 的分块";
    Commands: "commands", "命令";
    CompressedBlock: "compressed block", "压缩块";
    ConsumerActiveTime: "consumer's active time", "消费者的活跃时间";
    ConsumerName: "consumer name", "消费者名";
    ConsumerPendingEntries: "consumer's pending entries", "消费者的未确认消息数";
    ConsumerPendingEntry: "consumer's pending entry", "消费者的未确认消息";
    ConsumerTime: "consumer's time", "消费者的访问时间";
    CountMinSketch: "count-min sketch", "count-min sketch";
    CronArguments: "cron arguments", "cron 参数";
    CronInterval: "cron interval", "cron 间隔";
    CronKeys: "cron keys", "cron 的 key";
    CronScript: "cron script", "cron 脚本";
    CronStart: "cron start", "cron 开始时间";
    CuckooFilter: "Cuckoo filter", "布谷鸟过滤器";
    DatabaseNumber: "database number", "数据库编号";
    DatabaseSize: "database size", "数据库的 key 数";
    DoubleInModuleData: "double in module data", "模块数据中的 double";
    EarliestFieldExpiry: "earliest field expiry", "最早的字段过期时间";
    Element: "element", "元素";
    Envelope: "envelope of a compressed snapshot", "压缩快照的封装";
    Expiry: "expiry", "过期时间";
    ExpiryInSeconds: "expiry in seconds", "过期时间（秒）";
    FieldExpiry: "field expiry", "字段过期时间";
    FirstSlot: "first slot", "起始槽";
    FloatInModuleData: "float in module data", "模块数据中的 float";
    FunctionCode: "function code", "函数代码";
    FunctionDescription: "function description", "函数说明";
    FunctionEngine: "function engine", "函数引擎";
    FunctionLibrary: "function library", "函数库";
    FunctionName: "function name", "函数名";
    GroupConsumers: "group's consumers", "消费组的消费者数";
    GroupEntriesRead: "group's entries read", "消费组的已读消息数";
    GroupLastId: "group's last id", "消费组的最后 id";
    GroupName: "group name", "消费组名";
    GroupPendingEntries: "group's pending entries", "消费组的未确认消息数";
    GroupReturnedEntries: "group's returned entries", "消费组的退回消息数";
    HashField: "hash field", "hash 字段";
    HashSize: "hash size", "hash 字段数";
    HashValue: "hash value", "hash 字段的值";
    Header: "header", "文件头";
    IdempotencyDuplicates: "idempotency duplicates", "幂等重复数";
    IdempotencyDuration: "idempotency duration", "幂等时长";
    IdempotencyId: "idempotency id", "幂等 id";
    IdempotencyIdsAdded: "idempotency ids added", "幂等 id 累计数";
    IdempotencyLimit: "idempotency limit", "幂等上限";
    IdempotentEntryId: "idempotent entry's id", "幂等消息的 id";
    IdleTime: "idle time", "空闲时间";
    InlinedArgument: "inlined argument", "内嵌命令的参数";
    InlinedCommand: "inlined command", "内嵌命令";
    IntegerInModuleData: "integer in module data", "模块数据中的整数";
    Intset: "intset", "intset";
    JsonDocument: "JSON document", "JSON 文档";
    Key: "key", "key";
    KeyFlags: "key flags of Dragonfly", "Dragonfly 的 key 标志";
    LastSlot: "last slot", "结束槽";
    ListElement: "list element", "list 元素";
    ListNode: "list node", "list 节点";
    ListNodeContainer: "list node container", "list 节点的容器类型";
    Listpack: "listpack", "listpack";
    Magic: "magic", "魔数";
    Manifest: "manifest", "清单文件";
    MetadataClass: "metadata class", "元数据类别";
    ModuleDataWhenField: "module data's \"when\" field", "模块数据的 when 字段";
    ModuleId: "module id", "模块 id";
    NumberOfConsumerGroups: "number of consumer groups", "消费组数";
    NumberOfElements: "number of elements", "元素数";
    NumberOfExpiries: "number of expiries", "带过期时间的 key 数";
    NumberOfListNodes: "number of list nodes", "list 节点数";
    NumberOfMetadataClasses: "number of metadata classes", "元数据类别数";
    NumberOfProducers: "number of producers", "生产者数";
    NumberOfStreamNodes: "number of stream nodes", "stream 节点数";
    Opcode: "opcode", "操作码";
    PendingEntryDeliveries: "pending entry's deliveries", "未确认消息的投递次数";
    PendingEntryId: "pending entry's id", "未确认消息的 id";
    PendingEntryTime: "pending entry's time", "未确认消息的时间";
    ProducerIds: "producer's ids", "生产者的 id 数";
    ProducerName: "producer name", "生产者名";
    RamLru: "access time of Redis Enterprise", "Redis Enterprise 的访问时间";
    Record: "record", "记录";
    ReturnedEntryId: "returned entry's id", "退回消息的 id";
    Score: "score", "score";
    SearchIndex: "search index", "搜索索引";
    SetMember: "set member", "set 成员";
    Sketch: "sketch", "sketch 数据";
    SlotImportJob: "slot import's job", "槽导入任务";
    SlotImportRanges: "slot import's ranges", "槽导入的区间数";
    SlotNumber: "slot number", "槽编号";
    SlotNumberOfExpiries: "slot's number of expiries", "槽中带过期时间的 key 数";
    SlotSize: "slot size", "槽的 key 数";
    SortedSetMember: "sorted set member", "zset 成员";
    SortedSetSize: "sorted set size", "zset 成员数";
    StreamEntriesAdded: "stream's entries added", "stream 累计消息数";
    StreamFirstId: "stream's first id", "stream 的首个 id";
    StreamGreatestDeletedId: "stream's greatest deleted id", "stream 的最大已删除 id";
    StreamLastId: "stream's last id", "stream 的最后 id";
    StreamLength: "stream length", "stream 长度";
    StreamNode: "stream node", "stream 节点";
    StreamNodeId: "stream node's id", "stream 节点的 id";
    StringInModuleData: "string in module data", "模块数据中的字符串";
    StringValue: "string value", "string 的 value";
    TDigestSketch: "t-digest sketch", "t-digest sketch";
    TagInModuleData: "tag in module data", "模块数据中的标记";
    TemplateField: "field name of a hash template", "hash 模板的字段名";
    TemplateFields: "field names of a compact hash", "紧凑 hash 的字段名";
    TemplateForm: "form of the field names", "字段名的形式";
    TemplateId: "hash template id", "hash 模板编号";
    TemplateSize: "size of a hash template", "hash 模板的字段数";
    TimeSeries: "time series", "时间序列";
    TopKList: "top-k list", "top-k 列表";
    VectorSet: "vector set", "向量集合";
    VectorSetElement: "vector set element", "向量集合的元素";
    Ziplist: "ziplist", "ziplist";
    Zipmap: "zipmap", "zipmap";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_tell_the_parts_apart_in_both_languages() {
        let names = |name: fn(Text) -> &'static str| {
            Reading::ALL.iter().map(|part| name(part.text())).collect::<BTreeSet<_>>().len()
        };
        assert_eq!((names(|text| text.en), names(|text| text.zh)), (Reading::ALL.len(), Reading::ALL.len()));
    }
}
