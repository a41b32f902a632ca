//! Objects that are spread over several string keys: patterns that differ in one word and have the same ids.
//!
//! The word stands after the id (`user:{int}:name`, `user:{int}:profile:name`) or before it (`member:name:{int}`). After an id, every word
//! is an attribute of the object with that id. Before an id, the word may as well name a table (`shop:order:{int}`,
//! `shop:goods:{int}`), and ids of tables are often the same small numbers. There, only words that name attributes count, and two of them
//! must have no other meaning.
//!
//! These words are no attributes:
//! - words for the use of a key (`cache`, `lock`). Some also name a measure (`rate`, `temp`), or have a number (`md5`, but also `node1`):
//!   after an id, beside two attributes, these count;
//! - a last segment that names the type (`user:{int}:name:string`): the one before it is the attribute;
//! - languages (`zh_CN`, `en`), which name variants of one value.
//!
//! The keys must be able to become one hash. Its fields expire together, so patterns whose keys expire apart from those of the same ids
//! are no attributes; nor are values that hold bits, since no command for bits or HyperLogLogs works on a field.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::evidence::IdSample;
use super::evidence::ids::{Lifetimes, names_type};
use super::forest::{Forest, PatternNode, PatternSums};
use super::word_set::WordSet;
use crate::record::Kind;
use crate::sorting::CompactSort;
use crate::units::Millis;

/// Number of patterns that are tried as the one that has all ids of an object.
const MAX_REFERENCES: usize = 8;

/// Sampled ids that must be comparable, unless all ids of both patterns are known.
const MIN_COMPARED_OBJECTS: usize = 8;

/// Attributes that are beyond doubt and stand before an id.
const MIN_SURE_OBJECTS: usize = 2;

/// Part of the shared ids whose keys expire together: two of three.
const MOSTLY: [usize; 2] = [2, 3];

/// Factor between the longest times left of two patterns, and milliseconds on top, up to which their keys live alike.
const LIFETIME_FACTOR: i64 = 4;
const LIFETIME_SLACK: i64 = 10_000;

/// Words that say what a key is for, and name a measure behind an id.
const MEASURES: [&str; 6] = ["counter", "counters", "计数", "rate", "temp", "queue"];

/// Languages of values, by their codes of two letters. Codes that are usual words (`id`, `no`, `my`) count only with a country.
const LANGUAGES: [&str; 22] = [
    "ar", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hu", "it", "ja", "ko", "nl", "pl", "pt", "ru", "sv",
    "th", "vi", "zh",
];

/// Words that may name an attribute or a table of their own.
const POSSIBLE: [&str; 36] = [
    "city",
    "province",
    "country",
    "district",
    "region",
    "company",
    "school",
    "job",
    "position",
    "department",
    "grade",
    "level",
    "rank",
    "role",
    "type",
    "category",
    "brand",
    "tag",
    "image",
    "photo",
    "picture",
    "icon",
    "url",
    "link",
    "date",
    "time",
    "at",
    "id",
    "code",
    "number",
    "count",
    "total",
    "point",
    "points",
    "version",
    "flag",
];

/// Definition of an object.
#[derive(Debug, Clone)]
pub struct ObjectRule {
    /// Minimum number of attributes.
    pub leaves: u64,
    /// Minimum number of keys of each attribute.
    pub ids: u64,
    /// Words that name attributes beyond doubt.
    sure: WordSet,
    /// Words that may name attributes before an id, those beyond doubt among them.
    possible: WordSet,
    /// Segments that say what a key is for.
    pub prefixes: Vec<String>,
}

/// Pattern of an attribute.
#[derive(Debug, Clone, Copy)]
pub struct AttributePattern<'f> {
    /// Name of the attribute.
    pub name: &'f str,
    /// Text of the pattern.
    pub text: &'f str,
    /// Totals over its keys.
    pub sums: &'f PatternSums,
    ids: &'f IdSample,
    /// True if the name is an attribute beyond doubt.
    sure: bool,
}

/// Object spread over strings.
#[derive(Debug, Clone)]
pub struct SpreadObject<'f> {
    /// Pattern without the attribute, or with `{*}` in its place if it stands before the id.
    pub pattern: String,
    /// Patterns of its attributes, by name.
    pub attributes: Vec<AttributePattern<'f>>,
    /// Number of ids that were compared, if they are a sample.
    pub sampled: Option<u64>,
}

/// Place in the tree where the attributes of an object are siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectPlace<'f> {
    /// Node above the attributes.
    above: usize,
    /// Separator behind the attribute and the rest of the pattern, if the attribute stands before the id.
    behind: Option<(&'f str, &'f str)>,
}

