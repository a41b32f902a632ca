//! Headings of columns, each defined once, so that equal columns of two tables have equal headings.

use crate::report::Text;

/// A heading that is the same in every language, such as a number or a preset's name.
pub(in crate::render) const fn same(text: &'static str) -> Text {
    Text { en: text, zh: text }
}

/// No heading.
pub(in crate::render) const NONE: Text = same("");

/// Declares headings.
macro_rules! heads {
    ($($name:ident = $en:literal, $zh:literal;)*) => {
        $(pub(in crate::render) const $name: Text = Text { en: $en, zh: $zh };)*
        #[cfg(test)]
        const ALL: &[Text] = &[$($name),*];
    };
}

heads! {
    ADDED = "added", "新增";
    AGAINST_MEAN = "against the mean", "与平均值相比";
    AGAINST_ORDINARY = "against ordinary", "与普通 hash 相比";
    CONDITION = "condition", "条件";
    MEASURED = "measured", "实测";
    ALLOWED = "allowed", "限值";
    AT_MOST = "at most", "最长";
    BETWEEN = "between", "区间";
    BREAK = "rules violated", "违反的规则";
    BREAKING = "violating", "违规 key 数";
    BREAKS = "breaks", "违反的规则";
    BUDGET = "budget", "预算";
    BUDGET_OF = "budget of", "预算对象";
    CHANGE = "change", "变化";
    CHANGED = "changed", "已变";
    CHECKSUM = "checksum", "校验和";
    CLASS = "TTL class", "TTL 类别";
    COMMANDS_BEHIND = "trailing commands", "尾随命令";
    COMPACT_HASHES = "compact hashes", "紧凑 hash";
    CONTACT = "contact", "联系人";
    CORRECTION = "correction", "修正";
    COST = "cost a month", "月成本";
    COUNTER = "counter", "计数器";
    DB = "db", "库";
    DEMANDS = "demands", "要求";
    DIFFERING = "differing", "有差异";
    DIFFERENCE = "difference", "差值";
    DIFFERS_IN = "difference", "差异";
    DISK = "disk", "磁盘";
    ELEMENTS = "elements", "元素数";
    ENCODING = "encoding", "编码";
    ENTRIES = "entries", "消息数";
    ENTRY = "entry", "条目";
    EXAMPLE = "heaviest example", "最大的示例";
    EXPIRED = "expired", "已过期";
    EXPIRES = "expires", "过期时间";
    EXPIRES_BEFORE = "expires before", "此前过期时间";
    EXPIRES_IN = "expires in", "剩余时间";
    EXPIRY = "expiry", "过期时间";
    FIELDS = "fields", "字段数";
    FIELD_NAMES = "field names", "字段名";
    FILE = "file", "文件";
    FILL = "fill level", "使用率";
    FLAGS = "flags", "标记";
    DEMAND = "what", "问题";
    WHERE = "most in", "主要在";
    SOURCE = "source", "出处";
    FORM = "form", "格式";
    FROM_NODE = "from node", "源节点";
    GROUPS = "groups", "消费组";
    HEAVIEST_KEY = "heaviest key", "最大的 key";
    IDLE = "idle", "空闲时间";
    IN_TOTAL = "total", "总计";
    IDLE_KEYS = "idle keys", "空闲 key 数";
    JITTER = "offset", "随机偏移";
    KEY = "key", "key 名";
    KEYS = "keys", "key 数";
    KEYS_BEFORE = "keys before", "此前 key 数";
    KEYS_CHANGE = "keys change", "key 内存变化";
    KEY_DISTRIBUTION = "key distribution", "key 数分布";
    KEYS_MEMORY = "keys", "key 内存";
    KEYS_OF = "keys", "key 范围";
    LEFT = "left", "剩余时间";
    LEFT_OVER = "remaining", "剩余";
    LENGTH_BEFORE = "length before", "此前长度";
    LENGTH = "length", "长度";
    LONGEST = "longest", "最长";
    LONGEST_ELEMENT = "longest element", "最长元素";
    MAX = "max", "最大";
    MEAN = "mean", "平均";
    MEAN_ELEMENT = "mean element", "平均元素";
    MEMORY = "memory", "内存";
    MEMORY_BEFORE = "memory before", "此前内存";
    MORE_THAN_ONCE = "more than once", "重复";
    MODEL = "model", "内存模型";
    NAME = "name", "名称";
    NODE = "node", "节点";
    NODES = "nodes", "节点数";
    NOTE = "note", "备注";
    NOT_USED_FOR = "not used for", "未访问时长";
    NOT_USED_7 = "> 7 d", "超过 7 天";
    NOT_USED_30 = "> 30 d", "超过 30 天";
    NOT_USED_90 = "> 90 d", "超过 90 天";
    COLD_SHARE = "share idle > 7 d", "超过 7 天的占比";
    NOW = "now", "当前";
    OF_KEYS = "of keys", "key 占比";
    OF_MEMORY = "of memory", "内存占比";
    OF_NODE = "of a node", "占单节点";
    OF_TEMPLATE = "template", "模板大小";
    OWNER = "owner", "负责人";
    PARAMETERS = "parameters", "参数";
    PATTERN = "pattern", "模式";
    PATTERNS = "patterns", "模式数";
    PENDING = "pending", "未确认";
    PLANNED = "planned", "规划";
    PREFIX = "prefix", "前缀";
    RANGES = "ranges", "区间";
    REASON = "reason", "原因";
    REMEDY = "how to have it evaluated", "如何评估";
    REMOVED = "removed", "删除";
    RULE = "rule", "规则";
    SAVES = "saves", "可节省";
    SERVER = "server", "服务器";
    SEVERITY = "severity", "级别";
    SHARE = "share", "占比";
    SIZE = "size", "大小";
    SLOT = "slot", "槽";
    SLOTS = "slots", "槽";
    SLOTS_NOW = "slots now", "当前槽数";
    FILES = "files", "文件";
    SNAPSHOT = "snapshot", "快照";
    SNAPSHOTS = "snapshots", "快照数";
    STREAM = "stream", "stream 名";
    TABLES = "tables", "哈希表";
    TAKEN = "taken", "快照时间";
    TEMPLATES = "templates", "模板数";
    TO_NODE = "to node", "目标节点";
    TOTAL_CHANGE = "total change", "总计变化";
    TYPE = "type", "类型";
    TYPES = "types", "类型";
    UNKNOWN_KEYS = "keys of unknown memory", "内存未知的 key 数";
    USED = "used", "已用";
    WHAT = "what", "项目";
    WHAT_IF = "what if", "方案";
    WHEN = "when", "时间";
    WHICH = "which", "内容";
    WITHOUT_TTL = "keys without TTL", "无 TTL 的 key";
    WITH_TTL = "keys with TTL", "有 TTL 的 key";
    WORST = "worst", "实测值";
    WRITTEN = "written", "写入时间";
}

/// Median.
pub(in crate::render) const P50: Text = same("p50");
/// 99th percentile.
pub(in crate::render) const P99: Text = same("p99");

/// Version of the RDB format.
pub(in crate::render) const RDB: Text = same("RDB");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_heading_is_in_both_languages() {
        for head in ALL {
            assert!(head.en.is_ascii() && !head.zh.is_ascii(), "{head:?}");
        }
    }
}
