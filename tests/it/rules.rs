//! `docs/rules.md` matches the registry. `UPDATE_GOLDEN=1 cargo test --test it rules::` renews it.

use std::fmt::Write;
use std::path::Path;

use rdblens::internals::policy::params::{ParamSpec, Params};
use rdblens::internals::policy::rule::RuleMeta;
use rdblens::internals::policy::wording::{self, RuleWording};
use rdblens::internals::policy::{Policy, presets, registry};
use rdblens::internals::render::Lang;
use rdblens::internals::render::passage::place;
use rdblens::internals::render::rules::{citations, own_fixes, sample_lines, severities};

use crate::common::program::stdout_of;

const HEAD: &str = "# Rules

Reference of all rules: the demand of each, its reason, its parameters, and examples. `rdblens rules` lists them, and
`rdblens rules ID` shows one of these chapters in the terminal, in English or, with `--lang zh`, in Chinese.
[policy.md](policy.md) explains how to configure them, [standards.md](standards.md) lists the standards that they come from. Two
severities in a cell: the preset sets the rule twice, with different limits. Rules that
[compare samples](policy.md#rules-that-compare-samples) of very large patterns are not evaluated if these are too small to tell. This page is
generated from the program.

";

#[test]
fn the_page_matches_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    let page = page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let differs = std::fs::read_to_string(&path).unwrap() != page;
    assert!(!differs, "docs/rules.md: UPDATE_GOLDEN=1 renews it");
}

#[test]
fn lists_count_rules_and_explain_what_they_show() {
    let platform = stdout_of(&["rules", "--policy", "platform", "--lang", "en"]);
    let head = platform.lines().next().unwrap();
    assert!(head.contains(" rules, ") && head.ends_with(" settings"), "{head}");
    let all = stdout_of(&["rules", "--lang", "en"]);
    assert_eq!(all.contains("must hint"), all.contains("Two severities in a cell: "), "{all}");
    assert_eq!(all.contains("  demands"), all.contains("Limits in demands "), "{all}");
}

fn page() -> String {
    let policies = presets::standards().unwrap();
    let mut page = HEAD.to_owned();
    page += "| rule | demands |";
    policies.iter().for_each(|policy| write!(page, " {} |", policy.name).unwrap());
    page += "\n|---|---|";
    policies.iter().for_each(|_| page += "---|");
    for rule in registry::RULES {
        let demand = RuleWording::of(rule.meta, &Params::defaults(rule.meta.params)).demand.en;
        write!(
            page,
            "\n| [`{id}`](#{anchor}) | {} |",
            cell(&demand),
            id = rule.meta.id,
            anchor = rule.meta.id.replace('.', "")
        )
        .unwrap();
        let severity = |policy: &Policy| severities(policy, rule.meta.id).unwrap_or_else(|| "–".to_owned());
        policies.iter().for_each(|policy| write!(page, " {} |", severity(policy)).unwrap());
    }
    page += "\n";
    registry::RULES.iter().for_each(|rule| chapter(rule.meta, &policies, &mut page));
    page
}

fn chapter(meta: &RuleMeta, policies: &[Policy], page: &mut String) {
    let RuleWording { demand: what, fix, .. } = RuleWording::of(meta, &Params::defaults(meta.params));
    write!(page, "\n## {}\n\n**{}.** {}。\n\n{}\n\n", meta.id, capital(&what.en), what.zh, meta.why.en).unwrap();
    write!(page, "*How to fix:* {}.\n\n", fix.en).unwrap();
    for (names, fix) in own_fixes(policies, meta.id) {
        write!(page, "*In {}:* {}.\n\n", names.join(", "), fix.en).unwrap();
    }
    let cited = citations(policies, meta.id);
    if !cited.is_empty() {
        *page += "| presets | document and chapter | sentence |\n|---|---|---|\n";
    }
    for citation in cited {
        let (place, quote) = (place(citation.passage, Lang::En), citation.passage.quote.as_deref().unwrap_or("–"));
        writeln!(page, "| {} | {} | {} |", citation.policies.join(", "), cell(&place), cell(quote)).unwrap();
    }
    parameters(meta.params, page);
    let mut rows = String::new();
    for policy in policies {
        for setting in policy.settings.iter().filter(|setting| setting.rule.meta.id == meta.id) {
            let params = wording::settings(meta.params, &setting.params);
            let params = if params.is_empty() { "–".to_owned() } else { format!("`{}`", cell(&params)) };
            writeln!(rows, "| {} | {} | {params} |", policy.name, setting.severity.name()).unwrap();
        }
    }
    if rows.is_empty() {
        *page += "\nNot enabled in any preset; a policy file can enable it.\n";
    } else {
        write!(page, "\n| preset | severity | parameters |\n|---|---|---|\n{rows}").unwrap();
    }
    for (title, sample) in [("Passes", &meta.passes), ("Fails", &meta.fails)] {
        write!(page, "\n{title}:\n\n```text\n{}\n```\n", sample_lines(sample, Lang::En).join("\n")).unwrap();
    }
}

fn parameters(specs: &[ParamSpec], page: &mut String) {
    if specs.is_empty() {
        return;
    }
    *page += "\n| parameter | meaning | default |\n|---|---|---|\n";
    for spec in specs {
        let default = wording::toml(spec.default, &spec.default.value());
        writeln!(page, "| `{}` | {}: {} | `{}` |", spec.name, spec.what.en, spec.default.expects(), cell(&default))
            .unwrap();
    }
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + rest.as_str())
}

/// Escapes `|`, which would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
