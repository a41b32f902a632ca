//! The tree of prefixes.

use crate::render::document::{Block, Scope, Section, Tree};
use crate::report::{Prefixes, Report, Weight};
use crate::units::Bytes;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let prefixes = &report.prefixes;
    if prefixes.tree.is_empty() {
        return None;
    }
    let least = if is_usual_cut(prefixes) { Tree::lightest(&prefixes.tree, scope.nodes) } else { Bytes(0) };
    let tree = Tree {
        nodes: prefixes.tree.clone(),
        hidden: prefixes.hidden,
        all: Weight { keys: report.totals.keys, memory: report.totals.memory },
        least,
        most: scope.nodes,
    };
    Some(Section::new("prefixes", scope.lang.of("Prefixes", "前缀")).with(Block::Tree(tree)))
}

/// Returns whether the tree is cut as by default: then the screen need not hold all of it.
fn is_usual_cut(prefixes: &Prefixes) -> bool {
    prefixes.depth == usize::from(Prefixes::USUAL_DEPTH) && prefixes.min_share == Prefixes::USUAL_MIN_SHARE
}
