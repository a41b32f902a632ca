//! `type.expected`: keys have the types that the policy expects of their pattern.
//!
//! The types are those of the `[[expected]]` entry that a key matches; entries of a preset also match their word in capitals. Keys
//! that match none are not judged, nor are those with a segment of `except` anywhere behind the first name of the pattern
//! (`queue:size:mail`, `queue:mail:size` and `queue:size7` beside queues), nor strings that are a number where no string is expected, such as
//! the length of a queue or a rank (`leaderboard:score:7` is `99`), and those whose entry of the data dictionary states a type and an owner: `key.registered` judges
//! them. A draft without owners excuses nothing.

use crate::policy::KeyView;
use crate::policy::dictionary::ExpectedTypes;
use crate::policy::need::{Known, Need};
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "type.expected",
    severity: Severity::Should,
    problem: Text { en: "type differs from the one agreed for the prefix", zh: "数据类型与前缀约定不符" },
    what: Text { en: "keys have the type agreed for their pattern", zh: "key 的数据类型符合其模式的约定" },
    why: Text {
        en: "Each structure has commands of its own: a queue in a string is read and written as a whole, a ranking in a list is \
             sorted by the client. Another type under an agreed prefix is also a sign of two applications that share it, \
             and their commands fail with WRONGTYPE.",
        zh: "每种结构都有对应的命令：用 string 存队列只能整体读写，用 list 存排行榜只能在客户端排序。约定前缀下出现其他类型，往往还说明两个应用共用了这个前缀，命令会报 WRONGTYPE。",
    },
    fix: Text {
        en: "use a type that is agreed for the prefix, such as a list, a stream or a sorted set for a queue; rename keys of another \
             purpose, or add an [[expected]] entry for their pattern",
        zh: "改用该前缀约定的类型，例如队列用 list、stream 或 zset；用途不同的 key 应改名，或为其模式添加 [[expected]] 条目",
    },
    params: &[],
    unit: None,
    passes: RuleSample::of(&[SampleKey::of("queue:mail:pending", Kind::List, 3, 200)]).with(QUEUES),
    fails: RuleSample::of(&[SampleKey::of("queue:mail:pending", Kind::Set, 3, 200)]).with(QUEUES),
};

const QUEUES: SampleFacts = SampleFacts {
    policy: "[[expected]]\npattern = \"queue:**\"\ntypes = [\"list\", \"stream\", \"zset\"]\n",
    ..SampleFacts::NONE
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(ExpectedType)))
}

/// Longest number that is recognised, in bytes.
const MAX_NUMBER_LEN: usize = 24;

/// Demands the types that the policy expects.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedType;

impl KeyRule for ExpectedType {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let expected = key.expected().filter(|expected| !expected.kinds.is_empty())?;
        let registered = key.entry().is_some_and(|entry| entry.kind.is_some() && entry.owner.is_some());
        let breaks =
            !registered && !expected.kinds.contains(&key.record.kind) && !is_excepted(key, expected) && !is_number(key);
        breaks.then_some(Violation { measured: 0, allowed: 0 })
    }

    fn is_about_expected_types(&self) -> bool {
        true
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.context.expected.is_empty().then_some(Need::ExpectedTypes)
    }
}

/// Returns whether a key is a string that holds a number.
fn is_number(key: &KeyView<'_>) -> bool {
    let text =
        key.record.raw.filter(|_| key.record.kind == Kind::String).and_then(|raw| raw.short_string(MAX_NUMBER_LEN));
    text.is_some_and(|text| {
        let digits = text.strip_prefix(b"-").unwrap_or(&text);
        let mut parts = digits.splitn(2, |byte| *byte == b'.');
        parts.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    })
}

