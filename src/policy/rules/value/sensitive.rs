//! `value.sensitive`: no secrets and no personal data in plain text.
//!
//! Checked only with `--inspect-values`. Up to 64 keys of each pattern are inspected, sampled by a hash of their names.
//! Measured: share of inspected keys with a match, in thousandths; none is allowed. Keys and memory are those with a match if all
//! keys of the pattern were inspected. Otherwise they are those of the whole pattern, since a sample does not tell which of the other
//! keys match; the detail `sample` says so.
//!
//! Numbers with the length of a mobile, identity card or bank card number that are invalid count as near misses. A kind is
//! reported for a pattern only if more keys have a match than a near miss: this excludes sequential order numbers that pass
//! through `138…`, and ids of which one in ten happens to have a valid checksum. The elements of one collection are weighed
//! against each other in the same way.

use std::collections::BTreeMap;

use crate::near;
use crate::pattern::segment::Separators;
use crate::policy::context::Context;
use crate::policy::evidence::Secrets;
use crate::policy::forest::{Forest, PatternNode, PatternSums};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, ConcernedKeys, DetailField, DetailValue, Known, Need, PatternRule, Rule, RuleMeta, Severity,
    Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::sensitive::{FIELDS, Inspection, NAMES, SensitiveKind, SensitiveKinds};
use crate::report::{DetailPart, Weight, Wording};

/// Maximum number of examples.
const EXAMPLES: usize = 3;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "value.sensitive",
    severity: Severity::Must,
    problem: Text {
        en: "secrets or personal data in plain text", zh: "明文存储密码、身份证号、手机号等敏感信息"
    },
    what: Text {
        en: "no secrets or personal data in plain text", zh: "不得明文存储密码、身份证号、手机号等敏感信息"
    },
    why: Text {
        en: "Anyone with access to the server, a replica, a backup or a dump can read them, and key names also appear in \
          logs and monitoring. Redis does not encrypt data at rest.",
        zh: "能访问服务器、副本、备份或快照的人都能读到这些内容，key 名还会出现在日志和监控里。Redis 不对落盘数据加密。",
    },
    fix: Text {
        en: "store a salted hash if the value is only compared, encrypt it in the application if it must be read back, use \
          surrogate ids in key names; then rotate exposed credentials",
        zh: "只需比对的改存加盐哈希；需要还原的在应用侧强加密后再写入；key 名改用替代 id；已暴露的密钥和密码应更换",
    },
    params: &[
        ParamSpec {
            name: "kinds",
            what: Text { en: "kinds of data to search for", zh: "要检查的数据种类" },
            default: ParamDefault::Words(&SensitiveKind::NAMES),
        },
        ParamSpec {
            name: "fields",
            what: Text {
                en: "endings of field names that hold a password, in lower case without _ - .",
                zh: "字段名以这些词结尾时，其值视为密码（小写，不含 _ - .）",
            },
            default: ParamDefault::Words(FIELDS),
        },
        ParamSpec {
            name: "names",
            what: Text {
                en: "words of key names whose value is a password",
                zh: "key 名含有这些词时，其 value 视为密码",
            },
            default: ParamDefault::Words(NAMES),
        },
        ParamSpec {
            name: "min",
            what: Text {
                en: "minimum number of sampled keys that hold the same kind",
                zh: "样本中至少有多少个 key 含有同一种类的数据才报告",
            },
            default: ParamDefault::Int(1),
        },
    ],
    unit: Some(Unit::Permille),
    passes: RuleSample::of(&[SampleKey {
        text: "{\"id\":1001,\"mobile\":\"138****5678\",\"password\":\"$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68\"}",
        ..SampleKey::named("user:profile:1001")
    }]),
    fails: RuleSample::of(&[SampleKey {
        text: "{\"id\":1001,\"mobile\":\"13812345678\",\"password\":\"hunter2\"}",
        ..SampleKey::named("user:profile:1001")
    }]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let kind = |name: &String| {
        let known = || {
            let near = near::did_you_mean(&near::names(name, SensitiveKind::NAMES));
            format!("there is no kind {name:?} of sensitive data: {near}{}", SensitiveKind::NAMES.join(", "))
        };
        SensitiveKind::parse(name).ok_or_else(known)
    };
    let kinds = params.words("kinds").iter().map(kind).collect::<Result<SensitiveKinds, String>>()?;
    if kinds.is_empty() {
        return Err("\"kinds\" is empty: leave it out for all kinds, or set the rule to \"off\"".to_owned());
    }
    let fields = params.words("fields").iter();
    let strip = |word: &String| word.to_ascii_lowercase().replace(['_', '-', '.', ' '], "");
    let fields: Vec<String> = fields.map(strip).filter(|word| !word.is_empty()).collect();
    let names = params.pieces("names")?.to_vec();
    let inspection = Inspection { kinds, fields, names, separators: Separators::default() };
    Ok(BuiltRule::Pattern(Box::new(SensitiveRule { inspection, min: params.number("min").max(1) })))
}

