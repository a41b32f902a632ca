//! The tree of prefixes.

use super::{Cell, Column, Name, Table, Tone};
use crate::render::words::{heads, say};
use crate::render::{Lang, human};
use crate::report::{Hidden, PrefixNode, Weight};
use crate::units::Bytes;

/// The tree of prefixes with the memory of all keys.
#[derive(Debug)]
pub struct Tree {
    /// Top level, heaviest first.
    pub nodes: Vec<PrefixNode>,
    /// Nodes of the top level that are left out.
    pub hidden: Hidden,
    /// All keys.
    pub all: Weight,
    /// Nodes lighter than this are summed up in their level's last row.
    pub least: Bytes,
    /// Most nodes to show: many can have exactly the least weight.
    pub most: usize,
}

impl Tree {
    /// Returns the tree as a table: a row for each node, indented by its depth. The rest of a level is its last row.
    pub fn table(&self, lang: Lang) -> Table {
        let mut lines = TreeRows { lang, least: self.least, room: self.most, lines: Vec::new() };
        lines.level("", 0, &self.nodes, self.hidden);
        let all = self.all.memory.0;
        Table::of(lang.of("Memory by prefix", "各前缀的内存"), &lines.lines, usize::MAX)
            .tones(|line| if line.node.is_some() { Tone::Plain } else { Tone::Faint })
            .depths(|line| line.depth)
            .column(Column::text(heads::PREFIX).shrink(24), |line| line.name.clone())
            .column(Column::number(heads::KEYS), |line| line.keys)
            .column(Column::number(heads::MEMORY), |line| line.known_memory())
            .column(Column::number(heads::SHARE).bars(), |line| match (line.node, line.known_memory()) {
                (_, None) => Cell::Absent,
                (Some(node), Some(_)) => Cell::Share(node.share),
                (None, Some(memory)) => Cell::ShareOf(memory.0, all),
            })
            .column(Column::number(heads::WITHOUT_TTL).spare(1), |line| {
                line.figure(|node| Cell::ShareOf(node.without_ttl.keys, node.keys))
            })
            .column(Column::number(heads::DISK).spare(2), |line| line.figure(|node| node.disk.into()))
            .column(Column::number(heads::ELEMENTS).spare(3), |line| line.figure(|node| node.elements.into()))
            .build()
            .in_order()
    }

    /// Returns the weight of the last of the `most` heaviest nodes. No node is heavier than its parent, so these hang together.
    pub fn lightest(nodes: &[PrefixNode], most: usize) -> Bytes {
        let mut weights = Vec::new();
        let mut waiting: Vec<&PrefixNode> = nodes.iter().collect();
        while let Some(node) = waiting.pop() {
            weights.push(node.memory);
            waiting.extend(&node.children);
        }
        weights.sort_unstable_by(|a, b| b.cmp(a));
        weights.get(most.saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// One row of the table: a node, or the rest of a level.
struct TreeRow<'t> {
    depth: usize,
    name: Cell,
    keys: u64,
    memory: Bytes,
    node: Option<&'t PrefixNode>,
}

impl TreeRow<'_> {
    /// Returns the memory, unless that of all keys of a node is unknown.
    fn known_memory(&self) -> Option<Bytes> {
        self.node.map_or(Some(self.memory), |node| node.unknown.known(node.keys, node.memory))
    }

    fn figure(&self, of: impl Fn(&PrefixNode) -> Cell) -> Cell {
        self.node.map_or(Cell::Blank, of)
    }
}

/// Makes rows of nodes.
struct TreeRows<'t> {
    lang: Lang,
    least: Bytes,
    room: usize,
    lines: Vec<TreeRow<'t>>,
}

impl<'t> TreeRows<'t> {
    fn level(&mut self, parent: &str, depth: usize, nodes: &'t [PrefixNode], mut rest: Hidden) {
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
            // The segment with its separator, if keys go on below.
            let segment = node.prefix.strip_prefix(parent).unwrap_or(&node.segment);
            let name = Cell::Name(Name::Pattern(segment.to_owned()));
            self.lines.push(TreeRow { depth, name, keys: node.keys, memory: node.memory, node: Some(node) });
            self.level(&node.prefix, depth + 1, &node.children, node.hidden);
        }
        if shown && rest.nodes > 0 {
            let nodes = human::count(rest.nodes);
            let name = say!(self.lang, "… {nodes} lighter", "… 其余 {nodes} 个").into();
            self.lines.push(TreeRow { depth, name, keys: rest.keys, memory: rest.memory, node: None });
        }
    }
}
