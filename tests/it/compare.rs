//! `rdblens compare`: reports and dumps in any combination, changes between them, and the forecast of memory.

use crate::common::dump::Dump;
use crate::common::golden;
use crate::common::program::{run_args, stdout_of};
use std::fs;
use std::path::Path;

use serde_json::Value;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(&[args, &["--format", "json"]].concat())).unwrap()
}

fn shop() -> String {
    format!("{DATA}/dumps/shop.rdb")
}

/// Writes a report on the shop dated `days` earlier, with all memory scaled by `permille`.
fn earlier(folder: &Path, days: i64, permille: u64) -> String {
    earlier_of(folder, days, permille, "1000")
}

/// Returns an earlier report with lists of `top` rows.
fn earlier_of(folder: &Path, days: i64, permille: u64, top: &str) -> String {
    let mut report = json(&["analyze", &shop(), "--top", top]);
    let scale = |value: &mut Value| *value = (value.as_u64().unwrap() * permille / 1000).into();
    report["server"]["ctime"] = (report["server"]["ctime"].as_i64().unwrap() - days * 86_400).into();
    scale(&mut report["totals"]["memory"]);
    if report["instance"].is_object() {
        scale(&mut report["instance"]["total"]);
    }
    report["patterns"]["list"].as_array_mut().unwrap().iter_mut().for_each(|row| scale(&mut row["memory"]));
    let path = folder.join(format!("{days}.json"));
    fs::write(&path, report.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_dump_and_its_own_report_do_not_differ() {
    let folder = tempfile::tempdir().unwrap();
    let report = earlier(folder.path(), 0, 1000);
    for inputs in [[&report, &shop()], [&shop(), &report], [&shop(), &shop()]] {
        let comparison = json(&["compare", inputs[0], inputs[1]]);
        assert_eq!(comparison["growth"]["memory"], 0);
        let counts = &comparison["patterns"]["counts"];
        assert!(counts["unchanged"].as_u64() > Some(100), "{counts}");
        assert_eq!((&counts["grown"], &counts["new"], &counts["vanished"]), (&0.into(), &0.into(), &0.into()));
        assert_eq!(comparison["findings"]["new"], Value::Array(Vec::new()));
        assert!(comparison["trend"].is_null(), "one time is no trend");
    }
}

/// The growth in a report with a baseline equals the result of `compare`.
#[test]
fn growth_since_a_baseline_is_that_of_a_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let old = earlier(folder.path(), 7, 900);
    let later = format!("{DATA}/dumps/shop-later.rdb");
    let report = folder.path().join("now.json");
    let report = report.to_str().unwrap();
    let alone = ["analyze", &later, "--top", "1000", "--format", "json"];
    fs::write(report, stdout_of(&alone)).unwrap();
    let mut since = json(&["analyze", &later, "--top", "1000", "--baseline", &old])["growth"].take();
    let mut comparison = json(&["compare", &old, report, "--top", "1000"]);
    let whole = &comparison["growth"];
    assert!(whole["memory"].as_i64() > Some(0) && since["patterns"]["counts"]["grown"].as_u64() > Some(100));
    for field in ["keys", "memory", "share"] {
        assert_eq!(since[field], whole[field]);
    }
    for field in ["types", "patterns"] {
        assert_eq!(since[field].take(), comparison[field].take(), "{field}");
    }
    assert_eq!((&since["report"], &since["taken"]), (&"7.json".into(), &comparison["snapshots"][0]["taken"]));
    assert!(json(&alone[..4])["growth"].is_null(), "nothing without a baseline");

    // A truncated list of the report is that of what is compared, one of the baseline does not show what was not on it.
    let counts = json(&["analyze", &later, "--top", "5", "--baseline", &old])["growth"]["patterns"]["counts"].take();
    assert_eq!(counts["uncertain"], 0, "{counts}");
    let old = earlier_of(folder.path(), 7, 900, "5");
    let cut = json(&["analyze", &later, "--baseline", &old])["growth"].take();
    let counts = &cut["patterns"]["counts"];
    assert!(counts["uncertain"].as_u64() > Some(50) && counts["vanished"] == 0, "{counts}");
    let table = stdout_of(&["analyze", &later, "--full", "--baseline", &old]);
    assert!(table.contains("Growth since ") && table.contains(" in 7 days") && table.contains("is not known"));
}

#[test]
fn keys_that_are_gone_show_by_pattern_and_finding() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part.json");
    fs::write(&part, stdout_of(&["analyze", &shop(), "--format", "json", "--match", "cache:*", "--top", "1000"]))
        .unwrap();
    let comparison = json(&["compare", &shop(), part.to_str().unwrap()]);
    let counts = &comparison["patterns"]["counts"];
    assert!(counts["vanished"].as_u64() > Some(50) && counts["grown"] == 0, "{counts}");
    assert!(comparison["growth"]["keys"].as_i64() < Some(-4000));
    let fixed = comparison["findings"]["fixed"].as_array().unwrap();
    assert!(fixed.iter().any(|row| row["rule"] == "key.prefix"));
    assert!(comparison["warnings"].to_string().contains("different selections"));
}

