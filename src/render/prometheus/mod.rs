//! Prometheus form of a report: figures to follow over time, for dashboards and alerts, as a file for node_exporter's
//! textfile collector.
//!
//! The number of series is bounded, whatever is in the snapshot: `--top` patterns, budgets and owners, `MAX_DATABASES`
//! databases, and otherwise fixed lists of this program. Names of metrics and labels are stable; new ones may be added.

mod capacity;
mod comparison;
mod exposition;
mod key_comparison;

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Renderer;
use super::extent::SectionName;
use crate::report::diff::baseline::BaselineChange;
use crate::report::{BudgetRow, Checksum, Finding, Instance, PatternRow, Report, Severity, Tables, TypeRow, Word};
use crate::units::Millis;
pub use capacity::write_capacity;
pub use comparison::write_comparison;
use exposition::{Exposition, SampleValue};
pub use key_comparison::write_key_comparison;

/// Databases with series of their own; the rest is summed up as `other`.
const MAX_DATABASES: usize = 64;

/// Labels of the metrics themselves, which users cannot define.
const LABELS: [&str; 21] = [
    "ask",
    "bound",
    "change",
    "checksum",
    "condition",
    "db",
    "encoding",
    "extends",
    "idle",
    "left",
    "model",
    "owner",
    "pattern",
    "policy",
    "rule",
    "server",
    "severity",
    "side",
    "stat",
    "table",
    "type",
];

/// Adds series of a report; the number is the most patterns, budgets and owners.
type Group = fn(&Report, usize, &mut Exposition);

/// Groups of series in their order, each with the ids of the sections that it belongs to. What identifies a report is in no
/// section.
const GROUPS: &[(&[&str], Group)] = &[
    (&["files"], |report, _, to| files(report, to)),
    (&["totals"], |report, _, to| totals(report, to)),
    (&["totals", "without-ttl"], |report, _, to| without_ttl(report, to)),
    (&["totals", "expiry"], |report, _, to| expired(report, to)),
    (&["totals"], |report, _, to| unknown(report, to)),
    (&["big-keys"], |report, _, to| big_keys(report, to)),
    (&["patterns"], |report, _, to| distinct_patterns(report, to)),
    (&["databases"], |report, _, to| databases(report, to)),
    (&["types"], |report, _, to| types(report, to)),
    (&["instance"], |report, _, to| report.instance.iter().for_each(|instance| of_instance(instance, to))),
    (&["patterns"], |report, top, to| patterns(report.patterns.list.get(..top).unwrap_or(&report.patterns.list), to)),
    (&["findings"], |report, _, to| findings(report, to)),
    (&["baseline"], |report, _, to| baseline(report, to)),
    (&["budgets"], budgets),
    (&["owners"], owners),
    (&["dictionary"], |report, _, to| dictionary(report, to)),
    (&["expiry"], |report, _, to| expiry(report, to)),
    (&["idle"], |report, _, to| idle(report, to)),
    (&["slots"], |report, _, to| slots(report, to)),
    (&["templates"], |report, _, to| templates(report, to)),
    (&["streams"], |report, _, to| streams(report, to)),
    (&["what-if"], |report, _, to| elsewhere(report, to)),
];

/// Writes [`Format::Prometheus`](super::Format::Prometheus).
#[derive(Debug, Clone)]
pub struct PrometheusRenderer {
    top: usize,
    labels: Vec<(String, String)>,
    sections: Vec<SectionName>,
}

impl PrometheusRenderer {
    /// Returns a renderer of series for at most `top` patterns. Every sample carries `labels`; their names must pass
    /// [`is_label`].
    pub fn new(top: usize, labels: Vec<(String, String)>) -> Self {
        PrometheusRenderer { top, labels, sections: Vec::new() }
    }

    /// Leaves only the series of these sections and those that identify the report; an empty list leaves all.
    pub fn of_sections(self, sections: &[SectionName]) -> Self {
        PrometheusRenderer { sections: sections.to_vec(), ..self }
    }
}

/// Returns whether there are metrics of a section.
pub fn has_metrics(section: SectionName) -> bool {
    GROUPS.iter().any(|(ids, _)| ids.contains(&section.id()))
}

/// Returns whether a user-defined label may have this name.
pub fn is_label(name: &str) -> bool {
    let sound = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !name.starts_with("__");
    sound && begins && !LABELS.contains(&name) && name != "version"
}

impl Renderer for PrometheusRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut metrics = Exposition::new(self.labels.clone());
        let to = &mut metrics;
        identity(report, to);
        let is_chosen = |ids: &[&str]| self.sections.iter().any(|section| ids.contains(&section.id()));
        for (ids, group) in GROUPS {
            if self.sections.is_empty() || is_chosen(ids) {
                group(report, self.top, to);
            }
        }
        metrics.write(out)
    }
}