impl ObjectRule {
    /// Creates a rule about objects of at least `leaves` attributes with at least `ids` keys each.
    pub fn new(leaves: u64, ids: u64, attributes: &[String], prefixes: &[String]) -> Self {
        let sure = WordSet::new(attributes);
        let mut possible = WordSet::new(POSSIBLE);
        possible.extend(&sure);
        ObjectRule { leaves, ids, sure, possible, prefixes: prefixes.to_vec() }
    }

    /// Returns the words that may name an attribute before an id.
    pub fn words_before_ids(&self) -> &WordSet {
        &self.possible
    }

    /// Finds all objects, in the order of the forest. Times left are those at `reference`.
    pub fn objects<'f>(&self, forest: &'f Forest<'_>, reference: Option<Millis>) -> Vec<SpreadObject<'f>> {
        let places = self.places(forest).into_iter();
        places.filter_map(|(place, attributes)| self.object(forest, place, &attributes, reference)).collect()
    }

    /// Returns whether patterns may be an object, but have too few comparable ids in their samples.
    pub fn may_miss_objects(&self, forest: &Forest<'_>, reference: Option<Millis>) -> bool {
        self.places(forest).iter().any(|(place, attributes)| {
            let may_suit = |most: &AttributePattern<'_>| {
                let fits = |other: &&AttributePattern<'_>| other.fit(most, reference) != Fit::No;
                self.are_enough(&attributes.iter().filter(fits).copied().collect::<Vec<_>>())
            };
            self.object(forest, *place, attributes, reference).is_none() && references(attributes).any(may_suit)
        })
    }

    /// Returns the patterns that may be attributes, by the place of their object.
    fn places<'f>(&self, forest: &'f Forest<'_>) -> BTreeMap<ObjectPlace<'f>, Vec<AttributePattern<'f>>> {
        let mut places: BTreeMap<ObjectPlace<'f>, Vec<AttributePattern<'f>>> = BTreeMap::new();
        for (node, sums) in forest.patterns() {
            if sums.only_kind() == Some(Kind::String)
                && sums.keys >= self.ids
                && let Some((place, attribute)) = self.attribute(forest, node, sums)
            {
                places.entry(place).or_default().push(attribute);
            }
        }
        places
    }

    /// Returns whether these are enough attributes of one object.
    fn are_enough(&self, attributes: &[AttributePattern<'_>]) -> bool {
        let sure = attributes.iter().filter(|attribute| attribute.sure).count();
        attributes.len() as u64 >= self.leaves.max(2) && sure >= MIN_SURE_OBJECTS
    }

    /// Returns the attribute that the keys of a pattern may be, and its place.
    fn attribute<'f>(
        &self,
        forest: &'f Forest<'_>,
        node: &'f PatternNode<'_>,
        sums: &'f PatternSums,
    ) -> Option<(ObjectPlace<'f>, AttributePattern<'f>)> {
        let (ids, text) = (node.ids.filter(|ids| !ids.hold_bits())?, &*node.text);
        let node = match node.parent {
            Some(parent) if names_type(node.segment.as_bytes()) => forest.nodes.get(parent)?,
            _ => node,
        };
        let parent = node.parent?;
        let above = forest.nodes.get(parent)?;
        let names_object =
            |of: Option<usize>| of.and_then(|of| forest.nodes.get(of)).is_none_or(|node| !self.is_prefix(node.segment));
        // The id, perhaps with a part of what it names behind it: `user:{int}:profile:name`.
        let id = match above.parent.and_then(|id| forest.nodes.get(id)) {
            Some(id) if !above.varies && id.varies && !self.is_prefix(above.segment) => id,
            _ => above,
        };
        if !node.varies && id.varies {
            let name = node.segment;
            let is_measure = MEASURES.iter().any(|word| word.eq_ignore_ascii_case(name));
            let is_prefix = self.is_prefix(name);
            let fits = (!is_prefix || is_measure) && !is_language(name) && names_object(id.parent);
            let sure = !is_prefix && !name.ends_with(|last: char| last.is_ascii_digit());
            let place = ObjectPlace { above: parent, behind: None };
            return fits.then_some((place, AttributePattern { name, text, sums, ids, sure }));
        }
        if node.varies && !above.varies {
            let object = above.parent.filter(|&object| names_object(Some(object)))?;
            let start = forest.nodes.get(object)?.text.len();
            let separator = above.text.get(start + above.segment.len()..)?;
            let sure = self.sure.ends(above.segment.as_bytes());
            let place = ObjectPlace { above: object, behind: Some((separator, text.get(above.text.len()..)?)) };
            let fits = self.possible.ends(above.segment.as_bytes());
            return fits.then_some((place, AttributePattern { name: above.segment, text, sums, ids, sure }));
        }
        None
    }

    /// Returns the object whose attributes stand at a place, if enough of them have the same ids.
    fn object<'f>(
        &self,
        forest: &Forest<'_>,
        place: ObjectPlace<'f>,
        attributes: &[AttributePattern<'f>],
        reference: Option<Millis>,
    ) -> Option<SpreadObject<'f>> {
        for most in references(attributes) {
            let suits = |other: &&AttributePattern<'_>| other.fit(most, reference) == Fit::Yes;
            let same: Vec<_> = attributes.iter().filter(suits).copied().collect();
            if self.are_enough(&same) {
                let above = &forest.nodes.get(place.above)?.text;
                let pattern = match place.behind {
                    Some((separator, id)) => format!("{above}{{*}}{separator}{id}"),
                    None => above.clone(),
                };
                let compared = most.ids.shared_with(most.ids, &Lifetimes::default()).compared as u64;
                let sampled = most.ids.is_full().then_some(compared);
                return Some(SpreadObject { pattern, attributes: same, sampled });
            }
        }
        None
    }

    fn is_prefix(&self, segment: &str) -> bool {
        self.prefixes.iter().any(|prefix| prefix.eq_ignore_ascii_case(segment))
    }
}