#[test]
fn several_reports_forecast_when_memory_runs_out() {
    let folder = tempfile::tempdir().unwrap();
    let nights: Vec<String> =
        [(3, 700), (2, 800), (1, 900)].iter().map(|&(days, permille)| earlier(folder.path(), days, permille)).collect();
    let comparison = json(&["compare", &nights[0], &nights[1], &nights[2], &shop(), "--maxmemory", "1GB"]);
    let trend = &comparison["trend"];
    assert_eq!(trend["snapshots"], 4);
    let size = comparison["snapshots"][3][trend["of"].as_str().unwrap()].as_f64().unwrap();
    let per_day = trend["per_day"].as_f64().unwrap();
    assert!((per_day / size - 0.1).abs() < 0.001, "{per_day} of {size}");
    let days = ((1u64 << 30) as f64 - size) / per_day;
    let told = (trend["reached"]["at"].as_f64().unwrap() - comparison["snapshots"][3]["taken"].as_f64().unwrap())
        / 86_400_000.0;
    assert!((days / told - 1.0).abs() < 0.01, "{days} {told}");
    let table = stdout_of(&["compare", &nights[0], &nights[1], &nights[2], &shop(), "--maxmemory", "1GB"]);
    assert!(table.contains("is reached on") && table.contains("with 95 % between"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 120));
}

#[test]
fn one_input_or_a_wrong_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("wrong.json");
    fs::write(&wrong, "{}").unwrap();
    for (args, status) in [
        (&["compare", &shop()][..], 2),
        (&["compare", &shop(), wrong.to_str().unwrap()], 2),
        (&["compare", &shop(), "no.json"], 3),
    ] {
        let output = run_args(args);
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_copy_under_another_name_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.rdb").display().to_string();
    fs::copy(shop(), &copy).unwrap();
    let later = format!("{DATA}/{LATER}");
    let plain = json(&["compare", &shop(), &later]);
    for inputs in [[&shop(), &copy, &later], [&shop(), &later, &copy]] {
        let comparison = json(&["compare", inputs[0], inputs[1], inputs[2]]);
        assert_eq!((&comparison["snapshots"], &comparison["trend"]), (&plain["snapshots"], &plain["trend"]));
        let left_out = &comparison["left_out"][0];
        assert_eq!((&left_out["name"], &left_out["reason"]["kind"]), (&copy.clone().into(), &"same-snapshot".into()));
    }
    // With nothing else to compare with, it is compared.
    let alone = json(&["compare", &shop(), &copy]);
    assert_eq!(
        (alone["snapshots"].as_array().unwrap().len(), &alone["warnings"][0]["kind"]),
        (2, &"same-snapshot".into())
    );
    // A backup that copied what was there already does not pass for a new night.
    let dated = folder.path().join("shop-2030-01-01.rdb").display().to_string();
    fs::copy(&later, &dated).unwrap();
    assert_eq!(run_args(&["compare", &shop(), &later, &dated]).status.code(), Some(4));
}

