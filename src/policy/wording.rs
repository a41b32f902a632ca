//! Texts of rules with parameters filled in, and values in the syntax of policy files.
//!
//! A parameter name in braces or backticks, such as `{max}`, is replaced by its value with the unit: `10 KiB`, `24 hours`,
//! `30 %`. In Chinese texts the bare name is replaced, too. A unit that follows the name in the text is not repeated.

use std::borrow::Cow;

use super::params::{ParamDefault, ParamSpec, ParamValue, Params};
use super::rule::RuleMeta;
use super::settings::RuleSetting;
use crate::report::{Text, Wording};
use crate::wording::{NOUNS, grouped, singular};

/// Fills the values of parameters into a text.
pub fn filled(text: Text, specs: &[ParamSpec], params: &Params) -> Wording {
    filled_in(text.into(), specs, params, BareNames::Replaced)
}

/// Treatment of names of parameters in Chinese texts without braces or backticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BareNames {
    /// The text is ours: they are replaced.
    Replaced,
    /// The text is of a policy: `max` may be a word of it.
    Kept,
}

fn filled_in(text: Wording, specs: &[ParamSpec], params: &Params, names: BareNames) -> Wording {
    let Wording { mut en, mut zh } = text;
    for spec in specs {
        let Some((_, value)) = params.iter().find(|(name, _)| *name == spec.name) else { continue };
        let [in_en, in_zh] = words(spec.default, value);
        en = fill(&en, spec.name, &in_en, " bytes", BareNames::Kept);
        zh = fill(&zh, spec.name, &in_zh, " 字节", names);
    }
    Wording { en, zh }
}

/// Texts of a rule with the parameters in effect filled in.
#[derive(Debug, Clone, Default)]
pub struct RuleWording {
    /// Headline of a violation.
    pub problem: Wording,
    /// Demand of the rule.
    pub demand: Wording,
    /// Remedy for a violation.
    pub fix: Wording,
}

impl RuleWording {
    /// Returns the texts of a rule with these parameters.
    pub fn of(meta: &RuleMeta, params: &Params) -> RuleWording {
        let short = |text| short(text, meta.params, params);
        RuleWording {
            problem: short(meta.problem),
            demand: short(meta.what),
            fix: filled(meta.fix, meta.params, params),
        }
    }

    /// Returns the texts of a rule as a policy sets it.
    pub fn in_force(setting: &RuleSetting) -> RuleWording {
        let meta = setting.rule.meta;
        let texts = RuleWording::of(meta, &setting.params);
        match &setting.fix {
            Some(fix) => {
                let fix = filled_in(fix.clone(), meta.params, &setting.params, BareNames::Kept);
                RuleWording { fix, ..texts }
            }
            None => texts,
        }
    }
}

/// Adapts a headline or demand to limits of zero and one.
fn short(text: Text, specs: &[ParamSpec], params: &Params) -> Wording {
    let without_limit = params.iter().any(|(_, value)| *value == ParamValue::Number(0));
    // First, as values may have brackets, too.
    let (en, zh) = (optional(text.en, without_limit), optional(text.zh, without_limit));
    let Wording { en, zh } = filled_in(Wording { en, zh }, specs, params, BareNames::Replaced);
    Wording { en: one(&en), zh }
}

/// Removes the part in square brackets if `dropped`, otherwise only the brackets.
fn optional(text: &str, dropped: bool) -> String {
    match text.split_once('[').and_then(|(before, rest)| Some((before, rest.split_once(']')?))) {
        Some((before, (_, after))) if dropped => format!("{before}{after}"),
        Some((before, (inner, after))) => format!("{before}{inner}{after}"),
        None => text.to_owned(),
    }
}

/// Replaces `1 databases` by `one database`.
fn one(text: &str) -> String {
    let mut words: Vec<Cow<'_, str>> = text.split(' ').map(Cow::Borrowed).collect();
    for at in 1..words.len() {
        if words[at - 1] == "1"
            && let Some(singular) = singular_of(&words[at])
        {
            (words[at - 1], words[at]) = ("one".into(), singular.into());
        }
    }
    words.join(" ")
}

/// Returns the singular of a plural noun, which may have a mark behind it.
fn singular_of(word: &str) -> Option<String> {
    let noun = word.trim_end_matches([',', ';', ':', ')']);
    let mark = &word[noun.len()..];
    let known = NOUNS.iter().find(|(many, _)| *many == noun).map(|(_, one)| *one);
    let one = || noun.strip_suffix('s').filter(|one| one.len() > 2 && !one.ends_with('s'));
    known.or_else(one).map(|one| format!("{one}{mark}"))
}

