//! Reports at the extremes: nothing to show, and more than any page can hold.

use rdblens::internals::units::{Bytes, Millis};
use rdblens::report::*;

use super::sample;

/// Returns the report on a snapshot without keys.
pub fn empty() -> Report {
    Report {
        schema: SCHEMA.into(),
        rdblens: "0.1.0".into(),
        complete: true,
        options: Options::default(),
        source: Source::default(),
        server: Server::default(),
        instance: None,
        totals: Totals::default(),
        databases: vec![],
        types: vec![],
        big_keys: BigKeys::default(),
        top: Top::default(),
        no_ttl: NoTtl::default(),
        expiry: Expiry::default(),
        naming: Naming::default(),
        findings: Findings::default(),
        prefixes: Prefixes::default(),
        patterns: Patterns::default(),
        idle: None,
        freq: None,
        growth: None,
        history: vec![],
        slots: None,
        streams: None,
        hash_templates: None,
        what_if: None,
        warnings: vec![],
    }
}

/// Returns a report with extreme figures and hostile names.
pub fn extreme() -> Report {
    let mut report = sample::full();
    let all = Weight { keys: u64::MAX, memory: Bytes(u64::MAX) };
    let long: Box<[u8]> = "键\u{301}".repeat(3_000).into_bytes().into();
    report.options.selection = vec!["--match".into(), "x".repeat(500)];
    report.totals = Totals {
        keys: u64::MAX,
        memory: Bytes(u64::MAX),
        disk: Bytes(u64::MAX),
        name_bytes: Bytes(u64::MAX),
        elements: u64::MAX,
        without_ttl: all,
        fields_expire: all,
        expired: all,
        unknown: Unknown { keys: u64::MAX, stored_bytes: Bytes(u64::MAX) },
    };
    for file in &mut report.source.files {
        file.name = "\u{1b}[2J/".repeat(90);
        file.errors.push("\u{202e}e".repeat(300).into());
        (file.keys, file.bytes, file.memory) = (u64::MAX, Bytes(u64::MAX), Bytes(u64::MAX));
        file.ctime = Some(i64::MIN);
    }
    for row in &mut report.types {
        (row.keys, row.elements, row.max, row.share) = (u64::MAX, u64::MAX, Bytes(u64::MAX), f64::NAN);
    }
    for row in report.top.by_memory.iter_mut().chain(&mut report.big_keys.list) {
        row.key = Key::from(&long[..]);
        (row.db, row.length, row.memory) = (u64::MAX, Some(u64::MAX), Some(Bytes(u64::MAX)));
        row.expires_at = Some(Millis(i64::MAX));
    }
    report.expiry.reference_time = Some(Millis(i64::MIN));
    for node in &mut report.prefixes.tree {
        node.prefix = "前\n".repeat(400);
        (node.keys, node.memory, node.elements) = (u64::MAX, Bytes(u64::MAX), u64::MAX);
    }
    for row in &mut report.patterns.list {
        row.pattern = "{int}:\u{9b}".repeat(300);
        (row.keys, row.mean) = (u64::MAX, Bytes(u64::MAX));
    }
    let whole = Growth { keys: i64::MIN, memory: i64::MIN, share: Some(f64::MAX) };
    report.growth = Some(Since {
        report: "\u{202e}键\n".repeat(300),
        taken: Some(Millis(i64::MIN)),
        after: all,
        growth: whole,
        types: vec![
            TypeChange { kind: "\u{9b}".repeat(300), before: all, after: Weight::default(), growth: whole };
            30
        ],
        patterns: PatternChanges {
            vanished: vec![PatternChange {
                pattern: "\u{9b}<b>".repeat(300),
                before: Some(all),
                after: None,
                growth: Some(whole),
                memory_range: Some([i64::MIN, i64::MAX]),
            }],
            counts: PatternCounts {
                uncertain: u64::MAX,
                grown: u64::MAX,
                vanished: u64::MAX,
                ..PatternCounts::default()
            },
            ..PatternChanges::default()
        },
        ..Since::default()
    });
    report.findings.policy = "\u{1b}[2J策".repeat(90);
    for finding in &mut report.findings.list {
        (finding.keys, finding.memory, finding.saves) = (u64::MAX, Bytes(u64::MAX), Some(Bytes(u64::MAX)));
        finding.distinct_patterns = u64::MAX;
        for row in &mut finding.patterns {
            row.pattern = Some("{int}:\u{9b}".repeat(300));
            (row.measured, row.allowed) = (Some(u64::MAX), Some(0));
            row.details.extend([
                DetailField::new("why", "why", "原因").with(DetailValue::Text("\u{202e}x".repeat(500))),
                DetailField::new("when", "when", "时间").with(DetailValue::Time(Millis(i64::MIN))),
                DetailField::new("much", "much", "大小").with(DetailValue::Bytes(Bytes(u64::MAX))),
            ]);
        }
    }
    for row in &mut report.findings.by_owner {
        (row.owner, row.contact) = (Some("\u{9b}\n".repeat(300)), Some("\u{202e}".repeat(300)));
    }
    for row in &mut report.findings.exempted {
        (row.pattern, row.reason) = ("\n".repeat(300), "\u{1b}".repeat(300));
    }
    for row in &mut report.findings.budgets {
        (row.keys, row.memory, row.allowed) = (u64::MAX, Bytes(u64::MAX), Bytes(0));
    }
    for row in report.hash_templates.iter_mut().flat_map(|templates| &mut templates.list) {
        (row.keys, row.fields, row.saved) = (u64::MAX, u64::MAX, i64::MIN);
        row.names = vec![Key::from("\u{202e}\n<b>|\u{9b}".repeat(30).as_bytes()), Key::from(&[0xFF, 0][..])];
    }
    for row in report.streams.iter_mut().flat_map(|streams| &mut streams.list) {
        (row.entries, row.groups, row.pending) = (u64::MAX, u64::MAX, u64::MAX);
    }
    report
}
