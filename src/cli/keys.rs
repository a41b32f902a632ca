//! `rdblens keys`: one row per key.

use std::io::Write;

use super::args::{KeysArgs, RowFormat as RowFormatArg};
use super::output::Output;
use super::progress::Bar;
use super::{Exit, complain, plan, written};
use crate::analyze::masks::masks;
use crate::analyze::read::File;
use crate::analyze::rows::write_rows;
use crate::analyze::verdict::{Verdict, verdicts};
use crate::analyze::{Snapshot, pool};
use crate::error::Result;
use crate::mask::Masker;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::segment::Separators;
use crate::record::Record;
use crate::render::rows::{RowFormat, RowWriter};

/// Streams the rows.
pub fn run(args: &KeysArgs) -> Result<Exit> {
    let plan = plan::read(&args.read)?;
    let separators = Separators::new(&plan.separators)?;
    let classifier = Classifier::new(separators.clone());
    let inputs = &args.read.input.inputs;
    let format = match args.format {
        RowFormatArg::Ndjson => RowFormat::Ndjson,
        RowFormatArg::Csv => RowFormat::Csv,
    };
    let bar = Bar::new(args.read.input.quiet);
    let masks = match plan::mask(&args.mask)? {
        None => None,
        Some(key) => Some(masks(inputs, &plan, &key, &classifier, &bar)?),
    };
    let masker =
        masks.as_ref().map(|masks| Masker::new(masks.secret.clone(), &classifier, &separators, &masks.patterns));
    let writer = RowWriter::new(format, &classifier, masker.as_ref());
    let mut snapshot = Snapshot::open(inputs, &plan, &bar)?;
    let reading = snapshot.reading(&plan);
    let sharded = snapshot.is_sharded();
    let mut out = Output::open(args.output.output.as_deref())?;
    let threads = pool(plan.threads)?;
    let mut feed = snapshot.feed(1, &bar);
    let head = out.write_all(&writer.head());
    let (tallies, rows) = threads.install(|| {
        let row = |record: &Record<'_>, file: &File, pattern: &mut PatternBuf, text: &mut Vec<u8>| {
            writer.write(record, sharded.then_some(file.name.as_str()), pattern, text);
        };
        write_rows(&mut feed, reading, plan.limit, &bar, row, |text| out.write_all(text))
    });
    let endings = feed.into_endings();
    drop(bar);
    let closed = rows.is_err();
    written(head.and(rows).and_then(|()| out.finish()))?;
    if closed {
        return Ok(Exit::Done);
    }
    let verdicts = verdicts(snapshot.facts, endings, tallies, reading.checksum);
    let sound = verdicts.iter().all(Verdict::is_sound);
    if !args.read.input.quiet {
        for verdict in &verdicts {
            verdict.fault.iter().for_each(complain);
            verdict.damage.iter().for_each(complain);
            verdict.warnings.iter().for_each(|warning| eprintln!("rdblens: {warning}"));
        }
    }
    Ok(if sound { Exit::Done } else { Exit::Incomplete })
}
