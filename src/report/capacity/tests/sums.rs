//! Tests of what is added up over the servers: businesses, cold data, expiries.

use super::*;

/// A node of the tree of prefixes.
fn prefix_node(prefix: &str, keys: u64, memory: u64) -> PrefixNode {
    PrefixNode {
        prefix: prefix.to_owned(),
        segment: String::new(),
        keys,
        memory: Bytes(memory),
        share: 0.0,
        disk: Bytes(0),
        elements: 0,
        without_ttl: Weight::default(),
        children: Vec::new(),
        hidden: crate::report::Hidden::default(),
        unknown: Unknown::default(),
    }
}

#[test]
fn parts_cold_data_and_expiries_are_added_up() {
    let mut named = server("a", 3000, 0);
    named.report.prefixes.tree = vec![prefix_node("user:", 4, 500), prefix_node("cart:", 3, 250)];
    let idle = |below_s, memory| IdleClass {
        idle: "".into(),
        below_s,
        keys: 1,
        memory: Bytes(memory),
        unknown: Unknown::default(),
    };
    let classes = [Some(86_400), Some(7 * 86_400), Some(30 * 86_400), Some(90 * 86_400), None];
    let classes = classes.into_iter().zip([1, 2, 4, 8, 16]).map(|(below, memory)| idle(below, memory)).collect();
    named.report.idle = Some(Idle { keys: 5, classes, distinct_patterns: 0, parts: Vec::new() });
    let left = |below_ms, memory| ExpiryClass {
        left: "".into(),
        below_ms,
        keys: 1,
        memory: Bytes(memory),
        unknown: Unknown::default(),
    };
    named.report.expiry =
        Expiry { classes: vec![left(Some(0), 5), left(Some(60), 7), left(None, 9)], ..Expiry::default() };
    let mut crowded = named.clone();
    crowded.report.prefixes.tree = vec![PrefixNode { segment: "{*}".to_owned(), ..prefix_node("{*}:", 7, 750) }];
    let unknown = planned(&[named.clone(), crowded], &[], asked());
    assert!(unknown.business.is_empty());
    assert!(unknown.warnings.iter().any(|warning| warning.kind == WarningKind::CrowdedFirstLevel));
    let plan = planned(&[named.clone(), named], &[], CapacityPlan { top: 1, ..asked() });
    let parts: Vec<_> = plan.business.iter().map(|it| (it.name.as_deref(), it.keys, it.memory.0, it.total.0)).collect();
    assert_eq!(parts, [(Some("user:"), 8, 1000, 1000), (None, 12, 5000, 5000)]);
    let cold: Vec<_> = plan.cold.iter().map(|step| (step.days, step.memory.0)).collect();
    assert_eq!(cold, [(7, 56), (30, 48), (90, 32)]);
    let freed: Vec<_> = plan.freed.iter().map(|step| (step.within_ms, step.memory.0)).collect();
    assert_eq!(freed, [(0, 10), (60, 24)]);
}

#[test]
fn a_prefix_that_a_report_hides_is_at_least_what_others_list() {
    let server = |nodes: &[(&str, u64)], hidden: u64| {
        let mut named = server("s", 1_000, 0);
        named.report.prefixes.tree = nodes.iter().map(|&(prefix, memory)| prefix_node(prefix, 2, memory)).collect();
        named.report.prefixes.hidden.nodes = hidden;
        named
    };
    let parts = |servers: &[NamedReport]| -> Vec<_> {
        let plan = planned(servers, &[], asked());
        plan.business.into_iter().map(|part| (part.name, part.keys, part.memory.0, part.bound)).collect()
    };
    let (big, small, other) = (Some("big:".to_owned()), Some("small:".to_owned()), Some("other:".to_owned()));
    let one = server(&[("big:", 500), ("small:", 9)], 0);
    let all = server(&[("big:", 500), ("other:", 4)], 0);
    let expected =
        [(big.clone(), 4, 1_000, None), (small.clone(), 2, 9, None), (other, 2, 4, None), (None, 12, 987, None)];
    assert_eq!(parts(&[one.clone(), all]), expected);
    let (least, most) = (Some(Bound::Least), Some(Bound::Most));
    let cut = server(&[("big:", 500)], 1);
    assert_eq!(parts(&[one, cut]), [(big, 4, 1_000, None), (small, 2, 9, least), (None, 14, 991, most)]);
}

