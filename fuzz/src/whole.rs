//! Target `whole`: any file as a snapshot, read in every way, in every form of the report.

use std::sync::LazyLock;

use rdblens::internals::analyze::AtDamage;
use rdblens::internals::analyze::read::chunk_list::ReadSteps;
use rdblens::internals::memory::WhatIf;
use rdblens::internals::pattern::PatternBuf;
use rdblens::internals::pattern::classify::Classifier;
use rdblens::internals::pattern::segment::Separators;
use rdblens::internals::render::rows::{RecordLines, RowFormat, RowMaker};
use rdblens::report::Report;
use rdblens::{MaskKey, Plan, ReadPlan, Unwatched, analyze, check as check_files, for_each_record};

use super::{InputFile, Sample, json, render};

/// Ways of reading that must not differ: by one thread, by three, and through a window.
static READS: LazyLock<[ReadPlan; 3]> = LazyLock::new(|| [mapped(1), mapped(3), streamed()]);

/// Plans of reports: one for each way of reading, one that reads past damage, and one with all that is not the default.
static PLANS: LazyLock<[Plan; 5]> = LazyLock::new(|| {
    let [one, three, streamed] = READS.each_ref().map(|read| Plan::new(read.clone()));
    let salvaging = Plan::new(ReadPlan { damage: AtDamage::Salvage, ..mapped(2) });
    let masked = Plan { mask: Some(MaskKey::OfSnapshot), inspect_values: true, ..alternatives() };
    [one, three, streamed, salvaging, masked]
});

/// Checks the file and reports on it: mapped and streamed, by one thread and by several.
pub fn check(input: &[u8], mut sample: Sample) {
    let file = InputFile::new(input);
    let verdicts = READS.each_ref().map(|read| verdicts(&file, read));
    assert_eq!(verdicts[0], verdicts[1], "three threads check differently");
    assert_eq!(verdicts[0], verdicts[2], "streaming checks differently");
    let [one, three, streamed, others @ ..] = &*PLANS;
    let plain = report(&file, one);
    let text = plain.as_ref().map(json).map_err(String::as_str);
    same(&text, &report(&file, three), "three threads report differently");
    same(&text, &report(&file, streamed), "streaming reports differently");
    for plan in sample.of(vec![None, Some(&others[0]), Some(&others[1])]) {
        let other = plan.map(|plan| report(&file, plan));
        if let Ok(report) = other.as_ref().unwrap_or(&plain) {
            render(report, &mut sample);
        }
    }
    rows(&file);
}

/// Returns a plan that divides even the smallest files.
fn mapped(threads: usize) -> ReadPlan {
    let mut plan = ReadPlan { threads, ..ReadPlan::new(std::env::temp_dir()) };
    plan.division.steps = ReadSteps { quantum: 200, least: 100 };
    plan.division.readers = threads;
    plan
}

/// Returns a plan that reads through a window smaller than some records.
fn streamed() -> ReadPlan {
    let mut plan = ReadPlan { threads: 2, ..ReadPlan::new(std::env::temp_dir()) };
    (plan.open.mmap, plan.open.window) = (false, 512);
    plan
}

fn alternatives() -> Plan {
    let mut read = mapped(1);
    let asked = ["newest", "valkey-9.1,jemalloc-q16", "hash-max-listpack-entries=2"];
    read.what_if = asked.iter().map(|text| WhatIf::parse(text).expect("it can be asked")).collect();
    Plan::new(read)
}

fn verdicts(file: &InputFile, plan: &ReadPlan) -> String {
    let checks = check_files(&[file.path()], plan, &Unwatched).expect("the file is there");
    serde_json::to_string(&checks).expect("a verdict has a JSON form")
}

/// Returns the report, or the error.
fn report(file: &InputFile, plan: &Plan) -> Result<Report, String> {
    analyze(&[file.path()], plan, &Unwatched).map_err(|error| error.to_string())
}

/// Compares the JSON form of a report with another report.
fn same(one: &Result<Vec<u8>, &str>, other: &Result<Report, String>, difference: &str) {
    let other = other.as_ref().map(json).map_err(String::as_str);
    let shown = |text: &Result<Vec<u8>, &str>| format!("{:?}", text.as_ref().map(|json| String::from_utf8_lossy(json)));
    assert!(*one == other, "{difference}: {}\n{}", shown(one), shown(&other));
}

/// Writes a row for each key.
fn rows(file: &InputFile) {
    let classifier = Classifier::new(Separators::new(&[":".to_owned()]).expect("a colon separates"));
    let maker = RowMaker::new(&classifier, None);
    let (mut json, mut csv, mut keys) = (RecordLines::default(), RecordLines::default(), 0);
    let mut pattern = PatternBuf::default();
    // The damage itself has been reported.
    let _ = for_each_record(&[file.path()], &READS[0], |record, _| {
        keys += 1;
        maker.classify(record, &mut pattern);
        maker.row(record, &pattern, None, None, |row| {
            json.push(row, RowFormat::Ndjson);
            csv.push(row, RowFormat::Csv);
        });
    });
    let lines = json.first(usize::MAX).split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let parsed = lines.map(|line| serde_json::from_slice::<serde_json::Value>(line).expect("a row is JSON"));
    assert_eq!(parsed.count(), keys);
    std::str::from_utf8(csv.first(usize::MAX)).expect("a row is UTF-8");
}
