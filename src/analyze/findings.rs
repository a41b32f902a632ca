//! Assembles the findings: counts over keys, verdicts on patterns, and verdicts on the finished report.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::questions::Questions;
use crate::aggregate::parts::ColdKeys;
use crate::aggregate::patterns::BrokenPatterns;
use crate::aggregate::violations::Violations;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::policy::checks::RuleCheck;
use crate::policy::dictionary::Exemption;
use crate::policy::forest::Forest;
use crate::policy::rule::{Breach, PatternRule};
use crate::policy::{Checks, Context, Severity};
use crate::report::{
    BudgetRow, ColdDivision, ColdPart, DictionaryFit, EntryRow, Exempted, Finding, FindingPattern, Findings, Naming,
    NamingRule, NotEvaluated, OwnerFindings, PatternFindings, PatternWeight, Report, RuleWeight, SeverityRow, Unknown,
    Weight, Word, Worst,
};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Findings of the pass over all keys and of the rules about patterns.
#[derive(Debug)]
pub struct KeyFindings {
    /// Findings about keys and patterns.
    pub findings: Findings,
    /// Section on names.
    pub naming: Naming,
}

/// Assembles the findings about keys and patterns.
pub fn found(
    questions: &Questions,
    violations: &Violations,
    broken: Vec<BrokenPatterns>,
    worst: Vec<PatternFindings>,
    forest: &Forest<'_>,
) -> KeyFindings {
    let Questions { checks, classifier, patterns, .. } = questions;
    let naming = naming(checks, violations, &broken);
    let of_keys = checks.keys.iter().zip(&violations.rules).zip(&violations.savings).zip(broken);
    let mut list: Vec<Finding> = of_keys
        .filter(|(((_, tally), _), _)| tally.keys > 0)
        .map(|(((check, tally), saves), broken)| Finding {
            saves: check.rule.estimates_saving().then_some(*saves),
            keys: tally.keys,
            memory: tally.memory,
            distinct_patterns: broken.distinct,
            worst: broken.worst,
            patterns: broken.list,
            ..finding(check)
        })
        .collect();
    let mut judging = BreachCollector::new(checks, classifier, patterns.breaking());
    let mut undecided = Vec::new();
    for check in &checks.patterns {
        let mut breaches = check.rule.judge(forest, &checks.context);
        check.rule.complete(&mut breaches, forest, checks, classifier);
        match judging.finding(check, breaches) {
            Some(finding) => list.push(finding),
            None => {
                let need = check.rule.undecided(forest, &checks.context);
                undecided.extend(need.map(|need| need.of(check.meta.id, check.severity)));
            }
        }
    }
    let mut exempted = exempted(checks, violations);
    exempted.extend(judging.exempted());
    let mut findings = Findings {
        policy: checks.policy.name.clone(),
        extends: checks.policy.extends.clone(),
        settings: checks.digests.iter().map(|(rule, digest)| (Word::from(*rule), digest.clone())).collect(),
        checked: checked(checks).into_iter().map(Word::from).collect(),
        not_evaluated: undecided,
        severities: severities(violations),
        list,
        by_pattern: worst,
        by_owner: by_owner(checks, violations),
        exempted,
        dictionary: checks.has_dictionary().then(|| dictionary(checks, violations)),
        budgets: budgets(checks, violations),
        baseline: None,
    };
    finish(&mut findings);
    KeyFindings { findings, naming }
}

/// Returns the violations of rules about patterns that the findings count, by rule and limit.
pub fn pattern_breaches<'c>(
    checks: &'c Checks,
    classifier: &Classifier,
    forest: &Forest<'_>,
) -> Vec<(&'c RuleCheck<dyn PatternRule>, Vec<Breach>)> {
    let mut judging = BreachCollector::new(checks, classifier, 0);
    let judge = |check: &'c RuleCheck<dyn PatternRule>| {
        (check, judging.counted(check.meta.id, check.rule.judge(forest, &checks.context)))
    };
    checks.patterns.iter().map(judge).collect()
}

