//! `rdblens capacity`: nodes, slots and forms of the plan.

use std::fs;
use std::path::Path;

use rdblens::internals::render::schema::Described;
use serde_json::Value;

use crate::common::dump::Dump;
use crate::common::program::{run_args, stdout_of};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

fn shop() -> String {
    format!("{DATA}/dumps/shop.rdb")
}

fn later() -> String {
    format!("{DATA}/dumps/shop-later.rdb")
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(&[&["capacity"], args, &["--format", "json"]].concat())).unwrap()
}

/// Writes a report of the shop, so that both dumps and reports are planned from.
fn stored(folder: &Path) -> String {
    let path = folder.join("shop.json").display().to_string();
    stdout_of(&["analyze", &shop(), "--format", "json", "-o", &path]);
    path
}

#[test]
fn totals_are_those_of_the_report_and_plans_are_valid_under_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let plan =
        json(&[&later(), "--node-memory", "1MB", "--earlier", &stored(folder.path()), "--what-if", "valkey-8.1"]);
    let report = stdout_of(&["analyze", &later(), "--what-if", "valkey-8.1", "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let need = |scenario: usize| &plan["demand"]["scenarios"][scenario]["needs"][0]["total"];
    assert_eq!(*need(0), report["instance"]["total"]);
    assert_eq!(*need(1), report["what_if"]["alternatives"][0]["total"]);
    assert_eq!(plan["trend"]["snapshots"], 2);
    let schema = serde_json::to_value(Described::Capacity.schema()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&plan).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn slots_of_a_plan_add_up_to_the_keys() {
    let plan = json(&[&shop(), "--node-memory", "16MB", "--nodes", "5"]);
    let nodes = plan["slots"]["nodes"].as_array().unwrap();
    let sum = |field: &str| nodes.iter().map(|node| node[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("slots"), Value::from(sum("memory"))), (16_384, plan["servers"][0]["memory"].clone()));
}

#[test]
fn every_form_holds_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sign) in
        [("plan.html", "<h2 id=\"h-slot-plan\">"), ("plan.md", "## Slots by bytes"), ("plan.txt", "── Nodes")]
    {
        let path = folder.path().join(name);
        let args = ["capacity", &shop(), "--node-memory", "1MB", "-o", path.to_str().unwrap()];
        assert!(run_args(&args).status.success());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(sign) && text.contains("leaderboard:"), "{name}: {text:.2000}");
    }
    let chinese = stdout_of(&["capacity", &shop(), "--node-memory", "1MB", "--lang", "zh"]);
    assert!(chinese.contains("按字节分配槽位") && chinese.contains("自行释放"));
    let lines: Vec<usize> = chinese.lines().map(str::len).collect();
    assert!(lines.len() > 40, "{chinese}");
}

#[test]
fn a_plan_does_not_depend_on_the_number_of_threads() {
    let plan = |threads| {
        stdout_of(&["capacity", &shop(), &later(), "--node-memory", "1MB", "--nodes", "4", "--threads", threads])
    };
    assert_eq!(plan("1"), plan("4"));
}

#[test]
fn wrong_usage_says_what_to_give() {
    let said = |args: &[&str]| {
        let done = run_args(&[&["capacity"], args].concat());
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(said(&[&shop()]).contains("--node-memory"));
    assert!(said(&[&shop(), "--node-memory", "1MB", "--until", "2027-06-30"]).contains("--earlier"));
    assert!(said(&[&shop(), "--node-memory", "1MB", "--until", "soon", "--earlier", &shop()]).contains("--until soon"));
    let none = said(&[&shop(), "--node-memory", "1MB", "--until", "2027-06-30", "--earlier", &shop()]);
    assert!(none.contains("growth is not known"), "{none}");
    assert!(said(&[&shop(), "--node-memory", "1MB", "--cluster-nodes", &shop()]).contains("--cluster-nodes"));
    assert!(said(&[&shop(), "--node-memory", "0"]).contains("leaves no room"));
}

#[test]
fn a_damaged_input_is_told_and_costs_status_4() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.rdb");
    let whole = fs::read(shop()).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let done = run_args(&["capacity", path.to_str().unwrap(), "--node-memory", "1MB"]);
    assert_eq!(done.status.code(), Some(4));
    assert!(String::from_utf8(done.stdout).unwrap().contains("incomplete"));
}

#[test]
fn an_empty_server_needs_one_node() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.rdb");
    fs::write(&path, Dump::new().bytes()).unwrap();
    let plan = json(&[path.to_str().unwrap(), "--node-memory", "1GB", "--nodes", "3"]);
    assert_eq!(plan["demand"]["scenarios"][0]["needs"][0]["nodes"], 1);
    assert_eq!(plan["slots"]["max_to_mean"], 1.0);
}

/// A shortened command could not be pasted.
#[test]
fn commands_are_whole_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    // Slots 15,495 and 3,300: two nodes of a cluster.
    let nodes = ["a", "b"].map(|key| {
        let path = folder.path().join(format!("{key}.rdb"));
        fs::write(&path, Dump::new().string(key, "value").bytes()).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let args = ["capacity", &nodes[0], &nodes[1], "--node-memory", "1GB", "--nodes", "1"];
    let commands = |format: &str| -> Vec<String> {
        let text = stdout_of(&[&args[..], &["--format", format]].concat());
        let begins = text.match_indices("redis-cli ").map(|(at, _)| &text[at..]);
        begins.map(|rest| rest.split(['\n', '<']).next().unwrap().to_owned()).collect()
    };
    let plan: Value = serde_json::from_str(&stdout_of(&[&args[..], &["--format", "json"]].concat())).unwrap();
    let planned: Vec<&str> =
        plan["slots"]["commands"].as_array().unwrap().iter().map(|it| it["command"].as_str().unwrap()).collect();
    assert!(planned[0].contains("reshard") && planned[0].len() > 120, "{planned:?}");
    for format in ["table", "markdown", "html"] {
        assert_eq!(commands(format), planned, "{format}");
    }
}
