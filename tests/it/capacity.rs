//! `rdblens capacity`: nodes, slots and forms of the plan.

use std::fs;
use std::io::Write;
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
fn several_forms_are_written_in_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let forms = ["table", "json", "html", "markdown", "csv", "prometheus"].map(|form| ["--format", form]);
    let args = ["capacity", &later(), "--node-memory", "1MB"];
    stdout_of(&[&args[..], &forms.concat(), &["-o", &path("plan")]].concat());
    for ([_, form], ending) in forms.into_iter().zip(["txt", "json", "html", "md", "csv", "prom"]) {
        let alone = stdout_of(&[&args[..], &["--format", form]].concat());
        assert_eq!(fs::read_to_string(path(&format!("plan.{ending}"))).unwrap(), alone, "{form}");
    }
    let output = run_args(&[&args[..], &["--format", "json", "--format", "html"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("several formats cannot share standard output"),
        "{output:?}"
    );
}

#[test]
fn stored_reports_of_different_times_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (stored(folder.path()), folder.path().join("later.json").display().to_string());
    stdout_of(&["analyze", &later(), "--format", "json", "-o", &second]);
    for inputs in [[&first, &second], [&first, &later()]] {
        let args = ["capacity", inputs[0], inputs[1], "--node-memory", "4MB"];
        let output = run_args(&args);
        assert_eq!(output.status.code(), Some(2), "{inputs:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("3 h 36 min apart"), "{output:?}");
        assert!(run_args(&[&args[..], &["--allow-same"]].concat()).status.success());
    }
}

#[test]
fn growth_between_different_servers_has_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = |args: &[&str]| -> Vec<Value> {
        let plan = json(&[&[&later(), "--node-memory", "4MB"], args].concat());
        plan["warnings"].as_array().unwrap().iter().map(|warning| warning["kind"].clone()).collect()
    };
    let earlier = stored(folder.path());
    assert!(!kinds(&["--earlier", &earlier]).contains(&"models-differ".into()));
    assert!(kinds(&["--earlier", &earlier, "--server", "valkey-8.1"]).contains(&"models-differ".into()));
    // The night itself is no earlier one.
    assert!(kinds(&["--earlier", &later()]).contains(&"same-snapshot".into()));
}

#[test]
fn slots_of_a_plan_add_up_to_the_keys() {
    let plan = json(&[&shop(), "--node-memory", "16MB", "--nodes", "5"]);
    let nodes = plan["slots"]["nodes"].as_array().unwrap();
    let sum = |field: &str| nodes.iter().map(|node| node[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("slots"), Value::from(sum("memory"))), (16_384, plan["servers"][0]["memory"].clone()));
}

fn shards() -> Vec<String> {
    (1..=6).map(|shard| format!("{DATA}/cluster/shard-{shard}.rdb")).collect()
}

fn plan_of_shards(more: &[&str]) -> String {
    let shards = shards();
    let (nodes, owners) = (format!("{DATA}/cluster/nodes.txt"), format!("{DATA}/cluster/owners.toml"));
    let fixed = ["--node-memory", "5MB", "--cluster-nodes", &nodes, "--policy", &owners];
    let args: Vec<&str> = ["capacity"].into_iter().chain(shards.iter().map(String::as_str)).chain(fixed).collect();
    stdout_of(&[&args[..], more].concat())
}

