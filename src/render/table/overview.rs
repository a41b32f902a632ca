//! The first screen: whether the figures can be trusted, how much there is, what dominates, what is wrong.

use std::io;

use super::findings::severities;
use super::grid::{Cell, Column, Grid};
use super::page::{Page, Tone};
use crate::render::words::{heads, known, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::{Checksum, Findings, PrefixNode, Report, SourceFile, Weight};
use crate::units::Bytes;

/// Columns of the policy's name in the first table; a team may give it any.
const POLICY_COLUMNS: usize = 24;

/// What makes the figures doubtful: before everything else.
pub(super) fn problems(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let lang = page.lang();
    let problems: Vec<String> = report.source.files.iter().flat_map(|file| problems_of(file, lang)).collect();
    if !report.complete {
        page.hanging(Tone::Alarm, "!! ", &verdict(report, lang))?;
    }
    let shown = page.first(&problems);
    for problem in shown {
        page.hanging(Tone::Alarm, "!! ", problem)?;
    }
    page.more(shown.len(), problems.len())?;
    if problems.is_empty() && report.complete { Ok(()) } else { page.gap() }
}

/// What the problems mean for the figures.
pub(in crate::render) fn verdict(report: &Report, lang: Lang) -> String {
    let files = &report.source.files;
    let unread = files.iter().filter(|file| file.rdb_version == 0).count();
    let cut = files.iter().any(|file| file.rdb_version != 0 && file.checksum == Checksum::NotReached);
    let damaged = files.iter().any(|file| file.damaged_keys > 0);
    let mut parts = Vec::new();
    if unread > 0 {
        parts.push(say!(
            lang,
            "{unread} of {all} files could not be read and are not in the figures",
            "{all} 个文件中有 {unread} 个无法读取，未计入统计",
            all = files.len()
        ));
    }
    if cut {
        parts.push(
            lang.of("the figures cover only what was read before the damage", "统计只包含损坏位置之前读到的数据")
                .to_owned(),
        );
    }
    if damaged {
        parts.push(
            lang.of("keys with a damaged value are not in the figures", "value 受损的 key 未计入统计").to_owned(),
        );
    }
    if parts.is_empty() {
        let damaged = "DAMAGED: everything was read, but the bytes are not those that the server wrote.";
        return lang.of(damaged, "已损坏：数据全部读完，但内容与服务器写入的不一致。").to_owned();
    }
    say!(lang, "INCOMPLETE: {}.", "不完整：{}。", parts.join(lang.of("; ", "；")))
}

/// What is wrong with a file.
pub(in crate::render) fn problems_of(file: &SourceFile, lang: Lang) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some((first, others)) = file.errors.split_first() {
        let others = match others.len() {
            0 => String::new(),
            n => say!(lang, " (and {n} more)", "（另有 {n} 处）"),
        };
        problems.push(format!("{}{others}", key_text::text(first)));
    }
    match file.checksum {
        Checksum::Mismatch if file.errors.is_empty() => {
            let mismatch = "CHECKSUM MISMATCH: the file is not what the server wrote";
            problems.push(lang.of(mismatch, "校验和不符：文件内容与服务器写入的不一致").to_owned());
        }
        Checksum::NotReached if file.errors.is_empty() => {
            let cut = "the end of the file and its checksum were not reached";
            problems.push(lang.of(cut, "未读到文件末尾和校验和").to_owned());
        }
        Checksum::Mismatch
        | Checksum::NotReached
        | Checksum::Ok
        | Checksum::NotComputed
        | Checksum::Absent
        | Checksum::Skipped => {}
    }
    if file.damaged_keys > 0 {
        let keys = human::counted(file.damaged_keys, nouns::KEY, lang);
        problems.push(say!(lang, "{keys} with a damaged value", "{keys} 的 value 受损"));
    }
    let name = key_text::text(&file.name);
    problems.into_iter().map(|problem| format!("{name}: {problem}")).collect()
}

/// How much, what dominates and what is wrong.
pub(super) fn headline(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let lang = page.lang();
    page.facts(Tone::Bold, &identity(report, lang))?;
    page.facts(Tone::Plain, &amount(report, lang))?;
    if !report.options.selection.is_empty() {
        let selection = report.options.selection.join(", ");
        let selection = key_text::text(&selection);
        page.text(&say!(lang, "Only the keys selected by {selection}.", "只统计 {selection} 选中的 key。"))?;
    }
    if report.totals.keys == 0 {
        return Ok(());
    }
    page.gap()?;
    let mut answers = Answers::new(report, lang);
    answers.dominant(report);
    answers.findings(report);
    answers.grid.print(page)
}

/// Which snapshot this is.
fn identity(report: &Report, lang: Lang) -> Vec<String> {
    let name = match report.source.files.as_slice() {
        [file] => key_text::text(&file.name).into_owned(),
        files => human::counted(files.len() as u64, nouns::FILE, lang),
    };
    let server = format!("{} {}", report.server.family, report.server.version);
    let mut facts = vec![name, key_text::text(server.trim()).into_owned()];
    if let Some(ctime) = report.server.ctime {
        facts.push(say!(lang, "snapshot of {}", "快照时间 {}", human::time_of_seconds(ctime)));
    }
    facts.retain(|fact| !fact.is_empty());
    facts
}

