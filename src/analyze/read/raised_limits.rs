//! Prices collections just above a compact-encoding limit as if the limit were higher.
//!
//! A model with raised limits walks their values a second time. This concerns few keys, and happens only when a rule asks.

use crate::memory::{LazyTemplates, Meters, Model, ServerConfig};
use crate::rdb::cursor::Cursor;
use crate::rdb::peek::RawValue;
use crate::rdb::walk::walk;
use crate::record::{Compact, Encoding, Kind, Record};

/// A memory model with raised compact-encoding limits.
#[derive(Debug)]
pub struct RaisedLimits {
    model: Model,
    /// Limits in force: a collection within them but not compact has elements that are too long for any limit.
    own: ServerConfig,
}

impl RaisedLimits {
    /// Derives a model whose limits are `factor` times as high.
    pub fn new(model: &Model, factor: u64) -> Self {
        RaisedLimits { model: model.raised(factor), own: model.config().clone() }
    }

    /// Returns whether the collection is above the limits in force and may be within the raised ones.
    #[inline]
    pub fn concerns(&self, record: &Record<'_>) -> bool {
        is_table(record.encoding)
            && record.length.is_some_and(|length| self.fewest(record.kind) < length && length <= self.most(record.kind))
    }

    fn fewest(&self, kind: Kind) -> u64 {
        limits(&self.own, kind).into_iter().min().unwrap_or(0)
    }

    fn most(&self, kind: Kind) -> u64 {
        limits(self.model.config(), kind).into_iter().max().unwrap_or(0)
    }

    /// Returns the compact form of the collection under the raised limits; `None` if they do not help.
    ///
    /// `value` must have been walked successfully before. `templates` are those of the file; parts of more than
    /// `part` bytes are not decompressed.
    pub fn compact(
        &self,
        record: &Record<'_>,
        value: RawValue<'_>,
        templates: Option<&LazyTemplates>,
        part: u64,
    ) -> Option<Compact> {
        let mut meters = Meters::with_templates(&self.model, &[], templates, part);
        meters.begin_key(record.key.len() as u64, record.expires_at.is_some());
        walk(value.value_type, value.templates, &mut Cursor::new(value.bytes, 0), &mut meters).ok()?;
        let (measured, _) = meters.finish().ok()?;
        let compact = !is_table(measured.encoding);
        compact.then_some(Compact { encoding: measured.encoding, memory: measured.memory })
    }
}

fn is_table(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Hashtable | Encoding::Skiplist | Encoding::TemplateArray)
}

/// Returns the limits on the number of elements in a type's compact encodings.
fn limits(config: &ServerConfig, kind: Kind) -> [u64; 2] {
    match kind {
        Kind::Hash => [config.hash_max_entries(); 2],
        Kind::Zset => [config.zset_max_entries(); 2],
        Kind::Set => [config.set_max_entries(), config.intset_max_entries()],
        Kind::String | Kind::List | Kind::Stream | Kind::Module | Kind::Array => [0; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Allocator, Server};
    use crate::policy::testing::record;

    #[test]
    fn only_collections_between_both_limits_are_walked_again() {
        let server = Server::parse("redis-7.2").unwrap();
        let raised = RaisedLimits::new(&Model::for_server(server, Allocator::Jemalloc, &ServerConfig::default()), 2);
        let concerns = |kind, encoding, length| {
            raised.concerns(&Record { kind, encoding, length: Some(length), ..record(b"a:b") })
        };
        let hash = |length| concerns(Kind::Hash, Encoding::Hashtable, length);
        assert_eq!([512, 513, 1024, 1025].map(hash), [false, true, true, false]);
        let zset = |length| concerns(Kind::Zset, Encoding::Skiplist, length);
        assert_eq!([128, 129, 256, 257].map(zset), [false, true, true, false]);
        // 128 for strings, 512 for integers.
        let set = |length| concerns(Kind::Set, Encoding::Hashtable, length);
        assert_eq!([128, 129, 1024, 1025].map(set), [false, true, true, false]);
        assert!(!concerns(Kind::Hash, Encoding::Listpack, 600));
    }
}
