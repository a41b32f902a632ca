//! What a rule is: its description, its parameters, and the question it asks, of one key, of all patterns, or of the
//! whole snapshot.

use std::fmt;

use super::context::Context;
use super::forest::Forest;
use super::key_view::KeyView;
use super::params::{ParamSpec, Params};
use super::sample::RuleSample;
use super::sensitive::Inspection;
use crate::record::Kind;
pub use crate::report::{DetailField, DetailValue, Severity, Text, Unit};
use crate::report::{Details, Example, Report};
use crate::units::Bytes;

/// All that a rule says about itself.
#[derive(Debug, Clone, Copy)]
pub struct RuleMeta {
    /// Its name, which is the path of its file: `key.empty-segment` is `rules/key/empty_segment.rs`.
    pub id: &'static str,
    /// How much a violation matters where no policy says otherwise.
    pub severity: Severity,
    /// What it demands, in a line. `{max}` in it and in `fix` stands for the value of that parameter, with its unit.
    pub what: Text,
    /// Names a violation: the headline of findings. A part in square brackets is left out if its limit is 0.
    pub problem: Text,
    /// Why, in a few sentences.
    pub why: Text,
    /// What to do about a violation.
    pub fix: Text,
    /// Where the standards demand it.
    pub chapters: &'static [Chapter],
    /// What a policy can set.
    pub params: &'static [ParamSpec],
    /// What is measured, if that is a number.
    pub unit: Option<Unit>,
    /// What keeps the rule.
    pub passes: RuleSample,
    /// What breaks it.
    pub fails: RuleSample,
}

/// A place in one of the standards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chapter {
    /// The standard's preset.
    pub preset: &'static str,
    /// The chapter's heading, as the standard writes it.
    pub heading: &'static str,
}

/// By how much a rule is broken. Equal numbers say nothing and are not shown: what breaks the rule is none that its unit
/// can measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// What was found, in the rule's [`Unit`].
    pub measured: u64,
    /// What is allowed.
    pub allowed: u64,
}

/// A test of a name's bytes that the pass over all names answers at once, without asking the rule.
#[derive(Clone, PartialEq, Eq)]
pub enum NameTest {
    /// A segment is empty.
    EmptySegment,
    /// No business segment at the start.
    NoPrefix,
    /// Special characters.
    Special,
    /// More bytes than this.
    LongerThan(u64),
    /// Fewer segments than this.
    FewerSegments(u64),
    /// An upper-case letter.
    UpperCase,
    /// The first character is no letter. With `true`, the brace of a hash tag may stand before it.
    StartsOtherwise(bool),
    /// A byte that is neither in this set nor a separator.
    Outside(Box<[bool; 256]>),
    /// Braces that are not one hash tag.
    BadTag,
}

impl fmt::Debug for NameTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameTest::EmptySegment => f.write_str("EmptySegment"),
            NameTest::NoPrefix => f.write_str("NoPrefix"),
            NameTest::Special => f.write_str("Special"),
            NameTest::LongerThan(most) => write!(f, "LongerThan({most})"),
            NameTest::FewerSegments(least) => write!(f, "FewerSegments({least})"),
            NameTest::UpperCase => f.write_str("UpperCase"),
            NameTest::StartsOtherwise(tags) => write!(f, "StartsOtherwise({tags})"),
            NameTest::Outside(_) => f.write_str("Outside"),
            NameTest::BadTag => f.write_str("BadTag"),
        }
    }
}

impl NameTest {
    /// Whether the pass tells by how much the test is failed.
    pub fn measures(&self) -> bool {
        matches!(self, NameTest::LongerThan(_) | NameTest::FewerSegments(_))
    }
}

/// What a key has to exceed to break a rule about its size: for keys that do not, the rule need not be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeTest {
    /// A length.
    Length(u64),
    /// Memory, in bytes.
    Memory(u64),
}

/// Which keys a rule is about, by their expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// All keys.
    Any,
    /// Those that expire.
    Expires,
    /// Those that never do.
    Forever,
}