#[test]
fn rules_about_growth_judge_a_dump_by_the_first_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, keys: u64| {
        let mut dump = Dump::new();
        (0..keys).for_each(|i| _ = dump.string(format!("shop:cart:{i}:state"), "x".repeat(400)));
        (0..9_000).for_each(|i| _ = dump.string(format!("shop:user:{i}:name"), "x".repeat(400)));
        let path = folder.path().join(name);
        fs::write(&path, dump.bytes()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (old, new) = (write("old.rdb", 1_000), write("new.rdb", 9_000));
    let told = |inputs: [&str; 2]| {
        let comparison = json(&["compare", inputs[0], inputs[1], "--policy", "platform"]);
        let rows = comparison["findings"]["first_evaluated"].as_array().cloned().unwrap_or_default();
        let grown = rows.iter().filter(|row| row["rule"] == "memory.growth");
        grown.map(|row| row["pattern"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told([&old, &new]), ["shop:cart:{int}:state"]);
    assert!(told([&new, &new]).is_empty() && told([&new, &old]).is_empty());
}

#[test]
fn hash_templates_of_both_nights_are_compared() {
    let dump = |name: &str| format!("{DATA}/corpus/{name}/dump.rdb");
    let (without, with) = (dump("redis-8.10.2-notemplates"), dump("redis-8.10.2-templates-q8"));
    let section = json(&["analyze", &with])["hash_templates"].take();
    let change = json(&["compare", &without, &with])["hash_templates"].take();
    for field in ["templates", "keys", "memory", "bytes", "saved"] {
        assert_eq!(change["before"][field], 0, "{field}");
        assert_eq!(change["after"][field], section[field], "{field}");
        assert_eq!(change["difference"][field], section[field], "{field}");
    }
    let back = json(&["compare", &with, &without])["hash_templates"].take();
    assert_eq!(back["difference"]["keys"].as_i64(), section["keys"].as_i64().map(|keys| -keys));
    assert!(json(&["compare", &shop(), &shop()])["hash_templates"].is_null());
    for (lang, words) in [("en", ["Hash templates", "against ordinary"]), ("zh", ["hash 模板", "与普通 hash 相比"])]
    {
        let text = stdout_of(&["compare", &without, &with, "--lang", lang]);
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
}

const LATER: &str = "dumps/shop-later.rdb";

#[test]
fn text_forms_match_the_golden_files() {
    let later = format!("{DATA}/{LATER}");
    let lists = ["growth", "snapshots", "findings"];
    let of = |format: &[&str]| {
        let text = stdout_of(&[&["compare", &shop(), &later, "--maxmemory", "64MB", "--top", "3"], format].concat());
        text.replace(&format!("{DATA}/"), "")
            .replace(concat!("version=\"", env!("CARGO_PKG_VERSION")), "version=\"VERSION")
    };
    golden::check("compare-shop.md", &of(&["--format", "markdown"]));
    golden::check("compare-shop.prom", &of(&["--format", "prometheus", "--label", "snapshot=shop"]));
    let csv: Vec<String> = lists.iter().map(|list| of(&["--format", "csv", "--section", list])).collect();
    golden::check("compare-shop.csv", &csv.join("\n"));
    assert_eq!(of(&["--format", "csv"]), csv[0]);
}

#[test]
fn several_forms_are_written_in_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let later = format!("{DATA}/{LATER}");
    let out = folder.path().join("growth");
    let mut args = vec!["compare".to_owned(), shop(), later, "-o".to_owned(), out.to_str().unwrap().to_owned()];
    for format in ["table", "json", "html", "markdown", "csv", "prometheus"] {
        args.extend(["--format".to_owned(), format.to_owned()]);
    }
    args.extend(["--title", "Growth <of> the shop", "--environment", "production"].map(str::to_owned));
    let output = run_args(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |ending: &str| fs::read_to_string(folder.path().join(format!("growth.{ending}"))).unwrap();
    let page = read("html");
    assert!(page.contains("Growth &#60;of&#62; the shop") && page.contains("production"), "no title");
    assert!(page.contains("(+7.0\u{a0}%) in 3\u{a0}hours"), "a figure stays with its unit");
    for (ending, text) in
        [("txt", "queue:mail"), ("md", "`queue:mail`"), ("csv", "pattern,queue:mail,grown,1,"), ("html", "queue:mail")]
    {
        assert!(read(ending).contains(text), "{ending}");
    }
    let json: Value = serde_json::from_str(&read("json")).unwrap();
    let grown = format!("rdblens_compare_growth_bytes {}\n", json["growth"]["memory"]);
    assert!(read("prom").contains(&grown));
    // The name decides where no format is asked for.
    let alone = folder.path().join("alone.json");
    assert!(stdout_of(&["compare", &args[1], &args[2], "-o", alone.to_str().unwrap()]).is_empty());
    assert!(serde_json::from_slice::<Value>(&fs::read(alone).unwrap()).unwrap()["growth"].is_object());
}

#[test]
fn flags_of_a_form_that_is_not_written_are_wrong_usage() {
    for flags in [
        &["--section", "growth"][..],
        &["--format", "json", "--section", "growth"],
        &["--format", "csv", "--section", "patterns"],
        &["--format", "csv", "--title", "a"],
        &["--label", "a=b"],
        &["--format", "csv", "--format", "json"],
        &["--format", "prometheus", "--label", "a=1", "--label", "a=2"],
    ] {
        let output = run_args(&[&["compare", &shop(), &shop()], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn hostile_names_stay_text_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let mut dump = Dump::new();
    dump.string("=cmd|calc:<script>alert(1)</script>", "x".repeat(5_000));
    dump.string("\u{202e}evil|\u{1b}[31m:`a`", "x".repeat(5_000));
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (old, new) = (write("old.rdb", &Dump::new().bytes()), write("<b>new\u{202e}.rdb", &dump.bytes()));
    for format in ["table", "html", "markdown", "csv", "prometheus"] {
        let text = stdout_of(&["compare", &old, &new, "--format", format, "--lang", "zh"]);
        assert!(!text.contains('\u{202e}') && !text.contains('\u{1b}'), "{format}");
        if format == "csv" {
            assert!(text.contains(",'=cmd|calc") && !text.contains(",=cmd"));
        }
        if format == "html" {
            assert!(!text.contains("<script>alert") && !text.contains("<b>new"), "{format}");
        }
    }
}

/// Writes the first part of a dump, as a copy that was cut off has it.
fn cut_off(folder: &Path) -> String {
    let bytes = fs::read(shop()).unwrap();
    let path = folder.join("cut.rdb");
    fs::write(&path, &bytes[..bytes.len() / 20]).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_damaged_snapshot_of_two_is_marked_and_nothing_is_projected_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let (cut, later) = (cut_off(folder.path()), format!("{DATA}/{LATER}"));
    let args = ["compare", &cut, &later, "--maxmemory", "64MB", "--fail-on", "growth=1%,must"];
    let output = run_args(&args);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("incomplete") && text.contains("no trend and no forecast"), "{text}");
    assert!(!text.contains("At this rate") && !text.contains("a day"), "{text}");
    let output = run_args(&[&args[..], &["--format", "json"]].concat());
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(comparison["trend"].is_null() && comparison["snapshots"][0]["complete"] == false);
    for row in comparison["gate"].as_array().unwrap() {
        assert_eq!((&row["verdict"], &row["reason"]), (&"not-evaluated".into(), &"incomplete".into()), "{row}");
    }
    // With two others that are whole, the trend is theirs.
    let output = run_args(&["compare", &shop(), &cut, &later, "--format", "json"]);
    let [three, two]: [Value; 2] =
        [serde_json::from_slice(&output.stdout).unwrap(), json(&["compare", &shop(), &later])];
    assert_eq!((output.status.code(), &three["trend"]), (Some(4), &two["trend"]));
}

#[test]
fn a_limit_of_zero_is_none() {
    let later = format!("{DATA}/{LATER}");
    let comparison = json(&["compare", &shop(), &later, "--maxmemory", "0"]);
    assert!(comparison["trend"]["per_day"].is_i64() && comparison["trend"]["reached"].is_null());
}

#[test]
fn fixed_findings_have_no_keys_in_csv_and_the_earlier_figures_beside() {
    let later = format!("{DATA}/{LATER}");
    let csv = stdout_of(&["compare", &shop(), &later, "--format", "csv", "--section", "findings"]);
    let mut fixed = csv.lines().filter(|line| line.starts_with("fixed,"));
    assert_eq!(fixed.next(), Some("fixed,big.string,must,cache:page:fr:steel-boots-{int},0,0,,,1,65608,60893,10240"));
}

#[test]
fn the_gate_does_not_judge_other_keys() {
    let folder = tempfile::tempdir().unwrap();
    let selected = folder.path().join("selected.json").display().to_string();
    stdout_of(&["analyze", &shop(), "--match", "user:*", "-o", &selected]);
    let args = ["compare", &earlier(folder.path(), 7, 1000), &selected, "--fail-on", "growth=1%,pattern=5%,must"];
    let output = run_args(&[&args[..], &["--format", "json"]].concat());
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    for row in comparison["gate"].as_array().unwrap() {
        assert_eq!((&row["verdict"], &row["reason"]), (&"not-evaluated".into(), &"other-keys".into()), "{row}");
    }
    assert_eq!(run_args(&[&args[..], &["--strict-gate"]].concat()).status.code(), Some(1));
}