/// The sum over keys is computed from the rows of `keys`, which know nothing of patterns.
#[test]
fn cold_data_by_pattern_and_owner_is_that_of_the_keys() {
    let plan: Value = serde_json::from_str(&plan_of_shards(&["--format", "json"])).unwrap();
    let shards = shards();
    let args: Vec<&str> = ["keys", "--format", "ndjson"].into_iter().chain(shards.iter().map(String::as_str)).collect();
    let rows: Vec<Value> = stdout_of(&args).lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let cold = |prefixes: &[&str], days: u64| -> (u64, u64) {
        let is_cold = |row: &&Value| row["idle"].as_u64().unwrap() >= days * 86_400;
        let is_of = |row: &&Value| prefixes.iter().any(|prefix| row["key"].as_str().unwrap().starts_with(prefix));
        let rows = rows.iter().filter(is_cold).filter(is_of);
        rows.fold((0, 0), |(keys, memory), row| (keys + 1, memory + row["memory"].as_u64().unwrap()))
    };
    let part = |by: &str, name: &str| {
        let parts = plan["cold_parts"].as_array().unwrap();
        let part = parts.iter().find(|part| part["by"] == by && part["name"] == name).unwrap();
        let steps = part["steps"].as_array().unwrap().iter();
        steps.map(|step| (step["keys"].as_u64().unwrap(), step["memory"].as_u64().unwrap())).collect::<Vec<_>>()
    };
    let of = |prefixes: &[&str]| [7, 30, 90].map(|days| cold(prefixes, days)).to_vec();
    assert_eq!(part("pattern", "archive:order:{int}"), of(&["archive:"]));
    assert_eq!(part("pattern", "cart:{int}"), of(&["cart:"]));
    assert_eq!(part("owner", "shop"), of(&["archive:", "cart:"]));
    assert_eq!(part("owner", "accounts"), of(&["session:", "profile:"]));
    let whole = plan["cold"].as_array().unwrap();
    assert_eq!(whole[0]["memory"].as_u64().unwrap(), cold(&[""], 7).1);
    assert_eq!(part("owner", "shop").len(), 3);
}

/// Writes a dump of carts, some of them cold, and a large key.
fn carts(folder: &Path, name: &str, cold: usize, all: usize) -> String {
    let mut dump = Dump::new();
    for cart in 0..all {
        dump.idle(if cart < cold { 8 * 86_400 } else { 60 }).string(format!("cart:{name}{cart}"), "x".repeat(1_000));
    }
    dump.idle(60).string("big", "y".repeat(3_000_000));
    let path = folder.join(format!("{name}.rdb")).display().to_string();
    fs::write(&path, dump.bytes()).unwrap();
    path
}

#[test]
fn cold_parts_count_keys_of_inputs_where_none_is_cold() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [carts(folder.path(), "1", 10, 20), carts(folder.path(), "2", 0, 180)];
    let policy = folder.path().join("policy.toml").display().to_string();
    fs::write(&policy, "[[dictionary]]\npattern = \"cart:*\"\nowner = \"shop\"\n").unwrap();
    let flags = ["--allow-same", "--policy", &policy, "--format", "csv", "--section", "cold"];
    let rows = |command: &[&str], inputs: [&str; 2]| -> Vec<String> {
        let text = stdout_of(&[command, &inputs, &flags].concat());
        let mut csv = csv::Reader::from_reader(text.as_bytes());
        let rows = csv.records().map(Result::unwrap).filter(|row| &row[0] != "all");
        rows.map(|row| row.iter().collect::<Vec<_>>().join(",")).collect()
    };
    let plan = |inputs| rows(&["capacity", "--node-memory", "64MB", "--top", "1"], inputs);
    let both = [inputs[0].as_str(), inputs[1].as_str()];
    let whole = rows(&["analyze"], both);
    assert!(whole[0].starts_with("pattern,cart:{int},200,") && whole[1].starts_with("owner,shop,200,"), "{whole:?}");
    let exact: Vec<String> = whole.iter().map(|row| format!("{row},")).collect();
    assert_eq!(plan(both), exact);
    // A report that lists the large key alone says nothing of carts, and one without the policy nothing of owners.
    let stored = folder.path().join("cut.json").display().to_string();
    stdout_of(&["analyze", both[1], "--top", "1", "--format", "json", "-o", &stored]);
    let cut = plan([both[0], &stored]);
    let least = |row: &str| row.contains(",20,") && row.ends_with(",least");
    assert!(cut.len() == 2 && cut.iter().all(|row| least(row)), "{cut:?}");
    let table = stdout_of(&["capacity", both[0], &stored, "--allow-same", "--node-memory", "64MB"]);
    assert!(table.contains("at least") && table.contains("At least: a stored report lists only"), "{table}");
}

