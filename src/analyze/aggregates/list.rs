//! The aggregates that need nothing but records, each listed once.
//!
//! A line names the field of the [`Report`] that the aggregate fills in, its type, and how it is made. The order is that in
//! which they observe a record.

use crate::aggregate::*;
use crate::analyze::questions::Questions;
use crate::record::Record;
use crate::report::Report;

/// Declares a struct of aggregates that is an aggregate itself: all calls are static, as if written by hand.
macro_rules! aggregates {
    (
        $(#[$attribute:meta])*
        $group:ident($questions:ident) {
            $($field:ident: $aggregate:ty = $new:expr,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        pub(super) struct $group {
            // Every aggregate must be serializable, or partial reports would lack it.
            $(pub(super) $field: $aggregate,)+
        }

        impl $group {
            pub fn new($questions: &Questions) -> Self {
                let _ = $questions;
                $group { $($field: $new,)+ }
            }

            /// Fills in the fields of the report that are named like the aggregates.
            pub fn finish(self, report: &mut Report) {
                $(report.$field = self.$field.finish();)+
            }
        }

        impl Aggregate for $group {
            #[inline(always)]
            fn observe(&mut self, record: &Record<'_>) {
                $(self.$field.observe(record);)+
            }

            fn merge(&mut self, other: Self) {
                $(self.$field.merge(other.$field);)+
            }

            fn settle_database(&mut self, db: u64) {
                $(self.$field.settle_database(db);)+
            }
        }
    };
}

aggregates! {
    /// Aggregates that observe every key.
    EveryKey(questions) {
        idle: idle::IdleTimes = idle::IdleTimes::default(),
        freq: freq::UseCounters = freq::UseCounters::default(),
    }
}

impl UnusualKeys {
    /// Returns whether a key would enter a list of keys.
    pub fn lists(&self, record: &Record<'_>) -> bool {
        self.top.takes(record) || self.big_keys.takes(record)
    }
}

aggregates! {
    /// Aggregates that observe only keys off the fast path: a usual key is small, is in no list and is no stream.
    UnusualKeys(questions) {
        big_keys: sizes::BigKeyStats = sizes::BigKeyStats::new(questions.big, questions.top),
        top: top_keys::TopKeys = top_keys::TopKeys::new(questions.top),
        streams: streams::StreamStats = streams::StreamStats::new(questions.top),
    }
}