fn identity(report: &Report, to: &mut Exposition) {
    let server = format!("{} {}", report.server.family, report.server.version);
    let labels = [
        ("version", &*report.rdblens),
        ("server", server.trim()),
        ("model", &report.server.model),
        ("policy", &report.findings.policy),
        ("extends", report.findings.extends.as_deref().unwrap_or_default()),
    ];
    to.family("rdblens_report_info", "Build, server, model and policy of the report; always 1.").sample(&labels, true);
    to.one("rdblens_report_complete", "Whether every file could be read to its end.", Some(report.complete));
    let taken = report.server.ctime.map(|seconds| Millis(seconds.saturating_mul(1000)));
    to.one("rdblens_snapshot_timestamp_seconds", "When the snapshot was taken.", taken);
    to.one("rdblens_snapshot_size_bytes", "Bytes of the snapshots, decompressed.", Some(report.source.bytes));
}

fn files(report: &Report, to: &mut Exposition) {
    let states = [
        Checksum::Ok,
        Checksum::Mismatch,
        Checksum::NotComputed,
        Checksum::Absent,
        Checksum::Skipped,
        Checksum::NotReached,
    ];
    let family = to.family("rdblens_files", "Input files by the state of their checksum.");
    for state in states {
        let files = report.source.files.iter().filter(|file| file.checksum == state).count() as u64;
        family.sample(&[("checksum", state.name())], files);
    }
    let faulty = report.source.files.iter().filter(|file| !file.errors.is_empty()).count() as u64;
    to.one("rdblens_files_with_errors", "Input files that could not be read in full.", Some(faulty));
    let damaged = report.source.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.damaged_keys));
    to.one("rdblens_keys_damaged", "Keys whose value is damaged; not included in other metrics.", Some(damaged));
}

fn totals(report: &Report, to: &mut Exposition) {
    let it = &report.totals;
    to.one("rdblens_keys", "Keys.", Some(it.keys));
    to.one("rdblens_memory_bytes", "Memory of the keys on the server.", Some(it.memory));
    to.one("rdblens_disk_bytes", "Bytes of the keys in the dump.", Some(it.disk));
    to.one("rdblens_key_names_bytes", "Bytes of the keys' names.", Some(it.name_bytes));
    to.one("rdblens_elements", "Elements of collections; a string counts as one.", Some(it.elements));
}

fn without_ttl(report: &Report, to: &mut Exposition) {
    let it = &report.totals;
    to.one("rdblens_keys_without_ttl", "Keys that never expire.", Some(it.without_ttl.keys));
    to.one("rdblens_memory_without_ttl_bytes", "Memory of keys that never expire.", Some(it.without_ttl.memory));
}

fn expired(report: &Report, to: &mut Exposition) {
    let it = &report.totals;
    to.one("rdblens_keys_expired", "Keys that had expired but were not deleted yet.", Some(it.expired.keys));
    to.one("rdblens_memory_expired_bytes", "Memory of keys that had expired.", Some(it.expired.memory));
}

fn unknown(report: &Report, to: &mut Exposition) {
    let it = &report.totals;
    to.one(
        "rdblens_keys_unknown_memory",
        "Keys whose memory is unknown; not included in other metrics of memory.",
        Some(it.unknown.keys),
    );
    let stored = "Bytes in the dump of keys whose memory is unknown.";
    to.one("rdblens_disk_unknown_memory_bytes", stored, Some(it.unknown.stored_bytes));
}

fn big_keys(report: &Report, to: &mut Exposition) {
    let big = &report.big_keys;
    to.one("rdblens_keys_big", "Big keys.", Some(big.keys));
    to.one("rdblens_memory_big_bytes", "Memory of big keys.", Some(big.memory));
    to.one("rdblens_keys_big_expiring", "Big collections that have an expiry.", Some(big.expiring));
}

fn distinct_patterns(report: &Report, to: &mut Exposition) {
    to.one("rdblens_patterns", "Number of distinct patterns.", Some(report.patterns.distinct));
}

fn databases(report: &Report, to: &mut Exposition) {
    let names: Vec<String> = (0..report.databases.len())
        .zip(&report.databases)
        .map(|(at, database)| if at < MAX_DATABASES { database.db.to_string() } else { "other".to_owned() })
        .collect();
    let all = || names.iter().zip(&report.databases);
    let rows = all().map(|(db, row)| (db, row.keys.into()));
    to.each("rdblens_database_keys", "Keys by database.", "db", rows);
    let rows = all().map(|(db, row)| (db, row.memory.into()));
    to.each("rdblens_database_memory_bytes", "Memory by database.", "db", rows);
    let rows = all().map(|(db, row)| (db, row.with_ttl.into()));
    to.each("rdblens_database_keys_with_ttl", "Expiring keys, by database.", "db", rows);
}