/// Returns whether a segment behind the first name of the pattern says that a key is something else. It may have a number, or more
/// behind a dot: `window3`, `length.mail`.
fn is_excepted(key: &KeyView<'_>, expected: &ExpectedTypes) -> bool {
    let is = |segment: &[u8], word: &str| segment.eq_ignore_ascii_case(word.as_bytes());
    let (Some(first), name) = (expected.pattern.first_name(), key.untagged()) else { return false };
    let mut segments = key.context.separators.split(&name);
    // The leftmost match counts.
    let found = !expected.except.is_empty() && segments.any(|segment| is(segment, first));
    let word_of = |segment: &[u8]| {
        let word = segment.split(|byte| *byte == b'.').next().unwrap_or_default();
        word.len() - word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let excepts = |segment: &[u8]| {
        let word = segment.get(..word_of(segment)).unwrap_or_default();
        expected.except.iter().any(|known| is(segment, known) || is(word, known))
    };
    found && segments.any(excepts)
}

#[cfg(test)]
mod tests {
    use super::META;
    use crate::policy::checks::Checks;
    use crate::policy::testing::{breaks, checks, record};
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;
    use crate::record::{Kind, Record};

    const POLICY: &str = "[rules]\n\"type.expected\" = \"should\"\n\
         [[expected]]\npattern = \"**:queue:**\"\ntypes = [\"list\", \"stream\"]\n\
         [[expected]]\npattern = \"**:cache:**\"\ntypes = [\"any\"]\n\
         [[expected]]\npattern = \"queue:config:*\"\ntypes = \"hash\"\n";

    /// Returns the types that a key of this name may have.
    fn allowed(checks: &Checks, name: &str) -> Vec<Kind> {
        let allows = |kind: &Kind| !breaks(checks, name, |record| record.kind = *kind);
        Kind::ALL.into_iter().filter(allows).collect()
    }

    #[test]
    fn keys_have_the_types_of_the_entry_that_they_match() {
        let checks = checks(POLICY);
        for name in ["queue:mail", "shop:queue:mail:1", "{shop}:queue:7"] {
            assert_eq!(allowed(&checks, name), [Kind::List, Kind::Stream], "{name}");
        }
        // An entry for the whole name goes before one at any level, the leftmost of these first.
        assert_eq!(allowed(&checks, "queue:config:mail"), [Kind::Hash]);
        for name in ["cache:queue:length", "queues:mail", "queue", "shop:queue", "other:a:b", ""] {
            assert_eq!(allowed(&checks, name), Kind::ALL, "{name}");
        }
    }

    #[test]
    fn a_type_of_the_data_dictionary_goes_before() {
        let text = "[[dictionary]]\npattern = \"queue:index:{int}\"\ntype = \"set\"\nowner = \"mail\"\n\
             [[dictionary]]\npattern = \"queue:a:{int}\"\nowner = \"mail\"\n\
             [[dictionary]]\npattern = \"queue:draft:{int}\"\ntype = \"set\"\nowner = \" \"\n";
        let checks = checks(&format!("{POLICY}{text}"));
        assert_eq!(allowed(&checks, "queue:index:7"), Kind::ALL);
        assert_eq!(allowed(&checks, "queue:a:7"), [Kind::List, Kind::Stream]);
        assert_eq!(allowed(&checks, "queue:draft:7"), [Kind::List, Kind::Stream]);
    }

    #[test]
    fn presets_mean_other_spellings_of_their_words_too() {
        let service = |more: &str| checks(&format!("extends = \"service\"\n{more}"));
        let judged_as = |checks: &Checks, name: &str, kind: Kind| {
            let mut pattern = crate::pattern::PatternBuf::default();
            crate::pattern::classify::Classifier::default().classify(name.as_bytes(), &mut pattern);
            let record = Record { kind, ..record(name.as_bytes()) };
            checks.broken_by(&record, &pattern).into_iter().any(|(rule, _)| rule == META.id)
        };
        let judged = |checks: &Checks, name: &str| judged_as(checks, name, Kind::Set);
        let preset = service("");
        for name in ["queue:a:b", "QUEUE:a:b", "shop:QUEUE:a", "LOCK:a:b", "RATE:a:b", "REDISSON_LOCK_QUEUE:{a}:b"] {
            assert!(judged(&preset, name), "{name}");
        }
        for name in ["ranking:a:b", "shop:排行榜:a", "RANKING:a:b"] {
            assert!(judged(&preset, name), "{name}");
        }
        // Beside a queue.
        for name in [
            "queue:size:a",
            "shop:queue:config:a",
            "QUEUE:lock:a",
            "{queue:status}:a",
            "queue:size",
            "queue:a:size",
            "queue:mail:lock",
            "leaderboard:score:config",
            "ranking:a:updated_at",
            "live:leaderboard:prize",
            "lock:waiters:o1",
            "{lock:perm:1}:timeout",
            "temp:queue:a",
            "临时:队列:1",
            // Other meanings of the words.
            "clinic:queue:doctor:7",
            "his:outpatient:queue:7",
            "live:mic:queue:room1",
            "医院:挂号:队列:7",
            "gov:queue:hall:1",
            "shop:queue:table4",
            "hospital:queue:ticket",
            "hospital:queue:number:room12",
            "bank:counter:window3",
            "food:queue:length.shop7",
        ] {
            assert!(!judged(&preset, name), "{name}");
        }
        assert!(judged(&preset, "size:queue:a") && judged(&preset, "counter:queue:size:a"));
        for name in
            ["queues:a:b", "shop:队列:a", "exam:rankings:1", "exam:leaderboards:1", "积分排名:a:1", "考试:排行:1"]
        {
            assert!(judged(&preset, name), "{name}");
        }
        for name in [
            "duilie:a:b",
            "限流:api:1",
            "rates:api:1",
            "延时队列:a:1",
            "最近访问:用户:1",
            "user:qiandao:20241104",
            "分布式锁:order:1",
            "mail:queue:a",
        ] {
            assert!(judged(&preset, name), "{name}");
        }
        for (name, kind, is_judged) in [
            ("bank:counter:window3", Kind::List, false),
            ("bank:counters:a", Kind::List, true),
            ("计数器:a:1", Kind::List, true),
            ("jishuqi:a:1", Kind::List, true),
            ("分布式锁:order:1", Kind::Hash, false),
            ("限流:api:1", Kind::Zset, false),
            ("延时队列:a:1", Kind::Zset, false),
            ("最近访问:用户:1", Kind::List, false),
            ("lock:waiting:o1", Kind::Zset, false),
            ("lock:order:1", Kind::List, true),
            ("bank:counters:a", Kind::Hash, false),
            ("delayed:flight:mu5101", Kind::String, false),
            ("delayed:mail:1", Kind::String, true),
            ("recent:login:u1001", Kind::String, false),
            ("recent:visits:u1001", Kind::String, true),
            ("user:signin:20241104", Kind::Set, true),
            ("user:signin:20241104", Kind::Hash, true),
            ("user:signin:20241104", Kind::String, false),
            ("user:signin:fails", Kind::Set, false),
        ] {
            assert_eq!(judged_as(&preset, name, kind), is_judged, "{name} {kind:?}");
        }
        // Prefixes of what may be anything, and names of classes.
        for name in
            ["CACHE:queue:a", "Cache:queue:a", "Session:QUEUE:a", "Queue:all", "Counter:all", "qUEUE:a:b", "QUEUED:a:b"]
        {
            assert!(!judged(&preset, name), "{name}");
        }
        // What a policy file says goes before.
        let own = service("[[expected]]\npattern = \"**:QUEUE:ids:*\"\ntypes = [\"set\"]\n");
        assert!(judged(&own, "QUEUE:mail:a") && !judged(&own, "QUEUE:ids:a"));
        let own = service("[[expected]]\npattern = \"queue:**\"\ntypes = [\"set\"]\n");
        assert!(!judged(&own, "queue:a:b") && judged(&own, "QUEUE:a:b"));
        let own = service("[[expected]]\npattern = \"**:queue:**\"\ntypes = [\"set\"]\n");
        assert!(!judged(&own, "queue:a:b") && !judged(&own, "QUEUE:a:b"), "it replaces the entry of the preset");
    }

    #[test]
    fn a_number_is_no_queue() {
        let checks = checks(POLICY);
        let is_judged = |kind: Kind, value: &'static [u8]| {
            let bytes: &'static [u8] = [&[value.len() as u8], value].concat().leak();
            breaks(&checks, "shop:queue:mail:1", |record| {
                let value_type = ValueType::String;
                record.raw = Some(RawValue { value_type, bytes, templates: Templates::NONE });
                record.kind = kind;
            })
        };
        for value in [&b"3"[..], b"-3", b"99.5", b"1700000000123"] {
            assert!(!is_judged(Kind::String, value) && is_judged(Kind::Set, value), "{}", value.escape_ascii());
        }
        for value in [&b""[..], b"-", b"1.", b"1.2.3", b"1,2", b"a1", b"[1]"] {
            assert!(is_judged(Kind::String, value), "{}", value.escape_ascii());
        }
    }

    #[test]
    fn without_expected_types_the_rule_is_not_in_force() {
        assert!(checks("[rules]\n\"type.expected\" = \"should\"\n").keys.is_empty());
    }
}
