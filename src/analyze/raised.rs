//! What collections just above a limit of their compact form would take below it: a model with higher limits walks their
//! values a second time. It is asked about few keys, and only when a rule wants to know.

use crate::memory::{Meter, Model};
use crate::rdb::cursor::Cursor;
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::walk;
use crate::record::{Compact, Encoding, Kind, Record};

/// A model with higher limits.
#[derive(Debug)]
pub struct Raised {
    model: Model,
}

impl Raised {
    /// The same model with limits that are `factor` times as high.
    pub fn new(model: &Model, factor: u64) -> Self {
        Raised { model: model.raised(factor) }
    }

    /// Whether the collection is beyond its compact form and might be within the higher limits.
    #[inline]
    pub fn concerns(&self, record: &Record<'_>) -> bool {
        matches!(record.encoding, Encoding::Hashtable | Encoding::Skiplist)
            && record.length.is_some_and(|length| length <= self.most(record.kind))
    }

    fn most(&self, kind: Kind) -> u64 {
        let config = self.model.config();
        match kind {
            Kind::Hash => config.hash_max_entries(),
            Kind::Zset => config.zset_max_entries(),
            Kind::Set => config.set_max_entries().max(config.intset_max_entries()),
            Kind::String | Kind::List | Kind::Stream | Kind::Module | Kind::Array => 0,
        }
    }

    /// What the collection would be within the higher limits; `None` if they do not help. `value` are its bytes in the
    /// file, which have been walked before.
    pub fn compact(&self, record: &Record<'_>, value_type: ValueType, value: &[u8]) -> Option<Compact> {
        let mut meter = Meter::new(&self.model);
        meter.begin_key(record.key.len() as u64, record.expires_at.is_some());
        walk(value_type, &mut Cursor::new(value, 0), &mut meter).ok()?;
        let measured = meter.finish().ok()?;
        let compact = !matches!(measured.encoding, Encoding::Hashtable | Encoding::Skiplist);
        compact.then_some(Compact { encoding: measured.encoding, memory: measured.memory })
    }
}
