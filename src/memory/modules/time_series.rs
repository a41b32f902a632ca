//! Time series (RedisTimeSeries).
//!
//! Up to 7.4 the module adds up the sizes of its structures, from 8.0 on it asks the allocator.

use super::{ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::ModuleFacts;
use crate::memory::layout::ModuleLine;
use crate::rdb::walk::ModuleItem;

/// Size of the pointer that versions up to 7.4 count for the structure of a series.
const POINTER: u64 = 8;
/// Size of the structure of a series.
const SERIES: u64 = 144;
/// Size of a label: pointers to key and value.
const LABEL: u64 = 16;
/// Size of the structure of a compaction rule.
const RULE: u64 = 64;
/// Size of the structure of a compressed chunk.
const COMPRESSED_CHUNK: u64 = 80;
/// Size of the structure of an uncompressed chunk.
const PLAIN_CHUNK: u64 = 32;
/// Size of the structures of a dictionary and its tree.
const DICT: u64 = 8 + 24;
/// Size that the server assumes for a node of the tree.
const DICT_NODE: u64 = 4 + 8 * 30;
/// Option of series whose chunks are not compressed.
const UNCOMPRESSED: u64 = 1;
/// Integers of a compressed chunk before its data; the fifth is the first timestamp.
const CHUNK_NUMBERS: usize = 10;

/// Next expected item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Key, retention, chunk size, options, last time, last value, samples, policy, whether there is a source.
    Fixed(u8),
    Source,
    /// Limits within which samples are ignored.
    Ignore(u8),
    LabelCount,
    Labels(u64),
    RuleCount,
    /// Rules and chunks.
    Parts,
    /// An item was not of the expected type.
    #[default]
    Broken,
}

/// Time series: parameters, labels, compaction rules; for each chunk its parameters and data.
#[derive(Debug, Default)]
pub struct TimeSeries {
    stage: Stage,
    uncompressed: bool,
    samples: u64,
    chunks: u64,
    labels: u64,
    label_bytes: u64,
    rules: u64,
    rules_begun: u64,
    rule_numbers: u64,
    rule_bytes: u64,
    chunk_bytes: u64,
    /// Last integers, overwritten in turn.
    numbers: [u64; CHUNK_NUMBERS],
    numbers_seen: usize,
}

impl TimeSeries {
    /// Returns the integer that came `back` integers before the end; the last one is 1.
    fn number_before(&self, back: usize) -> u64 {
        let place = self.numbers_seen.wrapping_sub(back) % CHUNK_NUMBERS;
        if back <= self.numbers_seen { self.numbers[place] } else { 0 }
    }

    fn fixed(&mut self, place: u8, item: ModuleItem<'_>) -> Stage {
        match (place, item) {
            (0, ModuleItem::String(_)) | (1 | 2 | 4 | 7, ModuleItem::Integer(_)) | (5, ModuleItem::Double(_)) => {
                Stage::Fixed(place + 1)
            }
            (3, ModuleItem::Integer(options)) => {
                self.uncompressed = options & UNCOMPRESSED != 0;
                Stage::Fixed(4)
            }
            (6, ModuleItem::Integer(samples)) => {
                self.samples = samples;
                Stage::Fixed(7)
            }
            (8, ModuleItem::Integer(0)) => Stage::Ignore(0),
            (8, ModuleItem::Integer(_)) => Stage::Source,
            _ => Stage::Broken,
        }
    }

    fn part(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        match item {
            ModuleItem::Integer(number) => {
                self.numbers[self.numbers_seen % CHUNK_NUMBERS] = number;
                self.numbers_seen += 1;
                self.rule_numbers = self.rule_numbers.saturating_add(1);
                // After the target of a rule: duration, alignment, aggregation.
                if self.rule_numbers == 3 {
                    let context = server.model.usable(aggregation_context(number));
                    self.rule_bytes = self.rule_bytes.saturating_add(server.model.usable(RULE)).saturating_add(context);
                }
            }
            ModuleItem::String(_) if self.rules_begun < self.rules => {
                self.rules_begun += 1;
                self.rule_numbers = 0;
            }
            ModuleItem::String(data) => {
                self.rule_numbers = 3;
                self.chunks += 1;
                let first = if self.uncompressed {
                    let mut time = [0; 8];
                    let bytes = data.prefix(8, server.scratch)?;
                    time.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
                    u64::from_le_bytes(time)
                } else {
                    self.number_before(6)
                };
                server.tree.insert(&first.to_be_bytes());
                self.chunk_bytes = self.chunk_bytes.saturating_add(self.chunk(server, data.len()));
            }
            ModuleItem::Float(_) | ModuleItem::Double(_) => {}
        }
        Ok(())
    }