/// Replaces the name of a parameter by `value`; drops `unit` after it if the value has a unit of its own.
fn fill(text: &str, name: &str, value: &str, unit: &str, names: BareNames) -> String {
    let mut filled = text.to_owned();
    for mark in [format!("`{name}`"), format!("{{{name}}}")] {
        filled = filled.replace(&format!("{mark}{unit}"), &with_unit(value, unit)).replace(&mark, value);
    }
    if names == BareNames::Kept {
        return filled;
    }
    let (mut done, mut rest) = (String::new(), filled.as_str());
    while let Some(place) = rest.find(name) {
        let (before, from) = rest.split_at(place);
        let behind = &from[name.len()..];
        let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '`' | '{' | '}' | '/');
        let alone = !before.ends_with(joins) && !behind.starts_with(joins);
        done.push_str(before);
        match behind.strip_prefix(unit) {
            Some(behind) if alone => {
                done.push_str(&with_unit(value, unit));
                // Without the Chinese unit, the text goes on behind Latin letters.
                if done.ends_with(|c: char| c.is_ascii_alphanumeric())
                    && behind.starts_with(|c: char| !c.is_ascii() && c.is_alphanumeric())
                {
                    done.push(' ');
                }
                rest = behind;
            }
            _ => {
                done.push_str(if alone { value } else { name });
                // The blank that parts a name from Chinese text is not needed behind a Chinese unit.
                let is_chinese = |c: char| !c.is_ascii();
                rest = match behind.strip_prefix(' ') {
                    Some(text) if alone && value.ends_with(is_chinese) && text.starts_with(is_chinese) => text,
                    _ => behind,
                };
            }
        }
    }
    done + rest
}

fn with_unit(value: &str, unit: &str) -> String {
    if value.bytes().all(|byte| byte.is_ascii_digit() || byte == b',') {
        format!("{value}{unit}")
    } else {
        value.to_owned()
    }
}

/// Formats a value for readers, in English and Chinese.
pub fn words(default: ParamDefault, value: &ParamValue) -> [String; 2] {
    let both = |text: String| [text.clone(), text];
    match (default, value) {
        (ParamDefault::Bytes(_), ParamValue::Number(number)) => match in_units(*number, BYTES) {
            (number, "") => [singular(format!("{} bytes", grouped(number))), format!("{} 字节", grouped(number))],
            (number, unit) => both(format!("{} {unit}", grouped(number))),
        },
        (ParamDefault::Span(_), ParamValue::Number(number)) => {
            let (number, unit) = in_units(*number, SPANS);
            let (en, zh) = match unit {
                "d" => ("day", "天"),
                "h" => ("hour", "小时"),
                "min" => ("minute", "分钟"),
                "s" => ("second", "秒"),
                _ => ("millisecond", "毫秒"),
            };
            let plural = if number == 1 { "" } else { "s" };
            [format!("{} {en}{plural}", grouped(number)), format!("{} {zh}", grouped(number))]
        }
        (ParamDefault::Share(_), ParamValue::Number(number)) => both(percent(*number, " %")),
        (_, ParamValue::Number(number)) => both(grouped(*number)),
        (_, ParamValue::Words(words)) => [words.join(", "), words.join("、")],
        (_, ParamValue::Flag(flag)) => both(flag.to_string()),
    }
}

/// Formats a value in the syntax of policy files.
pub fn toml(default: ParamDefault, value: &ParamValue) -> String {
    match (default, value) {
        (ParamDefault::Bytes(_), ParamValue::Number(number)) => match in_units(*number, BYTES) {
            (number, "") => number.to_string(),
            (number, unit) => format!("\"{number}{}\"", unit.replace('i', "")),
        },
        (ParamDefault::Span(_), ParamValue::Number(number)) => {
            let (number, unit) = in_units(*number, SPANS);
            format!("\"{number}{unit}\"")
        }
        (ParamDefault::Share(_), ParamValue::Number(number)) => format!("\"{}\"", percent(*number, "%")),
        (_, ParamValue::Number(number)) => number.to_string(),
        (_, ParamValue::Words(words)) => {
            let words: Vec<_> = words.iter().map(|word| ::toml::Value::from(word.as_str()).to_string()).collect();
            format!("[{}]", words.join(", "))
        }
        (_, ParamValue::Flag(flag)) => flag.to_string(),
    }
}

/// Formats all parameters in the syntax of policy files: `max = 128, share = "30%"`.
pub fn settings(specs: &[ParamSpec], params: &Params) -> String {
    let set =
        specs.iter().zip(params.iter()).map(|(spec, (name, value))| format!("{name} = {}", toml(spec.default, value)));
    set.collect::<Vec<_>>().join(", ")
}

/// Units by descending size.
type Units = &'static [(u64, &'static str)];

