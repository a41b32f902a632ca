//! Values of modules: the items that `rdb_load` of a module reads, and what it refuses among them, a file per module.
//!
//! A server whose module refuses a value, or leaves items of it unread, refuses the whole file. Checked is what no release
//! of the module writes and the newest one refuses; other servers may load some of it. A number of a narrower type on the
//! server is read as that type.

mod bloom;
mod count_min;
mod cuckoo;
mod json;
mod t_digest;
#[cfg(test)]
mod tests;
mod time_series;
mod top_k;
mod vector_set;

pub use json::DocumentForm;

use crate::error::{Error, Reading, Result, Within};
use crate::rdb::header::{Family, RdbHeader};
use crate::rdb::kind::{KnownModule, module};
use crate::rdb::walk::ModuleItem;
use crate::wording::{Text, Wording, wording};

/// Kind of an item that a module reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Integer,
    Double,
    String,
}

use ItemKind::{Double, Integer, String};

impl ItemKind {
    /// Returns the tag that an item of this kind is stored with. Modules read all integers as unsigned ones.
    const fn tag(self) -> u64 {
        match self {
            Integer => 2,
            Double => 4,
            String => 5,
        }
    }
}

/// Returns the name of the items with a tag.
const fn tag_name(tag: u64) -> Text {
    match tag {
        0 => Text { en: "the end", zh: "结束标记" },
        1 => Text { en: "a signed integer", zh: "有符号整数" },
        2 => Text { en: "an unsigned integer", zh: "无符号整数" },
        3 => Text { en: "a float", zh: "float" },
        4 => Text { en: "a double", zh: "double" },
        _ => Text { en: "a string", zh: "字符串" },
    }
}

/// Items that a module reads one after another, until the next decision about what follows; at most [`MAX_PART_LEN`].
type Part = &'static [ItemKind];

/// Items of the longest part.
const MAX_PART_LEN: usize = 11;

/// The end of a value.
const END: Part = &[];

/// Check of a string besides its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextUse {
    /// Nothing.
    Length,
    /// The name of one of so many elements, of which no two may be the same.
    Name(u64),
    /// A document.
    Document(DocumentForm),
}

/// Reader of the values of a module type.
trait Grammar {
    /// Prepares for a value in an encoding version, and returns the first part.
    fn begin(&mut self, version: u64) -> Part;

    /// Checks the items of a part, and returns the next one; [`END`] if there is none.
    fn part(&mut self, items: &Items) -> Result<Part>;

    /// Returns what the string at a place of the current part is checked for.
    fn text_use(&self, _place: usize) -> TextUse {
        TextUse::Length
    }

    /// Checks the whole value, whose end is at `offset`.
    fn end(&self, _offset: u64) -> Result<()> {
        Ok(())
    }
}

/// Items of a part.
#[derive(Debug, Default)]
struct Items {
    len: usize,
    /// Integers, the bits of doubles, the lengths of strings.
    values: [u64; MAX_PART_LEN],
    offsets: [u64; MAX_PART_LEN],
}

impl Items {
    /// Returns the integer, or the length of the string, at a place.
    fn number(&self, place: usize) -> u64 {
        self.values[place]
    }

    /// Returns the integer at a place as servers keep it in 32 bits.
    fn number_32(&self, place: usize) -> u32 {
        u32::try_from(self.values[place] & u64::from(u32::MAX)).unwrap_or_default()
    }

    fn double(&self, place: usize) -> f64 {
        f64::from_bits(self.values[place])
    }

    /// Returns the error for the item at a place.
    fn fault<T>(&self, place: usize, wording: Wording) -> Result<T> {
        Err(Error::corrupt(self.offsets[place], wording))
    }

    /// Fails unless the string at a place has this length.
    fn expect_len(&self, place: usize, expected: u64) -> Result<()> {
        let len = self.number(place);
        if len == expected {
            return Ok(());
        }
        self.fault(place, wording!("{len} bytes where {expected} are expected", "有 {len} 字节，应为 {expected} 字节"))
    }

    /// Fails if the integer at a place is 0.
    fn expect_some(&self, place: usize) -> Result<()> {
        match self.number(place) {
            0 => self.fault(place, none()),
            _ => Ok(()),
        }
    }
}

fn none() -> Wording {
    wording!("0 where the module requires more", "为 0，模块要求大于 0")
}

/// Readers of all modules whose stored form is known.
#[derive(Debug)]
struct Grammars {
    bloom: bloom::Bloom,
    count_min: count_min::CountMin,
    cuckoo: cuckoo::Cuckoo,
    json: json::Json,
    t_digest: t_digest::TDigest,
    time_series: time_series::TimeSeries,
    top_k: top_k::TopK,
    vector_set: vector_set::VectorSet,
}

impl Grammars {
    fn get(&mut self, module: KnownModule) -> Option<&mut dyn Grammar> {
        Some(match module {
            KnownModule::Bloom => &mut self.bloom,
            KnownModule::CountMin => &mut self.count_min,
            KnownModule::Cuckoo => &mut self.cuckoo,
            // A graph is spread over several keys.
            KnownModule::FalkorDb => return None,
            KnownModule::Json | KnownModule::JsonCbor => &mut self.json,
            KnownModule::TDigest => &mut self.t_digest,
            KnownModule::TimeSeries => &mut self.time_series,
            KnownModule::TopK => &mut self.top_k,
            KnownModule::VectorSet => &mut self.vector_set,
        })
    }
}