fn types(report: &Report, to: &mut Exposition) {
    let mut each = |name, help, value: &dyn Fn(&TypeRow) -> SampleValue| {
        let family = to.family(name, help);
        for row in &report.types {
            family.sample(&[("type", row.kind.name()), ("encoding", &row.encoding)], value(row));
        }
    };
    each("rdblens_type_keys", "Keys by type and encoding.", &|row| row.keys.into());
    each("rdblens_type_memory_bytes", "Memory by type and encoding.", &|row| row.memory.into());
    each("rdblens_type_keys_unknown_memory", "Keys of unknown memory by type and encoding.", &|row| {
        row.unknown.keys.into()
    });
    each("rdblens_type_elements", "Elements by type and encoding; a string counts as one.", &|row| row.elements.into());
}

fn of_instance(instance: &Instance, to: &mut Exposition) {
    let total = "Memory of keys and tables, without the memory of an empty server.";
    to.one("rdblens_instance_memory_bytes", total, Some(instance.total));
    to.one(
        "rdblens_instance_dataset_bytes",
        "Memory of keys without the overhead of the tables.",
        Some(instance.dataset),
    );
    to.one("rdblens_instance_used_memory_bytes", "Sum of used-mem recorded in the dumps.", instance.used_mem);
    let limit = "Sum of maxmemory over all servers that were read, if given.";
    to.one("rdblens_instance_maxmemory_bytes", limit, instance.maxmemory);
    let Tables { main, expires, slots } = instance.tables;
    to.family("rdblens_instance_table_bytes", "Memory of the tables that hold the keys.")
        .sample(&[("table", "main")], main)
        .sample(&[("table", "expires")], expires)
        .sample(&[("table", "slots")], slots);
}

fn patterns(list: &[PatternRow], to: &mut Exposition) {
    let rows = list.iter().map(|row| (&row.pattern, row.keys.into()));
    to.each("rdblens_pattern_keys", "Keys of the heaviest patterns.", "pattern", rows);
    let rows = list.iter().map(|row| (&row.pattern, row.memory.into()));
    to.each("rdblens_pattern_memory_bytes", "Memory of the heaviest patterns.", "pattern", rows);
    let rows = list.iter().map(|row| (&row.pattern, row.elements.into()));
    to.each("rdblens_pattern_elements", "Elements of the heaviest patterns.", "pattern", rows);
    let rows = list.iter().map(|row| (&row.pattern, row.without_ttl.keys.into()));
    to.each("rdblens_pattern_keys_without_ttl", "Keys of the heaviest patterns that never expire.", "pattern", rows);
}

fn findings(report: &Report, to: &mut Exposition) {
    let findings = &report.findings;
    let rows = findings.severities.iter().map(|row| (row.severity.name(), row.findings.into()));
    to.each("rdblens_findings", "Findings by severity; a rule with several limits may have several.", "severity", rows);
    let open =
        |of: Severity| findings.not_evaluated.iter().filter(|row| row.applies && row.severity == of).count() as u64;
    let rows = Severity::ALL.into_iter().map(|severity| (severity.name(), open(severity).into()));
    to.each("rdblens_rules_not_evaluated", "Rules that were not evaluated, by severity.", "severity", rows);
    let is_broken = |id: &Word| findings.list.iter().any(|finding| finding.rule == *id);
    let rows = findings.checked.iter().map(|id| (id, is_broken(id).into()));
    to.each("rdblens_rule_broken", "Whether the policy's rule is violated.", "rule", rows);
    let mut each = |name, help, value: &dyn Fn(&Finding) -> Option<SampleValue>| {
        let family = to.family(name, help);
        for (row, value) in findings.list.iter().filter_map(|row| Some((row, value(row)?))) {
            family.sample(&[("rule", &row.rule), ("severity", row.severity.name())], value);
        }
    };
    each("rdblens_finding_keys", "Keys that break a rule.", &|row| Some(row.keys.into()));
    each("rdblens_finding_memory_bytes", "Memory of the keys that break a rule.", &|row| Some(row.memory.into()));
    each("rdblens_finding_patterns", "Patterns that break a rule.", &|row| Some(row.distinct_patterns.into()));
    let saves = "Memory that the remedy would save, if known.";
    each("rdblens_finding_savings_bytes", saves, &|row| row.saves.map(SampleValue::from));
}