/// Rejects these kinds of data in sampled keys.
#[derive(Debug, Clone)]
pub struct SensitiveRule {
    /// Kinds of data to search for.
    pub inspection: Inspection,
    /// Minimum number of sampled keys that hold the same kind.
    pub min: u64,
}

const KINDS: DetailField = DetailField::new("kinds", "kinds", "种类");
const SAMPLED: DetailField = DetailField::new("sampled", "keys inspected", "抽查 key 数");
const SAMPLE: DetailField = DetailField::new(
    "sample",
    "only a sample was inspected, keys and memory are those of the whole pattern",
    "仅抽查了部分 key，key 数和内存为整个模式的合计",
);
const EVIDENCE: DetailField = DetailField::new("evidence", "evidence", "证据");

/// Returns a kind with the sampled keys that hold it.
fn part(kind: SensitiveKind, keys: u64) -> DetailPart {
    DetailPart { keys: Some(keys), ..named(kind.text().into()) }
}

/// Returns an item of a list, in both languages.
fn named(name: Wording) -> DetailPart {
    DetailPart { name: name.en, name_zh: Some(name.zh), ..DetailPart::default() }
}

impl PatternRule for SensitiveRule {
    fn judge(&self, forest: &Forest<'_>, _: &Context) -> Vec<Breach> {
        let judge = |(node, sums): (&PatternNode<'_>, &PatternSums)| self.breach(node, sums, node.secrets?);
        forest.patterns().filter_map(judge).collect()
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_values()
    }

    fn inspection(&self) -> Option<Inspection> {
        Some(self.inspection.clone())
    }
}

impl SensitiveRule {
    fn breach(&self, node: &PatternNode<'_>, sums: &PatternSums, secrets: &Secrets) -> Option<Breach> {
        let counts: BTreeMap<SensitiveKind, u64> =
            SensitiveKind::ALL.into_iter().filter_map(|kind| Some((kind, self.count(kind, secrets)?))).collect();
        let kinds: SensitiveKinds = counts.keys().copied().collect();
        if kinds.is_empty() {
            return None;
        }
        let hits = secrets.verdicts().filter(|(found, _)| !found.both(kinds).is_empty()).count() as u64;
        let shown = || secrets.evidence().iter().filter(|evidence| kinds.has(evidence.found.kind));
        let mut examples = Vec::new();
        for example in shown().map(|evidence| evidence.example()) {
            if !examples.contains(&example) && examples.len() < EXAMPLES {
                examples.push(example);
            }
        }
        let evidence = shown().map(|evidence| named(evidence.found.wording())).collect();
        let parts = counts.into_iter().map(|(kind, keys)| part(kind, keys)).collect();
        // If the keys are a sample, count the whole pattern.
        let holding = secrets.holding(kinds);
        let Weight { keys, memory } = holding.unwrap_or(Weight { keys: sums.keys, memory: sums.memory });
        Some(Breach {
            pattern: Some(self.shown(&node.text)),
            keys,
            memory,
            measured: Some(hits * 1000 / secrets.sampled().max(1)),
            allowed: Some(0),
            details: [
                KINDS.with(DetailValue::Parts(parts)),
                SAMPLE.with(DetailValue::Flag(holding.is_none())),
                SAMPLED.with(DetailValue::Count(secrets.sampled())),
                EVIDENCE.with(DetailValue::Parts(evidence)),
            ]
            .into(),
            examples,
            concerned: ConcernedKeys::Holding { pattern: node.text.clone(), kinds },
            ..Breach::default()
        })
    }

    /// Masks secrets in the pattern itself: rare names appear in patterns unchanged.
    fn shown(&self, pattern: &str) -> String {
        let masked = self.inspection.masked_name(pattern.as_bytes());
        masked.map_or_else(|| pattern.to_owned(), |masked| String::from_utf8_lossy(&masked).into_owned())
    }