/// Check of the values of modules whose stored form is known.
#[derive(Debug)]
pub struct ModuleCheck {
    /// Module of the current value, until its first fault.
    module: Option<KnownModule>,
    part: Part,
    items: Items,
    grammars: Grammars,
}

impl ModuleCheck {
    pub fn new() -> ModuleCheck {
        let grammars = Grammars {
            bloom: bloom::Bloom::default(),
            count_min: count_min::CountMin,
            cuckoo: cuckoo::Cuckoo::default(),
            json: json::Json::default(),
            t_digest: t_digest::TDigest::default(),
            time_series: time_series::TimeSeries::default(),
            top_k: top_k::TopK::default(),
            vector_set: vector_set::VectorSet::new(),
        };
        ModuleCheck { module: None, part: END, items: Items::default(), grammars }
    }

    /// Sets what follows from the header of the file.
    pub fn set_header(&mut self, header: RdbHeader) {
        // Valkey 8 writes version 11, as Redis 7.2 does, and its module keeps any bytes.
        const SHARED_VERSION: u32 = 11;
        self.grammars.json.text_is_utf8 = header.family == Family::Redis && header.version != SHARED_VERSION;
    }

    /// Ends the check of the last value, which a damaged file may have left open.
    pub fn stop(&mut self) {
        self.module = None;
    }

    /// Starts with the value of the module with this id, which is checked if its stored form is known.
    pub fn begin(&mut self, id: u64) {
        self.module = KnownModule::find(id).filter(|&module| match self.grammars.get(module) {
            Some(grammar) => {
                self.part = grammar.begin(module::encoding_version(id));
                true
            }
            None => false,
        });
        self.items.len = 0;
    }

    /// Checks that an item with this tag is what the module reads next.
    #[inline]
    pub fn tag(&mut self, tag: u64, offset: u64) -> Result<()> {
        let Some(module) = self.module else { return Ok(()) };
        let place = self.items.len;
        let expected = self.part.get(place).map_or(0, |kind| kind.tag());
        if tag != expected {
            return self.fail(mismatch(tag, expected, offset), module);
        }
        if tag != 0 {
            self.items.offsets[place] = offset;
            return Ok(());
        }
        self.module = None;
        self.grammars.get(module).map_or(Ok(()), |grammar| grammar.end(offset)).within(reading(module))
    }

    /// Returns what the string that is the next item is checked for.
    pub fn text_use(&mut self) -> TextUse {
        let grammar = self.module.and_then(|module| self.grammars.get(module));
        grammar.map_or(TextUse::Length, |grammar| grammar.text_use(self.items.len))
    }

    /// Takes the item whose tag was checked.
    #[inline]
    pub fn item(&mut self, item: ModuleItem<'_>) -> Result<()> {
        let Some(module) = self.module else { return Ok(()) };
        if module == KnownModule::VectorSet
            && let ModuleItem::Integer(number) = item
            && self.grammars.vector_set.inner_link(number)
        {
            return Ok(());
        }
        self.items.values[self.items.len] = match item {
            ModuleItem::Integer(number) => number,
            ModuleItem::Double(bytes) => u64::from_le_bytes(bytes),
            ModuleItem::String(text) => text.len(),
            // No known module stores floats.
            ModuleItem::Float(_) => 0,
        };
        self.items.len += 1;
        if self.items.len < self.part.len() {
            return Ok(());
        }
        let next = self.grammars.get(module).map_or(Ok(END), |grammar| grammar.part(&self.items));
        self.items.len = 0;
        match next {
            Ok(part) => {
                self.part = part;
                Ok(())
            }
            Err(error) => self.fail(error, module),
        }
    }

    #[cold]
    fn fail(&mut self, error: Error, module: KnownModule) -> Result<()> {
        self.module = None;
        Err(error).within(reading(module))
    }
}

/// Returns what the value of a module is called.
const fn reading(module: KnownModule) -> Reading {
    match module {
        KnownModule::Bloom => Reading::BloomFilter,
        KnownModule::CountMin => Reading::CountMinSketch,
        KnownModule::Cuckoo => Reading::CuckooFilter,
        KnownModule::FalkorDb => Reading::StringInModuleData,
        KnownModule::Json | KnownModule::JsonCbor => Reading::JsonDocument,
        KnownModule::TDigest => Reading::TDigestSketch,
        KnownModule::TimeSeries => Reading::TimeSeries,
        KnownModule::TopK => Reading::TopKList,
        KnownModule::VectorSet => Reading::VectorSet,
    }
}

#[cold]
fn mismatch(tag: u64, expected: u64, offset: u64) -> Error {
    let (found, read) = (tag_name(tag), tag_name(expected));
    Error::corrupt(
        offset,
        Wording {
            en: format!("{} where the module reads {}", found.en, read.en),
            zh: format!("是{}，模块在此读取{}", found.zh, read.zh),
        },
    )
}
