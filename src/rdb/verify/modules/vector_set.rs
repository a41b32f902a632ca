//! Vector sets (`VectorSetRdbLoad`, `hnsw_insert_serialized` and `hnsw_deserialize_index` of Redis).
//!
//! Each element is a node of a graph, with links to others on each of its levels. Servers require links to be mutual, and so
//! does this reader: it adds a hash for each link from the node with the lower id, and takes it away for the one back.

use std::hash::{BuildHasher, RandomState};

use super::{END, Grammar, Integer, Items, Part, String, TextUse};
use crate::error::{Error, Result};
use crate::wording::{Wording, wording};

/// Dimension, elements, configuration, flags.
const HEAD: Part = &[Integer; 4];
/// Dimension before reduction, matrix.
const PROJECTION: Part = &[Integer, String];
/// Name, vector, number of parameters.
const NODE: Part = &[String, String, Integer];
/// Name, attributes, vector, number of parameters.
const ATTRIBUTED_NODE: Part = &[String, String, String, Integer];
/// Parameter of a node.
const PARAMETER: Part = &[Integer];

/// Flag of a set that reduces the dimension of its vectors.
const PROJECTED: u64 = 1;
/// Flag of a set whose elements are stored with their attributes.
const ATTRIBUTED: u64 = 2;
/// Highest level of a node.
const MAX_LEVEL: u32 = 16;
/// Limit of links on a level, four times that of the option `M`.
const MAX_LINKS: u32 = 4 * 4096;
/// Newest form of the parameters; the first one lacks the worst link.
const NEWEST_FORM: u64 = 1;

/// Part that is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Head,
    Projection,
    Node,
    Parameter,
}

/// Parameter of a node that is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Parameter {
    #[default]
    Id,
    /// Level and form of the parameters.
    Level,
    LinkCount,
    MostLinks,
    /// Links, this one included.
    Links(u32),
    WorstLink,
    /// Length and range of the vector.
    Range,
    /// Servers skip what is behind.
    Surplus,
}

/// Node whose parameters are read.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    parameter: Parameter,
    /// Parameters that follow.
    left: u32,
    id: u64,
    top: u32,
    level: u32,
    links: u32,
    has_worst: bool,
}

/// Reader of a set.
#[derive(Debug, Default)]
pub struct VectorSet {
    stage: Stage,
    elements: u64,
    dimension: u64,
    vector_len: u64,
    flags: u64,
    left: u64,
    node: Node,
    /// Highest id so far.
    last_id: u64,
    /// Hashes of links to higher ids, less those of links to lower ids.
    mutual: u64,
    keys: [u64; 3],
}

impl VectorSet {
    pub fn new() -> VectorSet {
        let random = RandomState::new();
        VectorSet { keys: [0_u8, 1, 2].map(|number| random.hash_one(number)), ..VectorSet::default() }
    }

    fn head(&mut self, items: &Items) -> Result<Part> {
        self.dimension = items.number_32(0).into();
        if self.dimension == 0 {
            return items.fault(0, wording!("vectors without a dimension", "向量维数为 0"));
        }
        self.vector_len = match items.number(2) & 0xff {
            0 => 4 * self.dimension,
            1 => self.dimension,
            2 => self.dimension.div_ceil(64) * 8,
            other => return items.fault(2, wording!("unknown quantization {other}", "未知的量化方式 {other}")),
        };
        (self.elements, self.left, self.flags) = (items.number(1), items.number(1), items.number(3));
        if self.flags & PROJECTED == 0 {
            return Ok(self.next_node());
        }
        self.stage = Stage::Projection;
        Ok(PROJECTION)
    }

    fn projection(&self, items: &Items) -> Result<()> {
        let before = u64::from(items.number_32(0));
        if before == 0 {
            return items.fault(0, wording!("vectors without a dimension", "向量维数为 0"));
        }
        let (len, expected) = (items.number(1), before.saturating_mul(4 * self.dimension));
        if len != expected {
            return items.fault(
                1,
                wording!(
                    "projection matrix of {len} bytes instead of {expected}",
                    "投影矩阵有 {len} 字节，应为 {expected} 字节"
                ),
            );
        }
        Ok(())
    }

    fn next_node(&mut self) -> Part {
        if self.left == 0 {
            return END;
        }
        self.left -= 1;
        self.stage = Stage::Node;
        if self.flags & ATTRIBUTED == 0 { NODE } else { ATTRIBUTED_NODE }
    }

    fn begin_node(&mut self, items: &Items) -> Result<Part> {
        let count = items.len - 1;
        items.expect_len(count - 1, self.vector_len)?;
        let left = items.number_32(count);
        if left < 2 {
            return items.fault(count, too_few(left));
        }
        self.node = Node { left, ..Node::default() };
        self.stage = Stage::Parameter;
        Ok(PARAMETER)
    }

    #[inline]
    fn parameter(&mut self, items: &Items) -> Result<Part> {
        self.node.left -= 1;
        let next = match self.node.parameter {
            Parameter::Links(left) => {
                if !self.add_link(items.number(0)) {
                    let id = self.node.id;
                    return items.fault(0, wording!("a link of element {id} to itself", "元素 {id} 链接到自身"));
                }
                self.node.next_link(left - 1)
            }
            Parameter::Id => {
                self.node.id = self.next_id(items.number(0));
                Parameter::Level
            }
            _ => self.node.other_parameter(items)?,
        };
        self.node.parameter = next;
        if self.node.left < next.least(&self.node) {
            return items.fault(0, too_few(self.node.left));
        }
        Ok(if self.node.left > 0 { PARAMETER } else { self.next_node() })
    }

