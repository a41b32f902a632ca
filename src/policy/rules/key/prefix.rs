//! `key.prefix`: names start with the name of the business that they belong to.
//!
//! A first segment without any letter is no business name: the `service` standard rejects `12345` for lack of a business
//! prefix, and neither `12345:name` nor `2024-11-04:visits` or `_:name` identifies its owner, while all five standards demand
//! the *name* of a business, module or database. Nor does an id of letters and digits: a UUID, or 24 digits in hexadecimal and more.
//! Letters of any script count, and so do other signs beyond ASCII that are no
//! numbers.

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.prefix",
    severity: Severity::Must,
    problem: Text { en: "no business prefix", zh: "缺少业务前缀" },
    what: Text {
        en: "at least two segments, the first of which names a business", zh: "至少两段，且第一段说明业务"
    },
    why: Text {
        en: "A prefix prevents collisions between applications, and owners, dashboards and this report group keys by it. \
          A name with one segment, an empty first segment or one without a letter does not tell which business owns the key.",
        zh: "前缀避免两个应用的 key 名互相冲突，负责人、监控面板和本报告都按前缀归类。只有一段、第一段为空或不含任何文字（如仅为数字）的 key 名，无法说明它属于哪个业务。",
    },
    fix: Text {
        en: "prefix the name with the service or module and a colon: `user:profile:12345`; use colons instead of \
          underscores as separators",
        zh: "在前面加上服务名或模块名和冒号：`user:profile:12345`；把下划线分隔改为冒号分隔",
    },
    params: &[],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("user:profile:12345")]),
    fails: RuleSample::of(&[SampleKey::named("user_profile_12345")]),
};

/// Length of a UUID as text.
const UUID: usize = 36;

/// Length of the shortest number in hexadecimal that is an id.
const SHORTEST_ID: usize = 24;

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(PrefixRule)))
}

/// Demands at least two segments, the first of which has a letter.
#[derive(Debug, Clone, Copy)]
pub struct PrefixRule;

impl KeyRule for PrefixRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let name = key.untagged();
        let mut segments = key.context.separators.split(&name);
        let first = segments.next().unwrap_or_default();
        let prefixed = names_a_business(first) && segments.next().is_some();
        (!prefixed).then_some(Violation { measured: 0, allowed: 1 })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::NoPrefix)
    }
}

/// Returns whether a first segment names something: it has a letter, or a sign beyond ASCII that is no number, and is neither a
/// UUID nor a long number in hexadecimal.
pub fn names_a_business(segment: &[u8]) -> bool {
    let names = |c: char| c.is_alphabetic() || !c.is_ascii() && !c.is_numeric();
    !is_id(segment)
        && segment.utf8_chunks().any(|chunk| chunk.valid().chars().any(names) || !chunk.invalid().is_empty())
}

/// Returns whether a segment is a UUID, or a number in hexadecimal as long as the id of a document.
fn is_id(segment: &[u8]) -> bool {
    let is_hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    let groups = || segment.split(|byte| *byte == b'-');
    let has_form = match segment.len() {
        UUID => groups().map(<[u8]>::len).eq([8, 4, 4, 4, 12]) && groups().all(is_hex),
        length => length >= SHORTEST_ID && is_hex(segment),
    };
    has_form && segment.iter().any(u8::is_ascii_digit)
}

/// Returns whether a name may begin with such an id, perhaps in a hash tag, by its first bytes.
pub fn may_begin_with_id(name: &[u8]) -> bool {
    let is_of_id = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'{' | b'}');
    name.get(..SHORTEST_ID).is_some_and(|beginning| beginning.iter().all(is_of_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_name;

    fn breaks(name: &str) -> bool {
        check_name(&PrefixRule, name).is_some()
    }

    #[test]
    fn an_id_is_no_prefix() {
        for id in
            ["550e8400-e29b-41d4-a716-446655440000", "507f1f77bcf86cd799439011", "d41d8cd98f00b204e9800998ecf8427e"]
        {
            assert!(breaks(&format!("{id}:cart:1")) && breaks(&format!("{{{id}}}:cart")), "{id}");
            assert!(!breaks(&format!("shop:{id}")), "{id}");
        }
        for prefix in ["fb123456", "cafe", "deadbeefdeadbeefdeadbeef", "a-1-b-2-c-3-d-4-e-5-f-6-a-7-b-8-c-9-d"] {
            assert!(!breaks(&format!("{prefix}:cart:1")), "{prefix}");
        }
    }

    #[test]
    fn a_name_of_one_segment_has_no_prefix() {
        assert!(["12345", "user_profile_12345", "user", "", "{user}"].iter().all(|name| breaks(name)));
    }

    #[test]
    fn an_empty_or_numeric_first_segment_names_no_business() {
        let names = [
            ":a",
            ":",
            "::",
            "12345:name",
            "{1001}:profile",
            "2024-11-04:visits",
            "_:a",
            "-:1",
            "10.0.0.1:x",
            "\u{ff11}\u{ff12}:a",
        ];
        names.iter().for_each(|name| assert!(breaks(name), "{name}"));
    }

    #[test]
    fn a_word_and_a_colon_suffice() {
        let names = [
            "user:1",
            "{user}:1",
            "{user:1001}:profile",
            "user:",
            "2fa:1",
            "_a:1",
            "\u{7528}\u{6237}:1",
            "\u{1f3ae}:1",
        ];
        assert!(!names.iter().any(|name| breaks(name)));
    }
}