#[test]
fn instances_by_business_have_all_keys_of_all_dumps() {
    let folder = tempfile::tempdir().unwrap();
    let shard = |name: &str, sessions: usize| {
        let mut dump = Dump::new();
        for session in 0..sessions {
            dump.string(format!("session:{name}{session}"), "z".repeat(100));
        }
        let path = folder.path().join(format!("{name}.rdb")).display().to_string();
        fs::write(&path, dump.string(format!("big:{name}"), "y".repeat(3_000_000)).bytes()).unwrap();
        path
    };
    // 18 sessions are less than a thousandth of the memory of their shard.
    let shards = [shard("1", 20), shard("2", 18)];
    let rows = |inputs: [&str; 2]| {
        let flags = ["--allow-same", "--node-memory", "64MB", "--format", "csv", "--section", "business"];
        let text = stdout_of(&[&["capacity"], &inputs[..], &flags].concat());
        let mut csv = csv::Reader::from_reader(text.as_bytes());
        let rows = csv.records().map(Result::unwrap);
        rows.map(|row| format!("{} {} {}", &row[1], &row[2], &row[6])).collect::<Vec<_>>()
    };
    assert_eq!(rows([&shards[0], &shards[1]]), ["big: 2 ", "session: 38 "]);
    let stored = folder.path().join("stored.json").display().to_string();
    let store = |flags: &[&str]| {
        stdout_of(&[&["analyze", &shards[1], "--format", "json", "-o", &stored, "--force"], flags].concat());
        rows([&shards[0], &stored])
    };
    assert_eq!(store(&["--min-share", "0"]), ["big: 2 ", "session: 38 "]);
    assert_eq!(store(&[]), ["big: 2 ", "session: 20 least", " 18 most"]);
    let table = stdout_of(&["capacity", &shards[0], &stored, "--allow-same", "--node-memory", "64MB"]);
    assert!(table.contains("at most") && table.contains("At least: a stored report hides"), "{table}");
}

#[test]
fn the_only_owner_of_a_dictionary_is_an_instance() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.toml").display().to_string();
    fs::write(&policy, "[[dictionary]]\npattern = \"cart:*\"\nowner = \"shop\"\n").unwrap();
    let input = carts(folder.path(), "1", 0, 20);
    let plan = json(&[&input, "--node-memory", "64MB", "--policy", &policy]);
    let rows = plan["business"].as_array().unwrap().iter().filter(|row| row["by"] == "owner");
    let rows: Vec<_> = rows.map(|row| (row["name"].as_str(), row["keys"].as_u64().unwrap())).collect();
    assert_eq!(rows, [(Some("shop"), 20), (None, 1)]);
}

#[test]
fn a_node_that_gets_too_much_comes_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("five.rdb").display().to_string();
    let mut dump = Dump::new();
    for key in ["a", "b", "c", "d", "e"] {
        dump.string(key, "x".repeat(500_000));
    }
    fs::write(&path, dump.bytes()).unwrap();
    let table = |more: &[&str]| {
        let text = stdout_of(&[&["capacity", &path, "--node-memory", "2MB"], more].concat());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let two = table(&[]);
    assert!(two.contains("2 nodes of 2.0 MiB needed") && two.contains("gets more than its 1.4 MiB."), "{two}");
    assert!(two.contains("with --nodes 3 every node has room") && two.contains("total"), "{two}");
    assert!(!table(&["--nodes", "3"]).contains("gets more than"));
}

#[test]
fn lists_are_csv_and_sums_are_metrics() {
    let json: Value = serde_json::from_str(&plan_of_shards(&["--format", "json"])).unwrap();
    for list in ["nodes", "slots", "moves", "heavy-slots", "business", "cold", "freed"] {
        let text = plan_of_shards(&["--format", "csv", "--section", list]);
        let mut csv = csv::Reader::from_reader(text.as_bytes());
        let columns = csv.headers().unwrap().len();
        let rows: Vec<_> = csv.records().map(Result::unwrap).collect();
        assert!(!rows.is_empty() && rows.iter().all(|row| row.len() == columns), "{list}: {text}");
    }
    let slots = plan_of_shards(&["--format", "csv", "--section", "slots"]);
    assert_eq!(slots.lines().count(), 1 + json["slots"]["nodes"].as_array().unwrap().len());
    let metrics = plan_of_shards(&["--format", "prometheus", "--label", "cluster=made"]);
    let needed = &json["demand"]["scenarios"][0]["needs"][0]["nodes"];
    assert!(metrics.contains(&format!("rdblens_capacity_nodes{{cluster=\"made\",ask=\"\"}} {needed}\n")), "{metrics}");
    assert!(metrics.contains("idle=\"90d\"") && metrics.ends_with("# EOF\n"), "{metrics}");
    let wrong = run_args(&["capacity", &shop(), "--node-memory", "1MB", "--section", "cold"]);
    assert_eq!(wrong.status.code(), Some(2));
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
    assert!(chinese.contains("按字节分配槽") && chinese.contains("随过期释放的内存"));
    let lines: Vec<usize> = chinese.lines().map(str::len).collect();
    assert!(lines.len() > 40, "{chinese}");
}

