//! `type.set-as-counter`: distinct counts do not use sets with all members.
//!
//! Measured: members of sets whose name has one of `words`, in any case, as a segment or as part of one: separated by `_`, `-`
//! or `.`, in camel case, or in Chinese. The saving is the memory of the set minus that of the largest HyperLogLog.

use crate::policy::KeyView;
use crate::policy::content::is_hump;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::units::Bytes;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "type.set-as-counter",
    severity: Severity::Hint,
    problem: Text {
        en: "set of more than `max` members whose name indicates a counter",
        zh: "用于计数的 set（按 key 名判断）成员数超过 max",
    },
    what: Text {
        en: "no set of more than `max` members has a name that indicates a counter",
        zh: "用于计数的 set（按 key 名判断）成员数不超过 max",
    },
    why: Text {
        en: "A set of visitors stores every visitor, at about fifty bytes each. A HyperLogLog counts any number of them in \
             12 KB with a standard error of 0.81 %, and a Bloom filter answers whether a visitor was seen.",
        zh: "用 set 统计访客要保存每个访客，每个约 50 字节；HyperLogLog 只用 12 KB 就能统计任意数量（标准误差约 0.81 %），布隆过滤器可判断某个访客是否出现过。",
    },
    fix: Text {
        en: "count with PFADD and PFCOUNT; test membership with a Bloom filter (BF.ADD, BF.EXISTS) or a bitmap of ids",
        zh: "计数用 PFADD、PFCOUNT；存在性判断用布隆过滤器（BF.ADD、BF.EXISTS）或按 id 的位图",
    },
    params: &[
        ParamSpec {
            name: "max",
            what: Text { en: "maximum number of members", zh: "允许的最大成员数" },
            default: ParamDefault::Int(100_000),
        },
        ParamSpec {
            name: "words",
            what: Text { en: "words in the names of counters", zh: "计数类 key 名中的词" },
            default: ParamDefault::Words(&[
                "active",
                "cardinality",
                "count",
                "counter",
                "dau",
                "distinct",
                "mau",
                "pv",
                "uip",
                "unique",
                "uniques",
                "uniq",
                "uv",
                "view",
                "viewer",
                "viewers",
                "views",
                "visit",
                "visitor",
                "visitors",
                "visits",
                "wau",
                "访客",
                "独立访客",
                "日活",
                "周活",
                "月活",
                "浏览量",
                "访问量",
                "计数",
            ]),
        },
    ],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[
        SampleKey::of("page:home:uv:20241104", Kind::Set, 2_000, 120_000),
        SampleKey::of("room:1001:members", Kind::Set, 150_000, 9_000_000),
    ]),
    fails: RuleSample::of(&[SampleKey::of("page:home:uv:20241104", Kind::Set, 150_000, 9_000_000)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

/// Memory of the largest HyperLogLog: 12 304 bytes of text, for which jemalloc allocates 14 336, and its key.
const MAX_HYPERLOGLOG: u64 = 14_336 + 64;

fn build(params: &Params) -> Result<BuiltRule, String> {
    let words = params.pieces("words")?.to_vec();
    Ok(BuiltRule::Key(Box::new(SetAsCounter { max: params.number("max"), words })))
}

/// Limits the members of sets used as counters.
#[derive(Debug, Clone)]
pub struct SetAsCounter {
    /// Maximum number of members.
    pub max: u64,
    /// Words in the names of counters.
    pub words: Vec<String>,
}

impl SetAsCounter {
    fn counts(&self, key: &KeyView<'_>) -> bool {
        let name = key.untagged();
        let mut pieces =
            key.context.separators.split(&name).flat_map(|segment| segment.split(|byte| b"_-.".contains(byte)));
        pieces.any(|piece| self.words.iter().any(|word| has_word(piece, word.as_bytes())))
    }
}

/// Returns whether a part of a segment is a word, has it in camel case (`roomUv`) or beside Chinese (`uv统计`), or has a Chinese word in it.
fn has_word(piece: &[u8], word: &[u8]) -> bool {
    if !word.is_ascii() {
        return memchr::memmem::find(piece, word).is_some();
    }
    let is_same = |one: &u8, other: &u8| one.is_ascii() == other.is_ascii() && !is_hump(*one, *other);
    piece.eq_ignore_ascii_case(word) || piece.chunk_by(is_same).any(|part| part.eq_ignore_ascii_case(word))
}

impl KeyRule for SetAsCounter {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = key.record.length.unwrap_or_default();
        let breaks = measured > self.max && self.counts(key);
        breaks.then_some(Violation { measured, allowed: self.max })
    }

    fn estimates_saving(&self) -> bool {
        true
    }

    fn saving(&self, key: &KeyView<'_>) -> Bytes {
        Bytes(key.record.memory.0.saturating_sub(MAX_HYPERLOGLOG))
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_values()
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::Set]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::record::Record;

    fn breaks(name: &str, length: u64) -> bool {
        let Ok(BuiltRule::Key(rule)) = build(&Params::defaults(META.params)) else { panic!("a rule about keys") };
        let record = Record { kind: Kind::Set, length: Some(length), ..record(name.as_bytes()) };
        check_record(rule.as_ref(), &record, &Context::default()).is_some()
    }

    #[test]
    fn words_are_segments_or_pieces_of_them() {
        for name in [
            "a:roomUv:1",
            "a:uniqueVisitors",
            "a:dailyActive:1",
            "a:uv统计",
            "a:独立访客数:1",
            "uv",
            "a:uv:1",
            "a:daily_uv",
            "a:UV-2024",
            "{a:dau}:1",
            "site.visitors",
            "a:b:unique",
            "页面:访客:日:1",
        ] {
            assert!(breaks(name, 100_001), "{name}");
        }
        for name in ["a:reviewList", "a:内容uvw:1", "louvre:1", "a:suv", "user:1:followers", "", ":", "a:uvw"] {
            assert!(!breaks(name, 100_001), "{name}");
        }
    }

    #[test]
    fn small_sets_may_count() {
        assert!(!breaks("a:uv", 100_000));
    }
}
