//! The examples that a rule gives of itself. They are shown to people, and they are tests: every sample is made into
//! keys, observed as a snapshot's are, and judged.

use crate::record::Kind;

/// A little snapshot.
#[derive(Debug, Clone, Copy)]
pub struct RuleSample {
    /// Its keys.
    pub keys: &'static [SampleKey],
    /// What is known besides keys.
    pub facts: SampleFacts,
}

/// What is known of a sample besides its keys.
#[derive(Debug, Clone, Copy)]
pub struct SampleFacts {
    /// The file is cut short.
    pub damaged: bool,
    /// Hours between the snapshot and now.
    pub age_hours: Option<u64>,
    /// The server's `maxmemory`.
    pub maxmemory: Option<u64>,
    /// The server's `maxmemory-policy`.
    pub maxmemory_policy: Option<&'static str>,
    /// Text of a policy that is laid over the rule's own defaults: a data dictionary, ttl classes.
    pub policy: &'static str,
    /// The keys of an earlier snapshot.
    pub before: &'static [SampleKey],
    /// What all keys would take on a newer server, in thousandths of what they take.
    pub upgraded_permille: Option<u64>,
    /// Each key is the only one of a file of its own.
    pub sharded: bool,
}

impl SampleFacts {
    /// Nothing known.
    pub const NONE: SampleFacts = SampleFacts {
        damaged: false,
        age_hours: None,
        maxmemory: None,
        maxmemory_policy: None,
        policy: "",
        before: &[],
        upgraded_permille: None,
        sharded: false,
    };
}

/// A key of a sample, or many that differ in a number.
#[derive(Debug, Clone, Copy)]
pub struct SampleKey {
    /// Its name; `{i}` in it counts from 1.
    pub name: &'static str,
    /// How many.
    pub times: u64,
    /// Its database.
    pub db: u64,
    /// Its type.
    pub kind: Kind,
    /// Bytes of a string, elements of a collection.
    pub length: u64,
    /// Its memory.
    pub memory: u64,
    /// Its bytes in the file.
    pub disk: u64,
    /// Seconds to live.
    pub ttl: Option<i64>,
    /// Seconds that are added to the life of each next of many.
    pub ttl_step: i64,
    /// Seconds since the last access.
    pub idle: Option<u64>,
    /// Pending entries of a stream.
    pub pending: u64,
    /// What a string says, as far as a rule looks at it.
    pub text: &'static str,
}

impl RuleSample {
    /// Keys only.
    pub const fn of(keys: &'static [SampleKey]) -> RuleSample {
        RuleSample { keys, facts: SampleFacts::NONE }
    }

    /// The same with other facts.
    pub const fn with(self, facts: SampleFacts) -> RuleSample {
        RuleSample { keys: self.keys, facts }
    }
}

impl SampleKey {
    /// A short string that lives for an hour.
    pub const fn named(name: &'static str) -> SampleKey {
        SampleKey {
            name,
            times: 1,
            db: 0,
            kind: Kind::String,
            length: 10,
            memory: 80,
            disk: 40,
            ttl: Some(3600),
            ttl_step: 0,
            idle: None,
            pending: 0,
            text: "",
        }
    }

    /// A key of some type, with so many bytes or elements and so much memory.
    pub const fn of(name: &'static str, kind: Kind, length: u64, memory: u64) -> SampleKey {
        SampleKey { kind, length, memory, disk: memory / 2, ..SampleKey::named(name) }
    }

    /// The same without expiry.
    pub const fn forever(self) -> SampleKey {
        SampleKey { ttl: None, ..self }
    }

    /// The same with so many seconds to live.
    pub const fn expiring_in(self, seconds: i64) -> SampleKey {
        SampleKey { ttl: Some(seconds), ..self }
    }

    /// So many of the same; each lives `ttl_step` seconds longer than the one before.
    pub const fn times(self, times: u64, ttl_step: i64) -> SampleKey {
        SampleKey { times, ttl_step, ..self }
    }
}
