//! The first screen: whether the figures can be trusted, how much there is, what dominates, what is wrong.

use std::io;

use super::grid::{Cell, Column, Grid};
use super::page::{Page, Tone};
use crate::render::{human, key_text};
use crate::report::{Checksum, Findings, PrefixNode, Report, SourceFile, Weight};
use crate::units::Bytes;

/// Columns of the policy's name in the first table; a team may give it any.
const POLICY_COLUMNS: usize = 24;

/// What makes the figures doubtful: before everything else.
pub(super) fn problems(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let problems: Vec<String> = report.source.files.iter().flat_map(problems_of).collect();
    if !report.complete {
        page.hanging(Tone::Alarm, "!! ", &verdict(report))?;
    }
    let shown = page.first(&problems);
    for problem in shown {
        page.hanging(Tone::Alarm, "!! ", problem)?;
    }
    page.more(shown.len(), problems.len())?;
    if problems.is_empty() && report.complete { Ok(()) } else { page.gap() }
}

/// What the problems mean for the figures.
fn verdict(report: &Report) -> String {
    let files = &report.source.files;
    let unread = files.iter().filter(|file| file.rdb_version == 0).count();
    let cut = files.iter().any(|file| file.rdb_version != 0 && file.checksum == Checksum::NotReached);
    let damaged = files.iter().any(|file| file.damaged_keys > 0);
    let mut parts = Vec::new();
    if unread > 0 {
        parts.push(format!("{unread} of {} files could not be read and are not in the figures", files.len()));
    }
    if cut {
        parts.push("the figures cover only what was read before the damage".to_owned());
    }
    if damaged {
        parts.push("keys with a damaged value are not in the figures".to_owned());
    }
    if parts.is_empty() {
        return "DAMAGED: everything was read, but the bytes are not those that the server wrote.".to_owned();
    }
    format!("INCOMPLETE: {}.", parts.join("; "))
}

fn problems_of(file: &SourceFile) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some((first, others)) = file.errors.split_first() {
        let others = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
        problems.push(format!("{}{others}", key_text::text(first)));
    }
    match file.checksum {
        Checksum::Mismatch if file.errors.is_empty() => {
            problems.push("CHECKSUM MISMATCH: the file is not what the server wrote".to_owned());
        }
        Checksum::NotReached if file.errors.is_empty() => {
            problems.push("the end of the file and its checksum were not reached".to_owned());
        }
        Checksum::Mismatch
        | Checksum::NotReached
        | Checksum::Ok
        | Checksum::NotComputed
        | Checksum::Absent
        | Checksum::Skipped => {}
    }
    if file.damaged_keys > 0 {
        problems.push(format!("{} with a damaged value", human::counted(file.damaged_keys, "key")));
    }
    let name = key_text::text(&file.name);
    problems.into_iter().map(|problem| format!("{name}: {problem}")).collect()
}

/// How much, what dominates and what is wrong.
pub(super) fn headline(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    page.facts(Tone::Bold, &identity(report))?;
    page.facts(Tone::Plain, &amount(report))?;
    if !report.options.selection.is_empty() {
        let selection = report.options.selection.join(", ");
        page.text(&format!("Only the keys selected by {}.", key_text::text(&selection)))?;
    }
    if report.totals.keys == 0 {
        return Ok(());
    }
    page.gap()?;
    let mut answers = Answers::new(report);
    answers.dominant(report);
    answers.findings(report);
    answers.grid.print(page)
}

/// Which snapshot this is.
fn identity(report: &Report) -> Vec<String> {
    let name = match report.source.files.as_slice() {
        [file] => key_text::text(&file.name).into_owned(),
        files => human::counted(files.len() as u64, "file"),
    };
    let server = format!("{} {}", report.server.family, report.server.version);
    let mut facts = vec![name, key_text::text(server.trim()).into_owned()];
    if let Some(ctime) = report.server.ctime {
        facts.push(format!("snapshot of {}", human::time_of_seconds(ctime)));
    }
    facts.retain(|fact| !fact.is_empty());
    facts
}

fn amount(report: &Report) -> Vec<String> {
    let totals = &report.totals;
    let mut facts = vec![
        human::counted(totals.keys, "key"),
        format!("{} memory", human::bytes(totals.memory.0)),
        format!("{} on disk", human::bytes(totals.disk.0)),
    ];
    if report.databases.len() > 1 {
        facts.push(format!("{} databases", report.databases.len()));
    }
    if let Some((first, others)) = report.source.files.split_first() {
        let alike = others.iter().all(|file| file.checksum == first.checksum);
        facts.push(format!("checksum {}", if alike { first.checksum.name() } else { "differs by file" }));
    }
    facts.push(human::counted(totals.elements, "element"));
    facts.push(format!("{} of names", human::bytes(totals.name_bytes.0)));
    facts
}

