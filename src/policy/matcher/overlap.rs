//! Search for patterns that can match the same key, in a tree of their segments.

use std::collections::HashMap;

use super::{PolicyPattern, SegmentPattern};

/// Patterns of one list. Two of them overlap if some key could match both and neither takes precedence.
///
/// A pattern without a leading `**` takes precedence over one with it. Of two with it, the leftmost match does, so they overlap only
/// if they can match from the same segment on.
#[derive(Debug, Clone, Default)]
pub struct Apart {
    /// Patterns without a leading `**`.
    fixed: PatternSet,
    /// Patterns with it, without the `**`.
    floating: PatternSet,
}

/// Patterns by their segments, the root first.
#[derive(Debug, Clone, Default)]
struct PatternSet(Vec<Branch>);

#[derive(Debug, Clone)]
struct Branch {
    names: HashMap<String, usize>,
    /// Branches of classes, of any name and of anything.
    others: Vec<(SegmentPattern, usize)>,
    /// Lowest place of a pattern that ends here, and of one with `**` from here on.
    ends: Option<usize>,
    rest: Option<usize>,
    /// Lowest place of a pattern that passes here.
    first: usize,
}

impl Branch {
    fn new(first: usize) -> Branch {
        Branch { names: HashMap::new(), others: Vec::new(), ends: None, rest: None, first }
    }
}

impl Apart {
    /// Adds the pattern at a place of the list, above those before it. Returns the first of them that overlaps it, if any.
    pub fn add(&mut self, pattern: &PolicyPattern, place: usize) -> Option<usize> {
        let set = if pattern.floating { &mut self.floating } else { &mut self.fixed };
        let overlapping = set.find(&pattern.segments);
        set.add(&pattern.segments, place);
        overlapping
    }
}

impl PatternSet {
    fn add(&mut self, segments: &[SegmentPattern], place: usize) {
        if self.0.is_empty() {
            self.0.push(Branch::new(place));
        }
        let mut at = 0;
        for segment in segments {
            let new = self.0.len();
            let branch = &mut self.0[at];
            at = match segment {
                SegmentPattern::Rest => {
                    branch.rest.get_or_insert(place);
                    return;
                }
                SegmentPattern::Name(name) => *branch.names.entry(name.clone()).or_insert(new),
                other => match branch.others.iter().find(|(known, _)| known == other) {
                    Some((_, next)) => *next,
                    None => {
                        branch.others.push((other.clone(), new));
                        new
                    }
                },
            };
            if at == new {
                self.0.push(Branch::new(place));
            }
        }
        self.0[at].ends.get_or_insert(place);
    }

    /// Returns the lowest place of a pattern that some key could match as well as these segments.
    fn find(&self, segments: &[SegmentPattern]) -> Option<usize> {
        let mut lowest: Option<usize> = None;
        let mut left = if self.0.is_empty() { Vec::new() } else { vec![(0, segments)] };
        let mut offer = |place: Option<usize>| {
            lowest = [lowest, place].into_iter().flatten().min();
            lowest
        };
        while let Some((at, segments)) = left.pop() {
            let branch = &self.0[at];
            let Some((segment, behind)) = segments.split_first() else {
                offer(branch.ends);
                continue;
            };
            let lowest = offer(branch.rest);
            let others = branch.others.iter().filter(|(other, _)| segment.meets(other)).map(|(_, next)| *next);
            let names = branch.names.values().copied();
            let next: Vec<usize> = match segment {
                SegmentPattern::Name(name) => others.chain(branch.names.get(name).copied()).collect(),
                SegmentPattern::Class(_) => others.collect(),
                SegmentPattern::AnyName | SegmentPattern::Any | SegmentPattern::Rest => others.chain(names).collect(),
            };
            for next in next {
                let first = self.0[next].first;
                if *segment == SegmentPattern::Rest {
                    offer(Some(first));
                } else if lowest.is_none_or(|lowest| first < lowest) {
                    left.push((next, behind));
                }
            }
        }
        lowest
    }
}
