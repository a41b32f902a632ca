//! The map of memory by prefix: each prefix is an area as large as its memory, and opens into those below it.
//!
//! Every level is laid out here, so that the map works without a script: a level is an anchor, and an area links to it. Lengths are
//! parts of the picture's, in which text keeps its size: the map fits any screen.

use super::prose::HtmlName;
use super::squarify::{Rect, squarify};
use super::view::permille;
use crate::render::document::{Tree, inline_visible};
use crate::render::words::{nouns, say};
use crate::render::{Lang, human};
use crate::report::{PrefixNode, Weight};
use crate::units::Bytes;

/// Canvas that levels are laid out on. Its proportions are those of the picture on a wide screen.
const CANVAS: Rect = Rect { x: 0.0, y: 0.0, width: 1000.0, height: 400.0 };
/// Height of an area's own label on the canvas.
const LABEL: f64 = 46.0;
/// Areas below an area that are drawn within it.
const WITHIN: usize = 12;

/// The map.
#[derive(Debug)]
pub struct Treemap {
    /// Levels, the topmost first.
    pub levels: Vec<MapLevel>,
    /// Meaning of colours: the class and the words of each.
    pub legend: [(&'static str, &'static str); 5],
}

/// Division of one prefix, or of the whole.
#[derive(Debug)]
pub struct MapLevel {
    /// Anchor.
    pub id: usize,
    /// Levels above it with their anchors, the topmost first.
    pub above: Vec<(usize, HtmlName)>,
    /// Prefix.
    pub name: HtmlName,
    /// Keys and memory in words.
    pub facts: String,
    /// Areas.
    pub areas: Vec<MapArea>,
}

/// Area of one prefix.
#[derive(Debug)]
pub struct MapArea {
    /// Place in the picture.
    pub place: AreaPlace,
    /// Last segment of the prefix.
    pub name: HtmlName,
    /// Memory and share.
    pub figure: String,
    /// Description for readers who cannot see it.
    pub facts: String,
    /// Level that it opens.
    pub opens: Option<usize>,
    /// Class of its colour.
    pub shade: &'static str,
    /// Class of its size: how much of its label has room.
    pub room: &'static str,
    /// Areas below it, if there is room.
    pub within: Vec<InnerArea>,
}

/// An area within an area.
#[derive(Debug)]
pub struct InnerArea {
    /// Place in its area, below the label.
    pub place: AreaPlace,
    /// Last segment of the prefix, if there is room.
    pub name: Option<HtmlName>,
    /// Class of its colour.
    pub shade: &'static str,
}

/// A rectangle in percent of the picture that it is in.
#[derive(Debug)]
pub struct AreaPlace {
    /// Distance from the left.
    pub x: String,
    /// Distance from the top.
    pub y: String,
    /// Width.
    pub width: String,
    /// Height.
    pub height: String,
}

impl AreaPlace {
    fn of(rect: Rect, within: Rect) -> AreaPlace {
        let part = |length: f64, of: f64| format!("{:.2}%", length / of * 100.0);
        AreaPlace {
            x: part(rect.x - within.x, within.width),
            y: part(rect.y - within.y, within.height),
            width: part(rect.width, within.width),
            height: part(rect.height, within.height),
        }
    }
}

impl Treemap {
    /// Returns the map of a tree with at most this many areas; none if there is nothing to divide.
    pub fn of(tree: &Tree, most: usize, lang: Lang) -> Option<Treemap> {
        if tree.nodes.is_empty() || tree.all.memory == Bytes(0) {
            return None;
        }
        let least = Tree::lightest(&tree.nodes, most);
        let mut map = Mapper { lang, all: tree.all, least, room: most, levels: Vec::new() };
        let name = HtmlName { shown: lang.of("all keys", "所有 key").to_owned(), whole: None };
        map.level(name, tree.all, &tree.nodes, tree.hidden.nodes, &[]);
        let (none, most, all) = (lang.of("none", "无"), lang.of("most", "大部分"), lang.of("all", "全部"));
        let legend = [("s0", none), ("s1", "≤ ⅓"), ("s2", "≤ ⅔"), ("s3", most), ("s4", all)];
        Some(Treemap { levels: map.levels, legend })
    }
}

/// Makes levels of the tree.
struct Mapper {
    lang: Lang,
    all: Weight,
    /// Weight below which prefixes are merged into the rest of their level.
    least: Bytes,
    /// Prefixes that may still be shown: many can have exactly the least weight.
    room: usize,
    levels: Vec<MapLevel>,
}

impl Mapper {
    /// Lays out the children of a prefix, and recursively all levels below them. Returns the number of the new level.
    fn level(
        &mut self,
        name: HtmlName,
        whole: Weight,
        nodes: &[PrefixNode],
        hidden: u64,
        above: &[(usize, HtmlName)],
    ) -> Option<usize> {
        let heavy =
            nodes.iter().filter(|node| node.memory >= self.least && node.memory > Bytes(0)).count().min(self.room);
        let shown: Vec<&PrefixNode> = nodes.iter().filter(|node| node.memory > Bytes(0)).take(heavy).collect();
        if shown.is_empty() {
            return None;
        }
        self.room -= shown.len();
        let id = self.levels.len();
        let facts = self.facts(whole, None);
        self.levels.push(MapLevel { id, above: above.to_vec(), name: name.clone(), facts, areas: Vec::new() });

        let rest = rest(whole, &shown);
        let mut weights: Vec<u64> = shown.iter().map(|node| node.memory.0).collect();
        weights.push(rest.memory.0);
        let rects = squarify(&weights, CANVAS);
        let mut path = above.to_vec();
        path.push((id, name));
        let mut areas = Vec::new();
        for (node, rect) in shown.iter().zip(&rects) {
            let opens = self.level(
                HtmlName::prefix(&node.prefix),
                Weight { keys: node.keys, memory: node.memory },
                &node.children,
                node.hidden.nodes,
                &path,
            );
            areas.push(self.area(node, *rect, opens));
        }
        let lighter = hidden.saturating_add((nodes.len() - shown.len()) as u64);
        if let Some(rect) = rects.last().filter(|_| rest.memory > Bytes(0)) {
            areas.push(self.rest_area(rest, lighter, *rect));
        }
        if let Some(level) = self.levels.get_mut(id) {
            level.areas = areas;
        }
        Some(id)
    }

