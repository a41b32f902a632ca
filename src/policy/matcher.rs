//! Patterns of a policy, and an automaton that finds all patterns that a key matches in one walk over its segments.
//!
//! A policy writes patterns as reports print them: `user:{int}:name`, so that what a key matches depends on its classified
//! pattern alone. A segment is a name, a class (`{int}`), `{*}` for any name, `*` or a placeholder such as `{userid}` for any
//! one segment. `**` stands at the end for one or more segments, and at the beginning for any number: `**:lock:**` is a
//! segment `lock` at any level that another follows.
//!
//! A key may match several patterns of a list. The first found wins: those that begin at the first segment, then those with a
//! leading `**`, the leftmost match first, then `**` alone. Two patterns that no such order tells apart must not match the same key;
//! `**` alone may stand beside those with a leading `**` only.
//!
//! Some ids look like those of a narrower class by chance: of ids that count up, `200101` is a date, and of hashes in hexadecimal some
//! have digits only. A pattern with the wider class matches them, too; one with the narrower class takes precedence. So does a pattern
//! with a number in a name match a short one, which belongs to the name: `u{int}` and `u7`.

mod overlap;
mod widened;

use hashbrown::HashMap;
pub use overlap::Apart;
use widened::{widened, wider};

use super::caches;
use super::name_filter::{Marks, NameFilter};
use crate::pattern::PartKind;
use crate::pattern::classify::{Classifier, SegmentClass};
use crate::pattern::name::KeyName;
use crate::pattern::plain::PlainName;

/// Pattern of a policy, parsed into segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyPattern {
    /// Text as written.
    pub text: String,
    /// True with a leading `**`: the segments may begin at any level.
    floating: bool,
    segments: Vec<SegmentPattern>,
}

/// Pattern of one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SegmentPattern {
    /// This name, perhaps with ids in it (`user_{int}`).
    Name(String),
    /// This class.
    Class(&'static str),
    /// Any name.
    AnyName,
    /// Anything.
    Any,
    /// Anything, and all segments that follow.
    Rest,
}

impl PolicyPattern {
    /// Parses a pattern; the error states the problem and a remedy.
    pub fn parse(text: &str, separators: &[u8], classifier: &Classifier) -> Result<PolicyPattern, String> {
        if text.is_empty() {
            return Err("a pattern cannot be empty: `**` matches all keys".to_owned());
        }
        let parts: Vec<&str> =
            text.split(|c: char| u8::try_from(c).is_ok_and(|byte| separators.contains(&byte))).collect();
        let (floating, parts) = match parts.as_slice() {
            ["**", "**", ..] => return Err("`**` twice: one matches any number of segments".to_owned()),
            ["**", rest @ ..] if !rest.is_empty() => (true, rest),
            all => (false, all),
        };
        let last = parts.len() - 1;
        let segments = parts.iter().enumerate().map(|(at, part)| segment(part, at == last, classifier));
        Ok(PolicyPattern { text: text.to_owned(), floating, segments: segments.collect::<Result<_, _>>()? })
    }

    /// Returns the pattern of keys with this word as a segment, at any level, that another segment follows.
    pub fn word(word: &str, classifier: &Classifier) -> PolicyPattern {
        let name = SegmentPattern::Name(classifier.pattern_text(word.as_bytes()));
        PolicyPattern { text: format!("**:{word}:**"), floating: true, segments: vec![name, SegmentPattern::Rest] }
    }

    /// Returns the pattern of keys with this word as their last segment, or as the only one.
    pub fn last_word(word: &str, classifier: &Classifier) -> PolicyPattern {
        let name = SegmentPattern::Name(classifier.pattern_text(word.as_bytes()));
        PolicyPattern { text: format!("**:{word}"), floating: true, segments: vec![name] }
    }

    /// Returns true if the pattern may begin at any level.
    pub fn is_floating(&self) -> bool {
        self.floating
    }