#[test]
fn a_plan_does_not_depend_on_the_number_of_threads() {
    let plan = |threads| {
        let inputs = [&shop(), &later(), "--allow-same"];
        stdout_of(
            &[&["capacity"], &inputs[..], &["--node-memory", "1MB", "--nodes", "4", "--threads", threads]].concat(),
        )
    };
    assert_eq!(plan("1"), plan("4"));
}

#[test]
fn inputs_that_are_not_shards_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let report = stored(folder.path());
    let gzip = path("copy.rdb.gz");
    let mut encoder = flate2::write::GzEncoder::new(fs::File::create(&gzip).unwrap(), flate2::Compression::fast());
    encoder.write_all(&fs::read(shop()).unwrap()).unwrap();
    encoder.finish().unwrap();
    let nights = [path("night-2026-11-20.rdb"), path("night-2026-11-21.rdb")];
    for (night, of) in nights.iter().zip([shop(), later()]) {
        fs::copy(of, night).unwrap();
    }
    let reports = [path("friday.json"), path("saturday.json")];
    for (report, night) in reports.iter().zip(&nights) {
        stdout_of(&["analyze", night, "--format", "json", "-o", report]);
    }
    let plan = |inputs: [&str; 2], more: &[&str]| {
        run_args(&[&["capacity"], &inputs[..], &["--node-memory", "16MB", "--format", "json"], more].concat())
    };
    for (inputs, told) in [
        ([&shop(), &shop()], "are the same snapshot"),
        ([&shop(), &gzip], "are the same snapshot"),
        ([&shop(), &report], "are the same snapshot"),
        ([&report, &reports[0]], "are the same snapshot"),
        ([&shop(), &later()], "did you mean `rdblens compare`?"),
        ([&nights[0], &nights[1]], "did you mean `rdblens compare`?"),
        ([&reports[0], &reports[1]], "did you mean `rdblens compare`?"),
        ([&nights[0], &reports[1]], "did you mean `rdblens compare`?"),
    ] {
        let inputs = inputs.map(String::as_str);
        let refused = plan(inputs, &[]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{inputs:?}: {said}");
        assert!(said.contains(told) && said.contains("--allow-same"), "{inputs:?}: {said}");
        assert!(plan(inputs, &["--allow-same"]).status.success(), "{inputs:?}");
    }
    let repeated = ["--label", "a=1", "--label", "a=2", "--format", "prometheus"];
    assert_eq!(plan([&shop(), &later()], &[&["--allow-same"], &repeated[..]].concat()).status.code(), Some(2));
    let nights = ["--earlier", &reports[0], "--earlier", &reports[1], "--earlier", &shop()];
    let done = run_args(&[&["capacity", &later(), "--node-memory", "16MB"], &nights[..]].concat());
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn an_earlier_snapshot_counts_once_whatever_its_names_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::copy(shop(), path("copy.rdb")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(fs::File::create(path("shop.rdb.gz")).unwrap(), Default::default());
    gzip.write_all(&fs::read(shop()).unwrap()).unwrap();
    gzip.finish().unwrap();
    let report = stored(folder.path());
    let plan = |earlier: &[&String]| {
        let earlier = earlier.iter().flat_map(|path| ["--earlier", path.as_str()]);
        json(&[&[&later(), "--node-memory", "4MB"], &earlier.collect::<Vec<_>>()[..]].concat())
    };
    let once = plan(&[&shop()]);
    for earlier in [[&shop(), &path("copy.rdb")], [&path("shop.rdb.gz"), &shop()], [&report, &shop()]] {
        let plan = plan(&earlier);
        assert_eq!((&plan["nights"], &plan["trend"]), (&once["nights"], &once["trend"]), "{earlier:?}");
        assert_eq!(plan["warnings"][0]["kind"], "same-snapshot", "{earlier:?}");
    }
    // Of a dump and its report, the dump stays; the present one is there already.
    let plan = plan(&[&report, &shop(), &later()]);
    assert_eq!((&plan["nights"], &plan["trend"]), (&once["nights"], &once["trend"]));
    let names: Vec<&str> =
        plan["warnings"].as_array().unwrap().iter().map(|warning| warning["about"].as_str().unwrap()).collect();
    assert_eq!(names, [&later(), &report]);
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
    let past = said(&[&later(), "--node-memory", "1MB", "--until", "2020-01-01", "--earlier", &shop()]);
    assert!(past.contains("not after the snapshot"), "{past}");
    assert!(said(&[&shop(), "--node-memory", "1MB", "--until", "soon", "--earlier", &shop()]).contains("--until soon"));
    let none = said(&[&shop(), "--node-memory", "1MB", "--until", "2027-06-30", "--earlier", &shop()]);
    assert!(none.contains("growth is unknown"), "{none}");
    assert!(said(&[&shop(), "--node-memory", "1MB", "--cluster-nodes", &shop()]).contains("--cluster-nodes"));
    assert!(said(&[&shop(), "--node-memory", "0"]).contains("leaves no room"));
}

#[test]
fn the_history_in_a_stored_report_is_enough_for_later_dates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("later.json").display().to_string();
    let first = stored(folder.path());
    stdout_of(&["analyze", &later(), "--earlier", &first, "--format", "json", "-o", &path]);
    let plan = json(&[&path, "--node-memory", "1MB", "--until", "2027-06-30"]);
    let given = json(&[&path, "--node-memory", "1MB", "--until", "2027-06-30", "--earlier", &first]);
    assert_eq!(plan["demand"], given["demand"]);
    assert_eq!(plan["demand"]["dates"].as_array().unwrap().len(), 5);
}

