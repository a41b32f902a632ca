//! Output for people is available in both languages; output for programs does not depend on the language.

use std::path::Path;

use crate::common::golden;
use crate::common::program::{rdblens, run};

const SHOP: &str = "testdata/dumps/shop.rdb";
const SMALL: &str = "testdata/hostile/valid-prefixes.rdb";
const LATER: &str = "testdata/dumps/shop-later.rdb";

/// Returns the output of a command in a locale.
fn printed_in(locale: &str, args: &[&str]) -> String {
    let output = run(rdblens().args(args).env("LC_ALL", locale).current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the output of a command with `--lang`, in a locale of the other language.
fn printed(lang: &str, args: &[&str]) -> String {
    let other = if lang == "zh" { "C" } else { "zh_CN.UTF-8" };
    printed_in(other, &[args, &["--lang", lang]].concat())
}

#[test]
fn comparisons_match_the_golden_files_in_both_languages() {
    for (lang, golden) in [("en", "compare-shop.txt"), ("zh", "compare-shop.zh.txt")] {
        golden::check(golden, &printed(lang, &["compare", SHOP, LATER, "--maxmemory", "64MB"]));
    }
}

#[test]
fn keys_drafts_and_verdicts_match_the_golden_files_in_chinese() {
    let hash = printed("zh", &["show", SHOP, "session:28736d6a1a62bcea795caee3af29f5d8"]);
    let stream = printed("zh", &["show", SHOP, "events:stock"]);
    golden::check("show-shop.zh.txt", &format!("{hash}\n{stream}"));
    golden::check("dictionary-shop.zh.txt", &printed("zh", &["dictionary", SHOP, "--top", "12"]));
    let files = ["valid-prefixes", "truncated-in-list", "not-rdb-text", "listpack-odd-pairs"];
    let paths = files.map(|file| format!("testdata/hostile/{file}.rdb"));
    let mut args = vec!["check"];
    args.extend(paths.iter().map(String::as_str));
    golden::check("check.zh.txt", &printed("zh", &args));
}

#[test]
fn errors_that_reports_quote_are_in_their_language() {
    let paths = ["truncated-in-list", "listpack-odd-pairs", "checksum-wrong", "not-rdb-text"]
        .map(|file| format!("testdata/hostile/{file}.rdb"));
    let damaged = |lang: &str| {
        let args = ["analyze", "--full", "--policy", "testdata/policy/restorable.toml", "--lang", lang];
        let output = run(rdblens().args(args).args(&paths).current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))));
        assert_eq!(output.status.code(), Some(4));
        String::from_utf8(output.stdout).unwrap()
    };
    for (lang, golden) in [("en", "report-damaged.txt"), ("zh", "report-damaged.zh.txt")] {
        golden::check(golden, &damaged(lang));
    }
}

#[test]
fn the_locale_decides_where_no_language_is_asked_for() {
    for args in [
        &["analyze", SMALL][..],
        &["compare", SMALL, SMALL],
        &["check", SMALL],
        &["show", SHOP, "events:stock"],
        &["dictionary", SMALL],
        &["rules"],
        &["rules", "key.prefix"],
    ] {
        let (english, chinese) = (printed_in("C", args), printed_in("zh_CN.UTF-8", args));
        assert_eq!(english, printed("en", args));
        assert_eq!(chinese, printed("zh", args));
        assert_ne!(english, chinese, "{args:?}");
    }
}

#[test]
fn output_for_programs_is_equal_in_every_language() {
    for args in [
        &["analyze", SMALL, "--format", "json"][..],
        &["compare", SMALL, SMALL, "--format", "json"],
        &["check", SMALL, "--format", "json"],
        &["show", SHOP, "events:stock", "--format", "json"],
        &["rules", "--format", "json"],
        &["keys", SMALL],
        &["keys", SMALL, "--format", "csv"],
    ] {
        assert!(printed_in("C", args) == printed_in("zh_CN.UTF-8", args), "{args:?}");
    }
}

#[test]
fn a_chinese_draft_is_the_same_policy() {
    let policy = |lang| printed(lang, &["dictionary", SHOP]).parse::<toml::Table>().unwrap();
    assert_eq!(policy("en"), policy("zh"));
}
