//! `key.empty-segment`: no segment of a name is empty, and no word of a segment.
//!
//! A standard that divides the words of a segment by a sign of their own (`user:basic.info`) names it in `word_separators`;
//! `basic..info` then has an empty word. The gap of an IPv6 address (`rate:ip:2001:db8::1`, `ip:[::1]`) is no empty segment.
//!
//! With `unfilled_ids`, an id that was never filled in counts as an empty segment: what languages write for a missing value, as a whole segment
//! (`user:null`), and placeholders of formats and templates (`user:%d`, `user:%!s(MISSING)`, `user:%(id)s`, `user:${id}`, `user:{user_id}`).
//! A word in braces is a placeholder only if it names an id: `{order}` is a hash tag. In `cache:null:user:1` the word says what is cached.
//!
//! Measured: empty segments and, besides, empty words in segments that are not empty. The empty name has one.

mod unfilled;

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::pattern::slot::untagged;
use crate::policy::KeyView;
use crate::policy::content::is_one_of;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use unfilled::UNFILLED;
pub use unfilled::{placeholders, unfilled};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.empty-segment",
    severity: Severity::Must,
    problem: Text { en: "empty segment or word in the name", zh: "key 名中有空段，或分隔符连续出现" },
    what: Text {
        en: "no segment or word of the name is empty", zh: "key 名中不含空段，分隔符不连续出现"
    },
    why: Text {
        en: "An empty segment usually comes from an id or name that was missing when the program built the key: all keys \
          built that way collide, and their meaning is lost.",
        zh: "空段通常表示程序拼接 key 名时缺少 id 或名称：这样生成的 key 会互相冲突，也无法看出其含义。",
    },
    fix: Text {
        en: "find the code that builds the name from an empty variable, and remove doubled or trailing separators",
        zh: "找出用空变量拼接 key 名的代码；去掉重复的或结尾的分隔符",
    },
    params: &[
        ParamSpec {
            name: "word_separators",
            what: Text {
                en: "characters that divide the words of a segment, such as [\".\"]",
                zh: "同一段内分隔单词的字符，例如 [\".\"]",
            },
            default: ParamDefault::Words(&[]),
        },
        ParamSpec {
            name: "unfilled_ids",
            what: Text {
                en: "whether ids that were never filled in count: null, undefined, %d, ${id}",
                zh: "未填入的 id（null、undefined、%d、${id}）是否也算",
            },
            default: ParamDefault::Flag(false),
        },
    ],
    unit: Some(Unit::Segments),
    passes: RuleSample::of(&[SampleKey::named("user:profile:12345")]),
    fails: RuleSample::of(&[SampleKey::named("user:profile:")]),
};

/// Most groups of an address with a gap.
const MAX_GROUPS: usize = 7;
/// Least characters of a group that is hardly an id: `db8`.
const LONG_GROUP: usize = 3;
/// Groups of four digits that are hardly ids in a row.
const FULL_GROUPS: usize = 3;
/// Words that addresses follow.
const ADDRESS_WORDS: [&[u8]; 22] = [
    b"ip",
    b"ips",
    b"ip6",
    b"ipv6",
    b"addr",
    b"address",
    b"host",
    b"client",
    b"remote",
    b"limit",
    b"limiter",
    b"ratelimit",
    b"rate",
    b"throttle",
    b"blacklist",
    b"whitelist",
    b"blocklist",
    b"allowlist",
    b"black",
    b"white",
    b"ban",
    b"block",
];

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let unfilled_ids = params.flag("unfilled_ids");
    Ok(BuiltRule::Key(Box::new(EmptySegment { unfilled_ids, ..EmptySegment::read(params.words("word_separators"))? })))
}

/// Rejects adjacent separators and separators at either end, and ids that were never filled in.
#[derive(Debug, Clone, Default)]
pub struct EmptySegment {
    /// ASCII signs that divide the words of a segment.
    words: Box<[u8]>,
    /// True if ids that were never filled in count, too.
    unfilled_ids: bool,
}

impl EmptySegment {
    /// Parses the signs between words; fails with a message if one is no ASCII punctuation.
    pub fn read(signs: &[String]) -> Result<EmptySegment, String> {
        let sign = |sign: &String| match sign.as_bytes() {
            [byte] if byte.is_ascii_punctuation() && !matches!(byte, b'{' | b'}') => Ok(*byte),
            _ => Err(format!("{sign:?} must be a single ASCII punctuation character, and no brace")),
        };
        Ok(EmptySegment { words: signs.iter().map(sign).collect::<Result<_, _>>()?, unfilled_ids: false })
    }
}

