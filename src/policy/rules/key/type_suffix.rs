//! `key.type-suffix`: the last segment of a name is a word for the type of the value.
//!
//! Words are compared without case (`key.lowercase` checks case). Bitmaps and HyperLogLogs are strings to the server and
//! geospatial indexes are sorted sets, so their words belong to these types. Values of modules share the words of their types. Types
//! without words are not checked.

use std::borrow::Cow;

use crate::pattern::segment::Separators;
use crate::pattern::slot::untagged;
use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::type_words::TypeWords;
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.type-suffix",
    severity: Severity::Must,
    problem: Text { en: "last segment does not name the type of the value", zh: "末段未标明 value 的类型" },
    what: Text { en: "the last segment names the type of the value", zh: "末段标明 value 的类型" },
    why: Text {
        en: "The name then tells which commands apply to the key, and applications do not encounter values of an \
             unexpected type.",
        zh: "看到 key 名就知道可用哪些命令，应用也不会遇到类型与预期不符的 value。",
    },
    fix: Text {
        en: "end the name with the type: `user:basic.info:1001` becomes `user:basic.info:1001:string`",
        zh: "key 名以类型结尾：`user:basic.info:1001` 改为 `user:basic.info:1001:string`",
    },
    params: &[ParamSpec {
        name: "words",
        what: Text {
            en: "words for each type, such as \"hash=hash,map\"",
            zh: "各类型可用的后缀，例如 \"hash=hash,map\"",
        },
        default: ParamDefault::Words(&[
            "string=string,str,bitmap,hyperloglog,hll",
            "list=list",
            "set=set",
            "zset=zset,sortedset,sorted.set,geo,geospatial",
            "hash=hash,map",
            "stream=stream",
            "array=array",
            "module=module,json,rejson-rl,vectorset,vector,vset,bloom,bf,cuckoo,cf,cms,topk,tdigest,timeseries,ts",
        ]),
    }],
    unit: None,
    passes: RuleSample::of(&[
        SampleKey::named("user:basic.info:1001:string"),
        SampleKey::of("user:followed.by:1001:set", Kind::Set, 10, 300),
    ]),
    fails: RuleSample::of(&[SampleKey::of("user:followed.by:1001:list", Kind::Set, 10, 300)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(TypeSuffix::read(params.words("words"))?)))
}

/// Demands a word for the type as last segment.
#[derive(Debug, Clone, Default)]
pub struct TypeSuffix {
    words: TypeWords,
}

impl TypeSuffix {
    /// Parses lines such as `hash=hash,map`; fails with a message if one is malformed.
    pub fn read(lines: &[String]) -> Result<TypeSuffix, String> {
        let mut rule = TypeSuffix::default();
        for line in lines {
            let types = || KINDS.map(Kind::name).join(", ");
            let Some((name, words)) = line.split_once('=') else {
                return Err(format!("{line:?} must be a type and its words, such as \"hash=hash,map\""));
            };
            let kind = KINDS.into_iter().find(|kind| kind.name() == name.trim());
            let kind = kind.ok_or_else(|| format!("{name:?} is not a type; the types are {}", types()))?;
            let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
            words.for_each(|word| rule.words.add(kind, word.as_bytes()));
        }
        Ok(rule)
    }
}

/// Returns whether a segment is a word for a type unless a policy sets others, in whatever case.
pub fn is_usual_word(segment: &str) -> bool {
    let ParamDefault::Words(lines) = META.params[0].default else { return false };
    let words = lines.iter().filter_map(|line| line.split_once('=')).flat_map(|(_, words)| words.split(','));
    words.into_iter().any(|word| word.eq_ignore_ascii_case(segment))
}

/// Types that can have words.
const KINDS: [Kind; Kind::ALL.len()] = Kind::ALL;

impl KeyRule for TypeSuffix {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let last = last_segment(key.name(), &key.context.separators);
        let breaks = self.words.not_named_by(&last) >> key.record.kind as usize & 1 == 1;
        breaks.then_some(Violation { measured: 0, allowed: 1 })
    }

    fn type_words(&self) -> Option<&TypeWords> {
        Some(&self.words)
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }
}

/// Returns the last segment without the braces of a hash tag. Copies only if it may contain one.
pub fn last_segment<'a>(name: &'a [u8], separators: &Separators) -> Cow<'a, [u8]> {
    let divider = |name: &[u8]| name.iter().rposition(|&byte| separators.contains(byte));
    let after = |divider: Option<usize>| divider.map_or(0, |at| at + 1);
    let last = divider(name);
    if name[last.unwrap_or(0)..].iter().any(|byte| matches!(byte, b'{' | b'}')) {
        let whole = untagged(name).concat();
        return Cow::Owned(whole[after(divider(&whole))..].to_vec());
    }
    Cow::Borrowed(&name[after(last)..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::record::Record;

    fn rule(lines: &[&str]) -> Result<TypeSuffix, String> {
        TypeSuffix::read(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>())
    }

    fn usual() -> TypeSuffix {
        let ParamDefault::Words(words) = META.params[0].default else { unreachable!() };
        rule(words).unwrap()
    }

    fn breaks(kind: Kind, name: &str) -> bool {
        let record = Record { kind, ..record(name.as_bytes()) };
        check_record(&usual(), &record, &Context::default()).is_some()
    }

    #[test]
    fn every_type_has_its_words() {
        let good = [
            (Kind::String, "a:string"),
            (Kind::String, "a:Str"),
            (Kind::String, "sign.in:bitmap"),
            (Kind::List, "a:list"),
            (Kind::Set, "a:set"),
            (Kind::Zset, "a:sortedset"),
            (Kind::Zset, "a:zset"),
            (Kind::Hash, "a:map"),
            (Kind::Stream, "a:stream"),
            (Kind::Array, "a:array"),
            (Kind::Module, "a:json"),
            (Kind::Module, "a:VectorSet"),
        ];
        good.into_iter().for_each(|(kind, name)| assert!(!breaks(kind, name), "{name}"));
        let bad = [
            (Kind::Hash, "a:string"),
            (Kind::String, "a:1001"),
            (Kind::Set, "a:set:"),
            (Kind::List, "a:mylist"),
            (Kind::Module, "a:hash"),
        ];
        bad.into_iter().for_each(|(kind, name)| assert!(breaks(kind, name), "{name}"));
    }

    #[test]
    fn types_without_words_are_not_checked() {
        let record = Record { kind: Kind::Hash, ..record(b"a") };
        assert_eq!(check_record(&rule(&["string=string"]).unwrap(), &record, &Context::default()), None);
    }

    #[test]
    fn malformed_lines_are_rejected() {
        assert!(rule(&["hash"]).unwrap_err().contains("hash=hash,map"));
        assert!(rule(&["table=table"]).unwrap_err().contains("types are string, list"));
    }

    proptest::proptest! {
        #[test]
        fn the_last_segment_is_the_last_of_all(name in "[a:{}.]{0,8}", separators in "[:{}.]{1,2}") {
            let context = Context { separators: Separators::of(separators.as_bytes()), ..Context::default() };
            let record = record(name.as_bytes());
            let view = KeyView { record: &record, context: &context, matched: Default::default() };
            let whole = view.untagged();
            let last = context.separators.split(&whole).last().unwrap_or_default();
            proptest::prop_assert_eq!(&last_segment(view.name(), &context.separators)[..], last);
        }
    }
}
