//! Presets as their standards describe them: lists of valid and invalid names, and of values that are too big.
//!
//! Each line is a key and the rules of one group that it breaks under the preset, each preceded by its severity: `!`
//! for must, `+` for should, `-` for hint. Names are checked against the rules about names (`key.*`), values against
//! those about size (`big.*`), so that new rules of other groups change no line here.

mod batches;
mod classes;
mod lifetime;
mod locks;
mod snapshot;
mod suggested;
mod values;

use rdblens::internals::analyze::{BigLimits, Plan, PolicySource, ReadPlan, Unwatched, analyze};
use rdblens::internals::pattern::PatternBuf;
use rdblens::internals::pattern::classify::Classifier;
use rdblens::internals::policy::file::{self, PatternSyntax};
use rdblens::internals::policy::{Checks, Context, Severity, presets};
use rdblens::internals::rdb::payload::Payload;
use rdblens::internals::record::Kind::{self, Hash, List, Set, Stream, String as Text, Zset};
use rdblens::internals::record::{Encoding, Record, ValueFacts};
use rdblens::internals::units::{Bytes, Millis};
use rdblens::report::Report;

use crate::common::program::testdata;

struct Preset {
    checks: Checks,
    classifier: Classifier,
}

impl Preset {
    fn named(name: &str) -> Preset {
        let classifier = Classifier::default();
        let policy =
            presets::load(name, PatternSyntax { separators: b":", classifier: &classifier }).expect("the preset reads");
        Preset { checks: Checks::new(policy, Context::default()).expect("its rules can be made"), classifier }
    }

    fn file(text: &str) -> Preset {
        let classifier = Classifier::default();
        let syntax = PatternSyntax { separators: b":", classifier: &classifier };
        let policy = file::parse(text, "team.toml", syntax).expect("the policy reads");
        Preset { checks: Checks::new(policy, Context::default()).expect("its rules can be made"), classifier }
    }

    /// Returns the rules of a group that a key breaks.
    fn broken(&self, group: &str, record: &Record<'_>) -> Vec<String> {
        let mut pattern = PatternBuf::default();
        self.classifier.classify(record.key, &mut pattern);
        let sign = |severity| match severity {
            Severity::Must => '!',
            Severity::Should => '+',
            Severity::Hint => '-',
        };
        let broken = self.checks.broken_by(record, &pattern).into_iter();
        broken.filter_map(|(id, severity)| Some(format!("{}{}", sign(severity), id.strip_prefix(group)?))).collect()
    }

    fn names(&self, lines: &[(&str, Kind, &str)]) {
        for (name, kind, expected) in lines {
            let record = Record { kind: *kind, ..key(name.as_bytes()) };
            assert_eq!(self.broken("key.", &record).join(" "), *expected, "{name}");
        }
    }

    fn values(&self, lines: &[(Value, &str)]) {
        for (value, expected) in lines {
            assert_eq!(value.with_record(|record| self.broken("big.", record)).join(" "), *expected, "{value:?}");
        }
    }
}

/// Returns a short string key without expiry.
fn key(name: &[u8]) -> Record<'_> {
    Record {
        file: 0,
        db: 0,
        key: name,
        kind: Text,
        module: None,
        encoding: Encoding::Embstr,
        length: Some(10),
        memory: Bytes(80),
        alternatives: &[],
        allocated_elsewhere: &[],
        allocated: Bytes(80),
        value: &ValueFacts::NONE,
        compact: None,
        raw: None,
        disk: Bytes(40),
        content: Bytes(10),
        expires_at: None,
        idle: None,
        freq: None,
        fields_with_ttl: None,
        module_facts: None,
        stream: None,
    }
}

/// Type, length, payload, and whether it expires.
#[derive(Debug, Clone, Copy)]
struct Value(Kind, u64, u64, bool);

