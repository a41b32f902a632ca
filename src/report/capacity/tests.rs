//! Tests of the plan as a whole.

mod sums;

use proptest::prelude::*;

use super::*;
use crate::report::{
    Alternative, COLD_DAYS, ColdDivision, ColdPart, Expiry, ExpiryClass, Idle, IdleClass, Instance, PatternRow,
    Patterns, PrefixNode, Slots, Unknown, Weight, WhatIf, WhatIfBase,
};

const GIB: u64 = 1 << 30;
const DAY: i64 = 86_400;

/// A report of a server with this much memory in total.
fn server(name: &str, total: u64, ctime: i64) -> NamedReport {
    let mut report = Report { complete: true, ..Report::default() };
    report.totals.keys = 10;
    report.totals.memory = Bytes(total);
    report.instance = Some(Instance { total: Bytes(total), ..Instance::default() });
    report.server.ctime = Some(ctime);
    NamedReport { name: name.to_owned(), report }
}

/// A node of a cluster whose slots have this much memory, and one key each where that is not 0.
fn node(name: &str, slots: impl IntoIterator<Item = (u16, u64)>) -> NamedReport {
    let mut weights = vec![Weight::default(); usize::from(cluster::SLOTS)];
    for (slot, memory) in slots {
        weights[usize::from(slot)] = Weight { keys: 1, memory: Bytes(memory) };
    }
    let total = weights.iter().map(|weight| weight.memory.0).sum();
    let mut named = server(name, total, 0);
    named.report.server.cluster = true;
    named.report.slots = Some(slots_of(weights));
    named
}

fn slots_of(weights: Vec<Weight>) -> Slots {
    Slots {
        used: weights.iter().filter(|weight| weight.keys > 0).count() as u64,
        tagged_keys: 0,
        mean: Bytes(0),
        p50: Bytes(0),
        p99: Bytes(0),
        max: Bytes(0),
        list: Vec::new(),
        ranges: Vec::new(),
        heaviest: Vec::new(),
        weights,
    }
}

fn asked() -> CapacityPlan {
    CapacityPlan {
        node_memory: Bytes(GIB),
        headroom_permille: 250,
        nodes: None,
        until: None,
        cost_per_gb_month: Some(9.5),
        top: 10,
    }
}

fn planned(servers: &[NamedReport], earlier: &[NamedReport], asked: CapacityPlan) -> Capacity {
    capacity(servers, earlier, None, asked).unwrap()
}

#[test]
fn nodes_leave_the_headroom_free() {
    let nodes = |total| planned(&[server("a", total, 0)], &[], asked()).demand.scenarios[0].needs[0].clone();
    let usable = GIB / 4 * 3;
    assert_eq!((nodes(usable).nodes, nodes(usable + 1).nodes, nodes(0).nodes), (1, 2, 1));
    assert_eq!((nodes(usable).fill_permille, nodes(usable + 1).fill_permille), (750, 375));
    assert_eq!(nodes(usable + 1).cost_per_month, Some(19.0));
    assert!(capacity(&[], &[], None, asked()).is_none());
}

#[test]
fn growth_reaches_later_dates_with_its_range() {
    let nights: Vec<NamedReport> =
        (0..4).map(|day| server("n", 100 + 10 * day, i64::try_from(day).unwrap() * DAY)).collect();
    let asked = CapacityPlan { until: Some(Millis(63 * DAY * 1000)), node_memory: Bytes(400), ..asked() };
    let plan = planned(&nights[3..], &nights[..3], asked);
    let trend = plan.trend.unwrap();
    assert_eq!((trend.per_day, trend.per_day_range, trend.snapshots), (10, Some([10, 10]), 4));
    let dates: Vec<i64> = plan.demand.dates.iter().map(|date| date.unwrap().0 / 1000 / DAY).collect();
    assert_eq!(dates, [3, 33, 63]);
    let needs: Vec<_> = plan.demand.scenarios[0].needs.iter().map(|need| (need.total.0, need.nodes)).collect();
    assert_eq!(needs, [(130, 1), (430, 2), (730, 3)]);
    assert_eq!(plan.demand.scenarios[0].needs[2].nodes_range, Some([3, 3]));
    // 300 bytes fit on a node: 170 more at 10 a day.
    assert_eq!(plan.demand.scenarios[0].full_at, Some(Millis((3 + 17) * DAY * 1000)));
}

