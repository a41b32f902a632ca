//! Time series of the module RedisTimeSeries, from the items that it stores.
//!
//! ```text
//! key, retention, chunk size, options, last time, last value, samples, policy, source?, limits, labels, rules, chunks
//! ```
//!
//! A compressed chunk (Gorilla) is a sequence of bits, from the lowest of each byte on. Times are differences of
//! differences, values what differs from the one before:
//!
//! ```text
//! time   0 | 10 i5 | 110 i8 | 1110 i11 | 11110 i15 | 111110 i32 | 111111 i64
//! value  0 | 10 bits of the block before | 11 leading zeros (5), block length - 1 (6), bits of the block
//! ```

use super::value::Item;

/// Bits of a difference of differences, by the number of ones before it.
const TIME_BITS: [u32; 7] = [0, 5, 8, 11, 15, 32, 64];
/// Option of series whose chunks are not compressed.
const UNCOMPRESSED: i64 = 1;
/// Leading and trailing zeros before the first block.
const NO_BLOCK: (u32, u32) = (32, 32);
/// Bytes of a sample that is not compressed.
const PLAIN_SAMPLE: usize = 16;

/// Time series.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Milliseconds that samples are kept; 0 for ever.
    pub retention: u64,
    /// Size of new chunks, in bytes.
    pub chunk_bytes: u64,
    /// True if chunks are compressed.
    pub compressed: bool,
    /// Policy for a sample at a time that has one, if the series has a policy.
    pub duplicate_policy: Option<&'static str>,
    /// Series that this one is compacted from.
    pub source: Option<Vec<u8>>,
    /// Names and values of labels.
    pub labels: Vec<(Vec<u8>, Vec<u8>)>,
    /// Series that this one is compacted to.
    pub rules: Vec<CompactionRule>,
    /// Chunks in order of time; only what they hold is checked.
    chunks: Vec<Chunk>,
    /// Number of samples to show.
    shown: usize,
}

/// Compaction of a series into another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionRule {
    /// Key of the other series.
    pub target: Vec<u8>,
    /// Name of the aggregation.
    pub aggregation: &'static str,
    /// Length of a bucket in milliseconds.
    pub bucket: u64,
    /// Time that buckets are aligned to.
    pub alignment: u64,
}

/// Samples of a chunk.
#[derive(Debug, Clone, PartialEq)]
enum Chunk {
    Plain { count: usize, data: Vec<u8> },
    Compressed { count: usize, first: Sample, bits: u64, data: Vec<u8> },
}

/// A time in milliseconds and a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Milliseconds since the epoch.
    pub time: u64,
    /// The value.
    pub value: f64,
}

impl Series {
    /// Returns the series that these items are; `None` if they are not one, or its chunks do not hold what they say.
    pub fn new(items: &[Item]) -> Option<Series> {
        let mut items = Items(items);
        items.text()?;
        let (retention, chunk_bytes) = (items.number()?, items.number()?);
        let options = items.integer()?;
        items.number()?;
        items.float()?;
        let samples = usize::try_from(items.number()?).ok()?;
        let duplicate_policy = policy(items.integer()?);
        let source = if items.integer()? == 0 { None } else { Some(items.text()?.to_vec()) };
        items.number()?;
        items.float()?;
        let mut labels = Vec::new();
        for _ in 0..items.number()? {
            labels.push((items.text()?.to_vec(), items.text()?.to_vec()));
        }
        let mut rules = Vec::new();
        let rule_count = items.number()?;
        for number in 1..=rule_count {
            let target = items.text()?.to_vec();
            let (bucket, alignment) = (items.number()?, items.number()?);
            let aggregation = aggregation(items.integer()?);
            rules.push(CompactionRule { target, aggregation, bucket, alignment });
            // What it keeps about its bucket depends on the aggregation. That of the last rule is left to `chunks`.
            if number < rule_count {
                items.skip_to_text();
            }
        }
        let compressed = options & UNCOMPRESSED == 0;
        let chunks = items.chunks(compressed)?;
        let found = chunks.iter().try_fold(0usize, |sum, chunk| sum.checked_add(chunk.count()))?;
        (found == samples).then_some(Series {
            retention,
            chunk_bytes,
            compressed,
            duplicate_policy,
            source,
            labels,
            rules,
            chunks,
            shown: samples,
        })
    }