impl Value {
    /// Calls `see` with the record of a key that has this value.
    fn with_record<T>(&self, see: impl FnOnce(&Record<'_>) -> T) -> T {
        let Value(kind, length, payload, expires) = *self;
        let expires_at = expires.then_some(Millis(1_700_003_600_000));
        let value = ValueFacts {
            payload: (kind != Text).then_some(Payload { bytes: payload, longest: 0 }),
            ..ValueFacts::NONE
        };
        // Overhead of the server counts for no rule.
        let memory = Bytes(2 * payload);
        see(&Record { kind, length: Some(length), memory, value: &value, expires_at, ..key(b"a:b:c:d") })
    }
}

const KB: u64 = 1024;
const MB: u64 = 1 << 20;
const FOREVER: bool = false;
const EXPIRES: bool = true;

#[test]
fn names_that_remedies_suggest_break_no_rule() {
    let mut suggested = 0;
    for known in presets::PRESETS {
        let preset = Preset::named(known.name);
        let syntax = PatternSyntax { separators: b":", classifier: &preset.classifier };
        for setting in presets::load(known.name, syntax).unwrap().settings {
            let fix = setting.fix.map_or_else(|| setting.rule.meta.fix.en.to_owned(), |fix| fix.en);
            for name in fix.split("becomes `").skip(1).filter_map(|rest| rest.split('`').next()) {
                suggested += 1;
                let broken = preset.broken("key.", &key(name.as_bytes()));
                assert!(broken.is_empty(), "{}: {}: {name} breaks {broken:?}", known.name, setting.rule.meta.id);
            }
        }
    }
    assert!(suggested > 10);
}

/// Returns a name of 129 bytes, one more than the standards suggest.
fn long_name() -> String {
    format!("user:profile:{}", "x".repeat(116))
}

#[test]
fn service_names() {
    let long = long_name();
    Preset::named("service").names(&[
        // ✅ 正确
        ("user:profile:12345", Text, ""),
        ("cache:query:md5hash", Text, ""),
        ("session:token:abc123", Text, ""),
        ("lock:task:processing:456", Text, ""),
        ("queue:email:pending", List, ""),
        ("counter:api:rate:user:789", Text, ""),
        // ❌ 错误
        ("user_profile_12345", Text, "+levels !prefix"),
        ("UserProfile:12345", Text, "!charset +levels !lowercase"),
        ("user:profile:", Text, "!empty-segment"),
        ("12345", Text, "+levels !prefix !starts-with-letter"),
        // 常用前缀约定
        ("cache:user:123", Text, ""),
        ("session:token:xxx", Text, ""),
        ("lock:order:processing:456", Text, ""),
        ("queue:task:pending", List, ""),
        ("counter:daily:visits", Text, ""),
        ("rate:api:user:789", Text, ""),
        ("tmp:import:batch:xxx", Text, ""),
        // The standard's own code has names of two segments, which its format excludes.
        ("user:123", Hash, "+levels"),
        ("recent:user:123", List, ""),
        ("queue:tasks", List, "+levels"),
        ("leaderboard:daily", Zset, "+levels"),
        ("delayed:tasks", Zset, "+levels"),
        ("lock:task:123", Text, ""),
        ("counter:api:calls", Text, ""),
        // 建议 Key 长度不超过 128 字符
        (&long, Text, "+length"),
        (&long[1..], Text, ""),
        // Variants of the format.
        ("{user:1001}:profile", Text, ""),
        ("user:{}:profile", Text, "-hash-tag"),
        ("user::12345", Text, "!empty-segment"),
        (":user:12345", Text, "!empty-segment !prefix !starts-with-letter"),
        ("user:profile:1 2", Text, "!charset !special-chars"),
        ("用户:资料:12345", Text, "!charset !starts-with-letter"),
        ("user:profile:$1", Text, "!charset"),
        ("user:profile:ａ1", Text, "!charset"),
    ]);
}

#[test]
fn hzero_names() {
    let long = long_name();
    Preset::named("hzero").names(&[
        // 模块级固定段 hpfm:fnd:, 服务级固定段 hpfm:
        ("hpfm:fnd:profile", Hash, ""),
        ("hpfm:profile", Hash, "-levels"),
        ("hpfm", Hash, "!levels !prefix"),
        ("hpfm:fnd:", Hash, "!empty-segment"),
        // 简洁性
        ("u:1001:fr:m:42", Text, ""),
        ("user:1001:friends:messages:42", Text, ""),
        (&long, Text, "-length"),
        // 反例：包含空格、换行、单双引号以及其他转义字符
        ("hpfm:fnd:a b", Text, "!special-chars"),
        ("hpfm:fnd:a\nb", Text, "!special-chars"),
        ("hpfm:fnd:'a'", Text, "!special-chars"),
        ("hpfm:fnd:\"a\"", Text, "!special-chars"),
        ("hpfm:fnd:a\\tb", Text, "!special-chars"),
        ("hpfm:fnd:a\tb", Text, "!special-chars"),
        // Without a leading business name; the standard does not mention case, letters and other characters.
        ("12345", Text, "!levels !prefix"),
        ("user_profile_12345", Text, "!levels !prefix"),
        ("Hpfm:fnd:Profile-1|x", Hash, ""),
        ("hpfm:fnd:a;b*c%d&<e>$f", Hash, ""),
        ("用户:基础:资料", Hash, ""),
        ("2024-11-04:fnd:visits", Text, "!prefix"),
        ("hpfm:fnd:“a”", Text, "!special-chars"),
        ("hpfm:fnd:a`b", Text, "!special-chars"),
        // 反例 of another rule: the names are valid.
        ("user:1:name", Text, ""),
        ("user:1:age", Text, ""),
        ("user:1:favor", Text, ""),
    ]);
}

#[test]
fn platform_names() {
    let long = format!("{}:1:2", long_name());
    Preset::named("platform").names(&[
        // 业务名:模块名:表名:唯一标识[:子属性]
        ("live:room:1001:info", Hash, ""),
        ("order:20241104:2001:status", Text, ""),
        ("shop:order:item:1001:price", Text, ""),
        ("live:room:1001", Hash, "+levels"),
        ("live:room", Hash, "+levels"),
        ("12345", Text, "+levels !prefix"),
        ("live:room:1001:", Hash, "!empty-segment"),
        (&long, Text, "-length"),
        // 不要包含空格、换行、引号等不可见或特殊字符
        ("live:room:1001:a b", Hash, "!special-chars"),
        ("live:room:1001:a\n", Hash, "!special-chars"),
        ("live:room:1001:\"a\"", Hash, "!special-chars"),
        ("live:room:1001:「a」", Hash, "!special-chars"),
        ("live:room:1001:in\u{200b}fo", Hash, "!special-chars"),
        ("\u{feff}live:room:1001:info", Hash, "!special-chars"),
        ("live:room:1001:a\u{3000}b", Hash, "!special-chars"),
        ("live:room:1001:a\u{202e}b", Hash, "!special-chars"),
        ("live:room:1001:a&b", Hash, ""),
        // Hash Tag: its own examples have three segments of the four.
        ("{user:1001}:profile", Hash, "+levels"),
        ("{user:1001}:orders", List, "+levels"),
        ("{live:room:1001}:info", Hash, ""),
        ("live:room:{1001}:{info}", Hash, "!hash-tag"),
        ("live:room:{}:info", Hash, "!hash-tag"),
        ("live:room:{1001:info", Hash, "!hash-tag"),
        // A hot key that is split in two.
        ("hotkey:1", Text, "+levels"),
    ]);
}

#[test]
fn strict_names() {
    let long = format!("user:basic.info:{}:string", "x".repeat(106));
    Preset::named("strict").names(&[
        // 业务模块名:业务逻辑含义:其他:value类型; {userid} in the example stands for an id, since braces are not in its character set.
        ("user:basic.info:1001:string", Text, ""),
        ("user:basic.info:{userid}:string", Text, "!charset"),
        ("user:basic.info:1001:hash", Hash, ""),
        ("user:basic.info:1001:set", Set, ""),
        ("user:basic.info:1001:zset", Zset, ""),
        ("user:basic.info:1001:list", List, ""),
        ("user:basic.info:1001:stream", Stream, ""),
        ("user:basic.info:1001:hash", Text, "!type-suffix"),
        ("user:basic.info:1001", Text, "!levels !type-suffix"),
        // 只能出现小写字母、数字、英文点号和英文半角冒号
        ("user:Basic.info:1001:string", Text, "!charset !lowercase"),
        ("user:basic_info:1001:string", Text, "!charset"),
        ("user:basic-info:1001:string", Text, "!charset"),
        ("user:basic info:1001:string", Text, "!charset !special-chars"),
        ("user:basic\ninfo:1001:string", Text, "!charset !special-chars"),
        ("user:'basic':1001:string", Text, "!charset !special-chars"),
        ("user：basic：1001：string", Text, "!charset !levels !prefix !special-chars !type-suffix"),
        // 以英文字母开头
        ("1001:user:basic.info:string", Text, "!prefix !starts-with-letter"),
        (".user:basic.info:1001:string", Text, "!empty-segment !starts-with-letter"),
        ("user:basic..info:1001:string", Text, "!empty-segment"),
        ("user:basic.info.:1001:string", Text, "!empty-segment"),
        ("{user}:basic.info:1001:string", Text, "!charset !starts-with-letter"),
        // 不该使用特别长的key名
        (&long, Text, "+length"),
        // ❌ examples of the other standards
        ("user:profile:", Text, "!empty-segment !levels !type-suffix"),
        ("UserProfile:12345", Text, "!charset !levels !lowercase !type-suffix"),
        ("12345", Text, "!levels !prefix !starts-with-letter !type-suffix"),
        ("user_profile_12345", Text, "!charset !levels !prefix !type-suffix"),
    ]);
}

#[test]
fn aliyun_names() {
    let long = long_name();
    Preset::named("aliyun").names(&[
        // 业务名:表名:id
        ("ugc:video:1", Text, ""),
        ("ugc:1", Text, ""),
        ("12345", Text, "-levels -prefix"),
        ("ugc:video:", Text, "!empty-segment"),
        // 简洁性
        ("u:1001:fr:m:42", Text, ""),
        (&long, Text, "-length"),
        // 理论上只应该包含，字母、数字、下划线与括号
        ("Ugc:video_list(1)[2]:{3}", Text, ""),
        ("ugc:video-1", Text, "!charset"),
        ("ugc:video.1", Text, "!charset"),
        ("ugc:视频:1", Text, "!charset"),
        // 反例：包含空格、换行、单双引号以及其他转义字符
        ("ugc:video:a b", Text, "!charset !special-chars"),
        ("ugc:video:a\nb", Text, "!charset !special-chars"),
        ("ugc:video:'a'", Text, "!charset !special-chars"),
        ("ugc:video:\"a\"", Text, "!charset !special-chars"),
        ("ugc:video:a\\b", Text, "!charset !special-chars"),
        // 使用hashtag功能
        ("{ugc:1}:{2}", Text, "-hash-tag"),
        // 反例 and 正例 of another rule: the names are valid.
        ("user:1:name", Text, ""),
        ("user:1", Hash, ""),
    ]);
}

#[test]
fn default_names() {
    let long = long_name();
    Preset::named("default").names(&[
        ("user:profile:12345", Text, ""),
        ("hpfm:fnd:profile", Hash, ""),
        ("live:room:1001:info", Hash, ""),
        ("order:20241104:2001:status", Text, ""),
        ("{user:1001}:profile", Hash, ""),
        ("user:basic.info:{userid}:string", Text, ""),
        ("ugc:video:1", Text, ""),
        ("user:1:name", Text, ""),
        // Only some of the standards forbid capitals.
        ("UserProfile:12345", Text, ""),
        ("user_profile_12345", Text, "!prefix"),
        ("12345", Text, "!prefix"),
        ("user:profile:", Text, "!empty-segment"),
        ("user:pro file:1", Text, "!special-chars"),
        (&long, Text, "+length"),
    ]);
}

#[test]
fn a_preset_without_rules_finds_nothing() {
    let none = Preset::named("none");
    none.names(&[("", Text, ""), ("A b", Text, "")]);
    none.values(&[(Value(Zset, 2_000_000, 200 * MB, EXPIRES), "")]);
}

#[test]
fn service_values() {
    Preset::named("service").values(&[
        // 禁止存储大 Value (超过 1MB), of whatever type
        (Value(Text, 10 * KB, 12 * KB, EXPIRES), ""),
        (Value(Text, 10 * KB + 1, 12 * KB, FOREVER), "+string"),
        (Value(Text, MB, MB, FOREVER), "+string"),
        (Value(Text, MB + 1, MB + 64, FOREVER), "!string !total"),
        (Value(Hash, 10, MB + 1, FOREVER), "!total"),
        (Value(List, 5_001, 100 * KB, EXPIRES), "!elements +expiring"),
    ]);
}

/// Checks the demands that `hzero`, `aliyun`, `platform` and `default` share: 10 KB, 5000 elements.
fn common_values(preset: &str, total: &str, expiring: &str) {
    let with = |parts: &[&str]| parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ");
    // 集合类型(Hash, List, Set, ZSet) … 总价值大小过大
    let of_string = if preset == "platform" { "" } else { total };
    Preset::named(preset).values(&[
        (Value(Text, 10 * KB, 10 * KB, EXPIRES), ""),
        (Value(Text, 10 * KB + 1, 10 * KB + 1, FOREVER), "!string"),
        // 非字符串的bigkey … 防止bigkey过期时间自动删除问题
        (Value(Text, 10 * KB + 1, 10 * KB + 1, EXPIRES), "!string"),
        (Value(Text, MB, MB, FOREVER), "!string"),
        (Value(Text, MB + 1, MB + 1, FOREVER), &with(&["!string", of_string])),
        (Value(Hash, 5_000, 400 * KB, EXPIRES), ""),
        (Value(Hash, 5_001, 400 * KB, FOREVER), "!elements"),
        (Value(Set, 5_001, 400 * KB, FOREVER), "!elements"),
        // The sentence names hash, list, set and zset.
        (Value(Stream, 5_001, 400 * KB, EXPIRES), ""),
        // 一个包含200万个元素的list
        (Value(List, 2_000_000, 90 * MB, FOREVER), &with(&["!elements", total])),
        // 一个200万的zset设置1小时过期
        (Value(Zset, 2_000_000, 200 * MB, EXPIRES), &with(&["!elements", expiring, total])),
        (Value(Zset, 2_000_000, 200 * MB, FOREVER), &with(&["!elements", total])),
        (Value(Hash, 10, MB, EXPIRES), ""),
        (Value(Hash, 10, MB + 1, EXPIRES), total),
    ]);
}

#[test]
fn hzero_values() {
    common_values("hzero", "+total", "!expiring");
}

#[test]
fn platform_values() {
    common_values("platform", "!total", "+expiring");
}

#[test]
fn aliyun_values() {
    // The passage about expiring big keys is struck out.
    common_values("aliyun", "+total", "");
}

#[test]
fn default_values() {
    common_values("default", "+total", "+expiring");
}

#[test]
fn strict_values() {
    Preset::named("strict").values(&[
        // String类型控制在10KB以内，元素个数不要超过5000；每个key不要超过10Kb
        (Value(Text, 100, 200, EXPIRES), ""),
        (Value(Text, 10 * KB, 10 * KB, EXPIRES), ""),
        (Value(Text, 10 * KB + 1, 12 * KB, FOREVER), "!string !total"),
        (Value(Set, 5_001, 10 * KB, FOREVER), "!elements"),
        (Value(Set, 500, 10 * KB, FOREVER), ""),
        (Value(Set, 500, 10 * KB + 1, FOREVER), "!total"),
        // Hash类元素个数建议尽量不要超过100，集合类、链表类数据尽量不要超过10k
        (Value(Hash, 100, 8 * KB, EXPIRES), ""),
        (Value(Hash, 101, 8 * KB, EXPIRES), "+hash-fields"),
        (Value(List, 101, 8 * KB, EXPIRES), ""),
        (Value(List, 10_000, 400 * KB, FOREVER), "!elements !total"),
        (Value(List, 10_001, 400 * KB, FOREVER), "+collection-hard !elements !total"),
        (Value(Zset, 2_000_000, 200 * MB, EXPIRES), "+collection-hard !elements +expiring !total"),
    ]);
}

#[test]
fn a_dictionary_brings_the_rule_about_registered_keys_into_force() {
    let dictionary = "[[dictionary]]\npattern = \"user:profile:{int}\"\ntype = \"hash\"\nowner = \"accounts\"\n";
    let severities =
        [("service", '+'), ("hzero", '!'), ("platform", '!'), ("strict", '!'), ("aliyun", '+'), ("default", '+')];
    for (preset, sign) in severities {
        let preset = Preset::file(&format!("extends = \"{preset}\"\n{dictionary}"));
        let registered = |name: &str, kind| {
            let broken = preset.broken("key.", &Record { kind, ..key(name.as_bytes()) });
            broken.into_iter().find(|rule| rule.ends_with("registered"))
        };
        assert_eq!(registered("user:profile:1", Hash), None);
        assert_eq!(registered("user:profile:1", Text), Some(format!("{sign}registered")));
        assert_eq!(registered("order:profile:1", Hash), Some(format!("{sign}registered")));
    }
    let ids = Preset::named("platform").checks.policy.settings.into_iter().map(|setting| setting.rule.meta.id);
    assert!(!ids.into_iter().any(|id| id == "key.registered"), "without a dictionary it is not in force");
}

fn report(policy: &str, big: BigLimits) -> Report {
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    plan.policy = PolicySource::Preset(policy.to_owned());
    plan.big = big;
    analyze(&[testdata().join("dumps/shop.rdb")], &plan, &Unwatched).expect("the dump reads")
}

fn keys(report: &Report, rule: &str) -> u64 {
    report.findings.list.iter().filter(|finding| finding.rule == rule).map(|finding| finding.keys).sum()
}

#[test]
fn big_keys_and_findings_have_the_same_limits() {
    let rules = |policy| report(policy, BigLimits::default()).big_keys.rules;
    let strict = rules("strict");
    assert_eq!((strict.string_bytes, strict.elements, strict.payload), (10 * KB, 5_000, Some(Bytes(10 * KB))));
    let service = rules("service");
    assert_eq!((service.string_bytes, service.payload, service.memory), (10 * KB, Some(Bytes(MB)), None));
    let none = rules("none");
    assert_eq!((none.string_bytes, none.elements, none.payload, none.memory), (10 * KB, 5_000, None, None));
}

#[test]
fn limits_of_the_user_are_those_of_section_and_rules() {
    let limits = BigLimits { string_bytes: Some(8), elements: Some(1), memory: Some(Bytes(64)) };
    for policy in ["default", "service", "strict"] {
        let report = report(policy, limits);
        let big = &report.big_keys;
        assert_eq!((big.rules.string_bytes, big.rules.elements, big.rules.memory), (8, 1, Some(Bytes(64))));
        // Each key takes more than 64 bytes of memory; no rule has that limit.
        let longer = keys(&report, "big.string") + keys(&report, "big.elements");
        assert!(longer > 0 && longer < big.keys, "{policy}");
        assert!(big.expiring >= keys(&report, "big.expiring"), "{policy}");
    }
    assert_eq!(report("none", limits).findings.list.len(), 0);
}