fn amount(report: &Report, lang: Lang) -> Vec<String> {
    let totals = &report.totals;
    let mut facts = vec![
        human::counted(totals.keys, nouns::KEY, lang),
        say!(lang, "{} memory", "内存 {}", human::bytes(totals.memory.0)),
        say!(lang, "{} on disk", "磁盘 {}", human::bytes(totals.disk.0)),
    ];
    if report.databases.len() > 1 {
        facts.push(human::counted(report.databases.len() as u64, nouns::DATABASE, lang));
    }
    facts.extend(checksum(&report.source.files, lang));
    facts.push(human::counted(totals.elements, nouns::ELEMENT, lang));
    facts.push(say!(lang, "{} of names", "键名 {}", human::bytes(totals.name_bytes.0)));
    facts
}

/// The checksums of all files; nothing without a file.
pub(in crate::render) fn checksum(files: &[SourceFile], lang: Lang) -> Option<String> {
    let (first, others) = files.split_first()?;
    let alike = others.iter().all(|file| file.checksum == first.checksum);
    let checksum =
        if alike { known::checksum(first.checksum, lang) } else { lang.of("differs by file", "因文件而异") };
    Some(say!(lang, "checksum {checksum}", "校验和{checksum}"))
}

/// The table of the first screen.
struct Answers {
    grid: Grid,
    lang: Lang,
    keys: u64,
    memory: Bytes,
}

impl Answers {
    fn new(report: &Report, lang: Lang) -> Self {
        let grid = Grid::new([
            Column::text(heads::WHAT),
            Column::text(heads::WHICH).shrink(20),
            Column::number(heads::KEYS),
            Column::number(heads::OF_KEYS).spare(1),
            Column::number(heads::MEMORY),
            Column::number(heads::OF_MEMORY).bars(),
        ]);
        Answers { grid, lang, keys: report.totals.keys, memory: report.totals.memory }
    }

    fn add(&mut self, tone: Tone, what: &str, which: Cell, keys: u64, memory: Bytes) {
        let of_keys = Cell::ShareOf(keys, self.keys);
        let of_memory = Cell::ShareOf(memory.0, self.memory.0);
        self.grid.toned(tone, [what.into(), which, keys.into(), of_keys, memory.into(), of_memory]);
    }

    fn dominant(&mut self, report: &Report) {
        let lang = self.lang;
        if let Some(node) = report.prefixes.tree.first().map(dominant_prefix) {
            let prefix = Cell::name(&node.prefix);
            self.add(Tone::Plain, lang.of("heaviest prefix", "最大前缀"), prefix, node.keys, node.memory);
        }
        if let Some(row) = report.patterns.list.first() {
            let pattern = Cell::name(&row.pattern);
            self.add(Tone::Plain, lang.of("heaviest pattern", "最大模式"), pattern, row.keys, row.memory);
        }
        if let Some(row) = report.types.first() {
            let kind = say!(lang, "{} as {}", "{}（{}）", row.kind, key_text::text(&row.encoding));
            self.add(Tone::Plain, lang.of("heaviest type", "最大类型"), kind.into(), row.keys, row.memory);
        }
        if let Some(row) = report.top.by_memory.first() {
            self.add(
                Tone::Plain,
                lang.of("heaviest key", "最大的 key"),
                Cell::Name(key_text::key(&row.key.0)),
                1,
                row.memory,
            );
        }
    }

    fn findings(&mut self, report: &Report) {
        let lang = self.lang;
        let findings = &report.findings;
        let counts = severities(findings, lang);
        if !counts.is_empty() {
            let Weight { keys, memory } = breaking(findings);
            let what = say!(lang, "! policy {}", "! 策略 {}", key_text::text(&findings.policy));
            self.add(Tone::Warning, &key_text::fit(&what, POLICY_COLUMNS), counts.into(), keys, memory);
        }
        let big = &report.big_keys;
        let expiring = match big.expiring {
            0 => lang.of("none expires", "均不会过期").to_owned(),
            n => say!(lang, "{} will expire", "{} 个将过期", human::count(n)),
        };
        self.finding(lang.of("! big keys", "! 大 key"), expiring, big.keys, big.memory);

        let no_ttl = &report.no_ttl;
        let pattern = no_ttl.patterns.first().map(|row| key_text::text(&row.pattern));
        let most = pattern.map(|pattern| say!(lang, "most in {pattern}", "主要在 {pattern}"));
        self.finding(lang.of("! without TTL", "! 无 TTL"), most.unwrap_or_default(), no_ttl.keys, no_ttl.memory);

        let naming = &report.naming;
        let broken = naming.rules.iter().filter(|rule| rule.keys > 0).count();
        let all = naming.rules.len();
        let rules = say!(lang, "{broken} of {all} rules broken", "违反 {all} 条规则中的 {broken} 条");
        self.finding(lang.of("! bad names", "! 不规范的键名"), rules, naming.keys, naming.memory);

        let expired = report.totals.expired;
        let still = lang.of("still in memory", "仍占用内存").to_owned();
        self.finding(lang.of("! expired", "! 已过期"), still, expired.keys, expired.memory);
    }

    fn finding(&mut self, what: &str, which: String, keys: u64, memory: Bytes) {
        if keys > 0 {
            self.add(Tone::Warning, what, which.into(), keys, memory);
        }
    }
}

/// Keys that break a rule about keys.
pub(in crate::render) fn breaking(findings: &Findings) -> Weight {
    let (mut keys, mut memory) = (0u64, Bytes(0));
    for row in &findings.severities {
        keys = keys.saturating_add(row.keys);
        memory += row.memory;
    }
    Weight { keys, memory }
}

/// The deepest prefix that keys go on below and that holds half of all memory; the top level's first if none does.
pub(in crate::render) fn dominant_prefix(mut node: &PrefixNode) -> &PrefixNode {
    while let Some(child) = node.children.first().filter(|child| child.share >= 0.5 && !child.children.is_empty()) {
        node = child;
    }
    node
}