    /// Returns the number of samples to show.
    pub fn shown(&self) -> usize {
        self.shown
    }

    /// Shows only the first `most` samples.
    pub fn truncate(&mut self, most: usize) {
        self.shown = self.shown.min(most);
    }

    /// Returns the samples to show, in order of time, unpacked one by one.
    pub fn samples(&self) -> impl Iterator<Item = Sample> + '_ {
        self.chunks.iter().flat_map(Chunk::samples).take(self.shown)
    }
}

/// Items not taken yet.
pub(super) struct Items<'a>(pub(super) &'a [Item]);

impl<'a> Items<'a> {
    fn next(&mut self) -> Option<&'a Item> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn integer(&mut self) -> Option<i64> {
        match self.next()? {
            Item::Integer(number) => Some(*number),
            Item::Float(_) | Item::Text(_) => None,
        }
    }

    /// Takes a number; `None` if the next item is none.
    pub(super) fn number(&mut self) -> Option<u64> {
        self.integer().map(i64::cast_unsigned)
    }

    fn float(&mut self) -> Option<f64> {
        match self.next()? {
            Item::Float(number) => Some(*number),
            Item::Integer(_) | Item::Text(_) => None,
        }
    }

    /// Takes a text; `None` if the next item is none.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        match self.next()? {
            Item::Text(text) => Some(text),
            Item::Integer(_) | Item::Float(_) => None,
        }
    }

    /// Skips to the next text.
    fn skip_to_text(&mut self) {
        let next = self.0.iter().position(|item| matches!(item, Item::Text(_)));
        self.0 = self.0.get(next.unwrap_or(self.0.len())..).unwrap_or_default();
    }

    /// Takes the chunks, whose number stands before the numbers of the first: found from the first data backwards.
    fn chunks(&mut self, compressed: bool) -> Option<Vec<Chunk>> {
        let numbers = if compressed { CHUNK_NUMBERS.0 } else { CHUNK_NUMBERS.1 };
        let data = self.0.iter().position(|item| matches!(item, Item::Text(_)))?;
        self.0 = self.0.get(data.checked_sub(numbers + 1)?..)?;
        let count = self.number()?;
        let mut chunks = Vec::new();
        for _ in 0..count {
            chunks.push(if compressed { self.compressed_chunk()? } else { self.plain_chunk()? });
        }
        self.0.is_empty().then_some(chunks)
    }

    fn plain_chunk(&mut self) -> Option<Chunk> {
        self.number()?;
        let count = usize::try_from(self.number()?).ok()?;
        self.number()?;
        let data = self.text()?.to_vec();
        (count.checked_mul(PLAIN_SAMPLE)? <= data.len()).then_some(Chunk::Plain { count, data })
    }

    fn compressed_chunk(&mut self) -> Option<Chunk> {
        self.number()?;
        let (count, bits) = (usize::try_from(self.number()?).ok()?, self.number()?);
        let value = f64::from_bits(self.number()?);
        let first = Sample { time: self.number()?, value };
        let last_time = self.number()?;
        self.number()?;
        let last_value = self.number()?;
        self.number()?;
        self.number()?;
        let data = self.text()?.to_vec();
        if bits > data.len() as u64 * 8 {
            return None;
        }
        let chunk = Chunk::Compressed { count, first, bits, data };
        // Every sample is unpacked once, so that showing them cannot fail.
        let mut last = None;
        let unpacked = chunk.samples().inspect(|sample| last = Some(*sample)).count();
        let ends = last.is_none_or(|last| last.time == last_time && last.value.to_bits() == last_value);
        (unpacked == count && ends).then_some(chunk)
    }
}