impl KeyRule for EmptySegment {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let name = key.untagged();
        // Dividing by both at once counts an empty segment once.
        let divides = |byte: &u8| key.context.separators.contains(*byte) || self.words.contains(byte);
        let empty = name.split(divides).filter(|part| part.is_empty()).count() as u64;
        let empty = if is_gap_of_address(&name, divides) { 0 } else { empty };
        let separators = &key.context.separators;
        let ids = || unfilled(&name, separators) + placeholders(&untagged(key.record.key), separators);
        let measured = empty + if self.unfilled_ids { ids() } else { 0 };
        (measured > 0).then_some(Violation { measured, allowed: 0 })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::EmptySegment { words: self.words.clone(), unfilled_ids: self.unfilled_ids })
    }

    fn failing_segments(&self) -> &'static [&'static str] {
        if self.unfilled_ids { &UNFILLED } else { &[] }
    }
}

/// Returns whether all empty parts of a name, divided so, are the gap of an address.
pub fn is_gap_of_address(name: &[u8], divides: impl Fn(&u8) -> bool) -> bool {
    let empty = name.split(divides).filter(|part| part.is_empty()).count();
    // Two if the address begins or ends with its gap.
    (1..=2).contains(&empty) && gap_of_address(name) == Some(empty)
}

/// Returns the number of empty parts that the gap of an IPv6 address makes in a name: one in `ip:2001:db8::1`, two in `ip:::ffff:10.0.0.1`.
///
/// Without brackets, an address is told by its beginning, as networks have it, and by groups of letters and digits behind, since
/// ids, dates and hexadecimal numbers look like groups, too.
fn gap_of_address(name: &[u8]) -> Option<usize> {
    let gap = memchr::memmem::find(name, b"::")?;
    let (before, behind) = name.split_at_checked(gap)?;
    let colons = behind.iter().take_while(|byte| **byte == b':').count();
    let behind = behind.get(colons..)?;
    if is_in_brackets(name, gap) {
        return (colons == 2).then_some(1);
    }
    match colons {
        2 => ends_or_has_gap(before, behind).then_some(if behind.is_empty() { 2 } else { 1 }),
        // A separator before the address, or behind it.
        3 => (begins_with_gap(before, behind) || ends_or_has_gap(before, b"")).then_some(2),
        _ => None,
    }
}

