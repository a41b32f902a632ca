//! Vector sets (`vset.c` and `hnsw.c`, part of Redis since 8.0).
//!
//! The server does not add up what each element takes: it assumes an average number of layers, and takes names and
//! attributes of the elements at the head of its list as typical. Loading puts each element at the head, so these are the
//! last ones of the file.

use super::{ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::{ModuleFacts, Quantization};
use crate::rdb::walk::ModuleItem;

/// Size of the set's and the graph's structure.
const SET: u64 = 1784;
/// Size of a node's structure.
const NODE: u64 = 312;
/// Size of the structure of a node's layer; a node is assumed to have four thirds of one.
const LAYER: u64 = 24;
/// Size of an element's entry in the dictionary of names.
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
    LinkCount,
    Links(u64),
    /// An item was not of the expected type.
    #[default]
    Broken,
}

/// Allocated sizes of the name and the attribute of an element; 0 if it has none.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    name: u64,
    attribute: u64,
}

/// Vector set: dimension, elements, configuration, flags, projection matrix; for each element its name, attributes, vector
/// and links.
#[derive(Debug, Default)]
pub struct VectorSet {
    stage: Stage,
    head: [u64; 4],
    input_dimension: u64,
    elements: u64,
    attributes: u64,
    vector: u64,
    /// The last elements, overwritten in turn.
    samples: [Sample; SAMPLES],
}

impl VectorSet {
    fn is_attributed(&self) -> bool {
        self.head[3] & ATTRIBUTED != 0
    }

    fn sample(&mut self) -> &mut Sample {
        let last = self.samples.len() - 1;
        let place = usize::try_from(self.elements.saturating_sub(1) % SAMPLES as u64).unwrap_or(last);
        &mut self.samples[place.min(last)]
    }

    fn integer(&mut self, number: u64) -> Stage {
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
            Stage::LinkCount if number == 0 => Stage::Name,
            Stage::LinkCount => Stage::Links(number),
            Stage::Links(1) => Stage::Name,
            Stage::Links(left) => Stage::Links(left.saturating_sub(1)),
            Stage::Matrix | Stage::Name | Stage::Attribute | Stage::Vector | Stage::Broken => Stage::Broken,
        }
    }

    fn string(&mut self, len: u64, allocated: u64) -> Stage {
        match self.stage {
            Stage::Matrix => Stage::Name,
            Stage::Name => {
                self.elements = self.elements.saturating_add(1);
                *self.sample() = Sample { name: allocated, attribute: 0 };
                if self.is_attributed() { Stage::Attribute } else { Stage::Vector }
            }
            Stage::Attribute => {
                if len > 0 {
                    self.attributes += 1;
                    self.sample().attribute = allocated;
                }
                Stage::Vector
            }
            Stage::Vector => {
                self.vector = len;
                Stage::LinkCount
            }
            Stage::Head(_) | Stage::InputDimension | Stage::LinkCount | Stage::Links(_) | Stage::Broken => {
                Stage::Broken
            }
        }
    }

    /// Returns the size of nodes, vectors and links, or `None` if it is beyond all bounds.
    fn graph(&self) -> Option<u64> {
        let elements = self.elements;
        // All nodes are assumed to have twice M links in the lowest layer, and M in a third of the next.
        let links = 2 * (self.head[2] >> 8 & 0xffff);
        let lowest = (8 * links).checked_mul(elements)?;
        let upper = (8 * (links / 2)).checked_mul(elements)? / 3;
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
        *self = VectorSet { stage: Stage::Head(0), ..VectorSet::default() };
    }

    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.stage = match item {
            ModuleItem::Integer(number) => self.integer(number),
            ModuleItem::String(text) => self.string(text.len(), server.string(text.len())),
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
        let set = SET.checked_add(matrix)?;
        if elements == 0 {
            return Some(set);
        }
        set.checked_add(self.graph()?)?.checked_add(self.texts()?)
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
