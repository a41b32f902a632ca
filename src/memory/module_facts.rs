//! Facts about a module's value that its module tells, too: dimensions, capacities and counts.

use serde::Serialize;

/// Facts about the value of a module; each is `None` for modules that do not have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ModuleFacts {
    /// Filters of a Bloom or Cuckoo filter, which grows by adding further ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filters: Option<u64>,
    /// Items that a Bloom filter is made for, slots of a Cuckoo filter, nodes of a t-digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// Items in a Bloom or Cuckoo filter, increments of a count-min sketch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// Counters in each row of a count-min sketch or top-k list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Rows of counters of a count-min sketch or top-k list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// Items that a top-k list keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// Samples of a time series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Chunks of a time series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u64>,
    /// Dimension of the vectors of a vector set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<u64>,
    /// Quantization of the vectors of a vector set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantization: Option<Quantization>,
    /// Members of objects and elements of arrays of a JSON document, on all levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
    /// Levels of objects and arrays of a JSON document, one within the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<u64>,
}

/// How vectors are stored, by the names of `VINFO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantization {
    /// As floats.
    F32,
    /// One byte for each number.
    Int8,
    /// One bit for each number.
    Bin,
}

impl Quantization {
    /// Returns the quantization of this number in dumps.
    pub fn from_number(number: u64) -> Option<Quantization> {
        match number {
            0 => Some(Quantization::F32),
            1 => Some(Quantization::Int8),
            2 => Some(Quantization::Bin),
            _ => None,
        }
    }

    /// Returns the name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Quantization::F32 => "f32",
            Quantization::Int8 => "int8",
            Quantization::Bin => "bin",
        }
    }
}

impl ModuleFacts {
    /// Names of the facts, in the order of [`ModuleFacts::numbers`]; `quantization` is a text and follows them.
    pub const NUMBERS: [&'static str; 11] =
        ["filters", "capacity", "items", "width", "depth", "k", "samples", "chunks", "dimension", "elements", "levels"];

    /// Returns the facts that are numbers.
    pub fn numbers(&self) -> [Option<u64>; 11] {
        let &ModuleFacts {
            filters,
            capacity,
            items,
            width,
            depth,
            k,
            samples,
            chunks,
            dimension,
            quantization: _,
            elements,
            levels,
        } = self;
        [filters, capacity, items, width, depth, k, samples, chunks, dimension, elements, levels]
    }
}
