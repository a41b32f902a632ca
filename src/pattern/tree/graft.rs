//! Moving a tree into another: merging, and making a tree anew under stricter limits.

use super::Payload;
use super::limits::LONGEST_NAME;
use super::places::{ENDINGS, NONE, Places};
use super::step::{Shape, Step};

/// What is left of several patterns as one name.
struct Tail<T> {
    payload: T,
    leaves: u64,
    text: Vec<u8>,
    shape: Shape,
}

impl<T: Payload> Places<T> {
    /// Moves all that is below a place of another arena, of the same limits but perhaps less strict, into ours. What stays
    /// behind there is empty.
    pub fn graft(&mut self, into: u32, other: &mut Self, from: u32) {
        let level = usize::from(self.at(into).level);
        if !other.strict && self.strict && level == self.limits.last_level(true) {
            return self.graft_tail(into, other, from);
        }
        self.shut_as(into, other.at(from).shut);
        let mut child = other.at(from).inside;
        while child != NONE {
            let next = other.at(child).next;
            let target = self.child(into, other.step(child));
            if other.at(child).ends {
                self.absorb(target, other.take_payload(child));
            } else {
                self.graft(target, other, child);
            }
            child = next;
        }
    }

    /// Moves all that is below a place of another arena into ours as one name, or as `{*}` if there are several.
    fn graft_tail(&mut self, into: u32, other: &mut Self, from: u32) {
        let mut tail = Tail { payload: T::default(), leaves: 0, text: Vec::new(), shape: Shape::Literal };
        other.drain(from, &mut Vec::new(), false, &mut tail);
        let step = match tail.leaves {
            0 => return,
            1 => Step::ending(&tail.text, tail.shape),
            _ => {
                self.collapse(into, ENDINGS);
                Step::ending(&[], Shape::Star)
            }
        };
        let target = self.child(into, step);
        self.absorb(target, tail.payload);
    }

    /// Takes all payloads below a place, and the text of the first pattern there. One that passes a `{*}` is one: it was
    /// several patterns, or a name too long to be kept.
    fn drain(&mut self, from: u32, path: &mut Vec<u8>, starred: bool, tail: &mut Tail<T>) {
        let mut child = self.at(from).inside;
        while child != NONE {
            let next = self.at(child).next;
            let Step { text, shape, ends, .. } = self.step(child);
            let whole = path.len();
            let starred = starred || shape == Shape::Star || path.len() + text.len() > LONGEST_NAME;
            path.extend_from_slice(text);
            if ends {
                tail.leaves += 1;
                let shape = if whole == 0 { shape } else { Shape::Literal };
                (tail.text, tail.shape) = if starred { (Vec::new(), Shape::Star) } else { (path.clone(), shape) };
                tail.payload.absorb(self.take_payload(child));
            } else {
                self.drain(child, path, starred, tail);
            }
            path.truncate(whole);
            child = next;
        }
    }
}
