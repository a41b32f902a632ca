//! `type.json-string`: objects whose fields are read and written one by one are hashes, not one text.
//!
//! Measured: bytes of strings that begin as a JSON object does: a brace, white space perhaps, and the quote of the first
//! name. No more than that is looked at, so `{"a` counts, too; arrays, numbers and objects without a name do not.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Chapter, KeyRule, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

static META: RuleMeta = RuleMeta {
    id: "type.json-string",
    severity: Severity::Should,
    problem: Text {
        en: "JSON object[ of more than {max}] stored as a string",
        zh: "以 string 存储[超过 {max} 的 ]JSON 对象",
    },
    what: Text {
        en: "no object of more than {max} as a JSON string", zh: "不用 JSON 字符串存储超过 {max} 的对象"
    },
    why: Text {
        en: "To change one field the client reads the whole text, parses it, writes it and sends it back, and two clients \
             that do so at once lose a change. A hash reads and writes single fields, and up to its compact limits it \
             takes less memory, since names need no quotes and numbers are kept as numbers.",
        zh: "修改一个字段要读出整段文本、解析、重新序列化再写回，两个客户端同时修改还会互相覆盖。Hash 支持字段级读写，在紧凑编码范围内也更省内存。",
    },
    fix: Text {
        en: "store the object as a hash (HSET key field value ...); keep JSON for what is always read and written whole",
        zh: "改用 Hash 存储对象（HSET key field value …）；只有总是整体读写的数据才用 JSON",
    },
    chapters: &[Chapter { preset: "platform", heading: "一 2. Value 设计规范 / 选择合适的数据类型" }],
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "the longest JSON object that is let pass", zh: "允许的最长 JSON 对象字节数" },
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

/// The rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(JsonString { max: params.number("max") })))
}

/// JSON objects of at most so many bytes.
#[derive(Debug, Clone, Copy)]
pub struct JsonString {
    /// The longest that is allowed.
    pub max: u64,
}

impl KeyRule for JsonString {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        if !key.record.value.json_object {
            return None; // the common case
        }
        let measured = key.record.length.unwrap_or_default();
        (measured > self.max).then_some(Violation { measured, allowed: self.max })
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::String]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::record::{Record, ValueFacts};

    fn check(max: u64, json_object: bool, length: u64) -> Option<Violation> {
        let value = ValueFacts { json_object, ..ValueFacts::default() };
        let record = Record { length: Some(length), value, ..record(b"a:b") };
        check_record(&JsonString { max }, &record, &Context::default())
    }

    #[test]
    fn objects_longer_than_the_limit_break_it() {
        assert_eq!(check(0, true, 7), Some(Violation { measured: 7, allowed: 0 }));
        assert_eq!(check(64, true, 65), Some(Violation { measured: 65, allowed: 64 }));
        assert_eq!((check(64, true, 64), check(0, false, 900)), (None, None));
    }
}