    fn area(&self, node: &PrefixNode, rect: Rect, opens: Option<usize>) -> MapArea {
        let weight = Weight { keys: node.keys, memory: node.memory };
        let without = human::share_of(node.without_ttl.memory.0, node.memory.0);
        MapArea {
            place: AreaPlace::of(rect, CANVAS),
            name: HtmlName::prefix(&node.segment),
            figure: self.figure(node.memory),
            facts: format!(
                "{}: {}",
                inline_visible(&HtmlName::prefix(&node.prefix).shown),
                self.facts(weight, Some(without))
            ),
            opens,
            shade: shade(node),
            room: room(rect),
            within: if opens.is_some() { within(node, rect) } else { Vec::new() },
        }
    }

    fn rest_area(&self, rest: Weight, lighter: u64, rect: Rect) -> MapArea {
        let name = self.rest_name(lighter);
        MapArea {
            place: AreaPlace::of(rect, CANVAS),
            figure: self.figure(rest.memory),
            facts: say!(self.lang, "{name}: {}", "{name}：{}", self.facts(rest, None)),
            name: HtmlName { shown: name, whole: None },
            opens: None,
            shade: "rest",
            room: room(rect),
            within: Vec::new(),
        }
    }

    /// Names the rest of a level.
    fn rest_name(&self, lighter: u64) -> String {
        let nodes = human::count(lighter);
        match lighter {
            0 => self.lang.of("other keys", "其他 key").to_owned(),
            _ => say!(self.lang, "{nodes} lighter", "其余 {nodes} 个"),
        }
    }

    fn figure(&self, memory: Bytes) -> String {
        format!("{} · {}", human::bytes(memory.0), human::share_of(memory.0, self.all.memory.0))
    }

    fn facts(&self, weight: Weight, without_ttl: Option<String>) -> String {
        let lang = self.lang;
        let keys = human::counted(weight.keys, nouns::KEY, lang);
        let (memory, share) = (human::bytes(weight.memory.0), human::share_of(weight.memory.0, self.all.memory.0));
        let without = without_ttl.map_or_else(String::new, |share| {
            say!(lang, ", {share} of its memory never expires", "，其中 {share} 的内存永不过期")
        });
        say!(lang, "{keys}, {memory}, {share} of all memory{without}", "{keys}，{memory}，占总内存 {share}{without}")
    }
}

/// Returns the weight of a level besides the prefixes shown: lighter prefixes, and keys that end there.
fn rest(whole: Weight, shown: &[&PrefixNode]) -> Weight {
    let memory: Bytes = shown.iter().map(|node| node.memory).sum();
    let keys = shown.iter().fold(0u64, |sum, node| sum.saturating_add(node.keys));
    Weight { keys: whole.keys.saturating_sub(keys), memory: Bytes(whole.memory.0.saturating_sub(memory.0)) }
}

/// Returns the class of a colour that says how much of the memory never expires.
fn shade(node: &PrefixNode) -> &'static str {
    match permille(node.without_ttl.memory.0, node.memory.0) {
        0 => "s0",
        1..=333 => "s1",
        334..=666 => "s2",
        667..=999 => "s3",
        _ => "s4",
    }
}

/// Returns how much of the label an area of that size has room for, on a wide screen and on a narrow one.
fn room(rect: Rect) -> &'static str {
    match (rect.width, rect.height) {
        (width, height) if width < 58.0 || height < 24.0 => "bare",
        (width, height) if width < 200.0 && height < LABEL => "one wide-only",
        (_, height) if height < LABEL => "one",
        (width, _) if width < 200.0 => "two wide-only",
        _ => "two",
    }
}

/// Returns the heaviest prefixes below one, drawn within its area.
fn within(node: &PrefixNode, rect: Rect) -> Vec<InnerArea> {
    if rect.width < 110.0 || rect.height < LABEL + 50.0 {
        return Vec::new();
    }
    let field = Rect { x: 0.0, y: 0.0, width: rect.width, height: rect.height - LABEL };
    let shown: Vec<&PrefixNode> = node.children.iter().filter(|child| child.memory > Bytes(0)).take(WITHIN).collect();
    let mut weights: Vec<u64> = shown.iter().map(|child| child.memory.0).collect();
    weights.push(rest(Weight { keys: node.keys, memory: node.memory }, &shown).memory.0);
    let rects = squarify(&weights, field);
    let inner = shown.iter().zip(rects).filter(|(_, rect)| rect.width > 5.0 && rect.height > 5.0);
    let inner = inner.map(|(child, rect)| InnerArea {
        place: AreaPlace::of(rect, field),
        name: (rect.width > 64.0 && rect.height > 24.0).then(|| HtmlName::prefix(&child.segment)),
        shade: shade(child),
    });
    inner.collect()
}
