//! Findings of the sample report: every kind of rule, every list of the section in use.

use rdblens::internals::units::Bytes;
use rdblens::report::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Returns the section on findings.
pub fn findings() -> Findings {
    let row = |severity: Severity, findings, keys, memory: u64| SeverityRow {
        severity,
        findings,
        keys,
        memory: Bytes(memory),
    };
    Findings {
        baseline: None,
        policy: "shop\u{202e}".into(),
        extends: Some("platform".into()),
        settings: [("key.length".into(), "5f0c3a9be2d17748".to_owned())].into(),
        checked: [
            "big.elements",
            "key.empty-segment",
            "key.length",
            "key.prefix",
            "key.special-chars",
            "memory.headroom",
            "ttl.missing",
            "type.split-object",
        ]
        .map(Word::from)
        .to_vec(),
        not_evaluated: vec![
            NotEvaluated {
                rule: "key.registered".into(),
                severity: Severity::Should,
                reason: Wording {
                    en: "the policy has no data dictionary".into(), zh: "策略中没有数据字典".into()
                },
                remedy: Wording { en: "add one".into(), zh: "添加一个".into() },
                flag: None,
                applies: true,
            },
            NotEvaluated {
                rule: "memory.growth".into(),
                severity: Severity::Must,
                reason: Wording { en: "there is no earlier report".into(), zh: "没有此前的报告".into() },
                remedy: Wording { en: "give --baseline".into(), zh: "用 --baseline 给出".into() },
                flag: Some("--baseline".into()),
                applies: true,
            },
        ],
        severities: vec![
            row(Severity::Must, 4, 5_025, 452 * MIB),
            row(Severity::Should, 2, 500_012, 704 * MIB),
            row(Severity::Hint, 0, 0, 0),
        ],
        list: list().into_iter().map(|finding| Finding { worst: Worst::of(&finding.patterns), ..finding }).collect(),
        by_pattern: by_pattern(),
        by_owner: by_owner(),
        exempted: vec![Exempted {
            rule: "key.prefix".into(),
            pattern: "legacy_{int}".into(),
            reason: "read by the old app until March".into(),
            keys: 120_000,
            memory: Bytes(9 * MIB),
        }],
        dictionary: Some(dictionary()),
        budgets: vec![
            BudgetRow {
                pattern: "forever".into(),
                allowed: Bytes(512 * MIB),
                keys: 500_000,
                memory: Bytes(700 * MIB),
                unknown: Unknown::default(),
            },
            BudgetRow {
                pattern: "rank:**".into(),
                allowed: Bytes(512 * MIB),
                keys: 12,
                memory: Bytes(380 * MIB),
                unknown: Unknown::default(),
            },
        ],
    }
}

fn list() -> Vec<Finding> {
    let memory = FindingPattern {
        measured: Some(914),
        allowed: Some(800),
        details: [DetailField::new("maxmemory", "maxmemory", "maxmemory").with(DetailValue::Bytes(Bytes(1_640 * MIB)))]
            .into(),
        ..FindingPattern::default()
    };
    let ranks = FindingPattern {
        owner: Some("growth".into()),
        ..row("rank:{date}:{*}", 12, 380 * MIB, b"rank:2026-11-20:all")
    };
    let feeds = row("user:{int}:feed", 1_000, 40 * MIB, b"user:1000:feed");
    let split = FindingPattern {
        saves: Some(Bytes(11 * MIB)),
        details: [
            DetailField::new("leaves", "leaves", "末段")
                .with(DetailValue::Texts(["age", "favor", "name"].map(str::to_owned).into())),
            DetailField::new("ids", "ids", "id 数").with(DetailValue::Count(4_000)),
        ]
        .into(),
        ..row("member:{int}", 12_000, 20 * MIB, b"member:1:name")
    };
    let numbers = Finding {
        distinct_patterns: 2,
        ..finding(
            "key.prefix",
            Severity::Must,
            ["at least two segments, the first names a business", "至少两段，首段为业务名"],
            ["put the service or module and a colon in front", "在前面加上服务名或模块名和冒号"],
        )
    };
    vec![
        Finding {
            unit: Some(Unit::Elements),
            keys: 1_012,
            memory: Bytes(420 * MIB),
            distinct_patterns: 23,
            patterns: vec![
                FindingPattern { measured: Some(2_000_000), allowed: Some(5_000), ..ranks },
                FindingPattern { measured: Some(9_000), allowed: Some(5_000), ..feeds },
            ],
            source: passage(Some("Redis 使用规范"), Some("检查清单"), "大 Value 已拆分或压缩"),
            ..finding(
                "big.elements",
                Severity::Must,
                ["no collection of more than 5,000 elements", "集合类型的元素不超过 5,000 个"],
                ["split it over several keys, by id or by time", "按 id 或时间拆分成多个 key"],
            )
        },
        Finding {
            unit: Some(Unit::Count),
            source: passage(None, Some("3 | <b>names</b>"), "不含 `空格` | \x1b[2J\u{202e} <script>alert(1)</script>"),
            keys: 13,
            memory: Bytes(31 * MIB),
            distinct_patterns: 1,
            patterns: vec![FindingPattern {
                measured: Some(3),
                allowed: Some(0),
                ..row("session\\xff\\xfe:{*}", 13, 31 * MIB, b"session\xff\xfe:\x1b[2J")
            }],
            ..finding(
                "key.special-chars",
                Severity::Must,
                [
                    "no space, control, quote or backslash; valid UTF-8",
                    "不含空格、控制字符、引号和反斜杠；为合法的 UTF-8",
                ],
                ["use a plain string serialiser for names", "key 名使用普通的字符串序列化器"],
            )
        },
        Finding {
            keys: 4_000,
            memory: Bytes(MIB),
            patterns: vec![row("{int}", 3_999, MIB - 100, b"12345"), row("counter", 1, 100, b"counter")],
            ..numbers
        },
        Finding {
            unit: Some(Unit::Permille),
            patterns: vec![memory],
            ..finding(
                "memory.headroom",
                Severity::Must,
                ["a fifth of maxmemory stays free", "maxmemory 保留五分之一空闲"],
                ["raise maxmemory, or remove what nobody needs", "调大 maxmemory，或删除无人使用的数据"],
            )
        },
        Finding {
            keys: 500_000,
            memory: Bytes(700 * MIB),
            distinct_patterns: 1,
            patterns: vec![row("user:{int}:profile", 500_000, 700 * MIB, b"user:7:profile")],
            ..finding(
                "ttl.missing",
                Severity::Should,
                ["every key expires", "每个 key 都有过期时间"],
                ["give it an expiry, or enter it among those that live for ever", "设置过期时间，或登记为永久保留"],
            )
        },
        Finding {
            keys: 12_212,
            memory: Bytes(24 * MIB),
            saves: Some(Bytes(11 * MIB)),
            distinct_patterns: 2,
            patterns: vec![
                split,
                FindingPattern {
                    measured: Some(130),
                    allowed: Some(128),
                    ..row("export:{*}", 212, 4 * MIB, &[b'e'; 130])
                },
            ],
            ..finding(
                "type.split-object",
                Severity::Should,
                ["an object is one hash", "一个对象用一个 hash"],
                ["keep the fields in one hash", "把字段放进同一个 hash"],
            )
        },
    ]
}