    /// Returns the number of sampled keys with this kind, or `None` if they may be chance matches.
    fn count(&self, kind: SensitiveKind, secrets: &Secrets) -> Option<u64> {
        let wanted = self.inspection.kinds.has(kind);
        let found = secrets.verdicts().filter(|(found, _)| found.has(kind)).count() as u64;
        let near = secrets.verdicts().filter(|(_, near)| near.has(kind)).count() as u64;
        (wanted && found >= self.min && found > near).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::record;
    use crate::rdb::peek::PeekBuffers;
    use crate::report::Weight;
    use crate::units::Bytes;

    fn rule(policy: &str) -> SensitiveRule {
        let checks =
            crate::policy::testing::checks(&format!("[rules.\"value.sensitive\"]\nseverity = \"must\"\n{policy}"));
        SensitiveRule { inspection: checks.inspection().unwrap(), min: 1 }
    }

    /// Checks a pattern with keys of these names.
    fn judged(rule: &SensitiveRule, names: &[String]) -> Option<Breach> {
        let (mut secrets, mut buffers) = (Secrets::default(), PeekBuffers::default());
        for name in names {
            secrets.observe(&record(name.as_bytes()), &rule.inspection, &mut buffers);
        }
        let facts = PatternSums {
            keys: names.len() as u64,
            memory: Bytes(names.len() as u64 * 80),
            content: Bytes(0),
            name_bytes: Bytes(0),
            without_ttl: Weight::default(),
            last_expiry: None,
            kinds: Default::default(),
            example: None,
        };
        let node = PatternNode {
            expiries: None,
            text: "a:{int}".to_owned(),
            segment: "{int}",
            varies: true,
            parent: None,
            facts: Some(facts),
            ids: None,
            secrets: Some(&secrets),
            tokens: None,
        };
        rule.judge(&Forest { nodes: vec![node], ..Forest::default() }, &Context::default()).pop()
    }

    #[test]
    fn mobile_numbers_are_reported_with_masked_evidence() {
        let names: Vec<String> = (0..200).map(|i| format!("sms:1381234{i:04}")).collect();
        let breach = judged(&rule(""), &names).unwrap();
        assert_eq!(
            (breach.keys, breach.memory, breach.measured, breach.allowed),
            (200, Bytes(16_000), Some(1000), Some(0))
        );
        assert_eq!(breach.details["kinds"].value, DetailValue::Parts(vec![part(SensitiveKind::Phone, 64)]));
        assert_eq!(breach.details["sampled"].value, DetailValue::Count(64));
        assert_eq!(breach.details["sample"].value, DetailValue::Flag(true));
        let DetailValue::Parts(evidence) = &breach.details["evidence"].value else { panic!() };
        let (en, zh) = (&evidence[0].name, evidence[0].name_zh.as_ref().unwrap());
        assert!(en.starts_with("phone 138****") && en.ends_with(" in the name"), "{en}");
        assert!(zh.starts_with("手机号 138****") && zh.ends_with("（key 名中）"), "{zh}");
        assert!(breach.examples[0].key.as_text().unwrap().starts_with("sms:138****"));
    }

    #[test]
    fn sequences_that_pass_through_mobile_numbers_are_not_reported() {
        let names: Vec<String> = (0..200u64).map(|i| format!("order:{}", 10_000_000_000 + i * 397_000_007)).collect();
        assert_eq!(judged(&rule(""), &names), None);
        let cards: Vec<String> = (0..200u64).map(|i| format!("order:{}", 6_212_345_678_900_000 + i)).collect();
        assert_eq!(judged(&rule(""), &cards), None);
    }

    #[test]
    fn policies_choose_kinds() {
        let names = ["a:13812345678".to_owned(), "a:bob@corp.cn".to_owned()];
        let breach = judged(&rule("kinds = [\"email\"]"), &names).unwrap();
        let email = DetailValue::Parts(vec![part(SensitiveKind::Email, 1)]);
        assert_eq!((breach.measured, &breach.details["kinds"].value), (Some(500), &email));
        // All keys were inspected: those without a match do not count.
        assert_eq!((breach.keys, &breach.details["sample"].value), (1, &DetailValue::Flag(false)));
        let params = &mut Params::defaults(META.params);
        params.set("kinds", crate::policy::params::ParamValue::Words(vec!["fax".to_owned()]));
        assert!(build(params).unwrap_err().contains("no kind \"fax\""));
    }
}