/// Integers of a compressed and of a plain chunk before its data.
const CHUNK_NUMBERS: (usize, usize) = (10, 3);

impl Chunk {
    fn count(&self) -> usize {
        match self {
            Chunk::Plain { count, .. } | Chunk::Compressed { count, .. } => *count,
        }
    }

    fn samples(&self) -> Box<dyn Iterator<Item = Sample> + '_> {
        match self {
            Chunk::Plain { count, data } => {
                let (samples, _) = data.as_chunks::<PLAIN_SAMPLE>();
                Box::new(samples.iter().take(*count).map(plain))
            }
            Chunk::Compressed { count, first, bits, data } => {
                let bits = Bits { data, at: 0, end: *bits };
                Box::new(Unpacked { bits, left: *count, last: *first, delta: 0, block: NO_BLOCK, is_first: true })
            }
        }
    }
}

fn plain(bytes: &[u8; PLAIN_SAMPLE]) -> Sample {
    let (mut time, mut value) = ([0; 8], [0; 8]);
    time.copy_from_slice(&bytes[..8]);
    value.copy_from_slice(&bytes[8..]);
    Sample { time: u64::from_le_bytes(time), value: f64::from_le_bytes(value) }
}

/// Bits of a compressed chunk.
struct Bits<'a> {
    data: &'a [u8],
    at: u64,
    end: u64,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Option<u64> {
        if self.at.checked_add(u64::from(count))? > self.end {
            return None;
        }
        let mut number = 0;
        let mut taken = 0;
        while taken < count {
            let byte = *self.data.get(usize::try_from(self.at / 8).ok()?)?;
            let (skipped, left) = ((self.at % 8) as u32, count - taken);
            let bits = (8 - skipped).min(left);
            let part = u64::from(byte) >> skipped & ((1 << bits) - 1);
            number |= part << taken;
            taken += bits;
            self.at += u64::from(bits);
        }
        Some(number)
    }
}

/// Samples of a compressed chunk; ends early if its bits do not hold as many.
struct Unpacked<'a> {
    bits: Bits<'a>,
    left: usize,
    last: Sample,
    /// Difference of the last two times.
    delta: u64,
    /// Leading and trailing zeros of the last block.
    block: (u32, u32),
    is_first: bool,
}

impl Unpacked<'_> {
    fn time(&mut self) -> Option<u64> {
        let mut ones = 0;
        while ones < 6 && self.bits.take(1)? == 1 {
            ones += 1;
        }
        let width = TIME_BITS[ones];
        let change = match width {
            0 => 0,
            // Signed: the highest bit counts negative.
            width => (self.bits.take(width)? << (64 - width)).cast_signed() >> (64 - width),
        };
        self.delta = self.delta.wrapping_add_signed(change);
        Some(self.last.time.wrapping_add(self.delta))
    }

    fn value(&mut self) -> Option<f64> {
        if self.bits.take(1)? == 0 {
            return Some(self.last.value);
        }
        if self.bits.take(1)? == 1 {
            let leading = u32::try_from(self.bits.take(5)?).ok()?;
            let len = u32::try_from(self.bits.take(6)?).ok()? + 1;
            self.block = (leading, 64u32.checked_sub(leading + len)?);
        }
        let (leading, trailing) = self.block;
        let differs = match 64 - leading - trailing {
            0 => 0,
            len => self.bits.take(len)? << trailing,
        };
        Some(f64::from_bits(self.last.value.to_bits() ^ differs))
    }
}

impl Iterator for Unpacked<'_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        self.left = self.left.checked_sub(1)?;
        if !std::mem::take(&mut self.is_first) {
            self.last = Sample { time: self.time()?, value: self.value()? };
        }
        Some(self.last)
    }
}

fn policy(number: i64) -> Option<&'static str> {
    match number {
        1 => Some("block"),
        2 => Some("last"),
        3 => Some("first"),
        4 => Some("min"),
        5 => Some("max"),
        6 => Some("sum"),
        _ => None,
    }
}