#[test]
fn a_line_that_falls_ends_before_nothing_is_left() {
    let shrinking = |now: u64, until: i64| {
        let asked = CapacityPlan { until: Some(Millis(until * DAY * 1000)), ..asked() };
        planned(&[server("n", now, DAY)], &[server("n", 1000, 0)], asked).demand
    };
    let days = |demand: &Demand| -> Vec<i64> { demand.dates.iter().map(|it| it.unwrap().0 / 1000 / DAY).collect() };
    // 100 a day of 900: zero is reached after nine days.
    let demand = shrinking(900, 8);
    assert_eq!((days(&demand), demand.nothing_at), (vec![1, 8], Some(Millis(10 * DAY * 1000))));
    assert_eq!(demand.scenarios[0].needs[1].total, Bytes(200));
    for until in [10, 400] {
        assert_eq!(days(&shrinking(900, until)), [1], "{until}");
    }
    // One a day of 999: the line lasts longer than the dates.
    let slow = shrinking(999, 400);
    assert_eq!((days(&slow), slow.nothing_at), (vec![1, 31, 91, 181, 366, 400], Some(Millis(1000 * DAY * 1000))));
    assert!(slow.scenarios[0].needs.iter().all(|need| need.total.0 > 0));
    assert_eq!((days(&shrinking(0, 40)), shrinking(1000, 40).nothing_at), (vec![1], None));
}

#[test]
fn a_present_snapshot_that_is_not_whole_does_not_bend_the_line() {
    let nights = [server("n", 100, 0), server("n", 110, DAY)];
    let mut cut = server("n", 40, 2 * DAY);
    cut.report.complete = false;
    let kinds = |plan: &Capacity| plan.warnings.iter().map(|warning| warning.kind.clone()).collect::<Vec<_>>();
    let plan = planned(&[cut.clone()], &nights, asked());
    let trend = plan.trend.clone().unwrap();
    assert_eq!((trend.per_day, trend.snapshots, plan.nights.len()), (10, 2, 2));
    assert_eq!(plan.demand.dates, [Some(Millis(2 * DAY * 1000))]);
    assert!(kinds(&plan).contains(&WarningKind::PresentNotCounted) && !plan.is_complete());
    let plan = planned(&[server("a", 60, 2 * DAY), cut.clone()], &nights[..1], asked());
    assert!(plan.trend.is_none() && kinds(&plan).contains(&WarningKind::PresentNotCounted));
    assert!(!kinds(&planned(&[cut], &[], asked())).contains(&WarningKind::PresentNotCounted));
}

#[test]
fn a_slot_fits_by_the_same_figure_as_its_node() {
    let mut one = node("a", [(5, 1000)]);
    let both = |one: &NamedReport, usable: u64| {
        let asked = CapacityPlan { node_memory: Bytes(usable), headroom_permille: 0, nodes: None, ..asked() };
        let plan = planned(&[one.clone(), node("b", [])], &[], asked);
        (plan.demand.nodes_today(), plan.slots.unwrap().heavy_slots[0].fits)
    };
    // The whole server takes less than its keys by the model, or more with its tables.
    for (total, usable) in [(900, 950), (1100, 1050)] {
        one.report.instance = Some(Instance { total: Bytes(total), ..Instance::default() });
        let (nodes, fits) = both(&one, usable);
        assert_eq!((nodes == 1, fits), (total <= usable, total <= usable), "{total} {usable}");
    }
}

