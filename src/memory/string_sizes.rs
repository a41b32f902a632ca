//! Sizes of short strings and of numbers by the length of the key, so that nearly every string costs a lookup instead of the
//! formula.

use super::Encoding;
use super::meter::{Measured, SHARED_NUMBERS, ValueSize};
use super::price::Key;
use crate::rdb::string::{RawString, StringForm};
use crate::units::Bytes;

/// Keys below this length have entries.
const KEYS: usize = 64;

/// Texts below this length have entries.
const TEXTS: usize = 128;

/// Entries of one key: those of texts by length, of numbers, and of numbers that may be shared objects.
const ENTRIES: usize = TEXTS + 2;

/// Sizes under one model, once they were computed.
#[derive(Debug, Default)]
pub struct StringSizes {
    /// Memory and allocated bytes by place, 0 where not known. Empty until the first is kept.
    known: Vec<[u32; 2]>,
}

/// Place of the strings that have the same size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizePlace(usize);

impl SizePlace {
    /// Returns the place of a string, given what another model has found; `None` if it is long.
    #[inline(always)] // for nearly every key
    pub fn of(key: Key, value: &RawString<'_>, found: &Measured) -> Option<SizePlace> {
        match (found.encoding, &value.form) {
            (Encoding::Int, StringForm::Int(number)) => {
                SizePlace::at(key, TEXTS + usize::from(SHARED_NUMBERS.contains(&i64::from(*number))))
            }
            (Encoding::Int, _) => None,
            _ => SizePlace::of_text(key, found.length?),
        }
    }

    /// Returns the place of a string that is no integer; `None` if it is long.
    #[inline(always)]
    pub fn of_text(key: Key, len: u64) -> Option<SizePlace> {
        SizePlace::at(key, usize::try_from(len).ok().filter(|&len| len < TEXTS)?)
    }

    #[inline(always)]
    fn at(key: Key, entry: usize) -> Option<SizePlace> {
        let key_len = usize::try_from(key.len).ok().filter(|&len| len < KEYS)?;
        Some(SizePlace((usize::from(key.expires) * KEYS + key_len) * ENTRIES + entry))
    }
}

impl StringSizes {
    /// Returns the size of the strings of a place, if one was kept.
    #[inline(always)] // for nearly every string
    pub fn get(&self, place: SizePlace) -> Option<ValueSize> {
        let &[memory, allocated] = self.known.get(place.0).filter(|[memory, _]| *memory != 0)?;
        Some(ValueSize { memory: Bytes(memory.into()), allocated: Bytes(allocated.into()) })
    }

    /// Keeps the size of the strings of a place.
    #[cold]
    pub fn keep(&mut self, place: SizePlace, size: ValueSize) {
        if let (Ok(memory), Ok(allocated)) = (u32::try_from(size.memory.0), u32::try_from(size.allocated.0)) {
            self.known.resize(2 * KEYS * ENTRIES, [0, 0]);
            self.known[place.0] = [memory, allocated];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Allocator, Meter, Model, Server, ServerConfig};
    use crate::rdb::value_type::ValueType;
    use crate::rdb::walk::Visit;

    #[test]
    fn strings_of_one_place_have_one_size() {
        let models = ["redis-2.8", "keydb-6.3", "redis-7.4", "redis-8.4", "redis-8.10", "valkey-8.0", "valkey-9.1"]
            .map(|server| {
                Model::for_server(Server::parse(server).unwrap(), Allocator::Jemalloc, &ServerConfig::default())
            });
        let values: Vec<Vec<u8>> = (0..140).map(|len| vec![b'x'; len]).collect();
        let texts = values.iter().map(|text| RawString::plain(text));
        let numbers =
            [-1, 0, 1, 9_999, 10_000, 7_000_000].map(|number| RawString { offset: 0, form: StringForm::Int(number) });
        let strings: Vec<RawString<'_>> = texts.chain(numbers).collect();
        for model in &models {
            let (mut meter, mut sizes) = (Meter::new(model), StringSizes::default());
            let mut places = 0;
            for key in [false, true].iter().flat_map(|&expires| (0..70).map(move |len| Key { len, expires })) {
                for string in &strings {
                    meter.begin_key(key.len, key.expires);
                    meter.begin(ValueType::String);
                    meter.string(*string);
                    let found = *meter.finish().unwrap();
                    let size = ValueSize { memory: found.memory, allocated: found.allocated };
                    let Some(place) = SizePlace::of(key, string, &found) else { continue };
                    match sizes.get(place) {
                        Some(known) => assert_eq!(known, size, "{model:?} {key:?} {string:?}"),
                        None => {
                            places += 1;
                            sizes.keep(place, size);
                        }
                    }
                    assert_eq!(sizes.get(place), Some(size));
                }
            }
            assert_eq!(places, 2 * KEYS * ENTRIES, "{model:?}");
        }
    }
}
