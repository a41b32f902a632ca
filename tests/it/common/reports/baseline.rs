//! Comparison of the handmade report with an earlier one.

use rdblens::internals::units::{Bytes, Millis};
use rdblens::report::*;

/// Returns a baseline with new, worse and fixed findings.
pub fn baseline() -> Baseline {
    let before = BeforeRow { keys: 10, memory: Bytes(20_480), measured: Some(130), allowed: Some(128) };
    let row = |pattern: Option<&str>, before| BaselineRow {
        rule: "key.length".into(),
        severity: Severity::Should,
        pattern: pattern.map(str::to_owned),
        keys: 12,
        memory: Bytes(24_576),
        measured: Some(140),
        allowed: Some(128),
        before,
    };
    Baseline {
        report: "yesterday.json".into(),
        new: vec![row(Some("session:{*}"), None)],
        first_evaluated: vec![BaselineRow { rule: "memory.headroom".into(), ..row(None, None) }],
        worse: vec![row(Some("user:{int}:feed"), Some(before))],
        fixed: vec![row(None, None)],
        other_policy: vec![BaselineRow { rule: "key.levels".into(), ..row(Some("shop:{int}"), None) }],
        undecided: vec![UndecidedRule { rule: "key.special-chars".into(), severity: Severity::Must }],
    }
}

const MIB: u64 = 1 << 20;

fn weight(keys: u64, memory: u64) -> Weight {
    Weight { keys, memory: Bytes(memory) }
}

fn growth_of(before: Weight, after: Weight) -> Growth {
    let difference = |before: u64, after: u64| i64::try_from(after).unwrap() - i64::try_from(before).unwrap();
    let share = (before.memory.0 > 0).then(|| after.memory.0 as f64 / before.memory.0 as f64 - 1.0);
    Growth { keys: difference(before.keys, after.keys), memory: difference(before.memory.0, after.memory.0), share }
}

fn change(pattern: &str, before: Option<Weight>, after: Option<Weight>) -> PatternChange {
    let growth = growth_of(before.unwrap_or_default(), after.unwrap_or_default());
    PatternChange { pattern: pattern.into(), before, after, growth: Some(growth), memory_range: None }
}

/// Returns the growth since a report made a week before `ctime`.
pub fn growth(ctime: i64, keys: u64, memory: Bytes) -> Since {
    let (before, after) = (weight(keys - 34_567, memory.0 - 161 * MIB), Weight { keys, memory });
    let of_type =
        |kind: &str, before, after| TypeChange { kind: kind.into(), before, after, growth: growth_of(before, after) };
    Since {
        report: "yesterday.json".into(),
        taken: Some(Millis((ctime - 7 * 86_400) * 1000)),
        complete: true,
        before,
        after,
        growth: growth_of(before, after),
        total_before: None,
        total_after: None,
        types: vec![
            of_type("hash", weight(480_000, 580 * MIB), weight(500_000, 700 * MIB)),
            of_type("list", weight(13, 64 * MIB), weight(12, 31 * MIB)),
            of_type("stream", Weight::default(), weight(2, MIB)),
        ],
        patterns: PatternChanges {
            grown: vec![change(
                "user:{int}:profile",
                Some(weight(480_000, 580 * MIB)),
                Some(weight(500_000, 700 * MIB)),
            )],
            shrunk: vec![change("queue:mail", Some(weight(1, 33 * MIB)), Some(weight(1, 2 * MIB)))],
            new: vec![change("rank:{date}:{*}", None, Some(weight(12, 180 * MIB)))],
            vanished: vec![change("tmp:\u{202e}<b>{int}", Some(weight(9_000, 3 * MIB)), None)],
            uncertain: vec![PatternChange {
                growth: None,
                memory_range: Some([-8192, 4096]),
                ..change("coupon:{*}", None, Some(weight(3, 4096)))
            }],
            counts: PatternCounts { grown: 31, shrunk: 1, new: 1, vanished: 1, unchanged: 12, uncertain: 1 },
        },
    }
}