#[test]
fn a_slot_above_the_room_of_a_node_is_named() {
    let files = shards();
    let nodes = format!("{DATA}/cluster/nodes.txt");
    let asked = |node: &str| {
        let mut args = vec!["--node-memory", node, "--cluster-nodes", &nodes];
        args.extend(files.iter().map(String::as_str));
        (json(&args), stdout_of(&[&["capacity"], &args[..]].concat()))
    };
    let (plan, page) = asked("3MB");
    assert_eq!(
        (&plan["slots"]["heavy_slots"][0]["slot"], &plan["slots"]["heavy_slots"][0]["fits"]),
        (&11304.into(), &false.into())
    );
    let over: Vec<&Value> =
        plan["slots"]["nodes"].as_array().unwrap().iter().filter(|node| node["fits"] == false).collect();
    assert_eq!(over.len(), 1);
    assert!(page.contains("no number of nodes suffices: slot 11304 takes 2.8 MiB"), "{page}");
    assert!(page.contains("slot 11304 fits on no node of 3.0 MiB"), "{page}");
    assert!(
        !page.contains("needed") && page.contains("follow from the memory alone: slot 11304 fits on no node."),
        "{page}"
    );
    assert!(page.contains("gets more than its 2.1 MiB"), "{page}");
    let (plan, page) = asked("6MB");
    assert!(plan["slots"]["nodes"].as_array().unwrap().iter().all(|node| node["fits"] == true));
    assert!(!page.contains("no number of nodes"), "{page}");
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
fn a_damaged_night_does_not_count_and_costs_status_4() {
    let folder = tempfile::tempdir().unwrap();
    let night = |name: &str, keys: usize, day: u32, cut: usize| {
        let mut dump = Dump::new();
        for number in 0..keys {
            dump.string(format!("user:{number}"), "value");
        }
        let mut bytes = dump.bytes();
        let at = bytes.windows(5).position(|part| part == b"ctime").unwrap() + 6;
        bytes[at..at + 10].copy_from_slice((1_700_000_000 + day * 86_400).to_string().as_bytes());
        let path = folder.path().join(name).join("s.rdb");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (first, cut) = (night("1", 1000, 0, 0), night("2", 1100, 1, 15_000));
    let last = night("3", 1200, 2, 0);
    let growth = |earlier: &[&str]| {
        let mut args = vec!["capacity", &last, "--node-memory", "1MB", "--format", "json"];
        args.extend(earlier.iter().flat_map(|path| ["--earlier", path]));
        let done = run_args(&args);
        let plan: Value = serde_json::from_slice(&done.stdout).unwrap();
        (done.status.code(), plan["nights"].as_array().map(Vec::len), plan["trend"].clone())
    };
    let (status, nights, trend) = growth(&[&first]);
    assert_eq!((status, nights), (Some(0), Some(2)));
    assert_eq!(growth(&[&first, &cut]), (Some(4), nights, trend));
    // The present one does not count either.
    let args = ["capacity", &cut, "--node-memory", "1MB", "--until", "2027-06-30", "--earlier", &first];
    let done = run_args(&args);
    let text = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(4), "{text}");
    assert!(!text.contains("── Growth") && text.contains("does not count for growth"), "{text}");
}

#[test]
fn parts_of_one_snapshot_are_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let part = |name: &str, flags: &[&str]| {
        let path = folder.path().join(name).display().to_string();
        stdout_of(&[&["analyze", &shop(), "--format", "json", "-o", &path], flags].concat());
        path
    };
    let (zero, one) = (part("0.json", &["--db", "0"]), part("1.json", &["--db", "1"]));
    let plan = |inputs: [&str; 2], more: &[&str]| {
        let done =
            run_args(&[&["capacity"], &inputs[..], &["--node-memory", "16MB", "--format", "json"], more].concat());
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let (status, said) = plan([&zero, &one], &[]);
    assert!(status == Some(2) && said.contains("are parts of one snapshot, not shards (--db 0; --db 1)"), "{said}");
    assert_eq!(plan([&zero, &one], &["--allow-same"]).0, Some(0));
    for other in [&shop(), &part("all.json", &[]), &part("again.json", &["--db", "0"])] {
        let (status, said) = plan([&zero, other], &[]);
        assert!(status == Some(2) && said.contains("are the same snapshot"), "{said}");
    }
}

#[test]
fn a_cluster_that_is_out_of_order_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = fs::read_to_string(format!("{DATA}/cluster/nodes.txt")).unwrap();
    let list = folder.path().join("nodes.txt").display().to_string();
    let plan = |text: &str, more: &[&str]| {
        fs::write(&list, text).unwrap();
        let files = shards();
        let inputs: Vec<&str> = files.iter().map(String::as_str).collect();
        stdout_of(&[&["capacity", "--node-memory", "5MB", "--cluster-nodes", &list], &inputs[..], more].concat())
    };
    let failed =
        nodes.replacen("master", "master,fail", 1).replacen("connected 13654-16383", "connected 13654-16380", 1);
    let text = plan(&failed, &[]);
    for words in ["slots on 1 node that the cluster does not reach", "(fail)", "until the cluster is in order"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.contains("3 slots without an owner") && text.contains("--cluster fix"), "{text}");
    let moving = nodes.trim_end().to_owned() + " [13654->-0000000000000000000000000000000000000001]\n";
    let text = plan(&moving, &["--lang", "zh"]);
    assert!(text.contains("1 个槽正在迁移") && text.contains("13654 (10.0.0.6:6379 → 10.0.0.1:6379)"), "{text}");
    let sound = plan(&nodes, &[]);
    assert!(!sound.contains("in order: see") && !sound.contains("owner:"), "{sound}");
}

