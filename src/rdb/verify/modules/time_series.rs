//! Time series (`series_rdb_load` of RedisTimeSeries, and the readers of chunks and aggregations that it calls).

use super::{Double, END, Grammar, Integer, Items, Part, String};
use crate::error::Result;
use crate::wording::{Wording, wording};

/// Key, retention, chunk size, options, last time, last value, samples, policy, whether there is a source.
const HEAD: Part = &[String, Integer, Integer, Integer, Integer, Double, Integer, Integer, Integer];
/// Key of the series that this one is computed from.
const SOURCE: Part = &[String];
/// Time and value within which samples are ignored, number of labels.
const IGNORE: Part = &[Integer, Double, Integer];
/// Name and value.
const LABEL: Part = &[String, String];
/// Number of rules, or of chunks.
const COUNT: Part = &[Integer];
/// Target, duration, alignment, aggregation, start of the current bucket.
const RULE: Part = &[String, Integer, Integer, Integer, Integer];
/// Has in addition whether the current bucket has samples.
const RULE_9: Part = &[String, Integer, Integer, Integer, Integer, Integer];
/// First time, samples, size, samples as times and values.
const PLAIN_CHUNK: Part = &[Integer, Integer, Integer, String];
/// Size, samples, bits, first value and time, last time, its delta, last value, its leading and trailing zeros, the bits.
const CHUNK: Part = &[Integer, Integer, Integer, Integer, Integer, Integer, Integer, Integer, Integer, Integer, String];

/// Size of a sample in a chunk that is not compressed.
const SAMPLE: u64 = 16;
/// Option of series whose chunks are not compressed.
const UNCOMPRESSED: u64 = 1;

/// Part that is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Head,
    Source,
    Ignore,
    /// Labels, this one included.
    Labels(u64),
    RuleCount,
    /// Rules, this one included.
    Rules(u64),
    /// State of an aggregation, and the rules behind it.
    Aggregation(u64),
    ChunkCount,
    /// Chunks, this one included.
    Chunks(u64),
}

/// Reader of a series.
#[derive(Debug, Default)]
pub struct TimeSeries {
    stage: Stage,
    version: u64,
    is_plain: bool,
}

impl TimeSeries {
    /// Goes on to a stage, and returns its part.
    fn go_on(&mut self, stage: Stage) -> Part {
        self.stage = stage;
        match stage {
            Stage::Head => HEAD,
            Stage::Source => SOURCE,
            Stage::Ignore => IGNORE,
            Stage::Labels(0) => self.go_on(Stage::RuleCount),
            Stage::Labels(_) => LABEL,
            Stage::RuleCount | Stage::ChunkCount => COUNT,
            Stage::Rules(0) => self.go_on(Stage::ChunkCount),
            Stage::Rules(_) if self.version < 9 => RULE,
            Stage::Rules(_) => RULE_9,
            // Chosen by the rule, which is checked first.
            Stage::Aggregation(_) | Stage::Chunks(0) => END,
            Stage::Chunks(_) if self.is_plain => PLAIN_CHUNK,
            Stage::Chunks(_) => CHUNK,
        }
    }
}

impl Grammar for TimeSeries {
    fn begin(&mut self, version: u64) -> Part {
        *self = TimeSeries { version, ..TimeSeries::default() };
        HEAD
    }

    fn part(&mut self, items: &Items) -> Result<Part> {
        let next = match self.stage {
            Stage::Head => {
                items.expect_some(2)?;
                self.is_plain = items.number(3) & UNCOMPRESSED != 0;
                if items.number(8) == 0 { Stage::Ignore } else { Stage::Source }
            }
            Stage::Source => Stage::Ignore,
            Stage::Ignore => Stage::Labels(items.number(2)),
            Stage::Labels(left) => Stage::Labels(left - 1),
            Stage::RuleCount => Stage::Rules(items.number(0)),
            Stage::Rules(left) => {
                items.expect_some(1)?;
                self.stage = Stage::Aggregation(left - 1);
                return aggregation(items);
            }
            Stage::Aggregation(left) => Stage::Rules(left),
            Stage::ChunkCount => Stage::Chunks(items.number(0)),
            Stage::Chunks(left) => {
                if self.is_plain { check_plain_chunk(items) } else { check_chunk(items) }?;
                Stage::Chunks(left - 1)
            }
        };
        Ok(self.go_on(next))
    }
}

/// Returns the state that is stored for the aggregation of a rule.
fn aggregation(items: &Items) -> Result<Part> {
    Ok(match items.number_32(3) {
        // Minimum, maximum, range.
        1 | 2 | 8 => &[Double, Double],
        // Sum, number, last; number of NaN, of all.
        3 | 5 | 7 | 14 | 15 => &[Double],
        // Average, standard deviations and variances.
        4 | 9..=12 => &[Double, Double, Integer],
        // First.
        6 => &[Double, Integer],
        // Time-weighted average.
        13 => &[Double, Integer, Double, Integer, Integer, Integer, Integer, Integer, Integer, Integer],
        other => return items.fault(3, wording!("unknown aggregation {other}", "未知的聚合方式 {other}")),
    })
}

fn check_plain_chunk(items: &Items) -> Result<()> {
    let (samples, size) = (items.number_32(1), items.number(2));
    items.expect_len(3, size)?;
    if u64::from(samples) * SAMPLE > size {
        return items.fault(1, too_many(samples.into(), size));
    }
    Ok(())
}

fn check_chunk(items: &Items) -> Result<()> {
    let (size, samples, bits) = (items.number(0), items.number(1), items.number(2));
    items.expect_some(0)?;
    items.expect_len(10, size)?;
    if bits > size.saturating_mul(8) {
        return items.fault(2, wording!("{bits} bits in {size} bytes", "{size} 字节却有 {bits} 位"));
    }
    // All samples but the first take two bits at least.
    if samples.saturating_sub(1) > bits / 2 {
        return items.fault(1, too_many(samples, size));
    }
    Ok(())
}

fn too_many(samples: u64, size: u64) -> Wording {
    wording!("{samples} samples in a chunk of {size} bytes", "{size} 字节的分块却有 {samples} 个样本")
}
