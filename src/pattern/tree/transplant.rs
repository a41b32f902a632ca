//! Moving a tree into another: merging trees, and rebuilding one under stricter limits.

use super::Payload;
use super::limits::MAX_NAME_LEN;
use super::places::{ENDINGS, NONE, Places};
use super::step::{PathStep, StepKind};

/// Joined rest of several patterns.
struct JoinedTail<T> {
    payload: T,
    leaves: u64,
    text: Vec<u8>,
    kind: StepKind,
}

impl<T: Payload> Places<T> {
    /// Moves all places below one of another arena into this arena. Both have the same limits, but the other may not be
    /// in strict mode. Leaves defaults behind.
    pub fn transplant(&mut self, into: u32, other: &mut Self, from: u32) {
        let level = usize::from(self.at(into).level);
        if !other.strict && self.strict && level == self.limits.last_level(true) {
            return self.transplant_tail(into, other, from);
        }
        self.shut_as(into, other.at(from).shut);
        let mut child = other.at(from).inside;
        while child != NONE {
            let next = other.at(child).next;
            let target = self.child(into, other.step(child));
            if other.at(child).ends {
                self.absorb(target, other.take_payload(child));
            } else {
                self.transplant(target, other, child);
            }
            child = next;
        }
    }

    /// Moves all places below one of another arena into this arena as one name, or as `{*}` if there are several.
    fn transplant_tail(&mut self, into: u32, other: &mut Self, from: u32) {
        let mut tail = JoinedTail { payload: T::default(), leaves: 0, text: Vec::new(), kind: StepKind::Literal };
        other.drain(from, &mut Vec::new(), false, &mut tail);
        let step = match tail.leaves {
            0 => return,
            1 => PathStep::ending(&tail.text, tail.kind),
            _ => {
                self.collapse(into, ENDINGS);
                PathStep::ending(&[], StepKind::Star)
            }
        };
        let target = self.child(into, step);
        self.absorb(target, tail.payload);
    }

    /// Collects all payloads below a place, and the text of the last pattern there. A pattern through a `{*}` becomes
    /// `{*}`: it stands for several patterns, or for a name too long to be kept.
    fn drain(&mut self, from: u32, path: &mut Vec<u8>, starred: bool, tail: &mut JoinedTail<T>) {
        let mut child = self.at(from).inside;
        while child != NONE {
            let next = self.at(child).next;
            let PathStep { text, kind, ends, .. } = self.step(child);
            let whole = path.len();
            let starred = starred || kind == StepKind::Star || path.len() + text.len() > MAX_NAME_LEN;
            path.extend_from_slice(text);
            if ends {
                tail.leaves += 1;
                let kind = if whole == 0 { kind } else { StepKind::Literal };
                (tail.text, tail.kind) = if starred { (Vec::new(), StepKind::Star) } else { (path.clone(), kind) };
                tail.payload.absorb(self.take_payload(child));
            } else {
                self.drain(child, path, starred, tail);
            }
            path.truncate(whole);
            child = next;
        }
    }
}
