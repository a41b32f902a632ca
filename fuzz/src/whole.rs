//! Target `whole`: any file as a snapshot, read in every way, in every form of the report.

use rdblens::internals::analyze::AtDamage;
use rdblens::internals::analyze::read::chunk_list::ReadSteps;
use rdblens::internals::memory::WhatIf;
use rdblens::internals::pattern::PatternBuf;
use rdblens::internals::pattern::classify::Classifier;
use rdblens::internals::pattern::segment::Separators;
use rdblens::internals::render::rows::{RecordLines, RowFormat, RowMaker};
use rdblens::{MaskKey, Plan, ReadPlan, Unwatched, analyze, check as check_files, for_each_record};

use super::{InputFile, render};

/// Checks the file and reports on it: mapped and streamed, by one thread and by several.
pub fn check(input: &[u8]) {
    let file = InputFile::new(input);
    let reads = [mapped(1), mapped(3), streamed()];
    let verdicts = reads.each_ref().map(|read| verdicts(&file, read));
    assert_eq!(verdicts[0], verdicts[1], "three threads check differently");
    assert_eq!(verdicts[0], verdicts[2], "streaming checks differently");
    let reports = reads.each_ref().map(|read| report(&file, &Plan::new(read.clone())));
    assert_eq!(reports[0], reports[1], "three threads report differently");
    assert_eq!(reports[0], reports[2], "streaming reports differently");
    let salvaging = Plan::new(ReadPlan { damage: AtDamage::Salvage, ..mapped(2) });
    let masked = Plan { mask: Some(MaskKey::OfSnapshot), inspect_values: true, ..alternatives() };
    for plan in [salvaging, masked] {
        drop(report(&file, &plan));
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

/// Returns the report as JSON, after rendering it in every form, or the error.
fn report(file: &InputFile, plan: &Plan) -> Result<String, String> {
    let report = analyze(&[file.path()], plan, &Unwatched).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(render(&report)).expect("JSON is UTF-8"))
}

/// Writes a row for each key.
fn rows(file: &InputFile) {
    let classifier = Classifier::new(Separators::new(&[":".to_owned()]).expect("a colon separates"));
    let maker = RowMaker::new(&classifier, None);
    let (mut json, mut csv, mut keys) = (RecordLines::default(), RecordLines::default(), 0);
    let mut pattern = PatternBuf::default();
    // The damage itself has been reported.
    let _ = for_each_record(&[file.path()], &mapped(1), |record, _| {
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