#[test]
fn slots_do_not_go_to_nodes_that_the_cluster_does_not_reach() {
    let line = |id: &str, flags: &str, slots: &str| format!("{id} h{id}:1@2 {flags} - 0 0 1 connected {slots}\n");
    let list = [
        line("1", "master", "0-8191"),
        line("2", "master,fail", "8192-16000"),
        line("3", "master,fail", ""),
        line("4", "master", ""),
    ];
    let nodes = ClusterNodes::parse(&list.concat(), "nodes").unwrap();
    let servers = [node("a", (0..4000).map(|slot| (slot, 100))), node("b", [(9000, 10)])];
    let plan = capacity(&servers, &[], Some(&nodes), CapacityPlan { nodes: Some(3), ..asked() }).unwrap();
    let slots = plan.slots.unwrap();
    let names: Vec<_> = slots.nodes.iter().map(|node| node.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["a", "b", "h4:1"]);
    let kinds: Vec<WarningKind> = plan.warnings.into_iter().map(|warning| warning.kind).collect();
    assert_eq!(
        kinds,
        [
            WarningKind::ClusterNodesFailed { nodes: vec!["h2:1 (fail)".to_owned()] },
            WarningKind::ClusterNodesLeftOut { nodes: vec!["h3:1 (fail)".to_owned()] },
            WarningKind::ClusterSlotsUnassigned { slots: 383, ranges: vec!["16001–16383".to_owned()] },
        ]
    );
}

#[test]
fn shards_of_a_night_are_added_up() {
    let earlier = [server("a", 100, 0), server("b", 50, 1800), server("a", 110, DAY), server("b", 60, DAY + 60)];
    let plan = planned(&[server("a", 120, 2 * DAY), server("b", 70, 2 * DAY)], &earlier, asked());
    let nights: Vec<_> = plan.nights.iter().map(|night| (night.snapshots, night.total.0)).collect();
    assert_eq!(nights, [(2, 150), (2, 170), (2, 190)]);
    assert_eq!(plan.trend.unwrap().snapshots, 3);
}

#[test]
fn without_earlier_reports_the_sizes_that_all_servers_know_count() {
    let with = |name: &str, total: u64, known: &[(i64, u64)]| {
        let mut named = server(name, total, 2 * DAY);
        let night = |&(taken, total): &(i64, u64)| EarlierSnapshot {
            taken: Millis(taken * 1000),
            memory: Bytes(total),
            total: Some(Bytes(total)),
            report: "night.json".to_owned(),
        };
        named.report.history = known.iter().map(night).collect();
        named
    };
    let servers = [with("a", 120, &[(0, 100), (DAY, 110)]), with("b", 70, &[(DAY + 60, 60)])];
    let nights = |earlier: &[NamedReport]| -> Vec<_> {
        let plan = planned(&servers, earlier, asked());
        plan.nights.iter().map(|night| (night.snapshots, night.total.0)).collect()
    };
    assert_eq!(nights(&[]), [(2, 170), (2, 190)]);
    // Earlier reports may be the same nights.
    assert_eq!(nights(&[server("a", 105, DAY)]), [(1, 105), (2, 190)]);
}

#[test]
fn a_question_is_answered_if_every_server_was_asked() {
    let with = |name: &str, asks: &[(&str, u64)]| {
        let mut named = server(name, 1000, 0);
        let alternative = |&(ask, total): &(&str, u64)| Alternative {
            ask: ask.to_owned(),
            model: ask.to_owned(),
            caveats: Vec::new(),
            memory: Bytes(1),
            difference: 0,
            share: 0.0,
            correction: None,
            tables: None,
            total: Some(Bytes(total)),
            total_difference: None,
            compact_hashes: None,
        };
        let base = WhatIfBase { model: String::new(), memory: Bytes(0), correction: None, tables: None, total: None };
        named.report.what_if = Some(WhatIf {
            base,
            alternatives: asks.iter().map(alternative).collect(),
            types: Vec::new(),
            distinct_patterns: 0,
            patterns: Vec::new(),
            unknown: Unknown::default(),
        });
        named
    };
    let servers =
        [with("a", &[("valkey-8.1", 600), ("redis-8.2", 900)]), with("b", &[("glibc", 800), ("valkey-8.1", 700)])];
    let plan = planned(&servers, &[], asked());
    let scenarios: Vec<_> =
        plan.demand.scenarios.iter().map(|it| (it.what_if.as_deref(), it.needs[0].total.0)).collect();
    assert_eq!(scenarios, [(None, 2000), (Some("valkey-8.1"), 1300)]);
}

