//! Holds `docs/standards.md` to the program: every demand with a rule has keys that keep and break it, which are run through
//! the whole program; the page names every rule and no other, has every chapter of the originals and every passage that a
//! preset cites, and states correctly which severities and parameters are in force.

mod case;
mod headings;
mod notation;
mod page;
mod run;
mod write;

use std::collections::BTreeSet;

use rdblens::internals::policy::{Policy, presets, registry, wording};
use rdblens::internals::render::rules::severities;

use headings::HEADINGS;
use page::{Check, Demand, PAGE, demands, part, rows, unseen};
use run::Side;

/// Returns the rule ids in backticks.
fn ids(text: &'static str) -> BTreeSet<&'static str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|word| word.split_once('.').is_some_and(|(group, _)| GROUPS.contains(&group))).collect()
}

const GROUPS: [&str; 11] =
    ["backup", "big", "db", "instance", "key", "memory", "slot", "stream", "ttl", "type", "value"];

fn named() -> BTreeSet<&'static str> {
    HEADINGS.iter().flat_map(|(preset, _)| ids(part(preset))).collect()
}

#[test]
fn every_rule_is_named_and_every_rule_named_exists() {
    let known: BTreeSet<&str> = registry::RULES.iter().map(|rule| rule.meta.id).collect();
    let named = named();
    let unnamed: Vec<_> = known.difference(&named).collect();
    assert!(unnamed.is_empty(), "docs/standards.md covers nothing by {unnamed:?}");
    let open = LETTERS.iter().flat_map(|(preset, _)| demands(preset)).flat_map(|demand| demand.checks);
    let open: BTreeSet<_> = open.filter(Check::is_open).map(|check| check.rule).collect();
    let missing: Vec<_> = named.difference(&known).filter(|id| !open.contains(**id)).collect();
    assert!(missing.is_empty(), "docs/standards.md names rules that do not exist: {missing:?}");
}

#[test]
fn every_other_demand_has_a_reason() {
    let reasons = ["command", "client", "server", "runtime", "process", "meaning", "advice", "see"];
    for (preset, _) in HEADINGS {
        for (words, reason) in unseen(preset) {
            assert!(reasons.iter().any(|word| reason.starts_with(word)), "{preset}: {words}: {reason}");
        }
    }
}

/// Returns the text without spaces and markup.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn every_heading_of_the_originals_is_on_the_page() {
    for (preset, headings) in HEADINGS {
        let page = bare(part(preset));
        for heading in headings {
            assert!(page.contains(&bare(heading)), "{preset}: {heading} is not covered");
        }
    }
}

/// Titles of the originals, as the presets cite them.
const DOCUMENTS: [(&str, &str); 5] = [
    ("Redis 使用规范", "service"),
    ("Redis开发规范", "hzero"),
    ("Redis 开发规范（二十一章）", "platform"),
    ("Redis 键值设计规约与业务规范", "strict"),
    ("阿里云Redis开发规范", "aliyun"),
];

/// Returns the chapters of a part: its rows with the section above them, and the sections.
fn chapters(part: &'static str) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in part.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            section = heading;
            found.push(bare(heading));
        } else if line.starts_with('|') {
            found.push(bare(section) + &bare(line));
        }
    }
    found
}

#[test]
fn every_chapter_that_a_preset_cites_is_on_the_page() {
    let mut lost = Vec::new();
    for policy in presets::standards().unwrap() {
        for setting in &policy.settings {
            let Some(source) = &setting.source else { continue };
            let document = source.document.as_deref().unwrap_or_else(|| panic!("{policy:?}: no document"));
            let (_, preset) = DOCUMENTS.iter().find(|(title, _)| *title == document).unwrap();
            // Each word of the outermost and of the innermost heading must be on the page, except item numbers.
            let heading = source.chapter.as_deref().unwrap();
            let ends = [heading.split(" / ").next().unwrap(), heading.split(" / ").last().unwrap()];
            let words =
                ends.iter().flat_map(|end| end.split(|c: char| c.is_whitespace() || "、.()（）".contains(c)).map(bare));
            let wanted: Vec<String> =
                words.filter(|word| !word.is_empty() && !word.bytes().all(|byte| byte.is_ascii_digit())).collect();
            if !chapters(part(preset)).iter().any(|chapter| wanted.iter().all(|word| chapter.contains(word))) {
                lost.push(format!("{} in {}: {document}: {heading}", setting.rule.meta.id, policy.name));
            }
        }
    }
    assert!(lost.is_empty(), "chapters that docs/standards.md does not know:\n{}", lost.join("\n"));
}