fn aggregation(number: i64) -> &'static str {
    match number {
        1 => "min",
        2 => "max",
        3 => "sum",
        4 => "avg",
        5 => "count",
        6 => "first",
        7 => "last",
        8 => "range",
        9 => "std.p",
        10 => "std.s",
        11 => "var.p",
        12 => "var.s",
        13 => "twa",
        14 => "countnan",
        15 => "countall",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(options: i64, count: i64, chunk: &[i64], data: &[u8]) -> Vec<Item> {
        let numbers = |numbers: &[i64]| numbers.iter().map(|number| Item::Integer(*number)).collect::<Vec<_>>();
        let mut items = vec![Item::Text(b"key".to_vec())];
        items.extend(numbers(&[0, 4096, options, 0]));
        items.push(Item::Float(0.0));
        items.extend(numbers(&[count, 5, 0, 0]));
        items.push(Item::Float(0.0));
        items.extend(numbers(&[1]));
        items.extend([Item::Text(b"site".to_vec()), Item::Text(b"7".to_vec())]);
        items.extend(numbers(&[0, 1]));
        items.extend(numbers(chunk));
        items.push(Item::Text(data.to_vec()));
        items
    }

    #[test]
    fn plain_samples_are_read() {
        let data =
            [&5u64.to_le_bytes()[..], &1.5f64.to_le_bytes(), &9u64.to_le_bytes(), &(-2f64).to_le_bytes()].concat();
        let mut read = Series::new(&series(1, 2, &[5, 2, 32], &data)).unwrap();
        assert_eq!((read.duplicate_policy, read.labels.len(), read.shown()), (Some("max"), 1, 2));
        assert_eq!(
            read.samples().collect::<Vec<_>>(),
            [Sample { time: 5, value: 1.5 }, Sample { time: 9, value: -2.0 }]
        );
        read.truncate(1);
        assert_eq!(read.samples().count(), 1);
        assert_eq!(Series::new(&series(1, 3, &[5, 3, 32], &data)), None);
    }

    #[test]
    fn compressed_samples_are_unpacked() {
        // After the first: a step of 10 with the same value, then the same step and a value that differs in its last bit.
        let (one, two) = (1.0f64.to_bits().cast_signed(), (1.0f64.to_bits() ^ 1).cast_signed());
        // time 10 01010 value 0, time 0 value 11 leading 31 length 33 bits: the lowest bit of 33.
        let mut bits = Vec::new();
        let mut put = |number: u64, count: u32| bits.extend((0..count).map(|bit| number >> bit & 1 == 1));
        for (number, count) in [(1, 2), (10, 5), (0, 1), (0, 1), (3, 2), (31, 5), (32, 6), (1, 33)] {
            put(number, count);
        }
        let byte = |bits: &[bool]| bits.iter().rev().fold(0u8, |byte, &bit| byte << 1 | u8::from(bit));
        let data: Vec<u8> = bits.chunks(8).map(byte).collect();
        let used = i64::try_from(bits.len()).unwrap();
        let chunk = |last| [48, 3, used, one, 100, 120, 10, last, 31, 0];
        let read = Series::new(&series(2, 3, &chunk(two), &data)).unwrap();
        let expected = [(100, one), (110, one), (120, two)].map(|(time, bits)| (time, bits.cast_unsigned()));
        assert_eq!(read.samples().map(|it| (it.time, it.value.to_bits())).collect::<Vec<_>>(), expected);
        // What the chunk says of its last sample is checked.
        assert_eq!(Series::new(&series(2, 3, &chunk(one), &data)), None);
    }

    proptest::proptest! {
        #[test]
        fn any_chunk_ends_in_a_result(count in proptest::num::i64::ANY, used in 0i64..200, data in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
            let _ = Series::new(&series(2, count, &[48, count, used, 0, 0, 0, 0, 0, 0, 0], &data));
            let _ = Series::new(&series(1, count, &[0, count, used], &data));
        }
    }
}