fn finding(rule: &'static str, severity: Severity, demand: [&str; 2], fix: [&str; 2]) -> Finding {
    let wording = |[en, zh]: [&str; 2]| Wording { en: en.to_owned(), zh: zh.to_owned() };
    Finding {
        rule: rule.into(),
        severity,
        problem: Wording { en: format!("{rule} violated"), zh: format!("违反 {rule}") },
        demand: wording(demand),
        fix: wording(fix),
        source: None,
        unit: None,
        keys: 0,
        memory: Bytes(0),
        saves: None,
        distinct_patterns: 0,
        worst: None,
        patterns: vec![],
    }
}

fn passage(document: Option<&str>, chapter: Option<&str>, quote: &str) -> Option<Passage> {
    let owned = |text: &str| text.to_owned();
    Some(Passage { document: document.map(owned), chapter: chapter.map(owned), quote: Some(owned(quote)) })
}

fn row(pattern: &str, keys: u64, memory: u64, key: &[u8]) -> FindingPattern {
    let example = Example { db: 0, key: key.into(), memory: Some(Bytes(memory / keys)) };
    FindingPattern {
        pattern: Some(pattern.into()),
        keys,
        memory: Bytes(memory),
        examples: vec![example],
        ..FindingPattern::default()
    }
}

fn rule(rule: &'static str, severity: Severity, keys: u64, memory: u64) -> RuleWeight {
    RuleWeight { rule: rule.into(), severity, keys, memory: Bytes(memory) }
}

fn by_pattern() -> Vec<PatternFindings> {
    vec![
        PatternFindings {
            pattern: "rank:{date}:{*}".into(),
            owner: Some("growth".into()),
            keys: 12,
            memory: Bytes(380 * MIB),
            rules: vec![
                rule("big.elements", Severity::Must, 12, 380 * MIB),
                rule("ttl.missing", Severity::Should, 11, 200 * MIB),
            ],
        },
        PatternFindings {
            pattern: "session\\xff\\xfe:{*}".into(),
            owner: None,
            keys: 13,
            memory: Bytes(31 * MIB),
            rules: vec![rule("key.special-chars", Severity::Must, 13, 31 * MIB)],
        },
    ]
}

fn by_owner() -> Vec<OwnerFindings> {
    vec![
        OwnerFindings {
            owner: Some("growth".into()),
            contact: Some("#growth".into()),
            keys: 500_012,
            memory: Bytes(1_080 * MIB),
            without_ttl: Some(Weight { keys: 500_000, memory: Bytes(700 * MIB) }),
            broken: Weight { keys: 500_012, memory: Bytes(1_080 * MIB) },
            rules: vec![
                rule("big.elements", Severity::Must, 12, 380 * MIB),
                rule("key.length", Severity::Should, 1, KIB),
                rule("key.special-chars", Severity::Should, 1, KIB),
                rule("ttl.missing", Severity::Should, 500_000, 700 * MIB),
            ],
        },
        OwnerFindings {
            owner: None,
            contact: None,
            keys: 734_555,
            memory: Bytes(420 * MIB),
            without_ttl: None,
            broken: Weight::default(),
            rules: vec![],
        },
    ]
}

fn dictionary() -> DictionaryFit {
    let entry = |pattern: &str, note: Option<&str>, keys, memory| EntryRow {
        pattern: pattern.into(),
        owner: Some("growth".into()),
        contact: Some("#growth".into()),
        note: note.map(str::to_owned),
        keys,
        memory: Bytes(memory),
        without_ttl: Weight { keys, memory: Bytes(memory) },
    };
    DictionaryFit {
        entries: vec![
            entry("user:{int}:profile", Some("name, address, preferences of a customer"), 500_000, 700 * MIB),
            entry("rank:{date}:{*}", None, 12, 380 * MIB),
            entry("voucher:{token}", None, 0, 0),
        ],
        unregistered: Weight { keys: 734_555, memory: Bytes(420 * MIB) },
        unused: vec!["voucher:{token}".into()],
        incomplete: vec![],
    }
}
