//! Figures of a report agree with each other, in every form: totals with lists, sentences with findings.

use std::fs;

use serde_json::Value;

use crate::common::program::stdout_of;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");
/// Two shards and their summary; no server to price the keys for is known.
const SHARDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/servers/dragonfly");

fn analyze(input: &str, more: &[&str]) -> String {
    stdout_of(&[&["analyze", input], more].concat())
}

fn json(input: &str, more: &[&str]) -> Value {
    serde_json::from_str(&analyze(input, &[more, &["--format", "json"]].concat())).unwrap()
}

fn capacity(inputs: &[&str], more: &[&str]) -> String {
    stdout_of(&[&["capacity"], inputs, more].concat())
}

#[test]
fn a_dragonfly_snapshot_is_one_server() {
    let file = |name: &str| format!("{SHARDS}/{name}.dfs");
    let (first, second, summary) = (file("dump-0000"), file("dump-0001"), file("dump-summary"));
    let more = ["--node-memory", "200KB", "--server", "redis-7.2", "--format", "json"];
    let report = json(SHARDS, &["--server", "redis-7.2"]);
    for inputs in [[SHARDS], [&summary]] {
        let plan: Value = serde_json::from_str(&capacity(&inputs, &more)).unwrap();
        let servers: Vec<_> = plan["servers"].as_array().unwrap().iter().map(|row| &row["keys"]).collect();
        assert_eq!(servers, [831], "{inputs:?}");
        assert_eq!(plan["demand"]["scenarios"][0]["needs"][0]["total"], report["instance"]["total"]);
    }
    let plan: Value = serde_json::from_str(&capacity(&[&first, &second], &more)).unwrap();
    let servers: Vec<_> = plan["servers"].as_array().unwrap().iter().map(|row| &row["keys"]).collect();
    assert_eq!(servers, [418, 413], "without a summary they are servers");
}

#[test]
fn a_dragonfly_snapshot_has_one_limit_and_one_figure_of_its_server() {
    let flags = ["--server", "redis-7.2", "--policy", "platform", "--maxmemory"];
    let report = json(SHARDS, &[&flags[..], &["400KB"]].concat());
    let instance = &report["instance"];
    assert_eq!(instance["maxmemory"], 409_600, "{instance}");
    assert_eq!(instance["used_mem"], report["source"]["files"][0]["used_mem"]);
    let headroom: Vec<&Value> = report["findings"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["rule"] == "memory.headroom")
        .flat_map(|finding| finding["patterns"].as_array().unwrap())
        .collect();
    assert_eq!(headroom.len(), 1, "{headroom:?}");
}

#[test]
fn earlier_dragonfly_snapshots_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let now = folder.path().join("now.json").display().to_string();
    let flags = ["--server", "redis-7.2", "--allow-same"];
    analyze(SHARDS, &["--server", "redis-7.2", "--format", "json", "-o", &now]);
    let mut report: Value = serde_json::from_slice(&fs::read(&now).unwrap()).unwrap();
    report["server"]["ctime"] = (report["server"]["ctime"].as_i64().unwrap() + 86_400).into();
    for file in report["source"]["files"].as_array_mut().unwrap() {
        file["ctime"] = (file["ctime"].as_i64().unwrap() + 86_400).into();
    }
    fs::write(&now, report.to_string()).unwrap();
    let more = ["--earlier", SHARDS, "--node-memory", "1MB", "--format", "json"];
    let plan: Value = serde_json::from_str(&capacity(&[&now], &[&more[..], &flags].concat())).unwrap();
    assert_eq!((&plan["trend"]["snapshots"], &plan["trend"]["per_day"]), (&2.into(), &0.into()), "{}", plan["nights"]);
}

#[test]
fn a_plan_for_unknown_memory_gives_no_advice() {
    for lang in ["en", "zh"] {
        for form in ["table", "markdown", "html"] {
            let text = capacity(&[SHARDS], &["--node-memory", "1GB", "--lang", lang, "--format", form]);
            let unknown = if lang == "en" { "memory unknown" } else { "内存未知" };
            assert!(text.contains(unknown), "{text}");
            for advice in [" 0 B", "needed", "ADDSLOTSRANGE", "需要 1 个", "id=\"demand\""] {
                assert!(!text.contains(advice), "{advice}: {text}");
            }
        }
    }
    let plan: Value =
        serde_json::from_str(&capacity(&[SHARDS], &["--node-memory", "1GB", "--format", "json"])).unwrap();
    assert_eq!(plan["demand"]["scenarios"], serde_json::json!([]));
    assert!(plan["slots"].is_null() && plan["business"].as_array().unwrap().is_empty());
    let metrics = capacity(&[SHARDS], &["--node-memory", "1GB", "--format", "prometheus"]);
    assert!(!metrics.contains("\nrdblens_capacity_nodes"), "{metrics}");
}

#[test]
fn a_comparison_of_unknown_memory_has_no_figures_of_it() {
    let shard = |name: &str| format!("{SHARDS}/{name}.dfs");
    for form in ["table", "markdown"] {
        let args = ["compare", &shard("dump-0000"), &shard("dump-0001"), "--lang", "en", "--format", form];
        let text = stdout_of(&args);
        assert!(text.contains("unknown") && !text.contains("0 B") && !text.contains("memory B"), "{text}");
    }
}