    /// Returns the id of a node. Instead of 0, servers give it the one that follows the highest id so far.
    fn next_id(&mut self, stored: u64) -> u64 {
        let id = if stored == 0 { self.last_id.wrapping_add(1) } else { stored };
        self.last_id = self.last_id.max(id);
        id
    }

    /// Fast path for a link with others behind it; returns false for all other items, and for a link to the node itself.
    #[inline]
    pub fn inner_link(&mut self, other: u64) -> bool {
        match (self.stage, self.node.parameter) {
            (Stage::Parameter, Parameter::Links(left)) if left > 1 && self.add_link(other) => {
                // Cannot underflow: `least` was checked before the first link.
                self.node.left -= 1;
                self.node.parameter = Parameter::Links(left - 1);
                true
            }
            _ => false,
        }
    }

    /// Adds a link of the node to the others; returns false if it is one to itself.
    #[inline]
    fn add_link(&mut self, other: u64) -> bool {
        let id = self.node.id;
        let hash = |lower, higher| {
            let pair = fold(lower ^ self.keys[0], higher ^ self.keys[1]);
            fold(pair ^ u64::from(self.node.level), self.keys[2])
        };
        self.mutual = match id.cmp(&other) {
            std::cmp::Ordering::Less => self.mutual.wrapping_add(hash(id, other)),
            std::cmp::Ordering::Greater => self.mutual.wrapping_sub(hash(other, id)),
            std::cmp::Ordering::Equal => return false,
        };
        true
    }
}

impl Node {
    /// Returns the parameter behind a link, or behind the sizes of a level, with so many links left on it.
    fn next_link(&mut self, left: u32) -> Parameter {
        match left {
            0 if self.has_worst => Parameter::WorstLink,
            0 => self.end_level(),
            left => Parameter::Links(left),
        }
    }

    fn end_level(&mut self) -> Parameter {
        self.level += 1;
        if self.level > self.top { Parameter::Range } else { Parameter::LinkCount }
    }

    /// Takes a parameter that is neither the id nor a link, and returns the next one.
    fn other_parameter(&mut self, items: &Items) -> Result<Parameter> {
        let number = items.number(0);
        Ok(match self.parameter {
            Parameter::Level => {
                let (level, form) = (items.number_32(0) & 0xff, number >> 24 & 0xff);
                if level > MAX_LEVEL {
                    return items
                        .fault(0, wording!("level {level} of {MAX_LEVEL}", "层级 {level} 超出上限 {MAX_LEVEL}"));
                }
                if form > NEWEST_FORM {
                    return items.fault(0, wording!("unknown form {form} of an element", "未知的元素格式 {form}"));
                }
                (self.top, self.has_worst) = (level, form > 0);
                Parameter::LinkCount
            }
            Parameter::LinkCount => {
                self.links = items.number_32(0);
                Parameter::MostLinks
            }
            Parameter::MostLinks => {
                let (links, most) = (self.links, items.number_32(0));
                if links > most || most > MAX_LINKS {
                    return items.fault(0, wording!("{links} links of {most}", "有 {links} 个链接，上限为 {most}"));
                }
                self.next_link(links)
            }
            Parameter::WorstLink => {
                let (place, links) = (items.number_32(0), self.links);
                if links > 0 && place >= links {
                    return items
                        .fault(0, wording!("link {place} of {links} links", "共 {links} 个链接，却指向第 {place} 个"));
                }
                self.end_level()
            }
            Parameter::Id | Parameter::Links(_) | Parameter::Range | Parameter::Surplus => Parameter::Surplus,
        })
    }
}

impl Parameter {
    /// Returns how many parameters there have to be from this one on, as far as that is known.
    fn least(self, node: &Node) -> u32 {
        let worst = u32::from(node.has_worst);
        match self {
            Parameter::Id => 2,
            Parameter::Level | Parameter::Range => 1,
            Parameter::LinkCount => 2 + worst,
            Parameter::MostLinks => 1 + worst,
            Parameter::Links(left) => left + worst,
            Parameter::WorstLink => 1,
            Parameter::Surplus => 0,
        }
    }
}

impl Grammar for VectorSet {
    fn begin(&mut self, _: u64) -> Part {
        *self = VectorSet { keys: self.keys, ..VectorSet::default() };
        HEAD
    }

    #[inline]
    fn part(&mut self, items: &Items) -> Result<Part> {
        match self.stage {
            Stage::Parameter => self.parameter(items),
            Stage::Node => self.begin_node(items),
            Stage::Head => self.head(items),
            Stage::Projection => {
                self.projection(items)?;
                Ok(self.next_node())
            }
        }
    }

    fn text_use(&self, place: usize) -> TextUse {
        if self.stage == Stage::Node && place == 0 { TextUse::Name(self.elements) } else { TextUse::Length }
    }

    fn end(&self, offset: u64) -> Result<()> {
        if self.mutual == 0 {
            return Ok(());
        }
        Err(Error::corrupt(
            offset,
            wording!("a link between elements that the other one lacks", "元素之间的链接缺少对应的反向链接"),
        ))
    }
}

fn too_few(left: u32) -> Wording {
    wording!("an element needs more numbers than the {left} left", "元素需要的数多于剩余的 {left} 个")
}

/// Multiplies two numbers, and mixes both halves of the product.
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    half(product >> 64) ^ half(product)
}
