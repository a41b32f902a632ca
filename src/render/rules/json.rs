//! JSON form of rules, with texts in both languages.

use serde_json::{Map, Value, json};

use super::citations::{Citation, citations};
use super::{sample, settings_of};
use crate::policy::Policy;
use crate::policy::dictionary::TtlClass;
use crate::policy::params::{self, ParamDefault, Params};
use crate::policy::rule::{Rule, RuleMeta, Text};
use crate::policy::sample::RuleSample;
use crate::policy::settings::RuleSetting;
use crate::policy::wording::RuleWording;
use crate::render::Lang;
use crate::report::{Passage, Wording};
use crate::units::Bytes;

/// Name and version of the form.
pub const SCHEMA: &str = "rdblens.rules/1";

/// Returns the rules with the settings of `policies` and their TTL classes, and with the passages that the presets cite.
pub fn json(rules: &[&Rule], policies: &[Policy], presets: &[Policy]) -> Value {
    let rules: Vec<Value> = rules.iter().map(|rule| rule_json(rule.meta, policies, presets)).collect();
    let classes = policies.iter().map(|policy| (policy.name.clone(), policy.classes.iter().map(class).collect()));
    let classes: Map<String, Value> = classes.collect();
    json!({ "schema": SCHEMA, "rules": rules, "ttl_classes": classes })
}

fn class(class: &TtlClass) -> Value {
    let TtlClass { name, patterns, kinds, locks, required, max, jitter, budget, line: _ } = class;
    json!({
        "name": name,
        "patterns": patterns.iter().map(|pattern| &pattern.text).collect::<Vec<_>>(),
        "types": kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "locks": locks,
        "required": required,
        "max_ms": max,
        "jitter_ms": jitter,
        "budget": budget.map(|Bytes(most)| most),
    })
}

fn rule_json(meta: &RuleMeta, policies: &[Policy], presets: &[Policy]) -> Value {
    let texts = RuleWording::of(meta, &Params::defaults(meta.params));
    let chapters = citations(presets, meta.id).into_iter().flat_map(chapters);
    let params = meta.params.iter().map(|spec| {
        json!({
            "name": spec.name,
            "type": type_name(spec.default),
            "default": value(&spec.default.value()),
            "what": text(spec.what),
        })
    });
    let of = |policy: &Policy| settings_of(policy, meta.id).map(setting).collect::<Vec<_>>();
    let policies: Map<String, Value> = policies.iter().map(|policy| (policy.name.clone(), of(policy).into())).collect();
    json!({
        "rule": meta.id,
        "severity": meta.severity.name(),
        "what": both(texts.demand),
        "why": text(meta.why),
        "fix": both(texts.fix),
        "chapters": chapters.collect::<Vec<_>>(),
        "unit": meta.unit.map(|unit| unit.name()),
        "params": params.collect::<Vec<_>>(),
        "policies": policies,
        "passes": example(&meta.passes),
        "fails": example(&meta.fails),
    })
}

/// Returns a passage, once for each preset that cites it.
fn chapters(Citation { passage, policies }: Citation<'_>) -> impl Iterator<Item = Value> {
    let Passage { document, chapter, quote } = passage;
    policies
        .into_iter()
        .map(move |preset| json!({ "preset": preset, "document": document, "heading": chapter, "quote": quote }))
}

fn setting(setting: &RuleSetting) -> Value {
    let fix = setting.fix.as_ref().map(|_| both(RuleWording::in_force(setting).fix));
    let params: Map<String, Value> = setting.params.iter().map(|(name, set)| (name.to_owned(), value(set))).collect();
    json!({ "severity": setting.severity.name(), "params": params, "source": setting.source, "fix": fix })
}

fn value(value: &params::ParamValue) -> Value {
    match value {
        params::ParamValue::Number(number) => (*number).into(),
        params::ParamValue::Words(words) => words.clone().into(),
        params::ParamValue::Flag(flag) => (*flag).into(),
    }
}

fn type_name(usual: ParamDefault) -> &'static str {
    match usual {
        ParamDefault::Int(_) => "count",
        ParamDefault::Bytes(_) => "bytes",
        ParamDefault::Span(_) => "milliseconds",
        ParamDefault::Share(_) => "permille",
        ParamDefault::Words(_) => "words",
        ParamDefault::Flag(_) => "flag",
    }
}

fn text(text: Text) -> Value {
    json!({ "en": text.en, "zh": text.zh })
}

fn both(Wording { en, zh }: Wording) -> Value {
    json!({ "en": en, "zh": zh })
}

fn example(shown: &RuleSample) -> Value {
    json!({ "en": sample::lines(shown, Lang::En), "zh": sample::lines(shown, Lang::Zh) })
}