fn baseline(report: &Report, to: &mut Exposition) {
    if let Some(baseline) = &report.findings.baseline {
        let help =
            "Changes of findings since the baseline report, and rules whose lists are too short to tell (`undecided`).";
        let family = to.family("rdblens_baseline_changes", help);
        // Only a comparison has findings of other policies.
        for (change, list) in baseline.lists().into_iter().filter(|(change, _)| *change != BaselineChange::OtherPolicy)
        {
            family.sample(&[("change", change.name())], list.len() as u64);
        }
        family.sample(&[("change", "undecided")], baseline.undecided.len() as u64);
    }
}

fn budgets(report: &Report, top: usize, to: &mut Exposition) {
    // Several budgets may have one name, such as that of a pattern and of a class: the one nearest to its limit stands for them.
    let mut fullest: BTreeMap<&str, &BudgetRow> = BTreeMap::new();
    let is_fuller = |row: &BudgetRow, other: &BudgetRow| {
        u128::from(row.memory.0) * u128::from(other.allowed.0) > u128::from(other.memory.0) * u128::from(row.allowed.0)
    };
    for row in &report.findings.budgets {
        let known = fullest.entry(&row.pattern).or_insert(row);
        if is_fuller(row, known) {
            *known = row;
        }
    }
    let is_fullest = |row: &&BudgetRow| fullest.get(row.pattern.as_str()).is_some_and(|it| std::ptr::eq(*it, *row));
    let budgets = || report.findings.budgets.iter().filter(is_fullest).take(top);
    let rows = budgets().map(|row| (&row.pattern, row.memory.into()));
    to.family("rdblens_budget_memory_bytes", "Memory of the keys of a budget.").apart().each("pattern", rows);
    let rows = budgets().filter_map(|row| Some((&row.pattern, row.unknown.keys_if_any()?.into())));
    let unknown = "Keys of a budget whose memory is unknown, if any.";
    to.family("rdblens_budget_keys_unknown_memory", unknown).apart().each("pattern", rows);
    let rows = budgets().map(|row| (&row.pattern, row.allowed.into()));
    to.family("rdblens_budget_allowed_bytes", "Limit of the budget.").apart().each("pattern", rows);
}

fn owners(report: &Report, top: usize, to: &mut Exposition) {
    let owners =
        || report.findings.by_owner.iter().take(top).map(|row| (row.owner.as_deref().unwrap_or_default(), row));
    let rows = owners().map(|(owner, row)| (owner, row.keys.into()));
    to.each("rdblens_owner_keys", "Keys by owner; an empty label for keys without an owner.", "owner", rows);
    let rows = owners().map(|(owner, row)| (owner, row.memory.into()));
    to.each("rdblens_owner_memory_bytes", "Memory by owner.", "owner", rows);
    let rows = owners().map(|(owner, row)| (owner, row.broken.keys.into()));
    to.each("rdblens_owner_keys_breaking", "Keys that break a rule, by owner.", "owner", rows);
}

fn dictionary(report: &Report, to: &mut Exposition) {
    if let Some(fit) = &report.findings.dictionary {
        let none = "Keys that no entry of the data dictionary matches.";
        to.one("rdblens_keys_unregistered", none, Some(fit.unregistered.keys));
    }
}

fn expiry(report: &Report, to: &mut Exposition) {
    let classes = &report.expiry.classes;
    let rows = classes.iter().map(|class| (&class.left, class.keys.into()));
    to.each("rdblens_expiry_keys", "Keys by time to live.", "left", rows);
    let rows = classes.iter().map(|class| (&class.left, class.memory.into()));
    to.each("rdblens_expiry_memory_bytes", "Memory by time to live.", "left", rows);
    let rows = classes.iter().filter_map(|class| Some((&class.left, class.unknown.keys_if_any()?.into())));
    let unknown = "Keys of unknown memory by time to live, if any.";
    to.each("rdblens_expiry_keys_unknown_memory", unknown, "left", rows);
    to.one("rdblens_next_expiry_timestamp_seconds", "When the next key expires.", report.expiry.next);
    to.one("rdblens_last_expiry_timestamp_seconds", "When the last key expires.", report.expiry.last);
}