#[test]
fn memory_that_shrinks_is_not_followed_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut report: Value = serde_json::from_str(&fs::read_to_string(stored(folder.path())).unwrap()).unwrap();
    let day_before = Value::from(report["server"]["ctime"].as_i64().unwrap() - 86_400);
    report["server"]["ctime"] = day_before.clone();
    report["source"]["files"][0]["ctime"] = day_before;
    report["instance"]["total"] = (report["instance"]["total"].as_u64().unwrap() * 2).into();
    let earlier = folder.path().join("earlier.json").display().to_string();
    fs::write(&earlier, report.to_string()).unwrap();
    let args = ["capacity", &shop(), "--node-memory", "1MB", "--earlier", &earlier, "--until", "2028-01-01"];
    let text = stdout_of(&args);
    assert!(text.contains("Memory shrinks: at this rate it reaches zero on 2026-11-22"), "{text}");
    assert!(!text.contains("2028"), "{text}");
    assert!(stdout_of(&[&args[..], &["--lang", "zh"]].concat()).contains("内存在缩小"));
    let page = stdout_of(&[&args[..], &["--format", "html"]].concat());
    let first_screen = page.split("<h2 ").next().unwrap();
    assert!(!first_screen.contains(">0 B<"), "the chart ends before nothing is left");
    let plan = json(&args[1..]);
    assert_eq!(plan["demand"]["dates"].as_array().unwrap().len(), 1);
    assert!(plan["demand"]["nothing_at"].is_i64());
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

