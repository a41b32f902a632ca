//! `key.prefix`: names start with the name of the business that they belong to.
//!
//! A first segment without any letter is no business name: the `service` standard rejects `12345` for lack of a business
//! prefix, and neither `12345:name` nor `2024-11-04:visits` or `_:name` identifies its owner, while all five standards demand
//! the *name* of a business, module or database. Nor does an id or a date: what [patterns](crate::pattern::classify) show as a number, a
//! UUID, a date with a time, an address or a token, 24 digits in hexadecimal and more, the address of a network card, the number of an
//! identity card, or a ULID. Shorter numbers in hexadecimal may be names (`fb123456`), and a token of which enough reads as words is one
//! ([worded]: `Gb28181SipServer`), or that begins with a short name (`wx_…`).
//! Letters of any script count, and so do other signs beyond ASCII that are no
//! numbers.

mod worded;

use crate::pattern::classify::{SegmentClass, class_of};
use crate::pattern::segment::Separators;
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
        en: "at least two segments, the first of which names a business", zh: "至少两段，且首段说明业务"
    },
    why: Text {
        en: "A prefix prevents collisions between applications, and owners, dashboards and this report group keys by it. \
          A name with one segment, or whose first segment is empty, has no letter or is an id or a date, does not tell which \
          business owns the key.",
        zh: "前缀可避免不同应用的 key 名互相冲突，负责人、仪表盘和本报告都按前缀归类。只有一段，或首段为空、不含字母或汉字（如仅为数字）、是 id 或日期的 key 名，无法说明它属于哪个业务。",
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
const MIN_HEX_LEN: usize = 24;

/// Length of the shortest id that may begin with a letter, a token.
const MIN_ID_LEN: usize = 16;

/// Length of the address of a network card: six numbers of two digits.
const HARDWARE_ADDRESS: usize = 17;

/// Length of the number of an identity card, which may end with an X.
const IDENTITY: usize = 18;

/// Length of a ULID, and the letters that it has none of.
const ULID: usize = 26;
const NOT_IN_ULIDS: &[u8] = b"ILOU";

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(PrefixRule)))
}

/// Demands at least two segments, the first of which names a business.
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

/// Returns whether a first segment names something: it has a letter, or a sign beyond ASCII that is no number, and is no id.
pub fn names_a_business(segment: &[u8]) -> bool {
    let names = |c: char| c.is_alphabetic() || !c.is_ascii() && !c.is_numeric();
    !is_id(segment)
        && segment.utf8_chunks().any(|chunk| chunk.valid().chars().any(names) || !chunk.invalid().is_empty())
}

/// Returns whether a segment is an id or a date. Names of the same pattern agree on that, unless their letters differ.
fn is_id(segment: &[u8]) -> bool {
    let is_hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    let groups = || segment.split(|byte| *byte == b'-');
    if segment.len() == HARDWARE_ADDRESS && groups().all(|group| group.len() == 2 && is_hex(group)) {
        return true;
    }
    if !segment.iter().any(u8::is_ascii_digit) || !segment.is_ascii() {
        return false; // the common case
    }
    let has_form = match segment.len() {
        UUID => groups().map(<[u8]>::len).eq([8, 4, 4, 4, 12]) && groups().all(is_hex),
        IDENTITY => {
            let digits = segment.strip_suffix(b"X").or_else(|| segment.strip_suffix(b"x"));
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
        }
        ULID => segment[0].is_ascii_digit() && segment.iter().all(is_of_ulid),
        _ => false,
    };
    has_form || segment.len() >= MIN_HEX_LEN && is_hex(segment) || is_shown_as_id(segment)
}

fn is_of_ulid(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() && !NOT_IN_ULIDS.contains(&byte.to_ascii_uppercase())
}