fn idle(report: &Report, to: &mut Exposition) {
    let idle = || report.idle.iter().flat_map(|idle| &idle.classes);
    let rows = idle().map(|class| (&class.idle, class.keys.into()));
    to.each("rdblens_idle_keys", "Keys by the time since their last access.", "idle", rows);
    let rows = idle().map(|class| (&class.idle, class.memory.into()));
    to.each("rdblens_idle_memory_bytes", "Memory by the time since the last access.", "idle", rows);
    let rows = idle().filter_map(|class| Some((&class.idle, class.unknown.keys_if_any()?.into())));
    let unknown = "Keys of unknown memory by the time since their last access, if any.";
    to.each("rdblens_idle_keys_unknown_memory", unknown, "idle", rows);
}

fn slots(report: &Report, to: &mut Exposition) {
    if let Some(slots) = &report.slots {
        to.one("rdblens_slots", "Cluster slots that hold a key.", Some(slots.used));
        to.family("rdblens_slot_memory_bytes", "Memory of the cluster slots that hold a key.")
            .sample(&[("stat", "mean")], slots.mean)
            .sample(&[("stat", "p50")], slots.p50)
            .sample(&[("stat", "p99")], slots.p99)
            .sample(&[("stat", "max")], slots.max);
    }
}

fn templates(report: &Report, to: &mut Exposition) {
    if let Some(templates) = &report.hash_templates {
        to.one("rdblens_hash_template_keys", "Compact hashes.", Some(templates.keys));
        to.one(
            "rdblens_hash_template_ordinary_bytes",
            "Memory that the compact hashes would take as ordinary hashes.",
            Some(templates.memory.0.saturating_add_signed(templates.saved)),
        );
    }
}

fn streams(report: &Report, to: &mut Exposition) {
    if let Some(streams) = &report.streams {
        to.one("rdblens_stream_entries", "Entries of all streams.", Some(streams.entries));
        to.one("rdblens_stream_groups", "Consumer groups of all streams.", Some(streams.groups));
        to.one("rdblens_stream_pending", "Entries delivered but not acknowledged.", Some(streams.pending));
    }
}

fn elsewhere(report: &Report, to: &mut Exposition) {
    let Some(what_if) = &report.what_if else { return };
    let base = "Memory of the same keys now: those whose memory is known for every alternative of --what-if.";
    to.one("rdblens_what_if_base_memory_bytes", base, what_if.known(what_if.base.memory));
    let rows = what_if.alternatives.iter().filter_map(|row| Some((&row.ask, what_if.known(row.memory)?.into())));
    let help = "Memory of the keys for the alternative of --what-if.";
    to.family("rdblens_what_if_memory_bytes", help).apart().each("ask", rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the metrics of an empty report.
    fn names(sections: &[&str]) -> Vec<String> {
        let sections: Vec<_> = sections.iter().map(|name| SectionName::from_name(name).unwrap()).collect();
        let mut out = Vec::new();
        PrometheusRenderer::new(9, vec![]).of_sections(&sections).render(&Report::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let heads = text.lines().filter_map(|line| line.strip_prefix("# TYPE rdblens_"));
        heads.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    }

    #[test]
    fn a_section_has_its_metrics_behind_those_of_the_report() {
        let identity = ["report_info", "report_complete", "snapshot_size_bytes"];
        let with = |own: &[&'static str]| [&identity, own].concat();
        assert_eq!(names(&["no-ttl"]), with(&["keys_without_ttl", "memory_without_ttl_bytes"]));
        assert_eq!(names(&["big-keys"]), with(&["keys_big", "memory_big_bytes", "keys_big_expiring"]));
        assert_eq!(names(&["expiry"]), with(&["keys_expired", "memory_expired_bytes"]));
        assert_eq!(names(&["streams"]), identity);
        let (all, two) = (names(&[]), names(&["patterns", "totals"]));
        assert!(two.len() > 10 && two.len() < all.len() && two.last().unwrap() == "patterns", "{two:?}");
        assert_eq!(all.iter().filter(|name| two.contains(name)).collect::<Vec<_>>(), two.iter().collect::<Vec<_>>());
    }

    #[test]
    fn groups_belong_to_sections_that_exist() {
        for id in GROUPS.iter().flat_map(|(ids, _)| *ids) {
            assert!(SectionName::all().any(|section| section.id() == *id), "{id} is no section");
        }
        let without: Vec<&str> =
            SectionName::all().filter(|section| !has_metrics(*section)).map(SectionName::name).collect();
        let expected = "heaviest longest by-type naming prefixes growth exempted not-evaluated freq warnings breaking \
                        next notes server trend";
        assert_eq!(without.join(" "), expected);
    }

    #[test]
    fn labels_of_users_do_not_collide() {
        assert!(is_label("instance") && is_label("_a1"));
        for wrong in ["", "1a", "a-b", "__name__", "pattern", "bound", "version", "é"] {
            assert!(!is_label(wrong), "{wrong}");
        }
    }
}
