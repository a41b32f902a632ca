//! Rules: their description, their parameters, and their check, which looks at one key, at all patterns, or at the whole
//! snapshot.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::context::Context;
use super::forest::Forest;
use super::harmless::HarmlessKeys;
use super::key_view::KeyView;
pub use super::need::{Known, Need};
use super::params::{ParamSpec, Params};
use super::sample::RuleSample;
use super::sensitive::{Inspection, SensitiveKinds};
use super::type_words::TypeWords;
use super::word_set::WordSet;
use crate::pattern::classify::Classifier;
use crate::record::Kind;
pub use crate::report::{DetailField, DetailValue, Severity, Text, Unit};
use crate::report::{Details, Example, Report};
use crate::units::Bytes;

/// Description of a rule.
#[derive(Debug, Clone, Copy)]
pub struct RuleMeta {
    /// Name of the rule, which is the path of its file: `key.empty-segment` is `rules/key/empty_segment.rs`.
    pub id: &'static str,
    /// Severity of a violation unless a policy sets another.
    pub severity: Severity,
    /// Demand of the rule in one line. `{max}`, here and in `fix`, stands for the value of that parameter with its unit. A
    /// part in square brackets is left out if the limit is 0.
    pub what: Text,
    /// Headline of findings. A part in square brackets is left out if the limit is 0.
    pub problem: Text,
    /// Reason for the rule, in a few sentences.
    pub why: Text,
    /// Remedy for a violation.
    pub fix: Text,
    /// Parameters that a policy can set.
    pub params: &'static [ParamSpec],
    /// Unit of the measured value, if the rule measures a number.
    pub unit: Option<Unit>,
    /// Example that complies with the rule.
    pub passes: RuleSample,
    /// Example that violates it.
    pub fails: RuleSample,
}

/// Measured and allowed value of a violation.
///
/// Two equal values mean that the violation cannot be expressed in the rule's unit; reports then show neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Violation {
    /// Measured value, in the rule's [`Unit`].
    pub measured: u64,
    /// Limit.
    pub allowed: u64,
}

/// Test of a name's bytes that [`NamePass`](super::name_pass) evaluates together with all others, without calling the rule.
#[derive(Clone, PartialEq, Eq)]
pub enum NameTest {
    /// Fails if a segment is empty.
    EmptySegment {
        /// Signs between words, which must not be empty either.
        words: Box<[u8]>,
        /// Fails, too, if a segment is a placeholder of a format or a template.
        unfilled_ids: bool,
    },
    /// Fails if the name does not start with a business segment.
    NoPrefix,
    /// Fails on special characters.
    Special,
    /// Fails if the name is longer, in characters.
    LongerThan(u64),
    /// Fails if the name has fewer segments.
    FewerSegments(u64),
    /// Fails on an upper-case letter.
    UpperCase,
    /// Fails if the first character is not a letter. With `true`, the brace of a hash tag may precede it.
    StartsOtherwise(bool),
    /// Fails on a byte that is neither in this set nor a separator.
    Outside(Box<[bool; 256]>),
    /// Fails if braces do not form exactly one hash tag.
    BadTag,
}

impl fmt::Debug for NameTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameTest::EmptySegment { words, unfilled_ids } => {
                write!(f, "EmptySegment({}, {unfilled_ids})", words.escape_ascii())
            }
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
    /// Returns whether the pass itself knows the measured value, so that the rule need not be called for it.
    pub fn measures(&self) -> bool {
        matches!(self, NameTest::LongerThan(_) | NameTest::FewerSegments(_))
    }
}

/// Lower bound for violations of a size rule: keys that do not exceed it need not be checked by the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeTest {
    /// Length: bytes of a string, elements of a collection.
    Length(u64),
    /// Payload in bytes, for types other than strings.
    Payload(u64),
}

/// Keys that a rule applies to, by whether they are [to expire](Record::is_to_expire).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// All keys.
    Any,
    /// Keys that expire.
    Expires,
    /// Keys without expiry.
    Forever,
}

impl Lifetime {
    /// Returns whether keys with (`expires`) or without expiry are included.
    pub const fn includes(self, expires: bool) -> bool {
        match self {
            Lifetime::Any => true,
            Lifetime::Expires => expires,
            Lifetime::Forever => !expires,
        }
    }
}