const BYTES: Units = &[(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "")];
const SPANS: Units = &[(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")];

/// Expresses a number in the largest unit that divides it. One day and one minute become 24 hours and 60 seconds, as is
/// usual in policies.
fn in_units(number: u64, units: Units) -> (u64, &'static str) {
    let mut fitting = units.iter().filter(|(size, _)| number > 0 && number.is_multiple_of(*size));
    let single = |unit: &(u64, &str)| number == unit.0 && matches!(unit.1, "d" | "min");
    // Zero has the smallest unit, seconds for time spans.
    let zero = units.iter().rfind(|unit| unit.1 != "ms");
    let found = fitting.find(|unit| !single(unit)).or(if number == 0 { zero } else { units.last() });
    found.map_or((number, ""), |(size, unit)| (number / size, *unit))
}

fn percent(permille: u64, sign: &str) -> String {
    match permille % 10 {
        0 => format!("{}{sign}", permille / 10),
        tenth => format!("{}.{tenth}{sign}", permille / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(default: ParamDefault) -> ParamSpec {
        ParamSpec { name: "max", what: Text { en: "the most", zh: "最多" }, default }
    }

    fn wording(en: &'static str, zh: &'static str, default: ParamDefault) -> [String; 2] {
        let specs = [spec(default)];
        let Wording { en, zh } = filled(Text { en, zh }, &specs, &Params::defaults(&specs));
        [en, zh]
    }

    #[test]
    fn names_of_parameters_become_their_values_with_units() {
        let bytes = ParamDefault::Bytes(10_240);
        assert_eq!(wording("at most `max` bytes", "不超过 max 字节", bytes), ["at most 10 KiB", "不超过 10 KiB"]);
        assert_eq!(wording("at most {max}", "不超过 {max}", bytes), ["at most 10 KiB", "不超过 10 KiB"]);
        assert_eq!(
            wording("at most {max} bytes", "不超过 max 字节", ParamDefault::Bytes(10_241)),
            ["at most 10,241 bytes", "不超过 10,241 字节"]
        );
        assert_eq!(wording("{max} bytes", "max 字节", ParamDefault::Int(128)), ["128 bytes", "128 字节"]);
        assert_eq!(wording("{max}", "{max}", ParamDefault::Span(86_400_000)), ["24 hours", "24 小时"]);
        assert_eq!(wording("{max}", "`max`", ParamDefault::Span(604_800_000)), ["7 days", "7 天"]);
        assert_eq!(wording("{max}", "{max}", ParamDefault::Share(305)), ["30.5 %", "30.5 %"]);
        assert_eq!(wording("{max}", "{max}", ParamDefault::Words(&["a", "b"])), ["a, b", "a、b"]);
    }

    #[test]
    fn other_words_stay() {
        let text = "set maxmemory, `maxmemory`, {uid} and max";
        assert_eq!(
            wording(text, "maxmemory、`max:{uid}` 与 max-len", ParamDefault::Int(1)),
            [text, "maxmemory、`max:{uid}` 与 max-len"]
        );
    }

    #[test]
    fn values_are_written_in_the_syntax_of_policies() {
        let write = |default: ParamDefault| toml(default, &default.value());
        assert_eq!(write(ParamDefault::Bytes(10_240)), "\"10KB\"");
        assert_eq!(write(ParamDefault::Bytes(10_241)), "10241");
        assert_eq!(write(ParamDefault::Span(1_800_000)), "\"30min\"");
        assert_eq!(write(ParamDefault::Span(60_000)), "\"60s\"");
        assert_eq!((write(ParamDefault::Span(0)), write(ParamDefault::Bytes(0))), ("\"0s\"".into(), "0".into()));
        assert_eq!(write(ParamDefault::Share(800)), "\"80%\"");
        assert_eq!(write(ParamDefault::Words(&["uv", "d\"u"])), "[\"uv\", 'd\"u']");
        assert_eq!(write(ParamDefault::Flag(true)), "true");
        assert_eq!(
            settings(&[spec(ParamDefault::Int(0))], &Params::defaults(&[spec(ParamDefault::Int(0))])),
            "max = 0"
        );
    }

    #[test]
    fn problems_read_well_with_a_limit_of_one_or_none() {
        assert_eq!(one("at most 1 owners of the dictionary"), "at most one owner of the dictionary");
        assert_eq!(one("keys in more than 1 databases"), "keys in more than one database");
        assert_eq!(
            one("collection of more than 1 elements, far too many"),
            "collection of more than one element, far too many"
        );
        assert_eq!(one("more than 1 entries, more than 1 businesses"), "more than one entry, more than one business");
        assert_eq!(one("keys in more than 16 databases"), "keys in more than 16 databases");
        let text = "JSON object[ of more than 4 KiB] stored as a string";
        assert_eq!(optional(text, false), "JSON object of more than 4 KiB stored as a string");
        assert_eq!(optional(text, true), "JSON object stored as a string");
    }
}
