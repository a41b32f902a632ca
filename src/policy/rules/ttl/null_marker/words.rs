//! Words of the rule: markers, and segments of keys whose empty values are none.

use crate::policy::content::serialized::JAVA_HEAD;
use crate::policy::harmless::DoubtfulTexts;

/// Spring's marker as one of its serializers of JSON writes it.
const SPRING_NULL: &str = "{\"@class\":\"org.springframework.cache.support.NullValue\"}";

/// Default markers: of databases, JSON, Lua, Go, C, Python, PHP and JavaScript, and the empty values of JSON and PHP; behind them, those that
/// Jackson and Fastjson write with their class, and Spring's.
pub(super) const MARKERS: [&str; 52] = [
    "",
    "NULL",
    "null",
    "Null",
    "nil",
    "NIL",
    "None",
    "\"\"",
    "\"null\"",
    "\"NULL\"",
    "{}",
    "[]",
    "<null>",
    "N;",
    "a:0:{}",
    "s:0:\"\";",
    "undefined",
    "<NULL>",
    "<nil>",
    "(null)",
    "\"{}\"",
    "\"[]\"",
    "O:8:\"stdClass\":0:{}",
    "\"None\"",
    "{ }",
    "[ ]",
    "s:4:\"NULL\";",
    "s:4:\"null\";",
    "[\"java.util.ArrayList\",[]]",
    "[\"java.util.LinkedList\",[]]",
    "[\"java.util.HashSet\",[]]",
    "[\"java.util.LinkedHashSet\",[]]",
    "[\"java.util.TreeSet\",[]]",
    "[\"java.util.Collections$EmptyList\",[]]",
    "[\"java.util.Collections$EmptySet\",[]]",
    "[\"java.util.ImmutableCollections$ListN\",[]]",
    "[\"java.util.ImmutableCollections$SetN\",[]]",
    "[\"java.util.HashMap\",{}]",
    "[\"java.util.LinkedHashMap\",{}]",
    "[\"java.util.Collections$EmptyMap\",{}]",
    "{\"@class\":\"java.util.HashMap\"}",
    "{\"@class\":\"java.util.LinkedHashMap\"}",
    "{\"@class\":\"java.util.TreeMap\"}",
    "{\"@class\":\"java.util.concurrent.ConcurrentHashMap\"}",
    "{\"@class\":\"java.util.Collections$EmptyMap\"}",
    "{\"@class\":\"java.util.ImmutableCollections$MapN\"}",
    "{\"@type\":\"java.util.HashMap\"}",
    "{\"@type\":\"java.util.LinkedHashMap\"}",
    "{\"@type\":\"java.util.TreeMap\"}",
    SPRING_NULL,
    "{\"@type\":\"org.springframework.cache.support.NullValue\"}",
    "[\"org.springframework.cache.support.NullValue\",{}]",
];

/// Words for nothing, alone or before a word for what is missing: `NULL_OBJECT`, `emptyValue`, `空对象`.
const NOTHING: [&str; 4] = ["null", "nil", "empty", "空"];
const THINGS: [&str; 22] = [
    "",
    "placeholder",
    "marker",
    "object",
    "obj",
    "value",
    "val",
    "cache",
    "data",
    "result",
    "string",
    "str",
    "list",
    "array",
    "map",
    "set",
    "对象",
    "数据",
    "值",
    "缓存",
    "结果",
    "标记",
];

/// Other words for a missing result, without marks.
const MISSING: [&str; 15] = [
    "notfound",
    "notexist",
    "notexists",
    "nodata",
    "norecord",
    "optionalempty",
    "cachenull",
    "cacheempty",
    "orgspringframeworkcachesupportnullvalue",
    "不存在",
    "数据不存在",
    "未找到",
    "无数据",
    "没有数据",
    "暂无数据",
];

/// Longest text that is looked at, in bytes.
const MAX_LEN: usize = 48;

/// First bytes of such texts, besides marks: of the words, and of what serializers write before them.
const STARTS: [u8; 13] = [b'n', b'N', b'e', b'E', b'o', b'O', 0xE7, 0xE4, 0xE6, 0, 0x80, 0xAC, b' '];

/// Returns what texts that may be [missing results](is_missing) have in common.
pub(super) fn doubtful() -> DoubtfulTexts {
    let marks = (b'!'..=b'~').filter(u8::is_ascii_punctuation);
    // Strings of msgpack begin with their length.
    let starts: Vec<u8> = STARTS.into_iter().chain(marks).chain(0xA1..=0xBF).collect();
    let mut texts = DoubtfulTexts::default();
    (1..=MAX_LEN + JAVA_HEAD).for_each(|length| texts.add(length, &starts));
    texts
}

/// Returns whether a text is words for a missing result, in whatever case and with whatever marks, or only blanks. Elsewhere than in
/// caches they may be the state of something.
pub(super) fn is_missing(text: &[u8]) -> bool {
    // As with other markers, blanks around it make it another value.
    let has_blanks = [text.first(), text.last()].into_iter().flatten().any(u8::is_ascii_whitespace);
    if text.len() > MAX_LEN || has_blanks {
        return !text.is_empty() && text.len() <= MAX_LEN && text.iter().all(|byte| *byte == b' ');
    }
    let is_mark = |byte: &&u8| byte.is_ascii_punctuation() || byte.is_ascii_whitespace();
    // On the stack: the values of many caches come here.
    let (mut buffer, mut length) = ([0; MAX_LEN], 0);
    for (place, letter) in buffer.iter_mut().zip(text.iter().filter(|byte| !is_mark(byte))) {
        *place = letter.to_ascii_lowercase();
        length += 1;
    }
    let letters = buffer.get(..length).unwrap_or_default();
    let is_thing = |rest: &[u8]| THINGS.iter().any(|thing| thing.as_bytes() == rest);
    let mut nothing = NOTHING.iter().filter_map(|word| letters.strip_prefix(word.as_bytes()));
    nothing.any(is_thing) || MISSING.iter().any(|word| word.as_bytes() == letters)
}

