//! Vector sets (`vset.c` and `hnsw.c`, part of Redis since 8.0).
//!
//! The server does not add up what each element takes: it assumes an average number of layers, and takes names and
//! attributes of the elements at the head of its list as typical. Loading puts each element at the head, so these are the
//! last ones of the file. The allocated bytes are the sum over all nodes, and the radix tree of the names.

use std::mem;

use super::names::Names;
use super::{ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::{ModuleFacts, Quantization};
use crate::rdb::string::RawString;
use crate::rdb::walk::ModuleItem;

/// Sizes of the set's and the graph's structure.
const SET: u64 = 112;
const GRAPH: u64 = 1672;
/// Size of a node's structure.
const NODE: u64 = 312;
/// Size of the structure of a node's layer; a node is assumed to have four thirds of one.
const LAYER: u64 = 24;
/// Size of the pair of an element's name and attribute.
const NODE_VALUE: u64 = 16;
/// Size of a link.
const LINK: u64 = 8;
/// Value of M of files that store none.
const DEFAULT_M: u64 = 16;
/// Assumed size of an element's entry in the dictionary of names.
const DICT_ENTRY: u64 = 16;
/// Elements whose names and attributes are measured.
const SAMPLES: usize = 20;
/// Assumed size of an attribute if no measured element has one.
const ATTRIBUTE: u64 = 64;
/// Flag of a set that reduces the dimension of its vectors.
const PROJECTED: u64 = 1;
/// Flag of a set whose elements are stored with their attributes.
const ATTRIBUTED: u64 = 2;

/// Next expected item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Dimension, elements, configuration, flags.
    Head(usize),
    InputDimension,
    Matrix,
    Name,
    Attribute,
    Vector,
    ParameterCount,
    Parameters(u64),
    /// An item was not of the expected type.
    #[default]
    Broken,
}

/// Next parameter of a node: its id, its level, and for each layer the number of links, room for links, the links, and from
/// version 1 on the worst of them; then what belongs to the vector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Parameter {
    #[default]
    Id,
    Level,
    Links,
    Room(u64),
    Link(u64),
    Worst,
    Rest,
}

/// Node whose parameters are being read.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    next: Parameter,
    layer: u64,
    level: u64,
    has_worst: bool,
}

impl Node {
    /// Returns what follows the links of a layer.
    fn after_links(&mut self) -> Parameter {
        if self.has_worst { Parameter::Worst } else { self.next_layer() }
    }

    fn next_layer(&mut self) -> Parameter {
        self.layer += 1;
        if self.layer > self.level { Parameter::Rest } else { Parameter::Links }
    }
}

/// Allocated sizes of the name and the attribute of an element; 0 if it has none.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    name: u64,
    attribute: u64,
}

/// Vector set: dimension, elements, configuration, flags, projection matrix; for each element its name, attributes, vector
/// and parameters of its node.
#[derive(Debug, Default)]
pub struct VectorSet {
    stage: Stage,
    head: [u64; 4],
    input_dimension: u64,
    elements: u64,
    attributes: u64,
    vector: u64,
    /// Room for links in the lowest layer of the last node, by which the server estimates that of all.
    lowest: u64,
    node: Node,
    /// Allocated bytes of all elements: nodes, links, vectors, names, attributes.
    given: u64,
    /// The last elements, overwritten in turn.
    samples: [Sample; SAMPLES],
    names: Names,
}

impl VectorSet {
    fn is_attributed(&self) -> bool {
        self.head[3] & ATTRIBUTED != 0
    }

    /// Returns the room for links in a layer that the file does not enlarge.
    fn room(&self, layer: u64) -> u64 {
        let m = match self.head[2] >> 8 & 0xffff {
            0 => DEFAULT_M,
            m => m,
        };
        if layer == 0 { 2 * m } else { m }
    }

    fn sample(&mut self) -> &mut Sample {
        let last = self.samples.len() - 1;
        let place = usize::try_from(self.elements.saturating_sub(1) % SAMPLES as u64).unwrap_or(last);
        &mut self.samples[place.min(last)]
    }

    fn give(&mut self, bytes: u64) {
        self.given = self.given.saturating_add(bytes);
    }

    fn integer(&mut self, server: &ServerParts<'_>, number: u64) -> Stage {
        match self.stage {
            Stage::Head(place) => {
                self.head[place] = number;
                match place {
                    0..=2 => Stage::Head(place + 1),
                    _ if number & PROJECTED != 0 => Stage::InputDimension,
                    _ => Stage::Name,
                }
            }
            Stage::InputDimension => {
                self.input_dimension = number;
                Stage::Matrix
            }
            Stage::ParameterCount if number == 0 => Stage::Name,
            Stage::ParameterCount => {
                self.node = Node::default();
                Stage::Parameters(number)
            }
            Stage::Parameters(left) => {
                self.parameter(server, number);
                if left <= 1 { Stage::Name } else { Stage::Parameters(left - 1) }
            }
            Stage::Matrix | Stage::Name | Stage::Attribute | Stage::Vector | Stage::Broken => Stage::Broken,
        }
    }