impl Lifetime {
    /// Whether keys that expire, or never do, belong to it.
    pub const fn includes(self, expires: bool) -> bool {
        match self {
            Lifetime::Any => true,
            Lifetime::Expires => expires,
            Lifetime::Forever => !expires,
        }
    }
}

/// A rule that one key keeps or breaks. Violations are counted exactly, per rule and per pattern.
pub trait KeyRule: fmt::Debug + Send + Sync {
    /// By how much the key breaks the rule; `None` when it keeps it.
    fn check(&self, key: &KeyView<'_>) -> Option<Violation>;

    /// The same question as a test of the name alone, if it is one: then [`KeyRule::check`] is asked for broken names only.
    fn name_test(&self) -> Option<NameTest> {
        None
    }

    /// Whether it can tell what the remedy would save: then [`KeyRule::saving`] is asked about keys that break it.
    fn estimates_saving(&self) -> bool {
        false
    }

    /// Memory that the remedy would save of a key that breaks the rule.
    fn saving(&self, _key: &KeyView<'_>) -> Bytes {
        Bytes(0)
    }

    /// What a key of this type has to exceed before the rule is asked, if it is about sizes. Most keys are small.
    fn size_test(&self, _kind: Kind) -> Option<SizeTest> {
        None
    }

    /// Whether there is anything to hold keys against. Where not, the rule is not in force and no report says it was checked.
    fn applies(&self, _context: &Context) -> bool {
        true
    }

    /// The types of keys that can break it.
    fn kinds(&self) -> &'static [Kind] {
        &Kind::ALL
    }

    /// The keys that can break it, by their expiry.
    fn lifetime(&self) -> Lifetime {
        Lifetime::Any
    }

    /// Whether all keys that can break it do, if that is so or none does, as long as no policy says anything of their names.
    /// Then most keys need not be asked about. Only for rules that measure nothing.
    fn constant_result(&self) -> Option<bool> {
        None
    }
}

/// A rule about keys of one pattern together, or about patterns beside each other. Asked once, at the end.
pub trait PatternRule: fmt::Debug + Send + Sync {
    /// What breaks the rule, in any order.
    fn judge(&self, forest: &Forest<'_>, context: &Context) -> Vec<Breach>;

    /// Whether it looks at when keys expire, which is kept only for rules that do.
    fn wants_expiries(&self) -> bool {
        false
    }

    /// What has to be looked for in the values of some keys of each pattern.
    fn inspection(&self) -> Option<Inspection> {
        None
    }
}

/// A rule about the whole snapshot. Asked once, when all other sections of the report are there.
pub trait SnapshotRule: fmt::Debug + Send + Sync {
    /// What breaks the rule, in any order.
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach>;
}

/// One violation of a rule about patterns or the snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Breach {
    /// The pattern, file, database or other part that it is about; `None` for the whole snapshot.
    pub pattern: Option<String>,
    /// Keys that it is about, exactly.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// What was found, in the rule's [`Unit`].
    pub measured: Option<u64>,
    /// What is allowed.
    pub allowed: Option<u64>,
    /// Memory that the remedy would save.
    pub saves: Option<Bytes>,
    /// What else the rule knows, by name.
    pub details: Details,
    /// Keys that show it.
    pub examples: Vec<Example>,
}

/// The question of a rule.
#[derive(Debug)]
pub enum BuiltRule {
    /// Of each key.
    Key(Box<dyn KeyRule>),
    /// Of all patterns.
    Pattern(Box<dyn PatternRule>),
    /// Of the report.
    Snapshot(Box<dyn SnapshotRule>),
}

/// A rule as the registry lists it: its description, and how its question is made from its parameters.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// What it says about itself.
    pub meta: &'static RuleMeta,
    /// Makes the question. Fails with what is wrong with the parameters together.
    pub build: fn(&Params) -> Result<BuiltRule, String>,
}