#[test]
fn the_fill_level_is_what_the_rule_measures() {
    let flags = ["--policy", "platform", "--maxmemory", "5300000", "--lang", "en"];
    let report = json(SHOP, &flags);
    let findings = report["findings"]["list"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "memory.headroom").unwrap();
    assert_eq!(finding["worst"]["measured"], 1106);
    let told = "used-mem is 110.6 % of maxmemory (5.1 MiB): ";
    for more in [&[][..], &["--full"], &["--section", "instance"], &["--format", "markdown"]] {
        let text = analyze(SHOP, &[&flags, more].concat());
        assert!(text.contains(told), "{more:?}: {text}");
    }
    let full = analyze(SHOP, &[&flags[..], &["--full", "--format", "markdown"]].concat());
    assert_eq!(full.matches(told).count(), 2, "in the head and in the section");
    let page = analyze(SHOP, &[&flags[..], &["--format", "html"]].concat());
    assert!(page.contains("110.6 %"), "{page}");
    assert!(page.contains("over 5.1 MiB (based on used-mem)"));
}

#[test]
fn metrics_of_what_if_are_about_the_same_keys() {
    let flags = ["--what-if", "redis-8.2"];
    let base = &json(SHOP, &flags)["what_if"]["base"]["memory"];
    let metrics = analyze(SHOP, &[&flags[..], &["--format", "prometheus"]].concat());
    assert!(metrics.contains(&format!("\nrdblens_what_if_base_memory_bytes {base}\n")), "{metrics}");
    let dashboard = fs::read_to_string("docs/dashboards/prometheus.json").unwrap();
    assert_eq!(dashboard.matches("sum(rdblens_what_if_base_memory_bytes{").count(), 1);
}

#[test]
fn rules_about_the_whole_server_do_not_judge_selected_keys() {
    let report = json(SHOP, &["--type", "stream", "--policy", "platform"]);
    let open = report["findings"]["not_evaluated"].as_array().unwrap();
    let row = open.iter().find(|row| row["rule"] == "memory.upgrade");
    assert!(row.is_some_and(|row| row["reason"] == "only some of the keys were selected"), "{open:?}");
}

#[test]
fn patterns_of_unknown_memory_are_in_the_order_of_their_keys() {
    let report = json(SHARDS, &[]);
    let keys: Vec<_> =
        report["no_ttl"]["patterns"].as_array().unwrap().iter().map(|row| row["keys"].as_u64()).collect();
    assert!(keys.len() > 2 && keys.is_sorted_by(|one, next| one >= next), "{keys:?}");
    assert!(analyze(SHARDS, &["--full", "--lang", "en"]).contains("most in user:{int}:{int}"));
}

#[test]
fn a_list_that_was_cut_states_the_true_rest() {
    let report = json(SHOP, &["--what-if", "redis-8.2"]);
    assert_eq!(report["no_ttl"]["distinct_patterns"], 112);
    let no_ttl = |more: &[&str]| analyze(SHOP, &[&["--section", "no-ttl"], more].concat());
    assert!(no_ttl(&["--lang", "en"]).contains("… 102 more with --top 200"), "{}", no_ttl(&[]));
    assert!(no_ttl(&["--lang", "zh"]).contains("… 其余 102 项见 --top 200"), "{}", no_ttl(&["--lang", "zh"]));
    let page = no_ttl(&["--lang", "en", "--format", "html"]);
    assert!(page.contains("92 more with <code>--top 200</code>"), "{page}");
    assert!(!no_ttl(&["--top", "200", "--lang", "en"]).contains("more with"));
    let rest = report["what_if"]["distinct_patterns"].as_u64().unwrap() - 10;
    let text = analyze(SHOP, &["--what-if", "redis-8.2", "--section", "what-if", "--lang", "en"]);
    assert!(text.contains(&format!("… {rest} more with --top ")), "{rest}: {text}");
}

#[test]
fn a_chosen_section_shows_what_the_report_has() {
    for form in ["table", "markdown", "html"] {
        let text = analyze(SHOP, &["--section", "breaking", "--lang", "en", "--format", form]);
        assert!(text.contains("Patterns with the most violations") && !text.contains("nothing to show"), "{text}");
    }
    assert!(!analyze(SHOP, &["--full", "--lang", "en"]).contains("Patterns with the most violations"));
}

#[test]
fn collections_are_mentioned_only_where_there_are_some() {
    let text = analyze(SHOP, &["--type", "string", "--full", "--lang", "en"]);
    assert!(text.contains("all of them strings") && !text.contains("none of the collections"), "{text}");
    assert!(analyze(SHOP, &["--full", "--lang", "en"]).contains("none of the collections has a TTL"));
}

#[test]
fn small_budgets_have_figures_beside_large_ones() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("team.toml").display().to_string();
    let budget = |pattern: &str, memory: &str| format!("[[budget]]\npattern = {pattern:?}\nmemory = {memory:?}\n");
    let text = format!("extends = \"default\"\n{}{}", budget("cache:**", "20KB"), budget("user:**", "20GB"));
    fs::write(&policy, text).unwrap();
    let text = analyze(SHOP, &["--policy", &policy, "--section", "budgets", "--lang", "en"]);
    assert!(text.contains("949.9 KiB  20.0 KiB") && text.contains("203.6 KiB  20.0 GiB"), "{text}");
}

#[test]
fn the_short_report_has_no_shares_of_unknown_memory() {
    let text = analyze(SHARDS, &["--lang", "en"]);
    assert!(text.contains("── Prefixes: 5, memory unknown ─"), "{text}");
    assert!(text.contains("── Keys: 1, memory unknown ─"), "{text}");
}

#[test]
fn remedies_are_there_whole_on_a_page() {
    let page = analyze(SHOP, &["--lang", "en", "--format", "html"]);
    assert!(page.contains("add [[dictionary]] to a policy file; `rdblens dictionary` drafts it"));
}