#[test]
fn a_heavy_slot_limits_how_even_nodes_get() {
    let servers = [node("a", [(0, 1), (1, 900)]), node("b", [(9000, 50), (9001, 49)])];
    let plan = planned(&servers, &[], CapacityPlan { nodes: Some(2), ..asked() }).slots.unwrap();
    assert_eq!((plan.heavy_slots[0].slot, plan.heavy_slots[0].memory), (1, Bytes(900)));
    assert!(plan.max_to_mean > 1.7, "{}", plan.max_to_mean);
    assert!(plan.owners_guessed, "slots without keys have no known owner");
}

#[test]
fn ranges_of_a_new_cluster_fit_where_ranges_can() {
    let mut server = node("a", [(0, 9), (1, 3), (2, 6), (3, 3), (4, 8)]);
    server.report.server.cluster = false;
    let slots = |usable: u64, nodes: Option<u64>| {
        let asked = CapacityPlan { node_memory: Bytes(usable), headroom_permille: 0, nodes, ..asked() };
        planned(&[server.clone()], &[], asked).slots.unwrap()
    };
    let loads = |plan: &SlotPlan| plan.nodes.iter().map(|node| (node.memory.0, node.fits)).collect::<Vec<_>>();
    // Ranges of equal size, unless another division fits.
    assert_eq!(loads(&slots(12, None)), [(9, true), (12, true), (8, true)]);
    assert_eq!(loads(&slots(11, None)), [(9, true), (9, true), (11, true)]);
    let over = slots(10, None);
    assert_eq!(loads(&over), [(9, true), (12, false), (8, true)]);
    assert_eq!(over.fewest_nodes, Some(4));
    let more = slots(10, over.fewest_nodes);
    assert!(more.nodes.iter().all(|node| node.fits) && more.fewest_nodes.is_none(), "{more:?}");
    // A slot that fits on no node.
    assert_eq!(slots(8, None).fewest_nodes, None);
}

#[test]
fn nodes_join_and_leave() {
    let cluster = |from: u16, to: u16| (from..to).map(|slot| (slot, 100));
    let servers = [node("a", cluster(0, 8000)), node("b", cluster(8000, 16_000)), node("c", cluster(16_000, 16_384))];
    let slots = |nodes| planned(&servers, &[], CapacityPlan { nodes: Some(nodes), ..asked() }).slots.unwrap();
    let more = slots(4);
    assert!(more.commands[0].command.starts_with("redis-cli --cluster add-node ADDRESS_OF_NODE_4 ADDRESS_OF_NODE_1"));
    assert!(more.nodes.iter().all(|node| node.slots == 4096), "{:?}", more.nodes);
    let fewer = slots(2);
    assert_eq!(fewer.moved_slots, 384);
    assert_eq!(fewer.commands.last().unwrap().command, "redis-cli --cluster del-node ADDRESS_OF_NODE_1 ID_OF_NODE_3");
    assert_eq!(fewer.nodes.iter().map(|node| node.slots).collect::<Vec<_>>(), [8192, 8192, 0]);
    // The first node leaves: the commands go through one that stays.
    let servers = [node("a", cluster(0, 384)), node("b", cluster(384, 8384)), node("c", cluster(8384, 16_384))];
    let fewer = planned(&servers, &[], CapacityPlan { nodes: Some(2), ..asked() }).slots.unwrap();
    assert_eq!(fewer.commands.last().unwrap().command, "redis-cli --cluster del-node ADDRESS_OF_NODE_2 ID_OF_NODE_1");
    let even = slots(3);
    assert!(even.max_to_mean < 1.001, "{}", even.max_to_mean);
}

#[test]
fn the_node_that_takes_a_heavy_slot_gives_others() {
    let weight = |slot: u16| (slot, if slot == 11_000 { 40_000 } else { 10 });
    let servers = [
        node("a", (0..5461).map(weight)),
        node("b", (5461..10_923).map(weight)),
        node("c", (10_923..16_384).map(weight)),
    ];
    let plan = planned(&servers, &[], CapacityPlan { nodes: Some(3), ..asked() }).slots.unwrap();
    let held: Vec<Vec<u16>> = [0..5461, 5461..10_923, 10_923..16_384].into_iter().map(Iterator::collect).collect();
    let after = simulated(&plan, &held);
    let loads = plan.nodes.iter().zip(&after);
    assert!(loads.clone().all(|(load, slots)| SlotSpan::of(slots.iter().copied()) == load.ranges));
    assert!(plan.max_to_mean < 1.01, "{}", plan.max_to_mean);
}

