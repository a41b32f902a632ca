//! Looking ahead at names that hardly repeat.
//!
//! Whether a set of names is so varied that patterns are kept under strict limits is known once so many of them were counted.
//! Until then each has places of its own, to be made and soon thrown away: tens of megabytes and half a second in every worker. To
//! count names takes a tenth of that. So a reader whose patterns become many reads on, shows no more than names, and comes
//! back. What it has seen is what follows in the file: it counts if the stretch does.

use super::part::Part;
use super::read::{Continue, Halt, KnownDatabase, Reader, Reading, Tally};
use super::stretch::Whole;
use crate::aggregate::Aggregate;
use crate::limits;
use crate::rdb::scan::Scanner;
use crate::record::Record;

/// Less than one new name among so many that are looked at, and looking ahead takes as long as it saves.
const ONE_NEW_OF: u64 = 8;

/// How far a reader of mapped bytes has looked ahead.
#[derive(Debug)]
pub struct Foresight<'a> {
    reader: Reader<'a>,
    /// Where it stopped.
    ahead: Option<Scanner<'a>>,
}

impl<'a> Foresight<'a> {
    /// Nothing was looked at.
    pub fn new(whole: &'a Whole, reading: Reading<'a>) -> Self {
        Foresight { reader: Reader::new(&whole.file, reading), ahead: None }
    }

    /// Shows names that are still to come to `part`, whose reader stands at `here`, as long as that helps it.
    #[cold]
    pub fn look<A: Aggregate>(&mut self, here: &Scanner<'a>, part: &mut Part<A>) {
        let behind = |ahead: &Scanner<'_>| ahead.cursor().consumed() > here.cursor().consumed();
        let mut scanner = self.ahead.take().filter(behind).unwrap_or_else(|| here.clone());
        let (mut keys, mut new) = (0, 0);
        while part.wants_names() && new >= keys / ONE_NEW_OF {
            (keys, new) = (0, 0);
            let until = scanner.cursor().consumed().saturating_add(limits::QUANTUM_BYTES);
            let see = |record: &Record<'_>, known: KnownDatabase| {
                keys += 1;
                new += u64::from(part.foresee(record, known));
                Continue::Yes
            };
            let halt = self.reader.read_until(&mut scanner, until, &mut Tally::default(), |_| (), see);
            // The end, or damage: who comes here to read will tell.
            if !matches!(halt, Ok(Halt::Until)) || keys == 0 {
                break;
            }
        }
        part.has_names();
        self.ahead = Some(scanner);
    }
}
