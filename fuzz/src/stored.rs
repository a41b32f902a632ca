//! Target `stored`: renders and compares any stored report, and plans with it.

use std::sync::Arc;

use rdblens::internals::render::csv::{CapacityList, ComparisonList};
use rdblens::internals::stored::{against, history};
use rdblens::internals::units::Bytes;
use rdblens::report::{CapacityPlan, Comparer, Condition, Report, capacity};
use rdblens::{ComparePlan, NamedReport};

use super::{Sample, json, render, render_document};

/// Reads a report, renders it, and reads it again.
pub fn check(input: &[u8], mut sample: Sample) {
    let report = match Report::read(input, "stored.json") {
        Ok(report) => report,
        Err(error) => {
            let error = error.to_string();
            let remedies = ["analyze --format json", "update this one"];
            assert!(error.contains("stored.json") && remedies.iter().any(|remedy| error.contains(remedy)), "{error}");
            return;
        }
    };
    render(&report, &mut sample);
    let stored = json(&report);
    let again = Report::read(&stored, "stored.json").expect("a report that was written can be read");
    assert!(json(&again) == stored, "a report changes when it is stored");
    let named = [report, again].map(|report| NamedReport { name: "stored".to_owned(), report });
    as_earlier(&named);
    plan(&named, &mut sample);
    let [first, last] = named;
    let mut comparer = Comparer::default();
    comparer.add(first);
    comparer.add(last);
    let plan = ComparePlan { top: 5, maxmemory: Some(Bytes(1 << 30)) };
    let conditions = ["hint", "growth=1%/day", "pattern=1%", "keys=1%/month"];
    let conditions = conditions.map(|text| text.parse::<Condition>().expect("it is a condition"));
    let comparison = comparer.finish_with(&plan, &conditions).expect("two reports can be compared");
    assert_eq!(comparison.gate.len(), conditions.len());
    render_document(&comparison, ComparisonList::default(), &mut sample);
}

/// Takes a report as the baseline and as an earlier report of another.
fn as_earlier([earlier, now]: &[NamedReport; 2]) {
    against(earlier, &now.report);
    let mut later = now.report.clone();
    later.server.ctime = later.server.ctime.map(|taken| taken.saturating_add(86_400));
    later.source.bytes = Bytes(later.source.bytes.0 ^ 1);
    let (rows, _) = history(&[Arc::new(earlier.clone())], Some(earlier), &later);
    assert!(rows.iter().all(|row| Some(row.taken) < later.taken()), "an earlier snapshot is not earlier");
}

/// Plans the capacity of one server and of two, with nights before.
fn plan(named: &[NamedReport; 2], sample: &mut Sample) {
    let asked = CapacityPlan {
        node_memory: Bytes(1 << 30),
        headroom_permille: 250,
        nodes: Some(3),
        until: None,
        cost_per_gb_month: Some(9.5),
        top: 5,
    };
    let plans = [&named[..1], &named[..]].map(|servers| capacity(servers, &named[1..], None, asked.clone()));
    for plan in sample.of(plans.into_iter().flatten().collect()) {
        render_document(&plan, CapacityList::default(), sample);
    }
}
