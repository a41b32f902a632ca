//! Compares a chunk list with a sequential walk, for any guesses and any order in which readers return.

use super::*;
use proptest::prelude::*;

/// Length of a file in which a record may be read at any byte, so that true and false chains look alike.
const END: usize = 3000;

/// Returns the boundary after a record at `at`; `None` at the end.
fn next(at: usize) -> Option<usize> {
    let length = 1 + (at.wrapping_mul(2_654_435_761) >> 7) % 23;
    Some(at + length).filter(|&next| next < END)
}

fn chain(mut at: usize, until: usize) -> (Vec<usize>, usize, bool) {
    let mut records = Vec::new();
    while at < until {
        records.push(at);
        match next(at) {
            Some(next) => at = next,
            None => return (records, at, true),
        }
    }
    (records, at, false)
}

struct TestReader {
    claim: ChunkClaim,
    at: usize,
    records: Vec<usize>,
}

#[derive(Default)]
struct TestRun {
    readers: Vec<TestReader>,
    /// Readers that have stopped and why; they hand in their results later.
    stopped: Vec<(TestReader, ChunkEnd)>,
    pairs: Vec<(u64, Vec<usize>, Vec<usize>)>,
    whole: Option<Vec<usize>>,
}

impl TestRun {
    fn take(&mut self, id: u64, joint: JoinStep<Vec<usize>>) {
        match joint {
            JoinStep::Join(left, right) => self.pairs.push((id, left, right)),
            JoinStep::Complete(records) => self.whole = Some(records),
            JoinStep::Waits | JoinStep::Void => {}
        }
    }

    /// Advances one reader by one quantum.
    fn step(&mut self, list: &mut ChunkList<Vec<usize>>, reader: usize) {
        let reader = reader % self.readers.len();
        let TestReader { claim, at, .. } = self.readers[reader];
        match list.next_step(claim.id, at, 1) {
            NextStep::Until(until) => {
                let (records, at, ended) = chain(at, until);
                self.readers[reader].records.extend(records);
                self.readers[reader].at = at;
                if ended {
                    self.stopped.push((self.readers.remove(reader), ChunkEnd::Ended));
                }
            }
            NextStep::Arrived => self.stopped.push((self.readers.remove(reader), ChunkEnd::Arrived)),
            NextStep::GiveUp => drop(self.readers.remove(reader)),
        }
    }

    fn guess(&mut self, list: &mut ChunkList<Vec<usize>>, skip: usize) {
        let Some(search) = list.divide() else { return };
        let at = search.range().start + skip;
        if skip.is_multiple_of(11) || !search.range().contains(&at) {
            return list.found_none(&search);
        }
        if let Some(claim) = list.begin(&search, at) {
            self.readers.push(TestReader { claim, at, records: Vec::new() });
        }
    }

    /// Hands in the result of a stopped reader, or joins two results.
    fn join(&mut self, list: &mut ChunkList<Vec<usize>>, pair: usize) {
        if !self.stopped.is_empty() && (pair.is_multiple_of(2) || self.pairs.is_empty()) {
            let (TestReader { claim, at, records }, chunk_end) = self.stopped.remove(pair % self.stopped.len());
            let joint = list.finish(claim.id, at, chunk_end, records);
            return self.take(claim.id, joint);
        }
        if self.pairs.is_empty() {
            return;
        }
        let (id, mut left, right) = self.pairs.remove(pair % self.pairs.len());
        left.extend(right);
        let joint = list.joined(id, left);
        self.take(id, joint);
    }
}

proptest! {
    #[test]
    fn any_guesses_in_any_order_give_the_sequential_chain(
        choices in proptest::collection::vec((0u8..10, 0usize..60), 0..400),
        quantum in 1usize..400,
        least in 1usize..300,
    ) {
        let (mut list, claim) = ChunkList::new(0, END, ReadSteps { quantum, least });
        let mut run = TestRun::default();
        run.readers.push(TestReader { claim, at: 0, records: Vec::new() });
        let mut choices = choices.into_iter();
        while run.whole.is_none() {
            match choices.next() {
                Some((0..2, number)) => run.guess(&mut list, number),
                Some((2, number)) => run.join(&mut list, number),
                Some((3, number)) if !run.readers.is_empty() => {
                    let number = number % run.readers.len();
                    if list.give_back(run.readers[number].claim.id) {
                        run.readers.remove(number);
                    }
                }
                other if run.readers.is_empty() => run.join(&mut list, other.map_or(0, |(_, number)| number)),
                other => run.step(&mut list, other.map_or(0, |(_, number)| number)),
            }
        }
        prop_assert_eq!(run.whole.unwrap(), chain(0, END).0);
        prop_assert!(list.counts().wasted <= list.counts().guesses * END as u64);
    }
}

#[test]
fn true_guesses_waste_nothing() {
    let (mut list, claim) = ChunkList::new(0, END, ReadSteps { quantum: 100, least: 50 });
    let mut run = TestRun::default();
    run.readers.push(TestReader { claim, at: 0, records: Vec::new() });
    let (truth, ..) = chain(0, END);
    for turn in 0.. {
        if let Some(search) = list.divide() {
            let at = *truth.iter().find(|&&at| at >= search.range().start).unwrap();
            if let Some(claim) = list.begin(&search, at) {
                run.readers.push(TestReader { claim, at, records: Vec::new() });
            }
        }
        if run.readers.is_empty() {
            break;
        }
        run.step(&mut list, turn);
        run.join(&mut list, turn);
    }
    while run.whole.is_none() {
        run.join(&mut list, 0);
    }
    assert_eq!(run.whole.unwrap(), truth);
    assert!(list.counts().guesses > 4);
    assert_eq!(list.counts().wasted, 0);
}

#[test]
fn many_readers_begin_evenly() {
    let parts: Vec<_> = (0..7).map(|turn| part_of(800, turn)).collect();
    assert_eq!(parts, [400, 200, 600, 100, 500, 300, 700]);
}