#[test]
fn cold_parts_of_servers_are_added_up_by_name() {
    let part = |by, name: Option<&str>, memory: [u64; 3]| ColdPart {
        by,
        name: name.map(str::to_owned),
        keys: 10,
        memory: Bytes(1_000),
        steps: COLD_DAYS
            .into_iter()
            .zip(memory)
            .map(|(days, memory)| ColdStep { days, keys: 1, memory: Bytes(memory) })
            .collect(),
    };
    let server = |parts| {
        let mut named = server("s", 1, 1_000);
        named.report.idle = Some(Idle { keys: 10, classes: Vec::new(), distinct_patterns: 0, parts });
        named
    };
    let (pattern, owner) = (ColdDivision::Pattern, ColdDivision::Owner);
    let one = server(vec![
        part(pattern, Some("a:*"), [100, 10, 1]),
        part(pattern, Some("c:*"), [1, 0, 0]),
        part(owner, None, [7, 0, 0]),
    ]);
    let other = server(vec![part(pattern, Some("b:*"), [300, 30, 3]), part(pattern, Some("a:*"), [250, 0, 0])]);
    let parts = parts::cold_parts(&[one, other], 2);
    let row = |ColdSum { part, bound }: &ColdSum| (part.by, part.name.clone(), part.keys, part.cold().0, *bound);
    let (a, b) = (Some("a:*".to_owned()), Some("b:*".to_owned()));
    // The other server has keys and no owners.
    let shown = [(pattern, a, 20, 350, None), (pattern, b, 10, 300, None), (owner, None, 10, 7, Some(Bound::Least))];
    assert_eq!(parts.iter().map(row).collect::<Vec<_>>(), shown);
    assert_eq!(parts[0].part.steps[1].memory, Bytes(10));
}

#[test]
fn a_part_counts_its_keys_of_servers_where_none_is_cold() {
    let steps = |memory| COLD_DAYS.map(|days| ColdStep { days, keys: 1, memory: Bytes(memory) }).to_vec();
    let part = |name: &str| ColdPart {
        by: ColdDivision::Pattern,
        name: Some(name.to_owned()),
        keys: 2,
        memory: Bytes(20),
        steps: steps(10),
    };
    let class = |below_s, keys| IdleClass {
        idle: "".into(),
        below_s,
        keys,
        memory: Bytes(10 * keys),
        unknown: Unknown::default(),
    };
    let server = |cold: u64, parts: &[&str], patterns: &[(&str, u64)], distinct: u64| {
        let mut named = server("s", 1, 1_000);
        let classes = vec![class(Some(7 * 86_400), 9), class(None, cold)];
        let parts = parts.iter().map(|name| part(name)).collect();
        named.report.idle = Some(Idle { keys: 10, classes, distinct_patterns: 0, parts });
        let row = |&(pattern, memory): &(&str, u64)| pattern_row(pattern, memory);
        named.report.patterns = Patterns { distinct, list: patterns.iter().map(row).collect(), ..Patterns::default() };
        named
    };
    let sums = |other: NamedReport| -> Vec<_> {
        let one = server(1, &["cart:{int}"], &[("cart:{int}", 20)], 1);
        let sum = |ColdSum { part, bound }: ColdSum| (part.keys, part.memory.0, part.cold().0, bound);
        parts::cold_parts(&[one, other], 9).into_iter().map(sum).collect()
    };
    let least = Some(Bound::Least);
    let patterns = [("user:{int}", 90), ("cart:{int}", 50)];
    assert_eq!(sums(server(0, &[], &patterns, 2)), [(3, 70, 10, None)]);
    // Without idle times, no key is known to be cold.
    let mut without = server(0, &[], &patterns, 2);
    without.report.idle = None;
    assert_eq!(sums(without), [(3, 70, 10, None)]);
    assert_eq!(sums(server(0, &[], &patterns[..1], 1)), [(2, 20, 10, None)]);
    // Patterns that are not listed, or cold keys of them.
    assert_eq!(sums(server(0, &[], &patterns[..1], 2)), [(2, 20, 10, least)]);
    assert_eq!(sums(server(1, &[], &patterns, 2)), [(3, 70, 10, least)]);
    assert_eq!(sums(server(1, &["cart:{int}"], &patterns[..1], 2)), [(4, 40, 20, None)]);
}

/// A pattern of one key.
fn pattern_row(pattern: &str, memory: u64) -> PatternRow {
    PatternRow {
        pattern: pattern.to_owned(),
        keys: 1,
        memory: Bytes(memory),
        share: 0.0,
        mean: Bytes(memory),
        disk: Bytes(0),
        elements: 0,
        without_ttl: Weight::default(),
        last_expiry: None,
        types: Vec::new(),
        example: crate::report::Example { db: 0, key: [].as_slice().into(), memory: None },
        unknown: Unknown::default(),
    }
}