#[test]
fn copies_stored_reports_and_lists_that_do_not_fit_are_told() {
    let kinds = |servers: &[NamedReport], nodes: Option<&ClusterNodes>| {
        let plan = capacity(servers, &[], nodes, CapacityPlan { nodes: Some(2), ..asked() }).unwrap();
        plan.warnings.into_iter().map(|warning| warning.kind).collect::<Vec<_>>()
    };
    let one = node("a", [(5, 1)]);
    assert_eq!(kinds(&[one.clone(), one.clone()], None), [WarningKind::SlotsOverlap]);
    let mut stored = one.clone();
    stored.report.slots.as_mut().unwrap().weights.clear();
    assert_eq!(kinds(&[stored], None), [WarningKind::SlotsNotStored]);
    let line = |id: &str, slots: &str| format!("{id} h:1@2 master - 0 0 1 connected {slots}\n");
    let nodes = |text: &str| ClusterNodes::parse(text, "nodes").unwrap();
    let both = [one, node("b", [(6, 1)])];
    assert_eq!(kinds(&both, Some(&nodes(&[line("x", "0-5"), line("y", "6-16383")].concat()))), []);
    assert_eq!(kinds(&both, Some(&nodes(&line("x", "0-16383")))), [WarningKind::ClusterNodesDiffer]);
    let three = [line("x", "0-5"), line("y", "6-9000"), line("z", "9001-16383")].concat();
    assert_eq!(kinds(&both, Some(&nodes(&three))), [WarningKind::ClusterNodeMissing]);
    // A server older than 8.0 does not say that it is the node of a cluster.
    let mut older = both.clone();
    older.iter_mut().for_each(|named| named.report.server.cluster = false);
    let layout = |servers: &[NamedReport]| {
        planned(servers, &[], CapacityPlan { nodes: Some(2), ..asked() }).slots.map(|slots| slots.layout)
    };
    assert_eq!((layout(&older), layout(&older[..1])), (Some(SlotLayout::Cluster), Some(SlotLayout::New)));
    let twice = [older[0].clone(), older[0].clone()];
    assert_eq!(layout(&twice), Some(SlotLayout::New));
}

#[test]
fn an_address_without_a_host_is_left_to_the_reader() {
    let servers = [node("a", [(0, 900)]), node("b", [(9000, 100), (9001, 100)])];
    let line = |id: &str, address: &str, slots: &str| format!("{id} {address} master - 0 0 1 connected {slots}\n");
    let nodes = [line("x", ":7001@17001", "0-8191"), line("y", "10.0.0.2:7002@17002", "8192-16383")].concat();
    let nodes = ClusterNodes::parse(&nodes, "nodes").unwrap();
    let plan =
        capacity(&servers, &[], Some(&nodes), CapacityPlan { nodes: Some(3), ..asked() }).unwrap().slots.unwrap();
    let commands: Vec<&str> = plan.commands.iter().map(|it| it.command.as_str()).collect();
    assert!(!commands.is_empty() && commands.iter().all(|command| !command.contains(" :7001")), "{commands:?}");
    assert!(commands.iter().any(|command| command.contains("ADDRESS_OF_NODE_1")), "{commands:?}");
}

/// Runs the commands as redis-cli does: the lowest slots of the giving node go first.
fn simulated(plan: &SlotPlan, now: &[Vec<u16>]) -> Vec<Vec<u16>> {
    let mut held = now.to_vec();
    held.resize(plan.nodes.len(), Vec::new());
    for it in &plan.commands {
        if let SlotEffect::MoveSlots { from, to, slots } = it.effect {
            held[from].sort_unstable();
            let moved: Vec<u16> = held[from].drain(..usize::try_from(slots).unwrap()).collect();
            held[to].extend(moved);
        }
    }
    held.iter_mut().for_each(|slots| slots.sort_unstable());
    held
}