/// Returns the attributes that are tried as the one that has all ids of an object: those with most keys.
fn references<'a, 'f>(attributes: &'a [AttributePattern<'f>]) -> impl Iterator<Item = &'a AttributePattern<'f>> {
    let mut references: Vec<_> = attributes.iter().collect();
    references.compact_sort_by_key(|attribute| Reverse(attribute.sums.keys));
    references.into_iter().take(MAX_REFERENCES)
}

/// Whether two attributes belong to the same objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    /// Too few ids can be compared to tell.
    Unknown,
}

/// Returns whether a segment is the code of a language: `zh`, `zh_CN`, `zh-Hans-CN`.
fn is_language(segment: &str) -> bool {
    let mut parts = segment.split(['_', '-']);
    let Some(language) = parts.next() else { return false };
    let is_known = LANGUAGES.iter().any(|known| known.eq_ignore_ascii_case(language));
    let is_code = |part: &str, from: u8, to: u8| part.bytes().all(|byte| (from..=to).contains(&byte));
    let has_country = || {
        segment.len() == 5 && is_code(segment.get(3..).unwrap_or_default(), b'A', b'Z') && is_code(language, b'a', b'z')
    };
    let is_script = |part: &str| ["Hans", "Hant"].iter().any(|script| script.eq_ignore_ascii_case(part));
    let is_country = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_part = |part: &str| is_country(part) || is_script(part);
    language.len() == 2 && (is_known || has_country()) && parts.clone().count() <= 2 && parts.all(is_part)
}

impl AttributePattern<'_> {
    /// Returns whether half of the ids or more belong to the other pattern, too, and the keys of both live alike: most of those of one
    /// id expire together.
    fn fit(&self, other: &AttributePattern<'_>, reference: Option<Millis>) -> Fit {
        let latest = [self.sums.last_expiry, other.sums.last_expiry];
        let shared = self.ids.shared_with(other.ids, &Lifetimes { reference, latest });
        let known = !self.ids.is_full() && !other.ids.is_full() || shared.compared >= MIN_COMPARED_OBJECTS;
        // The fields of a hash expire together.
        let lives_alike = match (lifetime(self.sums, reference), lifetime(other.sums, reference)) {
            (Some(Lifetime::Expiring(own)), Some(Lifetime::Expiring(others))) => {
                own.max(others) <= own.min(others).saturating_mul(LIFETIME_FACTOR).saturating_add(LIFETIME_SLACK)
            }
            (Some(own), Some(others)) => own == others,
            (None, _) | (_, None) => true,
        };
        let together = shared.together * MOSTLY[1] >= shared.shared * MOSTLY[0];
        match known {
            _ if !lives_alike || !together || shared.shared * 2 < shared.compared => Fit::No,
            true if shared.compared > 0 => Fit::Yes,
            true => Fit::No,
            false => Fit::Unknown,
        }
    }
}

/// Lifetime of the keys of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lifetime {
    /// No key expires.
    Forever,
    /// All keys expire; milliseconds left of the key that lives longest, which has been set most recently if all are set with the
    /// same time to live. 0 without a reference time.
    Expiring(i64),
}

/// Returns the lifetime of the keys of a pattern; `None` if only some expire.
fn lifetime(sums: &PatternSums, reference: Option<Millis>) -> Option<Lifetime> {
    match sums.without_ttl.keys {
        0 => {
            let left = sums.last_expiry.zip(reference).map_or(0, |(last, now)| last.0.saturating_sub(now.0).max(0));
            Some(Lifetime::Expiring(left))
        }
        keys if keys >= sums.keys => Some(Lifetime::Forever),
        _ => None,
    }
}
