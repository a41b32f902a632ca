//! `value.lock-token`: a lock holds a token of its own.
//!
//! Locks are strings or hashes with a segment `lock` or the like, at any level, that another follows, as for `ttl.lock-missing`. A
//! value shorter than `min` bytes (`1`, `locked`) is no token, and no two locks of the snapshot may hold the same constant. A
//! single lock with a longer constant passes: one value does not show whether it is constant. The same lock in several
//! files, as on the instances of a Redlock, counts as one.
//!
//! A random value on several locks can be the id of the client that holds them all. It passes unless `per_client` is off,
//! which demands a token of its own for each lock. If `most` locks of one pattern or more, and more than half of them, hold
//! the same, no other client ever gets one: the value is a constant, whatever it looks like. Only a UUID in its usual form
//! passes even then, since libraries name a process so, and one process may hold all locks of a pattern.
//!
//! A value that shows that nothing in it is random, such as a time or the name of a thread, is no token either.
//!
//! Keys whose [value](crate::policy::content::lock) shows something else than a lock do not count.
//!
//! A hash passes if one of its fields or values is long enough: reentrant locks keep their holder as a field (`uuid:thread`),
//! and one holder may have several, so hashes are only compared if nothing in them has a digit or is random.
//!
//! Counts are exact up to 1,024 distinct values per pattern that are not random, fewer if there are very many patterns. Beyond, the numbers
//! of some values are estimated from a sample of the locks, and the finding says so. If the rule finds nothing in such a sample, it
//! counts as not evaluated: a value that few locks share may have gone unnoticed.

use std::collections::{HashMap, HashSet};

use crate::policy::content::lock::NAMES;
use crate::policy::context::Context;
use crate::policy::evidence::{Majority, TokenForm, TokenUse, Tokens};
use crate::policy::forest::{Forest, PatternNode};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    BadTokens, Breach, BuiltRule, ConcernedKeys, DetailField, DetailValue, Known, LockTest, Need, PatternRule, Rule,
    RuleMeta, Severity, Text,
};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::report::{Details, Weight};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "value.lock-token",
    severity: Severity::Must,
    problem: Text { en: "lock without a token of its holder", zh: "分布式锁的 value 不是持有者的令牌" },
    what: Text {
        en: "every lock holds a token of {min} or more, not a constant of several locks",
        zh: "分布式锁的 value 是持有者的令牌：不少于 {min}，不是多把锁共用的常量",
    },
    why: Text {
        en: "A client whose lock has expired deletes that of the next holder unless it can tell the two apart: the script that \
             unlocks compares the value. A constant such as `1` or the name of the service is equal for all of them.",
        zh: "锁过期后，原持有者若无法区分，就会误删下一个持有者的锁：解锁脚本要先比对 value。`1` 或服务名之类的常量对所有客户端都一样，比对没有意义。",
    },
    fix: Text {
        en: "set a random value per acquisition, such as a UUID: SET lock:… <uuid> NX EX 30; unlock by a script that compares it",
        zh: "每次加锁使用新的随机值，如 UUID：SET lock:… <uuid> NX EX 30；解锁时用 Lua 脚本比对后再删除",
    },
    params: &[
        ParamSpec {
            name: "min",
            what: Text { en: "minimum length of a token", zh: "令牌的最小长度" },
            default: ParamDefault::Bytes(8),
        },
        ParamSpec {
            name: "prefixes",
            what: Text {
                en: "segments that mark a lock, at any level, with a segment after them; as the last segment, and `lock` as a part of one, only if the value is a holder's token",
                zh: "标明锁的段，可在任意层级，其后须还有一段；位于末段，或段内仅部分为 `lock` 时，value 须为持有者令牌",
            },
            default: ParamDefault::Words(NAMES),
        },
        ParamSpec {
            name: "per_client",
            what: Text {
                en: "allow random values on several locks, as the id of the client that holds them",
                zh: "允许多把锁共用同一随机值，即持有这些锁的客户端的 id",
            },
            default: ParamDefault::Flag(true),
        },
        ParamSpec {
            name: "most",
            what: Text {
                en: "in patterns with at least this many locks, a random value held by more than half of them is treated as a constant (UUIDs excepted)",
                zh: "同一模式下的锁达到此数，且超过半数持有同一随机值时，该值视为常量（UUID 除外）",
            },
            default: ParamDefault::Int(20),
        },
    ],
    unit: None,
    passes: RuleSample::of(&[
        SampleKey::holding("lock:task:1", "5f0c1b9e-7a43-4f6e-9d0b-2c8f6f1d7a01").expiring_in(30),
        SampleKey::holding("lock:task:2", "c2a9d7e4-1b58-4c07-8f3e-6a5d4b3c2e19").expiring_in(30),
    ]),
    fails: RuleSample::of(&[SampleKey::holding("lock:task:{i}", "order-service").expiring_in(30).times(2, 0)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let words = params.segments("prefixes")?.to_vec();
    if words.is_empty() {
        return Err("\"prefixes\" must not be empty".to_owned());
    }
    let per_client = params.flag("per_client");
    let locks = LockTest { words, min: params.number("min"), uuids: !per_client };
    Ok(BuiltRule::Pattern(Box::new(LockToken { locks, per_client, most: params.number("most") })))
}

/// Demands a token in every lock.
#[derive(Debug, Clone)]
pub struct LockToken {
    locks: LockTest,
    /// True if a random value may be held by several locks.
    per_client: bool,
    /// Locks of one pattern from which on a random value is a constant if most of them hold it.
    most: u64,
}

const NO_TOKEN: DetailField = DetailField::new("without_token", "without a token", "无令牌");
const SHARED: DetailField = DetailField::new("shared", "sharing a value", "与其他锁的 value 相同");
const ABOUT_SHARED: DetailField =
    DetailField::new("shared", "sharing a value, estimated", "与其他锁的 value 相同（估算）");
const COMPARED: DetailField = DetailField::new("compared", "values compared", "已比对的 value");

impl PatternRule for LockToken {
    fn judge(&self, forest: &Forest<'_>, _: &Context) -> Vec<Breach> {
        let mut values: HashMap<u64, TokenUse> = HashMap::new();
        for token in with_tokens(forest).flat_map(|(_, tokens)| tokens.known()) {
            values.entry(token.value).and_modify(|known| known.merge(token.uses)).or_insert(token.uses);
        }
        let held = |(_, tokens): (&PatternNode<'_>, &Tokens)| match tokens.majority(self.most) {
            Majority::Held(value) => Some(value),
            Majority::None | Majority::Unknown => None,
        };
        let repeated: HashSet<u64> = with_tokens(forest).filter_map(held).collect();
        values.retain(|value, uses| match TokenForm::of_id(*value) {
            _ if !uses.is_shared() => false,
            TokenForm::Constant => true,
            TokenForm::Uuid => !self.per_client,
            TokenForm::Random => !self.per_client || repeated.contains(value),
        });
        with_tokens(forest).filter_map(|(node, tokens)| breach(node, tokens, &values, self.locks.min)).collect()
    }

    fn undecided(&self, forest: &Forest<'_>, _: &Context) -> Option<Need> {
        let least_of_cut = if self.per_client { TokenForm::Constant } else { TokenForm::Uuid };
        let is_cut = |tokens: &Tokens| {
            tokens.cut().is_some_and(|form| form <= least_of_cut) || tokens.majority(self.most) == Majority::Unknown
        };
        with_tokens(forest).any(|(_, tokens)| is_cut(tokens)).then_some(Need::LockValues)
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_keys()
    }

    fn locks(&self) -> Option<&LockTest> {
        Some(&self.locks)
    }
}

/// Returns the patterns of locks.
fn with_tokens<'f>(forest: &'f Forest<'_>) -> impl Iterator<Item = (&'f PatternNode<'f>, &'f Tokens)> {
    forest.nodes.iter().filter_map(|node| Some((node, node.tokens?)))
}