/// Facts about the files that rules need and the report does not hold.
#[derive(Debug, Default)]
pub struct FileFacts {
    /// True if a file has long texts whose compressed size it does not tell.
    pub sizes_hidden: bool,
    /// See [`Context::without_ttl`].
    pub without_ttl: BTreeMap<usize, Weight>,
}

/// Adds violations of rules about the snapshot, which examine the other sections of the report, and names owners.
pub fn judge_report(checks: &Checks, classifier: &Classifier, report: &mut Report, facts: FileFacts, top: usize) {
    let FileFacts { sizes_hidden, without_ttl } = facts;
    let context = Context { without_ttl, ..checks.context.clone() };
    let mut judging = BreachCollector::new(checks, classifier, top);
    let partial = !report.complete || !report.options.selection.is_empty();
    for check in checks.snapshots.iter().filter(|check| !(partial && check.rule.is_about_shares())) {
        let breaches = check.rule.judge(report, &context);
        report.findings.list.extend(judging.finding(check, breaches));
    }
    report.findings.exempted.extend(judging.exempted());
    finish(&mut report.findings);
    let mut not_evaluated = checks.not_evaluated(report, sizes_hidden);
    add_undecided(std::mem::take(&mut report.findings.not_evaluated), &report.findings, &mut not_evaluated);
    leave_out(not_evaluated, &mut report.findings);
    if checks.has_dictionary() {
        name_owners(checks, classifier, &mut report.findings);
    }
}

/// Adds rules that found nothing in samples which are too small. Of several limits of a rule, one that found something was evaluated, and
/// other reasons take precedence.
fn add_undecided(undecided: Vec<NotEvaluated>, findings: &Findings, list: &mut Vec<NotEvaluated>) {
    for row in undecided {
        let is_known = findings.list.iter().any(|finding| finding.rule == row.rule);
        if !is_known && list.iter().all(|other| other.rule != row.rule) {
            list.push(row);
        }
    }
    list.compact_sort_by_key(|row| row.rule.clone());
}

/// Lists the rules that were not evaluated, which do not count as checked unless they found something in another file.
fn leave_out(not_evaluated: Vec<NotEvaluated>, findings: &mut Findings) {
    let Findings { checked, list, .. } = findings;
    let is_open = |rule: &Word| not_evaluated.iter().any(|other| other.rule == *rule);
    checked.retain(|rule| !is_open(rule) || list.iter().any(|finding| finding.rule == *rule));
    findings.not_evaluated = not_evaluated;
}

/// Sorts and counts the findings.
fn finish(findings: &mut Findings) {
    findings.list.compact_sort_by_key(|finding| {
        (Reverse(finding.severity), Reverse(finding.memory), Reverse(finding.keys), finding.rule.clone())
    });
    for row in &mut findings.severities {
        row.findings = findings.list.iter().filter(|finding| finding.severity == row.severity).count() as u64;
    }
}

fn checked(checks: &Checks) -> Vec<&'static str> {
    let mut ids: Vec<_> = checks.policy.settings.iter().map(|setting| setting.rule.meta.id).collect();
    ids.dedup();
    ids
}

fn finding<R: ?Sized>(check: &RuleCheck<R>) -> Finding {
    let texts = check.texts.clone();
    Finding {
        rule: check.meta.id.into(),
        severity: check.severity,
        problem: texts.problem,
        demand: texts.demand,
        fix: texts.fix,
        source: check.source.clone(),
        unit: check.meta.unit,
        keys: 0,
        memory: Bytes(0),
        saves: None,
        distinct_patterns: 0,
        worst: None,
        patterns: Vec::new(),
    }
}