/// Rule about a single key. Violations are counted exactly, per rule and per pattern.
pub trait KeyRule: fmt::Debug + Send + Sync {
    /// Checks one key; `None` if it complies.
    fn check(&self, key: &KeyView<'_>) -> Option<Violation>;

    /// Returns the equivalent test of the name, if the rule looks at nothing else. [`KeyRule::check`] is then called only for
    /// names that fail it.
    fn name_test(&self) -> Option<NameTest> {
        None
    }

    /// Returns whether the rule can estimate what its remedy saves, by [`KeyRule::saving`].
    fn estimates_saving(&self) -> bool {
        false
    }

    /// Estimates the memory that the remedy would save for a key that violates the rule.
    fn saving(&self, _key: &KeyView<'_>) -> Bytes {
        Bytes(0)
    }

    /// Returns the size below which keys of this type always comply, if the rule is about sizes.
    ///
    /// Most keys are small, so most of them are never checked one by one.
    fn size_test(&self, _kind: Kind) -> Option<SizeTest> {
        None
    }

    /// Returns the least length of the texts whose compressed size the rule needs, if it needs any.
    fn text_size(&self) -> Option<u64> {
        None
    }

    /// Returns whether the rule concerns only strings whose first byte [may be that of JSON](crate::record::ValueFacts).
    fn is_about_json(&self) -> bool {
        false
    }

    /// Returns what the rule lacks to be evaluated, if anything.
    ///
    /// Asked before the keys are read, and then it disables the rule; and with the finished report, if the rule found nothing.
    fn needs(&self, _known: &Known<'_>) -> Option<Need> {
        None
    }

    /// Returns the words by which the rule recognises the keys that it is about; none for all keys.
    ///
    /// The rule is asked only about keys with one of them as a segment of the name, at any level, that another segment
    /// follows. Words may be in lower case, in capitals, or begin with a capital.
    fn words(&self) -> &[String] {
        &[]
    }

    /// Returns whether the rule concerns only keys that the policy expects a type of.
    fn is_about_expected_types(&self) -> bool {
        false
    }

    /// Returns segments of names that may violate a rule with a [name test](KeyRule::name_test), besides the names that fail it.
    fn failing_segments(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the types of keys that can violate the rule.
    fn kinds(&self) -> &'static [Kind] {
        &Kind::ALL
    }

    /// Returns the keys that can violate the rule, by expiry.
    fn lifetime(&self) -> Lifetime {
        Lifetime::Any
    }

    /// Returns keys of a type that certainly comply if they match no pattern of the policy, so that they need not be checked one by one.
    fn harmless(&self, _kind: Kind, _context: &Context) -> Option<HarmlessKeys> {
        None
    }

    /// Returns the words of each type, if the rule demands one of them as the last segment and looks at nothing else.
    fn type_words(&self) -> Option<&TypeWords> {
        None
    }

    /// Returns the result if it is the same for every key of the right type and lifetime that no pattern of the policy
    /// matches: `Some(true)` if all of them violate the rule, `Some(false)` if none does.
    ///
    /// Such keys need not be checked one by one. Only for rules that measure nothing.
    fn constant_result(&self) -> Option<bool> {
        None
    }
}

/// Locks and their tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockTest {
    /// Segments that mark a lock, as [`KeyRule::words`].
    pub words: Vec<String>,
    /// Least length of a token, in bytes.
    pub min: u64,
    /// True if values with a UUID are compared, too.
    pub uuids: bool,
}

/// Values of locks that rules need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenNeeds {
    /// Least length of a token.
    pub min: u64,
    /// True if values with a UUID are compared, too.
    pub uuids: bool,
}