/// Returns whether the place is in an address in brackets: `[2001:db8::1]`.
fn is_in_brackets(name: &[u8], place: usize) -> bool {
    let start = name.get(..place).and_then(|before| memchr::memrchr(b'[', before)).map(|start| start + 1);
    let address = start.and_then(|start| name.get(start..)?.split(|byte| *byte == b']').next());
    let is_closed = address.zip(start).is_some_and(|(address, start)| name.get(start + address.len()) == Some(&b']'));
    is_closed
        && address
            .and_then(|address| std::str::from_utf8(address).ok())
            .is_some_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

/// Returns whether an address begins behind a name and `::` with these bytes: that of a host by IPv4, or the host itself where the name
/// says that an address follows.
fn begins_with_gap(before: &[u8], behind: &[u8]) -> bool {
    let mut parts = behind.split(|byte| *byte == b':');
    match parts.next() {
        Some(b"1") => names_addresses(before),
        Some(mapped) if mapped.eq_ignore_ascii_case(b"ffff") => {
            let host = parts.next().and_then(|host| std::str::from_utf8(host).ok());
            host.is_some_and(|host| host.parse::<Ipv4Addr>().is_ok())
        }
        _ => false,
    }
}

/// Returns whether the bytes before a gap end with the beginning of an address, and those behind it may go on with it.
fn ends_or_has_gap(before: &[u8], behind: &[u8]) -> bool {
    let is_group = |part: &&[u8]| (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_hexdigit);
    // At most seven groups, nearest to the gap first.
    let near: Vec<&[u8]> = before.rsplit(|byte| *byte == b':').take(MAX_GROUPS).take_while(is_group).collect();
    let Some(first) = near.iter().rposition(|part| begins_address(part)) else { return false };
    let left: Vec<&[u8]> = near.into_iter().take(first + 1).rev().collect();
    let right: Vec<&[u8]> = behind.split(|byte| *byte == b':').take(MAX_GROUPS + 1).take_while(is_group).collect();
    let groups = left.len() + right.len();
    let [first, rest @ ..] = &left[..] else { return false };
    if !(2..=MAX_GROUPS).contains(&groups) {
        return false;
    }
    let has_letter = |group: &&[u8]| group.iter().any(u8::is_ascii_alphabetic);
    if has_letter(first) {
        return true;
    }
    // A number may be an id, whose name then goes on with other ids.
    let Some(second) = rest.first().filter(|second| second.len() >= LONG_GROUP) else { return false };
    let taken = left.iter().map(|group| group.len() + 1).sum::<usize>();
    let above = before.get(..before.len().saturating_sub(taken)).unwrap_or_default();
    let is_long = |group: &&[u8]| group.len() >= LONG_GROUP && has_letter(group);
    let are_full = left.len() >= FULL_GROUPS && left.iter().all(|group| group.len() == 4);
    is_long(second) || rest.iter().chain(&right).any(is_long) || are_full || names_addresses(above)
}

/// Returns whether a group is one with which networks begin: public, private, or of one link.
fn begins_address(group: &[u8]) -> bool {
    let low = group.to_ascii_lowercase();
    group.len() == 4
        && matches!(
            &*low,
            [b'2', b'0', b'0', b'1'..=b'3']
                | [b'2', b'4' | b'6' | b'a', ..]
                | [b'2', b'8' | b'c', b'0', _]
                | [b'f', b'c' | b'd', ..]
                | [b'f', b'e', b'8'..=b'b', _]
        )
}

/// Returns whether the last segment of a name says that addresses follow: `ip`, `rate_limit`.
fn names_addresses(name: &[u8]) -> bool {
    let segment = name.rsplit(|byte| *byte == b':').next().unwrap_or_default();
    let last = segment.rsplit(|byte| matches!(byte, b'_' | b'-' | b'.')).next().unwrap_or_default();
    is_one_of(last, &ADDRESS_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_name;

    fn empty(name: &str) -> Option<u64> {
        check_name(&EmptySegment::default(), name).map(|violation| violation.measured)
    }

    #[test]
    fn empty_segments_are_counted_at_any_position() {
        let names = ["user:profile:", "a::b", ":a", "", ":", "a{:}:b"];
        assert_eq!(names.map(empty), [Some(1), Some(1), Some(1), Some(1), Some(2), Some(1)]);
    }

    #[test]
    fn words_are_divided_by_signs_of_their_own() {
        let rule = EmptySegment::read(&[".".to_owned()]).unwrap();
        let empty = |name| check_name(&rule, name).map(|violation| violation.measured);
        let names =
            ["user:basic..info", "user:.info:1", "user:info.:1", "user:.:1", "user::1", ".", "user:basic.info:1.5"];
        assert_eq!(names.map(empty), [Some(1), Some(1), Some(1), Some(2), Some(1), Some(2), None]);
        assert_eq!(check_name(&EmptySegment::default(), "user:basic..info"), None);
    }

    #[test]
    fn the_gap_of_an_address_is_no_empty_segment() {
        for address in [
            "2001:db8::1",
            "fe80::1ff:fe23:4567:890a",
            "fe80::1",
            "FD00::A1",
            "2001:4860:4860::8888",
            "240e:1::2b",
            "2404:6800::200e",
            "2001:470:1f0b::1",
        ] {
            for name in [format!("rate:user:{address}"), format!("{address}:visits"), format!("ip:{{{address}}}:1")] {
                assert_eq!(empty(&name), None, "{name}");
            }
            assert_eq!(empty(&format!("rate::user:{address}")), Some(2));
        }
        for name in [
            "node:limit:::ffff:10.1.2.3",
            "node:limit:::FFFF:10.1.2.3:visits",
            "node:limit:::1",
            "rate_limit:::1:visits",
            "gw:limit:[2001:db8::1]",
            "gw:limit:[::1]:8080",
            "gw:seen:2001:db8::",
            "gw:seen:2001:db8:::visits",
            "gw:ip:2606:4700::1111",
        ] {
            assert_eq!(empty(name), None, "{name}");
        }
    }

    #[test]
    fn ids_and_dates_are_no_address() {
        for name in [
            "user::1001",
            "order:2024::5",
            "order:2024:1001::5",
            "a::b",
            "cafe::1",
            "::1",
            "user:2001::a",
            "2001::",
            "order:3001::b2",
            "bank:branch:3301::12:7:4",
            "bank:txn:2024:11:27::8:30",
            "mes:shift:2024::a1",
            "order:2001:b2::5",
            "order:2001:1001::b2",
            "order:2606:4700::1111",
            "limit:2001::5",
            "user:::1",
            "node:limit:::2",
            "node:limit:::ffff:12",
            "gw:limit:[a::b:",
            "gw:limit:[shop::1]",
            "gw:limit::[2001:db8::1]",
            "gw:limit:2001:db8::::1",
            ":::ffff:10.1.2.3",
            "gw:seen:fd00::",
        ] {
            assert!(empty(name).is_some(), "{name}");
        }
    }

    #[test]
    fn ids_that_were_never_filled_in_count() {
        let rule = EmptySegment { unfilled_ids: true, ..EmptySegment::default() };
        let empty = |name: &str| check_name(&rule, name).map(|violation| violation.measured);
        assert_eq!(check_name(&EmptySegment::default(), "user:null"), None);
        for name in [
            "user:null",
            "user:null:cart",
            "null:room:info:1",
            "user:undefined:1",
            "user:nil",
            "user:NaN",
            "user:None",
            "user:%d:cart",
            "user:%v",
            "user:%ld:cart",
            "user:%08d",
            "user:%+v",
            "user:%1$s",
            "user:%!s(MISSING)",
            "user:%!d(string=x7):cart",
            "user:%!(EXTRA int=1)",
            "user:%(id)s",
            "%s:user:1",
            "user:NULL",
            "user:[object Object]",
            "user:{null}:cart",
            "user:${id}",
            "user:${userId}:cart",
            "${tenant}:user:1",
            "user:#{id}",
            "user:{id}",
            "user:{uid}:cart",
            "user:{user_id}",
            "user:{orderId}:cart",
            "user:{USER_ID}",
            "user:{tenantID}",
            "user:{openid}",
            "user:{{id}}:cart",
            "{shop}:user:{user_id}",
            "cache:user:null",
            "cache:null",
        ] {
            assert_eq!(empty(name), Some(1), "{name}");
        }
        assert_eq!([empty("user:null:nil"), empty("user::null")], [Some(2); 2]);
        for name in [
            "user:nullable",
            "user:Null",
            "user:none",
            "user:-",
            "cache:null:user:1",
            "缓存:null:user:1",
            "user:id:7",
            "{id}:user:1",
            "user:{id}x",
            "user:x{id}",
            "user:{1001}:cart",
            "user:$5:cart",
            "user:{}",
            "price:usd${x}y",
            "user:100%d",
            "user:{order}",
            "user:{0}:cart",
            "user:{paid}",
            "user:{grid}:7",
            "user:{PAID}",
            "user:{7id}",
            "user:#{1001}",
            "page:%2f:7",
            "page:%E7%94%A8",
            "page:%ad",
            "page:%",
            "page:%%",
            "page:100%",
            "user:%!",
            "user:%()s",
            "user:%lllld",
        ] {
            assert_eq!(empty(name), None, "{name}");
        }
        assert_eq!(empty("{shop}:user:{user_id}:%d"), Some(2));
    }

    #[test]
    fn the_name_pass_knows_them_too() {
        let policy = "[rules.\"key.empty-segment\"]\nunfilled_ids = true\n";
        for policy in [policy, &format!("{policy}word_separators = [\".\"]\n")] {
            let checks = crate::policy::testing::checks(policy);
            let measured = |name: &str| {
                crate::policy::testing::broken_by(&checks, name, |_| {}).map_or(0, |violation| violation.measured)
            };
            for name in [
                "user:null",
                "null:room:1",
                "user:%d:cart",
                "user:%!d(string=x7):1",
                "{shop}:user:%(id)s",
                "user:{id}",
                "user:{user_id}:7",
                "user:${x}:1",
                "user:{nil}:7",
            ] {
                assert_eq!(measured(name), 1, "{name}");
            }
            assert_eq!([measured("user:%2f:7"), measured("user:100%:7"), measured("user:{order}:7")], [0; 3]);
            assert_eq!([measured("user:null::nil"), measured("user:null:{id}:7"), measured("User: :null")], [3, 2, 1]);
            assert_eq!([measured("cache:null:user:1"), measured("user:nulls"), measured("{id}:user")], [0; 3]);
        }
    }

    #[test]
    fn signs_between_words_are_punctuation() {
        for sign in ["a", "..", "", "{", "\u{ff0e}", " "] {
            assert!(EmptySegment::read(&[sign.to_owned()]).is_err(), "{sign:?}");
        }
    }

    #[test]
    fn braces_without_a_tag_are_not_an_empty_segment() {
        assert_eq!(["a:{b}:c", "a:{}:c", "a", "a:b"].map(empty), [None; 4]);
    }
}