    /// Returns the name that the pattern begins with, if any, after a leading `**`.
    pub fn first_name(&self) -> Option<&str> {
        match self.segments.first() {
            Some(SegmentPattern::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Returns true for `**` alone, which matches every key.
    fn is_of_all(&self) -> bool {
        !self.floating && self.segments == [SegmentPattern::Rest]
    }

    /// Returns the pattern that begins with another name.
    pub fn with_first_name(&self, name: String) -> PolicyPattern {
        let mut pattern = self.clone();
        if let Some(first) = pattern.segments.first_mut() {
            *first = SegmentPattern::Name(name);
        }
        pattern
    }

    /// Returns true if some key could match both and neither takes precedence, as [`Apart`] finds it.
    #[cfg(test)]
    pub fn overlaps(&self, other: &PolicyPattern) -> bool {
        self.floating == other.floating && self.meets(other)
    }

    /// Returns true if some key could match both, whichever takes precedence.
    pub fn may_share(&self, other: &PolicyPattern) -> bool {
        let tail = |pattern: &PolicyPattern, from: usize| PolicyPattern {
            segments: pattern.segments.get(from..).unwrap_or_default().to_vec(),
            ..pattern.clone()
        };
        match (self.floating, other.floating) {
            // Some key may hold the one before the other.
            (true, true) => true,
            (false, false) => self.meets(other),
            (true, false) => (0..other.segments.len()).any(|from| self.meets(&tail(other, from))),
            (false, true) => other.may_share(self),
        }
    }

    /// Returns true if some key could match the segments of both from the same segment on.
    fn meets(&self, other: &PolicyPattern) -> bool {
        let (mut mine, mut theirs) = (self.segments.iter(), other.segments.iter());
        loop {
            match (mine.next(), theirs.next()) {
                (None, None) => return true,
                (Some(SegmentPattern::Rest), Some(_)) | (Some(_), Some(SegmentPattern::Rest)) => return true,
                (Some(one), Some(other)) if one.meets(other) => {}
                _ => return false,
            }
        }
    }
}

fn segment(text: &str, is_last: bool, classifier: &Classifier) -> Result<SegmentPattern, String> {
    match text {
        "*" => return Ok(SegmentPattern::Any),
        "{*}" => return Ok(SegmentPattern::AnyName),
        "**" if is_last => return Ok(SegmentPattern::Rest),
        "**" => return Err("`**` is allowed only at the beginning and at the end: `*` matches one segment".to_owned()),
        "" => return Ok(SegmentPattern::Name(String::new())),
        _ => {}
    }
    if let Some(class) = SegmentClass::ALL.into_iter().find(|class| class.text() == text) {
        return Ok(SegmentPattern::Class(class.text()));
    }
    if let Some(inner) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
        && !inner.contains(['{', '}'])
    {
        return Ok(SegmentPattern::Any);
    }
    if text.contains('*') {
        return Err(format!(
            "`{text}`: `*` must be a whole segment; write ids within names as classes, such as `user_{{int}}`"
        ));
    }
    if text.contains(['{', '}']) {
        return with_braces(text);
    }
    match classifier.pattern_text(text.as_bytes()) {
        seen if seen == text => Ok(SegmentPattern::Name(seen)),
        seen => Err(format!("`{text}` looks like an id, which patterns show as `{seen}`: write `{seen}`")),
    }
}

/// Parses a name with braces: every pair must be a class, and one that belongs to the name is doubled, as in reports.
fn with_braces(text: &str) -> Result<SegmentPattern, String> {
    let mut rest = text;
    while let Some(brace) = rest.find(['{', '}']) {
        let class = SegmentClass::ALL.iter().find(|class| rest[brace..].starts_with(class.text()));
        let is_doubled = rest[brace..].starts_with("{{") || rest[brace..].starts_with("}}");
        let length = match class {
            _ if is_doubled => 2,
            Some(class) => class.text().len(),
            None => {
                let names: Vec<_> = SegmentClass::ALL.iter().map(|class| class.text()).collect();
                let names = names.join(", ");
                return Err(format!(
                    "`{text}`: within a name, braces may enclose only classes: {names}; write `{{{{` and `}}}}` for those of a name"
                ));
            }
        };
        rest = &rest[brace + length..];
    }
    Ok(SegmentPattern::Name(text.to_owned()))
}

impl SegmentPattern {
    fn meets(&self, other: &SegmentPattern) -> bool {
        match (self, other) {
            (SegmentPattern::Any | SegmentPattern::Rest, _) | (_, SegmentPattern::Any | SegmentPattern::Rest) => true,
            (SegmentPattern::AnyName, SegmentPattern::Class(_))
            | (SegmentPattern::Class(_), SegmentPattern::AnyName) => false,
            (SegmentPattern::AnyName, _) | (_, SegmentPattern::AnyName) => true,
            (one, other) => one == other,
        }
    }
}

/// Automaton over many patterns, each with a target.
#[derive(Debug, Clone)]
pub struct Matcher<T> {
    /// Names that patterns begin with, in either tree.
    first: NameFilter,
    /// True if there is no pattern.
    is_empty: bool,
    /// Patterns without a leading `**`.
    fixed: MatchTree<T>,
    /// Patterns with it, without the `**`.
    floating: MatchTree<T>,
    /// Targets of `**` alone.
    of_all: Vec<T>,
    /// Target of keys with a [compound](caches::is_compound) that names a cache as a segment that another follows.
    compound_cache: Option<T>,
}

/// Patterns as a tree of their segments, with the root first.
#[derive(Debug, Clone)]
struct MatchTree<T> {
    states: Vec<MatchState<T>>,
    /// Rejects nearly all names that no pattern begins with.
    first: NameFilter,
    /// True if a pattern begins with any name.
    takes_all: bool,
}

#[derive(Debug, Clone)]
struct MatchState<T> {
    names: HashMap<Box<[u8]>, u32>,
    /// Rejects most other names without hashing them.
    marks: Marks,
    classes: Vec<(&'static str, u32)>,
    any_name: Option<u32>,
    any: Option<u32>,
    /// True if a name has a class in it whose ids may look like those of a narrower one.
    has_wide: bool,
    /// Targets of patterns that end here.
    ends: Vec<T>,
    /// Targets of patterns with `**` from here on.
    rest: Vec<T>,
}

impl<T> Default for MatchState<T> {
    fn default() -> Self {
        MatchState {
            names: HashMap::new(),
            marks: Marks::default(),
            classes: Vec::new(),
            any_name: None,
            any: None,
            has_wide: false,
            ends: Vec::new(),
            rest: Vec::new(),
        }
    }
}

impl<T> Default for MatchTree<T> {
    fn default() -> Self {
        MatchTree { states: vec![MatchState::default()], first: NameFilter::default(), takes_all: false }
    }
}

impl<T> Default for Matcher<T> {
    fn default() -> Self {
        Matcher {
            first: NameFilter::default(),
            is_empty: true,
            fixed: MatchTree::default(),
            floating: MatchTree::default(),
            of_all: Vec::new(),
            compound_cache: None,
        }
    }
}

impl<T: Copy> Matcher<T> {
    /// Adds a pattern with its target.
    pub fn add(&mut self, pattern: &PolicyPattern, target: T) {
        self.is_empty = false;
        if let Some(name) = pattern.first_name() {
            self.first.add(name.as_bytes());
        }
        if pattern.is_of_all() {
            self.fixed.takes_all = true;
            return self.of_all.push(target);
        }
        let tree = if pattern.floating { &mut self.floating } else { &mut self.fixed };
        tree.add(&pattern.segments, target);
    }

    /// Sets the target of keys with a compound that names a cache. It goes behind patterns with that segment.
    pub fn set_compound_cache(&mut self, target: T) {
        self.is_empty = false;
        self.compound_cache = Some(target);
    }

    /// Appends the targets of all patterns that the name matches, in order of precedence: patterns without a leading `**`, then
    /// those with it, the leftmost match first, then `**` alone. The same target may follow more than once.
    ///
    /// Visits each state at most once per segment of the name, of which classified names have at most 16.
    pub fn find(&self, name: &KeyName<'_>, found: &mut Vec<T>) {
        match name {
            KeyName::Plain(name) => self.visit(name.segments().map(|name| (name, PartKind::Literal)), found),
            KeyName::Classified(_, pattern) => self.visit(pattern.segments(), found),
        }
        found.extend_from_slice(&self.of_all);
    }

    /// Returns false if a name matches no pattern, as far as the filters know.
    #[inline]
    pub fn may_match(&self, name: &KeyName<'_>) -> bool {
        if self.is_empty {
            return false;
        }
        match name {
            KeyName::Plain(name) => self.fixed.takes_all || self.floating.takes_all || self.may_match_plain(name),
            KeyName::Classified(..) => true,
        }
    }

    #[inline]
    fn may_match_plain(&self, name: &PlainName<'_>) -> bool {
        let (mut start, mut ends) = (0, name.ends());
        // An English compound has a capital or a mark.
        let may_have_compound = self.compound_cache.is_some() && !name.is_lower();
        while ends != 0 {
            let end = ends.trailing_zeros() as usize;
            let segment = name.bytes().get(start..end).unwrap_or_default();
            if self.first.may_hold(segment) && (start == 0 || self.floating.first.may_hold(segment)) {
                return true;
            }
            if may_have_compound && caches::may_be_compound(segment) {
                return true;
            }
            start = end + 1;
            ends &= ends - 1;
        }
        false
    }

    fn visit<'n>(&self, mut left: impl Iterator<Item = (&'n [u8], PartKind)> + Clone, found: &mut Vec<T>) {
        self.fixed.visit(0, left.clone(), found);
        if self.floating.is_empty() && self.compound_cache.is_none() {
            return;
        }
        loop {
            let (from, known) = (left.clone(), found.len());
            let Some((name, kind)) = left.next() else { return };
            // Most segments begin no pattern.
            if kind == PartKind::Class || !self.floating.rejects(name) {
                self.floating.visit(0, from, found);
            }
            if found.len() == known && kind == PartKind::Literal && caches::is_compound(name) {
                let is_followed = left.clone().next().is_some();
                found.extend(self.compound_cache.filter(|_| is_followed));
            }
        }
    }
}

impl<T: Copy> MatchTree<T> {
    fn add(&mut self, segments: &[SegmentPattern], target: T) {
        let mut at = 0;
        let is_free = |first: &SegmentPattern| {
            matches!(first, SegmentPattern::Any | SegmentPattern::AnyName | SegmentPattern::Rest)
        };
        self.takes_all |= segments.first().is_some_and(is_free);
        for segment in segments {
            at = match segment {
                SegmentPattern::Rest => return self.states[at].rest.push(target),
                segment => self.step(at, segment),
            };
        }
        self.states[at].ends.push(target);
    }

    fn is_empty(&self) -> bool {
        self.states.len() == 1 && self.states[0].rest.is_empty()
    }

    /// Returns true if no pattern begins with this name, as far as the filter knows.
    #[inline]
    fn rejects(&self, name: &[u8]) -> bool {
        !self.first.may_hold(name) && !self.takes_all && !self.states[0].has_wide
    }

    fn visit<'n>(&self, at: u32, mut left: impl Iterator<Item = (&'n [u8], PartKind)> + Clone, found: &mut Vec<T>) {
        let state = &self.states[at as usize];
        let Some((name, kind)) = left.next() else { return found.extend_from_slice(&state.ends) };
        found.extend_from_slice(&state.rest);
        let next = match kind {
            PartKind::Literal => {
                if state.marks.may_hold(name)
                    && let Some(&next) = state.names.get(name)
                {
                    self.visit(next, left.clone(), found);
                }
                if state.has_wide && name.iter().any(|byte| *byte == b'{' || byte.is_ascii_digit()) {
                    for &next in widened(name).iter().filter_map(|name| state.names.get(name.as_slice())) {
                        self.visit(next, left.clone(), found);
                    }
                }
                state.any_name
            }
            PartKind::Class => {
                let of = |class: &[u8]| state.classes.iter().find(|(known, _)| known.as_bytes() == class);
                let own = of(name).into_iter();
                for (_, next) in own.chain(wider(name).iter().filter_map(|class| of(class.as_bytes()))) {
                    self.visit(*next, left.clone(), found);
                }
                None
            }
        };
        for next in [next, state.any].into_iter().flatten() {
            self.visit(next, left.clone(), found);
        }
    }

    fn step(&mut self, at: usize, segment: &SegmentPattern) -> usize {
        let new = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        let state = &mut self.states[at];
        let next = match segment {
            SegmentPattern::Name(name) => {
                state.marks.add(name.as_bytes());
                state.has_wide |= ["{int}", "{hex}"].iter().any(|class| name.contains(class));
                if at == 0 {
                    self.first.add(name.as_bytes());
                }
                *state.names.entry(name.as_bytes().into()).or_insert(new)
            }
            SegmentPattern::Class(class) => match state.classes.iter().find(|(known, _)| known == class) {
                Some((_, next)) => *next,
                None => {
                    state.classes.push((class, new));
                    new
                }
            },
            SegmentPattern::AnyName => *state.any_name.get_or_insert(new),
            SegmentPattern::Any | SegmentPattern::Rest => *state.any.get_or_insert(new),
        };
        if next == new {
            self.states.push(MatchState::default());
        }
        next as usize
    }
}

#[cfg(test)]
mod tests;
