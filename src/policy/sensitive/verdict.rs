//! Verdict on the secrets found in one key: sure, or perhaps chance.
//!
//! Numbers that are invalid count as near misses. They are weighed against matches twice: within a text, such as a JSON array
//! of order numbers, and within a group of texts that hold the same kind of thing: the elements of a collection, the fields
//! of a hash, the values of one field in a stream. A set of sequential ids, one in three of which looks like a mobile number, is
//! thus a near miss as a whole.
//!
//! Numbers whose own name says what they are (`"mobile":"138…"`) are also weighed among themselves, so that other numbers in the same
//! record do not outweigh them.

use super::mask;
use super::{MaskedMatch, MatchStrength, SecretPlace, SensitiveKind, SensitiveKinds};

/// Near misses in one text from which on they can outweigh matches: a record may have a few other numbers beside a phone's.
const MANY_NEAR: u16 = 4;

/// Number of kinds.
const KINDS: usize = SensitiveKind::ALL.len();

/// Result of inspecting one key. Holds no secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueVerdict {
    /// Kinds found.
    pub found: SensitiveKinds,
    /// Kinds of which only near misses were found: texts of the right length that do not match.
    pub near: SensitiveKinds,
    /// First match of each requested kind.
    pub evidence: Vec<MaskedMatch>,
}

/// Texts that hold the same kind of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextGroup {
    /// Name of the key, or its whole value: a text of its own.
    Single(SecretPlace),
    /// Elements of a collection.
    Elements,
    /// Fields.
    Fields,
    /// Values of the field with this hash.
    Values(u64),
    /// Values of fields that are ids.
    ValuesOfIds,
}

impl TextGroup {
    fn place(self) -> SecretPlace {
        match self {
            TextGroup::Single(place) => place,
            TextGroup::Elements => SecretPlace::Element,
            TextGroup::Fields | TextGroup::Values(_) | TextGroup::ValuesOfIds => SecretPlace::Field,
        }
    }
}

/// Matches and near misses by kind.
#[derive(Debug, Clone, Default)]
struct MatchCounts {
    found: [u16; KINDS],
    near: [u16; KINDS],
    /// Matches among them whose name says the kind.
    named: [(u16, u16); KINDS],
    /// First match of each requested kind.
    evidence: Vec<MaskedMatch>,
}

impl MatchCounts {
    /// Counts a match or near miss.
    fn count(&mut self, kind: SensitiveKind, seen: MatchStrength) {
        let (at, named) = (kind as usize, &mut self.named[kind as usize]);
        let count = |counter: &mut u16| *counter = counter.saturating_add(1);
        match seen {
            MatchStrength::Named => count(&mut named.0),
            MatchStrength::NamedNear => count(&mut named.1),
            MatchStrength::Found | MatchStrength::Near => {}
        }
        count(if seen.is_match() { &mut self.found[at] } else { &mut self.near[at] });
    }

    /// Returns whether more named matches than named near misses were seen.
    fn is_named(&self, kind: SensitiveKind) -> bool {
        let (found, near) = self.named[kind as usize];
        found > near
    }

    fn add_evidence(&mut self, more: MaskedMatch) {
        if self.evidence.iter().all(|evidence| evidence.kind != more.kind) {
            self.evidence.push(more);
        }
    }
}

/// Collector of matches in one key.
#[derive(Debug)]
pub(super) struct MatchTally {
    /// Kinds that evidence is requested for.
    shown: SensitiveKinds,
    /// False while numbers are those of an amount, and only those phone numbers that a name calls so.
    pub phones: bool,
    groups: Vec<(TextGroup, MatchCounts)>,
    /// Matches in the current text, if it has any.
    text: Option<MatchCounts>,
}

impl MatchTally {
    /// Creates an empty tally; evidence is collected for the kinds in `shown`.
    pub fn new(shown: SensitiveKinds) -> Self {
        MatchTally { shown, phones: true, groups: Vec::new(), text: None }
    }

    /// Adds a match or near miss in the current text of `group`. `word` is the matched word of a password.
    pub fn add(&mut self, seen: MatchStrength, kind: SensitiveKind, group: TextGroup, secret: &[u8], word: &str) {
        let is_named = matches!(seen, MatchStrength::Named | MatchStrength::NamedNear);
        if kind == SensitiveKind::Phone && !self.phones && !is_named {
            return;
        }
        let text = self.text.get_or_insert_default();
        text.count(kind, seen);
        let is_first = text.evidence.iter().all(|evidence| evidence.kind != kind);
        if seen.is_match() && is_first && self.shown.has(kind) {
            text.add_evidence(MaskedMatch {
                kind,
                text: mask::masked(kind, secret, word).into(),
                place: group.place(),
            });
        }
    }

