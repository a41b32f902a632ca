//! Examples in descriptions of rules. They are shown to users and serve as tests: every sample is expanded into keys,
//! which are aggregated and checked like those of a snapshot.

use crate::record::Kind;

/// Small synthetic snapshot.
#[derive(Debug, Clone, Copy)]
pub struct RuleSample {
    /// Keys of the snapshot.
    pub keys: &'static [SampleKey],
    /// Further facts about it.
    pub facts: SampleFacts,
}

/// Facts about a sample besides its keys.
#[derive(Debug, Clone, Copy)]
pub struct SampleFacts {
    /// True if the file is truncated.
    pub damaged: bool,
    /// Hours between the snapshot and now.
    pub age_hours: Option<u64>,
    /// `maxmemory` of the server.
    pub maxmemory: Option<u64>,
    /// `maxmemory-policy` of the server.
    pub maxmemory_policy: Option<&'static str>,
    /// Policy text added to the defaults of the rule, such as a data dictionary or TTL classes.
    pub policy: &'static str,
    /// Keys of an earlier snapshot.
    pub before: &'static [SampleKey],
    /// Memory of all keys on a newer server, in thousandths of the present memory.
    pub upgraded_permille: Option<u64>,
    /// True if each key is in a file of its own.
    pub sharded: bool,
}

impl SampleFacts {
    /// No further facts.
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

/// Key of a sample, or several that differ in a number.
#[derive(Debug, Clone, Copy)]
pub struct SampleKey {
    /// Name; `{i}` in it counts from 1.
    pub name: &'static str,
    /// Number of keys.
    pub times: u64,
    /// Database.
    pub db: u64,
    /// Type.
    pub kind: Kind,
    /// Bytes of a string, elements of a collection.
    pub length: u64,
    /// Memory in bytes.
    pub memory: u64,
    /// Bytes in the file.
    pub disk: u64,
    /// Seconds to live.
    pub ttl: Option<i64>,
    /// Seconds by which the time to live grows from one key to the next.
    pub ttl_step: i64,
    /// Seconds since the last access.
    pub idle: Option<u64>,
    /// Pending entries of a stream.
    pub pending: u64,
    /// Content of a string, if a rule looks at it.
    pub text: &'static str,
}

impl RuleSample {
    /// Creates a sample without further facts.
    pub const fn of(keys: &'static [SampleKey]) -> RuleSample {
        RuleSample { keys, facts: SampleFacts::NONE }
    }

    /// Replaces the facts.
    pub const fn with(self, facts: SampleFacts) -> RuleSample {
        RuleSample { keys: self.keys, facts }
    }
}

impl SampleKey {
    /// Creates a short string that expires in an hour.
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

    /// Creates a key of this type, length (bytes or elements) and memory.
    pub const fn of(name: &'static str, kind: Kind, length: u64, memory: u64) -> SampleKey {
        SampleKey { kind, length, memory, disk: memory / 2, ..SampleKey::named(name) }
    }

    /// Creates a string with this content that expires in an hour.
    pub const fn holding(name: &'static str, text: &'static str) -> SampleKey {
        SampleKey { length: text.len() as u64, text, ..SampleKey::named(name) }
    }

    /// Removes the expiry.
    pub const fn forever(self) -> SampleKey {
        SampleKey { ttl: None, ..self }
    }

    /// Sets the time to live in seconds.
    pub const fn expiring_in(self, seconds: i64) -> SampleKey {
        SampleKey { ttl: Some(seconds), ..self }
    }

    /// Repeats the key; each repetition lives `ttl_step` seconds longer than the previous one.
    pub const fn times(self, times: u64, ttl_step: i64) -> SampleKey {
        SampleKey { times, ttl_step, ..self }
    }
}
