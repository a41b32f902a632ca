//! The published JSON Schemas match the types, and all output is valid under them.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use rdblens::internals::render::schema::Described;
use rdblens::report::Report;
use serde_json::Value;

use crate::common::dumps;
use crate::common::program::{rdblens, run};
use crate::common::reports::{odd, sample, what_if};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn validator(described: Described) -> Validator {
    jsonschema::draft202012::new(&serde_json::to_value(described.schema()).unwrap()).unwrap()
}

#[track_caller]
fn assert_valid(validator: &Validator, json: &Value, what: &str) {
    let errors: Vec<String> =
        validator.iter_errors(json).take(9).map(|error| format!("{}: {error:.200}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {:.2000}", errors.join("\n"));
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    for described in Described::ALL {
        let mut schema = Vec::new();
        described.write_generated(&mut schema).unwrap();
        let path = Path::new(ROOT).join(format!("docs/{}.schema.json", described.name()));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            // The program has the file as it was when it was compiled.
            fs::write(&path, &schema).unwrap();
            let packed = format!("src/render/schema/{}.json.zst", described.name());
            fs::write(Path::new(ROOT).join(packed), zstd::encode_all(&schema[..], 19).unwrap()).unwrap();
            continue;
        }
        let published = fs::read(&path).unwrap_or_default();
        assert!(published == schema, "{} differs: UPDATE_GOLDEN=1 renews it", path.display());
        let printed = run(rdblens().args(["schema", described.name()]));
        assert!(printed.status.success() && printed.stdout == schema);
    }
}

#[test]
fn reports_made_by_hand_are_valid() {
    let validator = validator(Described::Report);
    let mut extreme = odd::extreme();
    let mut elsewhere = what_if::extreme();
    // Analysed reports never contain NaN.
    extreme.types.iter_mut().chain(&mut elsewhere.types).for_each(|row| row.share = 1.0);
    let alternatives = elsewhere.what_if.iter_mut().flat_map(|what_if| &mut what_if.alternatives);
    alternatives.for_each(|alternative| alternative.share = 1.0);
    for report in [sample::full(), sample::sound(), odd::empty(), extreme, what_if::asked(), elsewhere] {
        assert_valid(&validator, &serde_json::to_value(report).unwrap(), "by hand");
    }
}

#[test]
fn reports_of_all_dumps_are_valid() {
    use rdblens::internals::analyze::{Plan, ReadPlan, Unwatched, analyze};
    let validator = validator(Described::Report);
    let plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    let mut reports = 0;
    for dump in dumps() {
        let Ok(report) = analyze(&[dump.to_str().unwrap()], &plan, &Unwatched) else { continue };
        assert_valid(&validator, &serde_json::to_value(report).unwrap(), &dump.display().to_string());
        reports += 1;
    }
    assert!(reports > 100, "{reports}");
}

#[test]
fn chosen_sections_are_valid_and_other_reports_are_not() {
    let validator = validator(Described::Sections);
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");
    for sections in ["totals", "findings,patterns,heaviest", "prefixes,files,trend,notes"] {
        let printed = run(rdblens().args(["analyze", shop, "--format", "json", "--section", sections]));
        assert_valid(&validator, &serde_json::from_slice(&printed.stdout).unwrap(), sections);
    }
    let without_frame = serde_json::json!({ "schema": "rdblens.sections/1", "totals": {} });
    assert!(!validator.is_valid(&without_frame));
}

#[test]
fn golden_reports_are_valid_and_others_are_not() {
    let validator = validator(Described::Report);
    let mut checked = 0;
    for entry in fs::read_dir(Path::new(ROOT).join("testdata/golden")).unwrap() {
        let path = entry.unwrap().path();
        let json = path.extension().is_some_and(|end| end == "json").then(|| fs::read(&path).unwrap());
        let Some(json) = json.and_then(|json| serde_json::from_slice::<Value>(&json).ok()) else { continue };
        if json["schema"] == "rdblens.report/1" {
            assert_valid(&validator, &json, &path.display().to_string());
            checked += 1;
        }
    }
    assert!(checked >= 3);
    let sound = serde_json::to_value(sample::sound()).unwrap();
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut json = sound.clone();
        change(&mut json);
        json
    };
    for json in [
        wrong(&|json| json["schema"] = "rdblens.report/2".into()),
        wrong(&|json| json["totals"]["keys"] = (-1).into()),
        wrong(&|json| json["types"][0]["type"] = "table".into()),
        wrong(&|json| drop(json["top"]["by_memory"][0].as_object_mut().unwrap().remove("key"))),
        wrong(&|json| drop(json.as_object_mut().unwrap().remove("patterns"))),
    ] {
        assert!(!validator.is_valid(&json));
    }
}

#[test]
fn comparisons_are_valid() {
    let validator = validator(Described::Compare);
    let dumps = ["testdata/dumps/shop.rdb", "testdata/dumps/shop-later.rdb"];
    for inputs in [&dumps[..], &[dumps[0], dumps[0]]] {
        let mut command = rdblens();
        command.arg("compare").args(inputs).args(["--format", "json", "--maxmemory", "64MB"]).current_dir(ROOT);
        let output = run(&mut command);
        assert_valid(&validator, &serde_json::from_slice(&output.stdout).unwrap(), "compare");
    }
}

#[test]
fn every_field_of_a_report_has_a_description() {
    let schema = serde_json::to_value(Described::Report.schema()).unwrap();
    let mut bare = Vec::new();
    undescribed(&schema, "", &mut bare);
    // The two members of an auxiliary field are documented instead.
    bare.retain(|place| !place.contains("AuxField"));
    assert!(bare.is_empty(), "{bare:?}");
}

/// Collects properties without a description.
fn undescribed(schema: &Value, place: &str, bare: &mut Vec<String>) {
    let Some(members) = schema.as_object() else { return };
    for (name, member) in members {
        let place = format!("{place}/{name}");
        if name == "properties" {
            for (field, schema) in member.as_object().unwrap() {
                if schema["description"].as_str().is_none_or(str::is_empty) {
                    bare.push(format!("{place}/{field}"));
                }
            }
        }
        undescribed(member, &place, bare);
    }
}

/// An older program's report, read and written again, is valid except for fields that did not exist then.
#[test]
fn a_report_read_back_is_valid() {
    let first = fs::read(Path::new(ROOT).join("testdata/reports/first.json")).unwrap();
    let report = Report::read(&first, "first.json").unwrap();
    assert_valid(&validator(Described::Report), &serde_json::to_value(report).unwrap(), "first.json");
}