/// Returns whether patterns show a segment as an id or a date. A short number in hexadecimal may be a name, and so may a token that
/// has words.
fn is_shown_as_id(segment: &[u8]) -> bool {
    let class = std::str::from_utf8(segment).ok().and_then(class_of);
    class.is_some_and(|class| match class {
        SegmentClass::Int | SegmentClass::Uuid | SegmentClass::Date | SegmentClass::Ip => true,
        SegmentClass::Token => !worded::may_be_words(segment) && !has_short_name(segment),
        SegmentClass::Hex | SegmentClass::Email | SegmentClass::Bin | SegmentClass::Long | SegmentClass::Deeper => {
            false
        }
    })
}

/// Returns whether a segment begins with a short name before a mark, such as that of a client: `wx_…`, `H5-…`. A random token seldom does.
fn has_short_name(segment: &[u8]) -> bool {
    const LENGTHS: std::ops::RangeInclusive<usize> = 2..=6;
    let Some(end) = segment.iter().position(|byte| matches!(byte, b'-' | b'_')) else { return false };
    let name = segment.get(..end).unwrap_or_default();
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, number) = name.split_at(letters);
    let is_of_one_case = word.iter().all(u8::is_ascii_lowercase) || word.iter().all(u8::is_ascii_uppercase);
    LENGTHS.contains(&name.len()) && !word.is_empty() && is_of_one_case && number.iter().all(u8::is_ascii_digit)
}

/// Returns whether a name that begins with a letter may begin with an id, perhaps in a hash tag: its first segment is long.
pub fn may_begin_with_id(name: &[u8], separators: &Separators) -> bool {
    name.get(..MIN_ID_LEN).is_some_and(|beginning| !beginning.iter().any(|byte| separators.contains(*byte)))
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
        for id in [
            "2026-11-27T10",
            "20261127T100000Z",
            "31010119900307235X",
            "31010119900307235x",
            "aa-bb-cc-11-22-33",
            "AA-BB-CC-DD-EE-FF",
            "01JDQ8Z7M4K9X2C5V1B3N6T8WQ",
            "01arz3ndektsv4rrffq69g5fav",
            "V1StGXR8_Z5jdHi6B-myT",
        ] {
            assert!(breaks(&format!("{id}:info")) && breaks(&format!("{{{id}}}:info:1")), "{id}");
            assert!(!breaks(&format!("shop:{id}")), "{id}");
        }
        for prefix in [
            "fb123456",
            "cafe",
            "deadbeefdeadbeefdeadbeef",
            "a-1-b-2-c-3-d-4-e-5-f-6-a-7-b-8-c-9-d",
            "recommendation-service2",
            "wx_1d24e494c144c2c83e00a6f2d1acc062",
            "h5_1d24e494c144c2c83e00a6f2d1acc062",
            "qq_0aB3dE5fG7hJ9kL1mN3pQ5",
            "H5-0aB3dE5fG7hJ9kL1mN3pQ5",
            "UserProfileServiceV2",
            "Gb28181SipServer",
            "mp4tom3u8transcode01",
            "2026-shop",
            "v20261127",
            "aa-bb-cc-11-22-3x",
            "31010119900307235Y",
            "3101011990030723X",
        ] {
            assert!(!breaks(&format!("{prefix}:cart:1")), "{prefix}");
        }
    }

    #[test]
    fn the_name_pass_knows_ids_too() {
        let checks = crate::policy::testing::checks("[rules]\n\"key.prefix\" = \"must\"\n");
        let breaks = |name: &str| crate::policy::testing::breaks(&checks, name, |_| {});
        for name in
            ["2026-11-27T10:info", "V1StGXR8_Z5jdHi6B-myT:info", "{aa-bb-cc-dd-ee-ff}:info", "a0-b0-c0-d0-e0-f0:x"]
        {
            assert!(breaks(name), "{name}");
        }
        for name in ["UserProfileServiceV2:info", "Sha256Rsa2048Sign:info", "recommendation_service:info", "用户2:info"]
        {
            assert!(!breaks(name), "{name}");
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