#[test]
fn rules_listed_as_in_force_are() {
    let policies = presets::standards().unwrap();
    let from = PAGE.find("\n## Where the table of rules").unwrap();
    let mut wrong = Vec::new();
    for cells in rows(&PAGE[from..]).filter(|cells| cells.len() == 6 && cells[0] != "rule") {
        let (id, preset, said) = (cells[0].trim_matches('`'), cells[1], cells[4]);
        assert!(registry::find(id).is_some(), "{id} does not exist");
        let policy = policies.iter().find(|policy| policy.name == preset).unwrap();
        let held = severities(policy, id).unwrap_or_else(|| "–".to_owned());
        if held != said {
            wrong.push(format!("{id} in {preset}: the page says {said}, the preset {held}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the preset of this name.
fn preset<'p>(policies: &'p [Policy], name: &str) -> &'p Policy {
    policies.iter().find(|policy| policy.name == name).unwrap_or_else(|| panic!("{name} is no preset"))
}

/// Runs all keys of a standard through the program. Cases that are open must fail, the others must not.
fn hold(preset: &str) {
    let mut wrong = Vec::new();
    for (demand, check) in
        demands(preset).iter().flat_map(|demand| demand.checks.iter().map(move |check| (demand, check)))
    {
        let sides = [(Side::Passes, &check.passes), (Side::Fails, &check.fails)];
        for (side, case) in sides.into_iter().flat_map(|(side, cases)| cases.iter().map(move |case| (side, case))) {
            let fault = run::fault(preset, check, case, side);
            match (&case.open, fault) {
                (None, Some(fault)) => {
                    wrong.push(format!("{} {} {side:?}: {}: {fault}", demand.id, check.rule, case.text));
                }
                (Some(_), None) => wrong.push(format!("{} {}: no longer open: {}", demand.id, check.rule, case.text)),
                (None, None) | (Some(_), Some(_)) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_sentence_of_service_holds() {
    hold("service");
}

#[test]
fn every_sentence_of_hzero_holds() {
    hold("hzero");
}

#[test]
fn every_sentence_of_platform_holds() {
    hold("platform");
}

#[test]
fn every_sentence_of_strict_holds() {
    hold("strict");
}

#[test]
fn every_sentence_of_aliyun_holds() {
    hold("aliyun");
}

#[test]
fn every_demand_has_keys_that_keep_and_break_it() {
    for (preset, letter) in LETTERS {
        let demands = demands(preset);
        let ids: Vec<_> = demands.iter().map(|demand| demand.id).collect();
        let sentences = (1..=count(&demands)).map(|number| format!("{letter}{number}"));
        let own = demands.len() - count(&demands);
        let others = (1..=own).map(|number| format!("{}{number}", letter.to_lowercase()));
        assert_eq!(ids, sentences.chain(others).collect::<Vec<_>>(), "{preset}: numbers");
        for check in demands.iter().flat_map(|demand| &demand.checks) {
            assert!(!check.passes.is_empty() && !check.fails.is_empty(), "{preset}: {check:?}");
        }
    }
}

/// Letters of the demands.
const LETTERS: [(&str, &str); 5] =
    [("service", "S"), ("hzero", "H"), ("platform", "P"), ("strict", "T"), ("aliyun", "A")];

/// Counts the demands that are sentences of the standard.
fn count(demands: &[Demand]) -> usize {
    demands.iter().filter(|demand| demand.is_sentence()).count()
}

#[test]
fn severities_and_parameters_are_those_of_the_presets() {
    let policies = presets::standards().unwrap();
    let mut wrong = Vec::new();
    for (name, _) in LETTERS {
        for check in demands(name).iter().flat_map(|demand| &demand.checks) {
            let states = |check: &Check| {
                preset(&policies, name).settings.iter().any(|setting| {
                    let params = wording::settings(setting.rule.meta.params, &setting.params);
                    let same = setting.rule.meta.id == check.rule && setting.severity.name() == check.severity;
                    same && check.params.iter().all(|param| params.contains(param.as_str()))
                })
            };
            // Only with a dictionary is the rule about it in force.
            if check.rule != "key.registered" && !check.is_open() && !states(check) {
                wrong.push(format!("{name}: {} {} {:?}", check.rule, check.severity, check.params));
            }
        }
    }
    assert!(wrong.is_empty(), "not in force as the page says:\n{}", wrong.join("\n"));
}

#[test]
fn every_rule_of_a_preset_has_a_row() {
    let mut missing = Vec::new();
    for (name, _) in LETTERS {
        let demands = demands(name);
        let listed: BTreeSet<_> =
            demands.iter().flat_map(|demand| &demand.checks).map(|check| check.rule.as_str()).collect();
        let policies = presets::standards().unwrap();
        let in_force = preset(&policies, name).settings.iter().map(|setting| setting.rule.meta.id);
        missing.extend(in_force.filter(|id| !listed.contains(id)).map(|id| format!("{name}: {id}")));
    }
    assert!(missing.is_empty(), "in force without a row: {missing:?}");
}

#[test]
fn the_figures_at_the_top_are_those_of_the_rows() {
    let counted = LETTERS.map(|(preset, _)| {
        let demands = demands(preset);
        let provable = count(&demands);
        let open =
            demands.iter().filter(|demand| demand.is_sentence() && demand.checks.iter().any(Check::is_open)).count();
        let unseen = unseen(preset).len();
        format!(
            "| {} | `{preset}` | {} | {unseen} | {provable} | {} | {open} |",
            DOCUMENTS.iter().find(|(_, name)| *name == preset).unwrap().0,
            provable + unseen,
            provable - open
        )
    });
    for row in counted {
        assert!(PAGE.contains(&row), "the table at the top lacks this row:\n{row}");
    }
}
