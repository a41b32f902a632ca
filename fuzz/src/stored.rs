//! Target `stored`: renders and compares any stored report.

use rdblens::internals::render::{Lang, TableOptions, write_comparison};
use rdblens::internals::units::Bytes;
use rdblens::report::Report;
use rdblens::{ComparePlan, NamedReport, compare};

use super::{Sample, json, render, shows_all};

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
    let plan = ComparePlan { top: 5, maxmemory: Some(Bytes(1 << 30)) };
    let named = [report, again].map(|report| NamedReport { name: "stored".to_owned(), report });
    let comparison = compare(named, &plan).expect("two reports can be compared");
    for lang in sample.of(Lang::ALL.to_vec()) {
        let mut table = Vec::new();
        let options = TableOptions { lang, ..TableOptions::default() };
        write_comparison(&comparison, options, &mut table).expect("memory can be written");
        shows_all(&table);
    }
    serde_json::to_string(&comparison).expect("a comparison has a JSON form");
}