/// Rule about all keys of a pattern, or about several patterns. Checked once, after all keys have been read.
pub trait PatternRule: fmt::Debug + Send + Sync {
    /// Returns all violations, in any order.
    fn judge(&self, forest: &Forest<'_>, context: &Context) -> Vec<Breach>;

    /// Returns why the rule could not be evaluated although it found nothing: the samples that it looks at are too small to tell. Asked if
    /// no violation counts.
    fn undecided(&self, _forest: &Forest<'_>, _context: &Context) -> Option<Need> {
        None
    }

    /// Adds what depends on the other rules and on the patterns of the policy, such as names that a remedy suggests.
    fn complete(&self, _found: &mut [Breach], _forest: &Forest<'_>, _checks: &Checks, _classifier: &Classifier) {}

    /// Returns what the rule lacks to be evaluated, like [`KeyRule::needs`].
    fn needs(&self, _known: &Known<'_>) -> Option<Need> {
        None
    }

    /// Returns whether the rule needs expiry times, which are collected on demand only.
    fn wants_expiries(&self) -> bool {
        false
    }

    /// Returns the words that may name an attribute before an id, if the rule needs the ids of string keys. Ids are
    /// collected on demand only.
    fn words_before_ids(&self) -> Option<&WordSet> {
        None
    }

    /// Returns which keys are locks and what their tokens are, if the rule needs them.
    fn locks(&self) -> Option<&LockTest> {
        None
    }

    /// Returns what to search for in the values of sampled keys, if the rule looks into values.
    fn inspection(&self) -> Option<Inspection> {
        None
    }
}

/// Rule about the whole snapshot. Checked once, after all other sections of the report are complete.
pub trait SnapshotRule: fmt::Debug + Send + Sync {
    /// Returns all violations, in any order.
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach>;

    /// Returns what the rule lacks to be evaluated, like [`KeyRule::needs`].
    fn needs(&self, _known: &Known<'_>) -> Option<Need> {
        None
    }

    /// Returns whether the rule is about shares of all keys, so that it cannot be judged by some of them.
    fn is_about_shares(&self) -> bool {
        false
    }

    /// Returns whether the rule is about files, so that it can be evaluated even if some of their keys could not be read.
    fn is_about_files(&self) -> bool {
        false
    }
}

/// Violation of a rule about patterns or the snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Breach {
    /// Pattern, file, database, slot or other part of the snapshot; `None` for the whole snapshot.
    pub pattern: Option<String>,
    /// True if `pattern` is no pattern of keys but names a file, a database, a slot or a budget. Only an exemption that names the rule
    /// excuses it: one for keys called `*` is not for a file called `dump`.
    pub is_label: bool,
    /// Exact number of keys concerned.
    pub keys: u64,
    /// Memory of these keys.
    pub memory: Bytes,
    /// Measured value, in the rule's [`Unit`].
    pub measured: Option<u64>,
    /// Limit.
    pub allowed: Option<u64>,
    /// Memory that the remedy would save, if the rule can estimate it.
    pub saves: Option<Bytes>,
    /// Further facts, by name.
    pub details: Details,
    /// Example keys.
    pub examples: Vec<Example>,
    /// Which keys `keys` counts, for listing them.
    pub concerned: ConcernedKeys,
}

/// Keys that a violation of a rule about patterns counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ConcernedKeys {
    /// All keys of the violation's pattern.
    #[default]
    Pattern,
    /// Keys of the violation's pattern that have yet to expire.
    Expiring,
    /// Keys of these patterns that have yet to expire.
    ExpiringOf(Vec<String>),
    /// All keys of these patterns, each as in the forest.
    Patterns(Vec<String>),
    /// Locks of the violation's pattern without a token or with a shared one.
    Locks(BadTokens),
    /// Keys that hold sensitive data of these kinds. The violation counts all keys of the pattern if only some were inspected.
    Holding {
        /// Pattern as in the forest; that of the violation is masked.
        pattern: String,
        /// Kinds, one of which a key must hold.
        kinds: SensitiveKinds,
    },
}

/// Values of locks that violate a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadTokens {
    /// Shorter values are no tokens.
    pub min: u64,
    /// Hashes of the values that several locks hold, ascending.
    pub shared: Vec<u64>,
}

/// Rule built from its parameters, ready to check.
#[derive(Debug)]
pub enum BuiltRule {
    /// Checks each key.
    Key(Box<dyn KeyRule>),
    /// Checks all patterns.
    Pattern(Box<dyn PatternRule>),
    /// Checks the finished report.
    Snapshot(Box<dyn SnapshotRule>),
}

impl BuiltRule {
    /// Returns what the rule lacks to be evaluated.
    pub fn needs(&self, known: &Known<'_>) -> Option<Need> {
        match self {
            BuiltRule::Key(rule) => rule.needs(known),
            BuiltRule::Pattern(rule) => rule.needs(known),
            BuiltRule::Snapshot(rule) => rule.needs(known),
        }
    }
}

/// Rule as listed in the registry: its description, and a function that builds it from its parameters.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Description of the rule.
    pub meta: &'static RuleMeta,
    /// Builds the rule; fails with a message if the parameters are invalid or contradict each other.
    pub build: fn(&Params) -> Result<BuiltRule, String>,
}