    /// Ends the current text, which counts once in its group.
    pub fn end_text(&mut self, group: TextGroup) {
        let Some(text) = self.text.take() else { return }; // the common case
        let place = self.groups.iter().position(|(known, _)| *known == group).unwrap_or_else(|| {
            self.groups.push((group, MatchCounts::default()));
            self.groups.len() - 1
        });
        let counts = &mut self.groups[place].1;
        let mut found = SensitiveKinds::default();
        for kind in SensitiveKind::ALL {
            let at = kind as usize;
            let by_chance = text.near[at] >= MANY_NEAR && text.near[at] > text.found[at] && !text.is_named(kind);
            let is_found = text.found[at] > 0 && !by_chance;
            if is_found {
                found.add(kind);
            }
            let seen = match (text.found[at], text.near[at]) {
                (0, 0) => continue,
                _ if is_found => MatchStrength::found(text.is_named(kind)),
                _ => MatchStrength::near(text.named[at] != (0, 0)),
            };
            counts.count(kind, seen);
        }
        let evidence = text.evidence.into_iter().filter(|evidence| found.has(evidence.kind));
        evidence.for_each(|evidence| counts.add_evidence(evidence));
    }

    /// Returns the verdict: a kind is found if some group has more matches of it than near misses, among all or among the named.
    pub fn finish(self) -> ValueVerdict {
        let (mut verdict, mut chosen) = (ValueVerdict::default(), MatchCounts::default());
        for (_, counts) in self.groups {
            let has = |kind: &SensitiveKind| {
                counts.found[*kind as usize] > counts.near[*kind as usize] || counts.is_named(*kind)
            };
            let found: SensitiveKinds = SensitiveKind::ALL.into_iter().filter(has).collect();
            let seen = |kind: &SensitiveKind| counts.found[*kind as usize] > 0 || counts.near[*kind as usize] > 0;
            let near: SensitiveKinds = SensitiveKind::ALL.into_iter().filter(seen).collect();
            (verdict.found, verdict.near) = (verdict.found.or(found), verdict.near.or(near));
            let evidence = counts.evidence.into_iter().filter(|evidence| found.has(evidence.kind));
            evidence.for_each(|evidence| chosen.add_evidence(evidence));
        }
        verdict.near = verdict.near.without(verdict.found);
        verdict.evidence = chosen.evidence;
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the verdict on texts with this many matches and near misses each.
    fn verdict(texts: &[(TextGroup, u16, u16)]) -> (bool, bool, usize) {
        let mut tally = MatchTally::new(SensitiveKinds::ALL);
        for &(group, found, near) in texts {
            let mut add = |seen| tally.add(seen, SensitiveKind::Phone, group, b"13812345678", "");
            (0..found).for_each(|_| add(MatchStrength::Found));
            (0..near).for_each(|_| add(MatchStrength::Near));
            tally.end_text(group);
        }
        let ValueVerdict { found, near, evidence } = tally.finish();
        (found.has(SensitiveKind::Phone), near.has(SensitiveKind::Phone), evidence.len())
    }

    const VALUE: TextGroup = TextGroup::Single(SecretPlace::Value);

    #[test]
    fn a_record_may_have_other_numbers_and_a_list_of_numbers_is_no_record() {
        assert_eq!(verdict(&[(VALUE, 1, 3)]), (true, false, 1));
        assert_eq!(verdict(&[(VALUE, 2, 5)]), (false, true, 0));
        assert_eq!(verdict(&[(VALUE, 5, 5)]), (true, false, 1));
        assert_eq!(verdict(&[(VALUE, 0, 1)]), (false, true, 0));
        assert_eq!(verdict(&[]), (false, false, 0));
    }

    #[test]
    fn elements_are_weighed_against_each_other() {
        let elements = |found, near| {
            let of = |count, found, near| vec![(TextGroup::Elements, found, near); count];
            verdict(&[of(found, 1, 0), of(near, 0, 1)].concat())
        };
        assert_eq!(elements(1, 0), (true, false, 1));
        assert_eq!(elements(2, 1), (true, false, 1));
        assert_eq!(elements(1, 1), (false, true, 0));
        assert_eq!(elements(20, 44), (false, true, 0));
    }

    #[test]
    fn named_numbers_are_weighed_among_themselves() {
        let verdict = |texts: &[&[MatchStrength]]| {
            let mut tally = MatchTally::new(SensitiveKinds::ALL);
            for text in texts {
                text.iter().for_each(|seen| tally.add(*seen, SensitiveKind::IdCard, VALUE, b"11010519491231002X", ""));
                tally.end_text(VALUE);
            }
            tally.finish().found.has(SensitiveKind::IdCard)
        };
        let (named, other, named_near) = (MatchStrength::Named, MatchStrength::Near, MatchStrength::NamedNear);
        assert!(verdict(&[&[named, other, other, other, other, other]]) && verdict(&[&[named], &[other], &[other]]));
        assert!(!verdict(&[&[MatchStrength::Found, other, other, other, other]]));
        assert!(!verdict(&[&[named, named_near, named_near, named_near, named_near]]));
        assert!(!verdict(&[&[named], &[named_near], &[named_near]]));
    }

    #[test]
    fn groups_are_judged_each_by_itself() {
        let of = |field, found, near| (TextGroup::Values(field), found, near);
        assert_eq!(verdict(&[of(1, 1, 0), of(2, 0, 1), of(3, 0, 1)]), (true, false, 1));
        assert_eq!(verdict(&[of(1, 1, 0), of(1, 0, 1), of(2, 0, 1)]), (false, true, 0));
        assert_eq!(verdict(&[(TextGroup::Fields, 1, 0), (VALUE, 0, 9)]), (true, false, 1));
    }
}