/// Weights of all slots below 1000, from a linear congruential generator: lists of 16,384 numbers shrink to nothing readable.
fn random_weights(seed: u64) -> Vec<u64> {
    let step = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((*state >> 33) % 1000)
    };
    (0..cluster::SLOTS).scan(seed, |state, _| step(state)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn commands_lead_to_the_plan_and_the_plan_is_even(
        seed in 0_u64..,
        cuts in proptest::collection::vec(1_u16..16_383, 1..6),
        nodes in 1_u64..9,
        heavy in proptest::option::of((0..cluster::SLOTS, 1_u64..25)),
    ) {
        let mut weights = random_weights(seed);
        if let Some((slot, tenths)) = heavy {
            weights[usize::from(slot)] = weights.iter().sum::<u64>() / nodes * tenths / 10;
        }
        let mut cuts = cuts;
        cuts.extend([0, cluster::SLOTS]);
        cuts.sort_unstable();
        cuts.dedup();
        let held: Vec<Vec<u16>> = cuts.windows(2).map(|two| (two[0]..two[1]).collect()).collect();
        let servers: Vec<NamedReport> = (held.iter().enumerate())
            .map(|(at, slots)| node(&at.to_string(), slots.iter().map(|slot| (*slot, weights[usize::from(*slot)]))))
            .collect();
        let plan = planned(&servers, &[], CapacityPlan { nodes: Some(nodes), ..asked() }).slots;
        prop_assume!(plan.is_some());
        let plan = plan.unwrap();
        let after = simulated(&plan, &held);
        for (load, slots) in plan.nodes.iter().zip(&after) {
            prop_assert_eq!(SlotSpan::of(slots.iter().copied()), load.ranges.clone());
            let memory: u64 = slots.iter().map(|slot| weights[usize::from(*slot)]).sum();
            prop_assert_eq!(load.memory, Bytes(memory));
        }
        let all: usize = after.iter().map(Vec::len).sum();
        prop_assert_eq!(all, usize::from(cluster::SLOTS));
        let mean = weights.iter().sum::<u64>() as f64 / nodes as f64;
        let bound = weights.iter().max().map_or(1.0, |max| *max as f64 / mean).max(1.0);
        let tolerance = if heavy.is_some() { 1.03 } else { 1.01 };
        prop_assert!(plan.max_to_mean < bound * tolerance, "{}, {}", plan.max_to_mean, bound);
        let stay = plan.nodes.iter().filter(|node| node.slots > 0).count();
        prop_assert!(stay as u64 <= nodes);
    }

    #[test]
    fn a_new_cluster_gets_each_slot_once(
        seed in 0_u64..,
        nodes in 2_u64..40,
    ) {
        let mut server = node("a", (0..cluster::SLOTS).zip(random_weights(seed)));
        server.report.server.cluster = false;
        let plan = planned(&[server], &[], CapacityPlan { nodes: Some(nodes), ..asked() }).slots.unwrap();
        prop_assert_eq!(plan.layout, SlotLayout::New);
        let spans: Vec<SlotSpan> = plan.nodes.iter().flat_map(|node| node.ranges.clone()).collect();
        prop_assert_eq!(spans.len() as u64, nodes, "one range each");
        prop_assert!(spans.windows(2).all(|two| two[0].last + 1 == two[1].first));
        prop_assert_eq!((spans[0].first, spans[spans.len() - 1].last), (0, cluster::SLOTS - 1));
        prop_assert!(plan.max_to_mean < 1.05, "{}", plan.max_to_mean);
    }
}

#[test]
fn loads_that_are_too_large_to_count_are_planned() {
    const HUGE: u64 = u64::MAX / 10 * 9;
    let node = |name: &str, slots: std::ops::Range<u16>| {
        let mut named = node(name, []);
        let weights = &mut named.report.slots.as_mut().unwrap().weights;
        slots.for_each(|slot| weights[usize::from(slot)] = Weight { keys: 1, memory: Bytes(HUGE) });
        named
    };
    for slots in 1..6 {
        let servers = [node("a", 0..slots), node("b", slots..2 * slots), node("c", 2 * slots..3 * slots)];
        for nodes in 1..6 {
            let plan = CapacityPlan { nodes: Some(nodes), ..asked() };
            assert_eq!(planned(&servers, &[], plan).slots.unwrap().target_nodes, nodes);
        }
    }
}
