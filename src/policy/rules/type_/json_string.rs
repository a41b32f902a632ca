//! `type.json-string`: objects are stored as hashes, not as JSON strings.
//!
//! Measured: length of strings that hold a JSON object with members, an array of such objects, also within arrays, either with the name of its class in
//! front (Jackson's default typing), or a JSON string that holds one of these (encoded twice). The first 128 bytes must follow the grammar of JSON and the last one must end it; shorter texts are
//! parsed completely. Other arrays, numbers, empty objects, also with the name of their class, templates and log lines do not count.

use crate::policy::KeyView;
use crate::policy::content::json;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

/// Longest text of an object of no members that is recognised, in bytes.
const MAX_EMPTY_LEN: usize = 256;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "type.json-string",
    severity: Severity::Should,
    problem: Text {
        en: "JSON object[ of more than {max}] stored as a string",
        zh: "以 string 存储[超过 {max} 的] JSON 对象",
    },
    what: Text {
        en: "no JSON object[ longer than {max}] is stored as a string",
        zh: "不用 string 存储[超过 {max} 的] JSON 对象",
    },
    why: Text {
        en: "To change one field, a client reads the whole text, parses it, serializes it and writes it back, and two clients \
             doing so at the same time overwrite each other. Hashes allow access to single fields and, within the limits \
             of the compact encoding, take less memory.",
        zh: "修改一个字段要读出整段文本、解析、重新序列化再写回，两个客户端同时修改还会互相覆盖。hash 支持字段级读写，在紧凑编码范围内也更省内存。",
    },
    fix: Text {
        en: "store the object as a hash (HSET key field value ...); use JSON only for data that is always read and written as a whole",
        zh: "改用 hash 存储对象（HSET key field value …）；只有总是整体读写的数据才用 JSON",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum length of a JSON object", zh: "允许的 JSON 对象最大字节数" },
        default: ParamDefault::Bytes(0),
    }],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("user:{i}:profile", Kind::Hash, 3, 120)]),
    fails: RuleSample::of(&[SampleKey {
        length: 43,
        text: "{\"name\":\"tom\",\"age\":19,\"favor\":\"football\"}",
        ..SampleKey::named("user:{i}:profile")
    }]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(JsonString { max: params.number("max") })))
}

/// Limits the length of strings with JSON objects.
#[derive(Debug, Clone, Copy)]
pub struct JsonString {
    /// Maximum length in bytes.
    pub max: u64,
}

impl KeyRule for JsonString {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        if !key.record.value.may_be_json {
            return None; // the common case
        }
        let measured = key.record.length.filter(|&length| length > self.max)?;
        // Without a limit there is nothing to compare the length with: equal values are not shown.
        let allowed = if self.max == 0 { measured } else { self.max };
        (json::holds_objects(key.record) && !is_empty_object(key)).then_some(Violation { measured, allowed })
    }

    fn is_about_json(&self) -> bool {
        true
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::String]
    }
}

/// Returns whether the value is an object with no member but the name of its class, such as Spring's marker for null.
fn is_empty_object(key: &KeyView<'_>) -> bool {
    let value = key.record.raw.and_then(|raw| raw.short_string(MAX_EMPTY_LEN));
    value.is_some_and(|value| {
        let member = value.strip_prefix(b"{\"").and_then(|rest| rest.strip_suffix(b"\"}"));
        let class = member.and_then(|text| text.strip_prefix(b"@class\":\"").or(text.strip_prefix(b"@type\":\"")));
        class.is_some_and(|class| !class.contains(&b'"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{broken_by, checks, facts};
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;
    use crate::record::ValueFacts;

    fn check(max: u64, text: &'static [u8]) -> Option<Violation> {
        let checks = checks(&format!("[rules.\"type.json-string\"]\nseverity = \"must\"\nmax = {max}\n"));
        let bytes = [&[text.len() as u8], text].concat();
        broken_by(&checks, "a:b", |record| {
            record.length = Some(text.len() as u64);
            let may_be_json = matches!(text[0], b'{' | b'[' | b'"');
            record.value = facts(ValueFacts { may_be_json, ..ValueFacts::NONE });
            record.raw =
                Some(RawValue { value_type: ValueType::String, bytes: bytes.leak(), templates: Templates::NONE });
        })
    }

    #[test]
    fn objects_longer_than_the_limit_break_it() {
        assert_eq!(check(0, b"{\"a\":1}"), Some(Violation { measured: 7, allowed: 7 }));
        assert_eq!(check(6, b"{\"a\":1}"), Some(Violation { measured: 7, allowed: 6 }));
        assert_eq!(check(7, b"{\"a\":1}"), None);
    }

    #[test]
    fn other_strings_keep_it() {
        for text in [&b"{{a}}"[..], b"[1]", b"[]", b"[[1]]", b"[[]]", b"[[{}]]", b"[[{\"a\":1}]", b"\"a\"", b"abc"] {
            assert_eq!(check(0, text), None);
        }
        for text in [
            "{\"@class\":\"org.springframework.cache.support.NullValue\"}",
            "{\"@type\":\"org.springframework.cache.support.NullValue\"}",
            "{\"@class\":\"java.util.HashMap\"}",
        ] {
            assert_eq!(check(0, text.as_bytes()), None, "{text}");
        }
        assert!(check(0, b"{\"@class\":\"a.B\",\"c\":1}").is_some());
        assert!(check(0, b"[[{\"a\":1}]]").is_some() && check(0, b"[[[{\"a\":1},{\"b\":2}]],[{\"a\":1}]]").is_some());
        assert!(check(0, b"[{\"a\":1}]").is_some() && check(0, b"\"{\\\"a\\\":1}\"").is_some());
    }
}
