//! Handmade reports with alternatives: four ordinary ones, and eight with extreme figures.

use rdblens::internals::record::Kind;
use rdblens::internals::units::Bytes;
use rdblens::report::*;

use super::{odd, sample};

const MIB: u64 = 1 << 20;

/// Returns a report with four alternatives with names of very different length; one of them changes nothing.
pub fn asked() -> Report {
    let base = 1_500 * MIB;
    let alternatives = vec![
        Alternative {
            correction: Some(0),
            tables: Some(Bytes(96 * MIB)),
            total: Some(Bytes(1_396 * MIB)),
            total_difference: Some(-228_589_568),
            ..alternative("valkey-8.1", base, 1_300 * MIB)
        },
        alternative("redis-8.2,hash-max-listpack-entries=64", base, 1_912 * MIB),
        Alternative {
            caveats: vec![Warning::new(WarningKind::AllocatorApproximate)],
            ..alternative("glibc", base, base + 4_096)
        },
        alternative("list-compress-depth=0", base, base),
    ];
    let each = |now: u64, shares: [u64; 4]| shares.map(|percent| Bytes(now * MIB / 100 * percent)).to_vec();
    let of_type = |kind, keys, now: u64, shares| WhatIfType {
        kind,
        keys,
        memory: Bytes(now * MIB),
        alternatives: each(now, shares),
    };
    let of_pattern = |pattern: &str, keys, now: u64, shares| WhatIfPattern {
        pattern: pattern.into(),
        keys,
        memory: Bytes(now * MIB),
        alternatives: each(now, shares),
    };
    let what_if = WhatIf {
        base: WhatIfBase {
            model: "redis 7.0.15, jemalloc-q16".into(),
            memory: Bytes(base),
            correction: Some(4 * MIB as i64),
            tables: Some(Bytes(110 * MIB)),
            total: Some(Bytes(1_614 * MIB)),
        },
        alternatives,
        types: vec![
            of_type(Kind::Hash, 500_000, 1_100, [80, 140, 100, 100]),
            of_type(Kind::String, 700_000, 400, [105, 93, 101, 100]),
        ],
        distinct_patterns: 40,
        patterns: vec![
            of_pattern("user:{int}:profile", 400_000, 700, [70, 160, 100, 100]),
            of_pattern("cart:{uuid}:items:of:a:very:long:name:that:does:not:end", 100_000, 400, [97, 105, 100, 100]),
            of_pattern("\u{1b}[2Jevil", 0, 0, [100, 100, 100, 100]),
        ],
        unknown: Unknown::default(),
    };
    Report { what_if: Some(what_if), types: sample::sound().types, totals: sample::sound().totals, ..odd::empty() }
}

/// Returns a report with the maximum number of alternatives, extreme figures and hostile names.
pub fn extreme() -> Report {
    let mut report = asked();
    let what_if = report.what_if.as_mut().unwrap();
    let worst = Alternative {
        ask: "\u{202e}键".repeat(300),
        model: "\u{9b}m".repeat(300),
        caveats: vec!["x".repeat(500).into()],
        memory: Bytes(u64::MAX),
        difference: i64::MAX,
        share: f64::NAN,
        correction: Some(i64::MIN),
        tables: Some(Bytes(u64::MAX)),
        total: Some(Bytes(u64::MAX)),
        total_difference: Some(i64::MAX),
        compact_hashes: Some(TemplateCount { templates: u64::MAX, keys: u64::MAX, bytes: Bytes(u64::MAX) }),
    };
    what_if.alternatives = vec![worst; 8];
    for row in &mut what_if.types {
        row.alternatives = vec![Bytes(u64::MAX); 8];
    }
    for row in &mut what_if.patterns {
        row.pattern = "{int}:\u{9b}".repeat(300);
        row.alternatives = vec![Bytes(u64::MAX); 9];
    }
    report
}

fn alternative(ask: &str, base: u64, memory: u64) -> Alternative {
    let difference = i64::try_from(memory).unwrap() - i64::try_from(base).unwrap();
    Alternative {
        ask: ask.into(),
        model: format!("model of {ask}"),
        caveats: vec![],
        memory: Bytes(memory),
        difference,
        share: difference as f64 / base as f64,
        correction: None,
        tables: None,
        total: None,
        total_difference: None,
        compact_hashes: None,
    }
}