    fn chunk(&self, server: &ServerParts<'_>, data: u64) -> u64 {
        let structure = if self.uncompressed { PLAIN_CHUNK } else { COMPRESSED_CHUNK };
        if server.line() < ModuleLine::Redis8_0 {
            return structure.saturating_add(data);
        }
        server.model.usable(structure).saturating_add(server.model.usable(data))
    }
}

/// Returns the size of what a compaction rule keeps about the current bucket.
fn aggregation_context(aggregation: u64) -> u64 {
    match aggregation {
        // Sum, count, last.
        3 | 5 | 7 => 8,
        // Minimum, maximum, first, range.
        1 | 2 | 6 | 8 => 16,
        // Time-weighted average.
        13 => 72,
        // Average, standard deviations, variances.
        _ => 24,
    }
}

impl ModuleValue for TimeSeries {
    fn begin(&mut self) {
        *self = TimeSeries { stage: Stage::Fixed(0), ..TimeSeries::default() };
    }

    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.stage = match (self.stage, item) {
            (Stage::Fixed(0), item) => {
                server.tree.clear(true);
                self.fixed(0, item)
            }
            (Stage::Fixed(place), item) => self.fixed(place, item),
            (Stage::Source, ModuleItem::String(_)) => Stage::Ignore(0),
            (Stage::Ignore(0), ModuleItem::Integer(_)) => Stage::Ignore(1),
            (Stage::Ignore(_), ModuleItem::Double(_)) => Stage::LabelCount,
            (Stage::LabelCount, ModuleItem::Integer(labels)) => {
                self.labels = labels;
                if labels == 0 { Stage::RuleCount } else { Stage::Labels(labels.saturating_mul(2)) }
            }
            (Stage::Labels(left), ModuleItem::String(text)) => {
                let stack = server.line() < ModuleLine::Redis8_0;
                let bytes = if stack { text.len().saturating_add(1) } else { server.string(&text) };
                self.label_bytes = self.label_bytes.saturating_add(bytes);
                if left <= 1 { Stage::RuleCount } else { Stage::Labels(left - 1) }
            }
            (Stage::RuleCount, ModuleItem::Integer(rules)) => {
                self.rules = rules;
                self.rule_numbers = 3;
                Stage::Parts
            }
            (Stage::Parts, item) => {
                self.part(server, item)?;
                Stage::Parts
            }
            _ => Stage::Broken,
        };
        Ok(())
    }

    fn memory(&mut self, server: &mut ServerParts<'_>) -> Option<u64> {
        if self.stage != Stage::Parts || self.rules_begun != self.rules {
            return None;
        }
        let labels = LABEL.checked_mul(self.labels)?;
        let parts = self.label_bytes.checked_add(self.chunk_bytes)?;
        if server.line() < ModuleLine::Redis8_0 {
            let rules = RULE.checked_mul(self.rules)?;
            return POINTER.checked_add(labels)?.checked_add(rules)?.checked_add(parts);
        }
        let nodes = server.tree.finish().nodes;
        let dict = DICT_NODE.checked_mul(nodes)?.checked_add(DICT)?;
        let structs = server.model.usable(SERIES).checked_add(server.model.usable(labels.max(8)))?;
        structs.checked_add(dict)?.checked_add(self.rule_bytes)?.checked_add(parts)
    }

    fn length(&self) -> Option<u64> {
        Some(self.samples)
    }

    fn facts(&self) -> ModuleFacts {
        ModuleFacts { samples: Some(self.samples), chunks: Some(self.chunks), ..ModuleFacts::default() }
    }
}