/// Words at the end of segments of what has a state, which may be `empty`.
pub(super) const STATES: [&str; 6] = ["status", "state", "states", "stage", "状态", "阶段"];

/// Segments of keys that say all by being there: their empty string is no result, whatever other value is.
pub(super) const PRESENT: [&str; 72] = [
    "signed",
    "notified",
    "claimed",
    "exposed",
    "watched",
    "viewed",
    "alive",
    "heartbeat",
    "present",
    "arrived",
    "read",
    "done",
    "finished",
    "completed",
    "visited",
    "checked",
    "clicked",
    "joined",
    "rated",
    "voted",
    "liked",
    "followed",
    "invited",
    "shared",
    "published",
    "activated",
    "received",
    "submitted",
    "delivered",
    "paid",
    "used",
    "cancelled",
    "canceled",
    "confirmed",
    "approved",
    "rejected",
    "accepted",
    "registered",
    "subscribed",
    "optout",
    "kick",
    "silence",
    "forbid",
    "frozen",
    "realname",
    "end",
    "closed",
    "started",
    "shown",
    "submit",
    "cooldown",
    "cd",
    "msgid",
    "dup",
    "exists",
    "kickout",
    "logout",
    "locked",
    "冷却",
    "重复提交",
    "已读",
    "已签",
    "在线",
    "typing",
    "active",
    "black",
    "blocked",
    "disabled",
    "freeze",
    "cancel",
    "consumed",
    "offline",
];

/// Segments of what users fill themselves: empty, it is no result of a query.
pub(super) const FILLED: [&str; 20] = [
    "cart",
    "carts",
    "basket",
    "pref",
    "prefs",
    "preference",
    "preferences",
    "draft",
    "drafts",
    "filter",
    "filters",
    "chosen",
    "selected",
    "selection",
    "managers",
    "admins",
    "settings",
    "购物车",
    "草稿",
    "偏好",
];

/// Words at the end of segments of what may have no members or entries: an empty list or object is no missing result.
pub(super) const LISTED: [&str; 57] = [
    "list",
    "lists",
    "items",
    "history",
    "histories",
    "progress",
    "rule",
    "rules",
    "balance",
    "balances",
    "bag",
    "backpack",
    "state",
    "flags",
    "perms",
    "permission",
    "permissions",
    "privileges",
    "menu",
    "menus",
    "tags",
    "favorites",
    "favourites",
    "wishlist",
    "playlist",
    "notification",
    "notifications",
    "messages",
    "todo",
    "todos",
    "memo",
    "memos",
    "note",
    "notes",
    "attrs",
    "attributes",
    "bookmarks",
    "watchlist",
    "inventory",
    "背包",
    "列表",
    "历史",
    "历史记录",
    "记录",
    "进度",
    "规则",
    "余额",
    "收藏",
    "标签",
    "权限",
    "菜单",
    "消息",
    "通知",
    "备注",
    "愿望单",
    "任务",
    "会话记录",
];

/// Words that end like a plural, but name one thing.
pub(super) const NO_PLURALS: [&str; 8] = ["news", "goods", "series", "species", "sales", "https", "redis", "ads"];

/// Elements of collections that stand for none, in whatever case, and perhaps between underscores.
pub(super) const PLACEHOLDERS: [&str; 6] = ["null", "nil", "empty", "placeholder", "dummy", "占位"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::record;
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;
    use crate::record::Record;

    #[test]
    fn words_for_a_missing_result_are_known_in_any_spelling() {
        let texts = doubtful();
        for text in [
            "空对象",
            "空",
            "空值",
            "空数据",
            "NULL_OBJECT",
            "nullObject",
            "NULL_CACHE",
            "__null__",
            "nullValue",
            "NullValue",
            "{null}",
            "[null]",
            "[NULL]",
            "#NULL#",
            "@@NULL@@",
            "EMPTY",
            "Empty",
            "EMPTY_OBJECT",
            "EMPTY_VALUE",
            "empty-list",
            "NOT_FOUND",
            "NotFound",
            "NOT_EXIST",
            "not exists",
            "NO_DATA",
            "不存在",
            "数据不存在",
            "无数据",
            "暂无数据",
            "Optional.empty",
            " ",
            "  ",
            "<empty>",
            "\"空对象\"",
            "org.springframework.cache.support.NullValue",
        ] {
            assert!(is_missing(text.as_bytes()), "{text}");
            let bytes = [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
            let raw = RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE };
            assert!(
                texts.may_include(&Record { length: Some(text.len() as u64), raw: Some(raw), ..record(b"k") }),
                "{text}"
            );
        }
        for text in [
            "",
            "-1",
            "0",
            "N/A",
            "无",
            "none",
            "nothing",
            "emptying",
            "nullable",
            "NULL ",
            " null",
            "null\n\n",
            "空调",
            "空气净化器",
            "{}",
            "--",
            "nil-7",
            "found",
            "data",
        ] {
            assert!(!is_missing(text.as_bytes()), "{text}");
        }
    }
}