/// Returns the violation of a pattern, given all values that no two locks may hold.
fn breach(node: &PatternNode<'_>, tokens: &Tokens, constants: &HashMap<u64, TokenUse>, min: u64) -> Option<Breach> {
    let (mut shared, mut bad) = (Weight::default(), BadTokens { min, shared: Vec::new() });
    let (known, mut estimated) = (tokens.known(), false);
    for token in known.iter().filter(|token| constants.contains_key(&token.value)) {
        shared.merge(token.uses.locks);
        bad.shared.push(token.value);
        estimated |= token.estimated;
    }
    let missing = tokens.missing();
    let mut all = missing;
    all.merge(shared);
    if all.keys == 0 {
        return None;
    }
    let mut details = Details::default();
    if missing.keys > 0 {
        details.extend([NO_TOKEN.with(DetailValue::Count(missing.keys))]);
    }
    if shared.keys > 0 {
        let field = if estimated { ABOUT_SHARED } else { SHARED };
        details.extend([field.with(DetailValue::Count(shared.keys))]);
    }
    if tokens.cut() == Some(TokenForm::Constant) {
        details.extend([COMPARED.with(DetailValue::Count(known.len() as u64))]);
    }
    // Which locks share a value is not kept: the heaviest key is one of them only if all do.
    let facts = node.facts.as_ref();
    let heaviest =
        facts.filter(|facts| missing.keys == 0 && facts.keys == shared.keys).and_then(|facts| facts.example.clone());
    Some(Breach {
        pattern: Some(node.text.clone()),
        keys: all.keys,
        memory: all.memory,
        details,
        examples: tokens.examples().chain(heaviest).collect(),
        concerned: ConcernedKeys::Locks(bad),
        ..Breach::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::policy::params::{ParamValue, Params};

    #[test]
    fn locks_need_a_word() {
        let built = |words: &[&str]| {
            let mut params = Params::defaults(super::META.params);
            params.set("prefixes", ParamValue::Words(words.iter().map(|&word| word.to_owned()).collect()));
            (super::RULE.build)(&params)
        };
        assert!(built(&["lock", "mutex"]).is_ok() && built(&[]).is_err() && built(&[""]).is_err());
    }
}