/// The table of the first screen.
struct Answers {
    grid: Grid,
    keys: u64,
    memory: Bytes,
}

impl Answers {
    fn new(report: &Report) -> Self {
        let grid = Grid::new([
            Column::text("what"),
            Column::text("which").shrink(20),
            Column::number("keys"),
            Column::number("of keys").spare(1),
            Column::number("memory"),
            Column::number("of memory"),
        ]);
        Answers { grid, keys: report.totals.keys, memory: report.totals.memory }
    }

    fn add(&mut self, tone: Tone, what: &str, which: String, keys: u64, memory: Bytes) {
        let of_keys = Cell::ShareOf(keys, self.keys);
        let of_memory = Cell::ShareOf(memory.0, self.memory.0);
        self.grid.toned(tone, [what.into(), which.into(), keys.into(), of_keys, memory.into(), of_memory]);
    }

    fn dominant(&mut self, report: &Report) {
        if let Some(node) = report.prefixes.tree.first().map(dominant_prefix) {
            let prefix = key_text::text(&node.prefix).into_owned();
            self.add(Tone::Plain, "heaviest prefix", prefix, node.keys, node.memory);
        }
        if let Some(row) = report.patterns.list.first() {
            let pattern = key_text::text(&row.pattern).into_owned();
            self.add(Tone::Plain, "heaviest pattern", pattern, row.keys, row.memory);
        }
        if let Some(row) = report.types.first() {
            let kind = format!("{} as {}", row.kind, key_text::text(&row.encoding));
            self.add(Tone::Plain, "heaviest type", kind, row.keys, row.memory);
        }
        if let Some(row) = report.top.by_memory.first() {
            self.add(Tone::Plain, "heaviest key", key_text::key(&row.key.0), 1, row.memory);
        }
    }

    fn findings(&mut self, report: &Report) {
        let findings = &report.findings;
        let broken = findings.severities.iter().filter(|row| row.findings > 0);
        let counts: Vec<String> =
            broken.map(|row| format!("{} {}", human::count(row.findings), row.severity)).collect();
        if !counts.is_empty() {
            let Weight { keys, memory } = breaking(findings);
            let what = format!("! policy {}", key_text::text(&findings.policy));
            self.add(Tone::Warning, &key_text::fit(&what, POLICY_COLUMNS), counts.join(", "), keys, memory);
        }
        let big = &report.big_keys;
        let expiring = match big.expiring {
            0 => "none expires".to_owned(),
            n => format!("{} will expire", human::count(n)),
        };
        self.finding("! big keys", expiring, big.keys, big.memory);

        let no_ttl = &report.no_ttl;
        let most = no_ttl.patterns.first().map(|row| format!("most in {}", key_text::text(&row.pattern)));
        self.finding("! without TTL", most.unwrap_or_default(), no_ttl.keys, no_ttl.memory);

        let naming = &report.naming;
        let broken = naming.rules.iter().filter(|rule| rule.keys > 0).count();
        let rules = format!("{broken} of {} rules broken", naming.rules.len());
        self.finding("! bad names", rules, naming.keys, naming.memory);

        let expired = report.totals.expired;
        self.finding("! expired", "still in memory".to_owned(), expired.keys, expired.memory);
    }

    fn finding(&mut self, what: &str, which: String, keys: u64, memory: Bytes) {
        if keys > 0 {
            self.add(Tone::Warning, what, which, keys, memory);
        }
    }
}

/// Keys that break a rule about keys.
pub(super) fn breaking(findings: &Findings) -> Weight {
    let (mut keys, mut memory) = (0u64, Bytes(0));
    for row in &findings.severities {
        keys = keys.saturating_add(row.keys);
        memory += row.memory;
    }
    Weight { keys, memory }
}

/// The deepest prefix that keys go on below and that holds half of all memory; the top level's first if none does.
fn dominant_prefix(mut node: &PrefixNode) -> &PrefixNode {
    while let Some(child) = node.children.first().filter(|child| child.share >= 0.5 && !child.children.is_empty()) {
        node = child;
    }
    node
}
