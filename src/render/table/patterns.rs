//! Sections by name: patterns, the tree of prefixes, names that break the rules.

use std::io;

use super::grid::{Cell, Column, Grid, Paint};
use super::page::{Page, Tone};
use crate::render::words::{heads, leads, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::{Example, Hidden, NamingRule, PatternRow, PatternWeight, PrefixNode, Prefixes, Report};
use crate::units::Bytes;

/// Patterns of each naming rule.
const PATTERNS_OF_A_RULE: usize = 4;

/// Rows of the tree: the heaviest nodes, wherever they are in it.
const TREE_ROWS: usize = 32;

/// Keys that never expire, by pattern.
pub(super) fn without_ttl(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let no_ttl = &report.no_ttl;
    if no_ttl.keys == 0 {
        return Ok(());
    }
    let lang = page.lang();
    page.title(lang.of("Keys without TTL", "无 TTL 的 key"))?;
    page.text(&leads::without_ttl(report, lang))?;
    let mut grid = Grid::new([
        Column::text(heads::PATTERN).painted(Paint::Placeholders).shrink(24),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::number(heads::OF_MEMORY).bars(),
        Column::text(heads::EXAMPLE).shrink(20).spare(1),
    ]);
    let shown = page.first(&no_ttl.patterns);
    for row in shown {
        let share = Cell::ShareOf(row.memory.0, report.totals.memory.0);
        grid.row([Cell::name(&row.pattern), row.keys.into(), row.memory.into(), share, first_example(row)]);
    }
    grid.print(page)?;
    page.more(shown.len(), no_ttl.patterns.len())
}

/// The naming rules that are broken, then where: those that the findings do not show with the same figures already.
pub(super) fn naming(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let naming = &report.naming;
    let shown_above = |rule: &NamingRule| report.findings.list.iter().any(|finding| finding.rule == rule.rule);
    let broken: Vec<&NamingRule> = naming.rules.iter().filter(|rule| rule.keys > 0 && !shown_above(rule)).collect();
    if broken.is_empty() {
        return Ok(());
    }
    let lang = page.lang();
    page.title(lang.of("Names against the rules", "违反命名规则的键名"))?;
    let mut rules = Grid::new([
        Column::text(heads::RULE),
        Column::text(heads::SEVERITY).painted(Paint::Severity).spare(2),
        Column::number(heads::KEYS),
        Column::number(heads::OF_KEYS).spare(1),
        Column::number(heads::MEMORY),
        Column::text(heads::DEMANDS).shrink(38),
    ]);
    let mut places = Grid::new([
        Column::text(heads::PATTERN).painted(Paint::Placeholders).shrink(24),
        Column::text(heads::BREAKS),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::text(heads::EXAMPLE).shrink(20).spare(1),
    ]);
    let mut hidden = 0;
    for rule in broken {
        rules.row(rule_row(report, rule, lang));
        let shown = &page.first(&rule.patterns)[..page.first(&rule.patterns).len().min(PATTERNS_OF_A_RULE)];
        hidden += rule.patterns.len() - shown.len();
        for row in shown {
            let rule = (&*rule.rule).into();
            places.row([Cell::name(&row.pattern), rule, row.keys.into(), row.memory.into(), first_example(row)]);
        }
    }
    rules.print(page)?;
    page.gap()?;
    places.print(page)?;
    page.more(0, hidden)
}

fn rule_row(report: &Report, rule: &NamingRule, lang: Lang) -> [Cell; 6] {
    [
        (&*rule.rule).into(),
        rule.severity.name().into(),
        rule.keys.into(),
        Cell::ShareOf(rule.keys, report.totals.keys),
        rule.memory.into(),
        Cell::text(lang.of(&rule.demand.en, &rule.demand.zh)),
    ]
}

/// The tree of name segments; a level's rest is its last row.
pub(super) fn prefixes(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let prefixes = &report.prefixes;
    if prefixes.tree.is_empty() {
        return Ok(());
    }
    page.title(page.lang().of("Prefixes", "前缀"))?;
    let mut tree = Tree {
        grid: Grid::new([
            Column::text(heads::PREFIX).painted(Paint::Placeholders).shrink(24),
            Column::number(heads::KEYS),
            Column::number(heads::MEMORY),
            Column::number(heads::SHARE).bars(),
            Column::number(heads::WITHOUT_TTL).spare(1),
            Column::number(heads::DISK).spare(2),
            Column::number(heads::ELEMENTS).spare(3),
        ]),
        lang: page.lang(),
        memory: report.totals.memory,
        least: if is_usual_cut(prefixes) { lightest(&prefixes.tree, TREE_ROWS) } else { Bytes(0) },
        room: TREE_ROWS,
    };
    tree.level("", 0, &prefixes.tree, prefixes.hidden);
    tree.grid.print(page)
}

/// The tree as it is written.
struct Tree {
    grid: Grid,
    lang: Lang,
    memory: Bytes,
    /// Nodes below this weight are summed up in the level's last row.
    least: Bytes,
    /// Nodes that may still be shown: many can have exactly the least weight.
    room: usize,
}

impl Tree {
    fn level(&mut self, parent: &str, depth: usize, nodes: &[PrefixNode], mut rest: Hidden) {
        let mut shown = false;
        for node in nodes {
            if node.memory < self.least || self.room == 0 {
                rest = Hidden {
                    nodes: rest.nodes.saturating_add(1),
                    keys: rest.keys.saturating_add(node.keys),
                    memory: rest.memory + node.memory,
                };
                continue;
            }
            self.room -= 1;
            shown = true;
            self.node(parent, depth, node);
            self.level(&node.prefix, depth + 1, &node.children, node.hidden);
        }
        if shown && rest.nodes > 0 {
            self.rest(depth, rest);
        }
    }

    fn node(&mut self, parent: &str, depth: usize, node: &PrefixNode) {
        // The segment with its separator, if keys go on below.
        let segment = node.prefix.strip_prefix(parent).unwrap_or(&node.segment);
        self.grid.row([
            Cell::Name(format!("{}{}", indent(depth), key_text::text(segment))),
            node.keys.into(),
            node.memory.into(),
            Cell::Share(node.share),
            Cell::ShareOf(node.without_ttl.keys, node.keys),
            node.disk.into(),
            node.elements.into(),
        ]);
    }

    fn rest(&mut self, depth: usize, rest: Hidden) {
        let (indent, nodes) = (indent(depth), human::count(rest.nodes));
        let label = say!(self.lang, "{indent}… {nodes} lighter", "{indent}… 其余 {nodes} 个");
        let share = Cell::ShareOf(rest.memory.0, self.memory.0);
        let blank = || Cell::from("");
        let cells = [label.into(), rest.keys.into(), rest.memory.into(), share, blank(), blank(), blank()];
        self.grid.toned(Tone::Faint, cells);
    }
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// Whether the tree is cut as it is when nobody asks for another cut: then the screen need not hold all of it.
fn is_usual_cut(prefixes: &Prefixes) -> bool {
    prefixes.depth == usize::from(Prefixes::USUAL_DEPTH) && prefixes.min_share == Prefixes::USUAL_MIN_SHARE
}

/// The weight of the last of the `most` heaviest nodes. No node is heavier than its parent, so what weighs more hangs together.
pub(in crate::render) fn lightest(tree: &[PrefixNode], most: usize) -> Bytes {
    let mut weights = Vec::new();
    let mut waiting: Vec<&PrefixNode> = tree.iter().collect();
    while let Some(node) = waiting.pop() {
        weights.push(node.memory);
        waiting.extend(&node.children);
    }
    weights.sort_unstable_by(|a, b| b.cmp(a));
    weights.get(most.saturating_sub(1)).copied().unwrap_or_default()
}

/// The heaviest patterns.
pub(super) fn heaviest(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let patterns = &report.patterns;
    if patterns.list.is_empty() {
        return Ok(());
    }
    let lang = page.lang();
    page.title(lang.of("Patterns", "模式"))?;
    let distinct = human::counted(patterns.distinct, nouns::DIFFERENT_PATTERN, lang);
    page.text(&say!(lang, "{distinct}; the heaviest:", "{distinct}，其中最大的："))?;
    let mut grid = Grid::new([
        Column::text(heads::PATTERN).painted(Paint::Placeholders).shrink(24),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::number(heads::SHARE).bars(),
        Column::number(heads::MEAN).wide_range().spare(2),
        Column::number(heads::WITHOUT_TTL).spare(1),
        Column::text(heads::TYPES).shrink(8).spare(3),
        Column::text(heads::EXAMPLE).shrink(16).spare(4),
    ]);
    let shown = page.first(&patterns.list);
    for row in shown {
        grid.row(pattern_row(row));
    }
    grid.print(page)?;
    page.more(shown.len(), patterns.list.len())
}

fn pattern_row(row: &PatternRow) -> [Cell; 8] {
    let types: Vec<&str> = row.types.iter().map(|of_type| of_type.kind.name()).collect();
    [
        Cell::name(&row.pattern),
        row.keys.into(),
        row.memory.into(),
        Cell::Share(row.share),
        row.mean.into(),
        Cell::ShareOf(row.without_ttl.keys, row.keys),
        types.join(" ").into(),
        example(&row.example),
    ]
}

fn first_example(row: &PatternWeight) -> Cell {
    row.examples.first().map_or(Cell::Absent, example)
}

fn example(example: &Example) -> Cell {
    Cell::Name(key_text::key(&example.key.0))
}