    fn parameter(&mut self, server: &ServerParts<'_>, number: u64) {
        self.node.next = match self.node.next {
            Parameter::Id => Parameter::Level,
            Parameter::Level => {
                self.node.level = number & 0xff;
                self.node.has_worst = number & 0xff00_0000 != 0;
                self.give(server.usable(NODE + LAYER * (self.node.level + 1)));
                Parameter::Links
            }
            Parameter::Links => Parameter::Room(number & u64::from(u32::MAX)),
            Parameter::Room(links) => {
                let room = (number & u64::from(u32::MAX)).max(self.room(self.node.layer));
                self.give(server.usable(LINK * room));
                if self.node.layer == 0 {
                    self.lowest = room;
                }
                if links == 0 { self.node.after_links() } else { Parameter::Link(links) }
            }
            Parameter::Link(0 | 1) => self.node.after_links(),
            Parameter::Link(left) => Parameter::Link(left - 1),
            Parameter::Worst => self.node.next_layer(),
            Parameter::Rest => Parameter::Rest,
        };
    }

    fn string(&mut self, server: &mut ServerParts<'_>, text: RawString<'_>) -> Result<Stage> {
        Ok(match self.stage {
            Stage::Matrix => Stage::Name,
            Stage::Name => {
                let allocated = server.string(&text);
                self.elements = self.elements.saturating_add(1);
                *self.sample() = Sample { name: allocated, attribute: 0 };
                self.give(allocated);
                self.names.add(text, server.scratch)?;
                if self.is_attributed() { Stage::Attribute } else { Stage::Vector }
            }
            Stage::Attribute => {
                if !text.is_empty() {
                    let allocated = server.string(&text);
                    self.attributes += 1;
                    self.sample().attribute = allocated;
                    self.give(allocated);
                }
                Stage::Vector
            }
            Stage::Vector => {
                self.vector = text.len();
                self.give(server.usable(text.len()).saturating_add(server.usable(NODE_VALUE)));
                Stage::ParameterCount
            }
            Stage::Head(_) | Stage::InputDimension | Stage::ParameterCount | Stage::Parameters(_) | Stage::Broken => {
                Stage::Broken
            }
        })
    }

    /// Returns the size of nodes, vectors and links, or `None` if it is beyond all bounds.
    fn graph(&self) -> Option<u64> {
        let elements = self.elements;
        // All nodes are assumed to have the links of the head in the lowest layer, and half of them in a third of the next.
        let links = if self.lowest == 0 { self.room(0) } else { self.lowest };
        let lowest = (LINK * links).checked_mul(elements)?;
        let upper = (LINK * (links / 2)).checked_mul(elements)? / 3;
        let layers = (LAYER * 4).checked_mul(elements)? / 3;
        let nodes = (NODE + DICT_ENTRY).checked_add(self.vector)?.checked_mul(elements)?;
        nodes.checked_add(layers)?.checked_add(lowest)?.checked_add(upper)
    }

    /// Returns the size of names and attributes, as if all were like the measured ones.
    fn texts(&self) -> Option<u64> {
        let measured = self.elements.min(SAMPLES as u64);
        let samples = self.samples.get(..usize::try_from(measured).ok()?)?;
        let sum = |part: fn(&Sample) -> u64| samples.iter().map(part).fold(0, u64::saturating_add);
        let names = sum(|sample| sample.name).checked_div(measured)?.checked_mul(self.elements)?;
        let attributed = samples.iter().filter(|sample| sample.attribute > 0).count() as u64;
        let attribute = sum(|sample| sample.attribute).checked_div(attributed).unwrap_or(ATTRIBUTE);
        names.checked_add(attribute.checked_mul(self.attributes)?)
    }
}

impl ModuleValue for VectorSet {
    fn begin(&mut self) {
        let names = mem::take(&mut self.names).emptied();
        *self = VectorSet { stage: Stage::Head(0), names, ..VectorSet::default() };
    }

    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.stage = match item {
            ModuleItem::Integer(number) => self.integer(server, number),
            ModuleItem::String(text) => self.string(server, text)?,
            ModuleItem::Float(_) | ModuleItem::Double(_) => Stage::Broken,
        };
        Ok(())
    }

    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        let [dimension, elements, ..] = self.head;
        if self.stage != Stage::Name || elements != self.elements {
            return None;
        }
        let matrix = 4u64.checked_mul(self.input_dimension)?.checked_mul(dimension)?;
        let set = (SET + GRAPH).checked_add(matrix)?;
        if elements == 0 {
            return Some(set);
        }
        set.checked_add(self.graph()?)?.checked_add(self.texts()?)
    }

    fn allocated(&mut self, server: &mut ServerParts<'_>) -> Option<u64> {
        let [dimension, ..] = self.head;
        let matrix = 4u64.checked_mul(self.input_dimension)?.checked_mul(dimension)?;
        let matrix = if matrix == 0 { 0 } else { server.usable(matrix) };
        let fixed = [SET, GRAPH].into_iter().map(|size| server.usable(size)).sum::<u64>();
        let shape = self.names.tree(server.tree, self.elements);
        let tree = server.dictionary(shape);
        fixed.checked_add(matrix)?.checked_add(self.given)?.checked_add(tree)
    }

    fn length(&self) -> Option<u64> {
        Some(self.head[1])
    }

    fn facts(&self) -> ModuleFacts {
        let [dimension, _, config, _] = self.head;
        let quantization = Quantization::from_number(config & 0xff);
        ModuleFacts { dimension: Some(dimension), quantization, ..ModuleFacts::default() }
    }
}
