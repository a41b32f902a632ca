//! Nouns for counts: English has a plural, Chinese a measure word.

/// Noun after its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noun {
    /// English, after 1.
    pub one: &'static str,
    /// English, after any other number.
    pub many: &'static str,
    /// Chinese, with the measure word.
    pub zh: &'static str,
}

impl Noun {
    const fn new(one: &'static str, many: &'static str, zh: &'static str) -> Noun {
        Noun { one, many, zh }
    }
}

/// Declares nouns; each says what it names.
macro_rules! nouns {
    ($($name:ident = $one:literal, $many:literal, $zh:literal;)*) => {
        $(#[doc = concat!("1 ", $one, ", 2 ", $many, ".")] pub const $name: Noun = Noun::new($one, $many, $zh);)*
        #[cfg(test)]
        const ALL: &[Noun] = &[$($name),*];
    };
}

nouns! {
    BYTE = "byte", "bytes", "字节";
    COLLECTION = "collection", "collections", "个集合类型 key";
    COMPACT_HASH = "compact hash", "compact hashes", "个紧凑 hash";
    CONSUMER_GROUP = "consumer group", "consumer groups", "个消费组";
    DATABASE = "database", "databases", "个数据库";
    DAY = "day", "days", "天";
    DICTIONARY_ENTRY = "entry", "entries", "个条目";
    DIFFERENT_PATTERN = "different pattern", "different patterns", "个不同的模式";
    ELEMENT = "element", "elements", "个元素";
    FIELD = "field", "fields", "个字段";
    FILE = "file", "files", "个文件";
    FUNCTION_LIBRARY = "function library", "function libraries", "个函数库";
    GROUP = "group", "groups", "个消费组";
    HASH_TEMPLATE = "hash template", "hash templates", "个 hash 模板";
    HOUR = "hour", "hours", "小时";
    ID = "id", "ids", "个 id";
    INPUT = "input", "inputs", "个输入";
    KEY = "key", "keys", "个 key";
    MEMBER = "member", "members", "个成员";
    MESSAGE = "entry", "entries", "条消息";
    MINUTE = "minute", "minutes", "分钟";
    NIGHT = "night", "nights", "个时间点";
    NODE = "node", "nodes", "个节点";
    PART = "part", "parts", "个部分";
    PATTERN = "pattern", "patterns", "个模式";
    RULE = "rule", "rules", "条规则";
    SAMPLE = "sample", "samples", "个样本";
    SECOND = "second", "seconds", "秒";
    SETTING = "setting", "settings", "项设置";
    SNAPSHOT = "snapshot", "snapshots", "个快照";
    SLOT = "slot", "slots", "个槽";
    STREAM = "stream", "streams", "个 stream";
    TIME = "time", "times", "次";
    YEAR = "year", "years", "年";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_noun_is_in_both_languages() {
        for noun in ALL {
            assert!(noun.one.is_ascii() && noun.many.is_ascii() && noun.one != noun.many, "{noun:?}");
            assert!(!noun.zh.is_ascii() && noun.zh.trim() == noun.zh, "{noun:?}");
        }
    }
}