/// Collector that turns breaches of rules about patterns and the snapshot into findings.
struct BreachCollector<'a> {
    checks: &'a Checks,
    classifier: &'a Classifier,
    top: usize,
    /// Rules and objects reported so far: of several limits of a rule only the most severe one counts. Those are
    /// checked first.
    said: BTreeSet<(&'static str, Option<String>)>,
    /// By rule and index of the exemption.
    excused: BTreeMap<(&'static str, u16), Weight>,
}

impl<'a> BreachCollector<'a> {
    fn new(checks: &'a Checks, classifier: &'a Classifier, top: usize) -> Self {
        BreachCollector { checks, classifier, top, said: BTreeSet::new(), excused: BTreeMap::new() }
    }

    /// Turns breaches into a finding; returns `None` if none of them counts.
    fn finding<R: ?Sized>(&mut self, check: &RuleCheck<R>, breaches: Vec<Breach>) -> Option<Finding> {
        let breaches = self.counted(check.meta.id, breaches);
        breached(check, breaches, self.top)
    }

    /// Returns the breaches that count: not those reported under a more severe limit, and no exempted ones.
    fn counted(&mut self, rule: &'static str, mut breaches: Vec<Breach>) -> Vec<Breach> {
        let mut said = Vec::new();
        breaches.retain(|breach| {
            let new = !self.said.contains(&(rule, breach.pattern.clone()));
            if new {
                said.push((rule, breach.pattern.clone()));
            }
            new
        });
        // Recorded only at the end: one object may break a limit twice.
        self.said.extend(said);
        breaches.retain(|breach| {
            let exemption = self.checks.exemption_of(rule, breach, self.classifier);
            if let Some(place) = exemption {
                let tally = Weight { keys: breach.keys, memory: breach.memory };
                self.excused.entry((rule, place)).or_default().merge(tally);
            }
            exemption.is_none()
        });
        breaches
    }

    /// Returns the exempted violations.
    fn exempted(self) -> Vec<Exempted> {
        let row = |((rule, place), tally): ((&'static str, u16), Weight)| {
            let exemption = self.checks.policy.exemptions.get(usize::from(place))?;
            Some(exempted_row(rule, exemption, tally))
        };
        self.excused.into_iter().filter_map(row).collect()
    }
}

/// Turns breaches into a finding; returns `None` without any.
fn breached<R: ?Sized>(check: &RuleCheck<R>, mut breaches: Vec<Breach>, top: usize) -> Option<Finding> {
    if breaches.is_empty() {
        return None;
    }
    breaches.compact_sort_by(|one, other| {
        (Reverse(one.memory), Reverse(one.keys), &one.pattern).cmp(&(
            Reverse(other.memory),
            Reverse(other.keys),
            &other.pattern,
        ))
    });
    let sum = |of: &dyn Fn(&Breach) -> u64| breaches.iter().fold(0u64, |sum, breach| sum.saturating_add(of(breach)));
    let saves = breaches.iter().any(|breach| breach.saves.is_some());
    let mut whole = Finding {
        keys: sum(&|breach| breach.keys),
        memory: Bytes(sum(&|breach| breach.memory.0)),
        saves: saves.then(|| Bytes(sum(&|breach| breach.saves.map_or(0, |saves| saves.0)))),
        distinct_patterns: breaches.iter().filter(|breach| breach.pattern.is_some()).count() as u64,
        ..finding(check)
    };
    whole.patterns = breaches.into_iter().map(row).collect();
    whole.worst = Worst::of(&whole.patterns);
    whole.patterns.truncate(top.max(1));
    Some(whole)
}

fn row(breach: Breach) -> FindingPattern {
    FindingPattern {
        pattern: breach.pattern,
        owner: None,
        keys: breach.keys,
        memory: breach.memory,
        measured: breach.measured,
        allowed: breach.allowed,
        saves: breach.saves,
        details: breach.details,
        examples: breach.examples,
    }
}

/// Builds the section on names: every rule in force about them, broken or not.
fn naming(checks: &Checks, violations: &Violations, broken: &[BrokenPatterns]) -> Naming {
    let rule = |bit: usize| {
        let (check, tally) = (&checks.keys[bit], violations.rules[bit]);
        let weight = |row: &FindingPattern| PatternWeight {
            pattern: row.pattern.clone().unwrap_or_default(),
            keys: row.keys,
            memory: row.memory,
            examples: row.examples.clone(),
        };
        NamingRule {
            rule: check.meta.id.into(),
            severity: check.severity,
            demand: check.texts.demand.clone(),
            keys: tally.keys,
            memory: tally.memory,
            patterns: broken.get(bit).map_or_else(Vec::new, |broken| broken.list.iter().map(weight).collect()),
        }
    };
    let Weight { keys, memory } = violations.naming;
    Naming { keys, memory, rules: checks.naming_bits().map(rule).collect() }
}

fn severities(violations: &Violations) -> Vec<SeverityRow> {
    let row = |(severity, tally): (Severity, Weight)| SeverityRow {
        severity,
        findings: 0,
        keys: tally.keys,
        memory: tally.memory,
    };
    Severity::ALL.into_iter().zip(violations.severities).map(row).collect()
}

/// Sums up violations by the owner of the dictionary entry.
fn by_owner(checks: &Checks, violations: &Violations) -> Vec<OwnerFindings> {
    if !checks.has_dictionary() {
        return Vec::new();
    }
    #[derive(Default)]
    struct OwnerSums {
        contact: Option<String>,
        all: Weight,
        without_ttl: Option<Weight>,
        broken: Weight,
        rules: BTreeMap<u8, Weight>,
    }
    let mut owners: BTreeMap<Option<&str>, OwnerSums> = BTreeMap::new();
    let owner = |entry: Option<u16>| {
        let entry = entry.and_then(|entry| checks.policy.entries.get(usize::from(entry)));
        entry.and_then(|entry| entry.owner.as_deref())
    };
    for (place, entry) in checks.policy.entries.iter().enumerate() {
        let sums = owners.entry(entry.owner.as_deref()).or_default();
        sums.all.merge(violations.entries[place]);
        sums.without_ttl.get_or_insert_default().merge(violations.entries_without_ttl[place]);
        sums.contact = sums.contact.take().or_else(|| entry.contact.clone());
    }
    owners.entry(None).or_default().all.merge(violations.unregistered);
    for (&(entry, bit), &tally) in &violations.by_entry {
        owners.entry(owner(entry)).or_default().rules.entry(bit).or_default().merge(tally);
    }
    for (&entry, &tally) in &violations.entry_any {
        owners.entry(owner(entry)).or_default().broken.merge(tally);
    }
    let row = |(owner, sums): (Option<&str>, OwnerSums)| OwnerFindings {
        owner: owner.map(str::to_owned),
        contact: sums.contact,
        keys: sums.all.keys,
        memory: sums.all.memory,
        without_ttl: sums.without_ttl.filter(|_| owner.is_some()),
        broken: sums.broken,
        rules: rule_weights(checks, sums.rules),
    };
    let mut rows: Vec<_> = owners.into_iter().map(row).filter(|row| row.owner.is_some() || row.keys > 0).collect();
    rows.compact_sort_by(|one, other| (Reverse(one.memory), &one.owner).cmp(&(Reverse(other.memory), &other.owner)));
    rows
}

/// Sums up keys out of use by the owner of the dictionary entry, owners with most such memory first.
pub fn cold_by_owner(checks: &Checks, violations: &Violations) -> Vec<ColdPart> {
    if !checks.has_dictionary() {
        return Vec::new();
    }
    let mut owners: BTreeMap<Option<&str>, (Weight, ColdKeys)> = BTreeMap::new();
    let mut add = |owner, all: Weight, cold: &ColdKeys| {
        let (sum, sum_cold) = owners.entry(owner).or_default();
        sum.merge(all);
        sum_cold.merge(cold);
    };
    for ((entry, all), cold) in checks.policy.entries.iter().zip(&violations.entries).zip(&violations.entries_cold) {
        add(entry.owner.as_deref(), *all, cold);
    }
    add(None, violations.unregistered, &violations.unregistered_cold);
    let part = |(owner, (Weight { keys, memory }, cold)): (Option<&str>, (Weight, ColdKeys))| ColdPart {
        by: ColdDivision::Owner,
        name: owner.map(str::to_owned),
        keys,
        memory,
        steps: cold.steps(),
    };
    let is_cold = |(_, (_, cold)): &(Option<&str>, (Weight, ColdKeys))| cold.least().keys > 0;
    let mut parts: Vec<ColdPart> = owners.into_iter().filter(is_cold).map(part).collect();
    // Stable: of equals the first by name comes first.
    parts.compact_sort_by_key(|part| Reverse(part.cold()));
    parts
}

fn rule_weights(checks: &Checks, rules: BTreeMap<u8, Weight>) -> Vec<RuleWeight> {
    let with_check = |(bit, tally): (u8, Weight)| checks.keys.get(usize::from(bit)).map(|check| (check, tally));
    let mut rules: Vec<_> = rules.into_iter().filter_map(with_check).collect();
    rules.compact_sort_by_key(|(check, tally)| (Reverse(check.severity), Reverse(tally.memory), check.meta.id));
    let row = |(check, tally): (&RuleCheck<dyn crate::policy::KeyRule>, Weight)| RuleWeight {
        rule: check.meta.id.into(),
        severity: check.severity,
        keys: tally.keys,
        memory: tally.memory,
    };
    rules.into_iter().map(row).collect()
}

fn exempted(checks: &Checks, violations: &Violations) -> Vec<Exempted> {
    let row = |(&(exemption, bit), tally): (&(u16, u8), &Weight)| {
        let exemption = checks.policy.exemptions.get(usize::from(exemption))?;
        Some(exempted_row(checks.keys.get(usize::from(bit))?.meta.id, exemption, *tally))
    };
    violations.excused.iter().filter_map(row).collect()
}

fn exempted_row(rule: &'static str, exemption: &Exemption, tally: Weight) -> Exempted {
    Exempted {
        rule: rule.into(),
        pattern: exemption.pattern.text.clone(),
        reason: exemption.reason.clone(),
        keys: tally.keys,
        memory: tally.memory,
    }
}

fn dictionary(checks: &Checks, violations: &Violations) -> DictionaryFit {
    let tallies = violations.entries.iter().zip(&violations.entries_without_ttl);
    let mut entries: Vec<EntryRow> = checks
        .policy
        .entries
        .iter()
        .zip(tallies)
        .map(|(entry, (tally, without_ttl))| EntryRow {
            pattern: entry.pattern.text.clone(),
            owner: entry.owner.clone(),
            contact: entry.contact.clone(),
            note: entry.note.clone(),
            keys: tally.keys,
            memory: tally.memory,
            without_ttl: *without_ttl,
        })
        .collect();
    let unused = entries.iter().filter(|entry| entry.keys == 0).map(|entry| entry.pattern.clone()).collect();
    let incomplete = entries.iter().filter(|entry| entry.owner.is_none()).map(|entry| entry.pattern.clone()).collect();
    entries.compact_sort_by_key(|entry| (Reverse(entry.memory), Reverse(entry.keys)));
    DictionaryFit { entries, unregistered: violations.unregistered, unused, incomplete }
}

fn budgets(checks: &Checks, violations: &Violations) -> Vec<BudgetRow> {
    let row = |((budget, tally), unknown): ((&crate::policy::checks::BudgetLine, &Weight), &Unknown)| BudgetRow {
        pattern: budget.what.clone(),
        allowed: budget.memory,
        keys: tally.keys,
        memory: tally.memory,
        unknown: *unknown,
    };
    checks.budgets.iter().zip(&violations.budgets).zip(&violations.budgets_unknown).map(row).collect()
}

/// Adds the owners of the patterns in the findings.
fn name_owners(checks: &Checks, classifier: &Classifier, findings: &mut Findings) {
    let mut buf = PatternBuf::default();
    let mut owner = |pattern: &str| {
        classifier.read_pattern(pattern, &mut buf);
        checks.entry_of(&buf).and_then(|entry| entry.owner.clone())
    };
    // Rules about the snapshot report files and databases, not patterns.
    let of_patterns = |finding: &&mut Finding| checks.snapshots.iter().all(|check| check.meta.id != finding.rule);
    for row in findings.list.iter_mut().filter(of_patterns).flat_map(|finding| &mut finding.patterns) {
        row.owner = row.pattern.as_deref().and_then(&mut owner);
    }
    for row in &mut findings.by_pattern {
        row.owner = owner(&row.pattern);
    }
}