#[test]
fn a_question_that_a_stored_report_does_not_answer_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let both = [&shop(), &stored(folder.path())];
    let (file, stored) = (both[0].as_str(), both[1].as_str());
    let asked = ["--node-memory", "16MB", "--what-if", "valkey-8.1", "--what-if", "glibc", "--allow-same"];
    for inputs in [&[stored][..], &[file, stored]] {
        let plan = json(&[inputs, &asked].concat());
        assert_eq!(plan["demand"]["scenarios"].as_array().unwrap().len(), 1, "{inputs:?}");
        let warnings = plan["warnings"].as_array().unwrap();
        let warning = warnings.iter().find(|it| it["kind"] == "questions-not-stored");
        assert_eq!(warning.unwrap()["asks"], serde_json::json!(["valkey-8.1", "glibc"]));
    }
    let table = stdout_of(&[&["capacity", stored], &asked[..]].concat());
    assert!(table.contains("not every input answers --what-if valkey-8.1, glibc"), "{table}");
    let plan = json(&[&[file], &asked[..]].concat());
    assert_eq!((plan["demand"]["scenarios"].as_array().unwrap().len(), &plan["warnings"]), (3, &Value::Array(vec![])));
}

#[test]
fn the_ending_of_the_output_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.pdf").display().to_string();
    for format in [&["--format", "html"][..], &[]] {
        let output = run_args(&[&["capacity", &shop(), "--node-memory", "16MB", "-o", &path], format].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("write HTML and print the page"), "{said}");
    }
    let date = run_args(&["capacity", &shop(), "--node-memory", "1GB", "--earlier", &later(), "--until", "summer"]);
    assert!(String::from_utf8_lossy(&date.stderr).contains("expected a date such as 2027-06-30"), "{date:?}");
}

#[test]
fn a_page_has_its_title_and_flags_of_other_forms_are_refused() {
    let plan = |args: &[&str]| run_args(&[&["capacity", &shop(), "--node-memory", "16MB"], args].concat());
    let page = plan(&["--format", "html", "--title", "Q4 <review>", "--environment", "production"]);
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("<title>Q4 &#60;review&#62;") && page.contains("production"), "{}", &page[..400]);
    for args in [&["--title", "x"][..], &["--environment", "x"], &["--label", "a=b"]] {
        assert_eq!(plan(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_shard_without_keys_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.rdb").display().to_string();
    fs::write(&empty, Dump::new().bytes()).unwrap();
    let flags = ["--node-memory", "16MB", "--what-if", "valkey-8.1", "--allow-same"];
    let totals = |inputs: &[&str]| {
        let plan = json(&[inputs, &flags].concat());
        let scenarios = plan["demand"]["scenarios"].as_array().unwrap().clone();
        scenarios.iter().map(|scenario| scenario["needs"][0]["total"].clone()).collect::<Vec<_>>()
    };
    let alone = totals(&[&shop()]);
    assert_eq!((totals(&[&shop(), &empty]), totals(&[&empty, &shop()])), (alone.clone(), alone));
}

#[test]
fn a_plan_for_selected_keys_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part.json").display().to_string();
    stdout_of(&["analyze", &later(), "--match", "user:*", "--format", "json", "-o", &part]);
    let args = ["capacity", &part, "--node-memory", "1MB", "--earlier", &stored(folder.path())];
    let text = stdout_of(&args);
    assert!(text.starts_with("!! selected keys only in 1 input: more is needed"), "{text}");
    assert!(text.contains("part.json: has only the keys selected by --match user:*"), "{text}");
    let plan = json(&args[1..]);
    assert!(plan["trend"].is_null(), "{}", plan["trend"]);
    let kinds: Vec<&str> =
        plan["warnings"].as_array().unwrap().iter().map(|warning| warning["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"keys-selected") && kinds.contains(&"night-of-other-keys"), "{kinds:?}");
}
